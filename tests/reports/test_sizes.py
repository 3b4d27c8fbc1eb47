"""A thousand theorems: the work of every rendering grows with their number, counted in calls of functions."""

from __future__ import annotations

import cProfile
import pstats
from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.reports.html.dependency_graph import rows_in_order
from theorax.reports.html.graph_drawing import lanes
from theorax.reports.html.page import theorem_pages
from theorax.reports.library import Report
from theorax.reports.renderings import RENDERINGS

MANY, FEW = 1000, 200
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
def test_a_thousand_theorems_take_five_times_the_calls_of_two_hundred(documents, way):
    """Quadratic work would make 25 times the calls; twice five separates the two.

    The first rendering of a process imports modules and compiles templates, so it is not counted.
    """
    WAYS[way](documents[0])
    few, many = (calls(WAYS[way], given) for given in documents)
    assert many < 2 * MANY / FEW * few


def calls(function, given):
    """Calls of Python's and of C's functions; the same on every machine, at whatever speed."""
    profile = cProfile.Profile()
    profile.runcall(function, given)
    return pstats.Stats(profile).total_calls


def test_the_rows_and_the_lanes_of_a_graph_are_found_in_linear_time():
    chain = {f"t{at}": [f"t{at // 2}", f"t{at - 1}"] if at > 1 else [] for at in range(1, 4 * MANY)}
    short = {id: chain[id] for id in list(chain)[:MANY]}
    assert calls(rows_in_order, chain) < 2 * 4 * calls(rows_in_order, short)
    spans = {at: (at // 2, at) for at in range(4 * MANY)}
    assert calls(lanes, spans) < 2 * 4 * calls(lanes, {at: spans[at] for at in range(MANY)})
