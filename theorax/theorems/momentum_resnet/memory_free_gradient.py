"""The gradient of a momentum network is exact on recovered states, in a memory that does not grow with the depth.

**Theorem.** Let v_(n+1) = g v_n + (1-g) f_n(x_n), x_(n+1) = x_n + v_(n+1), 0 < g < 1. Then the
gradient of |x_N|^2/2 with respect to weights, first position and first velocity, computed on states
recovered by the exact inverse of every layer, equals that of automatic differentiation. Compile
both for a CPU in float32: tanh layers with one shared d x d matrix, batch = 32, d = 16. If the
input of every layer is stored, the gradient takes at least 4 batch d N bytes of temporary memory,
and this memory is of exact order N as N -> oo. If only the last state is stored, its temporary
memory at depth N equals that at depth 8.

**Idea.** Let p_x and p_v be the cotangents, s = p_x + p_v. A layer back recovers the state and adds
(1-g) (df/dW)^T s to the gradient of the weights; p_x grows by (1-g) (df/dx)^T s, and p_v becomes g
s. One state and one pair of cotangents are enough. The memory is read from the compiler's account;
shared weights give the gradient the same size at every depth.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Integer, Min, Rational, Symbol, log, oo, simplify

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet import _recovered_gradients as gradients
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, d, g

batch = Parameter("batch", "number of inputs", integer=True, positive=True)
both = arrays(
    stored_gradient="gradient of |x_N|^2/2 by weights, position and velocity, by automatic differentiation",
    recovered_gradient="the same on recovered states",
    unfaded="the same with p_v <- s",
    unscaled="the same with (df/dW)^T s for the weights",
)
seen = numbers(
    stored="bytes of temporary memory of the gradient by automatic differentiation",
    recovered="bytes of temporary memory of the gradient on recovered states",
    shallow="the same at depth 8",
    positive=True,
)

every_input = 4 * batch * d * N  # float32
H = hypotheses(
    inverse="states are recovered by the exact inverse of every layer, velocities included",
    stored="the input of every layer is kept for the way back",
    recovered="only the last state is kept",
)
exact = Identity(
    both.recovered_gradient, both.stored_gradient, under=H.inverse,
    margin=Relative(1, 10**6, "the rounding of the inverse stays below it; wrong factors g or 1 - g are of order one"),
    wrong={"p_v <- s": dict(left=both.unfaded), "weights without 1 - g": dict(left=both.unscaled)},
)
grows = Expectation(
    Min(seen.stored / every_input, 1), 1, under=H.stored, spread=Rational(1, 1000),
    margin=Relative(1, 100, "one input less in a hundred layers would be so much less"),
    wrong={"twenty arrays a layer": dict(of=Min(seen.stored / (20 * every_input), 1))},
)
affine = Rate(
    seen.stored, N, as_=N, under=H.stored, spread=Rational(1, 1000),
    approach=Corrections(
        size=Rational(1, 2), slowest=1, rest=0, reference=8,
        reason="affine in N; the part that does not grow is below a third at N = 8",
    ),
    margin=Absolute(1, 2, "the nearest statements are constant memory, and the square root of checkpointing"),
    wrong={"constant": Integer(1)},
)
constant = Expectation(
    seen.recovered / seen.shallow, 1, under=H.recovered, spread=Rational(1, 1000),
    margin=Relative(1, 100, "one activation more a layer would be a tenth more at depth 9"),
    wrong={"grows with the depth": N / 8},
)
NEURONS = 3


class Forgetting(MomentumNetwork):
    """The network; ``dropped``: the way back takes f_n(x_(n+1)) for the velocity."""

    dropped: Scalar = 0.0

    def backwards(self, n, state):
        x, v = state
        return super().backwards(n, (x, v + self.dropped * (self.residual(n, x) - v)))


def drawn(key, N, g, dropped):
    weights = momentum.gaussian_weights(key, N.padded, NEURONS)
    return Forgetting(momentum.tanh_layer, weights, g, 1.0, dropped), momentum.gaussian_state(key, NEURONS)


def flat(by_weights, by_state):
    return jnp.concatenate([jnp.ravel(part) for part in (by_weights, *by_state)])


def compare(model, N):
    net, start = model

    def last(weights, state):
        through = eqx.tree_at(lambda net: net.weights, net, weights)
        for n in range(N.padded):
            state = through.forwards(n, state)
        return state

    def loss(weights, state):
        return jnp.sum(last(weights, state)[0] ** 2) / 2

    end = last(net.weights, start)
    ways = dict(recovered_gradient=(net.g, 1 - net.g), unfaded=(1.0, 1 - net.g), unscaled=(net.g, 1.0))
    cotangents = end[0], jnp.zeros_like(end[0])
    found = {name: flat(*gradients.swept_back(net, end, cotangents, N, *way)) for name, way in ways.items()}
    return dict(stored_gradient=flat(*jax.grad(loss, (0, 1))(net.weights, start)), **found)


def storing(net, start, N):
    return gradients.last_stored(net, start, N)[0]


def recovering(net, start, N):
    fixed = eqx.tree_at(lambda net: net.weights, net, jax.lax.stop_gradient(net.weights))
    return gradients.last_recovered(net.weights, fixed, start, N)


WAYS = (storing, recovering)
STORED, RECOVERED = range(2)


class Compared(eqx.Module):
    """Ways taken for the gradient that stores and for the one that recovers, and the inputs of a batch."""

    first: Scalar
    second: Scalar
    x: jax.Array


def pair(key, batch, d, first, second):
    return Compared(first, second, jax.random.normal(key, (batch, d)))


@cache
def temporary(way, depth, batch, d):
    """Bytes that the compiled gradient allocates beside its arguments and its result."""

    def loss(weights, x):
        net = MomentumNetwork(lambda W, x: jnp.tanh(x @ W), weights, 1 - 1 / (50 * depth))
        return jnp.sum(way(net, (x, jnp.zeros_like(x)), literal(depth)) ** 2) / 2

    shapes = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((1, d, d), (batch, d)))
    account = jax.jit(jax.grad(loss)).lower(*shapes).compile().memory_analysis()
    assert account is not None, "the compiler of a CPU gives an account"
    return account.temp_size_in_bytes


def memory(model, N):
    """Of the compiler's account alone, which no draw changes."""
    deep, flat = (jnp.asarray([float(temporary(way, n, *model.x.shape)) for way in WAYS]) for n in (N.padded, 8))
    return dict(stored=deep[model.first], recovered=deep[model.second], shallow=flat[model.second])


