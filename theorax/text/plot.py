"""A small plot in Unicode: measured points with their error bars against what is predicted, along a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from theorax.text.numbers import number

POINT, BAR, LINE, BAND, DIAMOND = "●", "│", "·", "░", "◆"
LARGEST = 1e300  # magnitude of a value that is drawn
BARS = 2.0  # an error bar reaches this many standard errors to either side


BEYOND = 6  # columns for the limit itself, beyond the sizes


class AtInfinity(NamedTuple):
    """The extrapolated limit and the ends of its interval, None where that is open."""

    estimate: float
    low: float | None
    high: float | None


class Plotted(Protocol):
    """Observations at one size."""

    @property
    def size(self) -> float: ...

    @property
    def estimate(self) -> float | None: ...

    @property
    def standard_error(self) -> float | None: ...


def predicted_along(
    points: Sequence[Plotted], predicted: float | None, *, slope: bool = False, exponential: bool = False
) -> list[float] | None:
    """The predicted value at each size: a level for a limit, an order through the points for a rate; None if neither.

    For a rate only the slope is predicted: ``predicted`` is the exponent, negative for decay, of the size or
    (``exponential``) of e per size, and the line passes through the points' mean.
    """
    if predicted is None or not points:
        return None
    if not slope:
        return [predicted] * len(points)
    known = [(row.size, row.estimate) for row in points if row.estimate is not None]
    if len(points) < 2 or len(known) < len(points) or any(min(pair) <= 0 for pair in known):
        return None
    x = [size if exponential else math.log(size) for size, _ in known]
    y = [math.log(estimate) for _, estimate in known]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    if len(set(x)) == 1:
        return None
    powers = [y_mean + predicted * (at - x_mean) for at in x]
    return [math.exp(power) for power in powers] if all(power < math.log(LARGEST) for power in powers) else None


def drawable(values: Sequence[float]) -> bool:
    """True if doubles hold the distances between these values, and their shares of an axis."""
    return all(abs(value) <= LARGEST for value in values)


def margin_band(predicted: float | None, margin: float | None) -> tuple[float, float] | None:
    """The band of the margin around the prediction; None where either is missing."""
    if predicted is None or not margin:
        return None
    return predicted - margin, predicted + margin


def plot(
    points: Sequence[Plotted],
    predicted: Sequence[float] | None,
    letter: str,
    width: int = 58,
    height: int = 9,
    band: tuple[float, float] | None = None,
    limit: AtInfinity | None = None,
) -> list[str]:
    """The lines of the plot; none if there are fewer than two sizes to draw.

    ``band`` is that of the margin; ``limit`` stands beyond the sizes, at infinity.

    The horizontal axis is logarithmic where the sizes spread over more than a factor of three, the vertical one where
    the values do and are positive.
    """
    rows = [(row.size, row.estimate, row.standard_error or 0.0) for row in points if row.estimate is not None]
    if len({size for size, _, _ in rows}) < 2:
        return []
    sizes = [float(size) for size, _, _ in rows]
    line = list(predicted) if predicted is not None and len(predicted) == len(points) == len(rows) else []
    beyond = [value for value in limit or () if value is not None]
    low_ends = [value - BARS * error for _, value, error in rows]
    high_ends = [value + BARS * error for _, value, error in rows]
    centres = [value for _, value, _ in rows] + line + beyond + list(band or ())
    log_x = min(sizes) > 0 and max(sizes) > 3 * min(sizes)
    log_y = min([*low_ends, *centres]) > 0 and max([*high_ends, *centres]) > 3 * min([*low_ends, *centres])
    if not drawable([*low_ends, *high_ends, *centres]):
        return []
    scale = math.log if log_y else float
    bottom, top = _range([scale(value) for value in [*low_ends, *high_ends, *centres]])
    labels = _labels(bottom, top, height, log=log_y)
    gutter = max(len(label) for label in labels)
    inner = max(20, width - gutter - 2)

    def column(size: float) -> int:
        place = math.log if log_x else float
        share = (place(size) - place(min(sizes))) / (place(max(sizes)) - place(min(sizes)))
        return 1 + round(share * (inner - 3 - (BEYOND if limit else 0)))

    def row_of(value: float) -> int:
        share = (scale(value) - bottom) / (top - bottom)
        return max(0, min(height - 1, round((1 - share) * (height - 1))))

    grid = [[" "] * inner for _ in range(height)]
    columns = [column(size) for size in sizes]
    if band:
        for shaded in grid[row_of(band[1]) : row_of(band[0]) + 1]:
            shaded[:] = BAND * inner
    if line:
        for at in range(inner):
            grid[row_of(_between(at, columns, line, log=log_y))][at] = LINE
    for (_, value, error), at, low, high in zip(rows, columns, low_ends, high_ends, strict=True):
        if error:
            for step in range(row_of(high), row_of(low) + 1):
                grid[step][at] = BAR
        grid[row_of(value)][at] = POINT
    if limit:
        high, low = (
            top_row if end is None else row_of(end) for end, top_row in ((limit.high, 0), (limit.low, height - 1))
        )
        for step in range(high, low + 1):
            grid[step][inner - 2] = BAR
        grid[row_of(limit.estimate)][inner - 2] = DIAMOND
    lines = [f"{label:>{gutter}} ┤{''.join(cells).rstrip()}" for label, cells in zip(labels, grid, strict=True)]
    lines.append(f"{'':>{gutter}} └{'─' * inner}")
    lines.append(f"{'':>{gutter}}  {_ticks(sizes, columns, inner, letter, limit)}".rstrip())
    key = [f"{POINT} measured"]
    if any(error for _, _, error in rows):
        key.append(f"{BAR} ±{BARS:g} standard errors")
    if line:
        key.append(f"{LINE}{LINE}{LINE} predicted")
    further = [*([f"{BAND}{BAND}{BAND} margin"] if band else []), *([f"{DIAMOND} extrapolated"] if limit else [])]
    scales = [name for name, used in ((letter, log_x), ("values", log_y)) if used]
    lines.append(f"{'':>{gutter}}  {'   '.join(key)}")
    if further:
        lines.append(f"{'':>{gutter}}  {'   '.join(further)}")
    if scales:
        lines.append(f"{'':>{gutter}}  logarithmic in {' and '.join(scales)}")
    return lines


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if high == low:
        room = abs(high) * 0.1 or 1.0
        return low - room, high + room
    room = 0.06 * (high - low)
    return low - room, high + room


def _labels(bottom: float, top: float, height: int, *, log: bool) -> list[str]:
    values = [top - (top - bottom) * step / (height - 1) for step in range(height)]
    shown = {0, height // 2, height - 1}
    texts: list[str] = []
    for digits in range(3, 9):
        texts = [number(math.exp(value) if log else value, digits) for value in values]
        if len({texts[step] for step in shown}) == len(shown):
            break
    # A tick halfway between -a and a is zero up to rounding.
    texts = ["0" if not log and abs(v) < 1e-9 * (top - bottom) else t for v, t in zip(values, texts, strict=True)]
    return [text if step in shown else "" for step, text in enumerate(texts)]


def _between(at: int, columns: Sequence[int], line: Sequence[float], *, log: bool) -> float:
    """The predicted value above a column: the line runs straight between sizes on the plot's own scales."""
    order = sorted(range(len(columns)), key=lambda index: columns[index])
    left, right = order[0], order[-1]
    for first, second in pairwise(order):
        if columns[first] <= at <= columns[second]:
            left, right = first, second
            break
    a, b = columns[left], columns[right]
    share = 0.0 if a == b else max(0.0, min(1.0, (at - a) / (b - a)))
    if log:
        return math.exp(math.log(line[left]) * (1 - share) + math.log(line[right]) * share)
    return line[left] * (1 - share) + line[right] * share


def _ticks(sizes: Sequence[float], columns: Sequence[int], inner: int, letter: str, limit: AtInfinity | None) -> str:
    cells = [" "] * (inner + 14)
    used = -2
    places = [(at, number(size)) for size, at in sorted(zip(sizes, columns, strict=True))]
    for at, text in [*places, *([(inner - 2, "→ ∞")] if limit else [])]:
        start = max(0, at - len(text) // 2)
        if start > used + 1:
            cells[start : start + len(text)] = text
            used = start + len(text)
    return "".join(cells).rstrip() + f"  {letter}"
