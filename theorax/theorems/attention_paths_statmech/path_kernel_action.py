"""In wide networks with as many examples the posterior sits at the minimum of an explicit action.

With P/N fixed the order parameter U and the predictor concentrate at the minimum of S = entropy + energy. The energy is
log det S_K + y^T S_K^(-1) y with S_K = K(U) + T I; the entropy is that of the chi-square law of u_a = |a|^2/N_a and the
Wishart laws of U_L, ..., U_1. There u_a is the root of a quadratic, and U_1^(-1) = I x U_2^(-1) + E'/N_1, with u_a in the
place of U_2 if one layer attends. A pair of paths gains where its label term in E' is larger than its trace term. The
Gaussian process of infinite width, U = I, stays a finite distance away.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Abs, Derivative, Integral, Matrix, Rational, Subs, exp, gamma, log, oo, sqrt, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import drawn_deep
from theorax.theorems.attention_paths_statmech._paths import N, Order, P, settled
from theorax.theorems.attention_paths_statmech._posterior import likelihood, posterior_means, predicted
from theorax.theorems.attention_paths_statmech._saddle import mixed

T = Parameter("T", "temperature: the variance of the noise of the labels", positive=True)
at_minimum = numbers(
    u_a="u_a at the minimum",
    G="N_L Tr U_L/N_a",
    B="H_L N_L/N_a - 1",
    residual="the largest entry of U_1^(-1) - I x U_2^(-1) - E'/N_1, over all entries' root mean square",
    unlabelled="the same with the trace term of E' alone",
    untraced="the same with the label term of E' alone",
    move="the length of the next Newton step",
)
weighed = numbers(
    order="(U_00 - its posterior mean) times the labels' density, U that of drawn networks",
    pair="(U_01 - its posterior mean) times the labels' density, and the sign of that mean",
    predictor="(the prediction given U - its posterior mean) times the labels' density, and the sign of that mean",
    shallow="the first, the mean of an action without the readout's layer",
    doubled="the first, the mean of an action with the entropy doubled",
    unlabelled="the first, the mean of an action without the label term",
    alone="the first, the mean of an action with pairs p = p' alone in K",
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
    wide="every width grows with N, the readout's too",
)
# Newton's steps end at 1e-12, and rounding leaves 1e-11 of the sums.
TINY = Rational(1, 10**7)
converged = Inequality(at_minimum.move, at_most=TINY, under=(), on="minimum")
root = (-at_minimum.B + sqrt(at_minimum.B**2 + 4 * at_minimum.G)) / 2
readout = Inequality(
    Abs(at_minimum.u_a - root), at_most=TINY, under=H.minimum, on="minimum",
    wrong={
        "equal widths and one head": dict(of=Abs(at_minimum.u_a - sqrt(at_minimum.G))),
        "the other sign of B": dict(of=Abs(at_minimum.u_a - at_minimum.B - root)),
    },
)  # fmt: skip
self_consistent = Inequality(
    at_minimum.residual, at_most=TINY, under=H.minimum, on="minimum",
    wrong={
        "without the label term": dict(of=at_minimum.unlabelled),
        "without the trace term": dict(of=at_minimum.untraced),
    },
)  # fmt: skip


def posterior(of, margin, wrong=None):
    """The posterior mean of the action's density, against networks drawn from the prior."""
    return Expectation(of, 0, under=H.prior, on="networks", spread=Rational(1, 2), margin=margin, wrong=wrong or {})


order_mean = posterior(
    weighed.order, Absolute(1, 12, "without the readout's layer it is 0.2 off, with twice the entropy 0.2"),
    {
        "no layer of the readout": dict(of=weighed.shallow),
        "entropy doubled": dict(of=weighed.doubled),
        "no label term": dict(of=weighed.unlabelled),
        "no pairs of two paths": dict(of=weighed.alone),
    },
)  # fmt: skip
pair_mean = posterior(weighed.pair, Absolute(1, 24, "a pair that does not couple to the labels is 0.1 off"))
predictor_mean = posterior(weighed.predictor, Absolute(1, 24, "the prediction of U = I is 0.1 off"))

