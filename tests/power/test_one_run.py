"""All claims of the library in one run: what is planned at quick and standard effort must bear the adjustment for so many."""

import pytest

from theorax.cli.plan import expected_in_one_run
from theorax.decide.error_budget import short_of
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


def test_a_run_over_the_library_supports_every_claim_that_holds(planned):
    """Each with the p-value that it would have, were it exactly true and as noisy as planned."""
    expected = expected_in_one_run(planned)
    assert short_of(expected) == {}
    # Identities that are left to draws are among them, and a claim of few draws would fall short.
    assert 0 < expected["vit_bayes_labelling.bayes"] < 1e-3
    assert set(short_of({**expected, "few draws": 0.04, "as few": 0.04})) >= {"few draws"}
