"""The sums of A B and B A agree, by an instance of tr A B = tr B A."""

import jax
import jax.numpy as jnp
import numpy as np
from sympy import symbols

from theorax.language import *

n = Size("n", "order of the matrices")
seen = arrays(
    product="A B", swapped="B A", left="the sum of A B", right="the sum of B A", trace="tr A B", other="tr B A"
)
H = hypotheses(drawn=Hypothesis("the matrices are drawn independently", unbroken="nothing else is sampled here"))
margin = Relative(1, 10**6, "rounding stays far below it")


def build(key, n):
    return tuple(jax.random.normal(key, (2, n, n)))


def observe(model):
    A, B = model
    return dict(
        product=A @ B,
        swapped=B @ A,
        left=(A @ B).sum(),
        right=(B @ A).sum(),
        trace=jnp.trace(A @ B),
        other=jnp.trace(B @ A),
    )


def generic(name):
    return np.array(symbols(f"{name}_:4"), dtype=object).reshape(2, 2)


claim = Identity(seen.left, seen.right, margin=margin)


@settles(claim)
def proof():
    """Any matrices of order two."""
    traces = Identity(seen.trace, seen.other, margin=margin)
    yield Instance(traces, "order two", observe, (generic("a"), generic("b")))


theorem = Theorem(
    place="planted",
    label="derived",
    hypotheses=H,
    claims=dict(claim=claim),
    proofs=(proof,),
    experiments=dict(matrices=Experiment(observe, seen, {n: (2,)}, draws=2, subjects={"drawn": Subject(build)})),
)
