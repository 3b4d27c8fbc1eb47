"""Programs of instances in proofs: a part of the measured program, whose results are those that are measured."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.interpreters.partial_eval import DynamicJaxprTracer

from theorax.exact.same_program import made_of
from theorax.language import Claim, Experiment, Theorem
from theorax.numerics.compiling import compiled
from theorax.verifiers.cases.measure import instance as built
from theorax.verifiers.cases.sweep_lines import SweepLine, evidence_lines, sweep_lines
from theorax.verifiers.settings import Settings

__all__ = ["callable_name", "hands_on", "is_part"]

_MOST_FUNCTIONS = 500

Results = tuple[list[Any], list[list[Any]]]
"""Letters as a program returns them, and as each call of a function inside of it returned them."""


def is_part(program: Callable[..., Any], measured: Callable[..., Any]) -> bool:
    """Is the program the measured one, or a function that it reaches by the names in its code?

    A method, or an object that is called, has no name of its own there: it is a part only as the measured program itself.
    """
    wanted, seen = _function(program), set[Any]()
    if wanted is None:
        return bool(program == measured)
    waiting: list[Any] = [_entered(measured)]
    while waiting:
        function = waiting.pop()
        if function is wanted:
            return True
        if function is None or id(function) in seen or len(seen) > _MOST_FUNCTIONS:
            continue
        seen.add(id(function))
        waiting += _called_by(function)
    return False


def hands_on(programs: Sequence[Callable[..., Any]], claim: Claim, theorem: Theorem, name: str) -> bool:
    """Are letters of the claim, as the experiment of this name measures them, what one of its programs returned to it?

    A function that is called and whose results are thrown away is another program. Where it is called inside of a
    transformation, as `vmap`, what is measured has to be made of its results. One draw of every line of evidence is
    looked at; one that cannot be built is told when it is measured, and passes.
    """
    experiment = theorem.experiments[name]
    functions = [function for program in programs if (function := _function(program)) is not None]
    if len(functions) < len(programs) or _entered(experiment.observe) in functions:
        return True  # one of them is the measured program itself, of which they are all parts
    letters = [letter.name for letter in claim.observed]
    lines = evidence_lines(theorem, claim, {name: sweep_lines(name, experiment, Settings(effort="quick"))})
    return all(
        any(_is_handed_on(function, letters, name, experiment, line) for function in functions) for line in lines
    )


def _is_handed_on(
    function: types.FunctionType, letters: Sequence[str], name: str, experiment: Experiment, line: SweepLine
) -> bool:
    """Are letters measured on one draw of a line what the function returned?"""

    def results() -> Results:
        model, read = built(experiment, name, line, line.sizes[0], 0, 0)
        return _results(function, letters, lambda: experiment.observe(model, **read))

    try:
        if _is_one_program(results) or _has_its_numbers(results):
            return True
        with jax.disable_jit():  # a compiled function that was run before is not entered again
            return _are_same(*results()) or _is_one_program(results)
    except Exception:  # whatever it is, the measurement of the claim meets it too
        return True


def _is_one_program(results: Callable[[], Results]) -> bool:
    """Ask it of the programs that make the results, which costs one trace; False where numbers are needed."""
    inside: list[list[bool]] = []

    def both() -> Results:
        measured, own = results()
        inside[:] = [[_outside(leaf) is not leaf for leaf in jax.tree_util.tree_leaves(result)] for result in own]
        return measured, [jax.tree_util.tree_map(_outside, result) for result in own]

    try:
        measured, own = made_of(both, ())
    except Exception:  # an array of an inner program, which is none outside of it
        return False
    return any(
        len(result) == len(measured)
        and all(
            form[0] in other[1] if within else form[0] == other[0]
            for form, other, within in zip(result, measured, of_one, strict=True)
        )
        for result, of_one in zip(own, inside, strict=True)
    )


def _has_its_numbers(results: Callable[[], Results]) -> bool:
    """Ask it of the numbers of the compiled program, which are there sooner than those of one step after the other."""
    with suppress(Exception):
        return _are_same(*compiled(jax.jit(results).lower(), jax.default_backend(), few=True)())
    return False


def _results(function: types.FunctionType, letters: Sequence[str], observe: Callable[[], Any]) -> Results:
    """Letters as the measured program returns them, and as each call of a function inside of it returned them."""
    with _returned(function) as results:
        measured = observe()
    own = [result for result in results if isinstance(result, Mapping) and set(letters) <= set(result)]
    return [measured[letter] for letter in letters], [[result[letter] for letter in letters] for result in own]


def _are_same(measured: Sequence[Any], own: Sequence[Sequence[Any]]) -> bool:
    """True if what some call of a function returned is what the measured program returned."""
    return any(all(map(_is_same, result, measured)) for result in own)


@contextmanager
def _returned(function: types.FunctionType) -> Iterator[list[Any]]:
    """Results of the calls of a function while this is open.

    Whoever calls it holds it by a name of his own, so that it is its code that is exchanged.
    """
    results: list[Any] = []
    own, code = _copy(function), function.__code__

    def told(*args: Any, **keywords: Any) -> Any:
        results.append(own(*args, **keywords))
        return results[-1]

    function.__code__ = _handing_on(told, code.co_freevars)
    try:
        yield results
    finally:
        function.__code__ = code


def _copy(function: types.FunctionType) -> types.FunctionType:
    parts = function.__globals__, function.__name__, function.__defaults__, function.__closure__
    copy = types.FunctionType(function.__code__, *parts)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _handing_on(told: Callable[..., Any], free: Sequence[str]) -> types.CodeType:
    """Code of a function that hands its arguments to another; a function takes code of as many free names as it has."""
    names = ", ".join(free)
    inside = f"    def handing_on(*args, **keywords):\n        lambda: ({names})\n        told = 0.5\n"
    source = f"def outside({names}):\n{inside}        return told(*args, **keywords)\n    return handing_on\n"
    outside = next(part for part in compile(source, "<theorax>", "exec").co_consts if isinstance(part, types.CodeType))
    code = next(part for part in outside.co_consts if isinstance(part, types.CodeType))
    return code.replace(co_consts=tuple(told if part == 0.5 else part for part in code.co_consts))


def _is_same(own: Any, measured: Any) -> bool:
    """Are these results one and the same, or of equal numbers? What is traced has none."""
    leaves, others = [_outside(leaf) for leaf in jax.tree_util.tree_leaves(own)], jax.tree_util.tree_leaves(measured)
    if len(leaves) != len(others):
        return False
    pairs = [(one, other) for one, other in zip(leaves, others, strict=True) if one is not other]
    if any(isinstance(leaf, Tracer) for pair in pairs for leaf in pair):
        return False
    return all(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True) for one, other in pairs)


def _outside(leaf: Any) -> Any:
    """The value of a leaf outside of the transformations that traced it: all entries of a batch, the primal number."""
    while isinstance(leaf, Tracer) and not isinstance(leaf, DynamicJaxprTracer):
        leaf = leaf.primal if hasattr(leaf, "primal") else leaf.val
    return leaf


def callable_name(program: Callable[..., Any]) -> str:
    """The name of a program."""
    found = _function(program)
    return found.__qualname__ if found is not None else str(program)


def _called_by(function: types.FunctionType) -> Iterator[types.FunctionType | None]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in _names(function.__code__):
        value = cells[name].cell_contents if name in cells else function.__globals__.get(name)
        yield _entered(value)
        if isinstance(value, types.ModuleType):
            inside = [vars(value).get(other) for other in _names(function.__code__)]
            yield from (_entered(part) for part in inside if part is not None)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_freevars)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def _function(value: Any) -> types.FunctionType | None:
    """The function that the value is, or that was compiled to it; no other object is known by the names in a code.

    What transforms a function, or fixes some of its arguments, is another program than the function.
    """
    while hasattr(value, "__wrapped__") and hasattr(value, "lower"):
        value = value.__wrapped__
    return value if isinstance(value, types.FunctionType) else None


def _entered(value: Any) -> types.FunctionType | None:
    """The function whose code is entered where the value is called."""
    while isinstance(value, partial):
        value = value.func
    return _function(value)
