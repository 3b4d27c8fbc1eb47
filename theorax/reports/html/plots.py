"""Measured against predicted as SVG: along a sweep, and case by case in units of the margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from theorax.decide.phrases import case_place
from theorax.decide.status import Side
from theorax.decide.verdict import Case, Ends
from theorax.names import many
from theorax.reports.document import ClaimReport
from theorax.text.numbers import number, with_uncertainty
from theorax.text.plot import BARS, drawable, margin_band, predicted_along
from theorax.text.safe import one_line, shortened, visible

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 64, 18, 14, 44
BEYOND = 62  # room at the right for the limit itself
ROWS = 30  # cases drawn; the table has them all
ROW, NAME = 20, 204
SIGNS = 31  # of a case's name
REACH = 1.6  # margins to either side that are always shown
SEEN = 0.02  # of a margin: intervals that all lie nearer to the prediction are dots on a line, and are not drawn
FARTHEST = 4.0  # margins after which an interval is cut off with an arrow


@dataclass(frozen=True)
class _Sweep:
    """Plot of a sweep: points with bars, the predicted line, the interval of the limit, the band."""

    points: list[tuple[float, float, float, float]]  # size, estimate, and the ends of its bar
    line: list[float]
    limit: list[float]
    band: tuple[float, float] | None

    @classmethod
    def of(cls, claim: ClaimReport, case: Case) -> _Sweep:
        known = [
            (row.size, row.estimate, BARS * (row.standard_error or 0.0))
            for row in case.points
            if row.estimate is not None
        ]
        quantity = claim.words.quantity
        line = predicted_along(case.points, case.predicted, slope=quantity.is_slope, exponential=claim.exponential)
        ends = case.interval if quantity.is_extrapolated and case.interval is not None else ()  # bias included
        return cls(
            [(size, value, value - bar, value + bar) for size, value, bar in known],
            line if line is not None and len(known) == len(case.points) else [],
            [value for value in ends if value is not None],
            margin_band(case.predicted, case.margin) if quantity.is_value else None,
        )

    @property
    def sizes(self) -> list[float]:
        return [size for size, *_ in self.points]

    @property
    def values(self) -> list[float]:
        """All values that the vertical axis must show."""
        bars = [end for _, _, *ends in self.points for end in ends]
        return [*bars, *self.line, *self.limit, *(self.band or ())]


def sweep_plot(claim: ClaimReport, case: Case) -> str:
    """The observations of one case along its sweep; empty if there are fewer than two sizes."""
    shown = _Sweep.of(claim, case)
    if len(set(shown.sizes)) < 2 or not drawable([*shown.sizes, *shown.values]):
        return ""
    right = WIDTH - RIGHT
    x = _Axis.over(shown.sizes, LEFT + 14, right - 14 - (BEYOND if shown.limit else 0))
    y = _Axis.over(shown.values, HEIGHT - BOTTOM - 8, TOP + 8)
    drawn = [_frame(x, y, sorted(set(shown.sizes)), claim.as_ or "size")]
    if shown.band:
        low, high = shown.band
        size = f'width="{right - LEFT}" height="{y(low) - y(high):.1f}"'
        drawn.append(f'<rect class="band" x="{LEFT}" y="{y(high):.1f}" {size}/>')
    if shown.line:
        ends = sorted((x(size), y(value)) for size, value in zip(shown.sizes, shown.line, strict=True))
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in ends)
        if not claim.words.quantity.is_slope:
            path = f"{LEFT} {y(shown.line[0]):.1f}H{right}"
        drawn.append(f'<path class="predicted" d="M{path}"/>')
    bars = [_whisker(x(size), y(low), y(high)) for size, _, low, high in shown.points if high > low]
    dots = [f"M{x(size):.1f} {y(value):.1f}h0" for size, value, *_ in shown.points]
    if shown.limit and case.interval is not None:
        at = right - BEYOND / 2 + 6
        bars.append(_limit_whisker(at, y, case.interval))
        drawn.append(_limit(at, None if case.estimate is None else y(case.estimate)))
    drawn.append(f'<path class="bar" d="{"".join(bars)}"/><path class="point" d="{"".join(dots)}"/>')
    told = ", ".join(f"{number(row.size)}: {with_uncertainty(row.estimate, row.standard_error)}" for row in case.points)
    label = f"Measured along {claim.as_ or 'the sizes'}: {told}. Predicted: {number(case.predicted)}."
    return _svg(HEIGHT, "".join(drawn), label)


def _limit_whisker(at: float, y: _Axis, ends: Ends) -> str:
    low, high = ends
    return _whisker(at, HEIGHT - BOTTOM if low is None else y(low), TOP if high is None else y(high))


def _limit(at: float, middle: float | None) -> str:
    """The estimate of the limit, beyond a line that ends the sizes."""
    diamond = "" if middle is None else f'<path class="limit" d="M{at:.0f} {middle - 6:.1f}l6 6l-6 6l-6 -6z"/>'
    split = f'<path class="axis split" d="M{WIDTH - RIGHT - BEYOND + 4} {TOP}V{HEIGHT - BOTTOM}"/>'
    return f'{split}<g class="below">{_under(f"{at:.0f}", "→ ∞", HEIGHT - BOTTOM)}</g>{diamond}'


def logarithmic(claim: ClaimReport, case: Case) -> str:
    """Name the logarithmic axes of the sweep's plot."""
    shown = _Sweep.of(claim, case)
    axes = (("horizontal", shown.sizes), ("vertical", shown.values))
    found = [name for name, values in axes if _logarithmic(values)]
    return f"Logarithmic scale: {' and '.join(found)}." if found else ""


