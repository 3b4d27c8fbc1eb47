"""Fourth moments of the units of one layer behind a Gaussian one, as every law of the weights fixes them.

h_i = sum_j W_ij phi_j with phi_j = phi(z_j) iid. Where the signs of columns are symmetric, h_i^4 and h_i^2 h_k^2 keep the
columns that occur in pairs: one column with E phi^4, two different ones with (E phi^2)^2. Most of what moves both from
network to network moves the mean of h_i^2 too, whose mean over networks is E phi^2 at every width: a control variate.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Array, Float
from sympy import Expr, Sum, Symbol

from theorax.language import Hypothesis, KnownMean, Measured, Step, lemma
from theorax.numerics.extents import Extent
from theorax.theorems.pseudo_iid_gp._ensembles import TwoLayerNetwork, a, b4, n, width

power = Measured("power", "h_i^4, mean over the units of the layer and orthogonal inputs", positive=True)
pair = Measured("pair", "h_i^2 h_k^2, mean over pairs of units and orthogonal inputs", positive=True)
square = Measured("square", "h_i^2, mean over the units of the layer and orthogonal inputs", positive=True)


def of_squares(gain: Expr | float | int, *under: Hypothesis) -> KnownMean:
    """The mean of h_i^2 as a control variate, where these hypotheses say that entries are uncorrelated."""
    reason = "the n entries of a row are uncorrelated and have variance 1/n, each before E phi^2"
    return KnownMean(square / a, 1, gain=gain, under=under, because=reason)


@lemma
def second_moment() -> Iterator[Step]:
    """Every n: E h_i^2 holds no product of two columns."""
    j = Symbol("j", integer=True, positive=True)
    yield Step("n columns, each with E W_ij^2 E phi^2", Sum(a / n, (j, 1, n)), a)


def power_of(fourth: Expr | int, own: Expr | int) -> Expr:
    """E h_i^4/(E phi^2)^2 from n^2 E W_ij^4 and n^2 E W_ij^2 W_ij'^2: two columns pair in three ways."""
    return (fourth * b4 / a**2 + 3 * (n - 1) * own) / n


def pair_of(column: Expr | int, across: Expr | int, crossed: Expr | int = 0) -> Expr:
    """E h_i^2 h_k^2/(E phi^2)^2 from n^2 E W_ij^2 W_kj^2, n^2 E W_ij^2 W_kj'^2 and n^2 E W_ij W_kj W_ij' W_kj'."""
    return (column * b4 / a**2 + (n - 1) * (across + 2 * crossed)) / n


def moments(h: Float[Array, "inputs N"], n: Extent) -> dict[str, Float[Array, ""]]:
    """The three means over all units, h zero in the padding."""
    size, squares, powers = width(n), (h**2).sum(1), (h**4).sum(1)
    pairs = (squares**2 - powers) / (size * (size - 1))
    return dict(power=powers.mean() / size, pair=pairs.mean(), square=squares.mean() / size)


def observe(net: TwoLayerNetwork, n: Extent) -> dict[str, Float[Array, ""]]:
    """The three means for a network."""
    return moments(net(n), n)
