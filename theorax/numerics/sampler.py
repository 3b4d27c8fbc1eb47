"""The sampler: one compiled program per structure, run draw by draw, its results streamed out chunk by chunk.

Draw i of a program depends on the seed, on i and on the letters alone. Chunks have a length that is traced, not
compiled in: the loop that runs them is one and the same machine code for every length, so neither the memory budget
nor the speed of the machine can change a bit, and a sweep over sizes compiles once.

Neighbouring draws may be vectorised together, as an accelerator needs it. Their number is fixed when the program is
compiled, before any draw (`placements`); it names the stream, since vectorised code rounds differently.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.partial_eval import dce_jaxpr

from theorax.errors import ObservationError, UsageError, option
from theorax.names import many
from theorax.numerics import platform
from theorax.numerics.compiling import compiled, work_on_entries
from theorax.numerics.extents import Extent
from theorax.numerics.key_use import KeyUse, key_use
from theorax.numerics.keys import root
from theorax.numerics.meter import Meter
from theorax.numerics.model_programs import ModelProgram, holds_tracer
from theorax.numerics.nested_steps import every_step, jaxpr_as_fun, same_steps
from theorax.numerics.placements import AsManyAsFit, Placement, steps_of_host, widest_step

# What a program may hold on a device that gives no account of its memory, for each of the draws it vectorises.
MEMORY = 64 * 2**20
# Of the memory of a device, the part that one program may hold: processes share the device, and the number of draws that
# are vectorised together must not depend on how many of them there are.
PROGRAMS_AT_ONCE = 16
# A chunk holds at most this many groups of draws, and its results at most this share of the memory budget: XLA may keep
# two copies of the buffer a loop fills.
LONGEST_CHUNK = 4096
SHARE_OF_RESULTS = 0.25
# What one call of a compiled chunk should take, so that an interrupt is noticed; affects no result.
SECONDS_PER_CALL = 0.25


class _Traced(NamedTuple):
    """One draw as traced: its steps, the shapes that it returns, its use of keys, its steps for the host, its widest one."""

    steps: Any
    shapes: dict[str, jax.ShapeDtypeStruct]
    keys: KeyUse
    host_steps: tuple[str, ...]
    widest: int

    def __call__(self, arguments: Any, words: jax.Array, index: jax.Array) -> dict[str, jax.Array]:
        """The draw of this number, from the steps: no Python of the program runs again."""
        results = jaxpr_as_fun(self.steps)(*jax.tree.leaves((arguments, words, index)))
        return jax.tree.unflatten(jax.tree.structure(self.shapes), map(jnp.asarray, results))  # one may be a constant


class _Program(NamedTuple):
    """An executable, the number of groups its buffers hold, the shapes one draw returns, and where it runs."""

    call: Callable[..., Any]
    capacity: int
    shapes: dict[str, jax.ShapeDtypeStruct]
    placement: Placement


class Sampler:
    """Runs draws of pure programs on one device.

    ``batch`` is the number of neighbouring draws that are vectorised together: one, or for an accelerator a power of two
    that is chosen when a program is compiled, ``AsManyAsFit(most)``. Vectorised code rounds differently: on a CPU the
    logarithm inside eight exponential matrices of size 24 differs in the last bits from the same matrices drawn one at a
    time. Hence the batch and the generator are part of what names a stream, like the dtype; chunks and the number of
    draws are not, and the memory is only where it determines the batch.

    ``memory`` is what one program may hold in bytes. If it is not given, it is a sixteenth of what the device says it
    has, or 64 MiB for each of the neighbours on a device that says nothing, as a CPU.

    A program that waits for the host draw after draw (`placements.HOST_STEPS`) is drawn on the CPU, one draw at a time.
    Programs that factorise matrices should keep ``batch=1`` on a CPU: 24 neighbours with both QR and SVD in float64
    did not return there (JAX 0.10, two cores), while eight were fine.

    ``compiling`` is given the number of each program and returns a context in which it is compiled. ``few``: its programs
    are drawn some ten times, not thousands, and compiled as that is worth; their draws may differ in the last bits.

    **Raises:** UsageError on a device that is absent, or a budget or batch below one.
    """

    def __init__(
        self,
        device: str = "cpu",
        memory: int | None = None,
        batch: int | AsManyAsFit = 1,
        generator: str = "threefry2x32",
        compiling: Callable[[int], AbstractContextManager[None]] = lambda _: nullcontext(),
        *,
        few: bool = False,
    ) -> None:
        if memory is None and (held := platform.memory(device)) is not None:
            memory = held // PROGRAMS_AT_ONCE
        if memory is None:
            memory = MEMORY * max(batch, 1) if isinstance(batch, int) else MEMORY
        if memory < 1 or (isinstance(batch, int) and batch < 1):
            raise UsageError(
                f"A sampler was given {memory} bytes and batches of {batch}. Write positive numbers for both."
            )
        self.device, self.memory, self.batch, self.generator = device, memory, batch, generator
        self.meter = Meter()
        self._compiling, self._few = compiling, few
        self._host = platform.processor("cpu")
        self._traced: dict[Hashable, _Traced] = {}
        self._programs: dict[Hashable, _Program] = {}
        self._builders: dict[Hashable, ModelProgram | None] = {}
        self._built: set[Hashable] = set()

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Placements of the programs compiled so far, in their order."""
        return tuple(program.placement for program in self._programs.values())

    def draw(
        self,
        program: Callable[..., Mapping[str, Any]],
        seed: int,
        draws: int,
        letters: Mapping[str, Any],
        dtype: str = "float64",
        first: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, np.ndarray]:
        """Draws ``first`` .. ``first + draws - 1`` of ``program(key, **letters)``, stacked along a leading axis.

        The key of draw i is ``fold_in(root(seed), i)``: asking for more draws later, or for a part of them on another
        machine of the same kind, gives the same table. Of the letters, values of extents, floats, fractions and
        arrays are traced; paddings, whole numbers, strings and the like are compiled in, and every new one of them is
        a new program. A program is known by its hash: make it once, at the top of a module, not anew for each size.

        **Errors:** none of its own; the bits depend on the platform, the versions, ``dtype`` and the batch.

        **Raises:** UsageError if there is nothing to draw, if the letters do not fit the program's signature, if the
        program returns no mapping of named arrays, or if the batch that was asked for exceeds the memory; ObservationError
        if a single draw does, where the batch was free.
        """
        if draws < 1 or first < 0 or first + draws > 2**32:
            raise UsageError(
                f"The call asks for {many(draws, 'draw')} from number {first} on.\n"
                "  Draws are numbered from 0 to 2^32 - 1, and an empty table shows nothing.\n"
                "  Write `draws=1` or more."
            )
        _accepts(program, letters)
        with platform.precision(dtype):
            compiled, arguments = self._compiled(program, letters, dtype)
            batch, here = compiled.placement.batch, platform.processor(compiled.placement.device)
            key = jax.device_put(jax.random.key_data(root(seed, self.generator)), here)
            result = {
                name: np.empty((draws, *shape.shape), np.dtype(shape.dtype)) for name, shape in compiled.shapes.items()
            }
            wall, cpu, calls = time.perf_counter(), time.process_time(), 0
            # Groups start at multiples of the batch, so that a draw has the same neighbours whatever is asked for.
            group, end, count = first // batch, -(-(first + draws) // batch), 1
            while group < end:
                count = min(count, compiled.capacity, end - group)
                begun = time.perf_counter()
                chunk = jax.device_get(compiled.call(arguments, key, np.uint32(group), np.int32(count)))
                low, high = max(group * batch, first), min((group + count) * batch, first + draws)
                for name, values in chunk.items():
                    flat = values.reshape(-1, *values.shape[2:])
                    result[name][low - first : high - first] = flat[low - group * batch : high - group * batch]
                group, calls = group + count, calls + 1
                per_group = max(time.perf_counter() - begun, 1e-9) / count
                count = max(1, min(4 * count, int(SECONDS_PER_CALL / per_group)))
                if progress is not None:
                    progress(high - first, draws)
            self.meter = replace(
                self.meter,
                draws=self.meter.draws + draws,
                calls=self.meter.calls + calls,
                run_seconds=self.meter.run_seconds + time.perf_counter() - wall,
                run_cpu_seconds=self.meter.run_cpu_seconds + time.process_time() - cpu,
            )
        return result

    def key_use(self, program: Callable[..., Any], letters: Mapping[str, Any], dtype: str = "float64") -> KeyUse:
        """Use of keys in one draw of a program, before it is compiled; the letters are those of ``draw``.

        **Raises:** UsageError as ``draw`` does for letters that do not fit the program.
        """
        _accepts(program, letters)
        with platform.precision(dtype):
            return self._structure(program, letters, dtype)[0].keys

    def one_draw(
        self, program: Callable[..., Any], letters: Mapping[str, Any], dtype: str = "float64"
    ) -> tuple[Any, dict[str, jax.ShapeDtypeStruct], list[Any]]:
        """The closed jaxpr of one draw, the named arrays that it returns, and the letters that it is given first.

        After them it takes the words of the root key and the number of the draw. Nothing is compiled.

        **Raises:** UsageError as ``draw`` does for letters that do not fit the program.
        """
        _accepts(program, letters)
        with platform.precision(dtype):
            traced, arguments, _, _ = self._structure(program, letters, dtype)
            return traced.steps, dict(traced.shapes), jax.tree.leaves(arguments)

    def steps(self, program: Callable[..., Any], letters: Mapping[str, Any], dtype: str = "float64") -> int:
        """Number of steps of the program, those of nested programs included: what compiling it costs grows with it."""
        with platform.precision(dtype):
            return sum(1 for _ in every_step(self._structure(program, letters, dtype)[0].steps.jaxpr))

    def is_one_draw(
        self, program: Callable[..., Any], letters: Sequence[Mapping[str, Any]], results: Collection[str], dtype: str
    ) -> bool:
        """True if these results of a draw are computed in the same steps from the same numbers, whichever the letters.

        **Errors:** two programs may compute one thing in different steps; then it is False.

        **Raises:** UsageError as ``draw`` does for letters that do not fit the program.
        """
        found = []
        with platform.precision(dtype):
            for each in letters:
                traced, numbers, _, _ = self._structure(program, each, dtype)
                asked = jax.tree.leaves({name: name in results for name in traced.shapes})
                steps, used = dce_jaxpr(traced.steps.jaxpr, asked, instantiate=False)  # with the inputs that are read
                given = [np.asarray(leaf) for leaf, read in zip(jax.tree.leaves(numbers), used, strict=False) if read]
                found.append((traced.steps.replace(jaxpr=steps), given))
        (steps, given), *others = found
        return all(
            same_steps(steps, own) and all(np.array_equal(*pair) for pair in zip(given, numbers, strict=False))
            for own, numbers in others
        )

    def builder(
        self, build: Callable[..., Any], seed: int, letters: Mapping[str, Any], dtype: str = "float64"
    ) -> Callable[[int], Any]:
        """From the number of a draw to what ``build(key, **letters)`` makes of its key: the model behind a draw.

        Outside a program JAX compiles each branch and loop anew for every model, and keeps them all. So ``build`` is
        compiled, once for all letters of one structure. Where a model holds functions of letters, which no program hands
        back, it is compiled for these letters alone. Models are built on the CPU, wherever the draws are made.
        """
        # Numbers are known also where the shapes of a model alone are asked for.
        with platform.precision(dtype), jax.ensure_compile_time_eval():
            traced, static = _parted(letters, dtype)
            key = root(seed, self.generator)
        name = _named(build, dtype, traced, static)
        with platform.precision(dtype), jax.default_device(self._host):
            if name not in self._builders:
                shared = ModelProgram(lambda key, traced: build(key, **eqx.combine(traced, static)), key, traced)
                self._builders[name] = None if holds_tracer(shared.rest) else shared
            program = self._builders[name] or ModelProgram(lambda key, _: build(key, **letters), key, traced)

        def model(draw: int) -> Any:
            wall, cpu, first = time.perf_counter(), time.process_time(), name not in self._built
            with platform.precision(dtype), jax.default_device(self._host):
                found = program(jax.random.fold_in(key, draw), traced)
            if first:  # what is compiled for the balls is compiling too, if no program of draws
                self._built.add(name)
                self.meter = replace(
                    self.meter,
                    compile_seconds=self.meter.compile_seconds + time.perf_counter() - wall,
                    compile_cpu_seconds=self.meter.compile_cpu_seconds + time.process_time() - cpu,
                )
            return found

        return model

    def _structure(
        self, program: Callable[..., Any], letters: Mapping[str, Any], dtype: str
    ) -> tuple[_Traced, Any, Any, Hashable]:
        """The program traced with letters of this structure, their traced and static part, and its name."""
        traced, static = _parted(letters, dtype)
        name = _named(program, dtype, traced, static)
        try:
            found = self._traced.get(name)
        except TypeError as error:
            raise UsageError(
                "A program or a letter cannot be told apart from others: it has no hash.\n"
                f"  {str(error).capitalize()}.\n"
                "  Write letters as numbers, extents, arrays, strings or tuples, and programs as functions."
            ) from error
        if found is None:
            with jax.default_device(self._host):
                found = self._traced[name] = self._trace(program, jax.device_put(traced, self._host), static)
        return found, traced, static, name

    def _compiled(self, program: Callable[..., Any], letters: Mapping[str, Any], dtype: str) -> tuple[_Program, Any]:
        """The executable for these letters' structure, found or made, and the traced part of the letters."""
        traced, arguments, _, name = self._structure(program, letters, dtype)
        # What waits for the host is drawn there, one draw at a time.
        device, batch = ("cpu", 1) if traced.host_steps else (self.device, self.batch)
        here = platform.processor(device)
        arguments = jax.device_put(arguments, here)
        if name not in self._programs:
            with self._compiling(len(self._programs) + 1), jax.default_device(here):
                self._programs[name] = self._compile(program, arguments, traced, device, batch)
        return self._programs[name], arguments

    def _one(self, program: Callable[..., Any], static: Any) -> Callable[..., dict[str, jax.Array]]:
        """One draw as a function of letters, the words of the root key, and its number."""

        def one(arguments: Any, words: jax.Array, index: jax.Array) -> dict[str, jax.Array]:
            key = jax.random.fold_in(jax.random.wrap_key_data(words, impl=self.generator), index)
            return _named_arrays(program(key, **eqx.combine(arguments, static)))

        return one

    def _trace(self, program: Callable[..., Any], arguments: Any, static: Any) -> _Traced:
        words, index = jax.random.key_data(root(0, self.generator)), np.uint32(0)
        closed, shapes = jax.make_jaxpr(self._one(program, static), return_shape=True)(arguments, words, index)
        if "io_callback" in (host := steps_of_host(closed)):
            raise ObservationError(
                "A program of draws calls `io_callback`, which may remember one draw in the next: draws would depend on each "
                "other.\n  Write what it computes in JAX, or as a function of its operands alone with `jax.pure_callback`."
            )
        # The key of a draw is made of the words and the number; letters are no randomness.
        random = [False] * len(jax.tree.leaves(arguments)) + [True, True]
        return _Traced(closed, shapes, key_use(closed, random, list(shapes)), host, widest_step(closed))

    def _compile(
        self,
        program: Callable[..., Any],
        arguments: Any,
        traced: _Traced,
        device: str,
        batch: int | AsManyAsFit,
    ) -> _Program:
        """Compile ahead of time a loop over at most ``capacity`` groups, filling buffers of that length.

        **Raises:** UsageError if the program does not fit into the memory; ObservationError if not even one draw of it does,
        where the batch is free.
        """
        wall, cpu = time.perf_counter(), time.process_time()
        neighbours = batch if isinstance(batch, int) else batch.first(self.memory, traced.widest)
        while True:
            executable, capacity, needed = self._looped(traced, arguments, device, neighbours)
            if needed <= self.memory:
                break
            if isinstance(batch, int):
                raise UsageError(self._too_large(_name(program), needed, capacity, neighbours))
            if neighbours == 1:  # this program has no place on this device; others of the run have
                raise ObservationError(self._too_large(_name(program), needed, capacity, neighbours))
            neighbours = batch.next(neighbours, self.memory, needed)
        self.meter = replace(
            self.meter,
            programs=self.meter.programs + 1,
            compile_seconds=self.meter.compile_seconds + time.perf_counter() - wall,
            compile_cpu_seconds=self.meter.compile_cpu_seconds + time.process_time() - cpu,
            largest_program=max(self.meter.largest_program, needed),
        )
        return _Program(executable, capacity, dict(traced.shapes), Placement(device, neighbours, traced.host_steps))

    def _looped(
        self,
        one: _Traced,
        arguments: Any,
        device: str,
        batch: int,
    ) -> tuple[Any, int, int]:
        """The executable with so many neighbours, the groups that its buffers hold, and the bytes that it needs."""
        words = jax.device_put(jax.random.key_data(root(0, self.generator)), platform.processor(device))
        group_bytes = batch * sum(shape.size * shape.dtype.itemsize for shape in one.shapes.values())
        capacity = int(np.clip(self.memory * SHARE_OF_RESULTS // max(group_bytes, 1), 1, LONGEST_CHUNK))

        def chunk(arguments: Any, words: jax.Array, start: jax.Array, count: jax.Array) -> dict[str, jax.Array]:
            def step(j: jax.Array, buffers: dict[str, jax.Array]) -> dict[str, jax.Array]:
                neighbours = jnp.arange(batch, dtype=jnp.uint32)
                indices = (start + j.astype(jnp.uint32)) * jnp.uint32(batch) + neighbours
                if batch == 1:
                    out = {name: values[None] for name, values in one(arguments, words, indices[0]).items()}
                else:
                    out = jax.vmap(lambda index: one(arguments, words, index))(indices)
                # The barrier keeps the writing into buffers, whose length varies with the budget, out of the draw.
                out = jax.lax.optimization_barrier(out)
                return {name: buffers[name].at[j].set(out[name]) for name in out}

            empty = {
                name: jnp.zeros((capacity, batch, *shape.shape), shape.dtype) for name, shape in one.shapes.items()
            }
            return jax.lax.fori_loop(jnp.int32(0), count, step, empty)

        lowered = jax.jit(chunk).lower(arguments, words, np.uint32(0), np.int32(1))
        executable = compiled(lowered, device, work_on_entries(one.steps), few=self._few)
        return executable, capacity, _bytes_of(executable, capacity * group_bytes)

    def _too_large(self, name: str, needed: int, capacity: int, batch: int) -> str:
        """The sentence on a program that exceeds the memory."""
        drawn = "One draw" if batch == 1 else f"{many(batch, 'draw')} at a time"
        if not isinstance(self.batch, int):
            other = f"`{option('device')} cpu`, or smaller sizes with `{option('sizes')}`"
        else:
            fewer = "a smaller padding" if batch == 1 else "fewer draws at a time"
            other = f"`Sampler(memory={needed})` or more, or {fewer}"
        return (
            f"{drawn} of `{name}` {'runs' if batch == 1 else 'run'} in {needed} bytes, chunks of {capacity} included.\n"
            f"  The sampler may use {self.memory}.\n"
            f"  Write {other}."
        )


def check_measured(table: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]], first: int = 0) -> None:
    """Every measured quantity is there, has its shape in every draw, and is a finite number.

    **Raises:** ObservationError naming the quantity and the first draw that is no observation.
    """
    for name, shape in shapes.items():
        if name not in table:
            near = get_close_matches(name, table, n=1)
            raise ObservationError(
                f"`{name}` was to be measured and was not returned. The program returns: {', '.join(sorted(table))}."
                + (f" Did you mean `{near[0]}`?" if near else "")
            )
        values = table[name]
        if values.ndim < 1 or values.shape[1:] != tuple(shape):
            raise ObservationError(
                f"A draw of `{name}` has shape {values.shape[1:]}, not {tuple(shape)}. "
                "Return it in the shape that the experiment declares, one draw at a time."
            )
        if not len(values):
            raise ObservationError(f"`{name}` has no draw at all; emptiness shows nothing. Ask for at least one draw.")
        if np.issubdtype(values.dtype, np.inexact):
            wrong = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
            if wrong.any():
                where = int(np.argmax(wrong))
                kind = "NaN" if np.isnan(values[where]).any() else "infinite"
                raise ObservationError(
                    f"Draw {first + where} of `{name}` is {kind}: of {many(len(values), 'draw')}, {int(wrong.sum())} "
                    f"{'is' if wrong.sum() == 1 else 'are'} not finite in {values.dtype}.\n"
                    "  A mean over the rest would be conditioned on not failing.\n"
                    '  Rescale the quantity, or write `dtype="float64"` if it is not yet.'
                )


