"""In wide networks with as many examples the posterior sits at the minimum of an explicit action.

**Theorem.** With C, K, S of predictor_is_kernel_mixture, U_1 = U and U_(L+1) = u_a, let F = N_a
(u_a - log u_a) + sum_l N_l [Tr(U_(l+1)^(-1) tr U_l) - log det U_l + H_l log det U_(l+1)] + log det
S + y^T S^(-1) y, tr the partial trace over heads. For L = 1, 2 Newton's steps, the last below
10^(-7), end at a minimum U* of F, where to 10^(-7) u_a is the positive root of N_a u^2 + (H_L N_L -
N_a) u = N_L Tr U_L, and N_1 (U_1^(-1) - I x U_2^(-1)) = E', E'_pq = (Tr S^(-1) C_pq - y^T S^(-1)
C_pq S^(-1) y)/Htot. Let L = 1, H = 2, and m be the mean of U for the density e^(-F/2)/(u_a det
U^(3/2)). For standard normal weights and N(0, T) label noise, E (U_00 - m_00) (q - 1)/(q + 1) = E
(U_01 - m_01) m_01 = 0, q = y^T S^(-1) y/P at U = I. Let C_pq = diag(x_pi x_qi), x_pi ~ N(0, 1), y_i
~ N(0, 4), N = N_a = P -> oo. Then m and the mean predictions differ from those at U* by the exact
order 1/N; U deviates from m by order N^(-1/2). With probability at least 4/5, ||m - I||_F > 1/2.

**Idea.** F is -2 log of the density of u_a, U given y, up to terms without a width, and of order N.
"""

import jax.numpy as jnp
from sympy import Abs, Derivative, Integral, Matrix, Rational, Subs, exp, gamma, log, oo, sqrt, symbols

from theorax.language import *
from theorax.theorems.attention_paths_statmech._finite_width import (
    build_networks,
    build_sweep,
    observe_networks,
    observe_sweep,
)
from theorax.theorems.attention_paths_statmech._paths import N, P, random_problem

T = Parameter("T", "temperature: the variance of the noise of the labels", positive=True)
at_minimum = numbers(
    u_a="u_a at the minimum",
    G="N_L Tr U_L/N_a",
    B="H_L N_L/N_a - 1",
    residual="||N_1 (U_1^(-1) - I x U_2^(-1)) - E'||_F",
    unlabelled="the same with the trace term of E' alone",
    untraced="the same with the label term of E' alone",
    move="the length of the last Newton step",
)
sampled = numbers(
    order="(U_00 - its posterior mean) (q - 1)/(q + 1), q = y^T S^(-1) y/P at U = I",
    shallow="the same, the mean of an action without the readout's layer",
    doubled="the same, the mean of an action with the entropy doubled",
    unlabelled="the same, the mean of an action without the label term",
    pair="(U_01 - its posterior mean) times that mean",
    alone="U_01 times its posterior mean",
)
sweep = numbers(
    bias="||E U - U*||_F, U* the minimum of the action, over the posterior",
    spread="the root of E ||U - E U||_F^2 over the posterior",
    missed="root mean square over new inputs of the mean prediction less that at U*",
    process="||E U - I||_F, the distance of the Gaussian process of infinite width",
    positive=True,
)

H = hypotheses(
    minimum="u_a, U_L, ..., U_1 minimise the action",
    prior="entries of V and a are independent and standard normal",
    noise="the noise of the labels is normal with the variance T of the formula",
    wide="the readout's width and the number of examples grow with N, as the other widths",
)
# The last Newton step is at most 1e-10, and rounding leaves 1e-11 of the sums.
TINY = Rational(1, 10**7)
converged = Inequality(at_minimum.move, at_most=TINY, under=(), on="minimum")
root = (-at_minimum.B + sqrt(at_minimum.B**2 + 4 * at_minimum.G)) / 2
readout = Inequality(
    Abs(at_minimum.u_a - root), at_most=TINY, under=H.minimum, on="minimum",
    wrong={
        "equal widths and one head": dict(of=Abs(at_minimum.u_a - sqrt(at_minimum.G))),
        "the other sign of B": dict(of=Abs(at_minimum.u_a - at_minimum.B - root)),
    },
)
self_consistent = Inequality(
    at_minimum.residual, at_most=TINY, under=H.minimum, on="minimum",
    wrong={"without the label term": dict(of=at_minimum.unlabelled), "without the trace term": dict(of=at_minimum.untraced)},
)


