"""A claim about columns of a file, planned from what is declared and decided by the functions of `theorax.decide`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast, final

import numpy as np

from theorax import decide
from theorax.cli.draws_by_size import RowsBySize, error_bounds, read_by_size, wide_table
from theorax.cli.formulas import LARGEST
from theorax.cli.statements import BoundClaim, LawClaim, LimitClaim, MeanClaim, ProbabilityClaim, RateClaim
from theorax.cli.tables import LARGEST_OF_LOGARITHMS, DataTable
from theorax.decide.designs import ASSURED
from theorax.decide.inequalities import Excess, look_at_rows, of_excess
from theorax.decide.known_laws import KnownLaw
from theorax.decide.moments import LIGHT_TAILS, Moment
from theorax.decide.plans import Planned, Seeds, SweepPlan
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Verdict
from theorax.errors import UsageError
from theorax.names import did_you_mean, many

__all__ = [
    "Claim", "Study", "StudyOptions", "study_bound", "study_law", "study_limit", "study_mean", "study_probability",
    "study_rate",
]  # fmt: skip

Claim = RateClaim | LimitClaim | MeanClaim | BoundClaim | LawClaim | ProbabilityClaim
ROWS_ARE_DRAWS = "Every row is taken as one independent draw."
_SHARE = 0.2  # of the claimed limit: the planned spread of one value where none is declared
_NO_LOGARITHM = "A rate is read off logarithms, which only positive numbers have. Write an absolute value or a square"


@final
@dataclass(frozen=True)
class StudyOptions:
    """Declarations beside the claim, made before a value is read."""

    margin: float | None = None
    sd: float | None = None
    levels: decide.Levels = field(default_factory=decide.Levels)
    reading: str | None = None  # None: nothing was declared
    corrections: decide.Corrections | None = None  # None: nothing was declared
    seeds: str | None = None
    paired: str | None = None
    error: str | None = None
    floor: float = 0.0
    average: str = "mean of log"
    moments: Moment = LIGHT_TAILS
    unexplained: bool = False  # the class is sharper than the default, and no reason was given

    @property
    def read(self) -> str:
        """The reading of a claim that has a margin."""
        return self.reading or decide.Reading.MARGIN


@final
@dataclass(frozen=True)
class Study:
    """Result of a study: the plan, the verdict, and notes on the reading of the file."""

    plan: Planned
    verdict: Verdict
    notes: tuple[str, ...]

    @property
    def remedy(self) -> str | None:
        """The cheapest data that would decide a claim which these data leave open."""
        if self.verdict.status is not Status.INCONCLUSIVE:
            return None
        case = self.verdict.cases[0]
        if case.reason == Reason.CLASS_REFUTED:
            return "no data under this class: they do not have the claimed form. Declare another class, or claim another form."
        if case.reason == Reason.CLASS:
            return "a class that holds this form, or a reason for the declared one: --class ... --because TEXT."
        if case.reason == Reason.NOISE_UNDECLARED:
            return "`--seeds none` if the values are exact, `--error COLUMN` for their bounds, or several runs at every size."
        if case.reason == Reason.NUMERIC_FLOOR:
            return "values above the numerical floor: smaller sizes, or a finer arithmetic."
        plan = self.plan
        away = 0.0 if case.estimate is None or case.predicted is None else abs(case.estimate - case.predicted)
        # An estimate off the claim leaves less of the margin to support it, and less than the margin to refute it.
        needed = max(plan.margin - away, away) if isinstance(plan, SweepPlan) else plan.margin
        better = (replace(plan, margin=needed) if needed < plan.margin else plan).cheapest()
        if better is None:
            return "no sweep that was tried: declare a sharper class with its reason, or a wider margin."
        certain = isinstance(plan, SweepPlan) and plan.seeds is Seeds.NONE
        chance = "" if certain else f" with probability {ASSURED:g}"
        return f"{better.design} (the cheapest that decides{chance} if the estimate is right)"


def study_rate(table: DataTable, claim: RateClaim, declared: StudyOptions) -> Study:
    """The order of a positive column along a column of sizes."""
    exponent = -claim.exponent if claim.shrinks else claim.exponent
    of_claim = {"exponent": float(exponent), "form": claim.form}
    sd = 0.2 if declared.sd is None else declared.sd
    return _along_sizes(table, claim, declared, of_claim, sd=sd, floor=declared.floor, average=declared.average)


def study_limit(table: DataTable, claim: LimitClaim, declared: StudyOptions) -> Study:
    """The limit of the mean of a column along a column of sizes."""
    of_claim = {"to": float(claim.to)}
    return _along_sizes(table, claim, declared, of_claim, sd=declared.sd, moments=declared.moments)


def _along_sizes(
    table: DataTable,
    claim: RateClaim | LimitClaim,
    declared: StudyOptions,
    of_claim: dict[str, Any],
    **of_draws: Any,
) -> Study:
    """Decide a claim along sizes. A sequence without randomness is planned from ``of_claim`` alone."""
    of_rate = isinstance(claim, RateClaim)
    plan_of = cast("Callable[..., SweepPlan]", decide.plan_rate if of_rate else decide.plan_limit)
    decided = cast("Callable[[Any, Any], Verdict]", decide.rate if of_rate else decide.limit)
    letter = f"(1/{claim.letter})" if claim.shrinks else claim.letter
    given: dict[str, Any] = {**of_claim, **_common(claim.of, declared), "side": claim.side, "letter": letter}
    given["corrections"] = declared.corrections or decide.Corrections()
    if (whole := wide_table(table, claim.letter, claim.of, claim.shrinks)) is not None:
        sizes, values = whole
        plan = plan_of(sizes, draws=len(values), seeds=declared.seeds or "undeclared", **of_draws, **given)
        note = f"Each of {many(len(values), 'row')} of the array is taken as one draw at every size."
        return Study(plan, decided(plan, values), (note,))
    positive = of_rate and declared.floor == 0  # values at a floor need not be positive
    logs = positive and declared.average == "mean of log"
    largest = LARGEST_OF_LOGARITHMS if logs else LARGEST
    found = read_by_size(table, claim.letter, claim.of, declared.error, declared.paired, claim.shrinks, largest)
    if positive:
        found.rows.refuse(claim.of, found.values <= 0, _NO_LOGARITHM)
    if _deterministic(found, declared, letter):
        if declared.error is not None or declared.floor or declared.seeds == Seeds.NONE:
            return _sequence(found, declared, given, of_limit=not of_rate)
        return _one_each(found, given, of_draws, of_rate=of_rate)
    counts, seeds = _drawn(found, declared, letter)
    plan = plan_of(list(found.counts), draws=counts, seeds=seeds, **of_draws, **given)
    return Study(plan, decided(plan, found.columns), _notes(seeds))


def study_mean(table: DataTable, claim: MeanClaim, declared: StudyOptions) -> Study:
    """The mean of a column."""
    values = table.read([claim.of]).columns[claim.of]
    given = {**_common(claim.of, declared), "sd": declared.sd, "moments": declared.moments, "side": claim.side}
    plan = decide.plan_mean(to=float(claim.to), draws=len(values), **given)
    return Study(plan, decide.mean(plan, values), (ROWS_ARE_DRAWS,))


def study_probability(table: DataTable, claim: ProbabilityClaim, declared: StudyOptions) -> Study:
    """The probability of the event whose outcomes, 0 or 1, are in a column."""
    rows = table.read([claim.of], truths=[claim.of])
    outcomes = rows.columns[claim.of]
    other = (outcomes != 0) & (outcomes != 1)
    rows.refuse(claim.of, other, "An event happens or not. Write 1 or 0, or true or false")
    given = _common(claim.of, declared)
    plan = decide.plan_probability(at_least=float(claim.at_least), draws=len(outcomes), **given)
    return Study(plan, decide.probability(plan, outcomes), (ROWS_ARE_DRAWS,))


def study_bound(table: DataTable, claim: BoundClaim, declared: StudyOptions) -> Study:
    """A bound that must hold in every row."""
    if not table.columns_of(claim.left) and not table.columns_of(claim.right):
        raise UsageError(
            f"`--at-most {claim.left} <= {claim.right}` compares two numbers. One side at least has a column."
        )
    rows = table.read([claim.left, claim.right, declared.error])
    excess = rows.columns[claim.left] - rows.columns[claim.right]
    error = error_bounds(rows, declared.error)
    reached = excess + error
    most = int(reached.argmax())
    kept, violated = int((reached <= 0).sum()), int((excess > error).sum())
    found = Excess(kept, violated, float(reached[most]), f"row {rows.numbers[most]}")
    plan = decide.plan_inequality(
        draws=len(excess),
        share=declared.margin,
        levels=declared.levels,
        reading=declared.reading,
        left=claim.left,
        right=claim.right,
    )
    looked = look_at_rows(plan, rows.columns[claim.left], rows.columns[claim.right])
    return Study(plan, of_excess(plan, found, looked), (ROWS_ARE_DRAWS,))


def study_law(table: DataTable, claim: LawClaim, declared: StudyOptions) -> Study:
    """The law of a column, or its limit along a column of sizes; against a named law or another column."""
    given = _common(claim.of, declared)
    if claim.letter is not None:
        if claim.parameters is None:
            raise UsageError("A limit is compared with a named law, not with a column. Leave `as ...` out.")
        found = read_by_size(table, claim.letter, claim.of, declared.error, declared.paired)
        counts, seeds = _drawn(found, declared, claim.letter)
        given |= {"seeds": seeds, "corrections": declared.corrections, "letter": claim.letter}
        plan = decide.plan_law(list(found.counts), to=_law(claim), draws=counts, **given)
        return Study(plan, decide.law(plan, found.columns), _notes(seeds))
    if claim.parameters is not None:
        values = table.read([claim.of]).columns[claim.of]
        plan = decide.plan_law(to=_law(claim), draws=len(values), **given)
        return Study(plan, decide.law(plan, values), (ROWS_ARE_DRAWS,))
    assert declared.sd is not None  # required by `missing_declarations`
    columns = table.read([claim.of, claim.to]).columns
    values, others = columns[claim.of], columns[claim.to]
    plan = decide.plan_law(to=decide.Sample(len(others), declared.sd), draws=len(values), **given)
    return Study(plan, decide.law(plan, values, others), (ROWS_ARE_DRAWS,))


def _common(of: str, declared: StudyOptions) -> dict[str, Any]:
    """Keywords that all plans have but that of a bound."""
    return {"margin": declared.margin, "levels": declared.levels, "reading": declared.read, "of": of, "name": of}


def _law(claim: LawClaim) -> KnownLaw:
    known: dict[str, tuple[type[KnownLaw], int]] = {
        "normal": (decide.Normal, 2),
        "uniform": (decide.Uniform, 2),
        "exponential": (decide.Exponential, 1),
    }
    if claim.to not in known:
        raise UsageError(f"There is no law `{claim.to}`{did_you_mean(claim.to, known)} Known: {', '.join(known)}.")
    parameters, (named, most) = claim.parameters or (), known[claim.to]
    if len(parameters) > most:
        raise UsageError(f"`{claim.to}` has {many(most, 'parameter')}, {len(parameters)} were given.")
    return named(*map(float, parameters))


def _deterministic(found: RowsBySize, declared: StudyOptions, letter: str) -> bool:
    """True where each size occurs once."""
    once = [size for size, count in found.counts.items() if count == 1]
    if not once:
        if declared.error is not None:
            raise UsageError(
                f"`--error {declared.error}` bounds the errors of values without randomness, but {letter} occurs several "
                "times each: these are draws, and their spread is their error. Leave `--error` out."
            )
        return False
    if len(once) < len(found.counts):
        several = next(size for size, count in found.counts.items() if count > 1)
        again = ", ".join(map(str, found.rows_at(several)[:3]))
        raise UsageError(
            f"{letter} = {once[0]:g} occurs once (row {found.rows_at(once[0])[0]}), {letter} = {several:g} occurs "
            f"{found.counts[several]} times (rows {again}). One value at every size is a sequence without randomness, "
            "several at every size are draws; this is neither. Complete the draws, or remove the repeated rows."
        )
    return True


def _sequence(found: RowsBySize, declared: StudyOptions, given: dict[str, Any], *, of_limit: bool) -> Study:
    letter, values, errors = given["letter"], found.values, found.errors
    _refuse_falling(found, letter)
    if not of_limit:
        if (errors >= values).any():
            at = int(np.argmax(errors >= values))
            raise UsageError(
                f"Row {found.rows.numbers[at]}: the error {errors[at]:g} at {letter} = {found.sizes[at]:g} is as large as "
                f"the value {values[at]:g}. Nothing is known of its logarithm. Leave out what lies below its error."
            )
        # |log q - log q'| for |q - q'| <= e, the larger side.
        errors = -np.log1p(-errors / values)
    if not of_limit:
        given = {**given, "floor": declared.floor}
    plan = decide.plan_sequence(found.sizes.tolist(), errors=errors.tolist(), **given)
    exact = "" if declared.error is not None else ", as exact"
    note = (
        f"Each size ({letter}) occurs once: the values are taken{exact}, without randomness, and the verdict spends no "
        "error rate."
    )
    return Study(plan, decide.sequence(plan, values), (note,))


def _one_each(found: RowsBySize, given: dict[str, Any], of_draws: dict[str, Any], *, of_rate: bool) -> Study:
    """One value at each size, of whose error nothing was said: its noise is read off the residuals."""
    _refuse_falling(found, given["letter"])
    if not of_rate and of_draws["sd"] is None:
        of_draws = {**of_draws, "sd": _SHARE * (abs(given["to"]) or 1.0)}
    plan_of = cast("Callable[..., SweepPlan]", decide.plan_rate if of_rate else decide.plan_limit)
    plan = plan_of(list(found.counts), draws=1, **of_draws, **given)
    columns = [np.array([value]) for value in found.values]
    decided = cast("Callable[[Any, Any], Verdict]", decide.rate if of_rate else decide.limit)
    verdict = decided(plan, columns)
    note = (
        f"Each size ({given['letter']}) occurs once, and nothing says how exact the values are: their noise is read off "
        "the residuals. Write `--seeds none` if they are exact, or name a column of error bounds with --error."
    )
    return Study(plan, verdict, (note,))


def _refuse_falling(found: RowsBySize, letter: str) -> None:
    """A table whose sizes fall from one row to the next is often two tables."""
    steps = np.diff(found.sizes)
    if (steps >= 0).all():
        return
    at = int(np.argmax(steps < 0))
    remedy = "Sort the rows."
    if (steps < 0).all() and not letter.startswith("("):
        remedy = f"Write `as {letter} -> 0` after the claim if it is about small {letter}, or turn the table round."
    raise UsageError(
        f"Row {found.rows.numbers[at + 1]}: {letter} = {found.sizes[at + 1]:g} comes after {letter} = {found.sizes[at]:g}. "
        f"A sequence is read along growing sizes, and a table out of order is often two tables. {remedy}"
    )


def _drawn(found: RowsBySize, declared: StudyOptions, letter: str) -> tuple[int | list[int], str]:
    """Numbers of draws at each size, one number where they are equal, and how sizes share seeds."""
    counts, seeds = found.counts, "paired" if declared.paired is not None else declared.seeds or "undeclared"
    if len(set(counts.values())) == 1:
        return len(found.columns[0]), seeds
    if seeds != "independent":
        fewest, most = min(counts, key=lambda n: counts[n]), max(counts, key=lambda n: counts[n])
        raise UsageError(
            f"{letter} = {fewest:g} has {many(counts[fewest], 'row')}, {letter} = {most:g} has {counts[most]}. "
            "Unequal numbers of draws cannot be pairs. Write `--seeds independent` if every run had a seed of its own, "
            "or complete the table."
        )
    return list(counts.values()), seeds


def _notes(seeds: str) -> tuple[str, ...]:
    if seeds != "undeclared":
        return ()
    return (
        "Rows of one size are taken as independent draws. If sizes share seeds, they must come in the same order at "
        "every size; if not, any order will do. Say --paired COLUMN or --seeds independent if you know.",
    )
