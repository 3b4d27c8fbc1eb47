"""Mathematics to read: expressions on one line or side by side, boxes, and what the letters mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sympy import Expr, latex, pretty

from theorax.language.letters import Index, Letter, Measured, Parameter, Size

if TYPE_CHECKING:  # claims are written with what stands here
    from theorax.language.claims.claim import Claim


def inline(expression: Expr | None) -> str:
    """An expression on one line of Unicode mathematics."""
    text = pretty(expression, use_unicode=True, wrap_line=False) if expression is not None else ""
    if "\n" in text:
        text = str(expression).replace("**", "^").replace("*", "·").replace("sqrt", "√")
    return text


def in_box(sides: Mapping[Parameter, tuple[Expr, Expr]]) -> str:
    """The box of a claim over parameters; empty for one that is measured."""
    named = (f"{letter} in [{lower}, {upper}]" for letter, (lower, upper) in sides.items())
    return f"for {', '.join(named)}" if sides else ""


def in_box_latex(sides: Mapping[Parameter, tuple[Expr, Expr]]) -> str:
    """The same in LaTeX, beside a statement."""
    named = (rf"{latex(x)} \in [{latex(lower)}, {latex(upper)}]" for x, (lower, upper) in sides.items())
    return rf" \quad ({', '.join(named)})" if sides else ""


def meanings(claims: Iterable[Claim]) -> tuple[tuple[str, str], ...]:
    """Every letter of the claims with its meaning, what tends to infinity first, what is measured last."""
    order = (Size, Index, Parameter, Measured)
    found = {s for claim in claims for s in claim.letters if isinstance(s, Letter)}
    ranked = sorted(found, key=lambda letter: (order.index(type(letter)), str(letter)))
    return tuple((inline(letter), letter.meaning) for letter in ranked)


def beside(*parts: str | Expr) -> str:
    """Texts and typeset expressions side by side, their middle lines aligned."""
    from sympy.printing.pretty.pretty import PrettyPrinter
    from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
    from sympy.printing.pretty.stringpict import prettyForm

    printer = PrettyPrinter({"use_unicode": True, "wrap_line": False})
    before = pretty_use_unicode(True)  # the symbols are chosen by a switch of SymPy's, not by the printer
    try:
        form = prettyForm("")
        for part in parts:
            form = prettyForm(*form.right(part if isinstance(part, str) else printer._print(part)))
        return str(form.render(wrap_line=False))
    finally:
        pretty_use_unicode(before)
