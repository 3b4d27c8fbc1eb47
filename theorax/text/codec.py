"""The one codec: frozen dataclasses as JSON values, back from them, and the JSON schema that describes both.

===============================  ==========================================================
a field of type                  is in JSON
===============================  ==========================================================
a dataclass                      an object: its fields, then its derived properties
``str``, ``bool``, ``int``       itself
``float``                        a number
``float | None``                 a number, or null where there is none or it is not finite
a ``StrEnum``, ``Literal``       one of its values
``tuple[X, ...]``                an array
``tuple[X, Y]``                  an array of that length
``Mapping[str, X]``              an object
``Annotated[X, Minimum(0)]``     as X, not below
``Annotated[str, Pattern(p)]``   a string in which the expression is found
``Any``                          whatever it is
===============================  ==========================================================

The field ``as_`` is the key ``as``, which Python reserves. ``DERIVED`` names properties of a dataclass that are written
beside its fields; on reading they are computed anew, and another value is refused. So is a key that is not known.
``DROPPED`` names fields that a dataclass had in an earlier version; `completed` leaves them out.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
Reader = Callable[[Any, str], Any]

LONGEST = 80  # characters of an offending value that a message repeats
_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


@dataclass(frozen=True)
class Minimum:
    """The least value of a number."""

    least: int


@dataclass(frozen=True)
class Pattern:
    """A regular expression that is found in a string."""

    expression: str


Count = Annotated[int, Minimum(0)]


class Malformed(ValueError):
    """JSON values that are not of the type asked for; ``place`` is the path of the offending one.

    A dataclass raises it too, where its parts do not fit together.
    """

    def __init__(self, place: str, fault: str) -> None:
        super().__init__(fault)
        self.place = place


@dataclass(frozen=True)
class _Keys:
    """The keys of a dataclass in JSON, each with the name of its attribute and its type."""

    fields: dict[str, tuple[str, Any]]
    derived: dict[str, tuple[str, Any]]


@cache
def _keys(kind: type) -> _Keys:
    hints = get_type_hints(kind, include_extras=True)
    fields = {field.name.rstrip("_"): (field.name, hints[field.name]) for field in dataclasses.fields(kind)}
    derived = {}
    for name in getattr(kind, "DERIVED", ()):
        returned = get_type_hints(getattr(kind, name).fget, include_extras=True)["return"]
        derived[name] = (name, returned)
    return _Keys(fields, derived)


def json_values(value: Any, *, exact: bool = False) -> Any:
    """The value as JSON values; a number that is not finite becomes null, which is all that JSON has for it.

    ``exact`` leaves such numbers as they are, for a file that Python alone reads.
    """
    if isinstance(value, float):
        return float(value) if exact or math.isfinite(value) else None
    if isinstance(value, StrEnum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        keys = _keys(type(value))
        return {
            key: json_values(getattr(value, name), exact=exact)
            for key, (name, _) in (keys.fields | keys.derived).items()
        }
    if isinstance(value, Mapping):
        return {str(key): json_values(part, exact=exact) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(part, exact=exact) for part in value]
    return value


def built(kind: type[Value], data: Any) -> Value:
    """The inverse of :func:`json_values`: a value of this type from JSON values.

    **Raises:** Malformed at the first value that does not fit.
    """
    reader: Reader = _reader(kind)  # type: ignore[arg-type]  # a type is hashable
    found: Value = reader(data, "")
    return found


ANEW = object()
"""Value of a derived property that an earlier version computed otherwise, or not at all: nothing is held against it."""


def completed(kind: Any, data: Any) -> Any:
    """JSON values of an earlier version: a field of a dataclass that they lack and that has a default gets it.

    Fields that the dataclass no longer has, its ``DROPPED``, are left out. Derived properties are computed anew: an earlier
    version may have had others.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return completed(parts[0], data)
    if origin in (Union, UnionType):
        inner = [part for part in parts if _is_dataclass(part)]
        return completed(inner[0], data) if len(inner) == 1 else data
    if isinstance(data, list) and origin is tuple and parts[-1] is Ellipsis:
        return [completed(parts[0], part) for part in data]
    if not (_is_dataclass(kind) and isinstance(data, dict)):
        return data
    hints, dropped = _keys(kind).fields, getattr(kind, "DROPPED", ())
    found = {
        key: completed(hints[key][1], part) if key in hints else part
        for key, part in data.items()
        if key not in dropped
    }
    for field in dataclasses.fields(kind):
        if (key := field.name.rstrip("_")) not in found:
            if field.default is not dataclasses.MISSING:
                found[key] = json_values(field.default)
            elif field.default_factory is not dataclasses.MISSING:
                found[key] = json_values(field.default_factory())
    return found | dict.fromkeys(_keys(kind).derived, ANEW)


