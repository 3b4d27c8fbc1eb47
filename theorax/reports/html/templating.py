"""Templates of the page: their environment, the style and the script, and the policy that admits these two alone."""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from theorax.decide.facts import FactKey, by_key
from theorax.decide.phrases import case_name
from theorax.decide.status import Status
from theorax.decide.verdict import Case
from theorax.reports.claim_facts import report_facts
from theorax.reports.claim_lines import bar_line, claim_numbers
from theorax.reports.document import ClaimReport
from theorax.reports.html import cited_works, first_screen, page_parts, plots
from theorax.reports.html.palette import DARK, LIGHT, declarations, variables
from theorax.reports.theorem_text import LABELS, STEP_SIGNS, how_computed, moment
from theorax.text.mathml import formula
from theorax.text.numbers import duration, interval, number, with_uncertainty
from theorax.text.safe import visible
from theorax.text.signs import signed

TEMPLATES = Path(__file__).parent / "templates"
SHOWN = 8  # rows of a table that stand open; longer ones are folded


def rendered(name: str, *, scripted: bool = False, **values: Any) -> str:
    """The text of a whole page from its template; ``scripted``: with the script of search and filters."""
    style, script = _assets()
    policy = _policy(style, script if scripted else "")
    own = {"style": Markup(style), "script": Markup(script if scripted else ""), "policy": policy}
    text: str = _environment().get_template(name).render(**own, **values)
    return text


def cell_of(**values: Any) -> str:
    """The output of a notebook's cell, in a style of its own."""
    style = "".join(
        (
            f".theorax{{{declarations(LIGHT)};background:var(--page);color:var(--text);padding:.6rem 1rem}}\n",
            f"@media (prefers-color-scheme:dark){{.theorax{{{declarations(DARK)}}}}}\n",
            f".theorax{{{_read('style.css')}}}\n",
        )
    )
    text: str = _environment().get_template("cell.html").render(style=Markup(style), **values)
    return text


def _policy(style: str, script: str) -> str:
    """Content security policy: nothing is loaded; the page's own style and script are allowed by their hashes."""
    hashes = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script))
    own_style, own_script = (f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; style-src {own_style}; script-src {own_script}; base-uri 'none'; form-action 'none'"


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _assets() -> tuple[str, str]:
    return f"\n{variables()}{_read('style.css')}", f"\n{_read('filter.js')}"


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
        day=_day,
        signed=signed,
        tone=first_screen.tone,
        html=Markup,
        at_least=lambda share: f"{math.floor(100 * share) / 100:.2f}",
        breakable=lambda id: Markup("_<wbr>").join(visible(id).split("_")),
        begun=lambda text: text[:1].upper() + text[1:],
        ended=lambda text: text if not text or text[-1] in ".!?" else f"{text}.",
    )
    environment.globals.update(
        plots=plots,
        page_parts=page_parts,
        cited_works=cited_works,
        first_screen=first_screen,
        claim_numbers=claim_numbers,
        bar_line=bar_line,
        STATUSES=tuple(Status),
        LABELS=LABELS,
        STEP_SIGNS=STEP_SIGNS,
        SHOWN=SHOWN,
        sweep=_sweep,
        forest=_forest,
        computed=how_computed,
        claim_facts=report_facts,
        by_key=by_key,
        case_name=case_name,
        KEYS=FactKey,
    )
    return environment


def _shown(value: Any) -> Any:
    """Every value on its way to the page: signs that command are shown, not obeyed."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _day(date: str) -> str:
    """The day of a kept date, as a headline tells it."""
    from datetime import datetime

    return datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ").strftime("%-d %b %Y")


def _formula(latex: str, text: str, *, block: bool = False) -> Markup:
    return Markup(formula(latex, text, block=block))


def _sweep(claim: ClaimReport, case: Case) -> Markup:
    return Markup(plots.sweep_plot(claim, case))


def _forest(claim: ClaimReport) -> Markup:
    return Markup(plots.forest(claim))
