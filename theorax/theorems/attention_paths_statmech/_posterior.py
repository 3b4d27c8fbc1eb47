"""Means over the posterior of the order parameter, by a Gauss-Hermite rule about the mode of its density."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from theorax.theorems.attention_paths_statmech._paths import Order
from theorax.theorems.attention_paths_statmech._saddle import action, energy, factors, minimum, mixed

NODES = 5
"""Nodes for each of the four coordinates of one layer with two heads: exact up to the order N^(-3)."""


def log_density(flat, order: Order):
    """That of the coordinates given the labels, up to a constant; chi-square and Wishart laws stand for the weights.

    In U the densities have det U_l^(-(m + 1)/2) beside the action; with dU = 2^m prod F_ii^(m - i + 1) dF, and
    dF_ii = F_ii dlog F_ii, what is left of it is the product of F_ii^(1 - i).
    """
    _, lower = factors(flat, order.sizes)
    volume = sum((jnp.arange(len(factor)) * jnp.log(jnp.diag(factor))).sum() for factor in lower)
    return -volume - action(flat, order.sizes, order.widths, order.paths, order.labels, order.noise) / 2


def posterior_means(of, order: Order):
    """Means of the entries of ``of``, a function of U_1.

    **Errors:** those of the rule, which is exact where density times function is a normal density times a polynomial of
    degree nine in each coordinate; about its mode the density is one up to terms of the order N^(-1/2).
    """
    flat, _ = minimum(lambda flat: -2 * log_density(flat, order), order.sizes, order.widths)
    root = jnp.linalg.cholesky(-jax.hessian(log_density)(flat, order))
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    places = jnp.array(list(product(nodes, repeat=len(flat))))
    log_weights = jnp.array([np.log(chosen).sum() for chosen in product(weights, repeat=len(flat))])
    moved = flat + solve_triangular(root.T, places.T).T
    exponents = log_weights + (places**2).sum(1) / 2 + jax.vmap(lambda at: log_density(at, order))(moved)
    shares = jax.nn.softmax(exponents)
    lower = jax.vmap(lambda at: factors(at, order.sizes)[1][-1])(moved)
    return jnp.tensordot(shares, jax.vmap(lambda factor: of(factor @ factor.T))(lower), 1)


def likelihood(U, order: Order):
    """The density of the labels given U, up to a constant."""
    return jnp.exp(-energy(U, order.paths, order.labels, order.noise) / 2)


def predicted(U, order: Order, across):
    """k^T S^(-1) y at new inputs; ``across``: path kernels of new inputs and examples."""
    S = mixed(U, order.paths) + order.noise * jnp.eye(len(order.labels))
    return mixed(U, across) @ jnp.linalg.solve(S, order.labels)
