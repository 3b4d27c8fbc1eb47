"""Interpolating the functions of the layers, every bounded Lipschitz network is O(1/N) close to a flow.

**Theorem.** Let x_(n+1) = x_n + f_n(x_n)/N, n = 0, ..., N - 1, where all f_n are L-Lipschitz, L >=
0, and |f_n| <= F. Let x(s) be the flow from x_0 of the field that is linear in s between f_n at n/N
and f_(n+1) at (n + 1)/N, with f_N = f_(N-1). Then, for all N, max_n |x_n - x(n/N)| <= (4 e^L - 1)
F/(3 N) <= (2 e^L - 1) F/N. If F and L do not depend on N, the distance has the exact order 1/N as
N -> oo, without smoothness in depth: for f_n(x) = tanh(W_n x) with Gaussian weights that alternate
or are iid around I/2, and for constant f_n = (-1)^n c.

**Idea.** With E_n = x(n/N) - x_n, summation by parts helps: E_n - f_n(x(n/N))/(2 N) grows by the
factor 1 + L/N a layer and gains at most 5 L F/(6 N^2). At L = 0 the first bound F/N is attained by
constant layers of alternating sign. The field changes with N, so the theorem gives no limit of the
networks.
"""

from sympy import Function, Integral, Rational, Subs, Symbol, exp, sqrt

from theorax.language import *
from theorax.numerics import flows
from theorax.theorems.resnet_discretizes_ode import _interpolated as interpolated
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers

L = Measured("L", "Lipschitz constant of all layers", nonnegative=True)
seen = numbers(gap="the largest distance of x_n from x(n/N)", F="bound on the length of all layers", positive=True)

slack = Absolute(1, 10**9, "rounding stays below it")
smaller = (4 * exp(L) - 1) * seen.F / (3 * N)
H = hypotheses(
    functions="the field interpolates the functions of the layers, linearly in s",
    bounded="residual functions are bounded by F at every depth",
    lipschitz="residual functions are L-Lipschitz at every depth",
)
# F and L are those of the network at hand: only the order needs one F for every N.
bound = Inequality(
    seen.gap, at_most=(2 * exp(L) - 1) * seen.F / N, under=(H.functions, H.lipschitz), margin=slack,
    wrong={
        "second order": (2 * exp(L) - 1) * seen.F / N**2,
        "half of it": (2 * exp(L) - 1) * seen.F / (2 * N),
    },
)
sharper = Inequality(
    seen.gap, at_most=smaller, under=(H.functions, H.lipschitz), margin=slack,
    wrong={"half of it": smaller / 2, "nothing at L = 0": smaller - seen.F / N},
)
first_order = Rate(
    seen.gap, 1 / N, as_=N, spread=Rational(2, 5),
    approach=in_powers(0.5, 16, "a sum of N terms of order 1/N^2 and the ends; at most 0.3 at N = 16 on other seeds"),
    margin=Absolute(1, 4, "with interpolated weights the order is zero, and a square root is a half away"),
    wrong={"a square root": 1 / sqrt(N), "second order": N**-2},
)


def observe(net, N):
    flow, error = net.flow(N, 1)
    slope, length = net.constants(N)
    return dict(gap=flows.apart(flow, net.network(N)), gap_error=error, L=slope, F=length)


@lemma
def by_parts():
    """Every depth; one dimension for the sum by parts, any dimension for the two bounds."""
    here, next_, there, y = (Symbol(name) for name in ("f_n", "f_n1", "f_n_at_x_n", "E_n"))
    t, n = Symbol("t", positive=True), Symbol("n", integer=True, nonnegative=True)
    e = Function("e")
    defect = Symbol("delta")
    after = y + (here + next_) / (2 * N) + defect - there / N  # E_(n+1), f taken on the flow but for the network's
    added = after - next_ / (2 * N) - (y - here / (2 * N))
    yield Step("what a layer adds to E_n - f_n/(2N)", added, (here - there) / N + defect)
    # On the n-th interval the flow is at most F t/N from its start and F (1 - t)/N from its end.
    both = Rational(1, 3)
    yield Step("delta is at most L F/N^2 times", Integral((1 - t) * t + t * (1 - t), (t, 0, 1)), both)
    gain = L * seen.F / N * (1 / (2 * N)) + both * L * seen.F / N**2
    # With |E_n| <= |E_n - f_n/(2N)| + F/(2N); and (1 + L/N)^N <= e^L at the end.
    grows = e(n + 1) - (1 + L / N) * e(n) - gain
    solved = Rational(4, 3) * seen.F / N * (1 + L / N) ** n - Rational(5, 6) * seen.F / N
    yield Solved("summed over the layers", [grows, e(0) - seen.F / (2 * N)], e(n), solved)
    power = Symbol("power", positive=True)
    last = Subs(solved.subs((1 + L / N) ** n, power), power, exp(L)) + seen.F / (2 * N)
    yield Step("and back to E_n", last, smaller)
    yield Step("which the simpler bound exceeds", bound.at_most - smaller, 2 * (exp(L) - 1) * seen.F / (3 * N))


alternating = interpolated.INTERPOLATED(functions=1.0, scale=0.4)
theorem = Theorem(
    place="a limit to how the counterexamples may be read; derived here",
    label="derived",
    uses=("ode_solver", "distance_no_vanish_without_smoothness"),
    hypotheses=H,
    claims=dict(bound=bound, sharper=sharper, first_order=first_order),
    proofs=(by_parts,),
    experiments=dict(
        depths=Experiment(
            observe, (seen, L), {N: Efforts((16, 64, 256), (16, 64, 256), (16, 64, 256, 1024))},
            draws=Efforts(144, 144, 512), span=64, padded=True, subjects={
                "alternating": alternating,
                "iid": alternating(kind=interpolated.IID),
                "alternating constants": alternating(constant=1.0),
                "weights interpolated": alternating(scale=1.0, functions=0.0).breaking(
                    H.functions, fails=(bound, sharper, first_order),
                ),
                # Increments add up like a random walk: the ends of an interval are N^(-1/2) apart.
                "constants sqrt(N) times as large": alternating(kind=interpolated.IID, constant=1.0, power=0.5).breaking(
                    H.bounded, fails=first_order,
                ),
                "residuals sqrt(N) times as large": alternating(kind=interpolated.IID, power=0.5).breaking(
                    H.bounded, H.lipschitz, fails=first_order,
                ),
                "slopes of order N, where L is one": alternating(
                    kind=interpolated.IID, constant=1.0, steep=1.0, told=1.0,
                ).breaking(H.lipschitz, fails=(bound, sharper, first_order)),
            },
        ),
    ),
    issues=(
        "The field is another one at every depth: closeness to some flow says nothing about a limit as N grows.",
        "For functions affine in their weights the two interpolations are one, and rough weights do no harm.",
    ),
)
