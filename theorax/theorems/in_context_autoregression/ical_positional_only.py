"""Positional weights alone: the minimiser looks at the last token, and gradient descent hardly ever gets there.

**Theorem.** Let d = 1, s_t = e^(i(t-1) theta) with theta uniform on [0, 2 pi/mu], and let weights p
predict s_(T+1) by sum_t p_t <s_(T-1), s_t> s_t. Then E|prediction - s_(T+1)|^2 = (p - e_T)^T M
(p - e_T), where M_ts = sin(x)/x at x = 4 pi (t-s)/mu. From p = 0, k steps r/2 of gradient descent
give p = e_T - (I - r M)^k e_T; for a sample of angles M_ts is the mean of cos(2 (t-s) theta). For
mu > 4, the largest eigenvalue of M tends to mu/4 as T -> oo. In nine tenths of the draws or more,
the number of eigenvalues above mu/8 differs from 4T/mu by at most 1 (mu from 4.5 to 31, T = 40,
80). In nine tenths or more, a thousand steps with r = 1/(largest eigenvalue) at T = 30, mu from 50
to 70, leave p_T <= 3/4 and loss <= 1/1000.

**Idea.** M is a discrete prolate matrix. It is positive definite, so e_T is the only minimiser.
About 4T/mu of its eigenvalues are near mu/4 and the others almost vanish, so gradient descent stops
at an oscillating p.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Integral, Rational, Symbol, cos, pi, sin

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.in_context_autoregression import _diagonal_heads as setting
from theorax.theorems.in_context_autoregression._complex_arrays import unstacked
from theorax.theorems.in_context_autoregression._prolate_matrices import (
    any_arc,
    eigenvalues,
    largest_eigenvalue,
    prolate,
    spectral_edge,
)

T = Size("T", "context length")
mu = Parameter("mu", "angles are uniform on [0, 2 pi/mu]", positive=True)
risk = numbers(
    error="|prediction - s_(T+1)|^2, mean over 256 contexts", form="(p - e_T)^T M (p - e_T)", wide="the same at mu/2",
)
seen = arrays(
    descended="positional weights after k steps of gradient descent from zero, by automatic differentiation",
    filtered="e_T - (I - r M)^k e_T, r twice the step and M that of the contexts",
    shorter="the same with r the step",
)
spectrum = numbers(above="number of eigenvalues of M above mu/8", claimed="4T/mu", positive=True)
ended = numbers(
    last="p_T after some steps of gradient descent, r = 1/(largest eigenvalue)", left="the loss there", positive=True,
)
top = Measured("lambda_1", "largest eigenvalue of M", positive=True)

H = hypotheses(
    query=setting.QUERY,
    arc="the angles are uniform on [0, 2 pi/mu]",
    narrow="the arc is a small part of the circle: mu is fifty or more",
    fine="mu is more than four",
    steps="gradient descent makes a thousand steps",
)
loss = Expectation(
    risk.error - risk.form, 0, under=(H.query, H.arc), spread=Rational(1, 2),
    margin=Absolute(1, 20, "the form at mu/2 is 1 away or more, the query s_T 0.26"),
    wrong={"mu/2 for mu": dict(of=risk.error - risk.wide)},
)
path = Identity(
    seen.descended, seen.filtered, under=H.query,
    margin=Relative(1, 10**6, "the account of the rounding stays below it, another step is of order one"),
    wrong={"r the step": seen.shorter},
)
count = Inequality(
    abs(spectrum.above - spectrum.claimed), at_most=1, under=(H.arc, H.fine), content=Rational(1, 10),
    wrong={
        "2T/mu": dict(of=abs(spectrum.above - spectrum.claimed / 2)),
        "8T/mu": dict(of=abs(spectrum.above - 2 * spectrum.claimed)),
    },
)
plateau = Corrections(
    size=0.2, slowest=1, rest=0, reference=40, reason="the largest eigenvalue comes exponentially near in T/mu",
)
largest = Limit(
    top, mu / 4, as_=T, under=(H.arc, H.fine), approach=plateau, margin=Relative(1, 5, "mu/2 is twice as large"),
    wrong={"mu/2": mu / 2},
)
stalls = Inequality(ended.last, at_most=Rational(3, 4), under=H.narrow, content=Rational(1, 10))
solves = Inequality(ended.left, at_most=Rational(1, 1000), under=(H.narrow, H.steps), content=Rational(1, 10))


def prediction(p, S, late):
    """One head of one coordinate, whose weights are one."""
    return setting.DiagonalHeads(jnp.ones((1, 1)), jnp.ones((1, 1)), p, late)(S)


class Arcs(eqx.Module):
    """Positional weights, angles of some contexts, and how the layer departs from the theorem's."""

    p: jax.Array
    angles: jax.Array
    late: jax.Array


def arcs(key, T, mu, late, folded):
    u = jax.random.uniform(named(key, "angles"), (256,))
    angles = 2 * jnp.pi / mu * jnp.where(folded == 1, u**2, u)
    return Arcs(0.5 + 0.25 * jax.random.normal(named(key, "p"), (T,)), angles, late)


def risks(model, T, mu):
    def error(angle):
        S = setting.sequence(angle[None], T + 1)
        return (prediction(model.p, S[:-1], model.late) - S[-1]).squares.sum()

    off = model.p.at[-1].add(-1.0)
    forms = [off @ prolate(T, width) @ off for width in (mu, mu / 2)]
    return dict(error=jax.vmap(error)(model.angles).mean(), form=forms[0], wide=forms[1])


STEPS = 2


