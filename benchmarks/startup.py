"""How long the command takes to answer: ``verify list``, help, a kept result, a kept explanation, a bare interpreter.

Two parts of a first check are timed by themselves: the key of a result in a new folder, and the import of the engine.

Runs alternate, so that a busy machine slows all of them alike; printed are medians of wall time and of CPU time. Sixty
theorem files are made for the purpose, so that the figure does not depend on how far the library has grown.

    python benchmarks/startup.py [FILE]
"""

from __future__ import annotations

import os
import platform
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

RUNS = 21
FILES = 60
KEPT = "sparse_attention_shared_values"  # a theorem that costs little to check
THEOREM = '''"""A theorem whose title is about as long as the title of a theorem usually is, number {number}."""

theorem = Theorem(place="Theorem {number}", label="read", uses=(), claims=dict(a=Limit(of=x, as_=n)))
'''
COMMAND = """
import sys
from pathlib import Path
from theorax.cli.main import main
from theorax.cli.workspace import Workspace
main(["list"], Workspace(library=Path(sys.argv[1])))
"""
KEY = """
import sys, tempfile
from pathlib import Path
from theorax.runs.own_files import PACKAGE
from theorax.runs.sources import Sources
from theorax.verifiers.settings import Settings
with tempfile.TemporaryDirectory() as state:
    sources = Sources().beside(state)
    sources.manifest(next(PACKAGE.rglob(sys.argv[1] + ".py")), Settings())
    sources.known.save()
"""
ENGINE = "import theorax.runs.checking"


def with_bytecode(folder: str) -> dict[str, str]:
    """The environment of an installed command, whose modules are compiled once, here into a folder of this run."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}


def piped(arguments: list[str], environment: dict[str, str], folder: Path | None = None) -> None:
    """Run with the output in a pipe, in a folder."""
    subprocess.run(arguments, check=True, capture_output=True, env=environment, cwd=folder)


def on_a_terminal(arguments: list[str], environment: dict[str, str]) -> None:
    """Run on a terminal and read what it shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdout=theirs, stderr=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    while True:
        try:
            if not os.read(ours, 65536):
                break
        except OSError:  # the other side has closed
            break
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit(f"{arguments} failed")


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Wall seconds and CPU seconds of a run."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            path = Path(folder, "papers", f"paper_{number % 4}", f"theorem_{number}.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(THEOREM.format(number=number) + "# proof\n" * 150, encoding="utf-8")
        list_ = [sys.executable, "-c", COMMAND, str(path.parents[1])]
        verify, environment = [sys.executable, "-m", "theorax"], with_bytecode(folder)
        project = Path(folder, "project")  # with results of its own
        project.mkdir()
        Path(project, "pyproject.toml").touch()
        shown, explained = [*verify, "theorem", KEPT, "--effort", "quick"], [*verify, "explain", KEPT]
        cases: dict[str, Callable[[], None]] = {
            "python -c pass": lambda: piped([sys.executable, "-c", "pass"], environment),
            "verify list, piped": lambda: piped(list_, environment),
            "verify list, terminal": lambda: on_a_terminal(list_, environment),
            "verify --help": lambda: piped([*verify, "--help"], environment),
            "a kept result": lambda: piped(shown, environment, project),
            "a kept explanation": lambda: piped(explained, environment, project),
            "a key, new folder": lambda: piped([sys.executable, "-c", KEY, KEPT], environment),
            "the whole engine": lambda: piped([sys.executable, "-c", ENGINE], environment),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for run in cases.values():
            run()  # once, so that bytecode is compiled and files are read
        for _ in range(RUNS):
            for name, run in cases.items():
                times[name].append(timed(run))
    lines = [
        f"{os.cpu_count()}-core {platform.machine()} CPU; python {platform.python_version()}, "
        f"click {metadata.version('click')}",
        f"{FILES} theorem files, medians of {RUNS} alternating runs",
        "",
        f"{'':<24}{'wall':>10}{'CPU':>10}{'above python':>16}",
    ]
    bare = statistics.median(cpu for _, cpu in times["python -c pass"])
    for name, found in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        lines.append(f"{name:<24}{wall * 1000:>7.0f} ms{cpu * 1000:>7.0f} ms{(cpu - bare) * 1000:>13.0f} ms")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
