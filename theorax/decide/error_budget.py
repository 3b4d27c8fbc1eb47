r"""Error control over a suite of verdicts: two families, the refutations and the supports, and two ways to hold each.

| method | what is kept | valid under |
|---|---|---|
| ``holm`` | the probability of any wrong rejection in a family (family-wise error) | any dependence |
| ``e-bh`` | the expected share of wrong rejections in a family (false discovery rate) | any dependence |

Rigorous results are in neither family: they spend no error. An e-value is that of a process frozen at its stopping
time, never a running maximum; where a verdict has none, its p-value gives $e = 1/(2\sqrt p)$, whose mean is at most one
when p is a p-value.

**Source:** Holm 1979; Wang and Ramdas 2022 (e-BH); Vovk and Wang 2021 (from p-values to e-values).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Reason, Status
from theorax.errors import DesignError, UsageError
from theorax.names import did_you_mean, many
from theorax.text.numbers import p_value, percent

if TYPE_CHECKING:  # the names of the methods are in the help of commands that decide nothing
    from theorax.decide.verdict import Verdict

__all__ = [
    "METHODS",
    "REFUTATIONS",
    "SUPPORTS",
    "Adjustable",
    "Adjusted",
    "Suite",
    "adjust",
    "e_bh",
    "e_value",
    "holm",
    "short_of",
]

REFUTATIONS, SUPPORTS = 0.01, 0.05
METHODS = ("holm", "e-bh")
TITLES = MappingProxyType({"holm": "Holm", "e-bh": "e-BH"})
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

    @property
    def e_value(self) -> float | None:
        """Of an e-process, frozen at its stopping time."""
        ...

    @property
    def nights(self) -> int:
        """Number of nights in its process."""
        ...


@dataclass(frozen=True)
class Adjusted:
    """The smallest levels at which one member of the suite would be rejected.

    ``refute`` and ``support`` are adjusted p-values under Holm; under e-BH they are what e-values give in their place.
    """

    refute: float
    support: float


@dataclass(frozen=True)
class Suite:
    """Result of an adjustment: its families, and the claims that fall by it."""

    method: str
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
        rate = "family-wise error" if self.method == "holm" else "false discovery rate"
        told = (
            f"{verdict.sentence} Alone it is {verdict.status} ({p_value(p)}); among the {many(len(self.members), 'claim')} of "
            f"this run that is not small enough for a {rate} of {level:g} ({TITLES[self.method]})."
        )
        return verdict.with_findings(Found(Finding.FELL_IN_SUITE, told, Reason.UNDERPOWERED))

    @property
    def sentence(self) -> str:
        """The adjustment in words."""
        green, red = percent(SUPPORTS), percent(REFUTATIONS)
        risk = f"risk that any green is wrong {green}, any red {red}"
        if self.method != "holm":
            risk = f"expected share of wrong greens {green}, of wrong reds {red}"
        changed = many(len(self.changed), "verdict") if self.changed else "no verdict"
        tested = many(len(self.members), "claim")
        return f"{tested} tested: {risk} ({TITLES[self.method]}). Adjusting changed {changed}."


def adjust(
    claims: Mapping[str, Adjustable], method: str = "holm", refute: float = REFUTATIONS, support: float = SUPPORTS
) -> Suite:
    """Hold every statistical verdict against the whole suite's error rates.

    | the verdict alone | after |
    |---|---|
    | refuted | refuted iff its adjusted level of refutation is at most ``refute``, else inconclusive |
    | supported | supported iff its adjusted level of support is at most ``support``, else inconclusive |
    | inconclusive | unchanged, and a member of both families |
    | rigorous, or without p-values, or anything else | unchanged, and a member of neither |

    An adjustment takes away, it never gives: an inconclusive verdict stays so, and a refuted one is never turned into
    support.

    **Raises:** UsageError for a method that is not known; DesignError for a p-value or an e-value that is none.
    """
    if method not in METHODS:
        raise UsageError(
            f"There is no adjustment `{method}`{did_you_mean(method, METHODS)} Error rates over a suite are kept by "
            f"one of {', '.join(METHODS)}. Write `holm`."
        )
    family = {name: claim for name, claim in claims.items() if _is_member(claim)}
    refuting = _adjusted(family, Status.REFUTED, method)
    supporting = _adjusted(family, Status.SUPPORTED, method)
    short = {Status.REFUTED: (refuting, refute), Status.SUPPORTED: (supporting, support)}
    changed = tuple(
        name
        for name, claim in family.items()
        if claim.status in short and short[claim.status][0][name] > short[claim.status][1]
    )
    members = {name: Adjusted(refuting[name], supporting[name]) for name in family}
    return Suite(method, len(family), len(family), changed, members, (refute, support))


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


def e_bh(e_values: Mapping[str, float]) -> dict[str, float]:
    r"""For every member the smallest level at which e-BH rejects it.

    At level $\alpha$ the $k^*$ largest are rejected, $k^*$ the largest k with $e_{(k)} \ge m/(\alpha k)$. Member i is
    among them iff $\alpha \ge m/(k e_{(k)})$ for some k no smaller than its rank.

    **Source:** Wang and Ramdas 2022.
    """
    ordered = sorted(e_values.items(), key=lambda item: -item[1])
    adjusted: dict[str, float] = {}
    smallest = 1.0
    for rank in range(len(ordered), 0, -1):
        name, e = ordered[rank - 1]
        if not e >= 0:
            raise DesignError(f"`{name}` has e = {e:g}, which is no e-value. Write a number from zero on.")
        smallest = min(smallest, len(ordered) / (rank * e) if e > 0 else math.inf)
        adjusted[name] = smallest
    return adjusted


def e_value(p: float) -> float:
    r"""$1/(2\sqrt p)$: its mean is $\int_0^1 dp / (2\sqrt p) = 1$ where p is uniform."""
    _refuse_p("a verdict", p)
    return 1 / (2 * math.sqrt(p)) if p > 0 else math.inf


def _is_member(claim: Adjustable) -> bool:
    known = claim.p_refute is not None and claim.p_support is not None
    return claim.status in TESTED and not claim.rigorous and known


def _adjusted(family: Mapping[str, Adjustable], decided: Status, method: str) -> dict[str, float]:
    p_values = {name: _p_value(claim, decided) for name, claim in family.items()}
    if method == "holm":
        return holm(p_values)
    # A verdict's own e-value is evidence against the null that it rejected; that of a nightly process, against truth.
    own = {
        name: claim.e_value
        for name, claim in family.items()
        if claim.e_value is not None and (Status.REFUTED if claim.nights else claim.status) is decided
    }
    return e_bh({name: own[name] if name in own else e_value(p) for name, p in p_values.items()})


def _p_value(claim: Adjustable, decided: Status) -> float:
    p = claim.p_refute if decided is Status.REFUTED else claim.p_support
    assert p is not None  # as of every member
    return p


def _refuse_p(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise DesignError(f"`{name}` has p = {p:g}, which is no probability. Write a value between 0 and 1.")
