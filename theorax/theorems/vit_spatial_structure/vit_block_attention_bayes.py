"""Attention that averages over each patch's own set reaches the least error, as soon as p is large enough.

**Theorem.** Let X_j = x_j w* + noise orthogonal to w*, in L sets of C patches: x_j = y = +-1 on one
uniformly random set, elsewhere +-1 with probability q/2 each or 0. Let n_+ and n_- count the sets
that are all 1 and all -1 among the L - 1 sets without signal, given y = 1. Let F = sum_i h_i^p with
p odd and h_i the mean of <w*, X_j> over the set of i. If C^p > (L-1)(C-1)^p, then the sign of F is
wrong with probability P(1 + n_+ < n_-) + P(1 + n_+ = n_-)/2, a tie counting one half.

**Idea.** F is C^(1-p) sum_l T_l^p, T_l the sum over set l, so one complete set outweighs all
incomplete ones. Where the numbers N_+ and N_- of complete sets differ, the sign of F is that of N_+
- N_-; where they are equal every label errs half the time. So F errs as rarely as the best label.
The condition is p > log(L-1)/log(C/(C-1)).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import log, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.vit_spatial_structure import _patches as setting
from theorax.theorems.vit_spatial_structure._patches import C, L, bayes_error, uniform_error

seen = arrays(
    error="probability that the sign of F is wrong, a tie counting one half",
    least="P(1 + n_+ < n_-) + P(1 + n_+ = n_-)/2",
    uniform="the error of the sum of all patches",
    leading="(L - 1)/2 (q/2)^C",
)
H = hypotheses(
    odd="p is odd",
    power="C^p > (L - 1)(C - 1)^p",
    block="S_ij = 1/C on the set of i, zero elsewhere",
    plain="nu = 0",
    orthogonal=setting.ORTHOGONAL,
)
best = Identity(
    seen.error, seen.least,
    margin=Relative(1, 10**9, "the account of the rounding stays below it; p = 3 at C = 5 is more off"),
    wrong={"the error of uniform attention": seen.uniform, "leading order alone": seen.leading},
)


class AveragedSets(eqx.Module):
    """A layer with these weights K of patches, whose rows it normalises; q and the noise of every image."""

    K: jax.Array
    v: jax.Array
    nu: jax.Array
    noise: jax.Array
    q: jax.Array
    p: int = eqx.field(static=True)


def run(q, K, v, nu, noise, p, C, L):
    images = setting.every_type(C, L)
    S = K / K.sum(1, keepdims=True)
    value = lambda sign: setting.activated(S, (sign * images.x[..., None] * v + noise) @ v, p, nu).sum(-1)
    # F is a multiple of C^(1-p) where S averages over sets: half of that tells a tie from the least other value.
    least = 0.5 / C ** (p - 1)
    wrong = (setting.mistakes(value(1), least) + setting.mistakes(-value(-1), least)) / 2
    return dict(
        error=(images.probabilities(q) * wrong).sum(), least=bayes_error(C, L, q), uniform=uniform_error(C, L, q),
        leading=(L - 1) * setting.powers(q / 2, C)[C] / 2,
    )


def build(key, C, L, p, nu, spread, along):
    """``spread``: the weight of patches of other sets; ``along``: how much noise v sees."""
    d, D = 3, C * L
    v = jax.random.normal(named(key, "v"), (d,))
    v = v / jnp.sqrt((v**2).sum())
    noise = jax.random.normal(named(key, "noise"), (len(setting.every_type(C, L).x), D, d)) / d**0.5
    noise = noise - (1 - along) * (noise @ v)[..., None] * v
    own = setting.same_set(C, L)
    chance = jax.random.uniform(named(key, "q"), minval=0.05, maxval=0.95)
    return AveragedSets(own + spread * (1 - own), v, nu, noise, chance, int(p))


def observe(model, C, L):
    """Numbers of one layer: its error over all types of images, and formulas for the least one."""
    return run(model.q, model.K, model.v, model.nu, model.noise, model.p, C, L)


@settles(best)
def every_q():
    """Any q, images without noise; sets and powers (C, L, p) = (2, 2, 3), (2, 3, 3), (3, 2, 5), (3, 3, 3)."""
    for c, sets, p in ((2, 2, 3), (2, 3, 3), (3, 2, 5), (3, 3, 3)):
        K = setting.same_set(c, sets)
        yield Instance(
            best, f"C = {c}, L = {sets}, p = {p}", run, generic_entries("q"), K, np.ones(1), 0.0, 0.0, p, c, sets
        )


@lemma
def outweighed():
    """Every C, L, p: the power at which incomplete sets weigh as much as one complete set; a complete set in F."""
    c, m, p, T = symbols("C m p T", positive=True)  # m stands for L - 1, and C > 1
    size = c + 1
    equal = log(m) / log(size / c)
    yield Solved("the condition with equality, for sets of C + 1", p * log(size / c) - log(m), p, equal)
    yield Step("a set in F, any T", size * (T / size) ** p / (size ** (1 - p)), T**p)


whole = Subject(build, p=5, nu=0.0, spread=0.0, along=0.0)
theorem = Theorem(
    place="ideal attention; derived here",
    label="derived",
    uses=("vit_bayes_labelling",),
    hypotheses=H,
    claims=dict(best=best),
    proofs=(every_q, outweighed),
    experiments=dict(
        sets=Experiment(observe, seen, {L: (3,)}, at={C: 5}, draws=Efforts(2, 4, 12), subjects={
            "p = 5": whole,
            "p = 3": whole(p=3).breaking(H.power, fails=best),
            "p = 1, with the error of uniform attention": whole(p=1).breaking(H.power, fails=best),
            "p = 4": whole(p=4).breaking(H.odd, fails=best),
            "nu = 100": whole(nu=100.0).breaking(H.plain, fails=best),
            "weights on other sets": whole(spread=0.5).breaking(H.block, fails=best),
            "isotropic noise": whole(along=1.0).breaking(H.orthogonal, fails=best),
        }),
    ),
    issues=("A is not of finite size where its softmax is 1/C on sets: training comes near it only.",),
)
