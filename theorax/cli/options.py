"""The options that a run takes, and the settings they make together with the project's defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from theorax.decide.error_budget import METHODS as ADJUSTMENTS
from theorax.errors import UsageError, option
from theorax.names import did_you_mean
from theorax.reports.renderings import RENDERINGS
from theorax.verifiers.settings import EFFORTS, Settings, tonight

_LEVEL = option("level")

Command = Callable[..., Any]
Option = Callable[[Command], Command]
DEVICES = ("cpu", "gpu")
METHODS = ("paper:", "kind:", "label:", "status:")


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


def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The ids and selectors that begin as typed, for the shell."""
    from theorax.cli.workspace import workspace_of

    catalogue = workspace_of(context).catalogue
    plus = "+" if incomplete.startswith("+") else ""
    words = [*catalogue.ids, *(f"paper:{paper}" for paper in catalogue.papers), *METHODS]
    return [f"{plus}{word}" for word in words if word.startswith(incomplete.removeprefix("+"))]


def selectors(*, required: bool = False) -> Option:
    """The positional selectors."""
    return click.argument("words", metavar="SELECTOR...", nargs=-1, required=required, shell_complete=complete)


def together(*options: Option) -> Option:
    """One decorator for several options, which the help lists in this order."""

    def added(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return added


exclude_option: Option = click.option(
    "--exclude", "-x", multiple=True, metavar="SELECTOR", help="Leave these out.", shell_complete=complete
)
jobs_option: Option = click.option(
    "--jobs", "-j", type=int, metavar="N", help="Checks at a time [one per core]; no result depends on it."
)
fresh_option: Option = click.option("--fresh", is_flag=True, help="Check again what is kept.")
state_option: Option = click.option(
    "--state", type=click.Path(), metavar="DIR", help="Folder of kept results [.theorax in the project's root]."
)
output_option: Option = click.option(
    "--output", "-o", multiple=True, metavar="FORMAT[=FILE]", help=f"{', '.join(RENDERINGS)}; repeatable [terminal]."
)
baseline_option: Option = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The baseline [theorax-baseline.json in the project's root].",
)
# What is run, and how.
choices = together(
    exclude_option,
    click.option("--effort", type=OneOf(EFFORTS), help="How many draws and sizes [standard]."),
    click.option("--device", type=OneOf(DEVICES), help="Where draws are computed [cpu]."),
    click.option("--seed", type=int, metavar="N", help="Another stream of draws [0]."),
    jobs_option,
    fresh_option,
    click.option("--level", type=float, metavar="P", help="Error rate of a single claim [0.025]."),
    click.option("--nightly", is_flag=True, help="Seeds of the date; refuted is what all nights together refute."),
    click.option("--adjust", type=OneOf(ADJUSTMENTS), help="How error rates are kept over all claims of a run [holm]."),
    click.option("--at", multiple=True, metavar="LETTER=VALUE,...", help="Exact parameters, as in gamma=1/4,l=2."),
    click.option("--sizes", multiple=True, metavar="LETTER=SIZES", help="Sizes, as in T=100..400 or T=64,128."),
    click.option("--model", metavar="FILE.py:FACTORY", help="Your own Equinox layer instead of the theorem's."),
)
run_options = together(choices, output_option, state_option)
changed_options = together(
    click.option("--changed", is_flag=True, help="Of these, only what a change since the baseline can affect."),
    baseline_option,
)


def baseline_file(given: Path | None) -> Path:
    """The file of the baseline: as typed, or that of the project."""
    from theorax.cli.config import find_project
    from theorax.reports.baselines import FILE

    return given if given is not None else find_project(Path.cwd()).root / FILE


def settings(given: dict[str, Any]) -> Settings:
    """The settings of a run: what was typed, else the project's defaults, else the usual ones.

    **Raises:** UsageError for a value that cannot be meant.
    """
    from theorax.cli.config import find_project
    from theorax.cli.values import parameters, sizes

    project = find_project(Path.cwd())
    chosen = {name: value for name, value in given.items() if value is not None}
    usual = {**project.defaults, **chosen}
    effort, device, adjust = usual.get("effort", "standard"), usual.get("device", "cpu"), usual.get("adjust", "holm")
    for name, value, known in (
        ("effort", effort, EFFORTS),
        ("device", device, DEVICES),
        ("adjustment", adjust, ADJUSTMENTS),
    ):
        if value not in known:
            raise UsageError(f"There is no {name} `{value}`{did_you_mean(value, known)} Known: {', '.join(known)}.")
    level = usual.get("level", Settings().level)
    if not 0 < level < 0.5:
        raise UsageError(
            f"`{_LEVEL} {level:g}` is no error rate of a test: it lies between 0 and 0.5. Write `{_LEVEL} 0.025`."
        )
    jobs = usual.get("jobs", 0)
    if jobs < 0:
        raise UsageError(f"`--jobs {jobs}`: at least one check runs at a time. Write `--jobs 1`.")
    model = given.get("model")
    if model is not None:
        from theorax.runs.sources import model_file

        model_file(model)
    return Settings(
        effort=effort,
        # The date stands before the project's default: a fixed seed is no night.
        seed=chosen.get("seed", tonight()) if given.get("nightly") else usual.get("seed", 0),
        nightly=bool(given.get("nightly")),
        device=device,
        level=level,
        at=parameters(given.get("at") or ()),
        sizes=sizes(given.get("sizes") or ()),
        model=model,
        adjust=adjust,
        jobs=jobs or cores(),
        fresh=bool(given.get("fresh")),
        state=str(given.get("state") or project.state),
    )


def listed(given: dict[str, Any], name: str) -> Sequence[str]:
    """A repeatable option as typed, else the project's default."""
    from theorax.cli.config import find_project

    return tuple(given.get(name) or find_project(Path.cwd()).defaults.get(name, ()))


def cores() -> int:
    """Number of cores that this process may use."""
    import os

    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells which cores a process may use
        return os.cpu_count() or 1
