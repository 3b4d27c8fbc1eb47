"""The codec: what goes out comes back, and whatever is not of its type is refused with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from theorax.text.codec import Count, Malformed, built, json_values, schema


class Colour(StrEnum):
    """Two words."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Leaf:
    """A part with a word of Python's and something that follows from it."""

    as_: str | None
    size: float
    ends: tuple[float | None, float | None] | None = None

    DERIVED: ClassVar = ("doubled",)

    @property
    def doubled(self) -> float:
        """Twice the size."""
        return 2 * self.size


@dataclass(frozen=True)
class Tree:
    """One field of every sort."""

    version: Literal[4]
    count: Count
    colour: Colour
    leaves: tuple[Leaf, ...]
    by_name: Mapping[str, Colour]
    value: int | str | None
    free: Any = None
    told: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.leaves) > 3:
            raise Malformed(".leaves", "a tree this small has no more than three")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.builds(Leaf, st.none() | st.text(), NUMBERS, st.none() | st.tuples(st.none() | NUMBERS, NUMBERS))
TREES = st.builds(
    Tree,
    st.just(4),
    st.integers(min_value=0),
    st.sampled_from(Colour),
    st.lists(LEAVES, max_size=3).map(tuple),
    st.dictionaries(st.text(), st.sampled_from(Colour)),
    st.none() | st.integers() | st.text(),
)
TREE = Tree(4, 2, Colour.RED, (Leaf("T", 1.5, (None, 2.0)),), {"a": Colour.BLUE}, "x")


@given(TREES)
def test_what_goes_out_comes_back_and_obeys_the_schema(tree):
    # Twice a large number may be none that JSON has.
    if any(not math.isfinite(leaf.doubled) for leaf in tree.leaves):
        return
    found = json.loads(json.dumps(json_values(tree), allow_nan=False))
    assert built(Tree, found) == tree
    assert Draft202012Validator(schema(Tree, "a tree")).is_valid(found)


def test_a_field_after_a_word_of_python_has_that_word_for_its_key():
    assert json_values(TREE)["leaves"] == [{"as": "T", "size": 1.5, "ends": [None, 2.0], "doubled": 3.0}]


def test_numbers_that_are_not_finite_are_null_for_json_and_themselves_for_python():
    leaf = Leaf(None, 1.0, (-math.inf, math.inf))
    assert json_values(leaf)["ends"] == [None, None]
    assert built(Leaf, json.loads(json.dumps(json_values(leaf, exact=True)))) == leaf


WRONG = [
    (("version",), 3, ".version", True),
    (("version",), True, ".version", True),
    (("count",), -1, ".count", True),
    (("count",), True, ".count", True),
    (("count",), 1.5, ".count", True),
    (("colour",), "green", ".colour", True),
    (("colour",), ["red"], ".colour", True),
    (("leaves",), {}, ".leaves", True),
    (("leaves", 0, "size"), None, ".leaves[0].size", True),
    (("leaves", 0, "size"), "1", ".leaves[0].size", True),
    (("leaves", 0, "ends"), [1.0], ".leaves[0].ends", True),
    (("leaves", 0, "ends"), [1.0, "2"], ".leaves[0].ends[1]", True),
    (("leaves", 0, "surplus"), 1, ".leaves[0]", True),
    (("leaves", 0, "doubled"), 4.0, ".leaves[0].doubled", False),  # a schema cannot say it
    (("by_name", "a"), "green", ".by_name.a", True),
    (("value",), [1], ".value", True),
    (("value",), 1.5, ".value", True),
]


@pytest.mark.parametrize(("path", "value", "place", "by_schema"), WRONG)
def test_what_is_not_of_its_type_is_refused_with_its_place(path, value, place, by_schema):
    found = json_values(TREE)
    node = found
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    with pytest.raises(Malformed) as caught:
        built(Tree, found)
    assert caught.value.place == place
    assert Draft202012Validator(schema(Tree, "a tree")).is_valid(found) is not by_schema


def test_what_a_value_says_of_its_own_parts_is_told_with_the_place():
    found = json_values(TREE)
    found["leaves"] *= 4
    with pytest.raises(Malformed, match="no more than three") as caught:
        built(Tree, found)
    assert caught.value.place == ".leaves"


@pytest.mark.parametrize("key", json_values(TREE))
def test_every_field_is_asked_for(key):
    found = json_values(TREE)
    del found[key]
    with pytest.raises(Malformed, match=f"'{key}' is a required property"):
        built(Tree, found)
