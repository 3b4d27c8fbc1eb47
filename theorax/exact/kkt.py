r"""Strict minima under inequalities: the zero of the stationarity system with multipliers, and its second-order condition.

Minimise $f$ where $g_i \ge 0$. With the active set $A$ the system in $(x, \lambda)$ is $\nabla f - \sum_A \lambda_i \nabla
g_i = 0$, $g_A = 0$. Around its zero are certified: $\lambda_i > 0$ (strict complementarity), $g_j > 0$ off $A$, and
$H + \rho J^T J$ positive definite for the Hessian $H$ of the Lagrangian and the Jacobian $J$ of $g_A$, which gives
$v^T H v > 0$ wherever $J v = 0$: a strict local minimum.

**Source:** Krawczyk 1969 for the zero; Debreu 1952 for the augmented Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint
import jax
import jax.numpy as jnp
import numpy as np
from flint import arb
from scipy.optimize import nnls

from theorax.exact.enclosures import Enclosure, rational
from theorax.exact.krawczyk import PRECISION, Critical, critical_point
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.flat_program import doubles

__all__ = ["Constrained", "constrained"]

Function = Callable[[Any], Any]


@final
@dataclass(frozen=True)
class Constrained:
    """The point with its multipliers as one critical point; ``trouble`` says which condition is not certified."""

    found: Critical | None
    active: tuple[int, ...]
    trouble: str = ""


def constrained(
    function: Function, constraints: Function, at: Sequence[Fraction], precision: int = PRECISION
) -> Constrained:
    """The strict minimum near ``at`` of ``function`` where every entry of ``constraints`` is at least zero.

    The active set and the first multipliers are guessed from floats, by nonnegative least squares; that they are right
    is what is certified.
    """
    dimension = len(at)
    smooth, held = entered(function), entered(constraints)
    with doubles():
        here = jnp.asarray([float(x) for x in at])
        slopes = np.asarray(jax.grad(lambda x: jnp.reshape(smooth(x), ()))(here))
        jacobian = np.asarray(jax.jacobian(lambda x: jnp.ravel(held(x)))(here))
        room = np.asarray(jnp.ravel(held(here)))
    count = len(jacobian)
    # Stationarity and complementarity in one least-squares problem; of each pair the larger one is taken as not zero.
    weights = nnls(np.vstack([jacobian.T, np.diag(room)]), np.concatenate([slopes, np.zeros(count)]))[0]
    active = tuple(int(i) for i in np.flatnonzero(weights > room))
    start = [*at, *(Fraction(float(weights[i])) for i in active)]
    whole = dimension + len(active)

    def system(z: Any) -> Any:
        x, multipliers = z[:dimension], z[dimension:]
        chosen = jnp.asarray(active, dtype=int)

        def lagrangian(y: Any) -> Any:
            return jnp.reshape(smooth(y), ()) - jnp.sum(multipliers * jnp.ravel(held(y))[chosen])

        return jnp.concatenate([jax.grad(lagrangian)(x), jnp.ravel(held(x))[chosen]])

    def augmented(matrix: Any) -> Any:
        hessian, normals = matrix[:dimension, :dimension], matrix[dimension:, :dimension]
        if not len(active):
            return hessian
        size = max(float(abs(entry).upper()) for entry in hessian.ravel())
        floor = np.linalg.svd(np.vectorize(lambda b: float(b.mid()), otypes=[float])(normals))[1].min()
        # Any weight proves the same; one that outweighs the Hessian along the normals succeeds if any does.
        weight = arb(2 * dimension * size / max(floor, 2.0**-30) ** 2 + 1)
        return hessian + weight * (normals.T @ normals)

    def fits(centre: Sequence[Fraction], radius: Fraction) -> bool:
        """True if every multiplier is positive on the box, and every other constraint holds with room."""
        if any(c <= radius for c in centre[dimension:]):
            return False
        box = [(rational(c - radius), rational(c + radius)) for c in centre[:dimension]]
        try:
            values = others.all_over(box, precision)
        except UndecidedComparison:
            return False
        with flint.ctx.workprec(precision):
            return all(bool(values[j].value > 0) for j in range(count) if j not in active)

    try:
        others = Enclosure(held, dimension, count)
        found = critical_point(Enclosure(system, whole, whole), start, augmented, precision, fits)
    except (UndecidedComparison, UnsupportedPrimitive) as error:
        return Constrained(None, active, str(error))
    if found is None:
        return Constrained(None, active, "no box is known to hold exactly one stationary point")
    if not fits(found.near.centre, found.near.radius):
        trouble = "it is not known that active constraints have positive multipliers and the others hold with room"
        return Constrained(found, active, trouble)
    return Constrained(found, active)
