"""Gradients computed on recovered activations are off by O(1/N^2) in each layer, by O(1/N) as a whole.

**Theorem.** Let x_(n+1) = x_n + f_n(x_n)/N, where f_n(x) = tanh(W_n x). Let all f_n be L-Lipschitz
and their Jacobians L_2-Lipschitz, with L and L_2 independent of N. The weights W_n turn smoothly
with depth or are a common matrix plus iid Gaussian ones; start and target y are Gaussian. Let g be
the gradient of |x_N - y|^2/2 by all weights. Let g~ be the same on recovered activations: x~_N =
x_N, x~_n = x~_(n+1) - f_n(x~_(n+1))/N. Then, as N -> oo, max_n ||g~_n - g_n||_F has the exact order
N^(-2), and ||g~ - g||/||g|| the exact order 1/N.

**Idea.** The gradient by W_n is 1/N times a product of the input of the layer and the cotangent.
Recovered inputs are off by O(1/N), and so are the Jacobians that carry the cotangent back. Summed
over N layers with a weight 1/N, these errors stay O(1/N), and the gradient of a layer is off by
O(1/N^2). For linear layers of one neuron with one weight a, the recovered gradient of layer n is
(1 - a^2/N^2)^(N - n) times the true one.
"""

import sympy
from sympy import Function, Rational, Symbol, exp, oo, sqrt, symbols

from theorax.language import *
from theorax.theorems.resnet_discretizes_ode import _recovery as recovery
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers
from theorax.theorems.resnet_discretizes_ode._recovery import EULER

seen = numbers(
    layer="error of the gradient by the weights of a layer, the worst one",
    whole="error of the gradient relative to the gradient",
    positive=True,
)

H = hypotheses(
    lipschitz="residuals are f_n/N with f_n L-Lipschitz, the same L at every depth",
    jacobians="the Jacobians of all f_n are Lipschitz, the constant the same at every depth",
)
each_layer = Rate(
    seen.layer, N**-2, as_=N, spread=Rational(1, 5),
    approach=in_powers(1.0, 16, "the logarithm of an expansion in 1/N; for rough weights a maximum of N terms, at most 0.8"),
    margin=Absolute(1, 2, "an error of order 1/N in each layer, or a second-order recovery, is one away"),
    wrong={"first order in each layer": 1 / N, "second-order recovery": N**-3},
)
relative = Rate(
    seen.whole, 1 / N, as_=N, spread=Rational(1, 5),
    approach=in_powers(
        1.5, 16, "log(1 + a/N + ...), a of order L^2 or more: 0.6 for rough weights at N = 16, falling more slowly than "
        "1/N until N passes a",
    ),
    margin=Absolute(1, 4, "a second-order recovery is one away, a square root a half"),
    wrong={"second order": N**-2, "a square root": 1 / sqrt(N)},
)


@lemma
def one_neuron():
    """Linear layers of one neuron, one weight a; the loss has the slope p at the output, every depth."""
    a, p, x = Symbol("a", positive=True), Symbol("p"), Symbol("x")
    n = Symbol("n", integer=True, nonnegative=True)
    stored = p * (1 + a / N) ** (N - 1 - n) * (1 + a / N) ** n * x / N
    recovered = stored * (1 - a**2 / N**2) ** (N - n)  # what comes back to layer n went through N - n layers and back
    first = sympy.Limit(N * (1 - (1 - a**2 / N**2) ** N), N, oo)
    yield Step("relative error at the first layer, times N", first, a**2)
    of_first = ((stored - recovered) * N**2).subs(n, 0) / (p * x)
    yield Step("its error, times N^2, tends to a constant", sympy.Limit(of_first, N, oo), a**2 * exp(a))


@lemma
def every_network():
    """Every depth, any layers: norms bounded by L and F of f_n, by L_2 of the slope of its Jacobian, by p of cotangents."""
    e, k = Function("e"), Symbol("k", integer=True, nonnegative=True)
    L, L_2, F, p, slope, bend = symbols("L L_2 F p G G_2", positive=True)
    activations = (exp(L) - 1) * F / N
    yield Cited("recovered activations are off by (e^L - 1) F/N at most", "discrete_adjoint_reconstruction_euler")
    # lambda_n = (1 + J_n^T/N) lambda_(n+1): J_n is off by L_2 times what activations are off.
    kick = L_2 * activations * p / N
    summed = L_2 * activations * p * ((1 + L / N) ** k - 1) / L
    growth = e(k + 1) - (1 + L / N) * e(k) - kick
    yield Solved("cotangents, from the last one", [growth, e(0)], e(k), summed)
    cotangents = sympy.Limit(N * summed.subs(k, N), N, oo)
    yield Step("N times the error of the first", cotangents, L_2 * F * p * (exp(L) - 1) ** 2 / L)
    # The gradient of a layer is 1/N times a cotangent and the slope of f_n by its weights, bounded by G, its own slope by G_2.
    layer = (slope * summed.subs(k, N) + bend * activations * p) / N
    largest = (exp(L) - 1) * F * p * (slope * L_2 * (exp(L) - 1) / L + bend)
    yield Step("N^2 times the error of a layer", sympy.Limit(N**2 * layer, N, oo), largest)


theorem = Theorem(
    place="gradients by the discrete adjoint; reconstructed",
    label="reconstructed",
    uses=("discrete_adjoint_reconstruction_euler",),
    hypotheses=H,
    claims=dict(each_layer=each_layer, relative=relative),
    proofs=(one_neuron, every_network),
    experiments=dict(
        depths=Experiment(
            recovery.errors, seen, {N: Efforts((32, 128, 512), (32, 128, 512), (32, 128, 512))},
            draws=Efforts(100, 200, 1000), span=64, seeds="paired", padded=True, subjects={
                "smooth": EULER,
                "rough": EULER(weights=recovery.ROUGH, scale=0.5),  # L^2 well below the smallest depth
                "slopes of order N": EULER(weights=recovery.ROUGH, power=1.0, scale=0.3).breaking(
                    H.lipschitz, fails=(each_layer, relative),
                ),
                "ripples of length 1/N": EULER(activation=recovery.RIPPLED).breaking(
                    H.jacobians, fails=(each_layer, relative),
                ),
            },
        ),
    ),
    issues=("Errors of a layer are compared in the Frobenius norm; nothing is claimed of the direction of the gradient.",),
)
