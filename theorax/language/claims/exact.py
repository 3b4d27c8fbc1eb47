"""Identities and inequalities: what holds of every admissible instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from sympy import (
    Expr,
    simplify,
)

from theorax.language.claims.claim import FEW, NOTHING, Claim, exact_box
from theorax.language.letters import Parameter
from theorax.language.margins import Relative


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
        if scalars := [letter for letter in sorted(self.observed, key=str) if not letter.array]:
            self._refuse(
                f"{scalars[0]} is measured as one number per draw of a compiled program",
                "Both sides are compared entry by entry, by one program run in several arithmetics.",
                f'Declare it with array=True: Measured("{scalars[0]}", "...", array=True).',
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

    Sampling supports it for all but a share ``content`` of the draws; an absolute margin is a slack of the bound. Of
    letters that are arrays it is decided in balls, entry by entry, for the instances that were built.
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
        object.__setattr__(self, "over", exact_box(self))
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
    def entrywise(self) -> bool:
        """Whether arrays are bounded, entry by entry on instances, instead of numbers in draws."""
        return any(letter.array for letter in self.observed)

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.at_most if self.at_most is not None else self.at_least
