"""``verify graph``: which theorem rests on which, as a tree, or for Graphviz, Mermaid and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from theorax.cli.listing import last_verdicts
from theorax.cli.options import OneOf, selectors, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import StatementError
from theorax.text.safe import uncommanded, visible


@click.command("graph")
@selectors()
@click.option("--output", "-o", type=OneOf(("tree", "dot", "mermaid", "json")), default="tree", help="[tree]")
@state_option
@click.pass_context
def graph(context: click.Context, words: tuple[str, ...], output: str, state: str | None) -> int:
    """Show which theorem rests on which; each stands above what rests on it."""
    from theorax.runs.dependencies import Graph
    from theorax.runs.selectors import select
    from theorax.text.signs import SIGNS

    catalogue = workspace_of(context).catalogue
    verdicts = last_verdicts(state)
    chosen = select(words or ("*",), catalogue, lambda: verdicts).ids
    for id in chosen:
        if (problem := catalogue.problem(id)) is not None:
            raise StatementError(problem)
    whole = Graph.of(catalogue)
    order = whole.order(chosen)
    uses = {id: tuple(name for name in whole.uses[id] if name in chosen) for id in order}
    signs = {id: SIGNS.get(verdicts.get(id, ""), "·") for id in order}
    draw = {"tree": _tree, "dot": _dot, "mermaid": _mermaid, "json": _json}[output]
    click.echo(uncommanded(visible("\n".join(draw(order, uses, signs)))))
    return 0


def _tree(order: Sequence[str], uses: Mapping[str, tuple[str, ...]], signs: Mapping[str, str]) -> list[str]:
    """Each theorem once in full under the first that it rests on; where it rests on others too, they are named."""
    children: dict[str, list[str]] = {id: [] for id in order}
    for id in order:
        if uses[id]:
            # The last of its ancestors in order: all the others are then above or beside it.
            children[max(uses[id], key=order.index)].append(id)
    lines: list[str] = []

    def grow(id: str, first: str, rest: str, parent: str | None) -> None:
        others = [name for name in uses[id] if name != parent]
        also = f"  (and on {', '.join(others)})" if others else ""
        lines.append(f"{first}{signs[id]} {id}{also}")
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
