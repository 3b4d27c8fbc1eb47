"""Exponential attention learns an orthogonal map in context too, at an algebraic rate instead of a geometric one.

**Theorem.** Let x_(t+1) = Omega x_t, Omega orthogonal, |x_1| = 1, with squared length p in one
plane of Omega and 1 - p in another, 0 < p < 1. Let k(x, y) = e^<x,y>, let the angles have no
rational relation with each other or with pi, and let r_t be the residuals of causal kernel descent
in the limit of depth. Then, as T -> oo, sum_(t<=T) |r_t|^2 -> e (p/(I_1(p)
I_0(1-p)) + (1-p)/(I_0(p) I_1(1-p))), and ln(R(T/2, T)/R(T/4, T/2))/(T/4) -> 0, where R(a, b) is the
root mean square of |r_t| over a < t <= b. In one plane, at an angle without rational relation to
pi, E ln(R(T/2, T)/R(T/8, T/4))/ln 4 is -1 within 1/2 at T = 512, 1024 and 2048.

**Idea.** The tokens are stationary with a purely atomic, hence singular spectral measure, so
Kaczmarz's method is effective. The atoms are I_m(p) I_n(1-p), so the planes cost p/(I_1(p)
I_0(1-p)) and (1-p)/(I_0(p) I_1(1-p)). An atom of mass mu leaves |r_t| of the order mu until about
the time 1/mu. From atom to atom |r_t| therefore falls like 1/t.
"""

import equinox as eqx
import jax.numpy as jnp
import sympy
from sympy import E, Integer, Integral, Rational, Subs, Symbol, besseli, cos, exp, log, pi, sqrt, symbols

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import residuals
from theorax.theorems.causal_kernel_descent._sequences import PLANES, two_planes
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR, T

p = Parameter("p", "part of the square length of a token in the first plane", positive=True)
total = Measured("total", "sum of |r_t|^2 over T tokens", positive=True)
fall = Measured("fall", "ln of the root mean square of |r_t| after T/2 over that between T/4 and T/2, over T/4")
slope = Measured("slope", "ln of the root mean square of |r_t| after T/2 over that between T/8 and T/4, over ln 4")
cosine = Measured("cosine", "ln |cos theta|, theta the angle of the first plane")

first, second = p / (besseli(1, p) * besseli(0, 1 - p)), (1 - p) / (besseli(0, p) * besseli(1, 1 - p))
norm = first + second
H = hypotheses(
    orthogonal=setting.TURNED,
    exponential="the kernel is exponential",
    incommensurable="the angles of Omega have no rational relation with each other or with pi",
)
energy = Limit(
    total, E * norm, as_=T, on="long", spread=Rational(1, 20),
    approach=setting.summable(
        0.15,
        "what remains to be learnt falls like a root of T at least; at most 0.06 of the sum at T = 128 on other seeds",
    ),
    margin=Relative(1, 16, "without the factors I_0 of the other plane it is 6.3 to 7 % more"),
    wrong={
        "without kappa": norm,
        "the first plane alone": E * first,
        "the weights of one plane": E / besseli(1, 1),
        "the factors I_0 forgotten": E * (p / besseli(1, p) + (1 - p) / besseli(1, 1 - p)),
        "the number of dimensions": 4,
    },
)
algebraic = Limit(
    fall, 0, as_=T, on="short", spread=Rational(1, 20),
    approach=Corrections(
        size=0.2, slowest=1, rest=0, reference=64,
        reason="a power of T gives a multiple of 1/T; 0.03 to 0.09 at T = 64 on other seeds",
    ),
    margin=Absolute(1, 8, "with the linear kernel it is about -0.36 in a plane"),
    wrong={"the rate of the linear kernel in a plane": dict(of=fall - cosine)},
)
window = Expectation(
    slope, Integer(-1), on="window", reading=Reading.MARGIN, spread=Rational(1, 3),
    margin=Absolute(1, 2, "a root of t, at which sums of squares stop to converge, is half away; any exponential is further"),
    wrong={"not summable: a root of t": Rational(-1, 2), "t^(-5/2)": Rational(-5, 2)},
)


def observe(model, T):
    X = model.tokens(T.padded + 1)
    squares = (residuals(model.gram(X[:-1]), X[1:]) ** 2).sum(1)
    t = jnp.arange(1, T.padded + 1)
    whole, late, middle = (
        jnp.where((4 * t > low * T.value) & (4 * t <= high * T.value), squares, 0).sum()
        for low, high in ((0, 4), (2, 4), (1, 2))
    )
    fall = jnp.log(late / (2 * middle)) / 2 / (T.value / 4)
    return dict(total=whole, fall=fall, cosine=jnp.log(jnp.abs(jnp.cos(model.angles[0]))))


def at_an_angle(key, part, exponential, scrambled, rational):
    """Tokens in two planes; ``rational``: the angle of the first one is pi/3, so that tokens return after six steps."""
    torus = two_planes(key, part, exponential, scrambled=scrambled)
    angle = jnp.where(rational == 1, jnp.pi / 3, torus.angles[0])
    return eqx.tree_at(lambda torus: torus.angles, torus, torus.angles.at[0].set(angle))


def windows(model, T):
    X, t = model.tokens(T.padded + 1), 8 * jnp.arange(1, T.padded + 1)
    squares = (residuals(model.gram(X[:-1]), X[1:]) ** 2).sum(1)
    late, early = (
        jnp.where((t > low * T.value) & (t <= high * T.value), squares, 0).sum() / (high - low)
        for low, high in ((4, 8), (1, 2))
    )
    return dict(slope=jnp.log(late / early) / (2 * jnp.log(4.0)))


