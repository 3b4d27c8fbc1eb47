"""A quadratic program over the positive orthant, solved by its positive part; a double well, solved by its lower well."""

import jax
import jax.numpy as jnp
from sympy import And, Integer, Rational, symbols

from theorax.language import (
    Absolute,
    Experiment,
    Hypothesis,
    Measured,
    Optimum,
    Parameter,
    Size,
    Step,
    Subject,
    Theorem,
    hypotheses,
    lemma,
)

n = Size("n", "how many unknowns")
t = Parameter("t", "a position")
primal = Measured("primal", "half the square of x minus b x, at the positive part of b")
dual = Measured("dual", "minus half the square of b plus the multipliers")
other = Measured("other", "the primal value at the origin")
least = Measured("least", "the smallest coordinate of x")
multiplier = Measured("multiplier", "the smallest multiplier")

H = hypotheses(
    convex=Hypothesis("the problem is what it is", unbroken="there is one problem"),
    impossible=Hypothesis("a coordinate is negative", holds=least < 0, unbroken="nothing satisfies it"),
)
MARGIN = Absolute(1, 10**6, "a millionth: twins are off by half as much again")
WELL = (t**2 - 1) ** 2 + t / 2
LOWER_WELL = Rational(-10574537, 10**7)  # of the roots of 4 t^3 - 4 t + 1/2 the lowest, to seven digits


def build(key, n):
    """The right side b, and the points that a solver would return, rounded as it rounds."""
    b = jnp.where(n.mask, jax.random.normal(key, (n.padded,)), 0.0)
    return b, jnp.maximum(b, 0.0), jnp.maximum(-b, 0.0)


def observe(model):
    b, x, multipliers = model
    return dict(
        primal=0.5 * x @ x - b @ x,
        dual=-0.5 * (b + multipliers) @ (b + multipliers),
        other=0.0 * b[0],
        least=jnp.min(x),
        multiplier=jnp.min(multipliers),
    )


@lemma
def weak_duality():
    """One unknown; the others add terms of the same form."""
    x, b, m = symbols("x b m", real=True)
    yield Step(
        "the gap is a square, beside a multiplier times a coordinate",
        x**2 / 2 - b * x + (b + m) ** 2 / 2,
        (x - b - m) ** 2 / 2 + m * x,
    )


def optimum(**changed):
    parts = dict(
        value=primal, bound=dual, bound_by="weak_duality", feasible=And(least >= 0, multiplier >= 0), margin=MARGIN,
        under=H.convex,
    )  # fmt: skip
    return Optimum(**{**parts, **changed})


def well(**changed):
    parts = dict(value=WELL, over={t: (-2, 2)}, at={t: LOWER_WELL}, margin=MARGIN, under=H.convex)
    return Optimum(**{**parts, **changed})


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(
        true=optimum(),
        false_bound=optimum(bound=dual + 3 * MARGIN.value / 2),
        false_point=optimum(value=other, rival=primal, rival_feasible=And(least >= 0)),
        infeasible=optimum(feasible=And(least >= 1)),
        vacuous=optimum(under=(H.convex, H.impossible)),
        lower_well=well(),
        upper_well=well(at={t: Integer(1)}),
        near_the_lower_well=well(at={t: LOWER_WELL + Rational(1, 100)}),
    ),
    proofs=(weak_duality,),
    experiments=dict(
        programs=Experiment(
            padded=True,
            subjects={"gaussian": Subject(build)},
            observe=observe,
            measures=(primal, dual, other, least, multiplier),
            sweep={n: (3, 5)},
            draws=4,
        )
    ),
)
