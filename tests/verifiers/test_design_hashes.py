"""The hash of a claim's design is one of its design: baselines and attempts survive a field that only explains the claim."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.claim_verdicts import design_hash
from theorax.verifiers.settings import Settings
from theorax.verifiers.theorem_check import _plan, _prepare

# At quick effort, as they were before claims had a reason for being bare.
KNOWN = {
    "price_identity": ("2830eb47a1d86420",),
    "outlier_interlacing": ("0f1fcb9264d80e56", "81cf23e78f99b4f5", "af98b8e3b198a32b"),
}


@pytest.mark.parametrize("id", KNOWN)
def test_the_designs_of_the_library_keep_their_hashes(id, tmp_path):
    settings = Settings(effort="quick", state=str(tmp_path))
    theorem, table = _prepare(id, settings, Catalogue())
    found = [_plan(id, theorem, name, table, settings, 1) for name in theorem.claims]
    assert tuple(map(design_hash, found)) == KNOWN[id]
    explained = [replace(part, claim=replace(part.claim, bare_because="a reason")) for part in found]
    assert tuple(map(design_hash, explained)) == KNOWN[id]
