"""The default report of one theorem: its length, its width, its words, for each status; pictures under `voice`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nasty import TEXTS, spoiled
from test_document import report

from theorax.decide.findings import Finding
from theorax.decide.status import Reason, Side, Status
from theorax.decide.verdict import Assumption, Standing
from theorax.reports import summary
from theorax.reports.claim_lines import claims_lines, wrap
from theorax.reports.default_report import default_report
from theorax.reports.document import harmless_document
from theorax.reports.reading import read
from theorax.text import plain
from theorax.text.bar import Bar
from theorax.verifiers.outcome import NotAsked

VOICE = Path(__file__).parent / "voice"
KEPT = sorted(VOICE.glob("*.json"))
STATED = {"formula": "E[second √T/σ_A] → 2", "regime": "as T → ∞"}


def shown(document, part=0):
    """The default report of a theorem as text."""
    return plain.render(default_report(harmless_document(document), harmless_document(document).theorems[part]))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_the_picture_of_a_kept_report_is_what_is_printed(file):
    document = read(file)
    text = plain.render(summary.report_blocks(document))
    assert text == file.with_suffix(".txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    claims = max(2, len(document.theorems[0].claims))
    assert len(lines) <= 26 + 4 * (claims - 2)  # each with what it was seen at, over up to two lines
    assert max(map(plain.terminal_width, lines)) <= 80
    assert document.theorems[0].id in text


def test_every_word_has_a_picture():
    assert {read(file).theorems[0].status for file in KEPT} == set(Status)


@pytest.mark.parametrize("status", Status)
def test_the_first_line_is_the_answer_for_every_word(status):
    first, *rest = shown(report(fakes.outcome("gap", status, "a reason"))).splitlines()
    assert first.split()[1] == status
    assert "gap" in first or rest[0].startswith("gap") or rest[1].startswith("gap")


@pytest.mark.parametrize("name", TEXTS)
def test_whatever_a_text_holds_no_line_is_wider_than_the_page(name):
    document = spoiled(report(fakes.outcome("gap", "REFUTED", "no"), fakes.outcome("bulk")), TEXTS[name])
    for place in range(2):
        assert max(map(plain.terminal_width, shown(document, place).splitlines())) <= 80


@pytest.mark.parametrize("id", ["a_" * 20 + "b", "a_" * 30 + "b"])
def test_an_id_is_never_broken(id):
    text = shown(report(fakes.outcome(id)))
    assert text.count(id) >= 2
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("others", [0, 3])
def test_errors_that_are_told_on_lines_of_their_own_stay_there(others):
    told = "gap.py has 2 errors:\n  gap.py:6: `Rate` lacks `approach`.\n  gap.py:7: no such name."
    more = [fakes.outcome(f"other_{step}") for step in range(others)]
    text = plain.render(summary.report_blocks(report(fakes.outcome("gap", "ERROR", told), *more)))
    rest = [line.strip() for line in text.splitlines()]
    assert {"gap.py:6: `Rate` lacks `approach`.", "gap.py:7: no such name."} <= set(rest)


GLUED = st.sampled_from(["a", "one", "verify\u00a0theorem\u00a0gap", "two-parts", "end."])


@given(st.lists(GLUED, min_size=1, max_size=60), st.integers(24, 80), st.sampled_from([0, 2]), st.integers(1, 4))
def test_a_text_that_is_cut_keeps_its_width_and_tears_nothing_that_is_glued(words, width, hang, lines):
    found = wrap(" ".join(words), width, hang, lines)
    assert len(found) <= lines and max(map(len, found)) <= width
    kept = " ".join(found).replace("…", "").split(" ")
    assert [word for word in kept if word] == words[: len([word for word in kept if word])]
    assert found[-1].endswith("…") == (len(wrap(" ".join(words), width, hang)) > lines)


def test_a_condition_is_part_of_the_statement():
    claim = replace(fakes.CLAIM, **STATED, condition="θ² > 2")
    first = claims_lines(report(replace(fakes.outcome("gap"), claims=(claim,))).theorems[0], scoped=False)[0]
    assert first.startswith("gap  E[second √T/σ_A] → 2, if θ² > 2 ") and first.endswith("as T → ∞")


def test_a_long_statement_keeps_its_condition_and_its_regime():
    claim = replace(fakes.CLAIM, formula=" + ".join(["alpha"] * 60), regime="as T → ∞", condition="θ² > 2")
    lines = claims_lines(report(replace(fakes.outcome("gap"), claims=(claim,))).theorems[0], scoped=False)
    assert lines[1].endswith("…")
    assert "if θ² > 2" in lines[2] and lines[2].endswith("as T → ∞")


def test_a_claim_that_was_not_asked_is_listed_with_the_reason():
    outcome = replace(fakes.outcome("gap"), not_asked=(NotAsked("excess", "β ≤ 3/5", "β = 7/10"),))
    assert "Not asked  excess  needs β ≤ 3/5; here β = 7/10" in shown(report(outcome))


def test_the_scope_of_a_proof_stands_on_the_first_line():
    claim = replace(
        fakes.settled(fakes.CLAIM, Finding.PROOF), proved_for="for context 3", measured_for="up to context 7"
    )
    lines = shown(report(replace(fakes.outcome("gap", "PROVED"), claims=(claim,)))).splitlines()
    assert lines[0] == "✓ PROVED for context 3; SUPPORTED up to context 7"
    assert lines[1].startswith("gap ")


@pytest.mark.parametrize("reason", list(Reason))
def test_a_design_is_offered_where_one_can_decide(reason):
    open_ = fakes.verdict(Status.INCONCLUSIVE, reason=reason)
    part = replace(fakes.outcome("gap", "INCONCLUSIVE"), claims=(open_,), selector=("gap",))
    assert ("To decide" in shown(report(part))) == (reason not in ("indistinct", "unread_size"))


def test_a_fragile_claim_is_named():
    whole = fakes.outcome("gap")
    claims = (replace(whole.claims[0], robust=False), replace(whole.claims[1], robust=True))
    found = report(replace(whole, claims=claims))
    assert found.theorems[0].strength.robust is False
    assert f"FRAGILE ({whole.claims[0].id})" in " ".join(shown(found).split())
    steady = report(replace(whole, claims=tuple(replace(claim, robust=True) for claim in claims)))
    assert "robust" in shown(steady) and "FRAGILE" not in shown(steady)


def test_what_was_held_fixed_is_told_and_what_the_keys_leave_open_comes_first():
    ledger = (
        Assumption("input", "kind = 0", Standing.HELD_FIXED),
        Assumption("sizes", "odd sizes", Standing.NOT_LOOKED_AT),
        Assumption("numbers", "an array that the program holds", Standing.NOT_LOOKED_AT),
    )
    claim = replace(fakes.CLAIM, ledger=ledger, unseen=("a limit nearer than 0.1",))
    lines = shown(report(replace(fakes.outcome("gap"), claims=(claim,)))).splitlines()
    assert "Held fixed kind = 0" in lines
    assert "Blind to   an array that the program holds; 2 more: -v" in lines
    many = tuple(Assumption("input", f"layer.W_{at} = [1, 0, 0, 1]", Standing.HELD_FIXED) for at in range(9))
    assert "Held fixed 9 inputs, listed: -v" in shown(
        report(replace(fakes.outcome("gap"), claims=(replace(claim, ledger=many),)))
    )
    open_ = fakes.verdict(Status.INCONCLUSIVE, ledger=ledger)
    assert "Held fixed" not in shown(report(replace(fakes.outcome("gap", "INCONCLUSIVE"), claims=(open_,))))


BARS = [
    (Bar(0.0, 1.0, -0.5, 0.5, 0.0), "├··········━━━━━━━━━━●━━━━━━━━━━··········┤"),
    (Bar(0.0, 1.0, -2.0, 0.5, -1.5), "├◀━━━━━━━━━━━━━━━━━━━┿━━━━━━━━━━··········┤"),
    (Bar(0.0, 1.0, 0.5, 9.0, 0.7), "├····················│·········━━━━●━━━━━▶┤"),
]


@pytest.mark.parametrize(("bar", "drawn"), BARS)
def test_a_bar_has_forty_one_cells_and_says_where_an_interval_leaves(bar, drawn):
    assert drawn in bar.line() and len(drawn) == 43


@pytest.mark.parametrize("low", [1.01, 2.0])
def test_an_interval_that_misses_the_margin_has_no_bar(low):
    assert Bar(0.0, 1.0, low, low + 1, low).line() == ""
    assert Bar(0.0, 1.0, -low - 1, -low, -low).line() == ""


@pytest.mark.parametrize(("side", "ends"), [(Side.AT_MOST, (False, True)), (Side.AT_LEAST, (True, False))])
def test_a_one_sided_claim_has_one_end(side, ends):
    claim = replace(fakes.CLAIM, side=side)
    lines = claims_lines(report(replace(fakes.outcome("gap"), claims=(claim,))).theorems[0], scoped=False)
    (bar,) = [line for line in lines if "●" in line]
    assert ("├" in bar, "┤" in bar) == ends


def test_a_report_is_rendered_from_the_document_alone(tmp_path):
    from theorax.reports.renderings import render

    document = report(fakes.outcome("gap"))
    (tmp_path / "report.json").write_text(render("json", document), encoding="utf-8")
    assert render("terminal", read(tmp_path / "report.json")) == render("terminal", document)
    assert json.loads(render("json", document))["theorems"][0]["strength"]["measured"] == 2
