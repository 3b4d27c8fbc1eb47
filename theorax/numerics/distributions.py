r"""Laws of positive weights $Z$, from which random Markov matrices are made, with their exact moments.

A random Markov matrix knows its weights only through $\sigma_A = \sqrt{\operatorname{Var} Z} / E Z$ as it grows.
Moments are exact fractions where the law's are rational, floats for the lognormal law, and inf where the integral
diverges.
"""

from __future__ import annotations

import abc
import math
from fractions import Fraction
from numbers import Real
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorax.errors import StatementError

# Fractions where exact, floats (and inf) where not.
Number: TypeAlias = Fraction | float
# A parameter: a number, or the array that stands for it while a program is being compiled.
Parameter: TypeAlias = int | float | Fraction | Array


class PositiveLaw(eqx.Module):
    """A law on the non-negative reals."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Independent variates in JAX's default float."""

    @abc.abstractmethod
    def moment(self, order: int) -> Number:
        """E Z^order for a positive whole order, or inf."""

    @property
    def mean(self) -> Number:
        """E Z."""
        return self.moment(1)

    @property
    def variance(self) -> Number:
        """E Z^2 - (E Z)^2; inf where the second moment is."""
        return math.inf if self.moment(2) == math.inf else self.moment(2) - self.moment(1) ** 2

    @property
    def squared_coefficient_of_variation(self) -> Number:
        r"""$\sigma_A^2 = \operatorname{Var} Z/(E Z)^2$, exact where the moments are; inf where the variance is."""
        return math.inf if self.variance == math.inf else self.variance / self.mean**2

    @property
    def coefficient_of_variation(self) -> float:
        r"""$\sigma_A$."""
        return math.sqrt(self.squared_coefficient_of_variation)


class UnitExponential(PositiveLaw):
    """Z ~ Exp(1): the rows are uniform on the simplex."""

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Minus the logarithm of a uniform."""
        return jax.random.exponential(key, shape)

    def moment(self, order: int) -> Number:
        """k!"""
        return Fraction(math.factorial(order))


class Dirichlet(PositiveLaw):
    """Z ~ Gamma(alpha): the rows are Dirichlet(alpha, ..., alpha).

    **Errors:** gammas of shape alpha underflow in float64 with probability about e^(-708 alpha): keep alpha above 1/20.
    """

    alpha: Parameter

    def __check_init__(self) -> None:
        _require(self.alpha, lambda alpha: alpha > 0, "Dirichlet(alpha={}) has no density: alpha must be positive.")

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Gamma variates of shape alpha."""
        return gamma_variates(key, jnp.full(shape, _float(self.alpha)))

    def moment(self, order: int) -> Number:
        """alpha (alpha + 1) ... (alpha + k - 1)."""
        return math.prod((_exact(self.alpha) + k for k in range(order)), start=Fraction(1))


class UnitUniform(PositiveLaw):
    """Z ~ U(0, 1)."""

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Uniform variates in [0, 1)."""
        return jax.random.uniform(key, shape)

    def moment(self, order: int) -> Number:
        """1 / (k + 1)."""
        return Fraction(1, order + 1)


class Bernoulli(PositiveLaw):
    """Z is one with probability p, else zero: rows are uniform on a random set (if empty, see `ensembles.markov`)."""

    p: Parameter = Fraction(1, 2)

    def __check_init__(self) -> None:
        _require(self.p, lambda p: 0 < p <= 1, "Bernoulli(p={}) puts no weight anywhere: p must lie in (0, 1].")

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Zeros and ones."""
        uniform = jax.random.uniform(key, shape)
        return (uniform < _float(self.p)).astype(uniform.dtype)

    def moment(self, order: int) -> Number:
        """p, for every order."""
        return _exact(self.p)


