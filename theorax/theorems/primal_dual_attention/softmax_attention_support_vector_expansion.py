"""The support vector expansion of a regression on phi(x)/h(x), at a query, is an attention layer.

**Theorem.** Let k(x, y) = phi(x).phi(y), let h(x) be the sum of k(x, k_l) over some keys,
h_j = h(k_j), let W = sum_j beta_j phi(k_j)/h_j over the keys of a regression on the rows
phi(k_j)/h_j, and v_j = beta_j/h_j. Then W phi(q)/h(q) + b = sum_j k(q, k_j) v_j/h(q) + b. If h is
summed over exactly these keys, this is the attention layer with values v_j and bias b. In that case
any W and b, any feasible dual multipliers, and the gap g of their values satisfy
(W phi(q)/h(q) + b - layer(q))^2 <= 2 g |phi(q)|^2/h(q)^2. Softmax attention with scores
q.k_j/sqrt(D) is the layer with the kernel exp(x.y/sqrt(D)).

**Idea.** Insert W: each feature product phi(k_j).phi(q) is a kernel value. If h is summed over the
keys, the weights k(q, k_j)/h(q) sum to one. Only stationarity in W is used. The features of the
exponential kernel are all monomials; even truncations replace them where W must be computed. The
gap bounds |W - sum_j beta_j phi(k_j)/h_j|^2/2.
"""

from math import factorial, prod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Integer, Matrix, Rational, Symbol, sqrt, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import Features, KernelAttention, Regression, Softmax, exponents, feature_rows
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._quadratic import (
    Dual,
    Primal,
    feasible,
    lower_bound,
    solve_dual,
    solve_primal,
    upper_bound,
)
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, TAYLOR, C, D, N, eps

seen = arrays(
    regression="W phi(q)/h(q) + b with W by the multipliers",
    layer="the attention layer with the values beta_j/h_j",
    own="sum_j k(q, k_j)/h(q) v_j + b with the h of the regression",
    found="W phi(q)/h(q) + b with W of the primal program",
    reach="|phi(q)|^2/h(q)^2",
    gap="primal less dual value",
    bias="b at every query",
    plain="the layer with the values beta_j",
    cooler="the layer with the scores <q, k_j>/D",
    unnormalised="the layer with the weights k(q, k_j)",
    softmax="softmax attention with these values, by JAX",
    exponential="the layer with the kernel exp(<x, y>/sqrt(D))",
    too_cool="the layer with the kernel exp(<x, y>/D)",
)

