"""Sequences that change beyond the largest size, or end on a plateau far below what the class resolves. Planted."""

import jax
import jax.numpy as jnp
from sympy import Integer

from theorax.language import *

n = Size("n", "how many")
seen = numbers(late="tends to two from n = 1000 on", flat="ends at a billionth", turned="grows from n = 10000 on")
STATED = Absolute(1, 10, "stated")


def build(key, n):
    return jax.random.normal(key, (3,)), jnp.asarray(n, jnp.float64)


def observe(net):
    noise, n = net
    scattered = jnp.exp(0.1 * noise)
    return dict(
        late=1 + 1 / n + jnp.where(n > 1000, 1.0, 0.0) + 0.1 * noise[0],
        flat=scattered[1] / n + 1e-9,
        turned=scattered[2] / n + (n / 1e4) ** 20 * 1e-4,
    )


smooth = Expansion(powers=(1,), rest=0.1, order=2, reason="exactly one over n below a thousand")
late = Limit(seen.late, Integer(1), as_=n, approach=smooth, margin=STATED, spread=0.1)
flat = Rate(seen.flat, like=1 / n, as_=n, approach=Corrections(), margin=STATED, spread=0.1)
turned = Rate(seen.turned, like=1 / n, as_=n, approach=Corrections(), margin=Absolute(1, 5, "stated"), spread=0.1)

theorem = Theorem(
    place="Nowhere",
    label="derived",
    claims=dict(late=late, flat=flat, turned=turned),
    experiments=dict(
        draws=Experiment(
            observe, seen, {n: (15, 32, 64, 128, 255, 512)}, draws=200, subjects={"sequences": Subject(build)},
        )
    ),
)  # fmt: skip
