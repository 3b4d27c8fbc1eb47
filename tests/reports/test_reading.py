"""A report from a file: whole and of the present version, or refused with the place of what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import fakes
import pytest
from test_document import report

from theorax.errors import UsageError
from theorax.reports.document import SCHEMA_VERSION, TheoremReport
from theorax.reports.json import text
from theorax.reports.reading import current, read
from theorax.text.codec import ANEW, Malformed, built, json_values


@pytest.fixture
def whole():
    return report(fakes.outcome("gap"), fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."))


def test_what_was_written_is_read(tmp_path, whole):
    path = tmp_path / "report.json"
    path.write_text(text(whole), encoding="utf-8")
    assert read(path) == whole


@pytest.mark.parametrize("cut", [1, 40, 4000, -3])
def test_a_report_that_was_cut_off_is_refused(cut, tmp_path, whole):
    path = tmp_path / "report.json"
    path.write_text(text(whole)[:cut], encoding="utf-8")
    with pytest.raises(UsageError, match="no whole report"):
        read(path)


EDITS = [
    (lambda d: d["theorems"][0]["claims"][1].update(status="GREEN"), r"`.theorems\[0\].claims\[1\].status`"),
    (lambda d: d["theorems"][1].pop("replay"), r"`.theorems\[1\]`: 'replay' is a required property"),
    (lambda d: d["suite"].update(surplus=1), r"`.suite`"),
    (lambda d: d.update(schema_version=99), "Update theorax"),
    (lambda d: d.update(schema_version=5), "Run `verify` again"),
    (lambda d: d.update(schema_version=True), "schema_version"),
    (lambda d: d.update(schema_version="2"), "schema_version"),
]


@pytest.mark.parametrize(("edit", "message"), EDITS)
def test_an_edited_report_is_refused_with_the_place(edit, message, tmp_path, whole):
    found = json_values(whole)
    edit(found)
    path = tmp_path / "report.json"
    path.write_text(text(found), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(path)


def fallen(found):
    """A claim that says it fell among all claims of its run, of which the run's own account says nothing."""
    claim, theorem = found["theorems"][0]["claims"][0], found["theorems"][0]
    fell = {
        "finding": "not significant among all claims of the run",
        "sentence": "It fell.",
        "reason": "underpowered",
        "within": "",
    }
    claim["findings"].append(fell)
    claim.update(status="INCONCLUSIVE", reason="underpowered", sentence="It fell.", shown_by=None)
    theorem.update(status="INCONCLUSIVE")
    found["summary"].update(statuses={"INCONCLUSIVE": 1, "REFUTED": 1})


def upgraded(found):
    """The refuted theorem called SUPPORTED, the summary with it, its claims left as they are."""
    found["theorems"][1].update(status="SUPPORTED")
    found["summary"].update(statuses={"SUPPORTED": 2}, exit_code=0)


def emptied(found):
    """A theorem that holds without any claim."""
    found["theorems"][0].update(claims=[])


def resting(found):
    """A theorem that holds and rests on a refuted one."""
    found["theorems"][0].update(uses=["refuted_edge"])


DISAGREEMENTS = [
    (lambda d: d["summary"].update(exit_code=0), r"`.summary.exit_code`"),
    (lambda d: d["summary"].update(statuses={"SUPPORTED": 2}), r"`.summary.statuses`"),
    (lambda d: d["summary"].update(theorems=1), r"`.summary.theorems`"),
    (upgraded, r"`.theorems\[1\].status`"),
    (emptied, r"`.theorems\[0\].status`"),
    (resting, r"`.theorems\[0\].status`"),
    (fallen, r"`.suite.changed`"),
    (lambda d: d["theorems"][1].update(status_unadjusted="SUPPORTED"), r"`.theorems\[1\].status_unadjusted`"),
    (lambda d: d["theorems"][0].update(blocked_by=["bulk"]), r"`.theorems\[0\].blocked_by`"),
    (
        lambda d: d["theorems"][1]["claims"][0].update(status_unadjusted="SUPPORTED"),
        r"`.theorems\[1\].claims\[0\].status_unadjusted`",
    ),
    (lambda d: d["theorems"][1]["claims"][0].update(status="SUPPORTED"), r"`.theorems\[1\].claims\[0\].status`"),
    (lambda d: d["theorems"][1]["claims"][0].update(rigorous=True), r"`.theorems\[1\].claims\[0\].rigorous`"),
]


@pytest.mark.parametrize(("edit", "message"), DISAGREEMENTS)
def test_a_report_that_disagrees_with_itself_is_refused_by_the_field(edit, message, whole):
    found = json_values(whole)
    current(json.loads(text(found)))
    edit(found)
    for part in found["theorems"]:  # an edit that knows what follows from the claims
        with contextlib.suppress(Malformed):
            part["strength"] = json_values(built(TheoremReport, part | {"strength": ANEW}).strength)
    with pytest.raises(UsageError, match=message):
        current(json.loads(text(found)))


@pytest.mark.parametrize("name", ["cpu_seconds", "compile_seconds", "compile_share"])
def test_sums_of_seconds_may_be_rounded_otherwise(name, whole):
    """Python 3.12 adds floats up in another way than 3.11: a report of one is read by the other."""
    found = json_values(whole)
    assert found["summary"][name] > 0
    found["summary"][name] *= 1 + 2.0**-45
    current(json.loads(text(found)))
    found["summary"][name] *= 1 + 2.0**-30
    with pytest.raises(UsageError, match=rf"`.summary.{name}`"):
        current(json.loads(text(found)))


