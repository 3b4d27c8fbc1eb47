"""A claim about columns of a file, planned from what is declared and decided in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from theorax import decide
from theorax.cli.row_reader import Rows, error_bounds, read_rows, refuse_values, wide_table
from theorax.cli.statements import BoundClaim, LawClaim, LimitClaim, MeanClaim, ProbabilityClaim, RateClaim
from theorax.cli.tables import DataTable
from theorax.decide.inequalities import Excess, of_excess
from theorax.decide.known_laws import KnownLaw
from theorax.decide.moments import LIGHT_TAILS, Moment
from theorax.decide.plans import Planned, Seeds, SweepPlan
from theorax.decide.probabilities import of_counts
from theorax.decide.status import Reason, Status
from theorax.decide.streams import KEPT, Stream
from theorax.decide.verdict import Verdict
from theorax.errors import UsageError
from theorax.names import did_you_mean, many

__all__ = [
    "Claim",
    "Study",
    "StudyOptions",
    "study_bound",
    "study_law",
    "study_limit",
    "study_mean",
    "study_probability",
    "study_rate",
]

Claim = RateClaim | LimitClaim | MeanClaim | BoundClaim | LawClaim | ProbabilityClaim
ROWS_ARE_DRAWS = "Every row is taken as one independent draw."


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

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns that are declared beside the quantity."""
        return {"error_column": self.error, "paired": self.paired}


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
        chance = "" if certain else " with probability 0.8"
        return f"{better.design} (the cheapest that decides{chance} if the estimate is right)"


@final
@dataclass(frozen=True)
class _SweepKind:
    """Kind of claim along sizes: its plan and its decision."""

    plan: Callable[..., SweepPlan]
    decide: Callable[[Any, Any], Verdict]
    given: Mapping[str, Any]  # of the claim
    drawn: Callable[[], Mapping[str, Any]]  # declared of the draws; asked for where there are draws
    logs: bool = False
    keep: bool = False


def _margin(declared: StudyOptions) -> float:
    assert declared.margin is not None  # asked for in `missing`
    return declared.margin


def study_rate(table: DataTable, claim: RateClaim, declared: StudyOptions) -> Study:
    """The order of a positive column along a column of sizes."""
    exponent = -claim.exponent if claim.shrinks else claim.exponent
    drawn = {"sd": 0.2 if declared.sd is None else declared.sd, "floor": declared.floor, "average": declared.average}
    kind = _SweepKind(
        decide.plan_rate,
        decide.rate,
        {"exponent": float(exponent), "form": claim.form, "margin": declared.margin},
        lambda: drawn,
        logs=declared.floor == 0,  # what lies at a floor need not be positive
        keep=declared.average != "mean of log" or declared.floor > 0,
    )
    return _along_sizes(table, claim, declared, kind)


def study_limit(table: DataTable, claim: LimitClaim, declared: StudyOptions) -> Study:
    """The limit of the mean of a column along a column of sizes."""
    kind = _SweepKind(
        decide.plan_limit,
        decide.limit,
        {"to": float(claim.to), "margin": declared.margin},
        lambda: {"sd": declared.sd, "moments": declared.moments},
        keep=declared.moments != LIGHT_TAILS,
    )
    return _along_sizes(table, claim, declared, kind)


def _along_sizes(table: DataTable, claim: RateClaim | LimitClaim, declared: StudyOptions, kind: _SweepKind) -> Study:
    letter = f"(1/{claim.letter})" if claim.shrinks else claim.letter
    given = {**kind.given, "side": claim.side, "of": claim.of, "letter": letter, "name": claim.of}
    given |= {
        "corrections": declared.corrections or decide.Corrections(),
        "levels": declared.levels,
        "reading": declared.read,
    }
    whole = wide_table(table, claim.letter, claim.of, claim.shrinks)
    if whole is not None:
        sizes, values = whole
        plan = kind.plan(sizes, draws=len(values), seeds=declared.seeds or "undeclared", **kind.drawn(), **given)
        note = f"Each of {many(len(values), 'row')} of the array is taken as one draw at every size."
        return Study(plan, kind.decide(plan, values), (note,))
    rows = read_rows(
        table, claim.letter, claim.of, **declared.columns, logs=kind.logs, keep=kind.keep, shrinks=claim.shrinks
    )
    if _deterministic(rows, declared, letter):
        return _sequence(rows, declared, given, letter, of_limit=isinstance(claim, LimitClaim))
    sizes, counts, seeds = _drawn(rows, declared, letter)
    plan = kind.plan(sizes, draws=counts, seeds=seeds, **kind.drawn(), **given)
    verdict = kind.decide(plan, _observed(rows))
    return Study(plan, verdict, tuple(_notes(rows, declared, seeds)))


