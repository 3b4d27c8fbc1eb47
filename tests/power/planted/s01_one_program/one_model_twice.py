"""A layer against itself: wrapped, rewritten by a rule that JAX drops, or with the same weights under two names."""

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "width")
i = Index("i", "row")
left = arrays(layer="the layer", second="the layer of the second copy of the weights", dead="zero times the layer")
right = arrays(
    stopped="the layer, no gradient taken",
    again="the layer, recomputed",
    ruled="the layer with a derivative of its own",
    branch="the layer inside a branch of one case",
    filtered="the layer, compiled",
    nothing="the layer times a vector of zeros",
    summed="twice the layer and one",
)
MARGIN = Relative(1, 10**6, "rounding stays below it")


def layer(weights, x):
    return jnp.tanh(weights @ x)


@jax.custom_jvp
def ruled(weights, x):
    return layer(weights, x)


ruled.defjvp(lambda primals, tangents: (layer(*primals), layer(*tangents)))


def build(key, n):
    weights, x = jax.random.normal(key, (n, n)), jax.random.normal(jax.random.fold_in(key, 1), (n,))
    return weights, weights + 0, x


def observe(model):
    weights, copied, x = model
    out = layer(weights, x)
    return dict(
        layer=out,
        second=layer(copied, x),
        dead=0 * out,
        stopped=jax.lax.stop_gradient(layer(weights, jax.lax.stop_gradient(x))),
        again=jax.checkpoint(layer)(weights, x),
        ruled=ruled(weights, x),
        branch=jax.jit(lambda: jax.lax.optimization_barrier(layer(weights, x)))(),
        filtered=eqx.filter_jit(layer)(weights, x),
        nothing=jnp.zeros((len(x), len(x))) @ out,
        summed=2 * jax.jit(layer)(weights, x) + 1,
    )


def same(one, other):
    return Identity(one, other, under=(), margin=MARGIN)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        stopped=same(left.layer, right.stopped),
        again=same(right.again, left.layer),
        ruled=same(3 * left.layer, 3 * right.ruled),
        branch=same(left.layer + right.again, right.branch + right.stopped),
        filtered=same(left.layer, right.filtered),
        copied=same(left.layer, left.second),
        zero=Identity(left.dead, right.nothing, under=(), margin=Absolute(1, 10**6, "of order one otherwise")),
    ),
    experiments=dict(all=Experiment(observe, (left, right), {n: 3}, draws=2, subjects={"matrices": Subject(build)})),
)
