"""Momentum makes every residual layer invertible in closed form, whatever its residual function.

**Theorem.** Let a layer be v_(n+1) = g v_n + (1-g) f_n(x_n), x_(n+1) = x_n + v_(n+1), with any
functions f_n in dimension d. If g > 0, the steps x_n = x_(n+1) - v_(n+1),
v_n = (v_(n+1) - (1-g) f_n(x_n))/g, taken backwards from x_N and v_N, recover x_0 and v_0 exactly.
If f_n is differentiable, the Jacobian of a layer has the determinant g^d. If g = 0, a residual
network, x_N and v_N do not depend on v_0.

**Idea.** The new position minus the new velocity is the old position. There f_n can be evaluated,
and the update of the velocity is linear in v_n. So neither f_n nor x + f_n(x) needs an inverse, and
f_n needs no Lipschitz constant. In a basis that makes the Jacobian of f_n triangular, each of its
eigenvalues gives a block of determinant g.
"""

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Derivative, Function, Product, Rational, Symbol, symbols

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, d, g

seen = arrays(
    start="position and velocity before the first layer",
    recovered="both, recovered from those after the last layer",
    unbracketed="the same with v - (1-g) f/g in the place of (v - (1-g) f)/g",
    late="the same with f_n evaluated at x_(n+1)",
    determinant="determinant of the Jacobian of the first layer, by automatic differentiation",
    end="position and velocity after all layers",
    other_end="the same from another velocity",
)

H = hypotheses(
    momentum="a layer is v_(n+1) = g v_n + (1-g) f_n(x_n), x_(n+1) = x_n + v_(n+1)",
    carried="the way back starts from the velocity too, and hands it on",
    positive=Hypothesis("g is positive", unbroken="at g = 0 the inverse divides by zero; see `lost`"),
    zero="g = 0: a residual network",
)
exact = Relative(
    1, 10**6, "rounding stays below it at these depths, a wrong inverse is off by a share of 1 - g or more"
)
inverse = Identity(
    seen.recovered, seen.start, under=(H.momentum, H.carried, H.positive), margin=exact,
    wrong={"the parenthesis left out": dict(left=seen.unbracketed), "f at x_(n+1)": dict(left=seen.late)},
)
volume = Identity(
    seen.determinant, g**d, under=H.momentum, margin=exact,
    wrong={"volume is preserved": 1, "position and velocity both shrink": g ** (2 * d), "once": g},
)
lost = Identity(seen.end, seen.other_end, under=(H.momentum, H.zero), margin=exact)

NEURONS = 4


class Departing(MomentumNetwork):
    """The network; ``old``: positions take the velocity before; ``dropped``: the way back takes f_n(x_(n+1)) for it."""

    old: Scalar = 0.0
    dropped: Scalar = 0.0

    def forwards(self, n, state):
        x, v = super().forwards(n, state)
        return x - self.old * (v - state[1]), v

    def backwards(self, n, state):
        x, v = state
        return super().backwards(n, (x, v + self.dropped * (self.residual(n, x) - v)))


class Unbracketed(MomentumNetwork):
    """A wrong inverse."""

    def backwards(self, n, state):
        x, v = state
        x = x - v
        return x, v - (1 - self.g) * self.residual(n, x) / self.g


class Late(MomentumNetwork):
    """Another wrong inverse."""

    def backwards(self, n, state):
        x, v = state
        return x - v, (v - (1 - self.g) * self.residual(n, x)) / self.g


def stacked(state):
    return jnp.stack(state)


def there_and_back(model, N):
    net, state = model
    end = momentum.through(net, state, N)
    wrong = {
        name: momentum.back_through(kind(net.function, net.weights, net.g, net.h), end, N)
        for name, kind in (("unbracketed", Unbracketed), ("late", Late))
    }
    found = dict(start=state, recovered=momentum.back_through(net, end, N), **wrong)
    return {name: stacked(pair) for name, pair in found.items()}


def jacobian_determinant(model):
    net, state = model

    def layer(flat):
        return stacked(net.forwards(0, tuple(flat.reshape(2, -1)))).ravel()

    return dict(determinant=jnp.linalg.det(jax.jacfwd(layer)(stacked(state).ravel())))


def two_ends(model, N):
    net, (x, v) = model
    return {
        name: stacked(momentum.through(net, start, N)) for name, start in (("end", (x, v)), ("other_end", (x, 2 * v)))
    }


def drawn(key, N, g, gain, old, dropped):
    weights = momentum.gaussian_weights(key, N.padded, NEURONS, gain)
    return Departing(momentum.tanh_layer, weights, g, 1.0, old, dropped), momentum.gaussian_state(key, NEURONS)


