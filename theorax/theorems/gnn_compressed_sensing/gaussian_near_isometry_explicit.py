"""A Gaussian A, seen through a fixed B, stretches a subspace by ||B||_F, up to ||B|| w(T): with explicit constants.

**Theorem.** Let A have independent standard normal entries, B be fixed, x range over the unit
sphere of a subspace of dimension k, F = ||B||_F, er = F^2/||B||^2, R = F^4/||B^T B||_F^2 and w
= sqrt(2) Gamma((k + 1)/2)/Gamma(k/2). In the mean, sup ||B A x||/F <= 1 + w/sqrt(er) and inf
||B A x||/F >= sqrt(1 - 1/er) - (w + 1/sqrt(2 pi))/sqrt(er). Each holds for one A, with w + u for w,
with probability at least 1 - e^(-u^2/2). The Gram matrix G of B A on the subspace has E
||G/F^2 - I||_F^2 = k (k + 1)/R. For s_i(B) = i^(-a), a >= 1, this tends to k (k + 1)
zeta(4a)/zeta(2a)^2 as m -> oo at fixed k. If s_1 = 2 s_2, whether B is fixed or not, the mean of er
sup ||B A x||^2/(k F^2) tends to 1 as k -> oo at fixed m.

**Idea.** Gordon's comparison of Gaussian processes gives the means, and sup and inf are
||B||-Lipschitz in A. G_jk is a sum of s_i^2 g_ij g_ik. As er stays bounded for a > 1/2, more rows
do not help. For k far above er the top singular value decides.
"""

import jax
import jax.numpy as jnp
from sympy import Integral, Rational, Subs, Sum, Symbol, exp, gamma, oo, pi, sqrt, symbols, zeta

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._effective_rank import m
from theorax.theorems.gnn_compressed_sensing._subspaces import Adapted, frame, seen_through

k = Size("k", "dimension of the subspace")
a = Parameter("a", "exponent of the singular values of B, s_i = i^(-a)", nonnegative=True)
u = Parameter("u", "deviation in units of ||B||", positive=True)
seen = numbers(
    top="sup ||B A x||/||B||_F, mean over 16 copies of A", bottom="inf ||B A x||/||B||_F, mean over the same",
    one_top="sup ||B A x||/||B||_F of one A", one_bottom="inf ||B A x||/||B||_F of one A",
    er="||B||_F^2/||B||^2", R="||B||_F^4/||B^T B||_F^2",
    distortion="||G/||B||_F^2 - I||_F^2, G the Gram matrix of B A on the subspace, mean over 16 copies",
)
bounded = numbers(stays="that mean of ||G/||B||_F^2 - I||_F^2, m swept", trace="tr G/||B||_F^2, mean over 16 copies")
crowd = numbers(stretched="er(B) sup ||B A x||^2/(k ||B||_F^2)")

