"""Attention of a law of tokens is the Wasserstein gradient flow of a functional of that law, un-normalised or with Sinkhorn.

**Theorem.** Let A be symmetric, W_V = -A, and let tokens x_i have masses m_i > 0 of sum one, mu
= sum_i m_i delta_(x_i). Let k0(x, x') = exp(x^T A x'), kinf = u k0 v with int kinf dmu = 1 in both
arguments, F0 = (1/2) int int k0 dmu dmu, Finf = -(1/2) int int kinf log(kinf/k0) dmu dmu and T(x_i)
= sum_j k(x_i, x_j) W_V x_j m_j, with k0 for T0 and kinf for Tinf. Then dF0/dm_i = sum_j
k0(x_i, x_j) m_j, for any W_V. Moreover grad_i F0 = -m_i T0(x_i) and grad_i Finf = -m_i Tinf(x_i);
T0 is also minus the gradient of the first variation of F0. If all m_i = 1/n, then Finf = Einf/n -
(log n)/2, where Einf = -(1/2) sum_ij Kinf_ij log(Kinf_ij/K0_ij) is the energy of the attention
matrix.

**Idea.** The first variation of F0 at x is int k0(x, .) dmu, and its gradient in x is -T0(x). For
Finf the envelope theorem gives the same with kinf. So the law of the tokens follows the Wasserstein
gradient flow that lowers F. For equal masses kinf = n Kinf, whose factor n adds the constant.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Sum, log, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import LIMIT, SinkhornLayer, d, n, relative_entropy, scalings

plain = arrays(
    drift_0="m_i T0(x_i), T0(x_i) = sum_j k0(x_i, x_j) W_V x_j m_j",
    slope_0="gradient of F0 in the tokens, by automatic differentiation",
    variation_slope="m_i times the gradient in x of the first variation of F0, by automatic differentiation",
    variation="derivative of F0 in the masses, by automatic differentiation",
    potential="sum_j k0(x_i, x_j) m_j",
)
seen = arrays(
    drift="m_i Tinf(x_i), Tinf(x_i) = sum_j kinf(x_i, x_j) W_V x_j m_j",
    slope="gradient of Finf in the tokens, by automatic differentiation",
    functional="Finf of the tokens with their masses",
    mean_energy="Einf/n of the attention matrix",
    log_n="log n",
)

H = hypotheses(
    limit=LIMIT,
    symmetric="A is symmetric",
    values="W_V = -A",
    equal="all tokens have the mass 1/n",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; a factor of two is of order one")
through = Relative(1, 10**6, "the account of the rounding reaches 1e-7; softmax in the place of the limit is 1e-3 off")
tied = (H.symmetric, H.values)
first_variation = Identity(
    plain.variation, plain.potential, under=H.symmetric, margin=exact, wrong={"with the half": plain.potential / 2},
)
unnormalised = Identity(
    plain.slope_0, -plain.drift_0, under=tied, margin=exact, wrong={"F0 without the half": dict(left=2 * plain.slope_0)},
)
gradient = Identity(plain.variation_slope, -plain.drift_0, under=tied, margin=exact)
sinkhorn = Identity(
    seen.slope, -seen.drift, under=(H.limit, *tied), margin=through, content=setting.CONTENT,
    wrong={"Finf without the half": dict(left=2 * seen.slope)},
)
matrices = Identity(
    seen.functional + seen.log_n / 2, seen.mean_energy, under=H.equal, margin=exact, content=setting.CONTENT,
    wrong={
        "without the constant": dict(left=seen.functional),
        "log n": dict(left=seen.functional + seen.log_n),
    },
)


class Cloud(eqx.Module):
    """A layer, tokens and their masses."""

    layer: SinkhornLayer
    X: Entries[Any, "n d"]
    mass: Entries[Any, " n"]


def drawn(key, n, d, halves, skew, untied, equal):
    A = setting.form(key, d, skew)
    W_V = -A + untied * jax.random.normal(named(key, "values"), (d, d)) / 4
    raw = 1 + (1 - equal) * jax.random.uniform(named(key, "masses"), (n,))
    return Cloud(SinkhornLayer(A, jnp.eye(d), W_V, halves), setting.tokens(key, n, d), raw / raw.sum())


def without(model):
    """The functional F0, its slopes, and the field of the law."""
    layer, X, m = model.layer, model.X, model.mass
    F_0 = lambda X, m: (jnp.exp(layer.scores(X)) * m[:, None] * m[None, :]).sum() / 2
    K = jnp.exp(layer.scores(X))
    # The first variation at a point that moves, the law of the tokens held.
    held = lambda Y: (jnp.exp((Y @ layer.W_Q.T) @ (X @ layer.W_K.T).T) * m[:, None] * m[None, :]).sum()
    return dict(
        drift_0=m[:, None] * layer.drift(X, K * m[None, :]),
        slope_0=jax.grad(F_0)(X, m),
        variation_slope=jax.grad(held)(X),
        variation=jax.grad(F_0, 1)(X, m),
        potential=K @ m,
    )


def observe(model):
    layer, X, m = model.layer, model.X, model.mass

    def weights(X):
        K_0 = jnp.exp(layer.scores(X))
        u, v = scalings(K_0, layer.halves, m)
        return u[:, None] * K_0 * v[None, :], K_0

    def functional(X):
        k, k_0 = weights(X)
        return -(m[:, None] * m[None, :] * k * (jnp.log(k) - jnp.log(k_0))).sum() / 2

    count = len(X)
    K, K_0 = layer.weights(X), jnp.exp(layer.scores(X))
    return dict(
        drift=m[:, None] * layer.drift(X, weights(X)[0] * m[None, :]),
        slope=jax.grad(functional)(X),
        functional=functional(X),
        mean_energy=-relative_entropy(K, K_0) / (2 * count),
        log_n=jnp.log(count * jnp.ones(())),
    )


@settles(first_variation, unnormalised, gradient)
def any_tokens(claim):
    """Two tokens in the plane, every symmetric A = -W_V in coordinates along its eigenvectors, any masses."""
    A, one = np.diag(generic_entries("a", 2)), np.diag(np.array([1, 1], dtype=object))
    model = Cloud(SinkhornLayer(A, one, -A), generic_entries("x", 2, 2), generic_entries("m", 2))
    yield Instance(claim, "two tokens", without, model)


@lemma
def constant():
    """Every n: what the factor n between kinf and Kinf adds, the entries of Kinf being p with n^2 p = n."""
    i, j = symbols("i j", integer=True, positive=True)
    size, p = symbols("n p", positive=True)
    size = symbols("n", integer=True, positive=True)
    moved = Sum(-size * p * log(size) / (2 * size**2), (i, 1, size), (j, 1, size))
    yield Step("the constant, before the sums of one", moved, -size * p * log(size) / 2)
    yield Step("with p = 1/n", moved.subs(p, 1 / size), -log(size) / 2)
    mass, k = symbols("m k", positive=True)
    yield Step("the first variation of a mass with itself", Derivative(mass**2 * k / 2, mass), mass * k)


whole = Subject(drawn, halves=setting.CONVERGED, skew=0.0, untied=0.0, equal=0.0)
even = whole(equal=1.0)
theorem = Theorem(
    place="attention at the level of laws of tokens; other masses: derived here",
    label="reconstructed",
    uses=("attention_energy_gradient",),
    hypotheses=H,
    claims=dict(
        first_variation=first_variation, unnormalised=unnormalised, gradient=gradient, sinkhorn=sinkhorn, matrices=matrices,
    ),
    proofs=(any_tokens, constant),
    experiments=dict(
        exponentials=Experiment(without, plain, {n: (3, 6)}, at={d: 2}, draws=setting.DRAWS, subjects={
            "k0, any masses": whole,
            "k0, A with a skew part": whole(skew=1.0).breaking(
                H.symmetric, fails=(first_variation, unnormalised, gradient),
            ),
            "k0, other values": whole(untied=1.0).breaking(H.values, fails=(unnormalised, gradient)),
        }),
        sinkhorn=Experiment(observe, seen, {n: setting.FEW_TOKENS}, at={d: 2}, draws=setting.MANY, subjects={
            "equal masses": even,
            "other masses": whole.breaking(H.equal, fails=matrices),
            "one half-step": even(halves=1).breaking(H.limit, fails=sinkhorn),
            "A with a skew part": even(skew=1.0).breaking(H.symmetric, fails=sinkhorn),
            "other values": even(untied=1.0).breaking(H.values, fails=sinkhorn),
        }),
    ),
    issues=(
        "Laws of finitely many tokens; laws with a density follow by approximation, which is not checked.",
    ),
)
