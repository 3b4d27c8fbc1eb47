"""Workers that die while others are being started: every check ends with a word, and no process stays."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children

import pytest

from theorax.runs.workers import FinishedCheck, WorkerPool
from theorax.verifiers.settings import Settings


def named(id, settings):
    """A check that takes a while and ends the process if it is told to; it hands back no outcome."""
    time.sleep(0.2)
    raise ValueError(id)


CHECK = f"{__name__}:named"


def processes(pool):
    return [process._process for process in (*pool._idle, *(process for process, _ in pool._busy))]


def killed(pool, number):
    """End the workers by force, and wait until they are gone."""
    for process in processes(pool):
        os.kill(process.pid, number)
        process.join(30)
        assert process.exitcode == -number


def all_of(pool, count):
    found: dict[str, FinishedCheck] = {}
    while len(found) < count:
        before = len(found)
        found |= {done.id: done for done in pool.finished(lambda id, phase: None)}
        assert len(found) > before, "nobody does what is left"
    return found


@pytest.fixture
def pool(capfd):
    """Two workers, of which nothing stays and nobody complains."""
    found = WorkerPool(CHECK, 2)
    yield found
    found.close()
    assert not active_children()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["KILL", "TERM"])
@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_check_handed_over_after_a_death_is_done(pool, number, delay):
    pool.submit("first", Settings())
    time.sleep(delay)
    killed(pool, number)
    pool.submit("second", Settings())  # the first check is not yet known to be lost
    found = all_of(pool, 2)
    assert all(f"ValueError: {id}" in found[id].sentence for id in ("first", "second"))


def test_checks_handed_over_while_lost_ones_are_done_again_are_done(pool):
    for id in ("first", "second"):
        pool.submit(id, Settings())
    killed(pool, signal.SIGKILL)
    told: list[str] = []
    while len(told) < 4:
        for done in pool.finished(lambda id, phase: None):
            told.append(done.id)
            if done.id in ("first", "second"):
                pool.submit(f"after {done.id}", Settings())
    assert sorted(told) == ["after first", "after second", "first", "second"]


def test_idle_workers_that_die_are_replaced(pool):
    pool.submit("first", Settings())
    assert set(all_of(pool, 1)) == {"first"}
    killed(pool, signal.SIGKILL)
    pool.submit("second", Settings())
    assert set(all_of(pool, 1)) == {"second"}


def test_a_death_costs_the_other_checks_nothing(pool):
    """Each worker is a process of its own, and says whose fault its end was."""
    pool.submit("first", Settings())
    pool.submit("second", Settings())
    victim = pool._busy[0][0]._process
    os.kill(victim.pid, signal.SIGKILL)
    stays = pool._busy[1][0]
    assert set(all_of(pool, 2)) == {"first", "second"}
    assert stays.calls == 1


DIES = """
import os, signal, time
from theorax.runs.worker_process import WorkerProcess
if __name__ == "__main__":
    process = WorkerProcess()
    process.call("time:sleep", 0)
    while not list(process.messages()):
        time.sleep(0.01)
    process.call("time:sleep", 0.2)
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_whose_parent_is_gone_says_nothing(tmp_path):
    """Its result finds no reader before it sees that its parent is another."""
    script = tmp_path / "dies.py"
    script.write_text(DIES, encoding="utf-8")
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (-signal.SIGKILL, "")
