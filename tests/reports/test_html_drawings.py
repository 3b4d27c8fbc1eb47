"""The drawings of the HTML report: the layered graph with few crossings, the marks of its boxes, the plots."""

from __future__ import annotations

import itertools
import random
import re
import time
from dataclasses import replace

import fakes
import pytest
from pages import Parsed
from test_document import report

from theorax.reports.html import graph_boxes, graph_drawing, graph_rows, layers, panels, plots
from theorax.theorems.catalogue import Catalogue


@pytest.fixture(scope="module")
def document():
    return report(
        replace(fakes.outcome("bulk"), uses=()),
        fakes.outcome("gap"),
        fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."),
        fakes.outcome("open_edge", "INCONCLUSIVE", "gap: the bias bound dominates."),
    )


# The graph


def part(id, paper, *uses):
    return {"id": id, "paper": paper, "uses": list(uses)}


def of_the_library():
    catalogue = Catalogue()
    theorems = [part(id, catalogue.paper(id), *catalogue.facts(id).uses) for id in catalogue.ids]
    nodes = {each["id"]: graph_boxes.Node(each["id"], "PROVED", ring=True) for each in theorems}
    return theorems, nodes, {id: id for id in nodes}


def link_to(id, svg):
    """The first link to a theorem in a drawing."""
    found = re.search(rf'<a class="node" href="#{id}">.*?</a>', svg, re.DOTALL)
    return found[0] if found else ""


def random_graph(nodes, edges, seed):
    chance = random.Random(seed)
    names = [f"n{index}" for index in range(nodes)]
    uses = {name: set() for name in names}
    for _ in range(edges):
        source, target = sorted(chance.sample(range(nodes), 2))
        uses[names[target]].add(names[source])
    return {name: tuple(sorted(found)) for name, found in uses.items()}


@pytest.mark.parametrize("seed", range(6))
def test_a_drawing_obeys_its_rules(seed):
    uses = random_graph(14, 18, seed)
    drawn = layers.draw(uses)
    assert set(drawn.places) == set(uses)
    for (source, target), path in drawn.paths.items():
        assert source in uses[target]
        assert (path[0], path[-1]) == (drawn.places[source], drawn.places[target])
        # One step to the right after the other: an edge over several layers passes through each.
        assert [b[0] - a[0] for a, b in itertools.pairwise(path)] == [1.0] * (len(path) - 1)
    columns = {}
    for x, y in drawn.places.values():
        columns.setdefault(x, []).append(y)
    for heights in columns.values():
        assert all(b - a >= 1 - 1e-9 for a, b in itertools.pairwise(sorted(heights)))
    assert layers.draw(uses) == drawn


def test_crossings_are_counted_as_a_pair_of_edges_at_a_time():
    order = [list("abc"), list("xyz")]
    edges = [("a", "z"), ("b", "x"), ("c", "y"), ("a", "x"), ("c", "x")]
    place = {node: index for layer in order for index, node in enumerate(layer)}
    wanted = sum(
        (place[a] - place[c]) * (place[b] - place[d]) < 0 for (a, b), (c, d) in itertools.combinations(edges, 2)
    )
    assert layers.crossings(order, edges) == wanted == 3


@pytest.mark.parametrize("seed", range(8))
def test_few_crossings_as_few_as_any_order_has_on_small_graphs(seed):
    chance = random.Random(seed)
    left, right = [f"a{i}" for i in range(5)], [f"b{i}" for i in range(5)]
    uses = dict.fromkeys(left, ()) | {name: tuple(chance.sample(left, 2)) for name in right}
    edges = [(source, target) for target, found in uses.items() for source in found]
    fewest = min(
        layers.crossings([list(first), list(second)], edges)
        for first in itertools.permutations(left)
        for second in [sorted(right, key=lambda name: sum(first.index(s) for s in uses[name]) / 2)]
    )
    assert layers.draw(uses).crossings <= fewest


def test_the_library_is_drawn_with_few_crossings():
    theorems, nodes, links = of_the_library()
    edges = sum(len(part["uses"]) for part in theorems)
    began = time.process_time()
    drawn = panels.panels(theorems, nodes, links)
    assert time.process_time() - began < 2.0
    assert drawn.crossings <= edges / 4
    forms = [(panel.title, form) for panel in drawn.panels for form in (panel.wide, panel.narrow)]
    for each in theorems:  # in full in the panel of its paper alone
        full = [title for title, form in forms if "ring" in link_to(each["id"], form)]
        assert full == [each["paper"]] * 2


