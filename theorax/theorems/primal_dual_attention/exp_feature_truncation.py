"""Monomials up to degree T carry the first T + 1 terms of the exponential kernel; the rest decays like a factorial.

**Theorem.** Let s = x.y/sqrt(D) and phi(x) consist of the monomials x^e D^(-|e|/4)/sqrt(e!) of
degree |e| <= T. Then phi(x).phi(y) = sum_(t <= T) s^t/t!, and |exp(s) - sum_(t <= T) s^t/t!| <=
|s|^(T+1)/(T+1)! max(1, e^s). If T is even, the sum is not negative. For even T, s_j =
q.k_j/sqrt(D), h = sum_j e^(s_j) and any values, the output of softmax attention at a query q
changes, if its kernel is replaced by this sum, by at most the range of the values times sum_j
|s_j|^(T+1)/(T+1)! max(1, e^(s_j))/h.

**Idea.** The multinomial theorem splits s^t/t! into the features of degree t. The remainder is
s^(T+1)/(T+1)! times a mean of e^u over u between 0 and s. An even polynomial is least where its
derivative, the sum to T - 1, vanishes; there s^T/T! >= 0 remains. So the truncated weights A~ are a
probability vector, and |A~ - A| = |(k~ - k)/h + A~ (h - h~)/h| sums to at most 2 sum_j |k~_j -
k_j|/h. Half of this, times the range, bounds the change of the output.
"""

from math import factorial as whole_factorial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from sympy import Abs, Derivative, Integer, Integral, Max, Subs, Sum, Symbol, binomial, exp, factorial

from theorax.language import *
from theorax.numerics.kernel_attention import KernelAttention, Softmax, Taylor, exponents, monomials, polynomial
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import D, N

T = Size("T", "largest degree of a monomial")
seen = arrays(
    product="phi(x).phi(y) for monomials up to degree T",
    unrooted="the same products with weights 1/e! for 1/sqrt(e!)",
    halved="the same products with tokens divided by sqrt(D) for its root",
    series="sum of s^t/t! up to t = T",
    s="x.y/sqrt(D)",
    rest="|exp(s) - sum of s^t/t! up to t = T|",
)
truncated = numbers(
    miss="largest error of an output of softmax attention when its kernel is cut off",
    bound="range of the values times sum_j |s_j|^(T+1)/(T+1)! max(1, e^s_j)/h, at the worst query",
)

H = hypotheses(even="T is even")
features = Identity(
    seen.product, seen.series, under=(),
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a wrong weight is of the order of the kernel"),
    wrong={"1/e! for 1/sqrt(e!)": dict(left=seen.unrooted), "D^(-1/2) for D^(-1/4)": dict(left=seen.halved)},
)
power, larger_end = Abs(seen.s) ** (T + 1), Max(1, exp(seen.s))
remainder = Inequality(
    seen.rest, at_most=power / factorial(T + 1) * larger_end, under=(),
    wrong={
        "without max(1, e^s)": power / factorial(T + 1),
        "(T + 2)! for (T + 1)!": power / factorial(T + 2) * larger_end,
    },
)
positive = Inequality(seen.series, at_least=0, under=H.even)
outputs = Inequality(truncated.miss, at_most=truncated.bound, under=H.even)


def build(key, N, D, size, odd, vanishing):
    """``odd``: a degree more; ``vanishing``: queries for which the weights of that degree sum to zero, almost."""
    keys, queries, values = setting.points(key, N, D)
    return size * keys, queries, values, odd, vanishing


def pairs(model, T):
    """Every pair of a query and a key."""
    keys, queries, _, odd, _ = model
    return compare(queries, keys, T.padded + 1, T.value + odd)


def compare(x, y, order, degree=None):
    """The features, two rivals, and the series."""
    phi, root = Taylor(order, degree), jnp.sqrt(jnp.asarray(float(x.shape[1])))
    e = exponents(x.shape[1], order)
    kept = 1.0 if degree is None else jnp.where(e.sum(1) <= degree, 1.0, 0.0)
    sizes = jnp.asarray([float(prod(map(whole_factorial, row))) for row in e.tolist()])
    single = [monomials(tokens / jnp.sqrt(root), e) / sizes * kept for tokens in (x, y)]
    s = x @ y.T / root
    series = polynomial(s, order, degree)
    return dict(
        product=phi.kernel(x, y), unrooted=single[0] @ single[1].T, series=series, s=s,
        halved=phi.kernel(x / jnp.sqrt(root), y / jnp.sqrt(root)), rest=jnp.abs(jnp.exp(s) - series),
    )


