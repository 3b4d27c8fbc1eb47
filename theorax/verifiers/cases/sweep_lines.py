"""Lines of an experiment: one subject at one choice of parameters along the sweep; and the cases that claims decide on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sympy import Expr, Integer, sympify

from theorax.errors import DesignError, StatementError, UsageError, option
from theorax.language import Claim, Experiment, Index, Letter, Size, Subject, Theorem
from theorax.language.letters import disobeyed
from theorax.names import did_you_mean
from theorax.verifiers.planned_checks import Place
from theorax.verifiers.settings import Settings

_AT = option("at")
_SIZES = option("sizes")

NOTHING: Mapping[Any, Any] = MappingProxyType({})
OURS = "case of the engine, sizes"  # no letter has this name


@dataclass(frozen=True)
class SweepLine:
    """Before any draw: a subject, the exact values of all letters but the swept one, the sizes, draws per size."""

    experiment: str
    name: str
    subject: Subject
    case: Mapping[Letter, Expr]
    swept: Letter
    derived: Mapping[Letter, Expr]
    along: Mapping[Index, tuple[int, ...]]
    sizes: tuple[int, ...]
    draws: int
    paired: bool = False
    random: bool = True
    ours: bool = False  # chosen by the engine, beside the author's lines

    def letters_at(self, size: int) -> dict[Letter, Expr]:
        """Exact values of every letter that is known before a draw.

        **Raises:** DesignError if a derived size is no positive integer here.
        """
        if size in self._known:
            return self._known[size]
        values: dict[Letter, Expr] = {**self.case, **self.subject.knows, self.swept: Integer(size)}
        for letter, expression in self.derived.items():
            value = expression.subs(values)
            if not (value.is_Integer and value > 0):
                raise DesignError(
                    f"{letter} = {expression} is {value} at {self.swept} = {size}, which is no size. "
                    f"A size is a positive integer. Choose {self.swept} so that it comes out even."
                )
            values[letter] = value
        # What a subject knows may depend on the sizes: an exact finite-size value of its law.
        known = {letter: sympify(value).subs(values) for letter, value in self.subject.knows.items()}
        for letter, value in known.items():
            if (word := disobeyed(letter, value)) is not None:
                raise StatementError(
                    f"The subject {self.name!r} knows {letter} = {value} at {self.swept} = {size}, which is not {word}, and "
                    f"{letter} is assumed to be. The claims were simplified by the assumption and say nothing there. "
                    "Correct what it knows, or declare the letter without the assumption."
                )
        values |= known
        self._known[size] = values
        return values

    def with_draws(self, draws: int) -> SweepLine:
        """The same line with another number of draws at each size."""
        if draws == self.draws:
            return self
        found = replace(self, draws=draws)
        # What is known before a draw does not depend on their number.
        vars(found)["_known"], vars(found)["_numbers"] = self._known, self._numbers
        return found

    @cached_property
    def _known(self) -> dict[int, dict[Letter, Expr]]:
        return {}

    @cached_property
    def _numbers(self) -> dict[Any, float]:
        """Values of expressions by the expression, the size and the index letters: variants of a claim ask for the same."""
        return {}

    def number_once(self, place: Any, compute: Callable[[], float]) -> float:
        """The number at the place, computed once for the line whatever its draws."""
        if place not in self._numbers:
            self._numbers[place] = compute()
        return self._numbers[place]

    @property
    def label(self) -> dict[str, str]:
        """The case as a reader types it after --at."""
        return {str(letter): str(value) for letter, value in self.case.items()}

    @property
    def place(self) -> Place:
        """The line among all of a theorem, whatever its draws."""
        label = tuple(sorted(self.label.items()))
        return self.experiment, self.name, (*label, (OURS, repr(self.sizes))) if self.ours else label


@dataclass(frozen=True)
class Cell:
    """A line at one choice of the index letters that a claim holds: what is decided as one case."""

    line: SweepLine
    chosen: Mapping[Index, int] = field(default_factory=lambda: NOTHING)

    @property
    def name(self) -> str:
        """The name of the subject."""
        return self.line.name

    @property
    def label(self) -> dict[str, str]:
        """The case as a reader types it after --at."""
        return {**self.line.label, **{str(letter): str(value) for letter, value in self.chosen.items()}}

    def exact(self, expression: Expr, size: int | None = None) -> Expr:
        """The expression with every letter known before a draw replaced by its exact value."""
        known = dict(self.line.case) | dict(self.line.subject.knows) if size is None else self.line.letters_at(size)
        known = {**known, **{letter: Integer(value) for letter, value in self.chosen.items()}}
        # SymPy walks through the expression once for each letter, whether it is there or not.
        asked = {letter: known[letter] for letter in expression.free_symbols & known.keys()}
        return expression.subs(known if any(value.free_symbols for value in asked.values()) else asked)

    def number(self, expression: Expr, size: int | None = None) -> float:
        """The exact value as a float, rounded once.

        **Raises:** DesignError if a letter remains, or if the value is no finite real number.
        """
        return self.line.number_once(
            (expression, size, tuple(self.chosen.items())), lambda: self._number(expression, size)
        )

    def _number(self, expression: Expr, size: int | None) -> float:
        value = self.exact(expression, size)
        if value.free_symbols:
            left = ", ".join(sorted(map(str, value.free_symbols)))
            raise DesignError(
                f"{expression} has no value for the subject {self.line.name!r}: {left} is not set. "
                f"Give it with {_AT} {left.split(', ')[0]}=..., or let the experiment measure it."
            )
        number = value.evalf(30)
        if not (number.is_real and number.is_finite):
            at = ", ".join(f"{name} = {value}" for name, value in self.label.items())
            raise DesignError(
                f"{expression} is {number} for the subject {self.line.name!r}{at and f' at {at}'}. A claim predicts "
                "a finite real number. Restrict the claim with where=..., or correct the expression."
            )
        return float(number)


def sweep_lines(experiment_name: str, experiment: Experiment, settings: Settings) -> tuple[SweepLine, ...]:
    """Every line of the experiment under these settings."""
    sizes, case_list, along = _overridden(experiment, settings)
    draws, paired = experiment.number_of_draws(settings.effort), experiment.seeds == "paired"
    return tuple(
        SweepLine(
            experiment_name,
            name,
            subject,
            case,
            experiment.swept,
            dict(experiment.derived),
            along,
            sizes,
            draws,
            paired,
            experiment.seeds != "none",
        )
        for name, subject in experiment.subjects.items()
        for case in case_list
    )


def cells(claim: Claim, line: SweepLine) -> Iterator[Cell]:
    """The cases of the claim on this line: one for every value of its index letters that ``where`` admits.

    A claim holds an index that is written in it, and one over which a letter in it is measured. A condition on sizes
    leaves of the sweep the sizes that satisfy it.
    """
    along = {line.swept, *line.derived} & claim.where.free_symbols
    written = {letter for letter in claim.letters if isinstance(letter, Index)}
    held = sorted(written.union(*(letter.over for letter in claim.observed)), key=str)
    for values in itertools.product(*(line.along[letter] for letter in held)):
        cell = Cell(line, dict(zip(held, values, strict=True)))
        if along:
            sizes = tuple(size for size in line.sizes if cell.exact(claim.where, size) == True)  # noqa: E712
            if sizes:
                yield replace(cell, line=_at_sizes(line, sizes))
        elif cell.exact(claim.where) == True:  # noqa: E712  (SymPy's true is no Python bool)
            yield cell


def _at_sizes(line: SweepLine, sizes: tuple[int, ...]) -> SweepLine:
    return line if sizes == line.sizes else replace(line, sizes=sizes)


def _nothing(key: Any) -> None:
    """Nothing is built for a claim over a box."""


BOX = SweepLine("", "the box", Subject(_nothing), NOTHING, Size("box", "not swept"), NOTHING, NOTHING, (), 0)
"""In the place of a line for claims that measure nothing: they speak of parameters in their exact ranges."""


def evidence_lines(theorem: Theorem, claim: Claim, table: Mapping[str, tuple[SweepLine, ...]]) -> list[SweepLine]:
    """The lines whose subjects satisfy every hypothesis of the claim."""
    name = theorem.experiment_of(claim)
    if name is None:
        return [BOX] if claim.range else []
    return _admitted(claim, theorem.evidence(claim), table[name])


def control_lines(theorem: Theorem, claim_name: str, table: Mapping[str, tuple[SweepLine, ...]]) -> list[SweepLine]:
    """The lines whose subjects must fail the claim of this name."""
    name = theorem.experiment_of(theorem.claims[claim_name])
    if name is None:
        return []
    return _admitted(theorem.claims[claim_name], theorem.controls(claim_name), table[name])


def _admitted(claim: Claim, subjects: Mapping[str, Subject], table: tuple[SweepLine, ...]) -> list[SweepLine]:
    """The lines of these subjects of which the claim speaks; one that breaks a hypothesis is looked at in one case."""
    found: list[SweepLine] = []
    for line in table:
        speaks = line.name in subjects and any(True for _ in cells(claim, line))
        seen = line.subject.breaks and any(line.name == other.name for other in found)
        if speaks and not seen:
            found.append(line)
    return found


def _overridden(
    experiment: Experiment, settings: Settings
) -> tuple[tuple[int, ...], tuple[Mapping[Letter, Expr], ...], Mapping[Index, tuple[int, ...]]]:
    """Sizes, cases and index values after --sizes and --at."""
    sizes = dict(settings.sizes).get(experiment.swept.name, experiment.sizes(settings.effort))
    wanted = {name: sympify(value, rational=True) for name, value in settings.at}
    along = {
        index: (int(wanted[index.name]),) if index.name in wanted else values
        for index, values in experiment.along.items()
    }
    unique: list[Mapping[Letter, Expr]] = []
    for case in experiment.cases:
        changed = {letter: wanted.get(letter.name, value) for letter, value in case.items()}
        if changed not in unique:
            unique.append(changed)
    return sizes, tuple(unique), along


def _of_subjects(name: str, experiments: Iterable[Experiment]) -> str:
    """Every subject that fixes the letter, with its value; empty where none does."""
    found = {
        subject: value
        for experiment in experiments
        for subject, built in experiment.subjects.items()
        for letter, value in built.knows.items()
        if str(letter) == name
    }
    told = [f"{subject}: {value}" for subject, value in found.items()]
    return ", ".join(told[:3]) + (f"; {len(told) - 3} more" if len(told) > 3 else "")


def refuse_unknown(theorem: Theorem, settings: Settings) -> None:
    """Let pass what --at and --sizes name in this theorem.

    **Raises:** UsageError for a letter that no experiment has, or a value that the letter cannot take.
    """
    experiments = theorem.experiments.values()
    swept = {str(experiment.swept): experiment.sizes(settings.effort) for experiment in experiments}
    for name, _ in settings.sizes:
        if name not in swept:
            known = " or ".join(f"{_SIZES} {letter}={sizes[0]}..{sizes[-1]}" for letter, sizes in swept.items())
            raise UsageError(
                f"{_SIZES} {name}=...: this theorem does not sweep {name}{did_you_mean(name, swept)} "
                + (f"Write {known}." if known else f"It has no sweep at all: leave {_SIZES} out.")
            )
    letters = {str(letter): letter for experiment in experiments for case in experiment.cases for letter in case}
    letters |= {str(index): index for experiment in experiments for index in experiment.along}
    for name, text in settings.at:
        if name not in letters and (known := _of_subjects(name, experiments)):
            raise UsageError(f"{name} belongs to the subject ({known}). `verify evaluate` takes any value.")
        if name not in letters:
            raise UsageError(
                f"{_AT} {name}={text}: this theorem has no parameter {name}{did_you_mean(name, letters)} "
                + (f"It can be looked at along {', '.join(letters)}." if letters else f"Leave {_AT} out.")
            )
        letter, value = letters[name], sympify(text, rational=True)
        if (word := disobeyed(letter, value)) is not None:
            example = ("2" if letter.is_integer else "1/2") if letter.is_positive else ""
            raise UsageError(
                f"{_AT} {name}={text}: {letter} ({letter.meaning}) is assumed to be {word}, which {value} is not. "
                + (f"Write {_AT} {name}={example}." if example else f"Give a value that is {word}.")
            )
