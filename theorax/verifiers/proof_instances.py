"""Instances in proofs: the measured program run on SymPy entries, and for what shapes that speaks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import product
from typing import Any

import jax
import numpy as np
from sympy import Basic, Symbol, false, sympify, true

from theorax.errors import StatementError, UsageError
from theorax.exact.decisions import read_as_exact
from theorax.exact.zero import admissible
from theorax.language import Index, Instance, Step, Theorem
from theorax.language.proofs import as_entries, sides_of
from theorax.numerics.arithmetics import (
    Ball,
    Symbolic,
    UndecidedComparison,
    UnsupportedPrimitive,
    evaluate,
    narrow_casts,
)
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of
from theorax.numerics.extents import Extent
from theorax.verifiers.proof_programs import callable_name, is_part

_PRECISION = 128
_POINTS_TRIED = 8


@dataclass(frozen=True)
class Scope:
    """For what instances speak: sizes and options by name, shapes of arrays of symbols, what is held fixed."""

    sizes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()  # symbols that are not any real number, and what they are assumed to be
    casts: tuple[str, ...] = ()
    where: tuple[str, ...] = ()  # functions met whose domain the assumptions do not settle

    def __str__(self) -> str:
        parts = [f"{name} = {', '.join(values)}" for name, values in self.sizes.items()]
        parts += [f"symbols in {name} of {', '.join(shapes)}" for name, shapes in self.arrays.items()]
        parts += [f"{name} held fixed" for name in self.fixed]
        if self.where:
            parts.append(f"where {', '.join(self.where)} {'is' if len(self.where) == 1 else 'are'} defined")
        words = dict.fromkeys(word for _, word in self.assumed)
        told = [f"{word}: {', '.join(name for name, own in self.assumed if own == word)}" for word in words]
        return ", ".join(parts) + (f" ({'; '.join(told)})" if told else "") + read_as_exact(self.casts)

    def joined(self, other: Scope) -> Scope:
        """For what both speak."""
        return Scope(
            _merged(self.sizes, other.sizes),
            _merged(self.arrays, other.arrays),
            _distinct(*self.fixed, *other.fixed),
            tuple(dict.fromkeys((*self.assumed, *other.assumed))),
            _distinct(*self.casts, *other.casts),
            _distinct(*self.where, *other.where),
        )


@dataclass(frozen=True)
class StatedInstance:
    """An instance as an equality, with what it speaks for and how the program's results were held against balls."""

    step: Step
    scope: Scope
    re_checked_by: str
    no_second_route: str = ""  # why nothing else held it
    disagreement: str = ""


def equality_at(instance: Instance, theorem: Theorem) -> StatedInstance:
    """The equality that the claim is at this instance, as the measured program computes it.

    **Raises:** StatementError if the program is no part of what is measured, returns other letters, or if the instance
    holds no symbol.
    """
    name = theorem.experiment_of(instance.claim)
    experiment = theorem.experiments[name] if name is not None else None
    if experiment is None or not is_part(instance.program, experiment.observe):
        raise StatementError(
            f"Instance({instance.reason!r}) runs {callable_name(instance.program)}, which is no part of what is measured. "
            "A proof about another program settles nothing. Hand it observe of the experiment, or a function that "
            "observe calls."
        )
    domain = Symbolic()
    values, letters = _evaluated(instance, domain), _letters(instance)
    claim, wanted = instance.claim, instance.claim.observed
    if missing := sorted({letter.name for letter in wanted} - set(values)):
        raise StatementError(
            f"Instance({instance.reason!r}): {callable_name(instance.program)} returns no {missing[0]}, of which the claim "
            "speaks. Hand it the function that returns it."
        )
    sides = list(_places(instance, values, letters))
    step = Step(instance.reason, *(np.concatenate([side[i].ravel() for side in sides]) for i in (0, 1)))
    known = set().union(*(leaf.free_symbols for leaf in entries_of(instance.given)), claim.letters)
    if stray := sorted(set().union(*(side.free_symbols for pair in step.entries for side in pair)) - known, key=str):
        raise StatementError(
            f"Instance({instance.reason!r}) holds the symbol {stray[0]}, which is neither a letter of the claim nor an "
            "entry of what the program was given."
        )
    again, no_second_route, disagreement = _in_balls(instance, values, sorted(letter.name for letter in wanted))
    return StatedInstance(step, _scope(instance, domain), again, no_second_route, disagreement)


