"""All claims of a session together: the verdict of each alone, and the verdicts that all of them support together.

A claim travels as a property of its test's report, so that a session with many workers has one account. The account is
that of a run of the command (:mod:`theorax.decide.error_budget`): an adjustment takes away and never gives. A claim
that held alone and does not among the others is undecided; a claim that was refuted has failed its test, and that stands,
though the account may call the refutation no more than an alarm.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from theorax.decide.findings import Finding, settle
from theorax.decide.status import Status
from theorax.names import many
from theorax.testing.declared_options import PROPERTY
from theorax.text.codec import built, json_values
from theorax.text.numbers import p_value
from theorax.text.safe import visible
from theorax.text.signs import signed

if TYPE_CHECKING:
    from theorax.decide.error_budget import Suite
    from theorax.decide.verdict import Verdict
    from theorax.reports.document import ClaimReport


@dataclass(frozen=True)
class Stated:
    """One claim of a session: its status alone, and its p-values, charged for its attempt."""

    name: str
    status: Status
    p_refute: float | None
    p_support: float | None
    rigorous: bool

    @property
    def property(self) -> tuple[str, str]:
        """The claim as a property of a test's report."""
        return PROPERTY, json.dumps(json_values(self))

    @classmethod
    def of_claim(cls, theorem: str, claim: ClaimReport) -> Stated:
        """A claim of a report, with the p-values that count its attempt."""
        from theorax.decide.spending import charged

        alone = replace(cls.of_verdict(f"{theorem}.{claim.id}", claim), status=claim.status_unadjusted)
        if alone.p_refute is None or alone.p_support is None:
            return alone
        p_refute = charged(alone.p_refute, claim.attempt)
        return replace(alone, p_refute=p_refute, p_support=charged(alone.p_support, claim.attempt))

    @classmethod
    def of_verdict(cls, name: str, verdict: Verdict) -> Stated:
        """A verdict on own numbers."""
        return cls(name, **{field.name: getattr(verdict, field.name) for field in fields(cls) if field.name != "name"})


@dataclass
class Family:
    """The claims of a session by name; one that was stated again, by a test that was run again, replaces the earlier."""

    claims: dict[str, Stated] = field(default_factory=dict)

    def hear(self, properties: list[tuple[str, object]]) -> None:
        """Take the claims from a report's properties."""
        for name, value in properties:
            if name == PROPERTY and isinstance(value, str):
                stated = built(Stated, json.loads(value))
                self.claims[stated.name] = stated

    def adjusted(self) -> tuple[dict[str, Status], Suite]:
        """Every claim's status as all of them together support it."""
        from theorax.decide import error_budget

        suite = error_budget.apply_budget(self.claims)
        fallen = settle([Finding.FELL_IN_SUITE])
        return {name: fallen if name in suite.changed else own.status for name, own in self.claims.items()}, suite

    def told(self) -> Iterator[str]:
        """The account in lines."""
        from theorax.decide.error_budget import REFUTATIONS, SUPPORTS

        after, found = self.adjusted()
        counts = Counter(stated.status for stated in self.claims.values())
        listed = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
        yield f"{many(len(self.claims), 'claim')}: {listed}."
        if found.supports > 1:
            yield found.sentence
        for name in found.changed:
            stated, member = self.claims[name], found.members[name]
            supported = stated.status is Status.SUPPORTED
            p, adjusted = (stated.p_support, member.support) if supported else (stated.p_refute, member.refute)
            level = SUPPORTS if supported else REFUTATIONS
            told = f"({p_value(p)}); among {many(len(found.members), 'claim')} its p is {adjusted:.2g}, above {level:g}"
            yield (
                f"{signed(after[name])} {visible(name)}: alone {stated.status} {told}. "
                + ("Plan it with more draws." if supported else "Its test failed; more draws tell whether rightly.")
            )

    def fallen(self) -> int:
        """Number of claims that hold alone and not among the others."""
        _, found = self.adjusted()
        return sum(self.claims[name].status is Status.SUPPORTED for name in found.changed)

    def undecided(self) -> int:
        """Number of claims that are undecided, alone or among the others."""
        after, _ = self.adjusted()
        return sum(status in (Status.INCONCLUSIVE, Status.VACUOUS, Status.BLOCKED) for status in after.values())
