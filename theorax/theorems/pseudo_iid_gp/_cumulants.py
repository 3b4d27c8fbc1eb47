"""Fourth cumulants of deep networks of finite width: three constants of a law, and ensembles that measure the cumulant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Expr, Function, Integer, limit, oo

from theorax.language import Measured, Parameter, Subject
from theorax.numerics.extents import Extent, literal
from theorax.numerics.keys import named
from theorax.numerics.wide_networks import deep_network, pre_activations
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._deep import l
from theorax.theorems.pseudo_iid_gp._ensembles import EnsembleLaw, across, crossed, fourth, own, width
from theorax.theorems.pseudo_iid_gp._kernels import phi

f0 = Parameter("f0", "limit of fourth", positive=True)
own_1 = Parameter("own_1", "limit of n (own - 1)")
pair_1 = Parameter("pair_1", "limit of n (across + 2 crossed - 1)")
excess = Measured("excess", "n (E h^4 - 3 (E h^2)^2)/q^2 after l layers, unbiased", over=(l,))


class geometric(Function):
    """1 + x + ... + x^(count - 1), written out once the count is a number."""

    nargs = 2

    @classmethod
    def eval(cls, x: Expr, count: Expr) -> Expr | None:
        return sum((x**j for j in range(int(count))), Integer(0)) if count.is_Integer else None


class relu_variance(Function):
    """Variance of the l-th layer of ReLU networks from q on, at (l, q, sw2, sb2); written out once l is a number."""

    nargs = 4

    @classmethod
    def eval(cls, count: Expr, start: Expr, weight: Expr, bias: Expr) -> Expr | None:
        if not count.is_Integer:
            return None
        K = start
        for _ in range(int(count) - 1):
            K = bias + weight * K / 2
        return K


class relu_cumulant(Function):
    """3 (S_own + chi^2 V) after l ReLU layers whose variance moves from q on; written out once l is a number."""

    nargs = 7

    @classmethod
    def eval(
        cls, count: Expr, start: Expr, weight: Expr, bias: Expr, f0: Expr, own_1: Expr, pair_1: Expr
    ) -> Expr | None:
        if not count.is_Integer:
            return None
        V, chi = Integer(0), weight / 2
        for layer in range(1, int(count)):
            K = relu_variance(Integer(layer), start, weight, bias)
            V = weight**2 * (3 * K**2 / 2 + (pair_1 - 1) * K**2 / 4) + chi**2 * V
        K = relu_variance(count, start, weight, bias)
        return 3 * (weight**2 * (f0 * K**2 / 2 + (own_1 - 1) * K**2 / 4) + chi**2 * V)


IID = {f0: Integer(3), own_1: Integer(0), pair_1: Integer(0)}


def constants(law: EnsembleLaw) -> dict[Parameter, Expr]:
    """The three limits of a law."""
    products = law.knows
    pair = products[across] + 2 * products[crossed]
    n = setting.n
    limits = limit(products[fourth], n, oo), limit(n * (products[own] - 1), n, oo), limit(n * (pair - 1), n, oo)
    return dict(zip((f0, own_1, pair_1), limits, strict=True))


SAMPLED, REAL = 64, 32


class Ensemble(eqx.Module):
    """Pre-activations of independent networks, all layers but the last."""

    h: Float[Array, "networks layers N"]
    activation: Array


def sampled(
    key: Array, n: Extent, l: int, law: Array, share: Array, activation: Array, q: Array, sw2: Array, sb2: Array
) -> Ensemble:
    """Networks sampled without their weights; at this input the first layer is N(0, q)."""
    x = jnp.sqrt((q - sb2) / sw2).reshape(1, 1)

    def network(number: Array) -> Float[Array, "layers N"]:
        layers = pre_activations(
            named(key, "network", number), x, n, literal(l), law, share, lambda h: phi(h, activation), sw2, sb2
        )
        return layers[:, 0]

    return Ensemble(jax.vmap(network)(jnp.arange(SAMPLED)), activation)


def real(
    key: Array, n: Extent, l: int, law: Array, share: Array, activation: Array, q: Array, sw2: Array, sb2: Array
) -> Ensemble:
    """Networks with their weights, of every law of the menu."""
    x = jnp.sqrt((q - sb2) / sw2).reshape(1)

    def network(number: Array) -> Float[Array, "layers N"]:
        net = deep_network(
            named(key, "network", number), 1, n, literal(l), law, share, lambda h: phi(h, activation), sw2, sb2
        )
        return net(x)

    return Ensemble(jax.vmap(network)(jnp.arange(REAL)), activation)


def observe(
    net: Ensemble, n: Extent, fourth: Array, own: Array, sw2: Array, sb2: Array, q: Array
) -> dict[str, Float[Array, " layers"]]:
    """The cumulant, the last layer averaged exactly and (E h^2)^2 from pairs of networks."""
    f, count = jnp.where(n.mask, phi(net.h, net.activation), 0), len(net.h)
    square, power = (f**2).sum(-1) / width(n), (f**4).sum(-1) / width(n)
    products = fourth * power / width(n) + 3 * own * (square**2 - power / width(n))
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
    return law.subject(build, {**constants(law), **point, **(knows or {})}, activation=activation)


def weighted(
    law: EnsembleLaw, activation: int, point: Mapping[Parameter, Any], knows: Mapping[Any, Any] | None = None
) -> Subject:
    """The same with real weights."""
    return subject(law, activation, point, knows, build=real)
