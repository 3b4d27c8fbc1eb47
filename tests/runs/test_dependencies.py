"""The graph of theorems: order, circles, what a failure blocks."""

from __future__ import annotations

import pytest

from theorax.decide.status import Status
from theorax.errors import StatementError
from theorax.runs.dependencies import Graph

GRAPH = Graph({"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c"), "e": ()})


def test_ancestors_and_descendants():
    assert GRAPH.ancestors(["d"]) == {"a", "b", "c"}
    assert GRAPH.descendants(["b"]) == {"c", "d"}
    assert GRAPH.ancestors(["e"]) == frozenset()


def test_the_order_puts_what_is_used_first_and_depends_on_names_only():
    shuffled = Graph(dict(reversed(GRAPH.uses.items())))
    assert GRAPH.order(GRAPH.uses) == shuffled.order(shuffled.uses) == ("a", "b", "c", "d", "e")
    assert GRAPH.order(["d", "a"]) == ("a", "d")


def test_a_circle_is_named_and_reaches_only_what_rests_on_it():
    graph = Graph({"a": ("c",), "b": ("a",), "c": ("b",), "d": ("c",), "e": (), "f": ("f",)})
    assert set(graph.cycles()) == {"a", "b", "c", "f"}
    assert "a -> c -> b -> a" in graph.cycles()["a"]
    assert "f -> f" in graph.cycles()["f"]
    with pytest.raises(StatementError, match="a -> c -> b -> a"):
        graph.order(["d"])
    assert graph.order(["e"]) == ("e",)


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
