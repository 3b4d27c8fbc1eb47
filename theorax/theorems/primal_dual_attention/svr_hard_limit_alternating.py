"""Alternating targets on the circle: every coefficient is of one size, that of the least eigenvalue, or at the box.

**Theorem.** Let N be even, k_j of length |k| at the angles 2 pi j/N in the plane, z =
|k|^2/sqrt(2), y_j = (-1)^j, 0 <= eps < 1. Let h = N sum_p I_(pN)(z) over integers p, lambda =
(2N/h^2) sum_(p >= 0) I_(N/2 + pN)(z), c = C lambda/(1 - eps), and G = (exp(k_j.k_l/sqrt(2))/h^2)
(softmax kernel). Then G y = lambda y, and the Rayleigh quotients of cos(2 pi m j/N), 0 <= m < N/2,
are at least lambda. The coefficients beta_j = (-1)^j min(C, (1 - eps)/lambda) and b = 0 are
optimal: primal and dual value are equal. For f = G beta, |y_j - f_j| = 1 - (1 - eps) min(c, 1).

**Idea.** G commutes with the turn of the keys, so (-1)^j is an eigenvector. Summing e^(z cos t) =
I_0(z) + 2 sum_n I_n(z) cos(n t) over the keys leaves the orders N/2 + pN; as I_n falls in n, this
eigenvalue is the least. If the box admits it, residuals lie on the edge of the tube, and otherwise
all coefficients lie on the edge of the box. As lambda decays faster than exponentially in N, many
keys leave only the case at the box.
"""

import jax.numpy as jnp
from sympy import Integer, Min, Rational, Subs, Sum, cos, pi, symbols

from theorax.language import *
from theorax.numerics.bessel_series import bessel_i, circle_number
from theorax.numerics.kernel_attention import Softmax
from theorax.theorems.primal_dual_attention._kernel_regression import gram
from theorax.theorems.primal_dual_attention._quadratic import expanded_bound, lower_bound
from theorax.theorems.primal_dual_attention._regression import N, eps
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

c = Parameter("c", "C lambda/(1 - eps), the box over what the tube leaves", positive=True)
length = Parameter("length", "|k|, the length of the keys", positive=True)
seen = arrays(
    image="G y",
    scaled="lambda y",
    squared="lambda h y, one normaliser forgotten",
    waves="Rayleigh quotients of the waves cos(2 pi m j/N), m < N/2",
    least="lambda",
    residual="|y - f| at the keys",
    above="primal value at beta_j = (-1)^j min(C, (1 - eps)/lambda), b = 0",
    below="dual value at these coefficients",
    wide="dual value at beta_j = (-1)^j min(C, 1/lambda), the tube forgotten",
    room="C - |beta_j|",
)

H = hypotheses(
    even="the number of keys is even, and they are evenly spaced on the circle",
    alternating="the targets are (-1)^j",
)
exact = Relative(1, 10**6, "the account of the rounding stays below it; a wrong factor is of the order of the whole")
eigenvalue = Identity(
    seen.image, seen.scaled, margin=exact,
    wrong={"one order for both signs": seen.scaled / 2, "h for h^2": seen.squared},
)
smallest = Inequality(seen.waves, at_least=seen.least, under=(), wrong={"ten times lambda": 10 * seen.least})
edge = Identity(
    seen.residual, 1 - (1 - eps) * Min(c, 1), margin=exact,
    wrong={"the tube forgotten": 1 - Min(c, 1), "whatever the box": eps},
)
optimal = Optimum(
    seen.above, bound=seen.below, feasible=seen.room >= 0, bound_by="weak_duality",
    margin=Absolute(1, 10**6, "both values are one number; the tube forgotten moves the dual value by a hundredth and more"),
    wrong={"the tube forgotten": seen.wide},
)


def placed(key, shift, turns):
    """Rotation of the first key, and targets cos(2 pi turns j/N) in the place of (-1)^j where ``turns`` is not zero."""
    return jnp.asarray(shift), jnp.asarray(turns)


