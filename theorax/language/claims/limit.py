"""Limits of means as a size tends to infinity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import final

from sympy import Expr, latex

from theorax.decide.limits import WORDS
from theorax.decide.moments import LIGHT_TAILS, Moment, declared
from theorax.decide.verdict import Assumption
from theorax.language.claims.asymptotic import AsymptoticClaim
from theorax.language.claims.claim import needs_light_tails, needs_margin, needs_measured, needs_moments
from theorax.language.margins import Relative
from theorax.language.notation import beside, inline
from theorax.language.variants import Change, dropped_factors, wider, wrong_values


@final
@dataclass(frozen=True)
class Limit(AsymptoticClaim):
    """The mean of ``of`` tends to ``to`` as the size ``as_`` tends to infinity, within the class ``approach``.

    The class of finite-size corrections is declared in units of the claimed value (in absolute units around zero).
    """

    of: Expr
    to: Expr
    _: KW_ONLY
    moments: Moment = LIGHT_TAILS
    words = WORDS
    measured_fields = ("of",)
    stated_fields = ("to",)
    has_margin_reading = True
    predicted_fields = ("to",)
    averaged = "of"
    takes_variates = True

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_measured(self, "of")
        needs_margin(self)
        needs_moments(self, self.moments, "Measure a bounded function of it or its logarithm, or declare a bound.")
        needs_light_tails(self, self.moments)
        if self.as_ in self.to.free_symbols:
            self._refuse(
                "limit-of-size",
                f"to={self.to} still depends on {self.as_}",
                f"A limit as {self.as_} tends to infinity does not.",
                "Divide both sides by what grows, or state a Rate.",
            )
        if self.to == 0 and isinstance(self.margin, Relative):
            self._refuse(
                "margin-around-zero",
                f"margin={self.margin} around to=0 is zero",
                "A relative margin around zero decides nothing.",
                "Write Absolute(...).",
            )

    @property
    def averaged_at_a_size(self) -> tuple[Expr, bool] | None:
        return self.of, False

    @property
    def formula(self) -> str:
        return f"E[{inline(self.of)}] → {inline(self.to)}"

    @property
    def displayed(self) -> str:
        return beside("E[ ", self.of, " ] → ", self.to, f"   {self.regime}")

    @property
    def formula_latex(self) -> str:
        return rf"\mathbb{{E}}\left[{latex(self.of)}\right] \to {latex(self.to)}{self.tending_latex}"

    def wrong_variants(self) -> Iterator[Change]:
        """Wrong values, and factors dropped."""
        yield from wrong_values("to", self.to, self.margin)
        yield from dropped_factors(self.of, self.to, "to", self.as_)

    def weaker_variants(self) -> Iterator[Change]:
        """Twice the margin."""
        yield from wider(self.margin)

    @property
    def correction_unit(self) -> str:
        return ", in relative terms," if self.to != 0 else ""

    def assumptions(self) -> tuple[Assumption, ...]:
        """The class of corrections, and the declared tails."""
        return (*super().assumptions(), declared(self.moments).assumption)
