"""The setting that the theorems of this paper share: the laws of the weights and what is known of them exactly.

A layer is W phi(h) with n inputs; the entries of W are centred and have variance 1/n here, and sigma_w^2 is put before
them where it matters. A law of W enters a second or fourth moment of the layer through few numbers, the means of its
products of four entries; they are exact functions of n, derived in pseudo_iid_definition_membership.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from sympy import (
    Derivative,
    Expr,
    Integer,
    Integral,
    Product,
    Rational,
    Subs,
    Sum,
    Symbol,
    erf,
    exp,
    oo,
    pi,
    sqrt,
    sympify,
)

from theorax.language import Parameter, Size, Step, Subject, lemma
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices

n = Size("n", "width")
fourth = Parameter("fourth", "n^2 E W_aj^4", nonnegative=True)
own = Parameter("own", "n^2 E W_aj^2 W_aj'^2, two columns of one row", nonnegative=True)
across = Parameter("across", "n^2 E W_aj^2 W_cj'^2, two rows and two columns", nonnegative=True)
crossed = Parameter("crossed", "n^2 E W_aj W_cj W_aj' W_cj', two rows and two columns")
mu = Parameter("mu", "E phi(z), z standard normal")
a = Parameter("a", "E phi(z)^2", positive=True)
b4 = Parameter("b4", "E phi(z)^4", positive=True)
z = Symbol("z", real=True)
INPUTS = 16


class EnsembleLaw:
    """A law of the menu: its place, its option, and the exact means of its products of four entries where they are known."""

    def __init__(self, name: str, share: Expr | int = 1, **products: Any) -> None:
        self.place, self.share = weight_matrices.MENU.index(name), sympify(share)
        known = {letter.name: letter for letter in (fourth, own, across, crossed)}
        self.knows = {known[product]: sympify(value) for product, value in products.items()}

    def subject(self, build: Any, knows: Mapping[Any, Any] | None = None, **options: Any) -> Subject:
        """The subject that ``build`` makes of this law."""
        return Subject(build, knows={**self.knows, **(knows or {})}, law=self.place, share=float(self.share), **options)


def _iid(kurtosis: Expr | int) -> dict[str, Expr | int]:
    return dict(fourth=kurtosis, own=1, across=1, crossed=0)


def haar_products(n: Expr) -> dict[str, Expr]:
    """For Haar orthogonal matrices."""
    return dict(
        fourth=3 * n / (n + 2),
        own=n / (n + 2),
        across=n * (n + 1) / ((n - 1) * (n + 2)),
        crossed=-n / ((n - 1) * (n + 2)),
    )


def low_rank_products(n: Expr, r: Expr) -> dict[str, Expr]:
    """For a frame of r Haar columns in dimension n times Gaussian coefficients."""
    diagonal = n * (r + 2) / (r * (n + 2))
    return dict(
        fourth=3 * diagonal,
        own=diagonal,
        across=n * (r * (n + 1) - 2) / (r * (n - 1) * (n + 2)),
        crossed=n * (n - r) / (r * (n - 1) * (n + 2)),
    )


def block_products(n: Expr, b: Expr, m: Expr | None = None) -> dict[str, Expr | int]:
    """For b equal diagonal blocks of Gaussian entries, permuted; n inputs and m units, as many if not said otherwise."""
    units = n if m is None else m
    return dict(fourth=3 * b, own=(n - b) / (n - 1), across=(n - (units - b) / (units - 1)) / (n - 1), crossed=0)


GAUSSIAN = EnsembleLaw("gaussian", **_iid(3))
UNIFORM = EnsembleLaw("uniform", **_iid(Rational(9, 5)))
HAAR = EnsembleLaw("haar", **haar_products(n))
HADAMARD = EnsembleLaw("hadamard", fourth=1, own=1, across=1, crossed=-1 / (n - 1))
CONDITIONED = EnsembleLaw("conditioned rademacher", **_iid(1))
RADEMACHER = EnsembleLaw("rademacher", **_iid(1))
SIGNED_COLUMNS = EnsembleLaw("signed columns", **_iid(1))
CORRELATED = EnsembleLaw("correlated rows")
CORRELATED_COLUMNS = EnsembleLaw("correlated columns")
SCALED = EnsembleLaw("scaled", Rational(4, 5))
SCALED_ROWS = EnsembleLaw("scaled rows", **{**_iid(Rational(15, 4)), "own": Rational(5, 4)})
SCALED_COLUMNS = EnsembleLaw("scaled columns", **{**_iid(Rational(15, 4))})
SIGNED_PERMUTATION = EnsembleLaw("signed permutation", fourth=n, own=0, across=n / (n - 1), crossed=0)
TRIANGLE, STILL_TRIANGLE, COLUMN_DENSITIES = map(EnsembleLaw, ("triangle", "still triangle", "column densities"))


def low_rank(ratio: Expr) -> EnsembleLaw:
    """Rank ratio n, which must be whole."""
    return EnsembleLaw("low rank", ratio, **low_rank_products(n, ratio * n))


def fixed_rank(r: int) -> EnsembleLaw:
    """Rank r at every width."""
    return EnsembleLaw("fixed rank", r, **low_rank_products(n, Integer(r)))


def blocks(b: int) -> EnsembleLaw:
    """b permuted blocks."""
    return EnsembleLaw("blocks", b, **block_products(n, Integer(b)))


def still_blocks(b: int) -> EnsembleLaw:
    """b blocks in their places; its products are means over rows and columns."""
    return EnsembleLaw("still blocks", b, **block_products(n, Integer(b)))


def fan_in(k: int) -> EnsembleLaw:
    """Gaussian entries, k of them in a row on the average."""
    return EnsembleLaw("fan-in", k, **_iid(3 * n / k))


def masked(density: Expr) -> EnsembleLaw:
    """Gaussian entries kept with this probability."""
    return EnsembleLaw("masked", density, **_iid(3 / density))


class LinearLayer(eqx.Module):
    """A linear layer without bias."""

    weight: Float[Array, "M N"]

    def __call__(self, x: Float[Array, " N"]) -> Float[Array, " M"]:
        """W x."""
        return self.weight @ x


def layer(key: Array, n: Extent, law: Array, share: Array) -> LinearLayer:
    """A layer whose weights have the law at this place of the menu."""
    return LinearLayer(weight_matrices.weights(key, n, law, share))


class Activation:
    """An activation by its place among those of `activated`, with its moments under N(0, 1)."""

    def __init__(self, place: int, mean: Expr | int, square: Expr | int, power: Expr | int) -> None:
        self.place, self.knows = place, {mu: sympify(mean), a: sympify(square), b4: sympify(power)}


RELU = Activation(0, 1 / sqrt(2 * pi), Rational(1, 2), Rational(3, 2))
LINEAR = Activation(1, 0, 1, 3)
# The normal distribution function of a normal variable is uniform on (0, 1).
PHI = Activation(2, Rational(1, 2), Rational(1, 3), Rational(1, 5))


@lemma
def moments() -> Iterator[Step]:
    """ReLU, the identity, the normal distribution function; under the standard normal law."""
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    u = Symbol("u", positive=True)
    yield Step("Phi' is the density", Derivative((1 + erf(z / sqrt(2))) / 2, z), density)
    for letter, k in ((mu, 1), (a, 2), (b4, 4)):
        yield Step(f"ReLU, E phi^{k}", Integral(z**k * density, (z, 0, oo)), RELU.knows[letter])
        yield Step(f"identity, E phi^{k}", Integral(z**k * density, (z, -oo, oo)), LINEAR.knows[letter])
        yield Step(f"Phi, E phi^{k}, Phi(z) being uniform", Integral(u**k, (u, 0, 1)), PHI.knows[letter])


@lemma
def eighth_moments() -> Iterator[Step]:
    """n^4 E (W a)^8/|a|^8: any direction a of Gaussian, Haar, low-rank rows (m units); one entry of blocks and signs."""
    m, r, b, e = (Symbol(name, positive=True) for name in ("m", "r", "b", "e"))
    t = Symbol("t", integer=True)
    normal = Integral(z**8 * exp(-(z**2) / 2) / sqrt(2 * pi), (z, -oo, oo))
    yield Step("Gaussian", normal, 105)
    # A coordinate of a uniform unit vector squared is Beta(1/2, (n - 1)/2), whose moments are such products.
    haar = n**4 * Product((Rational(1, 2) + t) / (n / 2 + t), (t, 0, 3))
    yield Step("Haar, a coordinate of a uniform unit vector", haar, 105 * n**3 / ((n + 2) * (n + 4) * (n + 6)))
    # A row of the frame squared is Beta(r/2, (m - r)/2), and the Gaussian coefficients see the direction as one more.
    frame = (m / r) ** 4 * Product((r / 2 + t) / (m / 2 + t), (t, 0, 3))
    ends = (m / r) ** 4 * (r + 2) * (r + 4) * (r + 6) * r / (m * (m + 2) * (m + 4) * (m + 6))
    yield Step("low rank, m units", 105 * frame, 105 * ends)
    yield Step("b blocks, one entry", normal * b**4 / b, 105 * b**3)
    pair = Sum(((1 + (-1) ** t) / sqrt(2)) ** 8 / 2, (t, 0, 1))
    yield Step("signs, the direction of two entries", pair, 8)
    # Rows of sum +-sqrt n: |W_ij| = 1/sqrt n, and in the flat direction the sum over sqrt n is 1/sqrt n too.
    yield Step("rows of a fixed sum, one entry and the flat direction", Subs(n**4 * e**8, e, 1 / sqrt(n)), 1)


class TwoLayerNetwork(eqx.Module):
    """Two layers, the first one Gaussian, at orthogonal inputs of one length: its pre-activations are independent."""

    before: Float[Array, "inputs N"]
    second: LinearLayer
    activation: Int[Array, ""]

    def __call__(self, n: Extent) -> Float[Array, "inputs N"]:
        """The pre-activations of the second layer, in units of sigma_w."""
        return jax.vmap(self.second)(jnp.where(n.mask, activated(self.before, self.activation), 0))


def activated(h: Array, activation: Array) -> Array:
    """phi(h) for the activation at this place."""
    return jax.lax.select_n(activation, jax.nn.relu(h), h, jax.scipy.stats.norm.cdf(h))


def network(
    key: Array, n: Extent, law: Array, share: Array, activation: Array, common: Array, uneven: Array
) -> TwoLayerNetwork:
    """Both layers drawn, the first one of unit variance; a matrix is drawn once for all its inputs.

    ``common``: the variance of a factor of mean one that the squares of all units of the first layer share at an input:
    zero unless a control. Means of two squares, and of fourth powers, then grow by 1 + ``common`` where phi is ReLU.
    ``uneven``: the same for the squares of the weights of the second layer.
    """
    signs = jax.random.rademacher(named(key, "common scale"), (INPUTS, 1))
    before = jnp.where(n.mask, jax.random.normal(named(key, "first layer"), (INPUTS, n.padded)), 0)
    before = before * jnp.sqrt(1 + jnp.sqrt(common) * signs)
    second = layer(named(key, "second layer"), n, law, share)
    scale = jnp.sqrt(1 + jnp.sqrt(uneven) * jax.random.rademacher(named(key, "scale of the weights")))
    return TwoLayerNetwork(before, LinearLayer(scale * second.weight), activation)


def wide(law: EnsembleLaw, activation: Activation, knows: Mapping[Any, Any] | None = None) -> Subject:
    """A network of this law and activation."""
    known = {**activation.knows, **(knows or {})}
    return law.subject(network, activation=activation.place, common=0.0, uneven=0.0, knows=known)


def width(n: Extent) -> Float[Array, ""]:
    """The width as a float."""
    return jnp.asarray(n.value, jnp.zeros(()).dtype)
