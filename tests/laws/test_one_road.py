"""One road to one verdict: a claim of a theorem and the same programs handed to `theorax.exact` are decided alike."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest

from theorax import exact
from theorax.decide.verdict import Verdict
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

PAPERS = Path(__file__).parent / "papers"
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?(/\d+)?")


@pytest.fixture(scope="module")
def of_theorem(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """The verdicts on the claims of the page."""
    state = tmp_path_factory.mktemp("state")
    found = check("one_decision", Settings(roots=(str(PAPERS),), state=str(state)))
    return {claim.id: claim for claim in found.claims}


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """The page as a module: the same programs."""
    spec = importlib.util.spec_from_file_location("one_decision", PAPERS / "two_roads" / "one_decision.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(left: str, right: str) -> Callable[[ModuleType], Verdict]:
    """Two programs of the page at matrices of the order that it measures."""

    def decided(page: ModuleType) -> Verdict:
        A, B = jax.random.normal(jax.random.key(0), (2, 3, 3))
        return exact.identity(getattr(page, left), getattr(page, right), at=(A, B), margin=1e-6)

    return decided


BOX = {"x": (Fraction(1, 3), 2), "y": (Fraction(1, 3), 2)}


def bound(constant: Fraction) -> Verdict:
    above, below = constant.numerator, constant.denominator
    return exact.certify(lambda x, y: x * y, BOX, at_most=lambda x, y: (x**2 + y**2) / 2 + above / below)


def least(at: Fraction) -> Verdict:
    slack = Fraction(1, 10**6)
    return exact.minimum(lambda x: (x[0] ** 2 - 1) ** 2 + x[0] / 2, [at], box=[(-2, 2)], slack=slack)


DECIDED: dict[str, tuple[str, Callable[[ModuleType], Verdict]]] = {
    "equal": ("CERTIFIED", same("trace", "swapped")),
    "differ": ("REFUTED", same("trace", "off")),
    "bent": ("SUPPORTED", same("bent", "bent_swapped")),
    "same": ("VACUOUS", same("trace", "wrapped")),
    # Its proof closes, and says nothing: what was measured is one program.
    "proved": ("VACUOUS", same("trace", "wrapped")),
    "bound": ("CERTIFIED", lambda page: bound(Fraction(1, 1000))),
    "wrong_bound": ("REFUTED", lambda page: bound(Fraction(-1, 2000))),
    "touching": (
        "CERTIFIED",
        lambda page: exact.certify(lambda x: x, {"x": (-1, 1)}, at_most=lambda x: jnp.exp(x) - 1),
    ),
    "lowest": ("CERTIFIED", lambda page: least(Fraction(-10574537, 10**7))),
    "not_lowest": ("REFUTED", lambda page: least(Fraction(1))),
}


def told(verdict: Verdict) -> str:
    """What decided it, its counts and the name of its point left out, and what only one road has looked at."""
    detail = NUMBER.sub("#", verdict.cases[verdict.worst or 0].detail)
    detail = re.sub(r"x(\[#\])? = ", "x = ", detail.split(" at an exact point")[0].split(" at n = #")[0])
    return detail.split(";")[0]


@pytest.mark.parametrize("name", DECIDED)
def test_a_claim_and_its_programs_get_one_status_and_one_sentence(name, of_theorem, page) -> None:
    status, decided = DECIDED[name]
    claim, own = of_theorem[name], decided(page)
    assert claim.status == own.status == status
    assert claim.reason == own.reason
    assert told(claim) == told(own)
    assert (claim.rigorous, claim.shown_by) == (own.rigorous, own.shown_by)
