"""The verdict on one claim, of a theorem or on a user's own numbers, as plain frozen values.

Numbers are Python floats, ``None`` where there is none; texts are what a reader sees. Nothing here needs SymPy or JAX,
so a kept result is read and shown without importing either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

from theorax.decide.findings import Found, ShownBy, decisive, inside_the_margin, settle, shown_by
from theorax.decide.kinds import KindWords
from theorax.decide.slow_terms import Form
from theorax.decide.status import Decision, Direction, LargerClasses, Reading, Reason, Side, Status
from theorax.names import many
from theorax.text.codec import Malformed

Ends = tuple[float | None, float | None]  # None, or infinite, where a side is open

Tightness = tuple[float | None, float | None, float | None]
"""Quantiles of a bound's smaller side over its larger one: 5 %, 50 % and 95 %."""

LOOSE = 1e-3
"""A bound of which what is bounded is mostly a smaller share than this is flagged (METHOD, section 8.4)."""


def remarks(tightness: Tightness | None) -> tuple[str, ...]:
    """The remark on a bound that says little, or on two sides that are one number; none on others."""
    if tightness is None or tightness[1] is None:
        return ()
    if set(tightness) == {1.0}:
        return ("EQUAL: both sides are one number in nine of ten draws or more, which show no side to be smaller",)
    return () if abs(tightness[1]) >= LOOSE else ("LOOSE: what is bounded is mostly below a thousandth of the bound",)


@dataclass(frozen=True)
class Point:
    """The observations of one case at one size, as the report's table and plot show them."""

    size: float  # the swept letter's value
    estimate: float | None
    standard_error: float | None
    draws: int


@dataclass(frozen=True)
class VarianceGain:
    """The variance of the estimate of a case over what variates of known mean leave of it."""

    variates: tuple[str, ...]  # their names
    planned: float | None  # None where the numbers are planned as they are drawn
    measured: float | None = None  # None before the data, or where the numbers stay as they are drawn
    error: float | None = None  # standard error of the measured one
    raw: str = ""  # why the numbers stay as they are drawn; empty where they are corrected


@dataclass(frozen=True)
class Case:
    """One line of a claim: one subject at one choice of parameters, along the sweep."""

    subject: str
    at: dict[str, str]  # letter -> exact value, as typed after --at
    predicted: float | None  # the claim's own side here: limit, exponent, mean; None where it is no number
    estimate: float | None  # of the same quantity
    standard_error: float | None
    interval: Ends | None  # at the claim's level, the bias bound included; None where the estimate is a rigorous bound
    bias: float | None  # largest bias in the declared class
    margin: float | None
    status: Status
    reason: Reason | None  # why it is INCONCLUSIVE
    p_refute: float | None
    p_support: float | None
    breakdown: float | None  # by how much the class of corrections may grow before the status falls
    noticeable: float | None  # smallest deviation that would have been noticed with probability 0.9
    points: tuple[Point, ...] = ()
    detail: str = ""  # one sentence: what decided it
    gain: VarianceGain | None = None  # None where the claim has no variates of known mean
    outside: Form | None = None  # a form outside the class of corrections that explains the data: the word is withheld
    rivals: tuple[Form, ...] = ()  # forms that fit as well as the claim

    DROPPED: ClassVar = ("tails",)  # of report version 8


class Standing(StrEnum):
    """Standing of an assumption: how far the engine itself looked at it."""

    DECLARED = "declared"  # believed, because the author says so
    TESTED = "tested"
    PROVED = "proved"
    HELD_FIXED = "held fixed"  # one value of it was looked at
    NOT_LOOKED_AT = "not looked at"


@dataclass(frozen=True)
class Assumption:
    """An assumption that a verdict is conditional on."""

    kind: str  # "class", "moment", "independence", "float model", "law", "hypothesis"
    text: str
    checked: Standing


