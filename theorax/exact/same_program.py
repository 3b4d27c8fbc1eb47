"""Detect two sides that are one program: values named by the operations that make them, wherever they are made.

A name is a digest of the primitive, its parameters and the names of its operands, so equal equations have one name and
dead code has none. Calls (jit, remat, custom rules) are entered; what hands a value on unchanged (``stop_gradient``,
copies, barriers) leaves its name. There is no algebra: ``x + 0`` is not ``x``, and ``a + b`` is not ``b + a``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.arithmetics import Domain, UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import Operation, Program, Traced, flatten, trace

__all__ = ["Forms", "ProgramForm", "forms_of", "made_of", "same_program"]

_HANDED_ON = frozenset(
    {"stop_gradient", "copy", "copy_p", "name", "device_put", "optimization_barrier", "sharding_constraint"}
)
_MOVED = frozenset({"convert_element_type", "reshape", "broadcast_in_dim"})
"""Primitives that hand a value on where it has the result's shape and dtype already."""

_HINTS = frozenset(
    {
        "name", "weak_type", "sharding", "out_sharding", "precision", "unroll", "_split_transpose", "accuracy",
        "indices_are_sorted", "unique_indices",
    }
)  # fmt: skip
"""Parameters that say how a primitive is run, not what it returns in real arithmetic."""

_KEEP_ZERO = frozenset(
    {
        "neg", "abs", "sign", "sqrt", "cbrt", "expm1", "log1p", "tanh", "sinh", "sin", "tan", "asin", "atan", "asinh",
        "atanh", "erf", "floor", "ceil", "round", "reshape", "broadcast_in_dim", "transpose", "squeeze", "rev", "slice",
        "concatenate", "reduce_sum", "cumsum", "add", "sub", "add_any", "max", "min", "convert_element_type",
    }
)  # fmt: skip
"""Primitives whose results are zero where all operands are."""


@final
@dataclass(frozen=True)
class ProgramForm:
    """The name of one array that a program makes; ``zero``: every entry is zero by form, whatever the inputs."""

    digest: str
    shape: tuple[int, ...]
    zero: bool = False


def same_program(left: Sequence[ProgramForm], right: Sequence[ProgramForm]) -> bool:
    """True if one program makes both sides, so that their comparison could not have failed."""
    return [form.digest for form in left] == [form.digest for form in right]


def forms_of(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    first: Sequence[int] = (),
    known: dict[Any, Traced] | None = None,
) -> Any:
    """Outputs of the function, each array replaced by its form; the array leaves of the arguments are inputs.

    ``first``: for every input the place of the first that is taken for the same; every input is its own without it.
    ``known``: traces of this function so far.
    """
    traced = trace(function, arguments, lambda leaf: False, known)
    return jax.tree_util.tree_unflatten(traced.structure, _entered(flatten(traced.closed), first))


