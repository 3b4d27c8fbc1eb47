"""Linear attention is the expansion of a regression with as many features as dimensions, which do not tell the values.

**Theorem.** Let h_j = phi(k_j).sum_l phi(k_l) and v_j = beta_j/h_j. Then W = sum_j beta_j
phi(k_j)/h_j gives W phi(q)/h(q) + b = linear attention with the values V and bias b. If sum_j dv_j
phi(k_j) = 0, then V and V + dV give the same function, and sum_j h_j dv_j = 0. Let y = G beta + eps
sign(beta), without bias, and let multipliers of v_j + t dv_j lie in [0, C] with the signs of beta.
They have the dual value that W has in the primal program, so all such values are optimal. With more
keys than features such a dV exists: in every instance drawn, the projection of a Gaussian matrix on
these dV has an entry with dv_j^2 >= 1/100. If phi > 0, as for phi(x) = elu(x) + 1, every output is
at most max_j v_j + b.

**Idea.** W is the state of linear attention, and it determines the function. The values enter
through W alone, so moves in the null space of the features are not seen. At targets in general
position one V is optimal (linear_attention_free_support_vectors).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational, transpose

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Features, KernelAttention, Regression
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._quadratic import Primal, lower_bound, null_part, upper_bound
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, SIZES, C, D, eps
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

seen = arrays(
    state="W phi(q)/h(q) + b with W = sum_j beta_j phi(k_j)/h_j",
    layer="linear attention with the values v_j = beta_j/h_j",
    unweighted="linear attention with the values beta_j",
    moved="linear attention with the values v_j + dv_j",
    astray="linear attention with values moved by as much, but anywhere",
    values="the values v_j",
    others="the values v_j + dv_j",
    balance="sum_j h_j dv_j",
    unbalanced="sum_j dv_j",
    step="the largest |dv_j|^2",
    above="primal value of W, at targets on the edge of the tube",
    below="dual value of the multipliers that belong to v_j + t dv_j",
    room="what is left of [0, C] on either side of these multipliers",
    highest="the largest value of an output, plus b",
)

H = hypotheses(
    positive="the features are positive, as elu(x) + 1",
    few="there are more keys than features",
    null="sum_j dv_j phi(k_j) = 0",
)
rounding = "the account of the rounding stays below it; a wrong value is of the order of the output"
exact = Relative(1, 10**9, rounding)
expansion = Identity(seen.state, seen.layer, under=(), margin=exact, wrong={"values beta_j": seen.unweighted})
silent = Identity(
    seen.layer, seen.moved, under=H.null, margin=exact,
    wrong={"the values are determined": dict(left=seen.values, right=seen.others), "a move anywhere": seen.astray},
)
balanced = Identity(
    seen.balance, 0, under=H.null, margin=Absolute(1, 10**9, rounding),
    wrong={"without h": dict(left=seen.unbalanced)},
)
moves = Inequality(seen.step, at_least=Rational(1, 100), under=H.few)
optimal = Optimum(
    seen.above, under=H.null, bound=seen.below, feasible=seen.room >= 0, bound_by="weak_duality",
    margin=Absolute(
        1, 10**9, "both values are of order one and the same number; the moves change them by a tenth if made anywhere",
    ),
)
convex = Inequality(seen.layer, at_most=seen.highest, under=H.positive)


class Move(eqx.Module):
    """A layer with given multipliers, and a direction in which its values are moved."""

    features: Features
    keys: Entries[Any, "N D"]
    queries: Entries[Any, "Q D"]
    beta: Entries[Any, "N v"]
    b: Entries[Any, " v"]
    direction: Entries[Any, "N v"]
    projected: Any


def build(key, N, D, kind, full, projected):
    """``full``: tokens of dimension N; ``projected``: whether the direction is brought into the null space."""
    keys, queries, beta = setting.points(key, N, N if full else D)
    direction, b = (
        jax.random.normal(named(key, name), shape) for name, shape in (("U", beta.shape), ("b", beta[0].shape))
    )
    return Move(FEATURES[int(kind)], keys, queries, beta, b, direction, projected)


def compare(model):
    """The state of linear attention, the layer, and the layer with other values."""
    phi, keys, queries, b = model.features, model.keys, model.queries, model.b
    h = phi.kernel(keys, keys).sum(1, keepdims=True)
    v = model.beta / h
    anywhere = model.direction
    dv = jnp.where(jnp.asarray(model.projected) == 1, null_part(phi(keys), anywhere), anywhere)
    at = lambda values: KernelAttention(phi, keys, values, b)(queries)
    return dict(
        state=Regression(phi, keys, v.T @ phi(keys), b)(queries),
        layer=at(v),
        unweighted=at(model.beta),
        moved=at(v + dv),
        astray=at(v + anywhere),
        values=v,
        others=v + dv,
        balance=(h * dv).sum(0),
        unbalanced=dv.sum(0),
    )


def observe(model, C, eps):
    found = compare(model)
    phi, keys, beta = model.features, model.keys, model.beta
    h = phi.kernel(keys, keys).sum(1, keepdims=True)
    X, dbeta = phi(keys) / h, h * (found["others"] - found["values"])
    t = jnp.min(jnp.abs(beta)) / (2 * jnp.max(jnp.abs(h * model.direction)))
    targets = X @ (X.T @ beta) + eps * jnp.sign(beta)
    alpha, alphat = (jnp.maximum(sign * (beta + t * dbeta), 0) for sign in (1, -1))
    return found | dict(
        step=jnp.max((found["others"] - found["values"]) ** 2),
        above=upper_bound(Primal(beta.T @ X, jnp.zeros_like(model.b)), X, targets, C, eps),
        below=lower_bound(alpha, alphat, X @ X.T, targets, eps),
        room=jnp.concatenate([alpha, alphat, C - alpha, C - alphat]),
        highest=found["values"].max(0) + model.b,
    )


@settles(expansion, silent, balanced)
def any_values(claim):
    """Three keys and a query, two features of any values, one output; any multipliers and any move."""
    g = setting.generic
    model = Move(FEATURES[PLAIN], g("phi", 3, 2), g("q", 1, 2), g("beta", 3, 1), g("b", 1), g("u", 3, 1), 1)
    yield Instance(claim, "three keys", compare, model)


@lemma
def unseen_moves():
    """Any number of keys, features and outputs: rows phi(k_j) of F, values V, moved by M; u is all ones."""
    F, phi, V, M, one = generic_matrices("F phi V M u")
    null = ((transpose(F) * M, 0),)
    yield MatrixStep("a move that the features do not see", transpose(V + M) * F * phi, transpose(V) * F * phi, null)
    yield MatrixStep("sum_j h_j dv_j, h = F F^T u", transpose(F * transpose(F) * one) * M, 0, null)


layers = Subject(build, kind=LINEAR, full=False, projected=True)
theorem = Theorem(
    place="linear attention as the expansion of a regression (reconstructed; that values are not determined: derived)",
    label="reconstructed",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=H,
    claims=dict(expansion=expansion, silent=silent, balanced=balanced, moves=moves, optimal=optimal, convex=convex),
    proofs=(any_values, setting.every_set, unseen_moves, weak_duality),
    experiments=dict(
        layers=Experiment(observe, seen, SIZES, at={D: 4, C: 30, eps: Rational(1, 10)}, draws=setting.DRAWS, padded=True,
                          subjects={
            "linear attention": layers,
            "as many features as keys": layers(full=True).breaking(H.few, fails=moves),
            "values moved anywhere": layers(projected=False).breaking(H.null, fails=(silent, balanced, optimal)),
            "phi(x) = x": layers(kind=PLAIN).breaking(H.positive, fails=convex),
        }),
    ),
    issues=(
        "Which of many values a solver returns where all keys lie on the edge of the tube is its own choice.",
        "With phi(x) = x the normaliser h has both signs: where it is small the outputs have no bound.",
    ),
)
