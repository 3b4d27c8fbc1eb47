"""The nine kinds of claim: SymPy-holding values that check their own mathematics when they are built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, final

from sympy import (
    Basic,
    Expr,
    ImmutableMatrix,
    MatrixBase,
    Rational,
    Symbol,
    Tuple,
    diff,
    log,
    simplify,
    sqrt,
    sympify,
    true,
)
from sympy.logic.boolalg import Boolean

from theorax.errors import StatementError
from theorax.theorems.language.approach import Corrections
from theorax.theorems.language.laws import LawOfNumbers
from theorax.theorems.language.letters import Index, Measured, Parameter, Size
from theorax.theorems.language.margins import Absolute, Margin, Relative
from theorax.theorems.language.moments import Bounded, BoundedVariance, Moments, TwoValues
from theorax.theorems.language.vectors import GaussianVector

NOTHING: Mapping[Any, Any] = MappingProxyType({})
FEW = Rational(1, 50)  # the share of draws that a sampled bound may leave open


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """What every kind of claim has.

    ``margin`` with ``because``: "false by at least the margin" is rejected before the claim is called supported.
    ``under``: the hypotheses it needs, all of the theorem's if None. ``where``: the cases it speaks of.
    ``on``: the experiment whose observations it speaks of; may stay None where one experiment measures its letters.
    ``mutants``: wrong variants by name, each a dictionary of replaced fields; ``implied``: weaker variants that must
    stay supported. ``corrected``: this is what the source prints, the named claim is what holds.
    ``spread``: planned standard deviation of one draw in units of the claimed value (see the verifiers' planner).
    """

    margin: Margin | None = None
    because: str = ""
    under: tuple[str, ...] | None = None
    where: Boolean = true
    on: str | None = None
    mutants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: NOTHING)
    implied: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: NOTHING)
    corrected: str | None = None
    spread: Expr | float = 0.2

    measured_fields: ClassVar[tuple[str, ...]] = ()  # SymPy fields evaluated on the observations
    stated_fields: ClassVar[tuple[str, ...]] = ()  # SymPy fields evaluated on letters that are known before any draw

    def __post_init__(self) -> None:
        for name in (*self.measured_fields, *self.stated_fields):
            value = getattr(self, name)
            if value is not None and not isinstance(value, LawOfNumbers):
                object.__setattr__(self, name, sympify(value))
        for name in self.stated_fields:
            value = getattr(self, name)
            if isinstance(value, Basic) and (letters := _measured(value)):
                self._refuse(
                    f"{name}={value} holds {_names(letters)}, which only a draw can tell",
                    "This side is what theory predicts before any draw.",
                    "Move the measured letter to the other side.",
                )
        if self.margin is not None and not self.because.strip():
            self._refuse(
                f"margin={self.margin} has no reason",
                "A reader must be told why a statement off by less may pass.",
                'Write because="the nearest wrong statement in the literature lies ... away".',
            )

    @property
    def kind(self) -> str:
        """The kind's name as a selector knows it: ``limit``, ``rate``, ..."""
        return type(self).__name__.lower()

    @property
    def letters(self) -> frozenset[Symbol]:
        """Every symbol in the claim, and the indices over which its measured letters run."""
        found: set[Symbol] = set(self.where.free_symbols)
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, Basic):
                found |= value.free_symbols
            elif isinstance(value, LawOfNumbers | Bounded | TwoValues | BoundedVariance):
                found |= value.letters
            elif isinstance(value, tuple):
                for member in value:
                    found |= member.letters if isinstance(member, LawOfNumbers) else frozenset()
        return frozenset(found.union(*(letter.over for letter in found if isinstance(letter, Measured))))

    @property
    def observed(self) -> frozenset[Measured]:
        """The measured letters that the claim needs."""
        return frozenset(letter for letter in self.letters if isinstance(letter, Measured))

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        """The exact ranges of the parameters of a claim over a box; empty for one that is measured."""
        return NOTHING

    @property
    @abstractmethod
    def prediction(self) -> Expr | None:
        """The side that theory predicts, where it is an expression."""

    def _refuse(self, given: str, why: str, instead: str) -> None:
        raise StatementError(f"{type(self).__name__}: {given}. {why} {instead}")