def of_symbols(letter, depth):
    net = Forgetting(momentum.tanh_layer, generic_entries("w", depth, 1, 1), letter, 1.0, 0.0)
    return net, (generic_entries("x", 1), generic_entries("v", 1))


@settles(exact)
def one_neuron():
    """Generic tanh layers of one neuron, states and momentum; N = 1, 2."""
    for depth in (1, 2):
        yield Instance(exact, f"N = {depth}", compare, of_symbols(np.array(g, dtype=object), depth), literal(depth))


@lemma
def transposed():
    """Any slopes a = df/dx and b = df/dW of a residual function of one neuron, any cotangents."""
    x, v, w, a, b, p, q = sympy.symbols("x v w a b p_x p_v")
    speed = g * v + (1 - g) * (a * x + b * w)
    paired = p * (x + speed) + q * speed
    by = sympy.Derivative
    expected = {x: p + (1 - g) * a * (p + q), v: g * (p + q), w: (1 - g) * b * (p + q)}
    for letter, value in expected.items():
        yield Step(f"the cotangent of {letter}", by(paired, letter), value)


@lemma
def counted():
    """Every depth, batch and dimension; a and b are what a layer and the rest take."""
    a, b = Symbol("a", positive=True), Symbol("b", positive=True)
    yield Step("one input of a layer for each layer", sympy.Limit(every_input / N, N, oo), 4 * batch * d)
    order = sympy.Limit(log(a * N + b) / log(N), N, oo)
    yield Step("a memory a N + b has order N", order, simplify(log(affine.like) / log(N)))


whole, pairs = Subject(drawn, dropped=0.0), Subject(pair, first=STORED, second=RECOVERED, literal=True)
theorem = Theorem(
    place="training without stored activations; reconstructed from the released code",
    label="reconstructed",
    uses=("momentum_invertibility",),
    hypotheses=H,
    claims=dict(exact=exact, grows=grows, affine=affine, constant=constant),
    proofs=(one_neuron, transposed, counted),
    experiments=dict(
        networks=Experiment(
            compare, both, {N: Efforts((2, 8), (2, 8), (2, 8, 16))}, at={g: Rational(9, 10)}, draws=Efforts(2, 3, 8),
            padded=True, subjects={
                "inverse": whole, "velocity dropped": whole(dropped=1.0).breaking(H.inverse, fails=exact),
            },
        ),
        memory=Experiment(
            memory, seen, {N: Efforts((16, 32, 64), (16, 32, 64), (16, 32, 64, 256))}, at={batch: 32, d: 16}, seeds="none",
            dtype="float32", platform="cpu", padded=True, subjects={
                "tied": pairs,
                "nothing stored": pairs(first=RECOVERED).breaking(H.stored, fails=(grows, affine)),
                "nothing recovered": pairs(second=STORED).breaking(H.recovered, fails=constant),
            },
        ),
    ),
    issues=(
        "The account is that of one compiler; another one may store more, or recompute by itself.",
        "In floats the recovered states carry rounding amplified by 1/g a layer.",
        "Recovery evaluates every layer once more.",
    ),
)