def test_every_panel_of_the_library_is_whole_and_readable_in_its_window():
    theorems, nodes, links = of_the_library()
    for panel in panels.panels(theorems, nodes, links).panels:
        wide, narrow = (float(re.search(r'width="(\d+)"', form)[1]) for form in (panel.wide, panel.narrow))
        smallest = 12 * min(
            1.0, panels.ROOM / wide
        )  # pixels of a label where the drawing is made as narrow as its window
        assert smallest >= 9 and "large" not in panel.wide.split(">")[0]
        assert narrow <= 364  # of a phone's 390


def test_a_panel_says_what_its_paper_rests_on_elsewhere():
    parts = [part("a", "tools"), part("b", "one", "a"), part("c", "one", "b", "a"), part("d", "two", "a", "gone")]
    parts += [part(f"more{index}", "two") for index in range(panels.TOGETHER)]
    nodes = {each["id"]: graph_boxes.Node(each["id"], "PROVED", ring=True) for each in parts} | {
        "gone": graph_boxes.Node("gone", None)
    }
    tools, one, two = panels.panels(parts, nodes, {id: id for id in nodes if id != "gone"}).panels
    assert (tools.title, one.title, two.title) == ("tools", "one", "two")  # what others rest on comes first
    assert one.wide.count('href="#a"') == 2 and one.narrow.count('href="#a"') == 1  # a copy beside each of its users
    assert "drawn in full with its own paper" in one.wide and "ring" not in link_to("a", one.wide)
    assert two.wide.count("node ghost") == two.narrow.count("node ghost") == 1


def test_a_small_report_is_drawn_as_one_whatever_its_papers_are():
    parts = [part("a", "tools"), part("b", "one", "a")]
    nodes = {each["id"]: graph_boxes.Node(each["id"], "PROVED") for each in parts}
    (drawn,) = panels.panels(parts, nodes, {}).panels
    assert drawn.title == "" and drawn.wide.count("<title>") == drawn.narrow.count("<title>") == 2


def test_a_circle_has_no_panels_but_a_sentence():
    parts = [part("a", "one", "b"), part("b", "one", "a")]
    found = panels.panels(parts, {each["id"]: graph_boxes.Node(each["id"], "PROVED") for each in parts}, {})
    assert found.panels == () and "circle" in found.problem


@pytest.mark.parametrize("seed", range(6))
def test_rows_come_after_what_they_rest_on_with_short_arcs(seed):
    uses = random_graph(12, 14, seed)
    order = graph_rows.ordered(uses)
    assert sorted(order) == sorted(uses)
    assert all(order.index(name) < order.index(id) for id, names in uses.items() for name in names)

    def length(order):
        return sum(order.index(id) - order.index(name) for id, names in uses.items() for name in names)

    for id in order:  # no row stands better elsewhere
        rest = [name for name in order if name != id]
        for place in range(len(order)):
            moved = [*rest[:place], id, *rest[place:]]
            if all(moved.index(name) < moved.index(user) for user, names in uses.items() for name in names):
                assert length(order) <= length(moved)


def test_a_source_stands_right_before_its_first_user():
    found = layers.layered({"a": (), "b": ("a",), "c": ("b",), "tool": (), "d": ("c", "tool")})
    assert found == {"a": 0, "b": 1, "c": 2, "tool": 2, "d": 3}


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="circle"):
        layers.draw({"a": ("b",), "b": ("a",)})


def test_the_marks_of_a_box(document):
    found = graph_boxes.nodes(document["theorems"])
    assert found["gap"].ring and found["refuted_edge"].ring  # bulk holds
    assert (found["gap"].shape, found["refuted_edge"].shape, found["open_edge"].shape) == ("holds", "refuted", "open")
    assert (found["gap"].numeric, found["refuted_edge"].numeric) == ("supported", "refuted")
    assert (found["gap"].symbolic, found["gap"].controls) == ("steps", "fired")


def proof(*statuses):
    return {
        "proof": [{"status": status} for status in statuses],
        "claims": [{"status": "SUPPORTED", "corrected": None}],
    }


