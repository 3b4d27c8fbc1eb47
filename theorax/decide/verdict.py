"""The verdict on one claim, of a theorem or on a user's own numbers, as plain frozen values.

Numbers are Python floats, ``None`` where there is none; texts are what a reader sees. Nothing here needs SymPy or JAX,
so a kept result is read and shown without importing either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from theorax.decide.status import Status

Interval = tuple[float | None, float | None]  # None, or infinite, where a side is open

LOOSE = 1e-3
"""A bound of which what is bounded is mostly a smaller share than this is flagged (METHOD, section 8.4)."""


@dataclass(frozen=True)
class Point:
    """The observations of one case at one size, as the report's table and plot show them."""

    size: float  # the swept letter's value
    estimate: float | None
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
    status: Status
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
    status: Status
    reason: str | None
    sentence: str  # the verdict in words
    because: str  # why the margin is what it is
    prediction: str | None  # the symbolic prediction, as Unicode mathematics
    as_: str | None  # the letter that tends to infinity
    level: float | None
    margin_given: str | None  # as it was stated; the number is that of a case
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
    tightness: tuple[float | None, float | None, float | None] | None = (
        None  # of a bound: 5 %, 50 % and 95 % quantiles of left over right
    )
    attempt: int = 1  # of fresh seeds on this claim and design; the levels shrink with it
    nights: int = 0  # how many nightly reruns its process is over; then p_refute and e_value are those of the process

    @property
    def on_draws(self) -> bool:
        """Whether it holds, and by what was drawn alone, floats or balls: a control that passes makes it vacuous."""
        return self.status in (Status.SUPPORTED, Status.CERTIFIED) and not self.covered

    def __str__(self) -> str:
        from theorax.decide.verdict_text import told
        from theorax.text.plain import render

        return render(told(self)).rstrip("\n")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows the same words, the statement as a formula."""
        from theorax.decide.verdict_text import told
        from theorax.text import hypertext

        typeset = hypertext.statement(self.latex, self.statement) if self.latex else ""
        latex = hypertext.latex_rows([(f"{self.id} is {self.status}:", self.latex)])
        return hypertext.bundle(str(self), typeset + hypertext.render(told(self)), latex)
