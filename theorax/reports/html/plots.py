"""Measured against predicted as SVG: along a sweep, and case by case in units of the margin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from theorax.decide.status import Side
from theorax.reports.html.page_parts import parameters
from theorax.text.numbers import number, with_uncertainty
from theorax.text.plot import BARS, predicted_along
from theorax.text.safe import one_line, shortened, visible

Part = Mapping[str, Any]

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 64, 18, 14, 44
BEYOND = 62  # room at the right for the limit itself
ROWS = 30  # cases drawn; the table has them all
ROW, NAME = 20, 204
SIGNS = 31  # of a case's name
REACH = 1.6  # margins to either side that are always shown
SEEN = 0.02  # of a margin: intervals that all lie nearer to the prediction are dots on a line, and are not drawn
FARTHEST = 4.0  # margins after which an interval is cut off with an arrow


def sweep(claim: Part, case: Part) -> str:
    """The observations of one case along its sweep; empty if there are fewer than two sizes."""
    points = [row for row in case["points"] if row["size"] is not None and row["estimate"] is not None]
    if len({row["size"] for row in points}) < 2:
        return ""
    predicted, line = case["predicted"], predicted_along(points, claim["kind"], case["predicted"])
    # At infinity stands what is claimed of the limit: its interval, with the bias bound included.
    ends = case["interval"] if claim["kind"] == "limit" else None
    limit = [value for value in ends if value is not None] if ends else []
    errors = [BARS * (row["standard_error"] or 0.0) for row in points]
    lows = [row["estimate"] - error for row, error in zip(points, errors, strict=True)]
    highs = [row["estimate"] + error for row, error in zip(points, errors, strict=True)]
    band = _band(claim, case)
    x = _Axis.over([row["size"] for row in points], LEFT + 14, WIDTH - RIGHT - 14 - (BEYOND if limit else 0))
    y = _Axis.over([*lows, *highs, *(line or ()), *limit, *(band or ())], HEIGHT - BOTTOM - 8, TOP + 8)
    drawn = [_frame(x, y, sorted({row["size"] for row in points}), claim["as"] or "size")]
    right = WIDTH - RIGHT
    if band:
        top, bottom = y(band[1]), y(band[0])
        drawn.append(
            f'<rect class="band" x="{LEFT}" y="{top:.1f}" width="{right - LEFT}" height="{bottom - top:.1f}"/>'
        )
    if line:
        ends_ = sorted((x(row["size"]), y(value)) for row, value in zip(points, line, strict=True))
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in ends_)
        if claim["kind"] != "rate":
            path = f"{LEFT} {y(line[0]):.1f}H{right}"
        drawn.append(f'<path class="predicted" d="M{path}"/>')
    bars = [
        _whisker(x(row["size"]), y(low), y(high))
        for row, low, high in zip(points, lows, highs, strict=True)
        if high > low
    ]
    dots = [f"M{x(row['size']):.1f} {y(row['estimate']):.1f}h0" for row in points]
    if limit:
        at = right - BEYOND / 2 + 6
        low, high = case["interval"]
        diamond = ""
        bars.append(_whisker(at, HEIGHT - BOTTOM if low is None else y(low), TOP if high is None else y(high)))
        if case["estimate"] is not None:
            diamond = f'<path class="limit" d="M{at:.0f} {y(case["estimate"]) - 6:.1f}l6 6l-6 6l-6 -6z"/>'
        drawn.append(f'<path class="axis split" d="M{right - BEYOND + 4} {TOP}V{HEIGHT - BOTTOM}"/>')
        drawn.append(f'<g class="below">{_under(f"{at:.0f}", "→ ∞", HEIGHT - BOTTOM)}</g>{diamond}')
    drawn.append(f'<path class="bar" d="{"".join(bars)}"/><path class="point" d="{"".join(dots)}"/>')
    told = f"Measured along {claim['as'] or 'the sizes'}: " + ", ".join(
        f"{number(row['size'])}: {with_uncertainty(row['estimate'], row['standard_error'])}" for row in points
    )
    return _svg(HEIGHT, "".join(drawn), f"{told}. Predicted: {number(predicted)}.")


def logarithmic(claim: Part, case: Part) -> str:
    """Which axes of the sweep's plot are logarithmic, in words."""
    points = [row for row in case["points"] if row["size"] is not None and row["estimate"] is not None]
    errors = [BARS * (row["standard_error"] or 0.0) for row in points]
    values = [row["estimate"] + s * e for row, e in zip(points, errors, strict=True) for s in (-1, 1)]
    line = predicted_along(points, claim["kind"], case["predicted"]) or []
    ends = case["interval"] if claim["kind"] == "limit" else None
    limit = [value for value in ends if value is not None] if ends else []
    found = []
    if _logarithmic([row["size"] for row in points]):
        found.append("horizontal")
    if _logarithmic([*values, *line, *limit, *(_band(claim, case) or ())]):
        found.append("vertical")
    return f"Logarithmic scale: {' and '.join(found)}." if found else ""


