r"""Random weight matrices: the pseudo-iid laws, and laws that miss one of their conditions.

Every matrix has centred entries of variance 1/n for n inputs (the law's own finite-size exceptions are said where they
occur). Sizes are `Extent`s; a matrix is zero outside its block. The laws of one menu share a compiled program: their
place in it is traced, and the loop over draws runs the chosen one alone.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorax.numerics.annotations import Scalar
from theorax.numerics.ensembles import gaussian, haar, haar_rows
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named

MENU = (
    "gaussian",
    "uniform",
    "haar",
    "low rank",
    "fixed rank",
    "blocks",
    "masked",
    "hadamard",
    "conditioned rademacher",
    "scaled rows",
    "rademacher",
    "signed columns",
    "correlated rows",
    "scaled",
    "fan-in",
    "correlated columns",
    "still blocks",
    "signed permutation",
    "scaled columns",
    "triangle",
    "still triangle",
    "column densities",
)


def weights(
    key: Array, n: Extent, law: Int[Array, ""], share: Float[Array, ""], among: tuple[str, ...] = MENU
) -> Float[Array, "N N"]:
    """A square matrix of the law at this place of `MENU`.

    ``share`` is the rank over n ("low rank"), the rank, the number of blocks, the density, the mean fan-in or the
    spread of scales; it does nothing elsewhere. ``among``: the laws that the program holds, each of which costs a
    compilation; of another law every entry is not a number.
    """
    makers: tuple[Callable[[], Array], ...] = (
        lambda: gaussian(key, n, n, _root(1 / n.value)),
        lambda: iid_uniform(key, n),
        lambda: haar(key, n),
        lambda: low_rank(key, n, jnp.round(share * n.value)),
        lambda: low_rank(key, n, share),
        lambda: permuted_blocks(key, n, share),
        lambda: masked(key, n, share),
        lambda: randomised_hadamard(key, n),
        lambda: conditioned_rademacher(key, n),
        lambda: scaled_rows(key, n),
        lambda: jnp.where(block(n, n), jax.random.rademacher(key, (n.padded, n.padded)) * _root(1 / n.value), 0),
        lambda: conditioned_rademacher(key, n) * _signs(named(key, "signs of the columns"), n),
        lambda: correlated_rows(key, n),
        lambda: scaled(key, n, share),
        lambda: masked(key, n, share / n.value),
        lambda: correlated_rows(key, n).T,
        lambda: still_blocks(key, n, share),
        lambda: signed_permutation(key, n),
        lambda: scaled_rows(key, n).T,
        lambda: triangle(named(key, "entries"), n, *(_ranks(named(key, name), n) for name in ("rows", "columns"))),
        lambda: triangle(key, n, jnp.arange(n.padded), jnp.arange(n.padded)),
        lambda: column_densities(key, n),
    )
    if among == MENU:
        return jax.lax.switch(law, makers)
    held = [makers[MENU.index(name)] for name in among]
    places = jnp.asarray([among.index(name) if name in among else len(among) for name in MENU])
    return jax.lax.switch(places[law], [*held, lambda: jnp.full((n.padded, n.padded), jnp.nan)])


def iid_uniform(key: Array, n: Extent) -> Float[Array, "N N"]:
    """Uniform entries: excess kurtosis -6/5."""
    edge = _root(3 / n.value)
    return jnp.where(block(n, n), jax.random.uniform(key, (n.padded, n.padded), minval=-1.0) * edge, 0)


def low_rank(key: Array, n: Extent, rank: Float[Array, ""]) -> Float[Array, "N N"]:
    r"""$W = CP$, C of ``rank`` Haar columns and P Gaussian of variance 1/rank, so that entries have variance 1/n."""
    r = Extent(jnp.asarray(rank, jnp.int32), n.padded)
    C = haar_rows(named(key, "frame"), r, n).T
    return C @ gaussian(named(key, "coefficients"), r, n, _root(1 / rank))


def permuted_blocks(key: Array, n: Extent, count: Float[Array, ""]) -> Float[Array, "N N"]:
    """Gaussian entries of variance count/n inside ``count`` equal diagonal blocks, rows and columns then permuted."""
    return _blocks(named(key, "entries"), n, count, *(_ranks(named(key, name), n) for name in ("rows", "columns")))


def still_blocks(key: Array, n: Extent, count: Float[Array, ""]) -> Float[Array, "N N"]:
    """The same without permutations: its rows and columns are not exchangeable."""
    return _blocks(key, n, count, jnp.arange(n.padded), jnp.arange(n.padded))


def masked(key: Array, n: Extent, density: Float[Array, ""]) -> Float[Array, "N N"]:
    """Gaussian entries, each kept with probability ``density`` and scaled up for the others."""
    kept = jax.random.bernoulli(named(key, "mask"), density, (n.padded, n.padded))
    return jnp.where(kept, gaussian(named(key, "entries"), n, n, _root(1 / (density * n.value))), 0)


def randomised_hadamard(key: Array, n: Extent) -> Float[Array, "N N"]:
    """Walsh's matrix of order n, a power of two, with rows and columns permuted and given random signs."""
    rows, columns = (_ranks(named(key, name), n) for name in ("rows", "columns"))
    odd = jax.lax.population_count(rows[:, None] & columns[None, :]) % 2
    signs = _signs(named(key, "row signs"), n)[:, None] * _signs(named(key, "column signs"), n)[None, :]
    return jnp.where(block(n, n), signs * (1 - 2 * odd) * _root(1 / n.value), 0)


