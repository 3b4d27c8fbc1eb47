"""False twins of identities of matrices and of bounds with equality inside the box."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

THREE, FOUR = (jax.ShapeDtypeStruct((size, size), float) for size in (3, 4))
inv, det, solve = jnp.linalg.inv, jnp.linalg.det, jnp.linalg.solve
BOX = {"x": (-3, 5), "y": (-4, 4), "z": (-2, 7)}


def definite(a):
    return a @ a.T + jnp.eye(len(a))


def inverse_in_the_wrong_order(seed):
    """An honest error."""
    return exact.identity(lambda a, b: inv(a @ b), lambda a, b: inv(a) @ inv(b), (THREE, THREE))


def determinant_of_a_sum(seed):
    return exact.identity(lambda a, b: det(a + b), lambda a, b: det(a) + det(b), (FOUR, FOUR))


def logarithm_of_a_product(seed):
    def size(a):
        return jnp.linalg.slogdet(a)[1]

    return exact.identity(lambda a, b: size(a @ b), lambda a, b: size(a) * size(b), (FOUR, FOUR))


def cholesky_of_a_sum(seed):
    factor = jnp.linalg.cholesky
    return exact.identity(
        lambda a, b: factor(definite(a) + definite(b)),
        lambda a, b: factor(definite(a)) + factor(definite(b)),
        (np.eye(2), np.full((2, 2), 0.5)),
    )


def transposed_system(seed):
    """An honest error: which of the two axes the equations run along."""
    at = (THREE, jax.ShapeDtypeStruct((3,), float))
    return exact.identity(solve, lambda a, b: solve(a.T, b), at)


def pivot_where_it_stands(seed):
    """True only where no rows are exchanged: half of all matrices."""
    at = np.array([[1.0, 2.0], [3.0, 4.0]])
    return exact.identity(lambda a: jax.lax.linalg.lu(a)[0][0, 0], lambda a: a[0, 0], at)


def below_a_quarter(seed):
    return exact.certify(lambda t: t * (1 - t), {"t": (0, 1)}, at_most=lambda t: 0.25 - 1e-9, budget=400)


def nearly_a_square(seed):
    """Negative in a thin cone alone."""
    return exact.certify(
        lambda x, y, z: (1 + 1e-7) * (x * y + y * z + z * x), BOX, at_most=lambda x, y, z: x * x + y * y + z * z,
        budget=400,
    )  # fmt: skip


def nearly_a_tangent(seed):
    return exact.certify(lambda t: t**3 - 3 * t + 2 - 1e-12, {"t": (-1, 5)}, budget=400)


def gap_of_the_wrong_equations(seed):
    """An honest error: least squares solved by a scaled normal equation."""
    a, b = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), jnp.array([1.0, 0.0, 2.0])

    def primal(v):
        return jnp.sum((a @ solve(a.T @ a + 1e-3 * jnp.eye(2), a.T @ b) - b) ** 2) / 2 + 0 * v[0]

    def dual(u):
        rest = b - a @ solve(a.T @ a, a.T @ b)
        return b @ rest - jnp.sum(rest**2) / 2 + 0 * u[0]

    return exact.duality(primal, dual, [0], [0], gap=1e-9)
