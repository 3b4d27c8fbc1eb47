"""Gradient flow keeps the balance W_(n+1)^T W_(n+1) - W_n W_n^T of neighbouring layers, from every start.

**Theorem.** Let W_n = I + theta_n/N, Pi = W_N ... W_1, l = ||Pi - B||_F^2 for any B, grad_n the
gradient of l by theta_n and D_n = W_(n+1)^T W_(n+1) - W_n W_n^T. Then W_(n+1)^T grad_(n+1) = grad_n
W_n^T, for any weights. So the flow d theta_n/dt = -N grad_n keeps every D_n constant, from every
start. A step of gradient descent with the rate eta N changes D_n by eta^2 (grad_(n+1)^T
grad_(n+1) - grad_n grad_n^T), exactly. After K steps with eta = 1/K, max_n ||change of D_n||_F has
the exact order 1/K as K -> oo, for N = 8, d = 3, iid Gaussian theta_n and a random B at distance
one from I. The claims need one speed for all layers, and a loss that depends on Pi alone.

**Idea.** With M_n = Pi_(>n+1)^T (Pi - B) Pi_(<n)^T one has grad_(n+1) = (2/N) M_n W_n^T and
grad_n = (2/N) W_(n+1)^T M_n. This gives the first identity, by which the terms linear in eta
cancel. K steps of squares eta^2 add up to O(1/K).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Integer, Rational, Symbol, transpose

from theorax.language import *
from theorax.numerics import flows
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.theorems.resnet_discretizes_ode import _linear as setting
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear
from theorax.theorems.resnet_discretizes_ode._networks import N

seen = arrays(
    after="W_(n+1)^T grad_(n+1), by automatic differentiation",
    before="grad_n W_n^T",
    inner="W_n^T grad_n, the order of the products that are not kept",
    stepped="change of W_(n+1)^T W_(n+1) - W_n W_n^T in one step of gradient descent with the rate eta N",
    squares="eta^2 (grad_(n+1)^T grad_(n+1) - grad_n grad_n^T)",
    once="eta (grad_(n+1)^T grad_(n+1) - grad_n grad_n^T)",
)
K = Size("K", "steps of gradient descent up to the time one")
drift = Measured("drift", "the largest N ||change of W_(n+1)^T W_(n+1) - W_n W_n^T||_F after K steps", positive=True)
kept = numbers(
    balance="the largest N ||change of W_(n+1)^T W_(n+1) - W_n W_n^T||_F along gradient flow",
    other="the same of W_(n+1) W_(n+1)^T - W_n^T W_n",
)

H = hypotheses(
    product="the loss depends on the weights through their product alone",
    together="every layer is trained, all at one speed",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, a wrong term is of order one")
conserved = Identity(seen.after, seen.before, margin=exact, wrong={"the other order of both": seen.inner})
step = Identity(
    seen.stepped, seen.squares, margin=exact,
    wrong={"linear in eta": seen.once, "the sign": -seen.squares},
)
flow = Inequality(  # not "at most zero": of a norm that is an equality, whose other direction is true
    kept.balance, at_most=Rational(1, 10**4),  # N times the error of the flow stays below it
    wrong={"the other order of both": dict(of=kept.other)},
)
order = Rate(
    drift, 1 / K, as_=K, spread=Rational(1, 10),
    approach=Corrections(
        size=Rational(1, 2), slowest=1, rest=0, reference=16,
        reason="K squares of steps of length 1/K are a Riemann sum: corrections in powers of 1/K",
    ),
    margin=Absolute(1, 4, "an error of second order would fade like K^(-2), one that adds up not at all"),
    wrong={"second order": K**-2, "nothing fades": Integer(1)},
)
HORIZON, ETA, DEPTH = 4.0, 0.25, literal(8)


class Balance(eqx.Module):
    """A network in training, a penalty on its weights, and how much faster each layer learns than the one before."""

    net: setting.Training
    penalty: Scalar
    uneven: Scalar

    def loss(self, theta, N):
        """The loss, with the penalty."""
        return linear.loss(theta, jnp.asarray(self.net.B), N) + self.penalty * (theta * theta).sum()

    def slopes(self, theta, N):
        """Directions that the layers follow: gradients, by automatic differentiation, times their speeds."""
        speeds = 1 + self.uneven * jnp.arange(N.padded)[:, None, None]
        return jnp.where(N.mask[:, None, None], speeds * jax.grad(self.loss)(theta, N), 0)


def drawn(key, N, penalty, uneven):
    """Independent weights of order one, and a target at the distance one."""
    net = setting.training(key, N, setting.IID, 1.0, 0, 1.0)
    return Balance(eqx.tree_at(lambda net: net.theta, net, 25 * net.theta), penalty, uneven)


def inside(stack, N):
    """The pairs of neighbouring layers that are there."""
    return jnp.where((jnp.arange(N.padded - 1) + 1 < N.value)[:, None, None], stack, 0)


def balances(theta, N):
    """W_(n+1)^T W_(n+1) - W_n W_n^T for every n, and the other order of both."""
    W = linear.layers(theta, N)
    early, late = W[:-1], W[1:]
    turned = linear.transposed
    return (
        inside(linear.times(turned(late), late) - linear.times(early, turned(early)), N),
        inside(linear.times(late, turned(late)) - linear.times(turned(early), early), N),
    )


def run(model, N, eta):
    theta, turned = jnp.asarray(model.net.theta), linear.transposed
    W, slopes = linear.layers(theta, N), model.slopes(theta, N)
    # A step of the weights W_n is 1/N of that of theta_n, whose rate is eta N.
    moved = balances(theta - N.value * eta * slopes, N)[0] - balances(theta, N)[0]
    squares = linear.times(turned(slopes[1:]), slopes[1:]) - linear.times(slopes[:-1], turned(slopes[:-1]))
    found = dict(
        after=linear.times(turned(W[1:]), slopes[1:]), before=linear.times(slopes[:-1], turned(W[:-1])),
        inner=linear.times(turned(W[:-1]), slopes[:-1]), stepped=moved, squares=eta**2 * squares, once=eta * squares,
    )
    return {name: inside(stack, N) for name, stack in found.items()}


def compare(model, N):
    return run(model, N, ETA)


def along_flow(model, N):
    field = lambda n, s, x: -N.value * model.slopes(x, N)
    stacks, error = flows.flow(field, model.net.theta, literal(setting.SHOWN), 3, HORIZON)
    largest = linear.norms(linear.layers(stacks, N)).max()
    found = jax.vmap(lambda theta: jnp.stack(balances(theta, N)))(stacks)
    changed = N.value * linear.norms(found - found[:1]).max((0, 2))
    # N ||W^T W|| changes by 2 ||W|| where theta changes by one: two products, now and at the start.
    far = 8 * largest * error
    return dict(balance=changed[0], balance_error=far, other=changed[1], other_error=far)


def deep(key, penalty, uneven):
    return drawn(key, DEPTH, penalty, uneven)


def descend(model, K):
    start, rate = model.net.theta, DEPTH.value / K.value
    end = jax.lax.fori_loop(0, K.value, lambda _, theta: theta - rate * model.slopes(theta, DEPTH), start)
    return dict(drift=DEPTH.value * linear.norms(balances(end, DEPTH)[0] - balances(start, DEPTH)[0]).max())


@settles(conserved, step)
def on_symbols(claim):
    """Generic weights, targets and rates; 2 x 2 matrices, depths 2 and 3."""
    for depth in (2, 3):
        net = setting.Training(setting.symbols("t", depth, 2, 2), setting.symbols("b", 2, 2), 1.0)
        eta = np.array(Symbol("eta", real=True), dtype=object)
        yield Instance(claim, f"N = {depth}", run, Balance(net, 0, 0), literal(depth), eta)


@lemma
def every_depth():
    """Every depth N and dimension d."""
    W, later, M, slope, slope_later = generic_matrices("W_n W_(n+1) M_n grad_n grad_(n+1)")
    rate = Symbol("eta", positive=True)
    gradients = ((M * transpose(W), N * slope_later / 2), (transpose(later) * M, N * slope / 2))
    yield MatrixStep("what flow keeps", transpose(later) * slope_later, slope * transpose(W), gradients)

    def balance(W, later):
        return transpose(later) * later - W * transpose(W)

    moved = balance(W - rate * slope, later - rate * slope_later) - balance(W, later)
    squares = transpose(slope_later) * slope_later - slope * transpose(slope)
    yield MatrixStep("a step of descent", moved, rate**2 * squares, gradients)


def subjects(builder, *claims):
    """The training of the theorem, and one that breaks each hypothesis, at which these claims fail."""
    trained = Subject(builder, penalty=0.0, uneven=0.0)
    return {
        "iid start": trained,
        "weight decay": trained(penalty=0.1).breaking(H.product, fails=claims),
        "later layers learn faster": trained(uneven=0.5).breaking(H.together, fails=claims),
    }


theorem = Theorem(
    place="balancedness of linear networks; derived here for residual layers of every depth",
    label="derived",
    hypotheses=H,
    claims=dict(conserved=conserved, step=step, flow=flow, order=order),
    proofs=(on_symbols, every_depth),
    experiments=dict(
        gradients=Experiment(
            compare, seen, {N: Efforts((2, 6), (2, 6), (2, 6, 16))}, draws=Efforts(2, 3, 8), padded=True,
            subjects=subjects(drawn, conserved, step),
        ),
        flows=Experiment(
            along_flow, kept, {N: Efforts((8,), (8, 16), (8, 16, 32))}, draws=Efforts(500, 500, 800),
            padded=True, subjects=subjects(drawn, flow),
        ),
        descents=Experiment(
            descend, drift, {K: (16, 64, 256)}, draws=Efforts(32, 64, 200), span=256, seeds="paired", padded=True,
            subjects=subjects(deep, order),
        ),
    ),
    issues=("Along gradient descent the balance drifts by O(eta) up to a fixed time: see `order`.",),
)
