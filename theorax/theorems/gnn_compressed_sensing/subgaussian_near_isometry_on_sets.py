"""B A is near to ||B||_F times an isometry on every bounded set, with an error K sqrt(log K) ||B|| (w(T) + rad(T)).

**Theorem.** Let A have independent, centred, isotropic rows of psi2 norm at most K, B and a bounded
T be fixed, and sup that of | ||B A x|| - ||B||_F ||x|| | over T. With the declared C = 2, for the
rows and sets tried, the mean sup of two copies of A is at most C K sqrt(log K) ||B|| (w(T) +
rad(T)) with probability at least 19/20 (measured), and with probability at least 1 - 3 e^(-u^2) sup
<= C K sqrt(log K) ||B|| (w(T) + u rad(T)). For sparse signs of density
p <= 1/20, m p = 20, B = I and T 16 basis vectors, the mean of sup is at least 0.3 K sqrt(log K)
(w(T) + 1), K^2 = 1/(p log(1 + 1/p)). Let K^2 = 8/3, b = sqrt(2 log 2) + sqrt(2 pi) (1 -
erf(sqrt(log 2))), 0.797 <= w <= 100. Then w + 1 + 1/sqrt(2 pi) + b <= 2 K sqrt(log K) (w + 1), and
for 1 <= u <= 100, w + 1 + 1/sqrt(2 pi) + sqrt(2) u <= 2 K sqrt(log K) (w + u).

**Idea.** The last two say that C = 2 is enough for Gaussian rows and spheres of subspaces, by
Gordon's bounds. The source leaves C open. By the sparse signs no smaller order in K is possible;
K^2 would be too large.
"""

import jax.numpy as jnp
from sympy import Integral, Rational, Subs, Symbol, erf, exp, log, oo, pi, sqrt, symbols

from theorax.language import *
from theorax.theorems.gnn_compressed_sensing._effective_rank import m
from theorax.theorems.gnn_compressed_sensing._sets import RADIUS, SetKind, mean_of_largest, set_seen, sparse_columns

K = Parameter("K", "psi2 norm of the rows of A, at most", positive=True)
u = Parameter("u", "deviation", positive=True)
p = Parameter("p", "probability of a non-zero sign, K^2 = 1/(p log(1 + 1/p))", positive=True)
w = Parameter("w", "Gaussian width of the unit sphere of a subspace, sqrt(2/pi) or more", positive=True)
N = Size("N", "m p, the expected number of non-zero signs in a column")
seen = numbers(
    sup="sup over T of |||B A x|| - ||B||_F ||x|||, mean over 2 copies of A", one="that of one copy",
    about_m="the same mean about sqrt(m) ||x||",
    op="||B||", F="||B||_F", width="w(T)", rad="rad(T)", positive=True,
)
rare = numbers(
    largest="sup over 16 basis vectors of |||A x|| - sqrt m|, mean over 4 copies of A",
    of_basis="w(T), the mean of the largest of 16 normal numbers", positive=True,
)

