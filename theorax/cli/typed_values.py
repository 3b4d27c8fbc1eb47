"""Values as typed: exact parameters, sizes, outputs; and the sentences about those that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from theorax.errors import UsageError, option

_AT = option("at")
_SIZES = option("sizes")

LARGEST_SIZE = 2**31 - 1  # of an array, as XLA counts its entries
AT_EXAMPLE = f"Write `{_AT} gamma=1/4,l=2`."
SIZES_EXAMPLE = f"Write `{_SIZES} T=100..400` (doubling from 100 up to 400) or `{_SIZES} T=64,128,256`."


def parameters(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The exact values of ``--at``: a decimal is the rational that it spells.

    >>> parameters(["gamma=0.25,l=2"])
    (('gamma', '1/4'), ('l', '2'))

    **Raises:** UsageError if one cannot be read or a letter is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            letter, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not letter.isidentifier() or not value:
                raise UsageError(f"`{_AT} {text}`: `{part}` gives no letter a value. {AT_EXAMPLE}")
            try:
                exact = _fraction(value)
            except (ValueError, ZeroDivisionError):
                raise UsageError(
                    f"`{_AT} {text}`: `{value}` is no exact number, such as 2, 1/4 or 0.25. {AT_EXAMPLE}"
                ) from None
            if not _is_usable(exact):
                raise UsageError(
                    f"`{_AT} {text}`: no double is near the value of `{letter}`, and models compute in doubles. "
                    f"Their magnitudes are 1e-300 to 1e300. {AT_EXAMPLE}"
                )
            if letter in found:
                raise UsageError(f"`{_AT} {text}` gives `{letter}` a second value; a letter has one. {AT_EXAMPLE}")
            found[letter] = str(exact)
    return tuple(found.items())


_EXPONENT = re.compile(r"[eE]([+-]?\d[\d_]*)\s*$")


def _fraction(text: str) -> Fraction | None:
    """The number as typed; None for one whose power of ten alone is far beyond doubles, and would fill the memory."""
    power = _EXPONENT.search(text)
    return None if power is not None and abs(int(power[1])) > 10_000 else Fraction(text)


def _is_usable(value: Fraction | None) -> bool:
    return value is not None and (value == 0 or Fraction(1, 10**300) <= abs(value) <= 10**300)


def sizes(texts: Iterable[str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The sizes of ``--sizes``: listed, or doubling from the first up to the last, which is included.

    >>> sizes(["T=100..500"])
    (('T', (100, 200, 400, 500)),)
    >>> sizes(["T=64,128"])
    (('T', (64, 128)),)

    **Raises:** UsageError if they cannot be read, do not grow, or a letter is given twice.
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        letter, equals, listed = (piece.strip() for piece in text.partition("="))
        if not equals or not letter.isidentifier():
            raise UsageError(f"`{_SIZES} {text}` does not name a letter. {SIZES_EXAMPLE}")
        if letter in found:
            raise UsageError(f"`{_SIZES} {text}` gives `{letter}` sizes a second time. {SIZES_EXAMPLE}")
        first, dots, last = listed.partition("..")
        try:
            values = _doubling(int(first), int(last)) if dots else tuple(int(part) for part in listed.split(","))
        except ValueError:
            raise UsageError(f"`{_SIZES} {text}`: `{listed}` is no list of whole numbers. {SIZES_EXAMPLE}") from None
        if not values or values[0] < 1 or any(b <= a for a, b in pairwise(values)):
            raise UsageError(f"`{_SIZES} {text}`: sizes are positive and grow. {SIZES_EXAMPLE}")
        if values[-1] > LARGEST_SIZE:
            raise UsageError(
                f"`{_SIZES} {text}`: sizes go up to {LARGEST_SIZE}, what an array can index. {SIZES_EXAMPLE}"
            )
        found[letter] = values
    return tuple(found.items())


def _doubling(first: int, last: int) -> tuple[int, ...]:
    if first < 1:
        return ()
    values = [first]
    while 2 * values[-1] <= last:
        values.append(2 * values[-1])
    return tuple(values) if values[-1] == last else (*values, last)


def outputs(texts: Iterable[str], *, answer: bool = False) -> tuple[tuple[str, Path | None], ...]:
    """The reports asked for: a format, and the file it goes to; None is the standard output.

    ``answer``: of a command that reports no theorems, and so has no badge.

    The annotations of `github` are lines of a build's log like others, so they may stand beside the terminal's report.

    **Raises:** UsageError if a format is unknown, a file cannot be written, or two reports want one place.
    """
    from theorax.names import did_you_mean
    from theorax.reports import json
    from theorax.reports.renderings import ANSWERS, RENDERINGS

    known = ANSWERS if answer else tuple(RENDERINGS)
    found: list[tuple[str, Path | None]] = []
    for text in texts:
        name, equals, file = text.partition("=")
        if name not in known:
            raise UsageError(
                f"`--output {text}`: there is no format `{name}`{did_you_mean(name, known)} "
                "Write `--output json=report.json`; known are " + ", ".join(known) + "."
            )
        if equals and not file:
            raise UsageError(
                f"`--output {text}` names no file. Write `--output {name}=report.{RENDERINGS[name].suffix}`."
            )
        path = Path(file) if file else None
        if path is not None:
            json.writable(path)
            if any(other is not None and os.path.realpath(other) == os.path.realpath(path) for _, other in found):
                raise UsageError(
                    f"`--output {text}`: another report goes to `{path}` already, and the later would replace it. "
                    f"Name another file, as in `{name}=other.{RENDERINGS[name].suffix}`."
                )
        elif name == "github" and (step := os.environ.get("GITHUB_STEP_SUMMARY")):
            json.writable(Path(step))
        # From the present folder, wherever code that runs meanwhile goes.
        found.append((name, None if path is None else path.absolute()))
    printed = [name for name, path in found if path is None]
    if len(printed) > 1 and sorted(printed) != ["github", "terminal"]:
        raise UsageError(
            "Two reports cannot share the standard output. Give one of them a file, as in `json=report.json`."
        )
    return tuple(found) or (("terminal", None),)
