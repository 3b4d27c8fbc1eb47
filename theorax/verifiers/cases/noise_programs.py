"""Compiled programs of noise: the letters of a draw at any noise, their derivative, and the scale of its rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from theorax.numerics import platform
from theorax.numerics.arithmetics.largest_value import coarsest_epsilon, largest_value
from theorax.numerics.arithmetics.noise_inputs import Ties, mantissas, noise_scores, tied
from theorax.numerics.compiling import compiled, work_on_entries
from theorax.numerics.nested_steps import every_step, jaxpr_as_fun
from theorax.verifiers.cases.noisy_draws import DrawOfNoise

__all__ = ["NoiseLetters", "work_of"]

Vector = NDArray[np.float64]
Letters = Mapping[str, np.ndarray]

_FACTORED = frozenset({"cholesky", "eig", "eigh", "geqrf", "householder_product", "lu", "qr", "schur", "svd"})
_PASSES = 20  # of a factorisation over its matrix, roughly, in units of a product


@final
class NoiseLetters:
    """Some letters of a draw as a function of its noise, compiled for all draws of one structure on the CPU.

    The noise is a vector with one float in [1, 2) for each number that is drawn; numbers that are drawn twice, as from one
    key by name, have one entry. ``rounding`` of each entry is the spacing of its type.
    """

    def __init__(self, drawn: DrawOfNoise, wanted: Sequence[str]) -> None:
        self._drawn, self.names = drawn, tuple(name for name in drawn.names if name in wanted)
        self.program = drawn.program
        self._drawing = self._built(jaxpr_as_fun(self.program.drawing), drawn.inputs(0))
        self.ties = self._tied()
        kinds = [kind.dtype for kind in self.program.noise]
        self._dtype = np.dtype("float64" if np.dtype("float64") in kinds else "float32")
        steps = [np.full(kind.shape, float(jnp.finfo(kind.dtype).eps)) for kind in self.program.noise]
        self.rounding = self.ties.gathered(steps)

    @property
    def count(self) -> int:
        """Numbers that are free."""
        return self.ties.count

    def drawn(self, draw: DrawOfNoise, number: int) -> Vector:
        """The noise of the draw of this number."""
        return self.ties.gathered(self._call(self._drawing, *draw.inputs(number)))

    def scores(self, draw: DrawOfNoise, number: int) -> Vector:
        """The scores of the noise of a draw."""
        return noise_scores(self.drawn(draw, number))

    def noise(self, of: Vector) -> Vector:
        """The noise of these scores, rounded as each entry's type is."""
        found = mantissas(of)
        rounded = 1 + np.floor((found - 1) / self.rounding) * self.rounding
        return np.clip(rounded, 1.0, 2 - self.rounding)

    def at(self, draw: DrawOfNoise, number: int, noise: Vector) -> Letters:
        """The letters at this noise; what stays as drawn is that of the draw of this number."""
        if self._with_slope is not None:
            return self._named(self._call(self._with_slope[0], noise.astype(self._dtype), *draw.inputs(number))[0])
        return self._named(self._call(self._plain, noise.astype(self._dtype), *draw.inputs(number)))

    def pulled(self, draw: DrawOfNoise, number: int, noise: Vector) -> tuple[Letters, Any]:
        """The letters, and what `slope` needs to go on; None where the program has no derivative."""
        if self._with_slope is None:
            return self.at(draw, number, noise), None
        values, residues = self._call(self._with_slope[0], noise.astype(self._dtype), *draw.inputs(number))
        return self._named(values), residues

    def slope(self, residues: Any, of: Mapping[str, np.ndarray]) -> Vector:
        """The derivative along the noise of the sum of the letters' entries times these weights."""
        assert self._with_slope is not None
        weights = [np.asarray(of[name], self._dtype) for name in self.names]
        return np.asarray(self._call(self._with_slope[1], residues, weights), np.float64)

    def own(self, draw: DrawOfNoise, number: int) -> Letters:
        """The letters of a draw by its own program, nothing cut."""
        return self._named(self._call(self._uncut, *draw.inputs(number)))

    def scale(self, draw: DrawOfNoise, number: int, noise: Vector) -> float:
        """The largest value that the program computes on its way."""
        return float(self._call(self._largest, noise.astype(self._dtype), *draw.inputs(number)))

    @cached_property
    def epsilon(self) -> float:
        """The unit of the shortest float type in the program."""
        return coarsest_epsilon(self.program.replayed)

    # How they are compiled.

    def arrays(self, noise: Any) -> list[Any]:
        """The noise as the arrays that the program draws."""
        parts = zip(self.ties.places, self.program.noise, strict=True)
        return [noise[place].astype(kind.dtype) for place, kind in parts]

    def _letters(self, noise: Any, *inputs: Any) -> list[Any]:
        values = jaxpr_as_fun(self.program.replayed)(*self.arrays(noise), *inputs)
        return self._wanted(values)

    def _wanted(self, values: Sequence[Any]) -> list[Any]:
        by_name = dict(zip(self._drawn.names, values, strict=True))
        return [jnp.asarray(by_name[name]).astype(self._dtype) for name in self.names]

    @cached_property
    def _with_slope(self) -> tuple[Any, Any] | None:
        def forward(noise: Any, *inputs: Any) -> Any:
            return jax.vjp(lambda noise: self._letters(noise, *inputs), noise)

        begun = np.full(self.count, 1.5, self._dtype)
        try:
            up = self._built(forward, [begun, *self._drawn.inputs(0)])
            values, residues = self._call(up, begun, *self._drawn.inputs(0))
            down = self._built(lambda residues, weights: residues(weights)[0], [residues, values])
        except (ValueError, TypeError, NotImplementedError):  # a loop without a length, a step without a derivative
            return None
        return up, down

    @cached_property
    def _plain(self) -> Any:
        return self._built(self._letters, [np.full(self.count, 1.5, self._dtype), *self._drawn.inputs(0)])

    @cached_property
    def _uncut(self) -> Any:
        whole = self.program.whole
        return self._built(lambda *inputs: self._wanted(jaxpr_as_fun(whole)(*inputs)), self._drawn.inputs(0))

    @cached_property
    def _largest(self) -> Any:
        def largest(noise: Any, *inputs: Any) -> Any:
            return largest_value(self.program.replayed, [*self.arrays(noise), *inputs])

        return self._built(largest, [np.full(self.count, 1.5, self._dtype), *self._drawn.inputs(0)])

    def _built(self, function: Any, arguments: Sequence[Any]) -> Any:
        with platform.precision(self._drawn.dtype), jax.default_device(platform.processor("cpu")):
            return compiled(jax.jit(function).lower(*arguments), "cpu", few=True)

    def _call(self, program: Any, *arguments: Any) -> Any:
        with platform.precision(self._drawn.dtype), jax.default_device(platform.processor("cpu")):
            return program(*arguments)

    def _named(self, values: Sequence[Any]) -> Letters:
        return {name: np.asarray(value) for name, value in zip(self.names, values, strict=True)}

    def _tied(self) -> Ties:
        if not self.program.noise:
            return Ties(0, ())
        numbers = range(self.program.draws_to_tie)
        return tied([self._call(self._drawing, *self._drawn.inputs(number)) for number in numbers])


def work_of(closed: Any) -> float:
    """Additions that one evaluation costs, products and factorisations of matrices counted, roughly."""
    work = work_on_entries(closed)
    for step in every_step(closed):
        shapes = [getattr(atom.aval, "shape", ()) for atom in step.invars]
        if step.primitive.name == "dot_general":
            (inner, _), _ = step.params["dimension_numbers"]
            made = float(np.prod(step.outvars[0].aval.shape))
            work += made * float(np.prod([shapes[0][axis] for axis in inner]))
        elif step.primitive.name in _FACTORED and len(shapes[0]) > 1:
            work += _PASSES * float(np.prod(shapes[0])) * min(shapes[0][-2:])
    return work
