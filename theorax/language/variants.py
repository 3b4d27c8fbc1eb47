"""Variants of a statement that several kinds of claim make in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Add, Expr, Mul, Pow, Rational, Symbol, log

from theorax.language.letters import Index, Letter, Measured
from theorax.language.margins import Absolute, Margin, Relative

Change = tuple[str, Mapping[str, Any]]
"""The name of a variant of a claim, and the fields that it replaces."""


def wider(margin: Margin | None) -> Iterator[Change]:
    """Twice the margin."""
    if margin is not None:
        yield "twice the margin", {"margin": margin.times(2)}


def dropped_factors(of: Expr, value: Expr, field: str, as_: Symbol | None) -> Iterator[Change]:
    """Factors beside what is measured, dropped: what does not grow moves the value instead, where it is the same.

    Where the value is zero, x tends to zero whenever n x does: without its factor the statement follows.
    """
    if value == 0:
        return
    for factor in Mul.make_args(of):
        letters = factor.free_symbols
        if any(isinstance(s, Measured) for s in letters) or factor in (1, -1):
            continue
        if as_ is not None and as_ in letters:
            yield f"the factor {factor} dropped", {"of": of / factor}
        else:
            yield f"the factor {factor} dropped", {field: value * factor}


def wrong_values(field: str, value: Expr, margin: Margin | None) -> Iterator[Change]:
    """The field with values that are wrong: off by a margin, doubled, without a letter, a constant or a term."""
    return ((f"{field} {label}", {field: wrong}) for label, wrong in _wrong_values(value, margin))


def _wrong_values(value: Expr, margin: Margin | None) -> Iterator[tuple[str, Expr]]:
    steps = [margin.value, Rational(1, 4)] if isinstance(margin, Relative) else [Rational(1, 4)]
    if isinstance(margin, Absolute):
        for sign in (1, -1):
            yield f"shifted by {sign * margin.value}", value + sign * margin.value
            yield f"shifted by {sign * 2 * margin.value}", value + sign * 2 * margin.value
    if value == 0:
        return
    for step in steps:
        yield f"x {1 + step}", value * (1 + step)
        yield f"x {1 - step}", value * (1 - step)
    yield "x 2", 2 * value
    for letter in sorted((symbol for symbol in value.free_symbols if isinstance(symbol, Letter)), key=str):
        yield f"with {letter} dropped", value.subs(letter, 1)
        if isinstance(letter, Index):
            yield f"with {letter} + 1 for {letter}", value.subs(letter, letter + 1)
    for factor in Mul.make_args(value):
        if factor.is_number and not factor.is_Rational:
            yield f"with {factor} dropped", value / factor
    for node in sorted(value.atoms(log), key=str):
        yield f"with {node} dropped", value.subs(node, 1)
    for node in sorted(value.atoms(Pow), key=str):
        if node.base.free_symbols & value.free_symbols:
            for change in (1, -1):
                yield f"with {node.base}^({node.exp + change})", value.subs(node, node.base ** (node.exp + change))
    for node in sorted(value.atoms(Add), key=str):
        for term in node.args:
            yield f"with the term {term} dropped", value.subs(node, node - term)
