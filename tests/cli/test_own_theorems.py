"""Theorems outside the library: roots of the command and of the project, and paths as selectors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import fakes
import pytest

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def own(verify, tmp_path):
    """A theorem file in the project's folder, which names no roots."""
    folder = tmp_path / "project" / "claims"
    folder.mkdir()
    (folder / "gap_of_mine.py").write_text(fakes.stated(("lanczos",)), encoding="utf-8")
    (folder / "edge_of_mine.py").write_text(fakes.stated(("gap_of_mine",)), encoding="utf-8")
    (folder / "_helper.py").write_text("theorem = 3\n", encoding="utf-8")
    (folder / "notes.py").write_text("x = 1\n", encoding="utf-8")
    return folder


@pytest.fixture
def named(own):
    """The same project, which names them."""
    (own.parent / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")


PATHS = {
    "claims/gap_of_mine.py": {"gap_of_mine"},
    "./claims/gap_of_mine.py": {"gap_of_mine"},
    "claims/": {"gap_of_mine", "edge_of_mine"},
    "./": {"gap_of_mine", "edge_of_mine"},
    "+claims/gap_of_mine.py": {"gap_of_mine", "lanczos"},
    "claims/gap_of_mine.py+": {"gap_of_mine", "edge_of_mine"},
    "claims/,label:read,*gap*": {"gap_of_mine"},
    "root:claims": None,
    "root:own": None,
}


@pytest.mark.parametrize(("word", "ids"), PATHS.items())
@pytest.mark.usefixtures("own")
def test_a_path_selects_theorems_outside_all_roots(verify, word, ids):
    found = verify("list", word)
    assert (found.code, _listed(found.out)) == ((0, ids) if ids else (5 if word == "root:own" else 2, set()))


@pytest.mark.parametrize(("word", "ids"), PATHS.items())
@pytest.mark.usefixtures("own")
def test_a_path_selects_theorems_of_a_root(verify, word, ids):
    found = verify("list", word, "--root", "claims")
    assert (found.code, _listed(found.out)) == (0, ids or {"gap_of_mine", "edge_of_mine"})


def test_a_path_means_the_present_folder(verify, own, monkeypatch):
    monkeypatch.chdir(own)
    assert _listed(verify("list", "gap_of_mine.py").out) == {"gap_of_mine"}
    (own.parent / "docs").mkdir()
    monkeypatch.chdir(own.parent / "docs")
    assert _listed(verify("list", "../claims/gap_of_mine.py").out) == {"gap_of_mine"}
    assert _listed(verify("list", "root:claims", "--root", "../claims").out) == {"gap_of_mine", "edge_of_mine"}


WRONG = [
    ("claims/nowhere.py", "There is no file or folder `claims/nowhere.py`"),
    ("claims/_helper.py", "its name starts with an underscore"),
    ("claims/notes.py", "has a line `theorem = Theorem(...)`. Add that line"),
    ("claims", "Write `claims/`"),
    ("docs/", "holds no theorem file"),
    ("root:clains", "there is no root `clains`"),
]


@pytest.mark.parametrize(("word", "said"), WRONG)
def test_a_path_without_a_theorem_is_told(verify, own, word, said):
    (own.parent / "docs").mkdir()
    for command in ("list", "theorem", "explain", "plan"):
        found = verify(command, word)
        assert found.code == 2 and said in found.err and "Traceback" not in found.err


@pytest.mark.usefixtures("named")
def test_the_project_theorems_are_meant_where_none_are_named(verify):
    assert _listed(verify("list").out) == {"gap_of_mine", "edge_of_mine"}
    assert "2 theorems of this project; the library's 4: --library" in verify("list").err
    assert _listed(verify("list", "--library").out) >= {"lanczos", "gap", "gap_of_mine"}
    assert "lanczos" not in verify("graph").out and "lanczos" in verify("graph", "--library").out
    assert "2 theorems of this project" in verify("all").err
    assert ": 4 claims of 2 theorems" in verify("baseline", "save").out
    assert "6 of 6 hold" in verify("all", "--library").out


@pytest.mark.usefixtures("named")
def test_an_id_in_two_roots_is_refused_where_it_is_selected(verify, own):
    (own / "gap.py").write_text(fakes.stated(), encoding="utf-8")
    for words in (("theorem", "gap"), ("theorem", "claims/gap.py"), ("all",), ("list", "gap"), ("plan", "gap*")):
        found = verify(*words)
        assert found.code == 2
        assert "Two files define the theorem `gap`: claims/gap.py and papers/spectra/gap.py." in found.err
    assert verify("theorem", "gap_of_mine").code == 0


@pytest.mark.usefixtures("named")
def test_a_root_that_is_none_is_told_by_every_command(verify, own):
    for words in (("list",), ("all",), ("graph",), ("plan",), ("explain", "gap"), ("theorem", "gap")):
        found = verify(*words, "--root", "nowhere")
        assert found.code == 2 and "`--root nowhere`" in found.err
    (own.parent / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["elsewhere"]\n', encoding="utf-8")
    found = verify("list")
    assert found.code == 2 and "`theorems` in `[tool.theorax]`" in found.err


def test_a_link_is_a_theorem_of_its_own_name(verify, own):
    (own / "link_of_mine.py").symlink_to("gap_of_mine.py")
    assert _listed(verify("list", "claims/link_of_mine.py").out) == {"link_of_mine"}
    assert _listed(verify("list", "claims/gap_of_mine.py").out) == {"gap_of_mine"}


def test_a_stranger_cannot_run_code_by_being_listed(verify, own):
    (own / "evil.py").write_text("raise SystemExit(7)\ntheorem = Theorem(\n", encoding="utf-8")
    found = verify("list", "claims/")
    assert found.code == 0 and "evil" in found.out
    found = verify("theorem", "claims/evil.py")
    assert found.code == 3 and "claims/evil.py, line 2" in found.out


def _listed(text: str) -> set[str]:
    return {line.split("\t")[0] for line in text.splitlines()}


def _of_mine(file: str) -> dict:
    with open(file, encoding="utf-8") as text:
        (part,) = (part for part in json.load(text)["theorems"] if part["id"] == "gap_of_mine")
    return part


@pytest.mark.usefixtures("named")
def test_a_report_names_the_root_of_a_theorem(verify):
    verify("theorem", "gap_of_mine", "lanczos", "-o", "json=r.json")
    part = _of_mine("r.json")
    assert part["root"] == {
        "name": "project", "kind": "project", "folder": "claims", "file": "gap_of_mine.py", "distribution": "", "version": ""
    }  # fmt: skip
    assert part["file"] == "claims/gap_of_mine.py"
    assert part["replay"] == "verify theorem gap_of_mine --fresh --effort standard"
    verify("baseline", "save", "--report", "r.json")
    assert _of_mine("theorax-baseline.json")["root"] == part["root"]


def test_the_command_that_checks_again_finds_the_theorem(verify, own, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for words in (
        ("../project/claims/gap_of_mine.py",),
        ("../project/claims",),
        ("gap_of_mine", "--root", "../project/claims"),
        ("gap_of_mine", "--root", str(own)),
    ):
        assert verify("theorem", *words, "-o", "json=r.json").code == 0
        _, *again = shlex.split(_of_mine("r.json")["replay"])
        assert again[1].endswith("gap_of_mine") or again[1] == "../project/claims/gap_of_mine.py"
        assert verify(*again, "-o", "json=again.json").code == 0
        assert _of_mine("again.json")["replay"] == _of_mine("r.json")["replay"]


@pytest.mark.usefixtures("named")
def test_a_renamed_root_keeps_its_results(verify, own):
    assert verify("theorem", "gap_of_mine", "-o", "json=r.json").code == 0
    own.rename(own.parent / "statements")
    (own.parent / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["statements"]\n', encoding="utf-8")
    assert verify("theorem", "gap_of_mine", "-o", "json=again.json").code == 0
    then, now = _of_mine("r.json"), _of_mine("again.json")
    assert (then["kept_from"], now["kept_from"] is None) == (None, False)
    assert now["root"]["folder"] == now["paper"] == "statements" and now["file"] == "statements/gap_of_mine.py"


@pytest.mark.usefixtures("named")
def test_a_missing_root_is_not_a_vanished_theorem(verify, own, tmp_path):
    verify("theorem", "gap_of_mine", "-o", "json=r.json")
    verify("baseline", "save")
    assert verify("replay", "r.json").code == verify("baseline", "compare").code == 0
    own.rename(tmp_path / "moved")
    (own.parent / "pyproject.toml").unlink()
    for words in (("replay", "r.json"), ("baseline", "compare")):
        found = verify(*words)
        what = "report" if words[0] == "replay" else "baseline"
        assert (found.code, found.err) == (
            2, f'Error: This {what} needs the root "project" (claims). Write --root DIR.\n'
        )  # fmt: skip
        assert verify(*words, "--root", "../moved").code == 0
    (tmp_path / "moved" / "gap_of_mine.py").unlink()
    found = verify("baseline", "compare", "--root", "../moved")
    assert found.code == 1 and "there is no theorem gap_of_mine any more" in found.out


def test_a_theorem_of_its_author_is_its_own(verify, own):
    text = '"""Mine."""\n\ntheorem = Theorem(claims=dict(gap=Limit(s, as_=T)))\n'
    (own / "mine.py").write_text(text, encoding="utf-8")
    assert _listed(verify("list", "label:own", "--root", "claims").out) == {"mine"}


OBSERVE = "theorax.runs.checking:stage"
REFUSING = '''"""A mean of a Gaussian vector."""

import jax
import jax.numpy as jnp
from sympy import Rational

from theorax.language import *
from theorax.numerics.platform import processor

n, scale = Size("n", "width"), Parameter("scale", "scale of the entries", positive=True)
x = Measured("x", "mean of the entries")
{at_import}
mean = Expectation(x, 0, spread=Rational(1, 4), margin=Absolute(1, 10, "a shift of a tenth"))


def build(key, n, scale):
    {in_build}
    return scale * jax.random.normal(key, (n,))


def observe(entries):
    {in_draw}
    return dict(x=jnp.mean(entries))


theorem = Theorem(
    claims=dict(mean=mean),
    experiments=dict(e=Experiment(observe, x, {{n: 16}}, at={{scale: 1}}, draws=400, subjects={{"g": Subject(build)}})),
)
'''


@pytest.mark.parametrize("place", ["at_import", "in_build", "in_draw"])
def test_a_call_that_a_file_makes_wrongly_ends_its_own_check_alone(verify, own, place):
    blanks = dict.fromkeys(("at_import", "in_build", "in_draw"), "")
    call = 'processor("tpu")'
    (own / "sound.py").write_text(REFUSING.format(**blanks), encoding="utf-8")
    (own / "wrong.py").write_text(REFUSING.format(**{**blanks, place: call}), encoding="utf-8")
    words = ("--effort", "quick", "-o", "terminal", "-o", "json=r.json")
    found = verify("theorem", "claims/wrong.py", "claims/sound.py", *words, check=OBSERVE)
    told = {part["id"]: part["status"] for part in json.loads(Path("r.json").read_text("utf-8"))["theorems"]}
    assert (found.code, told) == (3, {"sound": "SUPPORTED", "wrong": "ERROR"})
    lines = [line.strip() for line in (own / "wrong.py").read_text("utf-8").split("\n")]
    sentence = f"claims/wrong.py:{lines.index(call) + 1}: `{call}` is refused: JAX finds no device `tpu` here."
    assert sentence in " ".join(found.out.split())
    # A value that was typed may be what is refused: then the command was wrong.
    assert verify("theorem", "claims/wrong.py", "--at", "scale=2", "--effort", "quick", check=OBSERVE).code == 2
