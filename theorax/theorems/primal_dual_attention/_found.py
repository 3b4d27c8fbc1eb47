"""A solver on a regression whose optimum is known in closed form: its gap, measured, and certified small.

The point w = sum_j beta_j x_j and b, beta the solver's coefficients and b its multiplier of their sum, belongs to the
primal program; beta to the dual one. The gap g between both values there says how far beta is from the optimum, whatever
the solver: |w - w*|^2 <= g, for the one is strongly convex and the other strongly concave in w. That g is small is a claim
of its own, and what a solver that is no solver fails.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorax.language import Absolute, Hypothesis, Optimum, arrays
from theorax.theorems.primal_dual_attention._quadratic import Dual, expanded_bound, feasible, lower_bound

solver = arrays(
    reached="primal value at the coefficients and the bias that the solver finds",
    assured="dual value at these coefficients",
    idle="primal value of w = 0 and b = 0",
    spare="what is left of [0, C] on either side of each multiplier found",
)
gap = solver.reached - solver.assured
SOLVED = Hypothesis("what the solver finds is optimal", name="solved")
certified = Optimum(
    solver.reached / solver.idle,
    bound=solver.assured / solver.idle,
    feasible=solver.spare >= 0,
    bound_by="weak_duality",
    margin=Absolute(
        2,
        10**9,
        # Residuals are to the targets what C |r| is to C |y|.
        "the solver's coarsest tolerance is 1e-9, once for the gap and once for residuals; coefficients a thousandth "
        "off leave 1e-4 and more",
    ),
    under=SOLVED,
)


def astray(dual: Dual, share: Any) -> Dual:
    """All multipliers smaller by this share: they stay in [0, C] and keep a sum of zero, but are not optimal."""
    return dual._replace(alpha=(1 - share) * dual.alpha, alphat=(1 - share) * dual.alphat)


def judged(dual: Dual, G: Array, y: Array, C: Any, eps: Any, bias: bool) -> tuple[Array, dict[str, Array]]:
    """The coefficients found, repaired to feasibility, and the letters above."""
    alpha, alphat = feasible(dual, C, bias)
    beta = alpha - alphat
    return beta, dict(
        reached=expanded_bound(beta, dual.b, G, y, C, eps),
        assured=lower_bound(alpha, alphat, G, y, eps),
        idle=expanded_bound(jnp.zeros_like(y), jnp.zeros_like(dual.b), G, y, C, eps),
        spare=jnp.concatenate([alpha, alphat, C - alpha, C - alphat]),
    )
