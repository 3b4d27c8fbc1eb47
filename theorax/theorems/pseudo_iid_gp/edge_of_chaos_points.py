"""The edge of chaos of ReLU, erf and tanh: the variances at which small changes neither fade nor grow.

**Theorem.** Let q = sigma_b^2 + sigma_w^2 E phi(sqrt q z)^2 for layers of infinite width. The edge
of chaos is sigma_w^2 E phi'(sqrt q z)^2 = 1. For ReLU it is sigma_w^2 = 2, sigma_b = 0, at every q.
For erf it is sigma_w^2 = pi sqrt(1 + 4q)/4, sigma_b^2 = q - sqrt(1 + 4q) asin(2q/(1 + 2q))/2, with
d sigma_b^2/dq >= 1/50 for 1/10 <= q <= 4. For tanh at sigma_b^2 = 0.01, 0.05, 0.09, 0.25 exactly
one point of the edge has q within 10^-7 of 0.2733009, 0.5700479, 0.7634748, 1.3179390; its
sigma_w^2 is within 5 10^-7 of 1.424205, 1.760955, 1.947655, 2.401489. The trapezoidal rule of step
1/6 for |z| <= 7 gives E cosh(sqrt q z)^(-2k), k <= 3, to 10^-9 for 1/4 <= q <= 4/3. For tanh with
sigma_w = 1, sigma_b = 0 and q_0 = 1, l q_l -> 1/2 as the depth l -> oo.

**Idea.** E tanh^2 and E tanh'^2 are combinations of E cosh^(-2k). Newton's step from the middle of
an interval, with the slope at any of its points, stays inside it, so there is just one zero. At
sigma_w = 1, q' = q - 2 q^2 + ..., and 1/q gains 2 in a layer.
"""

import sympy
from sympy import (
    Add,
    Derivative,
    Integer,
    Integral,
    Rational,
    Subs,
    Symbol,
    asin,
    cosh,
    diff,
    erf,
    exp,
    factorial,
    oo,
    pi,
    sqrt,
    tanh,
)

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp._deep import q, sb2, sw2
from theorax.theorems.pseudo_iid_gp._moments import bell_error, bell_slopes, tanh_curve

steps = Size("steps", "layers of infinite width")
t = Parameter("t", "what rounding may have changed in q")
MIDDLE, ANYWHERE = (
    tuple(Parameter(f"{name}{k}", f"error of the computed E cosh^(-{2 * k}), {where}") for k in (1, 2, 3))
    for name, where in (("m", "in the middle of a box"), ("e", "elsewhere in it"))
)
fading = Measured("fading", "q after this many layers", positive=True)

H = hypotheses(origin="phi = tanh, sigma_w^2 = 1 and no biases")

# The points of tanh by sigma_b^2: q to seven decimals, and sigma_w^2 to six, as it is printed.
TANH_POINTS = {
    Rational(bias, 100): (Rational(variance, 10**7), Rational(weight, 10**6))
    for bias, variance, weight in (
        (1, 2733009, 1424205), (5, 5700479, 1760955), (9, 7634748, 1947655), (25, 13179390, 2401489),
    )
}
RADIUS, ERROR = Rational(1, 10**7), Rational(1, 10**9)


def newton(power=2):
    """Newton's step from the middle of a box around each q, at its longest in radii of the box: the sum of squares."""
    for bias, (variance, _) in TANH_POINTS.items():
        missed, slope = tanh_curve(variance, MIDDLE, power)[1] - bias, tanh_curve(variance + t, ANYWHERE, power)[2]
        yield (missed / (slope * RADIUS)) ** 2


def rounding(power=2):
    """Distances of sigma_w^2 in these boxes from the printed value, in halves of its last decimal."""
    for variance, weight in TANH_POINTS.values():
        yield ((tanh_curve(variance + t, ANYWHERE, power)[0] - weight) * 2 * 10**6) ** 8


AROUND = {t: (-RADIUS, RADIUS)} | dict.fromkeys((*MIDDLE, *ANYWHERE), (-ERROR, ERROR))
quadrature = Inequality(bell_error(3, q), at_most=ERROR, under=(), over={q: (Rational(1, 4), Rational(4, 3))})
# Even powers that add up to less than one are less than one each. Where Newton's step leads from all of a box into it,
# the box holds exactly one zero.
tanh_points, tanh_weights = (
    Inequality(sum(of()), at_most=1, under=(), over=AROUND, wrong={"phi' for its square": dict(of=sum(of(1)))})
    for of in (newton, rounding)
)
single_valued = Inequality(
    diff(deep.erf_point(q)[sb2], q), at_least=Rational(1, 50), under=(), over={q: (Rational(1, 10), 4)}
)
degenerate = Limit(
    fading * steps, Rational(1, 2), as_=steps, under=H.origin, spread=Rational(1, 1000),
    approach=Corrections(
        size=0.2, slowest=0.75, rest=0, reference=64, reason="1/q gains 2 - 5q/3 a layer: a term of order log l/l",
    ),
    margin=Relative(1, 10, "with 1 - 2q/3 in the place of 1 - 2q it is three times as large"),
    wrong={"1/q gains one a layer": 1},
)


