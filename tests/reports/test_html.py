"""The HTML report: whole, closed to the network, escaped, readable, small; its graph, plots and colours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import random
import re
import subprocess
import sys
import time
from dataclasses import replace

import fakes
import pytest
from pages import HOSTILE, Parsed, hostile, printed
from test_document import report

from theorax.reports.document import STATUSES
from theorax.reports.html import graph, layers, palette, plots, sides, views
from theorax.reports.html.page import html
from theorax.theorems.catalogue import Catalogue


@pytest.fixture(scope="module")
def document():
    return report(
        replace(fakes.outcome("bulk"), uses=()),
        fakes.outcome("gap"),
        fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."),
        fakes.outcome("open_edge", "INCONCLUSIVE", "gap: the bias bound dominates."),
    )


@pytest.fixture(scope="module")
def page(document):
    return Parsed(html(document))


# The page as a whole


def test_every_element_is_closed_in_its_place(page):
    assert page.misplaced == []
    assert page.open == []


def test_nothing_is_loaded(page):
    assert not {"link", "img", "iframe", "object", "embed", "base", "video", "audio"} & set(page.names)
    assert all("src" not in attributes and "style" not in attributes for _, attributes in page.elements)
    assert all(attributes["href"].startswith("#") for _, attributes in page.elements if "href" in attributes)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_the_policy_admits_its_own_style_and_script_alone(document):
    text = html(document)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        inner = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_every_id_is_there_once_and_every_link_leads_to_one(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {attributes["href"][1:] for _, attributes in page.elements if attributes.get("href", "").startswith("#")}
    assert targets <= set(ids)


def test_headings_descend_without_gaps(page):
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_page_for_those_who_do_not_see_or_use_a_mouse(page):
    assert page.all("html")[0]["lang"] == "en"
    assert page.names["main"] == 1
    skip = page.all("a")[0]
    assert (skip["class"], skip["href"]) == ("skip", "#content")
    fields = [attributes for name, attributes in page.elements if name in ("input", "select")]
    assert len(fields) <= page.names["label"]
    assert all("aria-label" in attributes or attributes.get("aria-hidden") for attributes in page.all("svg"))
    assert all(
        attributes.get("tabindex") == "0" for attributes in page.all("div") if attributes.get("class") == "scroll"
    )


PARTS = (
    "2 of 4 theorems hold, 1 refuted, 1 undecided",
    "models built to violate a claim were caught",
    "What needs attention",
    "gap: The limit is not 2.",
    "A spectral gap opens between the two largest singular values",
    "second singular value",
    "the weights have a finite variance",
    "Broken on purpose by: Pareto weights, tail 3/2",
    "The limit lies within the margin of 2",
    "1.9987(23)",
    "[1.9921, 2.0053]",
    "5 % of the limit, because a radius of sigma_A",
    "7.4: it stands until finite-size corrections",
    "corrections that decay more slowly than T^(-2/3)",
    "its right end is the limit of s₂",
    "2 of 2 controls fired",
    "14 of 14, so with probability at least 0.81",
    "31 of 32 wrong variants rejected",
    "the shift is a twentieth of the limit, just inside the margin",
    "1 of 2 sharper bounds are rejected; the bounds are not tight",
    "laws of the weights other than the ones drawn",
    "verify theorem gap --fresh --effort standard",
    "A. Author, Spectra of things, 2025.",
    "Holm over the claims of this run",
    "the chance that any of them is refuted wrongly is at most 0.01",
    "no statement is known to be misprinted",
    "0; every draw is a function of it",
    "2026-01-02 03:04 UTC",
)


@pytest.mark.parametrize("part", PARTS)
def test_a_reader_finds(part, page):
    assert part in page.text


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_a_word_and_a_sign(status):
    found = Parsed(html(report(fakes.outcome("gap", status, "a reason"))))
    assert re.search(rf"[✓✗?○■!] {status}", found.text)


def test_what_a_source_misprints_is_told_beside_what_holds():
    found = Parsed(html(printed()))
    errata = found.text[found.text.index("Statements as a source prints them") :]
    assert errata.index("As printed") < errata.index("The limit is not 1.") < errata.index("What holds (claim gap)")
    # A misprint of the source is no failure of the theorem.
    assert "All 2 theorems hold" in found.text


def test_the_verdict_stands_on_the_first_screen(page):
    assert page.text.index("2 of 4 theorems hold") < 120
    assert page.text.index("REFUTED 1: it does not hold as stated") < page.text.index("What rests on what", 900)


def test_a_report_without_theorems_or_parts_is_a_page():
    assert "No theorem was checked" in html(report())
    bare = replace(
        fakes.outcome("gap"),
        claims=(),
        controls=(),
        mutants=(),
        proof=(),
        hypotheses=(),
        issues=(),
        letters=(),
        uses=(),
    )
    assert Parsed(html(report(bare))).misplaced == []


def test_theorems_that_rest_on_each_other_are_told_not_drawn():
    found = report(replace(fakes.outcome("gap"), uses=("bulk",)), replace(fakes.outcome("bulk"), uses=("gap", "bulk")))
    assert "rest on each other in a circle" in Parsed(html(found)).text


def test_rendering_imports_neither_jax_nor_sympy_nor_the_theorems():
    code = (
        "import sys, theorax.reports.html.page;"
        "print([name for name in ('jax', 'sympy', 'theorax.theorems.language') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"


# What is written by others


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_breaks_out_of_its_place(name, page):
    word = HOSTILE[name]
    text = html(hostile(word))
    text.encode("utf-8")
    found = Parsed(text)
    assert found.misplaced == [] and found.open == []
    assert found.names["script"] == 1 and found.names["style"] == 1
    assert not {"img", "b", "iframe"} & set(found.names)
    assert all(attributes["href"].startswith("#") for _, attributes in found.elements if "href" in attributes)
    assert not [key for _, attributes in found.elements for key in attributes if key.startswith("on") or key == "style"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_hostile_word_is_still_readable():
    text = Parsed(html(hostile(HOSTILE["markup"]))).text
    assert "<script>alert(1)</script>" in text
    assert r"\x1b[31mred\x1b[0m\x07" in Parsed(html(hostile(HOSTILE["terminal"]))).text
    assert "{{ 7 * 7 }}" in Parsed(html(hostile(HOSTILE["template"]))).text


# Colours


@pytest.mark.parametrize("theme", palette.THEMES)
def test_colours_are_told_apart(theme):
    colours = palette.THEMES[theme]
    for pairs, least in ((palette.TEXT_ON, palette.TEXT_RATIO), (palette.SIGNS_ON, palette.SIGN_RATIO)):
        for ink, ground in pairs:
            assert palette.contrast(colours[ink], colours[ground]) >= least, (ink, ground)


def test_both_themes_name_the_same_colours():
    assert set(palette.LIGHT) == set(palette.DARK)
    used = set(re.findall(r"var\(--([a-z-]+)\)", html(report(fakes.outcome("gap")))))
    assert used <= set(palette.LIGHT)


# The graph


def uses_of_the_library():
    catalogue = Catalogue()
    return {id: tuple(catalogue.facts(id).uses) for id in catalogue.ids}


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
    uses = uses_of_the_library()
    edges = sum(map(len, uses.values()))
    links = {id: id for id in uses}
    began = time.process_time()
    drawn = graph.graph({id: sides.Node(id, "PROVED") for id in uses}, uses, links, "all")
    assert time.process_time() - began < 2.0
    assert drawn.crossings <= edges / 2
    assert drawn.svg.count("<a ") == len(uses)


def test_a_source_stands_right_before_its_first_user():
    found = layers.layered({"a": (), "b": ("a",), "c": ("b",), "tool": (), "d": ("c", "tool")})
    assert found == {"a": 0, "b": 1, "c": 2, "tool": 2, "d": 3}


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="circle"):
        layers.draw({"a": ("b",), "b": ("a",)})


def test_the_marks_of_a_box(document):
    found = sides.nodes(document["theorems"])
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
    assert sides.symbolic(proof(*statuses)) == side


def test_what_is_not_in_the_report_takes_the_ring_away():
    found = sides.nodes(report(fakes.outcome("gap"))["theorems"])
    assert found["bulk"].status is None
    assert not found["gap"].ring


def test_every_box_differs_in_shape_pattern_and_letter_not_in_colour_alone():
    drawn = {
        status: graph.graph({"a": sides.Node("a", status, numeric=numeric)}, {"a": ()}, {"a": "a"}, "").svg
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
    assert plots.forest(given).count("exponential weights") == 1


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


SIDES = [("rate", "E[s] = O( 1/T )", -1), ("rate", "E[s] = Θ( 1/T )", 0), ("probability", "P(s) ≥ 0.95", 1)]


@pytest.mark.parametrize(("kind", "statement", "side"), SIDES)
def test_a_one_sided_claim_is_open_on_its_side(kind, statement, side):
    assert plots.side({"kind": kind, "statement": statement}) == side


def test_ids_that_make_no_anchor_are_numbered():
    names = views.Names.of([{"id": "a b", "uses": []}, {"id": "gap", "uses": []}, {"id": "<x>", "uses": []}])
    assert names.anchors == {"a b": "theorem-0", "gap": "t-gap", "<x>": "theorem-2"}
