"""Draws shared among processes: the same tables and words for any number of them, and nothing lost where one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from theorax.errors import ObservationError
from theorax.language import Theorem
from theorax.runs.checking import observe
from theorax.verifiers import theorem_check
from theorax.verifiers.cases.crew import Crew, DrawnPortion, Portion
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.sweep_lines import SweepLine
from theorax.verifiers.settings import Settings

THEOREM = """'''Means of normal numbers.'''

import jax
import jax.numpy as jnp
from sympy import Integer

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "the mean of n normal numbers, plus a shift")
H = hypotheses(centred=Hypothesis("the numbers have mean zero", broken_by=None, unbroken="the control shifts"))
zero = Expectation(mean, Integer(0), margin=Absolute(1, 5, "a fifth of the spread"), spread=Integer(1), under=(H.centred,))


def build(key, n, shift):
    return jax.random.normal(key, (n,)) + shift


theorem = Theorem(
    place="nowhere", label="derived", hypotheses=H, claims=dict(zero=zero),
    experiments=dict(
        entries=Experiment(
            lambda x: dict(mean=jnp.MEAN), mean, {n: (4, 9)}, draws=400,
            subjects={
                "normal": Subject(build, shift=0.0), "again": Subject(build, shift=0.0),
                "shifted": Subject(build, shift=1.0).breaking(H.centred, fails=zero),
            },
        )
    ),
)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    text = THEOREM.replace(', broken_by=None, unbroken="the control shifts"', "")
    (papers / "means.py").write_text(text.replace("jnp.MEAN", "jnp.mean(x)"))
    (papers / "roots.py").write_text(text.replace("jnp.MEAN", "jnp.mean(jnp.sqrt(x))"))
    return papers


def _settings(root: Path, jobs: int) -> Settings:
    return Settings(roots=(str(root),), state=str(root.parent / f"state {jobs}"), fresh=True, jobs=jobs)


def _drawn(root: Path, crew: Crew | None, theorem_id: str = "means") -> tuple[Draws, Theorem, tuple[SweepLine, ...]]:
    settings = _settings(root, 1)
    theorem, table = theorem_check._prepare(theorem_id, settings, theorem_check._catalogue(settings))
    draws = Draws(theorem_id, theorem, table, settings, crew=crew)
    return draws, theorem, table["entries"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are worth their start for any line."""
    monkeypatch.setattr("theorax.verifiers.cases.draws.is_worth_sharing", lambda seconds, start: seconds > 0)


@pytest.mark.usefixtures("at_once")
def test_a_check_says_the_same_on_any_number_of_processes(root: Path) -> None:
    one, other = (observe("means", _settings(root, jobs)) for jobs in (1, 3))
    assert one.outcome.claims[0].status == "SUPPORTED", one.outcome.claims[0].sentence
    # What the log knows besides, as the date of its first entry, is no result.
    one_s, other_s = (replace(part.outcome.claims[0], log=None) for part in (one, other))
    assert one_s == other_s
    assert replace(other.outcome, claims=()) == replace(one.outcome, claims=(), work=other.outcome.work)
    assert other.observations == one.observations


@pytest.mark.usefixtures("at_once")
def test_tables_do_not_depend_on_who_drew_them(root: Path) -> None:
    settings = _settings(root, 1)
    crew = Crew(2, theorem_check.DRAW, "means", settings)
    try:
        alone, _, lines = _drawn(root, None)
        shared, _, _ = _drawn(root, crew)
        shared.expect(lines, 0)
        shared.on(lines[0])
        others = [Portion(("entries", line.name, ()), first, 133) for line in lines[1:] for first in (0, 133)]
        deadline = time.monotonic() + 120
        while not any(map(crew.is_done, others)) and time.monotonic() < deadline:
            time.sleep(0.1)
        for line in lines:
            for one, other in zip(alone.on(line).tables, shared.on(line).tables, strict=True):
                assert one.keys() == other.keys()
                assert all(np.array_equal(one[letter], other[letter]) for letter in one)
        # Beyond the line's own draws, too.
        beyond = [draws.portion(lines[0], 390, 30).tables[1]["mean"] for draws in (alone, shared)]
        assert np.array_equal(beyond[0], beyond[1])
        assert shared.cpu_seconds > 0  # others drew a part
    finally:
        crew.close()


def dies(portion: Portion, *given: object) -> DrawnPortion:
    """End the process that was asked to draw."""
    os._exit(7)


def fails(portion: Portion, *given: object) -> DrawnPortion:
    """Fail in a way that belongs to the other process."""
    raise MemoryError


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("draw", ["dies", "fails"])
def test_where_others_fail_nothing_is_lost(draw: str, root: Path) -> None:
    crew = Crew(1, f"{__name__}:{draw}")
    try:
        alone, _, lines = _drawn(root, None)
        shared, _, _ = _drawn(root, crew)
        shared.expect(lines, 0)
        for line in lines:
            for one, other in zip(alone.on(line).tables, shared.on(line).tables, strict=True):
                assert all(np.array_equal(one[letter], other[letter]) for letter in one)
        assert shared.cpu_seconds == 0
    finally:
        crew.close()


@pytest.mark.usefixtures("at_once")
def test_a_draw_that_is_no_number_is_told_the_same(root: Path) -> None:
    told = []
    for crew in (None, Crew(1, theorem_check.DRAW, "roots", _settings(root, 1))):
        draws, _, lines = _drawn(root, crew, "roots")
        if crew is not None:
            crew.hand_over([])  # running, so that the first line is shared already
        with pytest.raises(ObservationError) as error:
            draws.on(lines[0])
        told.append(str(error.value))
        if crew is not None:
            crew.close()
    assert told[0] == told[1]


PARENT = """
import os, time
from theorax.numerics.processes import worker_processes
if __name__ == "__main__":
    executor = worker_processes(2)
    futures = [executor.submit(time.sleep, 600) for _ in range(2)]
    while len(executor._processes) < 2: time.sleep(.05)
    print(*executor._processes, flush=True)
    time.sleep(600)
"""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(map(_is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    left = [pid for pid in workers if _is_alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
