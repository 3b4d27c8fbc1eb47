"""Local masks: a window on both sides slows collapse to 1/N^2 per layer; a causal window changes the prefactor alone.

**Theorem.** Let attention be uniform on a mask, with second eigenvalue lambda_2, and W_V = I. For
the window |i - j| <= k <= 4, N^2 (1 - lambda_2) -> pi^2 k (k + 1)/6 as N -> oo. For the causal window
0 <= i - j < w, w >= 2, let |x_2 - x_1| = 1 and mu be the norm of the tokens without their mean.
Then, as t -> oo, 2^t mu(X_t)/binom(t, N - 2) -> sqrt(1 - 1/N) if w = 2. If w > 2, let v_i = i - 1
for i <= w, and then v_i = 2/(w - 2) times the sum of the w - 1 entries before it: A v = v/2, and
2^t mu(X_t)/|v - mean v| -> 1. For every w >= 2, mu(X_t) falls like 2^(-t), up to powers of t, also
where scores depend on the tokens.

**Idea.** In the window attention is a walk of variance k (k + 1)/3 per layer on an interval of
length N. In the causal window 1/2 is the second eigenvalue for every w. For w = 2 it has a Jordan
block of size N - 1: 2^t times the differences y of neighbours move by Pascal's rule
y_i' = y_i + y_(i-1). For w > 2 it is simple, with the eigenvector v.
"""

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Eq, Integer, Rational, Sum, Symbol, binomial, ceiling, cos, exp, log, oo, pi, sqrt, sympify

from theorax.language import *
from theorax.theorems.masks_and_layernorm._masked_attention import (
    CAUSAL_WINDOW,
    MaskedLayer,
    distance_from_mean,
    mask_of,
)
from theorax.theorems.masks_and_layernorm._windows import WindowedTokens, both_sides, causal_window, random_tokens

t = Size("t", "number of layers")
N = Size("N", "number of tokens")
k = Parameter("k", "reach of the window on both sides", integer=True, positive=True)
w = Parameter("w", "number of tokens in the causal window", integer=True, positive=True)
seen = numbers(gap="N^2 (1 - lambda_2)", slower="N (1 - lambda_2)", positive=True)
met = numbers(
    mu="mu(X_t), the norm of the tokens without their mean", block="2^t mu(X_t)/binom(t, N - 2)",
    longer="2^t mu(X_t)/binom(t, N - 1)", simple="2^t mu(X_t)/|v - mean v|", steps="the same of v_i = i - 1", positive=True,
)
vector = arrays(moved="A v", half="v/2", plain="half of i - 1")