H = hypotheses(
    fixed="B does not depend on A",
    independent="rows of A are independent",
    centred="rows of A are centred",
    isotropic="E a a^T = I for every row a of A",
    norm="rows of A have a psi2 norm of at most K",
    given="T is bounded and does not depend on A",
    sparse="entries of A are independent sparse signs, p^(-1/2) in modulus with probability p, else zero",
)
THEOREM = (H.fixed, H.independent, H.centred, H.isotropic, H.norm, H.given)
C = 2
order = K * sqrt(log(K)) * seen.op
bound = Inequality(
    seen.sup, at_most=C * order * (seen.width + seen.rad), under=THEOREM, content=Rational(1, 20),
    wrong={
        "C = 1/4": dict(at_most=order * (seen.width + seen.rad) / 4),
        "||B|| forgotten": dict(at_most=C * K * sqrt(log(K)) * (seen.width + seen.rad)),
        "rad(T) forgotten": dict(at_most=C * order * seen.width),
        "||B|| over ||B||_F": dict(at_most=C * order / seen.F * (seen.width + seen.rad)),
        "sqrt(m) for ||B||_F": dict(of=seen.about_m),
    },
)
likely = Probability(
    seen.one <= C * order * (seen.width + u * seen.rad), at_least=1 - 3 * exp(-(u**2)), under=THEOREM,
    margin=Absolute(1, 20, "where a hypothesis is broken the event fails in nearly every draw"),
    wrong={
        "C = 1/4": dict(event=seen.one <= order * (seen.width + u * seen.rad) / 4),
        "||B|| forgotten": dict(event=seen.one <= C * K * sqrt(log(K)) * (seen.width + u * seen.rad)),
    },
)
K2 = 1 / (p * log(1 + 1 / p))
least = Rational(3, 10) * sqrt(K2 * log(K2) / 2) * (rare.of_basis + 1)
optimal = Inequality(
    rare.largest, at_least=least, under=H.sparse, where=p <= Rational(1, 20),
    wrong={
        "K^2 for K sqrt(log K)": dict(at_least=Rational(3, 10) * K2 * (rare.of_basis + 1)),
        "the constant one": dict(at_least=Rational(10, 3) * least),
    },
)
of_gaussian = (C * K * sqrt(log(K))).subs(K, sqrt(Rational(8, 3)))
beyond = sqrt(2 * log(2)) + sqrt(2 * pi) * (1 - erf(sqrt(log(2))))
mean = w + 1 + 1 / sqrt(2 * pi) + beyond
enough = Inequality(
    mean, at_most=of_gaussian * (w + 1), under=(), over={w: (Rational(797, 1000), 100)},
    wrong={"C = 1": dict(at_most=of_gaussian * (w + 1) / 2), "every width": dict(over={w: (Rational(1, 1000), 100)})},
)
high = w + 1 + 1 / sqrt(2 * pi) + sqrt(2) * u
enough_likely = Inequality(
    high, at_most=of_gaussian * (w + u), under=(), over={w: (Rational(797, 1000), 100), u: (1, 100)},
    wrong={"C = 1": dict(at_most=of_gaussian * (w + u) / 2), "K^2 log K = 1": dict(at_most=C * (w + u) / 2)},
)


def observe(model):
    size = model.deviations(model.norm)
    return dict(
        sup=size.mean(), one=size[0], about_m=model.deviations(jnp.sqrt(1.0 * model.M.shape[1])).mean(),
        op=model.spectrum.max(), F=model.norm, width=model.width(), rad=RADIUS,
    )


def observe_rare(model):
    return dict(largest=model.deviations().mean(), of_basis=mean_of_largest(model.A.shape[2]))


F, op, t = symbols("F op t", positive=True)


@lemma
def gordon():
    """Gaussian rows, any B, the unit sphere of a subspace: P(sup > F + op (w + t)) and its like are e^(-t^2/2) at most."""
    known = "E sup <= F + op w and E inf >= sqrt(F^2 - op^2) - op (w + 1/sqrt(2 pi)), and both are op-Lipschitz in A"
    yield Cited(known, "gaussian_near_isometry_explicit")
    yield Step("sqrt(F^2 - op^2) >= F - op: the squares differ by", F**2 - op**2 - (F - op) ** 2, 2 * op * (F - op))


@derives(enough)
def mean_of_the_larger():
    """Both ends, in units of op: the mean of what exceeds w + 1 + 1/sqrt(2 pi), whose tail is min(1, 2 e^(-t^2/2))."""
    start = Symbol("a", positive=True)
    yield Solved("two tails are one", 2 * exp(-(start**2) / 2) - 1, start, sqrt(2 * log(2)))
    tail = sqrt(2 * pi) * (1 - erf(start / sqrt(2)))
    yield Step("the mean beyond", Integral(2 * exp(-(t**2) / 2), (t, start, oo)), tail)
    yield Step("from there on", Subs(start + tail, start, sqrt(2 * log(2))), beyond)
    farthest = F - (F - op - op * (w + 1 / sqrt(2 * pi) + t))
    yield Step("F less the lower end, in the mean", Subs(farthest / op, t, beyond), enough.of)
    yield Step("the bound at K^2 = 8/3", Subs(C * K * sqrt(log(K)) * (w + 1), K, sqrt(Rational(8, 3))), enough.at_most)


