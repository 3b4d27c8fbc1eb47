"""Sampled frames are orthonormal and Haar distributed, as far as fourth moments tell.

**Theorem.** Let G be a d x T matrix of iid standard normals, T <= d, with G = Q^T R computed by
Householder's algorithm and the diagonal of R made positive. Then the T rows of Q are orthonormal up
to rounding in double precision: ||Q Q^T - I||_F <= T^2 d 2^-53. Let q_ij be the entries of Q. Then,
for every T and d, the mean of q_ii over i has the expectation zero, E q_ij^4 = 3/(d (d + 2)), and
E sum_j q_ij^2 q_kj^2 = 1/(d + 2) for rows i != k, T >= 2.

**Idea.** A row q of a Haar frame is uniform on the sphere: q = g/|g| with g Gaussian and |g|
independent of q, so E q_1^4 = E g_1^4/E |g|^4. The rows complete to an orthogonal matrix whose
columns are unit vectors, which fixes E q_1^2 p_1^2 for two rows q and p. Without positive signs the
algorithm leaves the diagonal entries biased. These moments do not determine the Haar law.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Integral, Rational, Symbol, exp, gamma, oo, pi, sqrt

from theorax.language import *
from theorax.numerics.ensembles import gaussian as gaussian_matrix
from theorax.numerics.ensembles import haar_rows, orthonormal_rows
from theorax.numerics.extents import block
from theorax.numerics.keys import named

T = Size("T", "number of rows")
d = Size("d", "dimension")
ratio = Parameter("ratio", "rows per dimension, T/d", positive=True)
seen = numbers(
    defect="||Q Q^T - I||_F",
    diagonal="mean of sqrt(d) q_ii over the rows i",
    fourth="mean of q_ij^4 over all entries",
    overlap="mean of sum_j q_ij^2 q_kj^2 over pairs of rows",
)

H = hypotheses(
    signs="the triangle's diagonal is made positive",
    orthogonal="rows are made orthogonal",
    gaussian="the matrix that is factorised is Gaussian",
)
orthonormal = Inequality(seen.defect, at_most=T**2 * d * Rational(1, 2**53), under=H.orthogonal)
centred = Expectation(
    seen.diagonal, 0, under=(H.signs, H.gaussian), spread=1 / sqrt(T),
    margin=Absolute(1, 10, "without the signs it lies below -sqrt(2/pi) for the first row and is of that size for all"),
)
sphere = Expectation(
    seen.fourth, 3 / (d * (d + 2)), under=H.gaussian, spread=Rational(1, 2),
    margin=Relative(1, 20, "the fourth moment of Gaussian entries, 3/d^2, is 2/d off: an eighth at d = 16"),
    wrong={"Gaussian entries": 3 / d**2},
)
rows = Expectation(
    seen.overlap, 1 / (d + 2), under=(H.orthogonal, H.gaussian), spread=Rational(1, 4),
    margin=Relative(1, 20, "for independent rows of unit length it is 1/d, an eighth off at d = 16"),
    wrong={"independent rows": 1 / d},
)


def frame(key, T, d, unsigned, plain, flat):
    """Haar rows; as controls Householder's own signs, Gaussian rows of unit length, rows made of entries between 0 and 1."""
    G = gaussian_matrix(named(key, "controls"), d, T)
    U = jnp.where(block(d, T), jax.random.uniform(named(key, "uniform"), G.shape), 0)
    lengths = jnp.linalg.norm(G, axis=0)
    choices = (
        haar_rows(key, T, d),
        jnp.linalg.qr(G)[0].T,
        (G / jnp.where(lengths > 0, lengths, 1)).T,
        orthonormal_rows(U.T),
    )
    Q = jax.lax.select_n(unsigned + 2 * plain + 3 * flat, *choices)
    return jnp.where(block(T, d), Q, 0)


def observe(Q, T, d):
    size, width = (jnp.asarray(extent.value, Q.dtype) for extent in (T, d))
    squares = Q**2
    fourths, columns = jnp.sum(squares**2), squares.sum(0)
    return dict(
        defect=jnp.linalg.norm(Q @ Q.T - jnp.diag(T.mask.astype(Q.dtype))),
        diagonal=jnp.sqrt(width) * jnp.trace(Q) / size,
        fourth=fourths / (size * width),
        overlap=(jnp.sum(columns**2) - fourths) / (size * (size - 1)),
    )


@derives(sphere)
def on_the_sphere():
    """Every dimension."""
    x = Symbol("x", positive=True)
    yield Cited("the direction and the length of a Gaussian vector are independent", "Muirhead 1982, theorem 1.5.5")
    top = 2 * Integral(x**4 * exp(-(x**2) / 2) / sqrt(2 * pi), (x, 0, oo))
    # |g|^2/2 has a gamma law of shape d/2.
    bottom = 4 * Integral(x ** (d / 2 + 1) * exp(-x), (x, 0, oo)) / gamma(d / 2)
    yield Step("E q^4 = E g^4/E |g|^4", top / bottom, sphere.equals)


@derives(rows)
def of_two_rows():
    """Every dimension of at least two."""
    mixed = Symbol("mixed")
    # E q_11^2 (q_11^2 + ... + q_d1^2) = E q_11^2 = 1/d, the column being a unit vector.
    column = sphere.equals + (d - 1) * mixed - 1 / d
    yield Solved("d E q_11^2 q_21^2, from a column of unit length", column.subs(mixed, mixed / d), mixed, rows.equals)


frames = Subject(frame, unsigned=0, plain=0, flat=0)
theorem = Theorem(
    place="the sampler of isometric tokens",
    label="derived",
    hypotheses=H,
    claims=dict(orthonormal=orthonormal, centred=centred, sphere=sphere, rows=rows),
    proofs=(on_the_sphere, of_two_rows),
    experiments=dict(
        frames=Experiment(
            observe, seen, {T: Efforts((4, 8), (4, 8), (4, 8, 64))}, derived={d: T / ratio},
            at=({ratio: Integer(1)}, {ratio: Rational(1, 2)}), draws=Efforts(2000, 8000, 32000), padded=True,
            subjects={
                "Haar": frames,
                "signs left to the algorithm": frames(unsigned=1).breaking(H.signs, fails=centred),
                "Gaussian rows of unit length": frames(plain=1).breaking(H.orthogonal, fails=(orthonormal, rows)),
                # The first row is positive: the mean of sqrt(d) q_11 is about 0.9.
                "rows of entries between 0 and 1": frames(flat=1).breaking(H.gaussian, fails=(centred, sphere, rows)),
            },
        )
    ),
    issues=("Moments of order four and less, and one sign: another law with these moments would pass.",),
)
