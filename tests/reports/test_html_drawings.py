"""The drawings of the HTML report: the arc diagrams, the marks of their boxes, the plots."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import fakes
import pytest
from pages import Parsed
from test_document import report

from theorax.decide import inequalities, limits, means, probabilities, rates
from theorax.decide.status import Status
from theorax.decide.verdict import Point
from theorax.reports.html import arc_diagram, box_drawing, graph_boxes, graph_panels, plots, templating
from theorax.reports.html.graph_boxes import GraphBox
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import StepStatus


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
    return SimpleNamespace(id=id, paper=paper, uses=uses, status=Status.PROVED)


def of_the_library():
    catalogue = Catalogue()
    theorems = [part(id, catalogue.paper(id), *catalogue.facts(id).uses) for id in catalogue.ids]
    boxes = {each.id: GraphBox(each.id, Status.PROVED, ring=True) for each in theorems}
    return theorems, boxes, {id: f"#{id}" for id in boxes}


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


def test_every_theorem_of_the_library_is_drawn_in_full_in_the_panel_of_its_paper_alone():
    theorems, boxes, links = of_the_library()
    began = time.process_time()
    drawn = graph_panels.panels(theorems, boxes, links)
    assert time.process_time() - began < 2.0
    for each in theorems:
        assert [panel.key for panel in drawn.panels if "ring" in link_to(each.id, panel.svg)] == [each.paper]
    for panel in drawn.panels:
        assert float(re.search(r'width="(\d+)"', panel.svg)[1]) <= 364  # of a phone's 390


def test_a_panel_says_what_its_paper_rests_on_elsewhere():
    parts = [part("a", "tools"), part("b", "one", "a"), part("c", "one", "b", "a"), part("d", "two", "a", "gone")]
    boxes = {each.id: GraphBox(each.id, Status.PROVED, ring=True) for each in parts} | {"gone": GraphBox("gone", None)}
    tools, one, two = graph_panels.panels(parts, boxes, {id: f"#{id}" for id in boxes if id != "gone"}).panels
    assert (tools.key, one.key, two.key) == ("tools", "one", "two")  # what others rest on comes first
    assert one.svg.count('href="#a"') == 1
    assert "drawn in full with its own paper" in one.svg and "ring" not in link_to("a", one.svg)
    assert two.svg.count("node ghost") == 1


def test_the_list_beside_a_drawing_has_a_row_for_each_box_in_its_order():
    parts = [part("a", "tools"), part("b", "one", "a"), part("c", "one", "b")]
    boxes = {each.id: GraphBox(each.id, Status.PROVED, title=f"Title of {each.id}") for each in parts}
    (_, drawn) = graph_panels.panels(parts, boxes, {}).panels
    assert [(row.box.id, row.stub) for row in drawn.rows] == [("a", True), ("b", False), ("c", False)]
    assert re.findall("Title of (.)</text>", drawn.svg) == ["a", "b", "c"]
    assert (drawn.hold, drawn.theorems) == (2, 2)
    style = (templating.TEMPLATES / "style.css").read_text(encoding="utf-8")
    assert f".beside li{{height:{arc_diagram.PITCH}px" in style
    assert f".beside{{list-style:none;padding:{arc_diagram.MARGIN}px 0" in style


def test_what_did_not_run_has_a_dotted_box_where_it_is_used_and_in_a_panel_of_its_own():
    parts = [part("a", "one", "later")]
    boxes = {"a": GraphBox("a", Status.PROVED)} | {id: GraphBox(id, None, unrun=True) for id in ("later", "never")}
    one, unrun = graph_panels.panels(parts, boxes, {}, ("later", "never")).panels
    assert one.svg.count("b-ghost") == 1 and "later: not run" in one.svg
    assert unrun.svg.count("b-ghost") == 2 and unrun.theorems == 0


def test_a_title_has_two_lines_in_its_box():
    title = "The kernel of a ReLU layer is the arc-cosine kernel of order one, and nothing else is"
    svg = arc_diagram.arc_diagram({"a": GraphBox("a", Status.PROVED, title=title)}, {"a": ()}, {"a": "#a"}, "")
    lines = re.findall(r"<text x[^>]*>(.*?)</text>", svg)
    assert len(lines) == 2 and lines[0].startswith("The kernel") and lines[1].endswith("…")
    assert all(len(line) <= arc_diagram.LETTERS for line in lines)


def test_a_circle_has_no_drawing_but_a_sentence_and_other_papers_are_drawn():
    parts = [part("a", "one", "b"), part("b", "one", "a"), part("c", "two")]
    boxes = {each.id: GraphBox(each.id, Status.PROVED) for each in parts}
    one, two = graph_panels.panels(parts, boxes, {}).panels
    assert one.svg == "" and "circle" in one.problem
    assert two.svg and not two.problem


@pytest.mark.parametrize("seed", range(6))
def test_rows_come_after_what_they_rest_on_with_short_arcs(seed):
    uses = random_graph(12, 14, seed)
    order = arc_diagram.ordered(uses)
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


def test_the_marks_of_a_box(document):
    found = graph_boxes.boxes(document.theorems)
    assert found["gap"].ring and found["refuted_edge"].ring  # bulk holds
    assert (found["gap"].shape, found["refuted_edge"].shape, found["open_edge"].shape) == ("holds", "refuted", "open")
    assert (found["gap"].numeric, found["refuted_edge"].numeric) == ("supported", "refuted")
    assert (found["gap"].symbolic, found["gap"].controls) == ("steps", "fired")


def proof(*statuses):
    steps = [SimpleNamespace(status=StepStatus(status)) for status in statuses]
    return SimpleNamespace(proof=steps, claims=[SimpleNamespace(status=Status.SUPPORTED, corrected=None)])


SYMBOLIC = [((), "none"), (("PROVED", "CITED"), "steps"), (("PROVED", "UNDECIDED"), "open"), (("REFUTED",), "false")]


@pytest.mark.parametrize(("statuses", "side"), SYMBOLIC)
def test_the_symbolic_side(statuses, side):
    assert graph_boxes.symbolic(proof(*statuses)) == side


def test_what_is_not_in_the_report_takes_the_ring_away():
    found = graph_boxes.boxes(report(fakes.outcome("gap")).theorems)
    assert found["bulk"].status is None
    assert not found["gap"].ring


def test_every_box_differs_in_shape_pattern_and_letter_not_in_colour_alone():
    drawn = {
        status: arc_diagram.arc_diagram(
            {"a": GraphBox("a", Status(status), numeric=numeric)}, {"a": ()}, {"a": "a"}, ""
        )
        for status, numeric in (("SUPPORTED", "supported"), ("REFUTED", "refuted"), ("INCONCLUSIVE", "undecided"))
    }
    bare = {re.sub(r'class="[^"]*"|<title>.*?</title>|letter', "", svg) for svg in drawn.values()}
    assert len(bare) == 3
    outlines = dict(re.findall(r'<path id="([^"]*)" d="([^"]*)"', box_drawing.outlines()))
    used = {re.search(r'class="box[^>]* href="#([^"]*)"', svg).group(1) for svg in drawn.values()}
    assert len({outlines[name] for name in used}) == 3
    assert {re.search(r'class="letter"[^>]*>(.)<', svg).group(1) for svg in drawn.values()} == set("SRI")
    assert "pattern-refuted" in drawn["REFUTED"] and "pattern-undecided" in drawn["INCONCLUSIVE"]


# Plots


def claim(**changed):
    (part,) = report(fakes.outcome("gap")).theorems
    return replace(part.claims[0], **changed)


def test_the_sweep_shows_points_bars_prediction_and_limit():
    given = claim()
    svg = plots.sweep_plot(given, given.cases[0])
    assert svg.count("h0") == len(given.cases[0].points)
    assert 'class="predicted"' in svg and 'class="band"' in svg and 'class="limit"' in svg
    assert "→ ∞" in svg and "Predicted: 2." in svg


def test_the_cases_stand_in_units_of_their_margins():
    given = claim()
    span = plots._InMargins.of(0, given.cases[0])
    assert (span.low, span.estimate, span.high) == pytest.approx(
        ((1.9921 - 2) / 0.1, (1.9987 - 2) / 0.1, (2.0053 - 2) / 0.1)
    )
    assert plots.forest(given).count("gamma=1/4") == 1


ODD = [
    {"interval": (None, 3.0)},
    {"interval": (None, None)},
    {"interval": (1e300, 1e308)},
    {"margin": 0.0},
    {"margin": None},
    {"estimate": None, "interval": None},
    {"predicted": None},
    {"points": ()},
    {"points": (Point(0.0, 0.0, None, 1),) * 2},
    {"points": tuple(Point(size, 5.0, 0.0, 1) for size in (1.0, 2.0))},
    {"points": tuple(Point(size, -1e-300, 1e-301, 1) for size in (-1.0, 2.0))},
    {"points": tuple(Point(size, None, None, 0) for size in (1.0, 2.0))},
    {"points": tuple(Point(size, 1e17, 1e300, 0) for size in (1e18, 1.0))},
]


@pytest.mark.parametrize("words", [limits.WORDS, rates.WORDS, means.WORDS], ids=lambda words: words.kind)
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_cases_are_drawn_or_left_out(odd, words):
    case = replace(claim().cases[0], **odd)
    given = claim(words=words, cases=(case, case))
    for svg in (plots.sweep_plot(given, case), plots.forest(given)):
        assert "nan" not in svg and "inf" not in svg
        assert Parsed(svg).misplaced == []


SIDES = [
    (rates.WORDS, "at_most", -1),
    (rates.WORDS, "equal", 0),
    (probabilities.WORDS, "at_least", 1),
    (inequalities.WORDS, "at_most", 0),
]


@pytest.mark.parametrize(("words", "side", "open_"), SIDES)
def test_a_one_sided_claim_is_open_on_its_side(words, side, open_):
    assert plots.side(claim(words=words, side=side)) == open_
