"""Identities of own programs: decided for all inputs of given shapes, by fields, balls and floats in turn."""

from __future__ import annotations

import hashlib
import inspect
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from flint import arb, fmpq

from theorax.decide.case_results import NothingEstimated, OwnCell, PlannedCase
from theorax.decide.conclusions import conclude
from theorax.decide.exact_kinds import IDENTITY
from theorax.decide.findings import Finding
from theorax.decide.plans import Tested
from theorax.decide.verdict import Assumption, Point, Standing, Statement, Verdict
from theorax.decide.wording import finite, found_by
from theorax.errors import UsageError
from theorax.exact.crossings import crossings
from theorax.exact.decisions import read_as_exact
from theorax.exact.held_fixed import held_fixed, held_fixed_text
from theorax.exact.identity_decision import IdentityFinding, IdentityPoint, IdentityProblem, decide_identity
from theorax.exact.identity_ladder import FINEST, Carry
from theorax.exact.identity_panel import PANEL, RAYS, Layout
from theorax.exact.same_program import forms_of
from theorax.numerics.arithmetics import Ball, Domain, evaluate, narrow_casts
from theorax.numerics.arithmetics.expressions import ball_of
from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.arithmetics.letter_expressions import in_domain

__all__ = ["Program", "identity", "problem_of"]

Program = Callable[..., Any]

_POINTS = 3
_MOST_ENTRIES = 200_000  # exact arithmetic on more takes minutes

RANDOMNESS = Assumption(
    "independence", "primes and points come from a pseudo-random generator, taken for uniform", Standing.DECLARED
)


def identity(
    left: Program,
    right: Program | float,
    at: Any,
    margin: float | None = None,
    name: str = "identity",
) -> Verdict:
    r"""Decide "left(*at) = right(*at) for every value of the float arrays in ``at``, at their shapes".

    | what was found | status |
    |---|---|
    | both sides are one program, or zero by their form, or nowhere defined | vacuous |
    | rational sides that differ in a random finite field | refuted |
    | a ball of the difference at an exact point that excludes zero | refuted |
    | rational sides that agree in random finite fields, to a probability of error of at most 2^-40 | certified |
    | a point at which exactly one side is a finite real number | inconclusive |
    | sides that agree in finite fields whatever the functions tanh, sqrt, ... in them are | supported |
    | the ball of the difference is narrow at every point near the inputs and at half of the panel | supported |
    | otherwise | inconclusive |

    The points are those near the inputs given, and a panel that is the same whatever is given: entries of one sign and
    of mixed signs, of sizes from 2^-20 to 2^20, some or all of them zero, two of them equal. A ball is narrow if it holds
    zero and is smaller than 2^-150 of the larger side; up to 4096 bits are spent on that.

    ``at`` is the tuple of arguments (one argument may stand alone): arrays, pytrees of arrays such as Equinox modules,
    ``jax.ShapeDtypeStruct`` where only the shape matters, Fractions and SymPy constants for exact numbers. Integers,
    truth values and Python numbers are held fixed, and the scope names them. A hypothesis on the inputs must be built into
    the programs: a unit vector as ``x / norm(x)``, a positive one as ``exp(v)``. ``right`` may be a number. ``margin``:
    relative to the largest entry of either side; floats at the inputs given are held against it, and support nothing.

    A float constant of a program is the dyadic it stores: with 1/3 frozen to a float a true identity is false at 1e-17,
    and is refuted; the sentence then says so.

    **Raises:** `UsageError` where the sides return different shapes, or there is nothing to vary or to compare.
    """
    arguments = at if isinstance(at, tuple) else (at,)
    other: Program = right if callable(right) else partial(constant, left, float(right))
    refuse(left, other, arguments, margin, name)
    problem, digest = problem_of(left, other, arguments, margin, name)
    found = decide_identity(problem)
    stated = Statement(
        id=name,
        kind=IDENTITY.kind,
        words=IDENTITY,
        statement=f"{_called(left, 'left')} = {_called(right, 'right') if callable(right) else f'{right:g}'}",
        margin_given=None if margin is None else f"{margin:g}",
        design_hash=digest,
    )
    casts = narrow_casts(lambda *given: (left(*given), other(*given)), _stood(arguments)) if found.status.holds else ()
    held = held_fixed(arguments, _is_varied, _names(left))
    return _verdict(found, problem, arguments, stated, held, casts)


