"""What a check found, as plain frozen values that go into the store and the report without change.

Numbers are Python floats, ``None`` where there is none; texts are what a reader sees. Nothing here needs SymPy or JAX,
so a kept result is read and shown without importing either.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, TypeVar

Value = TypeVar("Value")
Interval = tuple[float, float]


LOOSE = 1e-3
"""A bound of which what is bounded is mostly a smaller share than this is flagged (METHOD, section 8.4)."""


@dataclass(frozen=True)
class Point:
    """The observations of one case at one size, as the report's table and plot show them."""

    size: float  # the swept letter's value
    estimate: float
    standard_error: float | None
    draws: int


@dataclass(frozen=True)
class Case:
    """One line of a claim: one subject at one choice of parameters, along the sweep."""

    subject: str
    at: dict[str, str]  # letter -> exact value, as typed after --at
    predicted: float | None  # the claim's own side here: limit, exponent, mean; None where it is no number
    estimate: float | None  # of the same quantity
    standard_error: float | None
    interval: Interval | None  # at the claim's level, the bias bound included
    bias: float | None  # largest bias in the declared class
    margin: float | None
    status: str
    reason: str | None  # a code of METHOD's list for INCONCLUSIVE
    p_refute: float | None
    p_support: float | None
    breakdown: float | None  # by how much the class of corrections may grow before the status falls
    noticeable: float | None  # smallest deviation that would have been noticed with probability 0.9
    points: tuple[Point, ...] = ()
    detail: str = ""  # one sentence: what decided it
    tails: tuple[float, ...] = ()  # one-sided p-values of the ways in which it can be false, where p_refute is not one


@dataclass(frozen=True)
class Assumption:
    """What a verdict is conditional on."""

    kind: str  # "class", "moment", "independence", "float model", "law", "hypothesis"
    text: str
    checked: str  # "declared", "tested" or "proved"


@dataclass(frozen=True)
class Verdict:
    """One claim over all its cases, of a theorem or on a user's own numbers (`theorax.decide`)."""

    id: str
    kind: str
    statement: str  # Unicode mathematics, one or several lines
    latex: str
    status: str
    reason: str | None
    sentence: str  # the verdict in words
    because: str  # why the margin is what it is
    predicted: str | None  # the symbolic prediction, as Unicode mathematics
    as_: str | None  # the letter that tends to infinity
    level: float | None
    margin: str | None
    corrected: str | None  # set: this is what the source prints; the named claim is what holds
    draws: int
    sizes: tuple[float, ...]
    design_hash: str
    cases: tuple[Case, ...]
    worst: int | None  # index into cases: the one that decided
    unseen: tuple[str, ...] = ()  # what this check could not have seen
    p_refute: float | None = None
    p_support: float | None = None
    rigorous: bool = False  # PROVED, CERTIFIED or refuted by a ball: outside the suite's error budget
    covered: bool = False  # PROVED, or CERTIFIED for a whole domain: nothing drawn can take from it
    scope: str = ""  # for what the word is said: a box, the law sampled, declared sizes
    ledger: tuple[Assumption, ...] = ()  # everything it is conditional on
    e_value: float | None = None  # of an e-process, frozen at its stopping time
    tightness: tuple[float, float, float] | None = None  # of a bound: 5 %, 50 % and 95 % quantiles of left over right
    attempt: int = 1  # of fresh seeds on this claim and design; the levels shrink with it
    nights: int = 0  # how many nightly reruns its process is over; then p_refute and e_value are those of the process

    @property
    def on_draws(self) -> bool:
        """Whether it holds, and by what was drawn alone, floats or balls: a control that passes makes it vacuous."""
        return self.status in ("SUPPORTED", "CERTIFIED") and not self.covered

    def __str__(self) -> str:
        from theorax.text.plain import render
        from theorax.verifiers.telling import told

        return render(told(self)).rstrip("\n")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows the same words, the statement as a formula."""
        from theorax.text import hypertext
        from theorax.verifiers.telling import told

        typeset = hypertext.statement(self.latex, self.statement) if self.latex else ""
        latex = hypertext.latex_rows([(f"{self.id} is {self.status}:", self.latex)])
        return hypertext.bundle(str(self), typeset + hypertext.render(told(self)), latex)


@dataclass(frozen=True)
class ControlOutcome:
    """A subject that violates a hypothesis, or a counterexample: the claims it must fail."""

    subject: str
    breaks: tuple[str, ...]
    claim: str
    fired: bool
    status: str  # what the claim would have been called on this subject
    detail: str
    replicates: int = 1  # independent repetitions at the claim's own design
    kills: int = 0  # of them, those in which the claim was not supported
    kill_probability: float | None = None  # lower bound at 95 % (Clopper-Pearson); None where nothing is random


@dataclass(frozen=True)
class MutantOutcome:
    """A wrong (or, if implied, weaker) variant of a claim, decided on the claim's own data."""

    claim: str
    name: str
    statement: str
    killed: bool
    status: str
    expected: (
        str  # "killed", "stays supported" (implied), "within the margin" (cannot be told apart), "killed if tight"
    )
    origin: str  # "file" or "machine"
    detail: str = ""


