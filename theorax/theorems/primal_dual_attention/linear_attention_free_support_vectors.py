"""Linear attention has no more free support vectors than features and one; all its other values are 0 or at the box.

**Theorem.** Let phi(x) = elu(x) + 1 have D features, and fit a regression on rows phi(k_j)/h_j with
a primal W and b and feasible dual multipliers, b a variable or zero. Let g be the difference of the
primal and the dual value. Then, at every query q, the squared difference of W phi(q)/h(q) + b and
linear attention with the values beta_j/h_j and that b is at most 2 g |phi(q)|^2/h(q)^2. If the
multipliers solve the dual program and the targets are in general position, at most D + 1
multipliers of each output lie in (C/10^6, C - C/10^6).

**Idea.** The gap bounds |W - sum_j beta_j x_j|^2/2. A multiplier inside (0, C) puts its key on the
edge of the tube, and f has only D + 1 numbers to meet these keys with; one key more is an equation
for the targets. So all other values are 0 or +-C/h_j. This differs from targets with all keys on
the edge, where many V are optimal (linear_attention_support_vector_expansion).
"""

import jax.numpy as jnp
from sympy import Derivative, Matrix, Rational, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import feature_rows
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, SIZES, C, D, eps

seen = arrays(
    solved="W phi(q)/h(q) + b with the W and b of the primal program",
    expanded="linear attention with the values of the dual program and that b",
    reach="2 |phi(q)|^2/h(q)^2 times the difference of the primal and the dual value",
    free="how many multipliers of an output lie inside (0, C), by 1e-6 of C",
)

H = hypotheses(
    positive=Hypothesis(
        "the features are positive, as elu(x) + 1", unbroken="h may vanish otherwise: there are no rows"
    ),
    general="the targets are in general position",
)
agree = Inequality((seen.solved - seen.expanded) ** 2, at_most=seen.reach, under=H.positive)
chosen = Inequality(seen.free, at_most=D + 1, under=H.general)


def fitted(key, N, D, C, eps, bias, edge):
    """``edge``: every target on the edge of the tube around the function of given multipliers."""
    phi, (keys, queries, targets) = FEATURES[LINEAR], setting.points(key, N, D)
    if edge:
        beta, X = targets - targets.mean(0), feature_rows(phi, keys, keys)
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


@lemma
def general_position():
    """One feature, three keys on the edge of the tube, on any sides of it: an equation that their targets satisfy."""
    x, y, side, (w, b, e) = symbols("x_1:4"), symbols("y_1:4"), symbols("s_1:4"), symbols("w b e")
    rows = Matrix([[x[j], 1, y[j] - e * side[j]] for j in range(3)])
    on_the_edge = {y[j]: w * x[j] + b + e * side[j] for j in range(3)}
    yield Step("the determinant of rows x_j, 1, y_j - eps s_j vanishes", rows.det().subs(on_the_edge), 0)
    yield Step("for keys that differ it is not zero in every y_1", Derivative(rows.det(), y[0]), x[1] - x[2])


regressions = Subject(fitted, bias=True, edge=False)
theorem = Theorem(
    place="linear attention as the expansion of a regression (reconstructed; the number of free values: derived)",
    label="reconstructed",
    uses=("linear_attention_support_vector_expansion", "svr_primal_dual_kkt"),
    hypotheses=H,
    claims=dict(agree=agree, chosen=chosen),
    proofs=(general_position,),
    experiments=dict(
        fitted=Experiment(optimum, seen, SIZES, at={D: 4, C: 300, eps: Rational(1, 10)}, draws=Efforts(2, 6, 24), padded=True,
                          subjects={
            "with bias": regressions,
            "without bias": regressions(bias=False),
            "targets on the edge of the tube": regressions(edge=True).breaking(H.general, fails=chosen),
        }),
    ),
)
