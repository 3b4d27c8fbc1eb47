"""The facts of a claim in words: every number and sentence that a reader sees about a claim is written here.

A rendering chooses facts by level and key, and lays them out. A run of several claims knows more about one of them, which
`theorax.reports.claim_facts` adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum

from theorax.decide import phrases
from theorax.decide.findings import decisive, inside_the_margin
from theorax.decide.meanings import meaning
from theorax.decide.promise import CONVENTION, promise
from theorax.decide.status import Reading, Status
from theorax.decide.verdict import Case, Verdict, remarks
from theorax.decide.wording import REMEDIES, attempted, search_made, searched_text
from theorax.names import many
from theorax.text.numbers import as_typed, interval, number, with_uncertainty

__all__ = ["Fact", "FactKey", "Level", "by_key", "facts", "sorted_facts"]

LISTED = 8  # sizes that are named one by one
LONG = 120  # characters of a formula that still stands beside a number


class Level(Enum):
    """Depth of a fact in a report."""

    HEAD = "head"  # a sentence at the head of the claim
    BODY = "body"  # in every full rendering
    DETAIL = "detail"  # about the deciding case or the design: a table of cases or a plot may show it instead


class FactKey(StrEnum):
    """The subject of a fact; its value is the label, and the members have the order in which a reader meets them."""

    WITHIN = "Within the margin"
    PROMISE = "Promise"
    MEANING = "Meaning"
    CONVENTION = "By convention"
    PRINTED = "As printed"
    VERDICT = "Verdict"
    UNCONTROLLED = "No control"
    ALONE = "On its own"
    REASON = "Undecided"
    SEEN = "Seen"
    GENERAL = "Claimed in general"
    CASE = "Deciding case"
    BOUND = "Bound"
    PREDICTED = "Predicted"
    MEASURED = "Measured"
    INTERVAL = "Interval"
    BIAS = "Bias"
    MARGIN = "Margin"
    READING = "Reading"
    RISK = "Risk"
    ATTEMPT = "Attempt"
    LOG = "Log"
    LOOK = "Look"
    BREAKDOWN = "Breakdown factor"
    HEADROOM = "Headroom factor"
    POWER = "Power"
    SEARCHED = "Searched"
    VARIATES = "Variates"
    RIVALS = "Rivals"
    TIGHTNESS = "Tightness"
    NOISE = "Noise"
    SCOPE = "Scope"
    DRAWS = "Draws"
    DESIGN = "Design"


@dataclass(frozen=True)
class Fact:
    """One fact of a claim; ``short`` is its form on a line with others."""

    key: FactKey
    value: str
    level: Level = Level.BODY
    short: str = ""

    @property
    def line(self) -> str:
        """The fact as a sentence behind its label."""
        return f"{self.key}: {self.value}{'' if self.value.endswith('.') else '.'}"


def facts(claim: Verdict) -> tuple[Fact, ...]:
    """The facts of a claim, in order; its numbers are those of the case that decided.

    >>> from theorax import decide
    >>> verdict = decide.mean(decide.plan_mean(to=0.5, margin=0.2, draws=64, sd=0.3), [0.25, 0.75] * 32)
    >>> by_key(facts(verdict))[FactKey.MARGIN].value
    '± 0.2'
    """
    case = claim.deciding
    found = [*_head(claim), *_stated(claim), *_spent(claim), *_grounds(claim)]
    if case is not None:
        found += [*_numbers(claim, case), *_strength(claim, case)]
    return sorted_facts(found)


def sorted_facts(found: Iterable[Fact]) -> tuple[Fact, ...]:
    """These facts in the order of their keys, without empty ones."""
    return tuple(sorted((fact for fact in found if fact.value), key=lambda fact: list(FactKey).index(fact.key)))


def by_key(found: Iterable[Fact]) -> dict[FactKey, Fact]:
    """These facts by their keys."""
    return {fact.key: fact for fact in found}


def _head(claim: Verdict) -> Iterator[Fact]:
    yield Fact(FactKey.WITHIN, inside_the_margin(claim.findings), Level.HEAD)
    yield Fact(FactKey.PROMISE, promise(claim), Level.HEAD)
    yield Fact(FactKey.MEANING, meaning(claim), Level.HEAD)
    by_convention = dict.fromkeys(part.text for part in claim.ledger if part.kind == CONVENTION)
    yield Fact(FactKey.CONVENTION, "; ".join(by_convention), Level.HEAD)
    yield Fact(FactKey.VERDICT, decisive(claim.findings).sentence, Level.HEAD)


def _stated(claim: Verdict) -> Iterator[Fact]:
    if claim.reason:
        yield Fact(FactKey.REASON, f"{REMEDIES[claim.reason]} ({claim.reason})")
    if claim.margin_given is not None:
        short = f"margin {number(claim.deciding.margin, 2)}" if claim.deciding is not None else ""
        yield Fact(FactKey.MARGIN, phrases.margin_text(claim.margin_given, claim.because), short=short)
    if claim.words.quantity.has_margin:
        exactly = "exactly, and any deviation refutes it"
        nearly = "with its margin, and only a larger deviation refutes it"
        yield Fact(FactKey.READING, f"the claim is read {exactly if claim.reading is Reading.EXACT else nearly}")
    if claim.noise is not None:
        yield Fact(FactKey.NOISE, phrases.noise_assumed(claim.noise, claim.words))


def _spent(claim: Verdict) -> Iterator[Fact]:
    """The error rate and the attempts that share it; a rigorous verdict has none."""
    if claim.rigorous:
        yield Fact(FactKey.RISK, "no error rate: exact algebra or rigorous arithmetic decided")
        return
    if claim.level is not None:
        yield Fact(FactKey.RISK, phrases.risk(claim.level))
    if claim.log is not None:
        yield Fact(FactKey.LOG, attempted(claim.log).removesuffix("."))
    if claim.look is not None:
        yield Fact(FactKey.LOOK, str(claim.look).removesuffix("."))


def _grounds(claim: Verdict) -> Iterator[Fact]:
    if gains := [case.gain for case in claim.cases if case.gain is not None]:
        names = ", ".join(dict.fromkeys(name for gain in gains for name in gain.variates))
        short = phrases.gains_text(gains)
        yield Fact(FactKey.VARIATES, short + (f"; variates of known mean: {names}" if names else ""), short=short)
    if claim.searched is not None and claim.searched.witness is None:
        found, made = searched_text(claim.searched, claim.swept), search_made(claim.searched)
        yield Fact(FactKey.SEARCHED, f"{found}; {made}" if made else found, short=found)
    if claim.tightness is not None:
        shares = ", ".join(number(part, 2) for part in claim.tightness)
        places = "draws" if claim.draws else "points"
        shown = f"the smaller side is {shares} of the larger one at 5 %, 50 % and 95 % of the {places}"
        yield Fact(FactKey.TIGHTNESS, ". ".join((shown, *remarks(claim.tightness))))
    if not claim.status.holds:  # a green word says it in its promise
        yield Fact(FactKey.SCOPE, claim.scope)
    if claim.seen is not None:
        yield Fact(FactKey.SEEN, phrases.seen_text(claim.seen))
    if claim.general:
        yield Fact(FactKey.GENERAL, phrases.general_text(claim.general, claim.seen))
    if claim.draws:
        sizes = [number(size) for size in claim.sizes]
        swept = ", ".join(sizes) if len(sizes) <= LISTED else f"{sizes[0]} to {sizes[-1]}"
        told = f"{claim.draws} over sizes {swept}" if sizes else str(claim.draws)
        yield Fact(FactKey.DRAWS, told, Level.DETAIL, _origin(claim))
    if claim.design_hash:
        yield Fact(FactKey.DESIGN, f"{claim.design_hash}, fixed before the data", Level.DETAIL)


def _numbers(claim: Verdict, case: Case) -> Iterator[Fact]:
    """The numbers of the deciding case: claimed, measured, and what is left open."""
    quantity = claim.words.quantity
    is_bound = quantity.is_error and quantity.is_share
    # Without an interval no draws were counted: the bound was evaluated at points.
    name = "largest excess over the bound" if is_bound and case.interval is None else quantity.name
    if len(claim.cases) > 1:
        yield Fact(FactKey.CASE, phrases.case_name(claim, case), Level.DETAIL)
    if is_bound and claim.prediction and len(claim.prediction) < LONG:
        yield Fact(FactKey.BOUND, claim.prediction, Level.DETAIL)
    if quantity.is_error or case.predicted is not None:
        shown = phrases.claimed_value(quantity, claim.side, case.predicted, case.margin, claim.reading)
        yield Fact(FactKey.PREDICTED, f"{name} {_predicted(claim, case)}".lstrip(), Level.DETAIL, shown)
    if case.estimate is not None:
        value = with_uncertainty(case.estimate, case.standard_error)
        found = f"{'found' if claim.status is Status.REFUTED or is_bound else quantity.verb} {value}"
        if quantity.is_difference:
            found = f"largest difference {number(case.estimate, 2)}"
        yield Fact(FactKey.MEASURED, f"{name} {value}".lstrip(), Level.DETAIL, found)
    if case.interval is not None:
        yield Fact(FactKey.INTERVAL, f"{interval(case.interval)}, any bias included", Level.DETAIL)
    if case.bias:
        source = "the corrections assumed at finite size" if claim.as_ else "rounding"
        yield Fact(FactKey.BIAS, f"at most {number(case.bias, 2)}, from {source}")


def _strength(claim: Verdict, case: Case) -> Iterator[Fact]:
    """The changes that the word would survive, and the deviation that the design sees."""
    factor, is_difference = case.breakdown, claim.words.quantity.is_difference
    if factor is not None and is_difference:
        short = f"(margin × {phrases.factor_text(factor)})" if factor and claim.status.holds else ""
        told = f"the largest difference fits {phrases.factor_text(factor)} times into the margin, rounding included"
        yield Fact(FactKey.HEADROOM, told, short=short)
    elif factor is not None and 0 < factor < phrases.LASTING and case.status is claim.status and case.outside is None:
        yield Fact(FactKey.BREAKDOWN, phrases.lasts(factor, case.status))
    if case.rivals and claim.status.holds:
        forms = "; ".join(phrases.form_text(form, claim.as_ or "n") for form in case.rivals)
        yield Fact(FactKey.RIVALS, f"with the same corrections the data fit as well: {forms}")
    if case.noticeable is not None:
        value = number(case.noticeable, 2)
        told = f"refutes a difference of {value} however rounding falls"
        yield Fact(FactKey.POWER, told if is_difference else phrases.power_phrase([(claim.words, value)]), short=value)


def _predicted(claim: Verdict, case: Case) -> str:
    """The predicted value, as a number and as the formula that it is the value of."""
    if claim.words.quantity.is_error:
        return "0" if case.interval is not None or not claim.words.quantity.is_share else "≤ 0"
    if case.predicted is None:
        return ""
    value = as_typed(case.predicted)
    form = claim.prediction if claim.prediction not in (value, number(case.predicted), f"{case.predicted:g}") else None
    return f"{phrases.SIGNS[claim.side]}{value}" + (f" = {form}" if form and len(form) < LONG else "")


def _origin(claim: Verdict) -> str:
    """The draws or sizes of the deciding case, after the number that was found from them."""
    case, quantity = claim.deciding, claim.words.quantity
    if case is None or quantity.is_difference:
        return ""
    sizes, draws = sorted({point.size for point in case.points}), sum(point.draws for point in case.points)
    if quantity.is_error and quantity.is_share:
        high = case.interval[1] if case.interval is not None else None
        return f"in {many(draws, 'draw')}: at most {number(high, 2)}" if high is not None else ""
    if claim.as_ is not None and len(sizes) > 1:
        preposition = "over" if quantity.is_slope else "from"
        return f"{preposition} {claim.as_} = {number(sizes[0])}..{number(sizes[-1])}"
    return f"from {many(draws, 'draw')}" if draws else ""
