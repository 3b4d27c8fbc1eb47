"""Infinitely many layers with infinitely small steps: a linear flow whose error at position t is e^(-kappa s) s^(t-2).

**Theorem.** Let k(x_t, x_t) = kappa at all T tokens, K_L u* = L x_+ as in causal kernel descent,
and u(s) = u* - e^(-kappa s) sum_j (-sL)^j u*/j!. Then u(0) = 0 and du/ds = -(K_L u - L x_+) for all
s. The largest difference of u(s) from N layers of the Transformer with the step s/N is of order 1/N
as N -> oo (measured at T = 12, d = 3, s = 4/kappa). Let error be the largest coordinate of e^S |u*
- u(S/kappa)| at position T, and leading that of |u*_2| prod_(1<s<T) |k(x_(s+1), x_s)|/kappa, not
zero. Then error/leading/(S^(T-2)/(T-2)!) -> 1 as S -> oo at fixed T (measured at T = 3, 4, 5 for
e^<x,y> on one circle).

**Idea.** The flow has u(s) = u* - e^(-s K_L) u*, and K_L = kappa I + L with L nilpotent, so e^(-s
K_L) is e^(-kappa s) times a finite sum. Its last term at position t is of order s^(t-2), since
u*_1 = 0. N layers with the step s/N are Euler's method for this flow, whose error is of order 1/N.
"""

import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, Symbol, factorial

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _sequences as sequences
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import fixed_point, nilpotent_exponential
from theorax.theorems.causal_kernel_descent._sequences import ORBIT
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, SPHERE, T, d
from theorax.theorems.causal_kernel_descent._transformer import kernel_descent_transformer

N = Size("N", "number of layers")
S = Size("S", "time in units of 1/kappa, growing")
seen = arrays(
    speed="du/ds of the closed form",
    force="-(K_L u - L x_+) at the closed form",
    start="the closed form at s = 0",
    settled="the depth limit",
)
gap = Measured(
    "gap", "largest difference of N layers of the Transformer, step s/N, from the closed form", positive=True
)
ends = numbers(
    error="largest coordinate of e^S (u* - u(S)) at the last position T",
    leading="product of k(x_(s+1), x_s)/kappa, 1 < s < T, times that of u*_2",
    positive=True,
)

H = hypotheses(sphere=SPHERE)
rounding = "the account of the rounding stays below it, a wrong term is far above"
flow = Identity(seen.speed, seen.force, margin=Relative(1, 10**6, rounding))
rest = Identity(
    seen.start, 0, under=(), margin=Absolute(1, 10**6, rounding),
    wrong={"from the depth limit": dict(left=seen.settled)},
)
euler = Rate(
    gap, 1 / N, as_=N, spread=Rational(3, 10),
    approach=Corrections(
        size=0.2, slowest=1, rest=0.02, order=2, reference=64,
        reason="Euler's method expands in powers of the step; the logarithm is off by 0.06 at N = 64 on other seeds",
    ),
    margin=Absolute(1, 5, "a method of order two is one away"),
)
power = S ** (T - 2) / factorial(T - 2)
tail = Limit(
    ends.error / ends.leading / power, 1, as_=S, spread=2 / S,
    approach=Expansion(
        powers=(1,), rest=0.01, order=2, reference=64,
        reason="a quotient of polynomials in S; of second order 0.001 at S = 64 on other seeds",
    ),
    margin=Relative(1, 10, "a power of S more or less, or the factorial, is far away"),
    wrong={
        "e^(-kappa s) alone": dict(of=ends.error / ends.leading),
        "t - 1 in the place of t - 2": dict(of=ends.error / ends.leading * factorial(T - 1) / S ** (T - 1)),
    },
)


def solution(K, targets, s):
    """u(s) = u* - e^(-kappa s) sum_j (-s L)^j u*/j!, s in units of time."""
    u = fixed_point(K, targets)
    return u - jnp.exp(-K[0, 0] * s) * nilpotent_exponential(jnp.tril(K, -1), s, u)


