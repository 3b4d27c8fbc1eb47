"""Activations run backwards by Euler's method from the last one are recovered up to O(1/N), smooth weights or not.

**Theorem.** Let x_(n+1) = x_n + f_n(x_n)/N for n < N, let all f_n be L-Lipschitz, F = max_n
|f_n(x_n)|, and recover x~_N = x_N, x~_n = x~_(n+1) - f_n(x~_(n+1))/N. Then, for every N, max_n
|x~_n - x_n| <= ((1 + L/N)^N - 1) F/N <= (e^L - 1) F/N. As N -> oo with L and F independent of N,
the error is O(1/N). It has the exact order 1/N for f_n(x) = tanh(W_n x), with random weights that
are smooth in depth or rough, and for f_n(x) = x/10. For one neuron with f_n(x) = a_n x, x~_0 = x_0
prod_n (1 - a_n^2/N^2) exactly.

**Idea.** One layer back from x_(n+1) + e gives x_n + (f_n(x_n) - f_n(x_(n+1) + e))/N + e. The slope
is taken at the wrong end, F/N away at most, which costs L F/N^2 a layer, and earlier errors grow by
1 + L/N. The sum of this recursion is the first bound. A linear neuron with the weight a is
multiplied by (1 + a/N)(1 - a/N), forth and back.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Function, Rational, Subs, Symbol, exp, oo

from theorax.language import *
from theorax.numerics import flows
from theorax.numerics.extents import literal
from theorax.theorems.resnet_discretizes_ode import _recovery as recovery
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers
from theorax.theorems.resnet_discretizes_ode._recovery import EULER
from theorax.theorems.resnet_discretizes_ode._residual import Euler, forth_and_back

seen = numbers(
    missed="the largest distance of a recovered activation from the true one",
    L="Lipschitz constant of all layers",
    F="the largest residual",
    positive=True,
)
single = arrays(
    recovered="the input recovered from the output, one neuron with linear layers",
    product="the input times the product of 1 - a_n^2/N^2",
)

slack = Absolute(1, 10**12, "rounding stays below it")
sharp = ((1 + seen.L / N) ** N - 1) * seen.F / N
H = hypotheses(
    lipschitz="residuals are f_n/N with f_n L-Lipschitz, the same L at every depth",
    linear="one neuron, linear layers",
)
bound = Inequality(
    seen.missed, at_most=(exp(seen.L) - 1) * seen.F / N, under=H.lipschitz, margin=slack,
    wrong={
        "half of it": (exp(seen.L) - 1) * seen.F / (2 * N),
        "second order": (exp(seen.L) - 1) * seen.F / N**2,
    },
)
sharper = Inequality(seen.missed, at_most=sharp, under=H.lipschitz, margin=slack, wrong={"half of it": sharp / 2})
first_order = Rate(
    seen.missed, 1 / N, as_=N, under=H.lipschitz, spread=Rational(2, 5),
    approach=in_powers(
        1.0, 16, "the logarithm of a sum that expands in L^2/N; for rough weights at most 0.4 at N = 16 on other seeds"
    ),
    margin=Absolute(1, 5, "a second-order scheme is one away, a square root a half"),
    wrong={"second order": N**-2, "a square root": N ** Rational(-1, 2)},
)
exact = Identity(
    single.recovered, single.product, under=H.linear,
    margin=Relative(1, 10**9, "rounding stays far below it, a factor left out does not at the depths measured"),
)


def bent(a, x):
    """With tanh."""
    return jnp.tanh(a * x)


def there_and_back(neuron, N):
    """Forwards and backwards through the layers of one neuron, and the product that it should make."""
    scheme, a, start = neuron
    x, factor = start, jnp.ones(())
    for n in range(N.padded):
        x = x + scheme.function(a[n], x) / N.padded
    for n in reversed(range(N.padded)):
        x = x - scheme.function(a[n], x) / N.padded
        factor = factor * (1 - a[n] ** 2 / N.padded**2)
    return dict(recovered=x, product=start * factor)


def observe(net, N):
    h = net.step(N)
    nodes, back = forth_and_back(net.scheme, net.weights, net.start, N, h)
    residuals = jax.vmap(net.scheme.function)(net.weights, nodes[:-1])
    return dict(
        missed=flows.apart(nodes, back), L=net.lipschitz * h * N.value, F=flows.largest(residuals) * h * N.value
    )


@settles(exact)
def on_symbols():
    """Generic input and weights of one neuron, depths 1 to 4."""
    for depth in range(1, 5):
        neuron = recovery.of_symbols(Euler(recovery.linear), depth)
        yield Instance(exact, f"N = {depth}", there_and_back, neuron, literal(depth))


@derives(sharper)
def recursion():
    """Generic L and F, every depth."""
    e, k = Function("e"), Symbol("k", integer=True, nonnegative=True)
    a = Symbol("a")
    kick = seen.L * seen.F / N**2  # the slope at the later point, F/N away
    summed = seen.F * ((1 + seen.L / N) ** k - 1) / N
    growth = e(k + 1) - (1 + seen.L / N) * e(k) - kick
    yield Solved("summed over the layers, from the last one", [growth, e(0)], e(k), summed)
    yield Step("over all of them", Subs(summed, k, N), sharp)
    yield Step("one neuron, linear layers: forth and back", (1 + a / N) * (1 - a / N), 1 - a**2 / N**2)
    mean = sympy.Limit(N * ((1 - a**2 / N**2) ** N - 1), N, oo)
    yield Step("so N (x~_0/x_0 - 1) tends to minus the mean of a^2", mean, -(a**2))


theorem = Theorem(
    place="backward reconstruction of activations; reconstructed, constants derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(bound=bound, sharper=sharper, first_order=first_order, exact=exact),
    proofs=(on_symbols, recursion),
    experiments=dict(
        depths=Experiment(
            observe, seen, {N: Efforts((16, 64, 256), (16, 64, 256), (16, 64, 256, 1024))},
            draws=Efforts(256, 256, 1000), span=64, seeds="paired", padded=True, subjects={
                "smooth": EULER,
                "rough": EULER(weights=recovery.ROUGH, scale=0.5),  # L^2 well below the smallest depth
                "nearly tight": EULER(weights=recovery.TIED, activation=recovery.LINEAR),
                "L is half of what it must be": EULER(
                    weights=recovery.TIED, activation=recovery.LINEAR, told=0.5,
                ).breaking(H.lipschitz, fails=(bound, sharper)),
                "slopes of order N": EULER(weights=recovery.ROUGH, power=1.0, scale=0.3).breaking(
                    H.lipschitz, fails=first_order,
                ),
            },
        ),
        neurons=Experiment(
            there_and_back, single, {N: Efforts((4, 16), (4, 16), (4, 16, 64))}, draws=Efforts(2, 3, 8), padded=True,
            subjects={
                "linear": Subject(recovery.neuron(Euler(recovery.linear))),
                "tanh": Subject(recovery.neuron(Euler(bent))).breaking(H.linear, fails=exact),
            },
        ),
    ),
    issues=("L F/N^2 is what a layer costs at most; errors of tanh networks are up to a third of that.",),
)
