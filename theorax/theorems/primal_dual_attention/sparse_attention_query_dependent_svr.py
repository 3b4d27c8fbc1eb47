"""Sparse attention expands a regression of its own for each set of keys that a query may read.

**Theorem.** Let each query q read a set M of keys that depends on its place only, let h be summed
over M, and let beta and b belong to a regression on M. Then W = sum_(j in M) beta_j phi(k_j)/h_j
gives W phi(q)/h(q) + b = sum_(j in M) k(q, k_j) v_j/h(q) + b with v_j = beta_j/h_j: the masked
layer. For any W, b and feasible dual multipliers of the regression on M, with gap g between their
values, the squared difference of W phi(q)/h(q) + b and the masked layer with the values beta_j/h_j
is at most 2 g |phi(q)|^2/h(q)^2.

**Idea.** This is the expansion of the main theorem on the data of M alone. Both beta and h_j depend
on M, so the values are not those of the regression on all keys restricted to M. The gap bounds
|W - sum_j beta_j phi(k_j)/h_j|^2/2.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from sympy import Rational

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Regression, feature_rows
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._attention_layers import by_sets, halves, two_sets
from theorax.theorems.primal_dual_attention._kernel_regression import Fitted
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, SIZES, TAYLOR, C, D, eps

seen = arrays(
    sums="W phi(q)/h(q) + b, a W for each set, by multipliers",
    masked="the masked layer with the values beta_j/h_j of each set",
    everywhere="the masked layer with the values beta_j/h_j, h_j summed over all keys",
    unmasked="the layer with these values and no mask",
)
trained = arrays(
    solved="W phi(q)/h(q) + b as the primal program of the set of each query finds them",
    expanded="the masked layer with values of the dual programs",
    reach="2 |phi(q)|^2/h(q)^2 times the difference of the primal and the dual value",
)

exact = Relative(1, 10**9, "the account of the rounding stays below it; a key more or less moves a tenth")
H = hypotheses(
    normaliser="h is summed over the keys that the query may read",
    own="the values are those of the regression on these keys",
)
expansion = Identity(
    seen.sums, seen.masked, under=H.normaliser, margin=exact,
    wrong={"h over all keys in the values": seen.everywhere, "no mask": seen.unmasked},
)
agree = Inequality((trained.solved - trained.expanded) ** 2, at_most=trained.reach, under=H.own)


class Sparse(eqx.Module):
    """Keys, queries, and multipliers for each of two sets; the first half of the queries reads the first set."""

    keys: Entries[Any, "N D"]
    queries: Entries[Any, "Q D"]
    beta: tuple[Entries[Any, "_ v"], ...]
    b: Entries[Any, " v"]
    kind: int = eqx.field(static=True)
    local: bool = eqx.field(static=True, default=True)  # whether h is summed over the set alone


def compare(model):
    """A regression for each set beside the layers."""
    phi, keys, b = FEATURES[model.kind], model.keys, model.b
    regressions, values, others = [], [], []
    for queries, chosen, beta in zip(halves(model.queries), two_sets(len(keys)), model.beta, strict=True):
        mine = keys[chosen]
        summed = mine if model.local else keys
        values.append(beta / phi.kernel(mine, mine).sum(1, keepdims=True))
        others.append(beta / phi.kernel(mine, keys).sum(1, keepdims=True))
        regressions.append(Regression(phi, summed, beta.T @ feature_rows(phi, summed, mine), b)(queries))
    return dict(
        sums=jnp.concatenate(regressions),
        masked=by_sets(phi, keys, values, (b, b), model.queries),
        everywhere=by_sets(phi, keys, others, (b, b), model.queries),
        unmasked=by_sets(phi, keys, values, (b, b), model.queries, masks=False),
    )


def build(key, N, D, kind, local):
    keys, queries, beta = setting.points(key, N, D)
    return Sparse(keys, queries, tuple(beta[chosen] for chosen in two_sets(len(keys))), beta[0], int(kind), bool(local))


class SolvedRegressions(eqx.Module):
    """The regressions on the two sets, and values that the layer is given in the place of theirs, if any."""

    keys: Array
    queries: Array
    fitted: tuple[Fitted, ...]
    instead: tuple[Array, ...] | None


def solve(key, N, D, C, eps, kind, bias, shared):
    """``shared``: the layer is given the values of the regression on all keys."""
    phi, (keys, queries, targets) = FEATURES[int(kind)], setting.points(key, N, D)
    fitted = tuple(
        setting.fit(phi, keys[chosen], block, targets[chosen], C, eps, bias)
        for block, chosen in zip(halves(queries), two_sets(len(keys)), strict=True)
    )
    if not shared:
        return SolvedRegressions(keys, queries, fitted, None)
    full = setting.fit(phi, keys, queries, targets, C, eps, bias).attention.values
    return SolvedRegressions(keys, queries, fitted, tuple(full[chosen] for chosen in two_sets(len(keys))))


def optima(model, C, eps):
    regressions, layers = [one.regression for one in model.fitted], [one.layer(C) for one in model.fitted]
    values = [layer.values for layer in layers] if model.instead is None else model.instead
    phi, biases = regressions[0].features, [layer.bias for layer in layers]
    return dict(
        solved=jnp.concatenate([f(block) for f, block in zip(regressions, halves(model.queries), strict=True)]),
        expanded=by_sets(phi, model.keys, values, biases, model.queries),
        reach=jnp.concatenate([one.reach(C, eps) for one in model.fitted]),
    )


@settles(expansion)
def of_two_sets():
    """Three keys, two sets of two, a query of each; two features of any values, one output, any multipliers."""
    g = setting.generic
    model = Sparse(g("phi", 3, 2), g("q", 2, 2), (g("beta", 2, 1), g("gamma", 2, 1)), g("b", 1), PLAIN)
    yield Instance(expansion, "two sets of two keys", compare, model)


layers = Subject(build, kind=LINEAR, local=True)
regressions = Subject(solve, kind=TAYLOR, bias=True, shared=False)
theorem = Theorem(
    place="sparse attention as regressions on subsets (reconstructed; that their values are no restrictions: derived)",
    label="reconstructed",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=H,
    claims=dict(expansion=expansion, agree=agree),
    proofs=(of_two_sets, setting.every_set),
    experiments=dict(
        layers=Experiment(compare, seen, SIZES, at={D: 2}, draws=setting.DRAWS, padded=True, subjects={
            "linear attention": layers,
            "Taylor features": layers(kind=TAYLOR),
            "h over all keys": layers(local=False).breaking(H.normaliser, fails=expansion),
        }),
        solved=Experiment(optima, trained, SIZES, at={D: 2, C: 30, eps: Rational(1, 10)}, draws=setting.DRAWS, padded=True,
                          subjects={
            "linear attention": regressions(kind=LINEAR),
            "Taylor features": regressions,
            "Taylor features, no bias": regressions(bias=False),
            "the values of the regression on all keys": regressions(shared=True).breaking(H.own, fails=agree),
        }),
    ),
    issues=(
        "Values that all queries share are the subject of sparse_attention_shared_values.",
        "Sets that depend on the query's content make the regression depend on it too; here they depend on its place.",
    ),
)
