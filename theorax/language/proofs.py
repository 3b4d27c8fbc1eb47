"""Proofs: generators of steps, each an equality that computer algebra decides or a theorem that is cited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sympy import Basic, sympify

from theorax.errors import StatementError
from theorax.language.claims import Claim, Identity


@final
@dataclass(frozen=True)
class Step:
    """One equality: ``left`` was computed, ``right`` is what it should be; arrays are compared entry by entry.

    **Raises:** StatementError if the two sides are one and the same expression, or have different shapes.
    """

    reason: str
    left: Any
    right: Any

    def __post_init__(self) -> None:
        left, right = _array(self.left), _array(self.right)
        if left.shape != right.shape:
            raise StatementError(
                f"Step({self.reason!r}) compares shapes {left.shape} and {right.shape}. An equality holds entry by "
                "entry. Give both sides the same shape."
            )
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "right", right)

    @property
    def entries(self) -> tuple[tuple[Basic, Basic], ...]:
        """The scalar equalities."""
        return tuple(zip(self.left.ravel().tolist(), self.right.ravel().tolist(), strict=True))

    def mentions(self, expression: Basic) -> bool:
        """Is one of the sides, entry by entry, this expression as it stands?"""
        return any(expression in pair for pair in self.entries)


@final
@dataclass(frozen=True)
class Cited:
    """A known theorem that the argument rests on and that is not proved here."""

    reason: str
    source: str


@final
@dataclass(frozen=True)
class Proof:
    """The steps for one claim or lemma; its scope is the first line of the generator's docstring.

    ``settles``: if every step closes, the claim itself holds within the scope (an identity of programs run on
    SymPy entries, an exact mean). Otherwise the steps derive a side of the claim, and only measuring can support it.
    """

    steps: Callable[[], Iterator[Step | Cited]]
    settles: bool = False

    def __post_init__(self) -> None:
        if not (self.steps.__doc__ or "").strip():
            raise StatementError(
                f"The proof {self.steps.__name__} has no docstring. Its first line states the scope: for which "
                'letters, shapes and sizes it speaks. Write """Generic row-stochastic matrices of order 2 to 4.""".'
            )

    @property
    def scope(self) -> str:
        """For which letters, shapes and sizes the proof speaks."""
        return " ".join((self.steps.__doc__ or "").strip().split("\n\n")[0].split())


def instance(claim: Identity, reason: str, values: Mapping[str, Any]) -> Step:
    """The step that this identity is, at one instance: its measured letters replaced by arrays of SymPy entries.

    ``values`` is what the measured program returned when it was run on SymPy entries, so the step proves what is
    measured rather than a retyping of it.
    """
    sides = []
    for side in (claim.left, claim.right):
        letters = sorted(claim.observed & side.free_symbols, key=str)
        arrays = np.broadcast_arrays(*(_array(values[letter.name]) for letter in letters)) if letters else []
        shape = arrays[0].shape if arrays else ()
        entries = [
            side.subs(dict(zip(letters, row, strict=True)), simultaneous=True)
            for row in zip(*(array.ravel().tolist() for array in arrays), strict=True)
        ]
        out = np.empty(len(entries), dtype=object)
        out[:] = entries
        sides.append(out.reshape(shape) if arrays else _array(side))
    return Step(reason, *np.broadcast_arrays(*sides))


def _array(side: Any) -> np.ndarray:
    raw = np.asarray(side.tolist() if isinstance(side, Basic) and side.is_Matrix else side, dtype=object)
    out = np.empty(raw.shape, dtype=object)
    out.ravel()[:] = [sympify(entry) for entry in raw.ravel().tolist()]
    return out


__all__ = ["Cited", "Claim", "Proof", "Step", "instance"]
