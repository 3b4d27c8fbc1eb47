"""Training keeps the weights of a linear residual network smooth in depth: N ||theta_(n+1) - theta_n|| is bounded.

**Theorem.** Let W_n = I + theta_n/N, Pi = W_N ... W_1, l = ||Pi - B||_F^2, grad_n its gradient by
theta_n, and M_n = Pi_(>n+1)^T (Pi - B) Pi_(<n)^T. For all weights and B, N (grad_(n+1) - grad_n) =
(2/N) (M_n theta_n^T - theta_(n+1)^T M_n). Let 0 < rho <= 1, ||I - B||_F <= rho e^(-3 rho), and
||theta_n||_F + e^(3 rho) ||Pi - B||_F <= rho at the start. Then the flow d theta_n/dt = -N grad_n
has N ||theta_(n+1)(t) - theta_n(t)||_F <= N ||theta_(n+1)(0) - theta_n(0)||_F + 2 rho^2 for all n
and t. If the start is zero or one Lipschitz function of n/N for all N, then for random B the
largest N ||theta_(n+1) - theta_n||_F over n and t has the exact order 1 as N -> oo.

**Idea.** Inside the ball of linear_resnet_small_loss_convergence, ||M_n|| <= e^rho ||Pi - B||. The
right side of the identity is at most (4/N) e^rho rho ||Pi - B||, and its integral over all times is
at most 2 rho^2/N. Smoothness is inherited, not created: from rough starts the weights stay rough.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Integral, Rational, Symbol, exp, oo, sqrt, transpose

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.resnet_discretizes_ode import _linear as setting
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear
from theorax.theorems.resnet_discretizes_ode._linear import rho
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers

gained = Measured("gained", "the largest N ||theta_(n+1)(t) - theta_n(t)||_F - N ||theta_(n+1)(0) - theta_n(0)||_F")
rough = Measured("rough", "the largest N ||theta_(n+1) - theta_n||_F at all times", positive=True)
seen = arrays(apart="N (grad_(n+1) - grad_n), by automatic differentiation", commuted="M theta_n^T - theta_(n+1)^T M")

H = hypotheses(
    small="||I - B||_F <= rho e^(-3 rho), and the weights start inside the ball",
    smooth="the weights at the start are a Lipschitz function of depth, the same for all N",
)
bounded = Inequality(
    gained, at_most=2 * rho**2, under=H.small,  # of any start inside the ball, rough ones too
    margin=Absolute(1, 10**4, "the error of the flow, N times enlarged, stays below it"),
    wrong={"nothing is gained": 0, "gained like 1/N": rho**2 / (8 * N), "a hundredth": rho**2 / 50},
)
uniform = Rate(
    rough, Integer(1), as_=N, under=(H.smooth, H.small), spread=Rational(1, 5),
    approach=in_powers(0.3, 8, "differences of a smooth function expand in 1/N; at most 0.1 at N = 8 on other seeds"),
    margin=Absolute(1, 4, "of rough weights it grows like N, of a square root of smoothness like sqrt(N)"),
    wrong={"sqrt(N) smaller": 1 / sqrt(N), "equal layers in the limit": 1 / N},
)
exact = Identity(
    seen.apart, 2 * seen.commuted / N, under=(), margin=Relative(1, 10**9, "rounding stays below it"),
    wrong={"one factor N too many": 2 * seen.commuted, "the terms exchanged": -2 * seen.commuted / N},
)


def observe(training, N):
    theta, error = training.flow(N)
    steps = linear.steps_in_depth(theta, N)
    far = 2 * N.value * error
    return dict(gained=jnp.max(steps - steps[0]), gained_error=far, rough=jnp.max(steps), rough_error=far)


def compare(training, N):
    theta, B = training.theta, training.B
    slopes = jax.grad(lambda theta: linear.loss(theta, B, N))(theta)
    after, before, product = linear.surroundings(theta, N)
    M = linear.times(linear.times(linear.transposed(after[1:]), product - B), linear.transposed(before[:-1]))
    right = linear.times(M, linear.transposed(theta[:-1])) - linear.times(linear.transposed(theta[1:]), M)
    return dict(apart=N.padded * (slopes[1:] - slopes[:-1]), commuted=right)


def run(depth, theta, B):
    return compare(setting.Training(theta, B, 1.0), literal(depth))


@settles(exact)
def on_symbols():
    """Generic weights and targets; 2 x 2 matrices, depths 2 and 3."""
    for depth in (2, 3):
        training = setting.Training(setting.symbols("t", depth, 2, 2), setting.symbols("b", 2, 2), 1.0)
        yield Instance(exact, f"N = {depth}", compare, training, literal(depth))


@lemma
def every_depth():
    """Every depth N and dimension d, with one letter for each product of layers, gradients being what `formula` of
    linear_resnet_small_loss_convergence says.
    """
    theta, later, after, before, residual = generic_matrices("theta_n theta_(n+1) Pi_(>n+1) Pi_(<n) R")
    W, W_later = 1 + theta / N, 1 + later / N
    slope = 2 * transpose(after * W_later) * residual * transpose(before) / N
    slope_later = 2 * transpose(after) * residual * transpose(W * before) / N
    M = transpose(after) * residual * transpose(before)
    commuted = M * transpose(theta) - transpose(later) * M
    yield MatrixStep("neighbouring gradients", N * (slope_later - slope), 2 * commuted / N)


@derives(bounded)
def integral():
    """Every depth and dimension, inside the ball."""
    t = Symbol("t", positive=True)
    residual = rho * exp(-3 * rho) * exp(-2 * exp(-2 * rho) * t)
    speed = 2 * (2 * rho) * exp(rho) * residual  # N^2 ||grad_(n+1) - grad_n||, two terms of at most rho ||M||
    yield Step("||M|| <= e^rho ||R||, integrated over all times", Integral(speed, (t, 0, oo)), 2 * rho**2)


theorem = Theorem(
    place="smoothness in depth of linear residual networks in training; reconstructed, the constant is derived here",
    label="reconstructed",
    uses=("linear_resnet_small_loss_convergence",),
    hypotheses=H,
    claims=dict(bounded=bounded, uniform=uniform, exact=exact),
    proofs=(on_symbols, every_depth, integral),
    experiments=dict(
        flows=Experiment(
            observe, (gained, rough), {N: Efforts((8, 16, 32), (8, 16, 32, 64), (8, 16, 32, 128))},
            at=({rho: Rational(1, 3)}, {rho: Integer(1)}, {rho: Rational(1, 10)}), draws=Efforts(150, 150, 400), span=32,
            seeds="paired", padded=True, subjects={
                "zero start": setting.WITHIN,
                "smooth start": setting.WITHIN(kind=setting.SMOOTH, share=setting.QUARTER),
                "rough start": setting.WITHIN(kind=setting.IID, share=setting.QUARTER).breaking(H.smooth, fails=uniform),
                "far target": setting.WITHIN(share=8.0).breaking(H.small, fails=bounded),
            },
        ),
        gradients=Experiment(
            compare, seen, {N: Efforts((2, 6), (2, 6), (2, 6, 16))}, draws=Efforts(2, 3, 8), padded=True,
            subjects={"iid start": setting.TRAINING(kind=setting.IID)},
        ),
    ),
    issues=(
        "From zero the gain is at most e^(-6 rho)/sqrt 8 of the bound to leading order: the commutator of "
        "linear_resnet_commutator_law.",
        "Smoothness is inherited: from a rough start the loss vanishes too, and the weights stay rough.",
    ),
)
