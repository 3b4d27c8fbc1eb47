"""Settings of a run: everything that a result depends on besides the sources, and how to run it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from theorax.verifiers.attempts import CountedAttempt

EFFORTS = ("quick", "standard", "thorough")
DETERMINING = ("effort", "seed", "device", "level", "at", "sizes", "model", "batch")
"""The settings that determine a result, in the order of ``Settings.key``."""


@dataclass(frozen=True)
class Settings:
    """The choices that determine a result (they enter its key) and, last, those that do not."""

    effort: str = "standard"
    seed: int = 0
    device: str = "cpu"
    level: float = 0.025
    at: tuple[tuple[str, str], ...] = ()  # --at gamma=1/4,l=2 as typed: letter, exact value
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # --sizes T=100..400: letter, sizes
    model: str | None = None  # --model file.py:factory
    batch: int | None = None  # draws vectorised together; None: one on a CPU, as many as fit on an accelerator
    # How, not what: these do not enter a result's key.
    jobs: int = 1
    fresh: bool = False
    state: str = ".theorax"  # folder of the store and of the compilation cache
    roots: tuple[str, ...] = ()  # folders of papers, where not the package's own library
    anyway: bool = False  # run claims whose designs hardly decide
    scheduler: str = ""  # the address of a Dask cluster that checks in the place of this machine
    attempt: int = 1  # at least this number, where this machine's log of attempts may not know the earlier ones
    timeout: float | None = None  # seconds that a check may take, from the import of its file on
    attempts: tuple[CountedAttempt, ...] | None = None  # of one theorem's check; None until they are counted

    @property
    def key(self) -> tuple[object, ...]:
        """The choices that determine a result."""
        return tuple(self.determining.values())

    @property
    def determining(self) -> dict[str, object]:
        """The choices that determine a result, by name; ``anyway`` is one only where it is made."""
        found = {name: getattr(self, name) for name in DETERMINING}
        return {**found, "anyway": True} if self.anyway else found

    def replay(self, selector: Sequence[str]) -> str:
        """The command that checks a theorem again as these settings do, by the words that select it."""
        return f"{shlex.join(['verify', 'theorem', *selector])} {self.options}"

    @property
    def options(self) -> str:
        """The options of the command that checks again as these settings do."""
        return shlex.join(["--fresh", *self.words])

    @property
    def words(self) -> list[str]:
        """The options that state these settings."""
        words = ["--effort", self.effort]
        if self.seed:
            words += ["--seed", str(self.seed)]
        if self.device != "cpu":
            words += ["--device", self.device]
        if self.batch is not None:
            words += ["--batch", str(self.batch)]
        if self.level != Settings().level:
            words += ["--level", str(self.level)]
        if self.at:
            words += ["--at", ",".join(f"{letter}={value}" for letter, value in self.at)]
        for letter, sizes in self.sizes:
            words += ["--sizes", f"{letter}={','.join(map(str, sizes))}"]
        if self.anyway:
            words += ["--anyway"]
        if self.model is not None:
            words += ["--model", self.model]
        return words
