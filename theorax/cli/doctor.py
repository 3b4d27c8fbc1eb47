"""``verify doctor``: what this machine computes with, and whether results can be kept."""

from __future__ import annotations

from collections.abc import Callable

import click

from theorax import __version__
from theorax.cli.options import DEVICES, OneOf, settings, state_option
from theorax.errors import TheoraxError


def _allowed(library_ulps: Callable[[str, str], float], name: str) -> tuple[float, ...]:
    return tuple(2 * library_ulps(name, dtype) for dtype in ("float32", "float64"))


@click.command("doctor")
@click.option("--device", type=OneOf(DEVICES), help="[cpu]")
@state_option
def doctor(device: str | None, state: str | None) -> int:
    """Show versions, devices, the precision of matrix products and functions, and whether results can be kept."""
    chosen = settings({"device": device, "state": state})
    from pathlib import Path

    from theorax.reports.document import MachineReport
    from theorax.runs.store import Store, StoreError
    from theorax.runs.workers import one_thread

    found = MachineReport.here()
    rows: list[tuple[str, object]] = [("theorax", __version__), ("python", found.python)]
    rows += list(found.versions.items())
    rows += [("system", f"{found.system} {found.machine}, {found.cores} cores")]
    one_thread()
    code = 0
    try:
        from theorax.numerics import platform

        platform.enable(device=chosen.device)
        known = {"jax", "numpy", "python", "machine"}
        rows += [(k.replace("_", " "), v) for k, v in platform.describe(chosen.device).items() if k not in known]
        from theorax.numerics.arithmetics.running_error import library_ulps, probed

        for name, errors in probed().items():
            here, used = (
                " / ".join(f"{error:.2f}" for error in pair) for pair in (errors, _allowed(library_ulps, name))
            )
            rows.append((f"error of {name}", f"{here} ulp measured in float32 / float64, {used} allowed for"))
    except (TheoraxError, ImportError, RuntimeError) as error:
        rows.append((chosen.device, f"cannot be used: {str(error).splitlines()[0]}"))
        code = 3
    try:
        Store(Path(chosen.state)).prepare()
        rows.append(("results", f"kept in {chosen.state}"))
    except StoreError as error:
        rows.append(("results", str(error)))
        code = 3
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{name:<{width}}  {f'{value:.2g}' if isinstance(value, float) else value}")
    return code
