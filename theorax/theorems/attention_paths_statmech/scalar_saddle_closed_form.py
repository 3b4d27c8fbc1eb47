"""One path and a kernel that is a multiple of the identity: all layers share one scalar, in closed form.

**Theorem.** Let L layers have one head each and equal widths N, the readout's too, K = u kappa I,
|y|^2 = P s kappa, T = 0 and alpha = P/N. At the minimum of the action of path_kernel_action, u =
U_1, one has U_L = u_a^2, u = u_a^(L+1) and u^(1/(L+1)) - 1 = alpha (s/u - 1), hence u =
s^((L+1)/(L+2)) for alpha = 1. The first two equations hold for any kernel and T. This is checked to
10^(-8) where Newton's steps end, the last at most 10^(-8) long: L = 1, 2, alpha = 1, s in [3/2,
5/2] and alpha = 1/2, s in [1/2, 3/2]. Let now L = 1 and s be uniform in [3/2, 5/2]. As P -> oo, the
mean of u/s tends to 1 for alpha = P, and the mean of u to 1 for alpha = 1/P. The last limit also
holds at fixed T > 0, and for eigenvalues of K/u in a fixed interval above 0.

**Idea.** Neighbouring scalars have one ratio U_l/U_(l+1) = u_a, since data enter through U_1 alone.
The slope of the action in log u is N (u_a - 1) from the entropy and P (1 - s/u) from the energy.
Many examples pull u to s, the scale of the labels.
"""

import sympy
from sympy import Abs, Derivative, Eq, Rational, Subs, Symbol, log, symbols
from sympy import Limit as LimitOf

from theorax.language import *
from theorax.theorems.attention_paths_statmech._paths import L, N, P, isotropic

alpha = Parameter("alpha", "P/N", positive=True)
e = Parameter("e", "the exponent of P in P/N", integer=True, nonzero=True)
middle = Parameter("middle", "the middle of the values of s, which spread by 1/2 on either side", positive=True)
seen = numbers(
    u="the order parameter u = U_1 at the minimum of the action",
    top="the order parameter U_L of the last layer",
    u_a="the scalar u_a of the readout",
    move="the length of the last Newton step",
    s="|y|^2 over P kappa",
    positive=True,
)
u, s = seen.u, seen.s

H = hypotheses(
    one_path="every layer has one head",
    equal="all widths are equal, the readout's too",
    isotropic="the kernel of the path is a multiple of the identity",
    noiseless="the temperature is zero",
)
# The last Newton step is at most 1e-10; wrong exponents move the left sides by 0.05 and more.
TINY = Rational(1, 10**8)
converged = Inequality(seen.move, at_most=TINY, under=(), on="finite")
last = Inequality(
    Abs(seen.top / seen.u_a**2 - 1), at_most=TINY, under=(H.one_path, H.equal), on="finite",
    wrong={"u_a itself": dict(of=Abs(seen.top / seen.u_a - 1))},
)
first = Inequality(
    Abs(u / seen.u_a ** (L + 1) - 1), at_most=TINY, under=(H.one_path, H.equal), on="finite",
    wrong={"a power L + 2": dict(of=Abs(u / seen.u_a ** (L + 2) - 1)), "a power L": dict(of=Abs(u / seen.u_a**L - 1))},
)
root = u ** (1 / (L + 1))
equation = Inequality(
    Abs(root - 1 - alpha * (s / u - 1)), at_most=TINY, on="finite",
    wrong={
        "P/N upside down": dict(of=Abs(root - 1 - (s / u - 1) / alpha)),
        "the label term without its trace": dict(of=Abs(root - 1 - alpha * s / u)),
        "exponent 1/(L + 2)": dict(of=Abs(u ** (1 / (L + 2)) - 1 - alpha * (s / u - 1))),
    },
)
power = Inequality(
    Abs(u / s ** ((L + 1) / (L + 2)) - 1), at_most=TINY, where=Eq(alpha, 1), on="finite",
    wrong={
        "exponent 1/L, as if for depth": dict(of=Abs(u / s ** (1 / L) - 1)),
        "exponent 1/(L + 2)": dict(of=Abs(u / s ** (1 / (L + 2)) - 1)),
        "exponent L/(L + 1)": dict(of=Abs(u / s ** (L / (L + 1)) - 1)),
    },
)
many = Limit(
    u / s, 1, as_=P, on="sweep", where=Eq(e, 1), under=(H.isotropic, H.noiseless), spread=Rational(1, 100),
    approach=Expansion(
        powers=(1,), rest=0.01, order=2, reference=16,
        reason="u is analytic in N/P at u = s; its second coefficient is below s for one layer and s from 3/2 to 5/2",
    ),
    margin=Relative(1, 10, "the value s^(-1/3) of P = N is a fifth away"),
    wrong={"the value at P = N, s = 2": 2 ** Rational(-1, 3), "the Gaussian process, s = 2": Rational(1, 2)},
)
few = Limit(
    u, 1, as_=P, on="sweep", where=Eq(e, -1), under=(), spread=Rational(1, 20),
    approach=Expansion(
        powers=(1,), rest=0.03, order=2, reference=16,
        reason="u is analytic in P/N at u = 1; for one layer the mean of its second coefficient, 1 + 2 s - 3 s^2, is -7.3",
    ),
    margin=Relative(1, 5, "the value s^(2/3) of P = N is 0.6 away, s = 2 itself is 1 away"),
    wrong={"the scale of the labels": 2, "the value at P = N, s = 2": 2 ** Rational(2, 3)},
)


