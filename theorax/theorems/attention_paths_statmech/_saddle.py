"""The action of the order parameters, whose energy is a function of U_1, and its minimum by damped Newton steps."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Float

STEPS = 30
"""The most damped Newton steps that are made; about fifteen suffice."""

LAST = 1e-10
"""An undamped step of this length is the last one: the next would be of the order of its square."""


def factors(flat, sizes):
    """The readout scalar u_a, and lower factors of U_L, ..., U_1, the diagonals of which stand as logarithms in ``flat``."""
    found, place = [], 1
    for m in sizes:
        rows, columns = np.tril_indices(m)
        entries = flat[place : place + len(rows)]
        entries = jnp.where(rows == columns, jnp.exp(entries), entries)
        found.append(jnp.zeros((m, m)).at[rows, columns].set(entries))
        place += len(rows)
    return jnp.exp(flat[0]), found


def layer_terms(u_a, lower):
    """Tr(U_(l+1)^(-1) tr U_l), and with it - log det U_l + H_l log det U_(l+1), from the last layer to the first."""
    above, found = jnp.sqrt(u_a) * jnp.eye(1), []
    for factor in lower:
        blocks = factor.reshape(-1, len(above), len(factor))
        whitened = jax.vmap(lambda block, above=above: solve_triangular(above, block, lower=True))(blocks)
        trace = (whitened**2).sum()
        found.append((trace, trace - log_det(factor) + len(blocks) * log_det(above)))
        above = factor
    return found


def log_det(factor):
    """The log determinant of the square of a triangular matrix."""
    return 2 * jnp.log(jnp.diag(factor)).sum()


def mixed(U, paths: Float[Array, "m m *shape"]):
    """K = (1/Htot) sum U_pp' C_pp'."""
    return jnp.einsum("pq,pqij->ij", U, paths) / len(U)


def action(flat, sizes, widths, energy):
    """Entropy plus the energy, a function of U_1; ``widths`` are those of the readout, layer L, ..., layer 1."""
    u_a, lower = factors(flat, sizes)
    entropy = widths[0] * (u_a - jnp.log(u_a))
    for width, (_, term) in zip(widths[1:], layer_terms(u_a, lower), strict=True):
        entropy = entropy + width * term
    return entropy + energy(lower[-1] @ lower[-1].T)


def saddle(sizes, widths, energy, steps=STEPS):
    """The minimum of the action that is reached from the identity: u_a, U_L, ..., U_1, and the length of the last step."""
    flat, move = minimum(lambda flat: action(flat, sizes, widths, energy), sizes, widths, steps)
    u_a, lower = factors(flat, sizes)
    return u_a, [factor @ factor.T for factor in lower], move


def minimum(of, sizes, widths, steps=STEPS):
    """The coordinates that damped Newton steps of ``of`` reach from the identity, and the length of the last step.

    **Errors:** to first order that length is the distance before the step, in the logarithmic coordinates; what is left is of
    the order of its square. It is one where no step is made. A step that ``of`` does not allow is not made; the damping
    then grows.
    """
    slope = jax.grad(of)
    hessian = jax.jacfwd(lambda flat: (slope(flat),) * 2, has_aux=True)
    start = jnp.zeros(1 + sum(m * (m + 1) // 2 for m in sizes))
    unit = widths.mean() * jnp.eye(len(start))

    def step(state):
        made, flat, damping, value, _ = state
        # Where the damped Hessian is not positive there is no root: the step is not a number, and is not made.
        curvature, downhill = hessian(flat)
        move = cho_solve((jnp.linalg.cholesky(curvature + damping * unit), True), downhill)
        found = of(flat - move)
        # Equal up to rounding is allowed, or the last steps would not be made.
        better = found <= value + 1e-11 * (1 + jnp.abs(value))
        flat, value = jnp.where(better, flat - move, flat), jnp.where(better, found, value)
        # Damping that is too small to matter is none: the last steps are Newton's own.
        damping = jnp.where(better, jnp.where(damping > 1e-3, damping / 8, 0), 4 * damping + 1e-2)
        return made + 1, flat, damping, value, jnp.sqrt((move**2).sum())

    def is_on(state):
        made, _, damping, _, move = state
        # A step that is not a number is no end: the damping grows.
        return (made < steps) & ~((damping == 0) & (move <= LAST))

    _, flat, _, _, move = jax.lax.while_loop(is_on, step, (0, start, jnp.ones(()), of(start), jnp.ones(())))
    return flat, move