H = hypotheses(
    gaussian="entries of A are independent and standard normal",
    fixed="B does not depend on A",
    summable="er(B) is bounded: s_i = i^(-a) with a > 1/2",
    gap="the largest singular value of B is twice the next one",
)
GIVEN = (H.gaussian, H.fixed)
w = sqrt(2) * gamma((k + 1) / 2) / gamma(k / 2)
er = seen.er
upper = Inequality(
    seen.top, at_most=1 + w / sqrt(er), under=GIVEN,
    wrong={"the rank m for er": dict(at_most=1 + w / sqrt(m)), "half of w": dict(at_most=1 + w / (2 * sqrt(er)))},
)
lower = Inequality(
    seen.bottom, at_least=sqrt(1 - 1 / er) - (w + 1 / sqrt(2 * pi)) / sqrt(er), under=GIVEN,
    wrong={
        "the rank m for er": dict(at_least=1 - (w + 1 / sqrt(2 * pi)) / sqrt(m)),
        "half of w": dict(at_least=sqrt(1 - 1 / er) - w / (2 * sqrt(er))),
    },
)
tail = Absolute(1, 10, "where a hypothesis is broken the event fails in most draws")
likely_upper = Probability(
    seen.one_top <= 1 + (w + u) / sqrt(er), at_least=1 - exp(-(u**2) / 2), under=GIVEN, margin=tail,
    wrong={"the rank m for er": dict(event=seen.one_top <= 1 + (w + u) / sqrt(m))},
)
likely_lower = Probability(
    seen.one_bottom >= sqrt(1 - 1 / er) - (w + 1 / sqrt(2 * pi) + u) / sqrt(er), at_least=1 - exp(-(u**2) / 2), under=GIVEN,
    margin=tail, wrong={"half of w": dict(event=seen.one_bottom >= sqrt(1 - 1 / er) - w / (2 * sqrt(er)))},
)
exact = Expectation(
    seen.R * seen.distortion, k * (k + 1), under=GIVEN, spread=Rational(2, 5),
    margin=Relative(1, 10, "k^2 is a fifth less at k = 4; with er in the place of R it is less by er/R, a third and more"),
    wrong={"k^2": k**2, "er for R": dict(of=er * seen.distortion), "2 k^2": 2 * k**2},
)
stays = Limit(
    bounded.stays, k * (k + 1) * zeta(4 * a) / zeta(2 * a) ** 2, as_=m, under=(*GIVEN, H.summable), where=a >= 1,
    spread=Rational(1, 2),
    variates=KnownMean(bounded.trace, k, gain=3, under=GIVEN, because="k columns of A V, with s_i^2 for entry i"),
    approach=Corrections(
        size=Rational(1, 5), slowest=1, fastest=4, rest=0, reference=16,
        reason="1/R is zeta(4a)/zeta(2a)^2 up to a series in m^(1 - 2a), 1 - 2a <= -1: 0.08 of the limit at m = 16, a = 1",
    ),
    margin=Relative(1, 8, "k^2 is a fifth less at k = 4, er in the place of R gives 50 % more"),
    wrong={"er for R": k * (k + 1) / zeta(2 * a), "k^2": k**2 * zeta(4 * a) / zeta(2 * a) ** 2},
)
crowded = Limit(
    # A^T on T is near to sqrt(k) times an isometry of R^m: then every B of norm s_1 stretches by s_1 sqrt(k), fixed or not.
    crowd.stretched, 1, as_=k, under=(H.gaussian, H.gap), spread=Rational(1, 10),
    approach=Corrections(
        size=Rational(1, 10), slowest=1, fastest=2, rest=Rational(1, 50), order=2, reference=16,
        reason="second-order perturbation: sum over i > 1 of s_i^2/(s_1^2 - s_i^2), 3/4 for i^(-1), over k",
    ),
    margin=Relative(1, 10, "k + 1 for k is within it, half of it is far"), wrong={"half": Rational(1, 2), "two": 2},
)

COPIES, MORE = 16, 4


