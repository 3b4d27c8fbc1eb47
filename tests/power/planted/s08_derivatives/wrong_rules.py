"""Custom rules that declare another derivative than that of the numbers computed."""

import jax
import jax.numpy as jnp
from sympy import Ge, Rational

from theorax.language import *

n = Size("n", "number of entries")
seen = numbers(
    slope="the mean slope of w^2 over w",
    curvature="the derivative of the cube at an entry, over the entry squared",
    norm="the squared norm of the gradient of the loss over n",
    shrunk="the mean slope of the soft threshold",
    steep="the slope of the sharpened sigmoid at a positive entry",
)
step = Measured("step", "the largest entry of the gradient of the sum of w^2", positive=True)
sides = arrays(gradient="the gradient of the sum of w^2", thrice="three times w")

H = hypotheses(any=Hypothesis("entries are drawn uniformly", unbroken="nothing else is meant"))
# The slope is two, the derivative of the cube three, that of the loss four.
tripled = Expectation(seen.slope, 3, margin=Relative(1, 10, "a third off"), spread=Rational(1, 3))
doubled = Expectation(seen.curvature, 2, margin=Relative(1, 10, "a third off"), spread=Rational(1, 3))
clipped = Limit(
    seen.norm, as_=n, to=Rational(1, 3), margin=Relative(1, 4, "it is four thirds"), spread=Rational(1, 3),
    approach=Corrections(size=0.2, slowest=1, rest=0.2, order=1, reference=8, reason="a mean over n"),
)  # fmt: skip
# The gradient of the sum does not fall.
falling = Rate(
    step, n**-1, as_=n, margin=Absolute(1, 4, "a quarter of an order"), spread=Rational(1, 10),
    approach=Corrections(size=0.1, slowest=1, rest=0.1, order=1, reference=8, reason="a mean over n"),
)  # fmt: skip
bounded = Inequality(seen.shrunk, at_most=Rational(1, 2), content=Rational(1, 50))
never = Probability(Ge(seen.steep, 0), 1, margin=Absolute(1, 50, "one draw in fifty"))
thrice = Identity(sides.gradient, sides.thrice, margin=Relative(1, 10**6, "rounding"))


@jax.custom_jvp
def square(w):
    return w**2


square.defjvp(lambda primals, tangents: (primals[0] ** 2, 3 * primals[0] * tangents[0]))


@jax.custom_vjp
def cube(w):
    return w**3


cube.defvjp(lambda w: (w**3, w), lambda w, g: (2 * g * w**2,))


@jax.custom_gradient
def loss(w):
    return jnp.sum(w**2), lambda g: g * w


@jax.custom_vjp
def mean_loss(w):
    return jnp.sum(w**2)  # the division by n was forgotten here, not below


mean_loss.defvjp(lambda w: (mean_loss(w), w), lambda w, g: (2 * g * w / len(w),))


@jax.custom_jvp
def threshold(w):
    return jnp.sign(w) * jnp.maximum(jnp.abs(w) - 0.01, 0)


@threshold.defjvp
def _(primals, tangents):
    (w,), (t,) = primals, tangents
    return threshold(w), jnp.where(jnp.abs(w) > 0.6, 0.5, 0.25) * t


@jax.jit
@jax.custom_jvp
def sharp(w):
    return -jax.nn.sigmoid(4 * w)


# The sign was forgotten.
sharp.__wrapped__.defjvps(lambda g, y, w: g * 4 * jax.nn.sigmoid(4 * w) * jax.nn.sigmoid(-4 * w))


def build(key, n):
    return jax.random.uniform(key, (n,), minval=0.1)


def observe(w, n):
    gradient = jax.grad(loss)(w)
    return dict(
        slope=jnp.mean(jax.grad(lambda w: jnp.sum(square(w)))(w) / w),
        curvature=jax.grad(cube)(w[0]) / w[0] ** 2 + (w[1] - 0.55) / 2,
        norm=jnp.mean(gradient**2),
        step=jnp.max(jax.grad(mean_loss)(w)),
        shrunk=jnp.mean(jax.vmap(jax.grad(threshold))(w)) + w[0] / 100,
        steep=jax.jvp(sharp, (w[0],), (1.0,))[1],
    )


def compare(w, n):
    return dict(gradient=jax.grad(lambda w: jnp.sum(square(w)))(w), thrice=3 * w)


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(
        tripled=tripled, doubled=doubled, clipped=clipped, falling=falling, bounded=bounded, never=never, thrice=thrice
    ),
    experiments=dict(
        slopes=Experiment(observe, (seen, step), {n: (8, 16, 32)}, draws=400, subjects={"uniform": Subject(build)}),
        entries=Experiment(compare, sides, {n: 3}, draws=4, subjects={"uniform": Subject(build)}),
    ),
)
