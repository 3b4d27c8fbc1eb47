"""Depth and width that grow together have another limit: at c n layers the kurtosis of ReLU networks tends to 3 e^(5c).

**Theorem.** Let phi be ReLU or the identity, a = E phi(z)^2, b4 = E phi(z)^4, and kappa = b4/a^2 -
1, which is 5 or 2. Let a network have n units in every layer, c n layers with c > 0 fixed, iid
Gaussian weights and no biases. Let V be the variance of a unit given the layers before it, divided
by its mean; layers without an active unit are left out. Then, as n -> oo, E log V -> -kappa c/2 and
Var(log V) -> kappa c. For ReLU the kurtosis 3 (1 + 5/n)^L tends to 3 e^(5c) at depth L = c n, and
to 3 at a fixed depth L.

**Idea.** V is a product of c n independent means of n terms phi(z)^2/a, each of mean one and
variance kappa. To second order the logarithm of one factor has mean -kappa/(2n) and variance
kappa/n, and the factors add up to -kappa c/2 and kappa c. The factors E V^2 multiply exactly: this
is the kurtosis of relu_depth_kurtosis.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Integer, Rational, Symbol, exp, log, oo

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, RELU, a, b4, n

c = Parameter("c", "layers over the width", positive=True)
seen = numbers(
    middle="log of the variance of a unit given the layers before, those without an active unit left out, mean over networks",
    spread="variance of this logarithm over networks",
)
H = hypotheses(
    proportional="the depth is c n",
    iid="the entries of W are iid Gaussian",
)
more = b4 / a**2 - 1
IN_POWERS = Expansion(
    powers=(1,), rest=Rational(1, 20), order=2, reference=32,
    reason="cumulants of the log of a mean of n terms expand in 1/n: for ReLU the next term is 1.6/n of the first, 1/20",
)
typical = Limit(
    seen.middle, -more * c / 2, as_=n, spread=Rational(1, 2), approach=IN_POWERS,
    margin=Relative(1, 5, "with E phi^4/(E phi^2)^2 for the variance it is a fifth more for ReLU, a half for linear layers"),
    wrong={"without the half": -more * c, "Haar weights": -(more - 2) * c / 2},
)
scattered = Limit(
    seen.spread, more * c, as_=n, spread=Rational(1, 2), approach=IN_POWERS,
    margin=Relative(1, 6, "with E phi^4/(E phi^2)^2 for the variance it is a fifth more for ReLU, a half for linear layers"),
    wrong={"E phi^4/(E phi^2)^2": (more + 1) * c},
)
NETWORKS = 64
SQUARES = float(RELU.knows[a]), float(LINEAR.knows[a])


class LogVariances(eqx.Module):
    """Logarithms of the variances of the units of independent networks after all layers."""

    logs: Float[Array, " networks"]


def networks(key, n, c, activation, haar):
    """Sampled without the weights; a layer without an active unit is left out."""

    def layer(number, logs):
        g = jnp.where(n.mask, jax.random.normal(named(key, "layer", number), (NETWORKS, n.padded)), 0)
        lengths = (g**2).sum(1) / n.value
        squares = jnp.where(n.mask, setting.activated(g, activation) ** 2, 0).sum(1) / n.value
        squares = squares / jnp.where(haar & (number > 0), lengths, 1)
        return logs + jnp.where(squares > 0, jnp.log(jnp.where(squares > 0, squares, 1)), 0)

    depth = jnp.round(c * n.value).astype(int)
    return LogVariances(
        jax.lax.fori_loop(0, depth, layer, jnp.zeros(NETWORKS)) - depth * jnp.log(jnp.asarray(SQUARES)[activation])
    )


def observe(net, n):
    return dict(middle=net.logs.mean(), spread=net.logs.var(ddof=1))


@derives(typical, scattered)
def logarithms():
    """Every homogeneous phi: the log of a mean of n terms of variance E phi^4 - (E phi^2)^2, to first order."""
    x, scale = Symbol("x", real=True), Symbol("s", positive=True)
    # log(1 + x) with E x = 0 and E x^2 = more/n; c n layers of it.
    square = more / n
    mean = (log(1 + scale * x)).series(scale, 0, 3).removeO().coeff(scale, 2).subs(x, 1) * square * c * n
    yield Step("the mean", sympy.Limit(mean, n, oo), typical.to)
    yield Step("the variance", sympy.Limit(square * c * n, n, oo), scattered.to)


@lemma
def both_limits():
    """The kurtosis over three, exactly (1 + 5/n)^L for ReLU."""
    depth, five = Symbol("L", positive=True), Integer(5)
    yield Step("c n layers", sympy.Limit((1 + five / n) ** (c * n), n, oo), exp(5 * c))
    yield Step("a fixed depth", sympy.Limit((1 + five / n) ** depth, n, oo), 1)


def subject(activation, ratio):
    known = {**activation.knows, c: ratio}
    return Subject(networks, c=float(ratio), activation=activation.place, haar=False, knows=known)


QUARTER, HALF = Rational(1, 4), Rational(1, 2)
theorem = Theorem(
    place="depth that grows with the width (derived here)",
    label="derived",
    uses=("relu_depth_kurtosis",),
    hypotheses=H,
    claims=dict(typical=typical, scattered=scattered),
    proofs=(logarithms, both_limits),
    experiments=dict(
        networks=Experiment(
            observe, seen, {n: (32, 64, 128)}, draws=Efforts(300, 600, 4000), span=4, dtype="float32", padded=True,
            subjects={
                "ReLU, a quarter": subject(RELU, QUARTER),
                "ReLU, a half": subject(RELU, HALF),
                "linear, a half": subject(LINEAR, HALF),
                "an eighth taken for a half, ReLU": subject(RELU, HALF)(c=0.125).breaking(
                    H.proportional, fails=(typical, scattered)
                ),
                "ReLU, Haar weights": subject(RELU, HALF)(haar=True).breaking(H.iid, fails=(typical, scattered)),
            },
        )
    ),
    issues=(
        "The kurtosis itself, a mean of products, is exact and not measured: at c = 1/4 few networks carry it.",
        "A layer without an active unit would make the logarithm infinite. At 32 units its chance is 2^(-32).",
    ),
)
