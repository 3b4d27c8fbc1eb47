"""``verify plan``: the checks of a run, their reasons and the power of their designs, before any draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.listing import existing_id
from theorax.cli.options import baseline_file, baseline_option, run_options, settings, typed_or_default
from theorax.cli.printing import print_blocks
from theorax.cli.selecting import complete, library_option, selectors
from theorax.cli.workspace import workspace_of
from theorax.names import many

if TYPE_CHECKING:
    from theorax.runs.manifests import Manifest
    from theorax.runs.store import LastResult, Present, Store
    from theorax.runs.worker_process import CallsApart
    from theorax.text.blocks import Block
    from theorax.theorems.catalogue import Catalogue
    from theorax.verifiers.planned_checks import Pilot, PilotCase, Place, PlannedCheck, TheoremPlan
    from theorax.verifiers.settings import Settings


@click.command("plan")
@selectors()
@click.option("--why", metavar="ID", help="Only why this theorem would be checked or is kept.", shell_complete=complete)
@click.option("--pilot", is_flag=True, help="Draw 16 per size for the noise alone, and plan with it.")
@baseline_option
@library_option
@run_options
@click.pass_context
def plan(
    context: click.Context,
    words: tuple[str, ...],
    why: str | None,
    pilot: bool,
    baseline: Path | None,
    library: bool,
    **given: Any,
) -> int:
    """Show what a run would check and why, and what its designs can see; nothing is drawn.

    --why says too what differs since the baseline, where there is one. --pilot draws a little from a stream of seeds
    that no decision uses, and prints the `spread=` to write. The exit code is 4 if a claim cannot be decided as planned.
    """
    chosen = settings(given)
    exclude = typed_or_default(given, "exclude")
    workspace = workspace_of(context, (*words, *exclude, *([why] if why is not None else [])))
    from theorax.runs.dependencies import Graph
    from theorax.runs.selectors import select
    from theorax.runs.sources import Sources
    from theorax.runs.store import Store, statuses, within_margin
    from theorax.runs.worker_process import CallsApart

    catalogue = workspace.catalogue
    if why is not None:
        words = (existing_id(catalogue, why),)
    words = words or workspace.usual(library=library)
    state = Path(chosen.state)
    selection = select(words, catalogue, lambda: statuses(state), exclude, lambda: within_margin(state))
    sources, store = Sources().beside(chosen.state), Store(Path(chosen.state))
    compiling = _seconds_per_program(store)
    blocks: list[Block] = []
    everything: list[PlannedCheck] = []
    with CallsApart(catalogue.elsewhere, chosen.timeout) as calls:
        for id in Graph.of(catalogue).order(selection.ids):
            own = chosen if id in selection.named else replace(chosen, at=(), sizes=(), model=None)
            manifest = sources.manifest(catalogue.path(id), own)
            present = partial(sources.present, catalogue.path(id), own.state)
            kept = None if chosen.fresh else store.get(manifest, present)
            reasons = _reasons(store.last_manifest(id), manifest, present, fresh=chosen.fresh)
            problem = catalogue.problem(id)
            blocks += _expected_fate(id, kept.date if kept else None, problem, reasons)
            if why is not None:
                blocks += _since_baseline(baseline, id, manifest, present)
            if why is None and problem is None and (kept is None or pilot):
                planned: TheoremPlan = _apart(calls, catalogue, "plan", id, own)
                if kept is None:
                    everything += planned.checks
                    blocks += _designs(planned.checks, own)
                    blocks += _compiled(planned, compiling.get(id))
                if pilot:
                    blocks += _pilot(_apart(calls, catalogue, "pilot", id, own), own)
    print_blocks(blocks)
    return 4 if any(not row.runs for row in everything) else 0


def _reasons(last: LastResult | None, manifest: Manifest, present: Present, *, fresh: bool) -> tuple[str, ...]:
    from theorax.reports.theorem_text import moment
    from theorax.runs.manifests import manifest_differences

    if fresh:
        return ("--fresh asks for it",)
    if last is None:
        return ("no result is kept",)
    if not last.usable:
        return (f"the result kept from {moment(last.date)} was kept by another version of theorax, in another form",)
    changed = map(str, manifest_differences(last.manifest, {**manifest, **present(last.manifest)}))
    return (f"since the result kept from {moment(last.date)}, these differ:", *changed)


def _expected_fate(id: str, kept: str | None, problem: str | None, reasons: tuple[str, ...]) -> Iterator[Block]:
    from theorax.reports.theorem_text import moment
    from theorax.text.blocks import Heading, Lines, Paragraph

    yield Heading(id)
    if problem is not None:
        yield Paragraph(f"Cannot be checked: {problem}")
    elif kept is not None:
        yield Paragraph(f"Kept from {moment(kept)}: nothing that determines it differs.")
    else:
        yield Paragraph(f"Will be checked: {reasons[0]}")
        yield Lines(tuple(reasons[1:]))


def _since_baseline(file: Path | None, id: str, manifest: Mapping[str, str], present: Present) -> Iterator[Block]:
    """Differences from the baseline, if the project has one or one is named."""
    from theorax.reports.baselines import read_baseline, since
    from theorax.text.blocks import Lines, Paragraph

    path = baseline_file(file)
    if file is None and not path.exists():
        return
    changes = since(read_baseline(path), id, manifest, present)
    if changes is None:
        yield Paragraph(f"Not in the baseline {path.name}: `--changed` checks it.")
    elif not changes:
        yield Paragraph(f"Nothing differs since the baseline {path.name}: `--changed` leaves it out.")
    else:
        does = "checks it" if any(one.sort.computes for one in changes) else "leaves it out, for no source differs"
        yield Paragraph(f"Since the baseline {path.name} these differ; `--changed` {does}:")
        yield Lines(tuple(map(str, changes)))


def _apart(calls: CallsApart, catalogue: Catalogue, name: str, id: str, own: Settings) -> Any:
    """The result of `plan` or `pilot` of `runs.checking`; a user's code never runs in the process that reports."""
    own = replace(own, roots=catalogue.elsewhere)
    is_own = own.model is not None or catalogue.is_a_user_s(id)
    return calls.call(f"theorax.runs.checking:{name}", id, own, apart=is_own)


