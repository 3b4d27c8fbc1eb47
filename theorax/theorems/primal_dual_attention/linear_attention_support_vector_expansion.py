"""Linear attention is the expansion of a regression with as many features as dimensions, which do not tell the values.

With phi(x) = elu(x) + 1 the weight W = sum_j v_j phi(k_j) of f(x) = W phi(x)/h(x) + b is the state that linear attention
keeps. As soon as there are more keys than features, values V + dV with sum_j dv_j phi(k_j) = 0 make the same W, hence the
same function everywhere; sum_j h_j dv_j = 0 then follows, for h_j = phi(k_j) . sum_l phi(k_l). Where all keys lie on the
edge of the tube V and V + dV are both optimal. At targets in general position no more than D + 1 keys lie there, for f has
D + 1 numbers to meet them with; all other values are 0 or +-C/h_j, and one V is optimal.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.kernel_attention import Features, KernelAttention, Regression
from theorax.numerics.keys import named
from theorax.numerics.quadratic import Primal, lower_bound, null_part, upper_bound
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, SIZES, C, D, eps

state = Measured("state", "W phi(q)/h(q) + b with W = sum_j beta_j phi(k_j)/h_j", array=True)
layer = Measured("layer", "linear attention with the values v_j = beta_j/h_j", array=True)
unweighted = Measured("unweighted", "linear attention with the values beta_j", array=True)
moved = Measured("moved", "linear attention with the values v_j + dv_j", array=True)
astray = Measured("astray", "linear attention with values moved by as much, but anywhere", array=True)
values = Measured("values", "the values v_j", array=True)
others = Measured("others", "the values v_j + dv_j", array=True)
balance = Measured("balance", "sum_j h_j dv_j", array=True)
unbalanced = Measured("unbalanced", "sum_j dv_j", array=True)
step = Measured("step", "the largest |dv_j|^2", array=True)
above = Measured("above", "primal value of W, at targets on the edge of the tube", array=True)
below = Measured("below", "dual value of the multipliers that belong to v_j + t dv_j", array=True)
room = Measured("room", "what is left of [0, C] on either side of these multipliers", array=True)
seen = arrays(
    solved="W phi(q)/h(q) + b with the W and b of the primal program",
    expanded="linear attention with the values of the dual program and that b",
    reach="2 |phi(q)|^2/h(q)^2 times the difference of the primal and the dual value",
    free="how many multipliers of an output lie inside (0, C), by 1e-6 of C",
)
highest = Measured("highest", "the largest value of an output, plus b", array=True)

rounding = "the account of the rounding stays below it; a wrong value is of the order of the output"
exactly = Relative(1, 10**9, rounding)
H = hypotheses(
    positive="the features are positive, as elu(x) + 1",
    few="there are more keys than features",
    null="sum_j dv_j phi(k_j) = 0",
    general="the targets are in general position",
)
expansion = Identity(state, layer, under=(), margin=exactly, wrong={"values beta_j": unweighted})
agree = Inequality((seen.solved - seen.expanded) ** 2, at_most=seen.reach, under=H.positive)
silent = Identity(
    layer, moved, under=(H.few, H.null), margin=exactly,
    wrong={"the values are determined": dict(left=values, right=others), "a move anywhere": astray},
)  # fmt: skip
balanced = Identity(
    balance, 0, under=(H.few, H.null), margin=Absolute(1, 10**9, rounding), wrong={"without h": dict(left=unbalanced)},
)  # fmt: skip
moves = Inequality(step, at_least=Rational(1, 100), under=H.few)
optimal = Optimum(
    above, under=H.null, bound=below, feasible=room >= 0,
    margin=Absolute(
        1, 10**9, "both values are of order one and the same number; the moves change them by a tenth if made anywhere",
    ),
)  # fmt: skip
chosen = Inequality(seen.free, at_most=D + 1, under=H.general)
convex = Inequality(layer, at_most=highest, under=H.positive)


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
    at = lambda values: KernelAttention(phi, keys, values, b)(queries)  # noqa: E731
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


def fitted(key, N, D, C, eps, bias, edge):
    """``edge``: every target on the edge of the tube around the function of given multipliers."""
    phi, (keys, queries, targets) = FEATURES[LINEAR], setting.points(key, N, D)
    if edge:
        beta, X = targets - targets.mean(0), phi(keys) / phi.kernel(keys, keys).sum(1, keepdims=True)
        targets = X @ (X.T @ beta) + eps * jnp.sign(beta)
    return setting.fit(phi, keys, queries, targets, C, eps, bias)


def optimum(model, C, eps):
    alpha = jnp.maximum(*model.multipliers(C))
    inside = (alpha > C / 1e6) & (alpha < C - C / 1e6)
    return dict(
        solved=model.regression(model.queries),
        expanded=model.layer(C)(model.queries),
        reach=model.reach(C, eps),
        free=jnp.where(inside, 1.0, 0.0).sum(0),
    )


@settles(expansion, silent, balanced)
def any_values(claim):
    """Three keys and a query, two features of any values, one output; any multipliers and any move."""
    g: Any = setting.generic
    model = Move(FEATURES[PLAIN], g("phi", 3, 2), g("q", 1, 2), g("beta", 3, 1), g("b", 1), g("u", 3, 1), 1)
    yield instance(claim, "the measured programs on symbols", evaluate(compare, (model,), Symbolic()))


layers = Subject(build, kind=LINEAR, full=0, projected=1)
regressions = Subject(fitted, bias=1, edge=0)
theorem = Theorem(
    place="linear attention as the expansion of a regression (reconstructed; that values are not determined: derived)",
    label="reconstructed",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=H,
    claims=dict(
        expansion=expansion, agree=agree, silent=silent, balanced=balanced, moves=moves, optimal=optimal, chosen=chosen,
        convex=convex,
    ),
    proofs=(any_values,),
    experiments=dict(
        layers=Experiment(
            observe,
            (
                *(state, layer, unweighted, moved, astray, values, others, balance, unbalanced, step, above, below),
                *(room, highest),
            ),
            SIZES, at={D: 4, C: 30, eps: Rational(1, 10)}, draws=setting.DRAWS, padded=True,
            subjects={
                "linear attention": layers,
                "as many features as keys": layers(full=1).breaking(H.few, fails=moves),
                "values moved anywhere": layers(projected=0).breaking(H.null, fails=(silent, balanced, optimal)),
                "phi(x) = x": layers(kind=PLAIN).breaking(H.positive, fails=convex),
            },
        ),
        fitted=Experiment(
            optimum, seen, SIZES, at={D: 4, C: 300, eps: Rational(1, 10)}, draws=Efforts(2, 6, 24), padded=True,
            subjects={
                "with bias": regressions,
                "without bias": regressions(bias=0),
                "targets on the edge of the tube": regressions(edge=1).breaking(H.general, fails=chosen),
            },
        ),
    ),
    issues=(
        "Which of many values a solver returns where all keys lie on the edge of the tube is its own choice.",
        "With phi(x) = x the normaliser h has both signs: where it is small the outputs have no bound.",
    ),
)  # fmt: skip
