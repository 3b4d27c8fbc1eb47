"""Notation of a measured letter as an author types it, such as ``sr(X_l X_l^T) - 1``, in Unicode and in LaTeX."""

from __future__ import annotations

import re

from sympy.printing.latex import greek_letters_set
from sympy.printing.pretty.pretty_symbology import greek_unicode

_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|<=|>=|!=|\|\||\S|\s+")
_SIGNS = {"<=": ("≤", r"\le "), ">=": ("≥", r"\ge "), "!=": ("≠", r"\ne "), "||": ("‖", r"\| "), "*": (" ", r"\, ")}
_FUNCTIONS = frozenset({"max", "min", "log", "exp", "sin", "cos", "tanh", "det", "dim", "ker", "sup", "inf", "arg"})
_ESCAPED = frozenset("{}%&#$")


def is_composite(notation: str) -> bool:
    """True if a sum, a product or a relation stands outside of all brackets, so that brackets are needed around it.

    >>> is_composite("sr(X - Y)"), is_composite("sr(X) - 1"), is_composite("X Y")
    (False, True, True)
    """
    depth, outside = 0, ""
    for sign in notation.strip():
        depth += (sign in "([") - (sign in ")]")
        outside += sign if not depth else ""
    return re.search(r"[-+*/=<> ]", outside.lstrip("-")) is not None


def in_unicode(notation: str) -> str:
    """The notation on one line: names of Greek letters are those letters, and relations have one sign.

    >>> in_unicode("sigma_1(W) <= 2")
    'σ_1(W) ≤ 2'
    """
    return "".join(
        _SIGNS[token][0] if token in _SIGNS else greek_unicode.get(token, token) for token in _TOKEN.findall(notation)
    )


def in_latex(notation: str) -> str:
    r"""The notation typeset; a word of several letters is one name, upright.

    >>> in_latex("sr(X_l X_l^T) - 1")
    '\\operatorname{sr}(X_{l} X_{l}^{T}) - 1'
    """
    tokens, found, at = _TOKEN.findall(notation), "", 0
    while at < len(tokens):
        token = tokens[at]
        if token in "_^" and at + 1 < len(tokens):
            at, inside = _raised(tokens, at + 1)
            found += f"{token}{{{in_latex(inside)}}}"
            continue
        found += _typeset(token)
        at += 1
    return found


def _raised(tokens: list[str], at: int) -> tuple[int, str]:
    """The place behind an index or exponent, and its text; one in brackets is the whole of them."""
    if tokens[at] not in "([":
        return at + 1, tokens[at]
    depth, start = 0, at
    while at < len(tokens):
        depth += (tokens[at] in "([") - (tokens[at] in ")]")
        at += 1
        if not depth:
            return at, "".join(tokens[start + 1 : at - 1])
    return at, "".join(tokens[start:])


def _typeset(token: str) -> str:
    if token in _SIGNS:
        return _SIGNS[token][1]
    if token in _ESCAPED or token == "\\":
        return rf"\{token}" if token != "\\" else r"\backslash "
    if token.isalpha() and len(token) > 1:
        if token.lower() in greek_letters_set:
            return rf"\{token} "
        return rf"\{token} " if token in _FUNCTIONS else rf"\operatorname{{{token}}}"
    return " " if token.isspace() else token
