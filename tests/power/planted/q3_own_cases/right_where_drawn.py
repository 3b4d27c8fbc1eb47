"""Formulas that agree with the truth at every value and size of their author, and nowhere else."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "number of values that are averaged")
a = Parameter("a", "slope", nonnegative=True)
g = Parameter("g", "ratio", positive=True)
p = Parameter("p", "threshold", positive=True)
k = Parameter("k", "copies", integer=True, positive=True)
near = Relative(1, 20, "another dependence is further away")
fifth = Rational(1, 5)

leak = Measured("leak", "mean square of a leaky ReLU of slope a over that of its argument", positive=True)
ratio = Measured("ratio", "(1 + 2 g) times a number of mean one", positive=True)
event = Measured("event", "a uniform number")
reach = Measured("reach", "g times a number below one", positive=True)
copies = Measured("copies", "k^2 times a number of mean one", positive=True)
size = Measured("size", "the square of n, times a number of mean one", positive=True)
slow = Measured("slow", "1 + 2 g + 1/n times a number of mean one", positive=True)
decay = Measured("decay", "n^-(g + 1/2), times a number of mean one", positive=True)
left = Measured("left", "entries times g", array=True)
right = Measured("right", "the same entries", array=True)

kept = Expectation(leak, (1 + a) / 2, margin=near, spread=Rational(1, 2))
constant = Expectation(ratio, 4 * g, margin=near, spread=fifth)
likely = Probability(event <= p, at_least=Rational(1, 2), margin=Absolute(1, 10, "a tenth"))
bounded = Inequality(reach, at_most=g**2)
doubled = Expectation(copies, 2 * k, margin=near, spread=fifth)
linear = Expectation(size, 20 * n - 64, margin=near, spread=fifth)
in_powers = Expansion(powers=(1,), rest=0.1, order=2, reference=16, reason="1/n exactly")
exactly = Corrections(size=0.01, slowest=1, rest=0, reference=16, reason="a power of n exactly")
tends = Limit(slow, 4 * g, as_=n, margin=Relative(1, 10, "1 is far"), spread=fifth, approach=in_powers)
falls = Rate(
    decay, n ** (-2 * g), as_=n, margin=Absolute(1, 5, "a half is two fifths away"), spread=fifth, approach=exactly
)
same = Identity(left, 2 * g**2 * right, margin=Absolute(1, 10**9, "rounding"))


def one(key):
    return jax.random.uniform(key, minval=0.8, maxval=1.2)


def number(key):
    return jax.random.uniform(key)


def experiment(build, measured, sweep, at=None, draws=400, seeds="independent"):
    name = measured.name if isinstance(measured, Measured) else None
    observe = (lambda value: {name: value}) if name else (lambda pair: dict(left=pair[0], right=pair[1]))
    return Experiment(
        observe, measured, sweep, at=at or {}, draws=draws, subjects={"drawn": Subject(build)}, seeds=seeds
    )


def leaky(key, a):
    z = jax.random.normal(key, (64,))
    return jnp.mean(jax.nn.leaky_relu(z, a) ** 2)


half = {g: Rational(1, 2)}
theorem = Theorem(
    claims=dict(
        kept=kept, constant=constant, likely=likely, bounded=bounded, doubled=doubled, linear=linear, tends=tends,
        falls=falls, same=same,
    ),
    experiments=dict(
        leaks=experiment(leaky, leak, {n: 64}, ({a: 0}, {a: 1}), 2000),
        ratios=experiment(lambda key, g: (1 + 2 * g) * one(key), ratio, {n: 4}, half),
        events=experiment(number, event, {n: 4}, {p: Rational(1, 2)}, 2000),
        reaches=experiment(lambda key, g: g * jax.random.uniform(key, minval=0.9), reach, {n: 4}, {g: 1}),
        copied=experiment(lambda key, k: k**2 * one(key), copies, {n: 4}, {k: 2}),
        sized=experiment(lambda key, n: n**2 * one(key), size, {n: (4, 16)}),
        slowly=experiment(lambda key, n, g: (1 + 2 * g + 1 / n) * one(key), slow, {n: (16, 32, 64, 128)}, half),
        decays=experiment(lambda key, n, g: n ** -(g + 0.5) * one(key), decay, {n: (16, 32, 64, 128)}, half),
        arrays=experiment(
            lambda key, n, g: (g * (x := jax.random.normal(key, (n,))), x), (left, right), {n: 3}, half, 400
        ),
    ),
)  # fmt: skip