def _evaluated(instance: Instance, domain: Symbolic) -> Mapping[str, Any]:
    """Run the program on the entries."""
    if not any(entry.free_symbols for entry in entries_of(instance.given)):
        raise StatementError(
            f"Instance({instance.reason!r}) is given no symbol, so it speaks of one point alone. "
            "Give the program arrays of SymPy symbols."
        )
    return _run(instance, instance.given, domain)


def _run(instance: Instance, given: Sequence[Any], domain: Any) -> Mapping[str, Any]:
    """The program in a domain; what of the instance holds no SymPy entry is handed on as it is."""
    symbolic = [any(map(_of_entries, jax.tree_util.tree_leaves(part))) for part in instance.given]
    wanted = {letter.name for letter in instance.claim.observed}

    def program(*arguments: Any) -> Any:
        left = iter(arguments)
        found = instance.program(
            *(next(left) if own else part for part, own in zip(instance.given, symbolic, strict=True))
        )
        # What the claim does not speak of is not computed: it may have no meaning on symbols.
        return {name: value for name, value in found.items() if name in wanted}

    found: Mapping[str, Any] = evaluate(
        program, [part for part, own in zip(given, symbolic, strict=True) if own], domain
    )
    return found


def _letters(instance: Instance) -> dict[Symbol, Any]:
    """The values of the claim's letters: those that are parameters of the program, and those that are given."""
    # An index says at which places of a result the claim is stated; it is no size.
    own = {letter.name: letter for letter in instance.claim.letters if not isinstance(letter, Index)}
    named = dict(zip(signature(instance.program).parameters, instance.given, strict=False))
    for name, value in named.items():
        if name in own and own[name] in instance.letters and _differ(value, stated := instance.letters[own[name]]):
            raise StatementError(
                f"Instance({instance.reason!r}) runs {callable_name(instance.program)} with {name} = {value} and states the "
                f"claim for {name} = {stated}. It would speak of two numbers by one name. Leave {name} out of letters={{...}}."
            )
    letters = {own[name]: _number(value) for name, value in named.items() if name in own and _number(value) is not None}
    return {**letters, **instance.letters}


def _differ(given: Any, stated: Any) -> bool:
    """Is the number that the program was given another than the letter's? A float stands for all that round to it."""
    if (number := _number(given)) is not None:
        return bool((sympify(number) - sympify(stated)).expand() != 0)
    whole = np.asarray(given)
    return whole.ndim == 0 and whole.dtype.kind in "iuf" and bool(float(sympify(stated)) != float(whole))


def _in_balls(instance: Instance, values: Mapping[str, Any], letters: Sequence[str]) -> tuple[str, str, str]:
    """The program run in balls at one exact point, against what it returned on symbols: how, why not, what differs."""
    symbols = sorted({symbol for entry in entries_of(instance.given) for symbol in entry.free_symbols}, key=str)
    draws, why = random.Random(0), "no point was found where it is a real number"
    for _ in range(_POINTS_TRIED):
        point = {symbol: admissible(symbol, None, draws) for symbol in symbols}
        try:
            found = _run(instance, _at(instance.given, point), Ball(_PRECISION))
            for name in letters:
                pairs = zip(np.asarray(found[name]).ravel(), as_entries(values[name]).ravel(), strict=True)
                if any(not one.overlaps(ball_of(other, point, _PRECISION)) for one, other in pairs):
                    return "", "", f"{name}, run in balls, is another number at {point}"
        except (UndecidedComparison, UnsupportedExpression, UnsupportedPrimitive, UsageError, ValueError) as error:
            why = str(error)
            continue
        return "the same program run in balls at a point", "", ""
    return "", why, ""


