"""Momentum in integers is inverted exactly, at the price of log2(1/g) bits of memory a layer and number.

**Theorem.** Let D = 2^16 and g = n/D, 0 < n < D, and let positions, velocities, residuals and a
buffer b be integers. A layer puts p = b D + v mod D, replaces v by n floor(v/D) + p mod n and b by
floor(p/n), then adds the residual to v and v to x. If both passes round the residual alike, sums
are exact and the way back receives the buffer, it recovers position, velocity and buffer exactly.
If the buffer starts empty, then log2(1 + b) <= N log2(D/n) + log2((D - 1)/(D - n)) after N layers.
For Gaussian weights and Gaussian starts in units of 2^24, the mean of log2(1 + b) over the neurons,
divided by N, tends to log2(D/n) = log2(1/g) as N -> oo.

**Idea.** Multiplication of v by g loses v mod D, which the buffer stores. The digits floor(v/D) and
p mod n can be read off the new velocity, so every step can be undone. A layer multiplies the buffer
by D/n up to a bounded error: no buffer exceeds (D - 1)/(D - n) ((D/n)^N - 1), and a buffer once
above (n - 1)/(D - n) grows like (D/n)^N.
"""

from dataclasses import replace

import jax.numpy as jnp
import sympy
from sympy import Function, Rational, Symbol, log, oo

from theorax.language import *
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._integer_momentum import BITS, UNIT, WEIGHT, D, IntegerMomentum
from theorax.theorems.momentum_resnet._momentum import N

n = Parameter("n", "numerator of the momentum g = n/2^16", integer=True, positive=True)
state = arrays(
    start="position, velocity and buffer before the first layer, as integers",
    recovered="the same, recovered from those after the last layer",
    forgetful="the same without the buffer: v mod D is lost",
    late="the same with f evaluated at x_(n+1) on the way back",
)
seen = numbers(
    bits="log2(1 + b), b the number in the buffer after the last layer; mean over the neurons",
    most="the same, the largest over the neurons",
)

H = hypotheses(
    kept="the buffer is handed on to the way back",
    alike="both passes round f alike",
    exact="positions and velocities are added without rounding",
    moving="some velocity is not zero",
    empty="the buffer is empty before the first layer",
)
A_LAYER = log(D / n) / log(2)
inverse = Identity(
    state.recovered, state.start, under=(H.kept, H.alike, H.exact),
    margin=Absolute(1, 2, "an integer is recovered, or off by one or more"),
    wrong={"no buffer": dict(left=state.forgetful), "f at x_(n+1)": dict(left=state.late)},
)
memory = Limit(
    seen.bits / N, A_LAYER, as_=N, under=(H.kept, H.moving), spread=Rational(1, 25),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 200), order=2, reference=32,
        reason="b is a random share of (D/n)^N, whose law settles like g^N: a factor 1e-4 at N = 32 for g up to 3/4",
    ),
    margin=Relative(1, 50, "(1-g)/ln 2 is 13 % too small at g = 3/4, 28 % at 1/2"),
    wrong={"(1-g)/ln 2": (1 - n / sympy.Integer(D)) / log(2), "as many bits as v mod D has": 16},
)
bound = Inequality(
    seen.most, at_most=N * A_LAYER + log((D - 1) / (D - n)) / log(2), under=H.empty,
    wrong={"two bits fewer": N * A_LAYER + log((D - 1) / (D - n)) / log(2) - 2},
)
NEURONS = 4


def there_and_back(model, N):
    net, start = model

    def recovered(**changed):
        other = replace(net, **changed)
        return flat(momentum.back_through(other, momentum.through(other, start, N), N))

    return dict(
        start=flat(start), recovered=recovered(), forgetful=recovered(kept=0 * net.kept), late=recovered(late=1)
    )


def flat(state):
    return jnp.concatenate([state[0][None], state[1][None], state[2]]) * 1.0


def buffers(model, N):
    net, start = model
    buffer = momentum.through(net, start, N)[2]
    bits = jnp.log2(1 + 2.0 ** (BITS * jnp.arange(len(buffer) - 1, -1, -1)) @ buffer)
    return dict(bits=bits.mean(), most=bits.max())