H = hypotheses(
    window="token i attends to the tokens with |i - j| <= k",
    causal="token i attends to the tokens with 0 <= i - j < w",
    uniform="scores do not depend on the tokens: W_Q = 0",
    start="x_2 - x_1 has length one",
)
tiny = Rational(1, 10**6)  # nothing is random
interval = Corrections(
    size=Rational(1, 20), slowest=2, fastest=4, free=(1,), rest=0,
    reason="a series in k/N: boundaries add a multiple of it, and at k = 4, N = 16 less than 0.03 beyond that",
)
gap = Limit(
    # At N = 16 a wider window is no small part of the interval: its series has terms of order (k/N)^4.
    seen.gap, pi**2 * k * (k + 1) / 6, as_=N, under=(H.window, H.uniform), where=k <= 4, approach=interval, spread=tiny,
    margin=Relative(1, 12, "k^2 in the place of k (k + 1) is a fifth off at k = 4, a half at k = 1"),
    wrong={"pi^2 k^2/6": pi**2 * k**2 / 6, "1/N": dict(of=seen.slower), "twice it": pi**2 * k * (k + 1) / 3},
)
lower = Corrections(
    size=Rational(1, 20), slowest=2, fastest=4, free=(1,), rest=0,
    reason="quotients of binomial coefficients, a series in 1/t: (N - 2)/t, and less than 0.03 beyond it at t = 60, N = 8",
)
block = Limit(
    met.block, sqrt(1 - 1 / N), as_=t, where=Eq(w, 2), under=(H.causal, H.uniform, H.start), approach=lower, spread=tiny,
    margin=Relative(1, 32, "the whole norm in the place of that without the mean is 7 % off at N = 8"),
    wrong={"the whole norm": 1, "a block of size N": dict(of=met.longer), "sqrt(1 - 2/N)": sqrt(1 - 2 / N)},
)
fast = Corrections(
    size=Rational(1, 50), slowest=4, fastest=16, rest=0,
    reason="terms t^(N - 3) (2/w)^t, below 10^(-3) from t = 60 on at N = 8",
)
simple = Limit(
    met.simple, 1, as_=t, where=w > 2, under=(H.causal, H.uniform, H.start), approach=fast, spread=tiny,
    margin=Relative(1, 20, "one token less makes the constant smaller by half"),
    wrong={"v_i = i - 1, as without a window": dict(of=met.steps), "half of it": Rational(1, 2)},
)
radius = ceiling((N - 1) / (w - 1))
rate = Rate(
    met.mu, exp(-log(2) * t), as_=t, under=(H.causal, H.start), spread=tiny,
    approach=Corrections(size=0.5, slowest=1, fastest=2, log=6, reason="a factor t^(N - 2) of a Jordan block, N = 8 at most"),
    margin=Absolute(1, 10, "1/w in the place of 1/2 moves it by 0.4, the rate of the bound by 0.5 or more"),
    wrong={"rate of the bound": exp(log(1 - w**-radius) / radius * t), "1/3": exp(-log(3) * t), "1 - 1/N": (1 - 1 / N) ** t},
)
eigenvector = Identity(
    vector.moved, vector.half, where=w > 2, under=(H.causal, H.uniform), wrong={"i - 1 for every i": vector.plain},
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a wrong entry is of order one"),
)


def spectrum(model, N):
    A = model.layer.weights(model.X)
    # Scores of q = k are symmetric: A is then similar to the matrix of the roots of A_ij A_ji.
    second = jnp.linalg.eigvalsh(jnp.sqrt(A * A.T))[-2]
    return dict(gap=N**2 * (1 - second), slower=N * (1 - second))


def depth(model, N, t):
    """2^t times the differences to the first token are followed beside the tokens."""

    def layer(_, state):
        X, differences = state
        mixed = 2 * (model.layer.weights(X) @ differences)
        return model.layer(X), mixed - mixed[0]

    differences = jax.lax.fori_loop(0, t, layer, (model.X, model.X - model.X[0]))[1]
    scaled, place = distance_from_mean(differences), jnp.arange(1.0 * N)
    binomials = jnp.cumprod((t - place) / (place + 1))  # binom(t, 1), binom(t, 2), ...
    return dict(
        mu=scaled * 2.0**-t, block=scaled / binomials[N - 3], longer=scaled / binomials[N - 2],
        simple=scaled / distance_from_mean(model.v[:, None]), steps=scaled / distance_from_mean(place[:, None]),
    )


def at_vector(model, N):
    A = model.layer.weights(model.X)
    return dict(moved=A @ model.v, half=model.v / 2, plain=np.arange(N) * (model.v[1] / 2))


@derives(gap)
def walk():
    """Every k: the wave cos(pi (i - 1/2)/N) of one half of a period; ends of the interval are a share k/N of it."""
    n, m = Symbol("N", positive=True), Symbol("m", integer=True)
    mean = (1 + 2 * cos(pi / n) + 2 * cos(2 * pi / n)) / 5
    yield Step("what a layer takes from it, k = 2", sympy.Limit(n**2 * (1 - mean), n, oo), gap.to.subs(k, 2))
    yield Step("every reach, by the variance of a step", pi**2 / 2 * Sum(m**2, (m, -k, k)) / (2 * k + 1), gap.to)