def _box(claim: Inequality | Optimum | Impossibility) -> Mapping[Parameter, tuple[Expr, Expr]]:
    """The exact ranges of the parameters of a claim over a box."""
    sides = {}
    for letter, ends in claim.over.items():
        if not isinstance(letter, Parameter) or len(ends) != 2:
            claim._refuse(
                f"over={{{letter}: {ends}}} gives no range of a parameter",
                "A box is a product of intervals of parameters.",
                f'Declare {letter} = Parameter("{letter}", "...") and write over={{{letter}: (0, 1)}}.',
            )
        lower, upper = (_exact(claim, letter, end) for end in ends)
        if not lower < upper:
            claim._refuse(
                f"over={{{letter}: ({lower}, {upper})}} is empty", "No point lies in it.", "Write the lower end first."
            )
        sides[letter] = (lower, upper)
    if sides and (other := sorted(map(str, claim.letters - set(sides)))):
        claim._refuse(
            f"over gives no range of {', '.join(other)}",
            "A claim over a box speaks of the parameters of the box alone.",
            f"Add {other[0]} to over, or measure it in an experiment instead.",
        )
    return MappingProxyType(sides)


def _exact(claim: Claim, letter: Symbol, value: Any) -> Expr:
    found = sympify(value)
    if not found.is_Rational:
        claim._refuse(
            f"{letter} = {value} is no rational number",
            "The ends of a box and the points in it are exact; the decimals of a float are not the number meant.",
            "Write an integer or Rational(1, 3).",
        )
    return found


def _measured(expression: Basic) -> list[Measured]:
    return sorted((s for s in expression.free_symbols if isinstance(s, Measured)), key=str)


def _names(letters: list[Measured]) -> str:
    return ", ".join(map(str, letters))


@final
@dataclass(frozen=True, kw_only=True)
class Identity(Claim):
    """Both sides are equal, entry by entry, for every admissible instance: program against program or symbol.

    A relative margin is one of the largest entry of either side; where a side is zero, write an absolute one.
    """

    left: Expr
    right: Expr
    measured_fields = ("left", "right")

    def __post_init__(self) -> None:
        super().__post_init__()
        if simplify(self.left - self.right) == 0:
            self._refuse(
                f"left={self.left} and right={self.right} are the same expression",
                "Such a check cannot fail.",
                "Measure the two sides by two programs, with a letter for each.",
            )
        if self.observed and self.margin is None:
            self._refuse(
                "it has no margin",
                "Floats of two programs agree up to rounding, never exactly, and support excludes what is off by more.",
                'Write margin=Relative(1, 10**9), because="rounding stays below it, an error does not".',
            )

    @property
    def prediction(self) -> Expr:
        return self.right


@final
@dataclass(frozen=True, kw_only=True)
class Inequality(Claim):
    """A bound in every draw: ``of`` is at most ``at_most``, or at least ``at_least``. Exactly one bound is given.

    Sampling supports it for all but a share ``content`` of the draws; an absolute margin is a slack of the bound.
    ``over``: the exact range of each parameter where nothing is measured, ``{x: (0, Rational(1, 3))}``; the bound is
    then certified, or refuted, on the whole box. ``trivial``: a bound that holds for reasons of no interest (a norm is
    not negative); one that is nowhere sharper says nothing.
    """

    of: Expr
    at_most: Expr | None = None
    at_least: Expr | None = None
    content: Expr = FEW
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    trivial: Expr | None = None
    measured_fields = ("of", "at_most", "at_least", "trivial")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", _box(self))
        if (self.at_most is None) == (self.at_least is None):
            self._refuse(
                "it has two bounds or none" if self.at_most is not None else "it has no bound",
                "One claim bounds from one side.",
                "Write at_most=... or at_least=...; two bounds are two claims.",
            )
        if isinstance(self.margin, Relative):
            self._refuse(
                f"margin={self.margin} is relative",
                "The margin of a bound is a slack added to it, and a bound may be zero.",
                "Write Absolute(...), or no margin.",
            )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.at_most if self.at_most is not None else self.at_least