def side(claim: ClaimReport) -> int:
    """1 or -1 where only values below, or above, the predicted one deviate in the permitted direction; 0 for equations."""
    # A bound is drawn by its excess, of which either sign has a place.
    return 0 if claim.words.quantity.is_error else {Side.AT_MOST: -1, Side.AT_LEAST: 1}.get(claim.side, 0)


@dataclass(frozen=True)
class _InMargins:
    """One case on the axis of margins: its interval and its estimate, from the prediction in units of its margin."""

    place: int  # among the claim's cases
    low: float
    estimate: float
    high: float

    @classmethod
    def of(cls, place: int, case: Case) -> _InMargins | None:
        """None where a case has no place on the axis."""
        if case.interval is None or case.predicted is None or case.estimate is None or not case.margin:
            return None
        low, high = case.interval
        zero, unit = case.predicted, case.margin
        return cls(
            place,
            -math.inf if low is None else (low - zero) / unit,
            (case.estimate - zero) / unit,
            math.inf if high is None else (high - zero) / unit,
        )


def forest(claim: ClaimReport) -> str:
    """Every case's interval around its prediction, in units of its margin; empty if there is nothing to see."""
    order = sorted(range(len(claim.cases)), key=lambda index: index != claim.worst)
    placed = [_InMargins.of(index, claim.cases[index]) for index in order]
    shown = [span for span in placed if span is not None][:ROWS]
    if not shown:
        return ""
    values = [value for span in shown for value in (span.low, span.estimate, span.high)]
    finite = [abs(value) for value in values if math.isfinite(value)]
    if max(finite, default=0.0) < SEEN and len(finite) == len(values):
        return ""
    reach = min(FARTHEST, max(REACH, *(1.08 * value for value in finite)))
    left, right = NAME + 8, WIDTH - 12
    middle, unit = (left + right) / 2, (right - left) / 2 / reach
    bottom = TOP + ROW * len(shown)
    open_ = side(claim)
    low = left if open_ < 0 else middle - unit
    high = right if open_ > 0 else middle + unit
    axis, below, names, bars, dots = f"M{left} {bottom}H{right}", [], [], [], []
    words = ("−1 margin", "predicted", "+1 margin") if unit > 66 else ("−1", "0", "+1")
    for tick in (-1, 0, 1):
        at = middle + tick * unit
        axis += f"M{at:.0f} {bottom}v5"
        below.append(_under(f"{at:.0f}", words[tick + 1], bottom))
    for row, span in enumerate(shown):
        y = TOP + ROW * (row + 0.5)
        names.append(f'<text y="{y + 4:.0f}">{escape(_short(claim, claim.cases[span.place]))}</text>')
        a, cut_a = _placed(span.low, reach, middle, unit)
        b, cut_b = _placed(span.high, reach, middle, unit)
        bars.append(f"M{a:.0f} {y:.0f}H{b:.0f}")
        for at, cut, way in ((a, cut_a, 6), (b, cut_b, -6)):
            bars.append(f"M{at + way:.0f} {y - 4:.0f}l{-way} 4l{way} 4" if cut else f"M{at:.0f} {y - 4:.0f}v8")
        c, cut = _placed(span.estimate, reach, middle, unit)
        if not cut:
            dots.append(f"M{c:.0f} {y:.0f}h0")
    drawn = (
        f'<rect class="band" x="{low:.0f}" y="{TOP}" width="{high - low:.0f}" height="{bottom - TOP}"/>'
        f'<path class="predicted" d="M{middle:.0f} {TOP}V{bottom}"/><path class="axis" d="{axis}"/>'
        f'<path class="bar" d="{"".join(bars)}"/><path class="point" d="{"".join(dots)}"/>'
        f'<g class="names">{"".join(names)}</g><g class="below">{"".join(below)}</g>'
    )
    return _svg(
        bottom + 28, drawn, f"Intervals of {many(len(shown), 'case')} around the prediction, in units of the margin."
    )


