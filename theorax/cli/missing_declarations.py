"""Declarations that a claim about a table needs and that were not made: all at once, with a command that has them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from theorax.cli.statements import BoundClaim, LawClaim, LimitClaim, MeanClaim, ProbabilityClaim, RateClaim
from theorax.cli.studies import Claim, StudyOptions
from theorax.cli.tables import DataTable
from theorax.decide.moments import LIGHT_TAILS
from theorax.errors import UsageError

__all__ = ["formulas_of", "refuse_missing", "refuse_no_claim"]

_COUNTS = ("No", "One", "Two", "Three", "Four")
_SIZES = ("n", "width", "depth", "t", "size", "samples", "steps", "k", "d", "l", "m")
_KEYS = ("seed", "run", "id", "index", "draw", "trial")


class _Need(NamedTuple):
    """One option: its name, why it is needed, and an example of its value."""

    option: str
    why: str
    example: str


def refuse_missing(table: DataTable, claim: Claim, declared: StudyOptions, typed: Sequence[str]) -> None:
    """Ask for every declaration that is missing; ``typed`` is the command without its name.

    **Raises:** UsageError that names them all, with a command that has them; sooner for a name that is no column.
    """
    for formula in formulas_of(claim):
        table.columns_of(formula)
    needs = _needs(table, claim, declared)
    if needs:
        names = ", ".join(f"--{need.option}" for need in needs)
        added = [part for need in needs for part in (f"--{need.option}", need.example)]
        raise UsageError(
            f"{_COUNTS[len(needs)]} thing{'s are' if len(needs) > 1 else ' is'} missing: {names}. "
            f"For example: {shlex.join(['verify', *typed, *added])}\n"
            + "\n".join(f"  --{need.option} is {need.why}." for need in needs)
        )


def refuse_no_claim(table: DataTable) -> NoReturn:
    """Ask for a claim, with one made from the names of the columns.

    **Raises:** UsageError.
    """
    names = [name for name in table.names if name.lower() not in _KEYS] or list(table.names)
    size = next((name for name in names if name.lower() in _SIZES), names[0])
    rest = [name for name in names if name != size]
    made = (
        ["--rate", f"{rest[-1]} ~ {size}**-1", "--margin", "0.1"]
        if rest
        else ["--mean", f"{size} = 0", "--margin", "0.05"]
    )
    command = shlex.join(["verify", "data", str(table.path), *made])
    known = ", ".join(table.names[:12]) + (", ..." if len(table.names) > 12 else "")
    raise UsageError(f"No claim was made. {table.path} has the columns {known}. Write one claim, such as: {command}")


def formulas_of(claim: Claim) -> tuple[str, ...]:
    """The formulas of columns in a claim."""
    if isinstance(claim, BoundClaim):
        return claim.left, claim.right
    if isinstance(claim, LawClaim) and claim.parameters is None:
        return claim.of, claim.to
    return (claim.of,)


def _needs(table: DataTable, claim: Claim, declared: StudyOptions) -> list[_Need]:
    found = []
    if declared.margin is None and isinstance(claim, RateClaim | LimitClaim | MeanClaim | ProbabilityClaim):
        found.append(
            _Need("margin", "the smallest error that matters to you; data rule out larger errors", _margin(claim))
        )
    if declared.sd is None and _needs_sd(table, claim, declared):
        why = "about how far single values spread, from other runs; a wrong one costs precision, not validity"
        found.append(_Need("sd", f"{why} (or declare --range or --variance)", _sd(claim)))
    if isinstance(claim, LawClaim) and claim.letter and claim.parameters is not None and declared.corrections is None:
        why = "how far the laws at finite sizes may be from the limit"
        found.append(_Need("class", why, "expansion(1/2; rest=0.02, order=1)"))
    if (found and found[-1].option == "class") or (declared.corrections is not None and declared.unexplained):
        why = "the reason of a class sharper than the default; too sharp a class refutes true claims"
        found.append(_Need("because", why, "the next term of the expansion is known"))
    return found


def _needs_sd(table: DataTable, claim: Claim, declared: StudyOptions) -> bool:
    if isinstance(claim, LawClaim):
        return claim.parameters is None and claim.letter is None
    if declared.moments != LIGHT_TAILS or not isinstance(claim, LimitClaim | MeanClaim):
        return False
    if isinstance(claim, MeanClaim) or table.wide(claim.of) is not None:
        return True
    # A sequence without randomness has one row per size. Only sizes are read here, never values.
    sizes = table.read([table.named(claim.letter)]).columns[claim.letter]
    return len(np.unique(sizes)) < len(sizes)


def _margin(claim: Any) -> str:
    if isinstance(claim, RateClaim):
        return "0.1"
    if isinstance(claim, ProbabilityClaim):
        return "0.01"
    return f"{abs(float(claim.to)) / 20:.2g}" if claim.to else "0.05"


def _sd(claim: Any) -> str:
    if isinstance(claim, LawClaim):
        return "1"
    return f"{abs(float(claim.to)) / 5:.2g}" if claim.to else "0.2"
