"""The gradient needs memory that grows with depth where activations are stored, and constant memory where recovered.

**Theorem.** Let x_(n+1) = x_n + tanh(x_n W)/N, n = 0, ..., N - 1, be a network of tied layers in
float32, with batch = 32 Gaussian inputs of dimension d = 16 and a Gaussian matrix W. Take the
gradient of |x_N|^2/2 by W in two ways: by automatic differentiation, which stores all x_n, and by
the discrete adjoint, which recovers x_n from the last one as x_(n+1) - tanh(x_(n+1) W)/N. Then the
compiled gradient with storage takes at least 4 batch d N bytes of temporary memory; the exact order
is N. With recovery this memory is the same at every N as at N = 8. As N -> oo, the difference of
both gradients relative to the gradient, in norm, has the exact order 1/N.

**Idea.** Automatic differentiation holds at least the input of every layer, of 4 batch d bytes,
until the way back reaches it. The discrete adjoint holds one activation and one cotangent at a
time. Weights are tied, so the gradient has the same size at every depth. Memory is taken from the
account of one compiler on a CPU.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Integer, Min, Rational, Symbol, log, oo, simplify

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers
from theorax.theorems.resnet_discretizes_ode._residual import Euler, last, last_without_storage

batch = Parameter("batch", "number of inputs", integer=True, positive=True)
d = Parameter("d", "dimension of the activations", integer=True, positive=True)
seen = numbers(
    stored="bytes of temporary memory of the gradient by automatic differentiation",
    recovered="bytes of temporary memory of the gradient by recovery",
    shallow="the same at depth 8",
    apart="difference of the two gradients relative to the gradient",
    positive=True,
)

every_input = 4 * batch * d * N  # float32
H = hypotheses(
    stored="every activation is kept for the way back",
    recovered="activations are recovered from the last one, by the reversed scheme",
)
grows = Expectation(
    Min(seen.stored / every_input, 1), 1, under=H.stored, spread=Rational(1, 1000),
    margin=Relative(1, 100, "one input less in a hundred layers would be so much less"),
    wrong={"twenty arrays a layer": dict(of=Min(seen.stored / (20 * every_input), 1))},
)
affine = Rate(
    seen.stored, N, as_=N, under=H.stored, spread=Rational(1, 1000),
    approach=in_powers(0.5, 8, "affine in N; the part that does not grow is a seventh at N = 8"),
    margin=Absolute(1, 2, "the nearest statements are constant memory, and the square root of checkpointing"),
    wrong={"constant": Integer(1)},
)
constant = Expectation(
    seen.recovered / seen.shallow, 1, under=H.recovered, spread=Rational(1, 1000),
    margin=Relative(1, 100, "one activation more a layer would be a fifth more at depth 9"),
    wrong={"grows with the depth": N / 8},
)
same = Rate(
    seen.apart, 1 / N, as_=N, under=H.recovered, spread=Rational(1, 5),
    approach=in_powers(0.5, 8, "the logarithm of an expansion in 1/N; at most 0.2 at N = 8 on other seeds"),
    margin=Absolute(
        1, 4, "it is the order of discrete_adjoint_gradient_euler; another gradient would not come nearer at all",
    ),
)


class HalfBack(Euler):
    """The way back takes half a residual off."""

    def backwards(self, local, x, h):
        return x - h * self.function(local[0], x) / 2


def layer(W, x):
    return jnp.tanh(x @ W)


def storing(weights, x, N, h):
    return last(Euler(layer), weights, x, N, h)


def recovering(weights, x, N, h):
    return last_without_storage((weights, x), Euler(layer), N, h)


def half_the_way(weights, x, N, h):
    """Recovered with half the residuals: another gradient in the same memory."""
    return last_without_storage((weights, x), HalfBack(layer), N, h)


WAYS = (storing, recovering, half_the_way)
PAIRS = ((0, 1), (1, 0), (0, 2))
TIED, EXCHANGED, HALF = range(3)


class Tied(eqx.Module):
    """A network of tied layers, its inputs, and which pair of ways to its output is compared."""

    weights: Float[Array, "1 d d"]
    x: Float[Array, "batch d"]
    pair: Scalar


def tied(key, batch, d, pair):
    weights = jax.random.normal(named(key, "weights"), (1, d, d)) / d**0.5
    return Tied(weights, jax.random.normal(named(key, "inputs"), (batch, d)), pair)


def gradient(way, depth):
    """The gradient of |x_N|^2/2 by the weights, one pass over all inputs."""

    def of_weights(weights, x):
        return jnp.sum(way(weights, x, depth, 1 / depth.padded) ** 2) / 2

    return jax.grad(of_weights)


@cache
def temporary(way, depth, batch, d):
    """Bytes that the compiled gradient allocates beside its arguments and its result."""
    shapes = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((1, d, d), (batch, d)))
    account = jax.jit(gradient(way, literal(depth))).lower(*shapes).compile().memory_analysis()
    assert account is not None, "the compiler of a CPU gives an account"
    return account.temp_size_in_bytes


def memory(net, N):
    """Of the compiler's account alone, which no draw changes."""
    first, second = jnp.asarray(PAIRS)[net.pair]
    deep, flat = (jnp.asarray([float(temporary(way, n, *net.x.shape)) for way in WAYS]) for n in (N.padded, 8))
    return dict(stored=deep[first], recovered=deep[second], shallow=flat[second])


def observe(net, N):
    first, second = jnp.asarray(PAIRS)[net.pair]
    gradients = jnp.stack([gradient(way, literal(N.padded))(net.weights, net.x) for way in WAYS])
    return dict(apart=jnp.linalg.norm(gradients[first] - gradients[second]) / jnp.linalg.norm(gradients[first]))


@lemma
def counted():
    """Every depth, batch and dimension; a and b are what a layer and the rest take."""
    a, b = Symbol("a", positive=True), Symbol("b", positive=True)
    yield Step("one input of a layer for each layer", sympy.Limit(every_input / N, N, oo), 4 * batch * d)
    order = sympy.Limit(log(a * N + b) / log(N), N, oo)
    yield Step("a memory a N + b has order N", order, simplify(log(affine.like) / log(N)))


DEPTHS = Efforts((16, 32, 64), (16, 32, 64), (16, 32, 64, 256))
pairs = Subject(tied, pair=TIED, literal=True)
theorem = Theorem(
    place="memory of the discrete adjoint; reconstructed",
    label="reconstructed",
    uses=("discrete_adjoint_gradient_euler",),
    hypotheses=H,
    claims=dict(grows=grows, affine=affine, constant=constant, same=same),
    proofs=(counted,),
    experiments=dict(
        memory=Experiment(
            memory, (seen.stored, seen.recovered, seen.shallow), {N: DEPTHS}, at={batch: 32, d: 16}, seeds="none",
            dtype="float32", platform="cpu", padded=True, subjects={
                "tied": pairs,
                "exchanged": pairs(pair=EXCHANGED).breaking(H.stored, H.recovered, fails=(grows, affine, constant)),
            },
        ),
        gradients=Experiment(
            observe, seen.apart, {N: DEPTHS}, at={batch: 32, d: 16}, draws=Efforts(150, 150, 200),
            dtype="float32", platform="cpu", padded=True, subjects={
                "tied": pairs, "half a residual back": pairs(pair=HALF).breaking(H.recovered, fails=same),
            },
        ),
    ),
    issues=(
        "The account is that of one compiler; another one may store more, or recompute by itself.",
        "With untied weights the gradient itself grows with the depth; it is a result, not temporary memory.",
        "Recovery pays for the memory that it saves with one more evaluation of every layer.",
    ),
)
