"""The least of |x - b|^2 + 1 is one; b + 1 is called optimal by a stored value, a lemma, or a vain constraint."""

import jax
import jax.numpy as jnp
from sympy import symbols

from theorax.language import *

n = Size("n", "how many unknowns")
seen = numbers(
    value="value at b + 1", stored="a value that the model brought along", kept="the same, less a little",
    lower="the value, less a little", expanded="the value, multiplied out, less a little", rest="a square",
    scanned="the value, carried through a loop", called="the value, through the host",
)  # fmt: skip


def value(x, b):
    return jnp.sum((x - b) ** 2) + 1


def build(key, n):
    b = jax.random.normal(key, (n,))
    return b, value(b + 1, b)


def observe(model):
    b, stored = model
    x = b + 1
    found = value(x, b)
    return dict(
        value=found,
        stored=stored,
        kept=stored - 1e-9,
        lower=found - 1e-9,
        expanded=x @ x - 2 * x @ b + b @ b + 1 - 1e-9,
        rest=jnp.sum(b**2),
        scanned=jax.lax.fori_loop(0, 3, lambda i, v: v - 1e-9, found),
        called=jnp.where(found > 0, found, 0.0) * (1 - 1e-12),
    )


@lemma
def binomial():
    """All numbers; nothing is said of bounds."""
    a, b = symbols("a b", real=True)
    yield Step("a square", (a + b) ** 2, a**2 + 2 * a * b + b**2)


def optimum(what=seen.value, **parts):
    parts = dict(dict(feasible=seen.rest >= 0), **parts)
    return Optimum(what, margin=Absolute(1, 1000, "it would matter"), **parts)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        brought_along=optimum(seen.stored, bound=seen.kept),
        beside_the_point=optimum(bound=seen.lower, bound_by="binomial"),
        multiplied_out=optimum(bound=seen.expanded),
        multiplied_out_by_a_lemma=optimum(bound=seen.expanded, bound_by="binomial"),
        looped=optimum(bound=seen.scanned),
        selected=optimum(bound=seen.called),
        squared=optimum(seen.value**2, bound=seen.value * seen.lower),
    ),
    proofs=(binomial,),
    experiments=dict(points=Experiment(observe, seen, {n: (3,)}, subjects={"normal": Subject(build)}, draws=4)),
)
