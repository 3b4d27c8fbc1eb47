"""Masked branches, small differences computed well, whole numbers that are meant to wrap, and rules that tell the truth."""

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient
from sympy import Ge, Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = numbers(
    root="the mean of sqrt(z) over the positive entries, times their share",
    small="(exp(u) - 1) / u by expm1, u of order 1e-9",
    slope="the slope of a softplus with a rule of its own, at an entry, beside its sigmoid",
    top="the logarithm of the sum of exponentials less the largest entry",
    zero="the mean of the slopes of JAX's relu, gelu, softmax and logsumexp, less itself in another order",
    hashed="a hash of the index, as a number in [0, 1)",
    straight="the slope straight through rounding",
)
sides = arrays(summed="the gradient of an own logsumexp", soft="the softmax")

H = hypotheses(any=Hypothesis("entries are independent and normal", unbroken="nothing else is meant"))
masked = Expectation(
    seen.root, Rational(4111, 10000), margin=Relative(1, 10, "without the mask it is none"), spread=Rational(1, 3)
)
exact = Expectation(seen.small, 1, margin=Absolute(1, 10, "expm1 forgotten"), spread=Rational(1, 4))
truthful = Expectation(seen.slope, Rational(1, 2), margin=Relative(1, 10, "half"), spread=Rational(1, 2))
above = Inequality(seen.top, at_least=0, content=Rational(1, 50))
rules = Probability(Ge(seen.zero, -1), 1, margin=Absolute(1, 50, "one draw in fifty"))
spread_out = Probability(Ge(seen.hashed, 0), 1, margin=Absolute(1, 50, "one draw in fifty"))
surrogate = Expectation(seen.straight, 1, margin=Relative(1, 10, "it is zero"), spread=Rational(1, 10))
same = Identity(sides.summed, sides.soft, margin=Relative(1, 10**6, "rounding"))


@jax.custom_jvp
def softplus(x):
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


softplus.defjvps(lambda t, y, x: t * jax.nn.sigmoid(x))


def logsumexp(x):
    top = stop_gradient(jnp.max(x))
    return top + jnp.log(jnp.sum(jnp.exp(x - top)))


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z, n):
    u = (1 + jnp.abs(z[0])) * 1e-9
    of_jax = [jax.nn.relu, jax.nn.gelu, lambda x: jax.nn.softmax(x) ** 2, jax.nn.logsumexp]
    slopes = [jax.grad(lambda x, f=f: jnp.sum(f(x)))(z) for f in of_jax]
    bits = (jnp.abs(z[:1]) * 1000).astype(jnp.uint32) * jnp.uint32(2654435761)
    return dict(
        root=jnp.mean(jnp.where(z > 0, jnp.sqrt(z), 0)),
        small=jnp.expm1(u) / u + z[1] / 4,
        slope=jax.grad(softplus)(z[0]),
        top=logsumexp(z) - jnp.max(z),
        zero=jnp.mean(sum(slopes)) - jnp.mean(sum(slopes[::-1])) + z[0] / 10**3,
        hashed=jnp.sum(bits.astype(jnp.float64)) / 2.0**32,
    )


def through(z, n):
    slopes = jax.vmap(jax.grad(lambda w: w + stop_gradient(jnp.round(w) - w)))(z)
    return dict(straight=jnp.mean(slopes * (1 + z / 10)))


def compare(z, n):
    return dict(summed=jax.grad(logsumexp)(z), soft=jax.nn.softmax(z))


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(
        masked=masked, exact=exact, truthful=truthful, above=above, rules=rules, spread_out=spread_out,
        surrogate=surrogate, same=same,
    ),
    experiments=dict(
        entries=Experiment(
            observe, tuple(getattr(seen, name) for name in ("root", "small", "slope", "top", "zero", "hashed")), {n: 8},
            draws=600, subjects={"normal": Subject(build)},
        ),
        steps=Experiment(
            through, seen.straight, {n: 8}, draws=600, subjects={"normal": Subject(build)},
            surrogate_because="training passes straight through rounding",
        ),
        gradients=Experiment(compare, sides, {n: 5}, draws=4, subjects={"normal": Subject(build)}),
    ),
)  # fmt: skip
