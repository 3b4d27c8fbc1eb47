"""Draws of a check so far: each line once, when a claim first needs it; more of it on demand; kept and recalled.

Draw i of a line is a function of i, so that asking for more continues the same stream bit by bit, and a decision can be
made again from the kept tables without drawing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from theorax.errors import ObservationError
from theorax.language import Experiment, Theorem
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.crew import STARTUP, Crew, DrawnPortion, Place, Portion, Tables
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.kept_draws import KeptColumn, packed, unpacked
from theorax.verifiers.cases.measure import measure, observed
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.phases import phase
from theorax.verifiers.settings import Settings

__all__ = ["Draws", "Table", "whole_line"]

Table = Mapping[str, tuple[SweepLine, ...]]
Model = Callable[[int, int], tuple[Any, Mapping[str, Any]]]


class Draws:
    """The observations of one theorem; ``kept``, what an earlier check stored, stands in for draws where it has them.

    **Raises:** ObservationError if ``kept`` is no such store of observations.
    """

    def __init__(
        self,
        theorem_id: str,
        theorem: Theorem,
        table: Table,
        settings: Settings,
        kept: bytes | None = None,
        crew: Crew | None = None,
    ) -> None:
        self._crew, self._ahead = crew, list[SweepLine]()
        self._theorem_id, self._theorem, self._table, self._settings = theorem_id, theorem, table, settings
        self._samplers: dict[str, Sampler] = {}
        self._drawn: dict[Place, Observed] = {}
        self._portions: dict[Portion, DrawnPortion] = {}  # drawn here while others drew what was asked for
        self._more: dict[Place, tuple[Tables, Tables]] = {}  # draws beyond those of the line itself
        self._kept = _unpacked(kept) if kept is not None else {}
        self.count = 0
        self._expected = (0, 0)  # lines to draw and programs to compile, as far as the plan knows

    def on(self, line: SweepLine) -> Observed:
        """Observations on the line; none for a claim over a box."""
        if line is BOX:
            return Observed(line, ())
        place = _place(line)
        if place not in self._drawn:
            whole = whole_line(self._table, line)
            begun = self._spent
            self._drawn[place] = self._measured(whole, 0)
            self._share(self._spent - begun)
        return self._drawn[place]

    def expect(self, lines: Sequence[SweepLine], programs: int) -> None:
        """Say what the plan wants drawn: others may draw it meanwhile, and progress is told as a share of it."""
        self._expected = len(lines), programs
        self._ahead = [] if self._kept else [line for line in lines if not self._is_instances(line)]

    def alone(self, portion: Portion) -> DrawnPortion:
        """Draw a portion in this process."""
        begun = time.process_time()
        (line,) = (part for part in self._table[portion.place[0]] if _place(part) == portion.place)
        seen = self._measured_here(replace(line, draws=portion.count), portion.first)
        return DrawnPortion(seen.tables, seen.errors, time.process_time() - begun)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds that other processes spent on draws."""
        return 0.0 if self._crew is None else self._crew.cpu_seconds

    def portion(self, line: SweepLine, first: int, count: int) -> Observed:
        """Draws ``first`` .. ``first + count - 1`` of the line at each size; those not yet drawn are."""
        place, whole = _place(line), whole_line(self._table, line)
        tables, errors = self._all(line)
        missing = first + count - _length(tables)
        if missing > 0:
            more = self._measured(replace(whole, draws=missing), _length(tables))
            tables, errors = _joined(tables, more.tables), _joined(errors, more.errors)
            own = whole.draws
            self._more[place] = (_cut(tables, own, None), _cut(errors, own, None))
        seen = self.on(line)
        return replace(
            seen,
            line=replace(whole, draws=count),
            model=None if seen.model is None else _later(seen.model, first),
            tables=_cut(tables, first, first + count),
            errors=_cut(errors, first, first + count),
        )

    def unpadded(self, line: SweepLine, size: int, count: int) -> Observed:
        """So many draws of their own at one true size, by a program that pads nothing."""
        experiment = self._theorem.experiments[line.experiment]
        true = replace(whole_line(self._table, line), sizes=(size,), draws=count, subject=line.subject.unpadded)
        name, seed = f"unpadded {self._theorem_id}", self._settings.seed
        return measure(name, experiment, true, [true], seed, self._sampler(experiment))

    @property
    def samplers(self) -> list[Sampler]:
        """The samplers in use, one per device."""
        return list(self._samplers.values())

    @property
    def all(self) -> list[Observed]:
        """Everything drawn so far, each line at its own number of draws."""
        return list(self._drawn.values())

    def packed(self) -> bytes | None:
        """The tables as a compressed NPZ file; None if there are none, or more than is worth keeping."""
        return packed(self._columns())

    def _columns(self) -> Iterator[KeptColumn]:
        for place, seen in self._drawn.items():
            tables, errors = self._all(seen.line)
            for kind, columns in (("table", tables), ("error", errors)):
                for at, table in enumerate(columns):
                    size = float(seen.line.sizes[at]) if at < len(seen.line.sizes) else None
                    for letter, column in table.items():
                        yield KeptColumn(*place, at, kind, letter, column, size)

    def _all(self, line: SweepLine) -> tuple[Tables, Tables]:
        own, (tables, errors) = self.on(line), self._more.get(_place(line), ((), ()))
        return _joined(own.tables, tables), _joined(own.errors, errors)

    def _measured(self, line: SweepLine, first: int) -> Observed:
        place, experiment = _place(line), self._theorem.experiments[line.experiment]
        sampler, every = self._sampler(experiment), self._table[line.experiment]
        if place in self._kept:
            tables, errors = (_cut(columns, first, first + line.draws) for columns in self._kept[place])
            if _length(tables) == line.draws and len(tables) == len(line.sizes):
                return observed(self._theorem_id, experiment, line, every, self._settings.seed, sampler, tables, errors)
        self.count += line.draws * len(line.sizes)
        with phase("drawing", 0 if first else len(self._drawn) + 1, self._expected[0]):
            if (shared := self._shared(line, first)) is not None:
                return observed(self._theorem_id, experiment, line, every, self._settings.seed, sampler, *shared)
            return self._measured_here(line, first)

    def _shared(self, line: SweepLine, first: int) -> tuple[Tables, Tables] | None:
        """Tables of a line that others draw too; None where they do not, or where drawing failed."""
        crew = self._crew
        if crew is None or not crew.is_running or self._is_instances(line):
            return None
        parts = _portions(line, self._processes, first)
        crew.hand_over(part for part in parts[1:] if part not in self._portions)
        found: tuple[Tables, Tables] = ((), ())
        try:
            for part in parts:
                drawn = self._awaited(part, crew)
                found = _joined(found[0], drawn.tables), _joined(found[1], drawn.errors)
        except ObservationError:  # of a portion; the whole line says it as it is said without others
            return None
        return found

    @property
    def _processes(self) -> int:
        return 1 if self._crew is None else self._crew.count + 1

    def _measured_here(self, line: SweepLine, first: int) -> Observed:
        experiment = self._theorem.experiments[line.experiment]
        sampler, every = self._sampler(experiment), self._table[line.experiment]
        return measure(self._theorem_id, experiment, line, every, self._settings.seed, sampler, first)

    def _awaited(self, portion: Portion, crew: Crew) -> DrawnPortion:
        """A portion drawn by others, or here where nobody has begun it; while others draw it, the next ones are drawn here."""
        if portion in self._portions:
            return self._portions.pop(portion)
        crew.take_back(portion)
        while not crew.is_done(portion) and (other := crew.take_back()) is not None:
            self._portions[other] = self.alone(other)
        return crew.result(portion) or self.alone(portion)

    @property
    def _spent(self) -> float:
        """Seconds that draws took in this process, without compiling."""
        return sum(sampler.meter.run_seconds for sampler in self._samplers.values())

    def _share(self, seconds: float) -> None:
        """Hand what is still to be drawn over to others, if the line just drawn says that it is worth their start."""
        left = [line for line in self._ahead if _place(line) not in self._drawn]
        if self._crew is not None and left and seconds * len(left) > 2 * STARTUP:
            self._crew.hand_over(part for line in left for part in _portions(line, self._processes))
            self._ahead = []

    def _is_instances(self, line: SweepLine) -> bool:
        return any(letter.array for letter in self._theorem.experiments[line.experiment].measured)

    def _sampler(self, experiment: Experiment) -> Sampler:
        # Some operations exist on the CPU alone; the rest runs where the user asked for it.
        device = "cpu" if experiment.platform == "cpu" else self._settings.device
        return self._samplers.setdefault(device, Sampler(device=device, compiling=self._compiling))

    def _compiling(self, number: int) -> AbstractContextManager[None]:
        return phase("compiling", number, self._expected[1])


