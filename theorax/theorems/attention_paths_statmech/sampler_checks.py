"""Three samplers of the posterior: blocks drawn exactly and accepted Hamiltonian paths keep it, Langevin steps do not.

**Theorem.** Let the output of one layer of two heads be linear, f = A theta, in each block theta =
a, V, V_0 of its standard normal weights, and let y be f plus N(0, T) noise at P inputs. A block
draw replaces theta by theta_0 + A^T (A A^T + T I)^(-1) (y - A theta_0 - e), theta_0 from the prior
and e ~ N(0, T I). A Hamiltonian path is five leapfrog steps, accepted with probability min(1,
e^(-energy gained)). After three sweeps of block draws or three such paths, E U_pp = 1 for each head
p, and E (|theta|^2 - dim theta - f.(y - f)/T)/(1 + |y|^2/P) = 0 for each block. Let unadjusted
Langevin steps of size eps start at such weights, and let r(eps) = |w|^2/(|w|^2 + dim w), w all
weights at time one. Then n (r(1/n) - 3 r(1/(2n)) + 2 r(1/(4n))) -> 0 in the mean as n -> oo.

**Idea.** Weights of the prior with their y are an exact draw of the posterior given y, and both
samplers keep their joint law. At curvature h Langevin steps keep the variance 1/(h (1 - eps h/2)).
The bias of order eps cancels in 2 r(eps/2) - r(eps).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Rational, Subs, symbols, transpose

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths, drawn_deep
from theorax.theorems.attention_paths_statmech._paths import N, P
from theorax.theorems.attention_paths_statmech._samplers import (
    BLOCKS,
    LabelledInputs,
    block_draws,
    brownian,
    hamiltonian,
    langevin,
    normal_weights,
    squares,
)

T = Parameter("T", "temperature: the variance of the noise of the labels", positive=True)
n = Size("n", "Langevin steps in one unit of time, 1/eps")
kept = numbers(
    order="U_pp, mean over the two paths, after the sampler",
    a="|a|^2 - dim a",
    V="|V|^2 - dim V",
    V_0="|V_0|^2 - dim V_0",
    pull="f.(y - f)/T",
    g="1/(1 + |y|^2/P), a function of the labels",
)
steps = numbers(
    drift="r at steps 1/n less r at steps 1/(2 n), r = |theta|^2/(|theta|^2 + dim), at time one of one Brownian path",
    rest="r(1/n) - 3 r(1/(2 n)) + 2 r(1/(4 n)), what extrapolation leaves between neighbours",
)

H = hypotheses(
    drawn="labels are outputs and noise of variance T, of independent standard normal weights",
    linear="f is linear in each block of weights",
    adjusted="a block is drawn with its law given the others, or a path accepted as its energy allows",
)


def rule(letter):
    """The sum rule of one block, after the sampler."""
    return Expectation(
        (letter - kept.pull) * kept.g, 0, under=tuple(H), on="samplers", spread=6,
        margin=Absolute(1, 8, "without the term of the data the mean is -0.2"),
        wrong={"the data's term forgotten": dict(of=letter * kept.g), "its sign": dict(of=(letter + kept.pull) * kept.g)},
    )


order = Expectation(
    kept.order, 1, under=(H.drawn, H.adjusted), on="samplers", spread=1,
    margin=Relative(1, 12, "weights of variance 3/2 leave a half and more"),
)
of_a, of_V, of_V_0 = rule(kept.a), rule(kept.V), rule(kept.V_0)

# Of a bias c eps^a three lengths leave c (1 - 2^(-a)) (1 - 2^(1 - a)) eps^a: nothing, if a is one.
extrapolated = Limit(
    n * steps.rest, 0, as_=n, on="lengths", under=(), spread=Rational(1, 16),
    approach=Corrections(size=0.01, slowest=1, fastest=1, reference=32, reason="the series goes on with the square"),
    margin=Absolute(1, 80, "the order 1/2 leaves -0.017, the neighbours' difference alone 0.04"),
    wrong={"no extrapolation": dict(of=n * steps.drift), "its sign": dict(of=n * (steps.rest - 2 * steps.drift))},
)


class Sampled(eqx.Module):
    """Weights after the sampler, and the problem."""

    network: DeepPaths
    problem: LabelledInputs


def problem(key, P, N, T, start=1.0, relu_share=None):
    """Weights of variance ``start`` in V_0, V and a; labels with noise of variance T."""
    first = drawn_deep(key, (N, N), 2, 3, relu_share=relu_share)
    network = normal_weights(named(key, "weights"), first, start**0.5)
    inputs = jax.random.normal(named(key, "inputs"), (P, 3, 3))
    disturbed = jnp.sqrt(1.0 * T) * jax.random.normal(named(key, "noise"), (P,))
    posed = LabelledInputs(inputs, jnp.zeros(P), jnp.asarray(1.0 * T))
    return Sampled(network, eqx.tree_at(lambda posed: posed.labels, posed, posed.outputs(network) + disturbed))


def blockwise(key, P, N, T, start, disturbed, relu_share):
    """Three sweeps of block draws; ``disturbed`` scales the noise that the sampler adds, ``relu_share`` as in `DeepPaths`."""
    first = problem(key, P, N, T, start, relu_share)

    def sweep(net, k):
        return block_draws(k, net, first.problem, disturbed), None

    return Sampled(jax.lax.scan(sweep, first.network, jax.random.split(named(key, "sweeps"), 3))[0], first.problem)


def hamiltonian_paths(key, P, N, T, step):
    """Three paths of five leapfrog steps."""
    first = problem(key, P, N, T)

    def path(net, k):
        return hamiltonian(k, net, first.problem, step, 5), None

    return Sampled(jax.lax.scan(path, first.network, jax.random.split(named(key, "paths"), 3))[0], first.problem)


def langevin_steps(key, P, N, T, step):
    """Thirty-two unadjusted steps; a path that runs away, as some do at every length, is left where it began."""
    first = problem(key, P, N, T)
    net = first.network
    end = langevin(net, brownian(key, net, 32), first.problem, step)
    near = squares(end) < 2 * (1 + squares(net))  # not so where it is no number
    return Sampled(jax.tree.map(lambda new, old: jnp.where(near, new, old), end, net), first.problem)


def observe(model, P):
    """Numbers after the sampler: squares of each block less its size, U_pp, and the pull of the P labels."""
    net, posed = model.network, model.problem
    f, y = posed.outputs(net), posed.labels
    excess = {name: (of(net) ** 2).sum() - of(net).size for name, of in BLOCKS.items()}
    return dict(
        excess,
        order=jnp.diagonal(net.order_parameter()).mean(),
        pull=f @ (y - f) / posed.T,
        g=1 / (1 + (y**2).sum() / P),
    )


class Lengths(eqx.Module):
    """One start and one Brownian path, followed at steps 1/n, 1/(2 n) and 1/(4 n) up to time one."""

    ends: tuple[DeepPaths, ...]


def build_lengths(key, P, N, T, n):
    first = problem(key, P.padded, N.padded, T)

    def coarser(noises, by):
        grouped = lambda noise: noise.reshape(-1, by, *noise.shape[1:]).sum(1) / jnp.sqrt(1.0 * by)
        return jax.tree.map(grouped, noises)

    def along(number, ends):
        noises = brownian(named(key, "coarse step", number), first.network, 4)
        return tuple(
            langevin(end, coarser(noises, by), first.problem, by / (4.0 * n.value))
            for end, by in zip(ends, (4, 2, 1), strict=True)
        )

    return Lengths(jax.lax.fori_loop(0, n.value, along, (first.network,) * 3))


def observe_lengths(model):
    def bounded(net):
        size = sum(of(net).size for of in BLOCKS.values())
        return 1 - 1 / (1 + squares(net) / size)

    coarse, middle, fine = map(bounded, model.ends)
    return dict(drift=coarse - middle, rest=coarse - 3 * middle + 2 * fine)


@lemma
def block_law():
    """Jacobians of every size, in units where T = 1; G is the inverse of A A^T + I."""
    A, G, y, first, e = generic_matrices("A G y theta e")
    At = transpose(A)
    inverse = ((A * At * G, 1 - G), (G * A * At, 1 - G))
    drawn = first + At * G * (y - A * first - e)
    yield MatrixStep("the draw, sorted", drawn, At * G * y + (1 - At * G * A) * first - At * G * e)
    yield MatrixStep("its mean solves the normal equations", (At * A + 1) * At * G * y, At * y, inverse)
    # theta_0 and e are independent with the covariance I.
    covariance = (1 - At * G * A) * (1 - At * G * A) + At * G * G * A
    yield MatrixStep("its covariance", covariance, 1 - At * G * A, inverse)
    yield MatrixStep("the inverse of the curvature", (At * A + 1) * (1 - At * G * A), 1, inverse)


h, eps, v = symbols("h eps v", positive=True)


@lemma
def langevin_variance():
    """One direction of curvature h: the variance v that a step keeps, and its first order in eps."""
    stationary = 1 / (h * (1 - eps * h / 2))
    yield Solved("the variance that stays", [(1 - eps * h) ** 2 * v + 2 * eps - v], [v], [{v: stationary}])
    yield Step("its slope in eps at zero, over 1/h", Subs(Derivative(h * stationary, eps), eps, 0), h / 2)
    doubled = 2 * stationary.subs(eps, eps / 2) - stationary
    yield Step("the slope of the extrapolated value", Subs(Derivative(doubled, eps), eps, 0), 0)


blocks = Subject(blockwise, start=1.0, disturbed=1.0, relu_share=0.0)
paths = Subject(hamiltonian_paths, step=0.05)
rules = (of_a, of_V, of_V_0)
theorem = Theorem(
    place="how a small model is sampled (derived here)",
    label="derived",
    uses=("layer_sum_rule",),
    hypotheses=H,
    claims=dict(order=order, of_a=of_a, of_V=of_V, of_V_0=of_V_0, extrapolated=extrapolated),
    proofs=(block_law, langevin_variance),
    experiments=dict(
        samplers=Experiment(observe, kept, {P: 5}, at={N: 4, T: Rational(1, 4)}, draws=Efforts(40000, 60000, 200000),
                            subjects={
            "three sweeps of block draws": blocks,
            "three Hamiltonian paths": paths,
            "weights of variance 3/2": blocks(start=1.5).breaking(H.drawn, fails=order),
            "ReLU after the embedding": blocks(relu_share=1.0).breaking(H.linear, fails=of_V_0),
            "block draws without noise": blocks(disturbed=0.0).breaking(H.adjusted, fails=rules),
            "unadjusted Langevin steps of 1/20": Subject(langevin_steps, step=1 / 20).breaking(H.adjusted, fails=of_V),
        }),
        lengths=Experiment(observe_lengths, steps, {n: (32, 64, 128)}, at={P: 2, N: 3, T: 1},
                           draws=Efforts(2000, 4000, 16000), seeds="paired", span=4, padded=True, subjects={
            "Langevin steps from an exact draw": Subject(build_lengths),
        }),
    ),
    issues=(
        "Block draws forget their start: three sweeps from weights of variance 3/2 leave the sum rules off by 0.03, U by a "
        "half.",
        "A sampler is seen to keep the law of weights and labels; how fast a chain forgets its start is not measured.",
        "The bias of Langevin steps is of the order eps: the mutant without extrapolation is refuted.",
        "It is followed up to time one and in a bounded function of the weights.",
    ),
)