def made_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Outputs of the function, each array replaced by the digests of all values that it is made of, its own among them.

    What a loop makes inside is not told apart.
    """
    traced = trace(function, arguments, lambda leaf: False)
    program = flatten(traced.closed)
    forms = _forms(program)
    made = {number: frozenset({form.digest}) for number, form in forms.items()}
    for step in program.steps:
        below = frozenset().union(*(made[number] for number in step.operands))
        made.update({number: below | made[number] for number in step.results})
    found = [(forms[number].digest, made[number]) for number in program.outputs]
    return jax.tree_util.tree_unflatten(traced.structure, found)


def _entered(program: Program, first: Sequence[int] = ()) -> list[ProgramForm]:
    """The forms of the outputs; of the body of a loop too, whose inputs are named by their places."""
    forms = _forms(program, first)
    return [forms[number] for number in program.outputs]


def _forms(program: Program, first: Sequence[int] = ()) -> dict[int, ProgramForm]:
    """The forms of all values."""
    forms = {number: _constant(value) for number, value in program.constants.items()}
    for place, number in zip(first or range(len(program.inputs)), program.inputs, strict=True):
        forms[number] = _named("input", (place, _type(program.types[number])), (), program.types[number].shape)
    for step in program.steps:
        forms.update(zip(step.results, _step(step, [forms[number] for number in step.operands]), strict=True))
    return forms


def _step(step: Operation, operands: list[ProgramForm]) -> list[ProgramForm]:
    moved = len(operands) == 1 and step.name in _MOVED and _type(step.operand_types[0]) == _type(step.result_types[0])
    if step.name in _HANDED_ON or moved:
        return operands
    name, params = step.name, step.params
    if name == "square":
        name, params = "integer_pow", {"y": 2}
    told = [(key, _told(params[key])) for key in sorted(params) if key not in _HINTS and params[key] is not None]
    zero = _is_zero(name, operands)
    return [
        _named(name, (told, place, _type(kind)), operands, kind.shape, zero)
        for place, kind in enumerate(step.result_types)
    ]


def _named(
    name: str, told: object, operands: Sequence[ProgramForm], shape: tuple[int, ...], zero: bool = False
) -> ProgramForm:
    text = repr((name, told, [operand.digest for operand in operands]))
    return ProgramForm(hashlib.sha256(text.encode()).hexdigest(), tuple(shape), zero)


def _constant(value: Any) -> ProgramForm:
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.extended):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    # Floats are read as the numbers they are: the same number in float32 and in float64 is one constant.
    array = array.astype(np.float64) if jnp.issubdtype(array.dtype, jnp.floating) else array
    told = (str(array.dtype), hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest(), array.shape)
    return _named("constant", told, (), array.shape, bool(array.size) and not np.any(array))


def _told(value: Any) -> str:
    """Parameter in words; equal words have equal meanings."""
    if hasattr(value, "eqns") or hasattr(value, "jaxpr"):
        return repr([form.digest for form in _entered(flatten(value))])
    if isinstance(value, Mapping):
        return repr([(str(key), _told(value[key])) for key in sorted(value, key=str)])
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return repr([_told(part) for part in value])
    if isinstance(value, tuple):
        return repr([_told(part) for part in tuple(value)])
    if isinstance(value, np.ndarray | jax.Array):
        return _constant(value).digest
    if callable(value) and not isinstance(value, type):
        return _called(value)
    return str(value)


def _called(function: Any) -> str:
    """A function that the program calls on the host: its code with what it has closed over, else the object itself."""
    if is_dataclass(function):  # as JAX wraps what is called back
        return repr([_told(getattr(function, part.name)) for part in fields(function)])
    if isinstance(function, FunctionType):
        held = [*(cell.cell_contents for cell in function.__closure__ or ()), *(function.__defaults__ or ())]
        return repr((id(function.__code__), [_told(part) if callable(part) else id(part) for part in held]))
    return f"object {id(function)}"


def _type(aval: Any) -> str:
    return f"{aval.dtype}{list(aval.shape)}"


def _is_zero(name: str, operands: Sequence[ProgramForm]) -> bool:
    if not operands:
        return False
    zeros = [operand.zero for operand in operands]
    if name in ("mul", "dot_general"):
        return any(zeros)
    if name in ("div", "integer_pow", "gather", "dynamic_slice", "pow"):
        return zeros[0] and name not in ("integer_pow", "pow")
    if name == "select_n":
        return all(zeros[1:])
    return name in _KEEP_ZERO and all(zeros)


@final
class Forms(Domain[ProgramForm]):
    """Whole arrays by their forms: an expression in the letters of a claim is named as a program is."""

    name: ClassVar[str] = "forms"

    def owns(self, leaf: object) -> bool:
        return isinstance(leaf, ProgramForm)

    def adopt(self, leaf: ProgramForm) -> ProgramForm:
        return leaf

    def lift(self, numbers: np.ndarray) -> ProgramForm:
        return _constant(np.asarray(numbers, dtype=np.float64))

    def shape(self, carriers: ProgramForm) -> tuple[int, ...]:
        return carriers.shape

    def take(self, carriers: ProgramForm, indices: np.ndarray) -> ProgramForm:
        if np.array_equal(indices.ravel(), np.arange(math.prod(carriers.shape))) and indices.shape == carriers.shape:
            return carriers
        return _named("take", indices.tolist(), (carriers,), indices.shape, carriers.zero)

    def join(self, parts: Sequence[ProgramForm]) -> ProgramForm:
        entries = sum(math.prod(part.shape) for part in parts)
        return _named("join", "", parts, (entries,), all(part.zero for part in parts))

    def unary(self, name: str, x: ProgramForm) -> ProgramForm:
        return _named(name, ([], 0, _float(x.shape)), (x,), x.shape, _is_zero(name, (x,)))

    def binary(self, name: str, x: ProgramForm, y: ProgramForm) -> ProgramForm:
        shape = np.broadcast_shapes(x.shape, y.shape)
        return _named(name, ([], 0, _float(shape)), (x, y), shape, _is_zero(name, (x, y)))

    def power(self, x: ProgramForm, exponent: int) -> ProgramForm:
        return _named("integer_pow", ([("y", str(exponent))], 0, _float(x.shape)), (x,), x.shape)

    def compare(self, name: str, x: ProgramForm, y: ProgramForm) -> np.ndarray:
        raise UndecidedComparison(name)

    def is_finite(self, x: ProgramForm) -> np.ndarray:
        raise UndecidedComparison("is_finite")

    def sum(self, x: ProgramForm) -> ProgramForm:
        raise UnsupportedPrimitive("sum", self.name)

    def dot(self, x: ProgramForm, y: ProgramForm) -> ProgramForm:
        raise UnsupportedPrimitive("dot", self.name)


def _float(shape: Sequence[int]) -> str:
    return f"float64{list(shape)}"
