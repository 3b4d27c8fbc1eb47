"""Exponential attention learns an orthogonal map in context too, at an algebraic rate instead of a geometric one.

The features of x_t = Omega^(t - 1) x_1 are stationary with the purely atomic spectral measure of exp(<x_t, x_s>), which
is singular: Kaczmarz is effective. In a plane with part p of the square length and another with part q = 1 - p the atoms
are I_m(p) I_n(q), so the coordinates of the planes cost p/(I_1(p) I_0(q)) and q/(I_0(p) I_1(q)): if no angle is a
rational multiple of pi or of the other, e times their sum is the sum of all squared errors. Infinitely many atoms leave
no gap, so that the tail of this sum falls slower than any exponential.
"""

import jax.numpy as jnp
from sympy import E, Integral, Rational, Symbol, besseli, cos, pi, sqrt

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import residuals
from theorax.theorems.causal_kernel_descent._sequences import PLANES
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, T

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
)  # fmt: skip
algebraic = Limit(
    fall, 0, as_=T, under=(H.orthogonal, H.exponential), on="short", spread=Rational(1, 20),
    approach=Corrections(
        size=0.2, slowest=1, rest=0, reference=64,
        reason="a power of T gives a multiple of 1/T; 0.03 to 0.09 at T = 64 on other seeds",
    ),
    margin=Absolute(1, 8, "with the linear kernel it is about -0.36 in a plane"),
    wrong={"the rate of the linear kernel in a plane": dict(of=fall - cosine)},
)  # fmt: skip
window = Expectation(
    slope, Rational(-27, 20), under=(H.orthogonal, H.exponential), on="window", reading=Reading.MARGIN, spread=Rational(1, 3),
    margin=Absolute(13, 20, "a root of t, which square summability excludes, lies outside [-2, -0.7]; so does any exponential"),
    wrong={"not summable: a root of t": Rational(-1, 2), "t^(-5/2)": Rational(-5, 2)},
)  # fmt: skip


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


equal_parts = PLANES(part=0.5, exponential=EXPONENTIAL, knows={p: Rational(1, 2)})
unequal_parts = PLANES(part=0.8, knows={p: Rational(4, 5)})  # its rate is slow enough for T = 256 in float64
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
    proofs=(cost,),
    experiments=dict(
        long=Experiment(
            # A draw of the sum has the skewness -2.8 (400 draws on other seeds): 64 draws leave too much of it.
            observe, (total, fall, cosine), {T: setting.LONG}, draws=Efforts(256, 384, 512), span=4, padded=True,
            subjects=subjects,
        ),
        window=Experiment(
            windows, slope, {T: Efforts(512, (256, 512), (256, 512, 2048))}, draws=Efforts(64, 64, 200), padded=True,
            subjects={
                "one plane": PLANES(part=1.0, exponential=EXPONENTIAL),
                "linear kernel in two planes": PLANES(part=0.8).breaking(H.exponential, fails=window),
                "tokens that do not follow": PLANES(part=1.0, exponential=EXPONENTIAL, scrambled=1).breaking(
                    H.orthogonal, fails=window,
                ),
            },
        ),
        short=Experiment(
            observe, (total, fall, cosine), {T: (64, 128, 256)}, draws=Efforts(64, 160, 640), span=4, padded=True,
            subjects=subjects,
        ),
    ),
    issues=(
        "No power is claimed for the rate: it depends on how well multiples of the angles approach each other. Here it lies "
        "between about -1/2 and -3/2.",
        "With an angle that is a rational multiple of pi the sequence is periodic and the rate is geometric again: see "
        "ckd_periodic_rate.",
    ),
)  # fmt: skip