def problem_of(
    left: Program, right: Program, arguments: tuple[Any, ...], margin: float | None, name: str
) -> tuple[IdentityProblem, str]:
    """The identity of two programs for all float arrays among their arguments, and a digest of it."""
    both = _forms(left, right, arguments)
    told = repr(([form.digest for side in both for form in side], margin, name))
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    sides = partial(_sides, left, right, arguments)
    near = _POINTS if _has_samples(arguments) else 0

    def point(where: str, carry: Callable[[Domain[Any]], Carry], *, floats: bool = False) -> IdentityPoint:
        # One run of the programs meets every leaf once, in one order: a point is made anew for every run.
        return IdentityPoint(lambda domain: sides(domain, carry(domain)), where, floats=floats)

    def moved(number: int) -> IdentityPoint:
        def carry(domain: Domain[Any]) -> Carry:
            return partial(_moved, random.Random(f"{digest} {number}"))

        return point("an exact point near the inputs", carry)

    leaves = [tuple(leaf.shape) for leaf in _leaves(arguments)]

    def on_panel(layout: Layout) -> IdentityPoint:
        return point(layout.told(leaves), lambda domain: layout.carry())

    given = (point("an exact point, the inputs given", _lifted, floats=margin is not None),) if near else ()
    points = (*given, *(moved(number) for number in range(1, near)))
    return (
        IdentityProblem(
            lambda: iter([both]),
            ((digest, sides),),
            points,
            margin,
            every_input=True,
            panel=tuple(map(on_panel, (*PANEL, *_beside_comparisons(left, right, arguments)))),
        ),
        digest,
    )


def _beside_comparisons(left: Program, right: Program, arguments: tuple[Any, ...]) -> Iterator[Layout]:
    """Points on both sides of the comparisons of either program."""
    leaves, structure = jax.tree_util.tree_flatten(arguments, is_leaf=_is_exact)
    places = [at for at, leaf in enumerate(leaves) if _is_varied(leaf)]

    def both(*entries: Any) -> Any:
        given = [float(sympy.sympify(leaf)) if _is_exact(leaf) else leaf for leaf in leaves]
        for at, entry in zip(places, entries, strict=True):
            given[at] = entry
        filled = jax.tree_util.tree_unflatten(structure, given)
        outputs = jax.tree_util.tree_leaves((left(*filled), right(*filled)))
        return [part for part in outputs if isinstance(part, jax.Array)]

    shapes = [tuple(leaves[at].shape) for at in places]
    for layout in RAYS:
        for factor in crossings(both, layout.at(shapes)):
            yield replace(layout, factor=factor)


def _verdict(
    found: IdentityFinding,
    problem: IdentityProblem,
    arguments: tuple[Any, ...],
    stated: Statement,
    held: tuple[str, ...],
    casts: Sequence[str] = (),
) -> Verdict:
    balls = found.balls.and_then(found.panel)
    looked = balls.points
    measured = found.looked > 0 and found.floats.obstacle is None and any(point.floats for point in problem.points)
    decision = found.decision(problem.margin or 0.0)
    if not measured:  # balls that hold zero measure no difference
        off = balls.difference if balls.refuted else math.nan
        decision = replace(decision, estimate=off, lower=math.nan, breakdown_support=math.nan)
    plan = NothingEstimated(
        margin=problem.margin or 0.0,
        name=stated.id,
        rounding=finite(found.floats.account) if measured else None,
        resolution=2 * balls.difference if looked and balls.narrow else math.inf,
    )
    points = (Point(float(looked), balls.difference, None, looked),) if looked else ()
    case = PlannedCase(cell=OwnCell(stated.id), plan=plan, claimed=0.0, margin=problem.margin)
    holds = found.status.holds
    findings = [
        found_by(decision, finding, level=None, detail=found.detail)
        for finding in found.findings or (Finding.UNDECIDED,)
    ]
    return conclude(
        stated,
        [case.decided(Tested(decision, points, _unseen(found), found.detail))],
        findings,
        decision=decision,
        scope=_scope(found, arguments)
        + read_as_exact(casts)
        + (f"; {held_fixed_text(held)}" if held and holds else ""),
        ledger=(RANDOMNESS, *(Assumption("input", part, Standing.HELD_FIXED) for part in held)) if holds else (),
        draws=found.fields.trials + looked,
    )


