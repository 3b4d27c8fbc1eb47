"""A linear residual network whose loss is small at the start converges exponentially, at a rate that no depth changes.

**Theorem.** Let W_n = I + theta_n/N, Pi = W_N ... W_1, l = ||Pi - B||_F^2, and grad_n its gradient
by theta_n. For all weights and B, grad_n = (2/N) Pi_(>n)^T (Pi - B) Pi_(<n)^T, with the products of
the layers after and before n. Let 0 < rho <= 1 and ||I - B||_F <= rho e^(-3 rho). Let the weights
start at zero, or with ||theta_n||_F + e^(3 rho) ||Pi - B||_F <= rho for all n. Then the flow d
theta_n/dt = -N grad_n has l(t) <= l(0) exp(-4 e^(-2 rho) t) for all t >= 0 and every depth N, and
||theta_n(t)||_F <= rho for all n and t. The last bound also holds for the flow without the factor
N.

**Idea.** While all ||theta_n|| <= rho <= 1, products of N - 1 layers have singular values between
(1 - rho/N)^(N-1) >= e^(-rho) and e^rho. So N sum_n ||grad_n||^2 >= 4 e^(-2 rho) l, and the loss
decays. A weight moves by at most 2 e^rho times the integral of sqrt(l), that is e^(3 rho)
sqrt(l(0)), so it never leaves the ball.
"""

import jax
import jax.numpy as jnp
from sympy import Derivative, E, Integer, Integral, Rational, Subs, Symbol, diff, exp, log, oo, transpose

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.resnet_discretizes_ode import _linear as setting
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear
from theorax.theorems.resnet_discretizes_ode._linear import rho
from theorax.theorems.resnet_discretizes_ode._networks import N

k = Index("k", "twice the time")
loss = Measured("loss", "||Pi - B||_F^2 at time k/2", over=(k,), positive=True)
seen = numbers(first="the loss at the start", reach="the largest ||theta_n||_F at all times", positive=True)
sides = arrays(
    gradient="gradient of the loss by all weights, by automatic differentiation",
    formula="(2/N) Pi_(>n)^T (Pi - B) Pi_(<n)^T",
)

slack = Absolute(1, 10**6, "the error of the flow stays below it")
H = hypotheses(
    small="||I - B||_F <= rho e^(-3 rho)",
    inside="weights start at zero, or at ||theta_n|| + e^(3 rho) ||R|| <= rho",
    scaled="gradient flow runs with the factor N",
)
decays = Inequality(
    log(loss / seen.first), at_most=-4 * exp(-2 * rho) * k / 2, under=(H.small, H.inside, H.scaled), margin=slack,
    wrong={
        "e^(2 rho) for e^(-2 rho)": -4 * exp(2 * rho) * k / 2,
        "twice the rate": -8 * exp(-2 * rho) * k / 2,
    },
)
stays = Inequality(
    # Any factor in the place of N leads through the same weights.
    seen.reach, at_most=rho, under=(H.small, H.inside), margin=slack, wrong={"a third of the ball": rho / 3},
)
explicit = Identity(
    sides.gradient, sides.formula, under=(), margin=Relative(1, 10**9, "rounding stays below it"),
    wrong={"the mean instead of the sum": sides.formula / setting.D**2},
)


def observe(training, N):
    theta, error = training.flow(N)
    losses = linear.losses(theta, training.B, N)
    # A change delta of the stack moves the product by at most e delta, the loss by 2 sqrt(l) e delta + (e delta)^2.
    moved = jnp.e * error
    return dict(
        loss=losses[1:], loss_error=2 * jnp.sqrt(losses[1:]) * moved + moved**2, first=losses[0],
        reach=jnp.max(linear.norms(theta)), reach_error=error,
    )


def compare(training, N):
    slopes = jax.grad(lambda theta: linear.loss(theta, training.B, N))(training.theta)
    return dict(gradient=slopes, formula=linear.gradients(training.theta, training.B, N))


def run(depth, theta, B):
    return compare(setting.Training(theta, B, 1.0), literal(depth))


@settles(explicit)
def on_symbols():
    """Generic weights and targets; 2 x 2 matrices, depths 1 to 3."""
    for depth in (1, 2, 3):
        training = setting.Training(setting.symbols("t", depth, 2, 2), setting.symbols("b", 2, 2), 1.0)
        yield Instance(explicit, f"N = {depth}", compare, training, literal(depth))