def moved(K, targets, s):
    u, velocity = jax.jvp(lambda s: solution(K, targets, s), (s,), (jnp.ones_like(s),))
    return dict(
        speed=velocity, force=jnp.tril(K, -1) @ targets - jnp.tril(K) @ u,
        start=solution(K, targets, jnp.zeros_like(s)), settled=fixed_point(K, targets),
    )


def few(model, T):
    tokens, time = model
    X = tokens.tokens(T.padded + 1)
    return moved(tokens.gram(X[:-1]), X[1:], time)


def layered(model, T, N):
    """The Transformer, its layer applied N times."""
    tokens, time = model
    X = tokens.tokens(T.padded + 1)
    K, dimension = tokens.gram(X[:-1]), X.shape[1]
    network = kernel_descent_transformer(dimension, time / K[0, 0] / N.value, tokens.exponential)
    stream = jax.lax.fori_loop(0, N.value, lambda _, E: network.layer(E), network.embedded(X[:-1]))
    return dict(gap=jnp.abs(stream @ network.projection.T - solution(K, X[1:], time / K[0, 0])).max())


def late(model, T, S):
    tokens, _ = model
    X = tokens.tokens(T.padded + 1)
    K = tokens.gram(X[:-1])
    u, strict = fixed_point(K, X[1:]), jnp.tril(K, -1) / K[0, 0]
    total = nilpotent_exponential(strict, S.value, u)
    place = jnp.arange(T.padded - 1)
    between = jnp.where((place > 0) & (place < T.value - 1), jnp.diagonal(K, -1) / K[0, 0], 1)
    return dict(error=jnp.abs(total[T.value - 1]).max(), leading=jnp.abs(between.prod() * u[1]).max())


def plane(key, exponential, number):
    """One plane, whose part is a constant here: as a traced option it rounds otherwise in the last bit."""
    return sequences.two_planes(key, 1.0, exponential), number


@settles(flow, rest)
def every_time(claim):
    """Every kernel of constant diagonal and any targets, at every time; three and four tokens."""
    s = np.array(Symbol("s", positive=True), dtype=object)
    for order, K, targets in setting.kernels():
        yield Instance(claim, f"T = {order}", moved, K, targets, s)


short_time, long_time = ORBIT(number=0.7), ORBIT(number=4.0)
theorem = Theorem(
    place="infinite depth (derived here)",
    label="derived",
    uses=("ckd_depth_convergence", "ckd_transformer_construction"),
    hypotheses=H,
    claims=dict(flow=flow, rest=rest, euler=euler, tail=tail),
    proofs=(every_time,),
    experiments=dict(
        few=Experiment(few, seen, {T: (4, 8)}, at={d: 3}, draws=setting.FEW, padded=True, subjects={
            "linear": short_time,
            "exponential": short_time(exponential=EXPONENTIAL),
            "tokens 5 % longer": short_time(scale=1.05).breaking(H.sphere, fails=flow),
        }),
        layers=Experiment(
            layered, gap, {N: (64, 128, 256, 512)}, at={T: 12, d: 3}, draws=Efforts(64, 128, 512), span=8,
            seeds="paired", padded=True, subjects={
                "linear": long_time,
                "exponential": long_time(exponential=EXPONENTIAL),
                "tokens 1 % longer": long_time(scale=1.01).breaking(H.sphere, fails=euler),
            },
        ),
        times=Experiment(
            late, ends, {S: (64, 128, 256, 512)}, at=({T: 3}, {T: 4}, {T: 5}), draws=Efforts(64, 128, 512), span=8,
            padded=True, subjects={"exponential": Subject(plane, exponential=EXPONENTIAL, number=0.0)},
        ),
    ),
    issues=(
        "The exponential of K_L is computed as the finite sum. A general matrix exponential may lose all digits on "
        "triangular matrices whose diagonal is constant only up to rounding.",
    ),
)
