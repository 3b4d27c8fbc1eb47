"""Convergence in distribution, of a number or of several together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, final

from sympy import Basic, Expr, ImmutableMatrix, Integer, MatrixBase, Rational, Tuple, latex, sqrt

from theorax.decide.laws import WORDS
from theorax.decide.verdict import Assumption, Standing
from theorax.language.argument_types import takes
from theorax.language.claims.asymptotic import AsymptoticClaim
from theorax.language.claims.claim import needs_measured
from theorax.language.letters import Measured
from theorax.language.limit_laws import LawOfNumbers
from theorax.language.notation import inline
from theorax.language.variants import Change
from theorax.language.vectors import GaussianVector
from theorax.names import many


@final
@dataclass(frozen=True)
class Law(AsymptoticClaim):
    """``of`` converges in distribution to the law ``to``; several letters in a tuple do so together.

    ``scale`` sets the frequencies at which characteristic functions are compared (of the order of the law's standard
    deviation); those of a vector are whitened by its covariance and drawn once. ``excludes``: the wrong laws that
    support must exclude; the margin is the distance to the nearest of them; by default the claimed law with a variance
    11/10, 5/4, 3/2 or 2 times as large, the smallest factor that the draws tell from one.
    ``given``: a measured variance (a covariance matrix) with which ``of`` is Gaussian and centred given
    the rest of the draw, as the last layer of a network is given the one before: its features are then averaged in
    closed form, which is worth tens of times more draws.

    Of a letter with ``sample=True`` the law is that of the values of one draw, so that their empirical law must scatter
    less over the draws as the size grows. ``mean_law=True`` claims the limit of the mean of the empirical laws alone.
    """

    of: Measured | tuple[Measured, ...]
    to: LawOfNumbers
    _: KW_ONLY
    scale: Expr | float = 1
    excludes: tuple[LawOfNumbers, ...] = ()
    given: Expr | None = None
    mean_law: bool = False
    words = WORDS
    measured_fields = ("of", "given")
    stated_fields = ("scale",)
    has_margin_reading = True
    predicted_fields = ("to",)

    def __post_init__(self) -> None:
        if isinstance(self.given, MatrixBase):
            object.__setattr__(self, "given", ImmutableMatrix(self.given))
        for law in (self.to, *self.excludes):
            takes("Law", "to", law, LawOfNumbers, "Write gaussian(variance), quarter_circle(...) or another law.")
        super().__post_init__()
        needs_measured(self, "of")
        dimensions = len(self.letters_of)
        for law in (self.to, *self.excludes):
            if (have := law.dimensions if isinstance(law, GaussianVector) else 1) != dimensions:
                self._refuse(
                    "law-dimensions",
                    f"of={self.of} has {many(dimensions, 'entry', 'entries')} and the law {law} has {have}",
                    "A vector tends to the law of a vector of the same length.",
                    "Write GaussianVector(covariance) with one row for each letter.",
                )
        if self.given is not None:
            shape = self.given.shape if isinstance(self.given, ImmutableMatrix) else (1, 1)
            if shape != (dimensions, dimensions) or not self.given.free_symbols:
                self._refuse(
                    "law-dimensions",
                    f"given has shape {shape}, of has {many(dimensions, 'entry', 'entries')}",
                    "A conditional covariance has one row for each letter and is measured in every draw.",
                    "Write given=S with a measured variance, or a matrix of measured letters.",
                )
        if self.margin is not None:
            self._refuse(
                "law-margin",
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
    def noise_is_known(self) -> bool:
        """The noise of one draw follows from the law where each draw is one value and no other spread is stated."""
        return self.given is None and self.spread == Law.spread and not any(part.sample for part in self.letters_of)

    @property
    def spread_text(self) -> str:
        return "that of the claimed law" if self.noise_is_known else super().spread_text

    @property
    def proved_sides(self) -> tuple[Basic, ...]:
        return tuple(self.to.moment(power) for power in (1, 2, 4))

    @property
    def is_of_one_draw(self) -> bool:
        """The empirical law of each draw is meant, not its mean over the draws."""
        return any(part.sample for part in self.letters_of) and self.given is None and not self.mean_law

    @property
    def formula(self) -> str:
        of = ", ".join(map(inline, self.letters_of))
        if any(part.sample for part in self.letters_of):
            of = f"{'mean of the empirical laws' if self.mean_law else 'empirical law'} of {of}"
        return f"{of} ⇒ {self.to}"

    @property
    def formula_latex(self) -> str:
        of = latex(self.letters_of[0]) if len(self.letters_of) == 1 else latex(self.letters_of)
        return rf"{of} \Rightarrow {self.to.latex}{self.tending_latex}"

    def wrong_variants(self) -> Iterator[Change]:
        """Other variances; the law shifted and skewed."""
        for factor in (Rational(11, 10), Rational(5, 4), Integer(2), Integer(4), Rational(1, 4)):
            yield f"variance x {factor}", {"to": self.to.scaled(sqrt(factor))}
        for label, law in self.to.bent(self.scale):
            yield label, {"to": law}

    @property
    def correction_unit(self) -> str:
        return ", in the distance D,"

    def assumptions(self) -> tuple[Assumption, ...]:
        """The class of corrections, and the normal limit of bounded means."""
        means = "means of bounded features are near normal at this number of draws"
        return (*super().assumptions(), Assumption("moment", means, Standing.DECLARED))
