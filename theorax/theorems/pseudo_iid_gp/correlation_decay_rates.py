"""Correlations of two inputs: how fast deep stacks of wide layers make them one, or keep them apart.

**Theorem.** Let e_l = 1 - c_l, where c_l is the correlation of two inputs after l layers of
infinite width at a stationary variance q, and c_0 = 0. Let chi_1 = sigma_w^2 E phi'(sqrt q z)^2,
which for erf is 4 sigma_w^2/(pi sqrt(1 + 4q)). Then, as l -> oo: for erf with chi_1 < 1,
e_(l+1)/e_l -> chi_1; for erf with chi_1 = 1, l e_l -> (1 + 4q)/(2 q^2); for ReLU with sigma_w^2 = 2
and no biases, l^2 e_l -> 9 pi^2/2; for erf with chi_1 > 1, e_l -> e_inf, the positive fixed point.
For example, e_inf = 1/2 at q = 1 and sigma_w^2 = pi/(4 (asin(2/3) - asin(1/3))).

**Idea.** For erf the arcsine kernel gives e' = 2 sigma_w^2/(pi q) (asin s - asin(s (1 - e))) with s
= 2q/(1 + 2q), a concave map of slope chi_1 at zero. At slope one a layer takes C e^2 from e, with C
= sigma_w^2 q E phi''^2/2 = 2 q^2/(1 + 4q), and so 1/e gains C. For ReLU the arc-cosine kernel takes
2 sqrt(2)/(3 pi) e^(3/2) from e, and 1/sqrt(e) gains sqrt(2)/(3 pi) per layer.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Derivative, Integral, Rational, Subs, Symbol, asin, cos, diff, erf, exp, oo, pi, sin, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp._deep import q, sw2

UNIT = 2.0**-53
steps = Size("steps", "layers of infinite width")
slope = sw2 * deep.ERF_SLOPE  # chi_1
stays = Parameter("e_inf", "1 - c at the fixed point below c = 1", positive=True)
seen = numbers(e="1 - c after this many layers, from c = 0", ratio="e of the next layer over e", positive=True)

H = hypotheses(
    fading="phi = erf, and chi_1 < 1",
    edge="phi = erf, and chi_1 = 1",
    kinked="phi = ReLU, sigma_w^2 = 2 and no biases",
    chaotic="phi = erf, and chi_1 > 1: the map of correlations has a fixed point below one",
)
ordered = Limit(
    seen.ratio, slope, as_=steps, on="fading", under=H.fading, spread=Rational(1, 1000),
    approach=Corrections(
        size=Rational(1, 2), slowest=1, fastest=6, rest=0, reference=8,
        reason="the ratio is off by O(e), which falls like chi_1^l: below a power of l",
    ),
    margin=Absolute(1, 20, "the square and the root of chi_1 lie more than a tenth away"),
    wrong={"the square of chi_1": slope**2, "its root": sqrt(slope)},
)
smooth = Limit(
    seen.e * steps, (1 + 4 * q) / (2 * q**2), as_=steps, on="long", under=H.edge, spread=Rational(1, 1000),
    approach=Corrections(
        size=1, slowest=0.75, rest=0, reference=256, reason="1/e gains a constant and O(e) a layer: a term of order log l/l",
    ),
    margin=Relative(1, 4, "without the factor 2 of Taylor's formula it is half of it, with 1/(1 + 4q) for 1 + 4q a fifth"),
    wrong={"Taylor's factor 2 dropped": (1 + 4 * q) / (4 * q**2), "phi'^2 for phi''^2": 2 / q},
)
kinked = Limit(
    seen.e * steps**2, 9 * pi**2 / 2, as_=steps, on="long", under=H.kinked, spread=Rational(1, 1000),
    approach=Corrections(
        size=12, slowest=1, rest=0, reference=256, reason="1/sqrt e gains a constant and O(e), summable, a layer",
    ),
    margin=Relative(1, 8, "the constants that a slip in the root or in the exponent gives are a quarter of it or four times"),
    wrong={"9 pi^2/8": 9 * pi**2 / 8, "9 pi^2": 9 * pi**2},
)
apart = Limit(
    seen.e, stays, as_=steps, on="long", under=H.chaotic, spread=Rational(1, 1000),
    approach=Corrections(
        size=Rational(1, 100), slowest=1, fastest=6, rest=0, reference=256, reason="geometric, far below it after 256 layers"
    ),
    margin=Absolute(1, 20, "at the edge and below it two inputs become one"), wrong={"one input": 0},
)


class CorrelationMap(eqx.Module):
    """The map of 1 - c for erf with these two variances, or for ReLU at its edge."""

    weight: Float[Array, ""]
    q: Float[Array, ""]
    relu: Array

    def __call__(self, e: Float[Array, ""]) -> Float[Array, ""]:
        """1 - c after one more layer."""
        angle = 2 * jnp.arcsin(jnp.sqrt(e / 2))
        kept = e - (jnp.sin(angle) - angle * jnp.cos(angle)) / jnp.pi
        # arcsin s - arcsin s c is the arcsine of s sqrt(1 - s^2 c^2) - s c sqrt(1 - s^2), written without a difference.
        s, c = 2 * self.q / (1 + 2 * self.q), 1 - e
        sine = s * e * (2 - e) / (jnp.sqrt(1 - (s * c) ** 2) + c * jnp.sqrt(1 - s**2))
        return jnp.where(self.relu, kept, 2 * self.weight / (jnp.pi * self.q) * jnp.arcsin(sine))


def correlations(key, weight, q, relu):
    return CorrelationMap(jnp.asarray(weight), jnp.asarray(q), jnp.asarray(relu))


def after(net, steps):
    e = jax.lax.fori_loop(0, steps.value, lambda _, e: net(e), jnp.ones(()))
    # The map is concave and zero at zero, so a layer hands relative errors on and never enlarges them. It adds 16 units
    # of rounding, and for ReLU the difference of sine and cosine one more over the angle, which is above 1/steps.
    return dict(e=e, e_error=UNIT * (16 * steps.value + steps.value**2 * net.relu) * e)


def one_more(net, steps):
    e = after(net, steps)["e"]
    return dict(ratio=net(e) / e, ratio_error=32 * UNIT * jnp.ones(()))


E, C = Symbol("e", positive=True), Symbol("C", positive=True)


def erf_map(e):
    """The map of erf, by the arcsine kernel."""
    s = 2 * q / (1 + 2 * q)
    return 2 * sw2 / (pi * q) * (asin(s) - asin(s * (1 - e)))


@derives(ordered, smooth)
def smooth_maps():
    """phi = erf, every q > 0."""
    z = Symbol("z", real=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    yield Cited("the kernel of erf is the arcsine kernel", "erf_arcsine_kernel")
    yield Step("the slope at e = 0 is chi_1", Subs(Derivative(erf_map(E), E), E, 0), slope)
    bend = sw2 * q * Integral(diff(erf(z), z, 2).subs(z, sqrt(q) * z) ** 2 * density, (z, -oo, oo))
    yield Step("its second derivative in c is sigma_w^2 q E phi''^2", -Derivative(erf_map(E), (E, 2)).subs(E, 0), bend)
    edge = erf_map(E).subs(sw2, 1 / deep.ERF_SLOPE)
    lost = -Subs(Derivative(edge, (E, 2)), E, 0) / 2
    gain = sympy.Limit(1 / (E - C * E**2) - 1 / E, E, 0)
    yield Step("e loses C e^2 a layer, and 1/e gains C", gain, C)
    yield Step("at the edge, so that l e tends to", 1 / lost, smooth.to)


@derives(kinked)
def relu_map():
    """phi = ReLU at its edge, by the angle: e = 1 - cos t."""
    t = Symbol("t", positive=True)
    yield Cited("the kernel of ReLU is the arc-cosine kernel", "relu_arc_cosine_kernel")
    lost = sympy.Limit((sin(t) - t * cos(t)) / (pi * (1 - cos(t)) ** Rational(3, 2)), t, 0)
    yield Step("e loses this much of e^(3/2) a layer", lost, 2 * sqrt(2) / (3 * pi))
    gain = sympy.Limit(1 / sqrt(E - 2 * sqrt(2) / (3 * pi) * E ** Rational(3, 2)) - 1 / sqrt(E), E, 0)
    yield Step("so 1/sqrt e gains half of that, and l^2 e tends to", 1 / gain**2, kinked.to)


@lemma
def fixed_point():
    """phi = erf at q = 1: sigma_w^2 for which c = 1/2 stays."""
    yield Solved("sigma_w^2", (erf_map(Rational(1, 2)) - Rational(1, 2)).subs(q, 1), sw2, [CHAOTIC[sw2]])
    yield Step("there e stays", erf_map(E).subs(CHAOTIC).subs(E, Rational(1, 2)).doit(), CHAOTIC[stays])


def erf_at(variance, chi):
    """At the stationary q, with this chi_1."""
    known = {q: variance, sw2: chi / deep.ERF_SLOPE.subs(q, variance)}
    return Subject(
        correlations, weight=float(known[sw2]), q=float(variance), relu=False, knows={**known, stays: Rational(1, 2)}
    )


CHAOTIC = {q: 1, sw2: pi / (4 * (asin(Rational(2, 3)) - asin(Rational(1, 3)))), stays: Rational(1, 2)}
apart_at_one = erf_at(Rational(1), CHAOTIC[sw2] * deep.ERF_SLOPE.subs(q, 1))(knows=CHAOTIC)
at_edge = erf_at(Rational(1), Rational(1))
theorem = Theorem(
    place="information propagation at and around the edge of chaos (reconstructed)",
    label="reconstructed",
    uses=("erf_arcsine_kernel", "relu_arc_cosine_kernel", "edge_of_chaos_points"),
    hypotheses=H,
    claims=dict(ordered=ordered, smooth=smooth, kinked=kinked, apart=apart),
    proofs=(smooth_maps, relu_map, fixed_point),
    experiments=dict(
        fading=Experiment(
            one_more, seen.ratio, {steps: (8, 16, 32, 64)}, span=8, seeds="none", padded=True,
            subjects={
                "chi_1 = 1/2, q = 1": erf_at(Rational(1), Rational(1, 2)).breaking(H.edge, H.kinked, H.chaotic),
                "chi_1 = 3/4, q = 2": erf_at(Rational(2), Rational(3, 4)).breaking(H.edge, H.kinked, H.chaotic),
                "chaotic": apart_at_one.breaking(H.fading, H.edge, H.kinked, fails=ordered),
            },
        ),
        long=Experiment(
            after, seen.e, {steps: (256, 1024, 4096, 16384)}, span=64, seeds="none", padded=True,
            subjects={
                "erf at the edge, q = 1": at_edge.breaking(H.fading, H.kinked, H.chaotic, fails=(kinked, apart)),
                "erf at the edge, q = 1/2": erf_at(Rational(1, 2), Rational(1)).breaking(H.fading, H.kinked, H.chaotic),
                "ReLU at the edge": at_edge(relu=True).breaking(H.fading, H.edge, H.chaotic, fails=(smooth, apart)),
                "chaotic, q = 1": apart_at_one.breaking(H.fading, H.edge, H.kinked, fails=(smooth, kinked)),
            },
        ),
    ),
    issues=(
        "Layers of infinite width: what finite ones add is in finite_width_kurtosis_recursion.",
        "Of smooth activations erf alone is iterated, whose kernel is closed; tanh needs quadrature in the plane.",
    ),
)
