"""``pytest --verify``: the claims of theorems as tests."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as xml

import fakes
import pytest

from theorax.theorems.catalogue import claim_ids

pytest_plugins = ["pytester"]


def test_one_item_per_claim_and_one_check_per_theorem(session, calls):
    found = session("--verify", "paper:spectra", "-v")
    found.stdout.fnmatch_lines(["*collected 3 items"])
    found.assert_outcomes(passed=3)
    found.stdout.fnmatch_lines(
        ["*verify::bulk::gap PASSED*", "*verify::edge::gap PASSED*", "*verify::gap::gap PASSED*"]
    )
    assert calls() == ["bulk", "edge", "gap"]


def test_claims_stand_beside_the_projects_own_tests(session, pytester):
    pytester.makepyfile("def test_own(): pass")
    session("--verify", "gap").assert_outcomes(passed=2)
    session("--verify", "gap", "--verify-only").assert_outcomes(passed=1)
    session("--verify", "gap", "-m", "verify").assert_outcomes(passed=1, deselected=1)
    session("--verify", "gap", "-k", "own").assert_outcomes(passed=1, deselected=1)
    session().assert_outcomes(passed=1)


def test_only_claims_are_collected_where_the_projects_tests_cannot_be(session, pytester):
    pytester.makepyfile("raise RuntimeError")
    session("--verify", "gap", "--verify-only").assert_outcomes(passed=1)


def test_ancestors_come_first_and_a_failed_one_blocks(session, theorems, calls):
    theorems(refuted=fakes.stated(("lanczos",)), child=fakes.stated(("refuted",)))
    found = session("--verify", "+child", "-v", "-rs")
    found.assert_outcomes(passed=1, failed=1, skipped=1)
    found.stdout.fnmatch_lines(["*verify::lanczos::*", "*verify::refuted::*", "*verify::child::*"])
    found.stdout.fnmatch_lines(["*BLOCKED child: It rests on refuted (REFUTED); not checked.*"])
    assert calls() == ["lanczos", "refuted"]


def test_a_failure_says_the_claim_its_numbers_and_the_replay(session, theorems):
    theorems(refuted=fakes.stated())
    found = session("--verify", "refuted")
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "*REFUTED refuted.gap: The limit is not 2: 1.7432(23), in *",
            "*→ 2⋅σ_A*",
            "*Stated in *spectra/refuted.py, line 9*",
            "*Replay: verify theorem refuted --fresh --effort standard*",
        ]
    )
    assert "Traceback" not in found.stdout.str() and "collecting.py" not in found.stdout.str()


def test_an_error_is_a_failure_with_its_sentence(session, theorems):
    theorems(raises=fakes.stated(), broken='"""Broken."""\n\ntheorem = Theorem(\n')
    found = session("--verify", "raises", "--verify", "broken")
    found.assert_outcomes(failed=2)
    found.stdout.fnmatch_lines(["*ZeroDivisionError: a programmer's error*"])
    found.stdout.fnmatch_lines(["*spectra/broken.py, line 3*"])


UNDECIDED = [
    ((), {}, "", "skipped"),
    (("--verify-strict",), {}, "", "failed"),
    ((), {"CI": "true"}, "", "failed"),
    (("--verify-lenient",), {"CI": "true"}, "", "skipped"),
    ((), {}, "verify_strict = true", "failed"),
    ((), {"CI": "true"}, "verify_strict = false", "skipped"),
    (("--verify-strict",), {}, "verify_strict = false", "failed"),
]


@pytest.mark.parametrize(("words", "environment", "ini", "outcome"), UNDECIDED)
def test_undecided_is_skipped_or_fails_and_is_never_green_on_ci(
    words, environment, ini, outcome, session, theorems, pytester, monkeypatch
):
    theorems(open=fakes.stated())
    pytester.makeini(f"[pytest]\n{ini}\n")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = session("--verify", "open", "-rs", *words)
    found.assert_outcomes(**{outcome: 1})
    found.stdout.fnmatch_lines(["*INCONCLUSIVE open.gap: * Undecided: *"])
    assert found.ret == (1 if outcome == "failed" else 0)


MISTAKES = [
    (("--verify", "gapp"), "did you mean `gap`?"),
    (("--verify", "paper:nothing"), "there is no paper `nothing`"),
    (("--verify", "gap,kind:limit"), "selects no theorem"),
    (("--verify", "gap", "--verify-effort", "quik"), "did you mean `quick`?"),
    (("--verify", "gap", "--verify-level", "2"), "no error rate"),
    (("--verify", "gap", "--verify-level", "2"), "Write `--verify-level 0.025`."),
    (("--verify", "gap", "--verify-at", "gamma"), "`--verify-at gamma`: `gamma` gives no letter a value."),
    (("--verify", "gap", "--verify-at", "gamma"), "Write `--verify-at gamma=1/4,l=2`."),
    (("--verify", "gap", "--verify-at", "l=2", "--verify-at", "l=3"), "`--verify-at l=3` gives `l` a second value"),
    (("--verify", "gap", "--verify-sizes", "T=9,3"), "`--verify-sizes T=9,3`: sizes are positive and grow."),
    (("--verify", "gap", "--verify-sizes", "T"), "or `--verify-sizes T=64,128,256`."),
    (
        ("--verify", "gap", "--verify-model", "layer.py"),
        "Write it as FILE.py:FACTORY, such as `--verify-model layer.py",
    ),
    (("--verify", "gap", "--verify-model", "no.py:layer"), "`--verify-model no.py:layer`: there is no file `no.py`."),
    (("--verify", "gap", "--verify-adjust", "holm"), "The option `--verify-adjust` no longer exists."),
    (("--verify-adjust=holm",), "Leave the option out."),
    (("--verify-nightly",), "with another seed, such as `--verify-seed 20260101`"),
    (("--verify-at", "l=2"), '`--verify-at` applies to theorems, and none are named. Write --verify "ID" too'),
    (("--verify-model", "layer.py:layer"), "`--verify-model` applies to theorems"),
    (("--verify-root", "claims"), "`--verify-root` applies to theorems"),
    (("--verify", "gap", "--verify-root", "nowhere"), "`--verify-root nowhere`: a root is a folder of theorem files"),
    (("--verify", "claims/nowhere.py"), "There is no file or folder `claims/nowhere.py` here."),
    (("--verify-effort", "quik"), "did you mean `quick`?"),
    (("--verify-only",), 'Write --verify "paper:NAME" too.'),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_sentence(words, said, session):
    found = session(*words)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert said in found.stderr.str() and "Traceback" not in found.stderr.str()


@pytest.fixture
def asked(monkeypatch):
    """The settings with which each theorem was checked."""
    seen = {}

    def check(id, settings):
        seen[id] = settings
        return fakes.outcome(id)

    monkeypatch.setattr(fakes, "check", check)
    return seen


def test_other_parameters_are_for_the_named_theorems(session, asked):
    words = ("--verify-at", "gamma=0.25,l=2", "--verify-at", "tau=3", "--verify-sizes", "T=100..300")
    session("--verify", "+gap", *words).assert_outcomes(passed=3)
    assert list(asked) == ["lanczos", "bulk", "gap"]
    assert asked["gap"].at == (("gamma", "1/4"), ("l", "2"), ("tau", "3"))
    assert asked["gap"].sizes == (("T", (100, 200, 300)),)
    assert {(asked[id].at, asked[id].sizes) for id in ("lanczos", "bulk")} == {((), ())}


def test_a_model_is_checked_in_another_process(session, asked, calls, pytester):
    pytester.makepyfile(layer="def attention(key, T, d):\n    return None\n")
    session("--verify", "+gap", "--verify-model", "layer.py:attention").assert_outcomes(passed=3)
    assert asked == {}  # the stand-in of this process was not called: another process checked them
    assert calls() == ["bulk", "gap", "lanczos"]


def test_what_the_project_leaves_out_is_left_out(session, pytester):
    (pytester.path / "pyproject.toml").write_text('[tool.theorax]\nexclude = ["edge"]\n', encoding="utf-8")
    session("--verify", "paper:spectra").assert_outcomes(passed=2)
    session("--verify", "paper:spectra", "--verify-exclude", "gap").assert_outcomes(passed=2)


def test_a_letter_that_a_theorem_does_not_have_fails_its_claims_with_a_sentence(session, theorems):
    theorems(misused=fakes.stated())
    found = session("--verify", "misused", "--verify-at", "delta=1")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["`--verify-at delta=1`: misused has no letter `delta`; its letters are gamma and l."])
    assert "Traceback" not in found.stdout.str()


def test_a_claim_that_is_not_about_a_layer_is_not_green_with_a_model(session, theorems, pytester):
    two = fakes.stated().replace("claims=dict(", "claims=dict(elsewhere=Rate(of=s), ")
    theorems(one=two, refuted=two)
    pytester.makepyfile(layer="def attention(key, T, d):\n    return None\n")
    words = ("--verify", "one", "--verify", "refuted", "--verify-strict")
    found = session(*words, "--verify-model", "layer.py:attention", "-rs")
    found.assert_outcomes(passed=1, failed=1, skipped=2)
    assert "this claim is not about a layer that --verify-model can replace" in found.stdout.str()
    # Where nothing was put in the place of its subjects, a check must have a verdict on every claim.
    session(*words).assert_outcomes(passed=1, failed=3)


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_parameters_sizes_and_a_model_under_many_workers(words, session, theorems, pytester):
    if words:
        pytest.importorskip("xdist")
    theorems(echo_one=fakes.stated(), echo_two=fakes.stated())
    pytester.makepyfile(layer="def attention(key, T, d):\n    return None\n")
    given = ("--verify-at", "l=2", "--verify-sizes", "T=8,16", "--verify-model", "layer.py:attention")
    found = session("--verify", "echo_*", "--verify-seed", "7", *given, *words)
    found.assert_outcomes(failed=2)
    told = "Replay: verify theorem echo_one --fresh --effort standard --seed 7 --at l=2 --sizes T=8,16"
    found.stdout.fnmatch_lines([f"*{told}*"])
    assert "--model layer.py:attention" in found.stdout.str()


def test_results_are_kept_as_the_command_keeps_them(session, calls, pytester):
    session("--verify", "gap", "--verify-effort", "quick")
    session("--verify", "gap", "--verify-effort", "quick")
    assert calls() == ["gap"]
    session("--verify", "gap", "--verify-effort", "quick", "--verify-fresh")
    session("--verify", "gap")
    session("--verify", "gap", "--verify-effort", "quick", "--verify-seed", "2")
    assert calls() == ["gap"] * 4
    assert (pytester.path / ".theorax" / "results.sqlite").is_file()


@pytest.mark.parametrize("distribution", ["load", "loadgroup"])
def test_many_workers_make_each_check_once(distribution, session, theorems, calls):
    pytest.importorskip("xdist")
    two = fakes.stated().replace("claims=dict(", "claims=dict(decay=Rate(of=s), ")
    theorems(one=two, two=two, refuted=two)
    found = session("--verify", "paper:spectra", "--verify-fresh", "-n", "2", "--dist", distribution, "-v")
    found.assert_outcomes(passed=8, failed=1)
    assert calls() == ["bulk", "edge", "gap", "one", "refuted", "two"]
    found.stdout.fnmatch_lines(["*= claims =*", "*claims tested: risk that any green is wrong *"])


def test_a_session_that_asks_for_nothing_says_nothing(session, pytester):
    pytester.makepyfile("def test_own(): pass")
    # Beside the list of plug-ins, where it is installed, and a warning about these nested sessions.
    lines = session("-W", "ignore").stdout.str().splitlines()
    assert not [line for line in lines if "theorax" in line and not line.startswith("plugins: ")]
    assert not any("claim" in line or "Holm" in line for line in lines)


def test_the_report_of_pytest_carries_the_numbers(session, pytester):
    session("--verify", "gap", "--junitxml=out.xml")
    (case,) = xml.parse(pytester.path / "out.xml").getroot().iter("testcase")
    assert (case.get("classname"), case.get("name")) == ("verify.gap", "gap")
    assert '"p_support": ' in case.find(".//property[@name='theorax']").get("value")


def test_names_from_files_command_no_terminal(session, theorems, pytester):
    text = fakes.stated().replace("dict(gap=Limit(of=s, as_=T))", '{"\\x1b[31mred": Limit(of=s, as_=T)}')
    (pytester.path / "papers" / "spectra" / "odd\x1b[31m.py").write_text(text, encoding="utf-8")
    found = session("--verify", "odd*", "-v")
    assert "\x1b" not in found.stdout.str() + found.stderr.str()
    assert "verify::odd\\x1b(31m::\\x1b(31mred" in found.stdout.str()


IDLE = """
import sys, pytest
assert pytest.main(["-p", "theorax.testing.plugin", "--collect-only"]) == pytest.ExitCode.NO_TESTS_COLLECTED
print("IMPORTED", *sorted(name for name in sys.modules if name.startswith("theorax")))
"""


def test_an_idle_plug_in_imports_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", IDLE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ours = [f"theorax.testing.{name}" for name in ("declared_options", "plugin")]
    assert done.stdout.splitlines()[-1].split() == ["IMPORTED", "theorax", "theorax.testing", *ours, "theorax.version"]


WRITTEN = [
    ("dict(gap=Limit(of=s), decay=Rate(of=s))", ("gap", "decay")),
    ('{"gap": Limit(of=s), "decay": Rate(of=s)}', ("gap", "decay")),
    ("dict()", ()),
    ("{**kept, 'gap': Limit(of=s)}", None),
    ("dict(**kept, gap=Limit(of=s))", None),
    ("dict(kept, gap=Limit(of=s))", None),
    ("{name: Limit(of=s) for name in names}", None),
    ("{name: Limit(of=s)}", None),
    ("CLAIMS", None),
]


@pytest.mark.parametrize(("written", "ids"), WRITTEN)
def test_claims_are_read_from_the_text_only_where_it_writes_all_of_them(written, ids, tmp_path):
    path = tmp_path / "theorem.py"
    path.write_text(f'"""A title."""\ntheorem = Theorem(place="", claims={written})\n', encoding="utf-8")
    assert claim_ids(path) == ids


def test_the_plug_in_is_an_entry_point():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(fakes.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Under the module's own name, so that `-p` and the entry point are one plug-in.
    assert project["entry-points"]["pytest11"] == {"theorax.testing.plugin": "theorax.testing.plugin"}


@pytest.mark.parametrize(
    "words",
    [
        ("--verify", "claims/gap_of_mine.py"),
        ("--verify", "gap_of_mine", "--verify-root", "claims"),
        ("--verify", "root:claims", "--verify-root", "claims", "-n2"),
    ],
)
def test_theorems_outside_the_library(words, session, pytester, calls):
    (pytester.path / "claims").mkdir()
    (pytester.path / "claims" / "gap_of_mine.py").write_text(fakes.stated(), encoding="utf-8")
    session(*words).assert_outcomes(passed=1)
    assert calls() == ["gap_of_mine"]


def test_theorems_of_the_project(session, pytester, calls):
    (pytester.path / "claims").mkdir()
    (pytester.path / "claims" / "gap_of_mine.py").write_text(fakes.stated(), encoding="utf-8")
    (pytester.path / "pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    session("--verify", "root:own").assert_outcomes(passed=1)
    assert calls() == ["gap_of_mine"]
