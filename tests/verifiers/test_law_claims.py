"""Laws in the language: normal limits of one number and of several, given a variance."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Matrix, MatrixBase, Rational, Symbol, integrate, oo, pi, sqrt
from sympy import exp as exponential

from theorax.decide.status import DEFAULT_LEVELS, Status
from theorax.errors import StatementError
from theorax.language import (
    Expansion,
    Experiment,
    GaussianVector,
    Law,
    Measured,
    Size,
    Subject,
    gaussian,
)
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds.law_lowering import LawJudge
from theorax.verifiers.settings import Settings

n = Size("n", "width")
f = Measured("f", "output at the first input")
g = Measured("g", "output at the second input")
S = Measured("S", "variance of f given the hidden layer")
C = Measured("C", "covariance of f and g given the hidden layer")
V = Measured("V", "variance of g given the hidden layer")
WIDTHS = (16, 32, 64, 128)


def build(key: Any, n: Any) -> Any:
    hidden, last = jax.random.split(key)
    layer = jnp.where(n.mask[:, None], jax.random.normal(hidden, (n.padded, 2)), 0)
    return layer / jnp.sqrt(jnp.asarray(n.value, float)), jax.random.normal(last, (n.padded,))


def observe(model: Any) -> dict[str, Any]:
    layer, last = model
    gram = layer.T @ layer
    output = last @ layer
    return dict(f=output[0], g=output[1], S=gram[0, 0], C=gram[0, 1], V=gram[1, 1])


@lru_cache(maxsize=8)
def drawn(draws: int, widths: tuple[int, ...]) -> Any:
    """A line and what was drawn on it: the claims below are asked of the same draws."""
    experiment = Experiment(
        padded=True,
        subjects={"net": Subject(build)},
        observe=observe,
        measures=(f, g, S, C, V),
        sweep={n: widths},
        draws=draws,
    )
    platform.enable()
    (line,) = sweep_lines("net", experiment, Settings())
    return line, measure("a theorem", experiment, line, [line], 0, Sampler())


def judged(claim: Any, draws: int, judge: Any = None, widths: tuple[int, ...] = WIDTHS) -> Any:
    line, observed = drawn(draws, widths)
    judge = judge or LawJudge()
    (cell,) = judge.cells(claim, line)
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


SMOOTH = Expansion((1,), rest=0.02, order=2, reason="moments of a sum of iid terms expand in 1/n")
IDENTITY = Matrix([[1, 0], [0, 1]])


def law(of: Any, to: Any, **more: Any) -> Law:
    limit = GaussianVector(to) if isinstance(to, MatrixBase) else gaussian(to)
    return Law(of, limit, as_=n, approach=SMOOTH, **more)


MANUFACTURED = {
    "normal given its variance": (law(f, 1, given=S, spread=0.1), 1000, Status.SUPPORTED),
    "another variance": (law(f, Rational(6, 5), given=S, spread=0.1), 1000, Status.REFUTED),
    "raw, far off": (law(f, 2), 1000, Status.REFUTED),
    "two numbers": (
        law((f, g), IDENTITY, given=Matrix([[S, C], [C, V]]), spread=0.1, excludes=(GaussianVector(2 * IDENTITY),)),
        1000,
        Status.SUPPORTED,
    ),
    "a correlation that is not there": (
        law((f, g), Matrix([[1, Rational(1, 2)], [Rational(1, 2), 1]]), given=Matrix([[S, C], [C, V]]), spread=0.1),
        1000,
        Status.REFUTED,
    ),
    "two numbers, raw": (law((f, g), 3 * IDENTITY), 1000, Status.REFUTED),
}


@pytest.mark.parametrize("name", MANUFACTURED)
def test_manufactured_laws(name: str) -> None:
    claim, draws, status = MANUFACTURED[name]
    assert judged(claim, draws).decision.status is status


def test_a_normal_law_proves_itself() -> None:
    x, v = Symbol("x", real=True), Symbol("v", positive=True)
    density = exponential(-(x**2) / (2 * v)) / sqrt(2 * pi * v)
    for power in (1, 2, 4):
        assert integrate(x**power * density, (x, -oo, oo)) == GaussianVector(v).moment(power)
    assert np.allclose(
        GaussianVector(2).characteristic(np.array([0.5]), {}), math.exp(-0.25), rtol=4 * 2.0**-52, atol=0
    )
    assert GaussianVector(2).scaled(3) == GaussianVector(18)
    assert "N(0, [[1, 0], [0, 1]])" in law((f, g), IDENTITY).statement
    assert "mathcal{N}" in law((f, g), IDENTITY).latex
    assert law((f, g), IDENTITY, given=Matrix([[S, C], [C, V]])).observed == {f, g, S, C, V}


UNMEANT = {
    "one law for two": (lambda: law((f, g), 1), "one row for each letter"),
    "two for one": (lambda: law(f, IDENTITY), "one row for each letter"),
    "shape of given": (lambda: law((f, g), IDENTITY, given=S), "one row for each letter"),
    "given a number": (lambda: law(f, 1, given=2), "measured in every draw"),
    "no covariance": (lambda: GaussianVector(Matrix([[1, 2], [0, 1]])), "symmetric"),
    "no spread": (lambda: GaussianVector(0), "has a positive variance"),
    "negative direction": (lambda: GaussianVector(Matrix([[1, 2], [2, 1]])).numbers({}), "negative variance"),
}


@pytest.mark.parametrize("name", UNMEANT)
def test_laws_that_the_language_refuses(name: str) -> None:
    make, because = UNMEANT[name]
    with pytest.raises(StatementError, match=because):
        make()
