"""The gradient of a residual network at its start is that of a kernel, which a width linear in n makes positive.

**Theorem.** Let layers be h + V_k sigma(W_k h/sqrt(q))/(L sqrt(m)), V_k = 0, all W_k = W, A^T A
= I, B B^T = I, R = F - Y, S = sigma(W A X/sqrt(q)) and G = ||dl/dA||^2 + L sum_k ||dl/dZ_k||^2 +
||dl/dB||^2. Then G = (4/n^2) tr(R (2 X^T X + S^T S/m) R^T) for every L. So G >= mu_0 l, mu_0
= (4/n) lambda_min(2 X^T X + S^T S/m), and G <= 1.001 mu_0 l for residuals in the lowest
eigenvector. If also m + d < n, then G = 0 for these, up to 10^(-9) l, whatever the step. For m = 4
n, sigma = tanh, Gaussian W and independent inputs on the sphere of radius sqrt(q) in dimension d
= 2 sqrt(n), lambda_min/n has the exact order 1/n. For 0.01 <= u <= 1, log(1 - u/2) >= -u; the
printed bound without the half is wrong: log(1 - u) < -u.

**Idea.** At V = 0 all h_k equal A x, dl/dW_k = 0 and p_k = 2 B^T R/n. The rank of 2 X^T X + S^T S/m
is at most d + m. In the proof ||p_k|| >= (1 - c/L) ||p_(k+1)|| does not give e^(-c), but half of c
does, as ||V_k|| <= 1/2. The order 1/n is measured.
"""

import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Integer, Rational, Subs, log, sqrt

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.implicit_regularization_ode._start_kernel import DEPTH, aimed, features, kernels, paper, squares
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    L,
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
)

n = Size("n", "number of samples")
m = Size("m", "width of a layer")
d = Size("d", "dimension of an input")
u = Parameter("u", "2 sqrt(2) K/L, K the Lipschitz constant of sigma", positive=True)
seen = arrays(
    squares="||dl/dA||^2 + L sum_k ||dl/dZ_k||^2 + ||dl/dB||^2, by automatic differentiation",
    trace="tr(R (2 X^T X + S^T S/m) R^T)/n^2",
    ends="tr(R 2 X^T X R^T)/n^2, as if A and B alone were trained",
    undivided="tr(R (2 X^T X + S^T S) R^T)/n^2",
)
start = numbers(
    ratio="(||dl/dA||^2 + L sum_k ||dl/dZ_k||^2 + ||dl/dB||^2)/l",
    least="lambda_min(2 X^T X + S^T S/m)/n",
)
smallest = Measured("smallest", "lambda_min(2 X^T X + S^T S/m)/n, or 10^(-30) where it is rounding", positive=True)

H = hypotheses(
    zero="V_k = 0",
    tied="all W_k are one matrix",
    embedded="A^T A = I and B B^T = I",
    step="layers are h + f(h, Z)/L",
    lowest="residuals lie in the lowest eigenvector of 2 X^T X + S^T S/m",
    narrow="m + d < n",
    linear="the width is 4 n",
    independent="inputs are independent, on the sphere of radius sqrt(q)",
    dimension="inputs span a space whose dimension grows like sqrt(n)",
)
started = (H.zero, H.tied, H.embedded, H.step)
exact = Identity(
    seen.squares, 4 * seen.trace, under=started,
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a wrong term is of order one"),
    wrong={
        "2/n for 4/n": 2 * seen.trace, "without the layers": 4 * seen.ends, "S^T S for S^T S/m": 4 * seen.undivided,
        "divided by L": 4 * seen.trace / L,
    },
)
slack = Absolute(1, 10**9, "rounding stays below it")
lower = Inequality(
    start.ratio, at_least=4 * start.least, under=started, margin=slack,
    wrong={"8/n": 8 * start.least},
)
attained = Inequality(
    start.ratio, at_most=Rational(1001, 1000) * 4 * start.least, under=(*started, H.lowest), margin=slack,
    wrong={"2/n": 2 * start.least},
)
stuck = Inequality(
    start.ratio, at_most=Rational(1, 10**9), under=(H.zero, H.tied, H.embedded, H.lowest, H.narrow),
    wrong={"a positive constant": dict(at_most=None, at_least=Rational(1, 1000))},
)
width = Rate(
    smallest, 1 / n, as_=n, under=(H.linear, H.independent, H.dimension), spread=Rational(1, 2),
    approach=Corrections(size=0.3, slowest=Rational(1, 2), rest=0, reference=16, reason=(
        "below 0.1 at n = 16 on other seeds: lambda_min of a random matrix of width 4 n tends to a constant"
    )),
    margin=Absolute(1, 2, "with m = n it decays like n^(-2), in a fixed dimension faster than any power"),
    wrong={"n^(-2), which m = n gives": n**-2, "a constant": Integer(1)},
    implied={"the order of the proposition, q = 2 sqrt(n)": dict(like=n**-2, side="at least")},
)
slopes = Inequality(
    log(1 - u / 2), at_least=-u, under=(), over={u: (Rational(1, 100), 1)},
    wrong={"as printed, without the half": dict(of=log(1 - u), over={u: (Rational(1, 100), Rational(9, 10))})},
)


def compare(model, L):
    """Numbers at the start: the square of the gradient, and forms of the n x n kernels in the residuals."""
    weights, count = jax.tree.map(jnp.asarray, model.start), len(model.X)
    ends, layers = kernels(model, weights)
    R = model.output(weights, L) - model.Y
    form = lambda K: (R * (K @ R)).sum() / count**2
    m = weights.V.shape[-1]
    return dict(
        squares=squares(model, weights, L),
        trace=form(ends + layers),
        ends=form(ends),
        undivided=form(ends + m * layers),
    )