def at_zeros(queries, keys, order, degree):
    """The queries, rescaled to where the polynomial of odd degree sums to zero over the keys."""
    s = queries @ keys.T / jnp.sqrt(float(keys.shape[1]))
    total = lambda scale: polynomial(scale[:, None] * s, order, degree).sum(1)
    far = jnp.full(len(queries), 100.0)
    side = jnp.where(total(far) < 0, 1.0, -1.0)  # an odd polynomial falls below zero on one of them

    def halved(_, ends):
        low, high = ends
        middle = (low + high) / 2
        above = total(side * middle) > 0
        return jnp.where(above, middle, low), jnp.where(above, high, middle)

    low, _ = jax.lax.fori_loop(0, 24, halved, (jnp.zeros_like(far), far))
    return (side * low)[:, None] * queries


def layers(model, T):
    """Softmax attention beside the layer with finitely many features."""
    keys, queries, values, odd, vanishing = model
    degree, order = T.value + odd, T.padded + 1
    queries = jnp.where(vanishing > 0, at_zeros(queries, keys, order, degree), queries)
    zero = jnp.zeros(setting.OUTPUTS)
    exact, cut = (KernelAttention(kernel, keys, values, zero) for kernel in (Softmax(), Taylor(order, degree)))
    s = queries @ keys.T / jnp.sqrt(float(keys.shape[1]))
    left = jnp.exp((degree + 1) * jnp.log(jnp.abs(s)) - jax.scipy.special.gammaln(degree + 2.0) + jnp.maximum(s, 0))
    share = (left.sum(1) / jnp.exp(s).sum(1)).max()
    return dict(miss=jnp.abs(exact(queries) - cut(queries)).max(), bound=jnp.ptp(values, axis=0).max() * share)


@settles(features)
def multinomial():
    """Two tokens in two dimensions up to degree four, in three up to degree three."""
    t = Symbol("t", integer=True, nonnegative=True)
    for dimension, order in ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3)):
        x, y = setting.generic("x", 1, dimension), setting.generic("y", 1, dimension)
        yield Instance(features, f"D = {dimension}, T = {order}", compare, x, y, order)
        count = Sum(binomial(dimension - 1 + t, t), (t, 0, order))  # of every degree
        yield Step("how many there are", count, len(exponents(dimension, order)))


@derives(remainder)
def lagrange():
    """Every degree; the integral form of the remainder to degree six."""
    u, w, x = Symbol("u", real=True), Symbol("w", positive=True), Symbol("x", real=True)
    for order in range(7):
        series: Any = sum((x**t / factorial(t) for t in range(order + 1)), Integer(0))
        rest = Integral((x - u) ** order * exp(u), (u, 0, x)) / factorial(order)
        yield Step(f"what is left out, T = {order}", rest, exp(x) - series)
    weight = Integral((1 - w) ** T, (w, 0, 1)) / factorial(T)
    yield Step("the weights of e^u, u = s w, on [0, 1]", weight, 1 / factorial(T + 1))
    yield Step("e^u at most its value at the larger end", power * weight * larger_end, remainder.at_most)


@derives(positive)
def even_polynomials():
    """Degrees 2, 4 and 6; an even polynomial with a positive leading coefficient has a least value."""
    x = Symbol("x", real=True)
    for order in (2, 4, 6):
        series: Any = sum((x**t / factorial(t) for t in range(order + 1)), Integer(0))
        left = series - Derivative(series, x)
        yield Step(f"what remains where the derivative vanishes, T = {order}", left, x**order / factorial(order))
        # An even power is least at zero.
        yield Step(f"its least value, T = {order}", Subs(x**order / factorial(order), x, 0), positive.at_least)


tokens = Subject(build, size=1.0, odd=0, vanishing=0)
theorem = Theorem(
    place="the feature map of the exponential kernel, cut off (derived; the kernel is the paper's softmax attention)",
    label="derived",
    hypotheses=H,
    claims=dict(features=features, remainder=remainder, positive=positive, outputs=outputs),
    proofs=(multinomial, lagrange, even_polynomials),
    experiments=dict(
        pairs=Experiment(pairs, seen, {T: Efforts((2, 4), (2, 4, 6), (2, 4, 6, 8))}, at={N: 8, D: 3},
                         draws=Efforts(2, 3, 8), padded=True, subjects={
            "standard normal": tokens,
            "keys three times as long": tokens(size=3.0),
            "odd degree": tokens(size=3.0, odd=1).breaking(H.even, fails=positive),
        }),
        layers=Experiment(layers, truncated, {T: (4, 8, 12)}, at={N: 64, D: 3}, draws=Efforts(600, 600, 1000), span=4,
                          padded=True, subjects={
            "standard normal": tokens,
            "keys twice as long": tokens(size=2.0),
            "odd degree, where weights sum to zero": tokens(odd=1, vanishing=1).breaking(H.even, fails=outputs),
        }),
    ),
    issues=(
        "The decay sets in once T is larger than the largest |s|; before, the bound says nothing about outputs.",
        "With an odd degree h may vanish or change its sign where some |s| is large: weights are then no shares.",
    ),
)
