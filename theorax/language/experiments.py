"""Experiments: what is built, what is observed of it, and along which sizes and cases."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, final

from sympy import Expr, Rational, sympify

from theorax.errors import StatementError
from theorax.language.letters import Index, Letter, Measured, Parameter, Size
from theorax.names import did_you_mean

Value = TypeVar("Value")
NOTHING: Mapping[Any, Any] = MappingProxyType({})


@final
@dataclass(frozen=True)
class Efforts(Generic[Value]):
    """One value for each effort a user can ask for."""

    quick: Value
    standard: Value
    thorough: Value

    def at(self, effort: str) -> Value:
        """The value at ``quick``, ``standard`` or ``thorough``."""
        return {"quick": self.quick, "standard": self.standard, "thorough": self.thorough}[effort]


@final
@dataclass(frozen=True)
class Subject:
    """Something to measure: evidence, negative control and counterexample in one.

    ``build(key, ...)`` returns an Equinox module (any pytree); after the key it names the letters it needs: sizes come
    as extents (``theorax.numerics.extents``), parameters as numbers, indices as the largest value measured. All
    randomness is in ``build``. ``knows``: exact values of parameters that belong to this subject.
    ``breaks``: hypotheses it violates; ``fails``: the claims that must then fail on it.
    ``options``: further numbers that ``build`` asks for by name; subjects that differ in their options alone share one
    compiled program. ``literal``: built at its true sizes instead of inside a padding (one program per size).
    """

    build: Callable[..., Any]
    options: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    knows: Mapping[Parameter, Expr] = field(default_factory=lambda: NOTHING)
    breaks: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    literal: bool = False

    def __post_init__(self) -> None:
        parameters = list(inspect.signature(self.build).parameters)
        if not parameters or parameters[0] != "key":
            raise StatementError(
                f"Subject(build={self.build}) takes {parameters}. All randomness comes from a key. Write a function "
                "whose first parameter is key and whose others are letters, such as build(key, T, d)."
            )
        if self.fails and not self.breaks:
            raise StatementError(
                f"A subject fails {self.fails} but breaks no hypothesis. A claim that fails while its hypotheses hold "
                "is refuted, not controlled. Name the hypothesis in breaks=(...)."
            )
        object.__setattr__(self, "knows", {letter: sympify(value) for letter, value in self.knows.items()})

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the letters that ``build`` asks for."""
        return tuple(inspect.signature(self.build).parameters)[1:]

    def but(self, **changes: Any) -> Subject:
        """This subject with some options or fields changed; options that are not named stay as they are.

        **Raises:** StatementError for a name that is neither an option nor one of the fields knows, breaks and fails.
        """
        options = {name: changes.pop(name) for name in self.options if name in changes}
        roles = ("knows", "breaks", "fails")
        if unknown := sorted(set(changes) - set(roles)):
            raise StatementError(
                f"A subject is changed in {unknown[0]!r}, which is neither an option ({', '.join(self.options) or 'none'}) nor "
                f"one of its roles{did_you_mean(unknown[0], [*self.options, *roles])} What no model asks for changes "
                "nothing. Write one of the options, or knows, breaks, fails."
            )
        return replace(self, options={**self.options, **options}, **changes)


