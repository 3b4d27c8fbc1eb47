"""From lines to observations: which arrays are padded to what, which key belongs to which draw, and the draws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeAlias, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.errors import ObservationError
from theorax.language import Experiment, Measured, Size, Subject
from theorax.names import many
from theorax.numerics import platform
from theorax.numerics.arithmetics.noise_inputs import NoiseProgram
from theorax.numerics.extents import Extent
from theorax.numerics.key_use import KeyUse, traced_otherwise, use_by
from theorax.numerics.keys import root, seed_of
from theorax.numerics.model_programs import ModelProgram, holds_tracer
from theorax.numerics.sampler import Sampler, structure
from theorax.verifiers.cases.crew import Tables
from theorax.verifiers.cases.distinct_instances import mark_of
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.noisy_draws import DrawOfNoise
from theorax.verifiers.cases.sweep_lines import SweepLine

Builder: TypeAlias = tuple[Callable[[int], Any], dict[str, Any]]
"""A compiled program from the number of a draw to its model, and the letters that its observation reads."""


@final
@dataclass(frozen=True)
class BuiltInstances:
    """Instances of one line so far: by size what builds them and the models; the use that they make of their keys."""

    builders: dict[tuple[int, bool], Callable[[int], Any]] = field(default_factory=dict)
    models: dict[int, list[Any]] = field(default_factory=dict)
    keys: list[Callable[[], KeyUse] | None] = field(default_factory=list)

    def first(self, draws: int, size: int, builder: Callable[[bool], Callable[[int], Any]]) -> tuple[Any, ...]:
        """So many instances at a size; ``builder`` makes what builds them, for True one of many."""
        models = self.models.setdefault(size, [])
        many = draws - len(models) > WORTH_COMPILING
        if (size, many) not in self.builders:
            self.builders[size, many] = builder(many)
        models += map(self.builders[size, many], range(len(models), draws))
        return tuple(models[:draws])

    def key_use(self, found: Callable[[], Callable[[], KeyUse] | None]) -> Callable[[], KeyUse] | None:
        """The use that the instances make of their keys, found once."""
        if not self.keys:
            self.keys.append(found())
        return self.keys[0]


# Unless an experiment says otherwise, a size shares a compiled program with one up to twice as large: padding a cubic
# algorithm further wastes more than the few seconds that one more program costs to compile.
SPAN = 2

WORTH_COMPILING = 32  # models that take longer to build step by step than to compile

_TRACED_TWICE: set[Hashable] = set()  # programs whose draws are known to come from their key alone


def padded_sizes(sizes: Sequence[int], span: int = SPAN) -> dict[int, int]:
    """The padded size of every size: the largest of its bucket, buckets spanning a factor of at most ``span``."""
    padded: dict[int, int] = {}
    left = sorted(sizes)
    while left:
        top = left[-1]
        inside = [size for size in left if size * span >= top]
        padded |= dict.fromkeys(inside, top)
        left = [size for size in left if size not in inside]
    return padded


def measure(
    theorem: str,
    experiment: Experiment,
    line: SweepLine,
    every: Sequence[SweepLine],
    seed: int,
    sampler: Sampler,
    first: int = 0,
    built: BuiltInstances | None = None,
) -> Observed:
    """Draw the line at each of its sizes, from draw number ``first`` on.

    ``every`` holds all lines of the experiment, which share paddings and so compiled programs. The key of a draw is a
    function of names alone: theorem, experiment, subject, case, size (unless paired), the user's seed, its number.
    ``built``: instances of this line so far, of which more are built where more are asked for.

    **Raises:** ObservationError for a draw with a NaN, a wrong shape or a missing letter, naming the draw; for a build
    whose draws are not what its key says.
    """
    if any(letter.array for letter in experiment.measured):
        known = BuiltInstances() if built is None else built

        def builder(size: int, many: bool) -> Callable[[int], Any]:
            return _instances(experiment, theorem, line, size, seed, many=many)

        instances = {size: known.first(line.draws, size, partial(builder, size)) for size in line.sizes}
        keys = known.key_use(lambda: _keys_of_instances(experiment, theorem, line, seed, instances))
        return Observed(line, (), (), instances, experiment.observe, keys=keys, dtype=experiment.dtype)
    tables, errors = [], []
    for size in line.sizes:
        program, asked = _asked(experiment, line, every, size)
        where = f"the subject {line.name!r} at {line.swept} = {size}"
        use = sampler.key_use(program, asked, experiment.dtype)
        _refuse_keys(use, line.subject, where)
        if (
            size == min(line.sizes)
            and not line.ours
            and (name := structure(program, asked, experiment.dtype)) not in _TRACED_TWICE
        ):
            with traced_otherwise():  # a sampler of its own, which has traced nothing so far
                again = Sampler(generator=sampler.generator).key_use(program, asked, experiment.dtype)
            _refuse_others(use.numbers == again.numbers, where)
            _TRACED_TWICE.add(name)
        if not line.random and (drawn_from := sorted({str(letter) for letter in experiment.measured} - use.constant)):
            # Two keys that give one value show nothing: most draws of a rare event are alike.
            raise ObservationError(
                f'{drawn_from[0]} of {where} depends on the key, and the experiment says seeds="none". A sequence without '
                'randomness has one value at each size, whatever the key. Write seeds="independent", or do not use the key.'
            )
        root = _seed(theorem, experiment, line, size, seed)
        drawn = chosen_values(
            experiment.measured, line, sampler.draw(program, root, line.draws, asked, experiment.dtype, first)
        )
        table = _checked(experiment, line, size, drawn, where)
        tables.append(table)
        errors.append(_bounds(table, drawn, where))
    return observed(theorem, experiment, line, every, seed, sampler, (tuple(tables), tuple(errors)))


def structures(experiment: Experiment, line: SweepLine, every: Sequence[SweepLine]) -> set[Hashable]:
    """The programs that drawing the line compiles; none where the models themselves are looked at."""
    if any(letter.array for letter in experiment.measured):
        return set()
    asked = (_asked(experiment, line, every, size) for size in line.sizes)
    return {structure(program, letters, experiment.dtype) for program, letters in asked}


def steps_of(experiment: Experiment, line: SweepLine, every: Sequence[SweepLine], sampler: Sampler) -> int:
    """Steps of the program of one draw at the largest size of the line."""
    return sampler.steps(*_asked(experiment, line, every, line.sizes[-1]), experiment.dtype)


def observed(
    theorem: str,
    experiment: Experiment,
    line: SweepLine,
    every: Sequence[SweepLine],
    seed: int,
    sampler: Sampler,
    drawn: tuple[Tables, Tables],
    builders: dict[int, Builder] | None = None,
) -> Observed:
    """Observations on the line, from its tables and their errors: the models behind them are built again when one is asked for.

    ``builders`` keeps what builds them, by size, for all portions and claims of one line.
    """
    known: dict[int, Builder] = {} if builders is None else builders

    def model(size: int, draw: int) -> tuple[Any, dict[str, Any]]:
        with platform.precision(experiment.dtype):
            if size not in known:
                letters = _letters(experiment, line, every, size)
                numbers = _arrays(letters, line.subject.needs)
                seed_here = _seed(theorem, experiment, line, size, seed)
                known[size] = (
                    sampler.builder(line.subject.build, seed_here, numbers, experiment.dtype),
                    _arrays(letters, experiment.reads),
                )
            build, read = known[size]
            return build(draw), read

    def keys() -> KeyUse:
        return sampler.key_use(*_asked(experiment, line, every, line.sizes[0]), experiment.dtype)

    def size_reaches(letters: Collection[str]) -> bool:
        asked = [_asked(experiment, line, every, size) for size in (min(line.sizes), max(line.sizes))]
        read = {*letters, *(f"{letter}_valid" for letter in letters)}
        return not sampler.is_one_draw(asked[0][0], [given for _, given in asked], read, experiment.dtype)

    return Observed(
        line,
        *drawn,
        observe=experiment.observe,
        model=model,
        keys=keys,
        size_reaches=size_reaches,
        dtype=experiment.dtype,
    )


def noise_program_of(
    theorem: str,
    experiment: Experiment,
    line: SweepLine,
    every: Sequence[SweepLine],
    seed: int,
    sampler: Sampler,
    size: int,
) -> DrawOfNoise:
    """The program of one draw of this line, or of one instance, at one size, with its noise as an input.

    **Raises:** whatever a build raises that cannot be traced.
    """
    if not any(letter.array for letter in experiment.measured):
        program, asked = _asked(experiment, line, every, size)
        closed, shapes, given = sampler.one_draw(program, asked, experiment.dtype)
        first = root(_seed(theorem, experiment, line, size, seed), sampler.generator)
        name = structure(program, asked, experiment.dtype)
    else:
        first = root(_seed_of_instance(theorem, line, size, seed))
        name, given = (experiment.observe, line.place, size), []

        def one(words: jax.Array, number: jax.Array) -> dict[str, jax.Array]:
            key = jax.random.fold_in(jax.random.wrap_key_data(words), number)
            model, read = _built(experiment, line, size, key)
            return {letter: jnp.asarray(entry) for letter, entry in _mapping(experiment.observe(model, **read)).items()}

        with platform.precision(experiment.dtype):
            closed, shapes = jax.make_jaxpr(one, return_shape=True)(jax.random.key_data(first), np.uint32(0))
    words = np.asarray(jax.random.key_data(first))
    # A mapping is flattened in the order of its names.
    return DrawOfNoise(NoiseProgram(closed), tuple(sorted(shapes)), tuple(given), words, experiment.dtype, name)


def _asked(
    experiment: Experiment, line: SweepLine, every: Sequence[SweepLine], size: int
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The program of one draw, and the letters that it asks for."""
    program = _program(line.subject.build, experiment.observe, line.subject.needs, experiment.reads)
    letters = _letters(experiment, line, every, size)
    return program, {name: letters[name] for name in {*line.subject.needs, *experiment.reads}}


