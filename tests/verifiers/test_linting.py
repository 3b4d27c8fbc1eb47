"""All errors of a file at once, found without JAX."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from theorax.errors import StatementError, collecting, problem
from theorax.text.rules import RULES
from theorax.theorems.catalogue import LIBRARY, Catalogue
from theorax.verifiers.linting import lint, problems
from theorax.verifiers.loading import load

PACKAGE = LIBRARY.parent

# Line, rule; the statement on the line breaks the rule and no other.
BROKEN = '''"""A theorem with an error on every other line."""

import equinox as eqx
import jax
import jax.numpy as jnp
from functools import partial
from sympy import Symbol

from theorax.language import *

n = Size("n", "")  # letter-meaning
g = Parameter("g ", "gain")  # letter-name
s = Measured("s", "norm", positiv=True)  # letter-assumption
H = hypotheses(a="independent", b="")  # hypothesis-empty
first = Limit(s, g, as_=n, approach=Corrections(size=-1.0), margin=Relative(1, 9, "x"))  # corrections
second = Expectation(s, g)  # margin-missing
third = Expectation(s, Symbol("z"), margin=Absolute(1, 9, "x"))
lost = undefined(3)  # import
after = Expectation(s, lost)


class Layer(eqx.Module, strict=True):
    weight: jax.Array = eqx.field(static=True)
    kind: jax.Array | None = None


@partial(jax.vmap, in_axes=(0, None))
def squared(row, n, dtype=jnp.float64):
    return row**2


@jax.custom_vjp
def step(x):
    return x


step.defvjp(lambda x: (x, None), lambda _, g: (g,))


def build(key, n):
    return Layer(jnp.ones(n))


def observe(model, n, q):
    return dict(s=1.0)


theorem = Theorem(  # letter-unset, hypothesis-unbroken
    place="",
    label="ownn",  # label
    hypotheses=H,
    claims=dict(
        first=first,
        second=second,
        third=third,
    ),
    experiments=dict(e=Experiment(observe, s, {n: 4}, at={g: 2}, subjects={"x": Subject(build)}, draws=8)),
)
'''


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with many errors."""
    path = tmp_path / "claims" / "broken.py"
    path.parent.mkdir()
    path.write_text(BROKEN, encoding="utf-8")
    return path


def test_every_error_of_a_file_is_found_on_its_line(broken):
    found = {(part.line, part.rule) for part in lint(broken).problems}
    lines = BROKEN.split("\n")
    for number, line in enumerate(lines, start=1):
        for rule in filter(None, line.partition("  # ")[2].split(", ")):
            assert any(rule == name and (at == number or "Theorem(" in line) for at, name in found), (rule, found)
    # An error of a claim stands on the claim's own line, wherever it was seen.
    assert (lines.index(next(line for line in lines if line.startswith("third"))) + 1, "stray-symbol") in found


def test_stand_ins_and_jax_find_the_same(broken):
    assert lint(broken).problems == problems(broken)


def test_nothing_is_said_of_what_depends_on_a_lost_name(broken):
    after = next(number for number, line in enumerate(BROKEN.split("\n"), start=1) if line.startswith("after"))
    assert after not in [part.line for part in lint(broken).problems]


def test_a_file_that_computes_is_named_with_its_line(tmp_path):
    path = tmp_path / "computes.py"
    path.write_text('"""Computes."""\nimport jax.numpy as jnp\n\ntable = jnp.arange(3)\n', encoding="utf-8")
    found = lint(path)
    assert found.computes == (4, "jax.numpy.arange")
    assert [part.rule for part in found.problems] == ["theorem"]


def test_lint_imports_no_jax(broken):
    code = (
        "import sys, pathlib; from theorax.verifiers.linting import lint; lint(pathlib.Path(sys.argv[1])); "
        "print([name for name in sys.modules if name.partition('.')[0] in ('jax', 'jaxlib', 'equinox')])"
    )
    text = (
        broken.read_text().replace("lost = undefined(3)  # import\n", "").replace("after = Expectation(s, lost)\n", "")
    )
    broken.write_text(text)
    said = subprocess.run([sys.executable, "-c", code, str(broken)], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_what_stood_in_is_gone_afterwards(broken):
    lint(broken)
    import jax.numpy as jnp

    assert float(jnp.ones(2).sum()) == 2


def test_a_problem_raises_unless_it_is_collected():
    with pytest.raises(StatementError, match="no draws") as caught:
        problem("no-draws", "An experiment with no draws.")
    assert caught.value.rule == "no-draws"
    with collecting() as found:
        problem("no-draws", "One.")
        problem("no-draws", "Two.")
    assert [str(error) for error in found] == ["One.", "Two."]


def test_every_rule_is_explained_and_every_explained_rule_is_used():
    # At a call, the name of a rule stands first.
    calls = re.compile(r"(?:\bproblem|_refuse|StatementError\.of|UnknownLetter\.of)\(\s*\"([a-z-]+)\"")
    used = {name for path in PACKAGE.rglob("*.py") for name in calls.findall(path.read_text("utf-8"))}
    faults = re.compile(r"rule(?:: str )?= ?\"([a-z-]+)\"")
    used |= {name for path in PACKAGE.rglob("*.py") for name in faults.findall(path.read_text("utf-8"))}
    assert used | {"statement"} == set(RULES)


CALLS = {
    "Limit(seen.x, 1, as_=n, margin=Absolute(1, 10, 'why'))": "`Limit` lacks `approach`",
    "Limit(seen.x, 1, margin=Absolute(1, 10, 'why'))": "`Limit` lacks `as_` and `approach`",
    "Relative(1, 10)": "`Relative` lacks `reason`",
    "Expectation(seen.x, 1, margin=Absolute(1, 10))": "`Absolute` lacks `reason`",
    "Expectation(seen.x, 1, margn=Absolute(1, 10, 'why'))": "`Expectation` has no argument `margn`; did you mean `margin`",
    "Parameter()": "`Parameter` lacks `name`",
    "Expectation(seen.x, 1, margin=Absolute(1, 10, 'why'), id='a', title='b')": (
        "`Expectation` has no arguments `id` and `title`. Its arguments are `of`, `equals`,"
    ),
    "Expectation(seen.x, 1, margin=Absolute(1, 10, 'why'), zzz=Subject(lambda key, n, width: n, width=1.0))": (
        "`Expectation` has no argument `zzz`. Its arguments"
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments_of_the_language_are_named_on_their_line(tmp_path, call):
    file = tmp_path / "called.py"
    end = "theorem = Theorem(claims=dict(claim=claim))\n"
    head = "from theorax.language import *\n\nn = Size('n', 'width')\nseen = numbers(x='a number')\n\n"
    file.write_text(f"'''A title.'''\n{head}claim = (\n    {call}\n)\n{end}", encoding="utf-8")
    (found,) = [part for part in lint(file).problems if part.rule == "arguments"]
    assert CALLS[call] in found.sentence and found.line == 8
    with pytest.raises(StatementError) as raised:
        load("called", Catalogue.of((tmp_path,)))
    assert CALLS[call] in str(raised.value) and "TypeError" not in str(raised.value)