def side(claim: Part) -> int:
    """1 or -1 where only values below, or above, the predicted one deviate in the permitted direction; 0 for equations."""
    # A bound is drawn by its excess, of which either sign has a place.
    return 0 if claim["kind"] == "inequality" else {Side.AT_MOST: -1, Side.AT_LEAST: 1}.get(claim["side"], 0)


def drawable(case: Part) -> bool:
    """Whether a case has a place on the axis of margins."""
    return (
        case["interval"] is not None
        and case["predicted"] is not None
        and case["estimate"] is not None
        and (case["margin"] or 0.0) > 0.0
    )


def forest(claim: Part) -> str:
    """Every case's interval around its prediction, in units of its margin; empty if there is nothing to see."""
    order = sorted(range(len(claim["cases"])), key=lambda index: index != claim["worst"])
    order = [index for index in order if drawable(claim["cases"][index])][:ROWS]
    cases, settings = [claim["cases"][index] for index in order], parameters(claim)
    if not cases:
        return ""
    spans = [_in_margins(case) for case in cases]
    finite = [abs(value) for span in spans for value in span if math.isfinite(value)]
    if max(finite, default=0.0) < SEEN and len(finite) == 3 * len(spans):
        return ""
    reach = min(FARTHEST, max(REACH, *(1.08 * value for value in finite)))
    left, right = NAME + 8, WIDTH - 12
    middle, unit = (left + right) / 2, (right - left) / 2 / reach
    bottom = TOP + ROW * len(cases)
    open_ = side(claim)
    low = left if open_ < 0 else middle - unit
    high = right if open_ > 0 else middle + unit
    axis, below, names, bars, dots = f"M{left} {bottom}H{right}", [], [], [], []
    words = ("−1 margin", "predicted", "+1 margin") if unit > 66 else ("−1", "0", "+1")
    for tick in (-1, 0, 1):
        at = middle + tick * unit
        axis += f"M{at:.1f} {bottom}v5"
        below.append(_under(f"{at:.1f}", words[tick + 1], bottom))
    for row, (index, (start, centre, end)) in enumerate(zip(order, spans, strict=True)):
        y = TOP + ROW * (row + 0.5)
        names.append(
            f'<text y="{y + 4:.0f}">{escape(_short(claim["cases"][index]["subject"], settings[index]))}</text>'
        )
        a, cut_a = _placed(start, reach, middle, unit)
        b, cut_b = _placed(end, reach, middle, unit)
        bars.append(f"M{a:.0f} {y:.0f}H{b:.0f}")
        for at, cut, way in ((a, cut_a, 6), (b, cut_b, -6)):
            bars.append(f"M{at + way:.0f} {y - 4:.0f}l{-way} 4l{way} 4" if cut else f"M{at:.0f} {y - 4:.0f}v8")
        c, cut = _placed(centre, reach, middle, unit)
        if not cut:
            dots.append(f"M{c:.0f} {y:.0f}h0")
    drawn = (
        f'<rect class="band" x="{low:.1f}" y="{TOP}" width="{high - low:.1f}" height="{bottom - TOP}"/>'
        f'<path class="predicted" d="M{middle:.1f} {TOP}V{bottom}"/><path class="axis" d="{axis}"/>'
        f'<path class="bar" d="{"".join(bars)}"/><path class="point" d="{"".join(dots)}"/>'
        f'<g class="names">{"".join(names)}</g><g class="below">{"".join(below)}</g>'
    )
    return _svg(bottom + 28, drawn, f"Intervals of {len(cases)} cases around the prediction, in units of the margin.")


