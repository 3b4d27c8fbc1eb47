"""``verify graph``: which theorem rests on which, as a tree, or for Graphviz, Mermaid and programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from theorax.cli.listing import last_verdicts
from theorax.cli.options import OneOf
from theorax.cli.selecting import library_option, root_option, selectors, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import StatementError
from theorax.text.safe import uncommanded, visible

if TYPE_CHECKING:
    from theorax.theorems.catalogue import Catalogue

WIDTH = 80


@click.command("graph")
@selectors()
@library_option
@root_option
@click.option("--output", "-o", type=OneOf(("tree", "dot", "mermaid", "json")), default="tree", help="[tree]")
@state_option
@click.pass_context
def graph(context: click.Context, words: tuple[str, ...], library: bool, output: str, state: str | None) -> int:
    """Show which theorem rests on which; each stands above what rests on it.

    ID shows the theorem with those that it rests on, ID+ with those that rest on it, both with titles.
    """
    from theorax.runs.dependencies import Graph
    from theorax.runs.selectors import select
    from theorax.text.signs import SIGNS

    workspace = workspace_of(context, words)
    catalogue = workspace.catalogue
    verdicts = last_verdicts(state)
    requested = tuple(_with_ancestors(words, catalogue))
    chosen = select(requested or workspace.usual(library=library), catalogue, lambda: verdicts).ids
    for id in chosen:
        if (problem := catalogue.problem(id)) is not None:
            raise StatementError(problem)
    whole = Graph.of(catalogue)
    order = whole.order(chosen)
    uses = {id: tuple(name for name in whole.uses[id] if name in chosen) for id in order}
    signs = {id: SIGNS.get(verdicts.get(id, ""), "·") for id in order}
    if output == "tree":
        titles = {id: catalogue.facts(id).title for id in order} if words else {}
        lines = _tree(order, uses, signs, titles)
    else:
        lines = {"dot": _dot, "mermaid": _mermaid, "json": _json}[output](order, uses, signs)
    click.echo(uncommanded(visible("\n".join(lines))))
    return 0


def _with_ancestors(words: Iterable[str], catalogue: Catalogue) -> Iterator[str]:
    """The words; one that is an id means its ancestors too."""
    for word in words:
        yield f"+{word}" if word in catalogue.files else word


def _tree(
    order: Sequence[str], uses: Mapping[str, tuple[str, ...]], signs: Mapping[str, str], titles: Mapping[str, str]
) -> list[str]:
    """Each theorem once in full under the first that it rests on; where it rests on others too, they are named.

    A title stands below its id, at most 80 columns wide.
    """
    children: dict[str, list[str]] = {id: [] for id in order}
    for id in order:
        if uses[id]:
            # The last of its ancestors in order: all the others are then above or beside it.
            children[max(uses[id], key=order.index)].append(id)
    lines: list[str] = []

    def grow(id: str, first: str, rest: str, parent: str | None) -> None:
        others = [name for name in uses[id] if name != parent]
        also = f"(and on {', '.join(others)})" if others else ""
        if id in titles:
            lines.append(f"{first}{signs[id]} {id}")
            below = f"{rest}{'│' if children[id] else ' '}   "
            lines.extend(
                textwrap.wrap(
                    f"{titles[id]} {also}".strip(), WIDTH, initial_indent=below, subsequent_indent=below,
                    break_long_words=False, break_on_hyphens=False,
                )
            )  # fmt: skip
        else:
            lines.append(f"{first}{signs[id]} {id}" + (f"  {also}" if also else ""))
        for index, child in enumerate(children[id]):
            final = index == len(children[id]) - 1
            grow(child, f"{rest}{'└─ ' if final else '├─ '}", f"{rest}{'   ' if final else '│  '}", id)

    for id in order:
        if not uses[id]:
            grow(id, "", "", None)
    return lines


def _dot(order: Sequence[str], uses: Mapping[str, tuple[str, ...]], signs: Mapping[str, str]) -> list[str]:
    quoted = {id: id.replace("\\", "\\\\").replace('"', '\\"') for id in order}
    nodes = [f'  "{quoted[id]}" [label="{signs[id]} {quoted[id]}"];' for id in order]
    edges = [f'  "{quoted[name]}" -> "{quoted[id]}";' for id in order for name in uses[id]]
    return ["digraph theorems {", "  rankdir=LR;", "  node [shape=box];", *nodes, *edges, "}"]


def _mermaid(order: Sequence[str], uses: Mapping[str, tuple[str, ...]], signs: Mapping[str, str]) -> list[str]:
    # A node is named by a word; a file's name need not be one.
    words = {id: id if id.isidentifier() else f"theorem_{place}" for place, id in enumerate(order)}
    shown = {id: id.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;") for id in order}
    nodes = [f'  {words[id]}["{signs[id]} {shown[id]}"]' for id in order]
    return ["graph LR", *nodes, *(f"  {words[name]} --> {words[id]}" for id in order for name in uses[id])]


def _json(order: Sequence[str], uses: Mapping[str, tuple[str, ...]], signs: Mapping[str, str]) -> list[str]:
    import json

    return [json.dumps({"order": list(order), "uses": {id: list(names) for id, names in uses.items()}}, indent=2)]
