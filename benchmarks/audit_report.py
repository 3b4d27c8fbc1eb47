"""How large the HTML report of 200 theorems or more is, and how long it takes to make, in one file and in pages.

The theorems are those of a real report, repeated under new names until there are 200; their papers and what they rest on
are renamed with them. The time is that of a process which reads the JSON and writes the page, its start included.

    verify audit -o audit && python benchmarks/audit_report.py audit/report.json [FILE]
"""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theorax.reports.document import Document, TheoremReport

RUNS = 3
THEOREMS = 200
LARGEST, SLOWEST = 8_000_000, 10.0  # bytes, seconds: what one file promises
ONE_FILE = """
import sys
from pathlib import Path
from theorax.reports.reading import read
from theorax.reports.renderings import render
Path(sys.argv[2], "index.html").write_text(render("html", read(Path(sys.argv[1]))), encoding="utf-8")
"""
PAGES = """
import sys
from pathlib import Path
from theorax.reports.html.page import theorem_pages
from theorax.reports.reading import read
for name, text in theorem_pages(read(Path(sys.argv[1]))).items():
    Path(sys.argv[2], name).write_text(text, encoding="utf-8")
"""


@dataclass(frozen=True)
class Made:
    """Result of one way to write a report: its bytes by file, and the median seconds of its runs."""

    sizes: dict[str, int]
    wall: float
    computed: float


def enlarged(document: Document, count: int) -> Document:
    """The report with its theorems repeated until there are so many."""
    theorems: list[TheoremReport] = []
    for turn in range(-(-count // len(document.theorems))):
        for part in document.theorems:
            suffix = f"_{turn + 1}" if turn else ""
            uses = tuple(name + suffix if name in document.by_id else name for name in part.uses)
            theorems.append(replace(part, id=part.id + suffix, paper=part.paper + suffix, uses=uses))
    some = tuple(theorems[:count])
    return replace(document, theorems=some, summary=document.summary.again(some))


def cpu() -> float:
    """The seconds that the processes started here have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def made(command: str, report: Path, folder: Path) -> Made:
    """Run a command on a report several times."""
    folder.mkdir()
    seconds, work = [], []
    for _ in range(RUNS):
        began, before = time.perf_counter(), cpu()
        subprocess.run([sys.executable, "-c", command, report, folder], check=True)
        seconds.append(time.perf_counter() - began)
        work.append(cpu() - before)
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    return Made(sizes, statistics.median(seconds), statistics.median(work))


def main(source: Path) -> str:
    """The lines of the result."""
    from theorax.reports.json import text as written
    from theorax.reports.reading import read

    given = read(source)
    document = enlarged(given, max(THEOREMS, len(given.theorems)))
    with tempfile.TemporaryDirectory() as name:
        report, folder = Path(name) / "report.json", Path(name) / "whole"
        report.write_text(written(document), encoding="utf-8")
        whole, pages = made(ONE_FILE, report, folder), made(PAGES, report, Path(name) / "pages")
        text = (folder / "index.html").read_text(encoding="utf-8")
    claims = sum(len(part.claims) for part in document.theorems)
    (size,) = whole.sizes.values()
    own = [size for name, size in pages.sizes.items() if name != "index.html"]
    lines = [
        f"{os.cpu_count()}-core {platform.machine()} CPU; python {platform.python_version()}, "
        f"jinja2 {metadata.version('jinja2')}, latex2mathml {metadata.version('latex2mathml')}",
        f"{len(document.theorems)} theorems ({len(given.theorems)} of them different) with {claims} claims, "
        f"{text.count('<math')} formulas, {len(re.findall('class=.plot.', text))} plots",
        f"median of {RUNS} runs, start of Python and reading included; load average {os.getloadavg()[0]:.1f}",
        "",
        "             size     CPU time    wall time",
        f"one file  {size / 1e6:4.2f} MB  {whole.computed:8.2f} s  {whole.wall:8.2f} s   "
        f"(promised: under {LARGEST / 1e6:g} MB and {SLOWEST:g} s of CPU time)",
        f"pages     {sum(pages.sizes.values()) / 1e6:4.2f} MB  {pages.computed:8.2f} s  {pages.wall:8.2f} s   "
        f"(index {pages.sizes['index.html'] / 1e3:.0f} kB, a theorem {statistics.median(own) / 1e3:.0f} kB)",
    ]
    if size > LARGEST or whole.computed > SLOWEST:
        lines.append("A promise is broken.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    told = main(Path(sys.argv[1]))
    print(told, end="")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(told, encoding="utf-8")
