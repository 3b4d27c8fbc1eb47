"""In the long run every masked attention collapses at the rate of the uniform walk on its graph, with LayerNorm or without.

**Theorem.** Let tokens have softmax attention on a graph in which every token attends to itself and
one token reaches all others. Let ||W_Q||_2 and ||W_K||_2 be at most C in every layer, the W_V
orthogonal, and the input tokens linearly independent and in general position. Let U_ij = 1/|N_i| on
the edges, N_i the neighbours of i, lambda_2 > 0 the second largest modulus of an eigenvalue of U,
and mu the norm of the tokens without their mean. Then, with LayerNorm or without, (1/t) E ln
mu(X_t) -> ln lambda_2 as t -> oo. For four tokens in dimension four, lambda_2 = 1/2 for the causal
mask and the star, and lambda_2 = 1/4 + sqrt(33)/12 for a window of reach one.

**Idea.** Once tokens agree, all scores of a row agree, whatever the weights, and attention is U:
the derivative of A(X) X at equal tokens is U. To first order, orthogonal values and LayerNorm
preserve the differences of the tokens. Without a mask lambda_2 = 0, and the collapse is faster than
exponential.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Product, Rational, Subs, Symbol, exp, log, sqrt, symbols

from theorax.language import *
from theorax.numerics.ensembles import haar
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import (
    BLOCKS,
    CAUSAL,
    STAR,
    WINDOW,
    MaskedLayer,
    distance_from_mean,
    mask_of,
    unit_rows,
)

t = Size("t", "number of layers")
lam = Parameter("lambda_2", "second largest modulus of an eigenvalue of the uniform walk", positive=True)
met = numbers(mu="mu(X_t), the norm of the tokens without their mean", positive=True)

H = hypotheses(
    centre="one token reaches all others in the graph of the mask",
    loops="each token attends to itself",
    bounded="||W_Q||_2 and ||W_K||_2 are at most C in every layer",
    values="the W_V are orthogonal",
    start="tokens at the input are in general position, and linearly independent",
)
rate = Rate(
    met.mu, exp(log(lam) * t), as_=t, spread=1,
    approach=Corrections(
        size=Rational(1, 4), slowest=2, fastest=16, rest=0,
        reason="terms mu(X_t) and (|lambda_3|/|lambda_2|)^t, which fall faster than t^(-4) from t = 16 on",
    ),
    margin=Absolute(1, 20, "1/3 for 1/2 moves it by 0.4, the bounds of collapse by 0.2 or more"),
    wrong={"lambda_2^2": exp(log(lam**2) * t), "1 - 1/N": exp(log(Rational(3, 4)) * t)},
)
TOKENS = D = 4


class FreshNetwork(eqx.Module):
    """One layer for each depth, and the tokens."""

    layers: MaskedLayer  # stacked over depth
    X: jax.Array


def network(key, t, mask, layernorm, growing, scale, alike):
    """``growing``: by what scores are multiplied from layer to layer; ``alike`` = 1 makes the first two tokens the same."""
    kinds = [mask_of(kind, TOKENS) for kind in (CAUSAL, STAR, WINDOW, BLOCKS)]
    edges = jnp.stack([jnp.asarray(one) for one in (*kinds, np.roll(np.eye(TOKENS, dtype=bool), 1, axis=1))])[mask]
    depth = jnp.arange(t)

    def weight(name):
        draw = lambda layer: jax.random.normal(jax.random.fold_in(named(key, name), layer), (D, D))
        raw = jax.vmap(lambda layer: draw(layer) / jnp.linalg.norm(draw(layer)))(depth)
        return jnp.where(growing > 1, 2 * jnp.eye(D), raw) * (growing ** (depth / 2))[:, None, None]

    W_V = jax.vmap(lambda layer: haar(jax.random.fold_in(named(key, "values"), layer), literal(D)))(depth)
    X = unit_rows(jax.random.normal(named(key, "tokens"), (TOKENS, D)))
    X = jnp.where(alike == 1, X.at[1].set(X[0]), X)
    masks = jnp.broadcast_to(edges, (t, TOKENS, TOKENS))
    layers = MaskedLayer(weight("queries"), weight("keys"), scale * W_V, masks, jnp.full(t, layernorm))
    return FreshNetwork(layers, X)


def observe(net):
    """Differences to the first token are followed beside the tokens, through LayerNorm too."""

    def step(state, layer):
        X, differences = state
        mixed = layer.weights(X) @ differences @ layer.W_V
        mixed = mixed - mixed[0]
        plain = MaskedLayer(layer.W_Q, layer.W_K, layer.W_V, layer.mask)(X)
        norms = jnp.sqrt((plain**2).sum(1))
        # 1/|x_i| - 1/|x_1| by the difference of the squares, which does not cancel.
        squares = (mixed * (2 * plain[0] + mixed)).sum(1)
        normal = mixed / norms[:, None] - jnp.outer(squares / (norms * norms[0] * (norms + norms[0])), plain[0])
        return (layer(X), jnp.where(layer.layernorm == 1, normal, mixed)), None

    (_, differences), _ = jax.lax.scan(step, (net.X, net.X - net.X[0]), net.layers)
    return dict(mu=distance_from_mean(differences))


@derives(rate)
def uniform():
    """Three neighbours, any scores that differ by e and any values: to first order in e a row of attention is the mean."""
    e, c = Symbol("e", real=True), Symbol("c", real=True)
    s, y = symbols("s_1:4", real=True), symbols("y_1:4", real=True)
    total = sum((exp(e * one) for one in s[1:]), exp(e * s[0]))
    row = sum(
        (exp(e * one) * (c + e * other) for one, other in zip(s[1:], y[1:], strict=True)),
        exp(e * s[0]) * (c + e * y[0]),
    )
    yield Step(
        "the derivative of the output at equal tokens", Subs(Derivative(row / total, e), e, 0), (y[0] + y[1] + y[2]) / 3
    )
    # LayerNorm of x + e y with |x| = 1: the part across x is kept.
    yield Step("LayerNorm, across the common token", Subs(Derivative(e / sqrt(1 + e**2), e), e, 0), 1)
    # Antisymmetric differences (a, b, -b, -a) of the window of reach one: ends have two neighbours, others three.
    m, edge = symbols("m a")
    values = (edge / 2 - m * edge) + (edge / (3 * m)) / 2  # b = a/(3 m)
    roots = [Rational(1, 4) + sqrt(33) / 12, Rational(1, 4) - sqrt(33) / 12]
    yield Solved("the window: lambda_2 is the larger root", 6 * m * values / edge, m, roots)
    yield Step("a factor lambda_2 in each of t layers", Product(lam, (Symbol("j", integer=True), 1, t)), rate.like)


half = {lam: Rational(1, 2)}
causal = Subject(network, mask=0, layernorm=0, growing=1.0, scale=1.0, alike=0, knows=half)
star = causal(mask=1)
window = causal(mask=2, knows={lam: Rational(1, 4) + sqrt(33) / 12})
theorem = Theorem(
    place="rate of collapse in the long run, the sharp counterpart of the main theorem (derived here)",
    label="derived",
    uses=("masked_rank_collapse", "causal_uniform_exact"),
    hypotheses=H,
    claims=dict(rate=rate),
    proofs=(uniform,),
    experiments=dict(
        networks=Experiment(observe, met, {t: (16, 32, 48)}, seeds="paired", draws=Efforts(400, 500, 1500), subjects={
            "causal": causal,
            "causal, LayerNorm": causal(layernorm=1),
            "star": star,
            "star, LayerNorm": star(layernorm=1),
            "window of reach one": window,
            "window of reach one, LayerNorm": window(layernorm=1),
            "two blocks": causal(mask=3).breaking(H.centre, fails=rate),
            "a cycle without self-loops": causal(mask=4).breaking(H.loops, fails=rate),
            "scores that double": causal(growing=2.0).breaking(H.bounded, fails=rate),
            "values a third as large": causal(scale=1 / 3).breaking(H.values, fails=rate),
            "two first tokens alike": causal(alike=1).breaking(H.start, fails=rate),
        }),
    ),
    issues=(
        "Four tokens in four dimensions; weights are drawn afresh in every layer.",
        "Scores of large weights delay the beginning of this regime, for exponentially many layers.",
    ),
)
