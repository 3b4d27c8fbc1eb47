"""A decision in words, as a finding and as a row of a report: the same for theorems and for own numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from theorax.decide.findings import Finding, Found, settle
from theorax.decide.phrases import LASTING, factor_text, form_text
from theorax.decide.status import ClassBasis, Decision, Reading, Reason, Side, Status
from theorax.decide.verdict import LoggedAttempt, Searched, Witness
from theorax.names import many
from theorax.text.numbers import as_typed, number, p_value, percent, with_uncertainty

__all__ = [
    "REMEDIES",
    "SEEDS",
    "TESTED",
    "attempted",
    "beyond_range",
    "finite",
    "found_by",
    "in_general",
    "inside",
    "numbers_line",
    "search_made",
    "searched_text",
    "sentence",
    "witnessed",
]  # fmt: skip

DECLARE_NOISE = 'Write seeds="none" if the values are exact, bound their errors, or draw several values at every size'

REMEDIES = {
    Reason.UNDERPOWERED: "the draws leave too wide an interval. More draws decide",
    Reason.CLASS_BIAS: "the assumed corrections leave no room in the margin. Use larger sizes, or declare smaller "
    "corrections with a reason",
    Reason.MOMENTS_UNDECLARED: "too few draws for a mean with undeclared tails",
    Reason.NUMERIC_FLOOR: "rounding is as large as the effect",
    Reason.CLASS_REFUTED: "the data do not fit the assumed corrections",
    Reason.CLASS: "a form outside the declared corrections explains the data too. Give the class its reason, or declare a "
    "class that holds this form",
    Reason.NOISE_UNDECLARED: f"one value at each size shows its noise in the residuals alone. {DECLARE_NOISE}",
    Reason.HYPOTHESIS_UNSAMPLED: "no subject satisfies the hypotheses",
    Reason.NOT_DECIDABLE_YET: "it is not measured, and no proof settles it",
    Reason.BUDGET: "the program holds an operation that cannot be followed in this arithmetic",
    Reason.UNDECIDED_COMPARISON: "a comparison could not be decided in ball arithmetic",
    Reason.OUT_OF_TIME: "the time ran out",
    Reason.SPREAD: "the draws scatter far less than was declared of them",
    Reason.TAILS: "the draws are too skewed for an interval that takes their mean for nearly normal: more draws, or a "
    "declared range or variance, would decide",
    Reason.INDISTINCT: "draws that should differ are equal",
    Reason.DEPENDENT: "draws depend on earlier ones, in the order given",
    Reason.TOO_FEW_SIZES: "the claim needs more sizes than were asked for",
    Reason.UNREAD_SIZE: "the size of the sweep does not reach what is measured",
    Reason.SELF_AVERAGING: "the empirical law of one draw may scatter at every size: claim its mean, or draw larger sizes",
    Reason.ONE_SIDED_DOMAIN: "at some point one side is a number and the other is none",
    Reason.RANGE: "it fails outside the values drawn. State the range: where=...",
}

LOOSE_SHARE = 0.5
"""A bound of which a search reached less than this share is called loose."""

DECLARE = "Use larger sizes, or declare smaller corrections with a reason"

_OF_CLASS = {ClassBasis.AUTHOR: "those of the author's class", ClassBasis.DEFAULT: "those of the default class"}

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
    status: Status,
    decision: Decision,
    level: float | None,
    *,
    detail: str = "",
    where: str = "",
    cases: int = 1,
    letter: str = "n",
) -> str:
    """The sentence of a decision: the rejected hypothesis, the level, the declaration, and by how much that may fail.

    ``level``: None where nothing is random. ``detail`` is the deciding case's own sentence, which stands for the rest
    where there is one; ``where`` names it. ``letter``: the size along which forms are fitted.
    """
    placed = f" for {where}" if where else ""
    risk = f"risk {percent(level)}" if level is not None else ""
    if detail:
        named = f" ({where})" if where and status is not Status.SUPPORTED else ""
        bound = _bound_to_class(decision) if status is Status.REFUTED else ""
        return f"{bound}{detail[0].upper()}{detail[1:]}{named}."
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
        return f"{_bound_to_class(decision)}{told}"
    if status is Status.INCONCLUSIVE and decision.reason is Reason.CLASS and decision.outside is not None:
        return f"Undecided{placed}: {_explained(decision, letter)}"
    if status is Status.INCONCLUSIVE and decision.reason is Reason.CLASS_BIAS and math.isfinite(decision.bias):
        alone = f"the assumed corrections ({decision.bias:.2g}) leave no room in the margin ({decision.margin:.2g})"
        return f"Undecided{placed}: {alone}. {DECLARE}."
    if status is Status.INCONCLUSIVE and decision.reason is not None:
        return f"Undecided{placed}: {REMEDIES[decision.reason]}."
    return f"{status.capitalize()}{placed}."


def _bound_to_class(decision: Decision) -> str:
    """The class on which a refutation rests, and by how much it may fail; empty where nothing is extrapolated."""
    if decision.basis is None:
        return ""
    assumed = f"Refuted if corrections are at most {_OF_CLASS[decision.basis]}"
    factor = decision.breakdown_refute
    return f"{assumed}; undecided at {factor_text(factor)} times. " if factor < LASTING else f"{assumed}. "


def _explained(decision: Decision, letter: str) -> str:
    """The reason that a word on the declared class is withheld, and what to write."""
    assert decision.outside is not None
    form = form_text(decision.outside, letter)
    class_ = _OF_CLASS[decision.basis or ClassBasis.DEFAULT].removeprefix("those of ")
    if decision.within_class.status is Status.REFUTED:
        told = f"under {class_} the data exclude the claimed value, but they fit {form}"
        return f"{told}. Declare the class that holds such corrections, or give the reason why there are none."
    told = f"under {class_} the data exclude an error of {decision.margin:.3g} or more, but they fit {form}"
    if decision.basis is ClassBasis.AUTHOR:
        return f"{told}, which is better by more than chance. Claim the form that holds, or measure larger sizes."
    return f"{told} as well. Give the reason why corrections are those of the class, or measure larger sizes."


def in_general(failing: str, holding: str, told: str) -> str:
    """The sentence of a claim that holds at its author's values and fails between them.

    >>> in_general("γ = 3/7", "γ = 1/2", "The data exclude the claimed value.")
    'Not in general (γ = 3/7, ours); holds at γ = 1/2. The data exclude the claimed value.'
    """
    return f"Not in general ({failing}, ours); holds at {holding}. {told}"


def beyond_range(failing: str, holding: str, condition: str) -> str:
    """The sentence of a claim that fails beside its author's values, where hypotheses or corrections may be others too.

    >>> print(beyond_range("n = 80", "n = 40", "n <= 40").partition(";")[0])
    It fails at n = 80 (ours), beside n = 40
    """
    return (
        f"It fails at {failing} (ours), beside {holding}; whether hypotheses and corrections are as declared there is not "
        f"known. State the range, where={condition}, or test each hypothesis with holds=."
    )


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
        return " Robust: it holds with larger corrections too."
    if decision.under_twice:
        return " It holds with larger corrections too, but all sizes share their arithmetic."
    return " Fragile: with larger corrections it is undecided."


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
    letter: str = "n",
) -> Found:
    """The finding of a decision, with its sentence; the other arguments as in `sentence`, ``within`` of `inside`."""
    finding = finding or TESTED[decision.status]
    told = sentence(settle([finding]), decision, level, detail=detail, where=where, cases=cases, letter=letter)
    within = within if finding in (Finding.TEST_SUPPORTED, Finding.TEST_REFUTED) else ""
    return Found(finding, told, decision.reason if finding is Finding.UNDECIDED else None, within)


def finite(value: float) -> float | None:
    """A number that a report can hold; None for what is not finite."""
    return value if math.isfinite(value) else None
