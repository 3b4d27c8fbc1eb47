"""Checks on a Dask cluster, with the bits and the words of the local pool.

A task is one stage of a check. Where it arrives, a process of its own performs it, as a worker of the local pool does: one
thread, and what dies in it is tried once more, alone. A machine that dies moves its task to another one, once. Attempts are
counted by the process that coordinates; nothing is logged or kept where a check runs.

Bits are promised for one kind of machine and one set of versions. A worker of another kind, or one that reads other
sources, is refused before it draws anything.
"""

from __future__ import annotations

import logging
import os
import platform
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorax.errors import UsageError, option
from theorax.runs.known_files import KnownFiles
from theorax.runs.manifests import Manifest, manifest_differences
from theorax.runs.sources import LIBRARIES, Sources, version
from theorax.runs.workers import FinishedCheck, Heard, WorkerPool, died
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["ClusterWorkers"]

PATIENCE = 5.0  # seconds to wait for a scheduler, and again for its first worker
STARTS = 2  # of one check on machines that die
_EVERY = 0.1  # seconds between two looks at the tasks
_OPTION = option("scheduler")


class ClusterWorkers:
    """Does checks on the workers of a Dask cluster, one check on each at a time.

    **Raises:** UsageError if the scheduler cannot be reached, has no workers, or one that cannot give the same bits.
    """

    def __init__(self, address: str, check: str, manifests: Mapping[str, Manifest]) -> None:
        self._address, self._check, self._manifests = address, check, manifests
        self._run = uuid.uuid4().hex
        self._tasks: dict[Future, str] = {}
        self._client = _client(address)
        try:
            self.capacity = _fit(self._client, address)
        except BaseException:
            self._client.close()
            raise

    def submit(self, id: str, settings: Settings) -> None:
        """Hand the check to the cluster."""
        state, roots = _absolute(settings.state), tuple(map(_absolute, settings.roots))
        own = replace(settings, jobs=1, state=state, roots=roots)
        key, manifest = f"theorax-{id}-{uuid.uuid4().hex}", self._manifests[id]
        task = self._client.submit(_performed_there, self._run, self._check, id, own, manifest, pure=False, key=key)
        self._tasks[task] = id

    def finished(self, heard: Heard) -> Iterator[FinishedCheck]:
        """Checks that ended since the last call; phases on other machines are not told.

        **Raises:** UsageError if the scheduler is gone, or a worker reads other sources.
        """
        if not self._tasks:
            return
        while not (done := [future for future in self._tasks if future.done()]):
            self._refuse_gone()
            time.sleep(_EVERY)
        for future in done:
            yield self._result(future, self._tasks.pop(future))

    def _result(self, future: Future, id: str) -> FinishedCheck:
        from distributed import KilledWorker

        try:
            found: FinishedCheck = future.result()
        except KilledWorker:
            return FinishedCheck(id, sentence=died())
        except (CancelledError, Exception) as error:
            self._refuse_gone()
            return FinishedCheck(id, sentence=f"The cluster could not check it ({type(error).__name__}: {error}).")
        return found

    def _refuse_gone(self) -> None:
        if self._client.status != "running":
            raise UsageError(f"The scheduler at {self._address} is gone. Finished checks are kept. Run it again.")

    def close(self) -> None:
        """End the processes of this run on the cluster, whatever they are at, and leave it."""
        try:
            if self._client.status == "running":
                self._client.cancel(list(self._tasks), force=True)
                self._client.run(_end_processes, self._run, on_error="ignore")
        except Exception:  # a cluster that went away: its processes end with their tasks
            pass
        finally:
            self._client.close()


