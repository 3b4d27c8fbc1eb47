"""Least squares over a cone recovers signals from y = B A x + w once the effective rank of B exceeds the squared width.

**Theorem.** Let A have independent isotropic centred rows of psi2 norm at most K, independent of B,
T, x and x_T in T. Let T be a union of four planes in R^20, D the unit vectors along its
differences, M = B A, F = ||B||_F, er = F^2/||B||^2, and omega = sqrt(2) Gamma(5/2) +
sqrt(2 log 10), which bounds the width w(D). Put C = 2, a declared constant. Then with probability
at least 1 - 3 e^(-u^2), | ||M v||/F - 1 | <= C K sqrt(log K) (omega + u)/sqrt(er) for all v in D.
If sqrt(er) >= 2 C K sqrt(log K) (omega + u) and x' is the point of T nearest to y = M x + w in
||M x' - y||, then ||x' - x|| <= 7||x - x_T|| + 4||w||/F with probability at least 1 - 6 e^(-u^2).
Shown at u = 2 for Gaussian rows and for sparse signs with K^2 <= 3.

**Idea.** The near-isometry on D and at the direction of x - x_T gives alpha >= 1/2 and beta <= 3/2
in the deterministic inequality. The source leaves C open. C = 2 is derived for Gaussian rows and
only tried on sparse signs. T need not be a cone, if D is the set of its normalised differences.
"""

from itertools import combinations_with_replacement

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, Subs, exp, gamma, log, sqrt, symbols

from theorax.language import *
from theorax.numerics.keys import named

