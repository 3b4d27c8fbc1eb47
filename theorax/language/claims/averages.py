"""Probabilities, exact means and limits of means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sympy import (
    Expr,
    Symbol,
)
from sympy.logic.boolalg import Boolean

from theorax.decide.corrections import Corrections
from theorax.language.claims.claim import FEW, Claim, needs_margin, needs_measured, needs_size
from theorax.language.declared_moments import Bounded, BoundedVariance, Moments, TwoValues
from theorax.language.letters import Size
from theorax.language.margins import Relative


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
        needs_measured(self, "event")
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
        if self.margin is not None and (self.at_least - self.margin.value).is_nonpositive:
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
        needs_measured(self, "of")
        needs_margin(self)
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
        needs_measured(self, "of")
        needs_margin(self)
        needs_size(self, self.as_)
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


def _needs_moments(claim: Expectation | Limit, instead: str) -> None:
    if claim.moments != "light tails" and not isinstance(claim.moments, Bounded | TwoValues | BoundedVariance):
        claim._refuse(
            f"moments={claim.moments!r} declares nothing that bounds the mean",
            "No interval for a mean holds under undeclared tails: a rare large value that was not drawn may carry it.",
            f'{instead} What can be declared: "light tails", Bounded(low, high), TwoValues(low, high), '
            "BoundedVariance(v).",
        )
