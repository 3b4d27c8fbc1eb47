"""Identities of measured letters, lowered to problems of `theorax.exact`: programs, instances and forms of the sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.decide.findings import Finding
from theorax.decide.status import Levels
from theorax.decide.verdict import Point
from theorax.errors import TheoraxError
from theorax.exact.identity_decision import IdentityPoint, IdentityProblem, decide_identity
from theorax.exact.identity_ladder import OBSTACLES, Carry, Sides
from theorax.exact.same_program import Form, Forms, forms_of
from theorax.language import Absolute, Identity, Measured
from theorax.numerics.arithmetics import Domain, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared

_UNSEEN = ("a difference below the rounding account where balls were not run", "instances outside the law sampled")
_UNSEEN_CERTIFIED = ("other shapes", "a difference below the rounding account where balls were not run")


@final
@dataclass(frozen=True)
class IdentityJudge(Judge[Identity]):
    """Both sides of an identity, on instances built at their true sizes.

    Floats are run on every instance, balls at the smallest size and wherever floats differ by more than their account.
    In fields every array of floats in the model is replaced by random residues of its shape; single numbers, integers
    and truth values stay. Two sides equal there are equal for all real arrays of these shapes. Sides that differ there
    need not differ on the models drawn, whose tokens are orthonormal, say: nothing follows.
    """

    kind = Identity

    def cells(self, claim: Identity, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Identity, cell: Cell, levels: Levels, original: Identity) -> Prepared:
        margin = float(claim.margin.value) if claim.margin is not None else 0.0
        return Prepared(cell, 0.0, margin, levels=levels)

    def judge(self, claim: Identity, prepared: Prepared, observed: Observed) -> Judged:
        (size,) = prepared.cell.line.sizes
        found = decide_identity(lowered(claim, prepared, observed))
        trivial = Finding.TRIVIAL_BOUND in found.findings
        certified = Finding.CERTIFICATE in found.findings
        refuted = Finding.COUNTEREXAMPLE in found.findings
        count = len(observed.instances[size])
        return Judged(
            prepared,
            found.decision(prepared.margin, prepared.levels),
            (Point(float(size), found.floats.worst, None, count),),
            _UNSEEN_CERTIFIED if certified else _UNSEEN,
            rigorous=trivial or certified or refuted,
            covered=trivial or certified,
            statistical=False,
            detail=found.detail,
            trivial=trivial,
            undefined=Finding.NO_INSTANCE in found.findings,
            scope=f"all real weights at the shapes of {observed.line.swept} = {size}" if certified else "",
        )


def lowered(claim: Identity, prepared: Prepared, observed: Observed) -> IdentityProblem:
    """The claim at one size as a problem of programs: what floats cannot hold apart is asked of balls and of fields."""
    cell = prepared.cell
    (size,) = cell.line.sizes
    representatives = _representatives(observed, size)
    points = tuple(
        IdentityPoint(
            partial(_at_instance, claim, cell, observed, draw),
            f"{observed.line.swept} = {size}, instance {draw}",
            doubted=size != observed.line.sizes[0],
        )
        for draw in range(len(observed.instances[size]))
    )
    return IdentityProblem(
        lambda: (_forms(claim, cell, observed, draw) for draw in representatives),
        tuple((f"{size} {draw}", partial(_generic, claim, cell, observed, draw)) for draw in representatives),
        points,
        prepared.margin,
        isinstance(claim.margin, Absolute),
    )


def _representatives(observed: Observed, size: int) -> list[int]:
    """One draw of each program: of the models that differ in arrays of floats alone."""
    first: dict[bytes, int] = {}
    for draw, (model, _) in enumerate(observed.instances[size]):
        leaves = [leaf for leaf in jax.tree_util.tree_leaves(model) if not _is_varied(leaf)]
        kept = [np.asarray(leaf).tobytes() for leaf in leaves if isinstance(leaf, np.ndarray | jax.Array | float | int)]
        first.setdefault(b"".join(kept), draw)
    return list(first.values())


def _is_varied(leaf: Any) -> bool:
    array = isinstance(leaf, np.ndarray | jax.Array) and leaf.ndim > 0
    return array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _forms(claim: Identity, cell: Cell, observed: Observed, draw: int) -> tuple[Sequence[Form], Sequence[Form]]:
    """Both sides by their forms, the letters put into them."""
    (size,) = cell.line.sizes
    known, (model, read) = observed._evaluated, observed.instances[size][draw]
    place = ("forms", size, draw)
    if place not in known:
        known[place] = forms_of(lambda model: dict(observed.observe(model, **read)), (model,))
    seen = known[place]
    # Letters of one form are one letter, before SymPy puts the terms of a sum in the order of their names.
    first: dict[Any, Measured] = {}
    letters = sorted(claim.observed, key=str)
    one = {letter: first.setdefault((seen[letter.name].digest, letter.over), letter) for letter in letters}
    try:
        left, right = (
            instances.on(side.xreplace(one), cell, size, seen, Forms()) for side in (claim.left, claim.right)
        )
    except UnsupportedPrimitive:  # a function that no program is known by: not one program, for all that is seen
        return (), (Form("", ()),)
    return (left,), (right,)


def _at_instance(claim: Identity, cell: Cell, observed: Observed, draw: int, domain: Domain[Any]) -> Sides:
    """Both sides on the instance as it was built."""
    (size,) = cell.line.sizes
    return _sides(claim, cell, _letters(claim, observed, draw, size, domain), domain)


def _generic(claim: Identity, cell: Cell, observed: Observed, draw: int, domain: Domain[Any], carry: Carry) -> Sides:
    """Both sides at one generic model: a function of the domain, so that claims and their variants share it."""
    (size,) = cell.line.sizes
    return _sides(claim, cell, _letters(claim, observed, draw, size, domain, carry), domain)


def _sides(claim: Identity, cell: Cell, seen: Mapping[str, Any], domain: Domain[Any]) -> Sides:
    (size,) = cell.line.sizes
    left, right = (instances.on(side, cell, size, seen, domain) for side in (claim.left, claim.right))
    return [(left, right)]


def _letters(
    claim: Identity, observed: Observed, draw: int, size: int, domain: Domain[Any], carry: Carry | None = None
) -> Mapping[str, Any]:
    """Measured programs, run once in each arithmetic for all claims and their variants.

    Where some letter cannot be followed there, those that the claim holds are run by themselves.
    """

    def letters(wanted: Any) -> Any:
        known, place = observed._evaluated, ("letters", carry is not None, wanted, size, draw, domain)
        if place not in known:
            model, read = observed.instances[size][draw]
            if carry is not None:
                follow = carry  # a type checker forgets in a lambda that it is no None
                model = jax.tree_util.tree_map(lambda leaf: follow(leaf) if _is_varied(leaf) else leaf, model)
            try:
                known[place] = instances.letters(wanted, observed.observe, model, read, domain)
            except OBSTACLES as error:
                known[place] = error
        return known[place]

    seen = letters(None)
    if isinstance(seen, TheoraxError):
        seen = letters(claim.observed)
    if isinstance(seen, TheoraxError):
        raise seen
    return seen
