"""Annotations of values that are no arrays of JAX: one number, or in a proof an array of symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from jaxtyping import AbstractDtype, Array, Shaped

if TYPE_CHECKING:
    from typing import Annotated as Entries

    # The first operation with an array of JAX makes one of NumPy's; type checkers would carry both all the way.
    Scalar: TypeAlias = int | float | Array
else:
    Scalar: TypeAlias = int | float | Shaped[Array, ""] | Shaped[np.ndarray, ""]

    class Entries(AbstractDtype):
        """Floats, or expressions of SymPy: a module is built on arrays of them, to run its program in a proof."""

        dtypes = ("float32", "float64", "object", "object_")
