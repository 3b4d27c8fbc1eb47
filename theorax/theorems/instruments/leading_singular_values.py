"""Leading singular values come with residuals that hold, and an audit tells whether their index is right.

**Theorem.** Let A be T x T: a Markov matrix of exponential weights, a Gaussian matrix, or one with
planted values 4, 3.8 and others at most 2. Golub-Kahan-Lanczos finds v_1 >= v_2 with residuals
rho_1, rho_2, recomputed from the vectors. Let s_i be the singular values, known up to a measured
error that every bound allows for. Then each v_i lies within rho_i of some s_j;
|v_1 - s_1| <= rho_1; |v_2 - s_2| <= rho_2 + v_2/50, if s_1 and s_2 are well apart; and sum_(i >= 2)
s_i^4 is computed within its stated error. Whatever triplets it is given, the audit certifies i only
if |v_i - s_i| <= 2 sqrt(2 (rho_1^2 + ... + rho_i^2)) + v_i/10^5. In these draws it certifies i = 1.

**Idea.** A residual says that a singular value lies within it, not which one: of two close values
the iteration may find only one. The inertia of a shifted Gram matrix counts the values above a
number, so an audited index is certain. An index without an audit is not: near a soft edge about one
draw in 300 finds the third value for the second.
"""

from enum import IntEnum

import jax
import jax.numpy as jnp
from sympy import Eq, Rational

from theorax.language import *
from theorax.numerics import distributions
from theorax.numerics.ensembles import gaussian as gaussian_matrix
from theorax.numerics.ensembles import haar, random_markov
from theorax.numerics.keys import named
from theorax.numerics.rounding import gamma
from theorax.theorems.mind_the_gap._inertia import audit_index
from theorax.theorems.mind_the_gap._lanczos import SingularTriplets, leading_singular_triplets
from theorax.theorems.mind_the_gap._spectra import enclosed_singular_values, tail_power

T = Size("T", "order of the matrix")
i = Index("i", "index of the value")
triplets = numbers(
    value="the i-th value found",
    nearest="distance of the i-th value found from the nearest singular value",
    distance="distance of the i-th value found from the i-th singular value",
    residual="its residual",
    width="what the audit certifies its index within",
    certified="one if the audit certifies the index, else zero",
    blur="what the values held against may themselves be off by",
    over=(i,),
)
tail_error = Measured("bound", "its stated error")
powers = numbers(
    tail_distance="distance of the sum of fourth powers from the exact one",
    tail_blur="what the exact sum of fourth powers may itself be off by",
)

H = hypotheses(
    recomputed="values and residuals are recomputed from the vectors",
    in_order="the triplets are taken in order",
    apart="no value asked for is double",
)
in_order = (H.recomputed, H.in_order)
some = Inequality(triplets.nearest, at_most=triplets.residual + triplets.blur, under=H.recomputed)
first = Inequality(triplets.distance, at_most=triplets.residual + triplets.blur, under=in_order, where=Eq(i, 1))
second = Inequality(triplets.distance, at_most=triplets.residual + triplets.blur + triplets.value / 50, where=Eq(i, 2))
# An audit computes afresh what it rests on: it certifies no wrong index, whatever it is given.
audited = Inequality(triplets.certified * (triplets.distance - triplets.width - triplets.blur), at_most=0, under=())
sees = Inequality(triplets.certified, at_least=Rational(1, 2), under=in_order, where=Eq(i, 1))
tails = Inequality(powers.tail_distance, at_most=tail_error + powers.tail_blur, under=in_order)


class MatrixLaw(IntEnum):
    """The ensembles that matrices are drawn from; a pair has two planted values near each other."""

    MARKOV, GAUSSIAN, PAIR = range(3)


