"""Identities of measured letters, lowered to problems of `theorax.exact`: programs, instances and forms of the sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.decide.case_results import NothingEstimated, PlannedCase
from theorax.decide.findings import Finding
from theorax.decide.inequalities import InstancesPlan
from theorax.decide.plans import Planned, Tested
from theorax.decide.status import Levels
from theorax.decide.verdict import Point
from theorax.errors import TheoraxError
from theorax.exact.decisions import read_as_exact
from theorax.exact.held_fixed import leaf_text, name_of
from theorax.exact.identity_decision import IdentityPoint, IdentityProblem, decide_identity
from theorax.exact.identity_ladder import OBSTACLES, Carry, Generic, Sides
from theorax.exact.same_program import Forms, ProgramForm, forms_of
from theorax.language import Absolute, Identity, Measured
from theorax.numerics.arithmetics import Domain, RunningError, UnsupportedPrimitive, narrow_casts
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.distinct_instances import built_at, bytes_of
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.returned_floats import FloatTest
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.lowering import (
    CellCase,
    CellResult,
    Judge,
    drawn_decision,
    instances_plan,
    left_open,
    unbuilt,
    with_enough,
)

_IN_BALLS = 4
"""Draws at the smallest size that are run in balls, whatever floats say."""

_PROGRAMS = 8
"""Most programs of one size, of models whose integers differ, that are compared in fields."""

_UNSEEN = "a difference below the rounding account where balls were not run"


@final
@dataclass(frozen=True)
class IdentityJudge(Judge[Identity]):
    """Both sides of an identity, on instances built at their true sizes.

    Floats are run on every instance, balls on the first few at the smallest size and wherever floats differ by more than
    their account. In fields every array of floats in the model is replaced by random residues of its shape, single
    floats too if the sides are equal then; other single numbers, integers and truth values are held fixed, and told.
    Two sides equal there are equal for all real arrays of these shapes. Sides that differ there need not differ on the
    models drawn, whose tokens are orthonormal, say: nothing follows. Then N instances without a violation leave a share
    of the law open, as those of an inequality do; a design that leaves too much open supports nothing by itself. Nor do
    N copies of one model, which are one instance.
    """

    kind = Identity

    def cells(self, claim: Identity, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Identity, cell: Cell, levels: Levels, original: Identity) -> CellCase:
        margin = float(claim.margin.value) if claim.margin is not None else 0.0
        plan: Planned = NothingEstimated(margin=margin, levels=levels)
        if cell.line.random:  # what holds no randomness is one instance, of no law
            plan = instances_plan(float(claim.content), cell.line, levels)
        return PlannedCase(cell=cell, plan=plan, claimed=0.0, margin=margin)

    def kept_by_floats(self, claim: Identity) -> Sequence[FloatTest]:
        margin = 0.0 if claim.margin is None else float(claim.margin.value)
        return [FloatTest(claim.left, claim.right, margin, relative=not isinstance(claim.margin, Absolute))]

    def judge(self, claim: Identity, case: CellCase, observed: Observed) -> CellResult:
        (size,) = case.cell.line.sizes
        found = decide_identity(lowered(claim, case, observed))
        if found.drawn and built_at(observed, size).counted > 1:
            case, more = with_enough(case, observed)
            if more is not observed:
                observed = more
                found = decide_identity(lowered(claim, case, observed))
        trivial = Finding.TRIVIAL_BOUND in found.findings
        certified = Finding.CERTIFICATE in found.findings
        refuted = Finding.COUNTEREXAMPLE in found.findings
        built, scope = built_at(observed, size), ""
        held: tuple[str, ...] = ()
        if Finding.TEST_SUPPORTED in found.findings and not found.drawn:
            scope = f"all real weights at the shapes of {observed.line.swept} = {size}"
            held = _held(observed, size, _representatives(observed, size, found.holding), holding=found.holding)
        elif found.drawn and not observed.line.random:
            scope = f"the instance built at {observed.line.swept} = {size}"
        elif found.drawn:
            held = _alike(observed, size)
        decision = found.decision(case.margin or 0.0, case.levels)
        if found.drawn and isinstance(case.plan, InstancesPlan):
            decision = drawn_decision(decision, case, [built], built.copies)
        left = unbuilt(case, observed, holds=found.drawn and not refuted and not built.copies)
        tested = Tested(
            decision,
            (Point(float(size), found.floats.worst, None, built.built),),
            ("other shapes", _UNSEEN) if certified else (_UNSEEN, left),
            found.detail + (f"; {left_open(case, [built])}" if found.drawn and observed.line.random else ""),
        )
        return replace(
            case.decided(tested),
            rigorous=trivial or certified or refuted,
            covered=trivial or certified,
            statistical=found.drawn and observed.line.random,
            trivial=trivial,
            undefined=Finding.NO_INSTANCE in found.findings,
            scope=scope + (_casts(observed, size) if certified else ""),
            held=held,
            on_draws=found.drawn,
        )


def _casts(observed: Observed, size: int) -> str:
    """The addition to the scope where the measured programs cast to narrower floats."""
    model, read = observed.instances[size][0]
    casts = observed.evaluations.once(
        ("casts", size), lambda: narrow_casts(lambda model: dict(observed.observe(model, **read)), (model,))
    )
    return read_as_exact(casts)


def lowered(claim: Identity, case: CellCase, observed: Observed) -> IdentityProblem:
    """The claim at one size as a problem of programs: what floats cannot hold apart is asked of balls and of fields."""
    cell = case.cell
    (size,) = cell.line.sizes
    points = tuple(
        IdentityPoint(
            partial(_at_instance, claim, cell, observed, draw),
            f"{observed.line.swept} = {size}, instance {draw}",
            doubted=size != observed.line.sizes[0] or draw >= _IN_BALLS,
        )
        for draw in range(len(observed.instances[size]))
    )

    def generic(holding: bool) -> tuple[tuple[str, Generic], ...]:
        draws = _representatives(observed, size, holding)
        return tuple(
            (f"{size} {draw}", partial(_generic, claim, cell, observed, draw, holding=holding)) for draw in draws
        )

    representatives = _representatives(observed, size)
    return IdentityProblem(
        lambda: (_forms(claim, cell, observed, draw) for draw in representatives),
        generic(False),
        points,
        case.margin or 0.0,
        isinstance(claim.margin, Absolute),
        held=generic(True) if any(map(_is_single, _leaves(observed, size, 0).values())) else (),
        as_drawn=lambda: (
            _forms(claim, cell, observed, draw, _first_alike(observed, size)) for draw in representatives
        ),
    )


def _representatives(observed: Observed, size: int, holding: bool = False) -> list[int]:
    """One draw of each of the first programs: of the models that differ in varied arrays alone."""
    first: dict[bytes, int] = {}
    for draw in range(len(observed.instances[size])):
        kept = [bytes_of(leaf) for leaf in _leaves(observed, size, draw).values() if not _is_varied(leaf, holding)]
        first.setdefault(b"".join(kept), draw)
    return list(first.values())[:_PROGRAMS]


def _leaves(observed: Observed, size: int, draw: int) -> dict[str, Any]:
    """The leaves of one model that hold numbers, by their names."""
    found = jax.tree_util.tree_leaves_with_path(observed.instances[size][draw][0])
    numbers = np.ndarray | np.generic | jax.Array | float | int
    return {name_of(path): leaf for path, leaf in found if isinstance(leaf, numbers)}


def _held(observed: Observed, size: int, draws: Sequence[int], *, holding: bool) -> tuple[str, ...]:
    """The leaves that were held fixed in fields, with their values in the draws looked at."""
    models = [_leaves(observed, size, draw) for draw in draws]
    told = []
    for name, leaf in models[0].items():
        if _is_varied(leaf, holding) or not np.size(leaf):
            continue
        values = {bytes_of(model[name]) for model in models}
        told.append(
            f"{name} = {leaf_text(leaf)}" if len(values) == 1 else f"{name}, for the {len(values)} values drawn"
        )
    return tuple(told)


def _alike(observed: Observed, size: int) -> tuple[str, ...]:
    """The leaves that are one and the same in every draw, which the law therefore holds fixed."""
    models = [_leaves(observed, size, draw) for draw in range(len(observed.instances[size]))]
    return tuple(
        f"{name} = {leaf_text(leaf)}"
        for name, leaf in models[0].items()
        if np.size(leaf) and all(bytes_of(model[name]) == bytes_of(leaf) for model in models[1:])
    )


def _first_alike(observed: Observed, size: int) -> list[int]:
    """For every array of the model the place of the first that is equal to it in every draw."""
    arrays = np.ndarray | np.generic | jax.Array
    columns = [
        [bytes_of(leaf) for leaf in jax.tree_util.tree_leaves(model) if isinstance(leaf, arrays)]
        for model, _ in observed.instances[size]
    ]
    places: dict[tuple[bytes, ...], int] = {}
    return [places.setdefault(entries, place) for place, entries in enumerate(zip(*columns, strict=True))]


def _is_varied(leaf: Any, holding: bool = False) -> bool:
    """True for arrays of floats; ``holding``: but for those of one number."""
    array = isinstance(leaf, np.ndarray | np.generic | jax.Array) and (leaf.ndim > 0 or not holding)
    return array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _is_single(leaf: Any) -> bool:
    return _is_varied(leaf) and not _is_varied(leaf, holding=True)


def _forms(
    claim: Identity, cell: Cell, observed: Observed, draw: int, leading: Sequence[int] = ()
) -> tuple[Sequence[ProgramForm], Sequence[ProgramForm]]:
    """Both sides by their forms, the letters put into them; ``leading`` as in `forms_of`."""
    (size,) = cell.line.sizes
    known, (model, read) = observed.evaluations, observed.instances[size][draw]

    def forms() -> Mapping[str, ProgramForm]:
        traces = known.setdefault(("traces", size), {})
        return forms_of(lambda model: dict(observed.observe(model, **read)), (model,), leading, traces)

    seen = known.once(("forms", size, draw, tuple(leading)), forms)
    # Letters of one form are one letter, before SymPy puts the terms of a sum in the order of their names.
    first: dict[Any, Measured] = {}
    letters = sorted(claim.observed, key=str)
    one = {letter: first.setdefault((seen[letter.name].digest, letter.over), letter) for letter in letters}
    try:
        left, right = (
            instances.on(side.xreplace(one), cell, size, seen, Forms()) for side in (claim.left, claim.right)
        )
    except UnsupportedPrimitive:  # a function that no program is known by: not one program, for all that is seen
        return (), (ProgramForm("", ()),)
    return (left,), (right,)


def _at_instance(claim: Identity, cell: Cell, observed: Observed, draw: int, domain: Domain[Any]) -> Sides:
    """Both sides on the instance as it was built."""
    (size,) = cell.line.sizes
    return _sides(claim, cell, _letters(claim, observed, draw, size, domain), domain)


def _generic(
    claim: Identity,
    cell: Cell,
    observed: Observed,
    draw: int,
    domain: Domain[Any],
    carry: Carry,
    holding: bool = False,
) -> Sides:
    """Both sides at one generic model: a function of the domain, so that claims and their variants share it."""
    (size,) = cell.line.sizes
    return _sides(claim, cell, _letters(claim, observed, draw, size, domain, carry, holding), domain)


def _sides(claim: Identity, cell: Cell, seen: Mapping[str, Any], domain: Domain[Any]) -> Sides:
    (size,) = cell.line.sizes
    left, right = (instances.on(side, cell, size, seen, domain) for side in (claim.left, claim.right))
    return [(left, right)]


def _letters(
    claim: Identity,
    observed: Observed,
    draw: int,
    size: int,
    domain: Domain[Any],
    carry: Carry | None = None,
    holding: bool = False,
) -> Mapping[str, Any]:
    """Measured programs, run once in each arithmetic for all claims and their variants.

    Where some letter cannot be followed there, those that the claim holds are run by themselves.
    """

    def letters(wanted: Any) -> Any:
        known = observed.evaluations

        def of(draw: int) -> tuple[Any, ...]:
            return "letters", carry is not None, holding, wanted, size, draw, domain

        place, apart = of(draw), ("apart", *of(0))
        followed = isinstance(known.get(of(draw - 1)), Mapping) and place not in known and apart not in known
        if followed and isinstance(domain, RunningError):
            # The first draw is followed, and more are asked for: the rest of them cost little together.
            rest = [later for later in range(draw, len(observed.instances[size])) if of(later) not in known]
            models = [observed.instances[size][later] for later in rest]
            found = instances.letters_together(wanted, observed, models, domain)
            known |= {of(later): seen for later, seen in zip(rest, found, strict=False)}
            if not found:
                known[apart] = True  # they take different roads: asking again for each would trace them all each time
        if place not in known:
            model, read = observed.instances[size][draw]
            if carry is not None:
                follow = carry  # a type checker forgets in a lambda that it is no None
                model = jax.tree_util.tree_map(lambda leaf: follow(leaf) if _is_varied(leaf, holding) else leaf, model)
            try:
                known[place] = instances.letters_in_domain(wanted, observed, model, read, domain)
            except OBSTACLES as error:
                known[place] = error
        return known[place]

    seen = letters(None)
    if isinstance(seen, TheoraxError):
        seen = letters(claim.observed)
    if isinstance(seen, TheoraxError):
        raise seen
    return seen
