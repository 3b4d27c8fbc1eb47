"""Exact means and quantiles, at every finite size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import final

from sympy import Expr, Rational, latex

from theorax.decide.kinds import KindWords
from theorax.decide.means import QUANTILES, WORDS
from theorax.decide.moments import LIGHT_TAILS, Moment, declared
from theorax.decide.verdict import Assumption
from theorax.language.claims.claim import Claim, needs_light_tails, needs_margin, needs_measured, needs_moments
from theorax.language.notation import beside, inline
from theorax.language.variants import Change, dropped_factors, wider, wrong_values


@final
@dataclass(frozen=True)
class Expectation(Claim):
    """The mean of ``of`` equals ``equals`` at every finite size of the experiment: exact, no limit.

    ``moments`` is what is declared about the tails; it decides the interval (METHOD, section 4.3). With ``quantile`` it
    is the quantile of this order (the median at one half) that equals it, and nothing needs to be declared.
    """

    of: Expr
    equals: Expr
    _: KW_ONLY
    moments: Moment = LIGHT_TAILS
    quantile: Expr | None = None
    measured_fields = ("of",)
    stated_fields = ("equals", "quantile")
    has_margin_reading = True
    predicted_fields = ("equals",)
    averaged = "of"
    takes_variates = True

    @property
    def words(self) -> KindWords:  # type: ignore[override]  # of the kind, or of its quantiles
        return WORDS if self.quantile is None else QUANTILES

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_measured(self, "of")
        needs_margin(self)
        needs_light_tails(self, self.moments)
        if self.variates and self.quantile is not None:
            self._refuse(
                "variates",
                f"variates are given beside quantile={self.quantile}",
                "They leave a mean what it is, and no quantile.",
                "Leave out either.",
            )
        if self.quantile is None:
            needs_moments(
                self,
                self.moments,
                "Write quantile=Rational(1, 2) for the median, or measure the logarithm, or declare a bound.",
            )
        elif self.quantile.is_number and not 0 < self.quantile < 1:
            self._refuse(
                "quantile",
                f"quantile={self.quantile} is no order of a quantile",
                "A quantile is the value that a share of the draws lies below.",
                "Write a number between 0 and 1; Rational(1, 2) is the median.",
            )

    @property
    def formula(self) -> str:
        return f"{self._mean}[{inline(self.of)}] = {inline(self.equals)}"

    @property
    def regime(self) -> str:
        return "at every size"

    def seen_regime(self, draws: int = 0) -> str:
        return "at the sizes seen"

    @property
    def displayed(self) -> str:
        return beside(f"{self._mean}[ ", self.of, " ] = ", self.equals, f"   {self.regime}")

    @property
    def formula_latex(self) -> str:
        mean = r"\mathbb{E}" if self.quantile is None else rf"Q_{{{latex(self.quantile)}}}"
        return rf"{mean}\left[{latex(self.of)}\right] = {latex(self.equals)}"

    @property
    def _mean(self) -> str:
        """E for a mean, the order of the quantile otherwise."""
        if self.quantile is None:
            return "E"
        return "median" if self.quantile == Rational(1, 2) else f"{inline(self.quantile)}-quantile"

    def wrong_variants(self) -> Iterator[Change]:
        """Wrong values, and factors dropped."""
        yield from wrong_values("equals", self.equals, self.margin)
        yield from dropped_factors(self.of, self.equals, "equals", None)

    def weaker_variants(self) -> Iterator[Change]:
        """Twice the margin."""
        yield from wider(self.margin)

    def assumptions(self) -> tuple[Assumption, ...]:
        """The declared tails; a quantile needs none."""
        return () if self.quantile is not None else (declared(self.moments).assumption,)
