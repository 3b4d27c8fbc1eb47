"""Proofs: generators of steps, each an equality that computer algebra decides or a theorem that is cited."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, final, overload

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


Steps: TypeAlias = Callable[..., Iterator[Step | Cited]]


@final
@dataclass(frozen=True)
class Proof:
    """Steps for the claims ``of`` which they speak, or for a lemma; the scope is the first line of the docstring.

    A theorem file makes it with :func:`settles`, :func:`derives` or :func:`lemma` from a generator of steps, which may
    take the claim. ``settles``: if every step closes, each claim itself holds within the scope (an identity of programs
    run on SymPy entries, an exact mean). Otherwise the steps derive a side of the claim, and only measuring supports it.
    ``name``: in a theorem, that of its one claim or lemma.
    """

    steps: Steps
    of: tuple[Claim, ...] = ()
    settles: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not self.scope:
            raise StatementError(
                f"The proof {_name(self.steps)} has no docstring. Its first line states the scope: for which "
                'letters, shapes and sizes it speaks. Write """Generic row-stochastic matrices of order 2 to 4.""".'
            )
        if (taken := _taken(self.steps)) > (1 if self.of else 0):
            raise StatementError(
                f"The proof {_name(self.steps)} takes {taken} parameters. A generator of steps is handed the claim it "
                "speaks of, and nothing else. Write def steps(claim) or def steps(), and @lemma takes none."
            )

    @property
    def scope(self) -> str:
        """For which letters, shapes and sizes the proof speaks."""
        steps = self.steps.func if isinstance(self.steps, partial) else self.steps
        return " ".join((steps.__doc__ or "").strip().split("\n\n")[0].split())

    def named(self, names: Callable[[Claim], str]) -> Iterator[Proof]:
        """One proof for each claim, by its name in the theorem; a lemma has the name of its generator."""
        if not self.of:
            yield replace(self, name=self.name or _name(self.steps))
        for claim in self.of:
            steps = partial(self.steps, claim) if _taken(self.steps) else self.steps
            yield Proof(steps, (), self.settles, names(claim))


def settles(*claims: Claim) -> Callable[[Steps], Proof]:
    """Decorates a generator whose steps, if all close, prove each of these claims within the scope of its docstring."""
    return _of("settles", claims, settling=True)


def derives(*claims: Claim) -> Callable[[Steps], Proof]:
    """Decorates a generator whose steps derive a side of each of these claims."""
    return _of("derives", claims, settling=False)


@overload
def lemma(steps: Steps) -> Proof: ...
@overload
def lemma(steps: str) -> Callable[[Steps], Proof]: ...
def lemma(steps: Steps | str) -> Proof | Callable[[Steps], Proof]:
    """Decorates a generator whose steps no single claim ends; a report calls it by the generator's name, or this one."""
    if isinstance(steps, str):
        return lambda generator: Proof(generator, name=steps)
    return Proof(steps)


def _of(word: str, claims: tuple[Claim, ...], settling: bool) -> Callable[[Steps], Proof]:
    if stray := [claim for claim in claims if not isinstance(claim, Claim)] or not claims:
        raise StatementError(
            f"@{word}({stray if claims else ''}) names no claim. A proof says what it proves. "
            f"Write @{word}(identity) with the claim itself, or @lemma."
        )
    return lambda steps: Proof(steps, claims, settling)


def _taken(steps: Steps) -> int:
    """Number of arguments that the generator needs."""
    parameters = inspect.signature(steps).parameters.values()
    return sum(parameter.default is parameter.empty for parameter in parameters)


def _name(steps: Steps) -> str:
    return getattr(steps.func if isinstance(steps, partial) else steps, "__name__", "steps")


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
