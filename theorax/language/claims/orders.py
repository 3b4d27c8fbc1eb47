"""Orders of growth, and convergence in distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, final

from sympy import (
    Expr,
    ImmutableMatrix,
    MatrixBase,
    Tuple,
    diff,
    log,
    simplify,
    sqrt,
    sympify,
)

from theorax.decide.corrections import Corrections
from theorax.language.claims.claim import Claim, needs_margin, needs_measured, needs_size
from theorax.language.letters import Measured, Size
from theorax.language.limit_laws import LawOfNumbers
from theorax.language.margins import Absolute
from theorax.language.vectors import GaussianVector


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
        needs_measured(self, "of")
        needs_margin(self)
        needs_size(self, self.as_)
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
        needs_measured(self, "of")
        needs_size(self, self.as_)
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
        several: Any = self.of
        return tuple(several) if isinstance(several, Tuple | tuple) else (several,)

    @property
    def nearest_wrong(self) -> tuple[LawOfNumbers, ...]:
        """The laws that support must exclude."""
        return self.excludes or (self.to.scaled(sqrt(sympify(11)) / sqrt(sympify(10))),)

    @property
    def prediction(self) -> None:
        return None