def traced_arguments(
    experiment: Experiment, line: SweepLine, size: int
) -> tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]:
    """Build and observe as one function of a key and letters in the order that they ask for them, and those letters.

    **Raises:** DesignError if the line has no such size.
    """
    names = tuple(dict.fromkeys((*line.subject.needs, *experiment.reads)))
    letters = _letters(experiment, line, [line], size, literal=True)
    program = _program(line.subject.build, experiment.observe, line.subject.needs, experiment.reads)
    given = _arrays({name: _literal(value) for name, value in letters.items()}, names)
    return lambda key, *values: program(key, **dict(zip(names, values, strict=True))), tuple(given.values())


def _refuse_keys(use: KeyUse, subject: Subject, where: str) -> None:
    """Let pass a program whose draws are what its key says.

    **Raises:** ObservationError for a key that is used twice, or random bits of another key that are not declared.
    """
    if use.twice is not None:
        first, second = use.twice
        raise ObservationError(
            f"{where[0].upper()}{where[1:]} uses one key twice, for arrays of shapes {first} and {second}. Arrays "
            'drawn from one key depend on each other. Split the key, or write named(key, "weights") for each array by its name.'
        )
    if use.foreign and not subject.quenched:
        raise ObservationError(
            f"{where[0].upper()}{where[1:]} makes an array of shape {use.foreign[0]} from a key of its own. "
            "Every draw holds the same numbers there. Draw from the given key, or say why they "
            'are held fixed: Subject(build, quenched="one data set, as the theorem is conditional on it").'
        )