def structure(program: Callable[..., Any], letters: Mapping[str, Any], dtype: str = "float64") -> Hashable:
    """The name under which a sampler compiles a program with letters of this structure; nothing is traced."""
    with platform.precision(dtype):
        return _named(program, dtype, *_parted(letters, dtype))


def _parted(letters: Mapping[str, Any], dtype: str) -> tuple[Any, Any]:
    """The letters' traced part, and the part that is compiled in."""
    plain = jax.tree.map(lambda leaf: _traceable(leaf, dtype), dict(letters), is_leaf=_is_extent)
    return eqx.partition(plain, lambda leaf: isinstance(leaf, np.ndarray | jax.Array))


def _named(program: Callable[..., Any], dtype: str, traced: Any, static: Any) -> Hashable:
    leaves, tree = jax.tree.flatten(static)
    shapes = jax.tree.map(lambda array: (array.shape, str(array.dtype)), traced)
    return (program, dtype, tree, tuple((type(x), x) for x in leaves), *jax.tree.leaves(shapes))


def _is_extent(leaf: Any) -> bool:
    return isinstance(leaf, Extent)


def _traceable(leaf: Any, dtype: str) -> Any:
    """Values that may vary without a new program become NumPy arrays; whole numbers stay: they are counts or sizes.

    Traced whole numbers are as wide as the floats: JAX divides numbers of 32 bits, and takes roots of them, in float32.
    """
    if isinstance(leaf, Extent):
        return Extent(jnp.asarray(leaf.value, int), leaf.padded)
    if isinstance(leaf, np.ndarray | jax.Array | np.floating):
        array = np.asarray(leaf)
        if np.issubdtype(array.dtype, np.floating):
            return array.astype(dtype)
        return array.astype(int) if np.issubdtype(array.dtype, np.integer) else array
    if isinstance(leaf, Real) and not isinstance(leaf, Integral | bool):
        return np.asarray(float(leaf), dtype)
    return leaf


