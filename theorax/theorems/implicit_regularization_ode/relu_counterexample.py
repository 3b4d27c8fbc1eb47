"""With the ReLU training can part neighbouring layers by 2 log C, however deep the network; smooth activations do not.

**Theorem.** Let h_k = h_(k-1) + sigma(w_k h_(k-1))/(2L), k = 1, ..., 2L, learn x -> C x, x > 0, C
> 1, by the flow dw_k/dt = -2L dl/dw_k, l = (h_2L - C x)^2, from w_k = (-1)^k/(2L). For the ReLU
dw_k/dt = 0 for odd k. For even k it is -2 x^2 ((1 + w/(2L))^L - C) (1 + w/(2L))^(L-1), w > 0 the
common even weight. The printed x for x^2 is wrong. The flow rests at w = 2L (C^(1/L) - 1). After
training max |w_(k+1) - w_k| tends to 2 log C as L -> oo. With u = (log C)/L in [1/100, 3], e^u - 1
>= u, so w >= 2 log C. For tanh, GELU, SiLU and softplus(z) - log 2, x = 1 and C = 2, this maximum
has the exact order 1/L.

**Idea.** Where h > 0, a layer of negative weight is dead and never moves. The others stay equal, so
the output is (1 + w/(2L))^L x. If sigma is in C^2 with sigma(0) = 0, weights that start within K/L
of a Lipschitz function of depth stay so, up to constants.
"""

from enum import IntEnum
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Derivative, Rational, Subs, Symbol, exp, log, oo, sqrt

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting

L = Size("L", "half the depth")
C = Parameter("C", "slope of the map to be learnt", positive=True)
x = Parameter("x", "the one input", real=True)
u = Parameter("u", "(log C)/L", positive=True)
seen = arrays(
    speed="-2L dl/dw_k by automatic differentiation, layer by layer",
    even="-2 x^2 ((1 + w/(2L))^L - C) (1 + w/(2L))^(L-1) for even k, zero for odd k",
    printed="the same with x in the place of x^2",
    rest="-2L dl/dw_k where w_k = 2L (C^(1/L) - 1) for even k",
    together="-2L dl/dw_k where w_k = 2L (C^(1/L) - 1) for all k",
)
distance = Measured("distance", "the largest |w_(k+1) - w_k| after training")
parted = Measured("parted", "the largest |w_(k+1) - w_k| after training, smooth activation", positive=True)

H = hypotheses(
    relu="sigma is the ReLU",
    alternating="the weights start at (-1)^k/(2L)",
    positive="x > 0",
    growing="C > 1",
    smooth="sigma is twice continuously differentiable and sigma(0) = 0",
    near="the weights start within a multiple of 1/L of a Lipschitz function of depth",
)
dead = (H.relu, H.alternating, H.positive)
flow = Identity(
    seen.speed, seen.even, under=dead,
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a factor x does not"),
)
as_printed = Identity(
    seen.speed, seen.printed, under=dead, corrected="flow",
    margin=Relative(1, 10**9, "the account of the rounding stays below it"),
)
weight = 2 * L * (C ** (1 / L) - 1)
rest = Identity(
    seen.rest, 0, under=dead, margin=Absolute(1, 10**9, "the account of the rounding stays below it"),
    wrong={"dead layers alive too": dict(left=seen.together)},
)
above = Inequality(
    exp(u) - 1, at_least=u, over={u: (Rational(1, 100), 3)}, under=(), wrong={"a bound in 2 u": dict(at_least=2 * u)},
)
apart = Limit(
    distance, 2 * log(C), as_=L, under=(*dead, H.growing), spread=Rational(1, 10**6),
    approach=Corrections(
        size=0.5, slowest=1, rest=0.05, order=2, reference=4,
        reason="2L (C^(1/L) - 1) + 1/(2L) is a series in 1/L; its first term is 0.24 of the limit at L = 4, C = 3/2",
    ),
    margin=Relative(1, 10, "log C and 2 (C - 1) are a factor two and 1.2 away"),
    wrong={"log C": log(C), "2 (C - 1)": 2 * (C - 1)},
)
kept = Rate(
    parted, 1 / L, as_=L, under=(H.smooth, H.near), spread=Rational(1, 10**6),
    approach=setting.in_powers(0.5, 8, "the logarithm of an expansion in 1/L"),
    margin=Absolute(1, 4, "without smoothness it is one away, a square root a half"),
    wrong={"a square root": 1 / sqrt(L), "second order": L**-2},
)


