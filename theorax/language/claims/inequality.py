"""Inequalities: a bound in every draw, in every entry of every instance, or on a whole box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, final

from sympy import Expr, latex, sympify

from theorax.decide.inequalities import WORDS
from theorax.decide.status import Side
from theorax.language.claims.claim import FEW, MOST, NOTHING, Claim, exact_box, needs_few
from theorax.language.letters import Parameter
from theorax.language.margins import Relative
from theorax.language.notation import in_box, in_box_latex, inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Inequality(Claim):
    """A bound in every draw: ``of`` is at most ``at_most``, or at least ``at_least``. Exactly one bound is given.

    Sampling supports it for all but a share ``content`` of the draws; an absolute margin is a slack of the bound. Of
    letters that are arrays it is decided in balls, entry by entry, for the instances that were built; a tenth of their law
    may stay open unless a smaller content than the default is declared, as an instance costs more than a draw.
    ``over``: the exact range of each parameter where nothing is measured, ``{x: (0, Rational(1, 3))}``; the bound is
    then certified, or refuted, on the whole box. ``trivial``: a bound that holds for reasons of no interest (a norm is
    not negative); one that is nowhere sharper says nothing.
    """

    of: Expr
    _: KW_ONLY
    at_most: Expr | None = None
    at_least: Expr | None = None
    content: Expr = FEW
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    trivial: Expr | None = None
    words = WORDS
    measured_fields = ("of", "at_most", "at_least", "trivial")
    predicted_fields = ("at_most", "at_least")
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", exact_box(self))
        object.__setattr__(self, "content", sympify(self.content))
        needs_few(self)
        if (self.at_most is None) == (self.at_least is None):
            self._refuse(
                "one-bound",
                "it has two bounds or none" if self.at_most is not None else "it has no bound",
                "One claim bounds from one side.",
                "Write at_most=... or at_least=...; two bounds are two claims.",
            )
        if isinstance(self.margin, Relative):
            self._refuse(
                "absolute-margin",
                f"margin={self.margin} is relative",
                "The margin of a bound is a slack added to it, and a bound may be zero.",
                "Write Absolute(...), or no margin.",
            )

    @property
    def entrywise(self) -> bool:
        """True if arrays are bounded, entry by entry on instances, instead of numbers in draws."""
        return any(letter.array for letter in self.observed)

    @property
    def content_on_instances(self) -> Expr:
        """The share of their law that instances may leave open."""
        return MOST if self.content == FEW else self.content

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def sided(self) -> Side:
        return Side.AT_MOST if self.at_most is not None else Side.AT_LEAST

    @property
    def formula(self) -> str:
        sign = "≤" if self.sided is Side.AT_MOST else "≥"
        return f"{inline(self.of)} {sign} {inline(self.prediction)}"

    @property
    def regime(self) -> str:
        if self.over:
            return in_box(self.over)
        if self.content != type(self).content:  # a share that the author leaves open is a part of the statement
            return f"in all but {inline(self.content)} of the {'instances' if self.entrywise else 'draws'}"
        return "in every entry of every instance" if self.entrywise else "in every draw"

    def seen_regime(self, draws: int = 0) -> str:
        if self.over:
            return self.regime
        unit = "instances" if self.entrywise else "draws"
        counted = f"in {draws} of {draws} {unit}" if draws else f"in the {unit} seen"
        return f"in every entry, {counted}" if self.entrywise else counted

    @property
    def formula_latex(self) -> str:
        sign = r"\le" if self.sided is Side.AT_MOST else r"\ge"
        return f"{latex(self.of)} {sign} {latex(self.prediction)}{in_box_latex(self.over)}"

    def wrong_variants(self) -> Iterator[Change]:
        """The bound from the other side."""
        yield "the other direction", {"at_most": self.at_least, "at_least": self.at_most}

    def sharper_variants(self) -> Iterator[Change]:
        """The bound halved (doubled, if from below), and moved inwards by twice its slack."""
        bound, above = self.prediction, self.sided is Side.AT_MOST
        assert bound is not None
        if bound != 0:
            yield f"bound {'halved' if above else 'doubled'}", {self.predicted: bound / 2 if above else 2 * bound}
        if self.margin is not None:
            shift = -2 * self.margin.value if above else 2 * self.margin.value
            yield "bound sharper by twice its slack", {self.predicted: bound + shift}

    def weaker_variants(self) -> Iterator[Change]:
        """Twice the share of draws that may be left open, where draws decide."""
        if not (self.over or self.entrywise) and 2 * self.content <= MOST:
            yield "twice the content", {"content": 2 * self.content}