def _refuse_others(same: bool, where: str) -> None:
    """Let pass a build that makes the same of the same key.

    **Raises:** ObservationError for one that does not.
    """
    if not same:
        raise ObservationError(
            f"In {where}, build draws from something other than its key: one key gives other numbers a second "
            "time. A compiled program holds such numbers fixed, so all draws share them, and no check can be made again. "
            "Draw with jax.random from the given key, such as jax.random.normal(key, (n,)), and not with NumPy's random."
        )


def _keys_of_instances(
    experiment: Experiment, theorem: str, line: SweepLine, seed: int, built: Mapping[int, Sequence[tuple[Any, Any]]]
) -> Callable[[], KeyUse] | None:
    """The use of keys in build and observe at the smallest size, as at all sizes; None if build cannot be traced.

    Where observe cannot be traced, that in build alone. What cannot be traced is built twice.

    **Raises:** ObservationError for a build whose draws are not what its key says.
    """
    uses = {}
    for size in line.sizes:
        where = f"the subject {line.name!r} at {line.swept} = {size}"

        def whole(key: Any, size: int = size) -> dict[str, Any]:
            model, read = _built(experiment, line, size, key)
            return _mapping(experiment.observe(model, **read))

        def alone(key: Any, size: int = size) -> dict[str, Any]:
            leaves = jax.tree.leaves(_built(experiment, line, size, key)[0])
            return {str(at): leaf for at, leaf in enumerate(leaves) if isinstance(leaf, jax.Array | np.ndarray | float)}

        with platform.precision(experiment.dtype):
            program, use = next(((one, use) for one in (whole, alone) if (use := use_by(one))), (None, None))
            if use is not None:
                _refuse_keys(use, line.subject, where)
            if size == min(line.sizes) and program is not None and use is not None:
                with traced_otherwise():
                    again = use_by(program)
                _refuse_others(again is not None and use.numbers == again.numbers, where)
            elif size == min(line.sizes) and built[size]:
                second = instance(experiment, theorem, line, size, seed, 0)
                _refuse_others(mark_of(built[size][0]) == mark_of(second), where)
        uses[size] = use
    least = uses[min(line.sizes)]
    return None if least is None or None in uses.values() else lambda: least