def residual_network(key, N, old, remaining):
    return drawn(key, N, remaining, 1.0, old, 0.0)


def of_symbols(depth, dimension, momentum_letter):
    weights = generic_entries("w", depth, dimension, dimension)
    state = generic_entries("x", dimension), generic_entries("v", dimension)
    return Departing(momentum.tanh_layer, weights, momentum_letter, 1.0, 0.0, 0.0), state


SYMBOL = np.array(g, dtype=object)


@settles(inverse)
def any_weights():
    """Generic weights, states and momentum, tanh layers; one neuron in one to three layers, two neurons in one."""
    for depth, dimension in ((1, 1), (2, 1), (3, 1), (1, 2)):
        model = of_symbols(depth, dimension, SYMBOL)
        yield Instance(inverse, f"N = {depth}, d = {dimension}", there_and_back, model, literal(depth))


@settles(volume)
def any_layer():
    """Generic weights, states and momentum, tanh layers; d = 1, 2."""
    for dimension in (1, 2):
        model = of_symbols(1, dimension, SYMBOL)
        letters = {d: dimension, g: g}
        yield Instance(volume, f"d = {dimension}", jacobian_determinant, model, letters=letters)


@settles(lost)
def any_residuals():
    """Generic weights and states, tanh layers, g = 0; one neuron in one and two layers."""
    for depth in (1, 2):
        model = of_symbols(depth, 1, np.array(sympy.Integer(0), dtype=object))
        yield Instance(lost, f"N = {depth}", two_ends, model, literal(depth))


@lemma
def any_function():
    """Any residual function f of one neuron, in one layer; for the volume any d: J is any matrix."""
    f = Function("f")
    x, v, later, velocity = symbols("x v y w")
    yield Solved("the one position before (y, w)", later - (x + velocity), x, [later - velocity])
    after = g * v + (1 - g) * f(later - velocity)
    yield Solved("the one velocity", velocity - after, v, [(velocity - (1 - g) * f(later - velocity)) / g])
    by, slope = Derivative, Symbol("j")
    speed = g * v + (1 - g) * slope * x
    determinant = by(x + speed, x) * by(speed, v) - by(x + speed, v) * by(speed, x)
    yield Step("one neuron, whose residual function has the slope j there", determinant, g)
    # Schur: a basis in which the Jacobian of f is triangular makes that of the layer triangular in such blocks.
    yield Step(
        "d blocks, one for each eigenvalue of the Jacobian of f", Product(g, (Symbol("k", integer=True), 1, d)), g**d
    )


whole = Subject(drawn, gain=1.0, old=0.0, dropped=0.0)
old = whole(old=1.0)
without = Subject(residual_network, old=0.0, remaining=0.0)
theorem = Theorem(
    place="the inverse of a momentum layer; reconstructed from the released code, the volume derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(inverse=inverse, volume=volume, lost=lost),
    proofs=(any_weights, any_layer, any_residuals, any_function),
    experiments=dict(
        networks=Experiment(
            there_and_back, (seen.start, seen.recovered, seen.unbracketed, seen.late),
            {N: Efforts((4, 16), (4, 16), (4, 16, 32))}, at=({g: Rational(3, 4)}, {g: Rational(9, 10)}),
            draws=Efforts(2, 3, 8), padded=True, subjects={
                "order one": whole,
                "steep": whole(gain=5.0),  # no layer x + f(x) is monotone, and |f'| is far above one
                "old velocity": old.breaking(H.momentum, fails=inverse),
                "velocity dropped": whole(dropped=1.0).breaking(H.carried, fails=inverse),
            },
        ),
        layers=Experiment(
            jacobian_determinant, seen.determinant, {N: 1}, draws=Efforts(2, 3, 8),
            at=tuple({g: value, d: 4} for value in (Rational(1, 2), Rational(7, 8))), padded=True, subjects={
                "order one": whole, "steep": whole(gain=5.0), "old velocity": old.breaking(H.momentum, fails=volume),
            },
        ),
        residual_networks=Experiment(
            two_ends, (seen.end, seen.other_end), {N: Efforts((2, 8), (2, 8), (2, 8, 32))},
            draws=Efforts(2, 3, 8), padded=True, subjects={
                "residual network": without,
                "momentum 1/2": without(remaining=0.5).breaking(H.zero, fails=lost),
                "old velocity": without(old=1.0).breaking(H.momentum, fails=lost),
            },
        ),
    ),
    issues=(
        "In floating point the inverse amplifies rounding by 1/g a layer.",
        "An inverse of x + f(x) by iteration, which needs a Lipschitz constant below one, is not compared here.",
    ),
)
