"""The commands of a page, run in an empty folder, and their outputs compared with those that the page shows.

    python -m theorax.testing.outputs README.md docs/tutorial_limit.md            # exit 1 if a page shows something else
    python -m theorax.testing.outputs --write docs/tutorial_limit.md              # writes the outputs into the page

A page is read from top to bottom, and its commands find what those before them left. A block ```` ```python claims/a.py ````
is that file (a second block of the same name is appended to it), a block ```` ```diff claims/a.py ```` changes lines of it,
and in a block ```` ```console ```` the lines that begin with ``$`` are commands of bash. Times and dates are masked, and
runs of spaces count as one space; a line of three dots stands for any lines. An exit code other than 0 is shown as
``(exit code 1)``.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from theorax.errors import UsageError

LIMIT = 900
"""Seconds that one command may take."""

_FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILES = {"python", "toml", "yaml", "csv", "bibtex"}
_PROMPT = "$ "
_ANY = re.compile(r"(?<!=)\.\.\.")  # an output itself says `spread=...`
_BROKEN = "(exit code 3)\n"  # an error of theorax itself belongs on no page
_MASKS = (
    (re.compile(r"\b(\d+ (min|h) )?\d+(\.\d+)? (ms|s|min|h)\b"), "TIME"),
    (re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b"), "DATE"),
    (re.compile(r"\b\d{4}-\d\d-\d\d( \d\d:\d\d)?( UTC)?"), "DATE"),
    (re.compile(r" +"), " "),
)
_OF_A_BUILD = ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "COLUMNS", "FORCE_COLOR")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is a part of (or none), and its text."""

    kind: str
    file: str
    text: str


@dataclass(frozen=True)
class PageCommand:
    """A command of a page and the output that the page shows."""

    command: str
    output: str


@dataclass(frozen=True)
class Difference:
    """A command whose output is another than the one shown."""

    command: str
    shown: str
    told: str


Run = Callable[[str], str]
"""From a command to its output, with the exit code if that is not 0."""


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page that name their language, in order."""
    return [_block(match) for match in _FENCE.finditer(page)]


def console_commands(block: Block) -> list[PageCommand]:
    """The commands of a block of the kind ``console``."""
    found: list[list[str]] = []
    for line in block.text.splitlines():
        if line.startswith(_PROMPT):
            found.append([line.removeprefix(_PROMPT)])
        elif found:
            found[-1].append(line)
        else:
            raise UsageError(f"A console block begins with `{line}`. Begin it with a command: `$ verify ...`.")
    return [PageCommand(command, "".join(f"{line}\n" for line in lines)) for command, *lines in found]


def matches(shown: str, told: str) -> bool:
    """True if an output is the one shown, but for times, dates, spaces and lines of three dots."""
    return doctest.OutputChecker().check_output(_masked(shown), _masked(told), doctest.ELLIPSIS)


def write_files(parts: list[Block], folder: Path) -> None:
    """Write each file of a page whole, its parts joined by blank lines."""
    for part in parts:
        _write(part, folder, {other.file for other in parts[: parts.index(part)]})


def shell(folder: Path, tools: Path) -> Run:
    """A function that runs a line of bash in a folder; ``verify`` and ``python`` are this interpreter's.

    ``tools`` is a folder for the two; ``folder`` holds nothing but what the commands write.
    """
    for name, words in {"verify": "-m theorax", "python": ""}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_BUILD}
    environment |= {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}

    def run(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], check=False, cwd=folder, env=environment, text=True, encoding="utf-8", timeout=LIMIT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.stdout + (f"(exit code {done.returncode})\n" if done.returncode else "")

    return run


def output_differences(page: Path, write: bool = False) -> list[Difference]:
    """The commands of a page whose outputs are others than those shown; with ``write`` the page is mended first.

    An output that the page abridges with a line of three dots is never written over, and an error of theorax itself is
    never written: both stay differences.
    **Raises:** UsageError if a block changes lines that its file does not have.
    """
    text = page.read_text(encoding="utf-8")
    found: list[Difference] = []
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as tools:
        folder = Path(place)
        _link_examples(page, text, folder)
        run = shell(folder, Path(tools))
        written: set[str] = set()
        pieces, at = [], 0
        for match in _FENCE.finditer(text):
            block = _block(match)
            pieces.append(text[at : match.start("text")])
            at = match.end("text")
            if block.kind == "console":
                pieces.append("".join(_tried(shown, run, write, found) for shown in console_commands(block)))
            else:
                _write(block, folder, written)
                written.add(block.file)
                pieces.append(block.text)
    if write:
        page.write_text("".join([*pieces, text[at:]]), encoding="utf-8")
    return found


def _tried(shown: PageCommand, run: Run, write: bool, found: list[Difference]) -> str:
    told = run(shown.command)
    output = shown.output
    if not matches(output, told):
        if write and not _ANY.search(output) and not told.endswith(_BROKEN):
            output = told
        else:
            found.append(Difference(shown.command, output, told))
    return f"{_PROMPT}{shown.command}\n{output}"


def _block(match: re.Match[str]) -> Block:
    return Block(match["kind"], match["file"] or "", match["text"])


def _masked(text: str) -> str:
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return text


def _write(block: Block, folder: Path, written: set[str]) -> None:
    path = folder / block.file
    if block.file and block.kind == "diff":
        path.write_text(_changed(path.read_text(encoding="utf-8"), block), encoding="utf-8")
    elif block.file and block.kind in _FILES:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = f"{path.read_text(encoding='utf-8')}\n\n" if block.file in written else ""
        path.write_text(before + block.text, encoding="utf-8")


def _changed(text: str, block: Block) -> str:
    lines = block.text.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    if text.count(old) != 1:
        raise UsageError(
            f"{block.file} has the lines of this change {text.count(old)} times; they must stand once:\n{old}"
        )
    return text.replace(old, new)


def _link_examples(page: Path, text: str, folder: Path) -> None:
    if "examples/" in text:
        home = next((parent for parent in page.resolve().parents if (parent / "examples").is_dir()), None)
        if home is not None:
            (folder / "examples").symlink_to(home / "examples")


def _told(page: Path, difference: Difference) -> Iterator[str]:
    yield f"{page}: `{difference.command}` prints something else."
    yield f"--- the page\n{difference.shown}+++ now\n{difference.told}"


def main(arguments: list[str] | None = None) -> int:
    """Compare or write the outputs of the pages named on the command line; 1 if one differs."""
    parser = argparse.ArgumentParser(
        prog="python -m theorax.testing.outputs", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    parser.add_argument("--write", action="store_true", help="write the outputs into the pages")
    options = parser.parse_args(arguments)
    wrong = [(page, found) for page in options.pages for found in output_differences(page, options.write)]
    for page, found in wrong:
        print("\n".join(_told(page, found)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
