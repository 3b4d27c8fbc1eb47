"""The examples of the pages and of the package's docstrings are true, word for word."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest

import theorax
from theorax.cli import main
from theorax.cli.workspace import Workspace
from theorax.errors import UsageError
from theorax.reports import baselines
from theorax.testing import outputs

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TUTORIALS = [page for page in PAGES if page.stem.startswith("tutorial_")]
PROMPT = ">>> "
PACKAGE = Path(theorax.__file__).parent  # where it is installed: beside the tests, or from the wheel
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if PROMPT in path.read_text(encoding="utf-8")
)


def commands(page):
    """Every command of a page."""
    parts = outputs.blocks(page.read_text(encoding="utf-8"))
    return [shown.command for part in parts if part.kind == "console" for shown in outputs.console_commands(part)]


def test_there_are_pages_and_docstrings_with_examples():
    assert len(TUTORIALS) == 3 and MODULES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page):
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert tried.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried.failed == 0
    # An example that doctest does not find, in a comment or an inner function, would never be run.
    assert tried.attempted == Path(str(module.__file__)).read_text(encoding="utf-8").count(PROMPT)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_commands(page):
    assert commands(page) or page.stem in ("promises", "pytest")
    assert outputs.output_differences(page) == []


def understood(line: str) -> str:
    """Empty if the command knows every subcommand, option and argument on this line of bash, else what it says."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("|&;<>"):
            if words[:1] == ["verify"] and (told := _parsed(words[1:])):
                return told
            words = []
        else:
            words.append(word)
    return ""


def _parsed(words: list[str]) -> str:
    command: click.Command = main.group
    context = click.Context(command, info_name="verify", obj=Workspace())
    try:
        while isinstance(command, click.Group):
            name, found, words = command.resolve_command(context, words)
            assert found is not None
            command, context = found, click.Context(found, parent=context, info_name=name)
        command.make_parser(context).parse_args(words)  # without the types of the values, which read files
    except click.UsageError as error:
        return error.format_message()
    return ""


def transcript(page: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[outputs.Difference]]:
    """What no command understands on a page that is read and not run, and how it differs from its own outputs.

    Its files are written and its changes made; the outputs are those that it shows.
    """
    parts = outputs.blocks(page.read_text(encoding="utf-8"))
    shown = [one for part in parts if part.kind == "console" for one in outputs.console_commands(part)]
    told, wrong = iter(shown), []

    def run(line: str) -> str:
        if said := understood(line):
            wrong.append(f"{line}: {said}")
        return next(told).output

    monkeypatch.setattr(outputs, "shell", lambda folder, tools: run)
    return wrong, outputs.output_differences(page)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *TUTORIALS], ids=lambda page: page.stem)
def test_the_transcript_of_a_page_can_be_typed(page, monkeypatch):
    """The commands themselves are run by the slow test above."""
    assert transcript(page, monkeypatch) == ([], [])


def test_the_readmes_transcript_has_the_word_that_is_kept_of_the_theorem():
    kept = baselines.read_baseline(ROOT / "tests" / "power" / "every_theorem.json").by_id
    said = re.findall(r"^✓ ([A-Z]+) +(\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    library = [(word, id) for word, id in said if id in kept]
    assert library and library == [(kept[id].status, id) for _, id in library]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("verify theorem gap --effort quick | head -1", ""),
        ("verify theorem gap --efort quick", "No such option"),
        ("true && verify theorems gap", "no command"),
        ("verify baseline kompare", "No such command"),
    ],
)
def test_a_command_that_cannot_be_typed_is_told(line, said):
    assert said in understood(line) and bool(said) == bool(understood(line))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_is_short_and_ends_in_ci(page):
    parts = outputs.blocks(page.read_text(encoding="utf-8"))
    typed = [
        line for part in parts if part.file for line in part.text.splitlines() if line.strip() and line[0] not in " -"
    ]
    files = [line for part in parts if part.kind == "python" for line in part.text.splitlines() if line.strip()]
    added = [line for part in parts if part.kind == "diff" for line in part.text.splitlines() if line.startswith("+")]
    assert typed and len(files) + len(added) + len(commands(page)) <= 60
    assert commands(page)[-1] == "verify baseline compare --changed"


def test_links_that_lead_nowhere_are_found(tmp_path):
    spec = importlib.util.spec_from_file_location("links", ROOT / "docs" / "links.py")
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<p id="here"><a href="../b.html#there">b</a> <a href="#here">a</a>')
    (tmp_path / "b.html").write_text(
        '<h1 id="there">b</h1><a href="https://example.org/">elsewhere</a> <a href="a/">a</a>'
    )
    assert list(links.faults(tmp_path)) == []
    (tmp_path / "c.html").write_text(
        '<a href="d.html">d</a> <a href="b.html#gone">b</a> <script src="https://example.org/x.js"></script>'
    )
    assert list(links.faults(tmp_path)) == [
        "c.html: d.html is no file of the site",
        "c.html: b.html#gone has no such anchor",
        "c.html: loads https://example.org/x.js",
    ]


PAGE = """
```python a.py
x = 1
```
```console
$ python a.py
$ cat a.py
{first}
```
```diff a.py
-x = {old}
+x = 2
```
```console
$ cat a.py
...
$ ls no_such_file 2> /dev/null
(exit code 2)
```
"""


def test_another_output_is_told_and_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(first="x = 3", old=1), encoding="utf-8")
    (wrong,) = outputs.output_differences(page)
    assert (wrong.command, wrong.shown, wrong.told) == ("cat a.py", "x = 3\n", "x = 1\n")
    assert outputs.main([str(page)]) == 1
    assert outputs.output_differences(page, write=True) == []
    assert page.read_text(encoding="utf-8") == PAGE.format(first="x = 1", old=1)
    assert outputs.main([str(page)]) == 0


def test_what_a_page_leaves_out_is_never_written_over(tmp_path):
    page = tmp_path / "page.md"
    text = "```console\n$ echo hello\ngood ...\n```\n"
    page.write_text(text, encoding="utf-8")
    assert len(outputs.output_differences(page, write=True)) == 1 and page.read_text(encoding="utf-8") == text


def test_an_error_of_the_engine_is_never_written(tmp_path):
    page = tmp_path / "page.md"
    text = "```console\n$ echo lost; exit 3\n```\n"
    page.write_text(text, encoding="utf-8")
    assert len(outputs.output_differences(page, write=True)) == 1 and page.read_text(encoding="utf-8") == text


def test_a_change_of_lines_that_are_not_there_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(first="x = 1", old=7), encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.py has the lines of this change 0 times"):
        outputs.output_differences(page)


@pytest.mark.parametrize(
    ("shown", "told", "same"),
    [
        ("kept 3 Nov 12:01, quick", "kept 12 Jan 07:59, quick", True),
        ("took      2 min 24 s, quick", "took 3.1 s, quick", True),
        ("found 1.95(2)", "found 1.96(2)", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("SUPPORTED", "REFUTED", False),
    ],
)
def test_only_times_dates_and_spaces_are_masked(shown, told, same):
    assert outputs.matches(f"{shown}\n", f"{told}\n") == same
