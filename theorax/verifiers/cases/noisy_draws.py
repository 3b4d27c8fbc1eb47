"""The program of one draw with its noise as an input, as a case of an experiment has it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from theorax.numerics.arithmetics.noise_inputs import NoiseProgram

__all__ = ["DrawOfNoise"]


@final
@dataclass(frozen=True)
class DrawOfNoise:
    """``observe`` after ``build`` at one size of one line: the jaxpr, cut at its noise.

    ``names``: the letters that it returns, in the order of its outputs. ``letters``: the numbers of the case, its first
    inputs; ``words``: those of the root key, the next one. ``structure``: draws of one structure differ by these inputs
    alone, so that one compiled program serves all of them.
    """

    program: NoiseProgram
    names: tuple[str, ...]
    letters: tuple[Any, ...]
    words: np.ndarray
    dtype: str
    structure: Hashable

    def inputs(self, draw: int) -> list[Any]:
        """The flat inputs of the program for the draw of this number; what is left as drawn comes from its key."""
        return [*self.letters, self.words, np.uint32(draw)]

    def noise(self, draw: int) -> list[Any]:
        """The floats in [1, 2) of this draw."""
        return self.program.draw(*self.inputs(draw))
