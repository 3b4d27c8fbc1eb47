"""Attention-BN: standardising tokens by the keys recentres the queries, rescales, and forgets affine changes.

With mu and var the means and population variances of the keys' coordinates and s^2 = var + e0, the score of a query q at
k_j is ((q - mu)/s).((k_j - mu)/s)/sqrt(D) = sum_d (q_d - mu_d) k_jd/(s_d^2 sqrt(D)) plus what depends on q alone, which
softmax does not see. So centring the keys alone changes nothing, and centring the queries by the mean of the keys does it
all. As phi is taken at (x - mu)/s, the layer is the support vector expansion of the regression on standardised keys.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sympy import Integer, Symbol, powsimp

from theorax.language import (
    Absolute,
    Efforts,
    Expansion,
    Experiment,
    Hypothesis,
    Identity,
    Measured,
    Proof,
    Rate,
    Relative,
    Size,
    Step,
    Theorem,
    instance,
)
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.attention_layers import BATCH, OWN, PLAIN, SAMPLE, AttentionBN
from theorax.numerics.kernel_attention import KernelAttention, Plain, Regression, Softmax, Taylor
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import D, N

m = Size("m", "one over the floor e0 of the variances")

weights = Measured("weights", "weights of Attention-BN, one row for each query", array=True)
expanded = Measured("expanded", "softmax of sum_d (q_d - mu_d) k_jd/((var_d + e0) sqrt(D))", array=True)
raw = Measured("raw", "softmax of sum_d q_d k_jd/((var_d + e0) sqrt(D)), without the means", array=True)
root = Measured("root", "softmax of sum_d (q_d - mu_d) k_jd/(s_d sqrt(D)), one root too many", array=True)
queries_alone = Measured("queries_alone", "weights, queries centred by the mean of the keys, keys not", array=True)
keys_alone = Measured("keys_alone", "weights with the keys centred and the queries not", array=True)
neither = Measured("neither", "weights with neither centred, both divided by s", array=True)
moved = Measured("moved", "weights at keys a k + c and queries a q + c, a_d of either sign", array=True)
output = Measured("output", "output of Attention-BN with the kernel of phi and values beta_j/h_j, plus b", array=True)
unweighted = Measured("unweighted", "the same with values beta_j", array=True)
regressor = Measured("regressor", "W phi/h + b, W = sum_j beta_j phi(k_j)/h_j, at standardised tokens", array=True)
off = Measured("off", "largest change of a weight when keys and queries move to a k + c and a q + c", positive=True)

exactly: dict[str, Any] = dict(
    margin=Relative(1, 10**9),
    because="the account of the rounding stays below it; even the sample variance moves weights by a hundredth",
)
identity = Identity(
    left=weights,
    right=expanded,
    under=("keys", "variance"),
    mutants={"without the means": dict(right=raw), "1/s for 1/s^2": dict(right=root)},
    **exactly,
)
recentring = Identity(
    left=weights, right=queries_alone, under=("keys",), mutants={"keys centred": dict(right=keys_alone)}, **exactly
)
silent = Identity(left=keys_alone, right=neither, under=(), mutants={"queries centred": dict(left=weights)}, **exactly)
invariant = Identity(left=weights, right=moved, under=("variance", "floor"), **exactly)
expansion = Identity(left=output, right=regressor, under=(), mutants={"values beta": dict(left=unweighted)}, **exactly)
floored = Rate(
    of=off,
    like=1 / m,
    as_=m,
    approach=Expansion(
        powers=(1,), rest=0.1, order=2, reference=100, reason="weights are analytic in e0; below 0.01 on other seeds"
    ),
    margin=Absolute(1, 10),
    because="a floor added to s in place of s^2 would change weights like the root of e0",
    under=("variance",),
    spread=1 / m,
)


def build(key, N, D, floor, kind):
    keys, queries, beta = setting.points(key, N, D)
    a, c = (jax.random.normal(named(key, name), (D.padded,)) for name in "ac")
    bias = jax.random.normal(named(key, "b"), (setting.OUTPUTS,))
    layer = AttentionBN(KernelAttention(Softmax(), keys, beta, bias), floor, kind)
    return layer, queries, jnp.sign(a) * jnp.exp(a / 2), c


def observe(model):
    """The layer, its expanded scores, what centring does, and the layer at moved tokens."""
    layer, q, a, c = model
    keys = layer.attention.keys
    mean, (_, scale) = keys.sum(0) / len(keys), layer.statistics
    square = ((keys - mean) ** 2).sum(0) / len(keys) + layer.floor
    shares = replace(layer.attention, keys=keys).weights
    return dict(
        weights=layer.weights(q),
        expanded=shares((q - mean) / square),
        raw=shares(q / square),
        root=shares((q - mean) / jnp.sqrt(square)),
        queries_alone=shares((q - mean) / scale**2),
        keys_alone=layer.weights(q, (0, 1)),
        neither=layer.weights(q, (0, 0)),
        moved=layer.moved(a, c).weights(a * q + c),
    )


def regress(model):
    """The layer with finitely many features, its values made from multipliers, and the regressor that it should be."""
    bn, queries = model[:2]
    beta = bn.attention.values
    x, layer = bn.standardised(queries)
    h = layer.kernel.kernel(layer.keys, layer.keys).sum(1)[:, None]
    W = (beta / h).T @ layer.kernel(layer.keys)
    return dict(
        output=replace(layer, values=beta / h)(x),
        unweighted=layer(x),
        regressor=Regression(layer.kernel, layer.keys, W, layer.bias)(x),
    )


def change(model, m):
    bn, q, a, c = model
    layer = replace(bn, floor=1 / m.value)
    return dict(off=jnp.abs(layer.weights(q) - layer.moved(a, c).weights(a * q + c)).max())


def features(key, N, D, floor, kind):
    (bn, *rest) = build(key, N, D, floor, kind)
    return replace(bn, attention=replace(bn.attention, kernel=Taylor(2))), *rest


def symbols_for(floor, kind, kernel=None):
    """Three keys and one query of dimension two, one output, any temperature."""
    entry = lambda number: np.array(number, dtype=object)  # noqa: E731
    g: Any = setting.generic
    layer = KernelAttention(
        kernel or Softmax(entry(Symbol("tau", real=True))), g("k", 3, 2), g("beta", 3, 1), g("b", 1)
    )
    return AttentionBN(layer, entry(floor), kind), g("q", 1, 2), g("a", 2), g("c", 2)


@cache
def scores(floor):
    """Logarithms of the ratios of weights to that of the first key, exactly as measured, and the sums of the rows."""
    found = evaluate(observe, (symbols_for(floor, BATCH),), Symbolic())
    rows = {name: entries.ravel() for name, entries in found.items()}
    return {name: [powsimp(entry / row[0]).exp for entry in row[1:]] for name, row in rows.items()}, rows


def proof(claim, floor):
    def steps():
        """Three keys, one query, two dimensions, any temperature: ratios of weights, which sum to one."""
        logs, rows = scores(floor)
        left, right = claim.left.name, claim.right.name
        for side in (left, right):
            yield Step(f"{side} sum to one", sum(rows[side]), Integer(1))
        yield Step("logarithms of ratios of the measured weights", logs[left], logs[right])

    return Proof(steps, settles=True)


def any_features():
    """Any features of three standardised keys and of a query, two of them; any multipliers."""
    found = evaluate(regress, (symbols_for(Integer(0), PLAIN, Plain()),), Symbolic())
    yield instance(expansion, "the measured programs on symbols that stand for features", found)


subject = setting.subjects(build, floor=0.0, kind=BATCH)
regression = setting.subjects(features, floor=1e-5, kind=BATCH)
SMALL = Symbol("e0", positive=True)
theorem = Theorem(
    place="Attention-BN (reconstructed definition; that only the queries' centre matters, and the invariance: derived)",
    label="reconstructed",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=dict(
        keys=Hypothesis("queries are centred by the mean of the keys"),
        variance=Hypothesis("coordinates are divided by s, s^2 the population variance of the keys plus e0"),
        floor=Hypothesis("e0 = 0"),
    ),
    claims=dict(
        identity=identity, recentring=recentring, silent=silent, invariant=invariant, expansion=expansion, floored=floored,
    ),
    experiments=dict(
        layers=Experiment(
            padded=True,
            subjects={
                "Attention-BN, e0 = 0": subject(),
                "Attention-BN, e0 = 1e-5": subject(floor=1e-5, breaks=("floor",), fails=("invariant",)),
                "sample variance": subject(kind=SAMPLE, breaks=("variance",), fails=("identity",)),
                "queries by their own mean": subject(kind=OWN, breaks=("keys",), fails=("identity", "recentring")),
                "softmax attention": subject(
                    kind=PLAIN, breaks=("keys", "variance"), fails=("identity", "recentring", "invariant")
                ),
            },
            observe=observe,
            measures=(weights, expanded, raw, root, queries_alone, keys_alone, neither, moved),
            sweep={N: (12,)},
            at=({D: 5},),
            draws=setting.DRAWS,
        ),
        regressions=Experiment(
            padded=True,
            subjects={"Attention-BN, e0 = 1e-5": regression()},
            observe=regress,
            measures=(output, unweighted, regressor),
            sweep={N: (12,)},
            at=({D: 5},),
            draws=setting.DRAWS,
        ),
        floors=Experiment(
            padded=True,
            subjects={
                "Attention-BN": subject(),
                "softmax attention": subject(kind=PLAIN, breaks=("variance",), fails=("floored",)),
            },
            observe=change,
            measures=(off,),
            sweep={m: (100, 1000, 10_000, 100_000)},
            at=({N: 12, D: 5},),
            span=1000,
            draws=Efforts(quick=64, standard=128, thorough=512),
            seeds="paired",
        ),
    ),
    proof=dict(
        identity=proof(identity, SMALL),
        recentring=proof(recentring, SMALL),
        silent=proof(silent, SMALL),
        invariant=proof(invariant, Integer(0)),
        expansion=Proof(any_features, settles=True),
    ),
    issues=(
        "The statistics are those of the keys of one regression, that is of one head and one sequence; statistics over "
        "a batch or over all heads make another layer.",
        "Any multiple of the variance in the place of s^2 would do for the invariance; a moving average would not.",
    ),
)  # fmt: skip
