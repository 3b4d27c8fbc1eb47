"""Probabilities of events, and events that are almost sure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, final

from sympy import Basic, Expr, Not, Rational, Symbol, latex, sympify
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from theorax.decide.probabilities import WORDS, widest_margin
from theorax.decide.status import Side
from theorax.language.claims.claim import FEW, MOST, Claim, measured_letters, needs_few, needs_measured
from theorax.language.margins import Relative
from theorax.language.notation import inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Probability(Claim):
    """The event holds with at least this probability, at every size of the experiment.

    Support excludes every probability below ``at_least`` less the margin. An event that is claimed to be almost sure
    (``at_least=1``) needs no margin: one violation confirmed in ball arithmetic refutes it, and draws without any leave
    open that up to a share ``content`` of all draws violates it. ``expected``: the probability that draws are planned for,
    where the event is likelier than is claimed; only the plan and its power use it.
    """

    event: Boolean
    at_least: Expr
    _: KW_ONLY
    content: Expr = FEW
    expected: Expr | None = None
    words = WORDS
    measured_fields = ("event",)
    stated_fields = ("at_least", "content")
    has_margin_reading = True
    predicted_fields = ("at_least",)
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least.is_number and not 0 < self.at_least <= 1:
            self._refuse(
                "probability-range",
                f"at_least={self.at_least} is no probability above zero",
                "Every event has a probability of at least zero.",
                "Write a number in (0, 1].",
            )
        needs_measured(self, "event")
        needs_few(self)
        if isinstance(self.event, Symbol) or not isinstance(self.event, Boolean):
            self._refuse(
                "event",
                f"event={self.event} is neither true nor false",
                "Only an event has a probability.",
                "Write a relation of measured letters, such as s <= 2.",
            )
        if self.expected is not None:
            object.__setattr__(self, "expected", sympify(self.expected))
            if not self.expected.is_number or not self.expected <= 1 or (self.expected < self.at_least) == True:  # noqa: E712
                self._refuse(
                    "probability-range",
                    f"expected={self.expected} is not a number from at_least={self.at_least} to one",
                    "Draws are planned for a probability that makes the claim true.",
                    "Write such a number, or nothing for the claimed one.",
                )
        if self.margin is None and self.at_least != 1:
            self._refuse(
                "margin-missing",
                "it has no margin",
                "A probability is supported only by rejecting that it lies below the claimed one by at least a margin.",
                'Write margin=Absolute(1, 50, "...").',
            )
        if isinstance(self.margin, Relative):
            self._refuse(
                "absolute-margin",
                f"margin={self.margin} is relative",
                "Near one it hides the probability of the opposite, which is what matters.",
                "Write Absolute(...).",
            )
        if self.margin is not None and (self.at_least - self.margin.value).is_nonpositive:
            self._refuse(
                "margin-too-wide",
                f"margin={self.margin} reaches zero from at_least={self.at_least}",
                "Every event has a probability above that, so support would say nothing.",
                "Write a margin below at_least.",
            )

        if self.margin is not None and self.at_least.is_number and self.at_least < 1:
            widest = _widest(self.at_least)
            if self.margin.value > widest:
                self._refuse(
                    "margin-too-wide",
                    f"margin={self.margin} is given below at_least={self.at_least}",
                    f"Support would exclude only probabilities below {self.at_least - self.margin.value}, another claim.",
                    f'Write Absolute({widest.p}, {widest.q}, "...") at most, or claim the smaller probability.',
                )

    @property
    def stated_side(self) -> Basic:
        """The side of the event that no draw measures where it holds a letter, else the probability."""
        if isinstance(self.event, Relational):
            left, right = (bool(measured_letters(side)) for side in self.event.args)
            stated = self.event.rhs if left else self.event.lhs
            if left != right and not stated.is_number:
                return stated
        return self.at_least

    @property
    def sided(self) -> Side:
        return Side.AT_LEAST

    @property
    def formula(self) -> str:
        return f"P({inline(self.event)}) ≥ {inline(self.at_least)}"

    @property
    def formula_latex(self) -> str:
        return rf"\mathbb{{P}}\left({latex(self.event)}\right) \ge {latex(self.at_least)}"

    def wrong_variants(self) -> Iterator[Change]:
        """The opposite event, where more than half is claimed."""
        if self.at_least.is_number and self.at_least > Rational(1, 2):
            yield "the opposite event", {"event": Not(self.event)}

    def sharper_variants(self) -> Iterator[Change]:
        """The probability delta of the opposite divided."""
        for part in (2, 10):
            at_least = 1 - (1 - self.at_least) / part
            yield f"delta / {part}", {"at_least": at_least, **self._narrowed(at_least)}

    def _narrowed(self, at_least: Expr) -> dict[str, Any]:
        """The widest margin that this probability may have, where the claim's own is wider."""
        if self.margin is None or not at_least.is_number or self.margin.value <= (widest := _widest(at_least)):
            return {}
        return {"margin": replace(self.margin, numerator=int(widest.p), denominator=int(widest.q))}

    def weaker_variants(self) -> Iterator[Change]:
        """Twice the probability of the opposite; of an almost sure event, twice the share that may be left open."""
        if self.at_least == 1 and not 2 * self.content <= MOST:
            return
        if self.at_least == 1:
            yield "twice the content", {"content": 2 * self.content}
        else:
            yield "delta x 2", {"at_least": 1 - 2 * (1 - self.at_least)}


def _widest(at_least: Expr) -> Rational:
    """`widest_margin` as the fraction that it is meant to be."""
    return Rational(widest_margin(float(at_least))).limit_denominator(10**6)
