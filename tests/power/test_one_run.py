"""All claims of the library in one run: each is planned to be decided at quick and standard effort."""

import pytest

from theorax.decide.designs import LIKELY
from theorax.runs import checking
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings


@pytest.fixture(scope="module", params=["quick", "standard"])
def planned(request, tmp_path_factory):
    """The plans of all claims at one effort."""
    own = Settings(effort=request.param, state=str(tmp_path_factory.mktemp("state")))
    return [row for id in Catalogue().ids for row in checking.plan(id, own).checks]


def test_every_design_can_decide(planned):
    assert [row for row in planned if not row.decides] == []


def test_every_claim_is_decided_with_a_probability_of_one_half(planned):
    """Over all its cases and looks, if it holds exactly and is as noisy as planned."""
    weak = {f"{row.theorem}.{row.claim}" for row in planned if row.runs and row.of_claim and row.of_claim[0] < LIKELY}
    assert weak == set()
