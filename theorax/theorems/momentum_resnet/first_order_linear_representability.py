"""First-order models with shared linear weights reach no map with a simple negative eigenvalue, however they are trained.

**Theorem.** Let x' = theta x with a real matrix theta that does not change in time, so
x(1) = exp(theta) x(0). For D = diag(-1, -2) and every real theta of order two,
|exp(theta) - D| >= 1/2 in the Frobenius norm. Let instead D be real, invertible and diagonalizable
over the complex numbers, with every negative eigenvalue of even multiplicity. Then D = exp(theta)
for some real theta.

**Idea.** A path from diag(-1, -2) to an exponential meets a matrix with a double eigenvalue or a
singular one first. The nearest matrices of these two kinds lie at the distances 1/2 and 1. A double
eigenvalue -mu is reached by a half turn, exp(log(mu) I + pi J) = -mu I; so -I is an exponential in
even dimensions. With different weights in the two halves of time diag(-1, -2) is reached too, as
exp(diag(0, log 2)) exp(pi J).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Integer, Matrix, Rational, Subs, cos, exp, log, pi, sin, symbols

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named

d = Size("d", "dimension")
search = numbers(
    reached="least |x(1) - D x(0)| over theta that a descent met, D = diag(-1, -2), in the Frobenius norm",
    planted="the same for a map of the same model in the place of D",
    started="the same where that descent starts",
)
built = numbers(missed="|exp(theta) - D|/|D|, theta built from the spectrum of D")

H = hypotheses(
    tied="all depths share their weights",
    flow="the model is the flow x' = theta x",
    simple="D has simple negative eigenvalues, -1 and -2",
    paired="every negative eigenvalue of D has even multiplicity",
    invertible="D is invertible",
    diagonalizable=Hypothesis(
        "D is diagonalizable over the complex numbers",
        unbroken="Jordan blocks in pairs are exponentials too; the construction here leaves them out",
    ),
)
apart = Impossibility(
    search.reached, Rational(1, 2), planted=search.planted, started=search.started, tol=Rational(1, 10**6),
    under=(H.tied, H.flow, H.simple),
    wrong={"the distance of a singular matrix, 1": dict(at_least=1)},
    obstruction="on the way from D to exp(theta) two eigenvalues meet, or one meets zero",
)
reached = Expectation(
    built.missed, 0, under=(H.tied, H.paired, H.invertible, H.diagonalizable), spread=Rational(1, 10**14),
    margin=Absolute(1, 10**6, "rounding stays below 1e-12; a map that is not reached is missed by a hundredth or more"),
)


class TwoWeights(eqx.Module):
    """A linear model whose depths below and above one half have weights of their own, the same ones if ``tied``."""

    tied: Scalar
    discrete: Scalar

    def map(self, first, second):
        """The map of the flow; of one residual layer of step one if ``discrete``."""
        second = jnp.where(self.tied > 0, first, second)
        flow = exponential(second / 2) @ exponential(first / 2)
        return jnp.where(self.discrete > 0, jnp.eye(first.shape[0]) + first, flow)


class SearchedMap(eqx.Module):
    """A model, a target, a map of the model, and where descents start."""

    model: TwoWeights
    D: jax.Array
    member: jax.Array
    starts: jax.Array


class SpectralMap(eqx.Module):
    """A model, its weights, and the matrix that it should reach."""

    model: TwoWeights
    weights: jax.Array
    D: jax.Array


def exponential(M):
    """A Taylor series of M/32, squared five times; cut below 1e-16 for norms of M up to 32."""
    step, one = M / 32, jnp.eye(M.shape[0])
    total = jax.lax.fori_loop(0, 18, lambda k, total: one + step @ total / (18 - k), one)
    return jax.lax.fori_loop(0, 5, lambda _, total: total @ total, total)


def searched(key, d, tied, discrete, double):
    draw = lambda name: jax.random.normal(named(key, name), (2, d, d))
    model, member = TwoWeights(tied, discrete), draw("member")
    D = jnp.diag(jnp.stack([-1.0, jnp.where(double > 0, -1.0, -2.0)]))
    return SearchedMap(model, D, model.map(*member), jnp.stack([2 * draw("start"), member + draw("other") / 2]))


def rotation(angle):
    return jnp.array([[0.0, -angle], [angle, 0.0]])


def spectral(key, d, tied, discrete, split, singular):
    """Dimension five: one positive eigenvalue, a complex pair, and a double negative one, which ``split`` parts."""
    draw = lambda name, low, high: jax.random.uniform(named(key, name), minval=low, maxval=high)
    one, two, three = (draw(name, -1.0, 1.0) for name in ("one", "two", "three"))
    turn = draw("turn", 0.3, 2.8)
    P = jnp.eye(d) + 0.3 * jax.random.normal(named(key, "basis"), (d, d)) / d**0.5
    change = lambda *blocks: P @ jax.scipy.linalg.block_diag(*blocks) @ jnp.linalg.inv(P)
    plane = jnp.array([[jnp.cos(turn), -jnp.sin(turn)], [jnp.sin(turn), jnp.cos(turn)]])
    low = -jnp.exp(three) * jnp.diag(jnp.stack([1.0 + 0 * split, 1.0 + split]))
    D = change(jnp.exp(one)[None, None] * (1 - singular), jnp.exp(two) * plane, low)
    theta = change(one[None, None], two * jnp.eye(2) + rotation(turn), three * jnp.eye(2) + rotation(jnp.pi))
    return SpectralMap(TwoWeights(tied, discrete), jnp.stack([theta, theta / 2]), D)


def descend(model, D, start):
    """Levenberg and Marquardt's method: a damped Newton step is kept if it comes nearer."""

    def gap(flat):
        return (model.map(*flat.reshape(start.shape)) - D).ravel()

    def step(_, carry):
        flat, damping = carry
        here, J = gap(flat), jax.jacfwd(gap)(flat)
        trial = flat - jnp.linalg.solve(J.T @ J + damping * jnp.eye(flat.size), J.T @ here)
        better = jnp.sum(gap(trial) ** 2) < jnp.sum(here**2)
        return jnp.where(better, trial, flat), jnp.where(better, damping / 4 + 1e-14, damping * 4)

    flat = start.ravel()
    end = jax.lax.fori_loop(0, 60, step, (flat, jnp.ones(())))[0]
    return jnp.linalg.norm(gap(end)), jnp.linalg.norm(gap(flat))


