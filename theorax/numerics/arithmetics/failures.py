"""Failures of an evaluation in a scalar domain: a primitive without a meaning, a comparison that cannot be decided."""

from __future__ import annotations

from theorax.errors import TheoraxError


class UnsupportedPrimitive(TheoraxError):
    """A primitive has no rule in the domain; the evaluation stops, it never falls back to floats."""

    def __init__(self, name: str, domain: str, reason: str = "no rule is known"):
        self.name = name
        self.domain = domain
        super().__init__(
            f"The primitive `{name}` cannot be evaluated in the domain `{domain}`: {reason}. "
            "Write the program with arithmetic, exp, log, sqrt, tanh, erf, max or select instead."
        )


class UndecidedComparison(TheoraxError):
    """A comparison whose answer the carriers do not determine; both branches stay possible."""

    def __init__(self, comparison: str, left: object = "", right: object = ""):
        self.comparison = comparison
        super().__init__(
            f"`{comparison}` is undecided{_sides(left, right)}. "
            "Raise the precision, shrink the box, or state the sign as an assumption of the symbol."
        )


def _sides(left: object, right: object) -> str:
    shown = [text for text in map(str, (left, right)) if text]
    return f" between {shown[0]} and {shown[1]}" if len(shown) > 1 else "".join(f" for {side}" for side in shown)
