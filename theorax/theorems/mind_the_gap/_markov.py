"""The setting that the theorems of this paper share: its letters, the laws of its weights, its classes of corrections.

T tokens of width d = T/gamma start with orthonormal rows; A is a random Markov matrix, iid positive weights of
coefficient of variation sigma_A divided by their row sums; J = 1 1^T/T and A_perp = A - J. Values are Gaussian with
d sigma_V^2 = 1, which fixes the scale of every singular value and changes no ratio of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Expr, Integer, Integral, Rational, Symbol, exp, integrate, oo, simplify, sqrt

from theorax.language import Corrections, Efforts, Expansion, Hypothesis, Index, Measured, Parameter, Size
from theorax.language.limit_laws import Image, LawOfNumbers
from theorax.numerics.extents import Extent
from theorax.theorems.mind_the_gap._attention import mean_token_removed

T = Size("T", "context length")
d = Size("d", "width")
l = Index("l", "layer")
gamma = Parameter("gamma", "tokens per dimension, T/d", positive=True)
cv = Measured("cv", "coefficient of variation of the attention weights as observed, ||A - J||_F")
sigma_A = Parameter("sigma_A", "coefficient of variation of the attention weights", positive=True, measured=cv)

z = Symbol("z", positive=True)


def variation(first: Expr, second: Expr) -> Expr:
    """Standard deviation over mean, from the first two moments."""
    return sqrt(second - first**2) / first


def coefficient_of_variation(density: Expr, low: Expr, high: Expr) -> Expr:
    """Coefficient of variation of the law with this density on (low, high), by integration."""
    first, second = (integrate(z**power * density, (z, low, high)) for power in (1, 2))
    return simplify(variation(first, second))


def moment(law: LawOfNumbers | None, power: int) -> Expr:
    """E X^power as an integral over the law's variable, not computed."""
    assert isinstance(law, Image)
    return Integral(law.of**power * law.density, (law.variable, *law.over))


@dataclass(frozen=True)
class WeightLaw:
    """A law of the weights: its place in the menu of samplers, and its coefficient of variation by integration."""

    place: int
    sigma_A: Expr


EXPONENTIAL = WeightLaw(0, coefficient_of_variation(exp(-z), Integer(0), oo))
UNIFORM = WeightLaw(1, coefficient_of_variation(Integer(1), Integer(0), Integer(1)))
LOGNORMAL, PARETO = 2, 3
BERNOULLI = WeightLaw(4, Integer(1))
HEAVY = WeightLaw(PARETO, 1 / sqrt(3))  # of tail 3: no fourth moment
# Exponential weights, those of every other token half as large again and the others halved: 1 + 1/4 times E Z^2 = 2.
POPULAR = WeightLaw(EXPONENTIAL.place, sqrt(Rational(3, 2)))

ISOMETRIC = Hypothesis("the input tokens are orthonormal, X_0 X_0^T = I")
MARKOV = Hypothesis("attention matrices are iid random Markov matrices, independent of the values")
FIXED_LAW = Hypothesis("the law of the weights does not change with T and has a finite fourth moment")
WIDTHS: Efforts[tuple[int, ...]] = Efforts(
    quick=(64, 128, 256), standard=(64, 128, 512), thorough=(64, 128, 256, 512, 1024)
)

IID_MOMENTS = "moments of iid weights expand in 1/T; at most 0.02 beside 1/T at T = 32 on other seeds"
TRACY_WIDOM = "the edge fluctuates on the scale T^(-2/3), moments expand in 1/T; a third of it on other seeds"


def in_powers(rest: float, reference: int, reason: str) -> Corrections:
    """An expansion in 1/T whose second order is at most ``rest`` at the size ``reference``."""
    return Expansion(powers=(1,), rest=rest, order=2, reference=reference, reason=reason)


def at_an_edge(size: float, seen: float) -> Corrections:
    """Corrections of T^(-2/3), the scale of an edge, and faster ones: ``size`` together, of which ``seen`` elsewhere."""
    reason = f"an edge, at T^(-2/3), and moments; at most {seen} at T = 64 on other seeds"
    return Corrections(size=size, slowest=Rational(2, 3), rest=0, reference=64, reason=reason)


def with_known_edge(size: float, reason: str) -> Corrections:
    """The term T^(-2/3), of the mean of the Tracy-Widom law, has any coefficient; beside it ``size``, like 1/T."""
    return Corrections(size=size, slowest=1, rest=0, free=(Rational(2, 3),), reference=32, reason=reason)


def observed_coefficient_of_variation(attention: Float[Array, "N N"], T: Extent) -> Float[Array, ""]:
    """||A - J||_F: the entries of a row-stochastic matrix have mean 1/T exactly and variance ||A - J||_F^2/T^2."""
    return jnp.linalg.norm(mean_token_removed(attention, T))