def posterior(of, spread, margin, wrong):
    """A deviation from the posterior mean against a function of the labels, which has the mean zero."""
    return Expectation(of, 0, under=(H.prior, H.noise), on="networks", spread=spread, margin=margin, wrong=wrong)


order_mean = posterior(
    sampled.order, Rational(3, 20), Absolute(1, 100, "with twice the entropy it is 0.02 off, without the readout 0.03"),
    {
        "no layer of the readout": dict(of=sampled.shallow), "entropy doubled": dict(of=sampled.doubled),
        "no label term": dict(of=sampled.unlabelled),
    },
)
pair_mean = posterior(
    sampled.pair, Rational(3, 40), Absolute(1, 100, "without pairs it is 0.02 off"),
    {"no pairs of two paths": dict(of=sampled.alone)},
)

in_widths = Corrections(
    size=0.3, slowest=0.5, fastest=1, reference=16,
    reason="the density is that of an exponent N times a function, which gives series in 1/N; data fluctuate like N^(-1/2)",
)


def decays(of, like, under, wrong):
    return Rate(
        of, like, as_=N, on="sweep", under=under, spread=Rational(1, 2), approach=in_widths, wrong=wrong,
        margin=Absolute(1, 4, "the order of a mean and that of fluctuations of a posterior, N^(-1/2), are a half apart"),
    )


order = decays(sweep.bias, 1 / N, tuple(H), {"a fluctuation": 1 / sqrt(N), "second order": N**-2})
predictor = decays(sweep.missed, 1 / N, tuple(H), {"a fluctuation": 1 / sqrt(N)})
concentrates = decays(sweep.spread, 1 / sqrt(N), H.wide, {"no concentration": 1, "the order of the mean": 1 / N})
apart = Probability(
    sweep.process > Rational(1, 2), at_least=Rational(4, 5), expected=Rational(99, 100), under=(), on="sweep",
    margin=Absolute(1, 10, "near the process in the limit the share would fall to zero"),
    wrong={"as near as the minimum": dict(event=sweep.process < sweep.bias)},
)


