"""Formulas for browsers: from LaTeX to MathML of a few known elements, or None where that cannot be done safely."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from theorax.text.safe import visible

LONGEST = 4000  # characters of LaTeX; a longer formula is a page, which its text shows better

ARGUMENTS = {"mfrac": 2, "msup": 2, "msub": 2, "mroot": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
"""How many parts an element must have to be drawn."""
ELEMENTS = {*ARGUMENTS, "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msqrt", "mtable", "mtr", "mtd", "mstyle"}
ATTRIBUTES: dict[str, set[str]] = {
    "mo": {"form", "stretchy", "lspace", "rspace", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mspace": {"width"},
    "mstyle": {"scriptlevel", "displaystyle"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mfrac": {"linethickness"},
}
VALUE = re.compile(r"[a-z0-9.+-]{1,12}")

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_TAKES_A_NAME = r"\\(?:begin|end|text|textbf|textrm|operatorname\*?|math[a-z]+|mbox)\s*\{[^{}]*\}"
_TOKEN = re.compile(rf"{_TAKES_A_NAME}|\\[A-Za-z]+|\\.|[A-Za-z]{{2,}}", re.DOTALL)
_FIRST = 0xE000  # letters of private use stand for whole words while the formula is converted
_LAST = 0xF8FF


@lru_cache(maxsize=4096)
def mathml(latex: str, *, block: bool = False) -> str | None:
    """The formula as a ``math`` element, or None if it is empty, too long, or not LaTeX that is understood.

    Letters that stand together are one name, as SymPy prints it: ``top`` is no product of t, o and p.

    >>> mathml("top^{2}")
    '<math><msup><mi>top</mi><mn>2</mn></msup></math>'
    >>> mathml(r"\\frac{1}") is None
    True
    """
    if not latex.strip() or len(latex) > LONGEST or any(_strange(sign) for sign in latex):
        return None
    words: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        token = found.group()
        if token.startswith("\\"):
            return token
        words.append(token)
        return chr(_FIRST + len(words) - 1)

    from latex2mathml.converter import convert

    try:
        prepared = _TOKEN.sub(stand_in, latex)
        root = ElementTree.fromstring(convert(prepared))
        row = root[0] if len(root) == 1 and root[0].tag.endswith("}mrow") else root  # ``math`` lays out as a row does
        inner = _parts(row, words)
    except Exception:  # the converter raises whatever its parser meets
        return None
    return f'<math display="block">{inner}</math>' if block else f"<math>{inner}</math>"


def formula(latex: str, text: str, *, block: bool = False) -> str:
    """The formula as MathML, else its text, as HTML.

    >>> formula(r"\\left(", "a < b")
    '<code class="formula">a &lt; b</code>'
    """
    found = mathml(latex, block=block)
    if found is not None:
        return found
    tag = "pre" if block or "\n" in text else "code"
    return f'<{tag} class="formula">{escape(visible(text))}</{tag}>'


def _strange(sign: str) -> bool:
    return _FIRST <= ord(sign) <= _LAST or (not sign.isprintable() and sign not in " \n\t")


def _written(node: ElementTree.Element, words: list[str]) -> str:
    """An element as text.

    **Raises:** ValueError if it is none of those known, lacks a part, or holds LaTeX that was not understood.
    """
    tag = node.tag.removeprefix(_NAMESPACE)
    if tag == "mrow" and len(node) == 1:
        return _written(node[0], words)
    if tag not in ELEMENTS or len(node) != ARGUMENTS.get(tag, len(node)):
        raise ValueError(tag)
    text = node.text or ""
    if "\\" in text:
        raise ValueError(text)
    text = "".join(words[ord(sign) - _FIRST] if _FIRST <= ord(sign) <= _LAST else sign for sign in text)
    if tag == "mo" and len(text) > 1 and text.isalpha():
        tag = "mi"  # the name of a function stands as close to its argument as a letter does
    kept = ATTRIBUTES.get(tag, set())
    given = "".join(
        f' {name}="{value}"'
        for name, value in node.attrib.items()
        if name in kept and VALUE.fullmatch(value) and (name, value) != ("stretchy", "true") and name != "form"
    )
    return f"<{tag}{given}>{escape(text, quote=False)}{_parts(node, words)}</{tag}>"


def _parts(node: ElementTree.Element, words: list[str]) -> str:
    """The inside of an element; in a row, factors side by side, one of them a word, are kept from reading as one word."""
    inner, before, row = "", None, node.tag.removeprefix(_NAMESPACE) in ("mrow", "math")
    for place, part in enumerate(node):
        if before is not None and row and _factors(before, part):
            inner += '<mspace width="0.2em"/>'
        inner += _bracket(part, place, len(node)) or _written(part, words)
        before = part
    return inner


def _bracket(node: ElementTree.Element, place: int, count: int) -> str:
    """A bracket that stands inside a row; the first and the last of a row know by themselves which side they are."""
    sign, stretches = node.text or "", node.get("stretchy") != "false"
    if node.tag.removeprefix(_NAMESPACE) != "mo" or stretches:
        return ""
    if sign in ("(", "[", "{") and place > 0:
        return f'<mo form="prefix" stretchy="false">{sign}</mo>'
    if sign in (")", "]", "}") and place < count - 1:
        return f'<mo form="postfix" stretchy="false">{sign}</mo>'
    return ""


_BASED = {"msub", "msup", "msubsup", "mover", "munder", "munderover"}


def _factors(left: ElementTree.Element, right: ElementTree.Element) -> bool:
    first, second = _base(left), _base(right)
    if first is None or second is None:
        return False
    return any(_FIRST <= ord(sign) <= _LAST for sign in first + second) or any(
        len(word) > 1 and word.isalpha() for word in (first, second)
    )


def _base(node: ElementTree.Element) -> str | None:
    """The letters that a factor begins with; None for what is no factor."""
    tag = node.tag.removeprefix(_NAMESPACE)
    if tag in _BASED and len(node):
        return _base(node[0])
    if tag in ("mi", "mn") or (tag == "mo" and len(node.text or "") > 1 and (node.text or "").isalpha()):
        return node.text or ""
    return "" if tag in ("mfrac", "msqrt", "mroot") else None
