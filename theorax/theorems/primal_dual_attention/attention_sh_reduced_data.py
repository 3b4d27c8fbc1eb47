"""Attention-SH: each head expands a regression on fewer data, exactly, and costs as many scores as it has keys.

**Theorem.** Let head s have the keys R^s X (A^s)^T, multipliers beta^s, and h^s summed over these
keys. Then Attention-SH with values beta_j^s/h_j^s is sum_s H^s (W^s phi/h^s + b^s), W^s = sum_j
beta_j^s phi(k_j^s)/h_j^s. If R^1, R^2 take every second and every fourth key, it is sparse
attention to these keys; if 4 divides N it computes N/2 + N/4 scores for each query. For two heads,
any W^s, b^s and feasible dual multipliers, and the gap g^s of their values, the squared difference
of regressions and layer is at most 2 sum_s |H^s|^2 2 g^s |phi|^2/(h^s)^2. For the mean m of two
keys k, l, exp(q.m/sqrt(D)) is the geometric mean of exp(q.k/sqrt(D)) and exp(q.l/sqrt(D)), and at
most their arithmetic mean.

**Idea.** Every head is the expansion of a regression on its reduced data. A stride leaves keys out,
which is a mask that all queries share. Averages of keys are new keys: phi of a mean is not the mean
of phi. The leading factor 2 is the number of heads.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sympy import Rational

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Regression, Softmax, feature_rows
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._attention_layers import (
    CONVOLUTION,
    POOL,
    STRIDE,
    AttentionSH,
    MultiHead,
    reduction,
)
from theorax.theorems.primal_dual_attention._kernel_regression import FittedHeads
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, TAYLOR, C, D, N, eps

FACTORS, WIDTH = (2, 4), 2  # of the heads

trained = arrays(
    solved="sum_s H^s (W^s phi/h^s + b^s) as primal programs on reduced data find them",
    expanded="Attention-SH with the values of the dual programs and these b^s",
    reach="twice the sum of |H^s|^2 2 g^s |phi|^2/h^s^2, g^s the gap of head s",
)
seen = arrays(
    sums="sum_s H^s (W^s phi/h^s + b^s), W^s by multipliers on reduced keys",
    layer="Attention-SH with the values beta_j^s/h_j^s",
    unweighted="the same with the values beta_j^s",
    foreign="the same with values beta_j^s/h_j^s, h^s summed over all keys",
    subset="the heads as sparse attention to every second and every fourth key",
    pooled="exp(q.m/sqrt(D)) at the means m of two neighbouring keys",
    geometric="geometric means of exp(q.k/sqrt(D)) over two neighbouring keys",
    arithmetic="arithmetic means of them",
    scores="how many scores the layer computes",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; the nearest wrong layer is a tenth off")
H = hypotheses(
    reduced="h is summed over the reduced keys", stride="every reduced key is a key: the reduction is a stride",
)
expansion = Identity(
    seen.sums, seen.layer, under=H.reduced, margin=exact,
    wrong={"values beta_j": seen.unweighted, "h over all keys in the values": seen.foreign},
)
sparse = Identity(seen.layer, seen.subset, under=H.stride, margin=exact)
agree = Inequality((trained.solved - trained.expanded) ** 2, at_most=trained.reach, under=())
means = Identity(seen.pooled, seen.geometric, under=(), margin=exact, wrong={"the mean of phi": seen.arithmetic})
below = Inequality(seen.pooled, at_most=seen.arithmetic, under=())
cost = Identity(
    seen.scores, setting.QUERIES * N * sum(Rational(1, factor) for factor in FACTORS), under=(), margin=exact,
    wrong={"all keys in both heads": len(FACTORS) * setting.QUERIES * N},
)


class Reduced(eqx.Module):
    """A layer with values by multipliers; ``every``: whether the regressions sum h over all keys."""

    layer: AttentionSH
    queries: Entries[Any, "Q D"]
    beta: tuple[Entries[Any, "_ V"], ...]
    every: bool = eqx.field(static=True)


def build(key, N, D, kind, reduced, every):
    tokens, queries, _ = setting.points(key, N, D)
    draw = partial(setting.each, key, len(FACTORS))
    taps = draw("taps", max(FACTORS) + 1)
    sets = [reduction(int(reduced), N.padded, factor, t[: factor + 1]) for factor, t in zip(FACTORS, taps, strict=True)]
    beta = tuple(b[: len(R)] for b, R in zip(draw("beta", N.padded, setting.OUTPUTS), sets, strict=True))
    A, H, b = draw("A", WIDTH, D.padded), draw("H", D.padded, setting.OUTPUTS), draw("b", setting.OUTPUTS)
    return Reduced(AttentionSH(FEATURES[int(kind)], tokens, A, tuple(sets), beta, b, H), queries, beta, bool(every))


def values(model, everywhere=False):
    """beta_j^s/h_j^s of each head, h^s summed over its reduced keys, or over all keys."""
    sh, kernel = model.layer, model.layer.kernel.kernel
    summed = [sh.tokens @ A.T for A in sh.projections] if everywhere else sh.keys
    sums = [kernel(keys, others).sum(1, keepdims=True) for keys, others in zip(sh.keys, summed, strict=True)]
    return tuple(beta / h for beta, h in zip(model.beta, sums, strict=True))


def compare(model):
    """The sum of regressions on reduced keys, and the layer with its rivals."""
    sh, phi, heads = model.layer, model.layer.kernel, []
    for keys, A, beta, b in zip(sh.keys, sh.projections, model.beta, sh.biases, strict=True):
        summed = sh.tokens @ A.T if model.every else keys
        heads.append(Regression(phi, summed, beta.T @ feature_rows(phi, summed, keys), b))
    layer = lambda values: replace(sh, values=values)(model.queries)
    return dict(
        sums=MultiHead(sh.projections, tuple(heads), sh.outputs)(model.queries), layer=layer(values(model)),
        unweighted=layer(model.beta), foreign=layer(values(model, everywhere=True)),
    )


def strided(model):
    """The same values in sparse attention, which leaves keys out."""
    sparse = replace(model.layer, values=values(model)).masked(FACTORS, len(model.queries))
    return dict(subset=sparse(model.queries))


def neighbours(keys, queries):
    """The exponential kernel at the means of two neighbouring keys, and the means of its values."""
    kernel = Softmax().kernel
    one, two = (kernel(queries, keys[start::2]) for start in (0, 1))
    middle = kernel(queries, (keys[::2] + keys[1::2]) / 2)
    return dict(pooled=middle, geometric=jnp.sqrt(one) * jnp.sqrt(two), arithmetic=(one + two) / 2)


def observe(model):
    sh, q = model.layer, model.queries
    counts = [head.weights(q @ A.T).size for head, A in zip(sh.heads.heads, sh.projections, strict=True)]
    scores = dict(scores=jnp.asarray(float(sum(counts))))
    return compare(model) | strided(model) | neighbours(sh.tokens, q) | scores


def solve(key, N, D, C, eps, kind, reduced):
    sh, (_, queries, targets) = build(key, N, D, kind, reduced, False).layer, setting.points(key, N, D)
    heads = zip(sh.keys, sh.projections, sh.reductions, strict=True)
    fitted = tuple(setting.fit(sh.kernel, keys, queries @ A.T, R @ targets, C, eps) for keys, A, R in heads)
    return sh, FittedHeads(fitted, queries, sh.projections, sh.outputs)


def optima(model, C, eps):
    sh, fitted = model
    found, biases = zip(*((layer.values, layer.bias) for layer in fitted.layers(C).heads), strict=True)
    expanded = replace(sh, values=found, biases=biases)(fitted.queries)
    return dict(solved=fitted.regressions(fitted.queries), expanded=expanded, reach=fitted.reach(C, eps))


def on_symbols(tokens, reductions):
    """So many tokens, a head for each reduction by its name, a query; two features of any values, one output."""
    g, R = setting.generic, tuple(reductions.values())
    beta = tuple(g(f"beta{s}", len(rows), 1) for s, rows in reductions.items())
    b, H = (tuple(g(f"{name}{s}", *shape) for s in reductions) for name, shape in (("b", (1,)), ("H", (1, 1))))
    sh = AttentionSH(FEATURES[PLAIN], g("x", tokens, 2), tuple(np.eye(2) for _ in R), R, beta, b, H)
    return (Reduced(sh, g("q", 1, 2), beta, False),)


@settles(expansion)
def one_head():
    """Any two reduced keys, kept of three tokens, and a query; two features of any values, one output, any multipliers."""
    yield Instance(expansion, "two of three keys", compare, *on_symbols(3, {"": np.eye(3)[::2]}))


@settles(sparse)
def strides():
    """Four tokens, a query, every second token in one head and every fourth in the other; two features of any values."""
    given = on_symbols(4, {s: reduction(STRIDE, 4, factor) for s, factor in enumerate(FACTORS)})
    yield Instance(sparse, "four tokens", observe, *given)


@settles(means)
def two_keys():
    """Any two keys and a query in two dimensions."""
    yield Instance(means, "two keys", neighbours, setting.generic("k", 2, 2), setting.generic("q", 1, 2))


layers = Subject(build, kind=LINEAR, reduced=STRIDE, every=False)
regressions = Subject(solve, kind=LINEAR, reduced=STRIDE)
theorem = Theorem(
    place="Attention-SH (reconstructed definition; the remarks on strides and pooled keys: derived)",
    label="reconstructed",
    uses=("multihead_sum_of_svrs", "sparse_attention_query_dependent_svr"),
    hypotheses=H,
    claims=dict(expansion=expansion, sparse=sparse, agree=agree, means=means, below=below, cost=cost),
    proofs=(one_head, setting.every_set, strides, two_keys),
    experiments=dict(
        layers=Experiment(observe, seen, setting.SIZES, at={D: 4}, draws=setting.DRAWS, padded=True, subjects={
            "stride": layers,
            "stride, Taylor features": layers(kind=TAYLOR),
            "average pooling": layers(reduced=POOL).breaking(H.stride, fails=sparse),
            "convolution": layers(reduced=CONVOLUTION).breaking(H.stride, fails=sparse),
            "h over all keys": layers(reduced=POOL, every=True).breaking(H.reduced, H.stride, fails=expansion),
        }),
        solved=Experiment(optima, trained, setting.SIZES, at={D: 4, C: 30, eps: Rational(1, 10)}, draws=Efforts(1, 3, 12),
                          padded=True, subjects={
            "stride": regressions,
            "average pooling": regressions(kind=TAYLOR, reduced=POOL),
            "convolution": regressions(reduced=CONVOLUTION),
        }),
    ),
    issues=(
        "The scores are counted, not timed: N_s a query and head for N; what reducing costs itself is linear in N.",
        "Which reductions the paper's experiments use was not read; accuracy after reducing is no matter of this theorem.",
    ),
)
