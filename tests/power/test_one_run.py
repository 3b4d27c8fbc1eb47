"""Every design of the library at quick and standard effort can decide its claim."""

import pytest

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
