"""Draws of a check so far: each line once, when a claim first needs it; more of it on demand; kept and recalled.

Draw i of a line is a function of i, so that asking for more continues the same stream bit by bit, and a decision can be
made again from the kept tables without drawing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from statistics import mean
from typing import Any

from theorax.decide.stopping import DEFAULT_SCHEDULE
from theorax.errors import ObservationError, option
from theorax.language import Experiment, Theorem
from theorax.numerics.placements import AsManyAsFit
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.crew import Crew, DrawnPortion, Portion, Tables
from theorax.verifiers.cases.drawn_tables import columns_of, cut, joined, length, tables_of
from theorax.verifiers.cases.evaluation import Evaluations, Observed
from theorax.verifiers.cases.kept_draws import KeptColumn, packed, unpacked
from theorax.verifiers.cases.measure import (
    Builder,
    BuiltInstances,
    measure,
    noise_program_of,
    observed,
    steps_of,
    structures,
)
from theorax.verifiers.cases.noisy_draws import DrawOfNoise
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.outcome import VectorisedPrograms
from theorax.verifiers.phases import phase
from theorax.verifiers.planned_checks import Place
from theorax.verifiers.settings import Settings

_FRESH = option("fresh")

__all__ = ["Draws", "Table", "whole_line"]

Table = Mapping[str, tuple[SweepLine, ...]]
Model = Callable[[int, int], tuple[Any, Mapping[str, Any]]]

IMPORTS = time.process_time()
"""CPU seconds that this process took to import what draws; another one takes as long, on the machine as it is."""


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
        self._samplers: dict[tuple[str, int | AsManyAsFit, bool], Sampler] = {}
        self._drawn: dict[Place, tuple[Tables, Tables]] = {}  # all draws so far, whoever asked for them
        self._seen: dict[Place, dict[int, Observed]] = {}  # by the number of draws that was asked for
        self._builders: dict[Place, dict[int, Builder]] = {}  # of models that balls ask for
        self._built: dict[Place, BuiltInstances] = {}
        self._programs: dict[str, Evaluations] = {}  # by experiment: those of its `observe`, whatever the line
        self._portions: dict[Portion, DrawnPortion] = {}  # drawn here while others drew what was asked for
        self._own_sizes: dict[Place, tuple[int, ...]] = {}  # of the engine's own lines
        self._before: list[float] = []  # seconds to trace, load or compile the program of each line
        self._kept = tables_of(unpacked(kept)) if kept is not None else {}
        self._witnesses: list[KeptColumn] = []
        self.count = 0
        self._expected = (0, 0)  # lines to draw and programs to compile, as far as the plan knows

    def on(self, line: SweepLine) -> Observed:
        """The first draws on the line, as many as it says; none for a claim over a box."""
        if line is BOX:
            return Observed(line, ())
        seen = self._seen.setdefault(line.place, {})
        if line.draws not in seen:
            about_line = next((other.about_line for other in seen.values()), Evaluations())
            programs = self._programs.setdefault(line.experiment, Evaluations())
            seen[line.draws] = replace(
                self.portion(line, 0, line.draws),
                about_line=about_line,
                programs=programs,
                more=lambda draws: self.on(line.with_draws(draws)),
            )
        return seen[line.draws]

    def expect(self, lines: Sequence[SweepLine], programs: int) -> None:
        """Say what the plan wants drawn: others may draw it meanwhile, and progress is told as a share of it."""
        self._expected = len(lines), programs
        self._ahead = [] if self._kept else [line for line in lines if not self.is_instances(line)]

    def alone(self, portion: Portion) -> DrawnPortion:
        """Draw a portion in this process."""
        begun = time.process_time()
        (line,) = (part for part in self._table[portion.place[0]] if part.place == portion.place)
        seen = self._measured_here(replace(line, draws=portion.count), portion.first)
        return DrawnPortion(seen.tables, seen.errors, time.process_time() - begun)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds that other processes spent on draws."""
        return 0.0 if self._crew is None else self._crew.cpu_seconds

    def portion(self, line: SweepLine, first: int, count: int) -> Observed:
        """Draws ``first`` .. ``first + count - 1`` of the line at each size; those not yet drawn are."""
        place, asked = line.place, self._whole(line).with_draws(count)
        experiment = self._theorem.experiments[line.experiment]
        sampler, every, seed = self._sampler(experiment), self._mates(line), self._settings.seed
        name = self._named(line)
        if self.is_instances(line):
            self.count += count * len(asked.sizes)
            built = self._built.setdefault(place, BuiltInstances())
            with self._drawing(place):
                return measure(name, experiment, asked, every, seed, sampler, built=built)
        drawn, errors = self._drawn.get(place, ((), ()))
        missing = first + count - length(drawn)
        if missing > 0:
            begun, cpu = self._spent, time.process_time()
            more = self._measured(asked.with_draws(missing), length(drawn))
            drawn, errors = self._drawn[place] = joined(drawn, more[0]), joined(errors, more[1])
            spent = self._spent - begun
            if not line.ours:
                self._before.append(max(0.0, time.process_time() - cpu - spent))
                self._share(spent / _entries(asked.with_draws(missing)))
        tables, bounds = (cut(columns, first, first + count) for columns in (drawn, errors))
        builders = self._builders.setdefault(place, {})
        seen = observed(name, experiment, asked, every, seed, sampler, (tables, bounds), builders)
        return seen if seen.model is None else replace(seen, model=_later(seen.model, first))

    def steps_to_compile(self, line: SweepLine) -> int:
        """Steps of the programs that this line of the engine's needs and nothing has compiled, at least; 0 if it needs none.

        Counted on the program of the author's line at its largest size, which was traced to be drawn.
        """
        experiment, mates = self._theorem.experiments[line.experiment], self._mates(line)
        theirs = self._table[line.experiment]
        new = structures(experiment, line, mates).difference(*(structures(experiment, mate, theirs) for mate in theirs))
        if not new:
            return 0
        first = next(mate for mate in theirs if mate.name == line.name)
        return len(new) * steps_of(experiment, first, theirs, self._sampler(experiment))

    def unpadded(self, line: SweepLine, size: int, count: int) -> Observed:
        """So many draws of their own at one true size, by a program that pads nothing."""
        experiment = self._theorem.experiments[line.experiment]
        true = replace(self._whole(line), sizes=(size,), draws=count, subject=line.subject.unpadded)
        name, seed = f"unpadded {self._theorem_id}", self._settings.seed
        return measure(name, experiment, true, [true], seed, self._sampler(experiment, few=True))

    def noise(self, line: SweepLine, size: int) -> DrawOfNoise:
        """The program of one draw on the line at this size, its noise an input.

        **Raises:** whatever a build raises that cannot be traced.
        """
        experiment, whole = self._theorem.experiments[line.experiment], whole_line(self._table, line)
        sampler, every = self._sampler(experiment), self._table[line.experiment]
        return noise_program_of(self._theorem_id, experiment, whole, every, self._settings.seed, sampler, size)

    @property
    def samplers(self) -> list[Sampler]:
        """The samplers in use: for each device, the draws that are vectorised together, and programs drawn often or seldom."""
        return list(self._samplers.values())

    @property
    def vectorised(self) -> tuple[VectorisedPrograms, ...]:
        """Programs by device and draws at a time; none where all are drawn on the CPU, one draw at a time."""
        if self._settings.device == "cpu" and self._settings.batch is None:
            return ()
        counted = Counter(placement for sampler in self.samplers for placement in sampler.placements)
        return tuple(
            VectorisedPrograms(each.device, each.batch, programs, each.host_steps) for each, programs in counted.items()
        )

    @property
    def all(self) -> list[Observed]:
        """Everything that was asked for so far, each of the author's lines at its largest number of draws."""
        return [found for seen in self._seen.values() if seen and not (found := seen[max(seen)]).line.ours]

    def packed(self) -> bytes | None:
        """The tables as a compressed NPZ file; None if there are none, or more than is worth keeping."""
        sizes = {line.place: line.sizes for lines in self._table.values() for line in lines}
        return packed([*columns_of(self._drawn, sizes | self._own_sizes), *self._witnesses])

    def keep(self, columns: Iterable[KeptColumn]) -> None:
        """Keep further columns with the draws: those of a witness."""
        self._witnesses += columns

    def _measured(self, line: SweepLine, first: int) -> tuple[Tables, Tables]:
        """Tables of the line from draw ``first`` on: kept ones, or new draws."""
        place = line.place
        if place in self._kept:
            tables, errors = (cut(columns, first, first + line.draws) for columns in self._kept[place])
            if length(tables) == line.draws and len(tables) == len(line.sizes):
                return tables, errors
        self.count += line.draws * len(line.sizes)
        with self._drawing(place):
            if (shared := self._shared(line, first)) is not None:
                return shared
            seen = self._measured_here(line, first)
            return seen.tables, seen.errors

    def _drawing(self, place: Place) -> AbstractContextManager[None]:
        return phase("drawing", 0 if place in self._drawn else len(self._drawn) + 1, self._expected[0])

    def _shared(self, line: SweepLine, first: int) -> tuple[Tables, Tables] | None:
        """Tables of a line that others draw too; None where they do not, or where drawing failed."""
        crew = self._crew
        if crew is None or not crew.is_running or line.ours:
            return None
        parts = self._parts(line, first)
        crew.hand_over(part for part in parts[1:] if part not in self._portions)
        found: tuple[Tables, Tables] = ((), ())
        try:
            for part in parts:
                drawn = self._awaited(part, crew)
                found = joined(found[0], drawn.tables), joined(found[1], drawn.errors)
        except ObservationError:  # of a portion; the whole line says it as it is said without others
            return None
        return found

    @property
    def _processes(self) -> int:
        return 1 if self._crew is None else self._crew.count + 1

    def _measured_here(self, line: SweepLine, first: int) -> Observed:
        experiment = self._theorem.experiments[line.experiment]
        sampler, every = self._sampler(experiment), self._mates(line)
        return measure(self._named(line), experiment, line, every, self._settings.seed, sampler, first)

    def _whole(self, line: SweepLine) -> SweepLine:
        return line if line.ours else whole_line(self._table, line)

    def _mates(self, line: SweepLine) -> tuple[SweepLine, ...]:
        """The lines that share paddings with this one: the author's programs do not depend on the engine's cases."""
        mates = self._table[line.experiment]
        if not line.ours:
            return mates
        self._own_sizes[line.place] = line.sizes
        return (*mates, line)

    def _named(self, line: SweepLine) -> str:
        """The first name that keys are made of: draws of the engine's cases are independent of the author's."""
        return f"own cases of {self._theorem_id}" if line.ours else self._theorem_id

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

    def _share(self, each: float) -> None:
        """Hand what is still to be drawn over to others, if that is worth their start: a draw takes ``each`` seconds per size.

        Another process imports what this one has, and makes the programs of its lines again; they are like those so far.
        """
        if self._crew is None:
            return
        left = [line for line in self._ahead if line.place not in self._drawn]
        start = IMPORTS + self._crew.reading + mean(self._before) * len(left)
        if is_worth_sharing(each * sum(map(_entries, left)), start):
            self._crew.hand_over(part for line in left for part in self._parts(line))
            self._ahead = []

    def _parts(self, line: SweepLine, first: int = 0) -> list[Portion]:
        """The draws of a line from ``first`` on, in portions that are the same whatever the claims that ask for them."""
        own = whole_line(self._table, line).draws
        ends = {0, own, *(look.draws for look in DEFAULT_SCHEDULE.looks(own))}
        ends |= {
            low + (high - low) * part // self._processes
            for low, high in pairwise(sorted(ends))
            for part in range(self._processes)
        }
        last = first + line.draws
        inside = sorted({first, last, *(end for end in ends if first < end < last)})
        return [Portion(line.place, low, high - low) for low, high in pairwise(inside)]

    def is_instances(self, line: SweepLine) -> bool:
        """True if the models themselves are looked at, each of them, so that there is no table."""
        return any(letter.array for letter in self._theorem.experiments[line.experiment].measured)

    def _sampler(self, experiment: Experiment, *, few: bool = False) -> Sampler:
        # Some operations exist on the CPU alone, and few draws are done there before an accelerator's code is compiled.
        device = "cpu" if experiment.platform == "cpu" or few else self._settings.device
        batch: int | AsManyAsFit = 1
        if experiment.platform != "cpu" and self._settings.batch is not None:
            batch = self._settings.batch
        elif device != "cpu":
            # The planned draws are part of the design. A quarter of them at most: a portion of them wastes little.
            batch = AsManyAsFit(max(1, experiment.number_of_draws(self._settings.effort) // 4))
        if (device, batch, few) not in self._samplers:
            self._samplers[device, batch, few] = Sampler(device, batch=batch, compiling=self._compiling, few=few)
        return self._samplers[device, batch, few]

    def _compiling(self, number: int) -> AbstractContextManager[None]:
        return phase("compiling", number, self._expected[1])


def _entries(line: SweepLine) -> float:
    """Sizes of all draws on a line together: what a draw costs grows at least like its size."""
    return float(line.draws * sum(map(abs, line.sizes)))


def is_worth_sharing(seconds: float, start: float) -> bool:
    """True if draws of so many seconds are to be shared with a process that needs ``start`` seconds until it draws as well.

    It then draws ``(seconds - start)/2`` of them. Below twice its start that is less than a quarter, at more cost than gain.
    """
    return seconds > 2 * start


def whole_line(table: Table, line: SweepLine) -> SweepLine:
    """The line of the table at all its sizes and draws: a case may hold a part of them."""
    (whole,) = (mate for mate in table[line.experiment] if mate.place == line.place)
    return whole


def _later(model: Model, first: int) -> Model:
    """The models of a portion, counted from its first draw."""
    return lambda size, draw: model(size, first + draw)
