"""At low temperature Sinkhorn's attention is diffusion, at half the speed of softmax, whatever the symmetric form A > 0 is.

**Theorem.** Let a > 0, eps = 1/k and T(x) = (a/eps) int K(x, x') (x - x') rho(x') dx', where K is
exp(-a (x - x')^2/(2 eps)) normalised in both marginals (Sinkhorn) or in its rows alone (softmax).
Let g = 2 int x T rho dx be the growth rate of the second moment, and let eps -> 0. Then g -> 1 for
Sinkhorn, if rho is N(0, 1/20), (1 - x^2)^9 up to its norm, or uniform on [-1, 1]. For the first
two, which are smooth on the line, g -> 2 for softmax, and Sinkhorn's T has a distance from
-(log rho)'/2 in L2(rho) of the exact order eps. For N(0, s), s = 1/20, e = eps/a and every eps, g
= 2 s (1 - r)/e for Sinkhorn, with r = (sqrt(e^2 + 4 s^2) - e)/(2 s), and g = 2 s/(s + e) for
softmax.

**Idea.** Sinkhorn's T tends to -(log rho)'/2, which gives d_t rho = rho''/2; softmax has
-(log rho)' and twice the speed. For N(0, s) Sinkhorn's plan is normal with the correlation r, which
solves s (1 - r^2) = e r. So T = x (1 - r)/e, and T = x/(s + e) for softmax.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Rational, sqrt, symbols

from theorax.language import *

k = Size("k", "one over the temperature eps")
a = Parameter("a", "coefficient of the quadratic form in the score", nonzero=True)
s = Rational(1, 20)
seen = numbers(
    growth="2 int x T(x) rho(x) dx, the rate of the second moment, for Sinkhorn's weights",
    soft_growth="the same for softmax",
    error="root mean square of T + (log rho)'/2 under rho, for Sinkhorn's weights",
)

H = hypotheses(
    positive="a is positive",
    centred="values are centred at the query, x - x'",
    density="rho is smooth on the line, its zeros included",
    gaussian="rho is the density of N(0, 1/20)",
    sinkhorn="both marginals of k are normalised",
    softmax="rows of k are normalised alone",
)
# Both drifts are analytic in eps for a Gaussian; the other density vanishes to ninth order at its ends.
smooth = Expansion(
    powers=(1,), rest=0.1, order=2, reference=250,
    reason="eps/s is 0.08 at k = 250, and the second term of softmax's series is its square",
)
half = Limit(
    seen.growth, 1, as_=k, under=(H.positive, H.centred, H.sinkhorn), approach=smooth, spread=Rational(1, 1000),
    margin=Relative(1, 20, "softmax has twice the rate"),
    wrong={"the rate of softmax": 2},
)
whole = Limit(
    seen.soft_growth, 2, as_=k, under=(H.positive, H.centred, H.density, H.softmax), approach=smooth, spread=Rational(1, 1000),
    margin=Relative(1, 20, "Sinkhorn has half the rate"),
    wrong={"the rate of Sinkhorn": 1},
)
score = Rate(
    seen.error, 1 / k, as_=k, under=(H.positive, H.centred, H.density, H.sinkhorn), approach=smooth,
    spread=Rational(1, 1000), margin=Absolute(1, 5, "a boundary layer of width eps^(1/2) would change the power by 1/4"),
    wrong={"eps^2": 1 / k**2, "the score of softmax": 1 / k**0},
)
e = 1 / (a * k)
r = (sqrt(e**2 + 4 * s**2) - e) / (2 * s)
exact = Expectation(
    seen.growth, 2 * s * (1 - r) / e, under=(H.positive, H.centred, H.gaussian, H.sinkhorn), spread=Rational(1, 10**6),
    margin=Relative(1, 10**4, "the quadrature is exact to 2^-30; another density of this variance differs by 1e-3"),
    wrong={"the limit": 1, "softmax": 2 * s / (s + e)},
)
exact_softmax = Expectation(
    seen.soft_growth, 2 * s / (s + e), under=(H.positive, H.centred, H.gaussian, H.softmax), spread=Rational(1, 10**6),
    margin=Relative(1, 10**4, "the quadrature is exact to 2^-30; another density of this variance differs by 1e-3"),
    wrong={"the limit": 2},
)
POINTS, STEPS = 400, 60
GAUSSIAN, COMPACT, UNIFORM = range(3)


class Density(eqx.Module):
    """Points of a grid, their masses and scores, and how attention departs from the theorem's."""

    x: jax.Array
    mass: jax.Array
    score: jax.Array
    sign: jax.Array
    centred: jax.Array
    swapped: jax.Array  # 1 if Sinkhorn and softmax change places


