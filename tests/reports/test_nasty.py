"""What a user's file holds is shown in every format and does nothing in any of them."""

from __future__ import annotations

import html
import io
import json
import re
import time
import xml.etree.ElementTree as xml
from functools import cache

import nasty
import pytest

from theorax.reports import summary, terminal
from theorax.reports.build_findings import findings_of_build
from theorax.reports.document import harmless_document
from theorax.reports.json import text as as_json
from theorax.reports.reading import current
from theorax.reports.renderings import RENDERINGS, render
from theorax.text.codec import json_values
from theorax.text.safe import UNSEEN, one_line, uncommanded, visible

CASES = [(name, kind) for name in RENDERINGS for kind in nasty.TEXTS]
KINDS = list(nasty.TEXTS)


@pytest.fixture(scope="module")
def documents():
    whole = nasty.whole()
    return {kind: nasty.spoiled(whole, text) for kind, text in nasty.TEXTS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_spoiled_documents_obey_the_schema(kind, documents):
    assert current(json_values(documents[kind])) == documents[kind]


@pytest.fixture(scope="module")
def rendered(documents):
    """Every format of every document, made once."""
    return cache(lambda name, kind: render(name, documents[kind]))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_format_passes_on_what_is_not_seen_or_is_a_command(name, kind, rendered):
    began = time.process_time()
    text = rendered(name, kind)
    assert UNSEEN.search(text) is None
    assert text.encode("utf-8")
    assert time.process_time() - began < 5
    assert not commanding(uncommanded(text))


def commanding(text):
    """The lines that a build on GitHub reads as commands."""
    return [line for line in text.splitlines() if re.match(r"\s*::", line) or "##[" in line]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["terminal", "json", "github"])
def test_no_format_prints_a_command_of_a_workflow_but_its_own(name, kind, documents, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    found = commanding(RENDERINGS[name].say(documents[kind]))
    assert len(found) == (6 if name == "github" else 0)
    assert all(re.match(r"::(error|warning) ", line) and "##[" not in line for line in found)


@pytest.mark.parametrize("kind", KINDS)
def test_json_loses_nothing(kind, documents):
    assert json.loads(as_json(documents[kind])) == json_values(documents[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_gets_no_codes_but_colours(kind, documents):
    for one in (documents[kind], documents[kind].of([documents[kind].theorems[3].id])):
        target = terminal.console(io.StringIO(), 80)
        target._force_terminal = True
        terminal.show(summary.report_blocks(one), target)
        text = re.sub(r"\x1b\[[0-9;]*m", "", target.file.getvalue())
        assert UNSEEN.search(text) is None
        words = target.file.getvalue()
        assert "\x1b[31mred" not in words and "]0;title\x07" not in words


@pytest.mark.parametrize("kind", KINDS)
def test_junit_is_read_back_with_every_text(kind, documents, rendered):
    root = xml.fromstring(rendered("junit", kind))
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases] == [
        found.name for found in findings_of_build(harmless_document(documents[kind]))
    ]
    titles = {part.get("value") for part in root.iter("property") if part.get("name") == "title"}
    assert titles <= {visible(nasty.TEXTS[kind])}


def skeleton(text):
    """The kinds of blocks that a reader of Markdown finds, one after the other."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    return [token.type for token in tokens], tokens, inline


@cache
def tame_shape(name, named):
    """The shape of the report of the same theorems with a plain text."""
    return skeleton(render(name, nasty.spoiled(nasty.whole(), "x", "x" * nasty.LONG if named else "x")))[0]


OURS = {"<br>", "<code>", "</code>", "<!-- -->"}


@pytest.mark.parametrize("name", ["markdown", "github"])
@pytest.mark.parametrize("kind", KINDS)
def test_markdown_keeps_its_shape_whatever_the_texts_are(name, kind, rendered):
    tame = tame_shape(name, len(nasty.TEXTS[kind]) >= nasty.LONG)
    text = rendered(name, kind)
    shape, tokens, inline = skeleton(text)
    common = 1000 if "**Left out**" in text else None
    if nasty.TEXTS[kind].strip():
        assert shape[:common] == tame[:common]
    kinds = {child.type for child in inline}
    assert kinds <= {"text", "code_inline", "html_inline", "strong_open", "strong_close", "text_special", "softbreak"}
    assert {child.content for child in inline if child.type == "html_inline"} <= OURS
    strong = sum(child.type == "strong_open" for child in inline)
    assert (
        strong == (5 + bool(common) if nasty.TEXTS[kind].strip() else 0) + 1
    )  # "Interrupted." and the titles of what fails
    for token in tokens:
        if token.type == "html_block":
            element = token.content.replace("<!-- -->", "").strip()
            assert re.fullmatch(r"</details>|<details>\n<summary>[^<]*<code>[^<]*</code>[^<\n]*</summary>", element)


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_shows_a_title_as_it_is(kind, rendered):
    _, tokens, inline = skeleton(rendered("markdown", kind))
    shown = "".join(child.content for child in inline if child.type in ("text", "code_inline"))
    folded = "".join(
        html.unescape(re.sub("<.*?>", "", token.content)) for token in tokens if token.type == "html_block"
    )
    title = one_line(nasty.TEXTS[kind])[:200]
    assert title in folded
    assert title.replace("`", "") in shown.replace("`", "")


@pytest.mark.parametrize("kind", KINDS)
def test_an_annotation_is_one_line_and_says_the_name(kind, documents):
    from theorax.reports.github import workflow_commands

    lines = workflow_commands(harmless_document(documents[kind]))
    assert len(lines) == 6
    for line in lines:
        found = re.fullmatch(r"::(error|warning) ((?:\w+=[^:,\n]*,?)+)::([^\n\r]*)", line)
        assert found, line
        properties = dict(part.split("=", 1) for part in found[2].split(","))
        assert set(properties) <= {"file", "line", "title"}
        title = properties["title"].replace("%2C", ",").replace("%3A", ":").replace("%25", "%")
        assert one_line(nasty.TEXTS[kind])[:50] in title


@pytest.mark.parametrize("kind", KINDS)
def test_a_badge_holds_nothing_of_a_user(kind, rendered):
    assert json.loads(rendered("badge", kind)) == json.loads(render("badge", nasty.whole()))


def test_the_live_line_takes_a_name_as_it_is():
    from theorax.reports.progress_line import Live

    target = terminal.console(io.StringIO(), 100)
    live = Live(target)
    live.planned(["a"], {}, 1)
    live.started("[bold]name\x1b[2J\u202e")
    live.reached("[bold]name\x1b[2J\u202e", "drawing 1/4")
    target.print(live._progress.get_renderable())
    shown = target.file.getvalue()
    # A long name is shortened in its middle.
    assert "[bold]nam…[2J\\u202e  drawing 1/4" in shown
    assert UNSEEN.search(shown) is None
