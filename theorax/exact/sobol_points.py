r"""Sobol points of the unit cube, with random direction numbers and a random shift of their digits, in exact integers.

The first coordinate is van der Corput's. The others follow primitive polynomials $x^s + a_1 x^{s-1} + \dots + 1$ over two
elements, in the order of their degrees: $m_k = 2 a_1 m_{k-1} \oplus \dots \oplus 2^s m_{k-s} \oplus m_{k-s}$. Among
$2^m$ points every box of $2^{t-m}$, cut from halvings of the axes, holds $2^t$ points; t is the sum of the degrees less one.
The first s numbers of a recursion may be any odd $m_k < 2^k$: they are drawn. Published ones make pairs of far coordinates
more even, and would be a table of thousands of numbers.

**Source:** Sobol 1967; Bratley and Fox 1988 for the recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["sobol_points"]

DIGITS = 32


def sobol_points(dimension: int, points: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """So many points of the unit cube, each uniform by itself; all of a power of two fill the cube evenly."""
    directions = np.zeros((DIGITS, dimension), np.uint64)
    for axis in range(dimension):
        numbers = [1] * DIGITS if axis == 0 else _direction_numbers(_primitive(dimension - 1)[axis - 1], rng)
        directions[:, axis] = [number << (DIGITS - 1 - place) for place, number in enumerate(numbers)]
    found = np.zeros((points, dimension), np.uint64)
    places = np.arange(points, dtype=np.uint64)
    for digit in range((points - 1).bit_length()):
        found ^= np.where((places >> np.uint64(digit) & np.uint64(1))[:, None] == 1, directions[digit], np.uint64(0))
    shift = rng.integers(0, 2**DIGITS, dimension, np.uint64)
    return (found ^ shift) / 2.0**DIGITS


def _direction_numbers(polynomial: int, rng: np.random.Generator) -> list[int]:
    """The numbers of one coordinate, from the bits of its polynomial."""
    degree = polynomial.bit_length() - 1
    numbers = [2 * int(rng.integers(2**place)) + 1 for place in range(degree)]
    while len(numbers) < DIGITS:
        new = numbers[-degree]
        for back in range(1, degree + 1):
            if polynomial >> (degree - back) & 1:
                new ^= numbers[-back] << back
        numbers.append(new)
    return numbers


@cache
def _primitive(number: int) -> tuple[int, ...]:
    """The first primitive polynomials over two elements, as the bits of their coefficients."""

    def every() -> Iterator[int]:
        for degree in count(1):
            yield from filter(_is_primitive, range(2**degree + 1, 2 ** (degree + 1), 2))

    return tuple(islice(every(), number))


def _is_primitive(polynomial: int) -> bool:
    """True if the powers of x modulo the polynomial are all polynomials of lesser degree but zero."""
    degree = polynomial.bit_length() - 1
    power = 1
    for order in count(1):
        power <<= 1
        if power >> degree & 1:
            power ^= polynomial
        if power == 1:
            return order == 2**degree - 1
    raise AssertionError