@pytest.mark.parametrize(
    ("name", "value"), [("measured", 3), ("weakest", 9.0), ("robust", None), ("weakest_claim", "x")]
)
def test_a_strength_that_does_not_follow_from_the_claims_is_refused(name, value, whole):
    found = json_values(whole)
    assert found["theorems"][0]["strength"][name] != value
    found["theorems"][0]["strength"][name] = value
    with pytest.raises(UsageError, match=rf"`.theorems\[0\].strength.{name}`"):
        current(json.loads(text(found)))


@pytest.mark.parametrize("version", [7, 8])
def test_a_report_of_an_earlier_schema_is_read(version):
    kept = json.loads((Path(__file__).parent / f"report_of_version_{version}.json").read_text(encoding="utf-8"))
    assert kept["schema_version"] == version
    found = current(kept)
    assert found.schema_version == SCHEMA_VERSION == 10
    assert [part.status for part in found.theorems] == ["SUPPORTED", "REFUTED"]
    kept["theorems"][1]["status"] = "SUPPORTED"
    with pytest.raises(UsageError, match="does not follow"):
        current(kept)


@pytest.mark.parametrize(
    ("of_the_nights", "of_the_last", "status", "reason"),
    [
        ("its nights together exclude it", "the data exclude an error of the margin or more", "REFUTED", None),
        ("its nights together exclude it", "the data exclude the claim", "REFUTED", None),
        (
            "tonight's data exclude it, its nights together do not",
            "the data exclude the claim",
            "INCONCLUSIVE",
            "underpowered",
        ),
    ],
)
def test_a_report_of_a_nightly_run_keeps_its_statuses(of_the_nights, of_the_last, status, reason):
    kept = json.loads((Path(__file__).parent / "report_of_version_8.json").read_text(encoding="utf-8"))
    kept["settings"]["nightly"] = True
    part = kept["theorems"][0]
    (claim, *_), part["claims"] = part["claims"], part["claims"][:1]
    last = {"finding": of_the_last, "sentence": "Said by the last night.", "reason": None, "within": ""}
    nights = {"finding": of_the_nights, "sentence": "Said by the nights.", "reason": reason, "within": ""}
    by = "measured" if status == "REFUTED" else None
    claim.update(findings=[last, nights], nights=3, e_value=50.0, sentence="Said by the nights.", reason=reason)
    claim.update(status=status, status_unadjusted=status, shown_by=by, rigorous=False, within_margin=False)
    part.update(status=status, status_unadjusted=status)
    kept["summary"].update(statuses={status: 1, "REFUTED": 1} if status != "REFUTED" else {"REFUTED": 2})
    found = current(kept).theorems[0].claims[0]
    assert (found.status, found.sentence, found.reason) == (status, "Said by the nights.", reason)


def test_the_words_of_a_kind_that_somebody_added_stay_those_of_the_report():
    kept = json.loads((Path(__file__).parent / "report_of_version_8.json").read_text(encoding="utf-8"))
    assert kept["theorems"][0]["references"]  # which the present version does not have
    kept["theorems"][0]["claims"][0]["words"]["deviation"] = "words of its own: {}"
    assert current(kept).theorems[0].claims[0].words.deviation == "words of its own: {}"


def test_a_field_that_is_new_and_has_no_value_of_its_own_is_no_guess(whole):
    found = {**json_values(whole), "schema_version": 7}
    del found["theorems"][0]["replay"]
    with pytest.raises(UsageError, match="'replay' is a required property"):
        current(found)


@pytest.mark.parametrize("content", ["[1, 2]", "3", "null", '{"schema_version": NaN}', "[" * 100_000])
def test_what_is_no_report_is_refused(content, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError):
        read(path)


ENDLESS = [
    ('"seed": 0', '"seed": 1' + "0" * 400, "`.settings.seed`: the whole number there has more than 64 bits"),
    ('"level": 0.025', '"level": 1e999', "`.settings.level`: the number there is larger than any double"),
]


@pytest.mark.parametrize(("right", "endless", "message"), ENDLESS)
def test_a_number_that_nothing_can_hold_is_refused_with_the_place(right, endless, message, tmp_path, whole):
    path = tmp_path / "report.json"
    told = text(whole)
    assert right in told
    path.write_text(told.replace(right, endless, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(path)


def test_what_is_no_file_is_not_read(tmp_path, monkeypatch, whole):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError, match="is not a regular file"):
            read(path)
    monkeypatch.setattr("theorax.reports.json.LARGEST_FILE", 100)
    (tmp_path / "long.json").write_text(text(whole), encoding="utf-8")
    with pytest.raises(UsageError, match="more than any report has"):
        read(tmp_path / "long.json")


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    with pytest.raises(UsageError, match="There is no report"):
        read(tmp_path / "none.json")
    with pytest.raises(UsageError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "bytes.json")


def test_reading_tells_a_long_value_shortly(tmp_path, whole):
    found = json_values(whole)
    found["theorems"][0]["seconds"] = "x" * 100_000
    with pytest.raises(UsageError) as caught:
        current(json.loads(text(found)))
    assert len(str(caught.value)) < 600
