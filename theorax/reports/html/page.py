"""From a report document to the text of its page."""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from theorax.decide.promise import grouped, promise
from theorax.decide.status import Status
from theorax.decide.verdict import Case
from theorax.reports.answers import Answer
from theorax.reports.document import ClaimReport, Document, TheoremReport, harmless
from theorax.reports.html import graph_boxes, page_parts, plots
from theorax.reports.html.arc_diagram import arc_diagram
from theorax.reports.html.box_drawing import outlines, sample
from theorax.reports.html.glossary_links import GlossaryLinks
from theorax.reports.html.graph_panels import panels
from theorax.reports.html.palette import DARK, LIGHT, declarations, variables
from theorax.reports.theorem_text import (
    LABELS,
    MEANING,
    NO_CONTROL,
    STEP_SIGNS,
    computed,
    moment,
    uncontrolled,
    wording,
)
from theorax.text import hypertext
from theorax.text.mathml import formula
from theorax.text.numbers import duration, interval, number, with_uncertainty
from theorax.text.safe import visible
from theorax.text.signs import signed

TEMPLATES = Path(__file__).parent / "templates"


def html(document: Document) -> str:
    """The report as one HTML file that asks nothing of any network."""
    theorems = document.theorems
    names = page_parts.Names.of(theorems)
    boxes = graph_boxes.boxes(theorems)
    style, script = _assets()
    words = GlossaryLinks()

    def above(part: TheoremReport) -> Markup:
        above = names.above(part.id)
        if len(above) < 3:  # the line that names the one theorem says it all
            return Markup("")
        try:
            return Markup(arc_diagram(boxes, above, names.anchors, f"Dependencies of {part.id}", brief=True))
        except ValueError:  # they rest on each other in a circle, which the whole graph tells
            return Markup("")

    drawn = panels(theorems, boxes, names.anchors)
    text: str = (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            theorems=theorems,
            names=names,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            graph=drawn,
            above=above,
            outlines=Markup(outlines()),
            labels={work.key: work.label for work in document.bibliography},
            legend=_legend(stubs=drawn.stubs),
            kinds=sorted({claim.kind for part in theorems for claim in part.claims}),
            papers=list(dict.fromkeys(part.paper for part in theorems)),
            statuses=[name for name in Status if document.summary.statuses.get(name)],
            attacks=page_parts.attacks(theorems),
            term=words.link,
            entries=words.entries,
        )
    )
    return text


def answer_page(answer: Answer) -> str:
    """The answer of a command that is no report, as one HTML file that asks nothing of any network."""
    style, _ = _assets()
    body = Markup(hypertext.render(answer.body))
    made = _environment().get_template("answer.html")
    text: str = made.render(title=answer.title, body=body, style=Markup(style), policy=_policy(style, ""))
    return text


def cell(document: Document) -> str:
    """The report as the output of a notebook's cell: verdicts, statements and plots, in a style of its own."""
    document = harmless(document)
    style = "".join(
        (
            f".theorax{{{declarations(LIGHT)};background:var(--page);color:var(--text);padding:.6rem 1rem}}\n",
            f"@media (prefers-color-scheme:dark){{.theorax{{{declarations(DARK)}}}}}\n",
            f".theorax{{{(TEMPLATES / 'style.css').read_text(encoding='utf-8')}}}\n",
        )
    )
    text: str = (
        _environment()
        .get_template("cell.html")
        .render(document=document, theorems=document.theorems, style=Markup(style), term=str)
    )
    return text


def _policy(style: str, script: str) -> str:
    """Content security policy: nothing is loaded; the page's own style and script are allowed by their hashes."""
    hashes = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script))
    own_style, own_script = (f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; style-src {own_style}; script-src {own_script}; base-uri 'none'; form-action 'none'"


@cache
def _assets() -> tuple[str, str]:
    style = variables() + (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return f"\n{style}", f"\n{(TEMPLATES / 'filter.js').read_text(encoding='utf-8')}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(
        formula=_formula,
        number=number,
        uncertain=with_uncertainty,
        interval=interval,
        duration=duration,
        moment=moment,
        signed=signed,
        tone=page_parts.tone,
        html=Markup,
        at_least=lambda share: f"{math.floor(100 * share) / 100:.2f}",
        breakable=lambda id: Markup("_<wbr>").join(visible(id).split("_")),
        begun=lambda text: text[:1].upper() + text[1:],
        ended=lambda text: text if not text or text[-1] in ".!?" else f"{text}.",
    )
    environment.globals.update(
        plots=plots,
        page_parts=page_parts,
        MEANING=MEANING,
        LABELS=LABELS,
        STEP_SIGNS=STEP_SIGNS,
        SHOWN=SHOWN,
        sweep=_sweep,
        forest=_forest,
        wording=wording,
        computed=computed,
        promise=promise,
        grouped=grouped,
        uncontrolled=uncontrolled,
        NO_CONTROL=NO_CONTROL,
    )
    return environment


SHOWN = 8  # rows of a table that stand open; longer ones are folded


def _shown(value: Any) -> Any:
    """Every value on its way to the page: signs that command are shown, not obeyed."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _formula(latex: str, text: str, *, block: bool = False) -> Markup:
    return Markup(formula(latex, text, block=block))


def _sweep(claim: ClaimReport, case: Case) -> Markup:
    return Markup(plots.sweep(claim, case))


def _forest(claim: ClaimReport) -> Markup:
    return Markup(plots.forest(claim))


def _legend(*, stubs: bool) -> list[tuple[str, list[tuple[Markup, str]]]]:
    """Legend of the graph's marks: groups of samples with their words."""

    def drawn(status: Status | None = None, *, stub: bool = False, **marks: Any) -> Markup:
        return Markup(
            sample(graph_boxes.GraphBox("", status or Status.SUPPORTED, **marks), letter=status is not None, stub=stub)
        )

    plain = graph_boxes.PLAIN
    return [
        (
            "Shape and letter: the verdict",
            [(drawn(status=status, symbolic=plain), told) for status, told in graph_boxes.SHAPES.items()],
        ),
        ("Border: the symbolic side", [(drawn(symbolic=name), told) for name, told in graph_boxes.SYMBOLIC.items()]),
        (
            "Fill: the numeric side",
            [(drawn(symbolic=plain, numeric=name), told) for name, told in graph_boxes.NUMERIC.items()],
        ),
        (
            "Around it",
            [
                (drawn(symbolic=plain, ring=True), "outer ring: everything it rests on holds"),
                (drawn(symbolic=plain, controls="fired"), "flag: every control was noticed, so the check can fail"),
                (drawn(symbolic=plain, controls="silent"), "empty flag: a control was not noticed"),
                *(
                    [(drawn(stub=True), "thin and empty: a theorem of another paper, drawn in full there")]
                    if stubs
                    else []
                ),
            ],
        ),
    ]
