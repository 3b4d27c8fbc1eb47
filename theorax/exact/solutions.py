"""Solutions of equations: found by computer algebra, inserted into the equations, and counted by the degree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sympy
from sympy import Basic, Expr, Lambda, Poly, Symbol
from sympy.core.function import AppliedUndef

from theorax.exact.zero import ZeroFinding, ZeroTest, admits, is_zero

Solution = Mapping[Basic, Basic]


@dataclass(frozen=True)
class SolutionFinding:
    """Findings about solutions: the weakest zero test of the inserted equations, and what stands beside it.

    ``missing`` is a solution that was left out of what is said to be all; ``counted`` says how all were counted.
    ``found`` names the solver that found them too; empty where none did. ``contradicts`` is an unknown with a value that
    its own assumptions rule out. ``without_start``: a sentence that a function has no, or too few, first values.
    """

    inserted: ZeroFinding
    found: str
    counted: str = ""
    missing: Solution | None = None
    contradicts: tuple[Basic, Basic] | None = None
    without_start: str = ""


def check_solutions(
    equations: Sequence[Expr], unknowns: Sequence[Basic], solutions: Sequence[Solution], *, every: bool
) -> SolutionFinding:
    """Insert the solutions into the equations, solve them a second time, and count them where these are all.

    **Errors:** a proof and a refutation are those of ``is_zero``, entry by entry.
    """
    residuals = [inserted(equation, solution) for solution in solutions for equation in equations]
    worst = min((is_zero(residual) for residual in residuals), key=lambda finding: finding.status.strength)
    if any(isinstance(unknown, AppliedUndef) for unknown in unknowns):
        start = _without_start(equations, unknowns)
        return SolutionFinding(worst, _functions(equations, unknowns, solutions), without_start=start)
    found, solver = _solved(equations, unknowns), "sympy.solve"
    if not all(any(_same(one, other) for other in found) for one in solutions):
        solver = ""
    missing = next((one for one in found if every and _further(one, solutions, equations)), None)
    stray = next(((key, value) for one in solutions for key, value in one.items() if not _admitted(key, value)), None)
    return SolutionFinding(worst, solver, _count(equations, unknowns, solutions) if every else "", missing, stray)


def _without_start(equations: Sequence[Expr], unknowns: Sequence[Basic]) -> str:
    """A sentence that an unknown function has fewer first values than its equation has free ones; empty if it has enough.

    A recursion that reaches m steps back, and a differential equation of order m, have solutions for any m first values.
    """
    for unknown in unknowns:
        if not isinstance(unknown, AppliedUndef):
            continue
        index = {symbol for argument in unknown.args for symbol in argument.free_symbols}
        steps, orders, values = set[Basic](), [0], set[Basic]()
        for equation in equations:
            calls = {call for call in equation.atoms(AppliedUndef) if call.func == unknown.func}
            slopes = [slope for slope in equation.atoms(sympy.Derivative) if slope.expr.func == unknown.func]
            orders += [int(count) for slope in slopes for _, count in slope.variable_count]
            moving = {call for call in calls if call.free_symbols & index}
            if moving:
                steps |= {call.args[0] - unknown.args[0] for call in moving}
            elif calls:  # of a value, or of a slope at a place
                values.add(equation)
        shifts = [int(step) for step in steps if step.is_Integer]
        wanted = max([*orders, max(shifts) - min(shifts) if shifts else 0, int(len(shifts) < len(steps))])
        if len(values) < wanted:
            return f"{unknown.func} has {len(values)} of {wanted} first values in the equations, which have other solutions too"
    return ""


def inserted(equation: Expr, solution: Solution) -> Expr:
    """The equation where the unknowns are what the solution says; a function is replaced at every argument."""
    for unknown, value in solution.items():
        if isinstance(unknown, AppliedUndef):
            equation = equation.replace(unknown.func, Lambda(unknown.args, value))
    numbers = {unknown: value for unknown, value in solution.items() if not isinstance(unknown, AppliedUndef)}
    return equation.subs(numbers, simultaneous=True).doit()


def _admitted(unknown: Basic, value: Basic) -> bool:
    return not isinstance(unknown, Symbol) or admits(unknown, value)


def _solved(equations: Sequence[Expr], unknowns: Sequence[Basic]) -> list[Solution]:
    try:
        found = sympy.solve(list(equations), list(unknowns), dict=True)
    except (NotImplementedError, ValueError, TypeError):
        return []
    return [one for one in found if all(unknown in one for unknown in unknowns)]


def _functions(equations: Sequence[Expr], unknowns: Sequence[Basic], solutions: Sequence[Solution]) -> str:
    """The solver that finds the function too; nothing where none does."""
    equation, *first = equations
    (unknown, *others), (solution, *_) = unknowns, solutions
    differential = equation.has(sympy.Derivative)
    try:
        values = {part: -(equation_ - part) for equation_ in first for part in equation_.atoms(AppliedUndef)}
        if others or len(values) != len(first):
            return ""
        found = _by_flow(equation, unknown, values) if differential else sympy.rsolve(equation, unknown, values)
        if found is None or not is_zero(found - solution[unknown]).proved:
            return ""
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return ""
    return "sympy.dsolve" if differential else "sympy.rsolve"


def _by_flow(equation: Expr, unknown: AppliedUndef, values: Solution) -> Expr:
    return sympy.dsolve(equation, unknown, ics=values).rhs


def _same(one: Solution, other: Solution) -> bool:
    return all(is_zero(one[key] - other[key]).proved for key in one)


def _further(one: Solution, given: Sequence[Solution], equations: Sequence[Expr]) -> bool:
    """Is this a solution, and none of those given?"""
    different = all(any(is_zero(one[key] - other[key]).refuted for key in other) for other in given)
    admitted = all(_admitted(key, value) for key, value in one.items())
    return different and admitted and all(is_zero(inserted(equation, one)).proved for equation in equations)


def _count(equations: Sequence[Expr], unknowns: Sequence[Basic], solutions: Sequence[Solution]) -> str:
    """Reason why there are no further solutions; empty where none is known."""
    tops = [sympy.numer(sympy.together(equation)) for equation in equations]
    if not all(top.is_polynomial(*unknowns) for top in tops):
        return ""
    beneath = _beneath([*equations, *(value for solution in solutions for value in solution.values())])
    if len(tops) == len(unknowns) and all(Poly(top, *unknowns).total_degree() == 1 for top in tops):
        matrix = sympy.Matrix([[sympy.diff(top, unknown) for unknown in unknowns] for top in tops])
        return "linear, with a determinant that is not zero" if _nowhere_zero(matrix.det(), beneath) else ""
    if len(unknowns) != 1:
        return ""
    (unknown,), roots = unknowns, [solution[unknowns[0]] for solution in solutions]
    if any(is_zero(a - b).status is not ZeroTest.REFUTED for i, a in enumerate(roots) for b in roots[:i]):
        return ""
    for top in tops:
        polynomial, counted = Poly(top, unknown), 0
        for root in roots:
            part: Expr = polynomial.as_expr()
            while counted < polynomial.degree() and is_zero(part.subs(unknown, root)).proved:
                counted, part = counted + 1, sympy.diff(part, unknown)
        if counted == polynomial.degree() and _nowhere_zero(polynomial.LC(), beneath):
            return f"{counted} roots of a polynomial of degree {counted}"
    return ""


def _nowhere_zero(factor: Expr, beneath: set[Expr]) -> bool:
    """Is it another number than zero wherever the step speaks? One that is not zero everywhere may be zero somewhere.

    ``beneath``: factors of denominators; where one of them is zero, the equations or their solutions are no numbers.
    """
    if not factor.free_symbols:
        return is_zero(factor).status is ZeroTest.REFUTED
    forms = (factor, sympy.factor(factor), sympy.expand(factor))
    return any(form.is_zero is False for form in forms) or all(
        part in beneath or any(form.is_zero is False for form in (part, sympy.expand(part)))
        for part in _factors(sympy.numer(sympy.together(factor)))
    )


def _factors(product: Expr) -> list[Expr]:
    try:
        constant, parts = sympy.factor_list(product)
    except sympy.PolynomialError:  # a number, in symbols or not
        return [product]
    return [constant, *(part for part, _ in parts)]


def _beneath(values: Iterable[Expr]) -> set[Expr]:
    return {part for value in values for part in _factors(sympy.denom(sympy.together(value)))}
