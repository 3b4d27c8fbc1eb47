"""Second derivatives, loops and rounding whose rule is not the derivative of the numbers computed."""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = numbers(
    curvature="the second derivative of w^3 over w", unrolled="the slope of three halvings of w^2, over w",
    through="the slope of rounding", filtered="the slope of a filtered rule", mapped="a number that a mapped program returns",
)  # fmt: skip
H = hypotheses(any=Hypothesis("entries are drawn uniformly", unbroken="nothing else is meant"))
wide = Relative(1, 10, "a third off")


@jax.custom_jvp
def cube(w):
    return w**3


# Right at first order; the slope is held there.
cube.defjvp(lambda p, t: (p[0] ** 3, jax.lax.stop_gradient(3 * p[0]) * p[0] * t[0]))


@jax.custom_jvp
def halved(w):
    return w / 2


halved.defjvp(lambda p, t: (p[0] / 2, t[0]))


@eqx.filter_custom_vjp
def square(w):
    return w**2


square.def_fwd(lambda perturbed, w: (w**2, w))
square.def_bwd(lambda w, g, perturbed, _: 3 * w * g)


@jax.custom_batching.custom_vmap
def doubled(w):
    return 2 * w


@doubled.def_vmap
def _(size, batched, w):
    return 3 * w, batched[0]


def build(key, n):
    return jax.random.uniform(key, (n,), minval=0.1)


def loop(w):
    return jax.lax.scan(lambda v, _: (halved(v), None), w**2, None, length=3)[0]


def observe(w, n):
    first, noise = w[0], (w[1] - 0.55) / 10
    return dict(
        curvature=jax.grad(jax.grad(cube))(first) / first + noise,
        unrolled=jax.jacfwd(loop)(first) / first + noise,
        through=jax.grad(lambda v: v + jax.lax.stop_gradient(jnp.round(v) - v))(first) + noise,
        filtered=jax.grad(square)(first) / first + noise,
        mapped=doubled(first) / first + noise,
    )


claims = dict(
    curvature=Expectation(seen.curvature, 3, margin=wide, spread=Rational(1, 30)),
    unrolled=Expectation(seen.unrolled, 2, margin=wide, spread=Rational(1, 30)),
    through=Expectation(seen.through, 1, margin=wide, spread=Rational(1, 30)),
    filtered=Expectation(seen.filtered, 3, margin=wide, spread=Rational(1, 30)),
    mapped=Expectation(seen.mapped, 3, margin=wide, spread=Rational(1, 30)),
)
theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=claims,
    experiments=dict(slopes=Experiment(observe, seen, {n: 4}, draws=200, subjects={"uniform": Subject(build)})),
)