def on_the_circle(model, N, length, c, eps):
    shift, turns = model
    n, one = N.padded, jnp.ones(())
    angles = 2 * circle_number() / n * jnp.arange(n)
    signs = jnp.asarray([(-1.0) ** j for j in range(n)])
    y = jnp.where(turns == 0, signs, jnp.cos(turns * angles))
    moved = angles + shift * (jnp.arange(n) == 0)
    keys = length * jnp.stack([jnp.cos(moved), jnp.sin(moved)], axis=1)
    G, _ = gram(Softmax(), keys)
    z = length**2 / jnp.sqrt(2 * one)
    # Beyond order 120 what is left, (z/2)^120/120!, is out of sight of balls.
    odd, whole = ([n // 2 + n * p for p in range(120 // n)], [n * p for p in range(1, 120 // n)])
    h = n * (bessel_i([0], z)[0] + 2 * bessel_i(whole, z).sum())
    least = 2 * n / h**2 * bessel_i(odd, z).sum()
    size, used = (1 - eps) / least, jnp.minimum(c * one, one)
    C = c * size
    beta = (signs * used * size)[:, None]
    alpha, alphat = (jnp.where(side * signs > 0, used * size, 0 * one)[:, None] for side in (1, -1))
    wide, widet = (jnp.where(side * signs > 0, jnp.minimum(C, 1 / least), 0 * one)[:, None] for side in (1, -1))
    waves = [jnp.cos(m * angles) for m in range(n // 2)]
    return dict(
        image=G @ y,
        scaled=least * signs,
        squared=least * h * signs,
        waves=jnp.stack([(w * (G @ w)).sum() / (w * w).sum() for w in waves]),
        least=least,
        residual=jnp.abs(y - G @ beta[:, 0]),
        above=expanded_bound(beta, jnp.zeros(1), G, y[:, None], C, eps),
        below=lower_bound(alpha, alphat, G, y[:, None], eps),
        wide=lower_bound(wide, widet, G, y[:, None], eps),
        room=(c - used) * size * jnp.ones(n),  # zero at the box, exactly
    )


@lemma
def residuals():
    """Every even N and lambda > 0: residuals in both cases of the box, and the gap between both values."""
    lam, e, C, size, b, slack = symbols("lambda e C N b xi", positive=True)
    inside = (1 - e) / lam
    yield Solved("the coefficient whose residual lies on the edge of the tube", 1 - lam * b - e, b, [inside])
    yield Solved("the slack at the edge of the box", 1 - lam * C - e - slack, slack, [1 - lam * C - e])
    # N keys: beta^T G beta = N lambda b^2, y^T beta = N b.
    primal, dual = size * (lam * b**2 / 2 + C * slack), size * (b - lam * b**2 / 2 - e * b)
    yield Step("no gap inside the box", Subs(primal - dual, (b, slack), (inside, 0)), 0)
    yield Step("no gap at the box", Subs(primal - dual, (b, slack), (C, 1 - lam * C - e)), 0)


@lemma
def eigenvector():
    """Four and six keys, every order up to twelve: which orders meet the alternating wave."""
    j = symbols("j", integer=True)
    yield Cited("exp(z cos s) = I_0(z) + 2 sum_n I_n(z) cos(ns)", "Abramowitz and Stegun 1964, 9.6.34")
    yield Cited(
        "I_n(z) falls in n, so the least eigenvalue is that of the largest order", "Abramowitz and Stegun 1964, 9.6.1"
    )
    for keys in (4, 6):
        for order in range(13):
            met = Integer(keys) if order % keys == keys // 2 else Integer(0)
            total = Sum(cos(2 * pi * order * j / keys) * cos(pi * j), (j, 0, keys - 1))
            yield Step(f"N = {keys}, order {order}", total, met)


@lemma
def every_number_of_keys():
    """Any even N: G commutes with the turn S of the keys by a place, and S w = -w is (-1)^j up to a factor."""
    G, S, w = generic_matrices("G S w")
    yield MatrixStep("G maps it to a multiple of itself", S * G * w, -G * w, ((S * G, G * S), (S * w, -w)))
    # e^(2 pi i n j/N) (-1)^j is a power z^j of a root of unity: over all keys it sums to zero unless z = 1, n = N/2 + pN.
    y, j = symbols("y", positive=True), symbols("j", integer=True)
    yield Step("(z - 1) sum_j z^j = z^N - 1 at z = 1 + y", Sum((1 + y) ** j, (j, 0, N - 1)), ((1 + y) ** N - 1) / y)


even = Subject(placed, shift=0.0, turns=0.0)
theorem = Theorem(
    place="the limit of a hard tube, for targets of the shortest wave (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "svr_hard_limit_on_the_circle"),
    hypotheses=H,
    claims=dict(eigenvalue=eigenvalue, smallest=smallest, edge=edge, optimal=optimal),
    proofs=(residuals, eigenvector, every_number_of_keys, weak_duality),
    experiments=dict(
        circle=Experiment(
            on_the_circle, seen, {N: (4, 6)}, draws=1, seeds="none", padded=True, span=1,
            at=(
                {length: 1, c: 2, eps: Rational(1, 8)}, {length: 1, c: Rational(1, 2), eps: Rational(1, 8)},
                {length: Rational(3, 2), c: 1, eps: Rational(1, 4)},
            ),
            subjects={
                "alternating": even,
                "a key out of its place": even(shift=0.5).breaking(H.even, fails=(eigenvalue, edge, optimal)),
                "a wave of one turn": even(turns=1.0).breaking(H.alternating, fails=(eigenvalue, edge, optimal)),
            },
        )
    ),
    issues=(
        "With an odd number of keys no target alternates around the circle: it is left out.",
        "1/lambda grows faster than exponentially with N: for many keys only the case at the box is in reach.",
    ),
)
