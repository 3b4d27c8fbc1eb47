"""The duality gap of a regression, at any two points, equals the violation of the KKT conditions there.

**Theorem.** Let x_j = phi(k_j)/h_j, h_j not 0, and let W, b, slacks xi, xit and multipliers alpha,
alphat be arbitrary, beta = alpha - alphat and r = y - f, with sum_j beta_j = 0, or b = 0 if b is no
variable. With the same C in both programs and any eps, the primal value minus the dual value is
|W - sum_j beta_j x_j|^2/2 + sum_j (alpha_j (eps + xi_j - r_j) + alphat_j
(eps + xit_j + r_j) + (C - alpha_j) xi_j + (C - alphat_j) xit_j), summed over the outputs.

**Idea.** Expand both sides. The dual value is the value of the Lagrangian where its gradient in W,
b and the slacks vanishes: W = sum_j beta_j x_j, sum_j beta_j = 0, and alpha + eta = C for the
multipliers eta of the slacks. At feasible points all terms of the sum are at least zero, and they
are the violations of the KKT conditions. The outputs do not interact.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Matrix, Rational, symbols, transpose

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Features, feature_rows
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._quadratic import lower_bound
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, TAYLOR, C, D, N, eps

seen = arrays(
    primal="primal value at any point",
    dual="dual value at any multipliers",
    square="|w - sum_j beta_j x_j|^2/2",
    tube="sum of alpha (eps + xi - r) and alphat (eps + xit + r)",
    box="sum of (C - alpha) xi and (C - alphat) xit",
    quadratic="beta^T G beta",
    unsigned="eps sum_j (alpha_j + alphat_j - beta_j)",
    raw="|w - sum_j beta_j phi(k_j)|^2/2",
    kernel="beta^T K beta, K without the normalisers",
)

H = hypotheses(
    normaliser=setting.NORMALISER,
    balance="sum_j beta_j = 0 where b is a variable",
    same="both programs have the same C",
)
gap = Identity(
    seen.primal - seen.dual, seen.square + seen.tube + seen.box, # for every C and eps
    margin=Relative(1, 10**6, "the account of the rounding stays below it, a wrong term is of the order of the whole"),
    wrong={
        "the dual with + beta^T G beta/2": dict(left=seen.primal - seen.dual - seen.quadratic),
        "the dual with K in the place of G": dict(left=seen.primal - seen.dual + (seen.kernel - seen.quadratic) / 2),
        "eps times the sum of beta": dict(left=seen.primal - seen.dual - seen.unsigned),
        "w = sum of beta phi, without 1/h": seen.raw + seen.tube + seen.box,
    },
)


class Anything(eqx.Module):
    """A point of the primal program and multipliers, neither optimal nor feasible."""

    features: Features
    keys: Entries[Any, "N D"]
    targets: Entries[Any, "N V"]
    W: Entries[Any, "V F"]
    b: Entries[Any, " V"] | float
    xi: Entries[Any, "N V"]
    xit: Entries[Any, "N V"]
    alpha: Entries[Any, "M V"]  # of all keys but the first
    alphat: Entries[Any, "N V"]
    total: Any  # the sum of beta
    share: Any  # of C in the box of the dual


def anything(key, N, D, kind, bias, total, share):
    keys, _, targets = setting.points(key, N, D)
    phi, shape = FEATURES[int(kind)], (N.padded, setting.OUTPUTS)
    draw = lambda name, *shape: jax.random.normal(named(key, name), shape)
    W, b = draw("W", setting.OUTPUTS, phi(keys).shape[1]), float(bias) * draw("b", setting.OUTPUTS)
    xi, xit, alpha, alphat = (draw(name, *shape) for name in ("xi", "xit", "alpha", "alphat"))
    return Anything(phi, keys, targets, W, b if bias else 0.0, xi, xit, alpha[1:], alphat, total, share)


def terms(model, C, eps):
    X = feature_rows(model.features, model.keys, model.keys)
    first = model.alphat.sum(0, keepdims=True) - model.alpha.sum(0, keepdims=True) + model.total
    alpha, alphat = jnp.concatenate([first, model.alpha]), model.alphat
    beta, r = alpha - alphat, model.targets - (X @ model.W.T + model.b)
    phi = model.features(model.keys)
    K = phi @ phi.T
    return dict(
        primal=(model.W**2).sum() / 2 + C * (model.xi + model.xit).sum(),
        dual=lower_bound(alpha, alphat, X @ X.T, model.targets, eps),
        square=((model.W - beta.T @ X) ** 2).sum() / 2,
        tube=(alpha * (eps + model.xi - r) + alphat * (eps + model.xit + r)).sum(),
        box=((model.share * C - alpha) * model.xi + (model.share * C - alphat) * model.xit).sum(),
        quadratic=(beta * (X @ (X.T @ beta))).sum(),
        unsigned=eps * (alpha + alphat - beta).sum(),
        raw=((model.W - beta.T @ phi) ** 2).sum() / 2,
        kernel=(beta * (K @ beta)).sum(),
    )


@settles(gap)
def generic_points():
    """Two keys in the plane, one output, phi(x) = x; every weight, slack, target and multiplier, every C and eps."""
    g = setting.generic
    y, xi, xit, alpha, alphat = (g(name, 2, 1) for name in ("y", "xi", "xit", "alpha", "alphat"))
    model = Anything(FEATURES[PLAIN], g("k", 2, 2), y, g("w", 1, 2), g("b", 1), xi, xit, alpha[1:], alphat, 0.0, 1.0)
    yield Instance(gap, "two keys", terms, model, g("C"), g("e"))


@lemma
def every_size():
    """Any number of keys and features, one output: the gap, and the Lagrangian where its gradient is zero."""
    X, w, one, y, a, at, xi, xit = generic_matrices("X w u y a at xi xit")  # u: all ones
    b, c, e = symbols("b c e", real=True)
    t, beta, r = transpose, a - at, y - X * w - b * one
    # Numbers equal their transposes; the sum of beta is zero.
    numbers = tuple((t(p) * q, t(q) * p) for p in (a, at) for q in (one, y, xi, xit, X * w))
    numbers += ((t(one) * a, t(one) * at), *((t(p) * one, t(one) * p) for p in (xi, xit)))
    primal = t(w) * w / 2 + c * t(one) * (xi + xit)
    dual = t(y) * beta - t(beta) * X * t(X) * beta / 2 - e * t(one) * (a + at)
    square = t(w - t(X) * beta) * (w - t(X) * beta) / 2
    tube = t(a) * (e * one + xi - r) + t(at) * (e * one + xit + r)
    box = t(c * one - a) * xi + t(c * one - at) * xit
    yield MatrixStep("the gap", primal - dual, square + tube + box, numbers)
    # Where alpha + eta = C the slacks drop out, and w = sum of beta x.
    best = t(X) * beta
    f = X * best + b * one
    L = t(best) * best / 2 + t(a) * (y - f - e * one) + t(at) * (f - y - e * one)
    yield MatrixStep("the Lagrangian at its zero gradient", L, dual, numbers)


@lemma
def lagrangian():
    """Two keys, two features, one output, generic symbols: the zero gradient, and the value that it leaves."""
    w, y, xi, xit, a, at, eta, etat = (
        Matrix(symbols(f"{name}_1:3")) for name in ("w", "y", "xi", "xit", "a", "at", "eta", "etat")
    )
    X, (b, c, e) = Matrix(2, 2, symbols("x_1:3_1:3")), symbols("b c e")
    f, one = X * w + Matrix([b, b]), Matrix([1, 1])
    L = (
        w.dot(w) / 2 + c * one.dot(xi + xit) - eta.dot(xi) - etat.dot(xit)
        + a.dot(y - f - e * one - xi) + at.dot(f - y - e * one - xit)
    )
    beta = a - at
    found = dict(zip(w, X.T * beta, strict=True))
    yield Solved("its zero gradient in w: w = sum of beta x", [L.diff(s) for s in w], list(w), [found])
    yield Step("in b: the sum of beta", -Derivative(L, b), sum(beta))
    left = {s: c - t for s, t in zip((*eta, *etat), (*a, *at), strict=True)}
    yield Solved("in the slacks: alpha + eta = C", [L.diff(s) for s in (*xi, *xit)], [*eta, *etat], [left])
    no_sum = {a[0]: at[0] + at[1] - a[1]}  # the sum of beta is zero
    value = y.dot(beta) - (beta.T * X * X.T * beta)[0] / 2 - e * one.dot(a + at)
    yield Step("what is left is the dual value", L.subs(found).subs(left).subs(no_sum), value.subs(no_sum))


point = Subject(anything, kind=LINEAR, bias=True, total=0.0, share=1.0)
theorem = Theorem(
    place="the Lagrangian of the two programs that precede the main theorem (the identity: derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(gap=gap),
    proofs=(generic_points, every_size, lagrangian),
    experiments=dict(
        any=Experiment(terms, seen, {N: (3, 8)}, at={D: 2, C: 30, eps: Rational(1, 8)}, draws=setting.DRAWS, padded=True,
                       subjects={
            "Taylor features": point(kind=TAYLOR),
            "linear attention": point,
            "no bias, any sum": point(bias=False, total=1.0),
            "a sum that is not zero": point(total=1.0).breaking(H.balance, fails=gap),
            "half of C in the dual": point(share=0.5).breaking(H.same, fails=gap),
        }),
    ),
    issues=("The outputs do not interact: both programs are sums over them.",),
)
