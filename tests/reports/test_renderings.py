"""Renderings: digits, plots, and what a reader finds in a report."""

from __future__ import annotations

import doctest
import io
import math

import fakes
import pytest
from test_document import report

import theorax.cli.typed_values
import theorax.names
import theorax.runs.sources
import theorax.text.numbers
from theorax.decide.kill_evidence import Basis
from theorax.decide.status import Status
from theorax.decide.verdict import Point
from theorax.reports import summary, terminal
from theorax.reports.progress import Remaining
from theorax.reports.theorem_text import EVERYTHING, _how_often
from theorax.text import plain
from theorax.text.numbers import with_uncertainty
from theorax.text.plot import AtInfinity, margin_band, plot, predicted_along
from theorax.verifiers.outcome import ControlOutcome

EXAMPLES = (theorax.text.numbers, theorax.names, theorax.cli.typed_values, theorax.runs.sources)


@pytest.mark.parametrize("module", EXAMPLES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_are_true(module):
    assert doctest.testmod(module).failed == 0


DIGITS = [
    (2.983, 0.023, "2.983(23)"),
    (2.983, 0.0996, "2.98(10)"),
    (2.9, 0.95, "2.90(95)"),
    (2.9, 0.996, "2.9(1.0)"),
    (2.9, 1.23, "2.9(1.2)"),
    (0.1, 2.3, "0.1(2.3)"),
    (123.4, 12.0, "123(12)"),
    (1234.0, 560.0, "1230(560)"),
    (-0.5031, 0.0041, "-0.5031(41)"),
    (1.5e-9, 2e-11, "1.500(20)e-9"),
    (3.2e8, 1e6, "3.200(10)e8"),
    (1.0, 0.0, "1"),
    (float("nan"), 0.1, "–"),
    (None, None, "–"),
]


@pytest.mark.parametrize(("value", "error", "shown"), DIGITS)
def test_digits_follow_from_the_standard_error(value, error, shown):
    assert with_uncertainty(value, error) == shown


def points(*values, error=0.01):
    sizes = [64 * 2**k for k in range(len(values))]
    return [Point(size, value, error * abs(value), 9) for size, value in zip(sizes, values, strict=True)]


def test_the_plot_shows_every_point_its_bars_and_the_prediction():
    lines = plot(points(1.0, 1.4, 1.7, 1.9, error=0.05), [2.0] * 4, "T")
    assert sum(line.count("●") for line in lines[:-2]) == 4
    assert any("····" in line for line in lines[:3])
    assert sum(line.count("│") for line in lines[:9]) >= 4
    assert "64" in lines[10]
    assert "512  T" in lines[10]
    assert max(map(len, lines)) <= 78


def test_the_plot_shows_the_margin_as_a_band_and_the_limit_beyond_the_sizes():
    limit = AtInfinity(2.05, 1.95, 2.15)
    lines = plot(points(1.0, 1.4, 1.7, 1.9, error=0.05), [2.0] * 4, "T", band=(1.8, 2.2), limit=limit)
    assert max(map(len, lines)) <= 78
    (diamond,) = [line for line in lines[:9] if "◆" in line]
    at = diamond.index("◆")
    assert at > max(line.rindex("●") for line in lines[:9] if "●" in line)
    assert lines[10][at - 1 : at + 2] == "→ ∞"
    shaded = [number for number, line in enumerate(lines[:9]) if "░" in line or "····" in line]
    assert shaded == list(range(shaded[0], shaded[-1] + 1))
    assert lines.index(diamond) in shaded and "●" not in "".join(lines[: shaded[0]])
    assert "░░░ margin   ◆ extrapolated" in lines[12]
    # Open to one side, the interval reaches the edge.
    open_ = plot(points(1.0, 1.4, 1.7, 1.9), [2.0] * 4, "T", limit=AtInfinity(2.05, None, 2.1))
    assert open_[8][at] == "│"


@pytest.mark.parametrize(
    ("predicted", "margin", "band"), [(2.0, 0.5, (1.5, 2.5)), (None, 0.5, None), (2.0, None, None)]
)
def test_the_band_reaches_a_margin_to_either_side(predicted, margin, band):
    assert margin_band(predicted, margin) == band


@pytest.mark.parametrize("exponent", [-0.5, 0.5])
def test_a_rates_line_has_the_predicted_slope_whatever_was_measured(exponent):
    rows = [Point(size, 3.0 * size**-0.5, None, 9) for size in (10.0, 100.0, 1000.0)]
    line = predicted_along(rows, exponent, slope=True)
    assert line == pytest.approx([3 * 100**-0.5 * (row.size / 100) ** exponent for row in rows], rel=1e-12)


def test_an_exponential_order_is_drawn_as_one():
    rows = [Point(s, 3.0 * math.exp(-0.25 * s), None, 9) for s in (4.0, 8.0, 16.0)]
    line = predicted_along(rows, -0.25, slope=True, exponential=True)
    assert line == pytest.approx([row.estimate for row in rows], rel=1e-12)


FLAT = [points(2.0), points(2.0, 2.0, error=0.0), points(-1.0, 0.0, 1.0), points(1e-12, 3e-12), points(0.0, 0.0)]


@pytest.mark.parametrize("rows", FLAT)
def test_odd_sweeps_are_drawn_or_left_out(rows):
    lines = plot(rows, [row.estimate for row in rows], "N")
    assert (len(lines) > 0) == (len(rows) > 1)


PARTS = (
    "A spectral gap opens",
    "Reconstructed: the statement below was rebuilt",
    "variance: the weights have a finite variance",
    "broken on purpose by: Pareto weights",
    "→ 2⋅σ_A",
    "1.9987(23)",
    "±2 standard errors",
    "✓ PROVED the law of the bulk",
    "Controls: 2 of 2 noticed",
    "Mutants: 31 of 32 rejected",
    "✗ survived  gap, shift",
    "Risk: wrong at most 2.5 % of the time, if the assumptions hold",
    "Margin: 5 % of the limit,",
    "Noticed 21 of 21 times, each on 4 draws per size; so at least 80 % of the time (95 % confidence).",
    "1 of 2 sharper bounds are rejected; the bounds are not tight",
    "the smaller side is 0.0001, 0.0002, 0.0003 of the larger one at 5 %, 50 % and 95 % of the draws",
    "LOOSE: what is bounded is mostly below a thousandth of the bound",
    "SUPPORTED by a test at level 0.025 as T → ∞ under the declared class. Assumed: class, hypothesis iid.",
    "Assumed: class: corrections",
    "Breakdown factor: holds until corrections are 7.4 times those assumed",
    "Attempt: the first; all attempts at one effort together have a risk of 4.1 %",
    "Not looked at: corrections that decay more slowly",
    "✓ SUPPORTED",
    "Took 12 s",
    "compiling 29% of the CPU time",
    "Replay: verify theorem gap --fresh",
)


@pytest.mark.parametrize("part", PARTS)
def test_the_report_of_one_theorem_has(part):
    text = plain.render(summary.report_blocks(report(fakes.outcome("gap")), shown=EVERYTHING))
    assert " ".join(part.split()) in " ".join(text.split())


def on_terminal(document, width):
    target = terminal.console(io.StringIO(), width)
    terminal.show(summary.report_blocks(document), target)
    return target.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_terminal_and_pipe_say_the_same_words_within_the_width(width):
    document = report(fakes.outcome("gap"), fakes.outcome("refuted", "REFUTED", "gap: no."))
    for shown in (document, report(fakes.outcome("gap"))):
        text = on_terminal(shown, width)
        assert max(map(len, text.splitlines())) <= width
        words = plain.render(summary.report_blocks(shown), min(width, terminal.MEASURE)).replace("═", "").split()
        assert text.replace("━" * width, "").split() == words


def test_many_theorems_end_with_what_needs_a_person():
    several = (
        fakes.outcome("refuted", "REFUTED", "gap: no."),
        fakes.outcome("gap"),
        fakes.outcome("edge", "BLOCKED", "x"),
    )
    lines = plain.render(summary.report_blocks(report(*several))).splitlines()
    assert lines[0].startswith("verify all  standard  3 theorems  1 core")
    assert "spectra" in lines[2] and "1/3" in lines[2]
    assert [line.split()[1] for line in lines if line[0] in "■✗"] == ["BLOCKED", "REFUTED"]
    assert "claimed 2 ± 0.1, found 1.7432" in " ".join(lines)
    assert any(line.startswith("1 of 3 hold, 1 refuted, 1 blocked.") for line in lines)
    assert lines[-1].endswith("Page: verify audit")
    assert max(map(len, lines)) <= 80


def test_a_survivor_without_mutants_or_points_is_still_a_report():
    from dataclasses import replace

    bare = replace(fakes.outcome("gap"), claims=(), controls=(), mutants=(), proof=(), hypotheses=(), issues=())
    text = plain.render(summary.report_blocks(report(bare), shown=EVERYTHING))
    assert text.startswith("✓ SUPPORTED  gap") and "Again      verify theorem gap --fresh" in text


def test_the_remaining_time_follows_earlier_runs():
    now = [0.0]
    left = Remaining(["a", "b"], {"a": 10.0, "b": 6.0}, 1, lambda: now[0])
    left.started("a")
    assert left.seconds == 16.0
    now[0] = 4.0
    assert left.seconds == 12.0
    assert left.share == 0.25
    left.finished("a")
    left.started("b")
    now[0] = 5.0
    # The first took four tenths of its time, so the second is expected to take as much of its own.
    assert left.seconds == pytest.approx(0.4 * 6.0 - 1.0)
    left.finished("b")
    assert left.text == ""
    assert Remaining(["new"], {}, 1).seconds is None
    assert "first run" in Remaining(["new"], {}, 1).text


@pytest.mark.parametrize(
    ("control", "told"),
    [
        ((1, 1, 0.99, Basis.STATISTIC, 64), "on 64 draws per size. By its distance from the claim in standard errors"),
        ((1, 1, 0.85, Basis.COUNT, 500), "on 500 draws per size. By the number of draws against the claim"),
        ((21, 21, 0.8003, Basis.REPETITIONS, 4), "Noticed 21 of 21 times, each on 4 draws per size; so at least 80 %"),
        ((14, 14, 0.807, None, None), "Noticed 14 of 14 times; so at least 80 %"),  # of an earlier version
        ((1, 1, 0.05, Basis.REPETITIONS, 10), ""),
        ((1, 1, None, None, None), ""),
    ],
)
def test_a_control_says_what_its_bound_rests_on(control, told):
    row = ControlOutcome("half", ("iid",), "claim", True, Status.REFUTED, "", *control)
    said = _how_often(row)
    assert told in said
    assert bool(said) == bool(told)