def study_mean(table: DataTable, claim: MeanClaim, declared: StudyOptions) -> Study:
    """The mean of a column."""
    stream = Stream(logs=False, keep=declared.moments != LIGHT_TAILS)
    for piece in table.pieces([claim.of]):
        stream.add(np.ones(len(piece.rows)), piece.columns[claim.of])
    plan = decide.plan_mean(
        to=float(claim.to),
        margin=_margin(declared),
        draws=sum(stream.counts.values()),
        sd=declared.sd,
        moments=declared.moments,
        side=claim.side,
        levels=declared.levels,
        reading=declared.read,
        name=claim.of,
        of=claim.of,
    )
    return Study(plan, decide.mean(plan, stream), (ROWS_ARE_DRAWS,))


def study_probability(table: DataTable, claim: ProbabilityClaim, declared: StudyOptions) -> Study:
    """The probability of the event whose outcomes, 0 or 1, are in a column."""
    draws = successes = 0
    for piece in table.pieces([claim.of], truths=[claim.of]):
        column = piece.columns[claim.of]
        other = (column != 0) & (column != 1)
        refuse_values(table, piece, claim.of, other, "An event happens or not. Write 1 or 0, or true or false")
        draws, successes = draws + len(column), successes + int(column.sum())
    plan = decide.plan_probability(
        at_least=float(claim.at_least),
        margin=_margin(declared),
        draws=draws,
        levels=declared.levels,
        reading=declared.read,
        name=claim.of,
        of=claim.of,
    )
    return Study(plan, of_counts(plan, successes), (ROWS_ARE_DRAWS,))


def study_bound(table: DataTable, claim: BoundClaim, declared: StudyOptions) -> Study:
    """A bound that must hold in every row."""
    if not table.columns_of(claim.left) and not table.columns_of(claim.right):
        raise UsageError(
            f"`--at-most {claim.left} <= {claim.right}` compares two numbers. One side at least has a column."
        )
    names = [claim.left, claim.right, *([declared.error] if declared.error is not None else [])]
    draws = kept = violated = row = 0
    worst = -np.inf
    for piece in table.pieces(list(dict.fromkeys(names))):
        left, right = piece.columns[claim.left], piece.columns[claim.right]
        error = 0.0 if declared.error is None else error_bounds(table, piece, declared.error)
        excess = left - right
        reached = excess + error
        draws, kept = draws + len(excess), kept + int((reached <= 0).sum())
        violated += int((excess > error).sum())
        if excess.size and reached.max() > worst:
            worst, row = float(reached.max()), int(piece.rows[int(reached.argmax())])
    plan = decide.plan_inequality(
        draws=draws,
        share=declared.margin,
        levels=declared.levels,
        reading=declared.reading,
        left=claim.left,
        right=claim.right,
    )
    found = of_excess(plan, Excess(kept, violated, worst, f"row {row}"))
    return Study(plan, found, (ROWS_ARE_DRAWS,))


def study_law(table: DataTable, claim: LawClaim, declared: StudyOptions) -> Study:
    """The law of a column, or its limit along a column of sizes; against a named law or another column."""
    given: dict[str, Any] = {
        "margin": declared.margin,
        "levels": declared.levels,
        "reading": declared.read,
        "of": claim.of,
        "name": claim.of,
    }
    if claim.letter is not None:
        if claim.parameters is None:
            raise UsageError("A limit is compared with a named law, not with a column. Leave `as ...` out.")
        rows = read_rows(table, claim.letter, claim.of, **declared.columns, logs=False, keep=True, shrinks=None)
        sizes, counts, seeds = _drawn(rows, declared, claim.letter)
        given |= {"seeds": seeds, "corrections": declared.corrections, "letter": claim.letter}
        plan = decide.plan_law(sizes, to=_law(claim), draws=counts, **given)
        columns = rows.stream.columns.values if rows.columns is None else rows.columns
        return Study(plan, decide.law(plan, list(columns)), tuple(_notes(rows, declared, seeds)))
    other = claim.to if claim.parameters is None else None
    wanted = [claim.of, *([other] if other is not None else [])]
    parts = [piece.columns for piece in table.pieces(wanted)]
    columns = tuple(np.concatenate([part[name] for part in parts]) for name in wanted)
    note = (ROWS_ARE_DRAWS,)
    if other is None:
        plan = decide.plan_law(to=_law(claim), draws=len(columns[0]), **given)
        return Study(plan, decide.law(plan, columns[0]), note)
    assert declared.sd is not None  # asked for in `missing`
    plan = decide.plan_law(to=decide.Sample(len(columns[1]), declared.sd), draws=len(columns[0]), **given)
    return Study(plan, decide.law(plan, *columns), note)


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


