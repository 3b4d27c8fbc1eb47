"""The entries of a vector less their mean sum to zero, and their mean square is what the mean leaves."""

import jax
import jax.numpy as jnp
import numpy as np
from sympy import symbols

from theorax.language import *

n = Size("n", "length of the vector")
seen = arrays(
    total="sum of the centred entries", rest="mean square less the square of the mean", square="their mean square"
)

H = hypotheses(mean=Hypothesis("the mean is that of all entries", unbroken="one subject is enough here"))
exact = Absolute(1, 10**6, "the account of the rounding stays below it")
nothing = Identity(seen.total, 0, margin=exact)
left = Identity(seen.square, seen.rest, margin=exact)


def compare(vector, n):
    mean = jnp.sum(vector) / n
    return dict(
        total=jnp.sum(vector - mean), rest=jnp.sum(vector**2) / n - mean**2, square=jnp.sum((vector - mean) ** 2) / n
    )


@settles(nothing, left)
def any_entries(claim):
    """Generic entries; n = 2, 3, 4."""
    for length in (2, 3, 4):
        yield Instance(claim, f"n = {length}", compare, np.array(symbols(f"x:{length}", real=True)), length)


theorem = Theorem(
    place="school",
    label="derived",
    hypotheses=H,
    claims=dict(nothing=nothing, left=left),
    proofs=(any_entries,),
    experiments=dict(
        vectors=Experiment(
            compare,
            seen,
            {n: (4, 16)},
            draws=3,
            subjects={"Gaussian": Subject(lambda key, n: jax.random.normal(key, (n,)))},
        )
    ),
)