class ScalarActivation(IntEnum):
    RELU, TANH, GELU, SILU, SOFTPLUS = range(5)


class ScalarResidual(eqx.Module):
    """The weights w_1, ..., w_2L, input and target, C^(1/L) - 1, and the activation."""

    w: Entries[Any, " layers"]
    x: Any
    target: Any
    growth: Any
    kind: Any

    def sigma(self, z):
        relu = jnp.where(z > 0, z, 0)
        if isinstance(self.kind, ScalarActivation):  # a proof on symbols has the ReLU alone
            return relu
        gelu = z * (1 + jax.lax.erf(z / 2**0.5)) / 2
        return jax.lax.select_n(
            self.kind, relu, jnp.tanh(z), gelu, jax.nn.silu(z), jax.nn.softplus(z) - jax.nn.softplus(0.0)
        )

    def loss(self, w, depth):
        layer = lambda h, w: (h + self.sigma(w * h) / depth, None)
        return (jax.lax.scan(layer, self.x, w)[0] - self.target) ** 2

    def speed(self, w, depth):
        return -depth * jax.grad(self.loss)(w, depth)


def scalar(key, L, C, x, kind, rough, same):
    """``rough``: weights (-1)^k/2; ``same``: all weights 1/(2L)."""
    k = jnp.arange(1, 2 * L.padded + 1)
    signs = jnp.where((k % 2 == 0) | (same > 0), 1, -1)
    w = signs * jnp.where(rough > 0, 0.5, 1 / (2 * L.value)) * jnp.where(k <= 2 * L.value, jnp.ones(()), 0)
    return ScalarResidual(w, x, C * x, C ** (1 / L.value) - 1, kind)


def on_the_way(key, L, kind, sign, same):
    """A moment in training: dead layers as they started, the others at one positive weight."""
    k = jnp.arange(1, 2 * L.padded + 1)
    w, x, e = (jnp.exp(jax.random.normal(named(key, name)) / 2) for name in ("w", "x", "growth"))
    odd = jnp.where(same > 0, w / 2, -1 / (2 * L.value))
    return ScalarResidual(jnp.where(k % 2 == 0, w, odd), sign * x, x, e, kind)


def compare(net, L):
    """Both sides at the true depth, the target C x = (1 + growth)^L x computed without rounding it first."""
    net = ScalarResidual(net.w, net.x, net.x * (1 + net.growth) ** L.padded, net.growth, net.kind)
    depth, w = 2 * L.padded, net.w[1]
    factor = 1 + w / depth
    moving = -2 * (factor**L.padded * net.x - net.target) * factor ** (L.padded - 1)
    even = jnp.arange(depth) % 2 == 1
    found = dict(
        speed=net.speed(net.w, depth), even=jnp.where(even, moving * net.x, 0), printed=jnp.where(even, moving, 0)
    )
    last = depth * net.growth
    stops = dict(rest=jnp.where(even, last, net.w), together=last + 0 * net.w)
    return found | {name: net.speed(w, depth) for name, w in stops.items()}


def trained(net, L):
    """The largest distance of neighbours at the end, and what the solver may have added to it."""
    N = L.doubled
    field = lambda w: jnp.where(N.mask, net.speed(w, N.value * jnp.ones(())), 0)
    coarse, fine = jax.lax.map(
        lambda steps: setting.runge_kutta(field, net.w, 1, 12.0, steps)[0], jnp.asarray([150, 300])
    )
    between = jnp.arange(1, N.padded) < N.value
    return jnp.abs(jnp.where(between, jnp.diff(fine), 0)).max(), 2 * jnp.abs(fine - coarse).max() + 2.0**-40