def _accepts(program: Callable[..., Any], letters: Mapping[str, Any]) -> None:
    """The letters are those that the program's signature names."""
    signature = inspect.signature(program)
    try:
        signature.bind(None, **letters)
    except TypeError as error:
        wanted = list(signature.parameters)[1:]
        raise UsageError(
            f"`{_name(program)}` cannot be drawn with the letters {', '.join(letters) or 'none'}: {error}.\n"
            f"  Its signature names, after the key: {', '.join(wanted) or 'none'}.\n"
            "  Write exactly those."
        ) from error


def _named_arrays(out: Any) -> dict[str, jax.Array]:
    """Named arrays of what a program returned."""
    if not isinstance(out, Mapping) or not out or not all(isinstance(name, str) for name in out):
        raise UsageError(
            f"A program returned {type(out).__name__}, not named arrays.\n"
            "  A draw is a row of a table, and its columns have names.\n"
            '  Write `return {"s": singular_values}`.'
        )
    return {name: jnp.asarray(values) for name, values in out.items()}


def _bytes_of(executable: Any, results: int) -> int:
    """The bytes that a call needs, by the compiler's own account where it gives one."""
    account = executable.memory_analysis()
    if account is None:
        return results
    return int(account.argument_size_in_bytes + account.output_size_in_bytes + account.temp_size_in_bytes)


def _name(program: Callable[..., Any]) -> str:
    return getattr(program, "__name__", type(program).__name__)