@derives(energy)
def cost():
    """Any part p, any two angles without rational relations; a plane among any number of them."""
    q, a = 1 - p, Symbol("a", real=True)
    atoms = "e^(x cos a) = sum_n I_n(x) e^(ina): the atoms of the kernel are I_m(p) I_n(q)"
    yield Cited(atoms, "Abramowitz and Stegun 1964, 9.6.34")
    effective = "on a stationary sequence of singular spectral measure Kaczmarz is effective"
    yield Cited(effective, "Kwapien and Mycielski 2001")
    # By Parseval, whatever the phase: sqrt(s) cos(a) has the two atoms +-1 of its plane, and the sine has as much.
    squares = [2 * Integral((sqrt(s) * cos(a)) ** 2, (a, 0, 2 * pi)) / (2 * pi) for s in (p, q)]
    one, other = squares[0] / (besseli(1, p) * besseli(0, q)), squares[1] / (besseli(0, p) * besseli(1, q))
    yield Step("the first plane", one, first)
    yield Step("both planes, times kappa = e", E * (one + other), energy.to)
    others = Symbol("I", positive=True)  # the product of I_0(p_j) over all other planes: their atoms of order zero
    among = 2 * Integral((sqrt(p) * cos(a)) ** 2, (a, 0, 2 * pi)) / (2 * pi) / (besseli(1, p) * others)
    yield Step("one of any number of planes", among, p / (besseli(1, p) * others))


@lemma
def one_atom():
    """An atom of mass mu at z = 1; near it the others add the number h to the kernel's series h + mu/(1 - z)."""
    # K_L r = -kappa x_+: residuals are the coefficients of x_+ over the series, as K_L is a Toeplitz matrix.
    z, h, mu, s = symbols("z h mu s", positive=True)
    kept = h / (h + mu)
    left = mu / (h * (h + mu)) / (1 - kept * z)
    yield Step("what the atom adds to the inverse series", 1 / (h + mu / (1 - z)), 1 / h - left)
    scaled = mu / (h * (h + mu)) * kept ** (s / mu) / mu
    yield Step("its coefficient at t = s/mu, over mu", sympy.Limit(scaled, mu, 0), exp(-s / h) / h**2)
    other = Symbol("nu", positive=True)  # of the next atom; both at the same s
    power = log(other / mu) / log((s / other) / (s / mu))
    yield Step("so from atom to atom the power of t is", power, window.equals)
    early, late = symbols("E F", positive=True)  # sums of squares over windows, one four times as long
    yield Step("a root of t: equal sums", Subs(log(late / 4 / early) / (2 * log(4)), late, early), Rational(-1, 2))


equal_parts = PLANES(part=0.5, exponential=EXPONENTIAL, knows={p: Rational(1, 2)})
unequal_parts = PLANES(part=0.8, knows={p: Rational(4, 5)})  # its rate is slow enough for T = 256 in float64
one_plane = Subject(at_an_angle, part=1.0, exponential=EXPONENTIAL, scrambled=0, rational=0)
subjects = {
    "equal parts in two planes": equal_parts,
    "two thirds in the first plane": equal_parts(part=2 / 3, knows={p: Rational(2, 3)}),
    "linear kernel": unequal_parts.breaking(H.exponential, fails=(energy, algebraic)),
    "one angle in both planes": equal_parts(repeated=1).breaking(H.incommensurable, fails=energy),
    "tokens that do not follow": equal_parts(scrambled=1).breaking(H.orthogonal, fails=energy),
}
theorem = Theorem(
    place="exponential attention and linear f in Theorem 1 (reconstructed); the sum and the kind of rate derived here",
    label="reconstructed",
    uses=("ckd_energy_identity", "ckd_linear_closed_form_rate"),
    hypotheses=H,
    claims=dict(energy=energy, algebraic=algebraic, window=window),
    proofs=(cost, one_atom),
    experiments=dict(
        long=Experiment(
            # A draw of the sum has the skewness -2.8 (400 draws on other seeds): 64 draws leave too much of it.
            observe, (total, fall, cosine), {T: setting.LONG}, draws=Efforts(256, 384, 512), span=4, padded=True,
            subjects=subjects,
        ),
        window=Experiment(
            windows, slope, {T: Efforts((512, 1024), (512, 1024), (512, 1024, 2048))}, draws=Efforts(64, 64, 200), padded=True,
            subjects={
                "one plane": one_plane,
                "linear kernel in two planes": one_plane(part=0.8, exponential=LINEAR).breaking(H.exponential, fails=window),
                "tokens that do not follow": one_plane(scrambled=1).breaking(H.orthogonal, fails=window),
                # Six atoms, the lightest of mass 2 I_3(1)/e = 1/61: learnt at every T.
                "an angle of pi/3": one_plane(rational=1).breaking(H.incommensurable, fails=window),
            },
        ),
        short=Experiment(
            observe, (total, fall, cosine), {T: (64, 128, 256)}, draws=Efforts(64, 160, 640), span=4, padded=True,
            subjects=subjects,
        ),
    ),
    issues=(
        "Atom m is learnt at times of the order e/I_m(1), six to ten times later than the one before. In between the rate "
        "swings around 1/t; the margin leaves half a power for that. Up to T = 256 no atom is small: the power is near -1.7.",
        "With an angle that is a rational multiple of pi the sequence is periodic and the rate is geometric again: see "
        "ckd_periodic_rate. At pi/3 it is slow: within its margin the claim `algebraic` passes there.",
    ),
)
