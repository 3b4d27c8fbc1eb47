"""Quantities of known mean: what a claim about means takes from its draws, so that fewer of them decide it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import final

from sympy import Expr, Symbol, sympify

from theorax.errors import problem
from theorax.language.argument_types import takes
from theorax.language.hypothesis import Hypothesis
from theorax.language.letters import Measured

__all__ = ["KnownMean", "breaks_none_of"]


@final
@dataclass(frozen=True)
class KnownMean:
    """A control variate: an expression in measured letters whose mean is known at every finite size, exactly.

    ``mean`` is an expression in sizes, parameters and indices. ``under``: the hypotheses that its derivation needs, all of
    the theorem's if None; subjects that break one of them are averaged as they are drawn. ``gain``: the planned variance
    of what is averaged over what is left of it once this variate, and those before it, are taken away; from a pilot on
    other seeds (``verify plan --pilot``), a number or an expression of letters. The claim's ``spread`` stays that of a
    draw as it comes. ``because``: the derivation of the mean, or its source.

    The slopes are fitted on one half of the draws and applied to the other, both ways, so that the mean stays what it was
    at every number of draws; fewer than 64 draws stay as they are. The variate's sample mean is held against ``mean`` at
    level 10^-4: an error that is found is an error of the claim.

    >>> from sympy import Rational
    >>> from theorax.language import *
    >>> d = Size("d", "width")
    >>> ratio = Measured("ratio", "chi^2_d over d", positive=True)
    >>> KnownMean(1 / ratio, d / (d - 2), gain=20, because="E 1/chi^2_d = 1/(d - 2)").mean
    d/(d - 2)
    """

    of: Expr
    mean: Expr
    _: KW_ONLY
    because: str
    gain: Expr | float = 1
    under: Hypothesis | tuple[Hypothesis, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("of", "mean", "gain"):
            object.__setattr__(self, name, sympify(getattr(self, name)))
            takes("KnownMean", name, getattr(self, name), Expr, "Write a SymPy expression.")
        takes("KnownMean", "because", self.because, str, 'Write because="E 1/chi^2_d = 1/(d - 2)".')
        for part in self.hypotheses or ():
            takes(
                "KnownMean", "under", part, Hypothesis, "Write the hypothesis itself, under=H.name, or a tuple of them."
            )
        if not self.because.strip():
            problem(
                "known-mean",
                f"KnownMean({self.of}, {self.mean}) has no reason. A wrong mean shifts what is averaged, and a test sees only "
                'large errors of it. Write because="its derivation, or its source".',
            )
        if not _measured(self.of):
            problem(
                "known-mean",
                f"KnownMean({self.of}, ...) holds no measured letter. A variate varies from draw to draw. "
                "Measure it, and write an expression of its letter.",
            )
        for name in ("mean", "gain"):
            if measured := _measured(getattr(self, name)):
                problem(
                    "known-mean",
                    f"KnownMean({self.of}, {name}={getattr(self, name)}) holds {measured[0]}, which only a draw can tell. "
                    f"The {name} is known before any draw. Write it in sizes, parameters and indices.",
                )
        gain = sympify(self.gain)
        if gain.is_number and not (gain.is_finite and gain >= 1):
            problem(
                "known-mean",
                f"KnownMean({self.of}, gain={self.gain}) plans that the variate adds noise. The gain is the variance of a draw "
                "over what the variate leaves of it. Write a number from 1 on.",
            )

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...] | None:
        """The hypotheses that the mean needs; None for all of the theorem's."""
        return (self.under,) if isinstance(self.under, Hypothesis) else self.under

    @property
    def symbols(self) -> frozenset[Symbol]:
        """Every symbol in it."""
        return frozenset(self.of.free_symbols | self.mean.free_symbols | sympify(self.gain).free_symbols)

    def is_known_for(self, broken: Collection[str]) -> bool:
        """True if the mean is derived for a subject that breaks these hypotheses."""
        return breaks_none_of(self.hypotheses, broken)


def breaks_none_of(needed: Iterable[Hypothesis] | None, broken: Collection[str]) -> bool:
    """True if none of the needed hypotheses is broken; None stands for all of the theorem's."""
    return not broken if needed is None else all(part.name not in broken for part in needed)


def _measured(expression: Expr) -> list[Measured]:
    return sorted((letter for letter in expression.free_symbols if isinstance(letter, Measured)), key=str)
