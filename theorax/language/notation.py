"""Mathematics to read: expressions on one line or side by side, boxes, and what the letters mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sympy import (
    And,
    Basic,
    Expr,
    MatMul,
    Max,
    Min,
    Mul,
    Or,
    Piecewise,
    Pow,
    Rational,
    Symbol,
    default_sort_key,
    fraction,
    latex,
    true,
)
from sympy.core.relational import Relational
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.pretty_symbology import pretty_symbol, pretty_use_unicode
from sympy.printing.str import StrPrinter

from theorax.language.letters import Index, Letter, Measured, Parameter, Size

if TYPE_CHECKING:
    from sympy.printing.pretty.pretty import PrettyPrinter


def inline(expression: Basic | None) -> str:
    """An expression on one line of Unicode mathematics, its letters as they are displayed everywhere.

    >>> from sympy import Symbol, sqrt
    >>> gamma, l, T = Symbol("gamma"), Symbol("l"), Symbol("T")
    >>> inline(l * gamma + 1), inline(T ** (1 - 2 * l)), inline(2 / (l + 1)), inline(sqrt(T) * Symbol("sigma_A") ** 2)
    ('γl + 1', 'T^(1-2l)', '2/(l + 1)', '√T σ_A^2')
    >>> from sympy import Max, Piecewise
    >>> inline(Max(0, 1 - T)), inline(Piecewise((1 / T, T > 1), (1, True)))
    ('max(0, 1 - T)', '(1/T if T > 1, else 1)')
    """
    return _OneLine({"full_prec": False}).doprint(expression) if expression is not None else ""


def displayed(letter: object) -> str:
    """A letter, given by its typed name or as a symbol, as it is displayed.

    >>> displayed("gamma"), displayed("sigma_A")
    ('γ', 'σ_A')
    """
    before = pretty_use_unicode(True)  # a switch of SymPy's own, which a pipe leaves off
    try:
        return str(pretty_symbol(str(letter)))
    finally:
        pretty_use_unicode(before)


class _OneLine(StrPrinter):
    """SymPy's plain text with display letters, products without a sign, powers and fractions on the line."""

    def _print_Symbol(self, expr: Symbol) -> str:
        if isinstance(expr, Measured) and expr.notation:
            return expr.shown(alone=self._print_level == 1)
        return displayed(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Pi(self, expr: Basic) -> str:
        return "π"

    def _print_Infinity(self, expr: Basic) -> str:
        return "∞"

    def _print_Abs(self, expr: Basic) -> str:
        return f"|{self._print(expr.args[0])}|"

    def _print_factorial(self, expr: Basic) -> str:
        return f"{self.parenthesize(expr.args[0], PRECEDENCE['Pow'])}!"

    def _print_Relational(self, expr: Relational) -> str:
        sign = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_And(self, expr: And) -> str:
        return " and ".join(sorted(self.parenthesize(part, PRECEDENCE["And"]) for part in expr.args))

    def _print_Or(self, expr: Or) -> str:
        return " or ".join(sorted(self.parenthesize(part, PRECEDENCE["Or"]) for part in expr.args))

    def _print_Piecewise(self, expr: Piecewise) -> str:
        parts = [self._print(value) + ("" if case == true else f" if {self._print(case)}") for value, case in expr.args]
        return "(" + ", else ".join(parts) + ")"

    def _print_Max(self, expr: Max) -> str:
        return self._least_or_largest("max", expr)

    def _print_Min(self, expr: Min) -> str:
        return self._least_or_largest("min", expr)

    def _least_or_largest(self, name: str, expr: Max | Min) -> str:
        return f"{name}({', '.join(self._print(part) for part in sorted(expr.args, key=default_sort_key))})"

    def _print_Mul(self, expr: Mul) -> str:
        if expr.could_extract_minus_sign():
            return f"-{self.parenthesize(-expr, PRECEDENCE['Mul'], strict=True)}"
        over, under = fraction(expr, exact=True)
        if under == 1 or over == expr:
            return self._side_by_side(expr.as_ordered_factors())
        below = self.parenthesize(under, PRECEDENCE["Pow"], strict=True)
        return f"{self.parenthesize(over, PRECEDENCE['Mul'], strict=True)}/{below}"

    def _print_MatMul(self, expr: MatMul) -> str:
        return self._side_by_side(list(expr.args))

    def _side_by_side(self, factors: Sequence[Basic]) -> str:
        """The factors of a product; a number touches what follows it, two single letters touch."""
        shown = [self.parenthesize(part, PRECEDENCE["Mul"], strict=True) for part in factors]
        text = shown[0]
        for at in range(1, len(shown)):
            left, right = shown[at - 1], shown[at]
            letters = len(left) == len(right) == 1 and left.isalpha() and right.isalpha()
            counted = left.isdecimal() and (right[0] in "(√" or len(right) == 1 or right[1] in "^")
            text += f" · {right}" if right[0].isdigit() else right if letters or counted else f" {right}"
        return text

    def _print_Pow(self, expr: Pow, rational: bool = False) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_number and exponent.could_extract_minus_sign():
            return f"1/{self.parenthesize(Pow(base, -exponent), PRECEDENCE['Pow'], strict=True)}"
        inside = self.parenthesize(base, PRECEDENCE["Pow"])
        inside = f"({inside})" if base.is_Pow and not inside.startswith("(") else inside
        if exponent == Rational(1, 2):
            return f"√{inside}"
        power = self._print(exponent).replace(" + ", "+").replace(" - ", "-")
        bare = exponent.is_Symbol or (exponent.is_Integer and exponent.is_nonnegative)
        return f"{inside}^{power if bare else f'({power})'}"


def in_box(sides: Mapping[Parameter, tuple[Expr, Expr]]) -> str:
    """The box of a claim over parameters; empty for one that is measured."""
    named = (f"{inline(letter)} in [{inline(lower)}, {inline(upper)}]" for letter, (lower, upper) in sides.items())
    return f"for {', '.join(named)}" if sides else ""


def in_box_latex(sides: Mapping[Parameter, tuple[Expr, Expr]]) -> str:
    """The same in LaTeX, beside a statement."""
    named = (rf"{latex(x)} \in [{latex(lower)}, {latex(upper)}]" for x, (lower, upper) in sides.items())
    return rf" \quad ({', '.join(named)})" if sides else ""


def meanings(symbols: Iterable[Symbol]) -> tuple[tuple[str, str], ...]:
    """Every letter among these symbols with its meaning: sizes first, measured letters last."""
    order = (Size, Index, Parameter, Measured)
    found = {symbol for symbol in symbols if isinstance(symbol, Letter)}
    ranked = sorted(found, key=lambda letter: (order.index(type(letter)), str(letter)))
    return tuple((inline(letter), letter.meaning) for letter in ranked)


def _typesetter() -> type[PrettyPrinter]:
    """SymPy's printer over several lines, with the field's names of the largest and the least."""
    from sympy.printing.pretty.pretty import PrettyPrinter

    class Typesetter(PrettyPrinter):
        def _print_Max(self, expr: Max) -> Any:
            return self._helper_print_function(expr.func, expr.args, sort=True, func_name="max")

        def _print_Min(self, expr: Min) -> Any:
            return self._helper_print_function(expr.func, expr.args, sort=True, func_name="min")

    return Typesetter


def beside(*parts: str | Expr) -> str:
    """Texts and typeset expressions side by side, their middle lines aligned."""
    from sympy.printing.pretty.stringpict import prettyForm

    printer = _typesetter()({"use_unicode": True, "wrap_line": False})
    before = pretty_use_unicode(True)  # the symbols are chosen by a switch of SymPy's, not by the printer
    try:
        form = prettyForm("")
        for part in parts:
            form = prettyForm(*form.right(part if isinstance(part, str) else printer._print(part)))
        return str(form.render(wrap_line=False))
    finally:
        pretty_use_unicode(before)
