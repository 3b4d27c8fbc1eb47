"""Measured parameters: where the average of a letter stands in for one, the claim must not hold whatever is measured."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import Looked
from theorax.decide.status import Status
from theorax.errors import TheoraxError
from theorax.language import Parameter
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.lowering import CellResult

__all__ = ["stand_ins"]

Column = np.ndarray

_EXACT = 1e-6
"""Letters that a sum of others gives to this part of their range are read as that sum, in single precision too."""


def _uniform(column: Column, name: str) -> Column:
    """Uniform draws in the place of those of a letter, the same whenever they are asked for."""
    return np.random.default_rng(zlib.crc32(name.encode())).random(column.shape)


REPLACED: tuple[Callable[[Column, str], Column], ...] = (
    lambda column, name: 2.0 * column,
    lambda column, name: column + 1.0,
    lambda column, name: column**2.0,
    _uniform,
)
"""Other measurements: under each of them a claim that compares a letter with its own average still holds."""


def stand_ins(claim: DecidedClaim) -> Looked:
    """Support that no other measurement takes away is that of a letter by itself."""
    for case in claim.judged:
        used = _used(claim, case) if case.decision.status is Status.SUPPORTED and case.statistical else ""
        if used and all(_survives(claim, case, replaced) for replaced in REPLACED):
            sentence = (
                f"The claim holds for {case.cell.line.name} whatever is measured. With {used} read off the "
                "same draws it also holds for twice the letters, their squares, one more, and uniform numbers. Let "
                f"the subject know {used}, or claim what {used} alone does not say."
            )
            return Looked((Found(Finding.CANNOT_FAIL, sentence),))
    return Looked()


def _used(claim: DecidedClaim, case: CellResult) -> str:
    """The parameters for which a measured average stands in on this line."""
    known = case.cell.line.letters_at(case.cell.line.sizes[0])
    letters = claim.planned.claim.letters
    missing = [p for p in letters if isinstance(p, Parameter) and p.measured is not None and p not in known]
    return " and ".join(sorted(map(str, missing)))


def _survives(claim: DecidedClaim, case: CellResult, replaced: Callable[[Column, str], Column]) -> bool:
    """True if the case is judged and supported on these measurements too."""
    observed = claim.draws.on(case.cell.line)

    def changed(table: Mapping[str, Column]) -> dict[str, Column]:
        return _replaced({name: np.asarray(column, float) for name, column in table.items()}, replaced)

    other = Observed(replace(observed.line), tuple(map(changed, observed.tables)), observe=observed.observe)
    try:
        with np.errstate(all="ignore"):
            found = claim.judge.judge(claim.planned.claim, case, other)
    except (TheoraxError, ArithmeticError, ValueError):
        return False
    return found.decision.status is Status.SUPPORTED


def _replaced(table: Mapping[str, Column], replaced: Callable[[Column, str], Column]) -> dict[str, Column]:
    """Other measurements, under which a letter that is a sum of multiples of others in every draw stays that sum."""
    changed: dict[str, Column] = {}
    free: list[str] = []
    for name, column in sorted(table.items()):
        alike = [other for other in free if table[other].shape == column.shape]
        weights = _weights(column, [table[other] for other in alike])
        if weights is None:
            changed[name] = replaced(column, name)
            free += [name] if np.ptp(column) > 0 else []
        else:
            changed[name] = weights[0] + sum(w * changed[other] for w, other in zip(weights[1:], alike, strict=True))
    return changed


def _weights(column: Column, others: Sequence[Column]) -> Column | None:
    """A constant and the multiples of other columns that sum to this one in every draw; None where there are none."""
    if not others or np.ptp(column) == 0 or column.size < 2 * (len(others) + 1):
        return None
    given = np.stack([np.ones(column.size), *map(np.ravel, others)], axis=1)
    size = np.abs(given).max(axis=0)
    weights = np.linalg.lstsq(given / size, np.ravel(column), rcond=None)[0] / size
    return weights if np.abs(given @ weights - np.ravel(column)).max() <= _EXACT * np.ptp(column) else None
