"""Experiments: what is built, what is observed of it, and along which sizes and cases."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

from sympy import Expr, Rational, sympify

from theorax.errors import problem
from theorax.language.argument_types import is_one_of, refuse_type, refuse_value, takes
from theorax.language.claims import Claim
from theorax.language.hypothesis import Hypothesis
from theorax.language.letters import Index, Letter, Letters, Measured, Parameter, Size, disobeyed
from theorax.names import did_you_mean, many

Value = TypeVar("Value", covariant=True)
NOTHING: Mapping[Any, Any] = MappingProxyType({})
Sizes: TypeAlias = int | tuple[int, ...]
Case: TypeAlias = Mapping[Parameter | Size, Any]


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
@dataclass(frozen=True, init=False)
class Subject:
    """Something to measure: evidence, negative control and counterexample in one.

    ``build(key, ...)`` returns an Equinox module (any pytree); after the key it names the letters it needs: sizes come
    as whole numbers (as extents where the experiment is padded), parameters as numbers, indices as the largest value
    measured. All randomness is in ``build``. Every further name is an option, a number that ``build`` asks for;
    subjects that differ in their options alone share one compiled program. ``knows``: exact values of parameters that
    belong to this subject. ``literal``: built at its true sizes in a padded experiment (one program per size).
    ``quenched``: why random numbers from a key of its own are held fixed; reports say so in the scope.

    ``bn = Subject(build, floor=0.0, kind=BATCH)`` is the theorem's own; ``bn(kind=OWN)`` has another option, and
    ``bn(kind=OWN).breaking(H.keys, fails=identity)`` is a control: it violates ``breaks`` and must fail ``fails``.
    """

    build: Callable[..., Any]
    options: Mapping[str, float]
    knows: Mapping[Parameter, Expr]
    breaks: tuple[Hypothesis, ...] = ()
    fails: tuple[Claim | str, ...] = ()
    literal: bool = False
    quenched: str = ""

    def __init__(
        self,
        build: Callable[..., Any],
        *,
        knows: Mapping[Parameter, Any] = NOTHING,
        literal: bool = False,
        quenched: str = "",
        **options: float,
    ) -> None:
        self._set(build=build, options=options, knows=_exact_values(knows), literal=literal, quenched=quenched)

    def _set(self, **fields: Any) -> Subject:
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check()
        return self

    def _with(self, **fields: Any) -> Subject:
        return copy(self)._set(**fields)

    def _check(self) -> None:
        if not callable(self.build):
            refuse_type("Subject", "build", self.build, "Write a function of a key, build(key, n).")
        for part in self.breaks:
            takes(
                "breaking",
                "hypothesis",
                part,
                Hypothesis,
                "Write the hypothesis itself, breaking(H.name, fails=claim).",
            )
        parameters = list(inspect.signature(self.build).parameters)
        if not parameters or parameters[0] != "key":
            problem(
                "build-key",
                f"Subject(build={self.build}) takes {parameters}. All randomness comes from a key. Write a function "
                "whose first parameter is key and whose others are letters, such as build(key, T, d).",
            )
        if self.fails and not self.breaks:
            problem(
                "control-breaks",
                f"A subject must fail {many(len(self.fails), 'claim')} but breaks no hypothesis. A claim that fails while its "
                "hypotheses hold is refuted, not controlled. Name the hypothesis: breaking(H.keys, fails=...).",
            )
        for name, value in self.options.items():
            if isinstance(value, Enum) and not isinstance(value, int):
                problem(
                    "option-number",
                    f"The option {name}={value} has no number. Compiled programs choose among branches by a number. "
                    f"Make {type(value).__name__} an IntEnum.",
                )

    @property
    def unpadded(self) -> Subject:
        """The same subject, built at its true sizes."""
        return self._with(literal=True)

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the letters that ``build`` asks for."""
        return tuple(inspect.signature(self.build).parameters)[1:]

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the hypotheses that it breaks."""
        return tuple(part.name for part in self.breaks)

    def __call__(self, *, knows: Mapping[Parameter, Any] | None = None, **options: float) -> Subject:
        """This subject with some options changed, or with other exact values of its parameters.

        **Raises:** StatementError for a name that is no option.
        """
        if unknown := sorted(set(options) - set(self.options)):
            problem(
                "unknown-option",
                f"A subject is changed in {unknown[0]!r}, which is no option ({', '.join(self.options) or 'it has none'})"
                f"{did_you_mean(unknown[0], self.options)} Write one of the options.",
            )
        known = self.knows if knows is None else _exact_values(knows)
        return self._with(options={**self.options, **options}, knows=known)

    def breaking(self, *hypotheses: Hypothesis, fails: Claim | tuple[Claim, ...] = ()) -> Subject:
        """This subject as a control: it violates these hypotheses, and these claims must fail on it."""
        failing = (fails,) if isinstance(fails, Claim) else fails
        return self._with(breaks=(*self.breaks, *hypotheses), fails=(*self.fails, *failing))

    def failing(self, name: Callable[[Claim | str], str]) -> Subject:
        """This subject with the names of the claims that must fail on it, in the place of the claims."""
        return self._with(fails=tuple(filter(None, map(name, self.fails))))


def _exact_values(known: Mapping[Parameter, Any]) -> Mapping[Parameter, Expr]:
    found = {letter: sympify(value) for letter, value in known.items()}
    for letter, value in found.items():
        _refuse_disobedient(letter, value, "A subject knows")
    return found


def _refuse_disobedient(letter: Letter, value: Expr, told: str) -> None:
    if (word := disobeyed(letter, value)) is not None:
        problem(
            "letter-value",
            f"{told} {letter} = {value}, which is not {word}, and {letter} ({letter.meaning}) is assumed to be. SymPy has "
            "simplified by the assumption, so the claims say nothing there. Correct the value, or declare the letter "
            "without the assumption.",
        )


FEWEST_DRAWS, MOST_DRAWS = 64, 4096
"""Draws at each size where an experiment states none: as many as its claims need, within these."""


@final
@dataclass(frozen=True)
class Experiment:
    """Draws of every subject at every case, along a sweep.

    ``observe(model, ...)`` is pure, takes no key, names the letters it needs and returns the measured ones by name.
    ``measures``: those letters, a namespace of them, or a tuple of both. ``sweep``: the letter that runs, with its
    sizes. ``derived`` keeps ratios, ``{d: T / gamma}``. ``at``: the case, or a tuple of cases.
    ``padded``: sizes come as extents inside a padding, so that one compiled program serves several sizes; otherwise
    they are whole numbers, and every size compiles its own.
    ``along``: index letters with the values measured within each draw. ``draws``: per size and case;
    if None as many as its claims need, by a pilot on seeds that no decision uses, between 64 and 4096.
    ``dtype``: float64 unless the quantity is far from rounding in float32.
    ``seeds``: "independent" draws at every size, "paired" (the same keys at every size), or "none" where nothing is
    random: every size is built twice, with two keys, and must come out the same.
    ``span``: sizes up to this many times apart share one compiled program, padded to the largest of them; more than two
    where a size is the length of a loop, which costs no more for being padded.
    ``platform``: "cpu" where an operation exists on the CPU alone.
    ``surrogate_because``: why a derivative that ``observe`` takes is meant not to be that of the numbers computed, such
    as one straight through a step; without it such a derivative is an error.
    ``adopt``: how a user's layer stands in for the subjects: from its factory to a ``build``; None where it cannot.
    ``asked``: the claims that are asked of such a layer; all if none is named.
    ``sizes_because``: why every size is a power of two, or has a factor in common with the others; printed as such.
    ``real_numbers_because``: why its exact claims are about the function of real numbers that ``observe`` computes and not
    about the floats that it returns; without it floats that break such a claim leave it open.

    ``observe`` may also return ``x_error``, a bound on the numerical error of the measured ``x``, which widens every
    interval, and ``x_valid``, the mask of the entries of a sample letter ``x`` that are meant.
    """

    observe: Callable[..., Mapping[str, Any]]
    measures: Letters | Measured | tuple[Letters | Measured, ...]
    sweep: Mapping[Size, Sizes | Efforts[Sizes]]
    _: KW_ONLY
    subjects: Mapping[str, Subject]
    padded: bool = False
    derived: Mapping[Size, Expr] = field(default_factory=lambda: NOTHING)
    at: Case | tuple[Case, ...] = field(default_factory=lambda: NOTHING)
    along: Mapping[Index, tuple[int, ...]] = field(default_factory=lambda: NOTHING)
    draws: int | Efforts[int] | None = None
    dtype: Literal["float32", "float64"] = "float64"
    seeds: Literal["independent", "paired", "none"] = "independent"
    span: int = 2
    platform: Literal["any", "cpu"] = "any"
    surrogate_because: str = ""
    adopt: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    asked: tuple[Claim | str, ...] = ()
    sizes_because: str = ""
    real_numbers_because: str = ""

    def __post_init__(self) -> None:
        self._take()
        if not self.subjects:
            problem(
                "no-subjects", "An experiment has no subjects. Nothing would be measured. Name one in subjects={...}."
            )
        if len(self.sweep) != 1:
            problem(
                "one-sweep",
                f"An experiment sweeps {len(self.sweep)} letters. One letter runs, the others follow. Put one in "
                "sweep={T: (...)} and the others in derived={d: T / gamma} or at=(...).",
            )
            return
        (swept,) = self.sweep
        if not isinstance(swept, Size):
            problem("sweep-size", f"The sweep runs through {swept}, which is no Size. Declare {swept} as a Size.")
        for effort in ("quick", "standard", "thorough"):
            sizes = self.sizes(effort)
            if not sizes or list(sizes) != sorted(set(sizes)) or sizes[0] < 1:
                problem(
                    "sweep-increasing",
                    f"The sweep {swept} = {sizes} is not an increasing list of positive sizes. "
                    "Each size is measured once, the smallest first. Sort it and drop repetitions.",
                )
            if self.number_of_draws(effort) < 1:
                problem("no-draws", "An experiment needs a draw. Write draws=64.")
        known = {self.swept.name, *(k.name for k in self.derived), *(k.name for k in self.along)}
        known |= {letter.name for case in self.cases for letter in case}
        for name, subject in self.subjects.items():
            mine = known | {letter.name for letter in subject.knows}
            asking = (
                (subject.needs, f"the subject {name!r}", mine | set(subject.options)),
                (self.reads, "observe", mine),
            )
            for asked, where, mine in asking:
                if missing := [letter for letter in asked if letter not in mine]:
                    problem(
                        "letter-unset",
                        f"{where} asks for {', '.join(missing)}, which the experiment does not set. "
                        f"Known letters: {', '.join(sorted(mine))}. Add it to sweep, derived, at or along.",
                    )
        for letter in self.measured:
            if unknown := [index for index in letter.over if index not in self.along]:
                problem(
                    "index-values",
                    f"{letter} is measured over {unknown[0]}, for which no values are given. "
                    f"Write along={{{unknown[0]}: (1, 2, 3)}}.",
                )

    def _take(self) -> None:
        """Check the types of the parts; sizes are whole numbers, and what is derived from them expressions.

        **Raises:** StatementError for a value of another type.
        """
        who = "Experiment"
        if not callable(self.observe):
            refuse_type(who, "observe", self.observe, "Write a function of the model that returns dict(x=...).")
        for part in self.measures if isinstance(self.measures, tuple) else (self.measures,):
            takes(who, "measures", part, Letters | Measured, "Write the measured letters themselves, measures=(x, y).")
        for name in ("sweep", "subjects", "derived", "along"):
            takes(who, name, getattr(self, name), Mapping, f"Write {name}={{...}}.")
        for label, subject in self.subjects.items():
            takes(who, "subjects", label, str, 'Write subjects={"name": Subject(build)}.')
            takes(who, "subjects", subject, Subject, 'Write subjects={"name": Subject(build)}.')
        is_one_of(who, "seeds", self.seeds, ("independent", "paired", "none"))
        is_one_of(who, "dtype", self.dtype, ("float32", "float64"))
        is_one_of(who, "platform", self.platform, ("any", "cpu"))
        if isinstance(self.span, bool) or not isinstance(self.span, int) or self.span < 1:
            refuse_value(who, "span", self.span, "It is how many times apart sizes of one program lie. Write span=2.")
        for case in self.at if isinstance(self.at, tuple) else (self.at,):
            takes(who, "at", case, Mapping, "Write at={s: 1}, or a tuple of such cases.")
            for letter in case:
                takes(who, "at", letter, Letter, f'Declare the letter, {letter} = Parameter("{letter}", "...").')
        for given in () if self.draws is None else self._by_effort(self.draws):
            if isinstance(given, bool) or not isinstance(given, int):
                refuse_type(who, "draws", given, "Write a whole number, draws=64.")
        for sizes in self.sweep.values():
            for size in (
                one for part in self._by_effort(sizes) for one in (part if isinstance(part, tuple | list) else [part])
            ):
                if isinstance(size, bool) or not isinstance(size, int):
                    refuse_type(who, "sweep", size, "A size is counted. Write whole numbers, sweep={n: (32, 64, 128)}.")
        for index, values in self.along.items():
            if not all(isinstance(value, int) and value >= 1 for value in values) or len(set(values)) < len(values):
                refuse_value(
                    who,
                    "along",
                    values,
                    f"An index counts from one, each value once. Write along={{{index}: (1, 2, 3)}}.",
                )
        object.__setattr__(self, "derived", {size: sympify(formula) for size, formula in self.derived.items()})

    @staticmethod
    def _by_effort(given: Any) -> tuple[Any, ...]:
        return (given.quick, given.standard, given.thorough) if isinstance(given, Efforts) else (given,)

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """The measured letters, one by one."""
        given = self.measures if isinstance(self.measures, tuple) else (self.measures,)
        return tuple(letter for part in given for letter in (part if isinstance(part, Letters) else (part,)))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases, their values exact; one without letters if none is given.

        **Raises:** StatementError for a value that is a float.
        """
        given = self.at if isinstance(self.at, tuple) else (self.at,)
        return tuple({letter: _exact(letter, value) for letter, value in case.items()} for case in given)

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
        given = self.sweep[self.swept]
        sizes = given.at(effort) if isinstance(given, Efforts) else given
        return (sizes,) if isinstance(sizes, int) else sizes

    def number_of_draws(self, effort: str) -> int:
        """Draws per size, case and subject at this effort; two that must agree where nothing is random."""
        if self.seeds == "none":
            return 2
        if self.draws is None:
            return FEWEST_DRAWS
        return self.draws.at(effort) if isinstance(self.draws, Efforts) else self.draws


def _exact(letter: Letter, value: Any) -> Expr:
    if isinstance(value, float):
        problem(
            "exact-value",
            f"The case {letter} = {value} is a float. Its decimals are not the number meant, and symbolic steps would "
            f"carry the rounding. Write Rational({Rational(str(value)).p}, {Rational(str(value)).q}).",
        )
    found = sympify(value)
    _refuse_disobedient(letter, found, "The case has")
    return found
