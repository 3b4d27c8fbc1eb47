"""The constraint that the bias brings is that the values have mean zero under the stationary law of the self-attention.

Let A_lj = k(k_l, k_j)/h_l be the attention of the keys to each other. As k is symmetric, pi_l = h_l/sum h satisfies
pi_l A_lj = pi_j A_jl, so pi is the stationary law of the chain A, and sum_l pi_l f(k_l) = b + sum_j pi_j v_j. Stationarity
in b says sum_j beta_j = sum_j h_j v_j = 0, so the second term vanishes: b is the stationary mean of the outputs. As rows
of A sum to one, (V, b) and (V + 1 c^T, b - c) are one function: attention with any values and no bias is the expansion
with centred values and b = sum_j pi_j v_j. The constant itself lies in the span of the normalised features, W = sum_j
phi(k_j), so b adds nothing to the class of functions; it changes what is penalised. Without b nothing centres the values.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, symbols

from theorax.numerics.jaxprs import Symbolic, evaluate
from theorax.numerics.kernel_attention import Features, Regression
from theorax.numerics.keys import named
from theorax.theorems.language import (
    Efforts,
    Experiment,
    Hypothesis,
    Identity,
    Inequality,
    Measured,
    Proof,
    Relative,
    Step,
    Theorem,
    instance,
)
from theorax.theorems.primal_dual_attention import _setting as setting
from theorax.theorems.primal_dual_attention._setting import FEATURES, LINEAR, OUTPUTS, PLAIN, TAYLOR, C, D, N, eps

forth = Measured("forth", "pi_l A_lj", array=True)
back = Measured("back", "pi_j A_jl", array=True)
after = Measured("after", "pi A", array=True)
law = Measured("law", "pi_j = h_j/sum h", array=True)
mean = Measured("mean", "sum_l pi_l f(k_l)", array=True)
centre = Measured("centre", "b + sum_j pi_j v_j", array=True)
average = Measured("average", "b + the plain mean of the values", array=True)
output = Measured("output", "f(q) of values V and bias b", array=True)
shifted = Measured("shifted", "f(q) of values V + 1 c^T and bias b - c", array=True)
same_bias = Measured("same_bias", "f(q) of values V + 1 c^T and bias b", array=True)
one = Measured("one", "W phi(q)/h(q) with W = sum_j phi(k_j)", array=True)
one_raw = Measured("one_raw", "the same with W = sum_j phi(k_j)/h_j", array=True)

exact: dict[str, Any] = dict(
    margin=Relative(1, 10**9), because="the account of the rounding stays below it, wrong weights are tenths off"
)
reversible = Identity(left=forth, right=back, **exact, under=("symmetric",))
stationary = Identity(left=after, right=law, **exact, under=("symmetric",))
mean_output = Identity(
    left=mean,
    right=centre,
    **exact,
    under=("symmetric",),
    mutants={"the plain mean of the values": dict(right=average)},
)
gauge = Identity(
    left=output, right=shifted, **exact, under=(), mutants={"the bias left as it is": dict(right=same_bias)}
)
constant = Identity(
    left=one, right=1, **exact, under=("symmetric",), mutants={"rows summed instead": dict(left=one_raw)}
)

total = Measured("total", "sum_j h_j v_j, squared and summed over the outputs", array=True)
unweighted = Measured("unweighted", "sum_j v_j, squared and summed over the outputs", array=True)
miss = Measured("miss", "sum_l pi_l f(k_l) - b, squared and summed over the outputs", array=True)
by_mean = Measured("by_mean", "the plain mean of f(k_l), less b, squared and summed over the outputs", array=True)

# Sums that the solver holds to 1e-13 of coefficients up to 30 are below 1e-9; squared, and without it of order one.
SMALL, LARGE = Rational(1, 10**18), Rational(1, 10**6)
centred = Inequality(of=total, at_most=SMALL, under=("free",), mutants={"without weights": dict(of=unweighted)})
bias_is_mean = Inequality(of=miss, at_most=SMALL, under=("free",), mutants={"by the plain mean": dict(of=by_mean)})
not_centred = Inequality(
    of=total, at_least=LARGE, under=("fixed",), mutants={"centred": dict(at_least=None, at_most=SMALL)}
)


class Chain(eqx.Module):
    """Keys that attend to each other, as queries through a matrix of their own, with any values and bias."""

    features: Features
    keys: Any
    queries: Any
    V: Any
    b: Any
    c: Any
    asks: Any


def chain(key, N, D, kind, apart):
    """``apart``: how far the matrix of the queries is from that of the keys."""
    keys, queries, V = setting.points(key, N, D)
    turned = jnp.eye(D.padded) + apart * jax.random.normal(named(key, "W_Q"), (D.padded, D.padded))
    b, c = jax.random.normal(named(key, "b"), (2, OUTPUTS))
    return Chain(FEATURES[int(kind)], keys, queries, V, b, c, turned)


def walk(K, asked, V, b, c):
    """Everything that holds of a kernel matrix K between the keys, ``asked`` between queries and keys."""
    h = K.sum(1)
    A, pi = K / h[:, None], h / h.sum()
    weights = asked / asked.sum(1, keepdims=True)
    return dict(
        forth=pi[:, None] * A,
        back=(pi[:, None] * A).T,
        after=pi @ A,
        law=pi,
        mean=pi @ (A @ V + b),
        centre=b + pi @ V,
        average=b + V.sum(0) / len(V),
        output=weights @ V + b,
        shifted=weights @ (V + c) + (b - c),
        same_bias=weights @ (V + c) + b,
    )


def observe(model):
    phi, keys = model.features, model.keys
    K, asked = phi.kernel(keys @ model.asks.T, keys), phi.kernel(model.queries, keys)
    blank, none = Regression(phi, keys, jnp.zeros(()), jnp.zeros(())), jnp.zeros(1)
    # The normaliser of the chain's own queries: with two matrices it is not that of the features.
    h = phi.kernel(keys @ model.asks.T, keys).sum(1)
    rows = phi(keys) / h[:, None]
    return dict(
        walk(K, asked, model.V, model.b, model.c),
        one=rows @ phi(keys).sum(0),
        one_raw=Regression(phi, keys, blank.rows(keys).sum(0)[None], none)(model.queries),
    )


def solved(key, N, D, C, eps, kind, bias):
    return setting.fit(FEATURES[int(kind)], *setting.points(key, N, D), C, eps, bias)


def values(fitted):
    layer, h = fitted.attention, fitted.h
    V, pi, f = layer.values, h / h.sum(), layer(fitted.keys)
    squared = lambda x: (x**2).sum()  # noqa: E731
    return dict(
        total=squared(h @ V),
        unweighted=squared(V.sum(0)),
        miss=squared(pi @ f - layer.bias),
        by_mean=squared(f.sum(0) / len(f) - layer.bias),
    )


def proof(claim):
    def steps():
        """Any symmetric kernel matrix of three keys, any weights of one query, any values, b and c."""
        K, q = setting.generic("k", 3, 3), setting.generic("q", 1, 3)
        for i in range(3):
            K[i, :i] = K[:i, i]
        given = (K, q, setting.generic("v", 3, 1), setting.generic("b", 1), setting.generic("c", 1))
        yield instance(claim, "the measured program on symbols", evaluate(walk, given, Symbolic()))

    return Proof(steps, settles=True)


def constants():
    """Two keys and a query in the plane, phi(x) = x."""
    g = setting.generic
    model = Chain(FEATURES[PLAIN], g("k", 2, 2), g("q", 1, 2), g("v", 2, 1), g("b", 1), g("c", 1), np.eye(2))
    yield instance(constant, "the measured program on symbols", evaluate(observe, (model,), Symbolic()))


def centring():
    """Three keys: what stationarity in b says of the values."""
    h, v = symbols("h_1:4"), symbols("v_1:4")
    total = sum(x * y for x, y in zip(h, v, strict=True))
    pi = [x / sum(h) for x in h]
    c: Any = sum(p * y for p, y in zip(pi, v, strict=True))
    left: Any = sum(x * (y - c) for x, y in zip(h, v, strict=True))
    yield Step("centred values satisfy it", left.factor(), 0)
    yield Step("it is the stationary mean, times sum h", (c * sum(h)).factor(), total)


walking = setting.subjects(chain, kind=LINEAR, apart=0.0)
fitted = setting.subjects(solved, kind=TAYLOR, bias=1)
theorem = Theorem(
    place="the bias of the expansion (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "softmax_attention_support_vector_expansion"),
    hypotheses=dict(
        symmetric=Hypothesis("queries and keys go through the same map, so that k is symmetric"),
        free=Hypothesis("b is a variable of the program"),
        fixed=Hypothesis("b is held at zero"),
    ),
    claims=dict(
        reversible=reversible,
        stationary=stationary,
        mean_output=mean_output,
        gauge=gauge,
        constant=constant,
        centred=centred,
        bias_is_mean=bias_is_mean,
        not_centred=not_centred,
    ),
    experiments=dict(
        chain=Experiment(
            subjects={
                "Taylor features": walking(kind=TAYLOR),
                "linear attention": walking(),
                "queries by another matrix": walking(
                    apart=0.5, breaks=("symmetric",), fails=("reversible", "stationary", "mean_output", "constant")
                ),
            },
            observe=observe,
            measures=(forth, back, after, law, mean, centre, average, output, shifted, same_bias, one, one_raw),
            sweep={N: (4, 8)},
            at=({D: 2},),
            draws=setting.DRAWS,
        ),
        solved=Experiment(
            subjects={
                "Taylor features": fitted(breaks=("fixed",), fails=("not_centred",)),
                "linear attention": fitted(kind=LINEAR, breaks=("fixed",), fails=("not_centred",)),
                "Taylor features, no bias": fitted(bias=0, breaks=("free",), fails=("centred", "bias_is_mean")),
                "linear attention, no bias": fitted(kind=LINEAR, bias=0, breaks=("free",), fails=("centred", "bias_is_mean")),
            },
            observe=values,
            measures=(total, unweighted, miss, by_mean),
            sweep={N: (8, 16)},
            at=({D: 3, C: 30, eps: Rational(1, 10)},),
            draws=Efforts(quick=3, standard=8, thorough=32),
        ),
    ),
    proof=dict(
        reversible=proof(reversible),
        stationary=proof(stationary),
        mean_output=proof(mean_output),
        gauge=proof(gauge),
        constant=Proof(constants, settles=True),
        centring=centring,
    ),
    issues=(
        "That values are not centred without b is said of the law of the draws: there are targets for which they are.",
        "Attention has no bias as a rule; then nothing says that sum_j h_j v_j = 0, and both cannot be used together.",
    ),
)  # fmt: skip
