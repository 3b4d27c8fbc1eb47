"""For keys on the circle the axes are waves, and the projection of a query is a quotient of Bessel functions.

**Theorem.** Let z = 1/sqrt(2), k(x, y) = exp(z x.y), g(x) = sum_j k(x, k_j) for keys k_j =
(cos t_j, sin t_j), t_j = 2 pi j/N, and Kt be the centred Gram matrix of k(x, y)/(g(x) g(y)). For
0 < m < N/2, modified Bessel functions I_n and integers l let H(x, s) = sum_l I_lN(x) cos(l N s),
M(x, s) = sum_l I_(m+lN)(x) cos((m + l N) s), b = M(z, 0), h = H(z, 0), lambda = b/(N h)^2, and a_j
= sqrt(2/b) h cos(m t_j) or sqrt(2/b) h sin(m t_j). Then Kt a = N lambda a and a^T Kt a = 1. At the
query r (cos t, sin t), r > 0, attention with the values a_j/g(k_j) for the cosine has the output f
= sqrt(2/b) M(r z, t)/(N H(r z, t)). Let cos(m t) != 0, e = I_(N-m)(z)/I_m(z) +
I_(N-m)(r z)/(I_m(r z) |cos(m t)|). Then |lambda (N I_0(z))^2/I_m(z) - 1| <= 2e and |f/f_0 - 1| <=
2e (measured), f_0 = sqrt(2/I_m(z)) I_m(r z) cos(m t)/(N I_0(r z)).

**Idea.** Kt is circulant. In exp(x cos s) = sum_n I_n(x) cos(n s), the sums over the keys leave the
orders n = m and -m modulo N. All of these but m and -m are aliases; the lowest is N - m.
"""

import jax.numpy as jnp
from sympy import Abs, Rational, Sum, cos, pi, symbols

from theorax.language import *
from theorax.numerics.bessel_series import bessel_i, circle_number
from theorax.numerics.kernel_attention import KernelAttention, Softmax
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import N

m = Parameter("m", "turns of the wave", integer=True, positive=True)
r = Parameter("r", "length of the query", positive=True)
t = Parameter("t", "angle of the query")
seen = arrays(
    turned="Kt a, for a the cosine and the sine",
    kept="N lambda_m a, with the aliases",
    unit="a^T Kt a, for the cosine and the sine",
    one="1 and 1",
    bare="N I_m(z)/(N I_0(z))^2 a",
    value="a^T Kt a/(N |a|^2) for the cosine",
    plain="I_m(z)/(N I_0(z))^2",
    output="the layer with the values a_j/g_j, for the cosine",
    closed="sqrt(2)/(N sqrt(M(z, 0))) M(rz, t)/H(rz, t)",
    simple="sqrt(2)/(N sqrt(I_m(z))) I_m(rz)/I_0(rz) cos(mt)",
    flat="the same without I_m(rz)/I_0(rz) for I_m(z)/I_0(z)",
    aliased="I_(N-m)/I_m at z, and at rz over |cos mt|",
)

H = hypotheses(even="the keys are evenly spaced on the circle")
exact = Relative(
    1, 10**9, "the account of the rounding stays below it; the aliases, the nearest wrong formula, are 10^-5 of it or more",
)
waves = Identity(
    seen.turned, seen.kept, under=H.even, margin=exact,
    wrong={"without the aliases": seen.bare, "lambda for N lambda": seen.kept / N},
)
length = Identity(seen.unit, seen.one, under=H.even, margin=exact, wrong={"|a|^2 = 1/lambda": N * seen.one})
output = Identity(
    seen.output, seen.closed, under=H.even, margin=exact,
    wrong={"without the aliases": seen.simple, "as at the keys": seen.flat},
)
eigenvalue = Inequality(
    Abs(seen.value / seen.plain - 1), at_most=2 * seen.aliased, under=H.even,
    wrong={"N lambda_m": dict(of=Abs(N * seen.value / seen.plain - 1))},
)
aliasing = Inequality(
    Abs(seen.output / seen.simple - 1), at_most=2 * seen.aliased, under=H.even,
    wrong={"of the formula at the keys": dict(of=Abs(seen.flat / seen.simple - 1))},
)


def moved_key(key, shift):
    """Angle by which the first key is moved."""
    return jnp.asarray(shift)


