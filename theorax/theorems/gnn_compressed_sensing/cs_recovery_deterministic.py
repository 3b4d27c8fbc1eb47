"""Least squares over any set finds the signal up to noise and mismatch over the least gain: an inequality for every matrix.

**Theorem.** Let y = M x + w, F = ||B||_F, M = B A, x_T in T, and let x' in T have a residual
||M x' - y|| at most eps above the least over T. Let alpha = ||M v||/(F ||v||) > 0, v = x' - x_T,
and beta = ||M(x - x_T)||/(F ||x - x_T||). Then ||x' - x_T||
<= (2||M(x - x_T)|| + 2||w|| + eps)/(alpha F) and ||x' - x|| <= (1 + 2 beta/alpha)||x - x_T|| +
(2||w|| + eps)/(alpha F), for every M and T. The first bound is attained up to the factor 0.999 by T
= {x_T, t}, x = x_T, eps = 0 and w just above M(t - x_T)/2. The second is by the same T, w = 0, M e
= 4096 M(t - x_T), |e| = 1, and x = 2 x_T - t + (3/2 + 2^-20) e/4096, for Gaussian x_T and t
orthogonal to e.

**Idea.** The residual of x_T is at most ||M(x - x_T)|| + ||w||, and that of x' at most eps more.
The two residual vectors differ by M v, whatever w is. Noise half way to M t makes y as near to M t
as to M x_T. The factor 1 + 2 beta/alpha is attained in the limit of a direction that M enlarges.
"""

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, Subs, Symbol, symbols

from theorax.language import *
from theorax.numerics.host import on_host
from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._relu_range import nearest, pieces

m = Size("m", "number of measurements")
seen = numbers(
    found="||x' - x_T||",
    error="||x' - x||",
    apart="||x - x_T||",
    missed="||M(x - x_T)||",
    noise="||w||",
    eps="what the residual of x' is above the least",
    alpha="||M v||/(F ||v||), v = x' - x_T",
    beta="||M(x - x_T)||/(F ||x - x_T||)",
    F="||B||_F",
)
H = hypotheses(
    linear="y = M x + w",
    member="x_T is a point of T",
    minimiser="the residual ||M x' - y|| is at most eps above the least over T",
    against="T = {x_T, t}, x = x_T, w is just above M(t - x_T)/2, and x' is the minimiser",
    enlarged="T = {x_T, t}, w = 0, M enlarges a direction of x - x_T by 4096, and x' is the minimiser",
)
every = (H.linear, H.member, H.minimiser)
gain = seen.alpha * seen.F
noisy = (2 * seen.noise + seen.eps) / gain
from_x_T = (2 * seen.missed + 2 * seen.noise + seen.eps) / gain
from_x = (1 + 2 * seen.beta / seen.alpha) * seen.apart + noisy
recovery = Inequality(
    seen.found, at_most=from_x_T, under=every,
    wrong={
        "||w||/2": from_x_T - Rational(3, 2) * seen.noise / gain, "F^2": from_x_T / seen.F,
        "||M(x - x_T)|| once": from_x_T - seen.missed / gain,
    },
)
mismatch = Inequality(
    seen.error, at_most=from_x, under=every,
    wrong={
        "1 + beta/alpha": from_x - seen.beta / seen.alpha * seen.apart, "2 beta/alpha": from_x - seen.apart,
        "F^2": from_x - noisy + noisy / seen.F,
    },
)
almost = Rational(999, 1000)
noise_sharp = Inequality(
    seen.found, at_least=almost * from_x_T, under=H.against, wrong={"a bound twice as large": 2 * from_x_T},
)
signal_sharp = Inequality(
    seen.error, at_least=almost * from_x, under=H.enlarged, wrong={"a bound twice as large": 2 * from_x},
)

N, HIDDEN, POINTS = 16, 5, 30
GAIN, BEYOND = 4096.0, 0.5 + 2.0**-20


class SignalSet(IntEnum):
    """Choices of T."""

    RELU = 0
    CLOUD = 1
    PAIR = 2


class Inverted(eqx.Module):
    """One problem y = M x + w and what was found for it; ``excess``: what is called eps."""

    M: jax.Array
    F: jax.Array
    x: jax.Array
    x_T: jax.Array
    w: jax.Array
    found: jax.Array
    excess: jax.Array


