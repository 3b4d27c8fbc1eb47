"""One step of a proof: what it leaves open is computed, each result is held against a second route, and it is decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sympy import (
    Add,
    Basic,
    Derivative,
    Integral,
    Limit,
    Product,
    Subs,
    Sum,
    Symbol,
    cancel,
    exp,
    expand,
    fraction,
    latex,
    pretty,
    transpose,
)

from theorax.exact.computations import Result, evaluated_expression
from theorax.exact.noncommuting_words import decide_words
from theorax.exact.poles import undefined_inside
from theorax.exact.solutions import check_solutions
from theorax.exact.zero import ZeroFinding, ZeroTest, is_zero
from theorax.language import MatrixStep, Solved, Step
from theorax.names import many
from theorax.verifiers.outcome import StepStatus

LONGEST_LINE = 100  # characters of a formula drawn with signs on one line
LONGEST_DRAWN = 6 * LONGEST_LINE  # characters of the text of one that is drawn at all: signs are fewer, not that few
LONGEST_FORMULA = 600  # characters of LaTeX; a longer one is shown shortened, as text
TALL = (Derivative, Integral, Limit, Product, Subs, Sum)  # drawn on several lines, always

Pair = tuple[Basic, Basic]


@dataclass(frozen=True)
class DecidedStep:
    """Findings about one step; ``pairs`` holds the two sides of every equality after the computations."""

    status: StepStatus
    method: str
    statement: str
    latex: str
    computed_by: str = ""
    re_checked_by: str = ""
    no_second_route: str = ""  # why some result was held against nothing else
    pairs: tuple[Pair, ...] = ()


STATUS = {
    ZeroTest.PROVED: StepStatus.PROVED,
    ZeroTest.UNREFUTED: StepStatus.UNDECIDED,
    ZeroTest.UNDECIDED: StepStatus.UNDECIDED,
    ZeroTest.REFUTED: StepStatus.REFUTED,
}


def decide_step(step: Step, computed_by: str = "", re_checked_by: str = "", no_second_route: str = "") -> DecidedStep:
    """Compute the sides of a step and decide the equality, entry by entry; what is known of an instance is given.

    A second route that disagrees refutes the step, whatever the first one found.
    """
    sides = [(evaluated_expression(left), evaluated_expression(right)) for left, right in step.entries]
    pairs = tuple((left.value, right.value) for left, right in sides)
    shown, formula = _statement(step.entries), _latex(step.entries)
    results = [result for pair in sides for part in pair for result in part.results]
    made = _joined(result.computed_by for result in results)
    again = _joined(result.route.told for result in results if result.route.agrees)
    no_second_route = no_second_route or _joined(result.route.told for result in results if result.route.agrees is None)
    found = (computed_by or made, re_checked_by or again, no_second_route, pairs)
    for result in results:
        if result.route.agrees is False:
            told = f"{result.computed_by} found {_short(result.value)} for {_short(result.node)}; {result.route.told}"
            return DecidedStep(StepStatus.REFUTED, told, shown, formula, *found)
    stuck = [form for pair in sides for part in pair for form in part.stuck]
    verdicts = [_vanishes(left - right) for left, right in pairs]
    worst = _weakest(verdicts)
    method = worst.reason
    if worst.status is not ZeroTest.PROVED and stuck:
        method += f"; computer algebra left {_short(stuck[0])} as it is"
    status = STATUS[worst.status]
    if stuck and not results and all(left == right for left, right in pairs):
        status, method = (
            StepStatus.UNDECIDED,
            f"nothing was computed: computer algebra left {_short(stuck[0])} as it is",
        )
    elif worst.status is ZeroTest.PROVED and (withheld := _withheld(results)):
        status, method = StepStatus.UNDECIDED, withheld
    return DecidedStep(status, method, shown, formula, *found)


def _withheld(results: Iterable[Result]) -> str:
    """A reason not to take the results for proved, though no second route speaks against them."""
    for result in results:
        if told := result.route.told if result.route.left_open else undefined_inside(result.node):
            return f"{_short(result.node)}: {told}"
    return ""


def decide_matrix_step(step: MatrixStep) -> DecidedStep:
    """Compare both sides word by word, by the given equations, and multiply the proof out at matrices of integers."""
    found, route = decide_words(step.left, step.right, step.given)
    status, method = STATUS[found.status], found.reason
    if route.agrees is False:
        status, method = StepStatus.REFUTED, f"{found.reason}; {route.told}, the sides differ"
    equalities = ((step.left, step.right), *step.given)
    sides, *given = (_with_transposes(pair, "\N{MODIFIER LETTER CAPITAL T}") for pair in equalities)
    formula, *known = (_latex((_with_transposes(pair, "^T"),)) for pair in equalities)
    if given and formula:
        formula += r" \qquad \text{given}\quad " + r",\; ".join(known)
    return DecidedStep(
        status,
        method,
        _statement((sides,)) + (f"   given {_listed(given)}" if given else ""),
        formula if len(formula) <= LONGEST_FORMULA else "",
        computed_by="words in letters that do not commute",
        re_checked_by=route.told if route.agrees else "",
        no_second_route="" if route.agrees is not None else route.told,
    )


def _with_transposes(pair: Pair, mark: str) -> Pair:
    """The sides with one letter, so marked, in the place of each transpose, for a reader."""
    left, right = (
        side.replace(transpose, lambda letter: Symbol(f"{letter}{mark}", commutative=False)) for side in pair
    )
    return left, right


def decide_solved(step: Solved) -> DecidedStep:
    """Solve the equations, insert what is given, and count it where it is said to be all."""
    finding = check_solutions(step.equations, step.unknowns, step.solutions, every=step.every)
    status, method = STATUS[finding.inserted.status], f"inserted into the equations: {finding.inserted.reason}"
    if finding.missing is not None:
        status, method = StepStatus.REFUTED, f"{_listed(finding.missing.items())} is a solution too"
    elif finding.contradicts is not None:
        (unknown, value), status = finding.contradicts, StepStatus.REFUTED
        method = f"{unknown} = {_short(value)} contradicts the assumptions of {unknown}"
    elif step.every and not finding.counted and status is StepStatus.PROVED:
        status, method = StepStatus.UNDECIDED, "they are solutions; that these are all was not counted"
    again = "; ".join(("inserted into the equations", *((finding.counted,) if finding.counted else ())))
    equations = tuple((equation, Basic()) for equation in step.equations)
    solutions = [_listed(solution.items()) for solution in step.solutions]
    shown = f"{_short(equations[0][0])} = 0" + (f" and {len(equations) - 1} more" if len(equations) > 1 else "")
    shown += f": {' or '.join(solutions)}" + ("; these are all" if step.every else "")
    pairs = tuple(pair for solution in step.solutions for pair in solution.items())
    again = again if finding.found else ""
    return DecidedStep(status, method, shown, "", computed_by=finding.found, re_checked_by=again, pairs=pairs)


def _vanishes(difference: Basic) -> ZeroFinding:
    """The zero test; where exponents are fractions, also with a letter for each denominator, or each one fraction."""
    found = is_zero(difference)
    if found.status is not ZeroTest.UNREFUTED or not difference.has(exp):
        return found
    letters: dict[Basic, Symbol] = {}
    for rewritten in (lambda exponent: _over_letters(exponent, letters), _one_fraction):
        again = is_zero(difference.replace(exp, lambda exponent, as_=rewritten: exp(as_(exponent))))
        if again.proved:
            return again
    return found


def _over_letters(exponent: Basic, letters: dict[Basic, Symbol]) -> Basic:
    """The exponent expanded, a letter in the place of each sum in a denominator; zero for any letter is zero."""

    def letter(base: Basic, power: Basic) -> Basic:
        known = letters.setdefault(expand(base), Symbol(f"_{len(letters)}", positive=True))
        return known ** (-power)

    return expand(
        exponent.replace(
            lambda part: part.is_Pow and part.exp.is_negative and part.base.is_Add, lambda part: letter(*part.args)
        )
    )


def _one_fraction(exponent: Basic) -> Basic:
    above, below = fraction(cancel(exponent))
    return Add(*(term / below for term in Add.make_args(expand(above))))


def _weakest(verdicts: Sequence[ZeroFinding]) -> ZeroFinding:
    return min(verdicts, key=lambda verdict: verdict.status.strength)


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(parts))


def _telling(entries: Sequence[Pair]) -> Pair | None:
    """The first entry whose sides differ as they are written; `0 = 0` tells nobody anything."""
    return next((pair for pair in entries if pair[0] != pair[1]), None)


def _further(entries: Sequence[Pair]) -> str:
    return f"and {many(len(entries) - 1, 'further entry', 'further entries')}" if len(entries) > 1 else ""


def _statement(entries: Sequence[Pair]) -> str:
    if (pair := _telling(entries)) is None:
        return ""
    more, shown = _further(entries), ""
    words = list(map(_text, pair))
    if not more and sum(map(len, words)) <= LONGEST_DRAWN and not any(side.has(*TALL) for side in pair):
        # The width of a terminal enters nothing that is kept.
        shown = " = ".join(pretty(side, use_unicode=True, wrap_line=False) for side in pair)
    if not shown or "\n" in shown or len(shown) > LONGEST_LINE:
        shown = " = ".join(map(_shortened, words))
    return shown + (f"   {more}" if more else "")


def _latex(entries: Sequence[Pair]) -> str:
    if (pair := _telling(entries)) is None:
        return ""
    (left, right), more = pair, _further(entries)
    # Formulas of thousands of terms take seconds to write, to be thrown away.
    if len(_text(left)) + len(_text(right)) > 2 * LONGEST_FORMULA:
        return ""
    shown = f"{latex(left)} = {latex(right)}"
    if len(shown) > LONGEST_FORMULA:
        return ""
    return shown + (rf" \qquad \text{{{more}}}" if more else "")


def _listed(pairs: Iterable[Pair]) -> str:
    return ", ".join(f"{_short(left)} = {_short(right)}" for left, right in pairs)


def _short(side: Basic) -> str:
    return _shortened(_text(side))


@lru_cache(maxsize=256)
def _text(side: Basic) -> str:
    """The formula as SymPy writes it: for the order of terms it computes every integral that is a number, each time."""
    return str(side)


def _shortened(text: str) -> str:
    text = text.replace("**", "^")
    return text if len(text) <= 80 else text[:77] + "..."
