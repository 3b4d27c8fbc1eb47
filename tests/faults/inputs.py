"""Mutated inputs: reports, tables and options of a user end in a sentence, never in a traceback or exit code 3."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.faults.counts import Counts
from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace

RIGHT = (0, 1, 2, 4, 5)  # of what a user hands over: 3 is an error of ours, 130 nobody pressed Ctrl-C
NUMBERS = st.one_of(
    st.floats(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([10**400, 1e308, -1e308, 5e-324, 1e75, 1e50, -1, 0, 1, 2**63, 2**64]),
)
VALUES = st.one_of(
    NUMBERS, st.none(), st.booleans(), st.text(max_size=8), st.just([]), st.just({}),
    st.sampled_from(["SUPPORTED", "REFUTED", "PROVED", "\x1b[2J", "1e999", "../x"]),
)  # fmt: skip
TYPED = st.one_of(
    NUMBERS.map(str),
    st.sampled_from(["1/0", "1e999999999", "9**9**9", "nan", "-", "", "0x10", "٣", "1e-400", "²", "N", "1" * 5000]),
    st.text(max_size=6).filter(lambda text: "\0" not in text),
)
TABLE = "N,x,seed\n" + "".join(
    f"{n},{1 + 0.3 * ((7 * i) % 5 - 2) / n},{i}\n" for n in (1, 2, 4, 8, 16) for i in range(8)
)
CLAIMS = (
    ("--rate", "x ~ N**({})"), ("--rate", "x ~ exp({}*N)"), ("--limit", "x -> {} as N"), ("--mean", "x = {}"),
    ("--at-most", "x <= {}"), ("--probability", "x >= {}"), ("--law", "x ~ normal(0, {})"), ("--law", "x ~ N"),
)  # fmt: skip
DECLARED = (
    "--margin",
    "--sd",
    "--level",
    "--floor",
    "--variance",
    "--range",
    "--class",
    "--paired",
    "--error",
    "--seeds",
)
OPTIONS = (
    "--seed", "--level", "--at", "--sizes", "--jobs", "--effort", "--device", "--model", "--exclude", "-o",
    "--show", "--state",
)  # fmt: skip


def attack(counts: Counts, number: int, start: int, report: Path) -> None:
    """So many inputs: a third each of reports, tables and options."""
    whole = json.loads(report.read_text(encoding="utf-8"))
    places = list(_places(whole))
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="theorax-inputs-") as folder:
        os.chdir(folder)
        Path(".git").mkdir()
        try:
            for what, tried in enumerate((_reports(counts, whole, places), _tables(counts), _options(counts))):
                limits = settings(
                    max_examples=number // 3 + (what < number % 3), deadline=None, database=None, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )  # fmt: skip
                seed(start)(limits(tried))()
        finally:
            os.chdir(before)


def _reports(counts: Counts, whole: Any, places: list[tuple[Any, ...]]) -> Any:
    @given(st.sampled_from(places), VALUES, st.sampled_from(("terminal", "markdown", "json")), st.integers(0, 19))
    def tried(place: tuple[Any, ...], value: Any, format_: str, cut: int) -> None:
        told = json.dumps(_put(whole, place, value)).replace("Infinity", "1e999")
        Path("report.json").write_text(told[: len(told) // 2] if cut == 0 else told, encoding="utf-8", errors="replace")
        _run(counts, "report", "render", "report.json", "-o", format_)

    return tried


def _tables(counts: Counts) -> Any:
    cells = st.lists(st.tuples(st.integers(0, len(TABLE) - 1), TYPED), max_size=3)

    @given(cells, st.sampled_from(CLAIMS), TYPED, st.lists(st.tuples(st.sampled_from(DECLARED), TYPED), max_size=3))
    def tried(cells: Any, claim: tuple[str, str], typed: str, declared: list[tuple[str, str]]) -> None:
        table = TABLE
        for at, text in cells:
            table = table[:at] + text + table[at + 1 :]
        Path("table.csv").write_text(table, encoding="utf-8", errors="replace")
        options = {"--margin": "0.1", "--sd": "1", **dict(declared)}
        words = [word for option, value in options.items() for word in (option, value)]
        _run(counts, "data", "table.csv", claim[0], claim[1].format(typed), *words)

    return tried


def _options(counts: Counts) -> Any:
    @given(st.lists(st.tuples(st.sampled_from(OPTIONS), TYPED), min_size=1, max_size=3), TYPED)
    def tried(options: list[tuple[str, str]], selector: str) -> None:
        # A word that means no theorem: every option is read, and nothing is checked.
        words = [word for pair in options for word in pair]
        _run(counts, "theorem", f"no_such_theorem{selector}", *words)

    return tried


def _run(counts: Counts, *words: str) -> None:
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = exit_code_of(Workspace(arguments=words))
    counts.count("mutated inputs")
    told = said.getvalue() + complained.getvalue()
    if code not in RIGHT or "Traceback" in told:
        line = complained.getvalue().strip().splitlines()[-1:] or [""]
        counts.breaks("tracebacks for a user's mistake", f"exit code {code} of {' '.join(words)!r}: {line[0][:200]}")


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _places(part, (*place, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from _places(part, (*place, at))


def _put(whole: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    found = dict(whole) if isinstance(whole, dict) else list(whole)
    found[place[0]] = _put(whole[place[0]], place[1:], value)
    return found
