"""Rules of matrices, of rounding and of minima that look right; one author in two believes them."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from theorax import exact

TWO, THREE = (jax.ShapeDtypeStruct((size, size), float) for size in (2, 3))
FIVE = jax.ShapeDtypeStruct((5,), float)
inv, det = jnp.linalg.inv, jnp.linalg.det
UNIT = {"t": (0, 1)}
FEW = dict(budget=200)


def definite(a):
    return a @ a.T + jnp.eye(len(a))


# Linear algebra.


def determinant_of_a_tensor_product(seed):
    """An honest error: the orders in the exponents are exchanged."""
    return exact.identity(lambda a, b: det(jnp.kron(a, b)), lambda a, b: det(a) ** 2 * det(b) ** 3, (TWO, THREE))


def determinant_without_its_sign(seed):
    """An honest error."""
    return exact.identity(det, lambda a: jnp.exp(jnp.linalg.slogdet(a)[1]), np.eye(3) + 0.1 * np.ones((3, 3)))


def woodbury_with_a_plus(seed):
    """An honest error."""

    def left(a, u):
        return inv(a + jnp.outer(u, u))

    def right(a, u):
        w = inv(a) @ u
        return inv(a) - jnp.outer(w, w) / (1 + u @ w)

    return exact.identity(left, right, (THREE, jax.ShapeDtypeStruct((3,), float)))


def factor_of_any_matrix(seed):
    """An honest error: only the symmetric part is factored."""
    at = np.array([[2.0, 0.5], [0.5, 3.0]])
    return exact.identity(lambda a: jnp.linalg.cholesky(a) @ jnp.linalg.cholesky(a).T, lambda a: a, at)


def factor_reads_one_half(seed):
    """The factor reads the lower half alone, where nothing is made symmetric first."""

    def factor(a):
        return jax.lax.linalg.cholesky(a, symmetrize_input=False)

    skew = jnp.array([[0.0, -1.0], [1.0, 0.0]])
    return exact.identity(lambda a: factor(definite(a) + skew), lambda a: factor(definite(a)), TWO)


def triangle_on_the_wrong_side(seed):
    at = (np.diag([2.0, 3.0, 4.0]), np.ones(3))
    return exact.identity(
        lambda a, b: solve_triangular(a, b, lower=True), lambda a, b: solve_triangular(a, b, lower=False), at
    )


def neumann_stopped(seed):
    """True up to the fourth order."""
    small = 1e-6 * np.random.default_rng(1).normal(size=(3, 3))
    eye = jnp.eye(3)
    return exact.identity(lambda a: inv(eye - a), lambda a: eye + a @ (eye + a @ (eye + a)), small, margin=1e-6)


# Rounding and jumps, as identities.


def half_way_up(seed):
    """An honest error: halves are rounded to even."""
    return exact.identity(jnp.round, lambda w: jnp.floor(w + 0.5), FIVE)


def fixed_point(seed):
    """An honest error: sixty bits behind the point keep each double, not each number."""
    return exact.identity(lambda w: jnp.floor(w * 2.0**60) / 2.0**60, lambda w: w, FIVE)


def fixed_point_with_inputs(seed):
    at = np.random.default_rng(5).normal(size=5)
    return exact.identity(lambda w: jnp.floor(w * 2.0**80) / 2.0**80, lambda w: w, at, margin=1e-9)


def wider_clip(seed):
    """A clip beyond the panel."""
    return exact.identity(lambda w: jnp.clip(w, -(2.0**40), 2.0**40), lambda w: w, FIVE)


def angle_of_a_quotient(seed):
    """An honest error."""
    at = (np.array([0.3, 0.7]), np.array([0.5, 1.5]))
    return exact.identity(jnp.arctan2, lambda y, x: jnp.arctan(y / x), at)


def barrier(seed):
    return exact.identity(jnp.tanh, lambda w: jax.lax.optimization_barrier(jnp.tanh(w)), FIVE)


# Lying derivatives.


@jax.custom_jvp
def bowl(v):
    return jnp.sum(v**2)


bowl.defjvp(lambda primals, tangents: (bowl(primals[0]), 2 * (primals[0] - 1) @ tangents[0]))


def minimum_by_a_rule(seed):
    return exact.minimum(bowl, [1, 1])


def minimum_of_a_stopped_factor(seed):
    """An honest error: what is held is held for the derivative alone."""
    return exact.minimum(lambda v: (v[0] - 1) ** 2 * (1 + jax.lax.stop_gradient(v[0] - 3) ** 2), [1.5])


# Casts.


def reduced_precision(seed):
    return exact.certify(lambda t: jnp.abs(jax.lax.reduce_precision(t, 8, 7) - t), UNIT, at_most=lambda t: 1e-9, **FEW)


def accumulated_in_single(seed):
    """An honest error: the product asks for a narrower sum."""

    def error(t):
        v = jnp.stack([t, 1 - t, t / 3])
        return jnp.abs(jnp.dot(v, v, preferred_element_type=jnp.float32).astype(float) - jnp.sum(v * v))

    return exact.certify(error, UNIT, at_most=lambda t: 1e-12, budget=40)


def truncated(seed):
    """An honest error: percents are kept as whole numbers."""
    return exact.certify(lambda t: t - (100 * t).astype(jnp.int32) / 100, UNIT, at_most=lambda t: 0.00999, **FEW)


def wrapped(seed):
    """Two hundred does not fit a signed byte."""
    return exact.certify(lambda t: (200 * t).astype(jnp.int32).astype(jnp.int8).astype(float), UNIT, **FEW)


def counted_in_a_loop(seed):
    def program(t):
        return jax.lax.fori_loop(0, 3, lambda i, v: (v / 3).astype(jnp.bfloat16).astype(float), t)

    return exact.certify(lambda t: jnp.abs(program(t) - t / 27), UNIT, at_most=lambda t: 1e-9, budget=40)


# Bounds and minima.


def square_of_decimals(seed):
    """An honest error: the dyadics 0.2 and 0.01 make no square."""
    return exact.certify(lambda t: t**2 - 0.2 * t + 0.01, UNIT, **FEW)


def dip_between_the_roots(seed):
    return exact.certify(lambda t: t**2 * (t - 1e-12), UNIT, **FEW)


def square_with_a_hole(seed):
    return exact.certify(lambda t: jnp.where(t == 0.3, -1.0, t**2), UNIT, **FEW)


def finite_everywhere(seed):
    """An honest error: a pole at an end of the side."""
    return exact.certify(lambda t: jnp.where(jnp.isfinite(1 / t), 1.0, -1.0), UNIT, **FEW)


def sign_squared(seed):
    return exact.certify(lambda t: jnp.sign(t - 0.3) ** 2 - 1, UNIT, **FEW)


def nearly_motzkin(seed):
    def motzkin(x, y):
        return x**4 * y**2 + x**2 * y**4 - 3.001 * x**2 * y**2 + 1

    return exact.certify(motzkin, {"x": (-2, 2), "y": (-2, 2)}, **FEW)


def indefinite_by_a_hair(seed):
    return exact.certify(lambda x, y: x**2 - 2 * x * y + (1 - 2.0**-50) * y**2, {"x": (-1, 1), "y": (-1, 1)}, **FEW)


def saddle(seed):
    """An honest error: a curvature that rounding hides."""
    return exact.minimum(lambda v: v[0] ** 2 + 2 * v[0] * v[1] + (1 - 1e-13) * v[1] ** 2, [0, 0])


def inflection(seed):
    """An honest error: the gradient vanishes."""
    return exact.minimum(lambda v: v[0] ** 2 + v[1] ** 3, [0, 0])


def beside_the_minimum(seed):
    return exact.minimum(lambda v: jnp.sum((v - 1 / 3) ** 2), [0.3334, 0.3332])


def pulled_off_the_boundary(seed):
    """The constraint is met with the wrong sign of its multiplier."""
    return exact.minimum(lambda v: (v[0] - 2) ** 2 + v[1] ** 2, [1, 0], constraints=lambda v: v[0] - 1 + 0 * v[1])


def cusp(seed):
    """The feasible set has a cusp at the point called least."""
    return exact.minimum(lambda v: v[0], [0, 0], constraints=lambda v: jnp.stack([v[0] ** 3 - v[1], v[1] + v[0] ** 2]))


def deepest_well(seed):
    return exact.minimum(
        lambda v: v[0] ** 2 - 2 * jnp.exp(-(((v[0] - 0.731) * 2000) ** 2)), [0], box=[(-1, 1)], budget=60, starts=40
    )


def dual_of_the_value(seed):
    """The dual bound is the primal value."""

    def value(v):
        return jnp.sum((v - 1) ** 2) + 1

    return exact.duality(value, lambda u: jnp.sum((u - 1) ** 2) + 1 - 1e-12, [0, 0], [0, 0], gap=1e-9)


def dual_outside(seed):
    """An honest error: the multiplier has the wrong sign, and nobody asks."""
    return exact.duality(lambda v: v[0], lambda u: -u[0], [3], [-3], gap=1e-9, constraints=lambda v: v - 1)
