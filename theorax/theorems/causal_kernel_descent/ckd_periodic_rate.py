"""On a periodic sequence exponential attention is Gauss-Seidel iteration, one sweep a period.

**Theorem.** Let the tokens repeat a period of tau points, let G be the kernel matrix of the points,
Y their next tokens, and M = -tril(G)^(-1) triu(G, 1) with spectral radius rho. Let r_1, r_2, ... be
the residuals of causal kernel descent in the limit of depth, one block of tau rows for each period.
Then r_(j+1) = M r_j for every j. For generic points ln(|r_m|/|r_1|)/(m - 1) - ln rho -> 0 as
m -> oo (measured at tau = 4). If the points are distinct and G is positive definite, then rho <= 1,
and |r_m|, cut off at one, tends to 0. If in addition k(x, x) = kappa at all points, then sum_(j<=m)
|r_j|^2/(kappa tr(Y^T G^(-1) Y)), cut off at two, tends to 1 as m -> oo.

**Idea.** K_L r = -diag(K) x_+, and this equation less itself one period earlier reads tril(G)
r_new = -triu(G, 1) r_old. That is one sweep of Gauss-Seidel iteration, which converges for positive
definite G. Interpolating Y at least norm costs tr(Y^T G^(-1) Y), and kappa times this is the sum of
all squared errors.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Symbol, transpose

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import kernel, residuals, substituted
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR

tau = Size("tau", "period")
m = Size("m", "periods in the context")
seen = arrays(
    later="residuals of the third period",
    swept="M times those of the second",
    jacobi="Jacobi's matrix times those of the second",
)
speeds = numbers(
    speed="ln of the length of the residuals of the last period over those of the first, over m - 1",
    radius="ln of the spectral radius of M",
    jacobi_radius="ln of the spectral radius of Jacobi's matrix",
)
totals = numbers(
    total="sum of |r_t|^2 over the context, over kappa tr(Y^T G^(-1) Y), cut off at two",
    last="length of the residuals of the last period, cut off at one",
    positive=True,
)

H = hypotheses(
    periodic="the sequence is periodic, the lengths of its tokens too",
    sphere=setting.SPHERE,
    definite="the points of a period are distinct, and the kernel is strictly positive definite on them",
)
period = Identity(
    seen.later, seen.swept, under=H.periodic,
    margin=Relative(1, 10**6, "the account of the rounding stays below it, another splitting of G is far above"),
    wrong={"Jacobi's splitting": seen.jacobi},
)
rate = Limit(
    speeds.speed - speeds.radius, 0, as_=m, spread=1 / m, approach=setting.power_of_a_matrix(0.5, 4, "m"),
    under=H.periodic,
    margin=Absolute(1, 4, "the radius of a step instead of a period, or its square, is one away"),
    wrong={
        "per token": dict(of=speeds.speed - speeds.radius / 4),
        "Jacobi's radius": dict(of=speeds.speed - speeds.jacobi_radius),
    },
)
contracting = Inequality(speeds.radius, at_most=0, under=H.definite, wrong={"Jacobi's": dict(of=speeds.jacobi_radius)})
spent = Limit(
    totals.total, 1, as_=m, moments=Bounded(0, 2),
    approach=setting.geometric(0.1, 4, "geometric; at most 0.01 at m = 4 on other seeds"),
    margin=Relative(1, 10, "without kappa the sum is off by a factor of e"),
)
vanishing = Limit(
    totals.last, 0, as_=m, moments=Bounded(0, 1), under=(H.periodic, H.definite),
    approach=setting.geometric(0.2, 4, "geometric; at most 0.11 at m = 4 on other seeds"),
    margin=Absolute(1, 5, "a token that cannot be told from another leaves residuals of order one"),
)


class Points(eqx.Module):
    """One period of raw points and what is done with them."""

    raw: Float[Array, "tau 3"]
    exponential: Scalar
    growing: Scalar
    wandering: Scalar
    uneven: Scalar
    sign: Scalar

    def gram(self, X: Float[Array, "T 3"]) -> Float[Array, "T T"]:
        """The kernel values of these tokens; those of e^(-<x, y>) where ``sign`` is -1."""
        return kernel(self.sign * (X @ X.T), self.exponential)

    def tokens(self, length: int) -> Float[Array, "length 3"]:
        """Points, one after another and again; ``uneven``: longer from point to point, ``growing``: from token to token."""
        X = self.raw / jnp.sqrt((self.raw**2).sum(1, keepdims=True))
        place = jnp.arange(length)
        here = place % self.raw.shape[0]
        X = X[here] * (1 + self.uneven * here + self.growing * place)[:, None]
        turn, x, y = self.wandering * place, X[:, 0], X[:, 1]
        c, s = jnp.cos(turn), jnp.sin(turn)
        return jnp.stack([x * c - y * s, x * s + y * c, X[:, 2]], axis=1)


def any_points(key, tau, exponential, uneven, growing, wandering):
    raw = jax.random.normal(named(key, "points"), (tau.padded, 3))
    return Points(raw, exponential, growing, wandering, uneven, jnp.ones(()))


CORNERS = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def near_a_tetrahedron(key, exponential, repeated, wandering, uneven, sign):
    """Four points not far from the corners of a tetrahedron; ``repeated``: the third is the first."""
    raw = jnp.asarray(CORNERS) + 0.5 * jax.random.normal(named(key, "points"), (4, 3))
    raw = jnp.where((jnp.arange(4)[:, None] == 2) & (repeated == 1), raw[0], raw)
    return Points(raw, exponential, jnp.zeros(()), wandering, uneven, sign)


def splitting(G, x):
    """One sweep of Gauss and Seidel and one of Jacobi on the columns of x."""
    return substituted(G, -(jnp.triu(G, 1) @ x)), -(G @ x - G[0, 0] * x) / G[0, 0]


def blocks(K, targets, tau):
    """Residuals of the third period, and what a sweep makes of those of the second."""
    r = residuals(K, targets).reshape(3, tau, -1)
    sweep, jacobi = splitting(K[:tau, :tau], r[1])
    return dict(later=r[2], swept=sweep, jacobi=jacobi)


def few(points, tau):
    X = points.tokens(3 * tau.padded + 1)
    return blocks(points.gram(X[:-1]), X[1:], tau.padded)


def many(points, m):
    X = points.tokens(4 * m.padded + 1)
    K = points.gram(X[:-1])
    r = residuals(K, X[1:]).reshape(m.padded, 4, 3)
    sizes = (r**2).sum((1, 2))
    G, Y = K[:4, :4], X[1:5]
    radius, jacobi_radius = (jnp.log(jnp.abs(jnp.linalg.eigvals(M)).max()) for M in splitting(G, jnp.eye(4)))
    energy = G[0, 0] * (Y * (jnp.linalg.pinv(G, rtol=1e-9, hermitian=True) @ Y)).sum()
    final = sizes[m.value - 1]
    # Both have rare large draws. The first is one at most where G is definite; the second vanishes where its cut does.
    return dict(
        total=jnp.minimum(jnp.where(m.mask, sizes, 0).sum() / energy, 2), last=jnp.minimum(jnp.sqrt(final), 1),
        speed=jnp.log(final / sizes[0]) / 2 / (m.value - 1), radius=radius, jacobi_radius=jacobi_radius,
    )


@settles(period)
def generic_period():
    """Every kernel matrix of constant diagonal and any next tokens; periods of two and of three points."""
    for order in (2, 3):
        G, Y = setting.generic_gram(order), setting.generic("y", order, 1)
        K, targets = np.block([[G] * 3] * 3), np.concatenate([Y] * 3)
        yield Instance(period, f"tau = {order}", blocks, K, targets, order)


@lemma
def every_period():
    """Every tau, any number of periods and any targets: G = L + U, L its lower triangle with the diagonal."""
    L, U, before, r, later = generic_matrices("L U s r r'")
    # K_L r = -kappa x_+ holds G times all periods before and L times the own one; its right side is that of every period.
    less = (L + U) * (before + r) + L * later - ((L + U) * before + L * r)
    yield MatrixStep("a period less the one before", less, U * r + L * later)


@lemma
def every_sum():
    """Every tau, any positive definite G with the diagonal kappa: sweeps d_k, L d_k = G e_k, of errors e_k, G e_0 = Y."""
    G, L, U, e, sweep, Y, inverse = generic_matrices("G L U e d Y G^-1")
    kappa = Symbol("kappa", positive=True)
    given = ((L * sweep, G * e), (transpose(L), G - L + kappa), (transpose(G), G))
    # r_1 = -kappa d_1, as L r_1 = -kappa Y, and both are multiplied by -L^-1 U from then on.
    yield MatrixStep("L times the next sweep", G * (e - sweep), -U * sweep, ((L * sweep, G * e), (G, L + U)))
    rest = transpose(e) * G * e - transpose(e - sweep) * G * (e - sweep)
    yield MatrixStep("|r|^2/kappa is what a sweep takes off e^T G e", rest, kappa * transpose(sweep) * sweep, given)
    known = ((G * e, Y), (inverse * G, 1), (G * inverse, 1), (transpose(G), G))
    yield MatrixStep("which begins at Y^T G^-1 Y", transpose(e) * G * e, transpose(Y) * inverse * Y, known)


short = Subject(any_points, exponential=EXPONENTIAL, uneven=0.0, growing=0.0, wandering=0.0)
long = Subject(near_a_tetrahedron, exponential=EXPONENTIAL, repeated=0, wandering=0.0, uneven=0.0, sign=1.0)
theorem = Theorem(
    place="periodic sequences and exponential attention in Theorem 1 (reconstructed); the rate derived here",
    label="reconstructed",
    uses=("ckd_fixed_point_is_kaczmarz", "ckd_energy_identity"),
    hypotheses=H,
    claims=dict(period=period, rate=rate, contracting=contracting, spent=spent, vanishing=vanishing),
    proofs=(generic_period, every_period, every_sum),
    experiments=dict(
        few=Experiment(few, seen, {tau: (3, 5)}, draws=setting.FEW, padded=True, subjects={
            "exponential": short,
            "linear": short(exponential=LINEAR),
            "lengths that differ": short(uneven=0.05).breaking(H.sphere),
            "lengths that grow": short(growing=0.05).breaking(H.periodic, H.sphere, fails=period),
            "points that wander": short(wandering=0.2).breaking(H.periodic, fails=period),
        }),
        many=Experiment(
            many, (totals, speeds), {m: (4, 8, 16)}, draws=Efforts(320, 400, 2000), platform="cpu", padded=True,
            subjects={
                "exponential": long,
                "linear": long(exponential=LINEAR).breaking(H.definite, fails=(spent, vanishing)),
                "two equal points": long(repeated=1).breaking(H.definite, fails=vanishing),
                # Below the diagonal G exceeds it about four times: a sweep cannot contract.
                "kernel e^(-<x, y>)": long(sign=-1.0).breaking(H.definite, fails=contracting),
                "points that wander": long(wandering=0.5).breaking(H.periodic, fails=(rate, spent, vanishing)),
                "lengths that differ": long(uneven=0.1).breaking(H.sphere, fails=spent),
            },
        ),
    ),
    issues=("When two points come close the radius tends to one: points are drawn near the corners of a tetrahedron.",),
)
