"""The HTML report's first screen, its anchors, and its pages: one for each theorem, every link of which leads somewhere."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import fakes
import nasty
import pytest
from pages import HOSTILE, Parsed, hostile, interrupted, printed
from test_document import report

from theorax.decide.status import Status
from theorax.reports.html import first_screen
from theorax.reports.html.page import MOST, html, theorem_pages
from theorax.reports.html.page_links import INDEX, Places


@pytest.fixture(scope="module")
def document():
    waits = replace(fakes.outcome("waits", "BLOCKED", "It waits."), blocked_by=("refuted_edge",))
    found = report(
        replace(fakes.outcome("bulk"), uses=()),
        fakes.outcome("gap"),
        fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."),
        replace(fakes.outcome("open_edge", "INCONCLUSIVE", "gap: the bias dominates."), paper="edges"),
        replace(waits, uses=("later",)),
    )
    return interrupted(found, "later", "never")


@pytest.fixture(scope="module")
def page(document):
    return Parsed(html(document))


@pytest.fixture(scope="module")
def pages(document):
    return {name: Parsed(text) for name, text in theorem_pages(document).items()}


def ids(page):
    return [attributes["id"] for _, attributes in page.elements if "id" in attributes]


def hrefs(page):
    return [attributes["href"] for _, attributes in page.elements if "href" in attributes]


# The first screen


def test_the_headline_counts_what_was_asked_and_what_did_not_run(document):
    assert first_screen.headline(document) == ("2 of 7 hold, 1 refuted, 1 undecided, 1 without a verdict, 2 not run")
    some = interrupted(report(fakes.outcome("gap"), fakes.outcome("bulk")), "later")
    assert first_screen.headline(some) == "2 of 3 hold, 1 not run"
    assert first_screen.headline(interrupted(report(), "later")) == "No theorem was checked, 1 not run"


def test_only_counts_above_zero_have_a_card_and_the_bar_is_full(document):
    assert [card.what for card in first_screen.cards(document)][-1] == first_screen.NOT_RUN
    assert [card.what for card in first_screen.cards(report(fakes.outcome("gap")))] == ["hold"]
    for found in (document, report(fakes.outcome("gap"))):
        assert sum(length for _, _, length in first_screen.bar(found)) == pytest.approx(100, abs=0.05)


def test_claims_are_counted_by_how_they_were_shown_without_misprints(document):
    count, shown = first_screen.claims_shown(document)
    assert count == sum(count for _, count in shown) == sum(len(part.claims) for part in document.theorems)
    printed_, own = first_screen.claims_shown(printed())
    assert printed_ == 4 and dict(own) == {"measured": 4}


def test_what_needs_a_person_leads_to_its_claim_and_its_plot(page, document):
    needs = first_screen.needs(document)
    assert [(need.theorem.id, need.status) for need in needs] == [
        ("refuted_edge", Status.REFUTED),
        ("open_edge", Status.INCONCLUSIVE),
        ("waits", Status.BLOCKED),
    ]
    assert needs[0].told == "claimed 2 ± 0.1, found 1.7432(23)" and needs[0].plot
    assert needs[2].told == "waits for refuted_edge"
    assert hrefs(page).count("#refuted_edge.gap") == 2  # the claim and its plot
    text = html(document)
    claim = text[text.index('id="refuted_edge.gap"') :]
    assert claim.index("<details open>") < claim.index('class="plot"')


def test_fragile_claims_are_listed_the_weakest_first():
    outcome = fakes.outcome("gap")
    weak = [replace(claim, robust=False, under_twice=False) for claim in outcome.claims]
    found = first_screen.fragile(report(replace(outcome, claims=tuple(weak))))
    assert [one.factor for one in found] == sorted(one.factor for one in found) and found
    assert "Fragile" in Parsed(html(report(replace(outcome, claims=tuple(weak))))).text


def test_what_did_not_run_is_a_folded_list_a_card_and_dotted_squares(page):
    assert "2: the run was interrupted before" in page.text
    assert "2 not run" in page.text
    assert {"not-run", "graph-not-run"} <= set(ids(page))
    rows = [attributes for attributes in page.all("rect") if attributes["class"] == "box unrun"]
    assert len(rows) == 2 and "later: not run" in page.text and "never: not run" in page.text


def test_each_paper_has_a_link_to_its_place_in_the_graph(page):
    links = [attributes["href"] for attributes in page.all("a") if attributes.get("class") == "paper"]
    assert links == ["#paper-1", "#paper-2", "#graph-not-run"]
    assert set(links) <= {f"#{id}" for id in ids(page)}


def test_the_graph_of_a_run_has_one_picture_and_that_of_one_theorem_shows_its_parts(page, pages):
    def pictures(found):
        return [attributes["aria-label"] for attributes in found.all("svg") if attributes.get("class") == "graph"]

    assert pictures(page) == pictures(pages[INDEX]) == ["Dependencies of the theorems"]
    assert pictures(pages["gap.html"]) == ["Dependencies of gap"]
    alone = Parsed(html(report(fakes.outcome("gap"))))
    assert pictures(alone) == ["Dependencies of gap"]
    assert {"#gap.gap", "#gap.decay", "#gap-hypotheses", "#gap-proof"} <= set(hrefs(alone))
    assert "paper-1" in ids(alone)  # where the link back to the graph leads


def test_a_theorem_shows_the_nearest_of_what_it_rests_on():
    chain = [replace(fakes.outcome(f"t{at}"), uses=(f"t{at - 1}",) if at else ()) for at in range(MOST + 2)]
    pages = theorem_pages(report(*chain))
    assert "the nearest of the theorems" in pages[f"t{MOST}.html"]
    assert "the nearest of the theorems" not in pages[f"t{MOST - 1}.html"]
    assert 't1.html"' in pages[f"t{MOST}.html"] and 't0.html"' not in pages[f"t{MOST}.html"]


# Anchors and links


def test_anchors_are_bare_ids_and_those_of_earlier_pages_still_lead_there(page):
    text = html(report(fakes.outcome("gap")))
    for anchor in ("gap", "t-gap", "gap.gap", "t-gap--1"):
        assert anchor in ids(page)
    assert re.search(r'<article id="gap"[^>]*><span id="t-gap"></span>', text)
    assert re.search(r'<section class="claim" id="gap.gap"><span id="t-gap--1"></span>', text)


def test_ids_that_make_no_anchor_are_numbered():
    parts = report(*(fakes.outcome(id) for id in ("a b", "gap", "<x>", "index", "Gap", "the-graph"))).theorems
    places = Places.of(parts)
    numbered = {"a b": "theorem-0", "<x>": "theorem-2", "index": "theorem-3", "Gap": "theorem-4"}
    assert places.anchors == {**numbered, "gap": "gap", "the-graph": "theorem-5"}
    assert places.claims["gap"] == ("gap.gap", "gap.decay")


def test_no_id_of_the_page_itself_may_be_a_theorem(page):
    own = set(ids(page)) - {id for part in ("bulk", "gap", "refuted_edge", "open_edge", "waits") for id in [part]}
    assert [id for id in own if re.fullmatch(r"\w+", id)] == []


def test_previous_and_next_and_back_to_the_graph(page, pages):
    assert next(attributes["href"] for attributes in page.all("a") if attributes.get("rel") == "next") == "#gap"
    links = hrefs(pages["gap.html"])
    assert {"bulk.html", "refuted_edge.html", f"{INDEX}#paper-1"} <= set(links)
    assert f"{INDEX}#paper-2" in hrefs(pages["open_edge.html"])
    ends = [[attributes.get("rel") for attributes in pages[name].all("a")] for name in ("bulk.html", "waits.html")]
    assert "prev" not in ends[0] and "next" not in ends[1]


# Pages


@pytest.mark.parametrize("which", ["document", "nasty", *HOSTILE])
def test_every_link_of_every_page_leads_somewhere(which, document):
    if which == "nasty":
        document = nasty.spoiled(nasty.whole(), next(iter(nasty.TEXTS.values())))
    elif which != "document":
        document = hostile(HOSTILE[which])
    pages = {name: Parsed(text) for name, text in theorem_pages(document).items()}
    assert len(pages) == 1 + len(document.theorems)
    assert len({name.lower() for name in pages}) == len(pages)
    for name, page in pages.items():
        assert page.misplaced == [] and page.open == []
        assert re.fullmatch(r"[\w-]+\.html", name)
        assert len(ids(page)) == len(set(ids(page)))
        for href in hrefs(page):
            if href.startswith("https://"):  # of a work
                continue
            file, _, anchor = href.partition("#")
            target = pages[file or name]
            assert not anchor or anchor in ids(target), (name, href)


def test_a_page_needs_no_script_and_loads_nothing(document):
    for name, text in theorem_pages(document).items():
        found = Parsed(text)
        assert found.names["script"] == (name == INDEX)
        assert "default-src &#39;none&#39;" in text
        assert not {"link", "img", "iframe", "object", "embed", "base"} & set(found.names)
        assert all("src" not in attributes and "style" not in attributes for _, attributes in found.elements)


def test_the_pages_hold_what_the_one_file_holds(document, page, pages):
    for part in document.theorems:
        told = pages[f"{part.id}.html"].text
        for claim in part.claims:
            assert claim.sentence in told and claim.sentence in page.text
        assert part.replay in told
    index = pages[INDEX].text
    for heading in (
        "Errata",
        "Error control over the whole run",
        "Bibliography of what was run",
        "Glossary",
        "The run",
    ):
        assert heading in index
    assert "gap" in ids(pages[INDEX]) and "t-gap" in ids(pages[INDEX])  # the row of its table


def test_headings_of_a_page_descend_without_gaps(pages):
    for page in pages.values():
        levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