def _seed(theorem: str, experiment: Experiment, line: SweepLine, size: int, seed: int) -> int:
    """The seed of the draws of this line at this size; at every size, where seeds are paired."""
    names = [theorem, experiment.seeds, line.experiment, line.name, *_flat(line.label), str(seed)]
    return seed_of(*names, *([] if line.paired else [f"{line.swept}={size}"]))


def instance(
    experiment: Experiment, theorem: str, line: SweepLine, size: int, seed: int, draw: int
) -> tuple[Any, dict[str, Any]]:
    """One model of the line, built at its true size outside any compiled program, and the letters observe reads."""
    with platform.precision(experiment.dtype):
        return _built(experiment, line, size, _key_of_instance(experiment, theorem, line, size, seed, draw))


def _instances(
    experiment: Experiment, theorem: str, line: SweepLine, size: int, seed: int, *, many: bool
) -> Callable[[int], tuple[Any, dict[str, Any]]]:
    """From a number to this instance, built by one compiled program; op by op where the build cannot be traced.

    Op by op, JAX compiles each step of the build for itself, which takes several times as long.
    """
    with platform.precision(experiment.dtype):
        read: list[dict[str, Any]] = []

        def build(key: Any, _: Any) -> Any:
            model, letters = _built(experiment, line, size, key)
            read[:] = [letters]
            return model

        try:
            program = ModelProgram(build, _key_of_instance(experiment, theorem, line, size, seed, 0), ())
        except Exception:  # whatever it raises is raised again, or was a step that asks for numbers
            return lambda draw: instance(experiment, theorem, line, size, seed, draw)

    def built(draw: int) -> tuple[Any, dict[str, Any]]:
        with platform.precision(experiment.dtype):
            return program(_key_of_instance(experiment, theorem, line, size, seed, draw), ()), read[0]

    # JAX keeps no compiled program that calls the host: each process would compile it again, which a few models are not
    # worth.
    if (program.host_steps and not many) or holds_tracer(program.rest):
        return lambda draw: instance(experiment, theorem, line, size, seed, draw)
    return built


def _key_of_instance(experiment: Experiment, theorem: str, line: SweepLine, size: int, seed: int, draw: int) -> Any:
    return jax.random.fold_in(root(_seed_of_instance(theorem, line, size, seed)), draw)


def _seed_of_instance(theorem: str, line: SweepLine, size: int, seed: int) -> int:
    names = [theorem, "instance", line.experiment, line.name, *_flat(line.label), str(seed), f"{line.swept}={size}"]
    return seed_of(*names)


