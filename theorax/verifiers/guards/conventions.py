"""Derivatives at a kink: the value that JAX returns there, held against those on both sides of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb, fmpq

from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.promise import CONVENTION
from theorax.decide.status import Status
from theorax.decide.verdict import Assumption, Standing
from theorax.errors import TheoraxError
from theorax.exact.held_fixed import name_of
from theorax.numerics.arithmetics import Ball
from theorax.text.numbers import number
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.guards.derivatives import differentiates
from theorax.verifiers.guards.guard import DecidedClaim

__all__ = ["conventions"]

_STEPS = (Fraction(1, 2**40), Fraction(1, 2**60))
"""Distances from the drawn model: a jump is as high at the shorter one, a steep slope falls with it."""
_PRECISION = 256
_JUMP = arb(2) ** -20  # of the largest entry: far above what a slope of less than 2^20 makes of the longer distance
_MOST = 4096  # entries of a model that are moved


def conventions(claim: DecidedClaim) -> Looked:
    """Name the letters whose derivative is JAX's own choice: at the drawn model it is no limit of those on both sides."""
    if not all(case.decision.status.holds or case.decision.status is Status.REFUTED for case in claim.judged):
        return NOTHING_LOOKED_AT
    lines = {case.cell.line.place: case.cell.line for case in claim.judged if case.cell.line is not BOX}
    wanted = sorted(letter.name for letter in claim.planned.claim.observed)
    told = [text for line in lines.values() for text in _of_line(claim, line, wanted)]
    return Looked((), tuple(Assumption(CONVENTION, text, Standing.DECLARED) for text in dict.fromkeys(told)))


def _of_line(claim: DecidedClaim, line: SweepLine, wanted: list[str]) -> Iterator[str]:
    observed = claim.draws.on(line)
    if (observed.model is None and not observed.instances) or not differentiates(claim, line):
        return
    found = observed.about_line.once(("conventions",), lambda: dict(_jumps(observed, line)))
    yield from (found[name] for name in wanted if name in found)


def _jumps(observed: Observed, line: SweepLine) -> Iterator[tuple[str, str]]:
    """For every letter that jumps at the first model, the numbers there and on both sides, along the first such array."""
    size = line.sizes[0]
    model, read = observed.instance(size, 0)
    leaves, structure = jax.tree_util.tree_flatten_with_path(model)
    places = [at for at, (_, leaf) in enumerate(leaves) if _is_moved(leaf)]
    if sum(np.size(leaves[at][1]) for at in places) > _MOST:
        return
    own = _letters(observed, model, read)
    known: set[str] = set()
    for at in places:
        beside = []
        for distance in _STEPS:
            for sign in (-1, 1):
                moved = [
                    _moved(leaf, sign * distance) if at == place else leaf for place, (_, leaf) in enumerate(leaves)
                ]
                beside.append(_letters(observed, jax.tree_util.tree_unflatten(structure, moved), read))
        for name, here in own.items():
            if name in known or not all(name in part for part in beside):
                continue
            if (entry := _jump(here, [part[name] for part in beside])) is not None:
                known.add(name)
                sides = (here, beside[2][name], beside[3][name])
                own_value, below, above = (number(float(np.ravel(part)[entry].mid()), 3) for part in sides)
                where = f"{name_of(leaves[at][0])} of draw 0 of {line.name} at {line.swept} = {size}"
                told = f"{own_value} at {where}, {below} and {above} on its two sides"
                yield name, f"{name} is the derivative by JAX's convention: {told}"


def _letters(observed: Observed, model: Any, read: Mapping[str, Any]) -> Mapping[str, Any]:
    """The letters in balls, as far as they can be followed."""
    try:
        return instances.letters_in_domain(None, observed, model, read, Ball(_PRECISION))
    except TheoraxError:
        return {}


def _is_moved(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray | jax.Array) and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _moved(leaf: Any, by: Fraction) -> np.ndarray:
    """Every entry moved by about this share of one, or of itself where it is larger; no two by the same."""
    array = np.asarray(leaf, np.float64)
    found = np.empty(array.shape, dtype=object)
    for place, (index, entry) in enumerate(np.ndenumerate(array)):
        if not np.isfinite(entry):
            found[index] = arb(float(entry))
            continue
        exact = Fraction(float(entry))
        step = by * (1 + Fraction(place + 1, array.size + 1)) * max(Fraction(1), abs(exact))
        found[index] = arb(fmpq((exact + step).numerator, (exact + step).denominator))
    return found


def _jump(here: np.ndarray, beside: list[np.ndarray]) -> int | None:
    """The entry that differs from one of its sides by a jump; None where it is their limit."""
    shapes = {np.shape(part) for part in (here, *beside)}
    if len(shapes) > 1 or here.dtype != object:
        return None
    flat = [np.ravel(part).tolist() for part in (here, *beside)]
    scale = max((abs(entry).upper() for entry in flat[0] if entry.is_finite()), default=arb(0))
    scale = max([scale, *(abs(entry).upper() for part in flat[1:] for entry in part if entry.is_finite())])
    for entry, (x, *others) in enumerate(zip(*flat, strict=True)):
        if not all(part.is_finite() for part in (x, *others)):
            continue
        far, near = [abs(x - y) for y in others[:2]], [abs(x - y) for y in others[2:]]
        if any(n > _JUMP * scale and n > f / 2 for f, n in zip(far, near, strict=True)):
            return entry
    return None
