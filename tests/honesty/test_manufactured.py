"""Theorems with known answers, through the whole check: of each kind one that is true, one that is false, one that is empty.

The false twin is off by one and a half margins. The empty twin has a control that should break it and cannot, for the
control has the very law of the evidence: a check that could not have failed supports nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.runs.checking import check
from theorax.verifiers.outcome import TheoremOutcome
from theorax.verifiers.settings import Settings

PAGE = '''"""Numbers of which everything is known."""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational, sqrt

from theorax.language import *

n = Size("n", "how many")
x = Measured("x", "a number of mean 1 + 1/n")
q = Measured("q", "a quantity of the order 1/n", positive=True)
g = Measured("g", "a Gaussian of variance 1 + 1/n")
low = Measured("low", "a sum of squares of two numbers, twice")
high = Measured("high", "the square of their sum and that of their difference")

once = Measured("once", "the sum, squared, of two numbers and of their halves", array=True)
twice = Measured("twice", "the same from squares and product", array=True)

SMOOTH = Expansion(powers=(1,), rest=0.1, order=2, reason="exactly one over n")


def build(key, n):
    noise = jax.random.normal(key, (3,))
    scale = 1 + 1 / n.value
    return jnp.stack([scale + 0.05 * noise[0], jnp.exp(0.1 * noise[1]) / n.value, jnp.sqrt(scale) * noise[2]])


def observe(net):
    a, b = net[0], net[2]
    return dict(x=a, q=net[1], g=b, low=2 * (a * a + b * b), high=(a + b) ** 2 + (a - b) ** 2)


def programs(net):
    a, b = jnp.stack([net[0], net[0] / 2]), jnp.stack([net[2], net[2] / 2])
    return dict(once=(a + b) ** 2, twice=a * a + 2 * a * b + b * b)


def limit(to):
    return Limit(of=x, to=to, as_=n, approach=SMOOTH, margin=Absolute(1, 20, "stated"), spread=0.05)


def rate(like, side="exact"):
    return Rate(of=q, like=like, as_=n, approach=Corrections(), side=side, margin=Absolute(1, 10, "stated"),
                spread=0.1)


def mean(equals):
    return Expectation(of=x, equals=equals, margin=Absolute(1, 40, "stated"), spread=0.05)


def law(variance):
    approach = Corrections(size=0.05, slowest=1, reason="the variance is 1 + 1/n, the first size is 32")
    return Law(of=g, to=gaussian(variance), as_=n, approach=approach, scale=Integer(1),
               excludes=(gaussian(Rational(17, 10) * variance), gaussian(variance / 2)))


def identity(factor):
    return Identity(left=once, right=factor * twice, margin=Relative(1, 10**3, "stated"))


def bound(slack):
    return Inequality(of=high, at_most=low + slack, margin=Absolute(1, 100, "stated"), content=Rational(1, 20))


def probability(p):
    return Probability(event=g <= 0, at_least=p, margin=Absolute(1, 10, "stated"))


TRUE = dict(
    limit=limit(Integer(1)),
    rate=rate(1 / n),
    order=rate(1 / n, "at most"),
    mean=mean(1 + 1 / n),
    law=law(Integer(1)),
    identity=identity(Integer(1)),
    bound=bound(Integer(0)),
    probability=probability(Rational(1, 2)),
)
# Each off by one and a half margins. A law has a panel in place of a margin: the false one is a member of it.
FALSE = dict(
    limit=limit(Rational(1075, 1000)),
    rate=rate(n ** -Rational(115, 100)),
    order=rate(n ** -Rational(115, 100), "at most"),
    mean=mean(1 + 1 / n + Rational(3, 80)),
    law=law(Rational(17, 10)),
    identity=identity(1 + Rational(15, 10**4)),
    bound=bound(-Rational(3, 200)),
    probability=probability(Rational(65, 100)),
)

H = hypotheses(
    noise=Hypothesis("the noise is Gaussian", unbroken="it is what is drawn"),
    other=Hypothesis("a hypothesis that nothing rests on"{other}),
)
theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims={claims},
    experiments=dict(
        numbers=Experiment(
            padded=True,
            subjects={{"evidence": Subject(build){again}}},
            observe=observe,
            measures=(x, q, g, low, high),
            sweep={{n: (32, 64, 128, 256, 512, 1024, 2048)}},
            draws=2000,
        ),
        programs=Experiment(
            padded=True,
            subjects={{"evidence": Subject(build){again}}},
            observe=programs,
            measures=(once, twice),
            sweep={{n: (32,)}},
            draws=10,
        ),
    ),
)
'''
KINDS = ("limit", "rate", "order", "mean", "law", "identity", "bound", "probability")


def checked(folder: Path, claims: str, empty: bool) -> TheoremOutcome:
    """The outcome of the theorem with these claims, checked as any other is."""
    paper = folder / "papers" / "known"
    paper.mkdir(parents=True)
    again = ', "the same again": Subject(build).breaking(H.other, fails=tuple(TRUE.values()))' if empty else ""
    other = "" if empty else ', unbroken="nothing rests on it"'
    (paper / "__init__.py").write_text('"""Nobody, Known answers."""\n', encoding="utf-8")
    (paper / "manufactured.py").write_text(PAGE.format(claims=claims, again=again, other=other), encoding="utf-8")
    return check("manufactured", Settings(state=str(folder / "state"), roots=(str(paper.parent),)))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Statuses by twin and kind; three checks for all kinds, for a program is compiled once a check."""
    found = {}
    for twin, claims in (("true", "TRUE"), ("false", "FALSE"), ("empty", "TRUE")):
        outcome = checked(tmp_path_factory.mktemp(twin), claims, twin == "empty")
        found[twin] = {claim.id: claim.status for claim in outcome.claims}
    return found


# Equal in random finite fields, so for all weights: nothing drawn, an empty control neither, can take from that.
RIGOROUS = {"identity": "CERTIFIED"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_true_claim_is_supported(kind, outcomes):
    assert outcomes["true"][kind] == RIGOROUS.get(kind, "SUPPORTED")


@pytest.mark.parametrize("kind", KINDS)
def test_its_false_twin_is_refuted(kind, outcomes):
    assert outcomes["false"][kind] == "REFUTED"


@pytest.mark.parametrize("kind", KINDS)
def test_its_empty_twin_is_vacuous(kind, outcomes):
    assert outcomes["empty"][kind] == RIGOROUS.get(kind, "VACUOUS")