def _short(name: str, parameters: Mapping[str, str]) -> str:
    """A case's name in the room there is; of subject and parameters the subject gives way."""
    at = one_line(", ".join(f"{letter}={value}" for letter, value in parameters.items()))
    subject = shortened(one_line(name), max(8, SIGNS - 2 - len(at)) if at else SIGNS)
    return shortened(f"{subject}, {at}" if at else subject, SIGNS)


def _in_margins(case: Part) -> tuple[float, float, float]:
    low, high = case["interval"]
    unit = case["margin"]
    return (
        -math.inf if low is None else (low - case["predicted"]) / unit,
        (case["estimate"] - case["predicted"]) / unit,
        math.inf if high is None else (high - case["predicted"]) / unit,
    )


def _placed(value: float, reach: float, middle: float, unit: float) -> tuple[float, bool]:
    """Where a value stands, and whether it lies beyond what is drawn."""
    inside = max(-reach, min(reach, value))
    return middle + inside * unit, inside != value


def _band(claim: Part, case: Part) -> tuple[float, float] | None:
    """What lies within the margin of the prediction, where the observations themselves are held against it."""
    if claim["kind"] not in ("limit", "expectation") or case["predicted"] is None or not case["margin"]:
        return None
    return case["predicted"] - case["margin"], case["predicted"] + case["margin"]


def _whisker(x: float, low: float, high: float) -> str:
    return f"M{x:.1f} {low:.1f}V{high:.1f}m-4 0h8M{x - 4:.1f} {low:.1f}h8"


@dataclass(frozen=True)
class _Axis:
    """Values to places, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> _Axis:
        log = _logarithmic(values)
        low, high = min(values), max(values)
        if low == high:
            room = abs(low) * 0.1 or 1.0
            low, high = low - room, high + room
        return cls(low, high, start, end, log)

    def __call__(self, value: float) -> float:
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + max(-0.5, min(1.5, share)) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """A few round values inside."""
        if self.log and self.high > 10 * self.low:
            tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = max(1, len(tens) // 5)
            found = [10.0**power for power in tens if power % every == 0]
            if sum(self.low <= value <= self.high for value in found) < 2:
                found = [step * 10.0**power for power in tens for step in (1, 2, 5)]
        else:
            step = _round((self.high - self.low) / 4)
            first = math.ceil(self.low / step)
            found = [step * index for index in range(first, math.floor(self.high / step) + 1)]
        return [value for value in found if self.low <= value <= self.high]


def _logarithmic(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) > 3 * min(values)


def _round(step: float) -> float:
    size = 10.0 ** math.floor(math.log10(step))
    return next(size * factor for factor in (1, 2, 2.5, 5, 10) if step <= size * factor * 1.0001)


def _frame(x: _Axis, y: _Axis, sizes: Sequence[float], letter: str) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    axis, grid, beside, below = f"M{LEFT} {TOP}V{bottom}H{right}", "", [], []
    for value in y.ticks:
        at = f"{y(value):.1f}"
        axis += f"M{LEFT - 5} {at}h5"
        grid += f"M{LEFT} {at}H{right}"
        text = "0" if abs(value) < 1e-9 * (y.high - y.low) else number(value).replace("-", "\u2212")
        beside.append(f'<text x="{LEFT - 9}" y="{y(value) + 4:.1f}">{text}</text>')
    last = -math.inf
    for size in sizes:
        at, text = f"{x(size):.1f}", number(size)
        axis += f"M{at} {bottom}v5"
        half = 4.0 * len(text)
        if x(size) - half > last + 6:
            below.append(_under(at, text, bottom))
            last = x(size) + half
    shown = shortened(one_line(letter), 24)
    middle = f"{(x.start + x.end) / 2:.1f}"
    below.append(f'<text class="axis-name" x="{middle}" y="{HEIGHT - 6}">{escape(shown)}</text>')
    return (
        f'<path class="grid" d="{grid}"/><path class="axis" d="{axis}"/>'
        f'<g class="beside">{"".join(beside)}</g><g class="below">{"".join(below)}</g>'
    )


def _under(at: str, text: str, bottom: float) -> str:
    return f'<text x="{at}" y="{bottom + 18}">{text}</text>'


def _svg(height: float, inner: str, told: str) -> str:
    told = shortened(visible(told), 600)
    return (
        f'<svg class="plot" role="img" aria-label="{escape(told)}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}">{inner}</svg>'
    )
