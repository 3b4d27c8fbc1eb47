"""Findings of a check about one claim, and the table that maps them to its status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from theorax.decide.status import Reason, Status

__all__ = ["Finding", "Found", "ShownBy", "decisive", "inside_the_margin", "settle", "shown_by"]


class Finding(StrEnum):
    """One thing that a check brought to light; several may hold of one claim."""

    NOT_CHECKED = "the check could not be carried out"
    HYPOTHESIS_VIOLATED = "hypothesis violated by the run"
    FALSE_STEP = "a step of its proof, or of a lemma, is false"
    DISPROVED = "its proof and its measurement contradict each other"
    WEAKER_FELL = "a variant that follows from it fell on the data that support it"
    ANCESTOR_FAILED = "a claim it relies on failed"
    COUNTEREXAMPLE = "counterexample confirmed in rigorous arithmetic"
    NO_INSTANCE = "no draw satisfies the hypotheses"
    TRIVIAL_BOUND = "the bound is trivial on the whole scope"
    PROOF = "exact decision procedure closed the goal"
    FLOATS_OFF = "the floats that the program returned are not the numbers of its function"
    WITNESS = "a search found a draw at which it fails, by more than rounding"
    FAILS_BEYOND = "it fails outside the values that its author drew"
    CERTIFICATE = "rigorous arithmetic covered the domain"
    ONE_NUMBER = "what the data exclude is the rounding of one number"
    TEST_REFUTED = "the data exclude the claim"
    INSENSITIVE = "a wrong variant or a control passes"
    CANNOT_FAIL = "the measurement could not have refuted it"
    INSTANCES = "rigorous arithmetic decided each instance built"
    WITHHELD = "a guard withholds support"
    TEST_SUPPORTED = "the data exclude an error of the margin or more"
    UNDECIDED = "the data leave it open"


_PRECEDENCE: tuple[tuple[Finding, Status], ...] = (
    (Finding.NOT_CHECKED, Status.ERROR),
    (Finding.HYPOTHESIS_VIOLATED, Status.ERROR),
    (Finding.FALSE_STEP, Status.ERROR),
    (Finding.DISPROVED, Status.ERROR),
    (Finding.WEAKER_FELL, Status.ERROR),
    (Finding.ANCESTOR_FAILED, Status.BLOCKED),
    (Finding.COUNTEREXAMPLE, Status.REFUTED),
    (Finding.NO_INSTANCE, Status.VACUOUS),
    (Finding.TRIVIAL_BOUND, Status.VACUOUS),
    (Finding.PROOF, Status.PROVED),
    (Finding.FLOATS_OFF, Status.INCONCLUSIVE),
    (Finding.WITNESS, Status.REFUTED),
    (Finding.FAILS_BEYOND, Status.INCONCLUSIVE),
    (Finding.CERTIFICATE, Status.CERTIFIED),
    (Finding.ONE_NUMBER, Status.VACUOUS),
    (Finding.TEST_REFUTED, Status.REFUTED),
    (Finding.INSENSITIVE, Status.VACUOUS),
    (Finding.CANNOT_FAIL, Status.VACUOUS),
    (Finding.WITHHELD, Status.INCONCLUSIVE),
    (Finding.INSTANCES, Status.SUPPORTED),
    (Finding.TEST_SUPPORTED, Status.SUPPORTED),
    (Finding.UNDECIDED, Status.INCONCLUSIVE),
)


def settle(findings: Iterable[Finding]) -> Status:
    """The status of a claim about which all these findings hold: the first row that applies.

    | finding | status |
    |---|---|
    | the check could not be carried out | ERROR |
    | hypothesis violated by the run | ERROR |
    | a step of its proof, or of a lemma, is false | ERROR |
    | its proof and its measurement contradict each other | ERROR |
    | a variant that follows from it fell on the data that support it | ERROR |
    | a claim it relies on failed | BLOCKED |
    | counterexample confirmed in rigorous arithmetic | REFUTED |
    | no draw satisfies the hypotheses | VACUOUS |
    | the bound is trivial on the whole scope | VACUOUS |
    | exact decision procedure closed the goal | PROVED |
    | the floats that the program returned are not the numbers of its function | INCONCLUSIVE |
    | a search found a draw at which it fails, by more than rounding | REFUTED |
    | it fails outside the values that its author drew | INCONCLUSIVE |
    | rigorous arithmetic covered the domain | CERTIFIED |
    | what the data exclude is the rounding of one number | VACUOUS |
    | the data exclude the claim | REFUTED |
    | a wrong variant or a control passes | VACUOUS |
    | the measurement could not have refuted it | VACUOUS |
    | a guard withholds support | INCONCLUSIVE |
    | rigorous arithmetic decided each instance built | SUPPORTED |
    | the data exclude an error of the margin or more | SUPPORTED |
    | the data leave it open | INCONCLUSIVE |

    A surviving mutant, or a measurement that could not fail, speaks against what holds on draws alone, floats or balls:
    nothing drawn can take from a proof, or from a certificate for a whole domain. A guard withholds what a test supports
    and leaves a refutation as it is. Floats that are not the numbers of the function speak neither for the claim nor
    against it. No finding at all is INCONCLUSIVE, never support.
    """
    row = _row(frozenset(findings))
    return Status.INCONCLUSIVE if row is None else row[1]


@dataclass(frozen=True)
class Found:
    """A finding about one claim, with the sentence that a reader is told where it decides."""

    finding: Finding
    sentence: str
    reason: Reason | None = None  # why it leaves the claim open, where it does
    within: str = ""  # of a value off the claim but inside its margin: the sentence that says both


class ShownBy(StrEnum):
    """By what a claim was established or refuted."""

    PROVED = "proved"
    CERTIFIED = "certified"
    MEASURED = "measured"


_SHOWN_BY = {
    Finding.PROOF: ShownBy.PROVED,
    Finding.COUNTEREXAMPLE: ShownBy.CERTIFIED,
    Finding.CERTIFICATE: ShownBy.CERTIFIED,
    Finding.INSTANCES: ShownBy.MEASURED,
    Finding.WITNESS: ShownBy.MEASURED,
    Finding.TEST_REFUTED: ShownBy.MEASURED,
    Finding.TEST_SUPPORTED: ShownBy.MEASURED,
}


def decisive(found: Sequence[Found]) -> Found:
    """The finding that decides the status; of several alike, the first."""
    row = _row(frozenset(part.finding for part in found))
    return next((part for part in found if row is not None and part.finding is row[0]), _NOTHING)


def shown_by(found: Sequence[Found]) -> ShownBy | None:
    """By what the claim was established or refuted; None where it was neither."""
    return _SHOWN_BY.get(decisive(found).finding)


def inside_the_margin(found: Sequence[Found]) -> str:
    """The sentence of the deciding finding that the value is off the claim but inside its margin; empty where it is not.

    It speaks of support, so it falls where anything speaks against support.
    """
    doubted = _AGAINST_SUPPORT & {part.finding for part in found}
    return "" if doubted else decisive(found).within


_AGAINST_SUPPORT = frozenset(
    {Finding.FAILS_BEYOND, Finding.WITHHELD, Finding.INSENSITIVE, Finding.CANNOT_FAIL, Finding.FLOATS_OFF}
)
_NOTHING = Found(Finding.UNDECIDED, "Nothing was decided.")


def _row(found: frozenset[Finding]) -> tuple[Finding, Status] | None:
    """The first row of the table that applies."""
    if not found & {Finding.TEST_SUPPORTED, Finding.INSTANCES}:
        found -= {Finding.INSENSITIVE, Finding.CANNOT_FAIL}
    if not found & {Finding.TEST_SUPPORTED, Finding.INSTANCES}:
        found -= {Finding.WITHHELD}
    return next((row for row in _PRECEDENCE if row[0] in found), None)
