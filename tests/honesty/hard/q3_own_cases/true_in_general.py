"""True statements in letters, of every kind: cases of the engine refute none of them."""

import jax
import jax.numpy as jnp
from sympy import Rational, exp, sqrt

from theorax.language import *

n = Size("n", "number of values")
a = Parameter("a", "slope", nonnegative=True)
g = Parameter("g", "ratio", positive=True)
p = Parameter("p", "threshold", positive=True)
k = Parameter("k", "copies", integer=True, positive=True)
s = Parameter("s", "spread of a logarithm", positive=True)
near = Relative(1, 10, "another dependence is further away")
fifth = Rational(1, 5)

leak, affine, square, root, product, lognormal, copies, mean, variance = numbers(
    leak="mean square of a leaky ReLU over that of its argument", affine="1 + 2 g, times a number of mean one",
    square="g^2, times such a number", root="sqrt(g), times such a number", product="g a, times such a number",
    lognormal="exponential of a normal number of deviation s", copies="k^2, times a number of mean one",
    mean="sum of n numbers of mean one", variance="square of a mean of n normal numbers", positive=True,
)  # fmt: skip
uniform = Measured("uniform", "a uniform number")
reach, slow, decay = numbers(
    reach="g times a number below one", slow="1 + 2 g + 1/n, times a number of mean one", decay="n^-g, times such a number",
    positive=True,
)  # fmt: skip
left, right = Measured("left", "entries times 2 g^2", array=True), Measured("right", "the entries", array=True)
in_powers = Expansion(powers=(1,), rest=0.1, order=2, reference=16, reason="1/n exactly")
exactly = Corrections(size=0.01, slowest=1, rest=0, reference=16, reason="a power of n exactly")


def one(key):
    return jax.random.uniform(key, minval=0.8, maxval=1.2)


def number(key):
    return jax.random.uniform(key)


def experiment(build, measured, sweep, at=None, draws=400):
    name = measured.name if isinstance(measured, Measured) else None
    observe = (lambda value: {name: value}) if name else (lambda pair: dict(left=pair[0], right=pair[1]))
    return Experiment(observe, measured, sweep, at=at or {}, draws=draws, subjects={"drawn": Subject(build)})


def expected(of, value, spread=fifth, **others):
    return Expectation(of, value, margin=near, spread=spread, **others)


half, apart = {g: Rational(1, 2)}, ({g: Rational(1, 2)}, {g: 2})
sizes = {n: (16, 32, 64, 128)}
theorem = Theorem(
    claims=dict(
        leak=expected(leak, (1 + a**2) / 2, Rational(1, 2)),
        affine=expected(affine, 1 + 2 * g),
        square=expected(square, g**2),
        root=expected(root, sqrt(g)),
        product=expected(product, g * a),
        lognormal=expected(lognormal, exp(s**2 / 2), Rational(1, 2)),
        copies=expected(copies, k**2),
        mean=expected(mean, n),
        variance=expected(variance, 1 / n, Rational(3, 2)),
        uniform=Probability(uniform <= p, at_least=p, margin=Absolute(1, 20, "a twentieth")),
        reach=Inequality(reach, at_most=g),
        slow=Limit(slow, 1 + 2 * g, as_=n, margin=near, spread=fifth, approach=in_powers),
        decay=Rate(decay, n**-g, as_=n, margin=Absolute(1, 5, "a half is further away"), spread=fifth, approach=exactly),
        same=Identity(left, 2 * g**2 * right, margin=Absolute(1, 10**9, "rounding")),
    ),
    experiments=dict(
        leaks=experiment(
            lambda key, a: jnp.mean(jax.nn.leaky_relu(jax.random.normal(key, (64,)), a) ** 2), leak, {n: 64},
            ({a: 0}, {a: 1}), 2000,
        ),
        affine=experiment(lambda key, g: (1 + 2 * g) * one(key), affine, {n: 4}, half),
        square=experiment(lambda key, g: g**2 * one(key), square, {n: 4}, apart),
        root=experiment(lambda key, g: jnp.sqrt(g) * one(key), root, {n: 4}, apart),
        product=experiment(lambda key, g, a: g * a * one(key), product, {n: 4}, {g: Rational(1, 2), a: Rational(1, 3)}),
        lognormal=experiment(lambda key, s: jnp.exp(s * jax.random.normal(key)), lognormal, {n: 4}, {s: Rational(1, 4)}, 1600),
        copies=experiment(lambda key, k: k**2 * one(key), copies, {n: 4}, {k: 2}),
        mean=experiment(lambda key, n: n * one(key), mean, {n: (4, 16)}),
        variance=experiment(lambda key, n: jnp.mean(jax.random.normal(key, (n,))) ** 2, variance, {n: (4, 16)}, draws=4000),
        uniform=experiment(number, uniform, {n: 4}, {p: Rational(1, 2)}, 2000),
        reach=experiment(lambda key, g: g * jax.random.uniform(key, minval=0.9), reach, {n: 4}, {g: 1}),
        slow=experiment(lambda key, n, g: (1 + 2 * g + 1 / n) * one(key), slow, sizes, half),
        decay=experiment(lambda key, n, g: n**-g * one(key), decay, sizes, half),
        same=experiment(
            lambda key, n, g: (2 * g * g * (x := jax.random.normal(key, (n,))), x), (left, right), {n: 3}, half, 400
        ),
    ),
)  # fmt: skip