@final
@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Draws of every subject at every case, along a sweep.

    ``observe(model, ...)`` is pure, takes no key, names the letters it needs and returns the measured ones by name.
    ``sweep``: the letter that runs through sizes. ``derived`` keeps ratios, ``{d: T / gamma}``. ``at``: the cases.
    ``along``: index letters with the values measured within each draw. ``draws``: per size and case.
    ``dtype``: float64 unless the quantity is far from rounding in float32.
    ``seeds``: "independent" draws at every size, "paired" (the same keys at every size), or "none" where nothing is
    random: every size is built twice, with two keys, and must come out the same.
    ``span``: sizes up to this many times apart share one compiled program, padded to the largest of them; more than two
    where a size is the length of a loop, which costs no more for being padded.
    ``platform``: "cpu" where an operation exists on the CPU alone.
    ``adopt``: how a user's layer stands in for the subjects: from its factory to a ``build``; None where it cannot.
    ``asked``: the claims that are asked of such a layer; all if none is named.

    ``observe`` may also return ``x_error``, a bound on the numerical error of the measured ``x``, which widens every
    interval, and ``x_valid``, the mask of the entries of a sample letter ``x`` that are meant.
    """

    subjects: Mapping[str, Subject]
    observe: Callable[..., Mapping[str, Any]]
    measures: tuple[Measured, ...]
    sweep: Mapping[Size, tuple[int, ...] | Efforts[tuple[int, ...]]]
    derived: Mapping[Size, Expr] = field(default_factory=lambda: NOTHING)
    at: tuple[Mapping[Parameter | Size, Any], ...] = (NOTHING,)
    along: Mapping[Index, tuple[int, ...]] = field(default_factory=lambda: NOTHING)
    draws: int | Efforts[int] = 64
    dtype: Literal["float32", "float64"] = "float64"
    seeds: Literal["independent", "paired", "none"] = "independent"
    span: int = 2
    platform: Literal["any", "cpu"] = "any"
    adopt: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    asked: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", tuple({k: _exact(k, v) for k, v in case.items()} for case in self.at))
        if not self.subjects:
            raise StatementError(
                "An experiment has no subjects. Nothing would be measured. Name one in subjects={...}."
            )
        if len(self.sweep) != 1:
            raise StatementError(
                f"An experiment sweeps {len(self.sweep)} letters. One letter runs, the others follow. Put one in "
                "sweep={T: (...)} and the others in derived={d: T / gamma} or at=(...)."
            )
        (swept,) = self.sweep
        if not isinstance(swept, Size):
            raise StatementError(f"The sweep runs through {swept}, which is no Size. Declare {swept} as a Size.")
        for effort in ("quick", "standard", "thorough"):
            sizes = self.sizes(effort)
            if not sizes or list(sizes) != sorted(set(sizes)) or sizes[0] < 1:
                raise StatementError(
                    f"The sweep {swept} = {sizes} is not an increasing list of positive sizes. "
                    "Each size is measured once, the smallest first. Sort it and drop repetitions."
                )
            if self.number_of_draws(effort) < 1:
                raise StatementError("An experiment with no draws observes nothing. Write draws=64.")
        known = {self.swept.name, *(k.name for k in self.derived), *(k.name for k in self.along)}
        known |= {letter.name for case in self.at for letter in case}
        for name, subject in self.subjects.items():
            mine = known | {letter.name for letter in subject.knows}
            asking = (
                (subject.needs, f"the subject {name!r}", mine | set(subject.options)),
                (self.reads, "observe", mine),
            )
            for asked, where, mine in asking:
                if missing := [letter for letter in asked if letter not in mine]:
                    raise StatementError(
                        f"{where} asks for {', '.join(missing)}, which the experiment does not set. "
                        f"Known letters: {', '.join(sorted(mine))}. Add it to sweep, derived, at or along."
                    )
        for letter in self.measures:
            if unknown := [index for index in letter.over if index not in self.along]:
                raise StatementError(
                    f"{letter} is measured over {unknown[0]}, for which no values are given. "
                    f"Write along={{{unknown[0]}: (1, 2, 3)}}."
                )

    @property
    def swept(self) -> Size:
        """The letter that runs."""
        (letter,) = self.sweep
        return letter

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the letters that ``observe`` asks for."""
        return tuple(inspect.signature(self.observe).parameters)[1:]

    def sizes(self, effort: str) -> tuple[int, ...]:
        """The sizes of the sweep at this effort."""
        sizes = self.sweep[self.swept]
        return sizes.at(effort) if isinstance(sizes, Efforts) else sizes

    def number_of_draws(self, effort: str) -> int:
        """Draws per size, case and subject at this effort; two that must agree where nothing is random."""
        if self.seeds == "none":
            return 2
        return self.draws.at(effort) if isinstance(self.draws, Efforts) else self.draws


def _exact(letter: Letter, value: Any) -> Expr:
    if isinstance(value, float):
        raise StatementError(
            f"The case {letter} = {value} is a float. Its decimals are not the number meant, and symbolic steps would "
            f"carry the rounding. Write Rational({Rational(str(value)).p}, {Rational(str(value)).q})."
        )
    return sympify(value)
