"""Text that others wrote: what nobody sees is shown, and no line of it commands a build, in any format."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.cli import draw_tables
from theorax.reports import github, markdown
from theorax.text.safe import visible
from theorax.theorems.catalogue import first_line

# Signs that are drawn as nothing, though their category says otherwise: fillers, and a pattern of Braille without dots.
BLANK = "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\ufe0f\U000e0100"


def test_every_sign_that_is_not_drawn_is_shown():
    unseen = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs")]
    left = [hex(ord(sign)) for sign in (*unseen, *BLANK) if visible(f"a{sign}b") == f"a{sign}b" and sign not in "\t\n"]
    assert left == []


def test_letters_signs_and_spaces_of_all_languages_stay():
    drawn = "".join(chr(code) for code in range(0x20, 0x3000) if unicodedata.category(chr(code))[0] in "LNPS")
    assert visible(drawn.replace("\u2800", "").translate(dict.fromkeys(map(ord, BLANK)))) == drawn.translate(
        dict.fromkeys(map(ord, BLANK))
    )


@pytest.mark.parametrize("command", ["##[error]x", "`##[error]x`", "::error::x", "::stop-commands::x"])
@pytest.mark.parametrize("render", [markdown.text, github.summary], ids=["markdown", "summary"])
def test_no_line_of_markdown_is_a_command_of_a_build(command, render):
    found = fakes.outcome("gap", "REFUTED", command)
    told = render(report(replace(found, title=command, issues=(command,), replay=command)))
    assert "##[" not in told
    assert not [line for line in told.splitlines() if line.lstrip().startswith("::")]


def test_a_table_of_draws_writes_no_control_sequence():
    rows = iter([("\x1b[2Jx", "s\u202e", "", 1.0, 1, "s", 0.5, None)])
    told = draw_tables._written(rows, "csv").decode()
    assert "\x1b" not in told and "\u202e" not in told
    assert told.splitlines()[1] == "\\x1b[2Jx,s\\u202e,,1.0,1,s,0.5,"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_mark_of_the_byte_order_hides_no_title(tmp_path, mark):
    (tmp_path / "a.py").write_text(f'{mark}"""The title."""\n', encoding="utf-8")
    assert first_line(tmp_path / "a.py") == "The title"
