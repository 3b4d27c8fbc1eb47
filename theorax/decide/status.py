"""The eight statuses of a claim, the reasons why one stays open, and the levels of error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from theorax.decide.slow_terms import Form
from theorax.errors import DesignError, TheoraxError

if TYPE_CHECKING:
    from theorax.decide.kill_bounds import Again  # it needs SciPy, and a result that is shown does not

__all__ = [
    "DEFAULT_LEVELS", "ClassBasis", "Decision", "Direction", "LargerClasses", "Levels", "Reading", "Reason", "Refusal", "Side",
    "Status",
]  # fmt: skip


class Status(StrEnum):
    """The eight outcomes from the best to the worst; absence of refutation is never support.

    A member equals its word, so a report that was read back compares with it: ``status == "SUPPORTED"``.
    """

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    SUPPORTED = "SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    VACUOUS = "VACUOUS"
    REFUTED = "REFUTED"
    BLOCKED = "BLOCKED"
    ERROR = "ERROR"

    @property
    def holds(self) -> bool:
        """True if the claim was established, by whatever means."""
        return self in (Status.PROVED, Status.CERTIFIED, Status.SUPPORTED)

    @property
    def meaning(self) -> str:
        """The word in a sentence, of a claim of any kind."""
        return _MEANINGS[self]

    @property
    def severity(self) -> int:
        """The place in the order of badness: 0 for PROVED, 7 for ERROR; the larger one decides for a theorem."""
        return list(Status).index(self)

    def __repr__(self) -> str:
        # At the prompt a verdict shows its word, as everywhere else.
        return repr(self.value)


_MEANINGS = {
    Status.PROVED: "an exact decision procedure closed it, for the symbols and shapes declared",
    Status.CERTIFIED: "rigorous arithmetic covered its whole scope, with a probability of error of at most 2^-40 where it drew",
    Status.SUPPORTED: "the data exclude every value further than the margin from the claim",
    Status.REFUTED: "it does not hold as stated",
    Status.INCONCLUSIVE: "the data fit the claimed value, and an error of the margin too",
    Status.VACUOUS: "the check could not have failed, so passing it says nothing",
    Status.BLOCKED: "what it rests on does not hold, so it was not judged",
    Status.ERROR: "there is no verdict, because something went wrong",
}


class Reason(StrEnum):
    """Codes of the reasons why nothing was decided."""

    UNDERPOWERED = "underpowered"  # the statistical width dominates: more draws
    CLASS_BIAS = "class_bias"  # the bound of the corrections dominates: larger sizes, not more draws
    BUDGET = "budget"
    UNDECIDED_COMPARISON = "undecided_comparison"
    NUMERIC_FLOOR = "numeric_floor"
    MOMENTS_UNDECLARED = "moments_undeclared"
    CLASS_REFUTED = "class_refuted"
    CLASS = "class"  # a form outside the default class explains the data: give the class a reason
    NOISE_UNDECLARED = "noise_undeclared"  # one value at each size, and nothing said of its error
    HYPOTHESIS_UNSAMPLED = "hypothesis_unsampled"
    NOT_DECIDABLE_YET = "not_decidable_yet"
    OUT_OF_TIME = "out_of_time"
    SPREAD = "spread"  # the draws scatter far less than was declared
    TAILS = "tails"  # the draws are too skewed for Student's interval
    INDISTINCT = "indistinct"  # draws that should differ are equal
    DEPENDENT = "dependent"  # draws depend on earlier ones, in the order given
    TOO_FEW_SIZES = "too_few_sizes"  # of a sweep that --sizes shortened
    UNREAD_SIZE = "unread_size"  # the size of a sweep does not reach what is measured
    SELF_AVERAGING = "self_averaging"  # the empirical law of one draw may scatter at every size
    ONE_SIDED_DOMAIN = "one_sided_domain"  # one side is a number where the other is none
    RANGE = "range"  # it fails outside the values drawn, where a hypothesis may fail

    def __repr__(self) -> str:
        # As a status does: the code that reports hold.
        return repr(self.value)


class Reading(StrEnum):
    """The claim that a margin belongs to: the claimed value itself, or "no farther from it than the margin".

    Support rejects "off by the margin or more" under either. Refutation rejects "exactly as claimed", or "off by at most
    the margin": then the two nulls meet in the margin alone, and one interval cannot reject both.
    """

    EXACT = "exact"
    MARGIN = "margin"

    def forgives(self, margin: float, claimed: float = 0.0) -> float:
        """The deviation from the claimed value that refutation leaves the claim: none, or the margin.

        **Errors:** none to the claim's harm. A value off by just the margin, the claim and the margin are each rounded to
        a double, and so are two differences of them: at most 2^-53 times 4 (abs(claimed) + margin), which is added.
        """
        return margin + 2.0**-51 * (abs(claimed) + margin) if self is Reading.MARGIN else 0.0

    def __repr__(self) -> str:
        # As a status does: the word that plans take and reports hold.
        return repr(self.value)


class Side(StrEnum):
    """The deviations from the claimed value that make the claim false."""

    EQUAL = "equal"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"

    @property
    def mirrored(self) -> Side:
        """The same claim about minus the value."""
        return {Side.AT_LEAST: Side.AT_MOST, Side.AT_MOST: Side.AT_LEAST}.get(self, self)


class ClassBasis(StrEnum):
    """On whose word a class of corrections rests."""

    AUTHOR = "author"  # a reason was given
    DEFAULT = "default"  # none was

    def __repr__(self) -> str:
        return repr(self.value)


class Direction(StrEnum):
    """Direction of a claimed order."""

    GROWTH = "growth"
    DECAY = "decay"

    @classmethod
    def of(cls, exponent: float) -> Direction | None:
        """The direction of this exponent; None for order zero."""
        return None if exponent == 0 or math.isnan(exponent) else cls.GROWTH if exponent > 0 else cls.DECAY


class Refusal(TheoraxError):
    """Data from which no interval can be made; the check ends INCONCLUSIVE with this reason."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Levels:
    """The two error rates of one claim: of supporting what is false by the margin, and of refuting what is true."""

    support: float = 0.025
    refute: float = 0.001

    def __post_init__(self) -> None:
        if not (0 < self.support < 0.5 and 0 < self.refute < 0.5):
            raise DesignError(
                f"Levels(support={self.support:g}, refute={self.refute:g}) are no error rates. A test that errs half "
                "the time is a coin. Write levels between 0 and 0.5; the defaults are 0.025 and 0.001."
            )

    @classmethod
    def at(cls, support: float) -> Levels:
        """The levels of a claim that is supported at this one; it is refuted at a 25th of it.

        Fifty true claims then have a wrong red among them with probability .05 at most, where it was .72.

        >>> Levels.at(0.025)
        Levels(support=0.025, refute=0.001)
        """
        return cls(support, support / 25)

    @property
    def of_attacks(self) -> Levels:
        """The levels at which a wrong variant is rejected, and a control noticed.

        Both are known to be false, and rejecting them shows that support could have failed: the level of support is
        the one that counts.
        """
        return Levels(self.support, self.support)

    def of(self, status: Status) -> float:
        """The level of this word; that of support where nothing is decided."""
        return self.refute if status is Status.REFUTED else self.support

    def part(self, share: float) -> Levels:
        """A share of both levels."""
        return self if share == 1 else Levels(share * self.support, share * self.refute)

    def shared(self, cases: int) -> Levels:
        """The levels of each of several cases of one claim.

        Support needs every case (intersection-union), so each keeps its level; one refuted case is enough to refute,
        so the level of refutation is divided (Bonferroni).
        """
        return Levels(self.support, self.refute / max(1, cases))


