"""One step of a proof: what it leaves open is computed, each result is held against a second route, and it is decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sympy import (
    Add,
    And,
    Basic,
    Derivative,
    Integral,
    Limit,
    Not,
    Product,
    Subs,
    Sum,
    Symbol,
    cancel,
    exp,
    expand,
    false,
    fraction,
    latex,
    pretty,
    transpose,
    true,
)
from sympy.logic.boolalg import Boolean

from theorax.exact.computations import AlgebraFailed, Computed, Result, evaluated_expression, settled_or_failed
from theorax.exact.noncommuting_words import decide_words
from theorax.exact.poles import undefined_inside
from theorax.exact.second_routes import SecondRoute, routes_compared
from theorax.exact.solutions import SolutionFinding, check_solutions
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
    """Decide the equality, entry by entry; what is known of an instance is given.

    The author's own two sides are compared by a second route first. What that contradicts is false, whatever computer
    algebra finds; what it confirms is never false. Computer algebra then computes both sides, and an exact test compares
    them.

    | second route on the author's sides | computer algebra | step |
    |---|---|---|
    | contradicts them | anything | false |
    | agrees | closes it | proved |
    | agrees | finds another value, fails or does not close it | open |
    | cannot be taken, but agrees with every result | closes it | proved |
    | cannot be taken, but agrees with every result | refutes it | false |
    | cannot be taken | anything else | open: computed once |

    A step that leaves nothing to be computed is decided by the exact test alone.
    """
    sides = [tuple(evaluated_expression(side, step.where) for side in pair) for pair in step.entries]
    decided = [_decided_entry(left, right, step.where) for left, right in sides]
    shown, formula = _statement(step.entries, step.where), _latex(step.entries, step.where)
    results = list({id(result): result for pair in sides for part in pair for result in part.results}.values())
    made = _joined(result.computed_by for result in results)
    again = [entry.author.told for entry in decided if entry.author is not None and entry.author.agrees]
    again += [result.route.told for result in results if result.route.agrees]
    confirmed = all(entry.author is None or entry.author.agrees for entry in decided)
    missing = [] if confirmed else [result.route.told for result in results if result.route.agrees is None]
    pairs = tuple((left.value, right.value) for left, right in sides)
    found = (computed_by or made, re_checked_by or _joined(again), no_second_route or _joined(missing), pairs)
    worst = min(decided, key=lambda entry: _ORDER.index(entry.status))
    return DecidedStep(worst.status, worst.method, shown, formula, *found)


_ORDER = (StepStatus.REFUTED, StepStatus.UNDECIDED, StepStatus.PROVED)


@dataclass(frozen=True)
class _Entry:
    """One scalar equality, decided; ``author`` is the comparison of its sides by a second route, where there is one."""

    status: StepStatus
    method: str
    author: SecondRoute | None = None


def _decided_entry(left: Computed, right: Computed, where: Boolean) -> _Entry:
    results = (*left.results, *right.results)
    stuck, failed = (*left.stuck, *right.stuck), (*left.failed, *right.failed)
    if not results and not stuck:
        found = _tested(left.value - right.value, where)
        return _Entry(STATUS[found.status], found.reason)
    author = _author_s_sides(left, right, where)
    if author.agrees is False:
        return _Entry(StepStatus.REFUTED, f"false: {author.told}{_by_algebra(results)}", author)
    confirmed = f"; the second route agrees with both sides: {author.told}" if author.agrees else ""
    if failed:
        return _Entry(StepStatus.UNDECIDED, f"{failed[0]}{confirmed}", author)
    if stuck and left.value == right.value and not results:
        told = f"nothing was computed: computer algebra left {_short(stuck[0])} as it is"
        return _Entry(StepStatus.UNDECIDED, told, author)
    found = _tested(left.value - right.value, where)
    wrong = next((result for result in results if result.route.agrees is False), None)
    if wrong is not None or (author.agrees and found.refuted):
        return _by_a_wrong_result(wrong, found, author, (left, right), confirmed)
    checked_twice = author.agrees or all(result.route.agrees for result in results)
    alone = next((result for result in results if not result.route.agrees), None)
    if not checked_twice and alone is not None and not alone.route.left_open:
        told = f"computed once, {_short(alone.node)} by {alone.computed_by}: {alone.route.told}"
        return _Entry(StepStatus.UNDECIDED, told if found.proved else f"{told}; {found.reason}", author)
    if found.proved and (withheld := _withheld(results)):
        return _Entry(StepStatus.UNDECIDED, withheld, author)
    told = found.reason
    if not found.proved and stuck:
        told += f"; computer algebra left {_short(stuck[0])} as it is"
    if not found.proved and not found.refuted:
        told += confirmed
    return _Entry(STATUS[found.status], told, author)


def _author_s_sides(left: Computed, right: Computed, where: Boolean) -> SecondRoute:
    """The author's two sides by a second route; what is computed inside of a form must have been held against one itself."""
    inner = next((result for result in (*left.inner, *right.inner) if not result.route.agrees), None)
    if inner is not None:
        return SecondRoute(None, f"{_short(inner.node)}: {inner.route.told}")
    try:
        return settled_or_failed("the second route", lambda: routes_compared(left.outer, right.outer, where))
    except AlgebraFailed as error:
        return SecondRoute(None, str(error))


