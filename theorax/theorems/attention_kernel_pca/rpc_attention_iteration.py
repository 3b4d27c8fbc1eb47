"""RPC-Attention with one step is symmetric attention on clipped keys; an outlier clips every key; its sign costs convergence.

**Theorem.** Let M be N x D keys, V values, L = Y = 0 at first, |M|_1 = sum_jd |M_jd|, mu =
N D/(4 |M|_1) and t = 4 mu. A step is S = shrink_t(M - L + Y/mu), K = M - S - Y/mu, L =
softmax(K K^T/sqrt(D)) V, Y <- Y + mu (M - L - S). After one step, for any mu > 0, L is symmetric
attention on M clipped to [-t, t], and its weights w satisfy |N w - 1| <= exp(2 t^2 sqrt(D)) - 1. If
B = 10^4 is added to one entry of standard normal M, N = 32, D = 8, then t <= N D/B with probability
at least 19/20, and certainly if |M|_1 >= B. For standard normal M and V, N = 64 and D = 16, six
steps lead to |M - L - S| >= 3|M|/10, and with +Y/mu in K to |M - L - S| <= |M|/4, each with
probability at least 19/20. Probabilities are measured.

**Idea.** x - shrink_t(x) is x clipped to [-t, t], and scores of clipped keys are at most t^2
sqrt(D) in absolute value. An outlier B makes |M|_1 large, so t is small and all other keys are
clipped too. Neither sign is claimed to converge.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational, Subs, Sum, Symbol, exp, sqrt

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_kernel_pca._axes import D, N

LAM, MANY = 4, 6
B = Parameter("B", "what is added to one entry of the keys", nonnegative=True)
seen = arrays(
    output="the output after one step",
    clipped="symmetric attention on keys clipped to [-t, t]",
    plain="symmetric attention on the keys",
    kept="symmetric attention on shrink_t of the keys",
)
outlying = numbers(spread="largest |N w - 1| of a weight w after one step", threshold="t = lam mu")
drawn = numbers(
    released="|M - L - S|/|M| after six steps, with the sign - of Y/mu in K",
    mended="the same with the sign +",
)

H = hypotheses(
    first="Y = 0 and L = 0 at the start",
    adaptive="mu = N D/(4 |M|_1)",
    gaussian="keys and values are independent standard normal numbers, but for the outlier",
)
share = Rational(1, 20)
clipping = Identity(
    seen.output, seen.clipped, under=H.first, content=share,
    margin=Relative(1, 10**9, "the account of the rounding stays below it; unclipped keys move the output by a tenth"),
    wrong={"keys that are not clipped": seen.plain, "the sparse part kept": seen.kept},
)
bound = exp(2 * outlying.threshold**2 * sqrt(D)) - 1
uniform = Inequality(
    outlying.spread, at_most=bound, under=H.first, content=share,
    wrong={"without sqrt(D)": exp(2 * outlying.threshold**2 / sqrt(D)) - 1},
)
outlier = Inequality(
    outlying.threshold, at_most=LAM * N * D / (4 * B), under=H.adaptive, content=share,
    wrong={"of the order 1/B^2": LAM * N * D / B**2},
)
# Pilot draws gave 0.38 to 1.2 and 0.06 to 0.18; later steps overlap, so neither is said to converge or not.
sign_minus = Inequality(
    drawn.released, at_least=Rational(3, 10), under=(H.adaptive, H.gaussian), content=share,
    wrong={"by the sign +": dict(of=drawn.mended)},
)
sign_plus = Inequality(
    drawn.mended, at_most=Rational(1, 4), under=(H.adaptive, H.gaussian), content=share,
    wrong={"by the sign -": dict(of=drawn.released)},
)


class PursuedKeys(eqx.Module):
    """Keys, values, the multiplier at the start, and a factor of mu."""

    M: jax.Array
    V: jax.Array
    Y: jax.Array
    wider: Any


def build(key, N, D, B, begun, wider, size):
    """``begun``: size of the multiplier at the start; ``size``: of the values."""
    M, V, Y = (jax.random.normal(named(key, name), (N, D)) for name in ("keys", "values", "Y"))
    first = (jnp.arange(N)[:, None] == 0) & (jnp.arange(D)[None] == 0)
    return PursuedKeys(M + B * first, size * V, begun * Y, wider)


def clip(x, t):
    return jnp.minimum(jnp.maximum(x, -t), t)


def soft_threshold(x, t):
    """The step of S, as the code has it."""
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - t, 0)


def symmetric(K):
    return jax.nn.softmax(K @ K.T / jnp.sqrt(jnp.asarray(float(K.shape[1]))))


def steps(model, count, sign):
    """L and S after so many steps, and the weights of the last."""
    M, Y = model.M, model.Y
    mu = model.wider * M.size / (4 * jnp.abs(M).sum())
    L = jnp.zeros_like(M)
    for _ in range(count):
        S = soft_threshold(M - L + Y / mu, LAM * mu)
        weights = symmetric(M - S + sign * Y / mu)
        L = weights @ model.V
        Y = Y + mu * (M - L - S)
    return L, S, weights, LAM * mu


def once(model):
    output, _, _, t = steps(model, 1, -1)
    attend = lambda K: symmetric(K) @ model.V
    clipped, kept = clip(model.M, t), soft_threshold(model.M, t)
    return dict(output=output, clipped=attend(clipped), plain=attend(model.M), kept=attend(kept))


def weights_of(model):
    _, _, weights, t = steps(model, 1, -1)
    return dict(spread=jnp.abs(len(model.M) * weights - 1).max(), threshold=t)


def residuals(model):
    norm = jnp.linalg.norm(model.M)
    rest = []
    for sign in (-1, 1):
        L, S, *_ = steps(model, MANY, sign)
        rest.append(jnp.linalg.norm(model.M - L - S) / norm)
    return dict(released=rest[0], mended=rest[1])


@lemma
def thresholds():
    """Any entry x of the keys beyond the threshold; any number of keys for the weights."""
    x, t = Symbol("x", positive=True), Symbol("t", positive=True)
    yield Solved("what the step of S leaves of x > t is t", (x - (x - t)) - Symbol("K"), Symbol("K"), [t])
    score, d = t**2 / sqrt(D), Symbol("d", integer=True)
    yield Step("the largest score of clipped keys", Sum(score, (d, 1, D)), t**2 * sqrt(D))
    # A weight is at most e^s/(N e^-s) for scores between -s and s.
    s = Symbol("s", positive=True)
    yield Step("N times a weight, less one", Subs(exp(s) / exp(-s) - 1, s, t**2 * sqrt(D)), exp(2 * t**2 * sqrt(D)) - 1)


keys = Subject(build, begun=0.0, wider=1.0, size=1.0)
theorem = Theorem(
    place="RPC-Attention, read off the authors' code; what one step does is derived here",
    label="derived",
    hypotheses=H,
    claims=dict(clipping=clipping, uniform=uniform, outlier=outlier, sign_minus=sign_minus, sign_plus=sign_plus),
    proofs=(thresholds,),
    experiments=dict(
        once=Experiment(once, seen, {N: 8}, at={D: 3, B: 2}, draws=Efforts(200, 200, 300), subjects={
            "Gaussian keys and an entry of two more": keys,
            "a multiplier at the start": keys(begun=0.5).breaking(H.first, fails=clipping),
        }),
        outliers=Experiment(weights_of, outlying, {N: 32}, at={D: 8, B: 10000}, draws=Efforts(200, 240, 600), subjects={
            "an outlier": keys,
            "a multiplier at the start": keys(begun=0.5).breaking(H.first, fails=uniform),
            "mu of a head twenty times as wide": keys(wider=20.0).breaking(H.adaptive, fails=outlier),
        }),
        signs=Experiment(residuals, drawn, {N: 64}, at={D: 16, B: 0}, draws=Efforts(200, 240, 600), subjects={
            "Gaussian keys": keys,
            "values a tenth as large": keys(size=0.1).breaking(H.gaussian, fails=sign_minus),
            "mu of a head twenty times as wide": keys(wider=20.0).breaking(H.adaptive, fails=sign_plus),
            "values five times as large": keys(size=5.0).breaking(H.gaussian, fails=sign_plus),
        }),
    ),
    issues=(
        "The step of singular value thresholding is replaced by attention: no nuclear norm is minimised, and lam is 4.",
        "The released mu is too large by the number of heads: it has the entries of one head and the width of all.",
        "Residuals after many steps overlap for the two signs; convergence is not claimed for either.",
    ),
)