def _built(experiment: Experiment, line: SweepLine, size: int, key: Any) -> tuple[Any, dict[str, Any]]:
    letters = {name: _literal(value) for name, value in _letters(experiment, line, [line], size, literal=True).items()}
    return line.subject.build(key, **_arrays(letters, line.subject.needs)), _arrays(letters, experiment.reads)


@lru_cache(maxsize=256)
def _program(
    build: Callable[..., Any], observe: Callable[..., Mapping[str, Any]], needs: tuple[str, ...], reads: tuple[str, ...]
) -> Callable[..., dict[str, Any]]:
    """Build and observe as one pure function of a key and letters; one object per pair, so it compiles once."""

    def program(key: Any, **letters: Any) -> dict[str, Any]:
        model = build(key, **{name: letters[name] for name in needs})
        return _mapping(observe(model, **{name: letters[name] for name in reads}))

    return program


def _mapping(seen: Any) -> dict[str, Any]:
    """Results of observe by the names of letters.

    **Raises:** ObservationError for what has no names, and for a letter that is nothing or a text.
    """
    if not isinstance(seen, Mapping):
        raise ObservationError(
            f"observe returned a value of type {type(seen).__name__}. The letters are found by their names. "
            "Return a dictionary, dict(x=...)."
        )
    for name, value in seen.items():
        if value is None or isinstance(value, str | bytes):
            raise ObservationError(
                f"observe returned {name} = {value!r}. A measured letter is a real number or an array of them. "
                f"Return a number under the name {name!r}."
            )
    return dict(seen)


def _letters(
    experiment: Experiment, line: SweepLine, every: Sequence[SweepLine], size: int, literal: bool = False
) -> dict[str, Any]:
    """Letters that build and observe may ask for: sizes, the largest value for indices, numbers for parameters.

    A size is a whole number, which is compiled in, and in a padded experiment an extent, whose padding alone is.
    """
    # A line of the engine's own shares the programs of the author's, and changes none of them.
    sizes = {*line.sizes, *(size for mate in every for size in mate.sizes)} if line.ours else line.sizes
    pads = {size: size} if literal or line.subject.literal else padded_sizes(tuple(sizes), experiment.span)
    letters: dict[str, Any] = {}
    exact = line.letters_at(size)
    for letter, value in exact.items():
        if isinstance(letter, Size) and experiment.padded:
            shared = [int(value)]
            if not (literal or line.subject.literal):
                same = [other for other in sorted(sizes) if pads[other] == pads[size]]
                shared = [
                    int(mate.letters_at(other)[letter])
                    for mate in every
                    for other in same
                    if other in mate.sizes and letter in mate.letters_at(other)
                ]
            letters[letter.name] = Extent(int(value), max(shared))
        elif letter.is_integer:
            letters[letter.name] = int(value)
        else:
            letters[letter.name] = float(value)
    for index, values in line.along.items():
        letters[index.name] = max(values)
    # Options are traced, whole numbers too: a choice among branches, not a size of anything.
    for name, option in line.subject.options.items():
        letters[name] = np.asarray(option, int if isinstance(option, int) else None)
    return letters


