"""Witnesses: draws that the law can make, searched for, at which a claim for all draws fails.

| at the highest places of the search | the claim is |
|---|---|
| a violation on an open set, larger than rounding makes, hypotheses true | refuted, by this witness |
| the same, and a ball of the excess is positive | refuted, in rigorous arithmetic |
| anything else | what it was; the share of the bound that was reached is printed |

A search can only refute, so it spends no level. The number of evaluations, the starts and the random steps are fixed by a
digest of the claim's design, before the data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from theorax.decide.verdict import Searched, Witness
from theorax.errors import TheoraxError
from theorax.exact.ascents_of_noise import Height, NoisePoint, search_noise
from theorax.exact.pointwise_bounds import BALLS
from theorax.language import Claim, Hypothesis, Identity, Impossibility, Inequality, Measured, Theorem
from theorax.numerics.arithmetics.flat_program import Operation, doubles, flatten
from theorax.numerics.arithmetics.interpreter import Interpreter
from theorax.numerics.arithmetics.noise_inputs import slopes
from theorax.numerics.keys import seed_of
from theorax.verifiers.attacks.compared_sides import ComparedSides, Excesses, expressions_of, letters_of
from theorax.verifiers.attacks.tested_hypotheses import satisfied
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.instances import carried, on
from theorax.verifiers.cases.kept_draws import KeptColumn
from theorax.verifiers.cases.measure import chosen_values
from theorax.verifiers.cases.noise_programs import NoiseLetters, work_of
from theorax.verifiers.cases.noisy_draws import DrawOfNoise
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellResult

__all__ = ["EVALUATIONS", "FoundWitness", "WitnessSearch", "is_searched"]

Vector = NDArray[np.float64]
Letters = Mapping[str, np.ndarray]

EVALUATIONS = {"quick": 600, "standard": 3000, "thorough": 3000}
"""Most evaluations for one claim, by effort."""
WORK = 1.5e8
"""Most additions of the evaluations for one claim at quick effort; fewer evaluations are made of a dear program."""
FEWEST = 48
"""Evaluations below which a search would say nothing."""
WORST = 6
"""Draws that the search starts from."""
LOOKED_AT = 24
"""Most draws that are looked at one by one to find these."""
PROGRAMS = {"quick": 1, "standard": 3, "thorough": 6}
"""Structures, of the smallest sizes first, that are searched: each of them compiles a program."""
PLACES = 2
"""Cases of one structure that are searched, those that come nearest to failing."""

NEIGHBOURS, VIOLATING = 16, 15
NEAR = 1e-6
"""Of the neighbours at this relative distance so many violate the claim too: an open set, which has a probability."""
WIDER = 1e-3
"""The relative distance at which neighbours of a witness with simple entries violate it."""
SPREADS = 100
EPSILONS = 1e6
"""An excess is larger than rounding: by so many spreads over changes in the last place, and so many units of the scale."""
REPLAY = 1e3
"""Units of the scale by which the program of noise may differ from the program of draws."""
CANDIDATES = 6
SHRINKS = 120
BALL_STEPS = 20_000
"""Most entries of all steps of a program that is run in balls at a witness."""
LISTED = 12
CLEAR = 0.25
"""A relative excess at which the search ends."""
TYPICAL = 1e-7
"""Of the typical size of both sides, the part that is added to each: what lies below it is rounding."""


def is_searched(claim: Claim, judged: Sequence[CellResult]) -> bool:
    """True for a claim about all draws that no domain covers, in which the author leaves no share of the draws open."""
    if isinstance(claim, Inequality):
        due = not claim.over and claim.content == Inequality.content
    elif isinstance(claim, Identity):
        due = claim.content == Identity.content and any(case.on_draws for case in judged)
    else:
        due = isinstance(claim, Impossibility) and not claim.over
    return due and bool(claim.observed) and bool(judged) and not all(case.covered for case in judged)


@final
@dataclass(frozen=True)
class FoundWitness:
    """A witness as it is reported, and the columns that are kept of it."""

    witness: Witness
    columns: tuple[KeptColumn, ...]


@final
@dataclass(frozen=True)
class WitnessSearch:
    """Searches for the claims of one theorem; programs are compiled once for all claims on one structure."""

    theorem_id: str
    theorem: Theorem
    draws: Draws
    effort: str
    _programs: dict[Hashable, NoiseLetters | str] = field(default_factory=dict)

    def searched(self, name: str, judged: Sequence[CellResult], design: str) -> tuple[Searched, FoundWitness | None]:
        """The search for a witness against a claim, with what it was decided on and the digest of its design."""
        claim = self.theorem.claims[name]
        random = [case.cell for case in judged if case.cell.line.random]
        if not random:
            return Searched(why_not="nothing is drawn"), None
        try:
            return self._searched(name, claim, random, design)
        except TheoraxError as error:
            return Searched(why_not=str(error).splitlines()[0].rstrip(".")), None
        except Exception as error:  # code of the theorem, at noise that its author never drew
            return Searched(why_not=f"the program fails at other noise than its draws ({type(error).__name__})"), None

    def _searched(
        self, name: str, claim: Claim, cells: Sequence[Cell], design: str
    ) -> tuple[Searched, FoundWitness | None]:
        rng = np.random.default_rng(seed_of("witness", self.theorem_id, name, self.effort, design))
        found, reasons = Searched(), list[str]()
        groups = self._groups(claim, cells)
        for group in groups:
            order = [-_nearness(claim, cell, size, self.draws.on(cell.line)) for cell, size, _ in group]
            near = [group[at] for at in np.argsort(order, kind="stable")[:PLACES]]
            for cell, size, drawn in near:
                evaluations = self._evaluations(drawn) // (len(groups) * len(near))
                if evaluations < FEWEST:
                    reasons.append("one evaluation costs too much at this effort")
                    continue
                program = self._program(drawn, cell)
                if isinstance(program, str):
                    reasons.append(program)
                    continue
                seen = self.draws.on(cell.line)
                place = _Searching(claim, cell, size, drawn, program, seen, self._holds(claim))
                if place.why_not:
                    reasons.append(place.why_not)
                    continue
                witness, told = place.search(name, evaluations, rng)
                found = _together(found, told, place, self._untested(claim))
                if witness is not None:
                    return replace(found, witness=witness.witness), witness
        if not found.evaluations:
            return Searched(why_not=next(iter(dict.fromkeys(reasons)), "no case has noise")), None
        return found, None

    def _evaluations(self, drawn: DrawOfNoise) -> int:
        most = EVALUATIONS[self.effort]
        allowed = WORK * most / EVALUATIONS["quick"]
        return int(min(most, allowed / max(work_of(drawn.program.whole), 1.0)))

    def _groups(self, claim: Claim, cells: Sequence[Cell]) -> list[list[tuple[Cell, int, DrawOfNoise]]]:
        """Cases by the structure of their draws, the smallest sizes first."""
        sizes = sorted({size for cell in cells for size in cell.line.sizes})
        found: dict[Hashable, list[tuple[Cell, int, DrawOfNoise]]] = {}
        for size in sizes:
            for cell in cells:
                if size in cell.line.sizes and len(found) <= PROGRAMS[self.effort]:
                    drawn = self._drawn(cell, size)
                    if drawn.structure in found or len(found) < PROGRAMS[self.effort]:
                        found.setdefault(drawn.structure, []).append((cell, size, drawn))
        return list(found.values())

    def _drawn(self, cell: Cell, size: int) -> DrawOfNoise:
        try:
            return self.draws.noise(cell.line, size)
        except TheoraxError:
            raise
        except Exception as error:  # whatever a build raises that cannot be traced
            raise _NotSearched("build or observe cannot be traced") from error

    def _program(self, drawn: DrawOfNoise, cell: Cell) -> NoiseLetters | str:
        if drawn.structure not in self._programs:
            self._programs[drawn.structure] = self._compiled(drawn, cell)
        return self._programs[drawn.structure]

    def _compiled(self, drawn: DrawOfNoise, cell: Cell) -> NoiseLetters | str:
        if not drawn.program.noise:
            return f"no real number is drawn freely{_left(drawn)}"
        wanted = set()
        for claim in self.theorem.claims.values():
            here = self.theorem.experiment_of(claim) == cell.line.experiment and not getattr(claim, "over", None)
            if here and isinstance(claim, Inequality | Identity | Impossibility):
                wanted |= {letter.name for letter in letters_of(claim)}
                wanted |= {s.name for part in self._holds(claim) for s in _measured(part)}
        wanted |= {f"{name}_error" for name in wanted}
        return NoiseLetters(drawn, sorted(wanted))

    def _holds(self, claim: Claim) -> list[Hypothesis]:
        needed = [self.theorem.hypotheses[name] for name in self.theorem.needed(claim)]
        return [part for part in needed if part.holds is not None]

    def _untested(self, claim: Claim) -> tuple[str, ...]:
        return tuple(name for name in self.theorem.needed(claim) if self.theorem.hypotheses[name].holds is None)


def _nearness(claim: Claim, cell: Cell, size: int, observed: Observed) -> float:
    """The nearest that the claim comes to failing in the draws of a case at a size, relative to its sides."""
    if not observed.tables:
        return 0.0
    return float(np.max(_heights(claim, cell, size, observed)))


def _heights(claim: Claim, cell: Cell, size: int, observed: Observed) -> Vector:
    """The excess of every draw over the size of both sides."""
    at = observed.line.sizes.index(size)
    left, right = (evaluate_draws(side, cell, observed, at) for side in expressions_of(claim))
    with np.errstate(all="ignore"):
        heights = np.nan_to_num((left - right) / (np.abs(left) + np.abs(right)), nan=-math.inf)
    return np.broadcast_to(heights, (observed.line.draws,))


class _NotSearched(TheoraxError):
    """Nothing can be searched here, for this reason."""


def _left(drawn: DrawOfNoise) -> str:
    return f": {', '.join(drawn.program.left)}" if drawn.program.left else ""


def _measured(part: Hypothesis) -> set[Measured]:
    assert part.holds is not None
    return {symbol for symbol in part.holds.free_symbols if isinstance(symbol, Measured)}


def _together(found: Searched, seen: Searched, place: _Searching, untested: tuple[str, ...]) -> Searched:
    """Two searches as one: the place that came nearest."""
    nearer = found.share is None or (seen.share is not None and seen.share > found.share)
    left = tuple(dict.fromkeys((*found.left, *place.drawn.program.left)))
    best = seen if nearer else found
    return replace(best, evaluations=found.evaluations + seen.evaluations, left=left, untested=untested)


@final
class _Searching:
    """One case at one size: heights of places, and what confirms a violation there."""

    def __init__(
        self,
        claim: Claim,
        cell: Cell,
        size: int,
        drawn: DrawOfNoise,
        program: NoiseLetters,
        observed: Observed,
        holds: Sequence[Hypothesis],
    ) -> None:
        self.claim, self.cell, self.size, self.drawn, self.program = claim, cell, size, drawn, program
        self._observed, self._holds = observed, holds
        self._compared = ComparedSides(claim, cell, size)
        self.share: float | None = None
        self._typical = 0.0
        self.nearest, self._worst = -math.inf, list[int]()
        self.why_not = self._unfit() or self._look()

    def _unfit(self) -> str:
        if self._compared.open:
            return "a letter of the claim is estimated from all draws"
        missing = {letter.name for letter in self._compared.letters} - set(self.program.names)
        return f"{min(missing)} is not returned" if missing else ""

    def _look(self) -> str:
        """Find the draws that come nearest to failing; the reason why they cannot be replayed, if so."""
        numbers, columns = self._known()
        if not numbers:
            return "there are no draws to start from"
        seen = [self._compared.excesses(letters) for letters in columns]
        sizes = [float(np.max(each.size)) for each in seen if each.is_defined]
        self._typical = TYPICAL * float(np.median(sizes)) if sizes else 0.0
        heights = [self._top(each) for each in seen]
        order = sorted(range(len(numbers)), key=lambda at: -heights[at])
        self._worst, self.nearest = [numbers[at] for at in order[:WORST]], heights[order[0]]
        for each in seen:
            self._note(each)
        at = order[0]
        noise = self.program.drawn(self.drawn, numbers[at])
        again = self.program.at(self.drawn, numbers[at], noise)
        own = self.program.own(self.drawn, numbers[at]) if self._observed.instances else columns[at]
        names = again.keys() & own.keys()
        gap = max(_difference(again[name], own[name]) for name in names)
        allowed = REPLAY * self.program.epsilon
        # The letters are values that the program computes: mostly they settle it, and nothing more is compiled.
        top = max(float(np.max(np.abs(again[name]), initial=0)) for name in names)
        if gap > allowed * top and gap > allowed * self.program.scale(self.drawn, numbers[at], noise):
            return "the program of its noise does not give back its draws"
        return ""

    def _known(self) -> tuple[list[int], list[Letters]]:
        """Draws whose letters are known, by number: the worst of a table, or the first instances."""
        if self._observed.instances:
            numbers = list(range(min(len(self._observed.instances[self.size]), LOOKED_AT)))
            noise = [self.program.drawn(self.drawn, number) for number in numbers]
            return numbers, [self.program.at(self.drawn, *each) for each in zip(numbers, noise, strict=True)]
        if not self._observed.tables:
            return [], []
        at = self._observed.line.sizes.index(self.size)
        heights = _heights(self.claim, self.cell, self.size, self._observed)
        numbers = np.argsort(-heights, kind="stable")[:LOOKED_AT].tolist()
        table, errors = self._observed.tables[at], (self._observed.errors or ({},) * (at + 1))[at]
        columns = {**table, **{f"{name}_error": bound for name, bound in errors.items()}}
        columns = {name: column for name, column in columns.items() if name in self.program.names}
        return numbers, [{name: column[number] for name, column in columns.items()} for number in numbers]

    def _top(self, found: Excesses) -> float:
        return float(np.max(found.relative(self._typical))) if found.is_defined else -math.inf

    def _note(self, found: Excesses) -> None:
        """Remember the largest share of the bound."""
        if not found.is_defined or isinstance(self.claim, Identity):
            return
        # Where the claim bounds from below, its own side is the larger one: the share is of the same two sides.
        known = (found.size > 2 * self._typical) & (found.right > 0) & (found.left >= 0)
        shares = found.left[known] / found.right[known]
        # A share above one is a violation, which counts where it is confirmed.
        if (shares := shares[shares <= 1 + NEAR]).size:
            share = min(float(np.max(shares)), 1.0)
            self.share = share if self.share is None else max(self.share, share)

    # Heights.

    def height(self, place: NoisePoint, with_slope: bool) -> Height:
        noise = self.program.noise(place.scores)
        seen, residues = (
            self.program.pulled(self.drawn, place.draw, noise)
            if with_slope
            else (self.program.at(self.drawn, place.draw, noise), None)
        )
        found = self._compared.excesses(seen)
        if not found.is_defined:
            return Height(-math.inf)
        top = self._top(found)
        if top > 0 and not self._admits(seen):
            return Height(-math.inf)
        self._note(found)
        if residues is None:
            return Height(top)
        slope = self.program.slope(residues, self._compared.weights(seen, self._typical))
        return Height(top, slope * slopes(place.scores))

    def _admits(self, seen: Letters) -> bool:
        """True if every relation of a needed hypothesis is true there."""
        if not self._holds:
            return True
        line = replace(self.cell.line, sizes=(self.size,), draws=1)
        letters = sorted({symbol for part in self._holds for symbol in _measured(part)}, key=str)
        table = chosen_values(letters, line, {name: np.asarray(value)[None] for name, value in seen.items()})
        observed = Observed(line, (table,))
        cell = Cell(line, self.cell.chosen)
        return all(counted is None or counted[0] == counted[1] for counted in self._counted(observed, cell))

    def _counted(self, observed: Observed, cell: Cell) -> Iterator[tuple[int, int] | None]:
        for part in self._holds:
            yield satisfied(part, observed, cell)

    # The search.

    def search(self, name: str, evaluations: int, rng: np.random.Generator) -> tuple[FoundWitness | None, Searched]:
        starts = [NoisePoint(self.program.scores(self.drawn, number), number) for number in self._worst]
        count = [0]

        def height(place: NoisePoint, with_slope: bool) -> Height:
            count[0] += 1
            return self.height(place, with_slope)

        blocks = [np.asarray(block) for block in self.program.ties.places]
        witness = None
        # Where the first search ends at points that are no witness, tied or singular ones, the rest starts from draws alone.
        for is_structured in (True, False):
            left = evaluations - count[0]
            if witness is not None or left < FEWEST:
                break
            found = search_noise(height, starts, blocks if is_structured else (), left, rng, CLEAR)
            drawn = [(self.nearest, starts[0])] if self.nearest > 0 and is_structured else []
            suspects = [place for excess, place in [*found, *drawn] if excess > 0][:CANDIDATES]
            confirmed = (self._confirmed(name, place, rng) for place in suspects)
            witness = next((kept for kept in confirmed if kept is not None), None)
        return witness, Searched(evaluations=count[0], size=float(self.size), share=self.share)

    def _confirmed(self, name: str, place: NoisePoint, rng: np.random.Generator) -> FoundWitness | None:
        sure = self._sure(place, rng)
        if sure is None:
            return None
        simple = self._shrunk(place, sure, rng)
        # Zeros and ties are no help where a point is degenerate: a simple one violates within a wider distance.
        confirmed = self._sure(simple, rng, WIDER) if simple is not place else sure
        if confirmed is None:
            simple, confirmed = place, sure
        return self._kept(name, simple, confirmed)

    def _excess(self, place: NoisePoint, noise: Vector) -> tuple[float, Letters, Excesses]:
        seen = self.program.at(self.drawn, place.draw, noise)
        found = self._compared.excesses(seen)
        excess = float(found.excess.flat[found.worst]) if found.is_defined else -math.inf
        return excess, seen, found

    def _sure(self, place: NoisePoint, rng: np.random.Generator, distance: float = NEAR) -> _Sure | None:
        """The violation at a place, if it is one of an open set and larger than rounding makes."""
        noise = self.program.noise(place.scores)
        excess, seen, found = self._excess(place, noise)
        if not (excess > 0 and self._admits(seen)):
            return None
        floor = EPSILONS * self.program.epsilon * self.program.scale(self.drawn, place.draw, noise)
        last = self.program.rounding
        moved = [
            self._excess(place, np.clip(noise + last * rng.choice((-1.0, 1.0), noise.shape), 1.0, 2 - last))[0]
            for _ in range(NEIGHBOURS)
        ]
        spread = max([excess, *moved]) - min([excess, *moved])
        floor = max(floor, SPREADS * spread)
        by_ball = False
        if not excess > floor:
            by_ball = self._by_ball(place, noise)
            if not by_ball:
                return None
        size = max(float(np.sqrt(np.mean(place.scores**2))), TYPICAL)
        violating = 0
        for _ in range(NEIGHBOURS):
            near = replace(place, scores=place.scores + distance * size * rng.standard_normal(place.scores.shape))
            beside, letters, _ = self._excess(near, self.program.noise(near.scores))
            violating += (beside > 0 if by_ball else beside > floor) and self._admits(letters)
        if violating < VIOLATING:
            return None
        return _Sure(excess, floor, by_ball or self._by_ball(place, noise), seen, found)

    def _by_ball(self, place: NoisePoint, noise: Vector) -> bool:
        """True if a ball of the excess is positive: the whole program in rigorous arithmetic, from these floats."""
        if isinstance(self.claim, Identity):
            return False
        program = self._flat
        if sum(step.entries for step in program.steps) > BALL_STEPS:
            return False
        inputs = self.drawn.inputs(place.draw)
        arrays = [np.asarray(array) for array in self.program.arrays(noise)]
        try:
            with BALLS.working():
                runner = _AsDrawn(BALLS)
                types = [program.types[number] for number in program.inputs]
                given = [
                    runner.given(np.asarray(leaf), aval) for leaf, aval in zip([*arrays, *inputs], types, strict=True)
                ]
                values = dict(zip(self.drawn.names, runner.run(program, given), strict=True))
                return self._is_above(values)
        except Exception:  # whatever stops an evaluation in balls leaves the floats to decide
            return False

    @cached_property
    def _flat(self) -> Any:
        return flatten(self.drawn.program.replayed)

    def _is_above(self, values: Mapping[str, Any]) -> bool:
        assert isinstance(self.claim, Inequality | Impossibility)
        seen = {letter.name: carried(values[letter.name], BALLS) for letter in self._compared.letters}
        left, right = expressions_of(self.claim)
        margin = getattr(self.claim, "margin", None)
        slack = arb(0) if margin is None else arb(flint.fmpq(int(margin.value.p), int(margin.value.q)))
        gap = np.asarray(on(left - right, self.cell, self.size, seen, BALLS), dtype=object).ravel().tolist()
        return any(entry > slack for entry in gap)

    # Simple entries.

    def _shrunk(self, place: NoisePoint, sure: _Sure, rng: np.random.Generator) -> NoisePoint:
        """The place with entries rounded, and zero where they may be, as long as half of the excess is left."""
        left = [SHRINKS]
        relative = self._top(sure.found)

        def serves(scores: Vector) -> bool:
            if left[0] <= 0:
                return False
            left[0] -= 1
            excess, seen, found = self._excess(place, self.program.noise(scores))
            return excess > 2 * sure.floor and self._top(found) > relative / 2 and self._admits(seen)

        best = place.scores
        for digits in (0, 1, 2):
            rounded = np.round(best, digits)
            if serves(rounded):
                best = rounded
                break
        width = best.size
        while width >= 1 and left[0] > 0:
            order = np.argsort(np.abs(best), kind="stable")
            order = order[best[order] != 0]
            for start in range(0, len(order), max(width, 1)):
                tried = best.copy()
                tried[order[start : start + width]] = 0.0
                if not np.array_equal(tried, best) and serves(tried):
                    best = tried
            width //= 2
        return place if best is place.scores else replace(place, scores=best)

    # The report.

    def _kept(self, name: str, place: NoisePoint, sure: _Sure) -> FoundWitness:
        worst = sure.found.worst
        names, values = self._entries(place.scores)
        shown = [f"{label} = {value:.6g}" for label, value in zip(names, values, strict=True) if value]
        witness = Witness(
            subject=self.cell.name,
            at=dict(self.cell.label),
            size=float(self.size),
            left=float(sure.found.left.flat[worst]),
            right=float(sure.found.right.flat[worst]),
            excess=sure.excess,
            floor=sure.floor,
            by_ball=sure.by_ball,
            entries=tuple(shown) if len(shown) <= LISTED else (),
            numbers=len(place.scores),
            zeros=int(np.sum(place.scores == 0)),
        )
        line = self.cell.line
        at = self._observed.line.sizes.index(self.size)
        where = (line.experiment, line.name, line.place[2], at)
        columns = [
            KeptColumn(*where, "witness", f"{name}.{letter}", np.asarray(value)[None], float(self.size))
            for letter, value in sure.seen.items()
        ]
        for number, array in enumerate(self.program.ties.spread(self.program.noise(place.scores)), 1):
            label = f"{name}.e{number}"
            columns.append(KeptColumn(*where, "witness", label, np.asarray(array)[None], float(self.size)))
        return FoundWitness(witness, tuple(columns))

    def _entries(self, values: Vector) -> tuple[list[str], list[float]]:
        """Names of the numbers by the first array that holds each, as e1[0,3], and these scores."""
        names = [""] * len(values)
        for number, block in enumerate(self.program.ties.places, 1):
            for place in np.ndindex(block.shape):
                if not names[block[place]]:
                    names[block[place]] = f"e{number}" + (f"[{','.join(map(str, place))}]" if place else "")
        return names, [float(value) for value in values]


@final
class _AsDrawn(Interpreter):
    """Balls of a program whose normal numbers are those that it draws: the floats that JAX makes of its uniform ones."""

    def step(self, step: Operation, operands: list[Any]) -> list[Any]:
        if step.name != "erf_inv":
            return super().step(step, operands)
        middles = np.vectorize(lambda ball: float(ball.mid()), otypes=[np.float64])(operands[0])
        with doubles():
            drawn = step.primitive.bind(middles.astype(step.operand_types[0].dtype), **step.params)
        return [self.domain.lift(np.asarray(drawn))]


@final
@dataclass(frozen=True)
class _Sure:
    """A violation that was confirmed: its excess, the floor that it exceeds, and the letters there."""

    excess: float
    floor: float
    by_ball: bool
    seen: Letters
    found: Excesses


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if one.shape != other.shape:  # values along an index, of which the table has those asked for
        return 0.0
    gap = np.abs(one - other)[~(np.isnan(one) & np.isnan(other))]
    return float(np.max(gap, initial=0))
