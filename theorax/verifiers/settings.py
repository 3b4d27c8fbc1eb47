"""Settings of a run: everything that a result depends on besides the sources, and how to run it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from theorax.decide.kinds import KindWords
from theorax.decide.verdict import VarianceGain
from theorax.verifiers.attempts import CountedAttempt

Place: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]
"""A line of an experiment: the names of both, and its case as letters and values."""

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
    scheduler: str = ""  # the address of a Dask cluster that checks in the place of this machine
    attempt: int = 1  # at least this number, where this machine's log of attempts may not know the earlier ones
    timeout: float | None = None  # seconds that a check may take, from the import of its file on
    attempts: tuple[CountedAttempt, ...] | None = None  # of one theorem's check; None until they are counted

    @property
    def key(self) -> tuple[object, ...]:
        """The choices that determine a result."""
        return tuple(getattr(self, name) for name in DETERMINING)

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
        if self.model is not None:
            words += ["--model", self.model]
        return words


@dataclass(frozen=True)
class PlannedCheck:
    """One claim on one line of its experiment, before any data: what `verify plan` shows."""

    theorem: str
    claim: str
    words: KindWords
    subject: str
    at: dict[str, str]
    line: Place | None  # what is drawn for it, along with claims of the same line; None without a case
    sizes: tuple[float, ...]
    draws: tuple[int, ...]  # at most, at each size
    expected_draws: tuple[int, ...]  # if the claim holds exactly and is as noisy as planned; its variants may need more
    margin: float | None
    bias: float | None
    half_width: float | None
    noticeable: float | None
    attempt: int  # of fresh seeds on this claim and design, by the log of this state
    level: float  # what this attempt may spend
    p_support: float | None  # what p of support to expect if the claim is exactly true and as noisy as planned
    decides: bool
    note: str  # why it cannot decide and the cheapest design that would, or empty
    runs: bool = True  # False where it is not drawn, since it cannot decide
    noise: tuple[float, ...] = ()  # assumed standard deviations of one draw, along the sizes
    spread: str = ""  # the claim's `spread`, from which the noise follows
    is_noise_stated: bool = False  # False where the spread is the default
    gain: VarianceGain | None = None  # planned, of variates of known mean


@dataclass(frozen=True)
class TheoremPlan:
    """Measurements of a check before any data, and the number of programs that it compiles for them."""

    checks: tuple[PlannedCheck, ...]
    programs: int = 0
    programs_if_padded: int = 0  # with padded=True in every experiment


@dataclass(frozen=True)
class PilotCase:
    """Noise of one case in a few draws that no decision uses, beside the planned one."""

    claim: str
    subject: str
    at: dict[str, str]
    sizes: tuple[float, ...]
    planned: tuple[float, ...]
    seen: tuple[float, ...]


@dataclass(frozen=True)
class Pilot:
    """A few draws per size for the planner: the noise seen, the `spread` of each claim by it, and the plan with it."""

    draws: int
    cases: tuple[PilotCase, ...]
    spreads: dict[str, str]
    plan: TheoremPlan
