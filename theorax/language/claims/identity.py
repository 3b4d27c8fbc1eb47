"""Identities: two sides that are equal for every admissible instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import final

from sympy import Add, Expr, latex, simplify, sympify

from theorax.decide.exact_kinds import IDENTITY
from theorax.language.claims.claim import FEW, Claim, needs_few
from theorax.language.letters import Index
from theorax.language.margins import Relative
from theorax.language.notation import inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Identity(Claim):
    """Both sides are equal, entry by entry, for every admissible instance: program against program or symbol.

    A relative margin is one of the largest entry of either side; where a side is zero, write an absolute one.
    ``content``: the share of the law drawn that instances without a violation may leave open, where they alone support
    it; sides that agree in finite fields, or are proved, need no share.
    """

    left: Expr
    right: Expr
    _: KW_ONLY
    content: Expr = FEW
    words = IDENTITY
    measured_fields = ("left", "right")
    predicted_fields = ("right",)
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "content", sympify(self.content))
        needs_few(self)
        if simplify(self.left - self.right) == 0:
            self._refuse(
                "same-sides",
                f"left={self.left} and right={self.right} are the same expression",
                "Such a check cannot fail.",
                "Measure the two sides by two programs, with a letter for each.",
            )
        if scalars := [letter for letter in sorted(self.observed, key=str) if not letter.array]:
            self._refuse(
                "array-letter",
                f"{scalars[0]} is measured as one number per draw of a compiled program",
                "Both sides are compared entry by entry, by one program run in several arithmetics.",
                f'Declare it with array=True: Measured("{scalars[0]}", "...", array=True).',
            )
        if self.observed and self.margin is None:
            self._refuse(
                "margin-missing",
                "it has no margin",
                "Floats of two programs agree up to rounding, never exactly, and support excludes what is off by more.",
                'Write margin=Relative(1, 10**9, "rounding stays below it, an error does not").',
            )

    @property
    def vanishing(self) -> Expr:
        return self.left - self.right

    @property
    def formula(self) -> str:
        return f"{inline(self.left)} = {inline(self.right)}"

    @property
    def formula_latex(self) -> str:
        return f"{latex(self.left)} = {latex(self.right)}"

    def wrong_variants(self) -> Iterator[Change]:
        """The right side negated, doubled, off by the margin; a term dropped or its sign changed; an index moved by one."""
        yield "right side negated", {"right": -self.right}
        yield "right side doubled", {"right": 2 * self.right}
        if isinstance(self.margin, Relative):
            yield "right side off by the margin", {"right": (1 + self.margin.value) * self.right}
        for name, side in (("left", self.left), ("right", self.right)):
            terms = Add.make_args(side)
            for term in terms if len(terms) > 1 else ():
                yield f"{term} dropped", {name: side - term}
                yield f"sign of {term} changed", {name: side - 2 * term}
        for letter in sorted((s for s in self.right.free_symbols if isinstance(s, Index)), key=str):
            yield f"{letter} + 1 for {letter} on the right", {"right": self.right.subs(letter, letter + 1)}
