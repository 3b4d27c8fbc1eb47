"""Sparse attention whose queries share one V is a regression for each set of keys, with targets that differ.

**Theorem.** Let all queries share values V on the keys, and let M be a set of keys that some
queries read. On M put beta = h V, h summed over M, y_j = (G beta)_j + eps sign(beta_j), G of M, and
let C >= |beta_j|, without bias. Then the primal value at W = sum_(j in M) beta_j x_j equals the
dual value at beta, so the regression on M with these targets has the values V. For two different
sets, every second key and the first half of them, and Gaussian keys and values, the targets of both
sets differ: in every instance drawn, the largest squared difference at a key in both is at least
1/10^4.

**Idea.** Residuals lie on the edge of the tube on the side of beta_j, so no slack is needed, and
both values are beta^T G beta/2. Up to eps sign(beta_j), a target is the output of the layer on M,
an average of V over M. It changes with the other keys of the set, so one V is no regression with
one set of data.
"""

import jax.numpy as jnp
import numpy as np
from sympy import Matrix, Rational, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import feature_rows
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._attention_layers import two_sets
from theorax.theorems.primal_dual_attention._quadratic import Primal, lower_bound, upper_bound
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, SIZES, TAYLOR, C, D, eps
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

seen = arrays(
    above="primal values of the regressions on both sets, at W = sum of beta_j x_j",
    below="dual values at beta = h V",
    room="C - |beta|",
    apart="largest squared difference of the targets of two sets at a key in both",
)

H = hypotheses(targets="the targets are those that belong to the set", sets="not all queries may read the same keys")
realised = Optimum(
    seen.above, under=H.targets, bound=seen.below, feasible=seen.room >= 0, bound_by="weak_duality",
    margin=Absolute(1, 10**9, "both values are the same number; the targets of another set leave a gap of order one"),
)
differ = Inequality(seen.apart, at_least=Rational(1, 10**4), under=(H.targets, H.sets))


def wanted(key, N, D, kind, same, whole):
    """``same``: both sets are one; ``whole``: the targets are those for all keys."""
    keys, _, V = setting.points(key, N, D)
    return keys, V, FEATURES[int(kind)], bool(same), bool(whole)


def targets(phi, keys, V, eps):
    """Rows, coefficients and targets of the regression on these keys that has these values."""
    X = feature_rows(phi, keys, keys)
    beta = phi.kernel(keys, keys).sum(1, keepdims=True) * V
    return X, beta, X @ (X.T @ beta) + eps * jnp.sign(beta)


def shared_values(model, C, eps):
    keys, V, phi, same, whole = model
    full, values, aims, coefficients = targets(phi, keys, V, eps)[2], [], [], []
    chosen = two_sets(len(keys), same)
    for mine in chosen:
        X, beta, y = targets(phi, keys[mine], V[mine], eps)
        y = full[mine] if whole else y
        upper = upper_bound(Primal(beta.T @ X, jnp.zeros(V.shape[1])), X, y, C, eps)
        values.append((upper, lower_bound(jnp.maximum(beta, 0), jnp.maximum(-beta, 0), X @ X.T, y, eps)))
        aims.append(y)
        coefficients.append(beta)
    common = np.intersect1d(*chosen)
    a, b = (y[np.searchsorted(mine, common)] for y, mine in zip(aims, chosen, strict=True))
    primal, dual = zip(*values, strict=True)
    return dict(
        above=sum(primal), below=sum(dual), room=C - jnp.abs(jnp.concatenate(coefficients)),
        apart=jnp.max((a - b) ** 2),
    )


@lemma
def targets_differ():
    """One positive feature; a key with the value u in two sets of two, beside keys with the value v."""
    a, b, c, e, u, v = symbols("a b c e u v", positive=True)
    aims = []
    for other in (b, c):
        h = Matrix([a, other]) * (a + other)
        x = Matrix([a / h[0], other / h[1]])
        beta = Matrix([h[0] * u, h[1] * v])
        aims.append((x * x.T * beta)[0] + e)
        output = (a * u + other * v) / (a + other)
        yield Step(f"beside {other}, y_1 is the layer's output and eps", aims[-1], output + e)
    yield Step("the two differ as the features of the other keys do", aims[0] - aims[1],
               a * (c - b) * (u - v) / ((a + b) * (a + c)))


one_V = Subject(wanted, kind=TAYLOR, same=False, whole=False)
theorem = Theorem(
    place="sparse attention as regressions on subsets (derived: what its shared values are fitted to)",
    label="derived",
    uses=("sparse_attention_query_dependent_svr", "attention_values_realisable"),
    hypotheses=H,
    claims=dict(realised=realised, differ=differ),
    proofs=(targets_differ, weak_duality),
    experiments=dict(
        one_V=Experiment(shared_values, seen, SIZES, at={D: 2, C: 10_000, eps: Rational(1, 10)}, draws=setting.DRAWS,
                         padded=True, subjects={
            "linear attention": one_V(kind=LINEAR),
            "Taylor features": one_V,
            "targets made for all keys": one_V(whole=True).breaking(H.targets, fails=(realised, differ)),
            "one set": one_V(same=True).breaking(H.sets, fails=differ),
        }),
    ),
    issues=(
        "The bias is left out here. As a variable it asks that sum_j h_j v_j = 0 over every set, an equation for each set. "
        "With as many independent equations as keys only V = 0 is left.",
    ),
)
