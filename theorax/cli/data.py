"""``verify data``: a claim about a table of your own, planned from what you declare and decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.options import Number, OneOf, answer_option
from theorax.cli.printing import give_reports
from theorax.cli.typed_values import outputs
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.cli.studies import Study, StudyOptions
    from theorax.decide.moments import Moment
    from theorax.reports.command_answers import Answer
    from theorax.text.blocks import Block

# What the JSON document says of the plan.
PLANNED = ("hash", "statement", "design", "margin", "bias", "half_width", "noticeable", "cost", "decides")
READINGS = ("exact", "margin")
CLAIMS = ("rate", "limit", "mean", "at_most", "law", "probability")


@click.command("data")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--rate", metavar="CLAIM", help='"error ~ N**-1"; <= for O, >= for Ω; exp(-0.3*N); "error ~ h**2 as h -> 0".'
)
@click.option("--limit", metavar="CLAIM", help='"x -> 1/3 as n": the limit of the mean.')
@click.option("--mean", metavar="CLAIM", help='"x = 1/2", or <=, >=: the mean of a column.')
@click.option("--at-most", metavar="CLAIM", help='"lhs <= rhs" in every row.')
@click.option("--probability", metavar="CLAIM", help='"ok >= 0.99": the share of ones in a column of 0 and 1.')
@click.option("--law", metavar="CLAIM", help='"x ~ normal(0, 1)" or "x ~ other_column"; add "as n" for a limit.')
@click.option("--margin", type=Number(), metavar="M", help="The smallest error that would matter.")
@click.option(
    "--reading",
    type=OneOf(READINGS),
    help="Claim the value within the margin, or exactly [margin, where one is given].",
)
@click.option("--class", "class_", default="default", metavar="CLASS", help="Corrections at finite size [default].")
@click.option("--because", default="", metavar="TEXT", help="Why a class sharper than the default holds.")
@click.option("--sd", type=Number(), metavar="S", help="Planned sd of one draw [0.2 of a logarithm].")
@click.option("--level", type=Number(), default=0.025, metavar="P", help="Error rate of either wrong verdict [0.025].")
@click.option("--paired", metavar="COLUMN", help="The column whose equal entries are one seed at every size.")
@click.option(
    "--seeds", type=OneOf(("independent", "paired", "undeclared")), help="How sizes share seeds [undeclared]."
)
@click.option("--error", metavar="COLUMN", help="Bounds of the errors of values without randomness.")
@click.option("--floor", type=Number(), default=0.0, metavar="F", help="Numerical floor: sizes near it are left out.")
@click.option("--average", type=OneOf(("mean of log", "log of mean")), default="mean of log", help="For rates.")
@click.option("--range", "range_", metavar="LOW,HIGH", help="No value can leave this range.")
@click.option("--variance", type=Number(), metavar="V", help="No draw has a larger variance.")
@click.option(
    "--where", multiple=True, metavar="TEST", help='Keep rows: "width >= 64", "optimizer = adam"; all must hold.'
)
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="Rows are draws of one law, whatever is in this column."
)
@answer_option
@click.pass_context
def data(context: click.Context, file: Path, output: tuple[str, ...], **given: Any) -> int:
    """Decide a claim about a table of your own: CSV (plain or gzip; row 1 names the columns), Parquet, or NPZ.

    One claim at a time. A table has one row per draw and size, or one row per size (then nothing is random).

    \b
      verify data runs.csv --rate "error ~ N**-1" --margin 0.1
      verify data grid.csv --rate "error ~ h**2 as h -> 0" --margin 0.3
      verify data runs.csv --probability "ok >= 0.99" --margin 0.01
      verify data runs.csv --limit "maximum/sqrt(2*log(n)) -> 1 as n" --margin 1/10 --sd 1/5

    Rows that differ in a column which no option names are refused: --where keeps some, --ignore says that it does not matter.

    A quantity is a column or arithmetic of columns: + - * / **, sqrt, log, exp, abs, min, max. Numbers may be fractions.

    The plan is made from the sizes and counts in the file and from these options, never from the values.
    """
    from theorax.reports.document import exit_code

    claimed = [name for name in CLAIMS if given[name] is not None]
    if len(claimed) > 1:
        raise UsageError("Several claims were made. Each is planned and decided on its own. Write one of them.")
    if not claimed:
        from theorax.cli.missing_declarations import refuse_no_claim
        from theorax.cli.tables import open_table

        refuse_no_claim(open_table(file))
    wanted = outputs(output, answer=True)
    kind, claim = claimed[0], given[claimed[0]]
    try:
        study = _study(file, kind, given, workspace_of(context).arguments)
        code = exit_code([study.verdict.status])
        answer = _answer(study, file, claim, code)
    except OverflowError:  # what is claimed is a power, at some size, that no double holds
        raise UsageError(
            f"`--{kind.replace('_', '-')} {claim}` and its options lead to numbers beyond the range of doubles at the "
            f"sizes of {file}. Claim smaller powers, or write sizes and values in other units."
        ) from None
    give_reports(wanted, answer)
    return code


def _study(file: Path, kind: str, given: dict[str, Any], typed: Sequence[str]) -> Study:
    from theorax.cli import statements, studies
    from theorax.cli.missing_declarations import formulas_of, refuse_missing
    from theorax.cli.tables import open_table

    readers: dict[str, tuple[Callable[[str], Any], Callable[..., Study]]] = {
        "rate": (statements.parse_rate, studies.study_rate),
        "limit": (statements.parse_limit, studies.study_limit),
        "mean": (statements.parse_mean, studies.study_mean),
        "at_most": (statements.parse_bound, studies.study_bound),
        "law": (statements.parse_law, studies.study_law),
        "probability": (statements.parse_probability, studies.study_probability),
    }
    parse, decided = readers[kind]
    claim, declared, whole = parse(given[kind]), _declared(given), open_table(file)
    conditions = [statements.parse_where(text) for text in given["where"]]
    table = whole.where(conditions)
    refuse_missing(table, claim, declared, typed)
    ignored = [whole.named(name) for name in given["ignore"]]
    study = decided(table, claim, declared)  # errors in its numbers come first
    if kind != "at_most":  # a bound in every row is about each row as it is
        named = [*formulas_of(claim), *filter(None, (declared.error, declared.paired)), *ignored]
        columns = [column for formula in named for column in table.columns_of(formula).values()]
        table.refuse_groups([*columns, *(one.column for one in conditions)], getattr(claim, "letter", None))
    told = tuple(f"Only rows with {one.text} were read." for one in conditions)
    told += tuple(f"Rows are taken as draws of one law whatever their {name}." for name in ignored)
    return replace(study, notes=(*told, *study.notes))


def _declared(given: dict[str, Any]) -> StudyOptions:
    from theorax import decide
    from theorax.cli.statements import parse_class
    from theorax.cli.studies import StudyOptions

    moments = _moments(given["range_"], given["variance"])
    for name in ("margin", "sd"):
        value = given[name]
        if value is not None and not 0.0 < value < float("inf"):
            raise UsageError(f"`--{name} {value:g}` is not positive. Write a positive number.")
    # A missing reason is reported with all other missing options.
    reason = given["because"].strip()
    corrections = None if given["class_"] == "default" else parse_class(given["class_"], reason or "not given")
    unexplained = corrections is not None and corrections.is_sharper and not reason
    if corrections is not None and not reason and not unexplained:
        corrections = replace(corrections, reason="")
    return StudyOptions(
        levels=decide.Levels(given["level"], given["level"]),
        corrections=corrections,
        moments=moments,
        unexplained=unexplained,
        **{name: given[name] for name in ("margin", "sd", "seeds", "paired", "error", "floor", "average", "reading")},
    )


def _moments(range_: str | None, variance: float | None) -> Moment:
    from theorax import decide
    from theorax.cli.formulas import number_as_typed
    from theorax.decide.moments import LIGHT_TAILS

    if range_ is not None and variance is not None:
        raise UsageError("`--range` and `--variance` are two declarations; one decides the interval. Write one.")
    if range_ is None:
        return LIGHT_TAILS if variance is None else decide.BoundedVariance(variance)
    try:
        low, high = (float(number_as_typed(part)) for part in range_.split(","))
    except (ValueError, UsageError):
        raise UsageError(f"`--range {range_}` is no range of finite numbers. Write `--range 0,1`.") from None
    return decide.Bounded(low, high)


def _blocks(study: Study) -> Iterator[Block]:
    from theorax.decide.verdict_text import verdict_blocks
    from theorax.text.blocks import Gap, Paragraph

    yield from verdict_blocks(study.verdict)
    remedy = study.remedy
    if remedy:
        yield Gap()
        yield Paragraph(f"To decide: {remedy}", hang=2)
    yield Gap()
    yield Paragraph("How it was planned, from sizes, counts and options, never from values:")
    for line in str(study.plan).splitlines()[1:]:
        yield Paragraph(line.strip(), indent=4, hang=12)
    for note in study.notes:
        yield Paragraph(f"Note: {note}", hang=2)


def _answer(study: Study, file: Path, claim: str, code: int) -> Answer:
    from theorax.decide.meanings import reached
    from theorax.reports.build_findings import outcome_of
    from theorax.reports.command_answers import Answer, BuildCase
    from theorax.runs.store import now
    from theorax.text.plain import render
    from theorax.text.signs import signed
    from theorax.version import __version__

    verdict, blocks = study.verdict, tuple(_blocks(study))
    title = f"{signed(verdict.status, verdict.within_margin, reached(verdict))} {claim} ({file})"
    outcome = outcome_of(verdict.status, erratum=False)
    case = BuildCase(str(file), claim, outcome, verdict.status, title, verdict.sentence, render(blocks))
    document = {
        "generator": f"theorax {__version__}",
        "file": str(file),
        "claim": claim,
        "exit_code": code,
        "plan": {name: getattr(study.plan, name) for name in PLANNED},
        "verdict": verdict,
        "would_decide": study.remedy,
        "notes": list(study.notes),
    }
    return Answer(title, document, blocks, (case,), created=now())
