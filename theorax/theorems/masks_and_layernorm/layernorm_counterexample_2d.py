"""Two tokens in the plane that LayerNorm keeps apart for ever, from a whole arc of starts.

**Theorem.** Let two tokens in the plane have uniform causal attention, LayerNorm and values
W = [[a, b], [0, c]] on rows, 0 < a <= c, b > 0. If x_1 = (0, 1), every unit vector x_2 = (u, v)
with u < 0 and b u + (c - a) v + c = 0 stays in place. These exist, B below C, if
D = b^2 - a (2 c - a) > 0: v_B, v_C = (-c (c - a) -+ b sqrt(D))/((c - a)^2 + b^2). The map of x_2
has the slope (c/a) (1 + v) at B and C, and a/(2 c) at (0, 1). For x_2 uniform on the circle, D > 0
and |u_B| > 1/5, the share with |det(x_1, x_2)| > 1/5 tends to 1/4 + arcsin(v_C)/(2 pi) as t -> oo.
If D < 0, the largest |det| falls like (a/(2 c))^t. From a drawn x_1, its first coordinate falls
like (a/c)^t if a < c, and like 1/t if a = c.

**Idea.** On the line (x_1 + x_2) W = a x_2. The slope is below one at B and above one at C. The map
preserves the orientation, so the arc from (0, -1) through the left half plane to C tends to B, and
the rest tends to (0, 1).
"""

import numpy as np
from sympy import Derivative, Eq, Rational, Subs, Symbol, asin, cos, exp, log, pi, sin, sqrt

from theorax.language import *
from theorax.theorems.masks_and_layernorm._two_tokens import circle, first_token, fixed_points, on_line, tokens

t = Size("t", "number of layers")
a = Parameter("a", "upper left entry of the values, at most c", positive=True)
b = Parameter("b", "upper right entry of the values", positive=True)
c = Parameter("c", "lower right entry of the values", positive=True)
seen = numbers(
    share="share of 256 random angles of the second token from which |det(x_1, x_2)| > 1/5 after t layers",
    largest="the largest |det(x_1, x_2)| after t layers, over these angles",
)
slopes = numbers(
    lower="slope of the map of the second token at the lower equilibrium B", upper="slope of it at the upper one, C",
    consensus="slope of it at (0, 1)",
)
first = Measured("first", "the first coordinate of the first token after t layers, its size", positive=True)
line = arrays(
    before="unit vectors of the left half plane, b such that b u + (c - a) v + c = 0",
    after="these as second tokens, after a layer",
)

