"""The bound is the value less a gap of Frank and Wolfe: made of the value, and by convexity a bound all the same.

f(x) = |x - b|^2 / 2 on [0, 1]^n, x the projection of b. The gap is the largest slope over the box, zero at x.
"""

import jax
import jax.numpy as jnp
from sympy import symbols

from theorax.language import Absolute, Experiment, Measured, Optimum, Size, Step, Subject, Theorem, lemma

n = Size("n", "how many unknowns")
value = Measured("value", "half the squared distance to b")
lower = Measured("lower", "the value less its gap")
plain = Measured("plain", "the dual value b.l - |l|^2/2 - sum max(l, 0) at l = b - x")
room = Measured("room", "what the box leaves", array=True)


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(b):
    x = jnp.clip(b, 0.0, 1.0)
    found, slope, normal = jnp.sum((x - b) ** 2) / 2, x - b, b - x
    return dict(
        value=found,
        lower=found - jnp.sum(jnp.maximum(slope * x, slope * (x - 1))),
        plain=b @ normal - normal @ normal / 2 - jnp.sum(jnp.maximum(normal, 0.0)),
        room=jnp.minimum(x, 1 - x),
    )


@lemma
def convexity():
    """Two unknowns, any other point."""
    x, y, b, c, s, t = symbols("x y b c s t", real=True)
    at = lambda p, q: ((p - b) ** 2 + (q - c) ** 2) / 2  # noqa: E731
    yield Step(
        "beyond its tangent the value is higher by a square",
        at(s, t) - at(x, y) - (x - b) * (s - x) - (y - c) * (t - y),
        ((s - x) ** 2 + (t - y) ** 2) / 2,
    )


def optimum(**parts):
    return Optimum(value, feasible=room >= 0, margin=Absolute(1, 10**9, "zero in balls"), **parts)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        by_convexity=optimum(bound=lower, bound_by="convexity"),
        dual=optimum(bound=plain),
    ),
    proofs=(convexity,),
    experiments=dict(
        programs=Experiment(
            observe, (value, lower, plain, room), {n: (3,)}, subjects={"normal": Subject(build)}, draws=4
        )
    ),
)
