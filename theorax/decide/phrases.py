"""Phrases for single numbers of a claim or a plan: the facts of a claim are made of them, and so are rows over several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theorax.decide.correction_words import slow_term
from theorax.decide.kinds import DecidedQuantity, KindWords
from theorax.decide.slow_terms import Form, FormKind
from theorax.decide.status import Reading, Side, Status
from theorax.decide.verdict import AssumedNoise, Case, OwnCase, OwnOutcome, Seen, SeenLetter, VarianceGain, Verdict
from theorax.names import many
from theorax.text.numbers import as_power, number, percent, with_uncertainty

__all__ = [
    "LASTING",
    "SIGNS",
    "case_name",
    "case_place",
    "claimed_value",
    "factor_text",
    "form_text",
    "gains_text",
    "general_text",
    "lasts",
    "margin_text",
    "noise_assumed",
    "power_phrase",
    "risk",
    "seen_text",
]  # fmt: skip

LASTING = 1e6  # a factor from which corrections play no part
LISTED = 8  # values of a letter that are named one by one
SIGNS = {Side.EQUAL: "", Side.AT_MOST: "≤ ", Side.AT_LEAST: "≥ "}


def case_name(claim: Verdict, case: Case, equals: str = " = ") -> str:
    """A case by its subject, and its place among the others."""
    return ", ".join(part for part in (case.subject, case_place(claim, case, equals)) if part)


def case_place(claim: Verdict, case: Case, equals: str = " = ") -> str:
    """The letters of a case as they are displayed, and its size where that tells it from others."""
    at = [f"{claim.display.get(letter, letter)}{equals}{value}" for letter, value in case.at.items()]
    alike = sum(other.subject == case.subject and other.at == case.at for other in claim.cases) > 1
    if alike and case.points and (claim.swept or len(case.points) == 1):
        at.append(f"{claim.swept or 'size'}{equals}{number(case.points[0].size)}")
    return ", ".join(at)


def claimed_value(
    quantity: DecidedQuantity,
    side: Side,
    predicted: float | None,
    margin: float | None,
    reading: Reading = Reading.EXACT,
) -> str:
    """The claimed value with its margin, as a line of numbers shows it."""
    value, room = number(predicted, 4), number(margin, 2)
    beside = f"{'within' if reading is Reading.MARGIN else 'margin'} {room}"
    if quantity.is_error:
        return f"claimed {quantity.short} 0" + (f", {beside}" if quantity.has_margin else f" ± {room}")
    if quantity.is_share and side is Side.AT_LEAST and margin is not None and predicted is not None:
        return f"claimed ≥ {value} (excluded: below {number(predicted - margin, 4)})"
    if side is Side.EQUAL and reading is Reading.EXACT:
        return f"claimed {value} ± {room}" if margin is not None else f"claimed {value}"
    return f"claimed {SIGNS[side]}{value}, {beside}"


def margin_text(given: str, because: str) -> str:
    """A margin as it was stated, and the reason for it."""
    return f"{given}, because {because}" if because else given


def form_text(form: Form, letter: str) -> str:
    """A form as a formula with its fitted numbers.

    >>> form_text(Form(FormKind.POWER, -1.0, 1.0), "N")
    'N^-1 log N'
    >>> form_text(Form(FormKind.SLOW, limit=0.9997, slow=(SlowTerm.LOGLOG,), coefficients=(-0.182,)), "n")
    'a limit of 0.9997 with a correction c log log n/log n (-0.18 where it is largest)'
    >>> form_text(Form(FormKind.SLOW_FACTOR, exponent=-1.0, slow=(SlowTerm.LOG,), coefficients=(0.3,)), "n")
    'n^-1 with a relative correction c/log n (0.3 where it is largest)'
    """
    if form.kind is FormKind.CONSTANT:
        return "a constant"
    slow = ""
    if form.slow:
        terms = " + ".join(slow_term(term, letter) for term in form.slow)
        sizes = ", ".join(number(size, 2) for size in form.coefficients)
        slow = f"correction {terms} ({sizes} where {'it is' if len(form.slow) == 1 else 'they are'} largest)"
    if form.kind is FormKind.SLOW:
        return f"a limit of {number(form.limit, 4)} with a {slow}"
    exponent = form.exponent or 0.0
    if form.kind is FormKind.EXPONENTIAL:
        return f"exp({number(exponent, 3)} {letter})"
    of_simple = form.kind is FormKind.POWER and form.log_power != 0
    power = as_power(letter, exponent if of_simple else float(f"{exponent:.3g}"))
    if slow:
        return f"{power} with a relative {slow}"
    if not form.log_power:
        return power
    return f"{power} {f'log {letter}' if form.log_power == 1 else as_power(f'(log {letter})', form.log_power)}"


def risk(level: float) -> str:
    """The error rate of a word that a test decided.

    >>> risk(0.0152)
    'wrong at most 1.5 % of the time, if the assumptions hold'
    """
    return f"wrong at most {percent(level)} of the time, if the assumptions hold"


def power_phrase(found: Iterable[tuple[KindWords, str]]) -> str:
    """The deviations that a design refutes nine times in ten."""
    return f"refutes 9 times in 10: {', '.join(words.deviating(value) for words, value in found)}"


def lasts(factor: float, status: Status = Status.SUPPORTED) -> str:
    """The meaning of a breakdown factor of a case with this status.

    >>> lasts(7.4), lasts(0.52, Status.INCONCLUSIVE)
    ('holds until corrections are 7.4 times those assumed', 'decided if corrections were at most 0.52 times those assumed')
    """
    if status is Status.INCONCLUSIVE:
        return f"decided if corrections were at most {factor_text(factor)} times those assumed"
    word = "stays refuted" if status is Status.REFUTED else "holds"
    return f"{word} until corrections are {factor_text(factor)} times those assumed"


def factor_text(factor: float) -> str:
    """A factor as a reader sees it: two digits, or the whole number where it is large."""
    return number(factor, 2) if factor < 100 else number(round(factor), 3)


def noise_assumed(noise: AssumedNoise, words: KindWords) -> str:
    """The noise that a plan assumed, and where that comes from.

    >>> noise_assumed(AssumedNoise(0.4, 0.4, "1/5", False), KindWords("limit", spread_of=" of the claimed value"))
    'sd 0.4 per draw, assumed (1/5 of the claimed value, the default; set spread=...)'
    """
    ends = " to ".join(dict.fromkeys((number(noise.low, 2), number(noise.high, 2))))
    share = f"{noise.spread}{words.spread_of}"
    source = f"spread={share}" if noise.stated else f"{share}, the default; set spread=..."
    return f"sd {ends}{words.noise_of} per draw, assumed ({source})"


def gains_text(gains: Sequence[VarianceGain]) -> str:
    """The part of the variance that variates took away: the smallest and the largest gain, and the cases without one.

    >>> gains_text([VarianceGain(("1/chi^2",), 20.0, 24.52, 5.66)])
    'variance divided by 24.5(5.7), planned 20'
    >>> gains_text([VarianceGain((), None, raw="fewer than 64 draws at a size")])
    '1 case as drawn: fewer than 64 draws at a size'
    """
    used = [gain for gain in gains if not gain.raw]
    measured = sorted((gain for gain in used if gain.measured), key=lambda gain: gain.measured or 0.0)
    ends = [with_uncertainty(gain.measured, gain.error) for gain in measured[:1] + measured[-1:]]
    expected = sorted(gain.planned for gain in used if gain.planned)
    seen = " to ".join(dict.fromkeys(ends))
    planned = " to ".join(dict.fromkeys(number(gain, 2) for gain in expected[:1] + expected[-1:]))
    parts = []
    if seen or planned:
        parts.append(f"variance divided by {seen or planned}, planned" + (f" {planned}" if seen else ""))
    for reason in dict.fromkeys(gain.raw for gain in gains if gain.raw):
        parts.append(f"{many(sum(gain.raw == reason for gain in gains), 'case')} as drawn: {reason}")
    return "; ".join(parts)


def seen_text(seen: Seen) -> str:
    """Everything at which a claim was looked at, on a line; values of the engine's are marked.

    >>> letters = (SeenLetter("n", ("4", "16")), SeenLetter("a", ("0", "1"), ("3/7",), is_open=True))
    >>> seen_text(Seen(letters, ("Gaussian",)))
    'n = 4, 16; a = 0, 1; 3/7 (ours); drawn: Gaussian; dependence on a not shown'
    """
    parts = [_values(row) for row in seen.letters]
    if seen.drawn:
        parts.append(f"drawn: {', '.join(seen.drawn)}")
    if seen.none:
        parts.append(f"no case of ours: {seen.none}")
    parts += [_idle(case) for case in seen.own if case.outcome in _IDLE]
    if waiting := [_at(case) for case in seen.own if case.outcome is OwnOutcome.WAITS]:
        parts.append(f"left to a higher effort: {', '.join(waiting)}")
    if open_ := [row.letter for row in seen.letters if row.is_open]:
        parts.append(f"dependence on {', '.join(open_)} not shown")
    return "; ".join(parts)


def _values(row: SeenLetter) -> str:
    shown = row.values if len(row.values) <= LISTED else (row.values[0], "…", row.values[-1])
    ours = f"; {', '.join(row.ours)} (ours)" if row.ours else ""
    fixed = f" (fixed: {row.fixed.rstrip('.')})" if row.fixed else ""
    return f"{row.letter} = {', '.join(shown)}{ours}{fixed}"


def _at(case: OwnCase) -> str:
    return f"{case.letter} = {', '.join(case.values)}"


_IDLE = {OwnOutcome.DROPPED: "the program does not run there", OwnOutcome.UNSTATED: "nothing is claimed there"}


def _idle(case: OwnCase) -> str:
    return f"{_at(case)} (ours): {_IDLE[case.outcome]}: {case.reason.rstrip('.')}"


def general_text(general: str, seen: Seen | None) -> str:
    """The general formula of a claim that was checked at one value of some letters."""
    alone = [f"{row.letter} = {row.values[0]}" for row in seen.letters if row.is_alone] if seen is not None else []
    return f"{general}; checked only at {', '.join(alone)}"