in_widths = Corrections(
    size=0.3, slowest=0.5, fastest=1, reference=12,
    reason="the density is that of an exponent N times a function, which gives series in 1/N; data fluctuate like N^(-1/2)",
)  # fmt: skip


def decays(of, like, margin, under, **more):
    return Rate(
        of, like, as_=N, on="sweep", under=under, spread=Rational(1, 2), approach=in_widths, margin=margin, **more
    )


order = decays(
    sweep.bias, 1 / N, Absolute(1, 4, "fluctuations of a posterior are of the order N^(-1/2), a half away"), tuple(H),
    wrong={"a fluctuation": 1 / sqrt(N), "second order": N**-2},
)  # fmt: skip
predictor = decays(
    sweep.missed, 1 / N, Absolute(1, 4, "fluctuations of a posterior are of the order N^(-1/2), a half away"), tuple(H),
    wrong={"a fluctuation": 1 / sqrt(N)},
)  # fmt: skip
concentrates = decays(
    sweep.spread, 1 / sqrt(N), Absolute(1, 4, "a law that stays wide, or the order 1/N, is a half away"), H.wide,
    wrong={"no concentration": 1, "the order of the mean": 1 / N},
)  # fmt: skip
apart = decays(
    sweep.process, 1, Absolute(1, 4, "a Gaussian process in the limit would be a half away, or one"), (),
    wrong={"the process in the limit": 1 / N},
)  # fmt: skip


def terms(order: Order, U):
    """Trace and label terms of E', each paths x paths and symmetric."""
    S = mixed(U, order.paths) + order.noise * jnp.eye(len(order.labels))
    solved, y = jnp.linalg.inv(S), jnp.linalg.solve(S, order.labels)
    found = (jnp.einsum("pqij,ij->pq", order.paths, solved), jnp.einsum("pqij,i,j->pq", order.paths, y, y))
    return [(term + term.T) / (2 * len(U)) for term in found]


