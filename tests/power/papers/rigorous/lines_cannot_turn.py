"""Increasing residual layers on the line cannot turn it round; in the plane they can.

A composition of increasing maps is increasing, and the increasing map nearest to -x on a symmetric grid is the constant
zero: its mean squared distance is the mean square of the grid, 11/30 on 21 points of [-1, 1]. In the plane eight
rotations by 22.5 degrees turn x into -x, each a residual layer of Lipschitz constant below one.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational, Sum, Symbol

from theorax.language import (
    Experiment,
    Hypothesis,
    Impossibility,
    Measured,
    Size,
    Step,
    Subject,
    Theorem,
    hypotheses,
    lemma,
)

DEPTH, STEPS, RATE, LIPSCHITZ = 8, 1500, 0.05, 0.95
L = Size("L", "number of residual layers")
distance = Measured("distance", "mean squared distance to -x on the grid after training")
planted = Measured("planted", "the same to the outputs of a random member")
started = Measured("started", "the same before the search")
k = Symbol("k", integer=True)
BOUND = Rational(11, 30)


class Residual(eqx.Module):
    """x + U tanh(W x + b), the product of the norms of U and W below ``LIPSCHITZ``: invertible, on a line increasing."""

    outer: jax.Array
    inner: jax.Array
    shift: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        size = jnp.sqrt((1 + jnp.sum(self.outer**2)) * (1 + jnp.sum(self.inner**2)))
        return x + LIPSCHITZ / size * self.outer @ jnp.tanh(self.inner @ x + self.shift)


class Network(eqx.Module):
    """Residual layers in a space whose first coordinate is read."""

    layers: Residual

    def __call__(self, x: jax.Array) -> jax.Array:
        width = self.layers.shift.shape[1]
        start = jnp.concatenate([x[None], jnp.zeros(width - 1)])
        return jax.lax.scan(lambda h, layer: (layer(h), None), start, self.layers)[0][0]


def member(key: Any, width: int, scale: float) -> Network:
    keys = jax.random.split(key, 3)
    outer, inner = (scale * jax.random.normal(part, (DEPTH, width, width)) for part in keys[:2])
    return Network(Residual(outer, inner, scale * jax.random.normal(keys[2], (DEPTH, width))))


def grid() -> jax.Array:
    return jnp.arange(-10, 11) / 10.0


def loss(network: Network, target: jax.Array) -> jax.Array:
    return jnp.mean((jax.vmap(network)(grid()) - target) ** 2)


def trained(network: Network, target: jax.Array) -> Network:
    """Adam with a rate that falls to zero: the same optimiser and budget for every target; the best network met."""
    flat, structure = jax.tree_util.tree_flatten(network)

    def step(carry: Any, turn: jax.Array) -> Any:
        here, first, second, best, lowest = carry
        value, slopes = jax.value_and_grad(lambda p: loss(jax.tree_util.tree_unflatten(structure, p), target))(here)
        better = value < lowest
        best = [jnp.where(better, p, q) for p, q in zip(here, best, strict=True)]
        first = [0.9 * m + 0.1 * g for m, g in zip(first, slopes, strict=True)]
        second = [0.999 * v + 0.001 * g**2 for v, g in zip(second, slopes, strict=True)]
        rate = RATE * 0.5 * (1 + jnp.cos(jnp.pi * turn / STEPS))
        unbiased = zip(here, first, second, strict=True)
        here = [
            p - rate * (m / (1 - 0.9 ** (turn + 1))) / (jnp.sqrt(v / (1 - 0.999 ** (turn + 1))) + 1e-10)
            for p, m, v in unbiased
        ]
        return (here, first, second, best, jnp.minimum(value, lowest)), None

    zeros = [jnp.zeros_like(p) for p in flat]
    start = (flat, zeros, zeros, flat, jnp.inf)
    (_, _, _, best, _), _ = jax.lax.scan(step, start, jnp.arange(STEPS))
    return jax.tree_util.tree_unflatten(structure, best)


def of_width(width: int):
    def build(key, L):
        start, other, again = jax.random.split(key, 3)
        hidden = jax.vmap(member(other, width, 1.0))(grid())
        first = member(again, width, 0.5)
        return trained(member(start, width, 0.5), -grid()), trained(first, hidden), first, hidden

    return build


def observe(model):
    network, found, first, hidden = model
    return dict(distance=loss(network, -grid()), planted=loss(found, hidden), started=loss(first, hidden))


@lemma("grid")
def mean_square_of_the_grid():
    """The grid of 21 points."""
    yield Step("the constant zero has this distance", Sum((k / 10) ** 2, (k, -10, 10)) / 21, BOUND)


H = hypotheses(
    line="the layers act on the line",
    never=Hypothesis("the distance is negative", holds=distance < 0, unbroken="nothing satisfies it"),
)


def impossible(**changed):
    parts = dict(
        distance=distance, at_least=Rational(11, 30), planted=planted, started=started, tol=Rational(1, 1000), on="line",
        obstruction="increasing maps compose to increasing maps, and -x decreases",
    )  # fmt: skip
    return Impossibility(**{**parts, **changed})


true = impossible(under=H.line)
theorem = Theorem(
    place="METHOD, section 4.8",
    label="derived",
    hypotheses=H,
    claims=dict(
        true=true,
        false=impossible(under=H.line, at_least=Rational(11, 20)),
        blind=impossible(under=H.line, tol=Rational(1, 10**30)),
        vacuous=impossible(),
    ),
    experiments=dict(
        line=Experiment(
            padded=True,
            subjects={
                "line": Subject(of_width(1)),
                "plane": Subject(of_width(2)).breaking(H.line, fails=true),
            },
            observe=observe,
            measures=(distance, planted, started),
            sweep={L: (DEPTH,)},
            draws=29,
        )
    ),
    proofs=(mean_square_of_the_grid,),
)
