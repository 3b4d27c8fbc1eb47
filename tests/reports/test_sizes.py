"""A thousand theorems: every rendering takes time in proportion to their number."""

from __future__ import annotations

import time
from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.reports.html.arc_diagram import ordered
from theorax.reports.html.page import theorem_pages
from theorax.reports.library import Report
from theorax.reports.renderings import RENDERINGS

MANY, FEW = 1000, 100
WAYS = {
    **{name: rendering.render for name, rendering in RENDERINGS.items()},
    "pages": theorem_pages,
    "notebook": lambda document: Report(document)._repr_mimebundle_(),
}


def document(number):
    """Theorems without claims, each of which rests on up to two before it."""
    bare = fakes.outcome("t", "ERROR", "It does not end.")
    parts = dict.fromkeys(("letters", "hypotheses", "controls", "mutants", "proof", "issues"), ())
    uses = [tuple({f"t{at // 2}", f"t{at - 1}"}) if at else () for at in range(number)]
    return report(*(replace(bare, id=f"t{at}", uses=found, **parts) for at, found in enumerate(uses)))


@pytest.fixture(scope="module")
def documents():
    return document(FEW), document(MANY)


@pytest.mark.parametrize("way", WAYS)
def test_a_thousand_theorems_take_ten_times_as_long_as_a_hundred(documents, way):
    """Quadratic work would take a hundred times as long; half of that, and a second, is left for what else a machine does."""
    few, many = (seconds(WAYS[way], given) for given in documents)
    assert many < 50 * few + 1


def seconds(function, given):
    began = time.process_time()
    function(given)
    return time.process_time() - began


def test_the_rows_of_a_diagram_are_ordered_in_linear_time():
    chain = {f"t{at}": [f"t{at // 2}", f"t{at - 1}"] if at > 1 else [] for at in range(1, 4 * MANY)}
    assert seconds(ordered, chain) < 20 * seconds(ordered, {id: chain[id] for id in list(chain)[:MANY]}) + 1
