"""Outcome of a check, as plain frozen values that go into the store and the report without change.

Numbers are Python floats, ``None`` where there is none; texts are what a reader sees. Nothing here needs SymPy or JAX,
so a kept result is read and shown without importing either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from theorax.decide.findings import Finding, settle
from theorax.decide.kill_evidence import Basis
from theorax.decide.status import Status
from theorax.decide.verdict import Verdict
from theorax.theorems.roots import Origin
from theorax.verifiers.reads import Reads


@dataclass(frozen=True)
class ControlOutcome:
    """A subject that violates a hypothesis, or a counterexample: the claims it must fail."""

    subject: str
    breaks: tuple[str, ...]
    claim: str
    fired: bool
    status: Status  # what the claim would have been called on this subject
    detail: str
    replicates: int = 1  # runs on draws of their own
    kills: int = 0  # of them, those that noticed it
    kill_probability: float | None = None  # lower bound at 95 %; None where nothing is random
    basis: Basis | None = None  # what that bound rests on; None in results of earlier versions, where it is repetitions
    run_draws: int | None = None  # draws of each run, per size; None as above

    @property
    def bounded_by(self) -> Basis | None:
        """Source of the bound that the control is noticed; None where one run showed nothing more."""
        if self.kill_probability is None:
            return None
        if self.basis in (None, Basis.REPETITIONS):  # one kill of one says next to nothing
            return Basis.REPETITIONS if self.replicates > 1 else None
        return self.basis


class Expected(StrEnum):
    """Expected fate of a variant of a claim."""

    KILLED = "rejected"
    STAYS = "stays supported"  # it follows from the claim
    WITHIN = "within the margin"  # it cannot be told from the claim
    TIGHT = "rejected if tight"  # it is wrong only where the bound is tight


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
    """Status of one step of a proof."""

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
    computed_by: str = ""  # what the check computed of it, and by what; empty where nothing was left to compute
    re_checked_by: str = ""  # the second route to each result, or why there is none


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
class NotAsked:
    """A claim of which the values chosen with --at leave no case, with the condition that they break."""

    claim: str
    needs: str  # "β ≤ 3/5"
    here: str  # "β = 7/10"


@dataclass(frozen=True)
class VectorisedPrograms:
    """Programs that were drawn on one device with so many draws at a time, and the steps that kept them on the CPU."""

    device: str
    batch: int
    programs: int
    host_steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """Cost of a check."""

    seconds: float
    draws: int = 0
    programs: int = 0
    compile_seconds: float = 0.0  # of CPU time, like the next
    cpu_seconds: float = 0.0
    vectorised: tuple[VectorisedPrograms, ...] = ()  # empty where all was drawn on the CPU, one draw at a time


@dataclass(frozen=True)
class TheoremOutcome:
    """Everything one theorem's check found; the unit of the store and of the report."""

    id: str
    title: str
    paper: str
    source: str  # the paper's citation
    place: str  # where in it
    label: str  # read, reconstructed, derived or own
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
    root: Origin | None = None  # where its file lies; None in results of earlier versions
    not_asked: tuple[NotAsked, ...] = ()
    selector: tuple[str, ...] = ()  # by which a command selects it: id or path, folders of --root; none for a value
    statement: str = ""  # in words
    idea: str = ""  # of the proof, in words

    DROPPED: ClassVar[tuple[str, ...]] = ("references",)  # of report version 8


@dataclass(frozen=True)
class Checked:
    """An outcome with the observations that it was decided from, as bytes; None where there are too many to keep.

    ``reads``: everything that a check of a user's file was seen to read.
    """

    outcome: TheoremOutcome
    observations: bytes | None
    reads: Reads = field(default_factory=Reads)


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


@dataclass(frozen=True)
class EvaluatedClaim:
    """The predicted side of a claim at these values; ``error`` bounds the rounding of ``decimal``.

    ``broken``: the condition of the claim, where it does not hold here. ``open``: letters that were given no value.
    """

    claim: str
    kind: str
    statement: str
    condition: str
    at: Mapping[str, str]
    side: str
    exact: str
    decimal: float | None
    error: float | None
    broken: bool
    open: tuple[str, ...]