def _short(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _is_dataclass(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


@cache
def _reader(kind: Any) -> Reader:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda data, place: data
    if origin is Annotated:
        return _limited(_reader(parts[0]), parts[1])
    if origin in (Union, UnionType):
        return _either(kind, tuple(map(_reader, parts)))
    if origin is Literal:
        return _one_of({part: part for part in parts})
    if origin is tuple:
        return _array(parts)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_reader(parts[1]))
    if _is_dataclass(kind):
        return _object(kind)
    if issubclass(kind, StrEnum):
        return _one_of({part.value: part for part in kind})
    return _scalar(kind)


def _scalar(kind: type) -> Reader:
    def read(data: Any, place: str) -> Any:
        if kind is float and type(data) is int:
            return float(data)
        if type(data) is not kind:
            raise Malformed(place, f"{_short(data)} is not of type {_SCALARS[kind]}")
        return data

    return read


def _one_of(known: Mapping[Any, Any]) -> Reader:
    def read(data: Any, place: str) -> Any:
        # True equals one, and is no version.
        if isinstance(data, (list, dict, bool)) or data not in known:
            raise Malformed(place, f"{_short(data)} is not one of {', '.join(map(repr, known))}")
        return known[data]

    return read


def _limited(reader: Reader, limit: Minimum | Pattern) -> Reader:
    def read(data: Any, place: str) -> Any:
        found = reader(data, place)
        if isinstance(limit, Minimum) and found < limit.least:
            raise Malformed(place, f"{_short(data)} is less than the minimum of {limit.least}")
        if isinstance(limit, Pattern) and re.search(limit.expression, found) is None:
            raise Malformed(place, f"{_short(data)} does not match {limit.expression!r}")
        return found

    return read


def _either(kind: Any, readers: tuple[Reader, ...]) -> Reader:
    optional = NoneType in get_args(kind)

    def read(data: Any, place: str) -> Any:
        if data is None and optional:
            return None
        fault = Malformed(place, f"{_short(data)} is not of type {kind}")
        for reader in readers:
            try:
                return reader(data, place)
            except Malformed as error:
                # Of the ways to be wrong, the one that was read farthest says most.
                fault = error if len(error.place) >= len(fault.place) else fault
        raise fault

    other = [reader for reader, part in zip(readers, get_args(kind), strict=True) if part is not NoneType]
    if optional and len(other) == 1:
        return lambda data, place: None if data is None else other[0](data, place)
    return read


def _array(parts: tuple[Any, ...]) -> Reader:
    endless = parts[-1] is Ellipsis
    readers = [_reader(part) for part in parts if part is not Ellipsis]

    def read(data: Any, place: str) -> Any:
        if not isinstance(data, list):
            raise Malformed(place, f"{_short(data)} is not of type array")
        if not endless and len(data) != len(readers):
            raise Malformed(place, f"{_short(data)} is not an array of {len(readers)}")
        several = readers * len(data) if endless else readers
        return tuple(
            reader(part, f"{place}[{at}]") for at, (reader, part) in enumerate(zip(several, data, strict=True))
        )

    return read


def _mapping(reader: Reader) -> Reader:
    def read(data: Any, place: str) -> Any:
        if not isinstance(data, dict):
            raise Malformed(place, f"{_short(data)} is not of type object")
        return {key: reader(part, f"{place}.{key}") for key, part in data.items()}

    return read


def _object(kind: type) -> Reader:
    keys = _keys(kind)
    readers = {key: (name, _reader(hint)) for key, (name, hint) in keys.fields.items()}
    known = {*keys.fields, *keys.derived}

    def read(data: Any, place: str) -> Any:
        if not isinstance(data, dict):
            raise Malformed(place, f"{_short(data)} is not of type object")
        _known(data, known, place)
        values = {name: reader(data[key], f"{place}.{key}") for key, (name, reader) in readers.items()}
        try:
            found = kind(**values)
        except Malformed as error:  # a value that holds its parts against each other
            raise Malformed(f"{place}{error.place}", str(error)) from None
        for key, (name, _) in keys.derived.items():
            if data[key] is not ANEW:
                _follows(data[key], json_values(getattr(found, name)), f"{place}.{key}")
        return found

    return read


def _follows(given: Any, right: Any, place: str) -> None:
    """Hold a derived value against what it follows from, field by field where it has fields."""
    if not (isinstance(given, dict) and isinstance(right, dict)):
        if given != right:
            raise Malformed(place, f"{_short(given)} does not follow from the rest, {_short(right)} does")
        return
    _known(given, right, place)
    for key, value in right.items():
        _follows(given[key], value, f"{place}.{key}")


def _known(data: Mapping[str, Any], known: Collection[str], place: str) -> None:
    """Refuse an object that lacks a key or has one too many."""
    for key in set(known) - data.keys():
        raise Malformed(place, f"{key!r} is a required property")
    for key in data.keys() - set(known):
        raise Malformed(place, f"the property {key!r} is not known")


def schema(kind: type, title: str) -> dict[str, Any]:
    """The JSON schema of a dataclass: what :func:`built` takes, save for what must follow from the rest."""
    definitions: dict[str, Any] = {}
    top = _object_schema(kind, definitions)
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, **top, "$defs": dict(sorted(definitions.items()))}


def _object_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    keys = _keys(kind)
    hints = {key: hint for key, (_, hint) in (keys.fields | keys.derived).items()}
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "additionalProperties": False,
        "required": list(hints),
        "properties": {key: _described(hint, definitions) for key, hint in hints.items()},
    }


def _described(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin is Annotated:
        limit = {"minimum": parts[1].least} if isinstance(parts[1], Minimum) else {"pattern": parts[1].expression}
        return {**_described(parts[0], definitions), **limit}
    if origin in (Union, UnionType):
        return _any_of([_described(part, definitions) for part in parts])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple:
        items = [_described(part, definitions) for part in parts if part is not Ellipsis]
        if parts[-1] is Ellipsis:
            return {"type": "array", "items": items[0]}
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _described(parts[1], definitions)}
    if _is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # before its parts, which may hold it again
            definitions[kind.__name__] = _object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if issubclass(kind, StrEnum):
        return {"enum": [part.value for part in kind]}
    return {"type": _SCALARS[kind]}


def _any_of(described: list[dict[str, Any]]) -> dict[str, Any]:
    types = [part["type"] for part in described if part.keys() == {"type"}]
    if len(types) == len(described):
        return {"type": types}
    return {"anyOf": described}