def conditioned_rademacher(key: Array, n: Extent, rows: Extent | None = None) -> Float[Array, "rows N"]:
    r"""Independent rows, each uniform over the sign vectors of sum $\pm s$, over $\sqrt n$, with $s = \sqrt n$ or $E s^2 = n$.

    Entries are exchangeable, centred and uncorrelated, and have every fourth moment of pseudo-iid entries; the sum over
    a row is known up to its sign all the same. Where n is no perfect square, s is one of the two neighbouring numbers
    that sums of n signs take, drawn anew for every row. There are n rows unless said otherwise.
    """
    rows = n if rows is None else rows
    places = jax.random.uniform(named(key, "places"), (n.padded, rows.padded))
    below = jnp.floor(_root(n.value) + 2.0**-20).astype(jnp.int32)
    below = below - (n.value - below) % 2  # sums of n signs have the parity of n, and so has the root of a square
    often = (n.value - below**2) / (4 * below + 4)  # of the chance of below + 2, so that the mean square is n
    above = jax.random.bernoulli(named(key, "sum of the row"), often, (rows.padded,))

    def column(left: Array, drawn: tuple[Array, Array]) -> tuple[Array, Array]:
        # Of the entries from this one on so many are still to be plus, each subset alike: an urn without replacement.
        before, uniform = drawn
        taken = uniform * (n.value - before) < left
        return left - taken, taken

    plus = ((n.value + below + 2 * above) // 2).astype(jnp.int32)
    chosen = jax.lax.scan(column, plus, (jnp.arange(n.padded), places))[1].T
    signs = jnp.where(chosen, 1.0, -1.0) * _signs(named(key, "sign of the row"), rows)[:, None]
    return jnp.where(block(rows, n), signs * _root(1 / n.value), 0)


def scaled_rows(key: Array, n: Extent) -> Float[Array, "N N"]:
    """Gaussian rows whose variance is 1/(2n) or 3/(2n), each with probability one half."""
    squares = jnp.where(jax.random.bernoulli(named(key, "scales"), shape=(n.padded,)), 1.5, 0.5)
    return jnp.sqrt(squares)[:, None] * gaussian(named(key, "entries"), n, n, _root(1 / n.value))


def scaled(key: Array, n: Extent, spread: Float[Array, ""]) -> Float[Array, "N N"]:
    """Gaussian entries of variance (1 - spread)/n or (1 + spread)/n, all of one matrix alike, each with probability 1/2."""
    square = jnp.where(jax.random.bernoulli(named(key, "scale")), 1 + spread, 1 - spread)
    return gaussian(named(key, "entries"), n, n, _root(square / n.value))


def correlated_rows(key: Array, n: Extent) -> Float[Array, "N N"]:
    """Gaussian entries, any two of one row with correlation 1/4."""
    own = gaussian(named(key, "entries"), n, n, _root(3 / (4 * n.value)))
    common = jax.random.normal(named(key, "of the row"), (n.padded, 1)) * _root(1 / (4 * n.value))
    return jnp.where(block(n, n), own + common, 0)


def signed_permutation(key: Array, n: Extent) -> Float[Array, "N N"]:
    """One entry of random sign in each row and each column, in random places."""
    places = _ranks(named(key, "places"), n)[:, None] == jnp.arange(n.padded)
    return jnp.where(places & block(n, n), _signs(named(key, "signs"), n)[:, None], 0)


def triangle(key: Array, n: Extent, rows: Int[Array, " N"], columns: Int[Array, " N"]) -> Float[Array, "N N"]:
    """Gaussian entries of variance 2/(n + 1) where the place of the column is at most that of the row."""
    kept = columns[None, :] <= rows[:, None]
    return jnp.where(kept & block(n, n), gaussian(key, n, n, _root(2 / (n.value + 1))), 0)


def column_densities(key: Array, n: Extent) -> Float[Array, "N N"]:
    """Gaussian entries of variance 2/n, kept with probability 9/10 in even columns and 1/10 in odd ones; n is even."""
    density = jnp.where(jnp.arange(n.padded) % 2 == 0, 0.9, 0.1)
    kept = jax.random.bernoulli(named(key, "mask"), density, (n.padded, n.padded))
    return jnp.where(kept, gaussian(named(key, "entries"), n, n, _root(2 / n.value)), 0)


def _blocks(
    key: Array, n: Extent, count: Float[Array, ""], rows: Int[Array, " N"], columns: Int[Array, " N"]
) -> Float[Array, "N N"]:
    """Gaussian entries of variance count/n where the places of row and column lie in one block."""
    kept = (rows * count // n.value)[:, None] == (columns * count // n.value)[None, :]
    return jnp.where(kept & block(n, n), gaussian(key, n, n, _root(count / n.value)), 0)


def _root(x: Scalar) -> Float[Array, ""]:
    return jnp.sqrt(jnp.asarray(x, jnp.zeros(()).dtype))


def _ranks(key: Array, n: Extent) -> Int[Array, " N"]:
    """A random permutation of 0 .. n-1 in the meant places; the padded places hold n and more."""
    order = jnp.where(n.mask, jax.random.uniform(key, (n.padded,)), 2.0)
    return jnp.argsort(jnp.argsort(order)).astype(jnp.int32)


def _signs(key: Array, n: Extent) -> Float[Array, " N"]:
    return jax.random.rademacher(key, (n.padded,)).astype(jnp.zeros(()).dtype)
