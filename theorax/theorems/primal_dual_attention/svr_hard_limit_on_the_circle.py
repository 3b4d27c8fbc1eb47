"""On the circle the regression of a wave without a tube is a quotient of Bessel functions, and almost one wave.

**Theorem.** Let the keys k_j lie at the angles 2 pi j/N on the unit circle, y_j = cos(2 pi m j/N),
0 < m < N/2, z = 1/sqrt(2), no tube, b a variable. Let H(x, s) = I_0(x) + 2 sum_(l >= 1) I_(lN)(x)
cos(lNs), and let M(x, s) be the sum of I_n(x) cos(ns) over n = m and n = lN - m, lN + m, l >= 1.
Then softmax attention with the values of the interpolating regression gives
f(r (cos t, sin t)) = H(z, 0)/M(z, 0) M(rz, t)/H(rz, t). With F = I_0(z)/I_m(z) I_m(rz)/I_0(rz)
cos(mt), |f/F - 1| <= 2 (I_(N-m)(z)/I_m(z) + I_(N-m)(rz)/(I_m(rz) |cos(mt)|)), for N = 6, 8 and
(m, r, t) = (2, 17/10, 2/5), (1, 1/2, 1).

**Idea.** G commutes with turns and reflections of the keys, so waves are its eigenvectors. They are
met by coefficients that are a wave, without bias. Summing exp(x cos s) = I_0(x) + 2 sum_n I_n(x)
cos(ns) over the keys leaves the orders lN in h and lN + m, lN - m in the wave. So f tends to F
faster than exponentially in N.
"""

import jax.numpy as jnp
from sympy import Abs, Rational, Sum, cos, pi, symbols

from theorax.language import *
from theorax.numerics.bessel_series import bessel_i, circle_number
from theorax.numerics.kernel_attention import KernelAttention, Softmax
from theorax.theorems.primal_dual_attention._kernel_regression import gram, interpolant, inverse
from theorax.theorems.primal_dual_attention._regression import N

m = Parameter("m", "turns of the wave", integer=True, positive=True)
r = Parameter("r", "length of the query", positive=True)
t = Parameter("t", "angle of the query")
seen = arrays(
    wave="output at r (cos t, sin t) for keys on the circle",
    closed="H(z, 0)/M(z, 0) M(rz, t)/H(rz, t)",
    simple="I_0(z)/I_m(z) I_m(rz)/I_0(rz) cos(mt)",
    aliased="I_(N-m)/I_m at z, and at rz over |cos mt|",
    flat="cos(mt)",
)

H = hypotheses(even="keys are evenly spaced on the circle")
circle = Identity(
    seen.wave, seen.closed, under=H.even,
    margin=Relative(
        1, 10**5,
        "the account of the rounding reaches 1e-6 with the condition of G at N = 8; aliases are 1e-2 at N = 6",
    ),
    wrong={"without the aliases": seen.simple, "as at the keys": seen.flat},
)
aliasing = Inequality(
    Abs(seen.wave / seen.simple - 1), at_most=2 * seen.aliased, under=H.even,
    wrong={"of the wave itself": dict(of=Abs(seen.flat / seen.simple - 1))},
)


def turned(key, shift):
    """Rotation of the first key."""
    return jnp.asarray(shift)