def observe_minimum(settled):
    order = settled.order
    u_a, matrices, move = order.saddle()
    matrices[-1] = settled.away * matrices[-1]
    top, above, U = matrices[0], [u_a * jnp.eye(1), *matrices][-2], matrices[-1]
    gained = jnp.linalg.inv(U) - jnp.kron(jnp.eye(len(U) // len(above)), jnp.linalg.inv(above))
    trace, label = order.slopes(U)
    parts = (label - trace, -trace, label)
    residual, unlabelled, untraced = (jnp.linalg.norm(order.widths[-1] * gained + part) for part in parts)
    return dict(
        u_a=u_a, G=order.widths[1] * jnp.trace(top) / order.widths[0], B=len(top) * order.widths[1] / order.widths[0] - 1,
        residual=residual, unlabelled=unlabelled, untraced=untraced, move=move,
    )


u, n, w, s, k = symbols("v n w s k", positive=True)
U = Matrix(2, 2, symbols("p q q r", real=True))


def of_readout(n, w):
    """The terms of u_a in the action; two heads, one layer."""
    return n * (u - log(u)) + w * (U.trace() / u - log(U.det()) + 2 * log(u))


@lemma
def root_of_u_a():
    """Two heads, every width: the slope in u_a is a quadratic over u_a^2, with one positive root."""
    quadratic = n * u**2 + (2 * w - n) * u - w * U.trace()
    yield Step("the slope", Derivative(of_readout(n, w), u), quadratic / u**2)
    B, G = 2 * w / n - 1, w * s / n
    found = (-B + sqrt(B**2 + 4 * G)) / 2
    yield Step("its root", Subs(n * u**2 + (2 * w - n) * u - w * s, u, found), 0)


@lemma
def slope_in_U():
    """One layer of two heads: the slope of the entropy in the entries of U is N_1 (I/u_a - U^(-1)), twice that for a pair."""
    entropy, inverse = of_readout(n, w), U.inv()
    yield Step("a path with itself", Derivative(entropy, U[0, 0]), w * (1 / u - inverse[0, 0]))
    yield Step("a pair", Derivative(entropy, U[0, 1]), -2 * w * inverse[0, 1])


@lemma
def slope_of_the_energy():
    """Two examples, S moved by k C: the slope of the energy in k is the trace term less the label term."""
    b, c, d, e, f, g, y_0, y_1 = symbols("b c d e f g y_0 y_1", real=True)
    S, C, y = Matrix([[b, c], [c, d]]), Matrix([[e, f], [f, g]]), Matrix([y_0, y_1])
    moved, solved = S + k * C, S.inv() * y
    energy = log(moved.det()) + (y.T * moved.inv() * y)[0]
    yield Step("at k = 0", Subs(Derivative(energy, k), k, 0), (S.inv() * C).trace() - (solved.T * C * solved)[0])


@lemma
def densities():
    """Two heads, every width: the mass of the chi-square density, and minus twice the logarithm of both densities."""
    trace, D = symbols("t D", positive=True)
    of_u_a = u ** (n / 2 - 1) * exp(-n * u / 2)
    yield Step("the mass", Integral(of_u_a * (n / 2) ** (n / 2) / gamma(n / 2), (u, 0, oo)), 1)
    of_U = D ** ((w - 3) / 2) * exp(-w * trace / (2 * u)) / u**w
    action = n * (u - log(u)) + w * (trace / u - log(D) + 2 * log(u))
    yield Step("the action, and terms without a width", -2 * log(of_u_a * of_U), action + 2 * log(u) + 3 * log(D))


one, two = (Subject(random_problem(depth, 2), away=1.0) for depth in (1, 2))
networks = Subject(build_networks, deviation=1.0, noise=1.0)
grown = Subject(build_sweep, away=1.0, few=0.0, prior=1.0, noise=1.0)
theorem = Theorem(
    place="the action of the order parameters (main result, as reconstructed)",
    label="reconstructed",
    uses=("predictor_is_kernel_mixture", "layer_sum_rule"),
    hypotheses=H,
    claims=dict(
        converged=converged, readout=readout, self_consistent=self_consistent, order_mean=order_mean, pair_mean=pair_mean,
        order=order, predictor=predictor, concentrates=concentrates, apart=apart,
    ),
    proofs=(root_of_u_a, slope_in_U, slope_of_the_energy, densities),
    experiments=dict(
        minimum=Experiment(observe_minimum, at_minimum, {P: 5}, at={N: 8, T: Rational(1, 4)}, draws=Efforts(500, 500, 1000),
                           subjects={
            "one layer": one,
            "two layers": two,
            "two layers, U_1 times 3/2": two(away=1.5).breaking(H.minimum, fails=self_consistent),
            "one layer, U_1 times 3/2": one(away=1.5).breaking(H.minimum, fails=(readout, self_consistent)),
        }),
        networks=Experiment(observe_networks, sampled, {N: 8}, at={P: 12, T: Rational(1, 4)}, draws=Efforts(5000, 5000, 12000),
                            subjects={
            "labels of the network": networks,
            "weights of variance 2": networks(deviation=2**0.5).breaking(H.prior, fails=order_mean),
            "noise of variance 8 T": networks(noise=8.0).breaking(H.noise, fails=order_mean),
        }),
        sweep=Experiment(observe_sweep, sweep, {N: (16, 64, 256)}, at={T: Rational(1, 4)}, draws=Efforts(60, 120, 240),
                         seeds="paired", subjects={
            "P = N = N_0": grown,
            "U* times 3/2": grown(away=1.5).breaking(H.minimum, fails=(order, predictor)),
            "a readout of variance 2": grown(prior=2.0).breaking(H.prior, fails=(order, predictor)),
            "noise of variance 2 T": grown(noise=2.0).breaking(H.noise, fails=(order, predictor)),
            "twelve examples, a readout of width 12": grown(few=12.0).breaking(
                H.wide, fails=(order, predictor, concentrates)
            ),
        }),
    ),
    issues=(
        "The posterior of a finite network is followed for one layer of two heads; of two layers the minimum alone is checked.",
        "The means over the posterior are those of a rule of quadrature, which drawn networks confirm at width eight.",
        "In the sweep the path kernels are diagonal: the theorem holds at every kernel, and other kernels cost more.",
        "With a readout of fixed width alone, or few examples alone, the posterior still concentrates: no control of these.",
        "The Gaussian process stays apart where labels are larger or smaller than it expects; here they are twice as large.",
        "The rule is for one output; several outputs couple through U, and have another action.",
    ),
)
