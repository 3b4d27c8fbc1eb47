"""The digest under which attempts at a program are counted: names, sweeps and draws leave it, the mathematics does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.verifiers.settings import Settings
from theorax.verifiers.theorem_check import versions

FILE = '''"""Mean square."""
import jax
import jax.numpy as jnp
from theorax.language import *

n = Size("n", "dimension")
gamma = Parameter("gamma", "a scale", positive=True)
x = Measured("x", "mean square")
y = Measured("y", "largest entry")
mean = Expectation(x, gamma**2, margin=Absolute(1, 1, "two"), spread=2)


def build(key, n, gamma):
    weights = jax.random.normal(key, (n,))
    return gamma * weights


def observe(z):
    return dict(x=jnp.mean(z**2), y=jnp.max(z))


theorem = Theorem(
    label="own",
    claims=dict(mean=mean),
    experiments=dict(
        e=Experiment(observe, (x, y), {n: (64, 128, 256, 512)}, at={gamma: 2}, draws=4000, subjects={"z": Subject(build)})
    ),
)
'''

SAME = {
    "functions": (("build", "make"), ("observe", "look"), ("weights", "w")),
    "letters": (
        ('x = Measured("x"', 'a = Measured("q"'),
        ("Expectation(x", "Expectation(a"),
        ("(x, y)", "(a, y)"),
        ("dict(x=", "dict(q="),
    ),
    "the claim": (("mean=mean", "other=mean"),),
    "sizes": (("(64, 128, 256, 512)", "(100, 200, 400, 800)"),),
    "draws": (("draws=4000", "draws=8000"),),
    "margin": (('Absolute(1, 1, "two")', 'Absolute(3, 2, "three")'),),
    "order of lines": (("dict(x=jnp.mean(z**2), y=jnp.max(z))", "dict(y=jnp.max(z), x=jnp.mean(z**2))"),),
    "words": (('"a scale"', '"another word"'), ('"""Mean square."""', '"""Nothing."""')),
    "what is measured besides": (("y=jnp.max(z)", "y=jnp.min(z)"),),
}
OTHER = {
    "the value": (("gamma**2", "gamma**3"),),
    "the constant": (("gamma**2", "2 * gamma**2"),),
    "the program": (("jnp.mean(z**2)", "jnp.mean(jnp.abs(z))"),),
    "a number in it": (("jnp.mean(z**2)", "jnp.mean(z**2) * 1.5"),),
    "the law": (("random.normal", "random.uniform"),),
    "the kind": (
        ('Expectation(x, gamma**2, margin=Absolute(1, 1, "two"), spread=2)', "Inequality(x, at_most=gamma**2)"),
    ),
}


def programs(
    folder: Path, name: str, changes: tuple[tuple[str, str], ...] = (), at: tuple[tuple[str, str], ...] = ()
) -> list[str]:
    text = FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text, "utf-8")
    found = versions(name, Settings(effort="quick", roots=(str(folder),), state=str(folder / "state"), at=at))
    return [version.program for version in found.values()]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    (found,) = programs(tmp_path_factory.mktemp("claims"), "original")
    assert found
    return [found]


@pytest.mark.parametrize("changes", SAME.values(), ids=list(SAME))
def test_other_names_sizes_and_draws_are_the_same_program(tmp_path, original, changes):
    assert programs(tmp_path / "copies", "copied", changes) == original


@pytest.mark.parametrize("changes", OTHER.values(), ids=list(OTHER))
def test_another_statement_or_another_program_begins_a_count(tmp_path, original, changes):
    (found,) = programs(tmp_path / "copies", "copied", changes)
    assert found
    assert [found] != original


def test_claims_of_one_theorem_do_not_count_as_attempts_at_each_other(tmp_path, original):
    twice = (
        ("claims=dict(mean=mean)", "claims=dict(mean=mean, again=replace(mean))"),
        ("import jax\n", "from dataclasses import replace\nimport jax\n"),
    )
    first, second = programs(tmp_path / "copies", "copied", twice)
    assert [first] == original
    assert second != first


def test_other_values_begin_a_count_and_a_renamed_letter_does_not(tmp_path, original):
    (there,) = programs(tmp_path / "claims", "original", at=(("gamma", "1"),))
    assert [there] != original
    renamed = (
        ('Parameter("gamma"', 'Parameter("scale"'),
        ("(key, n, gamma)", "(key, n, scale)"),
        ("gamma * w", "scale * w"),
    )
    assert programs(tmp_path / "copies", "copied", renamed, at=(("scale", "2/2"),)) == [there]