@derives(enough_likely)
def both_tails():
    """Both ends, at t = sqrt(2) u: 2 e^(-u^2) is less than 3 e^(-u^2), and nothing is claimed for u < 1."""
    yield Step("each tail", Subs(exp(-(t**2) / 2), t, sqrt(2) * u), exp(-(u**2)))
    lower_end = F - op - op * (w + 1 / sqrt(2 * pi) + t)
    yield Step("F less the lower end", Subs((F - lower_end) / op, t, sqrt(2) * u), enough_likely.of)
    whole = C * K * sqrt(log(K)) * (w + u)
    yield Step("the bound at K^2 = 8/3", Subs(whole, K, sqrt(Rational(8, 3))), enough_likely.at_most)


NORMAL, SIGNS = {K: sqrt(Rational(8, 3))}, {K: sqrt(20 / log(21))}
plain = Subject(
    set_seen, T=SetKind.BASIS, density=0.0, falling=0.0, tied=0, size=1.0, common=0.0, adapted=0, sees=0, knows=NORMAL,
)
circle, point = plain(T=SetKind.CIRCLE), plain(T=SetKind.POINT)
both = (bound, likely)
columns = Subject(sparse_columns, dense=0)
theorem = Theorem(
    place="main theorem on sub-Gaussian matrices on sets (reconstructed; the constant is declared here)",
    label="reconstructed",
    uses=("psi2_norm_facts", "optimal_psi2_dependence", "gaussian_near_isometry_explicit"),
    hypotheses=H,
    claims=dict(bound=bound, likely=likely, optimal=optimal, enough=enough, enough_likely=enough_likely),
    proofs=(gordon, mean_of_the_larger, both_tails),
    experiments=dict(
        sets=Experiment(observe, seen, {m: 144}, at={u: 2}, draws=Efforts(500, 500, 1000), subjects={
            "normal entries, the basis": plain,
            "normal entries, a circle, B = diag(i^(-1/2)) R": circle(falling=0.5),
            "normal entries, one point": point,
            "sparse signs, the basis, B = diag(i^(-1/4)) R": plain(density=0.05, falling=0.25, knows=SIGNS),
            "sparse signs, a circle, B = diag(i^(-1/2)) R": circle(density=0.05, falling=0.5, knows=SIGNS),
            "B off the range of A on the circle": circle(adapted=1).breaking(H.fixed, fails=both),
            "one row for all": plain(tied=1).breaking(H.independent, fails=both),
            "first column of mean 9/10, B = diag(i^(-1/2)) R": point(falling=0.5, common=0.9).breaking(H.centred, fails=both),
            "a quarter of A": point(size=0.25).breaking(H.isotropic, fails=both),
            "one sign in 800, B = diag(i^(-1/10)) R": point(density=1 / 800, falling=0.1).breaking(H.norm, fails=both),
            "the circle holds a row of B A": circle(falling=2.0, sees=1).breaking(H.given, fails=both),
        }),
        rare=Experiment(observe_rare, rare, {N: 20}, derived={m: N / p}, at=({p: Rational(1, 20)}, {p: Rational(1, 200)}),
                        draws=Efforts(500, 500, 1000), subjects={
            "sparse signs": columns,
            "signs of size one": columns(dense=1).breaking(H.sparse, fails=optimal),
        }),
    ),
    issues=(
        "C is a declared number: that some absolute constant works for all rows and sets is not decided by draws.",
        "No direction of sparse rows has a larger psi2 norm than e_1 for p <= 1/20: by numerical integrals, not proved.",
        "Sets are a point, 96 basis vectors and a circle.",
    ),
)
