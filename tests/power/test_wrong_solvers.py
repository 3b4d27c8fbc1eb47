"""A solver that solves something else, or not well enough, is not taken for the optimum by the theorems that rest on one."""

from __future__ import annotations

import pytest

from theorax.runs.checking import check
from theorax.theorems.primal_dual_attention import _quadratic as quadratic
from theorax.verifiers.settings import Settings

right = quadratic._dual


def early(root, y, C, eps, bias):
    """Multipliers a millionth short of the optimum, as of an iteration that ended early."""
    up, down, b, spare = right(root, y, C, eps, bias)
    return (1 - 1e-6) * up, (1 - 1e-6) * down, b, spare


def wide(root, y, C, eps, bias):
    """A tube a hundredth wider than the one asked for."""
    return right(root, y, C, eps + 0.01, bias)


@pytest.mark.parametrize("solver", [early, wide])
def test_the_limit_of_a_hard_tube(solver, monkeypatch, tmp_path):
    monkeypatch.setattr(quadratic, "_dual", solver)
    outcome = check("svr_hard_limit_interpolation", Settings(effort="quick", state=str(tmp_path)))
    words = {claim.id: claim.status for claim in outcome.claims}
    assert words["certified"] == "INCONCLUSIVE"  # a gap beyond its margin refutes nothing, and supports nothing
    assert outcome.status not in ("PROVED", "CERTIFIED", "SUPPORTED")
    assert (words["optimal"], words["interpolates"]) == ("CERTIFIED", "PROVED")  # they ask no solver