@derives(block)
def pascal():
    """Every N: the coefficient of y_2 in 2^t y_N is binom(t, N - 2), and x_N alone has it."""
    n, m, j = (Symbol(name, integer=True, positive=True) for name in "nmj")
    yield Step("one layer more", binomial(n, m) + binomial(n, m - 1), binomial(n + 1, m))
    yield Step("one entry of N, without the mean", sqrt((1 - 1 / N) ** 2 + Sum(1 / N**2, (j, 1, N - 1))), block.to)
    yield Step("binom(t, m - 1)/binom(t, m)", sympy.Limit(m / (t - m + 1), t, oo), Integer(0))


@settles(eigenvector)
def any_tokens():
    """Any tokens and keys; N = 6, w = 3, 4."""
    X, W = generic_entries("x", 6, 1), generic_entries("k", 1, 1)
    for width, v in ((3, (0, 1, 2, 6, 16, 44)), (4, (0, 1, 2, 3, 6, 11))):
        layer, entries = MaskedLayer(0 * W, W, W, mask_of(CAUSAL_WINDOW, 6, width)), np.array(sympify(v), dtype=object)
        yield Instance(eigenvector, f"w = {width}", at_vector, WindowedTokens(layer, X, entries), 6, letters={w: width})


@lemma
def simple_eigenvalue():
    """Every w > 2: the block of the first two tokens has the eigenvalue 1/2, further ones 1/3, ..., 1/w; v follows."""
    m, entry, before = Symbol("m"), Symbol("v_i"), Symbol("s")
    yield Solved("(-1, 1) A = m (-1, 1)", [-1 + Rational(1, 2) + m, Rational(1, 2) - m], (m,), {m: Rational(1, 2)})
    yield Solved(
        "v_i from the sum s of the w - 1 before it", (entry + before) / w - entry / 2, entry, [2 * before / (w - 2)]
    )


steps = Subject(causal_window, mask=0, scores=0.0, start=0)
waves = steps(start=1)
random, line = Subject(random_tokens, mask=0, scores=0.0), Subject(both_sides, mask=2, scores=0.0)
theorem = Theorem(
    place="the slower collapse of local masks (reconstructed claim, the refinement derived here)",
    label="derived",
    uses=("causal_uniform_exact",),
    hypotheses=H,
    claims=dict(gap=gap, block=block, simple=simple, rate=rate, eigenvector=eigenvector),
    proofs=(walk, pascal, any_tokens, simple_eigenvalue),
    experiments=dict(
        lengths=Experiment(spectrum, seen, {N: (16, 32, 64)}, at=({k: 1}, {k: 2}, {k: 4}), seeds="none", subjects={
            "window": line,
            "causal window": line(mask=0).breaking(H.window, fails=gap),
            "scores of the tokens": line(scores=3.0).breaking(H.uniform, fails=gap),
        }),
        depths=Experiment(
            depth, met, {t: (60, 120, 240)}, at=({N: 8, w: 3}, {N: 8, w: 2}, {N: 4, w: 2}), seeds="none",
            subjects={
                "a step": steps,
                "cosines": waves,
                "no window": waves(mask=1).breaking(H.causal, fails=(block, simple)),
                "window on both sides": waves(mask=2).breaking(H.causal, fails=(block, simple, rate)),
                "scores of the tokens": waves(scores=3.0).breaking(H.uniform, fails=(block, simple)),
                "two first tokens alike": waves(start=2).breaking(H.start, fails=(block, simple, rate)),
            },
        ),
        vectors=Experiment(at_vector, vector, {N: (8,)}, at=({w: 3}, {w: 4}), draws=Efforts(2, 3, 8), subjects={
            "causal window": random,
            "no window": random(mask=1).breaking(H.causal, fails=eigenvector),
            "scores of the tokens": random(scores=1.0).breaking(H.uniform, fails=eigenvector),
        }),
    ),
    issues=(
        "Uniform attention; how much of it other weights share in the long run is asked elsewhere.",
        "The upper bound of collapse is exponentially loose: at N = 64, k = 1 it allows 10^(-17) per layer for 10^(-3).",
    ),
)
