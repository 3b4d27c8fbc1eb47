"""The words for a claim's facts are written in one place: every rendering has them word for word, and writes none."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from presented import formatted, missing, of_the_body

sys.path.append(str(Path(fakes.__file__).parent / "reports"))
from test_document import report

import theorax
from theorax.decide import means
from theorax.decide.facts import FactKey, Level, facts
from theorax.decide.kinds import KindWords
from theorax.decide.slow_terms import Form, FormKind, SlowTerm
from theorax.decide.status import Reading, Reason, Status
from theorax.decide.verdict import (
    AssumedNoise,
    LoggedAttempt,
    LookTaken,
    OwnCase,
    OwnOutcome,
    Searched,
    Seen,
    SeenLetter,
    VarianceGain,
)
from theorax.language import KINDS
from theorax.reports import summary
from theorax.reports.document import harmless_document
from theorax.reports.renderings import render
from theorax.reports.theorem_text import EVERYTHING
from theorax.text import plain
from theorax.verifiers.outcome import TheoremOutcome

REPORTS = Path(theorax.__file__).parent / "reports"
WORDS = {
    kind.__name__: kind.words if isinstance(kind.words, KindWords) else means.WORDS for kind in KINDS
}  # the words of an expectation are a property
SEEN = Seen(
    (
        SeenLetter("n", ("4", "16"), ("9",)),
        SeenLetter("gamma", ("1/2",), is_alone=True),
        SeenLetter("a", ("0", "1"), is_open=True),
    ),
    ("Gaussian",),
    (
        OwnCase("n", ("9",), OwnOutcome.KEPT),
        OwnCase("gamma", ("3/7",), OwnOutcome.DROPPED, "ValueError: no such ratio"),
        OwnCase("a", ("3/7",), OwnOutcome.WAITS),
    ),
)
JUDGED = [status for status in Status if status is not Status.ERROR]  # which leaves no claims
EXCUSED = {
    "claim_facts.py .level": "it is the part of the presenter that knows the run, and tells the risk of all attempts",
}


def outcome(words: KindWords, status: Status = Status.SUPPORTED, **fields: object) -> TheoremOutcome:
    """A theorem whose first claim is of this kind and has every fact that a claim may have."""
    base = fakes.outcome("gap", status, "a reason" if not status.holds else None)
    claim, *others = base.claims
    gains = [VarianceGain(("chi^2",), 20.0, 24.5, 5.7), VarianceGain((), None, raw="fewer than 64 draws at a size")]
    rivals = (Form(FormKind.SLOW, limit=1.0, slow=(SlowTerm.LOGLOG,), coefficients=(-0.18,)), Form(FormKind.CONSTANT))
    full = replace(
        claim,
        words=words,
        kind=words.kind,
        cases=tuple(replace(case, gain=gain, rivals=rivals) for case, gain in zip(claim.cases, gains, strict=False)),
        noise=AssumedNoise(0.2, 0.4, "1/5", stated=False),
        log=LoggedAttempt(number=1, begun="2026-01-02T03:04:05Z", entries=5, earlier=3, inconclusive=2, refuted=1),
        look=LookTaken(1, 3, 500, 2000),
        searched=Searched(evaluations=600, size=8.0, share=0.97, left=("random_gamma (3,)",)),
        general="E[s] = gamma",
        seen=SEEN,
        **fields,
    )
    return replace(base, claims=(full, *others))


def renderings(document):
    """The report on the terminal with all its parts, as a page, and as Markdown."""
    return (
        plain.render(summary.report_blocks(document, shown=EVERYTHING)),
        render("html", document),
        render("markdown", document),
    )


@pytest.mark.parametrize("kind", WORDS)
def test_every_rendering_has_every_fact_of_every_kind(kind: str) -> None:
    document = harmless_document(report(outcome(WORDS[kind])))
    found = list(of_the_body(document))
    assert len({fact.key for fact in found}) > 8
    assert missing(found, *renderings(document)) == []


@pytest.mark.parametrize("status", JUDGED)
def test_every_rendering_has_every_fact_of_every_word(status: Status) -> None:
    document = harmless_document(report(outcome(WORDS["Limit"], status, reading=Reading.MARGIN)))
    assert missing(list(of_the_body(document)), *renderings(document)) == []


def test_every_rendering_says_what_does_not_hold_over_the_run() -> None:
    others = [replace(fakes.outcome(f"other_{n}"), claims=(fakes.CLAIM,)) for n in range(40)]
    for status, p in ((Status.REFUTED, {"p_refute": 5e-4}), (Status.SUPPORTED, {"p_support": 0.02})):
        document = harmless_document(report(outcome(WORDS["Limit"], status, **p), *others))
        document = document.of(["gap"])
        found = list(of_the_body(document))
        assert FactKey.ALONE in {fact.key for fact in found}
        assert missing(found, *renderings(document)) == []


def test_every_fact_of_a_body_is_tried() -> None:
    documents = (report(outcome(words, status)) for words in WORDS.values() for status in JUDGED)
    tried = {fact.key for document in documents for fact in of_the_body(document)}
    assert set(FactKey) - HEAD - DETAIL - tried == {FactKey.ALONE}  # which has a test of its own


HEAD = {
    FactKey.WITHIN, FactKey.CONVENTION, FactKey.PROMISE, FactKey.MEANING, FactKey.PRINTED, FactKey.VERDICT,
    FactKey.UNCONTROLLED,
}  # fmt: skip
DETAIL = {
    FactKey.CASE, FactKey.BOUND, FactKey.PREDICTED, FactKey.MEASURED, FactKey.INTERVAL, FactKey.DRAWS, FactKey.DESIGN,
}  # fmt: skip


def test_a_verdict_on_own_numbers_has_every_fact() -> None:
    shown = " ".join(str(fakes.CLAIM).split())
    told = [fact for fact in facts(fakes.CLAIM) if fact.key is not FactKey.REASON]
    assert {fact.level for fact in told} == set(Level)
    assert [fact.key for fact in told if " ".join(fact.value.split()) not in shown] == []


def test_a_reason_names_its_code() -> None:
    (reason,) = (
        fact
        for fact in of_the_body(report(fakes.outcome("gap", Status.INCONCLUSIVE, "a reason")))
        if fact.key is FactKey.REASON
    )
    assert any(f"({code})" in reason.value for code in Reason)


def test_no_other_module_puts_a_field_of_a_claim_into_words() -> None:
    places = [place for path in sorted(REPORTS.rglob("*.py")) for place in formatted(path)]
    named = {f"{place.partition(':')[0]} {place.rpartition(' ')[2]}": place for place in places}
    assert named.keys() - EXCUSED.keys() == set(), list(named.values())
    assert EXCUSED.keys() - named.keys() == set(), "nothing is excused that needs no excuse"


@pytest.mark.parametrize(
    "line",
    [
        'f"level {claim.level}"', 'f"{number(case.noticeable, 2)}"', "number(claim.breakdown, 3)", 'percent(claim.level / 2)',
        'f"margin {claim.margin_given}"', '", ".join(number(part, 2) for part in claim.tightness) + f"{claim.because}"',
    ],
)  # fmt: skip
def test_words_elsewhere_would_be_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(f"{line}\n")
    assert formatted(tmp_path / "other.py")
