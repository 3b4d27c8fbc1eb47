"""The HTML report in a real browser, where one is installed."""

from __future__ import annotations

import re
from dataclasses import replace

import browser
import fakes
import paper
import pytest
from pages import HOSTILE, hostile, interrupted, printed
from test_document import report

from theorax.reports.html.page import html, theorem_pages

pytestmark = pytest.mark.skipif(
    browser.found() is None, reason=f"no Chromium is installed ({', '.join(browser.NAMES)})"
)

WIDTHS = (390, 1280)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browser.browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def several():
    """A report with theorems of every fate."""
    return report(
        replace(fakes.outcome("bulk"), uses=()),
        fakes.outcome("gap"),
        fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."),
        fakes.outcome("open_edge", "INCONCLUSIVE", "gap: the bias bound dominates."),
        fakes.outcome("vacuous", "VACUOUS", "it could not fail"),
        fakes.outcome("broken", "ERROR", "something"),
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The addresses of a few reports."""
    folder = tmp_path_factory.mktemp("reports")
    found = {"several": several(), "printed": printed(), "one theorem": report(fakes.outcome("gap"))}
    found |= {name: hostile(word) for name, word in HOSTILE.items()}
    addresses = {}
    for name, document in found.items():
        path = folder / f"{name.replace(' ', '_')}.html"
        path.write_text(html(document), encoding="utf-8")
        addresses[name] = path.as_uri()
    return addresses


@pytest.mark.parametrize("name", ["several", "printed", *HOSTILE])
def test_the_console_is_silent_and_nothing_is_asked_for(page, files, name):
    page.look(1280)
    page.open(files[name])
    assert page.problems == []
    assert page.requests == [files[name]]
    assert page.evaluate("typeof window.alerted") == "undefined"
    # The policy is in force: what is tried all the same does not leave.
    tried = "fetch('https://example.org/').then(() => 'left', () => 'refused')"
    assert page.evaluate(tried) == "refused"
    assert [address for address in page.requests if not address.startswith("file:")] in ([], ["https://example.org/"])


def test_formulas_have_boxes(page, files):
    page.look(1280)
    page.open(files["several"])
    boxes = """[...document.querySelectorAll('math, math mi, math mn')]
        .filter(each => each.textContent.trim())
        .map(each => { const box = each.getBoundingClientRect(); return [box.width, box.height] })"""
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    found = page.evaluate(boxes)
    assert len(found) > 20
    assert all(width > 0 and height > 0 for width, height in found)
    # A fraction or a subscript is typeset, not written in a row.
    assert page.evaluate("document.querySelector('article msub').getBoundingClientRect().height") > 10


@pytest.mark.parametrize("scripts", [True, False])
def test_a_click_in_the_graph_goes_to_the_theorem(page, files, scripts):
    page.look(1280)
    page.open(files["several"], scripts=scripts)
    place = """(() => { const box = document.querySelector('#what-rests-on-what a[href="#refuted_edge"] .box');
        box.scrollIntoView({block: 'center'}); const r = box.getBoundingClientRect();
        return [r.x + r.width / 2, r.y + r.height / 2] })()"""
    x, y = page.evaluate(place)
    page.click(x, y)
    assert page.evaluate("location.hash") == "#refuted_edge"
    top = page.evaluate("document.getElementById('refuted_edge').getBoundingClientRect().top")
    assert abs(top) < 60


@pytest.mark.parametrize("id", ["bulk", "open_edge"])
def test_a_pointer_anywhere_on_a_row_is_on_its_link_whose_tooltip_has_the_statement(page, files, id):
    page.look(1280)
    page.open(files["several"], scripts=False)
    for part in (".box", "text:not(.sign)", ".note"):
        found = page.evaluate(f"""(() => {{
            const row = document.querySelector('#what-rests-on-what a[href="#{id}"]');
            row.scrollIntoView({{block: 'center'}}); const r = row.querySelector('{part}').getBoundingClientRect();
            const link = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).closest('a');
            return [link.getAttribute('href'), link.querySelector('title').textContent] }})()""")
        assert found[0] == f"#{id}" and "s₂" in found[1]


OVERLAPS = """(() => {
  const svg = document.querySelector('#what-rests-on-what svg.graph'), frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('.box, text:not(.sign)')].map(each => each.getBoundingClientRect())
    .filter(box => box.width);
  return boxes.filter((a, at) => a.right > frame.right || boxes.slice(at + 1).some(b =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
})()"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_of_the_graph_lies_on_another_or_ends_beyond_the_picture(page, files, width):
    page.look(width)
    page.open(files["several"])
    assert page.evaluate(OVERLAPS) == 0


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["several", "long", "direction"])
def test_the_page_does_not_scroll_sideways(page, files, name, width):
    page.look(width)
    page.open(files[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name == "several":  # nor does the table of theorems
        assert (
            page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('.all').parentElement)")
            == 0
        )


@pytest.mark.parametrize("width", WIDTHS)
def test_the_graph_is_whole_in_its_window(page, files, width):
    page.look(width)
    page.open(files["several"])
    seen = page.evaluate("""[...document.querySelectorAll('#what-rests-on-what .graphbox')]
        .filter(box => box.offsetHeight).map(box => [box.scrollWidth - box.clientWidth,
        [...box.querySelectorAll('svg.graph')].filter(form => form.getBoundingClientRect().width).length,
        Math.min(...[...box.querySelectorAll('a.node text:not(.sign)')].map(text => text.getBoundingClientRect().height)
            .filter(height => height))])""")
    for beyond, forms, height in seen:
        assert (beyond, forms) == (0, 1) and height >= 9
    page.evaluate("document.querySelector('#what-rests-on-what .graphbox').focus()")
    page.press("Tab", 9)
    assert page.evaluate("document.activeElement.closest('div').className") == "graphbox"


def test_without_scripts_everything_is_there_and_no_dead_control(page, files):
    page.look(1280)
    page.open(files["several"], scripts=False)
    assert page.evaluate("getComputedStyle(document.getElementById('theorem-filters')).display") == "none"
    for part in ("2 of 6 hold", "The limit is not 2.", "Proof", "Sensitivity"):
        assert part in page.evaluate("document.body.innerText")
    assert page.evaluate("[...document.querySelectorAll('article')].every(part => part.offsetHeight > 100)")


def test_search_and_filters(page, files):
    page.look(1280)
    page.open(files["several"])
    shown = "[...document.querySelectorAll('tr[data-theorem]')].filter(row => row.offsetHeight).length"
    articles = "[...document.querySelectorAll('article')].filter(part => part.offsetHeight).length"
    assert page.evaluate(shown) == 6
    page.press("/", 191, "/")
    assert page.evaluate("document.activeElement.name") == "words"
    for letter in "refuted":
        page.press(letter, ord(letter.upper()), letter)
    assert (page.evaluate(shown), page.evaluate(articles)) == (1, 1)
    assert page.evaluate("document.querySelector('#theorem-filters output').textContent") == "1 of 6 theorems shown"
    assert page.evaluate("document.querySelectorAll('#what-rests-on-what a.faded').length") == 5
    # A link to a theorem that the filter hides shows it all the same.
    page.evaluate("location.hash = '#t-gap'; new Promise(done => setTimeout(done, 50))")
    assert page.evaluate("document.getElementById('gap').offsetHeight") > 100
    page.evaluate("document.querySelector('input[value=SUPPORTED]').click()")
    assert page.evaluate(shown) == 4
    page.evaluate("document.getElementById('unfold-all').click()")
    assert page.evaluate("[...document.querySelectorAll('details')].every(part => part.open)")


def test_the_parts_of_one_theorem_are_filtered_by_nothing(page, files):
    page.look(1280)
    page.open(files["one theorem"])
    assert page.evaluate("document.querySelectorAll('svg.graph a').length") > 2
    assert page.evaluate("document.querySelectorAll('svg.graph a.faded').length") == 0


def test_the_keyboard_alone_reaches_the_content_and_the_graph(page, files):
    page.look(1280)
    page.open(files["several"])
    page.press("Tab", 9)
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.press("Enter", 13, "\r")
    assert page.evaluate("location.hash") == "#main-content"
    page.evaluate("document.querySelector('#what-rests-on-what a.node').focus()")
    page.press("Enter", 13, "\r")
    assert page.evaluate("location.hash") == "#bulk"


CONTRAST = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const found = [];
  document.querySelectorAll('details').forEach(part => part.open = true);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || element.closest('svg, script, style') || !element.offsetHeight) continue;
    let ground = element;
    while (ground && parse(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(ground || document.body).backgroundColor].map(parse);
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    found.push([(high + 0.05) / (low + 0.05), element.tagName, walk.currentNode.textContent.slice(0, 30)]);
  }
  return found.sort((x, y) => x[0] - y[0]).slice(0, 3).concat([[found.length]]);
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_contrast_as_computed(page, files, dark):
    page.look(1280, dark=dark)
    page.open(files["several"])
    *worst, (count,) = page.evaluate(CONTRAST)
    assert count > 200
    assert worst[0][0] >= 4.5, worst


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_pictures_are_taken(page, files, tmp_path, width, dark):
    page.look(width, dark=dark)
    page.open(files["several"])
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


