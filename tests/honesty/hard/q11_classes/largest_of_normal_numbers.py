"""The largest of n normal numbers over the root of 2 log n tends to 1, slowly: with its logarithms declared, and without."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *

n = Size("n", "numbers drawn")
top = Measured("top", "largest number over the root of 2 log n", positive=True)
H = hypotheses(independent="the numbers are independent")
# The correction is -(log log n + log 4 pi - 2 gamma)/(4 log n) and a term of the order of its square.
EXTREMES = Corrections(
    size=0, log=Rational(9, 100), loglog=Rational(9, 100), rest=Rational(1, 200), order=1, reference=64,
    reason="extreme values: -0.34/log n and -0.25 log log n/log n, each below 0.09 at n = 64",
)  # fmt: skip
declared = Limit(top, 1, as_=n, approach=EXTREMES, margin=Relative(1, 10, "0.7 without the 2"))
by_default = Limit(top, 1, as_=n, approach=Corrections(), margin=Relative(1, 10, "0.7 without the 2"))


def build(key, n, shared):
    z = jax.random.normal(key, (n,))
    return jnp.where(shared == 1, z[0], z)


def observe(z, n):
    return dict(top=jnp.max(z) / jnp.sqrt(2 * jnp.log(n)))


drawn = Subject(build, shared=0)
subjects = {
    "independent": drawn,
    "shared": drawn(shared=1).breaking(H.independent, fails=(declared, by_default)),
}
theorem = Theorem(
    label="own",
    hypotheses=H,
    claims=dict(declared=declared, by_default=by_default),
    experiments=dict(
        e=Experiment(
            observe, top, {n: (64, 256, 1024, 4096, 16384)}, draws=Efforts(2000, 2000, 2000), subjects=subjects
        )
    ),
)