def _short(claim: ClaimReport, case: Case) -> str:
    """A case's name in the room there is; of subject and parameters the subject gives way."""
    at = one_line(case_place(claim, case, "="))
    subject = shortened(one_line(case.subject), max(8, SIGNS - 2 - len(at)) if at else SIGNS)
    return shortened(f"{subject}, {at}" if at else subject, SIGNS)


def _placed(value: float, reach: float, middle: float, unit: float) -> tuple[float, bool]:
    """Position of a value, moved to the edge if it lies beyond ``reach``; the second part is True if it was moved."""
    inside = max(-reach, min(reach, value))
    return middle + inside * unit, inside != value


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
        at = f"{y(value):.0f}"
        axis += f"M{LEFT - 5} {at}h5"
        grid += f"M{LEFT} {at}H{right}"
        text = "0" if abs(value) < 1e-9 * (y.high - y.low) else number(value).replace("-", "\u2212")
        beside.append(f'<text x="{LEFT - 9}" y="{y(value) + 4:.0f}">{text}</text>')
    last = -math.inf
    for size in sizes:
        at, text = f"{x(size):.0f}", number(size)
        axis += f"M{at} {bottom}v5"
        half = 4.0 * len(text)
        if x(size) - half > last + 6:
            below.append(_under(at, text, bottom))
            last = x(size) + half
    shown = shortened(one_line(letter), 24)
    middle = f"{(x.start + x.end) / 2:.0f}"
    below.append(f'<text class="axis-name" x="{middle}" y="{HEIGHT - 6}">{escape(shown)}</text>')
    return (
        f'<path class="grid" d="{grid}"/><path class="axis" d="{axis}"/>'
        f'<g class="beside">{"".join(beside)}</g><g class="below">{"".join(below)}</g>'
    )


def _under(at: str, text: str, bottom: float) -> str:
    return f'<text x="{at}" y="{bottom + 18}">{text}</text>'


def _svg(height: float, inner: str, told: str) -> str:
    told = shortened(visible(told), 600)
    return f'<svg class="plot" role="img" aria-label="{escape(told)}" viewBox="0 0 {WIDTH} {height:.0f}">{inner}</svg>'
