"""Claims of own programs that hold in real arithmetic and fail by the rounding of a cast; none of them may be green."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

FEW = dict(budget=20)
SIDE = {"x": (1, 2)}


def cast(x, to=jnp.float32):
    return jnp.asarray(x).astype(to).astype(jnp.float64)


def half(x):
    return cast(x, jnp.float16)


def error_of_a_cast(seed):
    return exact.certify(lambda x: jnp.abs(cast(x) - x), SIDE, at_most=lambda x: 1e-12, **FEW)


def searched_error(seed):
    return exact.search(
        lambda x: jnp.abs(cast(x) - x), SIDE, at_most=lambda x: 1e-12, evaluations=64, draws=20, seed=seed
    )


def strict_minimum(seed):
    """Of a function that is constant between two floats."""
    return exact.minimum(lambda v: (cast(v[0]) - 1.5) ** 2, [1.5])


def constrained_minimum(seed):
    return exact.minimum(lambda v: (half(v[0]) + 1) ** 2, [0], constraints=lambda v: v)


def minimum_of_a_residual(seed):
    """Least where the cast is exact, not at a third."""
    third = Fraction(1, 3)
    return exact.minimum(lambda v: 10.0**6 * (cast(v[0]) - v[0]) ** 2, [third], box=[(0, 1)], budget=20, starts=400)


def relative_error(seed):
    """An honest error: the unit roundoff of half precision is 5e-4, not 1e-4."""
    return exact.certify(lambda x: x / half(x), SIDE, at_most=lambda x: 1.0001, **FEW)


def softmax_adds_to_one(seed):
    """An honest error: weights that are rounded to half precision add to one in real arithmetic alone."""

    def defect(x):
        weights = half(jax.nn.softmax(jnp.stack([x, 2 * x, 0.0 * x])))
        return jnp.abs(jnp.sum(weights) - 1)

    return exact.certify(defect, SIDE, at_most=lambda x: 1e-6, **FEW)


def accumulation(seed):
    """An honest error: ten tenths added in single precision."""

    def program(x):
        total = jnp.zeros(())
        for _ in range(10):
            total = cast(total + x / 10)
        return jnp.abs(total - x)

    return exact.certify(program, SIDE, at_most=lambda x: 1e-9, **FEW)


def overflow(seed):
    """An honest error: half precision ends at 65504."""
    return exact.certify(half, {"x": (0, 10**5)}, at_most=lambda x: x + 100, **FEW)


def underflow(seed):
    return exact.certify(lambda x: 1 - cast(2.0**-140 * x) / (2.0**-140 * x), SIDE, at_most=lambda x: 1e-3, **FEW)


def gap(seed):
    """A primal value that is rounded, against a dual bound that is not."""
    return exact.duality(lambda v: cast(v[0]), lambda u: u[0], [Fraction(1, 3)], [Fraction(1, 3)], gap=1e-12)


def rounding_adds_up(seed):
    """False of floats; as an identity of real functions it is exact, and that is said."""
    at = (np.ones(2), np.full(2, 0.7))
    return exact.identity(lambda x, y: cast(x + y), lambda x, y: cast(x) + cast(y), at)
