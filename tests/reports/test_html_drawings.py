"""The drawings of the HTML report: the dependency graph and the plots."""

from __future__ import annotations

import itertools
import random
import re
import time
from dataclasses import replace
from html import escape
from types import MappingProxyType

import fakes
import pytest
from pages import Parsed, interrupted, printed
from test_document import report

from theorax.decide import inequalities, limits, means, probabilities, rates
from theorax.decide.status import Status
from theorax.decide.verdict import Point
from theorax.reports.claim_lines import one_statement
from theorax.reports.html import plots, templating
from theorax.reports.html.dependency_graph import run_rows, theorem_rows
from theorax.reports.html.graph_drawing import BEND, GUTTER, NAME, NOTE_AT, PORT, ROW, SIDE, drawing
from theorax.text.safe import one_line
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import StepStatus

# The graph


def part(id, paper, *uses, status="SUPPORTED"):
    return replace(fakes.outcome(id, status, "a reason"), paper=paper, uses=uses)


def of_the_library():
    """The theorems of the library without claims."""
    catalogue = Catalogue()
    bare = dict.fromkeys(("claims", "letters", "hypotheses", "controls", "mutants", "proof", "issues"), ())
    return report(*(replace(part(id, catalogue.paper(id), *catalogue.facts(id).uses), **bare) for id in catalogue.ids))


def links(document):
    return {each.id: f"#{each.id}" for each in document.theorems}


