"""Numbers at the ends of doubles, and numbers that mean nothing where they stand, are refused or drawn, never a traceback."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.decide import limits, rates
from theorax.errors import UsageError
from theorax.reports.html import plots
from theorax.reports.json import text
from theorax.reports.reading import current
from theorax.text.plot import plot

EXTREME = (1.7e308, -1.7e308, 5e-324)
REFUSED = [
    ("claims.0.attempt", (0, -1)),
    ("claims.0.cases.0.points.0.standard_error", (-1.0, 1.7e308, -1.7e308)),
    ("claims.0.cases.0.points.0.estimate", (1.7e308, -1.7e308)),
    ("controls.0.kill_probability", (1.7e308, -1.0, 1.5)),
]


@pytest.fixture(scope="module")
def values():
    """The JSON values of a report."""
    return json.loads(text(report(fakes.outcome("gap"))))


@pytest.mark.parametrize(("path", "numbers"), REFUSED)
def test_a_number_that_means_nothing_is_refused_with_its_place(values, path, numbers):
    for number in numbers:
        found = copy.deepcopy(values)
        place = found["theorems"][0]
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        for part in way:
            place = place[part]
        place[last] = number
        with pytest.raises(UsageError, match=rf"{last}.*lies between"):
            current(found)


@pytest.mark.parametrize("name", ["estimate", "standard_error"])
@pytest.mark.parametrize("number", EXTREME)
@pytest.mark.parametrize("words", [limits.WORDS, rates.WORDS], ids=lambda words: words.kind)
def test_plots_of_a_check_that_found_such_numbers_are_left_out(name, number, words):
    (part,) = report(fakes.outcome("gap")).theorems
    claim = replace(part.claims[0], words=words)
    case = claim.cases[0]
    case = replace(case, points=tuple(replace(point, **{name: number}) for point in case.points))
    plots.sweep_plot(claim, case)
    plot(case.points, [case.predicted] * len(case.points), "T")
