"""Workers that die while others are being started: every check ends with a word, and no process stays."""

import os
import signal
import time
from multiprocessing import active_children, get_context

import pytest

from theorax.runs.workers import FinishedCheck, WorkerPool
from theorax.verifiers.settings import Settings


def named(id, settings):
    """A check that takes a while and ends the process if it is told to; it hands back no outcome."""
    time.sleep(0.2)
    raise ValueError(id)


CHECK = f"{__name__}:named"


def processes(pool):
    return dict(pool._executor._processes)


def killed(pool, number):
    """End the workers by force, and wait until the pool has seen it."""
    for pid in processes(pool):
        os.kill(pid, number)
    until = time.monotonic() + 30
    while not pool._executor._broken and time.monotonic() < until:
        time.sleep(0.001)
    assert pool._executor._broken


def all_of(pool, count):
    found: dict[str, FinishedCheck] = {}
    while len(found) < count:
        before = len(found)
        found |= {done.id: done for done in pool.finished(lambda id, phase: None)}
        assert len(found) > before, "nobody does what is left"
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["KILL", "TERM"])
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.3])
def test_a_check_handed_over_after_a_death_is_done(number, delay, capfd):
    pool = WorkerPool(CHECK, 2)
    pool.submit("first", Settings())
    time.sleep(delay)
    killed(pool, number)
    pool.submit("second", Settings())  # the pool is broken, and its first check is not yet known to be lost
    found = all_of(pool, 2)
    assert all(f"ValueError: {id}" in found[id].sentence for id in ("first", "second"))
    pool.close(now=True)
    assert not active_children()
    assert "Traceback" not in capfd.readouterr().err


def test_a_check_handed_over_after_a_death_is_done_where_all_others_had_ended(capfd):
    """Then no check is lost that would renew the pool, and nothing is under way that a run could wait for."""
    pool = WorkerPool(CHECK, 2)
    pool.submit("first", Settings())
    while not all(future.done() for future in pool._tasks):
        time.sleep(0.01)
    killed(pool, signal.SIGKILL)
    pool.submit("second", Settings())
    assert set(all_of(pool, 2)) == {"first", "second"}
    pool.close(now=True)
    assert not active_children()
    assert "Traceback" not in capfd.readouterr().err


def test_a_check_handed_over_while_lost_ones_are_told_is_done(capfd):
    pool = WorkerPool(CHECK, 2)
    for id in ("first", "second"):
        pool.submit(id, Settings())
    killed(pool, signal.SIGKILL)
    told: list[str] = []
    while len(told) < 4:
        for done in pool.finished(lambda id, phase: None):
            told.append(done.id)
            if done.id in ("first", "second"):
                pool.submit(f"after {done.id}", Settings())
    pool.close(now=True)
    assert sorted(told) == ["after first", "after second", "first", "second"]
    assert not active_children()
    assert "Traceback" not in capfd.readouterr().err


def test_idle_workers_that_die_are_replaced(capfd):
    pool = WorkerPool(CHECK, 2)
    pool.submit("first", Settings())
    assert set(all_of(pool, 1)) == {"first"}
    killed(pool, signal.SIGKILL)
    pool.submit("second", Settings())
    assert set(all_of(pool, 1)) == {"second"}
    pool.close(now=True)
    assert not active_children()
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_that_is_started_while_another_dies_is_ended_too():
    pool = WorkerPool(CHECK, 2)
    pool.submit("first", Settings())
    executor = pool._executor
    known = processes(pool)
    late = get_context("spawn").Process(target=time.sleep, args=(600,))
    manager = executor._executor_manager_thread
    killed(pool, signal.SIGKILL)
    manager.join()  # it goes through the processes itself, and nothing may be entered meanwhile
    late.start()  # as `submit` does, after the pool has ended those that it knew
    if executor._processes is not None:
        executor._processes[late.pid] = late
    assert known
    pool.close(now=True)
    late.join(10)
    assert not late.is_alive()
