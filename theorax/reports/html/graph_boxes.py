"""What a theorem's box in the graph shows: its symbolic side, its numeric side, its ancestors, its controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Part = Mapping[str, Any]

HOLDS = ("PROVED", "CERTIFIED", "SUPPORTED")
WORST_FIRST = ("REFUTED", "ERROR", "INCONCLUSIVE", "VACUOUS", "BLOCKED", "SUPPORTED", "CERTIFIED", "PROVED")

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
    "fired": "every control fired",
    "silent": "a control did not fire",
    "none": "no control",
}
SHAPES = {
    "SUPPORTED": "rounded: it holds (Proved, Certified, Supported)",
    "REFUTED": "eight corners: Refuted",
    "INCONCLUSIVE": "pointed: Inconclusive or Vacuous",
    "BLOCKED": "square: Blocked or an Error",
}
PLAIN = "plain"
"""The border of a sample that is about something else."""


@dataclass(frozen=True)
class Node:
    """One box: the verdict and the marks around it."""

    id: str
    status: str | None  # None for what this report does not hold
    symbolic: str = "none"
    numeric: str = "none"
    controls: str = "none"
    ring: bool = False  # everything it rests on, however far, is in this report and holds

    @property
    def shape(self) -> str:
        """The outline that goes with the verdict."""
        if self.status in HOLDS:
            return "holds"
        return {"REFUTED": "refuted", "INCONCLUSIVE": "open", "VACUOUS": "open"}.get(self.status or "", "idle")

    @property
    def told(self) -> str:
        """The box in words, for those who do not see it."""
        if self.status is None:
            return f"{self.id}: not in this report"
        ring = "all it rests on holds" if self.ring else "something it rests on does not hold or is not in this report"
        return "; ".join(
            (f"{self.id}: {self.status}", SYMBOLIC[self.symbolic], NUMERIC[self.numeric], CONTROLS[self.controls], ring)
        )


def nodes(theorems: Sequence[Part]) -> dict[str, Node]:
    """The boxes of all theorems of a report and of what they rest on, by id."""
    uses = {part["id"]: tuple(part["uses"]) for part in theorems}
    status = {part["id"]: part["status"] for part in theorems}
    found: dict[str, Node] = {}
    for part in theorems:
        above = ancestors(part["id"], uses)
        found[part["id"]] = Node(
            part["id"],
            part["status"],
            symbolic(part),
            numeric(part),
            controls(part),
            ring=all(status.get(name) in HOLDS for name in above),
        )
    for part in theorems:
        for name in part["uses"]:
            found.setdefault(name, Node(name, None))
    return found


def ancestors(id: str, uses: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything that it rests on, nearest first; a circle is walked once."""
    seen: dict[str, None] = {}
    waiting = list(uses.get(id, ()))
    while waiting:
        name = waiting.pop(0)
        if name not in seen and name != id:
            seen[name] = None
            waiting += uses.get(name, ())
    return list(seen)


def symbolic(part: Part) -> str:
    """The symbolic side; a key of ``SYMBOLIC``."""
    steps = {step["status"] for step in part["proof"]}
    own = [claim for claim in part["claims"] if not claim["corrected"]]
    if "REFUTED" in steps:
        return "false"
    if own and all(claim["status"] in ("PROVED", "CERTIFIED") for claim in own):
        return "whole"
    if steps - {"PROVED", "CITED"}:
        return "open"
    return "steps" if steps else "none"


def numeric(part: Part) -> str:
    """The numeric side, of its worst claim; a key of ``NUMERIC``. What the source misprints is no claim of the theorem."""
    found = {_measured(claim) for claim in part["claims"] if not claim["corrected"]} - {None}
    worst = next((status for status in WORST_FIRST if status in found), None)
    if worst is None:
        return "none" if part["status"] in HOLDS else "idle"
    known = {"REFUTED": "refuted", "INCONCLUSIVE": "undecided", "SUPPORTED": "supported", "CERTIFIED": "supported"}
    return known.get(worst, "idle")


def _measured(claim: Part) -> str | None:
    if claim["status"] != "PROVED":
        return str(claim["status"])
    # A proved claim is as a rule measured too; its cases say with what outcome.
    found = {case["status"] for case in claim["cases"] if case["estimate"] is not None}
    return next((status for status in WORST_FIRST if status in found), None)


def controls(part: Part) -> str:
    """Whether the controls fired; a key of ``CONTROLS``."""
    if not part["controls"]:
        return "none"
    return "fired" if all(row["fired"] for row in part["controls"]) else "silent"
