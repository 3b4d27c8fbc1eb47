"""Error control over a suite of verdicts: two families, the refutations and the supports, each by Holm's method.

Holm's method bounds the probability of any wrong rejection in a family (the family-wise error) under any dependence.
Rigorous results are in neither family: they spend no error.

**Source:** Holm 1979.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Verdict
from theorax.errors import DesignError
from theorax.names import many
from theorax.text.numbers import p_value, percent

__all__ = [
    "REFUTATIONS",
    "SUPPORTS",
    "Adjustable",
    "Adjusted",
    "Suite",
    "apply_budget",
    "holm",
    "short_of",
]

REFUTATIONS, SUPPORTS = 0.01, 0.05
TESTED = (Status.REFUTED, Status.SUPPORTED, Status.INCONCLUSIVE)


class Adjustable(Protocol):
    """The part of a verdict that an adjustment reads."""

    @property
    def status(self) -> Status:
        """Status of the claim alone."""
        ...

    @property
    def rigorous(self) -> bool:
        """True if it spends no error."""
        ...

    @property
    def p_refute(self) -> float | None:
        """The p-value of truth."""
        ...

    @property
    def p_support(self) -> float | None:
        """The p-value of being false by the margin."""
        ...


@dataclass(frozen=True)
class Adjusted:
    """Adjusted p-values of one member: the smallest levels at which it would be rejected."""

    refute: float
    support: float


@dataclass(frozen=True)
class Suite:
    """Result of an adjustment: its families, and the claims that fall by it."""

    refutations: int  # members of family R
    supports: int  # members of family S
    changed: tuple[str, ...]
    members: Mapping[str, Adjusted]
    levels: tuple[float, float] = (REFUTATIONS, SUPPORTS)

    def after(self, name: str, verdict: Verdict) -> Verdict:
        """The verdict as the whole suite supports it: a claim that falls has one finding more."""
        if name not in self.changed:
            return verdict
        refuted = verdict.status is Status.REFUTED
        p, level = (verdict.p_refute, self.levels[0]) if refuted else (verdict.p_support, self.levels[1])
        told = (
            f"{verdict.sentence} Alone it is {verdict.status} ({p_value(p)}); among the {many(len(self.members), 'claim')} of "
            f"this run that is not small enough for a family-wise error of {level:g} (Holm)."
        )
        return verdict.with_findings(Found(Finding.FELL_IN_SUITE, told, Reason.UNDERPOWERED))

    @property
    def sentence(self) -> str:
        """The adjustment in words."""
        green, red = percent(SUPPORTS), percent(REFUTATIONS)
        risk = f"risk that any green is wrong {green}, any red {red}"
        changed = many(len(self.changed), "verdict") if self.changed else "no verdict"
        tested = many(len(self.members), "claim")
        return f"{tested} tested: {risk} (Holm). Adjusting changed {changed}."


def apply_budget(claims: Mapping[str, Adjustable], *, refute: float = REFUTATIONS, support: float = SUPPORTS) -> Suite:
    """Hold every statistical verdict against the whole suite's error rates.

    | the verdict alone | after |
    |---|---|
    | refuted | refuted iff its adjusted level of refutation is at most ``refute``, else inconclusive |
    | supported | supported iff its adjusted level of support is at most ``support``, else inconclusive |
    | inconclusive | unchanged, and a member of both families |
    | rigorous, or without p-values, or anything else | unchanged, and a member of neither |

    An adjustment takes away, it never gives: an inconclusive verdict stays so, and a refuted one is never turned into
    support.

    **Raises:** DesignError for a p-value that is none.
    """
    family = {name: claim for name, claim in claims.items() if _is_member(claim)}
    refuting = holm({name: _p_value(claim, Status.REFUTED) for name, claim in family.items()})
    supporting = holm({name: _p_value(claim, Status.SUPPORTED) for name, claim in family.items()})
    short = {Status.REFUTED: (refuting, refute), Status.SUPPORTED: (supporting, support)}
    changed = tuple(
        name
        for name, claim in family.items()
        if claim.status in short and short[claim.status][0][name] > short[claim.status][1]
    )
    members = {name: Adjusted(refuting[name], supporting[name]) for name in family}
    return Suite(len(family), len(family), changed, members, (refute, support))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values: the claim of the k-th smallest p gets the largest (number - j + 1) p_(j) over j up to k.

    **Source:** Holm 1979.
    """
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        _refuse_p(name, p)
        running = max(running, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = running
    return adjusted


def short_of(p_values: Mapping[str, float], level: float = SUPPORTS) -> dict[str, float]:
    """The members that Holm would not reject at this level, each with the p-value that it needs where it stands."""
    adjusted = holm(p_values)
    ordered = sorted(p_values, key=lambda name: p_values[name])
    return {name: level / (len(ordered) - at) for at, name in enumerate(ordered) if adjusted[name] > level}


def _is_member(claim: Adjustable) -> bool:
    known = claim.p_refute is not None and claim.p_support is not None
    return claim.status in TESTED and not claim.rigorous and known


def _p_value(claim: Adjustable, decided: Status) -> float:
    p = claim.p_refute if decided is Status.REFUTED else claim.p_support
    assert p is not None  # as of every member
    return p


def _refuse_p(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise DesignError(f"`{name}` has p = {p:g}, which is no probability. Write a value between 0 and 1.")