def observe(net, L):
    largest, error = trained(net, L)
    return dict(distance=largest, distance_error=error)


def observe_smooth(net, L):
    largest, error = trained(net, L)
    return dict(parted=largest, parted_error=error)


@settles(flow, rest)
def dead_and_alive(claim):
    """Any positive input and weight, any C > 1; four layers, two of them dead."""
    w, x, e = (np.array(Symbol(name, positive=True), dtype=object) for name in "wxe")
    weights = np.array([-Rational(1, 4), w[()]] * 2, dtype=object)
    net = ScalarResidual(weights, x, x, e, ScalarActivation.RELU)
    yield Instance(claim, "L = 2", compare, net, literal(2))


@derives(apart)
def where_it_ends():
    """Every depth and every C > 1."""
    w = Symbol("w", positive=True)
    yield Solved("(1 + w/(2L))^L = C", (1 + w / (2 * L)) ** L - C, w, weight)
    yield Step("as L grows", sympy.Limit(weight + 1 / (2 * L), L, oo), apart.to)
    yield Step("e^u - 1 - u vanishes at zero, u = (log C)/L ...", Subs(exp(u) - 1 - u, u, 0), 0)
    yield Step("... and grows from there", Derivative(exp(u) - 1 - u, u), exp(u) - 1)


twice, thrice = {C: 2, x: 1}, {C: 3, x: Rational(1, 2)}
relu = Subject(scalar, kind=ScalarActivation.RELU, rough=0, same=0, knows=twice)
moment = Subject(on_the_way, kind=ScalarActivation.RELU, sign=1.0, same=0)
smooth = {kind.name.lower(): relu(kind=kind) for kind in ScalarActivation if kind is not ScalarActivation.RELU}
theorem = Theorem(
    place="appendix on the ReLU; the flow as printed, and as it must be",
    label="read",
    hypotheses=H,
    claims=dict(flow=flow, as_printed=as_printed, rest=rest, apart=apart, above=above, kept=kept),
    proofs=(dead_and_alive, where_it_ends),
    experiments=dict(
        moments=Experiment(compare, seen, {L: (2, 3)}, draws=Efforts(2, 3, 8), padded=True, subjects={
            "relu": moment,
            "tanh": moment(kind=ScalarActivation.TANH).breaking(H.relu, fails=(flow, rest)),
            "x < 0": moment(sign=-1.0).breaking(H.positive, fails=(flow, rest)),
            "all weights positive": moment(same=1).breaking(H.alternating, fails=(flow, rest)),
        }),
        relu=Experiment(
            observe, distance, {L: Efforts((4, 8, 16, 32), (4, 8, 16, 32), (4, 8, 16, 32, 128))}, draws=1, span=32,
            seeds="none", padded=True, subjects={
                "C = 2": relu,
                "C = 3": relu(knows=thrice),
                "C = 3/2": relu(knows={C: Rational(3, 2), x: 1}),
                "tanh": relu(kind=ScalarActivation.TANH).breaking(H.relu, fails=apart),
                "all weights positive": relu(same=1).breaking(H.alternating, fails=apart),
                "x < 0": relu(knows={C: 2, x: -1}).breaking(H.positive, fails=apart),
                "C = 1/2": relu(knows={C: Rational(1, 2), x: 1}).breaking(H.growing, fails=apart),
            },
        ),
        smooth=Experiment(
            observe_smooth, parted, {L: Efforts((8, 16, 32), (8, 16, 32), (8, 16, 32, 128))}, draws=1, span=32,
            seeds="none", padded=True, subjects=smooth | {
                "relu": relu.breaking(H.smooth, fails=kept),
                "weights (-1)^k/2": relu(kind=ScalarActivation.TANH, rough=1).breaking(H.near, fails=kept),
            },
        ),
    ),
    issues=(
        "GELU, SiLU and softplus are not bounded, and keep the order 1/L: what matters is smoothness.",
        "One start and one sample: the theorem exhibits a failure, and does not say how common it is.",
    ),
)
