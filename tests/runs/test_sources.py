"""What determines a result: edits that change a key and edits that do not."""

from __future__ import annotations

import os

import pytest

from theorax.runs import sources
from theorax.runs.manifests import key, manifest_differences
from theorax.runs.sources import Sources
from theorax.verifiers.settings import Settings

THEOREM = '''"""Title."""
from pack.numerics import spectra
theorem = Theorem(uses=())

def proof():
    """Scope."""
'''
FILES = {
    "pack/__init__.py": "",
    "pack/numerics/__init__.py": '"""Measure."""\n',
    "pack/numerics/spectra.py": "from . import kernels\n\ndef top(a):\n    return 1\n",
    "pack/numerics/kernels.py": "x = 1\n",
    "pack/numerics/unused.py": "y = 1\n",
    "pack/runs/checking.py": "def check():\n    from pack.verifiers.decide import decide\n",
    "pack/verifiers/decide.py": "z = 1\n",
    "pack/verifiers/kinds/rates.py": "w = 1\n",
    "pack/theorems/paper/gap.py": THEOREM,
}


@pytest.fixture
def pack(tmp_path):
    for place, text in FILES.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    return tmp_path / "pack"


def manifest(pack, settings=None):
    return Sources(root=pack).manifest(pack / "theorems/paper/gap.py", settings or Settings())


def test_the_closure_follows_imports_anywhere_in_a_file(pack):
    found = {name for name in manifest(pack) if name.startswith("source")}
    assert found == {
        f"source pack/{name}"
        for name in (
            "numerics/__init__.py",
            "numerics/spectra.py",
            "numerics/kernels.py",
            "runs/checking.py",
            "verifiers/decide.py",
            "verifiers/kinds/rates.py",
        )
    }


def test_a_copied_file_has_a_key_of_its_own(pack):
    copied = pack / "theorems/paper/gap_again.py"
    copied.write_text(THEOREM, encoding="utf-8")
    here, there = manifest(pack), Sources(root=pack).manifest(copied, Settings())
    assert here["theorem"] == there["theorem"]
    assert key(here) != key(there)


EDITS = [
    ("numerics/kernels.py", "x = 2\n", ("source pack/numerics/kernels.py: changed",)),
    ("numerics/kernels.py", '"""New words."""\n# and a comment\nx  =  1\n', ()),
    ("numerics/unused.py", "y = 2\n", ()),
    ("verifiers/decide.py", "z = 2\n", ("source pack/verifiers/decide.py: changed",)),
    ("theorems/paper/gap.py", THEOREM.replace("Title", "Another title"), ()),
    ("theorems/paper/gap.py", THEOREM.replace("Scope", "Another scope"), ("theorem: changed",)),
    ("theorems/paper/gap.py", THEOREM.replace("uses=()", "uses=('a',)"), ("theorem: changed",)),
]


def told(before, after):
    """The differences as a reader is told them."""
    return tuple(map(str, manifest_differences(before, after)))


@pytest.mark.parametrize(("place", "text", "changed"), EDITS)
def test_edits(pack, place, text, changed):
    before = manifest(pack)
    (pack / place).write_text(text, encoding="utf-8")
    after = manifest(pack)
    assert told(before, after) == changed
    assert (key(before) == key(after)) == (not changed)


CHOICES = [
    (Settings(jobs=7, fresh=True, state="elsewhere"), ()),
    (Settings(seed=1), ("setting seed: 0 -> 1",)),
    (Settings(effort="quick"), ("setting effort: 'standard' -> 'quick'",)),
]


@pytest.mark.parametrize(("settings", "changed"), CHOICES)
def test_settings(pack, settings, changed):
    assert told(manifest(pack), manifest(pack, settings)) == changed


def test_no_version_of_python_has_a_say_in_what_a_file_says(tmp_path):
    file = tmp_path / "said.py"
    file.write_text(
        "def f(x: int = 1, *, y=None):\n    return f'{x!r:>{3}} \u0394' if y else [..., ()]\n", encoding="utf-8"
    )
    arguments = "arguments(args,kwonlyargs,kw_defaults,defaults) [1] arg(arg,annotation) 'x' Name(id,ctx) 'int' Load() "
    arguments += "[1] arg(arg) 'y' [1] Constant() [1] Constant(value) 1"
    shown = "JoinedStr(values) [2] FormattedValue(value,conversion,format_spec) Name(id,ctx) 'x' Load() 114 "
    shown += "JoinedStr(values) [2] Constant(value) '>' FormattedValue(value,conversion) Constant(value) 3 -1 "
    shown += "Constant(value) ' \\u0394'"
    other = "List(elts,ctx) [2] Constant(value) Ellipsis Tuple(ctx) Load() Load()"
    choice = f"[1] Return(value) IfExp(test,body,orelse) Name(id,ctx) 'y' Load() {shown} {other}"
    assert sources.normalised(file) == f"Module(body) [1] FunctionDef(name,args,body) 'f' {arguments} {choice}"


def test_a_sum_of_any_length_is_read(tmp_path):
    file = tmp_path / "long.py"
    file.write_text(f"x = {' + '.join(['y'] * 1500)}\n", encoding="utf-8")
    assert sources.normalised(file).count(" 'y' ") == 1500


def test_a_users_model_and_what_it_imports_beside_it(pack, tmp_path):
    (tmp_path / "layer.py").write_text("import parts\n\ndef layer(key):\n    return parts.x\n", encoding="utf-8")
    (tmp_path / "parts.py").write_text("x = 1\n", encoding="utf-8")
    settings = Settings(model=f"{tmp_path / 'layer.py'}:layer")
    before = manifest(pack, settings)
    (tmp_path / "parts.py").write_text("x = 2\n", encoding="utf-8")
    assert told(before, manifest(pack, settings)) == ("model file parts.py: changed",)


def test_a_package_that_only_an_own_file_imports_is_named_with_its_version(pack, tmp_path, monkeypatch):
    (tmp_path / "layer.py").write_text("import numpy\n\nfrom helpers import layer\n", encoding="utf-8")
    (tmp_path / "helpers.py").write_text("import json\nimport rich.text\n\ndef layer(key): ...\n", encoding="utf-8")
    settings = Settings(model=f"{tmp_path / 'layer.py'}:layer")
    before = manifest(pack, settings)
    assert "version of rich" not in manifest(pack)
    sources.version.cache_clear()
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} 0")
    assert "version of rich" in " ".join(told(before, manifest(pack, settings)))
    sources.version.cache_clear()


def test_edits_that_come_fast_and_keep_size_and_time_are_seen(pack, tmp_path):
    state, file = tmp_path / "state", pack / "numerics/kernels.py"
    state.mkdir()
    first = file.stat()
    seen = set()
    for number in range(10, 40):
        file.write_text(f"x = {number}\n", encoding="utf-8")
        os.utime(file, ns=(first.st_atime_ns, first.st_mtime_ns))
        sources = Sources(root=pack).beside(str(state))  # as in a new process, beside what the last one kept
        found = sources.manifest(pack / "theorems/paper/gap.py", Settings())
        sources.known.save()
        assert found == manifest(pack)
        seen.add(key(found))
    assert len(seen) == 30
