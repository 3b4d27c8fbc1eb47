"""Multi-head attention is a sum of expansions, one regression to each head.

**Theorem.** Let head s have projections A^s of queries and B^s of keys, its own normaliser h^s over
its keys k_j^s, multipliers beta^s, bias b^s and output matrix H^s, s = 1, ..., S. If W^s = sum_j
beta_j^s phi(k_j^s)/h_j^s, then sum_s H^s (W^s phi(A^s q)/h^s(A^s q) + b^s) = sum_s H^s Attn^s(q),
Attn^s having the values beta_j^s/h_j^s and the bias b^s. For A^s = B^s, any W^s, b^s and feasible
dual multipliers, and the gap g^s of the values of head s, the squared difference of both sums is at
most S sum_s |H^s|^2 2 g^s |phi(A^s q)|^2/h^s(A^s q)^2. With softmax heads the layer equals
equinox.nn.MultiheadAttention with these projections and values, at heads of width four.

**Idea.** The output is linear in the outputs of the heads, and each head is the expansion of its
regression, whether or not the projections of queries and keys agree. The gap bounds the error of
each W^s, and the square of a sum of S terms is at most S times the sum of their squares.
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
from theorax.numerics.kernel_attention import KernelAttention, Regression, Softmax
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._attention_layers import MultiHead, equinox_multihead
from theorax.theorems.primal_dual_attention._kernel_regression import FittedHeads
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, TAYLOR, C, D, N, eps

S = Size("S", "number of heads")
WIDTH = 4  # of a head: its root, which that module rounds, is exact

trained = arrays(
    solved="the sum with W^s and b^s as the primal programs find them",
    expanded="the layer with the values of the dual programs and these b^s",
    reach="S times the sum of |H^s|^2 2 g^s |phi(A^s q)|^2/h^s(A^s q)^2",
)
seen = arrays(
    sums="sum_s H^s (W^s phi(A^s q)/h^s(A^s q) + b^s), W^s by the multipliers",
    layer="sum_s H^s Attn^s(q) with the values beta_j^s/h_j^s",
    shared="the layer with the normaliser of the first head in every head",
    unweighted="the layer with the values beta_j^s",
    crossed="the layer with the H of the next head",
    softmax="the layer with softmax heads",
    equinox="equinox.nn.MultiheadAttention with these projections and values",
)

exact = Relative(1, 10**9, "the account of the rounding stays below it; heads are of the order of the output")
H = hypotheses(
    own="every head has the normaliser of its own keys",
    stationary="every W is stationary: W^s = sum_j beta_j^s phi(k_j^s)/h_j^s",
)
expansion = Identity(
    seen.sums, seen.layer, margin=exact,
    wrong={
        "one h shared by the heads": seen.shared, "values beta_j": seen.unweighted,
        "the mean over the heads": seen.layer / S, "outputs of another head": seen.crossed,
    },
)
# The gap pays for what every W is off, stationary or not.
agree = Inequality((trained.solved - trained.expanded) ** 2, at_most=trained.reach, under=H.own)
is_multihead = Identity(seen.softmax, seen.equinox, under=(), margin=exact)


class Heads(eqx.Module):
    """Tokens, and projections, multipliers and biases of the heads."""

    tokens: Entries[Any, "N D"]
    queries: Entries[Any, "Q D"]
    of_queries: tuple[Entries[Any, "k D"], ...]
    of_keys: tuple[Entries[Any, "k D"], ...]
    outputs: tuple[Entries[Any, "O V"], ...]
    beta: tuple[Entries[Any, "N V"], ...]
    b: tuple[Entries[Any, " V"], ...]
    kind: int = eqx.field(static=True)
    own: Any  # normalisers, at the queries
    excess: Any  # what is added to every W

    @property
    def keys(self):
        return [self.tokens @ A.T for A in self.of_keys]


def build(key, S, N, D, kind, separate, own, excess):
    """``separate``: the keys have projections of their own."""
    tokens, queries, _ = setting.points(key, N, D)
    draw = partial(setting.each, key, S.padded)
    A, B, H = draw("A", WIDTH, D.padded), draw("B", WIDTH, D.padded), draw("H", D.padded, setting.OUTPUTS)
    beta, b = draw("beta", N.padded, setting.OUTPUTS), draw("b", setting.OUTPUTS)
    return Heads(tokens, queries, A, B if separate else A, H, beta, b, int(kind), own, excess)


def compare(model):
    """The sum of regressions, the layer, and its rivals; every W by the multipliers of its head."""
    phi, at, rival, regressions = FEATURES[model.kind], [], [], []
    for keys, beta, b in zip(model.keys, model.beta, model.b, strict=True):
        h = phi.kernel(keys, keys).sum(1, keepdims=True)
        W = (beta / h).T @ phi(keys) + model.excess
        normaliser = jnp.where(jnp.asarray(model.own) == 1, keys, model.keys[0])
        regressions.append(Regression(phi, normaliser, W, b))
        at.append(KernelAttention(phi, keys, beta / h, b))
        rival.append(KernelAttention(phi, keys, beta, b))
    foreign = [Regression(phi, model.keys[0], a.values.T @ phi(a.keys), a.bias) for a in at]
    rolled = (*model.outputs[1:], model.outputs[0])
    total = lambda heads, H: MultiHead(model.of_queries, tuple(heads), H)(model.queries)
    return dict(
        sums=total(regressions, model.outputs), layer=total(at, model.outputs), shared=total(foreign, model.outputs),
        unweighted=total(rival, model.outputs), crossed=total(at, rolled),
    )


def by_softmax(model):
    """The layer with softmax heads, and the module that everybody uses."""
    parts = zip(model.keys, model.beta, model.b, strict=True)
    layer = MultiHead(model.of_queries, tuple(KernelAttention(Softmax(), *part) for part in parts), model.outputs)
    module = equinox_multihead(layer, model.of_keys, model.tokens, model.queries)
    return dict(softmax=layer(model.queries), equinox=module)


def observe(model):
    return compare(model) | by_softmax(model)


class SolvedHeads(eqx.Module):
    """Regressions solved for all heads, and whether each is divided by the normaliser of its own keys."""

    heads: FittedHeads
    own: bool = eqx.field(static=True)


def fit(key, S, N, D, C, eps, kind, own):
    model = build(key, S, N, D, kind, False, True, 0.0)
    fitted = tuple(
        setting.fit(FEATURES[int(kind)], keys, model.queries @ A.T, 4 * beta, C, eps)
        for keys, A, beta in zip(model.keys, model.of_queries, model.beta, strict=True)
    )
    return SolvedHeads(FittedHeads(fitted, model.queries, model.of_queries, model.outputs), bool(own))


def optima(model, C, eps):
    heads, q = model.heads, model.heads.queries
    parts = tuple(one.regression for one in heads.fitted)
    foreign = tuple(replace(part, keys=parts[0].keys) for part in parts)
    solved = heads.regressions if model.own else MultiHead(heads.projections, foreign, heads.outputs)
    return dict(solved=solved(q), expanded=heads.layers(C)(q), reach=heads.reach(C, eps))


def symbols_of_heads(name, *shape):
    return tuple(setting.generic(f"{name}{s}", *shape) for s in range(2))


@settles(expansion)
def two_heads():
    """Two heads on two tokens and a query, two features of any values in each, one output, any multipliers."""
    g, each = setting.generic, symbols_of_heads
    A, H = tuple(np.eye(4)[s : s + 2] for s in (0, 2)), each("H", 1, 1)  # every head has coordinates of its own
    model = Heads(g("x", 2, 4), g("q", 1, 4), A, A, H, each("beta", 2, 1), each("b", 1), PLAIN, 1, 0)
    yield Instance(expansion, "two heads", compare, model)


@settles(is_multihead)
def softmax_heads():
    """Two heads of width four on two tokens and a query of dimension one, one output, any projections and multipliers."""
    g, each = setting.generic, symbols_of_heads
    A, B, H = each("A", WIDTH, 1), each("B", WIDTH, 1), each("H", 1, 1)
    model = Heads(g("x", 2, 1), g("q", 1, 1), A, B, H, each("beta", 2, 1), each("b", 1), PLAIN, 1, 0)
    yield Instance(is_multihead, "two heads", by_softmax, model)


heads = Subject(build, kind=LINEAR, separate=False, own=True, excess=0.0)
regressions = Subject(fit, kind=LINEAR, own=True)
NUMBERS: dict[Size, Efforts[tuple[int, ...]]] = {S: Efforts((3,), (2, 3), (2, 3, 5))}
theorem = Theorem(
    place="multi-head attention as a sum of support vector regressions",
    label="reconstructed",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=H,
    claims=dict(expansion=expansion, agree=agree, is_multihead=is_multihead),
    proofs=(two_heads, setting.every_set, softmax_heads),
    experiments=dict(
        heads=Experiment(observe, seen, NUMBERS, at={N: 8, D: 6}, draws=setting.DRAWS, padded=True, subjects={
            "linear attention": heads,
            "Taylor features": heads(kind=TAYLOR),
            "keys with projections of their own": heads(separate=True),
            "one h shared by the heads": heads(own=False).breaking(H.own, fails=expansion),
            "every W a tenth off": heads(excess=0.1).breaking(H.stationary, fails=expansion),
        }),
        solved=Experiment(optima, trained, NUMBERS, at={N: 8, D: 6, C: 30, eps: Rational(1, 10)}, draws=Efforts(1, 4, 12),
                          padded=True, subjects={
            "linear attention": regressions,
            "Taylor features": regressions(kind=TAYLOR),
            "one h shared by the heads": regressions(own=False).breaking(H.own, fails=agree),
        }),
    ),
    issues=(
        "The heads share their tokens and nothing else: no program couples them, and the targets of each are a choice.",
        "If keys have projections of their own, the regression is fitted in their space and evaluated at projected "
        "queries. It is still a regression, but not one on x.",
    ),
)
