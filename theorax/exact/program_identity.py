"""Identities of own programs: decided for all inputs of given shapes, by fields, balls and floats in turn."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
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

from theorax.decide.findings import Finding
from theorax.decide.verdict import Assumption, Grounds, Point, Statement, Verdict, conclude
from theorax.decide.wording import Shown, case_of, finite, found_by
from theorax.errors import UsageError
from theorax.exact.identity_decision import FINE, IdentityFinding, IdentityPoint, IdentityProblem, decide_identity
from theorax.exact.identity_ladder import Carry, Sides
from theorax.exact.same_program import forms_of
from theorax.numerics.arithmetics import Ball, Domain, evaluate
from theorax.numerics.arithmetics.expressions import ball_of
from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.arithmetics.letter_expressions import in_domain

__all__ = ["Program", "identity", "problem_of"]

Program = Callable[..., Any]

_POINTS = 3
_MOST_ENTRIES = 200_000  # exact arithmetic on more takes minutes

RANDOMNESS = Assumption(
    "independence", "primes and points come from a pseudo-random generator, taken for uniform", "declared"
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
    | sides that agree in finite fields whatever the functions tanh, sqrt, ... in them are | supported |
    | every ball of the difference holds zero and is narrower than 2^-150 | supported |
    | the difference in floats and its rounding account stay below the margin | supported |
    | otherwise | inconclusive |

    ``at`` is the tuple of arguments (one argument may stand alone): arrays, pytrees of arrays such as Equinox modules,
    ``jax.ShapeDtypeStruct`` where only the shape matters, Fractions and SymPy constants for exact numbers. Integers,
    truth values and Python numbers stay as they are. A hypothesis on the inputs must be built into the programs: a unit
    vector as ``x / norm(x)``. ``right`` may be a number. ``margin``: relative to the largest entry of either side.

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
        kind="identity",
        statement=f"{_called(left, 'left')} = {_called(right, 'right') if callable(right) else f'{right:g}'}",
        margin_given=None if margin is None else f"{margin:g}",
        design_hash=digest,
    )
    return _verdict(found, problem, arguments, stated)


def problem_of(
    left: Program, right: Program, arguments: tuple[Any, ...], margin: float | None, name: str
) -> tuple[IdentityProblem, str]:
    """The identity of two programs for all float arrays among their arguments, and a digest of it."""
    both = _forms(left, right, arguments)
    told = repr(([form.digest for side in both for form in side], margin, name))
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    sides = partial(_sides, left, right, arguments)
    samples = _has_samples(arguments)

    def at_point(number: int) -> IdentityPoint:
        given = samples and number == 0

        def run(domain: Domain[Any]) -> Sides:
            # One run of the programs meets every leaf once, in one order: a point is made anew for every run.
            draws = random.Random(f"{digest} {number}")
            return sides(domain, _lifted(domain) if given else partial(_moved, draws, samples))

        return IdentityPoint(run, floats=given and margin is not None)

    points = tuple(at_point(number) for number in range(_POINTS))
    return IdentityProblem(lambda: iter([both]), ((digest, sides),), points, margin, every_input=True), digest


def _verdict(
    found: IdentityFinding,
    problem: IdentityProblem,
    arguments: tuple[Any, ...],
    stated: Statement,
) -> Verdict:
    balls, looked = found.balls, found.balls.points
    measured = found.looked > 0 and found.floats.obstacle is None and any(point.floats for point in problem.points)
    decision = found.decision(problem.margin or 0.0)
    if not measured:  # balls that hold zero measure no difference
        off = balls.difference if balls.refuted else math.nan
        decision = replace(decision, estimate=off, lower=math.nan, breakdown_support=math.nan)
    case = case_of(
        decision,
        Shown(
            stated.id,
            {},
            0.0,
            bias=finite(found.floats.account) if measured else None,
            margin=problem.margin,
            noticeable=2 * balls.difference if looked and balls.narrow else None,
        ),
        points=(Point(float(looked), balls.difference, None, looked),) if looked else (),
        detail=found.detail,
    )
    holds = found.status.holds
    grounds = Grounds(
        draws=found.fields.trials + looked,
        unseen=_unseen(found),
        scope=_scope(found, arguments),
        ledger=(RANDOMNESS,) if holds else (),
    )
    findings = [
        found_by(decision, finding, level=None, detail=found.detail)
        for finding in found.findings or (Finding.UNDECIDED,)
    ]
    return conclude(stated, grounds, findings, [case])


def _scope(found: IdentityFinding, arguments: tuple[Any, ...]) -> str:
    shapes = ", ".join(str(list(leaf.shape)) for leaf in _leaves(arguments)[:6])
    if found.fields.equal and Finding.TEST_SUPPORTED in found.findings:
        return f"all real inputs of shapes {shapes} at which both sides are defined"
    if Finding.TEST_SUPPORTED in found.findings:
        return f"{found.looked} exact points of shapes {shapes}"
    return f"inputs of shapes {shapes}"


def _unseen(found: IdentityFinding) -> tuple[str, ...]:
    if Finding.TEST_SUPPORTED not in found.findings:
        return ()
    seen = ("other shapes", "the rounding of either program")
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


def _moved(draws: random.Random, samples: bool, leaf: Any) -> Any:
    """Exact rationals around the given inputs, or anywhere where only shapes are given."""
    sample = np.asarray(leaf, np.float64) if samples else np.zeros(leaf.shape)
    entries = np.empty(sample.shape, dtype=object)
    with Ball(FINE).working():  # a seventh is as exact as the finest balls need
        for place in np.ndindex(sample.shape):
            start = float(sample[place]) if samples else draws.choice((-1.0, 1.0)) * draws.uniform(0.1, 2)
            entries[place] = arb(_rational_near(start, draws))
    return entries


def _rational_near(number: float, draws: random.Random) -> fmpq:
    """A random exact rational between half and three halves of a number, of its sign; between -1 and 1 for zero."""
    below = draws.choice((7, 11, 13, 64))
    if number == 0 or not math.isfinite(number):
        return fmpq(draws.randrange(-below + 1, below), below)
    above, under = float(number).as_integer_ratio()
    return fmpq(above, under) * fmpq(draws.randrange(below // 2 + 1, below + below // 2 + 1), below)


def _forms(left: Program, right: Program, arguments: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The forms of both sides, traced together at the shapes of the arguments."""

    def stand_in(leaf: Any) -> Any:
        if _is_exact(leaf):
            return np.zeros(())
        return np.zeros(leaf.shape) if _is_varied(leaf) else leaf

    stood = jax.tree_util.tree_map(stand_in, arguments, is_leaf=_is_exact)
    found = forms_of(lambda *given: (left(*given), right(*given)), stood)
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

    def shape(leaf: Any) -> Any:
        if _is_exact(leaf):
            return jax.ShapeDtypeStruct((), jnp.float64)
        return jax.ShapeDtypeStruct(leaf.shape, jnp.float64) if _is_varied(leaf) else leaf

    shaped = jax.tree_util.tree_map(shape, arguments, is_leaf=_is_exact)
    with doubles():
        shapes = [
            [leaf.shape for leaf in jax.tree_util.tree_leaves(eqx.filter_eval_shape(program, *shaped))]
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