def _designs(planned: Sequence[PlannedCheck], own: Settings) -> Iterator[Block]:
    from theorax.text.blocks import Paragraph, Table
    from theorax.text.numbers import number

    rows = tuple(
        (
            _case(row),
            "..".join(dict.fromkeys((number(row.sizes[0]), number(row.sizes[-1])))) if row.sizes else "–",
            str(sum(row.draws)),
            number(row.margin, 2),
            number(row.half_width, 2),
            *_decides(row),
        )
        for row in planned
    )
    if rows:
        yield Table(
            ("claim and case", "sizes", "draws", "margin", "± planned", "decides", "at worst"),
            rows,
            right=(2, 3, 4, 5, 6),
        )
    for rows_of in _by_claim(row for row in planned if row.of_claim is not None):
        if len(rows_of) > 1:
            yield Paragraph(_assured(rows_of), hang=2)
    if (expected := expected_draws(planned)) != "":
        yield Paragraph(expected, hang=2)
    for rows_of in _by_claim(row for row in planned if row.noise):
        yield Paragraph(_noise(rows_of), hang=2)
    for rows_of in _by_claim(row for row in planned if row.gain is not None):
        yield Paragraph(_gains(rows_of), hang=2)
    if planned:
        yield Paragraph(_spending(planned, own.level), quiet=True)
    for rows_of in _by_claim(row for row in planned if row.note):
        more = f" {many(len(rows_of) - 1, 'further case')} of it likewise." if len(rows_of) > 1 else ""
        yield Paragraph(f"{rows_of[0].claim}: {rows_of[0].note}{more}", hang=2)


def expected_draws(planned: Sequence[PlannedCheck]) -> str:
    """The sentence about the draws that are expected where claims may stop early; empty where none may.

    Claims about one line share its draws, whatever the index letters, so at each size the claim that needs the most counts.
    """
    sizes: dict[tuple[Place | None, float], tuple[int, int]] = {}
    for row in planned:
        for size, wanted, most in zip(row.sizes, row.expected_draws, row.draws, strict=True):
            before = sizes.get((row.line, size), (0, 0))
            sizes[row.line, size] = max(before[0], wanted), max(before[1], most)
    expected, most = (sum(part) for part in zip(*sizes.values(), strict=True)) if sizes else (0, 0)
    if expected >= most:
        return ""
    return f"draws  {expected} expected, at most {most}: a claim stops at the look that decides it, controls apart"


def _seconds_per_program(store: Store) -> dict[str, float]:
    """CPU seconds that a program took to compile in the last kept check of each theorem, where any was compiled."""
    works = {id: kept["work"] for id, kept in store.outcomes()}
    return {id: work["compile_seconds"] / work["programs"] for id, work in works.items() if work.get("programs")}


