"""Without noise m = k + 1 measurements find one fixed point of a ReLU range, and m = 2k find all of them at once.

**Theorem.** Let T be the range of a ReLU network with k = 2 latents, widths 5 and 12 and Gaussian
weights. Let A be Gaussian with m rows, independent of the network and of x in T, x != 0. If at
least k + 1 = 3 rows differ, then almost surely the point of T with the least ||A x' - A x|| is x,
found up to 10^(-6) |x|. Let V_p be the range of the linear map of piece p. If at least 2k = 4 rows
differ, then almost surely A is injective on V_p + V_q for all p, q, by numerical ranks. If m = 3,
then with probability at least 1/2 two different points of T have the same image under A.

**Idea.** A second solution in a piece L is a z with A(x - L z) = 0: m Gaussian equations for k
unknowns, almost surely without a solution for m > k. For all x at once, A must not vanish on V_p +
V_q, of dimension at most 2k. For m = 2k - 1 its kernel meets V_p + V_q in a line, whose parts lie
in the cones of the pieces with positive probability. The logarithm of the widths in the main
theorem pays for noise.
"""

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Integral, Rational, Subs, Symbol, exp, pi, sqrt

from theorax.language import *
from theorax.numerics.host import on_host
from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing._relu_range import collisions, nearest, pieces

m = Size("m", "number of measurements")
fixed = numbers(error="||x' - x||/||x||, x a point of the range, y = A x")
every = numbers(
    lost="largest number of dimensions that A takes from V_p + V_q, of all pieces p, q",
    size="length of the first row of A, which differs from draw to draw",
)
pairs = numbers(found="pairs of pieces that hold two points with the same image", first="length of the first row of A")

H = hypotheses(
    gaussian="entries of A are independent standard normal",
    independent="A is independent of x and of the network",
    one_more="at least k + 1 = 3 of the m measurements are different",
    twice="at least 2k = 4 of the m measurements are different",
)
tiny = Rational(1, 10**6)
one = Probability(
    fixed.error <= tiny, at_least=1, under=(H.gaussian, H.independent, H.one_more),
    wrong={"found to 1e-20": dict(event=fixed.error <= Rational(1, 10**20))},
)
all_at_once = Probability(
    every.lost < Rational(1, 2), at_least=1, content=Rational(1, 20), under=(H.gaussian, H.independent, H.twice),
    wrong={"one dimension is lost": dict(event=every.lost > Rational(1, 2))},
)
collide = Probability(
    pairs.found > Rational(1, 2), at_least=Rational(1, 2), under=(H.gaussian, H.independent),
    margin=Absolute(1, 10, "no pair collides if three measurements are enough for all x"),
    wrong={"3 measurements are enough for all x": dict(event=pairs.found < Rational(1, 2))},
)
N, HIDDEN = 12, 5


class Identified(eqx.Module):
    """Measurements, what they found relative to the length of x, and what they confuse."""

    A: jax.Array
    error: jax.Array
    lost: jax.Array
    found: jax.Array


class Quantity(IntEnum):
    """Quantity computed of a problem; the others are zero."""

    ERROR = 0
    LOST = 1
    PAIRS = 2


def identify(W: np.ndarray, V: np.ndarray, A: np.ndarray, x: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, ...]:
    """Relative error of the nearest point for y = A x, dimensions that A takes from two pieces, and colliding pairs."""
    parts, zero = pieces((W, V)), np.zeros(())
    if asked == Quantity.ERROR:
        return np.asarray(np.linalg.norm(nearest(parts, A, A @ x)[0] - x) / np.linalg.norm(x)), zero, zero
    if asked == Quantity.PAIRS:
        return zero, zero, np.asarray(len(collisions(parts, A)))
    first, second = np.triu_indices(len(parts), 1)
    joined = np.concatenate([parts.maps[first], parts.maps[second]], axis=2)
    lost = np.linalg.matrix_rank(joined) - np.linalg.matrix_rank(A @ joined)
    return zero, np.asarray(lost.max()), zero