def _by_a_wrong_result(
    wrong: Result | None, found: ZeroFinding, author: SecondRoute, sides: tuple[Computed, Computed], confirmed: str
) -> _Entry:
    """A step at which computer algebra is wrong: false if the author states the wrong result, open otherwise."""
    if wrong is None:
        return _Entry(StepStatus.UNDECIDED, f"computer algebra is wrong here ({found.reason}){confirmed}", author)
    told = f"{wrong.computed_by} found {_short(wrong.value)} for {_short(wrong.node)}; {wrong.route.told}"
    alone = len({result.node for side in sides for result in side.results}) == 1
    if found.proved and alone and author.agrees is None:
        return _Entry(StepStatus.REFUTED, f"false: {told}", author)
    return _Entry(StepStatus.UNDECIDED, f"computer algebra is wrong here: {told}{confirmed}", author)


def _by_algebra(results: Sequence[Result]) -> str:
    """The value that computer algebra found, beside a false side."""
    if len(results) != 1:
        return ""
    (result,) = results
    return f"; {result.computed_by} found {_short(result.value)} for {_short(result.node)}"


def _tested(difference: Basic, where: Boolean) -> ZeroFinding:
    try:
        return settled_or_failed("the zero test", lambda: _vanishes(difference, where))
    except AlgebraFailed as error:
        return ZeroFinding(ZeroTest.UNDECIDED, str(error))


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
    try:
        finding = settled_or_failed(
            "solving", lambda: check_solutions(step.equations, step.unknowns, step.solutions, every=step.every)
        )
    except AlgebraFailed as error:
        finding = SolutionFinding(ZeroFinding(ZeroTest.UNDECIDED, str(error)), "")
    status, method = STATUS[finding.inserted.status], f"inserted into the equations: {finding.inserted.reason}"
    if finding.missing is not None:
        status, method = StepStatus.REFUTED, f"{_listed(finding.missing.items())} is a solution too"
    elif finding.contradicts is not None:
        (unknown, value), status = finding.contradicts, StepStatus.REFUTED
        method = f"{unknown} = {_short(value)} contradicts the assumptions of {unknown}"
    elif finding.without_start and status is StepStatus.PROVED:
        status, method = StepStatus.UNDECIDED, finding.without_start
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


def _vanishes(difference: Basic, where: Boolean) -> ZeroFinding:
    """The zero test; where exponents are fractions, also with a letter for each denominator, or each one fraction."""
    stated = where.args if isinstance(where, And) else (where,) if where != true else ()
    difference = difference.xreplace({**dict.fromkeys(stated, true), **{Not(part): false for part in stated}})
    found = is_zero(difference, where=where)
    if found.status is not ZeroTest.UNREFUTED or not difference.has(exp):
        return found
    letters: dict[Basic, Symbol] = {}
    for rewritten in (lambda exponent: _over_letters(exponent, letters), _one_fraction):
        again = is_zero(difference.replace(exp, lambda exponent, as_=rewritten: exp(as_(exponent))), where=where)
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


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(parts))


def _telling(entries: Sequence[Pair]) -> Pair | None:
    """The first entry whose sides differ as they are written; `0 = 0` tells nobody anything."""
    return next((pair for pair in entries if pair[0] != pair[1]), None)


def _further(entries: Sequence[Pair]) -> str:
    return f"and {many(len(entries) - 1, 'further entry', 'further entries')}" if len(entries) > 1 else ""


def _statement(entries: Sequence[Pair], where: Boolean = true) -> str:
    if (pair := _telling(entries)) is None:
        return ""
    more, shown = _further(entries), ""
    words = list(map(_text, pair))
    if not more and sum(map(len, words)) <= LONGEST_DRAWN and not any(side.has(*TALL) for side in pair):
        # The width of a terminal enters nothing that is kept.
        shown = " = ".join(pretty(side, use_unicode=True, wrap_line=False) for side in pair)
    if not shown or "\n" in shown or len(shown) > LONGEST_LINE:
        shown = " = ".join(map(_shortened, words))
    scope = "" if where == true else f"   where {_condition(where)}"
    return shown + (f"   {more}" if more else "") + scope


def _condition(where: Boolean) -> str:
    return str(pretty(where, use_unicode=True, wrap_line=False)) if not where.has(*TALL) else str(where)


def _latex(entries: Sequence[Pair], where: Boolean = true) -> str:
    if (pair := _telling(entries)) is None:
        return ""
    (left, right), more = pair, _further(entries)
    # Formulas of thousands of terms take seconds to write, to be thrown away.
    if len(_text(left)) + len(_text(right)) > 2 * LONGEST_FORMULA:
        return ""
    shown = f"{latex(left)} = {latex(right)}"
    if where != true:
        shown += rf" \qquad \text{{where }} {latex(where)}"
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
