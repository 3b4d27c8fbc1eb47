"""One claim in a line, as the report of twenty lines tells it: by what it was shown, claimed, found, and its bar."""

from __future__ import annotations

from dataclasses import dataclass

from theorax.decide.status import Status
from theorax.reports.claim_lines import bar_line, claim_numbers, settled_word
from theorax.reports.default_report import GLUE, report_rows
from theorax.reports.document import ClaimReport, TheoremReport

COMMANDS = ("To decide", "Again", "Narrow")  # rows that hold a command to type


@dataclass(frozen=True)
class ClaimCard:
    """The numbers of one claim; what is proved or certified has none, its promise says for what."""

    word: str
    claimed: str = ""
    found: str = ""
    bar: str = ""

    @classmethod
    def of(cls, claim: ClaimReport) -> ClaimCard:
        """The card of a claim."""
        if claim.status in (Status.PROVED, Status.CERTIFIED):
            return cls(settled_word(claim))
        numbers = claim_numbers(claim)
        found = f"{numbers.found} {numbers.origin}".strip()
        return cls(numbers.verdict, numbers.claimed, found, bar_line(claim).strip())


def rows(part: TheoremReport, effort: str) -> list[tuple[str, str, bool]]:
    """The rows below the claims: label, text, and whether the text is a command."""
    return [
        (row.label, row.text.replace(GLUE, " "), row.label in COMMANDS)
        for row in report_rows(part, effort, more="below")
    ]