def _scope(found: IdentityFinding, arguments: tuple[Any, ...]) -> str:
    shapes = ", ".join(str(list(leaf.shape)) for leaf in _leaves(arguments)[:6])
    if found.fields.equal and Finding.TEST_SUPPORTED in found.findings:
        return f"all real inputs of shapes {shapes} at which both sides are defined"
    if Finding.TEST_SUPPORTED in found.findings:
        looked = found.balls.and_then(found.panel)
        return f"{looked.points - looked.wide} exact points of shapes {shapes}"
    return f"inputs of shapes {shapes}"


def _unseen(found: IdentityFinding) -> tuple[str, ...]:
    if Finding.TEST_SUPPORTED not in found.findings:
        return ()
    seen: tuple[str, ...] = ("other shapes", "the rounding of either program")
    lone = found.balls.lone or found.panel.lone
    seen = (*seen, f"where one side alone is defined: {lone}") if lone else seen
    return seen if found.fields.equal else (*seen, "a difference that vanishes at the points looked at")


def constant(like: Program, number: float, *arguments: Any) -> Any:
    """The number in every entry of what the program would return."""
    return jax.tree_util.tree_map(lambda leaf: jnp.full(leaf.shape, number), eqx.filter_eval_shape(like, *arguments))


def _sides(
    left: Program, right: Program, arguments: tuple[Any, ...], domain: Domain[Any], carry: Carry
) -> list[tuple[Any, Any]]:
    """Both sides as carriers of the domain, output by output; ``carry`` turns every varied leaf into carriers."""
    carried = jax.tree_util.tree_map(partial(_carried, domain, carry), arguments, is_leaf=_is_exact)
    found = evaluate(lambda *given: (left(*given), right(*given)), carried, domain)

    def outputs(side: Any) -> list[Any]:
        entries = jax.tree_util.tree_leaves(side)
        return [entry if domain.owns(entry) else domain.lift(np.asarray(entry)) for entry in entries]

    return list(zip(outputs(found[0]), outputs(found[1]), strict=True))


def _carried(domain: Domain[Any], carry: Carry, leaf: Any) -> Any:
    if _is_exact(leaf):
        return _constant(sympy.sympify(leaf), domain)
    return carry(leaf) if _is_varied(leaf) else leaf


def _constant(expression: sympy.Expr, domain: Domain[Any]) -> Any:
    if isinstance(domain, Ball):
        return np.array(ball_of(expression, {}, domain.precision), dtype=object)
    return in_domain(expression, domain, lambda node: None)


def _is_exact(leaf: Any) -> bool:
    return isinstance(leaf, Fraction | sympy.Expr)


def _is_varied(leaf: Any) -> bool:
    array = isinstance(leaf, np.ndarray | np.generic | jax.Array | jax.ShapeDtypeStruct)
    return array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _leaves(arguments: tuple[Any, ...]) -> list[Any]:
    """The arrays of floats among the arguments, for all values of which an identity is decided."""
    return [leaf for leaf in jax.tree_util.tree_leaves(arguments, is_leaf=_is_exact) if _is_varied(leaf)]


def _has_samples(arguments: tuple[Any, ...]) -> bool:
    """True if every varied array comes with values, not with its shape alone."""
    return not any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in _leaves(arguments))


