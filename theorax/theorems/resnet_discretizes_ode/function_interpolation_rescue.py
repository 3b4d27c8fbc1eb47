"""Interpolating the functions of the layers, every bounded Lipschitz network is O(1/N) close to a flow.

No smoothness in depth is needed. The field is linear in s between f_n and f_(n+1); with E_n = x(n/N) - x_n, the
sequence E_n - f_n(x(n/N))/(2N) grows by 1 + L/N a layer and gains at most 5 L F/(6 N^2): a sum by parts. So a limit
that fails for want of smoothness fails for one field at all depths, or for weights interpolated inside a
nonlinearity. At L = 0 the bound is attained by constant layers of alternating sign.
"""

from sympy import Function, Rational, Symbol, cancel, exp, integrate, rsolve, simplify, sqrt

from theorax.language import (
    Absolute,
    Efforts,
    Experiment,
    Hypothesis,
    Inequality,
    Measured,
    Rate,
    Step,
    Theorem,
)
from theorax.numerics import flows
from theorax.theorems.resnet_discretizes_ode import _interpolated as interpolated
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers

gap = Measured("gap", "the largest distance of x_n from x(n/N)", positive=True)
L = Measured("L", "Lipschitz constant of all layers", nonnegative=True)
F = Measured("F", "bound on the length of all layers", positive=True)

slack = Absolute(1, 10**9, "rounding stays below it")
smaller = (4 * exp(L) - 1) * F / (3 * N)
bound = Inequality(
    gap,
    at_most=(2 * exp(L) - 1) * F / N,
    margin=slack,
    wrong={
        "second order": (2 * exp(L) - 1) * F / N**2,
        "half of it": (2 * exp(L) - 1) * F / (2 * N),
    },
)
sharper = Inequality(
    gap,
    at_most=smaller,
    margin=slack,
    wrong={"half of it": smaller / 2, "nothing at L = 0": smaller - F / N},
)
first_order = Rate(
    gap,
    1 / N,
    as_=N,
    approach=in_powers(0.5, 16, "a sum of N terms of order 1/N^2 and the ends; at most 0.3 at N = 16 on other seeds"),
    margin=Absolute(1, 4, "with interpolated weights the order is zero, and a square root is a half away"),
    spread=Rational(2, 5),
    wrong={"a square root": 1 / sqrt(N), "second order": N**-2},
)


def observe(net, N):
    flow, error = net.flow(N, 1)
    slope, length = net.constants(N)
    return dict(gap=flows.apart(flow, net.network(N)), gap_error=error, L=slope, F=length)


def by_parts():
    """Every depth; one dimension for the sum by parts, any dimension for the two bounds."""
    here, next_, there, y = (Symbol(name) for name in ("f_n", "f_n1", "f_n_at_x_n", "E_n"))
    t, n = Symbol("t", positive=True), Symbol("n", integer=True, nonnegative=True)
    e = Function("e")
    defect = Symbol("delta")
    after = y + (here + next_) / (2 * N) + defect - there / N  # E_(n+1), f taken on the flow but for the network's
    yield Step(
        "what a layer adds to E_n - f_n/(2N)",
        cancel(after - next_ / (2 * N) - (y - here / (2 * N))),
        (here - there) / N + defect,
    )
    # On the n-th interval the flow is at most F t/N from its start and F (1 - t)/N from its end.
    both = integrate((1 - t) * t, (t, 0, 1)) + integrate(t * (1 - t), (t, 0, 1))
    yield Step("delta is at most L F/N^2 times", both, Rational(1, 3))
    gain = L * F / N * (1 / (2 * N)) + both * L * F / N**2
    yield Step("with |E_n| <= |E_n - f_n/(2N)| + F/(2N)", gain, Rational(5, 6) * L * F / N**2)
    solved = rsolve(e(n + 1) - (1 + L / N) * e(n) - gain, e(n), {e(0): F / (2 * N)}).subs(n, N)
    power = simplify(solved - (Rational(4, 3) * F / N * (1 + L / N) ** N - Rational(5, 6) * F / N))
    yield Step("summed over the layers", power, 0)
    last = Rational(4, 3) * F / N * exp(L) - Rational(5, 6) * F / N + F / (2 * N)  # (1 + L/N)^N <= e^L
    yield Step("and back to E_n", last, smaller)
    yield Step("which the simpler bound exceeds", simplify(bound.at_most - smaller), 2 * (exp(L) - 1) * F / (3 * N))


alternating = interpolated.INTERPOLATED.but(functions=1.0, scale=0.4)
theorem = Theorem(
    place="a limit to how the counterexamples may be read; derived here",
    label="derived",
    uses=("ode_solver", "distance_no_vanish_without_smoothness"),
    hypotheses=dict(
        functions=Hypothesis("the field interpolates the functions of the layers, linearly in s"),
        bounded=Hypothesis("residual functions are bounded by F at every depth"),
        lipschitz=Hypothesis("residual functions are L-Lipschitz at every depth"),
    ),
    claims=dict(bound=bound, sharper=sharper, first_order=first_order),
    experiments=dict(
        depths=Experiment(
            padded=True,
            subjects={
                "alternating": alternating,
                "iid": alternating.but(kind=interpolated.IID),
                "alternating constants": alternating.but(constant=1.0),
                "weights interpolated": alternating.but(
                    scale=1.0, functions=0.0, breaks=("functions",), fails=("first_order",)
                ),
                "residuals sqrt(N) times as large": alternating.but(
                    kind=interpolated.IID, power=0.5, breaks=("bounded", "lipschitz"), fails=("first_order",)
                ),
                "slopes of order N": alternating.but(
                    kind=interpolated.IID, constant=1.0, steep=1.0, breaks=("lipschitz",), fails=("first_order",)
                ),
            },
            observe=observe,
            measures=(gap, L, F),
            sweep={N: Efforts(quick=(16, 64, 256), standard=(16, 64, 256), thorough=(16, 64, 256, 1024))},
            span=64,
            draws=Efforts(quick=144, standard=144, thorough=512),
        ),
    ),
    proof=dict(by_parts=by_parts),
    issues=(
        "The field is another one at every depth: closeness to some flow says nothing about a limit as N grows.",
        "For functions affine in their weights the two interpolations are one, and rough weights do no harm.",
    ),
)
