"""Fourth moments of the units of one layer behind a Gaussian one, as every law of the weights fixes them.

h_i = sum_j W_ij phi_j with phi_j = phi(z_j) iid. Where the signs of columns are symmetric, h_i^4 and h_i^2 h_k^2 keep the
columns that occur in pairs: one column with E phi^4, two different ones with (E phi^2)^2.
"""

from __future__ import annotations

from jaxtyping import Array, Float
from sympy import Expr

from theorax.language import Measured
from theorax.numerics.extents import Extent
from theorax.theorems.pseudo_iid_gp._ensembles import TwoLayerNetwork, a, b4, n, width

power = Measured("power", "h_i^4, mean over the units of the layer and orthogonal inputs", positive=True)
pair = Measured("pair", "h_i^2 h_k^2, mean over pairs of units and orthogonal inputs", positive=True)


def power_of(fourth: Expr | int, own: Expr | int) -> Expr:
    """E h_i^4/(E phi^2)^2 from n^2 E W_ij^4 and n^2 E W_ij^2 W_ij'^2: two columns pair in three ways."""
    return (fourth * b4 / a**2 + 3 * (n - 1) * own) / n


def pair_of(column: Expr | int, across: Expr | int, crossed: Expr | int = 0) -> Expr:
    """E h_i^2 h_k^2/(E phi^2)^2 from n^2 E W_ij^2 W_kj^2, n^2 E W_ij^2 W_kj'^2 and n^2 E W_ij W_kj W_ij' W_kj'."""
    return (column * b4 / a**2 + (n - 1) * (across + 2 * crossed)) / n


def moments(h: Float[Array, "inputs N"], n: Extent) -> dict[str, Float[Array, ""]]:
    """Both means over all units, h zero in the padding."""
    size, squares, powers = width(n), (h**2).sum(1), (h**4).sum(1)
    return dict(power=powers.mean() / size, pair=((squares**2 - powers) / (size * (size - 1))).mean())


def observe(net: TwoLayerNetwork, n: Extent) -> dict[str, Float[Array, ""]]:
    """Both means for a network."""
    return moments(net(n), n)