def _lifted(domain: Domain[Any]) -> Carry:
    """The inputs as given: exact in balls, as floats in every other arithmetic."""
    return lambda leaf: domain.lift(np.asarray(leaf)) if isinstance(domain, Ball) else np.asarray(leaf)


def _moved(draws: random.Random, leaf: Any) -> Any:
    """Exact rationals around the inputs given."""
    sample = np.asarray(leaf, np.float64)
    entries = np.empty(sample.shape, dtype=object)
    with Ball(FINEST).working():  # a seventh is as exact as the finest balls need
        for place in np.ndindex(sample.shape):
            entries[place] = arb(_rational_near(float(sample[place]), draws))
    return entries


def _rational_near(number: float, draws: random.Random) -> fmpq:
    """A random exact rational between half and three halves of a number, of its sign; between -1 and 1 for zero."""
    below = draws.choice((7, 11, 13, 64))
    if number == 0 or not math.isfinite(number):
        return fmpq(draws.randrange(-below + 1, below), below)
    above, under = float(number).as_integer_ratio()
    return fmpq(above, under) * fmpq(draws.randrange(below // 2 + 1, below + below // 2 + 1), below)


def _names(program: Program) -> tuple[str, ...]:
    """The names of the parameters of a program, where it tells them."""
    try:
        return tuple(inspect.signature(program).parameters)
    except (TypeError, ValueError):
        return ()


def _stood(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with an array of zeros for everything that is varied."""

    def stand_in(leaf: Any) -> Any:
        exact = _is_exact(leaf)
        return np.zeros(() if exact else leaf.shape) if exact or _is_varied(leaf) else leaf

    return tuple(jax.tree_util.tree_map(stand_in, arguments, is_leaf=_is_exact))


def _forms(left: Program, right: Program, arguments: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The forms of both sides, traced together at the shapes of the arguments."""
    found = forms_of(lambda *given: (left(*given), right(*given)), _stood(arguments))
    return jax.tree_util.tree_leaves(found[0]), jax.tree_util.tree_leaves(found[1])


def refuse(left: Program, right: Program, arguments: tuple[Any, ...], margin: float | None, name: str) -> None:
    """Refuse sides that cannot be compared.

    **Raises:** `UsageError` for sides of different shapes, for nothing to vary or to compare, for a margin that is none.
    """
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(
            f"identity({name!r}, margin={margin!r}) can reject nothing. A margin is the smallest relative difference that "
            "would matter. Write a positive number, or leave it out."
        )
    entries = sum(int(np.prod(leaf.shape, dtype=np.int64)) for leaf in _leaves(arguments))
    if not 0 < entries <= _MOST_ENTRIES:
        raise UsageError(
            f"identity({name!r}, at=...) has {entries} varied numbers among its inputs. An identity is decided for all "
            f"values of float arrays, exactly, of 1 to {_MOST_ENTRIES} numbers. Give float arrays of the shapes that "
            "matter, small ones where the program allows it."
        )
    stood = _stood(arguments)
    with doubles():
        shapes = [
            [leaf.shape for leaf in jax.tree_util.tree_leaves(eqx.filter_eval_shape(program, *stood))]
            for program in (left, right)
        ]
    if shapes[0] != shapes[1] or not any(math.prod(each) for each in shapes[0]):
        raise UsageError(
            f"identity({name!r}): the left side returns {_listed(shapes[0])}, the right side {_listed(shapes[1])}. "
            "Sides are compared entry by entry, and at least one entry. Return arrays of one shape from both."
        )


def _listed(shapes: Sequence[tuple[int, ...]]) -> str:
    return " and ".join(f"shape {list(shape)}" for shape in shapes) or "nothing"


def _called(program: Program, side: str) -> str:
    """Name of the program in a message; the side, if the program is a lambda."""
    name = str(getattr(program, "__name__", type(program).__name__))
    return side if name == "<lambda>" else name
