"""The setting that the theorems of this paper share: tokens on a sphere that follow x_(t+1) = f(x_t), and two kernels.

Linear: k(x, y) = <x, y>; exponential: k(x, y) = exp(<x, y>). On the unit sphere k(x, x) = kappa is 1 and e. Short
sequences are made where they are measured, so that tokens lie on the sphere in every arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sympy import Matrix, Rational, Symbol, eye, factor, symbols

from theorax.language import Corrections, Efforts, Hypothesis, Size

T = Size("T", "context length")
d = Size("d", "dimension of the tokens")
LINEAR, EXPONENTIAL = 0, 1

SPHERE = Hypothesis("all tokens have the same length, so that k(x_t, x_t) is one constant kappa")
TURNED = Hypothesis("x_(t+1) = Omega x_t with Omega orthogonal")

# Draws where an identity or a bound is decided without statistics, and long contexts.
FEW = Efforts(quick=2, standard=4, thorough=12)
LONG: Efforts[tuple[int, ...]] = Efforts(quick=(128, 256, 512), standard=(128, 256, 512), thorough=(128, 512, 2048))


def summable(size: float, reason: str) -> Corrections:
    """The tail of a convergent series of squares, at most ``size`` at T = 128."""
    return Corrections(size=size, slowest=Rational(1, 2), rest=0, reference=128, reason=reason)


def geometric(size: float, reference: int, reason: str) -> Corrections:
    """Class of terms that fall geometrically, or like a power of the size at least, and are at most ``size`` at a size."""
    return Corrections(size=size, slowest=1, fastest=6, rest=0, reference=reference, reason=reason)


def power_of_a_matrix(size: float, reference: int, seen: str) -> Corrections:
    """The logarithm of a power of a matrix, over the power: a constant and oscillations over the size."""
    reason = f"a power of a matrix: a constant and oscillations over {seen}"
    return Corrections(size=size, slowest=1, rest=0, reference=reference, reason=reason)


def generic(name: str, rows: int, columns: int) -> np.ndarray:
    """A matrix of independent real symbols."""
    return array([[Symbol(f"{name}_{i}{j}", real=True) for j in range(columns)] for i in range(rows)])


def cayley(skew: Matrix) -> np.ndarray:
    """A rational rotation: Cayley's transform of a skew matrix of symbols."""
    one = eye(skew.rows)
    return array(((one - skew).inv() * (one + skew)).applyfunc(factor).tolist())


def generic_gram(order: int) -> np.ndarray:
    """A symmetric matrix of symbols with the constant kappa on its diagonal."""
    kappa = Symbol("kappa", positive=True)
    entry = lambda i, j: kappa if i == j else Symbol(f"k_{max(i, j)}{min(i, j)}", real=True)
    return array(Matrix(order, order, entry).tolist())


def array(rows: Any) -> np.ndarray:
    """Rows of expressions as an array of carriers."""
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    out[:] = rows
    return out


def rotations() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every rotation of the plane, rotations of space about the axes of a plane; each with a first token of length one."""
    p, q = symbols("p q", real=True)
    for skew in (Matrix([[0, -p], [p, 0]]), Matrix([[0, -q, 0], [q, 0, -p], [0, p, 0]])):
        yield cayley(skew), array([[1] + [0] * (skew.rows - 1)])[0]


def kernels() -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Contexts of three and of four tokens: the kernel matrix and targets of dimension one, both of symbols."""
    for order in (3, 4):
        yield order, generic_gram(order), generic("x", order, 1)