def whole_line(table: Table, line: SweepLine) -> SweepLine:
    """The line of the table at all its sizes: a case may hold one of them alone."""
    (whole,) = (mate for mate in table[line.experiment] if _place(mate) == _place(line))
    return whole


def _portions(line: SweepLine, count: int, first: int = 0) -> list[Portion]:
    """The draws of a line from ``first`` on, in so many portions of nearly one length, none empty."""
    ends = [first + line.draws * part // count for part in range(count + 1)]
    return [Portion(_place(line), low, high - low) for low, high in pairwise(ends) if high > low]


def _later(model: Model, first: int) -> Model:
    """The models of a portion, counted from its first draw."""
    return lambda size, draw: model(size, first + draw)


def _place(line: SweepLine) -> Place:
    return line.experiment, line.name, tuple(sorted(line.label.items()))


def _length(tables: Tables) -> int:
    return min((len(column) for table in tables for column in table.values()), default=0)


def _cut(tables: Tables, first: int, end: int | None) -> Tables:
    return tuple({letter: column[first:end] for letter, column in table.items()} for table in tables)


def _joined(one: Tables, other: Tables) -> Tables:
    if not one or not other:
        return one or other
    return tuple(
        {letter: np.concatenate([column, more[letter]]) for letter, column in table.items()}
        for table, more in zip(one, other, strict=True)
    )


def _unpacked(kept: bytes) -> dict[Place, tuple[Tables, Tables]]:
    found: dict[Place, dict[str, dict[int, dict[str, np.ndarray]]]] = {}
    for column in unpacked(kept):
        kinds = found.setdefault((column.experiment, column.line, column.at), {"table": {}, "error": {}})
        kinds[column.kind].setdefault(column.place, {})[column.letter] = column.values
    return {place: (_in_order(kinds["table"]), _in_order(kinds["error"])) for place, kinds in found.items()}


def _in_order(columns: Mapping[int, Mapping[str, np.ndarray]]) -> Tables:
    return tuple(columns[at] for at in sorted(columns))
