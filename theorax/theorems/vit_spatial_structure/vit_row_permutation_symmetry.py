"""Rows of attention may change places: there are solutions that classify as well and have not learnt the sets.

**Theorem.** Let F(A, v) = sum_i h_i^3 + nu h_i, h_i = sum_j S_ij <v, X_j>, S the softmax of the
rows of A, with D = CL patches in L sets. For every permutation Pi of the rows, F(Pi A, v) = F(A, v)
at every X, and the mean of log(1 + e^(-y F)) is the same. If the C largest entries of every row of
A are those of its own set and Pi moves every set to another one, then none of the C largest entries
of row i of Pi A lies in the set of i. If A_ii = sigma_A, A_ij = B on the set after that of i and 0
elsewhere, S is within (e^sigma_A + D - C - 1) e^(-B)/C of 1/C on that set and 0 elsewhere, entry by
entry. If A_ij = sigma_A on the own set and -B elsewhere, S is within (D - C) e^(-B - sigma_A)/C of
1/C on the own set and 0 elsewhere.

**Idea.** F sums over the patches i with equal weights, so their order does not matter. Pi A has the
loss of A but has not learnt the sets, and a fixed diagonal does not prevent this. Both kinds of
solution come as near as one wants to the attention 1/C on sets as B grows.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Abs, Rational, Symbol, exp, oo

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.vit_spatial_structure import _patches as setting
from theorax.theorems.vit_spatial_structure._patches import C, L, PositionalAttention, q

seen = arrays(
    plain="F(A, v), for several X",
    moved="F(Pi A, v), for the same",
    columns="F(A Pi^T, v), for the same",
    loss="mean of log(1 + e^(-y F)) over the task, by A",
    moved_loss="the same by Pi A",
    columns_loss="the same by A Pi^T",
    own="how many of the C largest entries of row i of A lie in the set of i",
    overlap="the same of Pi A",
)
ends = arrays(
    pinned="S for A_ii = sigma_A, A_ij = B on the set after that of i, else zero",
    after="1/C on the set after that of i",
    associating="S for A_ij = sigma_A on the set of i, else -B",
    on_own="1/C on the set of i",
    trap="S for A_ii = sigma_A, A_ij = B on the rest of the set of i, else zero",
    reach="(e^sigma_A + D - C - 1) e^(-B)/C",
    reach_own="(D - C) e^(-B - sigma_A)/C",
)
H = hypotheses(
    pooled="F sums over all patches with equal weights",
    rows="Pi permutes the rows of A",
    associates="the C largest entries of every row of A are those of its own set",
    moves="Pi moves every set to another one",
    level="entries of A on the own set are equal to its diagonal",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; columns that change places move F by a tenth")
same = Identity(seen.moved, seen.plain, under=(H.pooled, H.rows), margin=exact, wrong={"columns": seen.columns})
losses = Identity(
    seen.moved_loss, seen.loss, under=(H.pooled, H.rows),
    margin=Relative(1, 10**9, "the account of the rounding stays below it; columns that change places move it by 1e-3"),
    content=setting.CONTENT, wrong={"columns": seen.columns_loss},
)
unlearnt = Identity(
    seen.overlap, 0, under=(H.associates, H.moves), margin=Absolute(1, 2, "overlaps are whole numbers"),
    content=setting.CONTENT, wrong={"association is kept": seen.own},
)
near = Inequality(
    Abs(ends.pinned - ends.after), at_most=ends.reach, under=H.moves,
    wrong={"the own set, on which the diagonal is pinned": dict(of=Abs(ends.trap - ends.on_own))},
)
near_own = Inequality(
    Abs(ends.associating - ends.on_own), at_most=ends.reach_own, under=H.level,
    wrong={"the own set, on which the diagonal is pinned": dict(of=Abs(ends.trap - ends.on_own))},
)


class Permuted(eqx.Module):
    """A layer whose patches are pooled, images, and a permutation of its rows or of its columns."""

    layer: PositionalAttention
    pool: jax.Array
    X: jax.Array
    signal: jax.Array  # w* plus what noise is added to it, for every patch
    order: jax.Array
    columns: bool = eqx.field(static=True)


class Pinned(eqx.Module):
    """A diagonal and a large entry of A, and by how many sets the large entries are away."""

    sigma: jax.Array
    B: jax.Array
    level: jax.Array  # of the entries on the own set, over sigma_A
    shift: int = eqx.field(static=True)


ROWS, COLUMNS = False, True


def layer(key, C, L, columns, uneven, mixed, shift):
    """``uneven``: weights of patches in the pool; ``mixed``: A knows nothing of the sets; ``shift``: of the sets, by Pi."""
    D, d = C * L, 3
    draw = lambda name, *shape: jax.random.uniform(named(key, name), shape, minval=-1.0)
    A = draw("A", D, D) + 2 * (1 - mixed) * setting.same_set(C, L)
    pool = 1 + uneven * draw("pool", D)
    inside = jax.random.permutation(named(key, "order"), C)
    order = ((jnp.arange(L) + shift) % L)[:, None] * C + inside
    w, noise = draw("w", d), 0.1 * draw("noise", D, d)
    return Permuted(
        PositionalAttention(A, draw("v", d), 3, 0.03), pool, draw("X", 4, D, d), w + noise, order.ravel(), bool(columns)
    )


def permuted(A, v, X, pool, order, columns):
    """F by A, by A with permuted rows or columns as the model has it, and with permuted columns."""
    value = lambda A: (PositionalAttention(A, v, 3, 0.03).activated(X) * pool).sum(-1)
    turned = A[:, order]
    return dict(plain=value(A), moved=value(turned if columns else A[order]), columns=value(turned))


def overlaps(A, members, C):
    """For each row how many of its C largest entries lie in its set."""
    rank = jnp.where(A[:, None, :] > A[:, :, None], 1.0, 0.0).sum(2)
    return (jnp.where(rank < C, 1.0, 0.0) * members).sum(1)


def observe(model, C, L, q):
    """Outputs before and after the permutation, losses of both, and overlaps of A, D x D, with the sets."""
    layer, images = model.layer, setting.every_image(C, L)
    A, members = layer.A, setting.same_set(C, L)
    X = images.x[:, :, None] * model.signal
    weight = images.probabilities(q)
    of_task = permuted(A, layer.v, X, model.pool, model.order, model.columns)
    mean = lambda name: (weight * setting.logistic(of_task[name])).sum()
    return permuted(A, layer.v, model.X, model.pool, model.order, model.columns) | dict(
        loss=mean("plain"), moved_loss=mean("moved"), columns_loss=mean("columns"), own=overlaps(A, members, C),
        overlap=overlaps(A[:, model.order] if model.columns else A[model.order], members, C),
    )


def pinned(key, shift, level):
    sigma = jax.random.uniform(named(key, "sigma"), minval=0.5, maxval=2.0)
    return Pinned(sigma, jax.random.uniform(named(key, "B"), minval=4.0, maxval=12.0), level, int(shift))


def limits(model, C, L):
    """Attention weights, D x D, beside what they tend to, and two bounds."""
    D, own, one = C * L, setting.same_set(C, L), np.eye(C * L)
    other = np.roll(own, C * model.shift, axis=1)
    sigma, B = model.sigma, model.B
    weights = lambda A: PositionalAttention(A, jnp.ones(1), 3).weights
    at = lambda place: one * sigma + (1 - one) * place * B
    return dict(
        pinned=weights(at(other)), after=other / C, trap=weights(at(own)), on_own=own / C,
        associating=weights(one * sigma + (own - one) * model.level * sigma - (1 - own) * B),
        reach=(jnp.exp(sigma) + D - C - 1) * jnp.exp(-B) / C, reach_own=(D - C) * jnp.exp(-B - sigma) / C,
    )


@settles(same)
def relabelled():
    """Any A and v, any image; three patches in the plane, every cyclic order, and one exchange."""
    A, v, X = generic_entries("A", 3, 3), generic_entries("v", 2), generic_entries("X", 1, 3, 2)
    for order in ((1, 2, 0), (2, 0, 1), (1, 0, 2)):
        yield Instance(same, f"rows in the order {order}", permuted, A, v, X, np.ones(3), np.array(order), ROWS)


@lemma
def masses():
    """Every D, sigma_A and C, from two on for the own set: the mass outside of a set, and its limit as B grows."""
    c, D, s, B, k = (Symbol(name, positive=True) for name in ("C", "D", "sigma", "B", "k"))
    rest = exp(s) + D - c - 1
    outside = 1 - c * exp(B) / (c * exp(B) + rest)
    yield Step("the mass outside of the other set", outside, rest / (c * exp(B) + rest))
    yield Step("the bound is its first order", sympy.Limit(outside * exp(B), B, oo), rest / c)
    yield Step(
        "on the own set, with C = 1 + k, the weight of the patch itself is lost",
        sympy.Limit(exp(s) / (k * exp(B) + exp(s) + D - 1 - k), B, oo),
        0,
    )


plain = Subject(layer, columns=ROWS, uneven=0.0, mixed=0.0, shift=1)
away = Subject(pinned, shift=1, level=1.0)
theorem = Theorem(
    place="solutions that generalise without patch association (the claim is reconstructed, the proof derived)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(same=same, losses=losses, unlearnt=unlearnt, near=near, near_own=near_own),
    proofs=(relabelled, masses),
    experiments=dict(
        rows=Experiment(observe, seen, {L: Efforts((2,), (2,), (2, 3))}, at={C: 2, q: Rational(3, 10)},
                        draws=setting.MANY, subjects={
            "sets move by one": plain,
            "columns": plain(columns=COLUMNS).breaking(H.rows, fails=(same, losses)),
            "patches weighted in the pool": plain(uneven=0.5).breaking(H.pooled, fails=(same, losses)),
            "A that has not learnt the sets": plain(mixed=1.0).breaking(H.associates, fails=unlearnt),
            "sets that stay": plain(shift=0).breaking(H.moves, fails=unlearnt),
        }),
        ends=Experiment(limits, ends, {L: (3,)}, at={C: 3}, draws=Efforts(2, 4, 12), subjects={
            "the next set": away,
            "twice the diagonal on the own set": away(level=2.0).breaking(H.level, fails=near_own),
            "the own set": away(shift=0).breaking(H.moves, fails=near),
        }),
    ),
    issues=(
        "Both kinds come near attention 1/C on sets; whether that is the infimum over all A is not claimed.",
        "Which of these solutions gradient descent reaches is another theorem's.",
    ),
)