@lemma
def every_size():
    """Every depth N and dimension, entry by entry: W_n moves by t p q^T/N; A = Pi_(>n), C = Pi_(<n), R = Pi - B."""
    A, C, R, p, q = generic_matrices("A C R p q")
    t = Symbol("t", positive=True)
    y, z = A * p, transpose(C) * q  # the product moves by t y z^T/N
    moved = R + t * y * transpose(z) / N
    linear_part = y * transpose(z)
    gram = transpose(R) * R + t * (transpose(linear_part) * R + transpose(R) * linear_part) / N
    square = t**2 * transpose(linear_part) * linear_part / N**2
    yield MatrixStep("||Pi - B||_F^2 is the trace of this", transpose(moved) * moved, gram + square)
    # tr(R^T y z^T) = z^T R^T y, a number, and so equal to its transpose.
    number = ((transpose(z) * transpose(R) * y, transpose(y) * R * z),)
    slope = (transpose(y) * R * z + transpose(z) * transpose(R) * y) / N
    entry = 2 * transpose(p) * (transpose(A) * R * transpose(C)) * q / N
    yield MatrixStep("the slope in t: entry p, q of the formula", slope, entry, number)


@derives(decays)
def rate():
    """Every depth and dimension, rho at most one; that a product's singular values multiply at most is cited."""
    u, t = Symbol("u", positive=True), Symbol("t", positive=True)
    gap = u / (1 - u) + log(1 - u)
    yield Step("-log(1 - u) <= u/(1 - u): both vanish at zero ...", Subs(gap, u, 0), 0)
    yield Step("... and their difference grows", Derivative(gap, u), u / (1 - u) ** 2)
    exponent = (N - 1) * Subs(u / (1 - u), u, rho / N)
    yield Step("so (1 - rho/N)^(N-1) >= e^(-rho) if rho <= 1", rho - exponent, rho * (1 - rho) / (N - rho))
    yield Cited("||A X B||_F >= s_min(A) s_min(B) ||X||_F, and s_min of a product is at least their product",
                "Horn and Johnson 2013, 7.3")
    slowest = N * N * (2 * exp(-rho) / N) ** 2  # N sum ||grad_n||^2 over l
    yield Step("d log l/dt <= -4 e^(-2 rho), up to time k/2", -Integral(slowest, (t, 0, k / 2)), decays.at_most)


@derives(stays)
def ball():
    """Every depth and dimension, the loss at the start at most rho^2 e^(-6 rho)."""
    t = Symbol("t", positive=True)
    residual = rho * exp(-3 * rho) * exp(-2 * exp(-2 * rho) * t)
    way = Integral(2 * exp(rho) * residual, (t, 0, oo))
    yield Step("||d theta_n/dt|| <= 2 e^rho ||R||, integrated", way, stays.at_most)
    best, largest = Rational(1, 3), rho * exp(-3 * rho)
    yield Solved("the largest admissible ||I - B|| is at rho = 1/3", diff(largest, rho), rho, [best])
    yield Step("and is 1/(3 e)", Subs(largest, rho, best), 1 / (3 * E))


theorem = Theorem(
    place="convergence of linear residual networks at small loss; reconstructed, the constants are derived here",
    label="reconstructed",
    uses=("ode_solver",),
    hypotheses=H,
    claims=dict(decays=decays, stays=stays, explicit=explicit),
    proofs=(on_symbols, every_size, rate, ball),
    experiments=dict(
        flows=Experiment(
            observe, (loss, seen), {N: Efforts((4, 8, 32), (4, 8, 32), (4, 8, 32, 128))},
            at=({rho: Rational(1, 3)}, {rho: Integer(1)}, {rho: Rational(1, 10)}),
            along={k: (1, 4, 8)}, draws=Efforts(160, 160, 400), span=32, padded=True, subjects={
                "zero start": setting.WITHIN,
                "smooth start": setting.WITHIN(kind=setting.SMOOTH, share=setting.QUARTER),
                "reflection": setting.WITHIN(reflected=1).breaking(H.small, fails=(decays, stays)),
                "a pinched layer": setting.WITHIN(kind=setting.PINCHED, share=setting.QUARTER).breaking(
                    H.inside, fails=(decays, stays),
                ),
                "without the factor N": setting.WITHIN(scaled=0.0).breaking(H.scaled, fails=decays),
            },
        ),
        gradients=Experiment(
            compare, sides, {N: Efforts((2, 6), (2, 6), (2, 6, 16))}, draws=Efforts(2, 3, 8), padded=True,
            subjects={"iid start": setting.TRAINING(kind=setting.IID)},
        ),
    ),
    issues=(
        "The guaranteed rate is a lower bound: rates measured are between it and 4 e^(2 rho).",
        "Where det B < 0 the flow cannot leave the matrices of positive determinant. Larger steps could move a network "
        "of finite depth out of them, through a singular layer.",
    ),
)
