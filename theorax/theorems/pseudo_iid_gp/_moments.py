"""Moments of activations under N(0, q) at stationary points of the map of variances: what theorems on width need of phi."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Derivative,
    Expr,
    Function,
    Integer,
    Integral,
    Rational,
    Symbol,
    cosh,
    diff,
    erf,
    exp,
    oo,
    pi,
    sqrt,
    tanh,
)

from theorax.language import Parameter, Step, lemma
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp._deep import q, sb2, sw2
from theorax.theorems.pseudo_iid_gp._kernels import ERF, RELU

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


class bell(Function):
    """E cosh(sqrt q z)^(-2k) at (k, q) by the trapezoidal rule, off by less than `bell_error`; `doit` writes the sum out."""

    nargs = 2
    PER_UNIT, REACH = 6, 7

    def doit(self, **hints: Any) -> Expr:
        """The sum over the nodes, in exact numbers."""
        return _over_nodes(*self.args)


@lru_cache(maxsize=256)
def _over_nodes(k: Expr, variance: Expr) -> Expr:
    h, root = Rational(1, bell.PER_UNIT), sqrt(variance)
    nodes = [place * h for place in range(1, bell.PER_UNIT * bell.REACH + 1)]
    terms = [2 * cosh(root * x) ** (-2 * k) * exp(-(x**2) / 2) for x in nodes]
    return Add(Integer(1), *terms) * h / sqrt(2 * pi)


def bell_error(k: int, variance: Expr) -> Expr:
    r"""A bound on the error of `bell`.

    $|\cosh(x + iy)|^2 = \sinh^2 x + \cos^2 y \ge 1/2$ for $|y| \le \pi/4$, so that $M = 2^k$ bounds the function on a strip
    of $b = \pi/(4 \sqrt q)$ standard deviations to either side: the rule on the whole line errs by at most
    $2 M e^{b^2/2}/(e^{2 \pi b m} - 1)$, m nodes to a deviation. Beyond the reach R the nodes carry less than
    $2 e^{-R^2/2}/(R \sqrt{2 \pi})$.

    **Source:** Trefethen and Weideman 2014, theorem 5.1, as in `_gaussian_means.mean_error`.
    """
    b = pi / (4 * sqrt(variance))
    rule = 2 ** (k + 1) * exp(b**2 / 2) / (exp(2 * pi * b * bell.PER_UNIT) - 1)
    return rule + 2 * exp(-Rational(bell.REACH**2, 2)) / (bell.REACH * sqrt(2 * pi))


def tanh_curve(variance: Expr, errors: Sequence[Expr], power: int = 2) -> tuple[Expr, Expr, Expr]:
    """sigma_w^2 of the edge of chaos of tanh, sigma_b^2 and its slope in q, where bells are off by these errors.

    tanh^2 = 1 - cosh^(-2) and tanh'^2 = cosh^(-4); with ``power`` one in the place of two tanh' itself is taken for it.
    """
    bells = [bell(k, variance) + error for k, error in enumerate(errors, start=1)]
    steepness = bells[power - 1]
    squares, slopes = 1 - bells[0], bell_slopes(*bells)
    slope = 1 + (slopes[0] * steepness + squares * slopes[power - 1]) / steepness**2
    return 1 / steepness, variance - squares / steepness, slope


def bell_slopes(one: Expr, two: Expr, three: Expr) -> tuple[Expr, Expr]:
    """Derivatives of the first two bells in q: half the means of second derivatives."""
    return 2 * one - 3 * two, 8 * two - 10 * three


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


class power_mean(Function):
    """E phi^power under N(0, K) at (power, act, K) for powers two and four; a number once act and K are."""

    nargs = 3

    @classmethod
    def eval(cls, power: Expr, act: Expr, K: Expr) -> Expr | None:
        if act == RELU:
            return K / 2 if power == 2 else 3 * K**2 / 2
        return _moment(int(power), int(act), K.evalf(30)) if act.is_Integer and K.is_number else None


class variance_slope(Function):
    """Derivative of E phi^2 under N(0, K) in K, half the mean of its second derivative, at (act, K); a number once both are."""

    nargs = 2

    @classmethod
    def eval(cls, act: Expr, K: Expr) -> Expr | None:
        if act == RELU:
            return Rational(1, 2)
        if not (act.is_Integer and K.is_number):
            return None
        if act == ERF:
            return diff(deep.ERF_SQUARE, q).subs(q, K).evalf(30)
        return 1 - 4 * power_mean(Integer(2), act, K) + 3 * power_mean(Integer(4), act, K)


@lru_cache(maxsize=256)
def _moment(power: int, activation: int, variance: Expr) -> Expr:
    if activation == ERF and power == 2:
        return deep.ERF_SQUARE.subs(q, variance).evalf(30)
    return mean(lambda x: (erf(x) if activation == ERF else tanh(x)) ** power, variance)


@lemma
def slopes() -> Iterator[Step]:
    """Each activation: chi = sigma_w^2 E (phi^2)''/2."""
    x, s = Symbol("x", real=True), Symbol("s", real=True)
    normal = exp(-(x**2) / (2 * q)) / sqrt(q)
    yield Step("the density solves the heat equation in q", Derivative(normal, q), Derivative(normal, (x, 2)) / 2)
    yield Step("tanh", Derivative(tanh(x) ** 2, (x, 2)) / 2, 1 - 4 * tanh(x) ** 2 + 3 * tanh(x) ** 4)
    density = exp(-(s**2) / 2) / sqrt(2 * pi)
    yield Step("ReLU, the slope of q E z^2 over z > 0", Integral(s**2 * density, (s, 0, oo)), Rational(1, 2))
    yield Step("erf", Derivative(deep.ERF_SQUARE, q), 4 / (pi * (1 + 2 * q) * sqrt(1 + 4 * q)))


def moments_at(K: Expr, act: Expr) -> dict[Parameter, Expr]:
    """The three moments of the activation at this place under N(0, K)."""
    return {m2: power_mean(2, act, K), m4: power_mean(4, act, K), chi: sw2 * variance_slope(act, K)}