SYMBOLIC = [((), "none"), (("PROVED", "CITED"), "steps"), (("PROVED", "UNDECIDED"), "open"), (("REFUTED",), "false")]


@pytest.mark.parametrize(("statuses", "side"), SYMBOLIC)
def test_the_symbolic_side(statuses, side):
    assert graph_boxes.symbolic(proof(*statuses)) == side


def test_what_is_not_in_the_report_takes_the_ring_away():
    found = graph_boxes.nodes(report(fakes.outcome("gap"))["theorems"])
    assert found["bulk"].status is None
    assert not found["gap"].ring


def test_every_box_differs_in_shape_pattern_and_letter_not_in_colour_alone():
    drawn = {
        status: graph_drawing.graph(
            {"a": graph_boxes.Node("a", status, numeric=numeric)}, {"a": ()}, {"a": "a"}, ""
        ).svg
        for status, numeric in (("SUPPORTED", "supported"), ("REFUTED", "refuted"), ("INCONCLUSIVE", "undecided"))
    }
    bare = {re.sub(r'class="[^"]*"|<title>.*?</title>|letter', "", svg) for svg in drawn.values()}
    assert len(bare) == 3
    assert len({re.search(r'class="box[^>]* d="([^"]*)"', svg).group(1) for svg in drawn.values()}) == 3
    assert {re.search(r'class="letter"[^>]*>(.)<', svg).group(1) for svg in drawn.values()} == set("SRI")
    assert "pattern-refuted" in drawn["REFUTED"] and "pattern-undecided" in drawn["INCONCLUSIVE"]


# Plots


def claim(**changed):
    (part,) = report(fakes.outcome("gap"))["theorems"]
    return {**part["claims"][0], **changed}


def test_the_sweep_shows_points_bars_prediction_and_limit():
    given = claim()
    svg = plots.sweep(given, given["cases"][0])
    assert svg.count("h0") == len(given["cases"][0]["points"])
    assert 'class="predicted"' in svg and 'class="band"' in svg and 'class="limit"' in svg
    assert "→ ∞" in svg and "Predicted: 2." in svg


def test_the_cases_stand_in_units_of_their_margins():
    given = claim()
    low, centre, high = plots._in_margins(given["cases"][0])
    assert (low, centre, high) == pytest.approx(((1.9921 - 2) / 0.1, (1.9987 - 2) / 0.1, (2.0053 - 2) / 0.1))
    assert plots.forest(given).count("gamma=1/4") == 1


ODD = [
    {"interval": [None, 3.0]},
    {"interval": [None, None]},
    {"interval": [1e300, 1e308]},
    {"margin": 0.0},
    {"margin": None},
    {"estimate": None, "interval": None},
    {"predicted": None},
    {"points": []},
    {"points": [{"size": 0.0, "estimate": 0.0, "standard_error": None, "draws": 1}] * 2},
    {"points": [{"size": s, "estimate": 5.0, "standard_error": 0.0, "draws": 1} for s in (1.0, 2.0)]},
    {"points": [{"size": s, "estimate": -1e-300, "standard_error": 1e-301, "draws": 1} for s in (-1.0, 2.0)]},
    {"points": [{"size": s, "estimate": None, "standard_error": None, "draws": 0} for s in (1.0, 2.0)]},
    {"points": [{"size": s, "estimate": 1e17, "standard_error": 1e300, "draws": 0} for s in (1e18, None, 1.0)]},
]  # fmt: skip


@pytest.mark.parametrize("kind", ["limit", "rate", "expectation"])
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_cases_are_drawn_or_left_out(odd, kind):
    case = {**claim()["cases"][0], **odd}
    given = claim(kind=kind, cases=[case, case])
    for svg in (plots.sweep(given, case), plots.forest(given)):
        assert "nan" not in svg and "inf" not in svg
        assert Parsed(svg).misplaced == []


SIDES = [("rate", "at_most", -1), ("rate", "equal", 0), ("probability", "at_least", 1), ("inequality", "at_most", 0)]


@pytest.mark.parametrize(("kind", "side", "open_"), SIDES)
def test_a_one_sided_claim_is_open_on_its_side(kind, side, open_):
    assert plots.side({"kind": kind, "side": side}) == open_
