"""A fixed point of a tied momentum network attracts where the Hessian's eigenvalues lie between 0 and 2(1+g)/(1-g).

**Theorem.** Let v_(n+1) = g v_n + (1-g) f(x_n), x_(n+1) = x_n + v_(n+1), 0 < g < 1, f(x*) = 0 in
dimension d, -H the Jacobian of f at x*, and J that of a layer at (x*, 0). Then det J = g^d, and
det(J - z I) = det(z^2 I - z ((1 + g) I - (1-g) H) + g I) at z = 3/2. For symmetric H the spectral
radius of J is at most one if all eigenvalues h of H satisfy 0 < h < 2(1+g)/(1-g), and at least one
otherwise. Let g = 1/2 or 7/8, f(x) = -H (x - x*) or its tanh, d = 4, three of the h at the shares
1/4, 1/2, 3/4 of that interval, the fourth at a share in [-1/4, 3/2] that is at least 1/32 from 0
and 1. From a Gaussian start (of size 1/1024 for tanh), x_200 is no farther from x* than x_0 if all
h lie in the interval, and no nearer otherwise.

**Idea.** Each h gives two eigenvalues of J, the roots of p(z) = z^2 - (1 + g - (1-g) h) z + g, as
in the heavy-ball method. Their product is g < 1. Complex roots have the modulus sqrt(g). Real roots
lie in (-1, 1) if and only if p(1) = (1-g) h and p(-1) = 2 (1+g) - (1-g) h are positive.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Piecewise, Rational, Subs, sqrt

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, g, through

both = arrays(
    characteristic="det(J - z I) at z = 3/2, J the Jacobian of a layer at the fixed point",
    factors="det(z^2 I - z ((1 + g) I - (1-g) H) + g I)",
    undamped="the same with 1 in the place of the last g",
    whole="the same with H in the place of (1-g) H",
    determinant="det J",
    power="g^d, d the width",
)
seen = numbers(
    share="one eigenvalue of H over 2(1+g)/(1-g); the others lie at 1/4, 1/2 and 3/4 of it",
    radius="largest modulus of an eigenvalue of J",
    nearer="(first - last)/(first + last), of the distances from the fixed point",
)

H = hypotheses(
    momentum="a layer is v_(n+1) = g v_n + (1-g) f(x_n), x_(n+1) = x_n + v_(n+1)",
    tied="f is the same at all layers",
    symmetric="the Jacobian of f at the fixed point is symmetric",
)
exactly = Relative(1, 10**8, "rounding stays below it, a wrong coefficient is off by a share of 1 - g")
factored = Identity(
    both.characteristic, both.factors, under=H.momentum, margin=exactly,
    wrong={"the product of two eigenvalues is one": both.undamped, "residuals enter whole": both.whole},
)
shrinks = Identity(
    both.determinant, both.power, under=H.momentum, margin=exactly, wrong={"det J = 1, as without memory": 1},
)


def on_the_side(measured, name, under):
    """The measured number is positive for shares in the interval and negative for all others."""

    def side(edge, condition=seen.share > 0):
        return Piecewise((1, (seen.share < edge) & condition), (-1, True))

    return Inequality(
        side(1) * measured, at_least=0, under=under,
        margin=Absolute(1, 10**5, "rounding stays below it; a wrong edge is off by the whole number"),
        wrong={
            f"{name} below 2/(1-g)": dict(of=side(1 / (1 + g)) * measured),
            f"{name} below 4/(1-g)": dict(of=side(2 / (1 + g)) * measured),
            f"{name} for negative h too": dict(of=side(1, sympy.true) * measured),
        },
    )


stable = on_the_side(1 - seen.radius, "stable", (H.momentum, H.symmetric))
attracts = on_the_side(seen.nearer, "attracts", (H.momentum, H.symmetric, H.tied))
LINEAR, BENT = range(2)


class Descent(eqx.Module):
    """f(x) = -H (x - x*), or its tanh; H may turn, and x* may jump to and fro with the depth."""

    bent: Scalar

    def __call__(self, weights, x):
        residual = weights[:, :-1] @ (weights[:, -1] - x)
        return jax.lax.select_n(self.bent, residual, jnp.tanh(residual))


class Moving(MomentumNetwork):
    """The network; ``old``: positions take the velocity before; ``jumps``: how far x* jumps at every second layer."""

    old: Scalar = 0.0
    jumps: Scalar = 0.0

    def residual(self, n, x):
        return super().residual(n, x + self.jumps * (n % 2))

    def forwards(self, n, state):
        x, v = super().forwards(n, state)
        return x - self.old * (v - state[1]), v


class Displaced(eqx.Module):
    """A network, its fixed point, and a distance and velocity to start from."""

    net: Moving
    point: jax.Array | np.ndarray
    share: Scalar
    start: jax.Array | np.ndarray


def drawn(key, g, bent, old, jumps, turning, size):
    edge = 2 * (1 + g) / (1 - g)
    lower, upper = jnp.asarray(((-1 / 4, -1 / 32), (1 / 32, 31 / 32), (33 / 32, 3 / 2))).T
    range_ = jax.random.randint(named(key, "range"), (), 0, 3)  # near the edges nothing is seen at this depth
    u = lower[range_] + (upper - lower)[range_] * jax.random.uniform(named(key, "share"))
    h = edge * jnp.stack([u, *(jnp.asarray(share) for share in (0.25, 0.5, 0.75))])
    axis = jax.random.normal(named(key, "frame"), (4, 1))
    frame = jnp.eye(4) - 2 * axis @ axis.T / jnp.sum(axis**2)  # a reflection, orthogonal in every arithmetic
    turn = jnp.diag(jnp.asarray([1.0, 0, 1]), 1)
    H = frame @ (jnp.diag(h) + turning * edge * (turn - turn.T)) @ frame.T
    point = jax.random.normal(named(key, "point"), (4,))
    net = Moving(Descent(bent), jnp.concatenate([H, point[:, None]], 1)[None], g, 1.0, old, jumps)
    return Displaced(net, point, u, size * jax.random.normal(named(key, "start"), (2, 4)))


def of_layer(model):
    """The Jacobian at the fixed point."""

    def layer(flat):
        return jnp.concatenate(model.net.forwards(0, tuple(flat.reshape(2, -1))))

    return jax.jacfwd(layer)(jnp.concatenate([model.point, 0 * model.point]))


def characteristic(model):
    J, z, g, H = of_layer(model), 1.5, model.net.g, model.net.weights[0, :, :-1]

    def factors(entering, last):
        return jnp.linalg.det((z**2 - (1 + g) * z + last) * jnp.eye(len(H)) + entering * z * H)

    found = jnp.linalg.det(J - z * jnp.eye(len(J)))
    return dict(
        characteristic=found, factors=factors(1 - g, g), undamped=factors(1 - g, 1), whole=factors(1, g),
        determinant=jnp.linalg.det(J), power=jnp.asarray(g) ** len(H),
    )


def spectrum(model):
    return dict(share=model.share, radius=jnp.abs(jnp.linalg.eigvals(of_layer(model))).max())


def run(model, N):
    x, v = model.start
    end = through(model.net, (model.point + x, v), N)[0]
    first, last = jnp.linalg.norm(x), jnp.linalg.norm(end - model.point)
    return dict(share=model.share, nearer=(first - last) / (first + last))


def of_symbols(letter):
    """Two neurons, any H."""
    weights, point = generic_entries("h", 1, 2, 3), generic_entries("p", 2)
    weights[0, :, -1] = point
    return Displaced(Moving(Descent(LINEAR), weights, letter, 1.0, 0.0, 0.0), point, 0.5, generic_entries("x", 2, 2))


@settles(factored, shrinks)
def two_neurons(claim):
    """Any H of order two, any fixed point and momentum; linear f, whose Jacobian is that at the point."""
    yield Instance(claim, "d = 2", characteristic, of_symbols(np.array(g, dtype=object)))


@lemma
def jury():
    """Every h and every momentum between zero and one, by the criterion of Jury for two roots."""
    x, v, h, z = sympy.symbols("x v h z")
    after = g * v - (1 - g) * h * x
    yield Solved("fixed points of one neuron", [after - v, after], [x, v], {x: 0, v: 0})
    p = z**2 - (1 + g - (1 - g) * h) * z + g
    yield Step("positive where h is", Subs(p, z, 1), (1 - g) * h)
    yield Step("positive below the edge", Subs(p, z, -1), 2 * (1 + g) - (1 - g) * h)
    yield Solved("the edge", Subs(p, z, -1).doit(), h, [2 * (1 + g) / (1 - g)])
    root = (1 + g - (1 - g) * h + sqrt((1 + g - (1 - g) * h) ** 2 - 4 * g)) / 2
    yield Solved("the roots", p, z, [root, g / root])


CASES = {g: Rational(1, 2)}, {g: Rational(7, 8)}
whole = Subject(drawn, bent=LINEAR, old=0.0, jumps=0.0, turning=0.0, size=1.0)
old, turning, jumps = whole(old=1.0), whole(turning=1.0), whole(jumps=1.0)
tanh = whole(bent=BENT, size=1 / 1024)  # the statement is local: from afar tanh may cycle
theorem = Theorem(
    place="momentum networks in learning to optimise; reconstructed, the interval derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(factored=factored, shrinks=shrinks, stable=stable, attracts=attracts),
    proofs=(two_neurons, jury),
    experiments=dict(
        layers=Experiment(
            characteristic, both, {N: 1}, at=CASES, draws=Efforts(2, 3, 8), padded=True, subjects={
                "linear": whole, "turning": turning,
                "old velocity": old.breaking(H.momentum, fails=(factored, shrinks)),
            },
        ),
        spectra=Experiment(
            spectrum, (seen.share, seen.radius), {N: 1}, at=CASES, draws=Efforts(500, 500, 2000),
            platform="cpu", padded=True, subjects={
                "linear": whole, "tanh": tanh,
                "old velocity": old.breaking(H.momentum, fails=stable),
                "turning": turning.breaking(H.symmetric, fails=stable),
            },
        ),
        runs=Experiment(
            run, (seen.share, seen.nearer), {N: 200}, at=CASES, draws=Efforts(500, 500, 2000), padded=True, subjects={
                "linear": whole, "tanh": tanh,
                "old velocity": old.breaking(H.momentum, fails=attracts),
                "turning": turning.breaking(H.symmetric, fails=attracts),
                "jumping targets": jumps.breaking(H.tied, fails=attracts),
            },
        ),
    ),
    issues=(
        "A residual network, g = 0, converges too for 0 < h < 2; its layers have no inverse in closed form.",
        "With Jacobians that are not symmetric h is complex, and another region takes the place of the interval.",
        "Exactly at the edge an eigenvalue is -1; nothing is said there.",
    ),
)
