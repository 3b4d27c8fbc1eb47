"""Contents of a theorem's box in the graph: its symbolic side, its numeric side, its ancestors, its controls."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from theorax.decide.phrases import factor_text
from theorax.decide.status import Status
from theorax.reports.claim_lines import one_statement
from theorax.reports.document import ClaimReport, TheoremReport
from theorax.text.safe import one_line
from theorax.verifiers.outcome import StepStatus

SYMBOLIC = {
    "whole": "every claim is proved or certified",
    "steps": "proof steps hold; no proof of the whole",
    "open": "a proof step is undecided",
    "false": "a proof step is false",
    "none": "no proof steps",
}
NUMERIC = {
    "supported": "measured, and it agrees",
    "refuted": "measured, and it is refuted",
    "undecided": "measured, and undecided",
    "idle": "not judged: blocked, vacuous or an error",
    "none": "nothing measured",
}
CONTROLS = {
    "fired": "every control was noticed",
    "silent": "a control was not noticed",
    "none": "no control",
}
_NUMERIC = {
    Status.CERTIFIED: "supported",
    Status.SUPPORTED: "supported",
    Status.REFUTED: "refuted",
    Status.INCONCLUSIVE: "undecided",
}
SHAPES = {
    Status.SUPPORTED: "rounded: it holds (Proved, Certified, Supported)",
    Status.REFUTED: "eight corners: Refuted",
    Status.INCONCLUSIVE: "pointed: Inconclusive or Vacuous",
    Status.BLOCKED: "square: Blocked or an Error",
}
_OPEN = {Status.REFUTED: "refuted", Status.INCONCLUSIVE: "open", Status.VACUOUS: "open"}
PLAIN = "plain"
"""The border of a sample that is about something else."""


@dataclass(frozen=True)
class GraphBox:
    """One box: the verdict and the marks around it."""

    id: str
    status: Status | None  # None for what this report does not hold
    symbolic: str = "none"
    numeric: str = "none"
    controls: str = "none"
    ring: bool = False  # everything it rests on, however far, is in this report and holds
    title: str = ""
    statement: str = ""  # of its first claim, on one line
    latex: str = ""  # of the same claim
    found: str = ""  # how its claims were shown, and how far the weakest reaches
    unrun: bool = False  # asked for, and not checked

    @property
    def shape(self) -> str:
        """The outline that goes with the verdict."""
        if self.status is None:
            return "idle"
        return "holds" if self.status.holds else _OPEN.get(self.status, "idle")

    @property
    def name(self) -> str:
        """The text in the box."""
        return self.title or self.id

    @property
    def missing(self) -> str:
        """The reason why it has no verdict; empty where it has one."""
        return "" if self.status is not None else "not run" if self.unrun else "not in this report"

    @property
    def told(self) -> str:
        """The box in words, for those who do not see it."""
        if self.status is None:
            return f"{self.id}: {self.missing}"
        ring = "all it rests on holds" if self.ring else "something it rests on does not hold or is not in this report"
        return "; ".join(
            (f"{self.id}: {self.status}", SYMBOLIC[self.symbolic], NUMERIC[self.numeric], CONTROLS[self.controls], ring)
        )


def boxes(theorems: Sequence[TheoremReport], unfinished: Sequence[str] = ()) -> dict[str, GraphBox]:
    """The boxes of all theorems of a report, of what they rest on, and of what did not run, by id."""
    uses = {part.id: tuple(part.uses) for part in theorems}
    shaken = _shaken(uses, {part.id for part in theorems if part.status.holds})
    found: dict[str, GraphBox] = {}
    for part in theorems:
        found[part.id] = GraphBox(
            part.id,
            part.status,
            symbolic(part),
            numeric(part),
            controls_outcome(part),
            ring=part.id not in shaken,
            title=one_line(part.title),
            statement=one_line(one_statement(part.claims[0])) if part.claims else "",
            latex=part.claims[0].latex if part.claims else "",
            found=_found(part),
        )
    for id in unfinished:
        found.setdefault(id, GraphBox(id, None, unrun=True))
    for part in theorems:
        for name in part.uses:
            found.setdefault(name, GraphBox(name, None))
    return found


def _shaken(uses: Mapping[str, Sequence[str]], holding: Collection[str]) -> set[str]:
    """Theorems that rest, however far, on one that does not hold or is not known. Each arc is walked once."""
    users: dict[str, list[str]] = {}
    for id, names in uses.items():
        for name in names:
            users.setdefault(name, []).append(id)
    found: set[str] = set()
    waiting = [name for name in {*uses, *users} if name not in holding]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found


def ancestors(id: str, uses: Mapping[str, Sequence[str]], most: int) -> list[str]:
    """Theorems that it rests on, nearest first and at most so many; a circle is walked once."""
    seen: dict[str, None] = {}
    waiting = deque(uses.get(id, ()))
    while waiting and len(seen) < most:
        name = waiting.popleft()
        if name not in seen and name != id:
            seen[name] = None
            waiting += uses.get(name, ())
    return list(seen)


def _found(part: TheoremReport) -> str:
    """Ways in which the claims of a theorem were shown, and the factor of the weakest."""
    strength = part.strength
    shown = {"proved": strength.proved, "certified": strength.certified, "measured": strength.measured}
    told = [f"{word} {count}" if len(part.claims) > 1 else word for word, count in shown.items() if count]
    if strength.weakest is not None:
        told.append(f"× {factor_text(strength.weakest)}")
    return ", ".join(told)


def symbolic(part: TheoremReport) -> str:
    """The symbolic side; a key of ``SYMBOLIC``."""
    steps = {step.status for step in part.proof}
    own = [claim for claim in part.claims if not claim.corrected]
    if StepStatus.REFUTED in steps:
        return "false"
    if own and all(claim.status in (Status.PROVED, Status.CERTIFIED) for claim in own):
        return "whole"
    if steps - {StepStatus.PROVED, StepStatus.CITED}:
        return "open"
    return "steps" if steps else "none"


def numeric(part: TheoremReport) -> str:
    """The numeric side, of its worst claim; a key of ``NUMERIC``. What the source misprints is no claim of the theorem."""
    found = [status for claim in part.claims if not claim.corrected for status in _measured(claim)]
    if not found:
        return "none" if part.status.holds else "idle"
    return _NUMERIC.get(max(found, key=lambda status: status.severity), "idle")


def _measured(claim: ClaimReport) -> list[Status]:
    """Statuses measured for a claim: its own, or those of its measured cases if the claim is proved."""
    if claim.status is not Status.PROVED:
        return [claim.status]
    return [case.status for case in claim.cases if case.estimate is not None]


def controls_outcome(part: TheoremReport) -> str:
    """Outcome of the controls; a key of ``CONTROLS``."""
    if not part.controls:
        return "none"
    return "fired" if all(row.fired for row in part.controls) else "silent"
