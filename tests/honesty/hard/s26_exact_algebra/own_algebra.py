"""True statements of matrices, of bounds with equality inside the box, of programs in mixed precision."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

THREE, FOUR = (jax.ShapeDtypeStruct((size, size), float) for size in (3, 4))
VECTOR = jax.ShapeDtypeStruct((3,), float)
inv, det, solve, cholesky = jnp.linalg.inv, jnp.linalg.det, jnp.linalg.solve, jnp.linalg.cholesky
NEAR = np.array([[1.0, 0.5, -0.2], [0.1, 0.8, 0.3], [-0.4, 0.2, 1.1]])


def definite(a):
    return a @ a.T + jnp.eye(len(a))


def inverse_of_a_product(seed):
    return exact.identity(lambda a, b: inv(a @ b), lambda a, b: inv(b) @ inv(a), (THREE, THREE))


def determinant_of_a_product(seed):
    return exact.identity(lambda a, b: det(a @ b), lambda a, b: det(a) * det(b), (FOUR, FOUR))


def least_squares(seed):
    a, b = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), jnp.array([1.0, 0.0, 2.0])

    def primal(v):
        return jnp.sum((a @ solve(a.T @ a, a.T @ b) - b) ** 2) / 2 + 0 * v[0]

    def dual(u):
        rest = b - a @ solve(a.T @ a, a.T @ b)
        return b @ rest - jnp.sum(rest**2) / 2 + 0 * u[0]

    return exact.duality(primal, dual, [0], [0], gap=1e-30)


def quarter(seed):
    return exact.certify(lambda t: t * (1 - t), {"t": (0, 1)}, at_most=lambda t: 0.25)


def products_of_three(seed):
    box = {"x": (-3, 5), "y": (-4, 4), "z": (-2, 7)}
    return exact.certify(lambda x, y, z: x * y + y * z + z * x, box, at_most=lambda x, y, z: x * x + y * y + z * z)


def cholesky_factors(seed):
    return exact.identity(lambda a: cholesky(definite(a)) @ cholesky(definite(a)).T, definite, NEAR)


def cholesky_solution(seed):
    def program(a, b):
        return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(definite(a)), b)

    return exact.identity(program, lambda a, b: inv(definite(a)) @ b, (NEAR, np.array([1.0, -2.0, 0.5])))


def logarithms_of_determinants(seed):
    def size(a):
        return jnp.linalg.slogdet(a)[1]

    return exact.identity(lambda a: size(a @ definite(a)), lambda a: size(a) + size(definite(a)), NEAR)


def solution(seed):
    return exact.identity(solve, lambda a, b: inv(a) @ b, (THREE, VECTOR))


def gradient_of_the_logarithm(seed):
    return exact.identity(jax.grad(lambda a: jnp.linalg.slogdet(a)[1]), lambda a: inv(a).T, THREE)


def rank_one_update(seed):
    """Sherman and Morrison's formula."""

    def update(a, u, v):
        return inv(a) - jnp.outer(inv(a) @ u, v @ inv(a)) / (1 + v @ inv(a) @ u)

    return exact.identity(lambda a, u, v: inv(a + jnp.outer(u, v)), update, (THREE, VECTOR, VECTOR))


def determinant_lemma(seed):
    vector = jax.ShapeDtypeStruct((5,), float)
    return exact.identity(lambda u, v: det(jnp.eye(5) + jnp.outer(u, v)), lambda u, v: 1 + u @ v, (vector, vector))


def tangent(seed):
    return exact.certify(lambda t: t**3 - 3 * t + 2, {"t": (-2, 5)})


def least_of_a_double_well(seed):
    return exact.minimum(lambda v: v[0] ** 4 - 2 * v[0] ** 2, [1], box=[(-2, 2)])


def mixed_precision(seed):
    """A layer whose products are made in half precision, equal to its parts in exact reading."""

    def single(x):
        return x.astype(jnp.bfloat16).astype(jnp.float64)

    return exact.identity(
        lambda x, w: single(w) @ single(x), lambda x, w: (single(w).T * single(x)[:, None]).sum(0), (VECTOR, THREE)
    )


def error_within_the_unit_roundoff(seed):
    return exact.certify(
        lambda x: jnp.abs(x.astype(jnp.float16).astype(jnp.float64) - x), {"x": (1, 2)},
        at_most=lambda x: 0.05, budget=400,
    )  # fmt: skip


def widened(seed):
    third = np.float32(1 / 3)
    return exact.certify(lambda x: third.astype(jnp.float64) * x - 0.0625 * x, {"x": (0, 1)})


def huge_cancellation(seed):
    """What floats lose wholly: a number beside one that is 2^80 times as large."""
    large = 2.0**80
    return exact.certify(
        lambda x: (x * large + 1) ** 2 - x * large * (x * large + 2), {"x": (0, 1)}, at_most=lambda x: 1 + 0 * x
    )


def cancelled_constants(seed):
    return exact.identity(lambda x: (x + 1e30) - 1e30, lambda x: x + 0.5 - 0.5, VECTOR)