@final
@dataclass(frozen=True, kw_only=True)
class Probability(Claim):
    """The event holds with at least this probability, at every size of the experiment.

    Support excludes every probability below ``at_least`` less the margin. An event that is claimed to be almost sure
    (``at_least=1``) needs no margin: one violation confirmed in ball arithmetic refutes it, and draws without any leave
    open that up to a share ``content`` of all draws violates it.
    """

    event: Boolean
    at_least: Expr
    content: Expr = FEW
    measured_fields = ("event",)
    stated_fields = ("at_least", "content")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least.is_number and not 0 < self.at_least <= 1:
            self._refuse(
                f"at_least={self.at_least} is no probability above zero",
                "Every event has a probability of at least zero.",
                "Write a number in (0, 1].",
            )
        _needs_measured(self, "event")
        if isinstance(self.event, Symbol) or not isinstance(self.event, Boolean):
            self._refuse(
                f"event={self.event} is neither true nor false",
                "What has a probability is an event.",
                "Write a relation of measured letters, such as s <= 2.",
            )
        if self.margin is None and self.at_least != 1:
            self._refuse(
                "it has no margin",
                "A probability is supported only by rejecting that it lies below the claimed one by at least a margin.",
                'Write margin=Absolute(1, 50), because="...".',
            )
        if isinstance(self.margin, Relative):
            self._refuse(
                f"margin={self.margin} is relative",
                "Near one it hides the probability of the opposite, which is what matters.",
                "Write Absolute(...).",
            )
        if self.margin is not None and self.at_least.is_number and self.at_least <= self.margin.value:
            self._refuse(
                f"margin={self.margin} reaches zero from at_least={self.at_least}",
                "Every event has a probability above that, so support would say nothing.",
                "Write a margin below at_least.",
            )

    @property
    def prediction(self) -> Expr:
        return self.at_least


@final
@dataclass(frozen=True, kw_only=True)
class Expectation(Claim):
    """The mean of ``of`` equals ``equals`` at every finite size of the experiment: exact, no limit.

    ``moments`` is what is declared about the tails; it decides the interval (METHOD, section 4.3). With ``quantile`` it
    is the quantile of this order (the median at one half) that equals it, and nothing needs to be declared.
    """

    of: Expr
    equals: Expr
    moments: Moments = "light tails"
    quantile: Expr | None = None
    measured_fields = ("of",)
    stated_fields = ("equals", "quantile")

    def __post_init__(self) -> None:
        super().__post_init__()
        _needs_measured(self, "of")
        _needs_margin(self)
        if self.quantile is None:
            _needs_moments(
                self, "Write quantile=Rational(1, 2) for the median, or measure the logarithm, or declare a bound."
            )
        elif self.quantile.is_number and not 0 < self.quantile < 1:
            self._refuse(
                f"quantile={self.quantile} is no order of a quantile",
                "A quantile is the value that a share of the draws lies below.",
                "Write a number between 0 and 1; Rational(1, 2) is the median.",
            )

    @property
    def prediction(self) -> Expr:
        return self.equals


