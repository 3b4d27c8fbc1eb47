"""`verify lint` rejects claims with nothing symbolic, and warns of numbers that observe compares with."""

from __future__ import annotations

import pytest

from theorax.theorems.catalogue import LIBRARY, Catalogue
from theorax.verifiers.evaluated_claims import evaluated_file
from theorax.verifiers.linting import lint

DEBT = 314  # bare claims of the library when the rule came; lower it with every one that gets its mathematics

FILE = '''"""T."""
import jax
import jax.numpy as jnp
from theorax.language import *

n = Size("n", "width")
x = Measured("x", "ratio to the bound"{notation})
bound = Inequality(x, at_most={side}{reason})


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(z):
    return dict(x={observed})


drawn = Experiment(observe, x, {{n: 8}}, subjects={{"z": Subject(build)}})
theorem = Theorem(label="own", claims=dict(bound=bound), experiments=dict(e=drawn))
'''
PLAIN = {"notation": "", "side": "1", "reason": "", "observed": "jnp.max(z)"}
ROWS = {
    "bare": ({}, ["bare-claim"]),
    "with a notation": ({"notation": ', notation="max_i z_i"'}, []),
    "with a formula": ({"side": "2 * n"}, []),
    "with a reason": ({"reason": ', bare_because="the ratio has no closed form"'}, []),
    "with an empty reason": ({"reason": ', bare_because=" "'}, ["bare-claim"]),
    "a hidden bound": ({"side": "2 * n", "observed": "jnp.mean(z**2 < 2.5)"}, ["compared-number"]),
    "a sign": ({"side": "2 * n", "observed": "jnp.mean(z > 0)"}, []),
    "a hidden bound with a reason": (
        {"side": "2 * n", "observed": "jnp.mean(z**2 < 2.5)  # not a bound: a window\n    "}, []
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_a_claim_contains_its_mathematics(tmp_path, row):
    changed, rules = ROWS[row]
    file = tmp_path / "own.py"
    text = FILE.format(**PLAIN | changed)
    if "# not a bound" in text:
        text = text.replace("return dict(x=", "x = ").replace("\n    )", "\n    return dict(x=x)")
    file.write_text(text, "utf-8")
    found = lint(file).problems
    assert [part.rule for part in found] == rules
    assert all(part.warns == (part.rule == "compared-number") for part in found)


def test_the_debt_of_the_library_only_shrinks():
    lines = (LIBRARY / "bare_claims.txt").read_text("utf-8").split()
    assert lines == sorted(set(lines))
    assert len(lines) <= DEBT
    known = {f"{id}.{name}" for id in Catalogue().ids for name in Catalogue().facts(id).claims or ()}
    assert set(lines) <= known


def test_an_event_is_evaluated():
    rows = {row.claim: row for row in evaluated_file("relu_region_count", (), (("k", "3"),), (("n", (12,)),))}
    assert rows["cover"].exact == "134" and rows["cover"].decimal == 134
    assert rows["with_biases"].exact == "299"