@dataclass(frozen=True)
class AssumedNoise:
    """Standard deviation of one draw, as the plan of a claim assumed it before the data."""

    low: float  # over its cases and sizes
    high: float
    spread: str  # the claim's `spread`, from which it follows
    stated: bool  # False where the spread is the default


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The claim, as it was fixed before the data."""

    id: str
    kind: str
    words: KindWords = field(default_factory=KindWords)  # of this kind
    statement: str  # Unicode mathematics, one or several lines
    latex: str = ""
    because: str = ""  # why the margin is what it is
    prediction: str | None = None  # the symbolic prediction, as Unicode mathematics
    as_: str | None = None  # the letter that tends to infinity
    margin_given: str | None = None  # as it was stated; the number is that of a case
    corrected: str | None = None  # set: this is what the source prints; the named claim is what holds
    design_hash: str
    side: Side = Side.EQUAL  # of the number that a reader sees
    reading: Reading = Reading.EXACT  # the claim is the value itself, or a value within the margin
    direction: Direction | None = None  # of an order, where every case has the same
    exponential: bool = False  # an order exp(c n), not a power of n
    formula: str = ""  # the statement on one line, without regime and condition; empty for a user's own numbers
    regime: str = ""  # the sizes, draws or instances that it speaks of: "as T → ∞"
    condition: str = ""  # the cases that it speaks of; empty if all
    noise: AssumedNoise | None = None  # None where the plan assumes none
    swept: str = ""  # the letter along which it was measured, as it is displayed
    display: Mapping[str, str] = field(default_factory=dict)  # letters of its cases as typed -> as displayed
    general: str = ""  # the formula in all letters, where the statement is that of the one value of a letter seen
    under: tuple[str, ...] | None = None  # the hypotheses it needs, by name; None of a user's own numbers, or not known


@dataclass(frozen=True, kw_only=True)
class LoggedAttempt:
    """An attempt at a claim as the log of attempts has it, and what the log holds of the claim besides.

    A claim whose form or source was changed begins a new count. Nobody can tell a repair from a search for a form that
    passes, so what came of the earlier ones is told.
    """

    number: int  # in the count of this form, model, effort and parameters
    begun: str  # the date of the log's first entry: a log that was deleted is younger
    entries: int  # attempts at the claim in the log, of every form, source and effort
    earlier: int = 0  # of them, on this model at these parameters, at other forms or sources
    inconclusive: int = 0  # of the earlier ones
    refuted: int = 0


@dataclass(frozen=True)
class LookTaken:
    """The look that ended the draws of a claim: the k-th of several, after so many of the planned draws at each size."""

    number: int
    of: int
    draws: int
    planned: int

    def __str__(self) -> str:
        if self.number == self.of:
            return f"Decided at the last of {many(self.of, 'look')}, after all {many(self.planned, 'draw')}."
        return f"Stopped at look {self.number} of {self.of}, after {self.draws} of {many(self.planned, 'draw')}."


@dataclass(frozen=True, kw_only=True)
class ErrorRates:
    """The level of a statistical verdict and its p-values; None where nothing is random, or balls decided."""

    level: float | None = None
    p_refute: float | None = None
    p_support: float | None = None
    attempt: int = 1  # the number of the design and seed in the count of the claim; the levels shrink with it
    log: LoggedAttempt | None = None  # None where no attempt was logged
    look: LookTaken | None = None  # None where all planned draws were decided at once

    DROPPED: ClassVar[tuple[str, ...]] = ("e_value", "nights")  # of report version 8

    @classmethod
    def of(cls, decision: Decision, level: float | None, **others: Any) -> ErrorRates:
        """Error rates of a decision at this level; none where the level is None."""
        if level is None:
            return cls(**others)
        return cls(level=level, p_refute=decision.p_refute, p_support=decision.p_support, **others)


@dataclass(frozen=True)
class SeenLetter:
    """The values of one letter at which a claim was looked at, as they are displayed."""

    letter: str
    values: tuple[str, ...]  # the author's
    ours: tuple[str, ...] = ()  # the engine's
    fixed: str = ""  # why the model takes no others
    is_alone: bool = False  # one value in all evidence, of a letter of the predicted side
    is_open: bool = False  # another dependence on it, equal at the author's values, was not rejected


class OwnOutcome(StrEnum):
    """The outcome of a case of the engine's."""

    KEPT = "kept"  # it did not refute the claim
    REFUTED = "refuted"
    BEYOND = "refuted beyond"  # outside the author's values, where a hypothesis may not hold
    DROPPED = "dropped"  # the program does not run there
    UNSTATED = "unstated"  # the claim says nothing there, or a hypothesis fails
    WAITS = "waits"  # too dear for this effort


@dataclass(frozen=True)
class OwnCase:
    """A case that the engine chose: one letter changed."""

    letter: str  # as displayed
    values: tuple[str, ...]
    outcome: OwnOutcome
    reason: str = ""  # why it decides nothing


@dataclass(frozen=True)
class Seen:
    """Everything at which a claim was looked at."""

    letters: tuple[SeenLetter, ...]  # the swept one first
    drawn: tuple[str, ...]  # subjects
    own: tuple[OwnCase, ...] = ()
    none: str = ""  # why there is no case of the engine's


