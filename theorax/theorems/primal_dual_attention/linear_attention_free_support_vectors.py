"""Linear attention has no more free support vectors than features and one; all its other values are 0 or at the box.

The function of W and b that the primal program finds and the layer with the values of the dual one agree up to the gap g
between both: their squared difference at q is at most 2 g |phi(q)|^2/h(q)^2. At targets in general position no more than
D + 1 keys lie on the edge of the tube, for f has D + 1 numbers to meet them with. So all values but these are 0 or
+-C/h_j, and one V is optimal, unlike where all keys lie on the edge (linear_attention_support_vector_expansion).
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
)  # fmt: skip