def observe(model):
    reach = lambda targets: descend(model.model, *targets)
    ends, begins = jax.lax.map(reach, (jnp.stack([model.D, model.member]), model.starts))
    return dict(reached=ends[0], planted=ends[1], started=begins[1])


def compare(target):
    """Sums of 5 terms, 18 orders, and five squarings that double errors: below 2^12 roundings, of norms below 2^7."""
    missed = jnp.linalg.norm(target.model.map(*target.weights) - target.D) / jnp.linalg.norm(target.D)
    return dict(missed=missed, missed_error=2.0**-34)


@lemma
def half_turn():
    """The plane: rotations by t are exp(t J); at t = pi, -I. Scaled by exp(diag(0, log 2)), diag(-1, -2)."""
    t = symbols("t", real=True)
    J, R = Matrix([[0, -1], [1, 0]]), Matrix([[cos(t), -sin(t)], [sin(t), cos(t)]])
    for row, column in ((0, 0), (0, 1)):
        yield Step(f"R' = J R, entry 1{column + 1}", Derivative(R[row, column], t), (J * R)[row, column])
        yield Step(f"R at zero, entry 1{column + 1}", Subs(R[row, column], t, 0), int(row == column))
    yield Step("second entry of exp(diag(0, log 2)) R at t = pi", Subs(exp(log(2)) * R[1, 1], t, pi), Integer(-2))


@lemma
def double_eigenvalue():
    """The plane: a change E of D = diag(-1, -2) after which both eigenvalues are equal; its least norm is 1/2."""
    p = symbols("p", real=True)
    # With E = [[m + p, q], [r, m - p]] the eigenvalues differ by sqrt((1 + 2 p)^2 + 4 q r), and 4 q r >= -2 (q^2 + r^2).
    least = 2 * p**2 + (1 + 2 * p) ** 2 / 2
    yield Solved("the stationary p of 2 p^2 + q^2 + r^2", Derivative(least, p).doit(), p, [-Rational(1, 4)])
    yield Step("least squared norm", Subs(least, p, -Rational(1, 4)), apart.at_least**2)


restart = Subject(searched, tied=1.0, discrete=0.0, double=0.0)
spectrum = Subject(spectral, tied=1.0, discrete=0.0, split=0.0, singular=0.0)
theorem = Theorem(
    place="the linear maps that first-order models represent; Culver 1966, reconstructed",
    label="reconstructed",
    hypotheses=H,
    claims=dict(apart=apart, reached=reached),
    proofs=(half_turn, double_eigenvalue),
    experiments=dict(
        searches=Experiment(observe, search, {d: 2}, draws=Efforts(300, 400, 1000), subjects={
            "simple eigenvalues": restart,
            "weights of their own in each half": restart(tied=0.0).breaking(H.tied, fails=apart),
            "one large step": restart(discrete=1.0).breaking(H.flow, fails=apart),
            "a double eigenvalue": restart(double=1.0).breaking(H.simple, fails=apart),
        }),
        spectra=Experiment(compare, built, {d: 5}, draws=Efforts(100, 200, 800), subjects={
            "any spectrum": spectrum,
            "weights halved later": spectrum(tied=0.0).breaking(H.tied, fails=reached),
            "two simple negative eigenvalues": spectrum(split=0.5).breaking(H.paired, fails=reached),
            "the eigenvalue zero": spectrum(singular=1.0).breaking(H.invertible, fails=reached),
        }),
    ),
    issues=(
        "Descents meet local minima: that nothing lies nearer than 1/2 is the lemma, that others are found is planted.",
        "Residual networks with a step of order one are not flows: one layer I + theta is any matrix.",
    ),
)
