"""Theorem files that cannot be meant, and theorems that fail in every way: the real check, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

CHECK = "theorax.runs.checking:stage"

# A quantity with mean 1 + 1/n at size n, observed in 40 draws: the smallest theorem that runs.
GOOD = '''"""Means of noisy numbers tend to one."""

import jax
import jax.numpy as jnp
import sympy
from sympy import Integer, Rational, Symbol, oo

from theorax.language import *

n = Size("n", "how many")
c = Parameter("c", "size of the correction", positive=True)
x = Measured("x", "a noisy number")


def build(key, n, c{needs}):
    return 1 + c / n.value + 0.01 * jax.random.normal(key)


def observe(net, n):
    {observe}


H = hypotheses(noise=Hypothesis("the noise has mean zero", unbroken="nothing to break"{holds}))
mean = {claim}


@derives(mean)
def bounded():
    """Every c."""
    m = Symbol("m", positive=True)
    yield Step("the correction vanishes", sympy.Limit(1 + c / m, m, oo), {proved})


theorem = Theorem(
    place="nowhere",
    label="derived",
    uses={uses},
    hypotheses=H,
    claims=dict(mean=mean),
    proofs={proofs},
    experiments=dict(
        numbers=Experiment(
            padded=True,
            subjects={{"gaussian": Subject(build)}},
            observe=observe,
            measures=(x,),
            sweep={{n: (8, 16, 32, 64)}},
            at=({{c: Integer(1)}},),
            draws={draws},
        )
    ),
)
'''
CLAIM = (
    'Limit(of=x, to=Integer({to}), as_=n, approach=Expansion(powers=(1,), rest=0.01, order=2, reason="exactly c/n"), '
    'margin=Relative(1, {margin}, "why"), spread=0.01)'
)


def page(**changed: str) -> str:
    """The text of a theorem file: the good one, with parts changed."""
    parts = {
        "needs": "",
        "observe": "return dict(x=net)",
        "proved": "Integer(1)",
        "uses": "()",
        "holds": "",
        "claim": CLAIM.format(to=1, margin=10),
        "draws": "40",
        "proofs": "(bounded,)",
    }
    return GOOD.format(**{**parts, **changed})


@pytest.fixture
def write(root: Path):
    """Put a theorem file into the library."""

    def put(name: str, **changed: str) -> None:
        (root / "spectra" / f"{name}.py").write_text(page(**changed), encoding="utf-8")

    return put


def test_the_smallest_theorem_is_supported(verify, write):
    write("means")
    answer = verify("theorem", "means", "--fresh", check=CHECK)
    assert answer.code == 0, answer.out + answer.err
    for said in ("SUPPORTED", "Means of noisy numbers tend to one", "Derived    mean", "verify theorem means --fresh"):
        assert said in answer.out


def test_a_wrong_value_is_refuted(verify, write):
    write("means", claim=CLAIM.format(to=2, margin=10), proofs="()")
    answer = verify("theorem", "means", check=CHECK)
    assert answer.code == 1
    assert "REFUTED" in answer.out


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({"observe": "return dict(x=jnp.log(-net))"}, 3, "is not finite in draw 0"),
        ({"observe": "return dict(x=jnp.stack([net, net]))"}, 3, "with shape (2,) per draw"),
        ({"observe": "return dict(y=net)"}, 3, "Return it from observe under the name 'x'"),
        ({"needs": ", depth"}, 3, "asks for depth, which the experiment does not set"),
        ({"claim": CLAIM.format(to="1) + Symbol('beta'", margin=10)}, 3, "holds the symbol beta"),
        ({"claim": CLAIM.format(to=1, margin=10).replace('margin=Relative(1, 10, "why"), ', "")}, 3, "has no margin"),
        ({"claim": CLAIM.format(to=2, margin=10)}, 3, "never reaches a side of the claim"),
        (
            {"proved": 'Integer(1))\n    yield Step("one", 2 - 1, 1'},
            3,
            "has two identical sides, 1, and leaves nothing",
        ),
        (
            {"proved": 'Integer(3))\n    yield Step("squares", (m - 1) * (m + 1) - m**2 + 2, 1'},
            3,
            "A step of the proof mean is false (the correction vanishes)",
        ),
        ({"holds": ", holds=x > 2"}, 4, "No draw of gaussian at c = 1 satisfies the hypothesis noise"),
        ({"holds": ", holds=x > 1"}, 3, "of the draws of gaussian at c = 1 satisfy the hypothesis noise"),
        ({"claim": CLAIM.format(to=1, margin=10000)}, 4, "alone exceed the margin (0.0001). Use sizes up to"),
        ({"draws": "12"}, 4, "Light tails are asserted of 12 draws"),
        ({"uses": '("means",)'}, 3, "means -> means"),
        ({"uses": '("bulks",)'}, 3, "did you mean `bulk`"),
        ({"observe": "return 1 / 0"}, 3, "division by zero"),
    ],
)
def test_what_is_wrong_is_said_and_the_others_still_run(verify, write, root, changed, code, said):
    write("means", **changed)
    (root / "spectra" / "steady.py").write_text(page(), encoding="utf-8")
    answer = verify("theorem", "means", "steady", "--jobs", "1", check=CHECK)
    told = " ".join((answer.out + answer.err).split())
    assert answer.code == code, told
    assert said in told
    assert "Traceback" not in told
    assert "SUPPORTED" in told  # the other theorem


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at", "beta=1"), "no parameter beta"),
        (("--at", "c=-1"), "is assumed to be positive"),
        (("--at", "c"), "--at"),
        (("--sizes", "T=8,16"), "does not sweep T"),
        (("--sizes", "n=0..8"), "n"),
        (("--model", "nowhere.py:layer"), "nowhere.py"),
    ],
)
def test_parameters_that_the_theorem_does_not_have(verify, write, arguments, said):
    write("means")
    answer = verify("theorem", "means", *arguments, check=CHECK)
    assert answer.code == 2, answer.out
    assert said in answer.err
    assert answer.err.startswith("Error: ")


def test_other_parameters_and_sizes(verify, write):
    write("means")
    answer = verify("theorem", "means", "--at", "c=1/2", "--sizes", "n=16..128", check=CHECK)
    assert answer.code == 0, answer.out
    assert "--at c=1/2 --sizes n=16,32,64,128" in " ".join(answer.out.split())


def test_two_jobs_draw_the_same_bits(verify, write, tmp_path):
    write("means")
    write("again")
    texts = []
    for jobs in ("1", "2"):
        answer = verify(
            "theorem", "means", "again", "--jobs", jobs, "--fresh", "--output", f"json=run{jobs}.json", check=CHECK
        )
        assert answer.code == 0, answer.out + answer.err
        import json

        report = json.loads((tmp_path / "project" / f"run{jobs}.json").read_text())
        texts.append([(theorem["id"], theorem["claims"][0]["cases"]) for theorem in report["theorems"]])
    assert texts[0] == texts[1]
