"""Sinkhorn's attention does not see what is added to the rows or to the columns of the scores; softmax sees the columns.

**Theorem.** Let C be the scores C_ij = x_i^T A x_j of n tokens, f and g any vectors, and Kinf the
limit of Sinkhorn's algorithm on K0 = e^C. Then the scores C_ij + f_i + g_j have the same Kinf.
Softmax is the same for C_ij + f_i and C_ij; a shift g of the columns changes it. If A is symmetric,
the scores C_ij and -(x_i - x_j)^T A (x_i - x_j)/2 have the same Kinf. With E = -(1/2) sum_ij
Kinf_ij log(Kinf_ij/K0_ij), each with its own K0, the energy of -(x_i - x_j)^T A (x_i - x_j)/2 is
that of C less (1/2) sum_i x_i^T A x_i.

**Idea.** Kinf is u_i K0_ij v_j with row and column sums one, and these two facts determine it. The
factor exp(f_i + g_j) goes into u and v. For symmetric A the two scores differ by -x_i^T A x_i/2 and
-x_j^T A x_j/2, which depend on the row or on the column alone. Equal matrices do not mean equal
flows, as the energies differ.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Matrix, Subs, exp, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import LIMIT, SinkhornLayer, d, n, normalised, relative_entropy, softmax

seen = arrays(
    plain="K^inf of the scores C",
    shifted="K^inf of the scores C_ij + f_i + g_j",
    rows="softmax of the scores C_ij + f_i + c g_j, c = 0 if only rows are shifted",
    soft="softmax of the scores C",
    distance="K^inf of the scores -(x_i - x_j)^T A (x_i - x_j)/2",
    soft_distance="softmax of these scores",
    energy="E of the dot product",
    distance_energy="E of the scores -(x_i - x_j)^T A (x_i - x_j)/2",
    confinement="sum_i x_i^T A x_i",
)

H = hypotheses(
    limit=LIMIT,
    rows="what softmax is given is shifted by rows alone, g = 0",
    symmetric="A = W_Q^T W_K is symmetric",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, softmax is a hundredth off and more")
invariant = Identity(
    seen.shifted, seen.plain, under=H.limit, margin=exact, content=setting.CONTENT,
    wrong={"softmax in its place": seen.soft},
)
softmax_rows = Identity(
    seen.rows, seen.soft, under=H.rows, margin=exact, wrong={"Sinkhorn in its place": seen.plain},
)
costs = Identity(
    seen.distance, seen.plain, under=(H.limit, H.symmetric), margin=exact, content=setting.CONTENT,
    wrong={"softmax of both costs": dict(left=seen.soft_distance, right=seen.soft)},
)
energies = Identity(
    seen.distance_energy, seen.energy - seen.confinement / 2, under=(H.limit, H.symmetric), margin=exact,
    content=setting.CONTENT,
    wrong={"equal energies": seen.energy, "without the half": seen.energy - seen.confinement},
)


class Shifted(eqx.Module):
    """A layer, its tokens, and what is added to rows and columns of its scores."""

    layer: SinkhornLayer
    X: jax.Array
    f: jax.Array
    g: jax.Array
    to_columns: jax.Array  # the share of g that softmax is given


def shifted(key, n, d, halves, skew, to_columns):
    A = setting.form(key, d, skew)
    layer = SinkhornLayer(A, jnp.eye(d), -A, halves)
    f, g = (jax.random.uniform(named(key, name), (n,), minval=-1.0) for name in "fg")
    return Shifted(layer, setting.tokens(key, n, d), f, g, to_columns)


def soft_rows(C, f, g):
    return dict(rows=softmax(jnp.exp(C + f[:, None] + g[None, :])), soft=softmax(jnp.exp(C)))


def observe(model):
    X, halves, A = model.X, model.layer.halves, model.layer.W_Q.T @ model.layer.W_K
    C = model.layer.scores(X)
    apart = X[:, None, :] - X[None, :, :]
    distance = jnp.exp(-((apart @ A.T) * apart).sum(2) / 2)
    moved = jnp.exp(C + model.f[:, None] + model.g[None, :])
    both = normalised(jnp.stack([jnp.exp(C), distance, moved]), halves)
    return soft_rows(C, model.f, model.to_columns * model.g) | dict(
        plain=both[0],
        shifted=both[2],
        distance=both[1],
        soft_distance=softmax(distance),
        energy=-relative_entropy(both[0], jnp.exp(C)) / 2,
        distance_energy=-relative_entropy(both[1], distance) / 2,
        confinement=((X @ A.T) * X).sum(),
    )


@settles(softmax_rows)
def any_scores():
    """Any scores of three tokens, any shift of their rows."""
    C, f = generic_entries("C", 3, 3), generic_entries("f", 3)
    yield Instance(softmax_rows, "three tokens", soft_rows, C, f, 0 * f)


@lemma
def two_tokens():
    """Two tokens, any scores: K^inf in closed form, and that no shift is left in it."""
    a, b, c, e, f_1, f_2, g_1, g_2 = symbols("a b c e f_1 f_2 g_1 g_2", real=True)
    x = symbols("x", positive=True)
    p = 1 / (1 + exp(-(a + e - b - c) / 2))
    # K/K0 = u v^T has determinant zero, and K = [[p, 1 - p], [1 - p, p]] has the sums; x is p/(1 - p).
    ratio = Matrix([[x * exp(-a), exp(-b)], [exp(-c), x * exp(-e)]])
    yield Solved("the ratio of the entries", ratio.det(), x, exp((a + e - b - c) / 2))
    moved = Subs(p, (a, b, c, e), (a + f_1 + g_1, b + f_1 + g_2, c + f_2 + g_1, e + f_2 + g_2))
    yield Step("shifts leave p as it is", moved, p)


@lemma
def expanded():
    """Two tokens in the plane, every symmetric A: the squared distance is the dot product but for rows and columns."""
    x, y = Matrix(symbols("x_1:3", real=True)), Matrix(symbols("y_1:3", real=True))
    p, q, r = symbols("p q r", real=True)
    A = Matrix([[p, q], [q, r]])
    form = lambda s, t: (s.T * A * t)[0]
    yield Step("the quadratic form", -form(x - y, x - y) / 2, form(x, y) - form(x, x) / 2 - form(y, y) / 2)


whole = Subject(shifted, halves=setting.CONVERGED, skew=0.0, to_columns=0.0)
theorem = Theorem(
    place="the remark on the invariance of Sinkhorn's attention (the energies: derived here)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(invariant=invariant, softmax_rows=softmax_rows, costs=costs, energies=energies),
    proofs=(any_scores, two_tokens, expanded),
    experiments=dict(
        scores=Experiment(observe, seen, {n: setting.FEW_TOKENS}, at={d: 2}, draws=setting.MANY, subjects={
            "symmetric A": whole,
            "three half-steps": whole(halves=3).breaking(H.limit, fails=(invariant, costs, energies)),
            "A with a skew part": whole(skew=1.0).breaking(H.symmetric, fails=(costs, energies)),
            "softmax of shifted columns": whole(to_columns=1.0).breaking(H.rows, fails=softmax_rows),
        }),
    ),
    issues=(
        "Scores are below 1/4, so that the loop reaches its limit; larger scores converge to the same statement slowly.",
    ),
)
