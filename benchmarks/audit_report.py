"""How large the HTML report of sixty theorems is, how long it takes to make, and how its graph is drawn.

The theorems are those of a real report, repeated under new names until there are sixty; what they rest on is renamed with
them. The time is that of a process which reads the JSON and writes the page, its start included.

    verify audit -o audit && python benchmarks/audit_report.py audit/report.json [FILE]
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

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


def enlarged(document: dict[str, Any], count: int) -> dict[str, Any]:
    """The report with its theorems repeated until there are so many."""
    theorems: list[dict[str, Any]] = []
    known = {part["id"] for part in document["theorems"]}
    for turn in range(-(-count // len(document["theorems"]))):
        for part in document["theorems"]:
            suffix = f"_{turn + 1}" if turn else ""
            uses = [name + suffix if name in known else name for name in part["uses"]]
            theorems.append({**part, "id": part["id"] + suffix, "uses": uses})
    theorems = theorems[:count]
    statuses = dict(Counter(part["status"] for part in theorems))
    summary = {**document["summary"], "theorems": len(theorems), "statuses": statuses}
    return {**document, "theorems": theorems, "summary": summary}


def cpu() -> float:
    """The seconds that the processes started here have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(source: Path) -> str:
    """The lines of the result."""
    from theorax.reports.html import graph_boxes, graph_drawing
    from theorax.reports.reading import read

    given = read(source)
    document = enlarged(given, THEOREMS)
    with tempfile.TemporaryDirectory() as name:
        report, page = Path(name) / "report.json", Path(name) / "index.html"
        report.write_text(json.dumps(document), encoding="utf-8")
        seconds, work = [], []
        for _ in range(RUNS):
            began, before = time.perf_counter(), cpu()
            subprocess.run([sys.executable, "-c", COMMAND, report, page], check=True)
            seconds.append(time.perf_counter() - began)
            work.append(cpu() - before)
        size, text = page.stat().st_size, page.read_text(encoding="utf-8")
    uses = {part["id"]: tuple(part["uses"]) for part in document["theorems"]}
    drawn = graph_drawing.graph(graph_boxes.nodes(document["theorems"]), uses, {}, "")
    wall, middle = statistics.median(seconds), statistics.median(work)
    claims = sum(len(part["claims"]) for part in document["theorems"])
    cores = os.cpu_count()
    lines = [
        f"{cores}-core {platform.machine()} CPU; python {platform.python_version()}, "
        f"jinja2 {metadata.version('jinja2')}, latex2mathml {metadata.version('latex2mathml')}",
        f"{len(document['theorems'])} theorems ({len(given['theorems'])} of them different) with {claims} claims, "
        f"{text.count('<math')} formulas, {len(re.findall('class=.plot.', text))} plots",
        "",
        f"size      {size / 1e6:5.2f} MB  (promised: under {LARGEST / 1e6:g})",
        f"CPU time  {middle:5.2f} s   (median of {RUNS}, start of Python and reading included; promised: under {SLOWEST:g})",
        f"wall time {wall:5.2f} s   (load average {os.getloadavg()[0]:.1f})",
        f"graph     {sum(map(len, uses.values()))} edges, {drawn.crossings} crossings",
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
