"""All claims of the library in one run: what is planned at quick and standard effort must bear the adjustment for so many."""

import pytest

from theorax.cli.plan import expected_in_one_run
from theorax.decide.error_budget import short_of
from theorax.runs import checking
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings


@pytest.fixture(scope="module", params=["quick", "standard"])
def expected(request, tmp_path_factory):
    """The p-value that every claim would have, were it exactly true and as noisy as planned."""
    own = Settings(effort=request.param, state=str(tmp_path_factory.mktemp("state")))
    return expected_in_one_run(row for id in Catalogue().ids for row in checking.plan(id, own).checks)


def test_a_run_over_the_library_supports_every_claim_that_holds(expected):
    assert short_of(expected) == {}


def test_identities_that_are_left_to_draws_are_among_them(expected):
    assert 0 < expected["vit_bayes_labelling.bayes"] < 1e-3


def test_a_claim_of_few_draws_would_fall_short(expected):
    assert set(short_of({**expected, "few draws": 0.04, "as few": 0.04})) >= {"few draws"}