H = hypotheses(
    causal="the first token attends to itself alone",
    uniform="the second token attends to both alike: W_Q = 0",
    normal="tokens have unit length, by LayerNorm in every layer",
    triangle="the values are [[a, b], [0, c]]",
    pole="the first token is (0, 1) at the input",
)
root = b * sqrt(b**2 - a * (2 * c - a))
v_B, v_C = ((-c * (c - a) + sign * root) / ((c - a) ** 2 + b**2) for sign in (-1, 1))
apart = b**2 > a * (2 * c - a)
share = Expectation(
    seen.share, Rational(1, 4) + asin(v_C) / (2 * pi), where=apart, spread=Rational(1, 8),
    margin=Absolute(1, 50, "the arc without its lower quarter is 1/4 away, half of the circle 1/12"),
    wrong={"the lower quarter forgotten": asin(v_C) / (2 * pi), "half of the circle": Rational(1, 2)},
)
collapse = Rate(
    seen.largest, exp(log(a / (2 * c)) * t), as_=t, where=b**2 < a * (2 * c - a), spread=Rational(1, 50),
    approach=Corrections(
        size=Rational(1, 100), slowest=4, fastest=16, rest=0, reference=60,
        reason="once near (0, 1), terms (a/(2 c))^t; at t = 60 all angles are",
    ),
    margin=Absolute(1, 10, "tokens that stay apart make it zero"),
    wrong={"tokens stay apart": exp(0 * t), "threshold b^2 < c^2": dict(where=b**2 < c**2)},
)
exact = Relative(1, 100, "1 + v instead of (c/a) (1 + v) is a factor two away at a = c/2; nothing is random")
near = (H.uniform, H.normal, H.triangle)
stable = Expectation(
    slopes.lower, c / a * (1 + v_B), where=apart, under=near, margin=exact,
    wrong={"1 + v": 1 + v_B, "a/c for c/a": a / c * (1 + v_B)},
)
unstable = Expectation(
    slopes.upper, c / a * (1 + v_C), where=apart, under=near, margin=exact,
    wrong={"1 + v": 1 + v_C, "a/c for c/a": a / c * (1 + v_C)},
)
at_pole = Expectation(
    slopes.consensus, a / (2 * c), under=H.triangle, margin=exact, wrong={"c/(2 a)": c / (2 * a), "1/2": Rational(1, 2)},
)
geometric = Rate(
    first, exp(log(a / c) * t), as_=t, where=a < c, under=H.triangle, spread=Rational(1, 2),
    approach=Corrections(size=Rational(1, 5), slowest=4, fastest=16, rest=0, reference=16, reason="terms (a/c)^t"),
    margin=Absolute(1, 10, "a/(2 c) moves it by 0.69, and a = c would give zero"),
    wrong={"(a/(2 c))^t": exp(log(a / (2 * c)) * t)},
)
slow = Rate(
    first, 1 / t, as_=t, where=Eq(a, c), under=(H.normal, H.triangle), spread=Rational(1, 10),
    approach=Corrections(
        size=Rational(1, 10), slowest=1, rest=Rational(1, 50), reference=16,
        reason="1/(v/u + b t), |v/u| at most 2 and of either sign alike: less than 1/100 at t = 16 in the mean",
    ),
    margin=Absolute(1, 4, "a square or a root is 1 and 1/2 away"), wrong={"t^(-2)": t**-2, "t^(-1/2)": t ** -Rational(1, 2)},
)
equilibrium = Identity(
    line.after, line.before, under=(*near, H.pole),
    margin=Relative(1, 10**9, "rounding stays below it, the reflected vector is of order one away"),
)


s = Symbol("s", positive=True)
u, v = -2 * s / (1 + s**2), (1 - s**2) / (1 + s**2)
of_point = -(c + (c - a) * v) / u  # the entry b for which the point lies on the line


@lemma
def any_point():
    """Every a, c and every unit vector of the left half plane, b that of its line: (x_1 + x_2) W is a x_2."""
    W = np.array([[a, of_point], [0 * a, c]], dtype=object)
    yield Step("(x_1 + x_2) W", np.array([u, 1 + v]) @ W, a * np.array([u, v]))


@derives(stable, unstable)
def slope_at_the_line(claim):
    """Every a, b, c: the equilibria, their threshold, and the slope of the map where y = (x_1 + x_2) W has the length a."""
    y = Symbol("y", real=True)
    at = v_B if claim is stable else v_C
    yield Solved("unit vectors of the line", ((c + (c - a) * y) / b) ** 2 + y**2 - 1, y, [v_B, v_C])
    along = (-a * v, -of_point * v + c * u)  # (-v, u) W
    yield Step("a step along the circle, over the length a", (along[0] * -v + along[1] * u) / a, c / a * (1 + v))
    merged = b**2 - a * (2 * c - a)
    yield Step("at the threshold the slope is one", Subs(c / a * (1 + v_B), b, sqrt(a * (2 * c - a))), 1 + 0 * merged)
    yield Step("the slope there", Subs(c / a * (1 + y), y, at), claim.equals)


@derives(at_pole)
def slope_at_the_pole():
    """Every a, b, c: at (0, 1) the sum (0, 2) W has the length 2 c, and a step (-1, 0) becomes (-a, -b)."""
    h = Symbol("h", real=True)
    moved = (-h * a, -h * b + 2 * c)
    yield Step("slope", Subs(Derivative(-moved[0] / sqrt(moved[0] ** 2 + moved[1] ** 2), h), h, 0), at_pole.equals)