def grid(key, kind, sign, centred, swapped):
    unit = (2 * jnp.arange(POINTS) + 1.0) / POINTS - 1
    x = unit * jnp.where(kind == GAUSSIAN, 1.6, 1.0)
    inside = jnp.where(kind == COMPACT, 1 - x**2, 1.0)
    density = jnp.stack([jnp.exp(-10 * x**2), inside**9, jnp.ones(POINTS)])[kind]
    slope = jnp.stack([-20 * x, -18 * x / inside, jnp.zeros(POINTS)])[kind]
    return Density(x, density / density.sum(), slope, sign, centred, swapped)


def drifts(model, k, a):
    """The drifts of Sinkhorn and of softmax, on the grid."""
    x, log_m = model.x, jnp.log(model.mass)
    strength = model.sign * a * k
    scores = -strength * (x[:, None] - x[None, :]) ** 2 / 2 + log_m[None, :]
    # The symmetric iteration: each step halves the distance at least, for a positive kernel.
    once = lambda _, f: (f - jax.nn.logsumexp(scores + f[None, :], axis=1)) / 2
    f = jax.lax.fori_loop(0, STEPS, once, jnp.zeros(POINTS))
    means = jnp.exp(scores + f[:, None] + f[None, :]) @ x, jax.nn.softmax(scores, axis=1) @ x
    sinkhorn, soft = (strength * (model.centred * x - mean) for mean in means)
    return sinkhorn + model.swapped * (soft - sinkhorn), soft + model.swapped * (sinkhorn - soft)


def observe(model, k, a):
    sinkhorn, soft = drifts(model, k.value, a)
    mean = lambda values: (model.mass * values).sum()
    # 1.6 is seven deviations of N(0, 1/20), beyond which lie 1e-12 of it and 4e-11 of its second moment. Midpoints half a
    # deviation of the kernel apart are exact to e^-77, and sixty halvings leave 2^-60.
    quadrature = 2.0**-30
    return dict(
        growth_error=quadrature,
        soft_growth_error=quadrature,
        growth=2 * mean(model.x * sinkhorn),
        soft_growth=2 * mean(model.x * soft),
        error=jnp.sqrt(mean((sinkhorn + model.score / 2) ** 2)),
    )


@lemma
def normal_law():
    """Every variance s and temperature: the contraction r of the conditional mean, and the limit of the drift."""
    t, v, ratio = symbols("t v r", positive=True)
    root = (sqrt(t**2 + 4 * v**2) - t) / (2 * v)
    # kinf mu mu is normal with variances v and correlation r; the kernel fixes r/(v (1 - r^2)) = 1/t.
    yield Solved("the correlation", v * (1 - ratio**2) - t * ratio, ratio, root)
    yield Step("the slope of the drift tends to 1/(2 s)", sympy.Limit((1 - root) / t, t, 0), 1 / (2 * v))
    yield Step("its first correction", sympy.Limit(((1 - root) / t - 1 / (2 * v)) / t, t, 0), -1 / (8 * v**2))
    yield Step("softmax: twice that", sympy.Limit(1 / (v + t), t, 0), 1 / v)


normal = Subject(grid, kind=GAUSSIAN, sign=1.0, centred=1.0, swapped=0.0)
theorem = Theorem(
    place="the limit of infinitely many tokens and low temperature; constants follow the convention stated here",
    label="reconstructed",
    uses=("sinkhorn_cost_invariance", "wasserstein_functionals"),
    hypotheses=H,
    claims=dict(half=half, whole=whole, score=score, exact=exact, exact_softmax=exact_softmax),
    proofs=(normal_law,),
    experiments=dict(
        laws=Experiment(observe, seen, {k: (250, 500, 1000, 2000)}, at=({a: 1}, {a: 2}), draws=1, seeds="none",
                        padded=True, span=16, subjects={
            "N(0, 1/20)": normal,
            "(1 - x^2)^9": normal(kind=COMPACT).breaking(H.gaussian, fails=(exact, exact_softmax)),
            "uniform": normal(kind=UNIFORM).breaking(H.density, H.gaussian, fails=(whole, score)),
            "a of the other sign": normal(sign=-1.0).breaking(
                H.positive, fails=(half, whole, score, exact, exact_softmax),
            ),
            "values not centred": normal(centred=0.0).breaking(
                H.centred, fails=(half, whole, score, exact, exact_softmax),
            ),
            "Sinkhorn and softmax exchanged": normal(swapped=1.0).breaking(
                H.sinkhorn, H.softmax, fails=(half, whole, score, exact, exact_softmax),
            ),
        }),
    ),
    issues=(
        "Laws on the line, on a grid of 400 points; tokens drawn from the law need n eps^(d/2) much larger than one.",
        "The paper's constants and its class of densities depend on its convention, and were not read.",
    ),
)
