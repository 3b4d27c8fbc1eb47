"""Many claims at once, and one claim many times: the rate of any wrong word, and the power that its control leaves.

Here `refuted` counts a suite in which a true claim was refuted (for BH also its share among the refuted), and
`supported` the share of the false claims that were refuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from benchmarks.calibration.cases import Case, Outcome, Procedure, Published, Truth
from theorax.decide import equivalence, error_budget, estimators
from theorax.decide.error_budget import Member
from theorax.decide.status import DEFAULT_LEVELS, Status

FAMILY = "suites"
CLAIMS, DRAWS, LEVEL = 20, 64, 0.05
EFFECT = 3.9  # of a false claim, in standard errors


Rejected = Callable[[np.ndarray], np.ndarray]


def p_values(tables: np.ndarray) -> np.ndarray:
    """p of refutation of each claim of a suite, "the mean is zero"."""
    return np.array([equivalence.decide(estimators.paired(column), 0.0, 1.0).p_refute for column in tables])


def _uncorrected(p: np.ndarray) -> np.ndarray:
    return p <= LEVEL


def _bonferroni(p: np.ndarray) -> np.ndarray:
    return p * len(p) <= LEVEL


def _holm(p: np.ndarray) -> np.ndarray:
    adjusted = error_budget.holm({str(i): float(value) for i, value in enumerate(p)})
    return np.array([adjusted[str(i)] <= LEVEL for i in range(len(p))])


def _benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    order = np.sort(p)
    passed = np.flatnonzero(order <= LEVEL * np.arange(1, len(order) + 1) / len(order))
    return p <= order[passed[-1]] if passed.size else np.zeros(len(order), bool)


METHODS: dict[str, tuple[Rejected, bool]] = {
    "uncorrected": (_uncorrected, False),
    "Bonferroni": (_bonferroni, True),
    "Holm": (_holm, True),
    "Benjamini-Hochberg": (_benjamini_hochberg, False),
}


def _suite(
    name: str, false: int, correlation: float, stated: dict[str, tuple[float | None, float | None]]
) -> list[Case]:
    off = np.arange(CLAIMS) < false

    def draw(rng: Generator) -> np.ndarray:
        own = rng.standard_normal((CLAIMS, DRAWS))
        noise = math.sqrt(correlation) * rng.standard_normal(DRAWS) + math.sqrt(1 - correlation) * own
        return p_values(noise + EFFECT / math.sqrt(DRAWS) * off[:, None])

    def judge(rejected: Rejected) -> Callable[[np.ndarray], Outcome]:
        def said(given: np.ndarray) -> Outcome:
            found = rejected(given)
            return Outcome(float((found & ~off).any()), float(found[off].mean()) if false else 0.0)

        return said

    def share(rejected: Rejected) -> Callable[[np.ndarray], Outcome]:
        def said(given: np.ndarray) -> Outcome:
            found = rejected(given)
            return Outcome(float((found & ~off).sum()) / max(1, int(found.sum())), 0.0)

        return said

    procedures = []
    for method, (rejected, promised) in METHODS.items():
        published = Published(*stated.get(method, (None, None)))
        procedures.append(Procedure(method, judge(rejected), promised, published, refute=LEVEL))
    if false:
        published = Published(0.030 if not correlation else None)
        of_wrong = share(_benjamini_hochberg)
        procedures.append(
            Procedure("Benjamini-Hochberg, share of wrong ones", of_wrong, False, published, refute=LEVEL)
        )
    return [Case(FAMILY, f"{CLAIMS} claims, {name}", Truth.HOLDS, draw, tuple(procedures))]


def _own_words() -> Case:
    """Fifty exact true claims, each decided on its own: the chance that any goes red, and that any does over the run."""
    count, earlier, own = 50, 0.0152, DEFAULT_LEVELS.refute

    def red(level: float) -> Callable[[np.ndarray], Outcome]:
        return lambda p: Outcome(float((p <= level).any()), 0.0)

    def over_run(p: np.ndarray) -> Outcome:
        members = {str(i): Member(Status.REFUTED, float(value), 1.0) for i, value in enumerate(p) if value <= own}
        members |= {str(i): Member(Status.SUPPORTED, float(value), 0.0) for i, value in enumerate(p) if value > own}
        found = error_budget.said_together(members)
        return Outcome(float(len(found.red) > len(found.red_alone)), 0.0)

    procedures = (
        Procedure(f"any refuted at {own:g}", red(own), True, refute=count * own),
        Procedure(f"any refuted at {earlier:g}", red(earlier), False, Published(0.54), refute=LEVEL),
        Procedure("any refuted over the run", over_run, True, refute=error_budget.REFUTATIONS),
    )
    draw = lambda rng: p_values(rng.standard_normal((count, DRAWS)))  # noqa: E731
    return Case(FAMILY, f"{count} exact claims, all true", Truth.HOLDS, draw, procedures)


def _reruns() -> list[Case]:
    """One claim, tried again and again with fresh seeds: a true one, and one off by half a standard deviation a try."""
    tries = 100

    def p_of(z: np.ndarray) -> np.ndarray:
        return np.array([math.erfc(abs(value) / math.sqrt(2)) for value in z])

    def spent(z: np.ndarray) -> Outcome:
        found = [p <= 6 * LEVEL / (math.pi * (number + 1)) ** 2 for number, p in enumerate(p_of(z))]
        return _first(np.array(found))

    rules: tuple[tuple[str, Callable[[np.ndarray], Outcome], bool], ...] = (
        ("uncorrected", lambda z: _first(p_of(z) <= LEVEL), False),
        ("spending 6/(pi k)^2", spent, True),
    )
    found = []
    for drift, kind, stated in ((0.0, Truth.HOLDS, (0.995, 0.053)), (0.5, Truth.FAR, (None, 0.11))):
        procedures = tuple(
            Procedure(name, rule, promised, Published(rate), refute=LEVEL)
            for (name, rule, promised), rate in zip(rules, stated, strict=True)
        )
        draw = lambda rng, drift=drift: drift + rng.standard_normal(tries)  # noqa: E731
        name = f"{tries} tries at one claim"
        found.append(Case(FAMILY, name, kind, draw, procedures, detail=f"off by {drift:g} sd"))
    return found


def _first(rejected: np.ndarray) -> Outcome:
    return Outcome(float(rejected.any()), 0.0, cost=float(np.argmax(rejected) + 1) if rejected.any() else math.nan)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every case of suites."""
    true = {"uncorrected": (0.65, None), "Bonferroni": (0.051, None), "Holm": (0.051, None),
            "Benjamini-Hochberg": (0.052, None)}  # fmt: skip
    mixed = {
        "uncorrected": (0.46, None),
        "Holm": (0.038, 0.79),
        "Benjamini-Hochberg": (0.22, 0.93),
    }
    return (
        *_suite("all true", 0, 0.0, true),
        *_suite("8 of them false", 8, 0.0, mixed),
        *_suite("all true, correlation 0.8", 0, 0.8, {}),
        *_suite("8 of them false, correlation 0.8", 8, 0.8, {}),
        *_reruns(),
        _own_words(),
    )
