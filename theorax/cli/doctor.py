"""``verify doctor``: what this machine computes with, whether results can be kept, and a judgement of both."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from theorax.cli.options import DEVICES, OneOf, baseline_file, settings
from theorax.cli.scaffold import LOCK
from theorax.cli.selecting import root_option, state_option
from theorax.cli.workspace import Workspace, workspace_of
from theorax.errors import TheoraxError
from theorax.names import many
from theorax.version import __version__

_BOUND = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)>=([0-9.]+)$")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;#]+)", re.MULTILINE)


@dataclass(frozen=True)
class Remark:
    """A thing that a person may want to change, with its command; ``stops``: nothing can be checked before."""

    text: str
    command: str
    stops: bool = False


def _allowed(library_ulps: Callable[[str, str], float], name: str) -> tuple[float, ...]:
    return tuple(2 * library_ulps(name, dtype) for dtype in ("float32", "float64"))


@click.command("doctor")
@click.option("--device", type=OneOf(DEVICES), help="[cpu]")
@root_option
@state_option
@click.pass_context
def doctor(context: click.Context, device: str | None, state: str | None) -> int:
    """Show versions, devices, the precision of matrix products and functions; judge whether theorems can be checked.

    The exit code is 3 if something keeps theorems from being checked here, else 0.
    """
    chosen = settings({"device": device, "state": state})
    from theorax.reports.document import MachineReport
    from theorax.runs.store import Store, StoreError
    from theorax.runs.workers import one_thread

    found = MachineReport.here()
    rows: list[tuple[str, object]] = [("theorax", __version__), ("python", found.python)]
    rows += list(found.versions.items())
    rows += [("system", f"{found.system} {found.machine}, {found.cores} cores")]
    one_thread()
    remarks: list[Remark] = [*_of_requirements(), *_of_engine()]
    try:
        rows += _computing(chosen.device)
    except (TheoraxError, ImportError, RuntimeError) as error:
        told = str(error).splitlines()[0]
        rows.append((chosen.device, f"cannot be used: {told}"))
        remarks.append(Remark(f"The device {chosen.device} cannot be used here.", "verify doctor --device cpu", True))
    try:
        Store(Path(chosen.state)).prepare()
        rows.append(("results", f"kept in {chosen.state}"))
    except StoreError as error:
        rows.append(("results", str(error)))
        remarks.append(Remark("Results cannot be kept in that folder.", "verify doctor --state FOLDER", True))
    remarks += _of_project(workspace_of(context))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{name:<{width}}  {f'{value:.2g}' if isinstance(value, float) else value}")
    click.echo()
    for line in remark_lines(remarks):
        click.echo(line)
    return 3 if any(remark.stops for remark in remarks) else 0


def remark_lines(remarks: list[Remark]) -> Iterator[str]:
    """The judgement, and each remark with its command; what stops the work first."""
    if not remarks:
        yield "✓ Ready."
        return
    stopped = any(remark.stops for remark in remarks)
    yield "✗ Not ready:" if stopped else f"! Ready, with {many(len(remarks), 'remark')}:"
    for remark in sorted(remarks, key=lambda remark: not remark.stops):
        yield f"  {remark.text}"
        yield f"    {remark.command}"


def _computing(device: str) -> Iterator[tuple[str, object]]:
    """Rows of what the device computes with.

    **Raises:** TheoraxError, ImportError or RuntimeError if it cannot be used.
    """
    from theorax.numerics import platform
    from theorax.numerics.arithmetics.running_error import library_ulps, probed

    platform.enable(device=device)
    known = {"jax", "numpy", "python", "machine"}
    yield from ((k.replace("_", " "), v) for k, v in platform.describe(device).items() if k not in known)
    held = platform.memory(device)
    yield "draws at a time", "1" if held is None else f"as many as fit; {held / 2**30:.1f} GiB of memory"
    for name, errors in probed().items():
        here, used = (" / ".join(f"{error:.2f}" for error in pair) for pair in (errors, _allowed(library_ulps, name)))
        yield f"error of {name}", f"{here} ulp measured in float32 / float64, {used} allowed for"


def _of_requirements() -> Iterator[Remark]:
    """Packages that theorax needs and that are missing here, or older than it needs them."""
    from importlib import metadata

    try:
        needed = metadata.requires("theorax") or []
    except metadata.PackageNotFoundError:  # a checkout that was never installed
        return
    for name, least in (found.groups() for line in needed if (found := _BOUND.match(line))):
        try:
            here = metadata.version(name)
        except metadata.PackageNotFoundError:
            here = "missing"
        if here == "missing" or _numbers(here) < _numbers(least):
            told = f"is {here}" if here == "missing" else f"{here} is too old"
            yield Remark(f"{name} {told}: theorax needs {least} or newer.", f'pip install "{name}>={least}"', True)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _of_engine() -> Iterator[Remark]:
    """One remark if a module of the engine cannot be imported here; the library's theorems and the plug-in are not its."""
    failed: dict[str, list[str]] = {}
    for name in _modules():
        try:
            importlib.import_module(name)
        except Exception as error:
            told = str(error).splitlines()
            failed.setdefault(f"{type(error).__name__}: {told[0] if told else ''}".rstrip(": "), []).append(name)
    if failed:
        # What fails first fails in most of the others again, which import it.
        why, names = max(failed.items(), key=lambda pair: len(pair[1]))
        count = sum(map(len, failed.values()))
        yield Remark(
            f"{many(count, 'module')} of the engine cannot be imported, {names[0]} among them: {why}.",
            "pip install --upgrade theorax",
            True,
        )


def _modules() -> list[str]:
    package = Path(__file__).parents[1]
    names = (path.relative_to(package.parent).with_suffix("").parts for path in sorted(package.rglob("*.py")))
    return [
        ".".join(parts).removesuffix(".__init__")
        for parts in names
        if parts[-1] != "__main__" and parts[1] not in ("testing", "theorems")
    ]


def _of_project(workspace: Workspace) -> Iterator[Remark]:
    """Remarks on the project's roots and files, its baseline, and the versions that its builds take."""
    try:
        catalogue = workspace.catalogue
    except TheoraxError as error:
        yield Remark(str(error), "verify list", True)
        return
    own = [id for id in catalogue.ids if any(root.is_own for root in catalogue.roots_of(id))]
    wrong = [id for id in own if catalogue.problem(id) or catalogue.duplicate(id)]
    if wrong:
        yield Remark(f"{many(len(wrong), 'theorem file')} cannot be read: {', '.join(wrong)}.", "verify lint root:own")
    if own and not baseline_file(None).is_file():
        yield Remark("This project has no baseline: builds cannot tell what broke.", "verify baseline save")
    lock = workspace.project.root / LOCK
    if lock.is_file() and (other := sorted(_other_versions(lock.read_text(encoding="utf-8", errors="replace")))):
        shown = ", ".join(other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
        yield Remark(f"Other versions than builds take ({LOCK}): {shown}.", f"pip install -r {LOCK}")


def _other_versions(lock: str) -> Iterator[str]:
    """Packages of the lock file whose version here is another."""
    from importlib import metadata

    for name, version in _PIN.findall(lock):
        try:
            here = metadata.version(name)
        except metadata.PackageNotFoundError:
            here = "missing"
        if here != version:
            yield f"{name} {here} (there {version})"
