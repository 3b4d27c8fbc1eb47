"""Tell a ball that lies wholly outside the domain of a function from one that is too wide: neither has a number.

Arb answers both with the same "not a number". A program that meets the first kind alone is surely undefined; after one of
the second kind nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, final

from flint import arb

_UNARY: Mapping[str, Callable[[arb], bool]] = {
    "sqrt": lambda x: x < 0,
    "rsqrt": lambda x: x <= 0,
    "log": lambda x: x <= 0,
    "log1p": lambda x: x <= -1,
    "asin": lambda x: x > 1 or x < -1,
    "acos": lambda x: x > 1 or x < -1,
    "acosh": lambda x: x < 1,
    "atanh": lambda x: x >= 1 or x <= -1,
    "lgamma": lambda x: x <= 0 and x.is_integer(),
    "digamma": lambda x: x <= 0 and x.is_integer(),
}
_BINARY: Mapping[str, Callable[[arb, arb], bool]] = {
    "div": lambda x, y: y.is_zero(),
    "pow": lambda x, y: (x < 0 and y.is_finite() and not y.contains_integer()) or (x.is_zero() and y < 0),
}


def is_outside(name: str, *arguments: arb) -> bool:
    """True if the arguments lie wholly outside the domain of this function: it has no real value at any point of them."""
    rule: Any = _UNARY.get(name) if len(arguments) == 1 else _BINARY.get(name)
    return rule is not None and bool(rule(*arguments))


@final
class Undefined:
    """Record of one run in balls.

    ``outside``: how often a function met a ball wholly outside its domain; ``doubtful``: how often a result was no number
    for another reason.
    """

    def __init__(self) -> None:
        self.outside = 0
        self.doubtful = 0

    def watching(self, functions: Mapping[str, Callable[..., arb]]) -> dict[str, Callable[..., arb]]:
        """The same functions, each recording where its result is no finite number."""
        return {name: partial(self._watched, name, function) for name, function in functions.items()}

    def _watched(self, name: str, function: Callable[..., arb], *arguments: arb) -> arb:
        found = function(*arguments)
        if not found.is_finite() and all(argument.is_finite() for argument in arguments):
            if is_outside(name, *arguments):
                self.outside += 1
            else:
                self.doubtful += 1
        return found