@dataclass(frozen=True, kw_only=True)
class Witness:
    """A draw that the law can make, found by a search, at which a claim for all draws fails."""

    subject: str
    at: dict[str, str]  # letter -> exact value, as typed after --at
    size: float  # the swept letter's value
    left: float  # the side that is claimed to be smaller, or one side of an identity, at the worst entry
    right: float
    excess: float  # over the bound or the margin, the errors that `observe` declares taken off
    floor: float  # the largest excess that rounding was seen, or is allowed, to make
    by_ball: bool  # a ball of the excess is positive
    entries: tuple[str, ...]  # the noise that is not zero, as scores: "e1[0,3] = 2"; empty where they are many
    numbers: int  # entries of the noise
    zeros: int  # of them


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A search for a draw at which a claim for all draws fails."""

    evaluations: int = 0
    size: float | None = None  # the swept letter's value at the place that came nearest
    share: float | None = None  # the largest smaller side over the larger one; None where they have no ratio
    why_not: str = ""  # why nothing was searched
    left: tuple[str, ...] = ()  # what stays as drawn
    untested: tuple[str, ...] = ()  # hypotheses that are sentences, not tested at a witness
    witness: Witness | None = None


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """Grounds of a verdict: the data looked at, the scope of its word, its assumptions."""

    draws: int
    sizes: tuple[float, ...] = ()
    unseen: tuple[str, ...] = ()  # what this check could not have seen
    scope: str = ""  # for what the word is said: a box, the law sampled, declared sizes
    proved_for: str = ""  # of a proof: for what it speaks, as the check saw it
    measured_for: str = ""  # beside a proof: for what a test supports the claim
    ledger: tuple[Assumption, ...] = ()  # everything it is conditional on
    tightness: Tightness | None = None
    searched: Searched | None = None  # None where no search was due
    seen: Seen | None = None  # None of a user's own numbers, and where nothing is measured


@dataclass(frozen=True, kw_only=True)
class Verdict(Statement, ErrorRates, Grounds, LargerClasses):
    """One claim over all its cases, of a theorem or on a user's own numbers (`theorax.decide`).

    Status, reason, sentence, ``shown_by`` and ``within_margin`` follow from the findings: none is built, or read back, that
    says otherwise.

    **Raises:** Malformed where one does not follow.
    """

    findings: tuple[Found, ...]
    status: Status
    reason: Reason | None
    sentence: str  # the verdict in words
    shown_by: ShownBy | None  # None where it was neither established nor refuted
    rigorous: bool  # proved, certified or refuted by a ball: outside the suite's error budget
    cases: tuple[Case, ...]
    worst: int | None  # index into cases: the one that decided
    within_margin: bool = False  # off the claim, yet inside the margin: REFUTED read exactly, SUPPORTED with the margin

    DROPPED: ClassVar[tuple[str, ...]] = (*ErrorRates.DROPPED, *LargerClasses.DROPPED)

    def __post_init__(self) -> None:
        for name, right in settled_fields(self.findings).items():
            if (given := getattr(self, name)) != right:
                raise Malformed(f".{name}", f"{given!r} does not follow from the findings, {right!r} does")

    @property
    def deciding(self) -> Case | None:
        """The case that decided."""
        return self.cases[self.worst] if self.worst is not None else None

    def with_findings(self, *found: Found) -> Verdict:
        """The verdict with further findings, settled again over all of them."""
        return self.settled_by((*self.findings, *found))

    def settled_by(self, findings: Sequence[Found]) -> Verdict:
        """The same claim with these findings in the place of its own."""
        return replace(self, **settled_fields(findings))

    def __str__(self) -> str:
        from theorax.decide.verdict_text import verdict_blocks
        from theorax.text.plain import render

        return render(verdict_blocks(self)).rstrip("\n")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows the same words, the statement as a formula."""
        from theorax.decide.verdict_text import verdict_blocks
        from theorax.text import hypertext

        typeset = hypertext.statement(self.latex, self.statement) if self.latex else ""
        latex = hypertext.latex_rows([(f"{self.id} is {self.status}:", self.latex)])
        return hypertext.bundle(str(self), typeset + hypertext.render(verdict_blocks(self)), latex)


def again(fields: Mapping[str, Any]) -> Verdict:
    """A verdict that was concluded elsewhere, from its fields.

    **Raises:** Malformed where its status does not follow from its findings.
    """
    return Verdict(**fields)


def settled_fields(findings: Sequence[Found]) -> dict[str, Any]:
    """The fields of a verdict that its findings determine."""
    deciding, by, within = decisive(findings), shown_by(findings), inside_the_margin(findings)
    return {
        "findings": tuple(findings),
        "status": settle(part.finding for part in findings),
        "reason": deciding.reason,
        "sentence": f"{within} {deciding.sentence}" if within else deciding.sentence,
        "shown_by": by,
        "within_margin": bool(within),
        "rigorous": by in (ShownBy.PROVED, ShownBy.CERTIFIED),
    }
