"""A layer that nobody here wrote, in the place of a theorem's own subjects: the two examples, and layers that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.cli.main import answer
from theorax.cli.world import World

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("--effort", "quick", "--jobs", "1")


@pytest.fixture
def verify(tmp_path, monkeypatch, capsys):
    """The command on the real library, in an empty folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = answer(World(arguments=arguments))
        said = capsys.readouterr()
        return code, " ".join((said.out + said.err).split())

    return call


@pytest.mark.parametrize(
    ("example", "theorem", "sizes", "code", "said"),
    [
        ("multihead_attention", "rank_collapse_width", "T=32..256", 0, "rank_collapse_width is SUPPORTED"),
        ("outlier_removed", "rank_collapse_width", "T=32..256", 1, "rank_collapse_width is REFUTED"),
        ("multihead_attention", "keyquery_gap_and_bulk", "T=16..128", 4, "layer_collapse SUPPORTED"),
        ("outlier_removed", "keyquery_gap_and_bulk", "T=16..128", 1, "layer_collapse REFUTED"),
    ],
)
def test_an_example_is_judged(verify, example, theorem, sizes, code, said):
    at = ("--at", "gamma=1") if theorem == "rank_collapse_width" else ()
    found, told = verify(
        "theorem", theorem, "--model", f"{EXAMPLES / example}.py:factory", "--sizes", sizes, *at, *SMALL
    )
    assert said in told
    assert found == code, told
    assert "Judged on a model of yours" in told


LAYERS = """
import equinox as eqx
import jax.numpy as jnp

def few(key):
    return None

def raises(key, T, d):
    raise RuntimeError("no weights today")

def nothing(key, T, d):
    return 3

class Wide(eqx.Module):
    def attention(self, X):
        return jnp.eye(len(X)) + 1 / len(X)

    def __call__(self, X):
        return jnp.concatenate([X, X], axis=1)

def wide(key, T, d):
    return Wide()

number = 7
"""


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("layers.py:few", "cannot be called with a key, a context length and a width"),
        ("layers.py:raises", "factory raised RuntimeError: no weights today"),
        ("layers.py:nothing", "returned an object of type int"),
        ("layers.py:wide", "It must return (16, 16)"),
        ("layers.py:number", "number"),
        ("layers.py:wyde", "did you mean `wide`"),
        ("layers.py", "does not say which function builds the model"),
        ("absent.py:factory", "no file"),
        ("no_such_package.layers:factory", "no_such_package"),
        ("broken.py:factory", "broken.py"),
    ],
)
def test_a_layer_that_is_none_is_one_sentence(verify, tmp_path, model, said):
    (tmp_path / "layers.py").write_text(LAYERS)
    (tmp_path / "broken.py").write_text("def factory(:\n")
    found, told = verify("theorem", "rank_collapse_width", "--model", model, "--sizes", "T=16,32,64", *SMALL)
    assert found == 2, told
    assert said in told
    assert "Traceback" not in told
    assert told.startswith("Error: ")


def test_a_theorem_without_a_layer_says_so(verify):
    found, told = verify(
        "theorem", "outlier_identity", "--model", f"{EXAMPLES / 'multihead_attention.py'}:factory", *SMALL
    )
    assert found == 2
    assert "is not about a layer that can be replaced" in told
