"""Errors of a model name the author's own line first, never one of JAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.cli import scaffold

pytestmark = pytest.mark.usefixtures("here")

CHECK = "theorax.runs.checking:stage"
LIMIT = (Path(scaffold.__file__).parent / "scaffolds" / "limit.txt").read_text("utf-8")
LENGTH = "jnp.linalg.norm(vector)"


def line_of(text: str, part: str) -> int:
    """The first line of the text that holds the part."""
    return next(number for number, line in enumerate(text.splitlines(), start=1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "part", "said"),
    [
        (LENGTH, "jnp.linalg.norm(jnp.ones((3, 2)) @ vector)", "jnp.ones((3, 2))", "raises TypeError: "),
        (LENGTH, "{}['missing']", "missing", "raises KeyError: 'missing'"),
        ("draws=1000", "draws=1000, padded=True", "jax.random.normal", "`n` is an Extent: a size in a padded array."),
    ],
    ids=["shapes", "key", "extent"],
)
def test_the_authors_line_comes_first(verify, old, new, part, said):
    text = LIMIT.replace(old, new)
    Path("claims").mkdir()
    Path("claims/mine.py").write_text(text, encoding="utf-8")
    answer = verify("theorem", "claims/mine.py", "--effort", "quick", "--jobs", "1", check=CHECK)
    assert answer.code == 3
    told = " ".join(answer.out.split())
    assert f"claims/mine.py:{line_of(text, part)}: " in told
    assert said in told
    assert told.index("claims/mine.py:") < (told.index("jax/") if "jax/" in told else len(told))
