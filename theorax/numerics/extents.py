"""Sizes that a compiled program need not know: an array dimension, traced, inside a fixed padding.

One program per structure, not per size: a T x T matrix is the leading block of an N x N array that is zero elsewhere,
N = ``padded`` is fixed when the program is compiled and T = ``value`` is an argument of it. Zero rows and columns leave
products, Frobenius norms and non-zero singular values as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from theorax.errors import StatementError


class Extent(eqx.Module):
    """The length of a dimension: ``value`` rows are meant, ``padded`` rows are stored, the others are zero.

    A literal size is ``Extent(n, n)``; there the mask is all true.
    """

    value: int | Array
    padded: int = eqx.field(static=True)

    def _no_number(self, *_: Any) -> NoReturn:
        raise StatementError(_as_number(self))

    __index__ = __int__ = __float__ = __neg__ = _no_number
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _no_number
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __pow__ = __rpow__ = _no_number
    __lt__ = __le__ = __gt__ = __ge__ = _no_number

    @property
    def mask(self) -> Bool[Array, " padded"]:
        """True on the rows that are meant."""
        return jnp.arange(self.padded) < self.value

    @property
    def doubled(self) -> Extent:
        """Twice the size, in twice the padding."""
        return Extent(2 * self.value, 2 * self.padded)


_LIBRARIES = ("jax", "jaxlib", "equinox", "numpy", "jaxtyping", "beartype")


def _is_of_a_library(module: str) -> bool:
    return module == __name__ or module.partition(".")[0] in _LIBRARIES


def _as_number(size: Extent) -> str:
    """The sentence for an extent that is used as a number, with the line of the model where that happens."""
    frame = sys._getframe()
    while frame.f_back is not None and _is_of_a_library(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    name = next((name for name, value in frame.f_locals.items() if value is size), "n")
    file = Path(frame.f_code.co_filename)
    return (
        f"{file.parent.name}/{file.name}:{frame.f_lineno}: `{name}` is an Extent: a size in a padded array.\n"
        f"  A shape needs a number. Write `({name}.padded, {name}.padded)`, mask with `block({name}, {name})`;\n"
        f"  or remove `padded=True` from the experiment: then `{name}` is an int."
    )


def literal(size: int) -> Extent:
    """The dimension of an ordinary array with ``size`` rows."""
    return Extent(size, size)


def block(rows: Extent, columns: Extent) -> Bool[Array, "rows columns"]:
    """True on the leading ``rows x columns`` block that is meant."""
    return rows.mask[:, None] & columns.mask[None, :]
