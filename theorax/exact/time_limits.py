"""A limit on the processor time of one call into a library that has none of its own."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["OverTime", "limited"]

_LOOK = 0.05  # seconds between two looks at the clock of the thread


class OverTime(BaseException):
    """The call took more processor time than it may; no ``except Exception`` inside of it stops this."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise :class:`OverTime` in this thread once the body has used so much processor time of its own.

    A second thread watches the clock of this one and raises the exception between two steps of Python. So it works in
    any thread and any process, changes no signal, and a busy machine shortens nothing. A single call into compiled code
    is not interrupted: the exception is raised when it returns.

    **Raises:** OverTime.
    """
    ended, lock, fired = threading.Event(), threading.Lock(), []
    thread, clock = threading.get_ident(), _clock()
    until = clock() + seconds

    def watch() -> None:
        while not ended.wait(_LOOK):
            if clock() < until:
                continue
            with lock:
                if not ended.is_set():
                    fired.append(True)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OverTime))
            return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            ended.set()
        if fired:  # it is on its way, if it has not arrived: wait for it here, not somewhere later
            _awaited()


def _awaited() -> None:
    try:
        for _ in range(100):
            time.sleep(0)
    except OverTime:
        raise OverTime from None


def _clock() -> Callable[[], float]:
    """The processor time of this thread, to be read in another; the time of day where the system has no such clock."""
    if hasattr(time, "pthread_getcpuclockid"):
        own = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: time.clock_gettime(own)
    return time.monotonic
