"""Trained weights of linear residual networks converge to a function of depth at rate 1/N, uniformly in time.

**Theorem.** Let theta_n^N(t), n = 1, ..., N, be the weights of W_n = I + theta_n/N under the flow d
theta_n/dt = -N grad_n of the loss ||W_N ... W_1 - B||_F^2. Let 0 < rho <= 1, ||I - B||_F <= rho
e^(-3 rho), and let all depths start from one Lipschitz function of n/N, inside the ball as in
linear_resnet_small_loss_convergence. With gap = max ||theta_n^N - theta_2n^2N||_F and dist = max
||theta_n^N - (2 theta_4n^4N - theta_2n^2N)||_F over n and t, for random B, gap has the exact order
1/N as N -> oo, and dist/gap -> 2. Maxima are over t = 1/2, 1, ..., 4, when the weights hardly move
any more.

**Idea.** If the gap is K/N, the differences of the depths N, 2N, 4N, ... add up to 2 K/N. So the
sequence is Cauchy, and its limit is a function of depth at that distance. Richardson's
extrapolation 2 theta_4n^4N - theta_2n^2N removes the term of order 1/N and stands for the limit:
the bound 2 K/N is attained. Smallness makes the rate uniform in time.
"""

import jax.numpy as jnp
import sympy
from sympy import Integer, Rational, Sum, Symbol, oo, sqrt

from theorax.language import *
from theorax.theorems.resnet_discretizes_ode import _linear as setting
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers

seen = numbers(
    gap="the largest ||theta_n of depth N - theta_2n of depth 2N||_F at all times",
    distance="the largest ||theta_n of depth N - (2 theta_4n of depth 4N - theta_2n of depth 2N)||_F at all times",
    positive=True,
)

H = hypotheses(
    small=Hypothesis(
        "||I - B||_F <= rho e^(-3 rho), and the weights start inside the ball",
        unbroken="it makes the rate uniform over all times; up to time four far targets, a reflection too, obey it",
    ),
    smooth="the weights at the start are a Lipschitz function of depth, the same for all N",
)
rate = Rate(
    seen.gap, 1 / N, as_=N, spread=Rational(1, 20),
    approach=in_powers(0.5, 8, "the logarithm of an expansion in 1/N; at most 0.2 at N = 8 on other seeds"),
    margin=Absolute(1, 3, "a second-order discretisation is one away, a square root a half"),
    wrong={"second order": N**-2, "a square root": 1 / sqrt(N)},
)


attained = Limit(
    seen.distance / seen.gap, Integer(2), as_=N, spread=Rational(1, 50),
    approach=in_powers(0.3, 8, "a quotient of two expansions in 1/N; at most 0.1 at N = 8 on other seeds"),
    margin=Absolute(1, 8, "at second order it is 3/2, for a square root 2.4, where the gap does not shrink it is one"),
    wrong={"second order": Rational(3, 2), "a square root": 1 + sqrt(2), "the gap itself": 1},
)


def observe(deepened, N):
    """The gap of the flows at N and 2N layers, and the distance to the limit that the next doubling extrapolates."""
    depths = N, N.doubled, N.doubled.doubled
    trained = (deepened.coarse, deepened.fine, deepened.finest)
    (coarse, first), (fine, second), (finest, third) = (
        net.flow(depth) for net, depth in zip(trained, depths, strict=True)
    )
    fine, finest = fine[:, 1::2], finest[:, 3::4]
    gap, distance = (jnp.max(linear.norms(coarse - other)) for other in (fine, 2 * finest - fine))
    return dict(gap=gap, gap_error=first + second, distance=distance, distance_error=first + second + 2 * third)


@derives(attained)
def telescope():
    """Any K, every depth, where the gap is K/N: the first-order term of an expansion in 1/N."""
    K, j = Symbol("K", positive=True), Symbol("j", integer=True, nonnegative=True)
    total = Sum(K / (2**j * N), (j, 0, oo))
    yield Step("the differences of N, 2N, 4N, ... add up", total, 2 * K / N)
    yield Step("their sum over the first of them", total / (K / N), attained.to)
    first, second = Symbol("c_1"), Symbol("c_2")
    weights = [first / depth + second / depth**2 for depth in (N, 2 * N, 4 * N)]
    beside = sympy.Limit(N * (2 * weights[2] - weights[1]), N, oo)
    yield Step("what Richardson's limit leaves of order 1/N", beside, 0)
    x = Symbol("x", positive=True)  # 2^(-p): weights of depths N, 2N and 4N move by 1, x and x^2
    yield Step("the quotient where the gap is of order N^-p", (1 - (2 * x**2 - x)) / (1 - x), 1 + 2 * x)


theorem = Theorem(
    place="limit of linear residual networks in training; reconstructed",
    label="reconstructed",
    uses=("linear_resnet_smoothness_preserved",),
    hypotheses=H,
    claims=dict(rate=rate, attained=attained),
    proofs=(telescope,),
    experiments=dict(
        depths=Experiment(
            observe, seen, {N: Efforts((4, 8, 16, 32), (4, 8, 16, 32), (4, 8, 16, 32, 128))}, span=32,
            draws=Efforts(40, 40, 200), seeds="paired", padded=True, subjects={
                "zero start": setting.DEEPENED,
                "smooth start": setting.DEEPENED(kind=setting.SMOOTH, size=setting.NEAR),
                # At odd n depth N starts with the other sign than both finer depths: as far from their limit as from either.
                "signs alternate with depth": setting.DEEPENED(kind=setting.ALTERNATING, size=setting.NEAR).breaking(
                    H.smooth, fails=(rate, attained),
                ),
            },
        ),
    ),
    issues=(
        "Times up to four, when the loss is e^(-13) of the first; the weights have stopped moving by then.",
        "Gradient flow runs with the factor N; without it the weights move by O(1/N), and the rate says nothing.",
        "The difference of N and 2N must be K/N at all depths; it is measured at some.",
    ),
)
