"""The dependency graph in rows: the theorems of a run, or the parts of one theorem, each below all that it rests on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import networkx

from theorax.decide.findings import ShownBy
from theorax.names import many
from theorax.reports.claim_lines import one_statement
from theorax.reports.document import ClaimReport, Document, TheoremReport
from theorax.reports.html.first_screen import NOT_RUN, tone
from theorax.reports.theorem_text import STEP_SIGNS
from theorax.text.safe import one_line
from theorax.text.signs import SIGNS
from theorax.verifiers.outcome import ControlOutcome, HypothesisOutcome, StepOutcome, StepStatus

Key = Hashable  # a theorem's id, or the sort of a part with its name

_STEP_TONES = {StepStatus.PROVED: "good", StepStatus.CITED: "idle", StepStatus.REFUTED: "bad"}


@dataclass(frozen=True)
class GraphRow:
    """A node of the graph."""

    name: str
    sign: str
    tone: str
    text: str  # of its tooltip
    holds: bool = True  # otherwise everything that rests on it is marked
    note: str = ""  # beside the name where a window has room
    link: str | None = None
    group: str | None = None  # the heading above it; None for what did not run
    uses: tuple[Key, ...] = ()


def rows_in_order(uses: Mapping[str, Iterable[str]]) -> list[str]:
    """Each id soon after the ids that it uses, also those that are no key; on a circle one comes before what it uses."""
    rests_on = networkx.DiGraph()
    rests_on.add_nodes_from(uses)
    rests_on.add_edges_from((id, use) for id, names in uses.items() for use in names)
    # In postorder a node follows its dependencies at once, so most lines are short.
    return list(networkx.dfs_postorder_nodes(rests_on))


def run_rows(document: Document, links: Mapping[str, str]) -> dict[Key, GraphRow]:
    """The theorems of a report by paper, with those that did not run and those that are used but not in the report."""
    parts: dict[str, TheoremReport] = {}
    for part in document.theorems:
        parts.setdefault(part.id, part)  # an id that comes again links to the first
    papers: dict[str, list[str]] = {part.paper: [] for part in parts.values()}
    for part in parts.values():
        papers[part.paper] += [parts[id].paper for id in part.uses if id in parts]
    place = {paper: at for at, paper in enumerate(rows_in_order(papers))}
    uses = {part.id: part.uses for part in sorted(parts.values(), key=lambda part: place[part.paper])}
    for id in document.summary.unfinished:
        uses.setdefault(id, ())
    rows: dict[Key, GraphRow] = {}
    group = None
    # Backwards, because a theorem without a result stands in the paper of the theorem after it, which uses it.
    for id in reversed(rows_in_order(uses)):
        if id in parts:
            group = parts[id].paper
            rows[id] = _theorem(parts[id], links[id])
        else:
            missing = NOT_RUN if id in uses else "not in this report"
            rows[id] = GraphRow(id, "", "unrun", f"{id}: {missing}", False, missing, group=group)
    return dict(reversed(rows.items()))


def theorem_rows(
    part: TheoremReport, above: Mapping[Key, GraphRow], claim_links: Sequence[str], inside: Mapping[str, str]
) -> dict[Key, GraphRow]:
    """A theorem with its hypotheses, proofs and claims; ``above`` holds its own row and those of what it rests on.

    ``inside`` links to the hypotheses and to the proof.
    """
    rows: dict[Key, GraphRow] = {
        id: replace(row, group="Rests on", uses=tuple(name for name in row.uses if name in above))
        for id, row in above.items()
    }
    own = rows.pop(part.id)
    for hypothesis in part.hypotheses:
        rows["hypothesis", hypothesis.name] = _hypothesis(hypothesis, part.controls, inside["hypotheses"])
    for name, steps in groupby(sorted(part.proof, key=lambda step: step.proof), key=lambda step: step.proof):
        rows["proof", name] = _proof(name, list(steps), inside["proof"])
    for claim, link in zip(part.claims, claim_links, strict=True):
        needed = (*(("hypothesis", name) for name in claim.under or ()), ("proof", claim.id))
        rows["claim", claim.id] = _claim(claim, link, tuple(key for key in needed if key in rows))
    # A theorem does not rest on what its source misprints. A lemma belongs to no claim.
    claims = [("claim", claim.id) for claim in part.claims if not claim.corrected]
    lemmas = [("proof", step.proof) for step in part.proof if ("claim", step.proof) not in rows]
    rows[part.id] = replace(own, group="Theorem", uses=(*own.uses, *dict.fromkeys(claims + lemmas)))
    return rows


def _theorem(part: TheoremReport, link: str) -> GraphRow:
    statement = one_line(one_statement(part.claims[0])) if part.claims else ""
    uses = tuple(dict.fromkeys(id for id in part.uses if id != part.id))
    told = (f"{part.id}: {part.status}", part.title, statement, f"rests on {', '.join(uses)}" if uses else "")
    sign, text = SIGNS[part.status], "; ".join(filter(None, told))
    return GraphRow(part.id, sign, tone(part.status), text, part.status.holds, part.title, link, part.paper, uses)


def _hypothesis(row: HypothesisOutcome, controls: Iterable[ControlOutcome], link: str) -> GraphRow:
    breaking = [control for control in controls if row.name in control.breaks]
    fired = sum(control.fired for control in breaking)
    tested = f"{fired} of {many(len(breaking), 'control')} noticed" if breaking else "no control breaks it"
    # It is assumed, not shown: it has no verdict, and the tone of one only if a control that breaks it was missed.
    sign, found = ("–", "idle") if fired == len(breaking) else ("✗", "bad")
    return GraphRow(row.name, sign, found, f"hypothesis {row.name}: {tested}", True, row.sentence, link, "Hypotheses")


def _proof(name: str, steps: Sequence[StepOutcome], link: str) -> GraphRow:
    # The worst step decides, as in the verdict; one that is only cited leaves the rest of a proof as good as it was.
    worst = max((step.status for step in steps), key=("CITED", "PROVED", "UNDECIDED", "REFUTED").index)
    note = f"{many(len(steps), 'step')}, {worst}"
    holds = worst in (StepStatus.CITED, StepStatus.PROVED)
    sign, found = STEP_SIGNS[worst], _STEP_TONES.get(worst, "open")
    return GraphRow(name, sign, found, f"proof of {name}: {note}", holds, note, link, "Proofs")


def _claim(claim: ClaimReport, link: str, uses: tuple[Key, ...]) -> GraphRow:
    shown = f"measured in {many(claim.draws, 'draw')}" if claim.shown_by is ShownBy.MEASURED else claim.shown_by
    note = f"{claim.kind}, {'as printed' if claim.corrected else shown or 'not decided'}"
    text = f"claim {claim.id}: {claim.status}; {note}"
    sign, holds = SIGNS[claim.status], claim.status.holds
    return GraphRow(claim.id, sign, tone(claim.status), text, holds, note, link, "Claims", uses)
