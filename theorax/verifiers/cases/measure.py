"""From lines to observations: which arrays are padded to what, which key belongs to which draw, and the draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.errors import ObservationError
from theorax.language import Experiment, Measured, Size
from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.keys import root, seed_of
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import SweepLine

# Unless an experiment says otherwise, a size shares a compiled program with one up to twice as large: padding a cubic
# algorithm further wastes more than the few seconds that one more program costs to compile.
SPAN = 2


def padding(sizes: Sequence[int], span: int = SPAN) -> dict[int, int]:
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
) -> Observed:
    """Draw the line at each of its sizes, from draw number ``first`` on.

    ``every`` holds all lines of the experiment, which share paddings and so compiled programs. The key of a draw is a
    function of names alone: theorem, experiment, subject, case, size (unless paired), the user's seed, its number.

    **Raises:** ObservationError for a draw with a NaN, a wrong shape or a missing letter, naming the draw.
    """
    if any(letter.array for letter in experiment.measured):
        instances = {
            size: tuple(instance(experiment, theorem, line, size, seed, draw) for draw in range(line.draws))
            for size in line.sizes
        }
        return Observed(line, (), (), instances, experiment.observe)
    program = _program(line.subject.build, experiment.observe, line.subject.needs, experiment.reads)
    tables, errors = [], []
    for size in line.sizes:
        letters = _letters(experiment, line, every, size)
        asked = {name: letters[name] for name in {*line.subject.needs, *experiment.reads}}
        keys = _seed(theorem, experiment, line, size, seed)
        drawn = _chosen(experiment, line, sampler.draw(program, keys, line.draws, asked, experiment.dtype, first))
        where = f"the subject {line.name!r} at {line.swept} = {size}"
        tables.append(_checked(experiment, line, size, drawn, where))
        errors.append({k.removesuffix("_error"): v for k, v in drawn.items() if k.endswith("_error")})
    return observed(theorem, experiment, line, every, seed, sampler, tuple(tables), tuple(errors))


def observed(
    theorem: str,
    experiment: Experiment,
    line: SweepLine,
    every: Sequence[SweepLine],
    seed: int,
    sampler: Sampler,
    tables: tuple[Mapping[str, np.ndarray], ...],
    errors: tuple[Mapping[str, np.ndarray], ...],
) -> Observed:
    """Observations on the line, from its tables: the models behind them are built again when one is asked for."""

    def model(size: int, draw: int) -> tuple[Any, dict[str, Any]]:
        letters = _letters(experiment, line, every, size)
        with platform.precision(experiment.dtype):
            key = jax.random.fold_in(root(_seed(theorem, experiment, line, size, seed), sampler.generator), draw)
            built = line.subject.build(key, **_arrays(letters, line.subject.needs))
        return built, {name: letters[name] for name in experiment.reads}

    return Observed(line, tables, errors, observe=experiment.observe, model=model)


def _seed(theorem: str, experiment: Experiment, line: SweepLine, size: int, seed: int) -> int:
    """The seed of the draws of this line at this size; at every size, where seeds are paired."""
    names = [theorem, experiment.seeds, line.experiment, line.name, *_flat(line.label), str(seed)]
    return seed_of(*names, *([] if line.paired else [f"{line.swept}={size}"]))


def instance(
    experiment: Experiment, theorem: str, line: SweepLine, size: int, seed: int, draw: int
) -> tuple[Any, dict[str, Any]]:
    """One model of the line, built at its true size outside any compiled program, and the letters observe reads."""
    letters = {name: _literal(value) for name, value in _letters(experiment, line, [line], size, literal=True).items()}
    names = [theorem, "instance", line.experiment, line.name, *_flat(line.label), str(seed), f"{line.swept}={size}"]
    with platform.precision(experiment.dtype):
        key = jax.random.fold_in(root(seed_of(*names)), draw)
        model = line.subject.build(key, **_arrays(letters, line.subject.needs))
    return model, {name: letters[name] for name in experiment.reads}


@lru_cache(maxsize=256)
def _program(
    build: Callable[..., Any], observe: Callable[..., Mapping[str, Any]], needs: tuple[str, ...], reads: tuple[str, ...]
) -> Callable[..., dict[str, Any]]:
    """Build and observe as one pure function of a key and letters; one object per pair, so it compiles once."""

    def program(key: Any, **letters: Any) -> dict[str, Any]:
        model = build(key, **{name: letters[name] for name in needs})
        return dict(observe(model, **{name: letters[name] for name in reads}))

    return program


def _letters(
    experiment: Experiment, line: SweepLine, every: Sequence[SweepLine], size: int, literal: bool = False
) -> dict[str, Any]:
    """Letters that build and observe may ask for: sizes, the largest value for indices, numbers for parameters.

    A size is a whole number, which is compiled in, and in a padded experiment an extent, whose padding alone is.
    """
    pads = {size: size} if literal or line.subject.literal else padding(line.sizes, experiment.span)
    letters: dict[str, Any] = {}
    exact = line.letters_at(size)
    for letter, value in exact.items():
        if isinstance(letter, Size) and experiment.padded:
            shared = [int(value)]
            if not (literal or line.subject.literal):
                same = [other for other in line.sizes if pads[other] == pads[size]]
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
        letters[name] = np.asarray(option, np.int32 if isinstance(option, int) else None)
    return letters


def _arrays(letters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Letters as a compiled program hands them to ``build``: an option is an array of JAX there."""
    found = {name: letters[name] for name in names}
    return {name: jnp.asarray(value) if isinstance(value, np.ndarray) else value for name, value in found.items()}


def _literal(value: Any) -> Any:
    return Extent(value.value, int(value.value)) if isinstance(value, Extent) else value


def _flat(label: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(label.items())]


def _chosen(experiment: Experiment, line: SweepLine, drawn: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values asked for of every index letter, from arrays that hold 1, 2, ... up to the largest of them."""
    found = dict(drawn)
    for letter in experiment.measured:
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
                f"A claim cannot be decided without it. Return it from observe under the name {letter.name!r}."
            )
        column = np.asarray(drawn[letter.name])
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
                f"{int(bad.sum())} of {len(column)} draws. A mean over such draws is no number. Look at that draw: its "
                "scale may leave the range of the dtype, or a hypothesis may fail there."
            )
        table[letter.name] = column
    return table


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


__all__ = ["SPAN", "instance", "measure", "observed", "padding"]
