"""The engine's own cases of a claim: values of letters, and sizes, that the author did not choose.

They are fixed by a digest of the statements of a theorem, before any draw. One letter changes at a time; the others stay
at the author's first case.

| letter | values of the engine |
|---|---|
| with several values of the author's | one inside their hull, and one outside |
| with one value | one on each side, within a factor of two |
| the swept size | one between those of the sweep, and one of 1.5 to 2 times the largest; below, where there is one alone |

Letters that a subject knows, that are declared ``closed``, and indices are left as they are. A value is admissible if it
obeys the assumptions of the letter, if every derived size is a positive integer, and if the claim speaks of it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import zip_longest

from sympy import Expr, Integer, Rational

from theorax.errors import TheoraxError
from theorax.language import Claim, Experiment, Letter, Parameter, Size, Theorem
from theorax.language.letters import disobeyed
from theorax.verifiers.cases.sweep_lines import SweepLine, cells

__all__ = ["OwnChoice", "Place", "choices", "is_admissible", "open_letters"]

DYADIC = (
    8,
    16,
    32,
    64,
)  # denominators of values that floats hold exactly: arithmetic without error would see a rounding
DENOMINATORS = range(3, 14)  # of the values tried; halves are special values
TRIED = 400  # values of a letter that are looked at for an admissible one


class Place(Enum):
    """The side of the author's values on which a value lies."""

    INSIDE = "inside"  # between the author's values
    NEAR = "near"  # within a factor of two of the only one
    OUTSIDE = "outside"


@dataclass(frozen=True)
class OwnChoice:
    """One case of the engine's: the letter that changes, and what it is set to, in the order in which that is tried.

    A candidate is one value, or several sizes that are drawn together.
    """

    letter: Letter
    place: Place
    candidates: tuple[tuple[Expr, ...], ...]
    beside: tuple[int, ...] = ()  # the author's sizes, along which a claim about growing sizes is drawn too
    is_size: bool = False

    @property
    def smaller(self) -> Iterator[OwnChoice]:
        """The choice, and after it the same with the last of several sizes alone."""
        yield self
        if any(len(values) > 1 for values in self.candidates):
            yield replace(self, candidates=tuple(values[-1:] for values in self.candidates))


@dataclass(frozen=True)
class _Digest:
    """An order of values that follows from a text alone."""

    text: str

    @cached_property
    def _seed(self) -> bytes:
        return hashlib.sha256(self.text.encode()).digest()

    def order(self, values: Iterable[Expr]) -> list[Expr]:
        """The values, each once, in the order of their digests."""
        unique = {str(value): value for value in values}
        return [
            unique[key] for key in sorted(unique, key=lambda key: hashlib.sha256(self._seed + key.encode()).digest())
        ]


def statements(theorem: Theorem, experiment: str) -> str:
    """The statements about an experiment, as the text that fixes its cases."""
    told = [
        f"{name}: {claim.statement}"
        for name, claim in theorem.claims.items()
        if theorem.experiment_of(claim) == experiment
    ]
    return "\n".join((experiment, *sorted(told)))


def open_letters(theorem: Theorem, claim: Claim, line: SweepLine) -> tuple[Letter, ...]:
    """Letters of the cases that the claim speaks of, and that neither a subject knows nor the author closed."""
    experiment = theorem.experiments[line.experiment]
    wanted = set(claim.letters)
    # A derived size speaks of what it is derived from, and what observe reads may stand in the measured quantity.
    for letter, formula in line.derived.items():
        wanted |= formula.free_symbols if letter in wanted or letter.name in experiment.reads else set()
    wanted |= {letter for letter in line.case if letter.name in experiment.reads}
    return tuple(
        letter
        for letter in line.case
        if letter in wanted and isinstance(letter, Parameter | Size) and letter not in line.subject.knows
        and not letter.closed
    )  # fmt: skip


def choices(
    theorem: Theorem, claim: Claim, lines: Sequence[SweepLine], asked: Iterable[str] = ()
) -> Iterator[OwnChoice]:
    """The cases to try, each with its candidates; ``asked``: letters of which the user asked for values.

    Those come first that show most: letters with one value, then inside the hull, sizes, and outside.
    """
    line, left_out = lines[0], set(asked)
    text = statements(theorem, line.experiment)
    found: list[OwnChoice] = []
    for letter in open_letters(theorem, claim, line):
        if letter.name not in left_out:
            values = list(dict.fromkeys(other.case[letter] for other in lines if letter in other.case))
            # Where balls decide, a letter that the program gets as a float must be that number.
            exact = not claim.has_margin_reading
            found += _of_letter(letter, values, _Digest(f"{text}\n{letter}"), exact=exact)
    if line.swept.name not in left_out and not line.swept.closed:
        experiment = theorem.experiments[line.experiment]
        found += _of_sizes(claim, experiment, line, _Digest(f"{text}\n{line.swept}"))
    order = (Place.NEAR, Place.INSIDE, Place.OUTSIDE)
    yield from sorted(found, key=lambda choice: order.index(choice.place))


def _of_letter(letter: Letter, values: list[Expr], digest: _Digest, *, exact: bool) -> Iterator[OwnChoice]:
    numbers = [value for value in values if value.is_real]
    if not numbers:
        return
    whole = bool(letter.is_integer)
    low, high = min(numbers, key=float), max(numbers, key=float)
    if len(numbers) == 1:
        for ends in _beside(low, whole):
            yield from _choice(letter, Place.NEAR, _between(*ends, whole=whole, exact=exact), numbers, digest)
        return
    yield from _choice(letter, Place.INSIDE, _between(low, high, whole=whole, exact=exact), numbers, digest)
    width = high - low
    above = (high, min(high + width, 2 * high, key=float) if high > 0 else high + width)
    below = (max(low - width, low / 2, key=float) if low > 0 else low - width, low)
    beyond = [value for ends in (above, below) for value in _between(*ends, whole=whole, exact=exact)]
    yield from _choice(letter, Place.OUTSIDE, beyond, numbers, digest)