def _at(given: Any, point: Mapping[Symbol, Any]) -> Any:
    """The same arrays, the symbols replaced by numbers, entries by balls."""

    def number(entry: Any) -> Any:
        return ball_of(entry, point, _PRECISION) if isinstance(entry, Basic) else entry

    def placed(leaf: Any) -> Any:
        if not _of_entries(leaf):
            return leaf
        out = np.empty(leaf.shape, dtype=object)
        out.ravel()[:] = [number(entry) for entry in leaf.ravel().tolist()]
        return out

    return jax.tree_util.tree_map(placed, given)


def _number(value: Any) -> Any:
    if isinstance(value, Extent):
        return int(value.value)
    if isinstance(value, Basic | int):
        return value
    array = np.asarray(value)
    return array.item() if array.dtype == object and array.ndim == 0 else None


def _places(instance: Instance, values: Mapping[str, Any], letters: dict[Symbol, Any]) -> Iterator[Any]:
    """Both sides at every place of the indices over which the claim's letters run."""
    claim = instance.claim
    over = sorted({index for letter in claim.observed for index in letter.over}, key=str)
    length = {
        index: as_entries(values[letter.name]).shape[letter.over.index(index)]
        for letter in claim.observed
        for index in letter.over
    }
    for places in product(*(range(length[index]) for index in over)):
        at = dict(zip(over, places, strict=True))
        chosen = {
            letter.name: as_entries(values[letter.name])[tuple(at[index] for index in letter.over)]
            for letter in claim.observed
        }
        here = {**letters, **{index: place + 1 for index, place in at.items()}}
        where = claim.where.subs(here)
        if where not in (true, false):
            raise StatementError(
                f"Instance({instance.reason!r}) does not say if {where} holds, for which alone the claim speaks. "
                "Write letters={...} with the values of its letters."
            )
        if where == true:
            yield sides_of(claim, chosen, here)


def entries_of(given: Any) -> Iterator[Basic]:
    """The SymPy entries of what a program is given."""
    for leaf in jax.tree_util.tree_leaves(given):
        if _of_entries(leaf):
            yield from (entry for entry in leaf.ravel().tolist() if isinstance(entry, Basic))


def _of_entries(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype == object


def _scope(instance: Instance, domain: Symbolic) -> Scope:
    sizes: dict[str, tuple[str, ...]] = {str(letter): (str(value),) for letter, value in instance.letters.items()}
    arrays: dict[str, tuple[str, ...]] = {}
    fixed: list[str] = []
    for name, part in zip(signature(instance.program).parameters, instance.given, strict=False):
        if isinstance(part, Extent | int | float):
            sizes[name] = (str(part.value if isinstance(part, Extent) else part),)
            continue
        for path, leaf in jax.tree_util.tree_leaves_with_path(part):
            if not _of_entries(leaf):
                if isinstance(leaf, int | float | np.ndarray | np.generic | jax.Array) and np.size(leaf):
                    fixed.append(f"{name}{jax.tree_util.keystr(path)}")
                continue
            if any(isinstance(entry, Basic) and entry.free_symbols for entry in leaf.ravel().tolist()):
                arrays[name] = _distinct(*arrays.get(name, ()), " x ".join(map(str, leaf.shape)) or "one number")
            else:
                fixed.append(f"{name}{jax.tree_util.keystr(path)}")
    symbols = {symbol for entry in entries_of(instance.given) for symbol in entry.free_symbols}
    assumed = sorted((str(symbol), word) for symbol in symbols if (word := _assumed(symbol)))
    stood = jax.tree_util.tree_map(lambda leaf: np.zeros(leaf.shape) if _of_entries(leaf) else leaf, instance.given)
    casts, where = narrow_casts(instance.program, stood), tuple(sorted(domain.unsettled))
    return Scope(sizes, arrays, tuple(fixed), tuple(assumed), casts, where)


def _assumed(symbol: Symbol) -> str:
    """Assumptions of the symbol besides that it is real, in SymPy's words; empty for any real number."""
    words = [word for word, holds in symbol._assumptions_orig.items() if holds and word not in ("real", "commutative")]
    words += [f"not {word}" for word, holds in symbol._assumptions_orig.items() if holds is False]
    return ", ".join(sorted(words))


def _merged(one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    names = [*one, *(name for name in other if name not in one)]
    return {name: _distinct(*one.get(name, ()), *other.get(name, ())) for name in names}


def _distinct(*values: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