@lemma
def erf_curve():
    """Every q > 0."""
    z = Symbol("z", real=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    slope = erf(z).diff(z).subs(z, sqrt(q) * z)
    yield Step("E phi'^2", Integral(slope**2 * density, (z, -oo, oo)), deep.ERF_SLOPE)
    yield Cited("E phi^2 is the arcsine kernel at two equal inputs", "erf_arcsine_kernel")
    point = deep.erf_point(q)
    square = 2 / pi * asin(2 * q / (1 + 2 * q))
    both = [sw2 * deep.ERF_SLOPE - 1, sb2 + sw2 * square - q]
    yield Solved("slope one, and a variance that stays", both, [sw2, sb2], {sw2: point[sw2], sb2: point[sb2]})
    start = [sympy.Limit(point[letter], q, 0) for letter in (sw2, sb2)]
    yield Step("the point at q -> 0", start, [pi / 4, 0])
    yield Step("and how the bias rises from it", sympy.Limit(point[sb2] / q**3, q, 0), Rational(4, 3))


@lemma
def relu_point():
    """Every q > 0."""
    z, b = Symbol("z", real=True), Symbol("b", nonnegative=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    slope, second = Integral(density, (z, 0, oo)), q * Integral(z**2 * density, (z, 0, oo))
    yield Step("chi_1", sw2 * slope, sw2 / 2)
    yield Step("at sigma_w^2 = 2 the next variance", b + 2 * second, b + q)


@derives(degenerate)
def tanh_at_the_origin():
    """Third order in q: means of the Taylor polynomials of tanh^2 and of its slope squared."""
    x = Symbol("x", real=True)
    moment = Integral(x**6 * exp(-(x**2) / (2 * q)) / sqrt(2 * pi * q), (x, -oo, oo))
    yield Step("E x^6", moment, 15 * q**3)
    moments = {0: Integer(1), 2: q, 4: 3 * q**2, 6: 15 * q**3}

    def mean(f, order):
        """The mean of the Taylor polynomial of f."""
        return Add(*(Subs(Derivative(f, (x, k)), x, 0) / factorial(k) * moments[k] for k in range(0, order + 1, 2)))

    mean_square = q - 2 * q**2 + Rational(17, 3) * q**3
    yield Step("E tanh^2", mean(tanh(x) ** 2, 6), mean_square)
    gain = sympy.Limit(1 / mean_square - 1 / q, q, 0)
    yield Step("what 1/q gains in a layer", gain, 2)
    yield Step("to first order in q", sympy.Limit((1 / mean_square - 1 / q - 2) / q, q, 0), -Rational(5, 3))
    yield Step("chi_1 = 1 - 2q", mean(diff(tanh(x), x) ** 2, 2), 1 - 2 * q)
    yield Step("so q l tends to", 1 / gain, degenerate.to)


@lemma
def bells():
    """Every q: half the second derivative of cosh^(-2k), which is the derivative of its mean."""
    x = Symbol("x", real=True)
    for k, claimed in enumerate(bell_slopes(*(cosh(x) ** -power for power in (2, 4, 6))), start=1):
        yield Step(f"cosh^(-{2 * k})", Derivative(cosh(x) ** (-2 * k), (x, 2)) / 2, claimed)


no_biases = Subject(deep.variances, bias=0.0)
theorem = Theorem(
    place="edge of chaos of the limit (reconstructed): its points for three activations",
    label="reconstructed",
    uses=("erf_arcsine_kernel", "gaussian_expectation"),
    hypotheses=H,
    claims=dict(
        quadrature=quadrature, tanh_points=tanh_points, tanh_weights=tanh_weights, single_valued=single_valued,
        degenerate=degenerate,
    ),
    proofs=(bells, erf_curve, relu_point, tanh_at_the_origin),
    experiments=dict(
        variances=Experiment(
            deep.after, fading, {steps: (64, 256, 1024, 4096)}, span=64, seeds="none", padded=True,
            subjects={"no biases": no_biases, "biases": no_biases(bias=0.05).breaking(H.origin, fails=degenerate)},
        ),
    ),
    issues=("The paper's body was not read: that its points are these is read off descriptions of it.",),
)
