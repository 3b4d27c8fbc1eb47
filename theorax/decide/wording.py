"""A decision in words, as a finding and as a row of a report: the same for theorems and for own numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from theorax.decide.findings import Finding, Found, settle
from theorax.decide.status import Decision, Reading, Reason, Side, Status
from theorax.decide.verdict import LoggedAttempt, Searched, Witness
from theorax.names import many
from theorax.text.numbers import as_typed, number, p_value, percent, with_uncertainty

__all__ = [
    "REMEDIES", "SEEDS", "TESTED", "attempted", "finite", "found_by", "inside", "numbers_line",
    "search_made", "searched_text", "sentence", "witnessed",
]  # fmt: skip

REMEDIES = {
    Reason.UNDERPOWERED: "the draws leave too wide an interval. More draws decide",
    Reason.CLASS_BIAS: "the assumed corrections leave no room in the margin. Use larger sizes, or declare smaller "
    "corrections with a reason",
    Reason.MOMENTS_UNDECLARED: "too few draws for a mean with undeclared tails",
    Reason.NUMERIC_FLOOR: "rounding is as large as the effect",
    Reason.CLASS_REFUTED: "the data do not fit the assumed corrections",
    Reason.HYPOTHESIS_UNSAMPLED: "no subject satisfies the hypotheses",
    Reason.NOT_DECIDABLE_YET: "it is not measured, and no proof settles it",
    Reason.BUDGET: "the program holds an operation that cannot be followed in this arithmetic",
    Reason.UNDECIDED_COMPARISON: "a comparison could not be decided in ball arithmetic",
    Reason.OUT_OF_TIME: "the time ran out",
    Reason.SPREAD: "the draws scatter far less than was declared of them",
    Reason.TAILS: "the draws are too skewed for an interval that takes their mean for nearly normal: more draws, or a "
    "declared range or variance, would decide",
    Reason.INDISTINCT: "draws that should differ are equal",
    Reason.TOO_FEW_SIZES: "the claim needs more sizes than were asked for",
    Reason.UNREAD_SIZE: "the size of the sweep does not reach what is measured",
    Reason.ONE_SIDED_DOMAIN: "at some point one side is a number and the other is none",
}

LOOSE_SHARE = 0.5
"""A bound of which a search reached less than this share is called loose."""

DECLARE = "Use larger sizes, or declare smaller corrections with a reason"

SEEDS: Mapping[str, str] = {
    "paired": "draws are independent of each other; draw s has the same seed at every size",
    "independent": "all draws are independent, within a size and across sizes",
    "undeclared": "draws are independent within a size; draw s belongs to draw s at every other size, or is independent "
    "of it",
    "none": "the sequence holds no randomness: one value at every size",
}
"""How the draws of a sweep belong together, by what was declared of their seeds."""


def attempted(entry: LoggedAttempt) -> str:
    """The attempt in one sentence, and what came of earlier forms and sources of the claim in another.

    >>> attempted(LoggedAttempt(number=2, begun="2026-01-02T03:04:05Z", entries=5, earlier=3, inconclusive=2, refuted=1))
    'Attempt 2; log begun 2026-01-02, 5 entries. 3 attempts at earlier forms or sources: 2 inconclusive, 1 refuted.'
    """
    told = f"Attempt {entry.number}; log begun {entry.begun[:10]}, {many(entry.entries, 'entry', 'entries')}."
    if not entry.earlier:
        return told
    attempts = many(entry.earlier, "attempt", "attempts")
    came = f"{entry.inconclusive} inconclusive, {entry.refuted} refuted"
    return f"{told} {attempts} at earlier forms or sources: {came}."


def sentence(
    status: Status, decision: Decision, level: float | None, *, detail: str = "", where: str = "", cases: int = 1
) -> str:
    """The sentence of a decision: the rejected hypothesis, the level, the declaration, and by how much that may fail.

    ``level``: None where nothing is random. ``detail`` is the deciding case's own sentence, which stands for the rest
    where there is one; ``where`` names it.
    """
    placed = f" for {where}" if where else ""
    risk = f"risk {percent(level)}" if level is not None else ""
    if detail:
        named = f" ({where})" if where and status is not Status.SUPPORTED else ""
        return f"{detail[0].upper()}{detail[1:]}{named}."
    if status is Status.SUPPORTED:
        factor = decision.breakdown_support
        holds = f" Holds until corrections are {factor:.2g} times those assumed." if factor < 1e6 else ""
        everywhere = f"In all {many(cases, 'case')} the" if cases > 1 else "The"
        error = f"an error of {decision.margin:.3g} or more{f' ({risk})' if risk else ''}"
        # None where no larger class was tried: nothing is extrapolated, or nothing can be enlarged.
        return f"{everywhere} data exclude {error}.{holds}{_larger(decision)}"
    if status is Status.REFUTED:
        counted = f"all {many(cases, 'case')} counted" if cases > 1 else ""
        noted = ", ".join(part for part in (risk, counted) if part)
        excluded = "the claimed value"
        if decision.reading is Reading.MARGIN:
            excluded += f" and all within {decision.margin:.3g} of it"
        told = f"The data exclude {excluded}{f' ({noted})' if noted else ''}{placed}."
        assumed = decision.bias > 0 or decision.robust is not None
        return told + (" Fragile: with larger corrections it is undecided." if assumed and not decision.robust else "")
    if status is Status.INCONCLUSIVE and decision.reason is Reason.CLASS_BIAS and math.isfinite(decision.bias):
        alone = f"the assumed corrections ({decision.bias:.2g}) leave no room in the margin ({decision.margin:.2g})"
        return f"Undecided{placed}: {alone}. {DECLARE}."
    if status is Status.INCONCLUSIVE and decision.reason is not None:
        return f"Undecided{placed}: {REMEDIES[decision.reason]}."
    return f"{status.capitalize()}{placed}."


CLAIMED = {Side.EQUAL: "exactly", Side.AT_MOST: "at most", Side.AT_LEAST: "at least"}


def inside(decision: Decision, sign: int = 1, words: tuple[str, str] = ("", "")) -> str:
    """The sentence of a value that is off the claim but inside its margin; empty for every other decision.

    ``sign`` as in `Shown`; ``words`` as of a plan: names of the claimed and of the found value, such as those of a law.
    """
    if not decision.equivalent_within_margin:
        return ""
    side = decision.side if sign > 0 else decision.side.mirrored
    claimed = words[0] or as_typed(sign * decision.claimed)
    off = f"not {CLAIMED[Side.EQUAL if words[0] else side]} {claimed}"
    found = f"found {words[1]}{with_uncertainty(sign * decision.estimate, decision.se or None)}"
    margin = number(decision.margin, 3)
    if decision.reading is Reading.MARGIN:
        return f"Within {margin} of {claimed}; {off} ({found})."
    return f"{off[0].upper()}{off[1:]} ({found}), but within your margin of {margin}."


def _larger(decision: Decision) -> str:
    """The fate of a support under larger classes, and whether the sizes speak for all sizes."""
    if decision.robust is None:
        return ""
    if decision.robust:
        said = " Robust: it holds with larger corrections too."
    elif decision.under_twice:
        said = " It holds with larger corrections too, but all sizes share their arithmetic."
    else:
        said = " Fragile: with larger corrections it is undecided."
    slow = {True: " It holds with a factor log n.", False: " With a factor log n it is undecided."}
    return said + (slow[decision.with_log] if decision.with_log is not None else "")


def witnessed(found: Witness, swept: str, untested: Sequence[str]) -> str:
    """The sentence of a witness: where the claim fails, by how much, and how that was confirmed.

    ``untested``: names of hypotheses that are sentences, which nothing tests at a witness.
    """
    at = ", ".join([*(f"{letter} = {value}" for letter, value in found.at.items()), f"{swept} = {number(found.size)}"])
    if found.entries:
        zeros = f", the other {many(found.zeros, 'entry', 'entries')} zero" if found.zeros else ""
        noise = f" with the noise {', '.join(found.entries)}{zeros}"
    else:
        noise = f" with {many(found.numbers, 'number')} of noise, {found.zeros} of them zero"
    how = "a ball of the excess is positive" if found.by_ball else f"rounding makes at most {number(found.floor, 2)}"
    told = (
        f"It fails at a draw that a search found: {number(found.left, 6)} against {number(found.right, 6)} for "
        f"{found.subject} at {at}{noise}. The excess is {number(found.excess, 3)}, and draws nearby have it too; {how}."
    )
    if untested:
        told += f" Not tested at the witness: {', '.join(untested)}; write holds=."
    return told


def searched_text(found: Searched, swept: str) -> str:
    """The outcome of a search that found no witness, in a few words.

    >>> searched_text(Searched(evaluations=600, size=8.0, share=0.334), "n")
    'loose here (n = 8): never above 0.33 of the bound'
    >>> searched_text(Searched(evaluations=600, size=8.0, share=0.97), "n")
    '0.97 of the bound reached'
    """
    if found.why_not:
        return f"not searched: {found.why_not}"
    if found.share is None:
        return "no draw at which it fails"
    # Digits that would round to one say that it is below it.
    share = (
        number(found.share, 2) if found.share < 0.99 or found.share >= 1 else f"{math.floor(found.share * 1e3) / 1e3}"
    )
    if found.share < LOOSE_SHARE and found.size is not None:
        return f"loose here ({swept} = {number(found.size)}): never above {share} of the bound"
    return f"{share} of the bound reached"


def search_made(found: Searched) -> str:
    """The size of a search, and what it left as drawn; empty where there was none."""
    if found.why_not:
        return ""
    kept = f"; left as drawn: {', '.join(found.left)}" if found.left else ""
    return f"{many(found.evaluations, 'evaluation')}{kept}"


def numbers_line(decision: Decision, sign: int = 1) -> str:
    """The numbers of a decision in a line; ``sign`` as in `Shown`."""
    return (
        f"estimate {sign * decision.estimate:.4g}, claimed {sign * decision.claimed:.4g}, "
        f"margin {decision.margin:.2g}, {p_value(decision.p_refute, 'p(true)')}"
    )


TESTED = {
    Status.CERTIFIED: Finding.CERTIFICATE,
    Status.SUPPORTED: Finding.TEST_SUPPORTED,
    Status.REFUTED: Finding.TEST_REFUTED,
    Status.INCONCLUSIVE: Finding.UNDECIDED,
}
"""Finding of a decision of which only the status is known."""


def found_by(
    decision: Decision,
    finding: Finding | None = None,
    *,
    level: float | None,
    detail: str = "",
    where: str = "",
    cases: int = 1,
    within: str = "",
) -> Found:
    """The finding of a decision, with its sentence; the other arguments as in `sentence`, ``within`` of `inside`."""
    finding = finding or TESTED[decision.status]
    told = sentence(settle([finding]), decision, level, detail=detail, where=where, cases=cases)
    within = within if finding in (Finding.TEST_SUPPORTED, Finding.TEST_REFUTED) else ""
    return Found(finding, told, decision.reason if finding is Finding.UNDECIDED else None, within)


def finite(value: float) -> float | None:
    """A number that a report can hold; None for what is not finite."""
    return value if math.isfinite(value) else None