def _compiled(planned: TheoremPlan, each: float | None) -> Iterator[Block]:
    """The line on compiled programs: how many, how long they take where that was measured, and what padding saves."""
    from theorax.text.blocks import Paragraph
    from theorax.text.numbers import duration

    if not planned.programs:
        return
    about = f", about {duration(planned.programs * each)}" if each else ""
    fewer = planned.programs_if_padded
    saves = f"; padded=True needs {fewer} (verify explain padding)" if fewer < planned.programs else ""
    yield Paragraph(f"{many(planned.programs, 'program')}{about}{saves}", hang=2)


def _by_claim(rows: Iterable[PlannedCheck]) -> Iterable[list[PlannedCheck]]:
    """Rows of one claim together, in their order."""
    found: dict[str, list[PlannedCheck]] = {}
    for row in rows:
        found.setdefault(row.claim, []).append(row)
    return found.values()


def _decides(row: PlannedCheck) -> tuple[str, str]:
    """The probability of support of one case: as it is planned, and in the worst case of its class."""
    from theorax.decide.plans import probability_text

    if row.power is None or row.worst_power is None:
        return ("yes" if row.decides else "NO" if not row.runs else "–", "")
    if row.runs and not row.decides_by_draws:
        return "if exact", ""
    refused = "" if row.runs else "NO: "
    return f"{refused}{probability_text(row.power)}", probability_text(row.worst_power)


def _assured(rows: Sequence[PlannedCheck]) -> str:
    """The sentence about the probability that a claim of several cases is decided."""
    from theorax.decide.plans import assurance

    assert rows[0].of_claim is not None
    return f"decides  {rows[0].claim}, over its {len(rows)} cases: with probability {assurance(*rows[0].of_claim)}"


def _case(row: PlannedCheck | PilotCase) -> str:
    return f"{row.claim} on {row.subject}" + "".join(f", {letter}={value}" for letter, value in row.at.items())


def _noise(rows: Sequence[PlannedCheck]) -> str:
    """The sentence about the noise that the plans of one claim assume.

    Example: `noise  tends: sd 0.2 per draw, assumed (0.2 of the claimed value, the default; set spread=...)`.
    """
    from theorax.decide.phrases import noise_assumed
    from theorax.decide.verdict import AssumedNoise

    row, seen = rows[0], [part for each in rows for part in each.noise]
    noise = AssumedNoise(min(seen), max(seen), row.spread, row.is_noise_stated)
    return f"noise  {row.claim}: {noise_assumed(noise, row.words)}"


def _gains(rows: Sequence[PlannedCheck]) -> str:
    """The sentence about the variance that variates of known mean take away, as one claim plans it."""
    from theorax.decide.phrases import gains_text

    return f"variates  {rows[0].claim}: {gains_text([row.gain for row in rows if row.gain is not None])}"


def _ends(values: Sequence[float]) -> str:
    from theorax.text.numbers import number

    return " to ".join(dict.fromkeys((number(min(values), 2), number(max(values), 2))))


def _pilot(found: Pilot, own: Settings) -> Iterator[Block]:
    from theorax.text.blocks import Heading, Lines, Paragraph, Table
    from theorax.text.numbers import number

    yield Heading(f"Pilot: {many(found.draws, 'draw')} per size, from seeds that no decision uses")
    if not found.cases:
        yield Paragraph("No claim is planned with an assumed noise, so there is nothing to estimate.")
        return
    rows = tuple(
        (_case(row), _ends(row.planned), "  ".join(f"{number(part, 2)}" for part in row.seen)) for row in found.cases
    )
    yield Table(("claim and case", "sd assumed", "sd seen, along the sizes"), rows, right=(1,))
    for claim, spread in found.spreads.items():
        numerator, _, denominator = spread.partition("/")
        exact = spread.isdigit() or (numerator.isdigit() and denominator.isdigit())
        text = f"Rational({numerator}, {denominator or 1})" if exact else spread
        yield Lines((f"spread={text},  # {claim}: the largest sd of {many(found.draws, 'draw')}, and a quarter more",))
    if found.plan.checks:
        yield Paragraph("The plan with that noise; the file is not changed:")
        yield from _designs(found.plan.checks, own)


def _spending(planned: Sequence[PlannedCheck], level: float) -> str:
    """The next attempt of every claim, and its share of the error budget."""
    from theorax.text.numbers import percent

    claims: dict[tuple[int, float], list[str]] = {}
    for row in planned:
        names = claims.setdefault((row.attempt, row.level), [])
        if row.claim not in names:
            names.append(row.claim)
    told = [
        f"This is your {'first try' if attempt == 1 else f'try {attempt}'}"
        + (f" of {', '.join(names)}" if len(claims) > 1 else "")
        + f". Its risk is {percent(own)}; all tries together {percent(level)}."
        for (attempt, own), names in sorted(claims.items())
    ]
    return " ".join(told)
