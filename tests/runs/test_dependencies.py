"""The graph of theorems: order, circles, what a failure blocks."""

from __future__ import annotations

import fakes
import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorax.decide.status import Status
from theorax.errors import StatementError
from theorax.runs.dependencies import Graph
from theorax.theorems import catalogue as catalogue_module
from theorax.theorems.catalogue import Catalogue, read_facts

GRAPH = Graph({"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c"), "e": ()})


def test_ancestors_and_descendants():
    assert GRAPH.ancestors(["d"]) == {"a", "b", "c"}
    assert GRAPH.descendants(["b"]) == {"c", "d"}
    assert GRAPH.ancestors(["e"]) == frozenset()


def test_the_order_puts_what_is_used_first_and_depends_on_names_only():
    shuffled = Graph(dict(reversed(GRAPH.uses.items())))
    assert GRAPH.order(GRAPH.uses) == shuffled.order(shuffled.uses) == ("a", "b", "c", "d", "e")
    assert GRAPH.order(["d", "a"]) == ("a", "d")


def test_the_critical_path_goes_through_what_rests_on_a_theorem_selected_or_not():
    seconds = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0, "e": 16.0}
    paths = GRAPH.critical_paths(GRAPH.order(GRAPH.uses), seconds)
    assert paths == {"a": 15.0, "b": 14.0, "c": 12.0, "d": 8.0, "e": 16.0}
    assert GRAPH.critical_paths(("a", "d", "e"), seconds) == {"a": 9.0, "d": 8.0, "e": 16.0}


def test_a_circle_is_named_and_reaches_only_what_rests_on_it():
    graph = Graph({"a": ("c",), "b": ("a",), "c": ("b",), "d": ("c",), "e": (), "f": ("f",)})
    assert set(graph.cycles()) == {"a", "b", "c", "f"}
    assert "a -> c -> b -> a" in graph.cycles()["a"]
    assert "f -> f" in graph.cycles()["f"]
    with pytest.raises(StatementError, match="a -> c -> b -> a"):
        graph.order(["d"])
    assert graph.order(["e"]) == ("e",)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_the_order_is_the_first_in_the_alphabet(pairs):
    edges = {(f"{min(pair)}", f"{max(pair)}") for pair in pairs if len({*pair}) == 2}
    renamed = {str(number): "hbfajcgdie"[number] for number in range(10)}
    graph = Graph({renamed[id]: tuple(renamed[a] for a, b in sorted(edges) if b == id) for id in renamed})
    expected = tuple(networkx.lexicographical_topological_sort(graph.directed()))
    assert graph.order(graph.uses) == expected
    chosen = expected[::3]
    assert graph.order(chosen) == tuple(
        id
        for id in networkx.lexicographical_topological_sort(
            graph.directed().subgraph({*chosen, *graph.ancestors(chosen)})
        )
        if id in chosen
    )


def test_the_graph_above_a_theorem_reads_the_files_that_it_rests_on_and_no_other(tmp_path, monkeypatch):
    catalogue, read = Catalogue.of([fakes.library(tmp_path / "papers")]), []
    monkeypatch.setattr(catalogue_module, "read_facts", lambda base: read.append(base.id) or read_facts(base))
    above = Graph.of(catalogue, ["bulk"])
    assert read == ["bulk", "lanczos"] == list(above.uses)
    whole = Graph.of(catalogue)
    assert above.uses == {id: whole.uses[id] for id in ("bulk", "lanczos")}


BLOCKS = [
    ({}, ()),
    ({"a": "PROVED", "b": "SUPPORTED", "c": "CERTIFIED"}, ()),
    ({"a": "INCONCLUSIVE"}, ("a",)),
    ({"a": "REFUTED", "b": "BLOCKED", "c": "BLOCKED"}, ("a",)),
    ({"b": "ERROR", "c": "VACUOUS"}, ("b", "c")),
    ({"c": "BLOCKED"}, ("c",)),
    ({"e": "REFUTED", "d": "REFUTED"}, ()),
]


@pytest.mark.parametrize(("statuses", "blockers"), BLOCKS)
def test_what_blocks(statuses, blockers):
    assert GRAPH.blockers("d", {id: Status(word) for id, word in statuses.items()}) == blockers
