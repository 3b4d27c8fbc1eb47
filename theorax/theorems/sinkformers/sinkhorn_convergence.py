"""Sinkhorn's algorithm converges linearly, by the square of the second singular value of the matrix it tends to.

**Theorem.** Let K0 = e^C be an n x n matrix of positive entries. One iteration maps v > 0 to u
= 1/(K0 v) and to v' = 1/(K0^T u). Let S_ij = u_i K0_ij v_j and R_ij = u_i K0_ij v'_j. Then the
Jacobian of log v' in log v is R^T S, for every v. At the limit v* it is (Kinf)^T Kinf, and the rows
of Kinf sum to one after a column step. Let osc z be the largest entry of z less the smallest, and D
the largest of C_ij + C_kl - C_il - C_kj. Let v_1 and v_2 be the first two iterates from any v > 0.
Then osc log(v_2/v*) <= tanh(D/4)^2 osc log(v_1/v*).

**Idea.** The Jacobian is the chain rule through u. The eigenvalues of (Kinf)^T Kinf besides one are
at most sigma_2^2, sigma_2 the second singular value of Kinf, which is the linear rate. The global
bound is Birkhoff's theorem, by which each half-step shrinks osc by tanh(D/4). Two tokens attain it:
sigma_2 = tanh(D/4).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Matrix, Subs, exp, symbols, tanh

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import LIMIT, d, n, scalings

steps = arrays(
    jacobian="derivative of log v' in log v, by automatic differentiation",
    product="R^T S",
    rows_alone="S, the derivative of log u up to its sign",
)
seen = arrays(
    slope="derivative of log v' in log v at Sinkhorn's v, by automatic differentiation",
    square="(Kinf)^T Kinf",
    weights="Kinf",
    row_sums="sum_j Kinf_ij after a column step",
)
far = arrays(
    before="oscillation of log(v/v*) after one iteration",
    after="the same after two iterations",
    factor="tanh(D/4)^2",
    sharper="tanh(D/8)^2",
)

H = hypotheses(
    limit=LIMIT,
    both="rows and columns are normalised in turn",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; one iteration short of the limit is 1e-4 off")
chain = Identity(
    steps.jacobian, steps.product, under=H.both, margin=exact, wrong={"one normalisation": steps.rows_alone},
)
linear = Identity(
    seen.slope, seen.square, under=(H.limit, H.both), margin=exact, content=setting.CONTENT,
    wrong={"sigma_2, not its square": seen.weights},
)
sums = Identity(seen.row_sums, 1, under=H.limit, margin=exact, content=setting.CONTENT)
contracts = Inequality(
    far.after, at_most=far.factor * far.before, under=H.both, wrong={"tanh(D/8)^2": far.sharper * far.before},
)


class Iterated(eqx.Module):
    """Scores, a point on the way, how far the loop runs, and whether columns are normalised."""

    C: jax.Array
    v: jax.Array
    halves: jax.Array
    columns: jax.Array

    def once(self, v):
        """One full iteration from v."""
        return iteration(jnp.exp(self.C), v, self.columns)[1]


def iteration(K, v, columns):
    """u and the next v; without column steps the old v stays."""
    u = 1 / (K @ v)
    return u, columns / (K.T @ u) + (1 - columns) * v


def drawn(key, n, d, halves, columns):
    X, Y = (setting.tokens(named(key, name), n, d) for name in ("queries", "keys"))
    v = jnp.exp(jax.random.uniform(named(key, "v"), (n,), minval=-1.0))
    return Iterated(X @ Y.T / 4, v, halves, columns)


def slopes(K, v, columns):
    """The Jacobian of an iteration on logarithms, beside the product of the matrices on the way."""
    u, w = iteration(K, v, columns)
    scaled = lambda v: iteration(K, v, columns)[1]
    return dict(
        jacobian=jax.jacfwd(scaled)(v) * v[None, :] / w[:, None],
        product=(K * u[:, None] * w[None, :]).T @ (K * u[:, None] * v[None, :]),
        rows_alone=K * u[:, None] * v[None, :],
    )


def observe(model):
    K = jnp.exp(model.C)
    u, v = scalings(K, model.halves)
    weights = u[:, None] * K * v[None, :]
    found = slopes(K, v, model.columns)
    return dict(slope=found["jacobian"], square=weights.T @ weights, weights=weights, row_sums=weights.sum(1))


def oscillation(z):
    """Largest entry less the least."""
    return (z.max() - z.min()).reshape(1)


def distances(model):
    C = model.C
    _, limit = scalings(jnp.exp(C), setting.CONVERGED)
    one = model.once(model.v)
    two = model.once(one)
    D = (C[:, :, None, None] + C[None, None] - C[:, None, None, :] - C.T[None, :, :, None]).max()
    return dict(
        before=oscillation(jnp.log(one / limit)),
        after=oscillation(jnp.log(two / limit)),
        factor=(jnp.tanh(D / 4) ** 2).reshape(1),
        sharper=(jnp.tanh(D / 8) ** 2).reshape(1),
    )


def on_the_way(model):
    return slopes(jnp.exp(model.C), model.v, model.columns)


@settles(chain)
def any_matrix():
    """Two tokens, any matrix K0 and any v."""
    yield Instance(chain, "two tokens", slopes, generic_entries("K", 2, 2), generic_entries("v", 2), 1)


@lemma
def two_tokens():
    """Two tokens, every D: the second singular value of [[p, 1 - p], [1 - p, p]], p the sigmoid of D/2."""
    p, z = symbols("p z", real=True)
    D = symbols("D", positive=True)
    K = Matrix([[p, 1 - p], [1 - p, p]])
    yield Step("eigenvalues of K^T K", (K.T * K - z * Matrix([[1, 0], [0, 1]])).det(), (1 - z) * ((2 * p - 1) ** 2 - z))
    yield Step("2 p - 1 at the sigmoid", Subs(2 * p - 1, p, 1 / (1 + exp(-D / 2))), tanh(D / 4).rewrite(exp))


whole = Subject(drawn, halves=setting.CONVERGED, columns=1.0)
theorem = Theorem(
    place="convergence of Sinkhorn's iterations; the Jacobian on the way: derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(chain=chain, linear=linear, sums=sums, contracts=contracts),
    proofs=(any_matrix, two_tokens),
    experiments=dict(
        steps=Experiment(on_the_way, steps, {n: (2, 4)}, at={d: 3}, draws=setting.DRAWS, subjects={
            "any v": whole,
            "rows alone, any v": whole(columns=0.0).breaking(H.both, fails=chain),
        }),
        limits=Experiment(observe, seen, {n: setting.FEW_TOKENS}, at={d: 3}, draws=setting.MANY, subjects={
            "at the limit": whole,
            "one iteration": whole(halves=2).breaking(H.limit, fails=(linear, sums)),
            "rows alone, at the limit": whole(columns=0.0).breaking(H.both, fails=linear),
        }),
        contractions=Experiment(distances, far, {n: (2, 4)}, at={d: 3}, draws=setting.DRAWS, subjects={
            "two iterations": whole,
            "rows alone, twice": whole(columns=0.0).breaking(H.both, fails=contracts),
        }),
    ),
    issues=(
        "Scores are below 1/4. For large scores D is large, and a few iterations leave matrices far from doubly stochastic.",
        "Kinf is symmetric for symmetric scores, see attention_energy_gradient; matrices on the way are not.",
        "Birkhoff's theorem itself is not proved; the bound is checked on instances.",
    ),
)
