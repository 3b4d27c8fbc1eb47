"""Worker processes: each computes with one thread, leaves Ctrl-C to its parent, and does not outlive it.

A process that runs a user's code leads a group of processes. Everything that the code starts belongs to the group and
ends with it, however the leader ends.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from theorax.numerics.threads import one_thread

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.context import SpawnContext

__all__ = ["begin_worker", "collect_seldom", "end_group", "end_now", "fresh_processes", "worker_processes"]

_EVERY = 0.5  # seconds between two looks at the parent
_COLLECTED = 10_000, 10, 10  # objects made until the youngest are searched for cycles, and rounds until older ones are
_AGAIN, _PATIENCE = 0.05, 30.0  # seconds until processes are ended once more, and until they are left alone


def worker_processes(count: int, first: Callable[..., None] | None = None, *given: object) -> ProcessPoolExecutor:
    """So many fresh processes, started as tasks come; each calls ``first`` once, with what is ``given``."""
    from concurrent.futures import ProcessPoolExecutor

    begin = partial(_begin, os.getpid(), first, given)
    return ProcessPoolExecutor(count, mp_context=fresh_processes(), initializer=begin)


def fresh_processes() -> SpawnContext:
    """The context of processes that begin anew, and of what they share."""
    from multiprocessing import get_context, resource_tracker

    # What is shared is counted by one more process. It cleans up after a worker that was killed, of which it would warn with a
    # line of its own source: an option on its command line is all that it hears.
    silent = "ignore::UserWarning:multiprocessing.resource_tracker"
    sys.warnoptions.append(silent)
    # It ignores Ctrl-C and SIGTERM, but a closed terminal (SIGHUP) would end it, and a second one, started to clean up, would
    # complain of names that it never met. What is ignored is inherited.
    hangup = getattr(signal, "SIGHUP", None)
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(hangup, signal.SIG_IGN) if hangup is not None and is_main else None
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(silent)
        if hangup is not None and before is not None:
            signal.signal(hangup, before)
    return get_context("spawn")


def collect_seldom() -> None:
    """Search for cycles of garbage more seldom than Python does by itself, in a process that checks theorems.

    Programs and expressions are millions of objects that stay. Searching them again and again took 6 % of the time; hardly ever
    would let a process that checks a hundred theorems grow by a third.
    """
    gc.set_threshold(*_COLLECTED)


def end_now(executor: ProcessPoolExecutor) -> None:
    """End the processes, whatever they are at, and wait until they are gone: what they share goes with the executor.

    One that is only starting would look for it in vain; one that was started while another died is known to nobody else.
    """
    processes, manager = executor._processes, cast("threading.Thread | None", executor._executor_manager_thread)
    executor.shutdown(wait=False, cancel_futures=True)
    until = time.monotonic() + _PATIENCE
    while True:
        for process in list((processes or {}).values()):
            process.kill()
        if manager is None or not manager.is_alive() or time.monotonic() > until:
            return
        manager.join(_AGAIN)


def begin_worker(parent: int, *, leads: bool = False) -> None:
    """Make this process a worker of ``parent``; one that ``leads`` has a group of its own."""
    # Ctrl-C reaches the whole group of processes; only the one that reports may answer it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if leads and hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    one_thread()
    collect_seldom()
    threading.Thread(target=_end_with, args=(parent, leads), daemon=True).start()


def end_group(leader: int) -> None:
    """End a worker that leads a group, with everything that was started in it."""
    if hasattr(os, "killpg"):
        # Another user's process cannot be ended, and a group without members is gone.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def _begin(parent: int, first: Callable[..., None] | None, given: tuple[object, ...]) -> None:
    begin_worker(parent)
    if first is not None:
        first(*given)


def _end_with(parent: int, leads: bool) -> None:
    """End this process once its parent is another: a parent that ended by force closes nothing."""
    while os.getppid() == parent:
        time.sleep(_EVERY)
    if leads:
        end_group(os.getpid())
    os._exit(1)
