"""With tied weights, un-normalised and Sinkhorn attention follow the negative gradient of an energy.

**Theorem.** Let A be symmetric, C_ij = x_i^T A x_j, K0 = e^C and W_V = -A, for tokens x_1, ..., x_n
in any dimension. Let Kinf be the limit of Sinkhorn's algorithm on K0, E0 = (1/2) sum_ij K0_ij and
Einf = -(1/2) sum_ij Kinf_ij log(Kinf_ij/K0_ij). Then grad_i E0 = -sum_j K0_ij W_V x_j and grad_i
Einf = -sum_j Kinf_ij W_V x_j. So along x_i' = sum_j K0_ij W_V x_j one has dE0/dt = -|x'|^2, and
along x_i' = sum_j Kinf_ij W_V x_j one has dEinf/dt = -|x'|^2. For symmetric A, whatever W_V is,
Kinf is symmetric.

**Idea.** The least KL(K|K0) over doubly stochastic K is -2 Einf, attained at Kinf. By the envelope
theorem its slope in C_ij is -Kinf_ij. Sinkhorn's scalings of a symmetric K0 give a symmetric Kinf.
A residual layer is an Euler step of x' = -grad E. For two tokens x, y on the line and A = a, Einf
= a (x + y)^2/4 + log(2 cosh(a (x - y)^2/4)).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, cosh, exp, log, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import LIMIT, SinkhornLayer, d, n, normalised, relative_entropy

plain = arrays(
    drift_0="sum_j K0_ij W_V x_j",
    slope_0="gradient of E0, by automatic differentiation",
    change_0="dE0/dt along x' = sum_j K0_ij W_V x_j, by automatic differentiation",
    square_0="|x'|^2, x' = sum_j K0_ij W_V x_j",
)
seen = arrays(
    drift="sum_j Kinf_ij W_V x_j",
    slope="gradient of Einf through the iterations, by automatic differentiation",
    massive="gradient of Einf with the mass terms of KL, sum K - sum K0",
    change="dEinf/dt along x' = sum_j Kinf_ij W_V x_j, by automatic differentiation",
    square="|x'|^2, x' = sum_j Kinf_ij W_V x_j",
    weights="Kinf",
    turned="the transpose of Kinf",
)

H = hypotheses(
    limit=LIMIT,
    symmetric="A is symmetric",
    values="W_V = -A",
)
exact = Relative(
    1, 10**9, "the account of the rounding stays below it; three half-steps in the place of all are 1e-6 off"
)
tied = (H.symmetric, H.values)
unnormalised = Identity(
    plain.slope_0, -plain.drift_0, under=tied, margin=exact, wrong={"E0 without the half": dict(left=2 * plain.slope_0)},
)
descent = Identity(plain.change_0, -plain.square_0, under=tied, margin=exact)
# Gradients of small scores cancel, and pass through all iterations.
through = Relative(1, 10**6, "the account of the rounding reaches 1e-7; softmax in the place of the limit is 1e-3 off")
sinkhorn = Identity(
    seen.slope, -seen.drift, margin=through, content=setting.CONTENT,
    wrong={
        "Einf without the half": dict(left=2 * seen.slope),
        "KL with its mass terms": dict(left=seen.massive),
    },
)
sinkhorn_descent = Identity(seen.change, -seen.square, margin=through, content=setting.CONTENT)
symmetric = Identity(
    seen.turned, seen.weights, under=(H.limit, H.symmetric), margin=exact, content=setting.CONTENT,
)


class TiedTokens(eqx.Module):
    """A layer and its tokens."""

    layer: SinkhornLayer
    X: Entries[Any, "n d"]


def drawn(key, n, d, halves, skew, untied):
    A = setting.form(key, d, skew)
    W_V = -A + untied * jax.random.normal(named(key, "values"), (d, d)) / 4
    return TiedTokens(SinkhornLayer(A, jnp.eye(d), W_V, halves), setting.tokens(key, n, d))


def without(model):
    """The layer with K0."""
    X, layer = model.X, model.layer
    drift = layer.drift(X, jnp.exp(layer.scores(X)))
    slope = jax.grad(lambda X: jnp.exp(layer.scores(X)).sum() / 2)(X)
    return dict(drift_0=drift, slope_0=slope, change_0=(slope * drift).sum(), square_0=(drift**2).sum())


def observe(model):
    X, layer = model.X, model.layer

    def energy(X):
        K_0 = jnp.exp(layer.scores(X))
        K = normalised(K_0, layer.halves)
        return -relative_entropy(K, K_0) / 2, (K.sum() - K_0.sum()) / 2

    (slope, masses) = jax.jacrev(energy)(X)
    K = layer.weights(X)
    drift = layer.drift(X, K)
    return dict(
        drift=drift,
        slope=slope,
        massive=slope + masses,
        change=(slope * drift).sum(),
        square=(drift**2).sum(),
        weights=K,
        turned=K.T,
    )


@settles(unnormalised, descent)
def any_tokens(claim):
    """Two tokens in the plane, every symmetric A = -W_V: on the line every A is symmetric."""
    a, b, c = symbols("a b c", real=True)
    A = np.array([[a, b], [b, c]], dtype=object)
    model = TiedTokens(SinkhornLayer(A, np.eye(2, dtype=int).astype(object), -A), generic_entries("x", 2, 2))
    yield Instance(claim, "two tokens", without, model)


@lemma
def envelope():
    """One entry of the dual value sum f + sum g - sum exp(C_ij + f_i + g_j - 1), and a row of two of them."""
    C, B, f, g, h = symbols("C B f g h", real=True)
    value = f + g + h - exp(C + f + g - 1) - exp(B + f + h - 1)
    yield Step("its slope in C_ij is -K_ij", Derivative(value, C), -exp(C + f + g - 1))
    row = exp(C + f + g - 1) + exp(B + f + h - 1)
    yield Step("its slope in f_i vanishes where the row sums to one", Derivative(value, f), 1 - row)
    a, x, y, K, M = symbols("a x y K M", real=True)
    # The weights K on the diagonal and M beside it are held: the envelope.
    held = (K * a * x * x + 2 * M * a * x * y + K * a * y * y) / 2
    yield Step("the slope of half of sum K_ij C_ij at held, symmetric K", Derivative(held, x), a * (K * x + M * y))


@lemma
def two_tokens():
    """Two tokens on the line, every a: the energy in closed form, and its slope."""
    a, x, y = symbols("a x y", real=True)
    s = symbols("s", real=True)
    # s = a (x - y)^2/2 is half of C_11 + C_22 - 2 C_12; p is its sigmoid.
    p = 1 / (1 + exp(-s))
    closed = a * (x + y) ** 2 / 4 + log(2 * cosh(a * (x - y) ** 2 / 4))
    drift = -a * (p * x + (1 - p) * y).subs(s, a * (x - y) ** 2 / 2)
    yield Step("the slope in x is minus the drift", Derivative(closed, x), -drift)


whole = Subject(drawn, halves=setting.CONVERGED, skew=0.0, untied=0.0)
theorem = Theorem(
    place="attention with tied weights as an Euler step of a gradient flow",
    label="reconstructed",
    uses=("softmax_sinkhorn_kl_projection",),
    hypotheses=H,
    claims=dict(
        unnormalised=unnormalised, descent=descent, sinkhorn=sinkhorn, sinkhorn_descent=sinkhorn_descent, symmetric=symmetric,
    ),
    proofs=(any_tokens, envelope, two_tokens),
    experiments=dict(
        exponentials=Experiment(without, plain, {n: (3, 6)}, at={d: 3}, draws=setting.DRAWS, subjects={
            "K0, tied weights": whole,
            "K0, A with a skew part": whole(skew=1.0).breaking(H.symmetric, fails=(unnormalised, descent)),
            "K0, other values": whole(untied=1.0).breaking(H.values, fails=(unnormalised, descent)),
        }),
        sinkhorn=Experiment(observe, seen, {n: setting.FEW_TOKENS}, at={d: 2}, draws=setting.MANY, subjects={
            "tied weights": whole,
            "one half-step": whole(halves=1).breaking(H.limit, fails=(sinkhorn, sinkhorn_descent, symmetric)),
            "A with a skew part": whole(skew=1.0).breaking(
                H.symmetric, fails=(sinkhorn, sinkhorn_descent, symmetric),
            ),
            "other values": whole(untied=1.0).breaking(H.values, fails=(sinkhorn, sinkhorn_descent)),
        }),
    ),
    issues=(
        "Sinkhorn's attention is a gradient in the limit alone; after few half-steps its field rotates.",
        "The step size is not small in a network; the energy may then rise.",
    ),
)
