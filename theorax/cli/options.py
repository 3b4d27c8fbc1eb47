"""The options that a run takes, and the settings they make together with the project's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.selecting import Command, Option, exclude_option, root_option, state_folder, state_option
from theorax.errors import UsageError, option
from theorax.names import did_you_mean
from theorax.reports.renderings import ANSWERS, RENDERINGS
from theorax.verifiers.settings import EFFORTS, Settings

if TYPE_CHECKING:
    from theorax.reports.theorem_text import Part

_LEVEL = option("level")

DEVICES = ("cpu", "gpu")


class OneOf(click.Choice[str]):
    """A value out of a few; a mistyped one is told the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it is one of them.

        **Raises:** UsageError if it is not.
        """
        if value in self.choices:
            return str(value)
        name = param.opts[0] if param is not None else ""
        known = ", ".join(self.choices)
        raise UsageError(f"`{name} {value}`: known are {known}{did_you_mean(str(value), self.choices)}")


class Number(click.ParamType):
    """A number as typed: 0.05, 1e-3 or the fraction 1/20."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The nearest double.

        **Raises:** UsageError if it is no finite number, or powers of it are none.
        """
        from theorax.cli.formulas import number_as_typed

        if isinstance(value, float):  # a default
            return value
        try:
            return float(number_as_typed(value))
        except UsageError as error:
            name = param.opts[0] if param is not None else ""
            raise UsageError(f"`{name} {value}` is not valid: {error}") from None


def combined_options(*options: Option) -> Option:
    """One decorator for several options, which the help lists in this order."""

    def added(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return added


jobs_option: Option = click.option(
    "--jobs", "-j", type=int, metavar="N", help="Processes at a time [one per core]; no result depends on it."
)
timeout_option: Option = click.option(
    "--timeout",
    type=Number(),
    metavar="SECONDS",
    help="End a check that takes longer, its import included [no limit].",
)
fresh_option: Option = click.option("--fresh", is_flag=True, help="Check again what is kept.")
output_option: Option = click.option(
    "--output", "-o", multiple=True, metavar="FORMAT[=FILE]", help=f"{', '.join(RENDERINGS)}; repeatable [terminal]."
)
answer_option: Option = click.option(
    "--output", "-o", multiple=True, metavar="FORMAT[=FILE]", help=f"{', '.join(ANSWERS)}; repeatable [terminal]."
)
new_option: Option = click.option("--new", is_flag=True, help="With --changed: check what is not in the baseline too.")
baseline_option: Option = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The baseline [theorax-baseline.json in the project's root].",
)
at_option: Option = click.option(
    "--at", multiple=True, metavar="LETTER=VALUE,...", help="Exact parameters, as in gamma=1/4,l=2."
)
sizes_option: Option = click.option(
    "--sizes", multiple=True, metavar="LETTER=SIZES", help="Sizes, as in T=100..400 or T=64,128."
)
last_failed_option: Option = click.option(
    "--lf", "last_failed", is_flag=True, help="Of these, only what did not hold in the last run."
)
show_options = combined_options(
    click.option("-v", "--verbose", is_flag=True, help="Show every part of a theorem's report."),
    click.option(
        "--show", multiple=True, metavar="PART,...", help="Show cases, proof, controls, plot or assumptions as well."
    ),
)
# What is run, and how.
choices = combined_options(
    exclude_option,
    root_option,
    click.option("--effort", type=OneOf(EFFORTS), help="How many draws and sizes [standard]."),
    click.option("--device", type=OneOf(DEVICES), help="Where draws are computed [cpu]."),
    click.option(
        "--batch", type=int, metavar="N", help="Draws vectorised together [one on a CPU, else as many as fit]."
    ),
    click.option("--seed", type=int, metavar="N", help="Another stream of draws [0]."),
    jobs_option,
    timeout_option,
    fresh_option,
    click.option(
        "--level", type=float, metavar="P", help="Error rate of support of a claim [0.025]; of refutation a 25th."
    ),
    click.option("--anyway", is_flag=True, help="Run claims too whose designs would hardly decide."),
    at_option,
    sizes_option,
    click.option("--model", metavar="FILE.py:FACTORY", help="Your own Equinox layer instead of the theorem's."),
)
run_options = combined_options(choices, output_option, state_option)
changed_options = combined_options(
    click.option("--changed", is_flag=True, help="Of these, only what a change since the baseline can affect."),
    new_option,
    baseline_option,
)


machine_options = combined_options(
    click.option("--scheduler", metavar="ADDRESS", help="Check on a Dask cluster, such as tcp://127.0.0.1:8786."),
    click.option("--shard", metavar="K/N", help="Only the K-th of N parts of these; join them with `verify merge`."),
    click.option(
        "--attempt",
        type=click.IntRange(min=1),
        metavar="N",
        help="The number of this try, where another log counts them.",
    ),
)


def shown_parts(given: dict[str, Any]) -> frozenset[Part]:
    """The parts of a theorem's report that were asked for beside its default.

    **Raises:** UsageError for a part that does not exist.
    """
    if not (given.get("verbose") or given.get("show")):
        return frozenset()
    from theorax.reports.theorem_text import EVERYTHING, Part

    words = [word.strip() for typed in given.get("show") or () for word in typed.split(",") if word.strip()]
    for word in words:
        if word not in list(Part):
            known = ", ".join(Part)
            raise UsageError(
                f"`--show {word}` names no part of a report{did_you_mean(word, list(Part))} Parts: {known}."
            )
    return EVERYTHING if given.get("verbose") else frozenset(map(Part, words))


def baseline_file(given: Path | None) -> Path:
    """The file of the baseline: as typed, or that of the project."""
    from theorax.project import find_project
    from theorax.reports.baselines import FILE

    return given if given is not None else find_project(Path.cwd()).root / FILE


def settings(given: dict[str, Any]) -> Settings:
    """The settings of a run: what was typed, else the project's defaults, else the usual ones.

    **Raises:** UsageError for a value that cannot be meant.
    """
    from theorax.cli.typed_values import parameters, sizes
    from theorax.project import find_project

    project = find_project(Path.cwd())
    chosen = {name: value for name, value in given.items() if value is not None}
    usual = {**project.defaults, **chosen}
    effort, device = usual.get("effort", "standard"), usual.get("device", "cpu")
    for name, value, known in (
        ("effort", effort, EFFORTS),
        ("device", device, DEVICES),
    ):
        if value not in known:
            raise UsageError(f"There is no {name} `{value}`{did_you_mean(value, known)} Known: {', '.join(known)}.")
    level = usual.get("level", Settings().level)
    if not 0 < level < 0.5:
        raise UsageError(
            f"`{_LEVEL} {level:g}` is no error rate of a test: it lies between 0 and 0.5. Write `{_LEVEL} 0.025`."
        )
    batch = given.get("batch")
    if batch is not None and batch < 1:
        raise UsageError(
            f"`{option('batch')} {batch}`: at least one draw is made at a time. Write `{option('batch')} 8`."
        )
    seed = usual.get("seed", 0)
    if not -(2**63) <= seed < 2**63:
        raise UsageError(f"`--seed {seed}` has more than 64 bits. Write a smaller seed, such as `--seed 1`.")
    jobs = usual.get("jobs", 0)
    if jobs < 0:
        raise UsageError(f"`--jobs {jobs}`: at least one check runs at a time. Write `--jobs 1`.")
    timeout = usual.get("timeout")
    if timeout is not None and not timeout > 0:
        raise UsageError(f"`{option('timeout')} {timeout:g}` allows no time. Write `{option('timeout')} 600`.")
    model = given.get("model")
    if model is not None:
        from theorax.runs.own_files import model_file

        model_file(model)
    return Settings(
        effort=effort,
        seed=seed,
        device=device,
        batch=batch,
        level=level,
        at=parameters(given.get("at") or ()),
        sizes=sizes(given.get("sizes") or ()),
        model=model,
        jobs=jobs or cores(),
        fresh=bool(given.get("fresh")),
        anyway=bool(given.get("anyway")),
        state=str(state_folder(given.get("state") or None)),
        scheduler=str(given.get("scheduler") or ""),
        attempt=given.get("attempt") or 1,
        timeout=timeout,
    )


def typed_or_default(given: dict[str, Any], name: str) -> Sequence[str]:
    """A repeatable option as typed, else the project's default."""
    from theorax.project import find_project

    return tuple(given.get(name) or find_project(Path.cwd()).defaults.get(name, ()))


def cores() -> int:
    """Number of cores that this process may use."""
    import os

    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells which cores a process may use
        return os.cpu_count() or 1