def on_subspace(key, m, k, a, sparse, tied, adapted, flat):
    """``sparse``: sparse signs, p = 1/50; ``tied``: m/8 rows, eight copies each; ``flat``: all s_i equal."""
    shape = (COPIES, m, k + MORE)
    A = jax.random.normal(named(key, "A"), shape)
    kept = jax.random.bernoulli(named(key, "kept"), 1 / 50, shape)
    A = jnp.where(sparse > 0, jnp.sign(A) * kept * 50.0**0.5, A)
    A = jnp.where(tied > 0, A[:, jnp.arange(m) % (m // 8)], A)
    spectrum = (1.0 + jnp.arange(m)) ** jnp.where(flat > 0, 0.0, -1.0 * a)
    return seen_through(A, frame(named(key, "V"), k + MORE, k), spectrum, adapted)


def distortion(model):
    G = model.gram()
    return ((G - jnp.eye(G.shape[1])) ** 2).sum((1, 2)).mean()


def observe(model):
    top, bottom = model.ends()
    return dict(
        top=top.mean(), bottom=bottom.mean(), one_top=top[0], one_bottom=bottom[0], er=model.effective_rank,
        R=model.participation, distortion=distortion(model),
    )


def trace_and_distortion(model):
    return dict(stays=distortion(model), trace=jnp.trace(model.gram(), axis1=1, axis2=2).mean())


def stretch(model, k):
    return dict(stretched=model.effective_rank * (model.ends()[0] ** 2).mean() / k)


F, op = symbols("F op", positive=True)
g = Symbol("g", real=True)
density = exp(-(g**2) / 2) / sqrt(2 * pi)


@lemma
def comparison():
    """Any unit vectors T, any B: <A x, v> + |v| gamma against |v| <h, x> + <g, v>, c = <x, x'>, d = <v, v'>."""
    r, s, c, d = symbols("r s c d", real=True)  # r and s: |v| and |v'|
    first, second = c * d + r * s, r * s * c + d
    yield Step("not negative, and zero where x = x'", first - second, (r * s - d) * (1 - c))
    yield Cited("minima and maxima of two Gaussian processes so ordered are ordered in the mean", "Gordon 1985")
    yield Step("E max(gamma, 0), which the lower bound pays", Integral(g * density, (g, 0, oo)), 1 / sqrt(2 * pi))
    # ||B g|| has a variance of at most ||B||^2, as ||B g|| is ||B||-Lipschitz.
    yield Step("E ||B g|| over ||B||_F", Subs(sqrt(F**2 - op**2) / F, op, F / sqrt(er)), sqrt(F**2 - F**2 / er) / F)


@derives(upper)
def means():
    """Every k and every B."""
    r = Symbol("r", positive=True)
    length = lambda power: Integral(r ** (power - 1) * exp(-(r**2) / 2), (r, 0, oo))
    yield Step("the mean length of a normal vector", length(k + 1) / length(k), w)
    yield Step("over ||B||_F", Subs((F + op * w) / F, op, F / sqrt(er)), upper.at_most)


@derives(likely_upper, likely_lower)
def concentration(claim):
    """Every k, B and u."""
    t = Symbol("t", positive=True)
    known = "an L-Lipschitz function of A exceeds its mean by L u with probability at most e^(-u^2/2)"
    yield Cited(known, "Cirel'son et al. 1976")
    yield Step("sup and inf are ||B||-Lipschitz", Subs(1 - exp(-(t**2) / (2 * op**2)), t, op * u), claim.at_least)


@derives(exact)
def moments():
    """Every k and B: G_jk = sum_i s_i^2 g_ij g_ik, terms are independent, and sum s_i^4/||B||_F^4 = 1/R."""
    mean = lambda f: Integral(f * density, (g, -oo, oo))
    yield Step("the trace over ||B||_F^2: k columns", k * mean(g**2), k)
    yield Step("k (k - 1) pairs, k squares", k * (k - 1) * mean(g**2) ** 2 + k * mean((g**2 - 1) ** 2), exact.equals)


@derives(stays)
def fixed_rank_of_b():
    """Every k and a > 1/2: R tends to zeta(2a)^2/zeta(4a), 5/2 for a = 1."""
    R, i = Symbol("R", positive=True), Symbol("i", integer=True, positive=True)
    yield Step("a = 1", Sum(i**-4, (i, 1, oo)) / Sum(i**-2, (i, 1, oo)) ** 2, Rational(2, 5))
    yield Step("the limit", Subs(k * (k + 1) / R, R, zeta(2 * a) ** 2 / zeta(4 * a)), stays.to)


plain = Subject(on_subspace, sparse=0.0, tied=0.0, adapted=Adapted.FIXED, flat=0.0)
BOTH = (upper, lower, likely_upper, likely_lower, exact)
theorem = Theorem(
    place="near-isometry of Gaussian matrices on subspaces (derived here, by comparison of processes)",
    label="derived",
    uses=("effective_rank_facts",),
    hypotheses=H,
    claims=dict(
        upper=upper, lower=lower, likely_upper=likely_upper, likely_lower=likely_lower, exact=exact, stays=stays,
        crowded=crowded,
    ),
    proofs=(comparison, means, concentration, moments, fixed_rank_of_b),
    experiments=dict(
        subspaces=Experiment(
            observe, seen, {k: (4, 16)}, at=({m: 64, a: 0, u: 2}, {m: 64, a: 1, u: 1}),
            draws=Efforts(320, 320, 1000), sizes_because="one dimension below er and one above it", subjects={
                "normal entries": plain,
                "sparse signs": plain(sparse=1.0).breaking(H.gaussian, fails=(upper, likely_upper, exact)),
                "rows that come eight times": plain(tied=1.0).breaking(
                    H.gaussian, fails=(upper, lower, likely_lower, exact),
                ),
                "B off the range of A": plain(adapted=Adapted.OFF).breaking(H.fixed, fails=(lower, likely_lower, exact)),
                "B onto the range of A": plain(adapted=Adapted.ONTO).breaking(H.fixed, fails=(upper, likely_upper, exact)),
            }),
        rows=Experiment(
            trace_and_distortion, bounded, {m: (16, 48, 144)}, at={k: 4, a: 1}, draws=Efforts(100, 120, 360),
            sizes_because="more and more rows", subjects={
                "s_i = 1/i": plain,
                "sparse signs": plain(sparse=1.0).breaking(H.gaussian, fails=stays),
                "B off the range of A": plain(adapted=Adapted.OFF).breaking(H.fixed, fails=stays),
                "equal s_i": plain(flat=1.0).breaking(H.summable, fails=stays),
            }),
        crowds=Experiment(
            stretch, crowd, {k: (16, 32, 64)}, at={m: 32, a: 1}, draws=Efforts(100, 160, 1000),
            sizes_because="dimensions from 10 er on", subjects={
                "s_i = 1/i": plain,
                "rows that come eight times": plain(tied=1.0).breaking(H.gaussian, fails=crowded),
                "equal s_i": plain(flat=1.0).breaking(H.gap, fails=crowded),
            }),
    ),
    issues=(
        "T is the sphere of a subspace; the comparison itself speaks of every symmetric T in the unit sphere.",
        "Both bounds are far from tight where k is between one and er.",
    ),
)
