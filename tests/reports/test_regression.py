"""A report against a baseline: every change of a claim gets its word, its reason and its exit code."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from dataclasses import replace

import fakes
import nasty
import pytest
from test_document import edited, report, turned

from theorax.decide.status import Reason, Status
from theorax.errors import UsageError
from theorax.reports import baselines as files
from theorax.reports import github, regression_builds, regression_text
from theorax.reports.document import Source
from theorax.reports.regression import compared
from theorax.reports.renderings import ANSWERS, RENDERINGS, render
from theorax.text.codec import json_values
from theorax.text.safe import UNSEEN
from theorax.verifiers.settings import Settings


def outcome(**changed):
    """The theorem `gap` with the claims `gap` (two cases, supported) and `decay`."""
    found = fakes.outcome("gap")
    return replace(found, claims=(fakes.verdict(**{"status": "SUPPORTED", **changed}), *found.claims[1:]))


def with_cases(**changed):
    """The same with the numbers of its first case changed."""
    first, second = fakes.CLAIM.cases
    return outcome(cases=(replace(first, **changed), second))


def against(*outcomes, before=(), seed=0, **options):
    """The comparison of these outcomes, found with this seed, with a baseline of those before."""
    baseline = files.taken(report(*(before or (outcome(),))))
    found = compared(baseline, report(*outcomes, settings=Settings(seed=seed)), **options)
    return found, {row.name: row for row in found.claims}


def test_the_same_run_is_the_same_to_the_last_bit():
    found, rows = against(outcome())
    assert {row.how for row in rows.values()} == {"bit for bit"}
    assert json_values(found.summary) == {
        "changes": {"kept": 2}, "outcomes": {"same": 2}, "identical": 2, "exit_code": 0,
    }  # fmt: skip


ERRATUM = {"status": Status.REFUTED, "corrected": "decay", "p_refute": 1e-9}
CHANGES = [
    # before, now, the change, the exit code
    (dict(), dict(status=Status.REFUTED, p_refute=1e-12), "regressed", 1),
    (dict(), dict(status=Status.INCONCLUSIVE, reason=Reason.UNDERPOWERED), "regressed", 1),
    (dict(), dict(status=Status.VACUOUS), "regressed", 1),
    (dict(status=Status.PROVED), dict(), "regressed", 1),
    (dict(), dict(status=Status.PROVED), "improved", 0),
    (dict(status=Status.INCONCLUSIVE), dict(), "improved", 0),
    (dict(status=Status.REFUTED, p_refute=1e-12), dict(status=Status.REFUTED, p_refute=1e-12), "kept", 0),
    (ERRATUM, ERRATUM, "kept", 0),
    (ERRATUM, {**ERRATUM, "status": Status.SUPPORTED, "p_refute": 0.6}, "regressed", 1),
    ({**ERRATUM, "status": Status.SUPPORTED}, ERRATUM, "improved", 0),
    (dict(), dict(statement="E[s] = 0"), "restated", 4),
    (dict(), dict(prediction="3"), "restated", 4),
    (dict(), dict(margin_given="10 % of the limit"), "restated", 4),
    (dict(), dict(id="another"), "vanished", 1),
]


@pytest.mark.parametrize(("before", "now", "change", "code"), CHANGES)
def test_every_change_has_its_word_and_its_code(before, now, change, code):
    found, rows = against(outcome(**now), before=(outcome(**before),))
    row = rows["gap.gap"]
    assert (row.change, row.exit, found.summary.exit_code) == (change, code, code)
    if change == "vanished":
        assert rows["gap.another"].change == "appeared"
    assert regression_text.comparison_as_plain_text(found)


def conditional(*needed, **sentences):
    """The same outcome, its first claim under these hypotheses; ``sentences`` are those that read otherwise."""
    found = outcome(under=needed)
    hypotheses = [replace(one, sentence=sentences.get(one.name, one.sentence)) for one in found.hypotheses]
    return replace(found, hypotheses=tuple(hypotheses))


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (conditional("iid", "variance"), "hypothesis variance: not there -> the weights have a finite variance"),
        (conditional(), "hypothesis iid: the weights Z are independent with one law -> not there"),
        (
            conditional("iid", iid="Z is zero"),
            "hypothesis iid: the weights Z are independent with one law -> Z is zero",
        ),
    ],
)
def test_a_claim_under_other_hypotheses_is_another_claim(now, told):
    found, rows = against(now, before=(conditional("iid"),))
    assert (rows["gap.gap"].change, found.summary.exit_code) == ("restated", 4)
    assert rows["gap.gap"].why == "its hypotheses changed" and told in rows["gap.gap"].notes
    assert told in " ".join(regression_text.comparison_as_plain_text(found).split())


def test_hypotheses_that_the_claim_does_not_need_or_that_nobody_kept_are_no_news():
    assert against(conditional("iid", variance="other words"), before=(conditional("iid"),))[0].summary.exit_code == 0
    assert against(conditional("iid"), before=(outcome(),))[0].summary.exit_code == 0


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (dict(controls=()), "the subject 'Pareto weights, tail 3/2'"),
        (dict(mutants=()), "the variant 'radius'"),
        (dict(mutants=tuple(replace(one, killed=False) for one in fakes.MUTANTS)), "the variant 'radius'"),
    ],
)
def test_a_claim_that_is_told_apart_from_less_is_not_confirmed(gone, told):
    found, rows = against(replace(outcome(), **gone), before=(outcome(),))
    row = rows["gap.gap"]
    assert (row.change, row.exit, found.summary.exit_code) == ("less tested", 4, 4)
    assert told in row.why and told in " ".join(regression_text.comparison_as_plain_text(found).split())
    # Nobody looked where the claim does not hold, and what is new is no loss.
    open_ = outcome(status=Status.INCONCLUSIVE, reason=Reason.UNDERPOWERED)
    assert against(replace(open_, **gone), before=(open_,))[1]["gap.gap"].change == "kept"
    assert against(outcome(), before=(replace(outcome(), **gone),))[1]["gap.gap"].change == "kept"


def test_a_move_under_a_word_that_stands_is_told_and_fails_only_if_asked():
    moved = with_cases(estimate=2.0087, interval=(2.0021, 2.0153))
    found, rows = against(moved, seed=1)
    row = rows["gap.gap"]
    assert (row.outcome, row.within, row.change) == ("moved", True, "kept")
    assert found.summary.exit_code == 0
    told = " ".join(regression_text.comparison_as_plain_text(found).split())
    assert "Moved, and still as good as before" in told
    assert (
        "1.9987(23) then, 2.0087(23) now" in told
        and "moved by 0.01, " in told
        and "less than 0.05, half of its margin" in told
    )
    assert against(moved, seed=1, strict=True)[0].summary.exit_code == 1
    # From the same seeds nobody knows how the two depend: the standard errors add, and this is no move.
    assert against(moved)[1]["gap.gap"].outcome == "same"


@pytest.mark.parametrize(("now", "word"), [(1.5, "same"), (1.56, "moved")])
def test_a_rigorous_bound_is_told_as_a_bound(now, word):
    first = fakes.CLAIM.cases[0]
    bounds = [replace(first, estimate=x, standard_error=0.0, interval=None) for x in (1.5 - 1e-9, now)]
    before, after = (outcome(cases=(bound,)) for bound in bounds)
    found, rows = against(after, before=(before,))
    assert (rows["gap.gap"].how, rows["gap.gap"].outcome) == ("bound", word)
    told = " ".join(regression_text.comparison_as_plain_text(found).split())
    apart = "(rigorous bounds of a value that is not known), apart by at least 0.05, half of its margin"
    assert (apart in told) == (word == "moved")


def test_what_should_have_come_out_bit_for_bit_is_told():
    _, rows = against(with_cases(estimate=1.99871))
    assert "so its numbers should be identical" in rows["gap.gap"].notes[-1]


def test_a_wide_interval_leaves_it_open():
    wide = with_cases(estimate=1.97, standard_error=0.04, interval=(1.85, 2.09))
    found, rows = against(wide, seed=1)
    assert rows["gap.gap"].outcome == "cannot tell" and found.summary.exit_code == 0
    assert "the numbers cannot tell whether it moved by" in " ".join(
        regression_text.comparison_as_plain_text(found).split()
    )


def test_other_seeds_may_lapse_and_the_same_may_not():
    open_ = outcome(status=Status.INCONCLUSIVE, reason=Reason.UNDERPOWERED, design_hash="another")
    assert against(open_, seed=1)[1]["gap.gap"].change == "lapsed"
    assert against(open_, seed=1)[0].summary.exit_code == 4
    assert against(open_)[1]["gap.gap"].change == "regressed"
    gone = replace(
        open_.claims[0],
        cases=tuple(replace(case, estimate=1.5, interval=(1.4934, 1.5066)) for case in fakes.CLAIM.cases),
    )
    moved = replace(open_, claims=(gone, *open_.claims[1:]))
    assert against(moved, seed=1)[1]["gap.gap"].change == "regressed"


def test_a_larger_run_changes_nothing():
    """A claim whose p-value is too large among so many keeps its word, and so it is as in the baseline."""

    def claims(id, **changed):
        return replace(fakes.outcome(id), claims=(fakes.verdict(**{"status": "SUPPORTED", **changed}),))

    weak, strong = claims("edge", p_support=0.02), [claims(f"other_{n}", p_support=1e-9) for n in range(9)]
    red = claims("gap", status=Status.REFUTED, p_refute=1e-12, p_support=1.0)
    found, rows = against(weak, *strong, before=(weak,))
    assert (rows["edge.gap"].change, found.summary.exit_code) == ("kept", 0)
    found, rows = against(red, weak, before=(claims("gap", p_support=1e-9), weak))
    assert (rows["edge.gap"].change, rows["gap.gap"].change) == ("kept", "regressed")
    assert [(cause.claim, cause.consequences) for cause in found.causes] == [("gap.gap", ())]


def test_what_is_blocked_by_a_lapse_alone_has_lapsed():
    open_ = outcome(status=Status.INCONCLUSIVE, reason=Reason.UNDERPOWERED)
    blocked = replace(fakes.outcome("edge", "BLOCKED", "It rests on gap."), claims=(), blocked_by=("gap",))
    before = (outcome(), fakes.outcome("edge"))
    assert against(open_, blocked, before=before, seed=1)[1]["edge.gap"].change == "lapsed"
    worse = outcome(status=Status.REFUTED, p_refute=1e-12)
    assert against(worse, blocked, before=before, seed=1)[1]["edge.gap"].change == "regressed"


def broken(**changed):
    """The theorem `gap` whose first claim is refuted with other numbers."""
    far = tuple(replace(case, estimate=3.0, interval=(2.99, 3.01), **changed) for case in fakes.CLAIM.cases)
    return outcome(status=Status.REFUTED, p_refute=1e-12, cases=far)


def test_the_cause_comes_first_and_what_waits_for_it_is_apart():
    """A claim BLOCKED through another theorem is a consequence too; counts, first line and JSON agree."""
    edge, bulk = (fakes.outcome(id, "BLOCKED", "It waits.") for id in ("edge", "bulk"))
    # One was checked and its claims keep their words, the other was not checked.
    blocked = (replace(edge, blocked_by=("gap",)), replace(bulk, blocked_by=("edge",), claims=()))
    before = (outcome(), fakes.outcome("edge"), fakes.outcome("bulk"))
    found, rows = against(broken(), *blocked, before=before)
    (cause,) = found.causes
    assert cause.claim == "gap.gap"
    assert set(cause.consequences) == {name for name, row in rows.items() if row.theorem in ("edge", "bulk")}
    waiting = len(cause.consequences)
    lines = regression_text.comparison_as_plain_text(found).splitlines()
    assert waiting > 1 and lines[0] == f"✗ gap broke (1 claim); {waiting} claims wait for it."
    assert lines[1].strip() == "no file or version that it reads changed since the baseline"
    assert "gap.gap   SUPPORTED → REFUTED" in lines and lines[-1].startswith(
        "If you meant it: verify baseline save --only gap"
    )
    told = " ".join(regression_text.comparison_as_plain_text(found).split())
    assert "claimed 1.155 ± 0.1" in told
    assert "1.1531(19) then, 3.0000(19) now (chance excluded, p < 1e-300)" in told
    assert f"1 broke, {waiting} wait, 1 unchanged (1 identical), of {waiting + 2} in the baseline of" in told
    assert max(map(len, lines)) <= 80


def test_several_causes_and_one_without_a_blocker_known_here():
    stuck = replace(fakes.outcome("edge", "BLOCKED", "It waits."), blocked_by=("elsewhere",), claims=())
    found, _ = against(broken(), stuck, before=(outcome(), fakes.outcome("edge")))
    assert regression_text.comparison_as_plain_text(found).startswith("✗ gap and 1 more broke (")
    assert all(not cause.consequences for cause in found.causes)
    assert found.accept == "verify baseline save --only gap --only edge --effort standard"


def test_a_changed_file_and_a_changed_version_are_named():
    later = edited(report(broken()), lambda found: found["environment"]["versions"].update(jax="99.1"))
    name = "spectra/_kernels.py"

    def reading(document, digest):
        theorems = tuple(replace(part, reads=(0,), file="spectra/gap.py") for part in document.theorems)
        return replace(document, sources=(Source(f"source {name}", digest),), theorems=theorems)

    before = files.taken(reading(report(outcome()), "one"))
    quiet = regression_text.comparison_as_plain_text(compared(before, reading(report(outcome()), "another")))
    assert quiet.splitlines()[1].strip() == f"changed since the baseline: {name} (1 theorem)"
    found = compared(before, reading(later, "another"))
    changed = found.changed.of(found.broken)
    assert changed.sources == {name: ("gap",)} and any(version.startswith("jax ") for version in changed.versions)
    told = " ".join(regression_text.comparison_as_plain_text(found).split())
    assert f"changed since the baseline: {name}" in told and "versions changed: jax" in told
    first, second = regression_builds.regression_answer(found, {name: 7}).annotations
    assert (first.file, first.line) == (
        name,
        7,
    ) and "1 claim that reads this file no longer holds: gap.gap." in first.message
    assert (second.file, second.line) == (found.claims[0].file, found.claims[0].line) and second.error
    assert not [
        note for note in regression_builds.regression_answer(found).annotations if note.file == name
    ]  # not in this project


@pytest.mark.parametrize("name", ANSWERS)
def test_a_comparison_has_the_formats_of_a_report(name, tmp_path, monkeypatch):
    monkeypatch.setenv(github.VARIABLE, str(tmp_path / "summary.md"))
    found, _ = against(broken())
    text = render(name, regression_builds.regression_answer(found))
    said = RENDERINGS[name].say(regression_builds.regression_answer(found))
    if name == "json":
        assert json.loads(text)["causes"][0]["claim"] == "gap.gap"
    elif name == "junit":
        root = xml.fromstring(text)
        assert (root.get("tests"), root.get("failures")) == ("2", "1")
        assert "gap.gap" in root.find(".//failure").get("message")
    elif name == "github":
        assert said.startswith("::error ") and (tmp_path / "summary.md").read_text() == text
        assert text.startswith("# ✗ gap broke (1 claim).")
    elif name == "html":
        assert "default-src" in text and "gap.gap" in text and "<script" not in text
    elif name == "codequality":
        assert json.loads(text) == []  # the fake has no file to point at
    assert "1 claim)" in text or name in ("json", "junit", "codequality")


def test_a_long_comparison_is_cut_where_github_would_drop_it():
    many = tuple(replace(broken(), id=f"gap_{n}") for n in range(30))
    found, _ = against(*many, before=tuple(replace(outcome(), id=f"gap_{n}") for n in range(30)))
    answer = regression_builds.regression_answer(found)
    assert len(answer.annotations) == 30 and RENDERINGS["github"].say(answer).count("::error") == 10
    text = github.answer_summary(answer, 4000)
    assert len(text.encode()) <= 4000 and "**Cut here**" in text


def test_an_error_regresses_every_claim_of_its_theorem():
    broken = replace(fakes.outcome("gap", "ERROR", "NameError: jnp"), claims=())
    found, rows = against(broken)
    assert {row.change for row in rows.values()} == {"regressed"}
    assert "NameError: jnp" in regression_text.comparison_as_plain_text(found)


def test_a_theorem_that_is_gone_vanished_and_one_not_selected_did_not():
    before = (outcome(), fakes.outcome("edge"))
    found, rows = against(outcome(), before=before, known=("gap",))
    assert rows["edge.gap"].change == "vanished" and found.summary.exit_code == 1
    found, rows = against(outcome(), before=before, known=("gap", "edge"))
    assert found.not_run == ("edge",) and found.summary.exit_code == 0
    found, _ = against(fakes.outcome("bulk"), known=("gap", "bulk"))
    assert found.summary.exit_code == 5
    assert "Nothing of the baseline was compared." in regression_text.comparison_as_plain_text(found)
    found, _ = against(fakes.outcome("bulk"), known=("gap", "bulk"), standing=("gap",))
    assert found.summary.exit_code == 0


def test_other_cases_are_incomparable():
    elsewhere = outcome(cases=tuple(replace(case, at={"gamma": "3"}) for case in fakes.CLAIM.cases))
    found, rows = against(elsewhere)
    assert (rows["gap.gap"].outcome, found.summary.exit_code) == ("incomparable", 4)


def test_the_file_is_read_back_and_refuses_what_it_is_not(tmp_path):
    path = tmp_path / "theorax-baseline.json"
    kept = files.taken(report(outcome()))
    path.write_text(files.baseline_text(kept), encoding="utf-8")
    assert files.read_baseline(path) == kept

    def refused(content):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            files.read_baseline(path)
        return str(caught.value)

    assert "no whole baseline" in refused(files.baseline_text(kept)[:-40])
    assert "a report, not a baseline" in refused(json.dumps(json_values(report(outcome()))))
    assert "`.baseline_version` is 7" in refused(json.dumps({**json_values(kept), "baseline_version": 7}))
    assert "no whole baseline" in refused("[" * 100_000)
    spoiled = json_values(kept)
    spoiled["theorems"][0]["claims"][0]["status"] = "FINE"
    assert "at `.theorems[0].claims[0].status`" in refused(json.dumps(spoiled))
    spoiled = json_values(kept)
    spoiled["theorems"][0]["run"] = 3
    assert "points beyond `.runs`" in refused(json.dumps(spoiled))
    with pytest.raises(UsageError, match="There is no baseline"):
        files.read_baseline(tmp_path / "absent.json")


def test_part_of_a_baseline_is_replaced_and_the_rest_stays():
    old = files.taken(report(outcome(), fakes.outcome("edge")))
    later = replace(report(outcome(status=Status.PROVED)), created="2026-02-02T00:00:00Z")
    new = files.taken(later, old)
    assert [(part.id, part.run) for part in new.theorems] == [("edge", 0), ("gap", 1)]
    assert [run.created for run in new.runs] == ["2026-01-02T03:04:05Z", "2026-02-02T00:00:00Z"]
    assert new.theorems[1].claims[0].status == "PROVED"
    with pytest.raises(UsageError, match="effort standard and quick"):
        files.taken(report(outcome(), settings=Settings(effort="quick")), old)
    with pytest.raises(UsageError, match="holds no theorem"):
        files.taken(report())
    with pytest.raises(UsageError, match="interrupted"):
        files.taken(report(outcome(), interrupted=True))


@pytest.mark.parametrize("kind", nasty.TEXTS)
def test_what_a_theorem_file_holds_commands_nobody(kind):
    whole = report(outcome(), fakes.outcome("edge"))
    spoiled = nasty.spoiled(whole, nasty.TEXTS[kind])

    def change(found):
        del found["theorems"][0]["claims"][1:]
        (first, *_) = claims = found["theorems"][1]["claims"]
        claims[0] = turned(first, "REFUTED", sentence=first["sentence"])

    later = edited(spoiled, change)
    found = compared(files.taken(spoiled), later)
    assert UNSEEN.search(regression_text.comparison_as_plain_text(found)) is None
    for name in ANSWERS:
        answer = regression_builds.regression_answer(found)
        assert UNSEEN.search(render(name, answer)) is None
        said = RENDERINGS[name].say(answer)
        assert UNSEEN.search(said) is None
        commands = [line for line in said.splitlines() if line.lstrip().startswith("::") or "##[" in line]
        assert len(commands) <= (len(answer.annotations) if name == "github" else 0)
