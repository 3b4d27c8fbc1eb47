"""The common part of every kind of claim, and the checks of its letters when it is built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, final

from sympy import (
    Basic,
    Expr,
    MatrixBase,
    Rational,
    Symbol,
    latex,
    sympify,
    true,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from theorax.decide.kinds import KindWords
from theorax.decide.moments import LIGHT_TAILS, DeclaredMoments
from theorax.decide.status import Reading, Side
from theorax.decide.verdict import Assumption
from theorax.errors import problem
from theorax.language.argument_types import refuse_value, takes
from theorax.language.hypothesis import Hypothesis
from theorax.language.known_means import KnownMean
from theorax.language.letters import Measured, Parameter, Size, disobeyed, disobeyed_between
from theorax.language.limit_laws import LawOfNumbers
from theorax.language.margins import Margin
from theorax.language.notation import inline
from theorax.language.variants import Change

NOTHING: Mapping[Any, Any] = MappingProxyType({})
FEW = Rational(1, 50)  # the share of draws that a sampled bound may leave open
MOST = Rational(1, 10)  # and the largest share that may be called few


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A claim of any kind; abstract.

    ``margin`` with its reason: "false by at least the margin" is rejected before the claim is called supported.
    ``under``: the hypotheses it needs, all of the theorem's if None. ``where``: the cases it speaks of.
    ``on``: the experiment whose observations it speaks of; may stay None where one experiment measures its letters.
    ``wrong``: wrong variants by name, each a value in the place of the predicted side, or a dictionary of replaced
    fields. ``implied``: weaker variants that must stay supported, written in the same way.
    ``corrected``: this is what the source prints, the named claim is what holds.
    ``reading``: "exact" refutes what is not just as claimed; "margin" only what is off by more than the margin.
    ``spread``: planned standard deviation of one draw in units of the claimed value (see the verifiers' planner).
    ``bare_because``: why the claim compares bare letters or numbers, whose mathematics has no formula and no notation.
    ``variates``: quantities of known mean that are taken from what is averaged, of a claim about means or their rate.
    """

    margin: Margin | None = None
    under: Hypothesis | tuple[Hypothesis, ...] | None = None
    where: Boolean = true
    on: str | None = None
    wrong: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    implied: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    corrected: str | None = None
    spread: Expr | float = 0.2
    reading: Reading = Reading.EXACT
    variates: KnownMean | tuple[KnownMean, ...] = ()
    bare_because: str = field(
        default="", repr=False
    )  # no part of the design, whose hash is made of the text of the claim

    words: ClassVar[KindWords] = KindWords()  # of the kind
    measured_fields: ClassVar[tuple[str, ...]] = ()  # SymPy fields evaluated on the observations
    stated_fields: ClassVar[tuple[str, ...]] = ()  # SymPy fields evaluated on letters that are known before any draw
    predicted_fields: ClassVar[tuple[str, ...]]  # what theory predicts is the first of these that is given
    averaged: ClassVar[str | None] = None  # the field whose mean over the draws is compared
    takes_variates: ClassVar[bool] = False  # quantities of known mean may be taken from what is averaged
    predicts_an_exponent: ClassVar[bool] = False  # its sign is a direction: growth or decay
    has_margin_reading: ClassVar[bool] = False  # draws estimate how far off it is; not so where one instance refutes
    speaks_of_the_law_drawn: ClassVar[bool] = False  # support speaks of the law of the draws, not of every instance

    def __post_init__(self) -> None:
        self._take()
        self._read()
        for name in (*self.measured_fields, *self.stated_fields):
            value = getattr(self, name)
            if value is not None and not isinstance(value, LawOfNumbers):
                object.__setattr__(self, name, sympify(value))
        for name in self.stated_fields:
            value = getattr(self, name)
            if isinstance(value, Basic) and (letters := measured_letters(value)):
                self._refuse(
                    "stated-side",
                    f"{name}={value} holds {listed(letters)}, which only a draw can tell",
                    "This side is what theory predicts before any draw.",
                    "Move the measured letter to the other side.",
                )

    @property
    def kind(self) -> str:
        """The kind's name as a selector knows it: ``limit``, ``rate``, ..."""
        return type(self).__name__.lower()

    @property
    def letters(self) -> frozenset[Symbol]:
        """Every symbol in the claim, and the indices over which its measured letters run."""
        found: set[Symbol] = set(self.where.free_symbols)
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, Basic):
                found |= value.free_symbols
            elif isinstance(value, LawOfNumbers):
                found |= value.letters
            elif isinstance(value, DeclaredMoments):
                found = found.union(*(sympify(end).free_symbols for end in value.ends))
            elif isinstance(value, tuple):
                for member in value:
                    found |= member.letters if isinstance(member, LawOfNumbers) else frozenset()
                    found |= member.symbols if isinstance(member, KnownMean) else frozenset()
        return frozenset(found.union(*(letter.over for letter in found if isinstance(letter, Measured))))

    @property
    def lemmas(self) -> tuple[str, ...]:
        """The names of the lemmas by which the claim says that something holds which is not measured."""
        return ()

    @property
    def observed(self) -> frozenset[Measured]:
        """The measured letters that the claim needs."""
        return frozenset(letter for letter in self.letters if isinstance(letter, Measured))

    @property
    def known_means(self) -> tuple[KnownMean, ...]:
        """The variates, one or several."""
        return (self.variates,) if isinstance(self.variates, KnownMean) else self.variates

    @property
    def as_drawn(self) -> Claim:
        """The claim without variates."""
        return replace(self, variates=()) if self.variates else self

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        """The exact ranges of the parameters of a claim over a box; empty for one that is measured."""
        return NOTHING

    @property
    def predicted(self) -> str:
        """The name of the field that theory predicts."""
        return next(name for name in self.predicted_fields if getattr(self, name) is not None)

    def replaced(self, variant: Any) -> Mapping[str, Any]:
        """The fields that a variant named in ``wrong`` or ``implied`` replaces."""
        return variant if isinstance(variant, Mapping) else {self.predicted: variant}

    @property
    def prediction(self) -> Expr | None:
        """The side that theory predicts, where it is an expression."""
        value = getattr(self, self.predicted)
        return None if isinstance(value, LawOfNumbers) else value

    @property
    def is_bare(self) -> bool:
        """True if it compares measured letters without a notation with each other or with numbers: nothing symbolic."""
        parts: list[Any] = []
        for name in (*self.measured_fields, self.predicted):
            value = getattr(self, name)
            parts += value.args if isinstance(value, Relational) else value if isinstance(value, tuple) else (value,)
        return not self.range and all(map(_is_bare, (part for part in parts if part is not None)))

    @property
    def stated_side(self) -> Basic:
        """The mathematics that theory states: the predicted side, or of an event the side that no draw measures."""
        found = self.prediction
        assert found is not None  # a law of numbers has letters of its own
        return found

    @property
    def sided(self) -> Side:
        """On which side of the prediction the claim stays true."""
        return Side.EQUAL

    @property
    def tending(self) -> Size | None:
        """The size that tends to infinity, if one does."""
        return None

    @property
    def averaged_at_a_size(self) -> tuple[Expr, bool] | None:
        """The expression whose average at one size is compared along a sweep, and True for a geometric mean; or None."""
        return None

    @property
    def letters_of(self) -> tuple[Expr, ...]:
        """The letters whose law is meant, one or several together; none where no law is."""
        return ()

    @property
    def given(self) -> Expr | None:
        """The measured variance given which these letters are normal and centred; None where none is stated."""
        return None

    @property
    def searched(self) -> bool:
        """True if a search that may miss what it looks for stands in the place of all members of a class."""
        return False

    @property
    def proved_sides(self) -> tuple[Basic, ...]:
        """The expressions of which a proof must reach one to have settled the claim."""
        found = self.prediction
        return () if found is None or isinstance(found, MatrixBase) else (found,)

    @property
    def vanishing(self) -> Expr | None:
        """An expression that is zero at every instance exactly if the claim holds; None where no single one is."""
        return None

    @property
    @abstractmethod
    def formula(self) -> str:
        """The claim on one line of Unicode mathematics, without its regime and its condition."""

    @property
    def regime(self) -> str:
        """The sizes, draws or instances that the formula speaks of, in words; empty if it says so itself."""
        return f"as {inline(self.tending)} → ∞" if self.tending is not None else ""

    @property
    def displayed(self) -> str:
        """The formula and its regime over several lines, where a fraction or a root needs them."""
        return "  ".join(part for part in (self.formula, self.regime) if part)

    @property
    @abstractmethod
    def formula_latex(self) -> str:
        """The formula in LaTeX."""

    # A condition is part of the statement: only here are the two put together, and no kind can forget it.
    @final
    @property
    def condition(self) -> str:
        """The cases that the claim speaks of; empty if it speaks of all."""
        return "" if self.where == true else inline(self.where)

    @final
    @property
    def statement(self) -> str:
        """The claim on one line of Unicode mathematics."""
        shown = "  ".join(part for part in (self.formula, self.regime) if part)
        return shown + (f",  where {self.condition}" if self.condition else "")

    @final
    @property
    def typeset(self) -> str:
        """The claim over several lines, where a fraction or a root needs them."""
        shown = self.displayed
        if not self.condition:
            return shown
        return f"{shown}\nwhere {self.condition}" if "\n" in shown else f"{shown},  where {self.condition}"

    @final
    @property
    def latex(self) -> str:
        """The claim in LaTeX."""
        return self.formula_latex + (rf" \quad \text{{where }} {latex(self.where)}" if self.condition else "")

    @abstractmethod
    def wrong_variants(self) -> Iterator[Change]:
        """Statements that are false where the claim is true: what is replaced, by name."""

    def sharper_variants(self) -> Iterator[Change]:
        """Statements that are false only where the claim's bound is tight."""
        yield from ()

    def weaker_variants(self) -> Iterator[Change]:
        """Statements that follow from the claim."""
        yield from ()

    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions of the decision on draws: the class of corrections, the tails."""
        return ()

    def seen_at(self, sizes: str) -> str:
        """For what a verdict on draws at these sizes is said."""
        return f"{'for the law sampled at' if self.speaks_of_the_law_drawn else 'at'} {sizes}"

    def _take(self) -> None:
        """Check the types of what every kind of claim has.

        **Raises:** StatementError for a value of another type.
        """
        who = type(self).__name__
        if isinstance(self.where, bool):
            object.__setattr__(self, "where", sympify(self.where))
        under = self.under if isinstance(self.under, tuple) else () if self.under is None else (self.under,)
        takes(who, "margin", self.margin, Margin | None, 'Write Absolute(1, 10, "why") or Relative(1, 10, "why").')
        takes(who, "where", self.where, Boolean, "Write a relation of letters, such as where=l > 1.")
        for part in under:
            takes(who, "under", part, Hypothesis, "Write the hypothesis itself, under=H.name, or a tuple of them.")
        self._take_variates()
        for name in ("wrong", "implied"):
            instead = f'Write {name}={{"what it says": value}}.'
            takes(who, name, getattr(self, name), Mapping, instead)
        spread = sympify(self.spread) if isinstance(self.spread, Basic | int | float) else None
        if spread is None or not isinstance(spread, Expr) or (spread.is_number and not spread.is_nonnegative):
            refuse_value(
                who,
                "spread",
                self.spread,
                "Write a number from zero on or an expression of letters, such as Rational(1, 5).",
            )

    def _take_variates(self) -> None:
        who = type(self).__name__
        takes(who, "variates", self.known_means, tuple, 'Write variates=(KnownMean(of, mean, because="..."),).')
        for part in self.known_means:
            takes(who, "variates", part, KnownMean, 'Write variates=(KnownMean(of, mean, because="..."),).')
        if self.variates and not self.takes_variates:
            self._refuse(
                "variates",
                f"variates={self.variates} are given",
                "They are taken from draws that are averaged, and this claim averages none.",
                "Leave them out, or state a Limit, an Expectation or a Rate.",
            )

    def _read(self) -> None:
        """Check the reading.

        **Raises:** StatementError for a word that is none, and for a kind of claim that has no margin reading.
        """
        known = [str(reading) for reading in Reading]
        if self.reading not in known:
            self._refuse(
                "reading",
                f"reading={self.reading!r} is unknown",
                "A claim is the value itself, or a value within the margin.",
                f"Write one of {', '.join(known)}.",
            )
            return
        object.__setattr__(self, "reading", Reading(self.reading))
        if self.reading is Reading.MARGIN and not self.has_margin_reading:
            self._refuse(
                "reading",
                'reading="margin" is given',
                "One instance on which it fails refutes it: there is no distance that a margin could forgive.",
                "Leave it out, or state a Probability, a Limit or an Expectation with a margin.",
            )

    def _refuse(self, rule: str, given: str, why: str, instead: str) -> None:
        problem(rule, f"{type(self).__name__}: {given}. {why} {instead}")


def exact_box(claim: Any) -> Mapping[Parameter, tuple[Expr, Expr]]:
    """The exact ranges of the parameters of a claim over a box."""
    sides = {}
    for letter, ends in claim.over.items():
        if not isinstance(letter, Parameter) or len(ends) != 2:
            claim._refuse(
                "box-range",
                f"over={{{letter}: {ends}}} gives no range of a parameter",
                "A box is a product of intervals of parameters.",
                f'Declare {letter} = Parameter("{letter}", "...") and write over={{{letter}: (0, 1)}}.',
            )
            continue
        lower, upper = (exact_number(claim, letter, end) for end in ends)
        if not lower < upper:
            claim._refuse(
                "box-range",
                f"over={{{letter}: ({lower}, {upper})}} is empty",
                "No point lies in it.",
                "Write the lower end first.",
            )
        if (word := disobeyed_between(letter, lower, upper)) is not None:
            zero = lower == 0 and word in ("positive", "nonzero")
            claim._refuse(
                "box-range",
                f"over={{{letter}: ({lower}, {upper})}} holds values of {letter} that are not {word}, and {letter} is "
                f"assumed to be",
                "SymPy has simplified by the assumption, so nothing is shown where it fails.",
                f'Declare {letter} = Parameter("{letter}", "..."'
                + (", nonnegative=True): write nonnegative=True." if zero else ") without it, or correct the range."),
            )
        sides[letter] = (lower, upper)
    if sides and (other := sorted(map(str, claim.letters - set(sides)))):
        claim._refuse(
            "box-letters",
            f"over gives no range of {', '.join(other)}",
            "A claim over a box speaks of the parameters of the box alone.",
            f"Add {other[0]} to over, or measure it in an experiment instead.",
        )
    return MappingProxyType(sides)


def exact_number(claim: Claim, letter: Symbol, value: Any) -> Expr:
    found = sympify(value)
    if not found.is_Rational:
        claim._refuse(
            "exact-value",
            f"{letter} = {value} is no rational number",
            "The ends of a box and the points in it are exact; the decimals of a float are not the number meant.",
            "Write an integer or Rational(1, 3).",
        )
    return found


def obeying(claim: Claim, letter: Symbol, value: Expr) -> Expr:
    if (word := disobeyed(letter, value)) is not None:
        claim._refuse(
            "letter-value",
            f"{letter} = {value} is not {word}, and {letter} is assumed to be",
            "SymPy has simplified by the assumption, so nothing is shown where it fails.",
            "Correct the value, or declare the letter without the assumption.",
        )
    return value


def measured_letters(expression: Basic) -> list[Measured]:
    return sorted((s for s in expression.free_symbols if isinstance(s, Measured)), key=str)


def listed(letters: list[Measured]) -> str:
    return ", ".join(map(str, letters))


def needs_measured(claim: Claim, name: str) -> None:
    if not measured_letters(getattr(claim, name)):
        claim._refuse(
            "measured-side",
            f"{name}={getattr(claim, name)} holds no measured letter",
            "Nothing would be measured.",
            'Declare one, Measured("s", "..."), and let observe return it.',
        )


def needs_few(claim: Any) -> None:
    """Refuse a content that is no small share of the draws."""
    if claim.content.is_number and not 0 < claim.content <= MOST:
        claim._refuse(
            "content",
            f"content={claim.content} is no share in (0, 1/10]",
            "It is the share of all draws that may violate the claim unseen; a claim of every draw leaves few of them open.",
            "Write content=Rational(1, 50), and more draws for a smaller one.",
        )


def needs_margin(claim: Claim) -> None:
    if claim.margin is None:
        claim._refuse(
            "margin-missing",
            "it has no margin",
            "Support of a statement about means excludes every error of at least a margin.",
            'Write margin=Relative(1, 10, "...").',
        )


def needs_light_tails(claim: Claim, moments: Any) -> None:
    """Refuse variates beside a declared range or variance, which numbers may leave once variates are taken from them."""
    if claim.variates and moments != LIGHT_TAILS:
        claim._refuse(
            "variates",
            f"variates are given beside moments={moments}",
            "Once they are taken away the numbers may leave what is declared.",
            "Leave out either.",
        )


def needs_moments(claim: Claim, moments: Any, instead: str) -> None:
    if moments != LIGHT_TAILS and not isinstance(moments, DeclaredMoments):
        claim._refuse(
            "moments",
            f"moments={moments!r} declares nothing that bounds the mean",
            "No interval for a mean holds under undeclared tails: a rare large value that was not drawn may carry it.",
            f'{instead} What can be declared: "light tails", Bounded(low, high), TwoValues(low, high), '
            "BoundedVariance(v).",
        )


def _is_bare(side: Any) -> bool:
    if isinstance(side, Measured):
        return not side.notation
    return isinstance(side, Expr) and side.is_number