def _deterministic(rows: Rows, declared: StudyOptions, letter: str) -> bool:
    counts = rows.stream.counts
    once = [size for size, count in counts.items() if count == 1]
    if not once:
        if declared.error is not None:
            raise UsageError(
                f"`--error {declared.error}` bounds the errors of values without randomness, but {letter} occurs several "
                "times each: these are draws, and their spread is their error. Leave `--error` out."
            )
        return False
    if len(once) < len(counts):
        several = next(size for size, count in counts.items() if count > 1)
        row = next((row for row, size, _, _ in rows.first if size == once[0]), None)
        where = f" (row {row})" if row is not None else ""
        again = [row for row, size, _, _ in rows.first if size == several][:3]
        told = f" (rows {', '.join(map(str, again))})" if again else ""
        raise UsageError(
            f"{letter} = {once[0]:g} occurs once{where}, {letter} = {several:g} occurs {counts[several]} times{told}. One "
            "value at every size is a sequence without randomness, several at every size are draws; this is neither. "
            "Complete the draws, or remove the repeated rows."
        )
    return True


def _sequence(rows: Rows, declared: StudyOptions, given: dict[str, Any], letter: str, *, of_limit: bool) -> Study:
    for (_, a, _, _), (row, b, _, _) in pairwise(rows.first):
        if b < a:
            all_fall = all(later[1] < sooner[1] for sooner, later in pairwise(rows.first))
            remedy = (
                f"Write `as {letter} -> 0` after the claim if it is about small {letter}, or turn the table round."
                if all_fall and not letter.startswith("(")
                else "Sort the rows."
            )
            raise UsageError(
                f"Row {row}: {letter} = {b:g} comes after {letter} = {a:g}. A sequence is read along growing sizes, and a "
                f"table out of order is often two tables. {remedy}"
            )
    sizes = [size for _, size, _, _ in rows.first]
    values = np.array([value for _, _, value, _ in rows.first])
    errors = np.array([error for _, _, _, error in rows.first])
    if not of_limit:
        for row, size, value, error in rows.first:
            if error >= value:
                raise UsageError(
                    f"Row {row}: the error {error:g} at {letter} = {size:g} is as large as the value {value:g}. Nothing is "
                    "known of its logarithm. Leave out what lies below its error."
                )
        # |log q - log q'| for |q - q'| <= e, the larger side.
        errors = -np.log1p(-errors / values)
    kept = {name: value for name, value in given.items() if not (of_limit and name == "form")}
    plan = decide.plan_sequence(sizes, errors=[float(error) for error in errors], **kept)
    notes = [
        f"Each size ({letter}) occurs once: the values are taken as free of randomness, and the verdict spends no error rate."
    ]
    if declared.error is None:
        notes.append("They are taken as exact; name a column of error bounds with --error if they are not.")
    return Study(plan, decide.sequence(plan, values), tuple(notes))


def _drawn(rows: Rows, declared: StudyOptions, letter: str) -> tuple[list[float], int | list[int], str]:
    counts = rows.stream.counts
    equal = len(set(counts.values())) == 1
    seeds = "paired" if declared.paired is not None else declared.seeds or "undeclared"
    if not equal and seeds != "independent":
        fewest, most = min(counts, key=lambda n: counts[n]), max(counts, key=lambda n: counts[n])
        raise UsageError(
            f"{letter} = {fewest:g} has {many(counts[fewest], 'row')}, {letter} = {most:g} has {counts[most]}. "
            "Unequal numbers of draws cannot be pairs. Write `--seeds independent` if every run had a seed of its own, "
            "or complete the table."
        )
    found = list(counts.values())
    return list(counts), found[0] if equal else found, seeds


def _observed(rows: Rows) -> Any:
    return rows.stream if rows.columns is None else list(rows.columns)


def _notes(rows: Rows, declared: StudyOptions, seeds: str) -> Iterator[str]:
    if seeds == "undeclared":
        yield (
            "Rows of one size are taken as independent draws. If sizes share seeds, they must come in the same order at "
            "every size; if not, any order will do. Say --paired COLUMN or --seeds independent if you know."
        )
    total = sum(rows.stream.counts.values())
    if total > KEPT and rows.columns is None and not rows.stream.keep:
        yield f"One pass read {many(total, 'row')}; draws beyond {KEPT} are averaged in batches."
