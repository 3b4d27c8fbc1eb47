"""A user's layer in the place of a theorem's subjects: the real check, through the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace

EXAMPLES = Path(__file__).parents[2] / "examples"
# What a factory returns, or does, when it is wrong.
WRONG = '''"""Layers that cannot be judged."""

import equinox as eqx
import jax.numpy as jnp


class Layer(eqx.Module):
    tokens: int = 0
    columns: int = 0

    def __call__(self, X):
        return X[:, self.tokens :]

    def attention(self, X):
        return jnp.ones((len(X), len(X) - self.columns)) / len(X)


class WithoutAttention(eqx.Module):
    def __call__(self, X):
        return X


class OfSquares(Layer):
    def attention(self, X):
        return X @ X


def no_width(key, T):
    return Layer()


def raises(key, T, d):
    raise ValueError("the width must be a power of three")


def returns_a_number(key, T, d):
    return 3


def without_attention(key, T, d):
    return WithoutAttention()


def narrower(key, T, d):
    return Layer(tokens=1)


def lopsided(key, T, d):
    return Layer(columns=1)


def of_squares(key, T, d):
    return OfSquares()


a_number = 3
'''
# The factory, and what is said of it.
SAID = {
    "wrong.py:no_width": "cannot be called with a key, a context length and a width",
    "wrong.py:raises": "raised ValueError: the width must be a power of three",
    "wrong.py:returns_a_number": "returned an object of type int",
    "wrong.py:without_attention": "returned an object of type WithoutAttention",
    "wrong.py:narrower": "__call__ returned (16, 31) on tokens of shape (16, 32)",
    "wrong.py:lopsided": "attention returned (16, 15) on tokens of shape (16, 32)",
    "wrong.py:of_squares": "attention raised TypeError on tokens of shape (16, 32)",
    "wrong.py:a_number": "a_number is no function",
    "absent.py:factory": "there is no file `absent.py`",
}
# Which of the examples keeps the rates, and the exit code that says so.
VERDICTS = {"multihead_attention": (0, "SUPPORTED"), "outlier_removed": (1, "REFUTED")}

Verify = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verify:
    """The command ``verify`` on the library itself, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(WRONG, encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = exit_code_of(Workspace(arguments=arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.mark.parametrize("model", SAID)
def test_what_is_wrong_with_a_layer_is_said_in_a_sentence(verify, model):
    code, _, said = verify("theorem", "rank_collapse_width", "--model", model, "--effort", "quick")
    assert code == 2
    assert SAID[model] in " ".join(said.split())
    assert "Traceback" not in said


def words(out):
    """The status of each claim in a JSON report."""
    (theorem,) = json.loads(out)["theorems"]
    return {claim["id"]: claim["status"] for claim in theorem["claims"]}


@pytest.mark.parametrize("example", VERDICTS)
def test_the_gap_of_an_attention_layer_closes_with_its_outlier(verify, example):
    code, verdict = VERDICTS[example]
    model = f"{EXAMPLES / example}.py:factory"
    got, out, _ = verify("theorem", "keyquery_gap_and_bulk", "--model", model, "--effort", "quick", "-o", "json")
    assert got == code, out
    assert words(out) == {"layer_gap": verdict, "layer_collapse": verdict}


@pytest.mark.parametrize("example", VERDICTS)
def test_one_layer_collapses_unless_its_outlier_is_removed(verify, example):
    code, verdict = VERDICTS[example]
    model = f"{EXAMPLES / example}.py:factory"
    where = ("--at", "gamma=1", "--sizes", "T=64,128,256")
    got, out, _ = verify("theorem", "rank_collapse_width", "--model", model, "--effort", "quick", *where)
    assert got == code, out
    assert f"{verdict} rank_collapse_width" in " ".join(out.split())


def test_a_constant_is_not_asked_of_a_layer_whose_law_nobody_knows(verify):
    model = f"{EXAMPLES / 'multihead_attention'}.py:factory"
    _, out, _ = verify(
        "theorem", "rank_collapse_width", "--model", model, "--effort", "quick", "--sizes", "T=8,16,32", "-o", "json"
    )
    assert words(out).keys() == {"collapse"}


def test_a_theorem_without_a_replaceable_layer_says_so(verify):
    model = f"{EXAMPLES / 'multihead_attention'}.py:factory"
    code, _, said = verify("theorem", "outlier_identity", "--model", model)
    assert code == 2
    assert "is not about a layer that can be replaced" in " ".join(said.split())
