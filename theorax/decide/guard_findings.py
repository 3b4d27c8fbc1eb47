"""Findings besides those of a test, and lines of the ledger that take the place of declared ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from theorax.decide.findings import Finding, Found
from theorax.decide.verdict import Assumption

__all__ = ["NOTHING_LOOKED_AT", "Looked", "all_looked"]


@final
@dataclass(frozen=True)
class Looked:
    """Findings and lines of the ledger; the first line of a kind stands in the place of what was declared of that kind."""

    findings: tuple[Found, ...] = ()
    ledger: tuple[Assumption, ...] = ()

    @property
    def withholds(self) -> bool:
        """True if a guard holds support back."""
        return any(part.finding is Finding.WITHHELD for part in self.findings)

    def over(self, declared: Sequence[Assumption]) -> tuple[Assumption, ...]:
        """The declared ledger with these lines in it."""
        left, lines = list(self.ledger), []
        for line in declared:
            own = next((part for part in left if part.kind == line.kind), line)
            if own is not line:
                left.remove(own)
            lines.append(own)
        return (*lines, *left)


NOTHING_LOOKED_AT = Looked()


def all_looked(found: Iterable[Looked]) -> Looked:
    """Findings and lines of several guards as one."""
    parts = list(found)
    return Looked(
        tuple(finding for part in parts for finding in part.findings),
        tuple(line for part in parts for line in part.ledger),
    )