@pytest.mark.parametrize("scripts", [True, False])
def test_statements_and_verdicts_are_printed_and_what_was_unfolded(page, files, scripts):
    page.look(1280, dark=True)
    page.open(files["several"], scripts=scripts)
    pdf = page.pdf()
    printed = paper.text(pdf)
    assert "2of6hold" in printed and printed.count("Claimgap") == 5 and "Claimdecay" in printed
    assert "Thedataexcludeanerror" not in printed  # the evidence of a claim that holds
    assert "Thelimitisnot2." in printed
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    whole = page.pdf()
    assert "verdictonit" in paper.text(whole)  # the table of variants
    assert len(re.findall(rb"/Type\s*/Page\b", whole)) > len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3


# The sections whose heading would stand on paper with nothing below it.
BARE = """[...document.querySelectorAll('section')].filter(part => {
  const seen = of => getComputedStyle(of).display !== 'none' && of.offsetHeight > 0;
  return seen(part) && ![...part.children].some(of => !/^H[1-6]$/.test(of.tagName) && seen(of));
}).map(part => part.id)"""


@pytest.mark.parametrize("in_files", [True, False])
def test_no_heading_is_printed_with_nothing_below_it(page, files, tmp_path, in_files):
    address = files["several"]
    if in_files:
        pages = theorem_pages(several())
        for name, text in pages.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        address = (tmp_path / "index.html").as_uri()
    page.look(1280)
    page.open(address)
    page.on_paper(True)
    try:
        assert page.evaluate(BARE) == []
        assert page.evaluate("getComputedStyle(document.querySelector('table.all')).display !== 'none'") is in_files
        # What was unfolded comes back with its heading.
        page.evaluate("document.querySelector('#the-glossary details').open = true")
        assert page.evaluate("document.querySelector('#the-glossary').offsetHeight") > 0
    finally:
        page.on_paper(False)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The address of a report of several papers, some of which did not run."""
    parts = [replace(fakes.outcome(f"theorem_{at}"), paper=f"paper_{at % 3}", uses=()) for at in range(9)]
    failed = replace(fakes.outcome("refuted_edge", "REFUTED", "gap: The limit is not 2."), uses=("later",))
    path = tmp_path_factory.mktemp("large") / "page.html"
    path.write_text(html(interrupted(report(*parts, failed), "later", "never")), encoding="utf-8")
    return path.as_uri()


def test_the_first_screen_of_a_desktop_reaches_from_the_headline_to_the_graph(page, large):
    page.look(1280, 720)
    page.open(large, scripts=False)
    for part in (
        "h1",
        "svg.verdicts",
        ".cards",
        ".shown",
        ".call",
        "#not-run",
        ".papers",
        ".graph .group",
        ".graph .box",
    ):
        assert page.evaluate(f"document.querySelector('{part}').getBoundingClientRect().bottom") < 720, part


@pytest.mark.parametrize("width", WIDTHS)
def test_a_link_to_a_paper_shows_its_part_of_the_graph_without_scripts(page, large, width):
    page.look(width)
    for anchor in ("paper-2", "graph-not-run"):
        page.open(f"{large}#{anchor}", scripts=False)
        top, bottom = page.evaluate(
            f"(box => [box.top, box.bottom])(document.getElementById('{anchor}').getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= 900
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_an_anchor_of_earlier_pages_and_one_of_a_claim_lead_to_their_places(page, large):
    page.look(1280)
    for anchor, place in (("t-theorem_3", "theorem_3"), ("t-theorem_3--2", "theorem_3.decay")):
        page.open(f"{large}#{anchor}", scripts=False)
        assert abs(page.evaluate(f"document.getElementById('{place}').getBoundingClientRect().top")) < 60
