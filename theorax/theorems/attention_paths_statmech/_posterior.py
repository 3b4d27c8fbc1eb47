"""Means over the posterior of the order parameter of one layer, by a Gauss-Hermite rule about the mode of its density."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np

from theorax.theorems.attention_paths_statmech._paths import Order
from theorax.theorems.attention_paths_statmech._saddle import action, factors, minimum

NODES = 5
"""Nodes for each of the four coordinates of one layer with two heads."""


def log_density(flat, order: Order, energy=None):
    """Log density of the coordinates given the labels, up to a constant; chi-square and Wishart laws stand for the weights.

    ``energy`` stands in the place of that of the problem.

    In U the densities have det U_l^(-(m + 1)/2) beside the action; with dU = 2^m prod F_ii^(m - i + 1) dF, and
    dF_ii = F_ii dlog F_ii, what is left of it is the product of F_ii^(1 - i).
    """
    _, lower = factors(flat, order.sizes)
    volume = sum((jnp.arange(len(factor)) * jnp.log(jnp.diag(factor))).sum() for factor in lower)
    return -volume - action(flat, order.sizes, order.widths, order.energy if energy is None else energy) / 2


def posterior_means(of, order: Order):
    """Means of the entries of ``of``, a function of U_1.

    **Errors:** those of the rule, which is exact where density times function is a normal density times a polynomial of
    degree nine in each coordinate; about its mode the density is one up to terms of the order N^(-1/2). Against thirteen
    nodes five are off by 1 in 10000 of U at N = 20, and by 3 in 1000 at N = 5.
    """
    flat, _ = minimum(lambda flat: -2 * log_density(flat, order), order.sizes, order.widths)
    root = jnp.linalg.cholesky(-jax.hessian(log_density)(flat, order))
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    rule, log_weights = (np.array(list(product(part, repeat=len(flat)))) for part in (nodes, np.log(weights)))
    # The inverse of a matrix of four rows: a triangular solve with 625 right sides takes ten times the rest. It is a lower
    # triangle, so that U_1 does not see the first coordinate of the rule, that of u_a: the energy is asked for once a U_1.
    moved = flat + rule @ jnp.linalg.inv(root)
    lower = jax.vmap(lambda at: factors(at, order.sizes)[1][-1])(moved[: len(moved) // NODES])
    U = jax.vmap(lambda factor: factor @ factor.T)(lower)
    energies = jnp.tile(jax.vmap(order.energy)(U), NODES)
    densities = jax.vmap(lambda at, energy: log_density(at, order, lambda _: energy))(moved, energies)
    exponents = log_weights.sum(1) + (rule**2).sum(1) / 2 + densities
    shares = jax.nn.softmax(exponents).reshape(NODES, -1).sum(0)
    return jnp.tensordot(shares, jax.vmap(of)(U), 1)
