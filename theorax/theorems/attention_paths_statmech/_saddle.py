"""The action of the path-kernel order parameters, and its minimum by Newton's method."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

STEPS = 40
"""Newton steps: about ten reach rounding, the others change nothing."""


def unpacked(flat, sizes):
    """The readout scalar u_a, and U_L, ..., U_1 by logarithmic Cholesky factors."""
    matrices, place = [], 1
    for m in sizes:
        rows, columns = jnp.tril_indices(m)
        factor = jnp.zeros((m, m)).at[rows, columns].set(flat[place : place + len(rows)])
        diagonal = jnp.diag(factor)
        factor = factor - jnp.diag(diagonal) + jnp.diag(jnp.exp(diagonal))
        matrices.append(factor @ factor.T)
        place += len(rows)
    return jnp.exp(flat[0]), matrices


def log_det(matrix):
    return jnp.linalg.slogdet(matrix)[1]


def traced(U, m):
    """The trace over the first head index: what is left has the size m of the layer above."""
    heads = len(U) // m
    return jnp.einsum("hahb->ab", U.reshape(heads, m, heads, m))


def layer_terms(u_a, matrices):
    """Tr(U_(l+1)^(-1) tr U_l) - log det U_l + H_l log det U_(l+1), from the last layer to the first."""
    above, found = u_a * jnp.eye(1), []
    for U in matrices:
        heads = len(U) // len(above)
        trace = jnp.trace(jnp.linalg.solve(above, traced(U, len(above))))
        found.append((trace, trace - log_det(U) + heads * log_det(above)))
        above = U
    return found


def mixed(U, paths: Float[Array, "m m P P"]):
    """K = (1/Htot) sum U_pp' C_pp'."""
    return jnp.einsum("pq,pqij->ij", U, paths) / len(U)


def action(flat, sizes, widths, paths, labels, noise):
    """Entropy plus energy; ``widths`` are those of the readout, layer L, ..., layer 1."""
    u_a, matrices = unpacked(flat, sizes)
    entropy = widths[0] * (u_a - jnp.log(u_a))
    for width, (_, term) in zip(widths[1:], layer_terms(u_a, matrices), strict=True):
        entropy = entropy + width * term
    covariance = mixed(matrices[-1], paths) + noise * jnp.eye(len(labels))
    return entropy + log_det(covariance) + labels @ jnp.linalg.solve(covariance, labels)


def saddle(sizes, widths, paths, labels, noise):
    """The minimum that Newton's method reaches from the identity: u_a, and U_L, ..., U_1.

    **Errors:** the gradient at the end is that of rounding; a step is at most of length one, and follows the Hessian with
    its eigenvalues made positive, so that no maximum attracts it.
    """
    of = lambda flat: action(flat, sizes, widths, paths, labels, noise)  # noqa: E731

    def step(_, flat):
        values, vectors = jnp.linalg.eigh(jax.hessian(of)(flat))
        move = vectors @ ((vectors.T @ jax.grad(of)(flat)) / jnp.abs(values))
        return flat - move / jnp.maximum(1, jnp.sqrt((move**2).sum()))

    start = jnp.zeros(1 + sum(m * (m + 1) // 2 for m in sizes))
    return unpacked(jax.lax.fori_loop(0, STEPS, step, start), sizes)