@dataclass(frozen=True)
class StepOutcome:
    """One step of a proof."""

    proof: str  # the claim or lemma it belongs to
    scope: str  # the proof's docstring
    reason: str
    statement: str
    status: str  # PROVED, CITED, REFUTED, UNDECIDED
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
    status: str
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


def plain(outcome: Any) -> dict[str, Any]:
    """The outcome as a dictionary of JSON values."""
    return dataclasses.asdict(outcome)


def theorem_from_plain(data: dict[str, Any]) -> TheoremOutcome:
    """The inverse of :func:`plain` for a theorem read from the store or a report.

    **Raises:** KeyError or TypeError if ``data`` is not such a dictionary.
    """
    return _rebuilt(
        TheoremOutcome,
        data,
        blocked_by=tuple(data["blocked_by"]),
        uses=tuple(data["uses"]),
        issues=tuple(data["issues"]),
        references=tuple(data["references"]),
        letters=tuple(_rebuilt(LetterOutcome, row) for row in data["letters"]),
        hypotheses=tuple(
            _rebuilt(HypothesisOutcome, row, broken_by=tuple(row["broken_by"])) for row in data["hypotheses"]
        ),
        claims=tuple(map(_claim, data["claims"])),
        controls=tuple(_rebuilt(ControlOutcome, row, breaks=tuple(row["breaks"])) for row in data["controls"]),
        mutants=tuple(_rebuilt(MutantOutcome, row) for row in data["mutants"]),
        proof=tuple(_rebuilt(StepOutcome, row) for row in data["proof"]),
        work=_rebuilt(Work, data["work"]),
    )


def _claim(row: dict[str, Any]) -> Verdict:
    cases = tuple(map(_case, row["cases"]))
    tightness = None if row["tightness"] is None else tuple(row["tightness"])
    ledger = tuple(_rebuilt(Assumption, part) for part in row["ledger"])
    lists = {"sizes": tuple(row["sizes"]), "unseen": tuple(row["unseen"])}
    return _rebuilt(Verdict, row, cases=cases, ledger=ledger, tightness=tightness, **lists)


def _case(row: dict[str, Any]) -> Case:
    interval = None if row["interval"] is None else tuple(row["interval"])
    return _rebuilt(
        Case,
        row,
        points=tuple(_rebuilt(Point, point) for point in row["points"]),
        interval=interval,
        tails=tuple(row["tails"]),
    )


def _rebuilt(kind: type[Value], row: dict[str, Any], **changed: Any) -> Value:
    values: dict[str, Any] = {**row, **changed}
    return kind(**values)
