"""Products of entries as one matrix has them: of square matrices, and of matrices of twice as many units as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Expr, Rational, sympify

from theorax.language import Parameter
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent, literal
from theorax.numerics.keys import named, root
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices
from theorax.theorems.pseudo_iid_gp._ensembles import LinearLayer, across, crossed, fourth, n, own

square = Parameter("square", "n^2 E W_aj^2 W_aj'^2 of n units and n inputs", nonnegative=True)
eighth = Parameter("eighth", "n^4 E W_aj^8", nonnegative=True)
spread_out = Parameter(
    "spread_out", "n^4 E (sum_j a_j W_aj)^8, every a_j one or minus one over sqrt n", nonnegative=True
)
HELD = ("gaussian", "uniform", "haar", "low rank", "fixed rank", "blocks", "scaled", "still blocks")


def products(W: Float[Array, "N M"], units: Scalar, inputs: Scalar) -> dict[str, Array]:
    """The means of products of entries, of a matrix that is zero outside so many rows and columns."""
    squares, gram = inputs * W**2, inputs * W @ W.T
    fourths, by_row, by_column = (squares**2).sum(), squares.sum(1), squares.sum(0)
    pairs = units * (units - 1) * inputs * (inputs - 1)
    within = (squares @ squares.T).sum() - fourths  # over a != c, one column
    return dict(
        entry=fourths / (units * inputs),
        row=((by_row**2).sum() - fourths) / (units * inputs * (inputs - 1)),
        rows=(squares.sum() ** 2 - (by_row**2).sum() - (by_column**2).sum() + fourths) / pairs,
        cross=((gram**2).sum() - (jnp.diagonal(gram) ** 2).sum() - within) / pairs,
    )


def observe(layer: LinearLayer, n: Extent) -> dict[str, Array]:
    """Of a square matrix, and the second moments of one half of its places less those of the other."""
    size, half, places = setting.width(n), n.value // 2, jnp.arange(n.padded)
    first, second = places < half, (places >= half) & (places < 2 * half)
    squares = size * layer.weight**2
    halves = jnp.where(first[:, None], jnp.where(first, squares, 0) - jnp.where(second, squares, 0), 0)
    return dict(place=halves.sum() / half**2, **products(layer.weight, size, size))


def observe_tall(layer: LinearLayer, n: int) -> dict[str, Array]:
    """Of a matrix of 2 n units and n inputs, n a power of two; eighth powers in the directions of entries and of Walsh."""
    W, places = layer.weight, jnp.arange(n)
    found = products(W, 2.0 * n, 1.0 * n)
    walsh = 1 - 2 * (jax.lax.population_count(places[:, None] & places[None, :]) % 2)
    return dict(
        fourths=found["entry"],
        in_row=found["row"],
        between=found["cross"],
        eighths=((n * W**2) ** 4).mean(),
        spread_eighths=((W @ walsh.astype(W.dtype)) ** 8).mean(),
    )


def matrix(key: Array, n: Extent, law: Array, share: Array) -> LinearLayer:
    """A square matrix of one of the laws held here."""
    return LinearLayer(weight_matrices.weights(key, n, law, share, HELD))


def hadamard_matrix(key: Array, n: Extent) -> LinearLayer:
    """One randomised Hadamard matrix, whatever the key: its products are those of every other one."""
    return LinearLayer(weight_matrices.randomised_hadamard(root(0), n))


def tall_matrix(key: Array, n: int, law: Array, share: Array) -> LinearLayer:
    """Half of the columns of a square matrix, scaled: the law with twice as many units as inputs."""
    W = weight_matrices.weights(key, literal(2 * n), law, share, HELD)[:, :n]
    return LinearLayer(jnp.sqrt(2.0) * W)


def tall_blocks(key: Array, n: int, count: Array) -> LinearLayer:
    """So many equal blocks of Gaussian entries, their rows and columns permuted."""
    places = (("rows", 2 * n), ("columns", n))
    rows, columns = (jax.random.permutation(named(key, name), size) * count // size for name, size in places)
    G = jax.random.normal(named(key, "entries"), (2 * n, n)) * jnp.sqrt(count / n)
    return LinearLayer(jnp.where(rows[:, None] == columns[None, :], G, 0))


def known(
    products: Mapping[str, Any], alike: Expr | int, single: Expr | int, everywhere: Expr | int | None = None
) -> dict[Parameter, Expr]:
    """The products of a law of 2 n units, one of them at n units, and eighth moments at an entry and away from it."""
    values = {letter: products[letter.name] for letter in (fourth, own, across, crossed)}
    values |= {square: alike, eighth: single, spread_out: single if everywhere is None else everywhere}
    return {letter: sympify(value) for letter, value in values.items()}


M = 2 * n
GAUSSIAN = known(dict(fourth=3, own=1, across=1, crossed=0), 1, 105)
UNIFORM = known(
    dict(fourth=Rational(9, 5), own=1, across=1, crossed=0),
    1,
    9,
    105 - 252 / n + Rational(1212, 5) / n**2 - Rational(432, 5) / n**3,
)
HAAR = known(setting.haar_products(M), n / (n + 2), 105 * M**3 / ((M + 2) * (M + 4) * (M + 6)))
RANK_N = known(
    setting.low_rank_products(M, n),
    1,
    105 * (M / n) ** 4 * (n + 2) * (n + 4) * (n + 6) * n / (M * (M + 2) * (M + 4) * (M + 6)),
)
TWO_BLOCKS = known(setting.block_products(n, sympify(2), M), (n - 2) / (n - 1), 840, 105)
