"""Claims of the exact kinds, each of which a user could as well hand to `theorax.exact`."""

import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, exp, symbols

from theorax.language import *

n = Size("n", "order of the matrices")
x, y = Parameter("x", "a number"), Parameter("y", "another number")


def trace(A, B):
    return jnp.trace(A @ B)


def swapped(A, B):
    return jnp.trace(B @ A)


def wrapped(A, B):
    return jax.checkpoint(trace)(A, jax.lax.stop_gradient(B))


def off(A, B):
    return trace(A, B) * (1 + 2**-30)


def bent(A, B):
    return jnp.tanh(trace(A, B))


def bent_swapped(A, B):
    return jnp.tanh(swapped(A, B))


PROGRAMS = {program.__name__: program for program in (trace, swapped, wrapped, off, bent, bent_swapped)}
seen = arrays(**{name: f"what the program {name} returns" for name in PROGRAMS})
MARGIN = Relative(1, 10**6, "rounding stays below it")


def build(key, n):
    A, B = jax.random.normal(key, (2, n, n))
    return A, B


def observe(model):
    return {name: program(*model) for name, program in PROGRAMS.items()}


def identity(left, right):
    return Identity(left, right, margin=MARGIN, under=())


proved = identity(seen.trace, 1 * seen.wrapped)


@settles(proved)
def one_step():
    """Any matrices."""
    yield Instance(proved, "two by two", observe, tuple(entries(name) for name in "AB"))


def entries(name):
    return np.array(symbols(f"{name}_:2_:2"), dtype=object).reshape(2, 2)


BOX = {x: (Rational(1, 3), 2), y: (Rational(1, 3), 2)}
LINE = {x: (-2, 2)}
LOWER_WELL = Rational(-10574537, 10**7)
SLACK = Absolute(1, 10**6, "the point is given to seven digits")
well = (x**2 - 1) ** 2 + x / 2

theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        equal=identity(seen.trace, seen.swapped),
        differ=identity(seen.trace, seen.off),
        bent=identity(seen.bent, seen.bent_swapped),
        same=identity(seen.trace, seen.wrapped),
        proved=proved,
        bound=Inequality(x * y, at_most=(x**2 + y**2) / 2 + Rational(1, 1000), over=BOX),
        wrong_bound=Inequality(x * y, at_most=(x**2 + y**2) / 2 - Rational(1, 2000), over=BOX),
        touching=Inequality(exp(x) - 1, at_least=x, over={x: (-1, 1)}),
        lowest=Optimum(well, over=LINE, at={x: LOWER_WELL}, margin=SLACK),
        not_lowest=Optimum(well, over=LINE, at={x: 1}, margin=SLACK),
    ),
    proofs=(one_step,),
    experiments=dict(
        programs=Experiment(observe, seen, {n: (3,)}, draws=4, subjects={"matrices": Subject(build)}),
    ),
)