def run(slopes, step, late, length):
    """Gradient descent on contexts whose eigenvalues are (1 + i x)/(1 - i x) for these slopes x, and its closed form."""
    below = 1 + slopes * slopes
    turn = unstacked(jnp.stack([(1 - slopes * slopes) / below, 2 * slopes / below]))
    rows = [unstacked(jnp.stack([jnp.ones_like(below), jnp.zeros_like(below)]))]
    for _ in range(2 * length):
        rows.append(rows[-1] * turn)
    tokens = unstacked(jnp.stack([row.stacked for row in rows[: length + 1]], axis=1))
    contexts = [tokens[:, place : place + 1] for place in range(slopes.shape[0])]

    def objective(p):
        errors = [(prediction(p, S[:-1], late) - S[-1]).squares.sum() for S in contexts]
        return sum(errors) / len(errors)

    p, last = jnp.zeros(length), jnp.zeros(length).at[-1].set(1.0)
    for _ in range(STEPS):
        p = p - step * jax.grad(objective)(p)
    # M of these contexts: the mean of the cosines of 2 (t - s) theta.
    cosines = jnp.stack([row.real.sum() / slopes.shape[0] for row in rows])
    M = jnp.stack([jnp.stack([cosines[2 * abs(t - s)] for s in range(length)]) for t in range(length)])
    left, slower = last, last
    for _ in range(STEPS):
        left, slower = left - 2 * step * (M @ left), slower - step * (M @ slower)
    return dict(descended=p, filtered=last - left, shorter=last - slower)


def few_contexts(key, late):
    return jax.random.normal(named(key, "slopes"), (3,)), 0.3, late


def descend(model, T):
    slopes, step, late = model
    return run(slopes, step, late, T)


def narrow_arcs(key, low, steps):
    return low * (1 + 0.4 * jax.random.uniform(named(key, "mu"))), steps


def end(model, T):
    mu, steps = model
    M, last = prolate(T, mu), jnp.zeros(T).at[-1].set(1.0)
    rate = 1 / jnp.linalg.eigvalsh(M)[-1]
    off = jax.lax.fori_loop(0, 1000, lambda k, off: jnp.where(k < steps, off - rate * (M @ off), off), -last)
    return dict(last=1 + off[-1], left=off @ M @ off)


@lemma
def entries():
    """Every pair of positions: the mean of the cosine of 2k theta, k = t - s, over the arc."""
    k, angle = Symbol("k", integer=True, positive=True), Symbol("theta", real=True)
    x = 4 * pi * k / mu
    yield Step("an entry of M", Integral(cos(2 * k * angle), (angle, 0, 2 * pi / mu)) * mu / (2 * pi), sin(x) / x)


@settles(path)
def generic_contexts():
    """Any step, any single context; two positions, two steps."""
    yield Instance(path, "T = 2", run, generic_entries("x", 1), generic_entries("step"), 0, 2)


some = Subject(arcs, late=0, folded=0)
few = Subject(few_contexts, late=0)
edges = Subject(spectral_edge, resting=0.0, knows={mu: 6})
spread_arcs = Subject(any_arc, low=4.5, wide=6.0, resting=0.0)
narrow = Subject(narrow_arcs, low=50.0, steps=1000)
theorem = Theorem(
    place="positional weights alone; reconstructed from the authors' code, the conclusions derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(loss=loss, path=path, count=count, largest=largest, stalls=stalls, solves=solves),
    proofs=(entries, generic_contexts),
    experiments=dict(
        contexts=Experiment(
            risks, risk, {T: 8}, at=({mu: 10}, {mu: 50}), draws=Efforts(2000, 4000, 20000), subjects={
                "uniform angles": some,
                "squares of uniform angles": some(folded=1).breaking(H.arc, fails=loss),
                "the query s_T": some(late=1).breaking(H.query, fails=loss),
            },
        ),
        descents=Experiment(descend, seen, {T: (3, 5)}, draws=Efforts(2, 4, 12), subjects={
            "any contexts": few,
            "the query s_T": few(late=1).breaking(H.query, fails=path),
        }),
        spectra=Experiment(
            eigenvalues, spectrum, {T: (40, 80)}, draws=Efforts(80, 80, 200), platform="cpu", subjects={
                "mu from 4.5 to 31": spread_arcs,
                "three angles in five are zero": spread_arcs(resting=0.6).breaking(H.arc, fails=count),
                "mu from 2.5 to 3": spread_arcs(low=2.5, wide=0.2).breaking(H.fine, fails=count),
            },
        ),
        edges=Experiment(
            largest_eigenvalue, top, {T: (40, 80, 160)}, draws=1, seeds="none", platform="cpu", subjects={
                "mu = 6": edges,
                "mu = 10": edges(knows={mu: 10}),
                # The arc covers a part of the circle twice in 2 theta: the largest eigenvalue tends to mu/2.
                "mu = 3": edges(knows={mu: 3}).breaking(H.fine, fails=largest),
                "three angles in five are zero": edges(resting=0.6).breaking(H.arc, fails=largest),
            },
        ),
        ends=Experiment(end, ended, {T: (30,)}, draws=Efforts(80, 80, 200), platform="cpu", subjects={
            "mu from 50 to 70": narrow,
            "mu from 5 to 7": narrow(low=5.0).breaking(H.narrow, fails=stalls),
            "ten steps": narrow(steps=10).breaking(H.steps, fails=solves),
        }),
    ),
    issues=(
        "Below mu = 4 the arc covers the circle more than once in 2 theta: all T eigenvalues are mu/4 or more.",
        "M is positive definite for every finite mu; its least eigenvalue is below rounding, and is not measured.",
        "The authors' figure averages the loss over 29 lengths: its step 1/2 is r = 1/29 for a single length.",
    ),
)