m = Size("m", "number of measurements, rows of B and of A")
u = Parameter("u", "deviation", positive=True)
K = Parameter("K", "psi2 norm of the rows of A", positive=True)
seen = numbers(
    sup="largest | ||M v||/F - 1 | over D",
    er="effective rank ||B||_F^2/||B||^2",
    error="||x' - x||",
    apart="||x - x_T||",
    noise="||w||/F",
)
PLANES, N, RIVALS = 4, 20, 64
width = sqrt(2) * gamma(Rational(5, 2)) + sqrt(2 * log(PLANES * (PLANES + 1) // 2))
C = 2
H = hypotheses(
    rows="rows of A are independent",
    isotropic="rows of A are centred, and E a a^T = I",
    psi2="rows of A have a psi2 norm of at most K",
    independent="A is independent of B, T, x and x_T",
    rank="sqrt(er) >= 2C K sqrt(log K) (w(D) + u)",
    minimiser="x' is the nearest point of T, eps = 0",
)
distortion = C * K * sqrt(log(K)) * (width + u) / sqrt(seen.er)
narrow = Absolute(1, 20, "where a hypothesis is broken the event fails in a fourth of the draws or more")
isometry = Probability(
    seen.sup <= distortion, at_least=1 - 3 * exp(-(u**2)), expected=Rational(99, 100), margin=narrow,
    under=(H.rows, H.isotropic, H.psi2, H.independent),
    wrong={
        "sqrt(m) for sqrt(er)": dict(event=seen.sup <= distortion * sqrt(seen.er) / sqrt(m)),
        "er for sqrt(er)": dict(event=seen.sup <= distortion / sqrt(seen.er)),
        "a tenth of C": dict(event=seen.sup <= distortion / 10),
    },
)
recovered = Probability(
    seen.error <= 7 * seen.apart + 4 * seen.noise, at_least=1 - 6 * exp(-(u**2)), expected=Rational(99, 100), margin=narrow,
    wrong={
        "noise over F^2": dict(event=seen.error <= 7 * seen.apart + 4 * seen.noise / sqrt(m)),
        "half of ||x - x_T||": dict(event=seen.error <= seen.apart / 2 + 4 * seen.noise),
    },
)


class Planes(eqx.Module):
    """Orthonormal frames of the planes of T, M = B A with B = diag(b), and one problem with what was found."""

    frames: jax.Array
    M: jax.Array
    b: jax.Array
    x: jax.Array
    w: jax.Array
    x_T: jax.Array
    found: jax.Array


def nearest_point(frames, M, y):
    """Least squares on every plane, with 1e-12 added to its matrix where rows are zero; the best of them."""
    images = M @ frames
    z = jax.vmap(lambda Q: jnp.linalg.solve(Q.T @ Q + 1e-12 * jnp.eye(2), Q.T @ y))(images)
    distances = jnp.linalg.norm(jnp.einsum("pmi,pi->pm", images, z) - y, axis=1)
    best = jnp.argmin(distances)
    return frames[best] @ z[best]


def problem(key, m, falling, density, different, flat, adapted, against, noise, away, missed):
    """``falling``: b_i = i^(-falling). ``density``: of signs in A, normal at zero. ``flat``: rows in three dimensions.

    ``different``: rows of A that differ. ``adapted``: A vanishes on t - x_T. ``against``: w just above M(t - x_T)/2, t the
    point of least gain among several. ``missed``: t is taken for the nearest.
    """
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    frames = jnp.linalg.qr(normal("planes", PLANES, N, 2))[0]
    x_T = frames[0] @ normal("z", 2)
    rivals = normal("rivals", RIVALS, 2) @ frames[1].T
    b = jnp.arange(1.0, m + 1) ** -falling
    kept = jax.random.uniform(named(key, "kept"), (m, N)) < density
    A = normal("A", m, N)
    A = jnp.where(density > 0, jnp.sign(A) * kept / jnp.sqrt(jnp.where(density > 0, density, 1)), A)
    A = A[jnp.arange(m) % different] * jnp.where(
        (flat > 0) & (jnp.arange(N) >= 3), 0, jnp.where(flat > 0, np.sqrt(N / 3), 1)
    )
    gains = jnp.linalg.norm((rivals - x_T) @ (b[:, None] * A).T, axis=1) / jnp.linalg.norm(rivals - x_T, axis=1)
    t = rivals[jnp.argmin(gains)]
    v = (t - x_T) / jnp.linalg.norm(t - x_T)
    A = A - jnp.where(adapted > 0, jnp.outer(A @ v, v), 0)

    M = b[:, None] * A
    x = x_T + away * normal("x", N)
    w = jnp.where(against > 0, (0.5 + 2.0**-20) * M @ (t - x_T), noise * b * normal("w", m))
    return Planes(frames, M, b, x, w, x_T, jnp.where(missed > 0, t, nearest_point(frames, M, M @ x + w)))


PAIRS = tuple(combinations_with_replacement(range(PLANES), 2))


def observe(given):
    F = jnp.linalg.norm(given.b)
    spans = jnp.stack([jnp.concatenate([given.frames[p], given.frames[q]], axis=1) for p, q in PAIRS if p != q])
    bases = jnp.linalg.qr(spans)[0]
    gains = jnp.sqrt(jnp.maximum(jnp.linalg.eigvalsh(jnp.swapaxes(bases, 1, 2) @ (given.M.T @ given.M) @ bases), 0)) / F
    return dict(
        sup=jnp.abs(gains - 1).max(), er=(F / given.b.max()) ** 2, error=jnp.linalg.norm(given.found - given.x),
        apart=jnp.linalg.norm(given.x - given.x_T), noise=jnp.linalg.norm(given.w) / F,
    )


@derives(recovered)
def constants():
    """Every B, T: two events of probability 3 e^(-u^2) each, at which the distortion is one half at most."""
    alpha, beta, apart, noise, t = symbols("alpha beta d w t", positive=True)
    whole = (1 + 2 * beta / alpha) * apart + 2 * noise / alpha
    half = {alpha: Rational(1, 2), beta: Rational(3, 2)}
    yield Step("the bound", Subs(whole, tuple(half), tuple(half.values())), 7 * apart + 4 * noise)
    least = 2 * C * K * sqrt(log(K)) * (width + u)
    yield Step("the distortion at the least er", Subs(distortion, seen.er, least**2), Rational(1, 2))
    yield Step("both events", 1 - 2 * Subs(3 * exp(-t), t, u**2), recovered.at_least)


@lemma
def gaussian_rows():
    """Gaussian rows, K^2 = 8/3: C K sqrt(log K) is above sqrt(2), so that C = 2 leaves room for w and for sqrt(2) u."""
    square = Subs((C * K * sqrt(log(K))) ** 2, K, sqrt(Rational(8, 3)))
    yield Step("its square, 5.23", square, Rational(16, 3) * log(Rational(8, 3)))


gauss = Subject(
    problem, falling=0.0, density=0.0, different=4096, flat=0, adapted=0, against=0, noise=0.05, away=0.5, missed=0,
    knows={K: sqrt(Rational(8, 3))},
)
# K^2 of an entry is 5/log 6 = 2.79; sums of a few entries reach 2.98, by numerical integrals.
signs = gauss(density=0.2, knows={K: sqrt(3)})
hostile = gauss(against=1, away=0.0)
both = (isometry, recovered)
theorem = Theorem(
    place="main theorem (reconstructed; the constant is declared here)",
    label="reconstructed",
    uses=("cs_recovery_deterministic", "gaussian_near_isometry_explicit", "subgaussian_near_isometry_on_sets"),
    hypotheses=H,
    claims=dict(isometry=isometry, recovered=recovered),
    proofs=(constants, gaussian_rows),
    experiments=dict(
        planes=Experiment(observe, seen, {m: 2048}, at={u: 2}, draws=Efforts(400, 400, 1000), subjects={
            "Gaussian, B = I": gauss,
            "sparse signs, B = diag(i^(-1/20))": signs(falling=0.05),
            "Gaussian, noise half way to another point": hostile,
            "B = diag(i^(-2)), noise half way": hostile(falling=2.0).breaking(H.rank, fails=recovered),
            "four rows, repeated": hostile(different=4).breaking(H.rows, fails=isometry),
            "two rows, repeated": hostile(different=2).breaking(H.rows, fails=both),
            "rows in three dimensions": hostile(flat=1).breaking(H.isotropic, fails=both),
            "one sign in 8000": hostile(density=1 / 8000).breaking(H.psi2, fails=both),
            "A vanishes on t - x_T": gauss(adapted=1, away=0.0).breaking(H.independent, fails=both),
            "the point of least gain is taken": gauss(missed=1, away=0.0).breaking(H.minimiser, fails=recovered),
        }),
    ),
    issues=(
        "C is a declared number: that some absolute constant works for every law of rows is not decided by draws.",
        "T is a union of planes. Of a T that is no cone D would be the set of all normalised differences.",
        "A large effective rank is sufficient, not necessary: three measurements find a noiseless point of a ReLU range.",
    ),
)