H = hypotheses(
    same_keys="h is summed over the keys that the regression is trained on",
    stationary="W is stationary: w = sum_j beta_j phi(k_j)/h_j",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, the nearest wrong layer is a tenth off")
expansion = Identity(
    seen.regression, seen.layer, under=(H.same_keys, H.stationary), margin=exact,
    wrong={
        "values beta_j": seen.plain,
        "the bias dropped": seen.layer - seen.bias,
        "1/D in the place of 1/sqrt(D)": seen.cooler,
        "not normalised at the query": seen.unnormalised,
        "the sign of beta": 2 * seen.bias - seen.layer,
    },
)
general = Identity(seen.regression, seen.own, under=H.stationary, margin=exact)
# The gap pays for what W is off: |W - sum_j beta_j x_j|^2 is at most twice the gap, stationary or not.
agree = Inequality((seen.found - seen.layer) ** 2, at_most=2 * seen.gap * seen.reach, under=H.same_keys)
is_softmax = Identity(
    seen.softmax, seen.exponential, under=(), margin=exact,
    wrong={"1/D in the place of 1/sqrt(D)": seen.too_cool},
)


class ExtendedRegression(eqx.Module):
    """A regression on some keys whose h is summed over these and ``more`` of them, both programs solved."""

    features: Features
    keys: jax.Array
    more: jax.Array
    queries: jax.Array
    targets: jax.Array
    primal: Primal
    dual: Dual
    excess: jax.Array  # what is added to W
    constrained: bool = eqx.field(static=True)


def pair(key, N, D, C, eps, kind, bias, more, excess):
    keys, queries, targets = setting.points(key, N, D)
    extra = jax.random.normal(named(key, "more"), (int(more), D.padded))
    phi, free = FEATURES[int(kind)], bool(bias)
    X = feature_rows(phi, jnp.concatenate([keys, extra]), keys)
    primal, dual = solve_primal(X, targets, C, eps, free), solve_dual(X, targets, C, eps, free)
    away = excess * jax.random.normal(named(key, "astray"), primal.W.shape)
    return ExtendedRegression(phi, keys, extra, queries, targets, primal._replace(W=primal.W + away), dual, away, free)


def outputs(phi, keys, more, queries, beta, b, away=0.0):
    """The regression beside the layers."""
    summed = jnp.concatenate([keys, more])
    h, at = (phi.kernel(tokens, summed).sum(1, keepdims=True) for tokens in (keys, queries))
    values, cooler = beta / h, keys.shape[1] ** -0.25
    layer = KernelAttention(phi, keys, values, b)
    K, weights = phi.kernel(queries, keys), layer.weights(queries)
    return dict(
        regression=Regression(phi, summed, beta.T @ feature_rows(phi, summed, keys) + away, b)(queries),
        layer=layer(queries),
        own=K / at @ values + b,
        bias=jnp.broadcast_to(b, (len(queries), len(b))),
        plain=weights @ beta + b,
        cooler=KernelAttention(phi, cooler * keys, values, b)(cooler * queries),
        unnormalised=K @ values + b,
    )


def observe(model, C, eps):
    phi, keys, (W, b) = model.features, model.keys, model.primal
    here = Regression(phi, jnp.concatenate([keys, model.more]), W, b)
    X, at = here.rows(keys), here.rows(model.queries)
    alpha, alphat = feasible(model.dual, C, model.constrained)
    beta, above = alpha - alphat, upper_bound(model.primal, X, model.targets, C, eps)
    difference = above - lower_bound(alpha, alphat, X @ X.T, model.targets, eps)
    values = beta / phi.kernel(keys, here.keys).sum(1, keepdims=True)
    layers = outputs(phi, keys, model.more, model.queries, beta, b, model.excess)
    reach = jnp.broadcast_to((at**2).sum(1, keepdims=True), (len(model.queries), len(b)))
    solved = dict(found=here(model.queries), reach=reach, gap=difference)
    return layers | softmax_layers(model.queries, keys, values) | solved


def softmax_layers(queries, keys, values):
    """Softmax attention as JAX has it, and by its kernel."""
    layer = lambda kernel: KernelAttention(kernel, keys, values, jnp.zeros_like(values[0]))(queries)
    weights = jax.nn.softmax(queries @ keys.T / jnp.sqrt(1.0 * keys.shape[1]))
    return dict(softmax=weights @ values, exponential=layer(Softmax()), too_cool=layer(Softmax(1 / keys.shape[1])))


def on_symbols(keys, more):
    """One query whose features are turned to (1, 0), one output, any beta and b: what ``outputs`` takes."""
    g, q = setting.generic, np.array([[Integer(1), Integer(0)]], dtype=object)
    return FEATURES[PLAIN], g("phi", keys, 2), g("more", more, 2), q, g("beta", keys, 1), g("b", 1)


@settles(expansion)
def generic_features():
    """Three keys and a query, two features of any values (up to rotation and length of the query's), any beta and b."""
    yield Instance(expansion, "three keys", outputs, *on_symbols(3, 0))


@settles(general)
def another_normaliser():
    """Two keys, h over one more, and a query; two features of any values (up to those of the query), any beta and b."""
    yield Instance(general, "two keys and one more", outputs, *on_symbols(2, 1))


def monomial(z, e, size):
    """z^e size^(-|e|/4)/sqrt(e!), one feature of the exponential kernel."""
    powers = prod(s**p for s, p in zip(z, e, strict=True))
    return powers / size ** Rational(sum(e), 4) / sqrt(prod(map(factorial, e)))


@lemma
def monomials():
    """Degrees up to four in the plane: the features of exp(<x, y>/sqrt(D)), by the multinomial theorem."""
    x, y = (Matrix(symbols(f"{name}_1:3")) for name in "xy")
    size = Symbol("D", positive=True)
    for t in range(1, 5):
        rows = [e for e in exponents(2, 4).tolist() if sum(e) == t]
        of_x, of_y = ([monomial(z, e, size) for e in rows] for z in (x, y))
        total: Any = sum(a * b for a, b in zip(of_x, of_y, strict=True))
        yield Step(f"degree {t}", total, x.dot(y) ** t / (factorial(t) * size ** Rational(t, 2)))


@settles(is_softmax)
def by_exponentials():
    """Three keys and a query in the plane, one output, any values."""
    q, k, v = (setting.generic(*letter) for letter in (("q", 1, 2), ("k", 3, 2), ("v", 3, 1)))
    yield Instance(is_softmax, "three keys", softmax_layers, q, k, v)


fitted = Subject(pair, kind=TAYLOR, bias=True, more=0, excess=0.0)
theorem = Theorem(
    place="the main theorem: self-attention as the expansion of a support vector regression",
    label="reconstructed",
    uses=("svr_primal_dual_kkt",),
    hypotheses=H,
    claims=dict(expansion=expansion, general=general, agree=agree, is_softmax=is_softmax),
    proofs=(generic_features, another_normaliser, setting.every_set, by_exponentials, monomials),
    experiments=dict(
        fitted=Experiment(observe, seen, {N: (4, 8)}, at={D: 2, C: 30, eps: Rational(1, 10)}, draws=Efforts(2, 3, 12),
                          padded=True, subjects={
            "Taylor features": fitted,
            "linear attention": fitted(kind=LINEAR),
            "Taylor features, no bias": fitted(bias=False),
            "h over four keys more": fitted(more=4).breaking(H.same_keys, fails=(expansion, agree)),
            "W off the span of the rows": fitted(excess=0.1).breaking(H.stationary, fails=(expansion, general)),
        }),
    ),
    issues=(
        "The values are outputs of the dual program: given values are reached by choosing targets, see "
        "attention_values_realisable.",
        "h depends on all keys, so every sequence has a regression, and a feature map, of its own.",
    ),
)
