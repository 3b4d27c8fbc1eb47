"""Fourth cumulants of deep networks of finite width: three constants of a law, and ensembles that measure the cumulant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Expr, Function, Integer, Rational, limit, oo

from theorax.language import Measured, Parameter, Subject
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent, literal
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._deep import l, q
from theorax.theorems.pseudo_iid_gp._ensembles import EnsembleLaw, across, crossed, fourth, own, width
from theorax.theorems.pseudo_iid_gp._kernels import phi
from theorax.theorems.pseudo_iid_gp._moments import erf_point, power_mean, relu_point, tanh_point, variance_slope
from theorax.theorems.pseudo_iid_gp._wide_networks import deep_network, pre_activations

f0 = Parameter("f0", "limit of fourth", positive=True)
own_1 = Parameter("own_1", "limit of n (own - 1)")
pair_1 = Parameter("pair_1", "limit of n (across + 2 crossed - 1)")
lam = Parameter("lam", "width of every second layer over n", positive=True)
act = Parameter("act", "place of the activation among ReLU, erf, tanh, from zero on", integer=True, nonnegative=True)
excess = Measured("excess", "n (E h^4 - 3 (E h^2)^2)/q^2 after l layers, unbiased", over=(l,))


class geometric(Function):
    """1 + x + ... + x^(count - 1), written out once the count is a number."""

    nargs = 2

    @classmethod
    def eval(cls, x: Expr, count: Expr) -> Expr | None:
        return sum((x**j for j in range(int(count))), Integer(0)) if count.is_Integer else None


class variance_of_layer(Function):
    """Variance of the l-th layer from q on, at (l, act, q, sw2, sb2); written out once l is a number."""

    nargs = 5

    @classmethod
    def eval(cls, count: Expr, act: Expr, start: Expr, weight: Expr, bias: Expr) -> Expr | None:
        if not count.is_Integer:
            return None
        K = start
        for _ in range(int(count) - 1):
            K = bias + weight * power_mean(2, act, K)
        return K


class moving_cumulant(Function):
    """3 (S_own + chi^2 V) after l layers whose variance moves from q on, at (l, lam, act, q, sw2, sb2, f0, own_1, pair_1).

    Every second layer has lam n units; written out once l is a number.
    """

    nargs = 9

    @classmethod
    def eval(
        cls, count: Expr, lam: Expr, act: Expr, start: Expr, sw2: Expr, sb2: Expr, f0: Expr, own_1: Expr, pair_1: Expr
    ) -> Expr | None:
        if not count.is_Integer:
            return None
        V, layers = Integer(0), int(count)
        for layer in range(1, layers + 1):
            K = variance_of_layer(Integer(layer), act, start, sw2, sb2)
            m2, m4, share = power_mean(2, act, K), power_mean(4, act, K), (1, lam)[(layer - 1) % 2]
            kind = f0 * m4 / 3 + (own_1 - 1) * m2**2 if layer == layers else m4 + (pair_1 - 1) * m2**2
            V = sw2**2 * kind / share + (sw2 * variance_slope(act, K)) ** 2 * V
        return 3 * V


IID = {f0: Integer(3), own_1: Integer(0), pair_1: Integer(0)}


def constants(law: EnsembleLaw) -> dict[Parameter, Expr]:
    """The three limits of a law."""
    products = law.knows
    pair = products[across] + 2 * products[crossed]
    n = setting.n
    limits = limit(products[fourth], n, oo), limit(n * (products[own] - 1), n, oo), limit(n * (pair - 1), n, oo)
    return dict(zip((f0, own_1, pair_1), limits, strict=True))


ROOT, EDGE, BIASED = relu_point(Integer(0)), erf_point(Integer(1)), relu_point(Rational(1, 2))
CRITICAL = tanh_point(Rational(570048, 10**6), Rational(1760955, 10**6))
SATURATED = tanh_point(Rational(7, 2), Integer(4))
MOVED = BIASED | {q: Integer(4)}

SAMPLED, REAL = 64, 32


class Ensemble(eqx.Module):
    """Pre-activations of independent networks, all layers but the last, and the widths of these layers."""

    h: Float[Array, "networks layers N"]
    widths: Float[Array, " layers"]
    activation: Array


SAMPLED_LAWS, REAL_LAWS = ("gaussian", "haar", "low rank", "blocks"), ("uniform", "masked", "hadamard")


def start(key: Array, n: Extent, q: Array, uneven: Scalar) -> Float[Array, ""]:
    """The variance q of the first layer; random with the variance ``uneven`` q^2/n in a control."""
    return q * (1 + jnp.sqrt(uneven / width(n)) * jax.random.rademacher(named(key, "start")))


def sampled(
    key: Array,
    n: Extent,
    l: int,
    law: Array,
    share: Array,
    activation: Array,
    uneven: Scalar,
    q: Array,
    sw2: Array,
    sb2: Array,
) -> Ensemble:
    """Networks sampled without their weights; at this input the first layer is N(0, q), but for `start`."""

    def network(number: Array) -> Float[Array, "layers N"]:
        here, active = named(key, "network", number), lambda h: phi(h, activation)
        x = jnp.sqrt((start(here, n, q, uneven) - sb2) / sw2).reshape(1, 1)
        return pre_activations(here, x, n, literal(l), law, share, active, sw2, sb2, SAMPLED_LAWS)[:, 0]

    return Ensemble(jax.vmap(network)(jnp.arange(SAMPLED)), jnp.full(l, width(n)), activation)


def real(
    key: Array,
    n: Extent,
    l: int,
    law: Array,
    share: Array,
    activation: Array,
    uneven: Scalar,
    q: Array,
    sw2: Array,
    sb2: Array,
) -> Ensemble:
    """Networks with their weights."""

    def network(number: Array) -> Float[Array, "layers N"]:
        here, active = named(key, "network", number), lambda h: phi(h, activation)
        x = jnp.sqrt((start(here, n, q, uneven) - sb2) / sw2).reshape(1)
        return deep_network(here, 1, n, literal(l), law, share, active, sw2, sb2, REAL_LAWS)(x)

    return Ensemble(jax.vmap(network)(jnp.arange(REAL)), jnp.full(l, width(n)), activation)


def alternating(
    key: Array,
    n: Extent,
    l: int,
    activation: Array,
    drawn: Array,
    sphere: Array,
    uneven: Scalar,
    q: Array,
    sw2: Array,
    sb2: Array,
) -> Ensemble:
    """Networks of iid Gaussian weights, sampled without them, whose every second layer has ``drawn`` n units, at most 2 n.

    ``sphere``: the normals of a layer have the length that is theirs on the average.
    """
    place, number = jnp.arange(2 * n.padded), jnp.arange(l)
    widths = width(n) * jnp.where(number % 2 == 0, 1, drawn)

    def layer(S: Array, number: Array) -> tuple[Array, Array]:
        units = place < widths[number]
        g = jnp.where(units, jax.random.normal(named(key, "layer", number), (SAMPLED, len(place))), 0)
        g = g * jnp.where(sphere & (number > 0), jnp.sqrt(widths[number] / (g**2).sum(1, keepdims=True)), 1)
        h = jnp.sqrt(S)[:, None] * g
        after = sb2 + sw2 * jnp.where(units, phi(h, activation) ** 2, 0).sum(1) / widths[number]
        return after, h

    starts = jax.vmap(lambda network: start(named(key, "network", network), n, q, uneven))(jnp.arange(SAMPLED))
    h = jax.lax.scan(layer, starts, number)[1]
    return Ensemble(h.transpose(1, 0, 2), widths, activation)


def observe(
    net: Ensemble, n: Extent, fourth: Array, own: Array, sw2: Array, sb2: Array, q: Array
) -> dict[str, Float[Array, " layers"]]:
    """The cumulant, the last layer averaged exactly and (E h^2)^2 from pairs of networks."""
    units, count = jnp.arange(net.h.shape[-1]) < net.widths[:, None], len(net.h)
    f = jnp.where(units, phi(net.h, net.activation), 0)
    square, power = (f**2).sum(-1) / net.widths, (f**4).sum(-1) / net.widths
    products = fourth * power / net.widths + 3 * own * (square**2 - power / net.widths)
    given = 3 * sb2**2 + 6 * sb2 * sw2 * square + sw2**2 * products  # E h^4 given the layer before
    second = sb2 + sw2 * square
    pairs = (second.sum(0) ** 2 - (second**2).sum(0)) / (count * (count - 1))
    return dict(excess=width(n) * (given.mean(0) - 3 * pairs) / q**2)


def subject(
    law: EnsembleLaw,
    activation: int,
    point: Mapping[Parameter, Any],
    knows: Mapping[Any, Any] | None = None,
    build: Any = sampled,
) -> Subject:
    """Networks of this law and activation at this point."""
    known = {**constants(law), act: int(activation), lam: 1, **point, **(knows or {})}
    return law.subject(build, known, activation=activation, uneven=0.0)


def weighted(
    law: EnsembleLaw, activation: int, point: Mapping[Parameter, Any], knows: Mapping[Any, Any] | None = None
) -> Subject:
    """The same with real weights."""
    return subject(law, activation, point, knows, build=real)


def tapered(activation: int, point: Mapping[Parameter, Any], ratio: Expr | int) -> Subject:
    """iid Gaussian networks at this point whose every second layer has ``ratio`` n units."""
    known = {**setting.GAUSSIAN.knows, **IID, act: int(activation), lam: ratio, **point}
    return Subject(alternating, knows=known, activation=activation, drawn=float(ratio), sphere=0, uneven=0.0)
