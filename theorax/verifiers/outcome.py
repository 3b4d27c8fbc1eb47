"""What a check found, as plain frozen values that go into the store and the report without change.

Numbers are Python floats, ``None`` where there is none; texts are what a reader sees. Nothing here needs SymPy or JAX,
so a kept result is read and shown without importing either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from theorax.decide.findings import Finding, Found, ShownBy, settle
from theorax.decide.status import Direction, Reason, Side, Status
from theorax.decide.verdict import Assumption, Case, Point, Verdict

Value = TypeVar("Value")


@dataclass(frozen=True)
class ControlOutcome:
    """A subject that violates a hypothesis, or a counterexample: the claims it must fail."""

    subject: str
    breaks: tuple[str, ...]
    claim: str
    fired: bool
    status: Status  # what the claim would have been called on this subject
    detail: str
    replicates: int = 1  # independent repetitions at the claim's own design
    kills: int = 0  # of them, those in which the claim was not supported
    kill_probability: float | None = None  # lower bound at 95 % (Clopper-Pearson); None where nothing is random


class Expected(StrEnum):
    """What should become of a variant of a claim."""

    KILLED = "killed"
    STAYS = "stays supported"  # it follows from the claim
    WITHIN = "within the margin"  # it cannot be told from the claim
    TIGHT = "killed if tight"  # it is wrong only where the bound is tight


@dataclass(frozen=True)
class MutantOutcome:
    """A wrong (or, if implied, weaker) variant of a claim, decided on the claim's own data."""

    claim: str
    name: str
    statement: str
    killed: bool
    status: Status
    expected: Expected
    origin: str  # "file" or "machine"
    detail: str = ""


class StepStatus(StrEnum):
    """What became of one step of a proof."""

    PROVED = "PROVED"
    CITED = "CITED"
    UNDECIDED = "UNDECIDED"
    REFUTED = "REFUTED"


@dataclass(frozen=True)
class StepOutcome:
    """One step of a proof."""

    proof: str  # the claim or lemma it belongs to
    scope: str  # the proof's docstring
    reason: str
    statement: str
    status: StepStatus
    method: str
    latex: str = ""  # of the statement; empty where there is none or it would fill a page


@dataclass(frozen=True)
class LetterOutcome:
    """One letter of a statement, as Unicode mathematics, and what it stands for."""

    letter: str
    meaning: str


@dataclass(frozen=True)
class HypothesisOutcome:
    """One hypothesis: its sentence, and the subjects that break it or the reason why none does."""

    name: str
    sentence: str
    broken_by: tuple[str, ...]
    unbroken: str | None
    tested: str | None  # the relation tested in every draw, with the share of draws that satisfied it


@dataclass(frozen=True)
class Work:
    """What a check cost."""

    seconds: float
    draws: int = 0
    programs: int = 0
    compile_seconds: float = 0.0  # of CPU time, like the next
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class TheoremOutcome:
    """Everything one theorem's check found; the unit of the store and of the report."""

    id: str
    title: str
    paper: str
    source: str  # the paper's citation
    place: str  # where in it
    label: str  # read, reconstructed or derived
    status: Status
    reason: str | None  # a sentence where the status is not a green one
    blocked_by: tuple[str, ...]
    uses: tuple[str, ...]
    letters: tuple[LetterOutcome, ...]
    hypotheses: tuple[HypothesisOutcome, ...]
    claims: tuple[Verdict, ...]
    controls: tuple[ControlOutcome, ...]
    mutants: tuple[MutantOutcome, ...]
    proof: tuple[StepOutcome, ...]
    issues: tuple[str, ...]
    replay: str  # the command that runs this check again
    work: Work
    model: str | None = None  # --model, where a user's model stood in
    references: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Checked:
    """An outcome with the observations that it was decided from, as bytes; None where there are too many to keep."""

    outcome: TheoremOutcome
    observations: bytes | None


