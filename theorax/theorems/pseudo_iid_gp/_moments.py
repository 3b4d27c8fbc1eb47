"""Moments of activations under N(0, q) at stationary points of the map of variances: what theorems on width need of phi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Expr, Integer, Rational, diff, erf, exp, pi, sqrt, tanh

from theorax.theorems.language import Parameter
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp._deep import q, sb2, sw2

m2 = Parameter("m2", "E phi(sqrt q z)^2", positive=True)
m4 = Parameter("m4", "E phi(sqrt q z)^4", positive=True)
chi = Parameter("chi", "slope of the map of variances at q, sigma_w^2 E phi^2 (z^2 - 1)/(2 q)")


def mean(f: Callable[[Expr], Expr], variance: Expr, per_unit: int = 12, reach: int = 6) -> Expr:
    """E f(sqrt q z) for an even analytic f, |f| <= 1: the trapezoidal rule, in 20 digits.

    **Errors:** below 1e-8 for q <= 7/2 and f bounded by fifty on |Im x| <= pi/4, of which nearly all is what lies beyond
    the last node; see the instrument gaussian_expectation.
    """
    h, total = Rational(1, per_unit), f(Integer(0))
    for place in range(1, per_unit * reach + 1):
        total += 2 * f(sqrt(variance) * place * h) * exp(-((place * h) ** 2) / 2)
    return (total * h / sqrt(2 * pi)).evalf(20)


def tanh_point(variance: Expr, weight: Expr) -> dict[Parameter, Any]:
    """phi = tanh at this q and sigma_w^2, the variance of the biases chosen so that q is stationary."""
    second, power = mean(lambda x: tanh(x) ** 2, variance), mean(lambda x: tanh(x) ** 4, variance)
    slope = weight * (1 - 4 * second + 3 * power)
    return {q: variance, sw2: weight, sb2: variance - weight * second, m2: second, m4: power, chi: slope}


def erf_point(variance: Expr) -> dict[Parameter, Any]:
    """phi = erf at the edge of chaos."""
    known = deep.erf_point(variance)
    power = mean(lambda x: erf(x) ** 4, variance)
    slope = (known[sw2] * diff(deep.ERF_SQUARE, q)).subs(q, variance)
    return known | {m2: deep.ERF_SQUARE.subs(q, variance), m4: power, chi: slope}


def relu_point(bias: Expr) -> dict[Parameter, Any]:
    """ReLU at q = 1 with biases of this variance, less than one."""
    return {q: Integer(1), sw2: 2 * (1 - bias), sb2: bias, m2: Rational(1, 2), m4: Rational(3, 2), chi: 1 - bias}