def least_squares(
    kind: np.ndarray, W: np.ndarray, V: np.ndarray, cloud: np.ndarray, M: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The point of T with the least residual, and that residual."""
    if kind == SignalSet.RELU:
        found, least = nearest(pieces((W, V)), M, y)
        return found, np.asarray(least)
    points = cloud[: 2 if kind == SignalSet.PAIR else None]
    distances = np.sqrt(((points @ M.T - y) ** 2).sum(1))
    return points[np.argmin(distances)], distances.min()


def problem(key, m, T, falling, signs, noise, away, against, enlarged, loose, outside, unlinear, other):
    """``falling``: B = diag(i^-falling). ``loose``: another point of T is taken, eps told, or not where ``other`` is set.

    ``away``: distance of x from x_T. ``outside``: distance of x_T from the point of T it is drawn as. ``unlinear``: the
    length of what y holds besides M x + w, in units of F.
    """
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    inside = jnp.arange(N) < N - 1  # the last coordinate is the direction that M may enlarge
    W, V = normal("W", HIDDEN, 2), normal("V", N, HIDDEN) * inside[:, None]
    generate = lambda z: jax.nn.relu(V @ jax.nn.relu(W @ z))
    ranged = jax.vmap(generate)(normal("z", 3, 2))
    cloud = normal("cloud", POINTS, N) * inside
    x_T, t, third = jnp.where(T == SignalSet.RELU, ranged, cloud[:3])
    x_T = x_T + outside * normal("outside", N)

    b = jnp.arange(1.0, m + 1) ** -falling
    A = normal("A", m, N)
    M = b[:, None] * jnp.where(signs == 1, jnp.sign(A), A)
    M = jnp.where((enlarged > 0) & ~inside, GAIN * (M @ (t - x_T))[:, None], M)
    F = jnp.sqrt((b**2).sum())

    x = x_T + away * normal("x", N) * inside
    x = jnp.where(enlarged > 0, x_T - (t - x_T) + (1 + BEYOND) / GAIN * ~inside, x)
    w = jnp.where(against > 0, BEYOND * M @ (t - x_T), noise * b * normal("w", m))
    y = M @ x + w + unlinear * F * normal("y", m)
    found, least = on_host(least_squares, [(N,), ()], T, W, V, cloud, M, y)
    excess = jnp.sqrt(((M @ third - y) ** 2).sum()) - least
    return Inverted(M, F, x, x_T, w, jnp.where(loose > 0, third, found), jnp.where(other > 0, 0, loose * excess))


def norm(v):
    return jnp.sqrt((v**2).sum())


def lengths(given):
    M, F, v, apart = given.M, given.F, given.found - given.x_T, given.x - given.x_T
    ratio = lambda v: norm(M @ v) / (F * jnp.where(norm(v) > 0, norm(v), 1))
    return dict(
        found=norm(v), error=norm(given.found - given.x), apart=norm(apart), missed=norm(M @ apart), noise=norm(given.w),
        eps=given.excess, alpha=jnp.where(norm(v) > 0, ratio(v), 1), beta=ratio(apart), F=F,
    )


@lemma
def difference_of_residuals():
    """Generic matrices and vectors of every size: M v is the residual of x' less that of x_T, whatever w is."""
    M, x, t, found, w = generic_matrices("M x t f w")
    y = M * x + w
    yield MatrixStep("M v", (M * found - y) - (M * t - y), M * (found - t))
    yield MatrixStep("the residual of x_T", M * t - y, -M * (x - t) - w)


@derives(recovery)
def two_residuals():
    """Every M, T, w and eps: ||M v|| = alpha F ||v|| is at most the sum of both residuals."""
    length = Symbol("v", positive=True)
    own = seen.missed + seen.noise
    yield Solved("an equality at worst", gain * length - own - (own + seen.eps), length, [from_x_T])


@derives(mismatch)
def through_x_T():
    """Every M, T, w and eps: ||x' - x|| is at most ||x - x_T|| + ||x' - x_T||."""
    beta, error = symbols("b e", positive=True)
    defined = [beta * seen.F * seen.apart - seen.missed, error - seen.apart - from_x_T]
    yield Solved("beta is ||M(x - x_T)||/(F ||x - x_T||)", defined[0], beta, [seen.missed / (seen.F * seen.apart)])
    yield Step("in beta", Subs(seen.apart + from_x_T, seen.missed, seen.beta * seen.F * seen.apart), from_x)


@lemma
def attained():
    """M(t - x_T) of any length s: half of it as noise; and x = x_T - c v with an enlarged direction, M(x - x_T) = M v/2."""
    s, c, v = symbols("s c v", positive=True)
    yield Step(
        "the bound at w = M v/2 is ||v||", Subs(from_x_T, (seen.missed, seen.eps, seen.noise), (0, 0, gain * s / 2)), s
    )
    at_half = {seen.noise: 0, seen.eps: 0, seen.beta: seen.alpha * v / (2 * c * v), seen.apart: c * v}
    yield Step("the bound is (1 + c)||v||", Subs(from_x, tuple(at_half), tuple(at_half.values())), (1 + c) * v)


relu = Subject(
    problem, T=SignalSet.RELU, falling=0.0, signs=0, noise=0.3, away=0.5, against=0, enlarged=0, loose=0.0, outside=0.0,
    unlinear=0.0, other=0,
)
cloud, pair = relu(T=SignalSet.CLOUD), relu(T=SignalSet.PAIR, noise=0.0, away=0.0)
plain = lambda subject: subject.breaking(H.against, fails=noise_sharp).breaking(H.enlarged, fails=signal_sharp)
theorem = Theorem(
    place="the deterministic half of the main theorem (reconstructed); its constants are derived here",
    label="derived",
    hypotheses=H,
    claims=dict(recovery=recovery, mismatch=mismatch, noise_sharp=noise_sharp, signal_sharp=signal_sharp),
    proofs=(difference_of_residuals, two_residuals, through_x_T, attained),
    experiments=dict(
        problems=Experiment(lengths, seen, {m: Efforts((8,), (8,), (4, 8, 32))}, draws=Efforts(600, 600, 1200), subjects={
            "ReLU range": plain(relu),
            "ReLU range, B = diag(i^-1), signs": plain(relu(falling=1.0, signs=1)),
            "ReLU range, another point and its eps": plain(relu(loose=1.0)),
            "cloud of points": plain(cloud),
            "noise half way to another point": pair(against=1).breaking(H.enlarged),
            "a direction enlarged": pair(enlarged=1).breaking(H.against),
            "y holds more than M x + w": plain(relu(unlinear=5.0)).breaking(H.linear, fails=(recovery, mismatch)),
            "another point, eps not told": plain(relu(loose=1.0, other=1)).breaking(H.minimiser, fails=(recovery, mismatch)),
            "x_T outside of T": relu(outside=8.0, away=0.1).breaking(
                H.member, H.against, H.enlarged, fails=(recovery, mismatch),
            ),
            "a pair, noise independent of M": plain(pair(noise=0.3)),
        }),
    ),
    issues=(
        "T and M are arbitrary. How large alpha is follows from the main theorem, not from this one.",
        "Noise independent of M uses about half of the bound at most.",
    ),
)