def drawn(key, N, n, kept, up, grain, moving, filled):
    """Velocities are far above D units."""
    whole = lambda number: jnp.round(jnp.asarray(number)).astype(jnp.int64)
    limbs = jnp.zeros((N.padded // BITS + 2, NEURONS), jnp.int64)  # g is 1/2 or more: a bit a layer at most
    x, v = (whole(part * UNIT * moving) for part in momentum.gaussian_state(key, NEURONS))
    weights = whole(momentum.gaussian_weights(key, N.padded, NEURONS) * WEIGHT * moving)
    net = IntegerMomentum(weights, whole(n), whole(kept), whole(up), whole(grain), 0)
    return net, (x, v, limbs.at[-1].add(whole(filled)))


@lemma
def undone():
    """Any integers: v = D q + r and p = D b + r; then p = n B + c and w = n q + c."""
    q, r, c, B, b, v, w, D = sympy.symbols("q r c B b v w D")
    yield Solved("the digits of w, divided by n", [w - n * q - c], c, [w - n * q])
    before = [v - D * q - r, D * b + r - n * B - c]
    yield Solved("what was there before", before, [v, b], {v: D * q + r, b: (n * B + c - r) / D})


@derives(memory)
def growth():
    """Every momentum, 1 + s = D/n: p lies between D b and D b + D - 1, and the buffer is (p - c)/n with 0 <= c < n."""
    k, s, bits = Symbol("k", integer=True, nonnegative=True), Symbol("s", positive=True), Function("b")
    share, scale = Symbol("K", positive=True), Symbol("D", positive=True)
    highest = [n * bits(k + 1) - scale * bits(k) - (scale - 1), bits(0)]
    at_most = (scale - 1) / (scale - n) * ((scale / n) ** k - 1)
    yield Solved("no buffer holds more, from an empty one", highest, bits(k), at_most)
    lowest = [n * bits(k + 1) - scale * bits(k) + (n - 1), bits(0) - share - (n - 1) / (scale - n)]
    at_least = share * (scale / n) ** k + (n - 1) / (scale - n)
    yield Solved("none holds less, once it is K above (n-1)/(D-n)", lowest, bits(k), at_least)
    layers = sympy.Limit(log(share * ((1 + s) ** N - 1)) / N, N, oo)
    yield Step("bits a layer, times log 2", layers, log(1 + s))
    yield Step("which is", sympy.Subs(log(1 + s) / log(2), s, D / n - 1), memory.to)


@lemma
def little():
    """Momentum near one: a layer costs (1-g)/ln 2 bits; at every g it costs more."""
    g = momentum.g
    cost = log(1 / g) / log(2)
    yield Step("as g tends to one", sympy.Limit(cost / (1 - g), g, 1, "-"), 1 / log(2))
    yield Step("where it grows", sympy.Derivative(cost - (1 - g) / log(2), g), -(1 - g) / (g * log(2)))


whole = Subject(drawn, kept=1.0, up=0.0, grain=1.0, moving=1.0, filled=0.0)
momenta = tuple({n: value} for value in (2**15, 3 * 2**14, 58982))
theorem = Theorem(
    place="training without stored activations, in finite precision; a buffer of remainders; reconstructed",
    label="reconstructed",
    uses=("momentum_invertibility",),
    hypotheses=H,
    claims=dict(inverse=inverse, memory=memory, bound=bound),
    proofs=(undone, growth, little),
    experiments=dict(
        inversions=Experiment(
            there_and_back, state, {N: Efforts((2, 8), (2, 8), (2, 8, 16))}, at=momenta[2:], draws=Efforts(2, 3, 8),
            padded=True, subjects={
                "integers": whole,
                "buffer dropped": whole(kept=0.0).breaking(H.kept, fails=inverse),
                "f rounded upwards on the way back": whole(up=D - 1).breaking(H.alike, fails=inverse),
                "positions in multiples of 16": whole(grain=16.0).breaking(H.exact, fails=inverse),
            },
        ),
        buffers=Experiment(
            buffers, seen, {N: Efforts((32, 128), (32, 64, 128), (32, 128, 512))}, at=momenta[:2],
            draws=Efforts(300, 300, 1000), span=16, padded=True, subjects={
                "integers": whole,
                "buffer dropped": whole(kept=0.0).breaking(H.kept, fails=memory),
                "at rest": whole(moving=0.0).breaking(H.moving, fails=memory),
                "a full word in the buffer": whole(filled=65535.0).breaking(H.empty, fails=bound),
            },
        ),
    ),
    issues=(
        "A buffer of 64 bits is full after about (64 - log2 n)/log2(D/n) layers: 49 at g = 1/2, 316 at 9/10.",
        "Velocities far below D units leave the buffer shorter: v mod D is not spread over its range.",
        "A machine that evaluates f differently in both passes breaks the inverse, whatever the buffer holds.",
    ),
)
