"""Forms that a declared class leaves out: corrections slower than its powers, and the rivals of a claimed form.

They are typed data: what a reader sees of them is written in `theorax.decide.phrases`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Form", "FormKind", "SlowTerm"]

_ROOT = 1 / 4


class SlowTerm(StrEnum):
    """A correction that fades more slowly than the square root of the size."""

    LOG = "log"  # 1/log n
    LOGLOG = "loglog"  # log log n/log n
    ROOT = "root"  # n^(-1/4)

    def at(self, sizes: Sequence[float]) -> tuple[float, ...]:
        """The term at these sizes, in units of its largest absolute value there.

        log log n/log n grows up to n = e^e, so its largest value need not be that at the smallest size.
        """
        if self is SlowTerm.ROOT:
            return tuple((size / sizes[0]) ** -_ROOT for size in sizes)
        logs = [math.log(size) for size in sizes]
        term = [1 / log if self is SlowTerm.LOG else math.log(log) / log for log in logs]
        largest = max(map(abs, term))
        return tuple(value / largest for value in term)

    def is_defined(self, sizes: Sequence[float]) -> bool:
        """True if the term is a number at all of these sizes, and not zero at each."""
        return self is SlowTerm.ROOT or min(sizes) > 1


class FormKind(StrEnum):
    """Kinds of forms on the menu."""

    POWER = "power"  # n^exponent (log n)^log_power
    EXPONENTIAL = "exponential"  # exp(exponent n)
    CONSTANT = "constant"
    SLOW = "slow"  # limit + coefficients times slow terms
    SLOW_FACTOR = "slow_factor"  # the claimed order times exp(coefficients times slow terms)


@dataclass(frozen=True)
class Form:
    """A form that fits the data, with what was fitted of it; numbers are those that a reader sees.

    ``coefficients`` are those of the slow terms, each at the size where its term is largest. ``better``: by how much its
    chi-squared lies below that of the claim, both with the declared class; None where the form fits on its own.
    """

    kind: FormKind
    exponent: float | None = None
    log_power: float | None = None
    limit: float | None = None
    slow: tuple[SlowTerm, ...] = ()
    coefficients: tuple[float, ...] = ()
    better: float | None = None