class Picture:
    """A drawing as its coordinates show it: names by height, and from where to where its lines lead."""

    def __init__(self, svg):
        self.svg = svg
        self.height = int(re.search(r'height="(\d+)"', svg)[1])
        self.nodes = re.findall(r'<(?:a|g) class="node".*?</(?:a|g)>', svg)
        tops = [int(re.search(rf"translate\({GUTTER} (\d+)\)", node)[1]) for node in self.nodes]
        self.tops = dict(zip((re.search(r"<title>([^:]*):", node)[1] for node in self.nodes), tops, strict=True))
        self.headings = {text: int(y) for y, text in re.findall(r'class="group"[^>]* y="(\d+)">(.*?)<', svg)}
        at = {top + ROW // 2: name for name, top in self.tops.items()}
        form = r'<path(?: class="(\w+)")? d="M\d+ (\d+)H([\d.]+)q-4 0 -4 (-?4)V(\d+)q0 -?4 4 -?4H\d+"/>'
        self.tones, self.lanes = {}, []
        for tone, start, x, turn, end in re.findall(form, svg):
            edge = at[int(start) - PORT], at[int(end) + int(turn) + PORT]
            self.tones[edge] = tone
            self.lanes.append((edge, float(x) - BEND, *sorted((int(start), int(end)))))
        assert svg.count("<path") == len(self.lanes)

    @property
    def edges(self):
        return set(self.tones)


def picture(document, headings=MappingProxyType({})):
    return Picture(drawing(run_rows(document, links(document)), "Dependencies", headings))


def of_one(outcome, *others):
    """The picture of one theorem with the theorems that it rests on."""
    document = report(outcome, *others)
    found = document.theorems[0]
    rows = theorem_rows(
        found,
        run_rows(document, links(document)),
        [f"#{found.id}.{claim.id}" for claim in found.claims],
        {"hypotheses": "#of-hypotheses", "proof": "#of-proof"},
    )
    return Picture(drawing(rows, "Dependencies", {}))


def random_report(nodes, edges, seed):
    chance = random.Random(seed)
    uses = {index: set() for index in range(nodes)}
    for _ in range(edges):
        source, target = sorted(chance.sample(range(nodes), 2))
        uses[target].add(f"n{source}")
    return report(*(part(f"n{at}", f"paper{at % 3}", *sorted(names)) for at, names in uses.items()))


def holds_its_laws(document, found):
    """Every theorem is one row, every dependency one line between the right rows, and nothing overlaps."""
    assert sorted(found.tops) == sorted({each.id for each in document.theorems})
    assert len(found.nodes) == len(found.tops)
    assert found.edges == {(use, each.id) for each in document.theorems for use in each.uses}
    assert len(found.lanes) == len(found.edges)
    assert all(found.tops[use] < found.tops[id] for use, id in found.edges)
    nothing_overlaps(found)


def nothing_overlaps(found):
    tops = sorted(found.tops.values())
    assert all(above + ROW <= below for above, below in itertools.pairwise(tops))
    assert tops[-1] + ROW <= found.height
    for y in found.headings.values():  # of a baseline; the letters are 14 high
        assert all(y + 4 <= top or top + ROW <= y - 14 for top in tops)
    columns = {}
    for (use, _), x, start, end in found.lanes:
        assert 0 < x < GUTTER - BEND
        columns.setdefault(x, []).append((start, end, use))
    for lines in columns.values():  # in one lane only the branches of one line lie on each other
        for (start, end, use), (other_start, other_end, other) in itertools.combinations(lines, 2):
            assert use == other or end < other_start or other_end < start


def test_the_library_is_one_picture_of_every_theorem_and_every_dependency():
    document = of_the_library()
    began = time.process_time()
    found = picture(document)
    assert time.process_time() - began < 2.0
    holds_its_laws(document, found)
    assert len(found.headings) == len({each.paper for each in document.theorems})  # the theorems of a paper adjoin
    assert found.svg == picture(document).svg


@pytest.mark.parametrize("seed", range(6))
def test_any_picture_shows_every_dependency_and_nothing_overlaps(seed):
    document = random_report(12, 14, seed)
    holds_its_laws(document, picture(document))
    dense = random_report(40, 300, seed)
    holds_its_laws(dense, picture(dense))


def test_five_theorems_are_a_small_picture():
    document = report(part("a", "one"), part("b", "one", "a"), part("c", "one", "a"), part("d", "two", "b", "c"))
    found = picture(document)
    holds_its_laws(document, found)
    assert list(found.tops) == ["a", "b", "c", "d"] and found.height < 200


def test_a_picture_fits_a_phone_and_a_finger():
    longest = max(Catalogue().ids, key=len)
    node = next(node for node in picture(of_the_library()).nodes if f"#{longest}" in node)
    (name,) = re.findall(r'<text x="\d+" y="16">(.*?)</text>', node)
    assert len(name) <= NAME and GUTTER + SIDE + 8 + 6 * NAME <= 364  # of a phone's 390
    assert ROW >= 24
    assert SIDE + 8 + 7 * NAME <= NOTE_AT  # a name ends before its note
    style = (templating.TEMPLATES / "style.css").read_text(encoding="utf-8")
    narrow = style[style.index("@media (max-width:60rem)") :]
    assert narrow.index(".graph .note{display:none}") < narrow.index("@media", 1)


def test_a_row_links_to_its_theorem_and_says_all_that_is_seen_of_it():
    document = report(part("bulk", "one"), part("gap", "one", "bulk", status="REFUTED"))
    (node,) = (node for node in picture(document).nodes if "#gap" in node)
    title = re.search("<title>(.*?)</title>", node)[1]
    (found,) = (each for each in document.theorems if each.id == "gap")
    for told in ("gap: REFUTED", found.title, one_line(one_statement(found.claims[0])), "rests on bulk"):
        assert escape(told) in title


def test_what_others_wrote_is_escaped():
    word = '<b a="x">&</b>\x1b'
    document = replace(report(part("a", "one")), bibliography=())
    rows = {id: replace(row, name=word, note=word, text=word) for id, row in run_rows(document, {"a": '#"a"'}).items()}
    svg = drawing(rows, word, {"one": (word, "paper-1")})
    assert Parsed(svg).misplaced == [] and "<b" not in svg and "\x1b" not in svg
    assert Parsed(svg).all("a")[0]["href"] == '#"a"'


def test_what_did_not_run_and_what_is_not_in_the_report_stands_above_its_first_user_without_a_link():
    document = interrupted(report(part("b", "one"), part("a", "one", "later", "gone")), "later", "never")
    found = picture(document, {None: ("Not run", "graph-not-run")})
    assert list(found.tops) == ["b", "later", "gone", "a", "never"]
    assert list(found.headings) == ["one", "Not run"] and found.headings["Not run"] < found.tops["never"]
    boxes = {name: node for name, node in zip(found.tops, found.nodes, strict=True) if "unrun" in node}
    assert list(boxes) == ["later", "gone", "never"] and not any("href" in node for node in boxes.values())
    assert "later: not run" in boxes["later"] and "gone: not in this report" in boxes["gone"]
    nothing_overlaps(found)


def test_a_circle_is_drawn_upwards():
    document = report(part("a", "one", "b"), part("b", "one", "a"), part("c", "two", "c"))
    found = picture(document)
    assert found.edges == {("a", "b"), ("b", "a")} and len(found.tops) == 3
    nothing_overlaps(found)


def test_lines_from_what_does_not_hold_are_marked_however_far_they_lead():
    document = report(
        part("a", "one", status="REFUTED"),
        part("b", "one", "a"),
        part("c", "one", "b"),
        part("d", "one"),
        part("e", "one", "d"),
    )
    found = picture(document)
    assert found.tones == {("a", "b"): "bad", ("b", "c"): "bad", ("d", "e"): ""}
    marked = [name for name, node in zip(found.tops, found.nodes, strict=True) if "does not hold" in node]
    assert marked == ["b", "c"]


def test_verdicts_differ_in_sign_and_word_not_in_colour_alone():
    told = {}
    for status in Status:
        (node,) = picture(report(part("a", "one", status=str(status)))).nodes
        assert f"a: {status}" in node
        told[status] = re.search(r'class="sign"[^>]*>(.)<', node)[1]
    assert {told[status] for status in Status if status.holds} == {"✓"}
    assert len(set(told.values())) == 1 + sum(not status.holds for status in Status)


def test_one_theorem_is_drawn_with_its_hypotheses_proofs_and_claims():
    outcome = fakes.outcome("gap")
    first, second = outcome.claims
    lemma = replace(outcome.proof[0], proof="a_lemma")
    outcome = replace(
        outcome,
        claims=(replace(first, under=("iid",)), replace(second, under=("iid", "variance"))),
        proof=(*outcome.proof, lemma),
    )
    found = of_one(outcome, replace(fakes.outcome("bulk"), uses=()))
    assert list(found.headings) == ["Rests on", "Hypotheses", "Proofs", "Claims", "Theorem"]
    assert found.edges == {
        ("hypothesis iid", "claim gap"),
        ("hypothesis iid", "claim decay"),
        ("hypothesis variance", "claim decay"),
        ("proof of gap", "claim gap"),
        *((name, "gap") for name in ("bulk", "proof of a_lemma", "claim gap", "claim decay")),
    }
    nothing_overlaps(found)
    assert "measured in 400 draws" in found.svg and "hypothesis variance: 1 of 1 control noticed" in found.svg
    assert {node["href"] for node in Parsed(found.svg).all("a")} == {
        "#bulk", "#gap", "#gap.gap", "#gap.decay", "#of-hypotheses", "#of-proof",
    }  # fmt: skip


def test_a_theorem_does_not_rest_on_what_its_source_misprints():
    found = of_one(printed().theorems[0])
    assert "claim as_printed" in found.tops and ("claim as_printed", "gap") not in found.edges
    assert "as printed" in found.svg


def test_a_hypothesis_is_marked_if_a_control_that_breaks_it_was_missed():
    outcome = fakes.outcome("gap")
    missed = of_one(replace(outcome, controls=tuple(replace(row, fired=False) for row in outcome.controls)))
    (node,) = (node for node in missed.nodes if "hypothesis variance" in node)
    assert "✗" in node and "0 of 1 control noticed" in node


PROOFS = [(("PROVED", "CITED"), "✓"), (("PROVED", "UNDECIDED"), "?"), (("PROVED", "REFUTED"), "✗"), (("CITED",), "”")]


@pytest.mark.parametrize(("statuses", "sign"), PROOFS)
def test_the_worst_step_of_a_proof_decides(statuses, sign):
    outcome = fakes.outcome("gap")
    steps = tuple(replace(outcome.proof[0], status=StepStatus(status)) for status in statuses)
    (node,) = (node for node in of_one(replace(outcome, proof=steps)).nodes if "proof of" in node)
    assert f">{sign}<" in node


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
