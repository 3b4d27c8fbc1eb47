"""Comparison of a report with a baseline: every claim then and now, and the consequence of the difference.

Symbolic forms are compared exactly, numbers as :mod:`theorax.decide.comparison` decides. A change is the
first row that applies; the words in the last column add up to the exit code, the first of 1, 4, 0 that occurs:

==================================================================  ===========  ====
a claim                                                             change       exit
==================================================================  ===========  ====
in the baseline, no longer in its theorem, or its theorem is gone   vanished     1
whose statement, prediction, margin, kind or hypotheses changed     restated     4
in no baseline                                                      appeared     0
whose word got worse                                                regressed    1
... from SUPPORTED to INCONCLUSIVE, other seeds, nothing moved      lapsed       4
... because it rests on nothing worse than a lapse                  lapsed       4
whose word holds, told apart from less than in the baseline         less tested  4
whose word got better                                               improved     0
with the same word, and numbers that cannot be compared             kept         4
with the same word                                                  kept         0
==================================================================  ===========  ====

Told apart from less: a subject that breaks a hypothesis, or a wrong variant of the file, was noticed then and is not there
now. Worse is further down in PROVED, CERTIFIED, SUPPORTED, INCONCLUSIVE, VACUOUS, REFUTED, BLOCKED, ERROR. Of what the source
prints and another claim corrects, REFUTED is the finding and anything else worse. An estimate that has *moved* under a
word that stands is told and fails only with ``strict``: the claim's margin, not its estimate, is what was promised.
Theorems of the baseline that a report does not speak of are named and decide nothing; where no claim at all is in both,
the exit code is 5. What was left standing, because nothing that determines it changed, is as good as compared.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from theorax.decide.comparison import (
    MOVED,
    SAME,
    SHARE,
    CaseReading,
    Decided,
    Evidence,
    Outcome,
    Pair,
    compare_reports,
    joined_cases,
    pair,
)
from theorax.decide.kinds import DecidedQuantity
from theorax.decide.spending import level_of
from theorax.decide.status import Status
from theorax.names import many
from theorax.reports.baselines import (
    Baseline,
    BaselineCase,
    BaselineClaim,
    BaselineRun,
    BaselineTheorem,
    manifest_of,
)
from theorax.reports.claim_lines import one_statement
from theorax.reports.compared_claims import (
    CODES,
    COMPARISON_VERSION,
    Cause,
    Change,
    ChangedInputs,
    ComparedClaim,
    ComparedEstimate,
    ComparedPlace,
    Comparison,
    ComparisonLevels,
    ComparisonSummary,
)
from theorax.reports.document import ClaimReport, Document, TheoremReport
from theorax.runs.manifests import ABSENT, EntrySort, ManifestDifference, manifest_differences

STATED = {"statement": "statement", "prediction": "prediction", "margin_given": "margin", "kind": "kind",
          "corrected": "correction", "hypotheses": "hypotheses"}  # fmt: skip


_Found = tuple[ComparedClaim, Evidence | None]


def compared(
    baseline: Baseline,
    report: Document,
    *,
    share: float = SHARE,
    strict: bool = False,
    known: Iterable[str] | None = None,
    standing: Iterable[str] = (),
    file: str = "",
) -> Comparison:
    """The comparison of a report with a baseline.

    ``known``: the ids of all theorems that exist now. ``standing``: those that were not checked because nothing that
    determines them has changed. ``file``: the baseline's, where it is not the usual one.
    """
    left = set(standing)
    exist = None if known is None else set(known)
    found: list[_Found] = []
    not_run: list[str] = []
    inputs: dict[str, tuple[ManifestDifference, ...]] = {}
    for old in baseline.theorems:
        new = report.by_id.get(old.id)
        if new is not None:
            both = _TheoremTwice.of(old, new, baseline, report, share)
            inputs[old.id] = both.changes
            found += both.claims()
        elif exist is not None and old.id not in exist:
            found += [
                (_vanished(old.id, claim, f"there is no theorem {old.id} any more"), None) for claim in old.claims
            ]
        elif old.id not in left:
            not_run.append(old.id)
    for part in report.theorems:
        if part.id not in baseline.by_id:
            found += [(_appeared(part.id, claim), None) for claim in part.claims]
    evidence = {claim.name: part for claim, part in found if part is not None}
    outcomes = compare_reports(evidence)
    settled = [_settled(claim, part, outcomes.get(claim.name), strict) for claim, part in found]
    claims = tuple(_excused(settled, report.by_id))
    causes = tuple(_causes(claims, baseline.by_id, report.by_id))
    names = {claim.name: claim.theorem for claim in claims}
    broken = dict.fromkeys(names[cause.claim] for cause in causes)
    # Words apart are united; with a comma between them they would select what both select.
    only = [word for theorem in broken for word in ("--only", theorem)]
    save = ["verify", "baseline", "save", *([file] if file else []), *only]
    return Comparison(
        comparison_version=COMPARISON_VERSION,
        created=report.created,
        baseline=tuple(run.created for run in baseline.runs),
        share=share,
        strict=strict,
        levels=ComparisonLevels(MOVED, SAME),
        tested=sum(part.tested for part in evidence.values()),
        changed=_changed(inputs, report.by_id),
        not_run=tuple(not_run),
        standing=tuple(sorted(left)),
        claims=claims,
        summary=_summary(claims, compared_any=bool(left)),
        causes=causes,
        accept=shlex.join([*save, *baseline.runs[-1].settings.settings().words]) if broken else "",
    )


def _summary(claims: Sequence[ComparedClaim], *, compared_any: bool) -> ComparisonSummary:
    both = compared_any or any(claim.change is not Change.APPEARED for claim in claims)
    codes = {claim.exit for claim in claims}
    code: Literal[0, 1, 4, 5] = 5
    if both:
        code = 1 if 1 in codes else 4 if 4 in codes else 0
    return ComparisonSummary(
        changes=dict(Counter(claim.change.value for claim in claims)),
        outcomes=dict(Counter(claim.outcome.value for claim in claims if claim.outcome)),
        identical=sum(claim.how == "bit for bit" for claim in claims),
        exit_code=code,
    )


def _changed(inputs: Mapping[str, Iterable[ManifestDifference]], now: Mapping[str, TheoremReport]) -> ChangedInputs:
    """These differences as a reader is told them, each with the theorems that have it."""
    sources: dict[str, tuple[str, ...]] = {}
    versions: dict[str, tuple[str, ...]] = {}
    settings: dict[str, tuple[str, ...]] = {}
    for id, changes in inputs.items():
        for one in changes:
            part, told = settings, f"{one.of or one.sort} {one.before or ABSENT} → {one.now or ABSENT}"
            if one.sort.is_file:
                part, told = sources, one.of or now[id].file
            elif one.sort is EntrySort.VERSION:
                part = versions
            part[told] = (*part.get(told, ()), id)
    return ChangedInputs(sources, versions, settings)


def _causes(
    claims: Sequence[ComparedClaim],
    before: Mapping[str, BaselineTheorem],
    now: Mapping[str, TheoremReport],
) -> Iterator[Cause]:
    """The claims that got worse, each with those that wait for its theorem.

    A theorem that is BLOCKED may have been checked: then its claims keep their words, and wait all the same.
    """
    worse = [claim for claim in claims if claim.change in (Change.REGRESSED, Change.VANISHED)]
    origins = {claim.theorem for claim in worse if claim.now is not Status.BLOCKED}
    above: dict[str, set[str]] = {}
    for claim in claims:
        newly = claim.theorem in before and before[claim.theorem].status is not Status.BLOCKED
        stands = claim.now is Status.BLOCKED or claim.change in (Change.KEPT, Change.IMPROVED, Change.LESS_TESTED)
        if newly and stands and (blockers := _blockers(claim.theorem, now) & origins):
            above[claim.name] = blockers
    for claim in sorted(worse, key=lambda claim: claim.now is Status.BLOCKED):
        if claim.name not in above:
            yield Cause(claim.name, tuple(name for name, blockers in above.items() if claim.theorem in blockers))


def _blockers(theorem: str, now: Mapping[str, TheoremReport]) -> set[str]:
    """The theorems that block this one, directly or through others."""
    found: set[str] = set()
    waiting = [theorem]
    while waiting:
        part = now.get(waiting.pop())
        new = set(part.blocked_by) - found if part is not None else set()
        found |= new
        waiting += new
    return found


def _vanished(theorem: str, claim: BaselineClaim, why: str) -> ComparedClaim:
    return ComparedClaim(
        theorem, claim.id, Change.VANISHED, claim.status, None, why, statement=claim.statement, kind=claim.kind
    )


def _appeared(theorem: str, claim: ClaimReport) -> ComparedClaim:
    return ComparedClaim(theorem, claim.id, Change.APPEARED, None, claim.status, "the baseline does not know it")


@dataclass(frozen=True)
class _TheoremTwice:
    """One theorem in a baseline and in a report."""

    old: BaselineTheorem
    new: TheoremReport
    run: BaselineRun
    report: Document
    changes: tuple[ManifestDifference, ...]  # of what determines it
    share: float

    @classmethod
    def of(
        cls, old: BaselineTheorem, new: TheoremReport, baseline: Baseline, report: Document, share: float
    ) -> _TheoremTwice:
        run = baseline.runs[old.run]
        before, now = manifest_of(old, baseline.sources, run), manifest_of(new, report.sources, report)
        return cls(old, new, run, report, manifest_differences(before, now), share)

    @property
    def same_seeds(self) -> bool:
        """True if both runs drew by one seed."""
        return self.run.settings.seed == self.report.settings.seed

    def claims(self) -> Iterator[_Found]:
        """A row for every claim of either run, with its evidence where both measured it."""
        present = {claim.id: claim for claim in self.new.claims}
        unreached = self.new.status in (Status.BLOCKED, Status.ERROR, Status.INCONCLUSIVE) and not self.new.claims
        for claim in self.old.claims:
            if claim.id in present:
                yield self._claim(claim, present.pop(claim.id))
            elif unreached:
                # The check never came to its claims; nobody has taken them out.
                yield self._unreached(claim), None
            else:
                yield _vanished(self.old.id, claim, "the theorem no longer states it"), None
        for new in present.values():
            yield _appeared(self.old.id, new), None

    def _unreached(self, claim: BaselineClaim) -> ComparedClaim:
        worse = _worse(claim, claim.status, self.new.status)
        why = f"the theorem was not checked: {self.new.reason or self.new.status}"
        change = Change.REGRESSED if worse else Change.KEPT
        return ComparedClaim(
            self.old.id, claim.id, change, claim.status, self.new.status, why, Outcome.INCOMPARABLE,
            statement=claim.statement, kind=claim.kind, replay=self.new.replay, file=self.new.file,
        )  # fmt: skip

    def _claim(self, old: BaselineClaim, full: ClaimReport) -> _Found:
        new = BaselineClaim.of(full, self.new)
        row = ComparedClaim(
            self.old.id, old.id, Change.KEPT, old.status, new.status, statement=one_statement(full), kind=full.kind,
            quantity=full.words.quantity,
            side=full.side, predicted=full.predicted, margin=full.margin, replay=self.new.replay, file=self.new.file,
            line=full.line,
        )  # fmt: skip
        if stated := [field for field in STATED if _differs(getattr(old, field), getattr(new, field), field)]:
            return _restated(row, old, new, stated), None
        row, evidence = self._numbers(replace(row, same_seeds=self.same_seeds), old, new)
        if row.where is not None:
            row = replace(row, where=replace(row.where, display=full.display))
        same_design = old.design_hash == new.design_hash
        if self.same_seeds and same_design and not self.changes and row.how not in ("bit for bit", "form"):
            row = row.noted("its files, versions, settings and seeds are the same, so its numbers should be identical")
        if (entries := full.log.entries if full.log is not None else None) is not None and entries < old.attempt:
            row = replace(row, shorter_log=True).noted(
                f"the log of attempts is shorter than the baseline's: it holds {many(entries, 'attempt')} "
                f"at this claim, and the baseline was attempt {old.attempt}"
            )
        if _worse(old, old.status, new.status):
            row = replace(row, change=Change.REGRESSED, why=full.sentence)
        elif gone := _no_longer_told_apart(old, new):
            why = f"it was told apart from {', '.join(gone)}, and is no longer"
            row = replace(row, change=Change.LESS_TESTED, why=why)
        elif _worse(old, new.status, old.status):
            row = replace(row, change=Change.IMPROVED)
        return row, evidence

    def _numbers(self, row: ComparedClaim, old: BaselineClaim, new: BaselineClaim) -> _Found:
        before, after = _cases(old), _cases(new)
        mutual = [key for key in before if key in after]
        measured = [key for key in mutual if before[key].is_measured and after[key].is_measured]
        if not any(case.is_measured for case in (*before.values(), *after.values())):
            why = "the same statement; nothing is measured of it"
            return replace(row, outcome=Outcome.SAME, how="form", why=why), None
        if not measured:
            why = "no case was measured in both runs" if mutual else "the two runs have no case in common"
            return replace(row, outcome=Outcome.INCOMPARABLE, why=why), None
        if len(mutual) == len(before) == len(after) and all(
            before[key].numbers == after[key].numbers for key in mutual
        ):
            return replace(row, outcome=Outcome.SAME, how="bit for bit"), None
        missing = len(before) + len(after) - 2 * len(measured)
        if missing:
            row = row.noted(f"one of the runs alone measured {many(missing, 'case')}")
        if old.design_hash != new.design_hash:
            row = row.noted("the design is another one, so the biases of both count")
        found = joined_cases([self._pair(row.quantity, old, new, before[key], after[key]) for key in measured])
        case, now = before[measured[found.worst]], after[measured[found.worst]]
        row = replace(
            row,
            where=ComparedPlace(case.subject, case.at, case.sizes if len(case.sizes) == 1 else ()),
            old=ComparedEstimate(case.estimate, case.standard_error, case.interval),
            new=ComparedEstimate(now.estimate, now.standard_error, now.interval),
            how="statistical" if found.tested else "bound" if found.pair.bound else "exact",
            predicted=now.predicted,
            margin=now.margin,
        )
        return row, found

    def _pair(
        self,
        quantity: DecidedQuantity,
        old: BaselineClaim,
        new: BaselineClaim,
        before: BaselineCase,
        after: BaselineCase,
    ) -> Pair:
        return pair(
            _reading(before, quantity, old.level or level_of(self.run.settings.level, old.attempt)),
            _reading(after, quantity, new.level or level_of(self.report.settings.level, new.attempt)),
            same_design=old.design_hash == new.design_hash,
            shared_seeds=self.same_seeds,
            share=self.share,
        )


def _differs(before: Any, now: Any, field: str) -> bool:
    """True if a part of what is stated is another; of hypotheses that are not known, nothing is."""
    return before != now and not (field == "hypotheses" and None in (before, now))


def _no_longer_told_apart(old: BaselineClaim, new: BaselineClaim) -> list[str]:
    """Subjects and variants that a claim which holds was told apart from, and no longer is."""
    if not (old.status.holds and new.status.holds):  # otherwise nobody looked
        return []
    subjects, variants = (
        sorted(set(before or ()) - set(now or ()))
        for before, now in ((old.controls, new.controls), (old.variants, new.variants))
    )
    return [f"the subject {name!r}" for name in subjects] + [f"the variant {name!r}" for name in variants]


def _hypotheses_told(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Hypotheses that came, went or changed, one note each."""
    return [
        f"hypothesis {name}: {old.get(name, 'not there')} -> {new.get(name, 'not there')}"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


def _restated(row: ComparedClaim, old: BaselineClaim, new: BaselineClaim, fields: Sequence[str]) -> ComparedClaim:
    notes = [
        f"{STATED[field]}: {getattr(old, field)} -> {getattr(new, field)}" for field in fields if field != "hypotheses"
    ]
    changed = _hypotheses_told(old.hypotheses or {}, new.hypotheses or {}) if "hypotheses" in fields else []
    return replace(
        row,
        change=Change.RESTATED,
        outcome=Outcome.INCOMPARABLE,
        how="form",
        why=f"its {' and '.join(STATED[field] for field in fields)} changed",
        notes=(*(() if "statement" in fields else notes), *changed),
    )


def _worse(claim: BaselineClaim, before: Status, now: Status) -> bool:
    """True if the status ``now`` is worse for this claim than ``before``."""
    if claim.corrected is not None:  # what the source prints: that it is refuted is the finding
        return before is Status.REFUTED and now is not Status.REFUTED
    return now.severity > before.severity


def _cases(claim: BaselineClaim) -> dict[tuple[Any, ...], BaselineCase]:
    """The cases by what they are of: subject, parameters, the size where a case has one, and their order beyond that."""
    found: dict[tuple[Any, ...], BaselineCase] = {}
    for case in claim.cases:
        size = case.sizes[0] if len(case.sizes) == 1 else None
        key: tuple[Any, ...] = (case.subject, tuple(sorted(case.at.items())), size)
        found[(*key, sum(known[:3] == key for known in found))] = case
    return found


def _reading(case: BaselineCase, quantity: DecidedQuantity, level: float) -> CaseReading:
    assert case.estimate is not None and case.margin is not None
    return CaseReading(
        estimate=case.estimate,
        standard_error=case.standard_error or 0.0,
        interval=case.interval,
        bias=case.bias or 0.0,
        margin=case.margin,
        draws=min(case.draws, default=0),
        level=level,
        quantity=quantity,
        total=sum(case.draws),
    )


def _settled(row: ComparedClaim, evidence: Evidence | None, decided: Decided | None, strict: bool) -> ComparedClaim:
    """The outcome among all claims, and what it means for the word."""
    if evidence is not None and decided is not None:
        part = evidence.pair
        row = replace(
            row,
            outcome=decided.outcome,
            within=decided.within,
            difference=part.difference,
            standard_error=part.standard_error,
            slack=part.slack,
            zone=part.zone,
            p_moved=decided.adjusted_moved,
            p_same=decided.adjusted_same,
        )
    by_test = row.before in (Status.SUPPORTED, Status.REFUTED)
    chance = by_test and row.now is Status.INCONCLUSIVE and row.same_seeds is False
    if row.change is Change.REGRESSED and chance and row.outcome in (Outcome.SAME, Outcome.CANNOT_TELL):
        row = replace(row, change=Change.LAPSED).noted(
            "other seeds decide a claim only with the power of its design, and err at its level; it has not moved"
        )
    code: Literal[0, 1, 4] = CODES.get(row.change, 0)
    if row.change is Change.KEPT and row.outcome == Outcome.INCOMPARABLE:
        code = 4
    if strict and row.outcome == Outcome.MOVED:
        code = 1
    return replace(row, exit=code)


def _excused(claims: Sequence[ComparedClaim], now: Mapping[str, TheoremReport]) -> Iterator[ComparedClaim]:
    """Count a blocked claim as lapsed if everything that blocks it has lapsed."""
    changes: dict[str, set[Change]] = {}
    for claim in claims:
        changes.setdefault(claim.theorem, set()).add(claim.change)
    for claim in claims:
        blockers = now[claim.theorem].blocked_by if claim.now is Status.BLOCKED else ()
        said = [changes.get(name, set()) for name in blockers]
        lapsed = said and all(Change.LAPSED in one and Change.REGRESSED not in one for one in said)
        if claim.change is Change.REGRESSED and lapsed:
            yield replace(claim, change=Change.LAPSED, exit=CODES[Change.LAPSED])
        else:
            yield claim