class LogNormal(PositiveLaw):
    r"""$Z = e^{\beta g}$, g standard Gaussian, over its mean $e^{\beta^2/2}$ if ``mean_one``: the weights of a softmax.

    All moments are finite, $\sigma_A^2 = e^{\beta^2}-1$, yet finite matrices show spikes above their bulk for beta
    near one.
    """

    beta: Parameter
    mean_one: bool = eqx.field(static=True, default=False)

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Exponentials of Gaussians."""
        beta = _float(self.beta)
        shift = beta**2 / 2 if self.mean_one else jnp.zeros_like(beta)
        return jnp.exp(beta * jax.random.normal(key, shape) - shift)

    def moment(self, order: int) -> Number:
        r"""$e^{k^2\beta^2/2}$, or $e^{(k^2-k)\beta^2/2}$ with mean one."""
        squares = order**2 - (order if self.mean_one else 0)
        return math.exp(squares * float(_exact(self.beta)) ** 2 / 2)

    @property
    def variance(self) -> Number:
        r"""$m^2(e^{\beta^2}-1)$, without the cancellation of a difference."""
        return self.mean**2 * math.expm1(float(_exact(self.beta)) ** 2)


class Pareto(PositiveLaw):
    """Z >= 1 with P(Z > z) = z^-tail: moments of order ``tail`` and more are infinite. A control."""

    tail: Parameter

    def __check_init__(self) -> None:
        _require(self.tail, lambda tail: tail > 0, "Pareto(tail={}) is no law: its tail must be positive.")

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """Exponentials of exponentials."""
        return jnp.exp(jax.random.exponential(key, shape) / _float(self.tail))

    def moment(self, order: int) -> Number:
        """With t the tail, t / (t - k), or inf."""
        tail = _exact(self.tail)
        return tail / (tail - order) if tail > order else math.inf


def gamma_variates(key: PRNGKeyArray, shapes: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Gamma variates of these shape parameters, by Marsaglia and Tsang's rejection, all entries in one loop.

    With $D = a - 1/3$ and $v = (1 + x/\sqrt{9D})^3$, x standard normal, $Dv$ is accepted if $v>0$ and
    $\log u < x^2/2 + D(1 - v + \log v)$: at least 95 % of them for $a \ge 1$, so the loop ends after about
    $\log(\text{entries})/\log 20$ rounds. Below one, $G_a = G_{a+1} U^{1/a}$. Compiles four times as fast as
    ``jax.random.gamma``, whose code is that of a loop per entry.

    **Errors:** exact but for rounding; as any uniform of b bits does, it misses events of probability 2^-b.

    **Source:** Marsaglia and Tsang 2000.
    """
    small = shapes < 1
    D = jnp.where(small, shapes + 1, shapes) - 1 / 3
    # The open interval (-1, 1): the inverse error function is infinite at its ends.
    low = jnp.nextafter(jnp.asarray(-1, shapes.dtype), jnp.asarray(0, shapes.dtype))

    def round_(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, accepted, variates = state
        pair = jax.random.uniform(jax.random.fold_in(key, number), (2, *shapes.shape), shapes.dtype, low, 1)
        x, log_u = math.sqrt(2) * jax.lax.erf_inv(pair[0]), jnp.log((1 + pair[1]) / 2)
        v = (1 + x / jnp.sqrt(9 * D)) ** 3
        fits = (v > 0) & (log_u < x**2 / 2 + D * (1 - v + jnp.log(jnp.where(v > 0, v, 1))))
        return number + 1, accepted | fits, jnp.where(accepted, variates, jnp.where(fits, D * v, variates))

    start = (jnp.uint32(1), jnp.zeros(shapes.shape, bool), jnp.zeros_like(shapes))
    variates = jax.lax.while_loop(lambda state: ~state[1].all(), round_, start)[2]
    boost = (1 + jax.random.uniform(jax.random.fold_in(key, 0), shapes.shape, shapes.dtype, low, 1)) / 2
    return variates * jnp.where(small, boost ** (1 / jnp.where(small, shapes, 1)), 1)


class Choice(PositiveLaw):
    """One of several laws, chosen by a number: a program that draws from a choice is compiled once for all of them."""

    which: int | Array
    laws: tuple[PositiveLaw, ...]

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, ...]:
        """Variates of the chosen law, the same as it draws itself."""
        return jax.lax.switch(self.which, [lambda law=law: law.sample(key, shape) for law in self.laws])

    def moment(self, order: int) -> Number:
        """The moment of the chosen law."""
        return self.laws[int(self.which)].moment(order)


def _exact(parameter: Parameter) -> Fraction:
    """The parameter as a fraction; moments are a matter of numbers, not of traced arrays."""
    if not isinstance(parameter, Real):
        raise StatementError(
            "Moments of a law were asked for while a program is being compiled.\n"
            "  Its parameter is traced there: it has no value yet.\n"
            "  Take the moment outside and pass it as a letter of its own."
        )
    return Fraction(parameter)


def _float(parameter: Parameter) -> Float[Array, ""]:
    """The parameter in JAX's default float."""
    return jnp.asarray(float(parameter) if isinstance(parameter, Real) else parameter, jnp.zeros(()).dtype)


def _require(parameter: Parameter, holds, sentence: str) -> None:
    """Numbers are checked when the law is made; traced parameters were numbers before."""
    if isinstance(parameter, Real) and not holds(parameter):
        raise StatementError(sentence.format(parameter))
