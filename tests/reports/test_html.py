"""The HTML report: whole, closed to the network, escaped, readable, small; its graph, plots and colours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import subprocess
import sys
from dataclasses import replace

import contrasts
import fakes
import pytest
from pages import HOSTILE, Parsed, hostile, printed
from test_document import report

from theorax.decide.status import Status
from theorax.reports.html import palette
from theorax.reports.html.page import cell, html


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


def test_words_lead_to_the_glossary_at_the_end(page, document):
    linked = {attributes["href"] for _, attributes in page.elements if attributes.get("href", "").startswith("#word-")}
    entries = {attributes["id"] for attributes in page.all("details") if attributes.get("id", "").startswith("word-")}
    assert linked == {f"#{entry}" for entry in entries}
    assert {"word-margin", "word-power", "word-control", "word-mutant"} <= entries
    assert "word-padding" not in entries
    assert "#word-" not in cell(document)  # a notebook's page holds many cells


def test_headings_descend_without_gaps(page):
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_page_for_those_who_do_not_see_or_use_a_mouse(page):
    assert page.all("html")[0]["lang"] == "en"
    assert page.names["main"] == 1
    skip = page.all("a")[0]
    assert (skip["class"], skip["href"]) == ("skip", "#main-content")
    fields = [attributes for name, attributes in page.elements if name in ("input", "select")]
    assert len(fields) <= page.names["label"]
    assert all("aria-label" in attributes or attributes.get("aria-hidden") for attributes in page.all("svg"))
    assert all(
        attributes.get("tabindex") == "0" for attributes in page.all("div") if attributes.get("class") == "scroll"
    )


PARTS = (
    "2 of 4 hold, 1 refuted, 1 undecided",
    "models built to violate a claim were caught",
    "Needs you",
    "refuted_edge.gap claimed 2 ± 0.1, found 1.7432(23)",
    "claimed 2 ± 0.1 extrapolated 1.9987(23) from T = 64..512",
    "broken hypotheses noticed 2 of 2, wrong variants rejected 31 of 32",
    "gap: The limit is not 2.",
    "A spectral gap opens between the two largest singular values",
    "second singular value",
    "the weights have a finite variance",
    "Broken on purpose by: Pareto weights, tail 3/2",
    "The limit lies within the margin of 2",
    "1.9987(23)",
    "[1.9921, 2.0053]",
    "5 % of the limit, because a radius of sigma_A",
    "holds until corrections are 7.4 times those assumed",
    "corrections that decay more slowly than T^(-2/3)",
    "its right end is the limit of s₂",
    "2 of 2 controls noticed",
    "21 of 21",
    "so with probability at least",
    "31 of 32 wrong variants rejected",
    "the shift is a twentieth of the limit, just inside the margin",
    "1 of 2 sharper bounds are rejected; the bounds are not tight",
    "laws of the weights other than the ones drawn",
    "verify theorem gap --fresh --effort standard",
    "A. Author, Spectra of things, 2025.",
    "green verdicts hold jointly at 2.5 %. The refutation holds over the run at 1 %.",
    "the chance that any of those that hold over the run is wrong is at most 0.01",
    "no statement fails as printed or as reconstructed",
    "0; every draw is a function of it",
    "2026-01-02 03:04 UTC",
)


@pytest.mark.parametrize("part", PARTS)
def test_a_reader_finds(part, page):
    assert part in page.text


@pytest.mark.parametrize("status", Status)
def test_every_status_is_a_word_and_a_sign(status):
    found = Parsed(html(report(fakes.outcome("gap", status, "a reason"))))
    assert re.search(rf"[✓✗?○■!] {status}", found.text)


def test_what_a_source_misprints_is_told_beside_what_holds():
    found = Parsed(html(printed()))
    errata = found.text[found.text.index("Statements that fail, beside what holds") :]
    assert (
        errata.index("As reconstructed here")
        < errata.index("The limit is not 1.")
        < errata.index("What holds (claim gap)")
    )
    assert "1 statement fails as printed in a source, or as reconstructed from one" in found.text
    # A misprint of the source is no failure of the theorem.
    assert "All 2 theorems hold" in found.text


def test_the_first_screen_comes_before_all_else(page):
    headline = page.text.index("2 of 4 hold")
    assert headline < 120
    shown = (
        "4 theorems of deep-learning theory, checked 2 Jan 2026, standard",
        "2 hold 1 refuted 1 undecided",
        "8 claims: 6 measured",
    )
    places = [page.text.index(part, headline) for part in (*shown, "Needs you", "What rests on what")]
    assert places == sorted(places)


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


def test_theorems_that_rest_on_each_other_are_named():
    found = report(replace(fakes.outcome("gap"), uses=("bulk",)), replace(fakes.outcome("bulk"), uses=("gap", "bulk")))
    text = Parsed(html(found)).text
    assert "runs in a circle: bulk -> gap -> bulk" in text and "runs in a circle: bulk -> bulk" not in text


def test_rendering_imports_neither_jax_nor_sympy_nor_the_theorems():
    code = (
        "import sys, theorax.reports.html.page;"
        "print([name for name in ('jax', 'sympy', 'theorax.language') if name in sys.modules])"
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


def test_the_contrast_of_black_and_white_is_the_largest():
    assert contrasts.contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", palette.THEMES)
def test_colours_are_told_apart(theme):
    colours = palette.THEMES[theme]
    for pairs, least in ((contrasts.TEXT_ON, contrasts.TEXT_RATIO), (contrasts.SIGNS_ON, contrasts.SIGN_RATIO)):
        for ink, ground in pairs:
            assert contrasts.contrast(colours[ink], colours[ground]) >= least, (ink, ground)


def test_both_themes_name_the_same_colours():
    assert set(palette.LIGHT) == set(palette.DARK)
    used = set(re.findall(r"var\(--([a-z-]+)\)", html(report(fakes.outcome("gap")))))
    assert used <= set(palette.LIGHT)
