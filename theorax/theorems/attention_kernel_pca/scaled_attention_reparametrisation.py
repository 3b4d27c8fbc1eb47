"""Values (I - S) X W in the place of X W: no change at S = 0, and centred values at S = 11^T/N.

**Theorem.** Let a layer with weights P have the values (I - S) X W at its N keys instead of X W. If
S = 0, its output is P X W, that of standard attention. If S = 11^T/N and the rows of P sum to one,
its output at every query is that of standard attention minus the mean of the values. If S = s B
with a number s and B = softmax(K K^T/sqrt(D)) for keys K that do not depend on the values, its
output is P X W - s P B X W.

**Idea.** The output P (I - S) X W is linear in S, and P 1 = 1. Subtracting the mean of the values
is the centring in the values diag(1/g) (I - 11^T/N) A of kernel PCA, but diag(1/g) is absent. The
released layer trains S or s, with zero at the start.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import D, N

s = Parameter("s", "factor of the matrix that is subtracted")
seen = arrays(
    started="the layer with S = 0",
    centring="the layer with S = 11^T/N",
    scalar="the layer with S = s softmax(K K^T/sqrt(D))",
    standard="standard attention",
    mean="mean of the values",
    twice="attention to the outputs of self-attention of the keys",
    formula="the layer with the values diag(1/g) (I - 11^T/N) A, for A = diag(g) X W",
)

H = hypotheses(rows="the rows of attention weights sum to one", linear="S does not depend on the values")
exact = Relative(1, 10**9, "the account of the rounding stays below it; wrong terms are tenths of the output")
start = Identity(
    seen.started, seen.standard, under=(), margin=exact, wrong={"S = 11^T/N": seen.standard - seen.mean},
)
centring = Identity(
    seen.centring, seen.standard - seen.mean, under=H.rows, margin=exact,
    wrong={"no change": seen.standard, "the value formula": seen.formula},
)
scalar = Identity(
    seen.scalar, seen.standard - s * seen.twice, under=H.linear, margin=exact,
    wrong={"attention once": (1 - s) * seen.standard, "the mean": seen.standard - s * seen.mean},
)


class ScaledHead(eqx.Module):
    """Queries, keys and values X W of one head.

    ``shrunk``: a factor of the weights; ``steep``: by how much S grows with the values.
    """

    queries: Entries[Any, "n D"]
    keys: Entries[Any, "N D"]
    values: Entries[Any, "N v"]
    s: Entries[Any, " one"]
    shrunk: Any
    steep: Any


def build(key, N, D, s, shrunk, steep):
    shapes = dict(queries=(setting.QUERIES, D), keys=(N, D), values=(N, 2))
    parts = {name: jax.random.normal(named(key, name), shape) for name, shape in shapes.items()}
    return ScaledHead(**parts, s=s * jnp.ones(1), shrunk=shrunk, steep=steep)


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / jnp.sqrt(jnp.asarray(float(k.shape[1])))) @ v


def observe(head):
    q, k, V, n = head.queries, head.keys, head.values, len(head.keys)
    unit = jnp.eye(n, dtype=V.dtype)
    P, S = attention(q, k, unit) * head.shrunk, attention(k, k, unit)
    g = jnp.exp(k @ k.T / jnp.sqrt(jnp.asarray(float(k.shape[1])))).sum(1)[:, None]
    layer = lambda subtracted: P @ ((unit - subtracted) @ V)
    mean = V.sum(0) / n
    A = g * V
    return dict(
        started=layer(0 * unit), centring=layer(unit * 0 + 1 / jnp.asarray(float(n))),
        scalar=layer(head.s * S * (1 + head.steep * V[:, :1])), standard=P @ V, mean=mean + jnp.zeros((len(q), 1)),
        twice=P @ attention(k, k, V), formula=P @ ((A - A.sum(0) / n) / g),
    )


@settles(start, centring, scalar)
def two_keys(claim):
    """Two keys and a query of one dimension, one output, any values, any s."""
    given = generic_entries("q", 1, 1), generic_entries("k", 2, 1), generic_entries("v", 2, 1)
    factor = generic_entries("s", 1)
    yield Instance(claim, "two keys", observe, ScaledHead(*given, factor, 1, 0), letters={N: 2, D: 1, s: factor[0]})


head = Subject(build, shrunk=1.0, steep=0.0)
theorem = Theorem(
    place="scaled attention, an ablation; read off the authors' code",
    label="derived",
    uses=("attention_is_query_projection",),
    hypotheses=H,
    claims=dict(start=start, centring=centring, scalar=scalar),
    proofs=(two_keys,),
    experiments=dict(
        heads=Experiment(observe, seen, {N: (4, 8)}, at={D: 4, s: Rational(1, 2)}, draws=setting.DRAWS, subjects={
            "softmax attention": head,
            "weights that sum to a half": head(shrunk=0.5).breaking(H.rows, fails=centring),
            "S that grows with the values": head(steep=0.5).breaking(H.linear, fails=scalar),
        }),
    ),
    issues=(
        "Training of S or s needs data: how near it comes to 11^T/N is not asked.",
        "At s = 0 the layer is standard attention for any other weights; no claim goes beyond the start.",
    ),
)
