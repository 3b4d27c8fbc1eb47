"""All claims of a session: the verdict of each, and what they say together.

A claim travels as a property of its test's report, so that a session with many workers has one account. The statement is
that of a run of the command (:mod:`theorax.decide.error_budget`). It changes no verdict, and no test.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from theorax.decide.error_budget import Member, member, said_together
from theorax.decide.status import Status
from theorax.names import many
from theorax.testing.declared_options import PROPERTY
from theorax.text.codec import built, json_values
from theorax.text.numbers import p_value
from theorax.text.safe import visible
from theorax.text.signs import signed

if TYPE_CHECKING:
    from theorax.decide.verdict import Verdict
    from theorax.reports.document import ClaimReport


@dataclass(frozen=True)
class Stated:
    """One claim of a session: its verdict as one of many."""

    name: str
    member: Member

    @property
    def property(self) -> tuple[str, str]:
        """The claim as a property of a test's report."""
        return PROPERTY, json.dumps(json_values(self))

    @classmethod
    def of_claim(cls, theorem: str, claim: ClaimReport) -> Stated:
        """A claim of a report, with the p-values that count its attempt."""
        return cls(f"{theorem}.{claim.id}", member(claim, claim.attempt))

    @classmethod
    def of_verdict(cls, name: str, verdict: Verdict) -> Stated:
        """A verdict on own numbers."""
        return cls(name, member(verdict))


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

    def told(self) -> Iterator[str]:
        """The account in lines."""
        members = {name: stated.member for name, stated in self.claims.items()}
        found = said_together(members)
        counts = Counter(one.status for one in members.values())
        listed = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
        yield f"{many(len(members), 'claim')}: {listed}."
        if len(found.members) > 1:
            yield found.sentence
        for name in found.red_alone:
            told = p_value(found.members[name].refute)
            yield f"{signed(Status.REFUTED, alone=True)} {visible(name)}: {told} among all. More draws tell whether rightly."

    def undecided(self) -> int:
        """Number of claims that are undecided."""
        open_ = (Status.INCONCLUSIVE, Status.VACUOUS, Status.BLOCKED)
        return sum(stated.member.status in open_ for stated in self.claims.values())