def on_a_circle(shift, N, m, r, t):
    angles = 2 * circle_number() / N * jnp.arange(N)
    moved = angles + shift * (jnp.arange(N) == 0)
    keys = jnp.stack([jnp.cos(moved), jnp.sin(moved)], axis=1)
    query = jnp.stack([r * jnp.cos(t), r * jnp.sin(t)])[None]
    K, g = setting.normalised_gram(Softmax(), keys)
    # Beyond order sixty what is left, x^60/60! for x below one, is out of sight of balls.
    whole = [N * l for l in range(1, 2 + 60 // N)]
    others = [m, *(order + side for order in whole for side in (-m, m))]
    z = 1 / jnp.sqrt(2 * jnp.ones(()))

    def H(x, s):
        return bessel_i([0], x)[0] + 2 * (bessel_i(whole, x) * jnp.cos(jnp.asarray(whole) * s)).sum()

    def M(x, s):
        return (bessel_i(others, x) * jnp.cos(jnp.asarray(others) * s)).sum()

    around, along = H(z, 0.0), M(z, 0.0)
    value = along / (N * around) ** 2
    waves = jnp.stack([jnp.cos(m * angles), jnp.sin(m * angles)], axis=1)
    A = jnp.sqrt(2 * jnp.ones(())) * around / jnp.sqrt(along) * waves
    turned = setting.centred(K) @ A
    met = (A[:, 0] @ turned[:, 0]) / (N * (A[:, 0] @ A[:, 0]))
    layer = KernelAttention(Softmax(), keys, A[:, :1] / g[:, None], jnp.zeros(1))
    low, high = (bessel_i([0, m, N - m], x) for x in (z, r * z))
    wave = jnp.cos(m * t * jnp.ones(()))
    front = jnp.sqrt(2 * jnp.ones(())) / (N * jnp.sqrt(low[1]))
    return dict(
        turned=turned, kept=N * value * A, bare=low[1] / (N * low[0] ** 2) * A, unit=(A * turned).sum(0),
        one=jnp.ones(2), value=met, plain=low[1] / (N * low[0]) ** 2, output=layer(query)[0, 0],
        closed=jnp.sqrt(2 * jnp.ones(())) / (N * jnp.sqrt(along)) * M(r * z, t) / H(r * z, t),
        simple=front * high[1] / high[0] * wave, flat=front * low[1] / low[0] * wave,
        aliased=low[2] / low[1] + high[2] / high[1] / jnp.abs(wave),
    )


@lemma
def orders_kept():
    """Six keys, waves of one and two turns, every order up to seven."""
    s, j = symbols("s", real=True), symbols("j", integer=True)
    yield Cited("exp(x cos s) = I_0(x) + 2 sum_n I_n(x) cos(ns)", "Abramowitz and Stegun 1964, 9.6.34")
    for turns in (1, 2):
        for n in range(8):
            total = Sum(cos(n * (s - pi * j / 3)) * cos(turns * pi * j / 3), (j, 0, 5))
            met = [side for side in (turns, -turns) if (n - side) % 6 == 0]
            yield Step(f"m = {turns}, order {n}", total, 3 * len(met) * cos(n * s))


even = Subject(moved_key, shift=0.0)
theorem = Theorem(
    place="kernel PCA of keys on the circle (derived here)",
    label="derived",
    uses=("attention_is_query_projection", "centering_term_vanishes"),
    hypotheses=H,
    claims=dict(waves=waves, length=length, output=output, eigenvalue=eigenvalue, aliasing=aliasing),
    proofs=(orders_kept,),
    experiments=dict(
        circle=Experiment(on_a_circle, seen, {N: Efforts((6, 8), (6, 8), (6, 8, 12))}, draws=1, seeds="none", subjects={
            "evenly spaced keys": even,
            "a key out of its place": even(shift=0.5).breaking(H.even, fails=(waves, length, output, eigenvalue, aliasing)),
        }, at=({m: 2, r: Rational(17, 10), t: Rational(2, 5)}, {m: 1, r: Rational(1, 2), t: 1})),
    ),
    issues=(
        "Eigenvalues are double: an eigen-solver returns any rotation of the cosine and the sine, and any sign.",
        "m below N/2: waves of m and of N - m turns take the same values at the keys.",
    ),
)