def observe(drawn):
    """The order parameters at the minimum; of several paths, the first."""
    model, s = drawn
    u_a, matrices, move = model.saddle()
    return dict(u=matrices[-1][0, 0], top=matrices[0][0, 0], u_a=u_a, move=move, s=s)


a, b, c = symbols("u_a u_2 u_1", positive=True)
energy = P * log(u) + P * s / u


def readout(above, u):
    """The terms of one layer with one head: U_l/U_(l+1) - log U_l + log U_(l+1), times the width."""
    return N * (u / above - log(u) + log(above))


def proportional(key, P, e, middle, spread, noise):
    """One layer at P/N = P^e."""
    return isotropic(1)(key, P, P ** (1.0 * e), middle, spread, noise, 1)


@lemma
def layers_alike():
    """One and two layers, any kernel and temperature: they enter through U_1 alone."""
    first = N * (a - log(a))
    yield Step("one layer: the readout", Subs(Derivative(first + readout(a, c), a), c, a**2), 0)
    yield Step("two layers: the readout", Subs(Derivative(first + readout(a, b), a), b, a**2), 0)
    middle = Derivative(readout(a, b) + readout(b, c), b)
    yield Step("two layers: the upper one", Subs(Subs(middle, c, a**3), b, a**2), 0)


@lemma
def last_layer():
    """Every depth; r is the common ratio of neighbouring scalars, u = r^(L+1)."""
    r, above = symbols("r u_above", positive=True)
    slope = Subs(u * Derivative(readout(above, u), u) / N, above, u / r)
    yield Step("the slope of the entropy in log u", slope, r - 1)
    yield Step("the slope of the energy in log u", u * Derivative(energy, u) / N, P / N * (1 - s / u))
    sum_of_both = (r - 1) + alpha * (1 - s / u)
    yield Step("it vanishes where r - 1 = alpha (s/u - 1)", Subs(sum_of_both, r, 1 + alpha * (s / u - 1)), 0)


@lemma
def as_many_examples():
    """Every depth, P = N."""
    r, root = Symbol("r", positive=True), s ** (1 / (L + 2))
    yield Step("the ratio: r - 1 = s/u - 1", s / root ** (L + 1), root)
    yield Step("the scalar of the first layer", Subs(r ** (L + 1) / s ** ((L + 1) / (L + 2)) - 1, r, root), 0)


@derives(many)
def many_examples():
    """One layer; the root r of r^3 - r^2 + alpha r^2 - alpha s = 0, by the series r = sqrt(s) + c/alpha."""
    x, k = symbols("x k", positive=True)
    r = sympy.sqrt(s) + k * x
    cubic = x * (r**3 - r**2) + r**2 - s
    yield Solved("first order in x = N/P", Subs(Derivative(cubic, x), x, 0).doit(), k, [(sympy.sqrt(s) - s) / 2])
    yield Step("u/s for many examples", LimitOf(r**2, x, 0) / s, 1)


@derives(few)
def few_examples():
    """Every depth: at P/N = 0 the layers' ratio is one."""
    x = Symbol("x", positive=True)
    yield Step("the ratio for few examples", LimitOf(1 + x * (s / u - 1), x, 0), 1)


one, two, pair = (
    Subject(isotropic(*layers), spread=0.0, noise=0.0, readout=1.0, knows={L: layers[0]})
    for layers in ((1, 1), (2, 1), (1, 2))
)
sweeping = Subject(proportional, spread=0.0, noise=0.0, knows={L: 1})
chain, exactly = (last, first), (equation, power)
theorem = Theorem(
    place="the action at one path (derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(converged=converged, last=last, first=first, equation=equation, power=power, many=many, few=few),
    proofs=(layers_alike, last_layer, as_many_examples, many_examples, few_examples),
    experiments=dict(
        finite=Experiment(observe, seen, {P: 6}, at=({alpha: 1, middle: 2}, {alpha: Rational(1, 2), middle: 1}),
                          draws=Efforts(500, 500, 1000), subjects={
            "one layer": one,
            "two layers": two,
            "two heads": pair.breaking(H.one_path, fails=(*chain, *exactly)),
            "a readout of width 2 N": one(readout=2.0).breaking(H.equal, fails=(*chain, *exactly)),
            "eigenvalues over a factor of seven": one(spread=1.0).breaking(H.isotropic, fails=exactly),
            "T = kappa/2": one(noise=0.5).breaking(H.noiseless, fails=exactly),
        }),
        sweep=Experiment(observe, seen, {P: (16, 64)}, at=({e: 1, middle: 2}, {e: -1, middle: 2}),
                         draws=Efforts(64, 64, 128), subjects={
            "one layer": sweeping,
            "T = kappa/2": sweeping(noise=0.5).breaking(H.noiseless, fails=many),
            "eigenvalues over a factor of seven": sweeping(spread=1.0).breaking(H.isotropic, fails=many),
        }),
    ),
    issues=(
        "Newton's steps reach this minimum from the identity; whether there is another is left open.",
        "Nothing is sampled here: how far the posterior of a finite network is from the minimum is another question.",
    ),
)