def on_the_circle(shift, N, m, r, t):
    n = N.padded
    angles = 2 * circle_number() / n * jnp.arange(n)
    y = jnp.cos(m * angles)
    moved = angles + shift * (jnp.arange(n) == 0)
    keys = jnp.stack([jnp.cos(moved), jnp.sin(moved)], axis=1)
    query = jnp.stack([r * jnp.cos(t), r * jnp.sin(t)])[None]
    kernel = Softmax()
    _, h = gram(kernel, keys)
    beta, b, _ = interpolant(inverse(kernel, keys), y[:, None], 1.0)
    f = KernelAttention(kernel, keys, beta / h[:, None], b)(query)[0, 0]
    # Beyond order sixty what is left, x^60/60! for x below one, is out of sight of balls.
    whole = [n * l for l in range(1, 2 + 60 // n)]
    others = [m, *(order + side for order in whole for side in (-m, m))]
    z = 1 / jnp.sqrt(2 * jnp.ones(()))

    def H(x, s):
        return bessel_i([0], x)[0] + 2 * (bessel_i(whole, x) * jnp.cos(jnp.asarray(whole) * s)).sum()

    def M(x, s):
        return (bessel_i(others, x) * jnp.cos(jnp.asarray(others) * s)).sum()

    low, high = (bessel_i([0, m, n - m], x) for x in (z, r * z))
    flat = jnp.cos(m * t * jnp.ones(()))
    return dict(
        wave=f,
        closed=H(z, 0.0) / M(z, 0.0) * M(r * z, t) / H(r * z, t),
        simple=low[0] / low[1] * high[1] / high[0] * flat,
        aliased=low[2] / low[1] + high[2] / high[1] / jnp.abs(flat),
        flat=flat,
    )


@lemma
def aliases():
    """Six keys, waves of one and two turns, every order up to seven."""
    s, j = symbols("s", real=True), symbols("j", integer=True)
    yield Cited("exp(x cos s) = I_0(x) + 2 sum_n I_n(x) cos(ns)", "Abramowitz and Stegun 1964, 9.6.34")
    for turns in (1, 2):
        for n in range(8):
            total = Sum(cos(n * (s - pi * j / 3)) * cos(turns * pi * j / 3), (j, 0, 5))
            met = [side for side in (turns, -turns) if (n - side) % 6 == 0]
            kept = 3 * len(met) * cos(n * s)
            yield Step(f"m = {turns}, order {n}", total, kept)


@lemma
def every_number_of_keys():
    """Any number N of evenly spaced keys: G commutes with the turn S of the keys by one place, and with their reflection P."""
    G, S, P, w = generic_matrices("G S P w")
    y, c, j = symbols("y", positive=True), symbols("c", real=True), symbols("j", integer=True)
    # The polynomials z^N - 1 and (z - 1) sum_j z^j are one: at a root of unity other than one the sum is zero.
    yield Step("sums over the keys", Sum((1 + y) ** j, (j, 0, N - 1)), ((1 + y) ** N - 1) / y)
    # The wave w of m turns is what S w + S^-1 w = 2 cos(2 pi m/N) w and P w = w leave, up to a factor: G w is one too.
    wave, commuting = (S * S * w, c * S * w - w), ((S * G, G * S), (P * G, G * P))
    yield MatrixStep("G w turns as w does", S * S * G * w, c * S * G * w - G * w, (*commuting, wave))
    yield MatrixStep("and is even", P * G * w, G * w, (*commuting, (P * w, w)))


even = Subject(turned, shift=0.0)
theorem = Theorem(
    place="the limit of a hard tube, for keys on the circle (derived here)",
    label="derived",
    uses=("svr_hard_limit_interpolation",),
    hypotheses=H,
    claims=dict(circle=circle, aliasing=aliasing),
    proofs=(aliases, every_number_of_keys),
    experiments=dict(
        circle=Experiment(on_the_circle, seen, {N: (6, 8)}, draws=1, seeds="none", padded=True, subjects={
            "even": even,
            "a key out of its place": even(shift=0.5).breaking(H.even, fails=(circle, aliasing)),
        }, at=({m: 2, r: Rational(17, 10), t: Rational(2, 5)}, {m: 1, r: Rational(1, 2), t: 1})),
    ),
    issues=(
        "On the circle 1/lambda_min(G) grows faster than exponentially, to 1.7e9 at N = 16: nothing is claimed for such G.",
        "m below N/2: a wave of N - m turns takes the same values at the keys.",
    ),
)