def observe_minimum(problem):
    order = problem.order
    u_a, matrices, move = order.saddle()
    matrices[-1] = problem.away * matrices[-1]
    above = (u_a * jnp.eye(1), *matrices)[-2]
    U = matrices[-1]
    gained = jnp.linalg.inv(U) - jnp.kron(jnp.eye(len(U) // len(above)), jnp.linalg.inv(above))
    trace, label = (term / order.widths[-1] for term in terms(order, U))
    size = lambda matrix: jnp.abs(matrix).max() / jnp.sqrt((trace**2).mean())  # noqa: E731
    top, widths = matrices[0], order.widths
    return dict(
        u_a=u_a, G=widths[1] * jnp.trace(top) / widths[0], B=len(top) * widths[1] / widths[0] - 1, move=move,
        residual=size(gained - trace + label), unlabelled=size(gained - trace), untraced=size(gained + label),
    )  # fmt: skip


class Weighed(eqx.Module):
    """Order parameters of networks that share their attention, and the posterior's problem at labels of another law."""

    drawn: Float[Array, "networks m m"]
    problem: Order
    across: Float[Array, "m m new P"]


def build_networks(key, P, N, T, deviation, noise):
    """Sixty-four networks with two heads at random inputs; labels are normal with the variance 1/10."""
    keys = jax.random.split(named(key, "networks"), 64)
    networks = jax.vmap(lambda k: drawn_deep(k, (N, N), 2, 3, deviation=deviation).order_parameter())(keys)
    inputs = jax.random.normal(named(key, "inputs"), (P + 1, 3, 3))
    attended = jax.vmap(drawn_deep(key, (N, N), 2, 3).attended, out_axes=1)(inputs)
    paths = jnp.einsum("pif,qjf->pqij", attended, attended) / 3
    labels = jax.random.normal(named(key, "labels"), (P,)) * LABELS
    order = Order(paths[:, :, :P, :P], labels, noise * T, 1.0 * N * jnp.ones(2), (2,))
    return Weighed(networks, order, paths[:, :, P:, :P])


LABELS = 2.0


def observe_networks(model, T):
    problem, across = model.problem, model.across
    true = eqx.tree_at(lambda order: order.noise, problem, T)
    measured = lambda U: jnp.array([U[0, 0], U[0, 1], predicted(U, true, across)[0]])  # noqa: E731
    means = posterior_means(measured, problem)
    # Any scale that knows nothing of the networks serves: this one makes the densities' mean one.
    scale = posterior_means(lambda U: 1 / likelihood(U, problem), problem)
    densities = scale * jax.vmap(lambda U: likelihood(U, true))(model.drawn)
    away = jax.vmap(measured)(model.drawn) - means
    order, pair, predictor = (densities[:, None] * away).mean(0) * jnp.sign(means).at[0].set(1)
    at = lambda where, value: posterior_means(lambda U: U[0, 0], eqx.tree_at(where, problem, value))  # noqa: E731
    wrong = dict(
        shallow=at(lambda order: order.widths, problem.widths.at[0].set(1e6)),
        doubled=at(lambda order: order.widths, 2 * problem.widths),
        unlabelled=at(lambda order: order.labels, 0 * problem.labels),
        alone=at(lambda order: order.paths, problem.paths * jnp.eye(2)[:, :, None, None]),
    )
    moved = {name: order + (means[0] - mean) * densities.mean() for name, mean in wrong.items()}
    return dict(order=order, pair=pair, predictor=predictor, **moved)


class Compared(eqx.Module):
    """The problem of the action, and that of the posterior; new inputs beside the examples."""

    action: Order
    posterior: Order
    across: Float[Array, "m m new P"]
    away: Float[Array, ""]


def build_sweep(key, N, T, away, readout, prior, noise):
    """As many examples and features as the width: P/N and N_0/N are fixed.

    ``readout`` > 0: a readout of this width; ``prior``: the variance of its entries in the posterior's problem.
    """
    drawn = jax.random.normal(named(key, "inputs and labels"), (2 * (N + 8) * N + N,))
    attended, labels = drawn[N:].reshape(2, N + 8, N), drawn[:N]
    paths = jnp.einsum("pif,qjf->pqij", attended, attended) / N
    widths = jnp.stack([jnp.where(readout > 0, readout, 1.0 * N), 1.0 * N])
    action = Order(paths[:, :, :N, :N], labels, T, widths, (2,))
    # With u_a = prior v the posterior of U/prior is that of standard weights, at prior times the kernels.
    scaled = Order(prior * action.paths, labels, noise * T, widths, (2,))
    return Compared(action, scaled, paths[:, :, N:, :N], away), prior


def observe_sweep(model):
    compared, prior = model
    _, (saddle,), _ = compared.action.saddle()
    saddle = compared.away * saddle
    measured = lambda U: jnp.concatenate([  # noqa: E731
        prior * U.reshape(-1), (prior * U.reshape(-1)) ** 2, predicted(U, compared.posterior, prior * compared.across),
    ])  # fmt: skip
    means = posterior_means(measured, compared.posterior)
    mean, squares, prediction = means[:4].reshape(2, 2), means[4:8], means[8:]
    missed = prediction - predicted(saddle, compared.action, compared.across)
    norm = lambda matrix: jnp.sqrt((matrix**2).sum())  # noqa: E731
    return dict(
        bias=norm(mean - saddle), spread=jnp.sqrt(squares.sum() - (mean**2).sum()),
        missed=jnp.sqrt((missed**2).mean()), process=norm(mean - jnp.eye(2)),
    )  # fmt: skip


u, n, w, y, c, s = symbols("v n w y c s", positive=True)
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
    """Two heads: dS/dU = N_1 (I/u_a - U^(-1)) + E', entry by entry; one example of label y with kernels c, d, e."""
    entropy, inverse = of_readout(n, w), U.inv()
    d, e = symbols("d e", real=True)
    S_K = T + (U[0, 0] * c + 2 * U[0, 1] * d + U[1, 1] * e) / 2
    energy = log(S_K) + y**2 / S_K
    for entry, times, kernel in ((U[0, 0], 1, c), (U[0, 1], 2, d), (U[1, 1], 1, e)):
        place = (0, 0) if entry == U[0, 0] else (1, 1) if entry == U[1, 1] else (0, 1)
        slope = w * ((1 if place[0] == place[1] else 0) / u - inverse[place])
        yield Step(f"the entropy in U_{place[0]}{place[1]}", Derivative(entropy, entry), times * slope)
        gained = kernel / S_K / 2 - kernel * y**2 / S_K**2 / 2
        yield Step(f"the energy in U_{place[0]}{place[1]}", Derivative(energy, entry), times * gained)


@lemma
def densities():
    """Two heads, every width: the mass of the chi-square density, and minus twice the logarithm of both densities."""
    trace, D = symbols("t D", positive=True)
    of_u_a = u ** (n / 2 - 1) * exp(-n * u / 2)
    yield Step("the mass", Integral(of_u_a * (n / 2) ** (n / 2) / gamma(n / 2), (u, 0, oo)), 1)
    of_U = D ** ((w - 3) / 2) * exp(-w * trace / (2 * u)) / u**w
    action = n * (u - log(u)) + w * (trace / u - log(D) + 2 * log(u))
    yield Step("the action, and terms without a width", -2 * log(of_u_a * of_U), action + 2 * log(u) + 3 * log(D))


one, two = (Subject(settled(depth, 2), away=1.0) for depth in (1, 2))
networks = Subject(build_networks, deviation=1.0, noise=1.0)
grown = Subject(build_sweep, away=1.0, readout=0.0, prior=1.0, noise=1.0)
theorem = Theorem(
    place="the action of the order parameters (main result, as reconstructed)",
    label="reconstructed",
    uses=("predictor_is_kernel_mixture",),
    hypotheses=H,
    claims=dict(
        converged=converged, readout=readout, self_consistent=self_consistent, order_mean=order_mean, pair_mean=pair_mean,
        predictor_mean=predictor_mean, order=order, predictor=predictor, concentrates=concentrates, apart=apart,
    ),
    proofs=(root_of_u_a, slope_in_U, densities),
    experiments=dict(
        minimum=Experiment(observe_minimum, at_minimum, {P: 5}, at={N: 8, T: Rational(1, 4)}, draws=320, subjects={
            "one layer": one,
            "two layers": two,
            "two layers, U_1 times 3/2": two(away=1.5).breaking(H.minimum, fails=self_consistent),
            "one layer, U_1 times 3/2": one(away=1.5).breaking(H.minimum, fails=(readout, self_consistent)),
        }),
        networks=Experiment(observe_networks, weighed, {N: 8}, at={P: 6, T: Rational(1, 4)}, draws=Efforts(400, 400, 1200),
                            subjects={
            "64 networks for each problem": networks,
            "weights of variance 5/4": networks(deviation=1.25**0.5).breaking(H.prior, fails=order_mean),
        }),
        sweep=Experiment(observe_sweep, sweep, {N: (12, 24, 48)}, at={T: Rational(1, 4)}, draws=Efforts(60, 120, 240),
                         seeds="paired", subjects={
            "P = N = N_0": grown,
            "U* times 3/2": grown(away=1.5).breaking(H.minimum, fails=(order, predictor)),
            "a readout of variance 2": grown(prior=2.0).breaking(H.prior, fails=(order, predictor)),
            "noise of variance 2 T": grown(noise=2.0).breaking(H.noise, fails=(order, predictor)),
            "a readout of width 12": grown(readout=12.0).breaking(H.wide, fails=(order, predictor, concentrates)),
        }),
    ),
    issues=(
        "The posterior of a finite network is followed for one layer of two heads; of two layers the minimum alone is checked.",
        "The means over the posterior are those of a rule of quadrature, which drawn networks confirm at width eight.",
        "The rule is for one output; several outputs couple through U, and have another action.",
    ),
)  # fmt: skip
