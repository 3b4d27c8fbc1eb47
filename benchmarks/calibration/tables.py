"""The tables of measured rates: measured beside published, and whether each procedure keeps its word."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from benchmarks.calibration.cases import Case, Procedure, Tally, Truth, failures, most

__all__ = ["HEADER", "lines", "verdict"]

HEADER = (
    f"{'':58s}{'refuted':>8s} {'publ.':>6s} {'supp.':>8s} {'publ.':>6s} {'excl.':>7s} {'misses':>12s} {'draws':>7s}"
)

LEGEND = """
refuted, supp.: shares of the replicates; publ.: the rate that the method's tables state for the same row.
excl.: "false by the margin or more" was rejected, whatever was said of the exact claim; bounded by the level of support
where the truth is off by the margin. misses: shares of intervals below and above the true value (one-sided limits at
0.025 each). draws: mean number used.
holds: every bounded count is at most the 99.9 % quantile of the binomial law at its level ({most} of {n} at 0.025), no
power is below the published one less 0.05 (and the 99.9 % fluctuation), p-values are no smaller than uniform ones.
exceeds: a rule that promises nothing refutes the truth, or supports at the margin, more often than 0.025 allows.
"""


def verdict(case: Case, procedure: Procedure, counted: Tally) -> str:
    """The word on a procedure: a promised one holds or fails, and others exceed their levels or not."""
    if procedure.promised:
        found = failures(case, procedure, counted)
        return "FAILS: " + "; ".join(found) if found else "holds"
    n = counted.replicates
    refused = (Truth.HOLDS, Truth.UNSURE)
    wrong = counted.refuted if case.truth in refused else counted.supported if case.truth is Truth.MARGIN else 0.0
    level = procedure.refute if case.truth in refused else procedure.support
    return "exceeds" if wrong > most(n, level) else ""


def lines(family: str, counted: Iterable[tuple[Case, Mapping[str, Tally]]]) -> list[str]:
    """One family's table; the truths of one kind of data stand together."""
    result = [HEADER]
    name = ""
    for case, tallies in counted:
        if case.name != name:
            name = case.name
            result += ["", name]
        n = next(iter(tallies.values())).replicates
        result.append(f"  {case.truth.value}{f' ({case.detail})' if case.detail else ''}, {n} replicates")
        result += [_line(case, procedure, tallies[procedure.name]) for procedure in case.procedures]
    return result


def _line(case: Case, procedure: Procedure, counted: Tally) -> str:
    n, stated = counted.replicates, procedure.published
    misses = f"{counted.below / n:.3f} {counted.above / n:.3f}" if procedure.covers else ""
    cost = f"{counted.cost:.0f}" if math.isfinite(counted.cost) else ""
    return (
        f"    {procedure.name:54s}{counted.refuted / n:8.3f} {_rate(stated.refuted)} {counted.supported / n:8.3f} "
        f"{_rate(stated.supported)} {counted.excludes_margin / n:7.3f} {misses:>12s} {cost:>7s}  "
        f"{verdict(case, procedure, counted)}"
    ).rstrip()


def _rate(value: float | None) -> str:
    return f"{value:6.3f}" if value is not None else " " * 6