@final
@dataclass(frozen=True, kw_only=True)
class Limit(Claim):
    """The mean of ``of`` tends to ``to`` as the size ``as_`` tends to infinity, within the class ``approach``.

    The class of finite-size corrections is declared in units of the claimed value (in absolute units around zero).
    """

    of: Expr
    to: Expr
    as_: Size
    approach: Corrections
    moments: Moments = "light tails"
    measured_fields = ("of",)
    stated_fields = ("to",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _needs_measured(self, "of")
        _needs_margin(self)
        _needs_size(self, self.as_)
        _needs_moments(self, "Measure a bounded function of it or its logarithm, or declare a bound.")
        if self.as_ in self.to.free_symbols:
            self._refuse(
                f"to={self.to} still depends on {self.as_}",
                f"A limit as {self.as_} tends to infinity does not.",
                "Divide both sides by what grows, or state a Rate.",
            )
        if self.to == 0 and isinstance(self.margin, Relative):
            self._refuse(
                f"margin={self.margin} around to=0 is zero",
                "A relative margin around zero decides nothing.",
                "Write Absolute(...).",
            )

    @property
    def prediction(self) -> Expr:
        return self.to


@final
@dataclass(frozen=True, kw_only=True)
class Rate(Claim):
    """``of`` grows or decays like a constant times ``like`` as ``as_`` tends to infinity.

    ``like`` is a power ``n**a`` or an exponential ``exp(c*n)``, the exponent free of ``n``; what is decided is the
    exponent ``a`` or ``c``, in absolute units. ``side``: "exact" (both ways), "at most" (an upper bound on the order)
    or "at least". Factors of log n are allowed for by ``approach=Corrections(loglog=...)``: a soft order.
    ``average``: "mean of log" where the theorem is almost sure or in probability, "log of mean" where it is about
    expectations. ``floor``: values are exact up to this absolute error; sizes that come near it are left out.
    ``rules_out``: the exponents, from the first to the second, of the other form (a power beside an exponential, an
    exponential beside a power) that support must exclude, under the class ``rival``.
    ``to``: a law; what grows or decays is then the distance of the law of ``of`` from it, for which ``given`` and
    ``scale`` are those of a :class:`Law`, and ``spread`` is that of one draw's features over the distance.
    """

    of: Expr
    like: Expr
    as_: Size
    approach: Corrections
    side: Literal["exact", "at most", "at least"] = "exact"
    average: Literal["mean of log", "log of mean"] = "mean of log"
    floor: Expr | float = 0
    rules_out: tuple[Expr, Expr] | None = None
    rival: Corrections = field(default_factory=Corrections)
    to: LawOfNumbers | None = None
    given: Expr | None = None
    scale: Expr | float = 1
    measured_fields = ("of", "given")
    stated_fields = ("like", "floor", "scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        _needs_measured(self, "of")
        _needs_margin(self)
        _needs_size(self, self.as_)
        if not isinstance(self.margin, Absolute):
            self._refuse(
                f"margin={self.margin} is relative",
                "What is decided is an exponent, and an exponent may be zero.",
                "Write Absolute(1, 10) for a tenth.",
            )
        if self.as_ in self.exponent.free_symbols:
            self._refuse(
                f"like={self.like} is neither a power of {self.as_} nor an exponential in it",
                "Its exponent would depend on the size.",
                f"Write {self.as_}**a or exp(c*{self.as_}); move further factors to the other side.",
            )
        if self.to is not None and (self.rules_out is not None or self.floor != 0 or self.is_exponential):
            self._refuse(
                f"to={self.to} stands beside an exponential, a floor or a rival form",
                "The distance of a law from its limit is known down to its noise, and decays like a power of the size.",
                "Write like=n**-1 or another power, and neither floor nor rules_out.",
            )
        if isinstance(self.to, GaussianVector) and self.to.dimensions > 1:
            self._refuse(
                f"to={self.to} is the law of several numbers",
                "of is one letter.",
                "Write the law of one number, gaussian(1).",
            )
        if self.to is None and self.given is not None:
            self._refuse(
                f"given={self.given} is the conditional variance of a law, and none is claimed",
                "Only features of a law are averaged in closed form.",
                "Write to=gaussian(...), or leave given out.",
            )
        if self.average not in ("mean of log", "log of mean"):
            self._refuse(
                f"average={self.average!r} is none that a rate is read from",
                "The logarithm of a mean and the mean of a logarithm differ where the draws spread.",
                'Write "mean of log" or "log of mean".',
            )
        if sympify(self.floor).is_number and not sympify(self.floor) >= 0:
            self._refuse(
                f"floor={self.floor} is negative",
                "It bounds an absolute error.",
                "Write a number of at least zero.",
            )
        if self.rules_out is not None:
            if len(self.rules_out) != 2 or not all(sympify(end).is_finite for end in self.rules_out):
                self._refuse(
                    f"rules_out={self.rules_out} is no finite range",
                    "Some member of an unbounded family of forms fits any finite sweep.",
                    "Write the smallest and the largest exponent that must be excluded, such as (-8, 0).",
                )
            object.__setattr__(self, "rules_out", tuple(sorted(map(sympify, self.rules_out))))

    @cached_property
    def is_exponential(self) -> bool:
        """True for exp(c n), False for n^a."""
        return (
            self.as_ not in simplify(diff(log(self.like), self.as_)).free_symbols and self.as_ in self.like.free_symbols
        )

    @cached_property
    def exponent(self) -> Expr:
        """d log like / d log n of a power, d log like / d n of an exponential."""
        slope = simplify(diff(log(self.like), self.as_))
        return slope if self.is_exponential else simplify(self.as_ * slope)

    @property
    def prediction(self) -> Expr:
        return self.like


@final
@dataclass(frozen=True, kw_only=True)
class Law(Claim):
    """``of`` converges in distribution to the law ``to``; several letters in a tuple do so together.

    ``scale`` sets the frequencies at which characteristic functions are compared (of the order of the law's standard
    deviation); those of a vector are whitened by its covariance and drawn once. ``excludes``: the wrong laws that
    support must exclude; the margin is the distance to the nearest of them; by default the claimed law with a tenth
    more variance. ``given``: a measured variance (a covariance matrix) with which ``of`` is Gaussian and centred given
    the rest of the draw, as the last layer of a network is given the one before: its features are then averaged in
    closed form, which is worth tens of times more draws.
    """

    of: Measured | tuple[Measured, ...]
    to: LawOfNumbers
    as_: Size
    approach: Corrections
    scale: Expr | float = 1
    excludes: tuple[LawOfNumbers, ...] = ()
    given: Expr | None = None
    measured_fields = ("of", "given")
    stated_fields = ("scale",)

    def __post_init__(self) -> None:
        if isinstance(self.given, MatrixBase):
            object.__setattr__(self, "given", ImmutableMatrix(self.given))
        super().__post_init__()
        _needs_measured(self, "of")
        _needs_size(self, self.as_)
        dimensions = len(self.letters_of)
        for law in (self.to, *self.excludes):
            if (have := law.dimensions if isinstance(law, GaussianVector) else 1) != dimensions:
                self._refuse(
                    f"of={self.of} has {dimensions} entries and the law {law} has {have}",
                    "A vector tends to the law of a vector of the same length.",
                    "Write GaussianVector(covariance) with one row for each letter.",
                )
        if self.given is not None:
            shape = self.given.shape if isinstance(self.given, ImmutableMatrix) else (1, 1)
            if shape != (dimensions, dimensions) or not self.given.free_symbols:
                self._refuse(
                    f"given has shape {shape}, of has {dimensions} entries",
                    "A conditional covariance has one row for each letter and is measured in every draw.",
                    "Write given=S with a measured variance, or a matrix of measured letters.",
                )
        if self.margin is not None:
            self._refuse(
                f"margin={self.margin} is given",
                "The margin of a law is its distance to the nearest law that support must exclude.",
                "Write excludes=(...) or nothing.",
            )

    @property
    def letters_of(self) -> tuple[Measured, ...]:
        """The letters whose law is meant, one or several together."""
        return tuple(self.of) if isinstance(self.of, Tuple | tuple) else (self.of,)

    @property
    def nearest_wrong(self) -> tuple[LawOfNumbers, ...]:
        """The laws that support must exclude."""
        return self.excludes or (self.to.scaled(sqrt(sympify(11)) / sqrt(sympify(10))),)

    @property
    def prediction(self) -> None:
        return None


@final
@dataclass(frozen=True, kw_only=True)
class Optimum(Claim):
    """``value`` is the least one, up to the margin: attained by a feasible point, and certified from below.

    Measured: ``bound`` is a lower bound of every feasible value (of a dual problem), ``feasible`` holds at the primal
    and at the dual point; ``rival``, where ``rival_feasible``, is the value at another feasible point. Stated: ``value``
    is an expression in parameters, ``over`` their exact ranges, and ``at`` the point where it is least.
    """

    value: Expr
    bound: Expr | None = None
    feasible: Boolean = true
    rival: Expr | None = None
    rival_feasible: Boolean = true
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    at: Mapping[Parameter, Any] = field(default_factory=lambda: NOTHING)
    measured_fields = ("value", "bound", "feasible", "rival", "rival_feasible")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", _box(self))
        if not isinstance(self.margin, Absolute):
            self._refuse(
                f"margin={self.margin} is no absolute one",
                "A feasible point is optimal up to the gap to its lower bound.",
                "Write margin=Absolute(1, 10**6) and because=...",
            )
        if bool(self.over) == (self.bound is not None):
            self._refuse(
                "it has no lower bound" if not self.over else "it has a dual bound and a box",
                "A value is known to be the least one by a lower bound, measured, or certified on a box.",
                "Write bound=..., or over={x: (0, 1)} with at={x: ...}.",
            )
        if set(self.at) != set(self.over):
            self._refuse(
                f"at={dict(self.at)} is no point of the box over {', '.join(map(str, self.over)) or 'nothing'}",
                "The point where the least value is attained has a coordinate for every parameter.",
                "Write at={x: Rational(1, 2)} with the letters of over.",
            )
        object.__setattr__(self, "at", MappingProxyType({k: _exact(self, k, v) for k, v in self.at.items()}))
        for letter, (lower, upper) in self.over.items():
            if not lower <= self.at[letter] <= upper:
                self._refuse(
                    f"at {letter} = {self.at[letter]} lies outside [{lower}, {upper}]",
                    "A least value on a box is attained in it.",
                    "Correct at or over.",
                )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.bound if self.bound is not None else self.value.subs(dict(self.at))


@final
@dataclass(frozen=True, kw_only=True)
class Impossibility(Claim):
    """No member of a class comes nearer than ``at_least``.

    By a search: ``distance`` is what each draw, a restart of an optimiser on the target, has reached, and ``planted``
    what the same optimiser with the same budget reaches on targets that are members; these count as found below ``tol``.
    By a certified lower bound: ``distance`` is an expression in parameters, ``over`` their exact ranges.
    ``obstruction``: the property of all members that the target lacks, where a proof of the claim settles it.
    """

    distance: Expr
    at_least: Expr
    obstruction: str = ""
    planted: Expr | None = None
    tol: Expr | None = None
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    measured_fields = ("distance", "planted")
    stated_fields = ("at_least", "tol")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", _box(self))
        if self.at_least.is_number and not self.at_least > 0:
            self._refuse(
                f"at_least={self.at_least} is not positive",
                "Every distance is at least zero: the bound would say nothing.",
                "Write a positive distance.",
            )
        if bool(self.over) == (self.planted is not None):
            self._refuse(
                "it has neither planted members nor a box" if not self.over else "it has planted members and a box",
                "A search that finds nothing shows something only if it finds what is there; a certified bound needs "
                "no search.",
                "Write planted=... with tol=..., or over={w: (-1, 1)}.",
            )
        if self.planted is not None and not (self.tol is not None and self.tol > 0):
            self._refuse(
                f"tol={self.tol} tells no member from the others",
                "A planted member counts as found below a distance that is stated before the search.",
                "Write tol=Rational(1, 10**6).",
            )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.at_least


KINDS: tuple[type[Claim], ...] = (
    Identity,
    Inequality,
    Probability,
    Expectation,
    Limit,
    Rate,
    Law,
    Optimum,
    Impossibility,
)


def _needs_measured(claim: Claim, name: str) -> None:
    if not _measured(getattr(claim, name)):
        claim._refuse(
            f"{name}={getattr(claim, name)} holds no measured letter",
            "Nothing would be measured.",
            'Declare one, Measured("s", "..."), and let observe return it.',
        )


def _needs_margin(claim: Claim) -> None:
    if claim.margin is None:
        claim._refuse(
            "it has no margin",
            "A statement about means is supported only by rejecting that it is false by at least a margin.",
            'Write margin=Relative(1, 10), because="...".',
        )


def _needs_moments(claim: Expectation | Limit, instead: str) -> None:
    if claim.moments != "light tails" and not isinstance(claim.moments, Bounded | TwoValues | BoundedVariance):
        claim._refuse(
            f"moments={claim.moments!r} declares nothing that bounds the mean",
            "No interval for a mean holds under undeclared tails: a rare large value that was not drawn may carry it.",
            f'{instead} What can be declared: "light tails", Bounded(low, high), TwoValues(low, high), '
            "BoundedVariance(v).",
        )


def _needs_size(claim: Claim, letter: Any) -> None:
    if not isinstance(letter, Size):
        claim._refuse(
            f"as_={letter} is not a Size",
            "Only a size tends to infinity.",
            f'Declare it: {letter} = Size("{letter}", "what it counts").',
        )


__all__ = [
    "KINDS",
    "Claim",
    "Expectation",
    "Identity",
    "Impossibility",
    "Index",
    "Inequality",
    "Law",
    "Limit",
    "Moments",
    "Optimum",
    "Parameter",
    "Probability",
    "Rate",
]