def matrix(key, T, kind, gap, moved, exchanged):
    """A matrix, and what is done to its triplets: values ``moved`` by a share, the two triplets ``exchanged``."""
    root = jnp.sqrt(jnp.asarray(T.value, jnp.zeros(()).dtype))

    def pair(key):
        places = jnp.arange(T.padded)
        values = jnp.where(places == 0, 4, jnp.where(places == 1, 4 * (1 - gap), 2 - 2 * places / root**2))
        left, right = (haar(named(key, name), T) for name in ("left", "right"))
        return (left * jnp.where(T.mask, values, 0)) @ right

    kinds = (
        lambda key: random_markov(key, distributions.UnitExponential(), T),
        lambda key: gaussian_matrix(key, T, T, 1 / root),
        pair,
    )
    return jax.lax.switch(kind, kinds, key), moved, exchanged


def observe(model):
    A, moved, exchanged = model
    found = leading_singular_triplets(A, k=2)
    order = jnp.where(exchanged, jnp.asarray([1, 0]), jnp.asarray([0, 1]))
    values, left, right, residuals = (
        part[order] for part in (found.values * (1 + moved), found.left, found.right, found.residuals)
    )
    triplets = SingularTriplets(values, left, right, residuals, found.passes, found.converged)
    (exact, error), rest = enclosed_singular_values(A), tail_power(A, triplets)
    # A power sum rounds by gamma of its terms and the two squarings, relatively; so does its distance from another.
    grain = gamma(exact.shape[0] + 4, A.dtype) * (jnp.sum(exact[1:] ** 4) + rest.value)
    seen = jnp.stack([audit_index(A, triplets, index) for index in (0, 1)])
    return dict(
        value=values,
        nearest=jnp.min(jnp.abs(values[:, None] - exact), axis=1),
        distance=jnp.abs(values - exact[:2]),
        residual=residuals,
        blur=jnp.full(2, jnp.max(error)),
        width=2 * jnp.sqrt(2 * jnp.cumsum(residuals**2)) + 1e-5 * values,
        certified=seen.astype(A.dtype),
        tail_distance=jnp.abs(rest.value - jnp.sum(exact[1:] ** 4)),
        bound=rest.error,
        tail_blur=jnp.sum((exact[1:] + error[1:]) ** 4 - exact[1:] ** 4) + 2 * grain,
    )


markov = Subject(matrix, kind=MatrixLaw.MARKOV, gap=0.05, moved=0.0, exchanged=0)
pair = markov(kind=MatrixLaw.PAIR)
theorem = Theorem(
    place="the solver of the largest singular values",
    label="derived",
    hypotheses=H,
    claims=dict(some=some, first=first, second=second, audited=audited, sees=sees, tails=tails),
    experiments=dict(
        matrices=Experiment(
            observe, (triplets, powers, tail_error), {T: Efforts((16, 32), (16, 48), (16, 64, 256))},
            along={i: (1, 2)}, draws=Efforts(250, 250, 600), padded=True,
            subjects={
                "Markov": markov,
                "a planted pair": pair,
                "Gaussian": markov(kind=MatrixLaw.GAUSSIAN),
                # A twenty-fifth is beyond the fiftieth that is claimed of the second; a sum of fourth powers moves by 16 %.
                "values moved by a twenty-fifth": pair(moved=0.04).breaking(
                    H.recomputed, fails=(some, first, second, sees, tails),
                ),
                "triplets exchanged": pair(exchanged=1).breaking(H.in_order, fails=(first, second, sees, tails)),
                "a double value": pair(gap=0.0).breaking(H.apart, fails=second),
            },
        )
    ),
    issues=(
        "Claims in every draw are supported for all but a small share of the draws; the bounds themselves are derived "
        "in the solver, not here.",
        "At a soft edge two values nearly coincide now and then. In about one of 300 draws at T = 32 or 64 the value "
        "found for the second is the third. Its residual holds, its index is wrong, and only the audit sees it. "
        "The second value is therefore claimed within a fiftieth; ask no more of it.",
    ),
)