def measurements(key, m, asked, different, adapted, aligned):
    """``different``: rows of A that differ, the others repeat them. ``adapted``: A vanishes on x - t, t in the range.

    ``aligned``: rows of A in one plane.
    """
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    W, V, A = normal("W", HIDDEN, 2), normal("V", N, HIDDEN), normal("A", m, N)
    V = V.at[0].set(jnp.abs(V[0]))  # a neuron that is always active, so that x is not zero
    generate = lambda z: jax.nn.relu(V @ jax.nn.relu(W @ z))
    # Latents on the active side of one neuron: x is not zero, and generic.
    z, other = normal("z", 2), normal("t", 2)
    x, t = generate(z * jnp.sign(W[0] @ z)), generate(other * jnp.sign(W[1] @ other))
    v = (x - t) / jnp.linalg.norm(x - t)
    A = jnp.where(aligned > 0, A[:, :2] @ A[:2], A)
    A = A[jnp.arange(m) % different]
    A = A - jnp.where(adapted > 0, jnp.outer(A @ v, v), 0)
    return Identified(A, *on_host(identify, [(), (), ()], W, V, A, x, asked))


def fixed_point(model):
    return dict(error=model.error)


def all_points(model):
    return dict(lost=model.lost, size=jnp.linalg.norm(model.A[0]))


def confused(model):
    return dict(found=model.found, first=jnp.linalg.norm(model.A[0]))


@lemma
def no_second_solution():
    """Every k: a row that is independent of the k + 1 vectors before it is orthogonal to their kernel with probability zero."""
    x, t = Symbol("x", real=True), Symbol("t", positive=True)
    near_zero = Integral(exp(-(x**2) / 2) / sqrt(2 * pi), (x, -t, t))
    yield Step("probability of an angle t of it, at most", sympy.Limit(sqrt(2 / pi) * t, t, 0), 0)
    yield Step("of which the slope at t = 0 is the largest", sympy.Limit(near_zero.doit() / t, t, 0), sqrt(2 / pi))


@lemma
def kernel_meets():
    """Every k and n: dimensions of V_p + V_q and of the kernel of A, less those of the whole space."""
    k, n = (Symbol(name, integer=True, positive=True) for name in ("k", "n"))
    common = 2 * k + (n - m) - n
    yield Step("m = 2k: the two meet in zero alone", Subs(common, m, 2 * k), 0)
    yield Step("m = 2k - 1: in a line", Subs(common, m, 2 * k - 1), 1)


ALL = 64
three = Subject(measurements, asked=Quantity.ERROR, different=ALL, adapted=0, aligned=0)
ranks, confusing = three(asked=Quantity.LOST), three(asked=Quantity.PAIRS)
theorem = Theorem(
    place="remark on the noiseless case of the recovery from a ReLU range (derived here)",
    label="derived",
    uses=("cs_recovery_deterministic",),
    hypotheses=H,
    claims=dict(one=one, all_at_once=all_at_once, collide=collide),
    proofs=(no_second_solution, kernel_meets),
    experiments=dict(
        fixed=Experiment(fixed_point, fixed, {m: Efforts((3,), (3, 6), (3, 6))}, draws=Efforts(600, 600, 1000), subjects={
            "Gaussian": three,
            "two measurements, repeated": three(different=2).breaking(H.one_more, fails=one),
            "rows in a plane": three(aligned=1).breaking(H.gaussian, fails=one),
            "A vanishes on x - t": three(adapted=1).breaking(H.independent, fails=one),
        }),
        every=Experiment(all_points, every, {m: Efforts((4,), (4,), (4, 6))}, draws=Efforts(300, 300, 600), subjects={
            "Gaussian": ranks,
            "three measurements, one repeated": ranks(different=3).breaking(H.twice, fails=all_at_once),
            "rows in a plane": ranks(aligned=1).breaking(H.gaussian, fails=all_at_once),
            "A vanishes on x - t": ranks(adapted=1).breaking(H.independent, fails=all_at_once),
        }),
        pairs=Experiment(confused, pairs, {m: 3}, draws=Efforts(400, 400, 800), subjects={
            "three measurements": confusing,
        }),
    ),
    issues=(
        "Two latents alone are measured; ranks are those of floats.",
        "With noise, m = 3 leaves an error without a finite second moment.",
    ),
)
