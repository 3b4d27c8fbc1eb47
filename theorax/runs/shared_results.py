"""Results shared between machines: a folder of sealed files, each named by the digest of what determines its check.

The key of a kept result names sources, settings, versions and the kind of machine. It does not name the attempt, whose
levels a check spends: each machine counts for itself. So a shared result has the numbers of its attempts in its key, and is
found only where this machine would count the same ones. It is logged here as if it had been checked here.

A file appears under its name at once, so that nobody reads half of one. What was altered is told and checked again.
Nights are not shared: each is one value of a process that a machine keeps by itself. Nor is what an accelerator drew, since
a key does not say which one.
"""

from __future__ import annotations

import json
import os
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from theorax.errors import option
from theorax.runs import seals
from theorax.runs.manifests import EntrySort, Manifest, key
from theorax.runs.seals import SealedRow
from theorax.runs.store import LAYOUT, StoreError, opened, sealed
from theorax.runs.workers import FinishedCheck
from theorax.verifiers.attempts import CountedAttempt, SpentAttempts
from theorax.verifiers.outcome import TheoremOutcome

_OPTION = option("share")
_CPU = repr("cpu")


@dataclass(frozen=True)
class SharedResult:
    """A result that a machine shared: the outcome with the log of this machine, its date, what it was decided from."""

    outcome: TheoremOutcome
    date: str
    observations: bytes | None
    spent: SpentAttempts

    @property
    def as_check(self) -> FinishedCheck:
        """The end of a check that was not made here: what it found and spent."""
        return FinishedCheck(self.outcome.id, self.outcome, self.observations, spent=self.spent)


@dataclass(frozen=True)
class SharedResults:
    """The results in ``folder``, which several machines read and write."""

    folder: Path

    def get(self, manifest: Manifest, attempts: Sequence[CountedAttempt] = ()) -> SharedResult | None:
        """The result of exactly this check at exactly these attempts, if a machine shared it.

        **Raises:** StoreError if it cannot be read, or is not what was shared.
        """
        if (name := _name(manifest, attempts)) is None:
            return None
        path = self._path(name)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(_unusable(path, error)) from None
        row = _read(text, name)
        if row is None:
            raise StoreError(f"The shared result {path} was altered or damaged. It is not used.")
        try:
            kept = opened(row)
        except ValueError:
            return None  # sealed by another version of theorax, which shares its own
        entries = {one.version.claim: one.entry for one in attempts}
        claims = tuple(
            replace(claim, log=entries.get(claim.id)) if claim.log else claim for claim in kept.outcome.claims
        )
        statuses = {claim.id: claim.status for claim in claims if claim.log is not None}
        spent = {one.version: statuses[one.version.claim] for one in attempts if one.version.claim in statuses}
        return SharedResult(replace(kept.outcome, claims=claims), row.date, row.observations, SpentAttempts(spent, {}))

    def put(
        self,
        manifest: Manifest,
        attempts: Sequence[CountedAttempt],
        outcome: TheoremOutcome,
        date: str,
        observations: bytes | None = None,
    ) -> None:
        """Share a result; one that is there already stays, since it is the same.

        **Raises:** StoreError if it cannot be written.
        """
        name = _name(manifest, attempts)
        if name is None or str(outcome.status) == "ERROR":
            return
        path = self._path(name)
        row = list(sealed(name, manifest, outcome, date, observations))
        row[-1] = b64encode(observations).decode() if observations is not None else None
        try:
            if path.exists() and _read(path.read_text(encoding="utf-8", errors="replace"), name) is not None:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(row, file)
                os.chmod(beside, 0o644)  # others read it
                os.replace(beside, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside)
                raise
        except OSError as error:
            raise StoreError(_unusable(path, error)) from None

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name


def _name(manifest: Manifest, attempts: Sequence[CountedAttempt]) -> str | None:
    """The name of the file; None for what is not shared."""
    setting = EntrySort.SETTING.entry
    if manifest.get(setting("nightly")) == "True" or manifest.get(setting("device"), _CPU) != _CPU:
        return None
    if any(one.entry is None for one in attempts):
        return None  # an attempt that was not logged has no number
    # A version that keeps other fields of an outcome shares under other names.
    numbers = {"layout": str(LAYOUT)}
    numbers |= {f"attempt at {one.version.claim}": str(one.entry.number) for one in attempts if one.entry is not None}
    return key({**manifest, **numbers})


def _read(text: str, name: str) -> SealedRow | None:
    """The row in a file; None if it was altered."""
    try:
        row = json.loads(text)
        if not isinstance(row, list) or not row:
            return None
        row[-1] = b64decode(row[-1], validate=True) if row[-1] is not None else None
        return seals.whole_row(row, name)
    except (ValueError, TypeError, RecursionError):
        return None


def _unusable(path: Path, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"The shared result {path} cannot be used: {why}. Give `{_OPTION}` another folder."
