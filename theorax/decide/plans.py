"""Plans: fixed before the data, hashed, and able to state their own power."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from theorax.decide.bias_aware import Weights, solve_weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import ASSURED, FEWEST_SIZES, LIKELY, Plan, Policy
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.kinds import KindWords
from theorax.decide.planning import cheapest
from theorax.decide.status import DEFAULT_LEVELS, ClassBasis, Decision, Levels, Reading, Reason, Refusal, Side
from theorax.decide.verdict import Point, VarianceGain
from theorax.errors import DesignError
from theorax.names import did_you_mean, many

__all__ = [
    "READ",
    "Planned",
    "Seeds",
    "SweepPlan",
    "Tested",
    "assurance",
    "chosen",
    "draw_counts",
    "per_size",
    "positive",
    "probability_text",
    "refused",
    "sweep_sizes",
]

NOTICED = 0.9  # the probability with which a noticeable deviation is refuted


READ = {
    Reading.EXACT: "exact: the claim is the value itself",
    Reading.MARGIN: "margin: the claim is a value within the margin",
}
"""The readings in words."""


class Seeds(StrEnum):
    """Declared relation between draws at different sizes."""

    PAIRED = "paired"  # draw s has the same seed at every size
    INDEPENDENT = "independent"
    UNDECLARED = "undeclared"  # scored as pairs: right whether they are or not, given equally many at every size
    NONE = "none"  # no randomness: one value at each size, its error bounded

    @property
    def policy(self) -> Policy:
        """The rule for the standard error that follows."""
        known = {Seeds.INDEPENDENT: Policy.INDEPENDENT, Seeds.NONE: Policy.DETERMINISTIC}
        return known.get(self, Policy.PAIRED)


@dataclass(frozen=True, kw_only=True)
class Planned(ABC):
    """A plan: everything that may tune a decision, frozen before the data; abstract.

    **Laws:** equal plans have equal hashes; every field enters the hash. ``hashed_as`` is the name of the class in its
    hash: that of the class when attempts at claims were first counted, so that a class may be renamed and counts survive.
    """

    kind_words: ClassVar[KindWords] = KindWords()
    sign: ClassVar[int] = 1  # -1 where the decided quantity is minus the one a reader sees
    has_interval: ClassVar[bool] = True  # margins are held against a half-width
    estimates: ClassVar[bool] = True  # False where arithmetic decides and no number is estimated
    runs_if_weak: ClassVar[bool] = False  # what decides besides the draws is known only after they are made
    hashed_as: ClassVar[str] = ""

    margin: float
    levels: Levels = DEFAULT_LEVELS
    name: str = "claim"
    reading: Reading = Reading.EXACT

    def __post_init__(self) -> None:
        object.__setattr__(self, "reading", Reading(chosen("reading", self.reading, list(Reading))))

    @property
    def forgiven(self) -> float:
        """The deviation that a refutation has to exceed: none under the exact reading, the margin under the other."""
        return self.margin if self.reading is Reading.MARGIN else 0.0

    @property
    def hash(self) -> str:
        """A digest of everything that was fixed before the data."""
        parts = [self.hashed_as or type(self).__name__, *self._hashed()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def _hashed(self) -> list[str]:
        """Lines of the digest, one for each field."""
        return [f"{part.name}={getattr(self, part.name)!r}" for part in fields(self)]

    @property
    def claimed(self) -> float | None:
        """The claimed value of the quantity that is decided; None where the claim has no number of its own."""
        return None

    @property
    def is_exponential(self) -> bool:
        """True of an order exp(c n), which is no power of n."""
        return False

    @property
    @abstractmethod
    def statement(self) -> str:
        """The claim as Unicode mathematics."""

    @property
    @abstractmethod
    def bias(self) -> float | None:
        """The largest bias that the declared class leaves; None where nothing is extrapolated."""

    @property
    @abstractmethod
    def half_width(self) -> float:
        """Bias plus statistical radius: no margin below it can be supported."""

    @property
    @abstractmethod
    def noticeable(self) -> float:
        """The smallest deviation that is refuted with probability 0.9, whatever member of the class is present."""

    @property
    @abstractmethod
    def cost(self) -> float:
        """Cost of the data: a draw at size n costs n."""

    @property
    def decides(self) -> bool:
        """True if a true claim is supported with probability one half at least; a weaker plan may still refute."""
        return self.power() >= LIKELY

    @property
    def why_not(self) -> Reason | None:
        """The reason why support is out of reach: too few draws, or a class that no draws make up for; None where it is not."""
        return None if self.decides else Reason.UNDERPOWERED

    @property
    def weakness(self) -> str:
        """The sentence why the plan does not decide, with the cheapest design that does; empty where this one decides."""
        return "" if self.decides else self.short_of_deciding()

    def short_of_deciding(self, power: float = ASSURED, later: Levels | None = None) -> str:
        """Find how far the plan is from deciding, and the cheapest design that decides with this probability.

        ``later``: the levels that the design will have, as those of a further attempt.
        """
        better = (self if later is None else replace(self, levels=later)).cheapest(power)
        remedy = self._remedy(better) if better else "No design decides: widen the margin"
        return f"{self._lack}. {remedy}"

    @property
    def _lack(self) -> str:
        """The sentence that says how far the design is from deciding, without its full stop."""
        if self.why_not is Reason.CLASS_BIAS and self.bias is not None:
            short = "alone exceed the margin" if self.bias >= self.margin else "leave too little room in the margin"
            return f"the assumed corrections ({self.bias:.2g}) {short} ({self.margin:.2g})"
        gives = "give" if self.random else "gives"
        if (power := self.power()) > 0:
            decides = gives.replace("give", "decide")
            return (
                f"{self.amount} {decides} with probability {power:.2g} (± {self.half_width:.2g} of ± {self.margin:.2g})"
            )
        return f"{self.amount} {gives} ± {self.half_width:.2g}, ± {self.margin:.2g} is needed"

    def _remedy(self, better: Planned) -> str:
        """The sentence that names the cheapest design that decides, without its full stop."""
        spreads = better.planned_spreads
        noise = f" (noise sd {_range_of(spreads)} is assumed)" if spreads and any(spreads) else ""
        return f"About {better.amount} decide{noise}"

    @property
    def no_meaning(self) -> str:
        """The sentence why the claim cannot fail at this margin, known before the data; empty where it can."""
        return ""

    @property
    def words(self) -> tuple[str, str]:
        """Names of the claimed value and of the found one, where they are no numbers of the quantity itself."""
        return "", ""

    def apart(self, other: Planned) -> float | None:
        """Distance of the two claimed values, in the units of the margin; None where they have no distance."""
        return None

    @property
    def random(self) -> bool:
        """True if the values are draws; only draws spend an error rate."""
        return True

    @property
    def planned_spreads(self) -> tuple[float, ...]:
        """The planned standard deviation of one draw at every size; empty where no noise is assumed."""
        return ()

    @property
    def planned_gain(self) -> VarianceGain | None:
        """The planned gain of variates of known mean; None where there are none."""
        return None

    def repeated(self) -> Self:
        """The plan of a repetition on few draws, which is asked whether it refutes, never whether it supports."""
        return self

    @abstractmethod
    def power(self) -> float:
        """The probability of support when the claim holds exactly, without corrections, and the noise is as planned."""

    @property
    def supposed(self) -> str:
        """The condition of that probability, in words."""
        return "if the claim holds exactly"

    @property
    def worst_power(self) -> float:
        """The same probability in the worst case in which the claim holds: of a class of corrections, or as it is claimed."""
        return self.power()

    @abstractmethod
    def cheapest(self, power: float = ASSURED) -> Self | None:
        """The cheapest plan of this kind that supports a true claim with this probability; None if none was found."""

    @property
    @abstractmethod
    def design(self) -> str:
        """Sizes and draws in words."""

    @property
    def amount(self) -> str:
        """The draws in words, as the subject of a sentence."""
        return self.design

    def __str__(self) -> str:
        of_bias = "" if self.bias is None else f", of which {self.bias:.2g} is bias that the class allows"
        lines = [
            f"{self.statement},  margin ± {self.margin:.3g}",
            f"  planned     {self.design}",
            *(f"  {line}" for line in self._declared()),
            f"  reading     {READ[self.reading]}",
            f"  half-width  {self.half_width:.2g}{of_bias}",
            f"  decides     with probability {assurance(self.power(), self.worst_power, self.supposed)}",
            f"  power       refutes a deviation of {self.noticeable:.2g}, nine times in ten",
        ]
        if not self.decides:
            better = self.cheapest()
            reached = (
                f"{better.design}, with probability {ASSURED:g}" if better else "none that was tried: widen the margin"
            )
            lines.append(f"  to decide   {reached}")
        if self.no_meaning:
            lines.append(f"  vacuous     {self.no_meaning}")
        return "\n".join([*lines, f"  plan        {self.hash}"])

    @abstractmethod
    def _declared(self) -> Iterable[str]:
        """Lines about what is declared."""


@dataclass(frozen=True)
class Tested:
    """Result of a test on one case, the same for a theorem's claim and for a user's own numbers."""

    decision: Decision
    points: tuple[Point, ...] = ()
    unseen: tuple[str, ...] = ()  # what the test could not have seen
    detail: str = ""  # what decided it, where the decision's numbers do not say it
    looked: Looked = NOTHING_LOOKED_AT  # what was looked at besides, of numbers of one's own
    gain: VarianceGain | None = None  # of variates of known mean


@dataclass(frozen=True, kw_only=True)
class SweepPlan(Planned):
    """A plan over growing sizes, decided by the weights of `theorax.decide.bias_aware`; abstract.

    ``errors`` bound the error of each value that is averaged (of its logarithm, for a rate).
    """

    sizes: tuple[float, ...]
    draws: tuple[int, ...] | int = 32
    sd: tuple[float, ...] | float = 0.2
    seeds: Seeds = Seeds.UNDECLARED
    errors: tuple[float, ...] | float = 0.0
    corrections: Corrections = field(default_factory=Corrections)
    letter: str = "n"
    of: str = "q"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "seeds", Seeds(chosen("seeds", self.seeds, list(Seeds))))
        object.__setattr__(self, "margin", positive("margin", self.margin, "the smallest error that would matter"))
        self.weights  # noqa: B018  (a plan that has no weights is none: its errors are told now)

    @property
    @abstractmethod
    def core(self) -> Plan:
        """The design that the weights depend on."""

    @property
    def weights(self) -> Weights:
        """The weights of all sizes."""
        return solve_weights(self.core)

    @property
    def bias(self) -> float:
        return self.weights.bias.total

    @property
    def half_width(self) -> float:
        return self.weights.half_width

    @property
    def noticeable(self) -> float:
        return self.forgiven + self.weights.mde(NOTICED)

    @property
    def why_not(self) -> Reason | None:
        return self.weights.why_not(self.margin)

    @property
    def random(self) -> bool:
        return self.seeds is not Seeds.NONE

    @property
    def policy(self) -> Policy:
        """The rule for the standard error: of one draw at each size, that of the residuals."""
        alone = self.draws == 1 or (isinstance(self.draws, tuple) and set(self.draws) == {1})
        return Policy.SINGLE if self.random and alone and len(self.sizes) > 1 else self.seeds.policy

    @property
    def basis(self) -> ClassBasis:
        """On whose word the class of corrections rests."""
        return ClassBasis.AUTHOR if self.corrections.is_reasoned else ClassBasis.DEFAULT

    @property
    def cost(self) -> float:
        return math.fsum(size * draws for size, draws in zip(self.sizes, self.core.planned_draws, strict=True))

    @property
    def unit(self) -> str:
        """Unit of the class of corrections, as a clause between commas."""
        return ", in relative terms,"

    def power(self) -> float:
        """The probability of support when the claim holds exactly and no correction is present."""
        return self.weights.power(self.margin)

    @property
    def worst_power(self) -> float:
        return self.weights.power(self.margin, self.bias)

    def cheapest(
        self,
        power: float = ASSURED,
        cost: Callable[[float], float] = float,
        doublings: int = 10,
        most_draws: int = 2**17,
    ) -> Self | None:
        proposal = cheapest(self.core, self.margin, power, doublings, most_draws, cost)
        if proposal is None:
            return None
        found = proposal.weights.plan
        return replace(self, **self._extended(found))

    def _remedy(self, better: Planned) -> str:
        assert isinstance(better, type(self))
        larger = better.sizes[-1] > self.sizes[-1]
        if self.why_not is Reason.CLASS_BIAS and larger:
            return f"Use sizes up to {better.sizes[-1]:g}, or declare smaller corrections with a reason"
        if better.sizes != self.sizes or not self.random:
            return f"The cheapest design that decides: {better.design}"
        return super()._remedy(better)

    def _extended(self, found: Plan) -> dict[str, Any]:
        """The fields of this plan that a proposal changes."""
        spreads = {"sizes": found.sizes, "sd": found.sd}
        return {**spreads, "draws": found.draws} if self.random else {**spreads, "errors": found.errors}

    @property
    def design(self) -> str:
        sizes = f"{self.letter} = {_listed(self.sizes)}"
        if not self.random:
            return f"{sizes}, one value at each"
        each = " at each" if len(set(self.core.planned_draws)) == 1 else ""
        return f"{sizes}, {self._drawn}{each}"

    @property
    def amount(self) -> str:
        drawn = self._drawn if self.random else "one value"
        return f"{drawn} at each size" if len(self.sizes) > 1 else drawn

    @property
    def _drawn(self) -> str:
        counts = self.core.planned_draws
        return many(counts[0], "draw") if len(set(counts)) == 1 else f"{min(counts)} to {many(max(counts), 'draw')}"

    def _declared(self) -> Iterable[str]:
        yield (
            f"class       corrections {self.corrections}"
            if str(self.corrections) != "no corrections"
            else ("class       no corrections")
        )
        if self.random:
            spread = self.sd if isinstance(self.sd, tuple) else (self.sd,)
            yield f"noise       sd {_range_of(spread)} of one draw, seeds {self.seeds.value}"


def assurance(power: float, worst: float, supposed: str = "if the claim holds exactly") -> str:
    """The probability of a decision, and that in the worst case of the claim where it is another.

    >>> assurance(0.8134, 0.2), assurance(0.9999, 0.9999)
    ('0.81, if the claim holds exactly (0.2 in the worst case)', 'above 0.99, if the claim holds exactly')
    """
    least = "" if round(worst, 2) == round(power, 2) else f" ({probability_text(worst)} in the worst case)"
    return f"{probability_text(power)}, {supposed}{least}"


def probability_text(value: float) -> str:
    """A probability with two decimals; one that rounds to zero or one is a bound.

    >>> probability_text(0.554), probability_text(0.001), probability_text(1.0)
    ('0.55', 'below 0.01', 'above 0.99')
    """
    return "below 0.01" if value < 0.005 else "above 0.99" if value >= 0.995 else f"{value:.2g}"


def _range_of(numbers: Sequence[float]) -> str:
    """One number, or the smallest and the largest of several.

    >>> _range_of((0.2, 0.2)), _range_of((0.2, 0.4))
    ('0.2', '0.2 to 0.4')
    """
    low, high = min(numbers), max(numbers)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def refused(refusal: Refusal, plan: Planned, claimed: float, side: Side, points: tuple[Point, ...]) -> Tested:
    """Data from which no interval can be made, and why."""
    decision = Decision.undecided(refusal.reason, claimed, plan.margin, side, plan.levels, plan.reading)
    return Tested(decision, points, detail=str(refusal).rstrip("."))


def sweep_sizes(sizes: Iterable[float], least: int = FEWEST_SIZES) -> tuple[float, ...]:
    """Sizes that can carry a claim about what happens as they grow.

    **Raises:** `DesignError` for fewer than three, for unsorted or repeated ones, or where one is not positive.
    """
    found = tuple(float(size) for size in sizes)
    if len(found) < least:
        raise DesignError(
            f"The sweep has {many(len(found), 'size')}. Two points fit every line, so a claim about growing sizes needs "
            f"at least {least}. Write more sizes, each twice the one before it."
        )
    for at, (a, b) in enumerate(pairwise(found)):
        if not (math.isfinite(b) and b > a):
            what = "repeats" if a == b else "does not exceed"
            raise DesignError(
                f"Size {at + 2} ({b:g}) {what} size {at + 1} ({a:g}). A limit is approached along growing sizes. "
                "Write them in increasing order, each once."
            )
    if not found[0] > 0:
        raise DesignError(f"Size 1 is {found[0]:g}. Sizes are positive: powers of them are taken. Leave it out.")
    return found


def draw_counts(draws: int | Sequence[int]) -> tuple[int, ...] | int:
    """Numbers of draws as the plan keeps them."""
    if isinstance(draws, Sequence):
        return tuple(_whole(count) for count in draws)
    return _whole(draws)


def per_size(name: str, value: float | Sequence[float]) -> tuple[float, ...] | float:
    """One number for all sizes, or one for each.

    **Raises:** `DesignError` for anything else.
    """
    parts = tuple(value) if isinstance(value, Sequence | np.ndarray) else (value,)
    if not parts or not all(isinstance(part, Real) and 0 <= float(part) < math.inf for part in parts):
        raise DesignError(f"{name}={value!r} is no spread or bound. Write a number from zero on, or one for each size.")
    found = tuple(map(float, parts))
    return found if isinstance(value, Sequence | np.ndarray) else found[0]


def positive(name: str, value: Any, meaning: str) -> float:
    """A positive finite number.

    **Raises:** `DesignError` for anything else.
    """
    if not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise DesignError(f"{name}={value!r} is not valid: it is {meaning}. Write a positive number.")
    return float(value)


def chosen(name: str, value: str, known: Iterable[str]) -> str:
    """One of a few words.

    **Raises:** `DesignError` with the nearest of them for another.
    """
    words = list(known)
    if value not in words:
        raise DesignError(f"{name}={value!r} is unknown{did_you_mean(str(value), words)} Known: {', '.join(words)}.")
    return str(value)


def _whole(count: Any) -> int:
    if not isinstance(count, Integral) or int(count) < 1:
        raise DesignError(f"draws={count!r} is no number of draws. Write a whole number, such as draws=32.")
    return int(count)


def _listed(sizes: Sequence[float]) -> str:
    if len(sizes) <= 4:
        return ", ".join(f"{size:g}" for size in sizes)
    return f"{sizes[0]:g} to {sizes[-1]:g} ({many(len(sizes), 'size')})"