def _client(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(
            f"`{_OPTION} {address}` needs Dask, which is not installed. Install it: `pip install 'theorax[dask]'`."
        ) from None
    _silence()
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        told = str(error).strip().split("\n")[0]
        raise UsageError(
            f"No scheduler answers at `{address}` ({told}). Start one with `dask scheduler`, and give its address, such as "
            f"`{_OPTION} tcp://127.0.0.1:8786`."
        ) from None


def _silence() -> None:
    """Keep the tracebacks of connections that broke out of the standard error: what became of a check is a sentence."""
    for name in ("asyncio", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).disabled = True


def _fit(client: Client, address: str) -> int:
    """The number of workers, all of which give the bits of this machine.

    **Raises:** UsageError if there are none, or one would give others.
    """
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise UsageError(
            f"The scheduler at {address} has no worker. Start some with `dask worker {address} --nthreads 1`."
        ) from None
    try:
        found: Any = client.run(about, on_error="return")
    except Exception as error:
        raise UsageError(f"The workers at {address} cannot run theorax ({error}). Install it there.") from None
    for worker, there in dict(found).items():
        if isinstance(there, BaseException):
            raise UsageError(f"The worker {worker} cannot run theorax ({there}). Install it there.")
        refuse_other(worker, there)
    return len(found)


def about() -> dict[str, str]:
    """Everything about this process that bits depend on beside sources: versions, and the kind of machine."""
    return {
        "theorax": version("theorax"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in LIBRARIES},
    }


def refuse_other(worker: str, there: Mapping[str, str]) -> None:
    """Refuse a worker that would give other bits than this process.

    **Raises:** UsageError with the first difference.
    """
    for name, here in about().items():
        if there.get(name) != here:
            raise UsageError(
                f"The worker {worker} has {name} {there.get(name)}, and this process {here}: its numbers would have other "
                "bits. Give it the same versions on the same kind of machine, or take it from the cluster."
            )


def _absolute(path: str) -> str:
    return os.path.abspath(path)


class _Cancelled(Exception):
    """Nobody waits for the task any more."""


_KNOWN = KnownFiles()  # digests of the sources that a process of the cluster has read, for all its tasks
_POOLS: dict[str, WorkerPool] = {}  # of a process of the cluster: by run, its one process that checks


def _performed_there(run: str, check: str, id: str, settings: Settings, manifest: Manifest) -> FinishedCheck:
    """Do one stage of a check on a worker of the cluster, in a process of its own."""
    from distributed import get_client, get_worker

    worker, client = get_worker(), get_client()
    key = worker.get_current_task()
    # Stages that were begun and did not end: this one, and those whose machine died.
    place = [f"theorax-{run}-{id}"]
    begun: Any = client.get_metadata(place, 0)
    unended = begun + 1
    client.set_metadata(place, unended)
    if unended > STARTS:
        return FinishedCheck(id, sentence=died())
    path = Catalogue.of(settings.roots).path(id)
    try:
        found = manifest_differences(manifest, Sources(known=_KNOWN).manifest(path, settings))
        other = str(found[0]) if found else ""
    except OSError as error:
        other = f"{error.filename}: {error.strerror}"
    if other:
        told = (
            f"The worker {worker.address} reads other sources of `{id}` than this process ({other}). Give it the same "
            "files, or take it from the cluster."
        )
        return FinishedCheck(id, sentence=told, usage=True)
    if not Path(settings.state).is_dir():
        settings = replace(settings, state=worker.local_directory)  # where compiled programs are kept

    def awaited() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise _Cancelled

    done = _in_pool(run, check, id, settings, awaited)
    client.set_metadata(place, unended - 1)
    return done


def _in_pool(run: str, check: str, id: str, settings: Settings, awaited: Callable[[], None]) -> FinishedCheck:
    for other in set(_POOLS) - {run}:
        _end_processes(other)  # of a run whose process was killed
    if run not in _POOLS:
        _may_have_processes()
        _POOLS[run] = WorkerPool(check, 1)
    pool = _POOLS[run]
    pool.submit(id, settings)
    try:
        (done,) = pool.finished(_unheard, awaited)
    except _Cancelled:
        _end_processes(run)
        return FinishedCheck(id, sentence="Nobody waits for it.")
    return done


def _unheard(id: str, phase: str) -> None:
    """Tell no phase."""


def _may_have_processes() -> None:
    """Let this process start others, though a nanny of Dask started it as a daemon.

    Python forbids it to daemons because what they start could outlive them; processes of theorax end with their parent.
    """
    from multiprocessing import current_process

    config: dict[str, Any] = current_process()._config  # type: ignore[attr-defined]
    config["daemon"] = False


def _end_processes(run: str) -> None:
    """End the process of this run on this worker, whatever it is at."""
    if (pool := _POOLS.pop(run, None)) is not None:
        pool.close()