def overall(claims: Sequence[Verdict]) -> tuple[Status, str | None]:
    """The status of a theorem from those of its claims, and the sentence of the claim that decided.

    | claims (those that the source prints wrongly set aside) | theorem |
    |---|---|
    | at least one | the status of largest severity |
    | none | error |

    A claim with ``corrected`` says what the source prints: that it is refuted is the finding, not a failure.
    """
    standing = [claim for claim in claims if claim.corrected is None]
    if not standing:
        return settle([Finding.NOT_CHECKED]), "no claim was decided"
    worst = max(standing, key=lambda claim: claim.status.severity)  # the first of equally bad ones
    return worst.status, None if worst.status.holds else f"{worst.id}: {worst.sentence}"


def plain(outcome: Any) -> dict[str, Any]:
    """The outcome as a dictionary of JSON values."""
    return dataclasses.asdict(outcome)


def theorem_from_plain(data: dict[str, Any]) -> TheoremOutcome:
    """The inverse of :func:`plain` for a theorem read from the store or a report.

    **Raises:** KeyError, TypeError or ValueError if ``data`` is not such a dictionary.
    """
    return _rebuilt(
        TheoremOutcome,
        data,
        status=Status(data["status"]),
        blocked_by=tuple(data["blocked_by"]),
        uses=tuple(data["uses"]),
        issues=tuple(data["issues"]),
        references=tuple(data["references"]),
        letters=tuple(_rebuilt(LetterOutcome, row) for row in data["letters"]),
        hypotheses=tuple(
            _rebuilt(HypothesisOutcome, row, broken_by=tuple(row["broken_by"])) for row in data["hypotheses"]
        ),
        claims=tuple(map(_claim, data["claims"])),
        controls=tuple(_control(row) for row in data["controls"]),
        mutants=tuple(map(_mutant, data["mutants"])),
        proof=tuple(_rebuilt(StepOutcome, row, status=StepStatus(row["status"])) for row in data["proof"]),
        work=_rebuilt(Work, data["work"]),
    )


def _control(row: dict[str, Any]) -> ControlOutcome:
    return _rebuilt(ControlOutcome, row, breaks=tuple(row["breaks"]), status=Status(row["status"]))


def _mutant(row: dict[str, Any]) -> MutantOutcome:
    return _rebuilt(MutantOutcome, row, status=Status(row["status"]), expected=Expected(row["expected"]))


def _claim(row: dict[str, Any]) -> Verdict:
    cases = tuple(map(_case, row["cases"]))
    tightness = None if row["tightness"] is None else tuple(row["tightness"])
    ledger = tuple(_rebuilt(Assumption, part) for part in row["ledger"])
    lists = {"sizes": tuple(row["sizes"]), "unseen": tuple(row["unseen"])}
    findings = tuple(Found(Finding(part["finding"]), part["sentence"], _reason(part)) for part in row["findings"])
    read = {
        "status": Status(row["status"]),
        "reason": _reason(row),
        "shown_by": None if row["shown_by"] is None else ShownBy(row["shown_by"]),
        "side": Side(row["side"]),
        "direction": None if row["direction"] is None else Direction(row["direction"]),
    }
    return _rebuilt(Verdict, row, findings=findings, cases=cases, ledger=ledger, tightness=tightness, **lists, **read)


def _reason(row: dict[str, Any]) -> Reason | None:
    return None if row["reason"] is None else Reason(row["reason"])


def _case(row: dict[str, Any]) -> Case:
    interval = None if row["interval"] is None else tuple(row["interval"])
    return _rebuilt(
        Case,
        row,
        status=Status(row["status"]),
        reason=_reason(row),
        points=tuple(_rebuilt(Point, point) for point in row["points"]),
        interval=interval,
        tails=tuple(row["tails"]),
    )


def _rebuilt(kind: type[Value], row: dict[str, Any], **changed: Any) -> Value:
    values: dict[str, Any] = {**row, **changed}
    return kind(**values)
