"""Softmax and Sinkhorn project exp(C), in relative entropy, onto matrices with unit rows and onto doubly stochastic ones.

**Theorem.** Let K0 = e^C for n x n scores C, and KL(K|K0) = sum_ij K_ij log(K_ij/K0_ij). Let K^1 be
softmax of C, Z_i = sum_j K0_ij, and K^inf = (u_i K0_ij v_j) the limit of Sinkhorn's algorithm. Then
K^1 minimises KL(K|K0) among all K >= 0 whose rows sum to one, and the least value is -sum_i log
Z_i. K^inf minimises it among all doubly stochastic K, and the least value is sum_i log u_i + sum_j
log v_j. For n = 2, K^inf_11 = 1/(1 + exp(-(C_11 + C_22 - C_12 - C_21)/2)).

**Idea.** For any s and K >= 0, K log(K/K0) - s K + K0 e^(s - 1) >= 0, with equality at K = K0
e^(s - 1). With s_ij = f_i + g_j and sums of one, sum_i f_i + sum_j g_j - sum_ij K0_ij
e^(f_i + g_j - 1) is a lower bound of KL. Softmax attains it with g = 0, Sinkhorn with f = 1 + log u
and g = log v. For n = 2 the matrices are [[p, 1 - p], [1 - p, p]], and KL is least at this sigmoid
p.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Subs, exp, log, sqrt, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import (
    LIMIT,
    SinkhornLayer,
    d,
    n,
    normalised,
    relative_entropy,
    scalings,
    softmax,
)

seen = arrays(
    softmax_value="KL(K^1|K^0), the last column of K^1 as what is left of the rows",
    log_rows="-sum_i log Z_i",
    softmax_room="entries of this K^1",
    sinkhorn_value="KL(K^inf|K^0), the last row and column of K^inf as what is left of the sums",
    log_scalings="the dual value at Sinkhorn's u and v",
    sinkhorn_room="entries of this K^inf",
    beside_rows="KL of another matrix with these row sums",
    beside="KL of another matrix with these row and column sums",
    beside_rows_room="entries of the former",
    beside_room="entries of the latter",
    reversed_value="KL(K^0|K^inf)",
)
two = arrays(
    first="K^inf_11",
    sigmoid="1/(1 + exp(-(C_11 + C_22 - C_12 - C_21)/2))",
    other_minimiser="(K0_11 + K0_22)/sum_ij K0_ij, where KL(K0|K) is least",
)

H = hypotheses(
    limit=LIMIT,
    own="what is projected is exp(C), C the scores that are normalised",
    rows="rows are divided by their sums",
)
close = Absolute(1, 10**9, "values are of order n log n and known to 1e-14; softmax for Sinkhorn is 1e-6 off and more")
rows = Optimum(
    seen.softmax_value, bound=seen.log_rows, feasible=seen.softmax_room >= 0, bound_by="dual_bound",
    rival=seen.beside_rows, rival_feasible=seen.beside_rows_room >= 0, under=(H.own, H.rows), margin=close,
    wrong={"the bound of doubly stochastic matrices": dict(bound=seen.log_scalings)},
)
doubly = Optimum(
    seen.sinkhorn_value, bound=seen.log_scalings, feasible=seen.sinkhorn_room >= 0, bound_by="dual_bound",
    rival=seen.beside, rival_feasible=seen.beside_room >= 0, under=(H.limit, H.own), margin=close,
    wrong={
        "rows alone": dict(bound=seen.log_rows),
        "arguments of KL reversed": dict(value=seen.reversed_value),
    },
)
pair = Identity(
    two.first, two.sigmoid, under=H.limit, content=setting.CONTENT,
    margin=Relative(1, 10**9, "the account of the rounding stays below it; the reversed divergence is 1e-4 off and more"),
    wrong={"arguments of KL reversed": two.other_minimiser},
)


class Projected(eqx.Module):
    """A layer, its tokens, a direction in which its matrices may move, and the scores that KL compares them with."""

    layer: SinkhornLayer
    X: jax.Array
    away: jax.Array
    other: jax.Array
    squared: jax.Array


def drawn(key, n, d, halves, other, squared):
    W_Q, W_K = (jax.random.normal(named(key, name), (d, d)) for name in ("queries", "keys"))
    size = 2 * jnp.sqrt((W_Q**2).sum() * (W_K**2).sum()) ** 0.5
    layer = SinkhornLayer(W_Q / size, W_K / size, -jnp.eye(d), halves)
    noise, away = (jax.random.uniform(named(key, name), (n, n), minval=-1.0) for name in ("other", "away"))
    return Projected(layer, setting.tokens(key, n, d), away / (50 * n), other * noise, squared)


def closed(K, columns):
    """K with its last column, and its last row where ``columns``, as what the sums of one leave."""
    if columns:
        K = jnp.concatenate([K[:-1], 1 - K[:-1].sum(0, keepdims=True)])
    return jnp.concatenate([K[:, :-1], 1 - K[:, :-1].sum(1, keepdims=True)], axis=1)


def dual(K_0, f, g):
    """sum_i f_i + sum_j g_j - sum_ij K0_ij e^(f_i + g_j - 1)."""
    return f.sum() + g.sum() - (K_0 * jnp.exp(f[:, None] + g[None, :] - 1)).sum()


def observe(model):
    C, halves = model.layer.scores(model.X), model.layer.halves
    K_0 = jnp.exp(C)
    u, v = scalings(K_0, halves)
    K_1, K = softmax(K_0), normalised(K_0, halves)
    # A control divides by the sums of squares.
    K_1 = K_1 + model.squared * (softmax(K_0**2) - K_1)
    K_1, K, base = closed(K_1, columns=False), closed(K, columns=True), jnp.exp(C + model.other)
    moved_rows, moved = closed(K_1 + model.away, columns=False), closed(K + model.away, columns=True)
    return dict(
        softmax_value=relative_entropy(K_1, base),
        log_rows=dual(base, 1 - jnp.log(base.sum(1)), jnp.zeros(len(C))),
        softmax_room=K_1,
        sinkhorn_value=relative_entropy(K, base),
        log_scalings=dual(base, 1 + jnp.log(u), jnp.log(v)),
        sinkhorn_room=K,
        beside_rows=relative_entropy(moved_rows, base),
        beside=relative_entropy(moved, base),
        beside_rows_room=moved_rows,
        beside_room=moved,
        reversed_value=relative_entropy(base, K),
    )


def observe_two(model):
    C, halves = model.layer.scores(model.X), model.layer.halves
    K_0, apart = jnp.exp(C), C[0, 0] + C[1, 1] - C[0, 1] - C[1, 0]
    return dict(
        first=normalised(K_0, halves)[:1, :1],
        sigmoid=1 / (1 + jnp.exp(-apart / 2)),
        other_minimiser=(K_0[0, 0] + K_0[1, 1]) / K_0.sum(),
    )


@lemma
def dual_bound():
    """One entry; the sums of one turn the sum of s K into that of f and g. The second derivative 1/K makes it a minimum."""
    K, K_0 = symbols("K K_0", positive=True)
    s = symbols("s", real=True)
    excess = K * log(K / K_0) - s * K + K_0 * exp(s - 1)
    yield Solved("where the excess is least", excess.diff(K), K, K_0 * exp(s - 1))
    yield Step("its value there", Subs(excess, K, K_0 * exp(s - 1)), 0)
    yield Step("it is strictly convex", Derivative(excess, K, 2), 1 / K)


@lemma
def two_tokens():
    """Two tokens, positive K0: the least divergence among [[p, 1 - p], [1 - p, p]], in both orders of its arguments."""
    a, b, c, e, x = symbols("a b c e x", positive=True)
    # x = p/(1 - p), so that p = x/(1 + x).
    p = x / (1 + x)
    value = p * log(p / a) + (1 - p) * log((1 - p) / b) + (1 - p) * log((1 - p) / c) + p * log(p / e)
    slope = 2 * log(x) - log(a * e / (b * c))
    yield Step("the slope in x", Derivative(value, x), slope / (1 + x) ** 2)
    yield Step("it vanishes at the sigmoid of half the scores", Subs(slope, x, sqrt(a * e / (b * c))), 0)
    backwards = -(a + e) * log(p) - (b + c) * log(1 - p)
    yield Solved("reversed, it is another p", backwards.diff(x).together(), x, (a + e) / (b + c))


whole = Subject(drawn, halves=setting.CONVERGED, other=0.0, squared=0.0)
theorem = Theorem(
    place="the definition of both attention matrices as projections",
    label="reconstructed",
    hypotheses=H,
    claims=dict(rows=rows, doubly=doubly, pair=pair),
    proofs=(dual_bound, two_tokens),
    experiments=dict(
        projections=Experiment(observe, seen, {n: (3, 5)}, at={d: 3}, draws=setting.DRAWS, subjects={
            "two weights": whole,
            "one half-step": whole(halves=1).breaking(H.limit, fails=doubly),
            "other scores in KL": whole(other=1.0).breaking(H.own, fails=(rows, doubly)),
            "softmax of twice the scores": whole(squared=1.0).breaking(H.rows, fails=rows),
        }),
        pairs=Experiment(observe_two, two, {n: 2}, at={d: 3}, draws=setting.MANY, subjects={
            "two weights, two tokens": whole,
            "one half-step, two tokens": whole(halves=1).breaking(H.limit, fails=pair),
        }),
    ),
    issues=(
        "With row constraints alone KL(K0|K) has the same minimiser, softmax; the order matters for Sinkhorn.",
        "Scores are finite. Under a causal mask the identity is the only doubly stochastic matrix, and Sinkhorn's "
        "algorithm tends to it slower than geometrically.",
    ),
)
