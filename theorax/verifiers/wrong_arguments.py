"""Calls of the language that lack an argument or name one that does not exist: Python's own sentence names no remedy."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from inspect import Parameter, signature

from theorax import language
from theorax.deleted import sentence_on_keyword
from theorax.errors import StatementError
from theorax.names import did_you_mean, nearest

_OPEN_ENDED = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def wrong_arguments(statement: ast.stmt, names: Mapping[str, object], file: str) -> list[StatementError]:
    """One error for each such call in a statement of a file; ``names`` are those of its module so far."""
    found: list[StatementError] = []
    for call in ast.walk(statement):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        called, own = names.get(call.func.id), vars(language).get(call.func.id)
        if isinstance(own, type) and isinstance(called, type) and called.__module__.startswith("sympy."):
            error = StatementError.of(
                "arguments",
                f"`{call.func.id}` is SymPy's here, and hides the claim of that name. "
                "Write `from theorax.language import *` below `from sympy import *`.",
            )
            error.calls = ((file, call.lineno),)
            found.append(error)
            continue
        if not isinstance(called, type) or called != own:
            continue
        if told := list(_wrong(call, called)):
            error = StatementError.of("arguments", " ".join(f"`{call.func.id}` {part}" for part in told))
            error.calls = ((file, call.lineno),)
            found.append(error)
    return found


def _wrong(call: ast.Call, called: type) -> Iterator[str]:
    accepted = signature(called).parameters
    keywords = [part.arg for part in call.keywords]
    if None in keywords or any(isinstance(part, ast.Starred) for part in call.args):
        return  # what is unpacked is not known from the text
    by_place = [name for name, part in accepted.items() if part.kind is Parameter.POSITIONAL_OR_KEYWORD]
    given = {*by_place[: len(call.args)], *keywords}
    open_ended = {part.kind: name for name, part in accepted.items() if part.kind in _OPEN_ENDED}
    named = [name for name in accepted if name not in open_ended.values()]
    needed = [name for name in named if accepted[name].default is Parameter.empty]
    if missing := [name for name in needed if name not in given]:
        written = " and ".join(f"`{name}=...`" for name in missing)
        yield f"lacks {' and '.join(f'`{name}`' for name in missing)}. Write {written}; `verify new` shows each kind of claim."
    unknown = [name for name in keywords if name is not None and name not in accepted]
    removed = [name for name in unknown if sentence_on_keyword(called, name)]
    yield from (f"no longer has the argument `{name}`. {sentence_on_keyword(called, name)}" for name in removed)
    unknown = [name for name in unknown if name not in removed]
    if unknown and Parameter.VAR_KEYWORD not in open_ended:
        yield _unknown(unknown, named)
    if len(call.args) > len(by_place) and Parameter.VAR_POSITIONAL not in open_ended:
        yield f"takes at most {len(by_place)} values without a name; name the others."


def _unknown(names: list[str], accepted: list[str]) -> str:
    if len(names) == 1 and nearest(names[0], accepted):
        return f"has no argument `{names[0]}`{did_you_mean(names[0], accepted)}"
    noun = "argument" if len(names) == 1 else "arguments"
    told = " and ".join(f"`{name}`" for name in names)
    known = ", ".join(f"`{name}`" for name in accepted)
    return f"has no {noun} {told}. Its arguments are {known}."