def observe(model, n):
    """Two numbers with their errors: the square of the gradient over the loss, and the form of the kernel in v (n)."""
    training, v = model.training, model.direction
    weights, depth = training.start, literal(DEPTH)
    ends, layers = kernels(training, weights)
    least = (v * ((ends + layers) @ v)).sum() / (v * v).sum() / n
    ratio = squares(training, weights, depth) / training.loss(weights, depth)
    # Numbers below ten: sums of some hundred terms for the form, through three layers and back for the gradients.
    return dict(ratio=ratio, ratio_error=1e-10 * jnp.ones(()), least=least, least_error=1e-11 * jnp.ones(()))


def condition(pair, n):
    """The least eigenvalue of the n x n kernel of X (d x n) and S (m x n), over n."""
    X, S = pair
    found = jnp.linalg.eigvalsh(2 * X.T @ X + S.T @ S)[0] / n
    # Traces are at most 3 q n, and of an eigenvalue that is zero rounding leaves less than 10^(-10).
    return dict(smallest=jnp.where(found > 1e-10, found, 1e-30))


@settles(exact)
def one_neuron():
    """Any W, inputs and targets: one input, one output and one neuron, two samples."""
    one, none = Integer(1), Integer(0)
    array = lambda *rows: np.array(rows, dtype=object)
    w = generic_entries("w", 1, 2)
    weights = ResidualWeights(
        array([one], [none]), array(*[[[none], [none]]] * 2), np.stack([w, w]), array([none, one])
    )
    model = ResidualTraining(weights, generic_entries("x", 2, 1), generic_entries("y", 2, 1), 0.0, 0.0, 1.0)
    yield Instance(exact, "L = 2", compare, model, literal(2))


@lemma
def half_the_slope():
    """Every depth with u <= 1."""
    gap = log(1 - u / 2) + u
    yield Step("log(1 - u/2) + u vanishes at zero ...", Subs(gap, u, 0), 0)
    yield Step("... and grows up to one", Derivative(gap, u), (1 - u) / (2 - u))


small = Subject(paper, kind=StartingWeights.TIED, root=0, embedding=1.0)
wide = Subject(aimed, kind=StartingWeights.TIED, root=0, embedding=1.0, rows=24, lowest=1, others=1.0, pull=0.0)
narrow = wide(rows=3)
broken = (attained, stuck)
growing = Subject(features, rows=4, twins=0, planar=0)
theorem = Theorem(
    place="Proposition 5, its proof; the kernel at the start is derived here",
    label="derived",
    hypotheses=H,
    claims=dict(
        exact=exact, lower=lower, attained=attained, stuck=stuck, width=width, slopes=slopes,
    ),
    proofs=(one_neuron, half_the_slope),
    experiments=dict(
        gradients=Experiment(compare, seen, {L: (2, 3)}, draws=Efforts(2, 3, 8), padded=True, subjects={
            "the paper's start": small,
            "V at random": small(kind=StartingWeights.SMOOTH).breaking(H.zero, fails=exact),
            "W at random in every layer": small(kind=StartingWeights.INDEPENDENT).breaking(H.tied, fails=exact),
            "A doubled": small(embedding=2.0).breaking(H.embedded, fails=exact),
            "residuals divided by sqrt(L)": small(root=1).breaking(H.step, fails=exact),
        }),
        targets=Experiment(
            observe, start, {n: 12}, draws=Efforts(500, 500, 800), sizes_because="m = 24 or 3, d = 8", subjects={
                "m + d < n": narrow,
                "m = 2 n": wide.breaking(H.narrow, fails=stuck),
                "targets at random": narrow(lowest=0).breaking(H.lowest, fails=broken),
                "V at random": narrow(kind=StartingWeights.SMOOTH).breaking(H.zero, fails=broken),
                "W at random in every layer": narrow(kind=StartingWeights.INDEPENDENT).breaking(H.tied, fails=broken),
                "A halved": wide(embedding=0.5).breaking(H.embedded, H.narrow, fails=lower),
                "A doubled": narrow(embedding=2.0).breaking(H.embedded, fails=broken),
                # V that draws the states to zero: later layers see smaller inputs, and tell them apart less.
                "V = -2 W^T/5": wide(pull=0.4).breaking(H.zero, H.narrow, fails=lower),
                "W = 0 but in the first layer": wide(others=0.0).breaking(H.tied, H.narrow, fails=lower),
                "residuals divided by L^4": wide(root=-1).breaking(H.step, H.narrow, fails=lower),
                "residuals divided by sqrt(L)": wide(root=1).breaking(H.step, H.narrow, fails=attained),
            },
        ),
        widths=Experiment(
            condition, smallest, {n: Efforts((16, 64, 144), (16, 64, 144), (16, 64, 144, 256))},
            derived={m: 4 * n, d: 2 * sqrt(n)}, draws=Efforts(60, 60, 400),
            sizes_because="the dimension 2 sqrt(n) is a whole number", subjects={
                "m = 4 n": growing,
                "m = n": growing(rows=1).breaking(H.linear, fails=width),
                "a sample twice": growing(twins=1).breaking(H.independent, fails=width),
                "inputs on a circle": growing(planar=1).breaking(H.dimension, fails=width),
            },
        ),
    ),
    issues=(
        "The constants of the proposition are out of reach: for tanh it asks for a width of 10^7 n. Neither its radius nor its "
        "constant away from the start is tested.",
        "The proof ends in mu = c/(n sqrt(n q)); the statement prints q in the place of sqrt(q), which is weaker.",
        "mu_0 = 0 speaks of the worst targets. With targets at random networks of m < n - d learn too.",
    ),
)