def _arrays(letters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Letters as a compiled program hands them over: numbers and options are arrays of JAX there, whole numbers are not."""
    found = {name: letters[name] for name in names}
    with jax.ensure_compile_time_eval():  # numbers are known, also where the shapes of a model alone are asked for
        return {
            name: jnp.asarray(value) if isinstance(value, np.ndarray | float) else value
            for name, value in found.items()
        }


def _literal(value: Any) -> Any:
    return Extent(value.value, int(value.value)) if isinstance(value, Extent) else value


def _flat(label: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(label.items())]


def chosen_values(
    measured: Sequence[Measured], line: SweepLine, drawn: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The values asked for of every index letter, from arrays that hold 1, 2, ... up to the largest of them."""
    found = dict(drawn)
    for letter in measured:
        for axis, index in enumerate(letter.over, start=1):
            values = line.along[index]
            for name in (letter.name, letter.name + "_error"):
                if name in found and found[name].ndim > axis and found[name].shape[axis] == max(values):
                    found[name] = found[name].take([value - 1 for value in values], axis=axis)
    return found


def _checked(
    experiment: Experiment, line: SweepLine, size: int, drawn: Mapping[str, np.ndarray], where: str
) -> dict[str, np.ndarray]:
    """The measured letters, each with the shape its declaration promises and finite wherever it is meant."""
    table = {}
    for letter in experiment.measured:
        if letter.name not in drawn:
            raise ObservationError(
                f"observe returned {', '.join(sorted(drawn)) or 'nothing'} for {where}, but {letter} is measured. "
                f"The claim needs it. Return it from observe under the name {letter.name!r}."
            )
        column = np.asarray(drawn[letter.name])
        if np.iscomplexobj(column):
            raise ObservationError(
                f"observe returned {letter} as complex numbers for {where}. A measured letter is a real number. Return its "
                "real part, its modulus or another real number."
            )
        wanted = (line.draws, *(len(line.along[index]) for index in letter.over))
        if letter.sample:
            column = _sample(column, drawn.get(letter.name + "_valid"), letter, where)
        elif column.shape != wanted and not letter.array:
            raise ObservationError(
                f"observe returned {letter} with shape {column.shape[1:]} per draw for {where}; "
                f"{letter} ({letter.meaning}) has shape {wanted[1:]}. Return one number"
                + (f" for each of {', '.join(map(str, letter.over))}." if letter.over else ".")
            )
        bad = np.asarray(~np.isfinite(column).reshape(len(column), -1).all(axis=1))
        if bad.any():
            raise ObservationError(
                f"{letter} ({letter.meaning}) is not finite in draw {int(np.argmax(bad))} of {where}, and in "
                f"{int(bad.sum())} of {many(len(column), 'draw')}. A mean over such draws is no number. Look at that draw: its "
                "scale may leave the range of the dtype, or a hypothesis may fail there."
            )
        table[letter.name] = column
    return table


def _bounds(table: Mapping[str, np.ndarray], drawn: Mapping[str, np.ndarray], where: str) -> dict[str, np.ndarray]:
    """The bounds of the errors of the letters: numbers from zero on that fit the letter's own.

    **Raises:** ObservationError for one that bounds nothing.
    """
    found = {}
    for name in (name for name in drawn if name.endswith("_error")):
        letter, bound = name.removesuffix("_error"), np.asarray(drawn[name])
        found[letter] = bound
        if letter not in table:
            continue
        wanted, wrong = table[letter].shape, ~np.isfinite(bound) | ~(bound >= 0)
        if wrong.any():
            draw = int(np.argmax(wrong.reshape(len(bound), -1).any(axis=1)))
            raise ObservationError(
                f"{name} is negative or not finite in draw {draw} of {where}, and in {int(wrong.sum())} of "
                f"{wrong.size} values. A bound of an error is a number from zero on; what is compared with NaN is "
                f"never told apart. Return a bound of {letter} in every draw, zero where it is exact."
            )
        # Draws first, as the letter's own: a bound of fewer axes would be read along the wrong one.
        if bound.ndim != len(wanted) or any(a not in (1, b) for a, b in zip(bound.shape, wanted, strict=True)):
            raise ObservationError(
                f"{name} has shape {bound.shape[1:]} per draw for {where}, and {letter} has shape {wanted[1:]}. "
                "Each value needs a bound of its own, or all of them one. Return one of the shape of the letter."
            )
    return found


def _sample(column: np.ndarray, valid: np.ndarray | None, letter: Measured, where: str) -> np.ndarray:
    """Drop the padded entries of a sample letter; every draw has the same number of valid ones."""
    if valid is None:
        return column
    counts = np.asarray(valid).sum(axis=1)
    if counts.min() != counts.max() or counts.min() == 0:
        raise ObservationError(
            f"{letter} has between {counts.min()} and {counts.max()} values per draw for {where}. "
            "The draws of one size hold equally many, at least one. Correct the mask that observe returns."
        )
    return column[np.asarray(valid)].reshape(len(column), int(counts[0]))


__all__ = [
    "SPAN", "BuiltInstances", "chosen_values", "instance", "measure", "noise_program_of", "observed", "padded_sizes",
    "steps_of", "structures", "traced_arguments",
]  # fmt: skip