@derives(share)
def arc():
    """Every a, b, c: (0, 1) + x_2 lies half way on the circle, W keeps the orientation, the arc has no other fixed point."""
    theta = Symbol("theta", real=True)
    half = theta / 2 + pi / 4
    yield Step("direction of the sum", cos(theta) * sin(half) - (1 + sin(theta)) * cos(half), 0 * theta)
    yield Step(
        "from -pi/2 back to the angle pi - arcsin(v_C) of C", (3 * pi / 2 - (pi - asin(v_C))) / (2 * pi), share.equals
    )
    w = Symbol("w", positive=True)
    yield Step("cosine of the arc sine, for a = c = 1", Subs(cos(asin(v_C)), (a, b, c), (1, w + 1, 1)), 1 / (w + 1))


own = Subject(tokens, mask=0, scores=0.0, layernorm=1, transposed=0, moved=0, doubled=1.0)
moved = own(moved=1)
controls = lambda *fails: {
    "scores of the cosines": own(scores=1.0).breaking(H.uniform, fails=fails),
    "no LayerNorm": own(layernorm=0).breaking(H.normal, fails=fails),
    "the values transposed": own(transposed=1).breaking(H.triangle, fails=fails),
    "first token drawn": moved.breaking(H.pole, fails=fails),
}
half, one = Rational(1, 2), 1
POINTS = (
    {a: one, b: 2, c: 1},
    {a: one, b: Rational(6, 5), c: 1},
    {a: half, b: 1, c: 1},
    {a: half, b: Rational(9, 10), c: 1},
    {a: Rational(4, 5), b: Rational(13, 10), c: Rational(11, 10)},
)
STARTS = POINTS[0], POINTS[2]
NONE = {a: one, b: Rational(4, 5), c: 1}, {a: half, b: Rational(4, 5), c: 1}
theorem = Theorem(
    place="figure 1 (the value matrix reconstructed; the family and its constants derived here)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(
        share=share, collapse=collapse, stable=stable, unstable=unstable, at_pole=at_pole, geometric=geometric, slow=slow,
        equilibrium=equilibrium,
    ),
    proofs=(any_point, slope_at_the_line, slope_at_the_pole, arc),
    experiments=dict(
        circle=Experiment(
            circle, seen, {t: (60, 80, 100)}, at=(*POINTS, *NONE), draws=Efforts(100, 100, 200), padded=True, span=16,
            subjects={
                "causal": own,
                "complete mask": own(mask=1).breaking(H.causal, fails=share),
                **controls(share),
            },
        ),
        slopes=Experiment(fixed_points, slopes, {t: (1,)}, at=POINTS, seeds="none", subjects={
            "causal": own,
            "scores of the cosines": own(scores=1.0).breaking(H.uniform, fails=(stable, unstable)),
            "no LayerNorm": own(layernorm=0).breaking(H.normal, fails=(stable, unstable)),
            "the values transposed": own(transposed=1).breaking(H.triangle, fails=(stable, unstable)),
            "values of twice c": own(doubled=2.0).breaking(H.triangle, fails=at_pole),
        }),
        first=Experiment(first_token, first, {t: (16, 32, 64, 128)}, at=STARTS, draws=Efforts(100, 200, 1000), subjects={
            "causal": moved,
            "no LayerNorm": moved(layernorm=0).breaking(H.normal, fails=slow),
            "the values transposed": moved(transposed=1).breaking(H.triangle, fails=(geometric, slow)),
        }, padded=True, span=16),
        points=Experiment(on_line, line, {t: (1,)}, at=STARTS, draws=Efforts(500, 500, 600), subjects={
            "causal": own, **controls(equilibrium),
        }),
    ),
    issues=(
        "The matrix of the paper was not seen; what its figure says of limits and arcs holds for this family.",
        "A first token that is drawn drifts to its limit slowly, and drags the second one: fewer pairs then stay apart.",
        "Scores that grow without bound, or fresh weights in every layer, are not looked at.",
    ),
)