def _beside(value: Expr, whole: bool) -> Iterator[tuple[Expr, Expr]]:
    """The ranges on both sides of one value, within a factor of two; within one of zero."""
    room = abs(value) if value != 0 else Integer(1)
    half = room / 2 if value != 0 else room
    if whole and room < 2:  # the next whole numbers, where a factor of two holds none
        room = half = Integer(2)
    above, below = (room, half) if value >= 0 else (half, room)
    if whole:
        yield value, value + above + Rational(1, 2)
        yield value - below - Rational(1, 2), value
    else:  # not so near that nothing differs
        yield value + above / 4, value + above
        yield value - below, value - below / 4


def _between(low: Expr, high: Expr, *, whole: bool, exact: bool = False) -> list[Expr]:
    """Whole numbers, or fractions of small denominators, strictly between two numbers."""
    if whole:
        first, last = math.floor(low) + 1, math.ceil(high) - 1
        step = max(1, (last - first) // TRIED)
        return [Integer(value) for value in range(first, last + 1, step)]
    low, high = (Rational(str(round(float(end), 6))) if not end.is_Rational else end for end in (low, high))
    width = high - low
    found = [] if exact else [low + width * share for share in _shares()]
    for below in DYADIC if exact else DENOMINATORS:
        first, last = math.floor(low * below) + 1, math.ceil(high * below) - 1
        found += [Rational(above, below) for above in range(first, min(last, first + TRIED) + 1)]
    # Beside whole numbers and halves, which models treat apart more often than others.
    return [value for value in found if low < value < high and value.q > 2]


def _shares() -> list[Expr]:
    return [
        Rational(above, below) for below in DENOMINATORS for above in range(1, below) if math.gcd(above, below) == 1
    ]


def _choice(
    letter: Letter, place: Place, values: Iterable[Expr], given: Sequence[Expr], digest: _Digest
) -> Iterator[OwnChoice]:
    obeying = [value for value in values if value not in given and disobeyed(letter, value) is None]
    if obeying:
        yield OwnChoice(letter, place, tuple((value,) for value in digest.order(obeying)[:TRIED]))


def _of_sizes(claim: Claim, experiment: Experiment, line: SweepLine, digest: _Digest) -> Iterator[OwnChoice]:
    """Sizes between those of the sweep, and beyond the largest; of the form of the author's, where a reason says so."""
    sizes = line.sizes
    largest = sizes[-1]
    inside = [size for size in range(sizes[0] + 1, largest) if size not in sizes]
    if len(sizes) == 1 and line.swept in claim.letters:
        inside = list(range(math.ceil(largest / 2), largest))
    beyond = list(range(math.ceil(1.5 * largest), 2 * largest + 1))
    if experiment.sizes_because:
        inside, beyond = (_of_form(sizes, part) for part in (inside, beyond))
    between, after = (digest.order(map(Integer, _thinned(part))) for part in (inside, beyond))
    if claim.tending is not None:  # larger sizes are what it speaks of
        pairs = list(zip_longest(between, after))[: max(1, min(len(between), len(after)))]
        together = tuple(tuple(size for size in pair if size is not None) for pair in pairs)
        if together[0]:
            yield OwnChoice(line.swept, Place.INSIDE, together, sizes, is_size=True)
        return
    for place, found in ((Place.INSIDE, between), (Place.OUTSIDE, after)):
        if found:
            yield OwnChoice(line.swept, place, tuple((size,) for size in found), is_size=True)


def _thinned(sizes: Sequence[int]) -> Sequence[int]:
    return sizes[:: max(1, len(sizes) // TRIED)]


def _of_form(sizes: Sequence[int], found: Sequence[int]) -> list[int]:
    """Of these sizes the powers of two, if all of the author's are such; else multiples of their common factor."""
    if all(size & (size - 1) == 0 for size in sizes):
        return [size for size in found if size & (size - 1) == 0]
    common = math.gcd(*sizes)
    return [size for size in found if size % common == 0]


def is_admissible(claim: Claim, line: SweepLine) -> bool:
    """True if the claim speaks of this line: derived sizes are whole, what is known obeys, and its condition holds."""
    try:
        for size in line.sizes:
            for letter, value in line.letters_at(size).items():
                if disobeyed(letter, value) is not None:
                    return False
        found = list(cells(claim, line))
    except TheoraxError:
        return False
    return bool(found) and all(cell.line.sizes == line.sizes for cell in found)


def lines_of(claim: Claim, choice: OwnChoice, line: SweepLine, draws: int) -> Iterator[SweepLine]:
    """The admissible lines of a choice, in the order in which they are tried.

    A claim about growing sizes is drawn along the author's sizes too, so that its own fit and class say what to expect.
    """
    for values in choice.candidates:
        if choice.is_size:
            sizes = tuple(sorted({*choice.beside, *map(int, values)}))
            own = replace(line, sizes=sizes, draws=draws, ours=True)
        else:
            own = replace(line, case={**line.case, choice.letter: values[0]}, draws=draws, ours=True)
        if is_admissible(claim, own):
            yield own
