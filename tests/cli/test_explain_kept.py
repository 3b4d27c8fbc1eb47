"""The text of ``verify explain`` is kept, and made again as soon as anything that it is made of is another."""

from pathlib import Path

import fakes
import pytest

from theorax.runs.kept_texts import FOLDER

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def loads(monkeypatch):
    """The theorems whose files were loaded."""
    import theorax.verifiers.loading as loading

    seen, original = [], loading.load
    monkeypatch.setattr(loading, "load", lambda id, catalogue: seen.append(id) or original(id, catalogue))
    return seen


@pytest.fixture
def own(verify):
    Path("pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    Path("claims").mkdir()
    Path(".theorax").mkdir()
    assert verify("new", "mine", "--kind", "limit").code == 0
    return Path("claims/mine.py")


def test_a_text_is_made_once(verify, own, loads):
    first, second = verify("explain", "mine"), verify("explain", "mine")
    assert first.code == second.code == 0 and first.out == second.out
    assert loads == ["mine"]


@pytest.mark.parametrize("hurt", ["title", "claim", "damage", "other file"])
def test_another_source_makes_another_text(verify, own, loads, hurt):
    before = verify("explain", "mine").out
    kept = Path(".theorax") / FOLDER / "mine.json"
    text = own.read_text(encoding="utf-8")
    if hurt == "title":
        own.write_text(text.replace('"""', '"""Another title: ', 1), encoding="utf-8")
    elif hurt == "claim":
        own.write_text(text.replace("margin=", "margin = ", 1).replace("Theorem(", "Theorem(issues=('Seen.',), ", 1))
    elif hurt == "damage":
        kept.write_text(kept.read_text(encoding="utf-8").replace("e", "a", 3), encoding="utf-8")
    else:
        kept.write_bytes(b"\xff\xfe")
    after = verify("explain", "mine").out
    assert loads == ["mine", "mine"]
    assert (after == before) is (hurt in ("damage", "other file"))


def test_no_folder_of_results_is_made_for_a_text(verify, own):
    Path(".theorax").rmdir()
    assert verify("explain", "mine").code == 0
    assert not Path(".theorax").exists()


def test_one_claim_a_paper_and_a_word_that_is_none(verify, root):
    fakes.library(root)
    assert "\n  gap\n    The gap opens\n" in verify("explain", "paper:spectra").out
    unknown = verify("explain", "margn")
    assert unknown.code == 2 and "did you mean `margin`" in " ".join(unknown.err.split())


def test_one_claim_alone(verify, own):
    name = next(word for word in own.read_text(encoding="utf-8").split("claims=dict(")[1].split("=")).strip()
    answer = verify("explain", f"mine.{name}")
    assert answer.code == 0 and f"Claim {name}" in answer.out
    wrong = verify("explain", "mine.nothing")
    assert wrong.code == 2 and name in wrong.err
