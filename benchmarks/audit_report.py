"""How large the HTML report of sixty theorems is, how long it takes to make, and how its graph is drawn.

The theorems are those of a real report, repeated under new names until there are sixty; what they rest on is renamed with
them. The time is that of a process which reads the JSON and writes the page, its start included.

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
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theorax.reports.document import Document, TheoremReport

RUNS = 5
THEOREMS = 60
LARGEST, SLOWEST = 3_000_000, 5.0  # bytes, seconds: what the report promises
COMMAND = """
import sys
from pathlib import Path
from theorax.reports.reading import read
from theorax.reports.renderings import render
Path(sys.argv[2]).write_text(render("html", read(Path(sys.argv[1]))), encoding="utf-8")
"""


def enlarged(document: Document, count: int) -> Document:
    """The report with its theorems repeated until there are so many."""
    theorems: list[TheoremReport] = []
    for turn in range(-(-count // len(document.theorems))):
        for part in document.theorems:
            suffix = f"_{turn + 1}" if turn else ""
            uses = tuple(name + suffix if name in document.by_id else name for name in part.uses)
            theorems.append(replace(part, id=part.id + suffix, uses=uses))
    some = tuple(theorems[:count])
    return replace(document, theorems=some, summary=document.summary.again(some))


def cpu() -> float:
    """The seconds that the processes started here have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(source: Path) -> str:
    """The lines of the result."""
    from theorax.reports.json import text as written
    from theorax.reports.reading import read

    given = read(source)
    document = enlarged(given, THEOREMS)
    with tempfile.TemporaryDirectory() as name:
        report, page = Path(name) / "report.json", Path(name) / "index.html"
        report.write_text(written(document), encoding="utf-8")
        seconds, work = [], []
        for _ in range(RUNS):
            began, before = time.perf_counter(), cpu()
            subprocess.run([sys.executable, "-c", COMMAND, report, page], check=True)
            seconds.append(time.perf_counter() - began)
            work.append(cpu() - before)
        size, text = page.stat().st_size, page.read_text(encoding="utf-8")
    wall, middle = statistics.median(seconds), statistics.median(work)
    claims = sum(len(part.claims) for part in document.theorems)
    cores = os.cpu_count()
    lines = [
        f"{cores}-core {platform.machine()} CPU; python {platform.python_version()}, "
        f"jinja2 {metadata.version('jinja2')}, latex2mathml {metadata.version('latex2mathml')}",
        f"{len(document.theorems)} theorems ({len(given.theorems)} of them different) with {claims} claims, "
        f"{text.count('<math')} formulas, {len(re.findall('class=.plot.', text))} plots",
        "",
        f"size      {size / 1e6:5.2f} MB  (promised: under {LARGEST / 1e6:g})",
        f"CPU time  {middle:5.2f} s   (median of {RUNS}, start of Python and reading included; promised: under {SLOWEST:g})",
        f"wall time {wall:5.2f} s   (load average {os.getloadavg()[0]:.1f})",
        f"graph     {sum(len(part.uses) for part in document.theorems)} edges",
    ]
    if size > LARGEST or middle > SLOWEST:
        lines.append("A promise is broken.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    told = main(Path(sys.argv[1]))
    print(told, end="")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(told, encoding="utf-8")
