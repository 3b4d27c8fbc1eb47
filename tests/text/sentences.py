"""Every sentence that a user can see, gathered from the package, the help of its command and the kept pictures."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

import theorax

PACKAGE = Path(theorax.__file__).parent
PICTURES = Path(__file__).parents[1] / "reports" / "voice"
HOLE = "\N{HORIZONTAL ELLIPSIS}"  # stands where an f-string puts a value
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
TOLD = ("sentence", "detail", "reason", "issues", "unseen", "text", "scope")  # of a report's document
LISTS = ("scope",)  # of these: parts with a semicolon between them, each read alone
SPEAKS = re.compile(r"[A-Za-z]{2,}[,;:]? (?:\S+ )+\S")  # three words or more
PROGRAM = re.compile(r"CREATE TABLE|COMPREPLY|<script|<style")  # texts in another language


@dataclass(frozen=True)
class Text:
    """A text of one or several sentences, and where it stands."""

    place: str
    text: str
    source: ast.expr | None = None

    @property
    def sentences(self) -> Iterator[str]:
        """The sentences, each on one line."""
        for part in re.split(r"(?<=[.!?])[\s]+|\n\s*\n", self.text):
            told = " ".join(part.split())
            if told:
                yield told


def literals(text: str, place: str) -> Iterator[Text]:
    """The texts in a module's code: literals of three words or more that are no docstrings and no parts of another one."""
    tree = ast.parse(text)
    passed = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and _documented(node)}
    for node in ast.walk(tree):  # a parent comes before its children
        if isinstance(node, ast.expr) and id(node) not in passed and (joined := _joined(node)) is not None:
            passed |= {id(part) for part in _pieces(node)}
            if SPEAKS.search(joined) and not PROGRAM.search(joined):
                yield Text(place, joined, node)


def _documented(node: DOCUMENTED) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def _joined(node: ast.expr) -> str | None:
    """The text of a literal, a formatted literal or a sum of both; None for all else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_joined(part) if isinstance(part, ast.Constant) else HOLE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = _joined(node.left), _joined(node.right)
        return None if sides == (None, None) else "".join(side or HOLE for side in sides)
    return None


def _pieces(node: ast.expr) -> Iterator[ast.expr]:
    """The literal itself and the constants that it is joined from; values that it formats are looked at on their own."""
    yield node
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.BinOp):
        yield from (part for side in (node.left, node.right) for part in _pieces(side))


def of_the_code() -> Iterator[Text]:
    """The texts of the package's code, theorems among them."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from literals(path.read_text(encoding="utf-8"), str(path.relative_to(PACKAGE)))


def docstrings() -> Iterator[Text]:
    """The first sentence of every docstring."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, DOCUMENTED) and (told := ast.get_docstring(node)):
                first = Text(str(path.relative_to(PACKAGE)), told.partition("\n\n")[0])
                yield Text(f"{first.place}, a docstring", next(first.sentences, ""))


def of_help() -> Iterator[Text]:
    """The help of every command and option."""
    from theorax.cli.main import COMMANDS, group

    def told(command: click.Command, path: str) -> Iterator[Text]:
        # A paragraph after a backspace is a table or an example, which click prints as it stands.
        prose = [part for part in (command.help or "").split("\n\n") if not part.lstrip(" ").startswith("\b")]
        yield Text(path, "\n\n".join(prose))
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.help:
                yield Text(f"{path} {parameter.opts[0]}", parameter.help)
        if isinstance(command, click.Group) and command is not group:
            for name, inner in command.commands.items():
                yield from told(inner, f"{path} {name}")

    yield from told(group, "verify")
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield from told(command, f"verify {name}")


def of_the_pictures() -> Iterator[Text]:
    """The texts of kept reports: their sentences from the document, and every picture as one text."""
    for path in sorted(PICTURES.glob("*.json")):
        yield from (Text(path.name, text) for text in _told_in(json.loads(path.read_text(encoding="utf-8"))))


def _told_in(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _told_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _told_in(inner, key)
    elif isinstance(value, str) and (key in TOLD or "sentence" in key) and " " in value:
        yield from value.split("; ") if key in LISTS else (value,)  # one word alone is a code


def shown() -> Iterator[Text]:
    """All texts that a user meets."""
    yield from of_help()
    yield from of_the_code()
    yield from of_the_pictures()