DEFAULT_LEVELS = Levels()


@dataclass(frozen=True)
class LargerClasses:
    """Robustness of a status under larger classes of corrections; None where none was tried."""

    robust: bool | None = None  # under twice the class, and its sizes do not share their arithmetic
    under_twice: bool | None = None  # under twice the class

    DROPPED: ClassVar[tuple[str, ...]] = ("with_log",)  # of report version 9


@dataclass(frozen=True)
class Decision:
    """The outcome of one test, with everything that it was decided from.

    ``lower`` and ``upper`` enclose the claimed quantity at the level of support, the bias bound included.
    ``breakdown_*`` is the factor by which the whole class of corrections may be inflated before the status falls;
    the status holds iff its factor exceeds one. ``robust`` is None until a larger class has been tried.
    ``equivalent_within_margin``: "off by the margin or more" and "exactly as claimed" are both rejected, each at its
    level. The value is then off the claim and inside the margin, refuted under one reading and supported under the other.
    """

    status: Status
    reason: Reason | None
    p_refute: float
    p_support: float
    breakdown_support: float
    breakdown_refute: float
    equivalent_within_margin: bool
    estimate: float
    se: float
    df: float
    bias: float
    lower: float
    upper: float
    claimed: float
    margin: float
    side: Side = Side.EQUAL
    levels: Levels = DEFAULT_LEVELS
    reading: Reading = Reading.EXACT
    robust: bool | None = None
    cases: tuple[Decision, ...] = ()
    under_twice: bool | None = None  # whether the status stands under twice the class of corrections
    basis: ClassBasis | None = None  # of the class of corrections; None where nothing is extrapolated
    outside: Form | None = None  # a form outside the class that explains the data: the word is withheld
    believed: Decision | None = None  # what would have been decided without it
    rivals: tuple[Form, ...] = ()  # other forms that fit as well as the claim that is supported
    skewness: float | None = None  # of the mean, in absolute value, where Student's interval of draws decided
    again: Again | None = None  # what a refutation of one case says of that by other draws

    @property
    def larger_classes(self) -> LargerClasses:
        """The same status under larger classes."""
        return LargerClasses(self.robust, self.under_twice)

    @property
    def within_class(self) -> Decision:
        """The same decision if the declared class is believed, without a reason for it.

        Wrong variants and controls are decided so: they show what a check under this class could have noticed.
        """
        return self.believed or self

    def charged(self, share: float) -> Decision:
        """A decision at a share of the levels, in units of the whole: rejected at the whole level iff at its share of it."""
        if share == 1:
            return self
        return replace(
            self,
            p_refute=min(1.0, self.p_refute / share),
            p_support=min(1.0, self.p_support / share),
            levels=Levels(self.levels.support / share, self.levels.refute / share),
            cases=tuple(case.charged(share) for case in self.cases),
            believed=None if self.believed is None else self.believed.charged(share),
        )

    def refuted_at(self, level: float) -> Decision:
        """The decision with a smaller level of refutation: a refutation that it does not bear is taken back.

        What is left is support where the data exclude an error of the margin too.
        """
        if self.status is not Status.REFUTED or self.p_refute <= level:
            return self
        left = Status.SUPPORTED if self.equivalent_within_margin else Status.INCONCLUSIVE
        return replace(self, status=left, reason=None if left is Status.SUPPORTED else Reason.UNDERPOWERED)

    @classmethod
    def undecided(
        cls, reason: Reason, claimed: float, margin: float, side: Side, levels: Levels, reading: Reading = Reading.EXACT
    ) -> Decision:
        """No interval could be made: nothing is rejected, whatever the value."""
        return cls(
            status=Status.INCONCLUSIVE,
            reason=reason,
            p_refute=1.0,
            p_support=1.0,
            breakdown_support=-math.inf,
            breakdown_refute=-math.inf,
            equivalent_within_margin=False,
            estimate=math.nan,
            se=math.nan,
            df=math.nan,
            bias=math.inf,
            lower=-math.inf,
            upper=math.inf,
            claimed=claimed,
            margin=margin,
            side=side,
            levels=levels,
            reading=reading,
        )
