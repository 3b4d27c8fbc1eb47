"""Trained weights of linear residual networks converge to a function of depth at rate 1/N, uniformly in time.

What is measured is how far the weights of depth N are from those of depth 2N at the same s = n/N, at all times. If
that is K/N, the differences of N, 2N, 4N, ... add up to 2 K/N: the sequence is Cauchy and its limit is that near. No
reference depth enters, and so no bias of one.
"""

import jax.numpy as jnp
from sympy import Rational, Sum, Symbol, oo, sqrt

from theorax.language import *
from theorax.theorems.resnet_discretizes_ode import _linear as setting
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear
from theorax.theorems.resnet_discretizes_ode._networks import N, in_powers

gap = Measured("gap", "the largest ||theta_n of depth N - theta_2n of depth 2N||_F at all times", positive=True)

H = hypotheses(
    small=Hypothesis(
        "||I - B||_F <= rho e^(-3 rho), and the weights start inside the ball",
        unbroken="it makes the rate uniform over all times; up to time four far targets, a reflection too, obey it",
    ),
    smooth="the weights at the start are a Lipschitz function of depth, the same for all N",
)
rate = Rate(
    gap, 1 / N, as_=N, spread=Rational(1, 20),
    approach=in_powers(0.5, 8, "the logarithm of an expansion in 1/N; at most 0.2 at N = 8 on other seeds"),
    margin=Absolute(1, 3, "a second-order discretisation is one away, a square root a half"),
    wrong={"second order": N**-2, "a square root": 1 / sqrt(N)},
)  # fmt: skip


def observe(doubled, N):
    coarse, error = doubled.coarse.flow(N)
    fine, finer_error = doubled.fine.flow(N.doubled)
    return dict(gap=jnp.max(linear.norms(coarse - fine[:, 1::2])), gap_error=error + finer_error)


@lemma
def telescope():
    """Any K, every depth."""
    K, j = Symbol("K", positive=True), Symbol("j", integer=True, nonnegative=True)
    yield Step("the differences of N, 2N, 4N, ... add up", Sum(K / (2**j * N), (j, 0, oo)), 2 * K / N)


theorem = Theorem(
    place="limit of linear residual networks in training; reconstructed",
    label="reconstructed",
    uses=("linear_resnet_smoothness_preserved",),
    hypotheses=H,
    claims=dict(rate=rate),
    proofs=(telescope,),
    experiments=dict(
        depths=Experiment(
            observe, gap, {N: Efforts((4, 8, 16, 32), (4, 8, 16, 32), (4, 8, 16, 32, 128))}, span=32,
            draws=Efforts(40, 80, 200), seeds="paired", padded=True, subjects={
                "zero start": setting.DOUBLED,
                "smooth start": setting.DOUBLED(kind=setting.SMOOTH, size=setting.NEAR),
                "rough start": setting.DOUBLED(kind=setting.IID, size=setting.NEAR).breaking(H.smooth, fails=rate),
            },
        ),
    ),
    issues=(
        "Times up to four, when the loss is e^(-13) of the first; the weights have stopped moving by then.",
        "Gradient flow runs with the factor N; without it the weights move by O(1/N), and the rate says nothing.",
        "The difference of N and 2N must be K/N at all depths; it is measured at some.",
    ),
)  # fmt: skip
