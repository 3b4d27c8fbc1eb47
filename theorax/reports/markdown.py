"""The report as GitHub-flavoured Markdown: counts, a table with the worst first, then each theorem, those that hold folded.

It is made of parts, so that a reader with little room takes the first ones: :func:`parts` yields them by importance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theorax.reports.build_findings import verdict_counts
from theorax.reports.document import Document, TheoremReport
from theorax.reports.summary import tried
from theorax.reports.theorem_text import cost, moment
from theorax.reports.theorem_text import theorem_blocks as story
from theorax.text.blocks import Block, Heading, Lines
from theorax.text.markdown_blocks import (
    CELL,
    code,
    code_cell,
    element,
    fenced,
    inline_text,
    markdown_table,
    opening,
    render,
)
from theorax.text.numbers import duration
from theorax.text.safe import address, shortened
from theorax.text.signs import signed

LEGEND = "\nOf how many: claims that hold, controls that were noticed, mutants (wrong variants) that were rejected.\n"
SENTENCE = 2000  # characters of a sentence in an overview


def text(document: Document) -> str:
    """The whole report."""
    theorems = document.worst_first
    sections = [f"{report_opening(document)}\n", *overview(theorems), LEGEND if theorems else ""]
    sections += [f"\n{detail(part)}" for part in theorems]
    sections += [f"\n{bibliography_section(document)}", f"\n{foot(document)}"]
    return "".join(sections)


def report_opening(document: Document) -> str:
    """Opening of the report: the overall result, and the number of theorems of each verdict."""
    summary = document.summary
    asked, hold = document.asked, document.hold
    title = "nothing was checked" if not asked else "all hold" if hold == asked else f"{hold} of {asked} hold"
    lines = [f"# Theorems: {title}", "", f"{inline_text(verdict_counts(document))}."]
    if summary.interrupted:
        left = ", ".join(map(code, summary.unfinished)) or "none"
        lines += ["", f"**Interrupted.** Not finished: {shortened(left, SENTENCE)}."]
    settings = document.settings
    lines += ["", f"Effort {inline_text(settings.effort)}, seed {settings.seed}, {moment(document.created)}."]
    return "\n".join(lines) + "\n"


def overview(theorems: Sequence[TheoremReport]) -> Iterator[str]:
    """The lines of the table of all theorems; its head is the first."""
    if not theorems:
        return
    columns = ("verdict", "theorem", "claims", "controls", "mutants", "time")
    first, rule = markdown_table(columns, (), right=(2, 3, 4, 5))
    yield f"{first}\n{rule}\n"
    for part in theorems:
        row = (
            signed(part.status, part.within_margin, alone=part.alone).replace(" ", "\N{NO-BREAK SPACE}"),
            f"{code_cell(shortened(part.id, CELL))}<br>{inline_text(shortened(part.title, CELL))}",
            *tried(part),
            "kept" if part.kept else duration(part.seconds),
        )
        yield f"| {' | '.join(row)} |\n"


def detail(part: TheoremReport) -> str:
    """One theorem in full; folded where it holds."""
    # The title, the id and the verdict stand in the summary line.
    blocks = [block for block in story(part) if not _named(block, part)]
    told = render(blocks, 3)
    word = signed(part.status, part.within_margin, alone=part.alone)
    head = f"{word} {code(shortened(part.id, CELL))}"
    title = inline_text(shortened(part.title, CELL))
    if part.status.holds:
        id_ = f"<code>{element(shortened(part.id, CELL))}</code>"
        summary = f"<summary>{word} {id_} {element(shortened(part.title, CELL))}</summary>"
        return f"<details>\n{summary}\n\n{told}\n</details>\n"
    reason = opening(shortened(part.why, SENTENCE))
    return f"## {head}\n\n{f'**{title}**' if title else ''}\n\n{reason}\n\n{told}"


def brief(part: TheoremReport) -> str:
    """One theorem in short: what did not hold, and the command that shows it."""
    reason = opening(shortened(part.why, SENTENCE))
    *_, replay = cost(part)
    lines = [
        f"## {signed(part.status, part.within_margin, alone=part.alone)} {code(shortened(part.id, CELL))}",
        "",
        reason,
        "",
    ]
    return "\n".join([*lines, *fenced([shortened(line, SENTENCE) for line in getattr(replay, "lines", ())])]) + "\n"


def bibliography_section(document: Document) -> str:
    """The bibliography of what was run; a folder that is in none tells its own line."""
    told = {part.paper: part.source for part in document.theorems if part.source}
    told |= {work.key: work.entry for work in document.bibliography}
    links = {work.key: address(work.url) for work in document.bibliography if address(work.url)}
    if not told:
        return ""
    rows = [f"- {opening(entry)}{f' <{links[key]}>' if key in links else ''}" for key, entry in told.items()]
    return "\n".join(["## Bibliography", "", *rows]) + "\n"


def foot(document: Document) -> str:
    """Closing of the report: what its verdicts say together, the machine, and the command that repeats the run."""
    environment = document.environment
    lines = ["## This run", "", opening(document.together.sentence)]
    if document.notes:
        lines += ["", *(f"- {opening(sentence)}" for sentence in document.notes)]
    versions = {"Python": environment.python, **environment.versions}
    ran = ", ".join(f"{inline_text(name)} {inline_text(version)}" for name, version in versions.items())
    lines += [
        "",
        f"{opening(document.generator)} on {inline_text(environment.system)} {inline_text(environment.machine)}: {ran}.",
    ]
    lines += ["", *fenced([document.command])]
    return "\n".join(lines) + "\n"


def _named(block: Block, part: TheoremReport) -> bool:
    """True if a block only names the theorem of the report."""
    return (isinstance(block, Heading) and block.level == 1) or block == Lines((part.id,), indent=0, quiet=True)
