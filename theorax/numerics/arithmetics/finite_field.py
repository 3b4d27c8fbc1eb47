r"""The finite-field domain: a program's numbers are residues modulo a large prime, its exponentials powers of a generator.

Rational arithmetic is exact modulo $p$, floats being dyadic rationals. With a prime $q$ that divides $p - 1$ every
number carries its residue modulo $q$ too, and $\exp x = g^{x \bmod q}$ for an element $g$ of order $q$: sums become
products, as they must. What is left of other functions is that they are functions: an argument's residue is hashed to
a random element. Two programs that agree for every interpretation of these functions agree here; that they disagree
here refutes them only if none of them was met.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, final

import numpy as np
from flint import fmpz

from theorax.errors import TheoraxError, UsageError
from theorax.numerics.arithmetics.domain import Domain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.residues import (
    PARTIAL,
    RELATIONS,
    Residues,
    array,
    infinities,
    matrix_of,
    moved,
    nowhere,
    objects,
    product,
    ratio,
)

LOW, HIGH = 2**61, 2**62
"""Primes are drawn between these; more than 2**55 of them lie there (Dusart 2010, bounds of the prime counting)."""


class ZeroDivisor(TheoraxError):
    """A divisor vanishes in this field; another field has to be drawn."""

    def __init__(self, prime: int):
        super().__init__(
            f"A divisor is zero modulo {prime}. A quotient has no residue there. "
            "Draw another prime and other arguments; a divisor that vanishes in all of them is zero."
        )


@final
@dataclass(frozen=True)
class FiniteField(Domain[Residues]):
    r"""Residues modulo ``prime``; with ``order``, a prime divisor of prime - 1, exponentials as well.

    No comparison is decided but that of a number with itself: a field has no order. What went through a function of
    ``PARTIAL`` may be no number, and is not even compared with itself. ``max``, ``min``, ``abs`` and ``sign`` are made
    of one uninterpreted even function, $\max(x, y) = (x + y + |x - y|)/2$; ``tanh``, ``logistic`` and the hyperbolic
    functions are made of the exponential.

    **Errors:** none in the arithmetic; a nonzero rational number may vanish modulo the prime.

    **Raises:** ``ZeroDivisor`` for a quotient whose divisor vanishes.

    **Source:** Schwartz 1980; Zippel 1979; Li and Wu 2026 (gates for exponentials).
    """

    prime: int
    order: int | None = None
    seed: int = 0
    name: ClassVar[str] = "finite field"
    ordered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not fmpz(self.prime).is_prime():
            raise UsageError(
                f"FiniteField({self.prime}) is no field: the number is not prime. Write FiniteField.drawn."
            )
        if self.order is not None and ((self.prime - 1) % self.order or not fmpz(self.order).is_prime()):
            raise UsageError(
                f"FiniteField({self.prime}, order={self.order}) has no element of that prime order. "
                "The order is a prime divisor of the prime less one. Write FiniteField.drawn."
            )

    @staticmethod
    def drawn(draws: random.Random, exponentials: bool = False) -> FiniteField:
        """A field of random prime order between 2^61 and 2^62, uniform among all, or among p = 2q + 1 with prime q."""
        while True:
            # Tests of primality that are certain below 2^64.
            if exponentials:
                half = draws.randrange(LOW // 2, HIGH // 2) | 1
                if fmpz(half).is_probable_prime() and fmpz(2 * half + 1).is_probable_prime():
                    return FiniteField(2 * half + 1, half, draws.getrandbits(64))
            else:
                prime = draws.randrange(LOW, HIGH) | 1
                if fmpz(prime).is_probable_prime():
                    return FiniteField(prime, None, draws.getrandbits(64))

    def working(self) -> np.errstate:
        return np.errstate(invalid="ignore")  # of infinities, which are followed on their own

    def random(self, shape: tuple[int, ...], draws: random.Random) -> Residues:
        """A generic argument: independent uniform residues."""
        size = int(np.prod(shape, dtype=np.int64))
        value = objects([draws.randrange(self.prime) for _ in range(size)], shape)
        if self.order is None:
            return Residues(value)
        exponent = objects([draws.randrange(self.order) for _ in range(size)], shape)
        return Residues(value, exponent, np.ones(shape, bool))

    def owns(self, leaf: object) -> bool:
        return isinstance(leaf, Residues) or (isinstance(leaf, np.ndarray) and leaf.dtype == object)

    def adopt(self, leaf: Any) -> Residues:
        return leaf if isinstance(leaf, Residues) else self._exactly(leaf)

    def lift(self, numbers: np.ndarray) -> Residues:
        numbers = np.asarray(numbers)
        if numbers.dtype.kind not in "biuf":
            numbers = numbers.astype(np.float64)  # bfloat16 and its kin are dyadics that float64 holds
        finite = np.isfinite(numbers)
        residues = self._exactly(objects(np.where(finite, numbers, 0).reshape(-1).tolist(), numbers.shape))
        return residues if finite.all() else replace(residues, special=np.where(finite, 0.0, numbers))

    def _exactly(self, numbers: np.ndarray) -> Residues:
        ratios = [ratio(number) for number in numbers.reshape(-1).tolist()]

        def modulo(modulus: int) -> np.ndarray:
            inverse = cache(lambda below: self._inverse(below, modulus))
            return objects([above * inverse(below) % modulus for above, below in ratios], numbers.shape)

        if self.order is None:
            return Residues(modulo(self.prime))
        return Residues(modulo(self.prime), modulo(self.order), np.ones(numbers.shape, bool))

    def shape(self, carriers: Residues) -> tuple[int, ...]:
        return carriers.value.shape

    def take(self, carriers: Residues, indices: np.ndarray) -> Residues:
        return moved(carriers, lambda part: part.reshape(-1)[indices])

    def join(self, parts: Sequence[Residues]) -> Residues:
        value = np.concatenate([part.value.reshape(-1) for part in parts])
        through = frozenset().union(*(part.through for part in parts))
        special = None
        if any(part.special is not None for part in parts):
            special = np.concatenate([infinities(part).reshape(-1) for part in parts])
        if all(part.exponent is None for part in parts):
            return Residues(value, None, None, through, special)
        filled = [self._filled(part) for part in parts]
        exponent, known = (np.concatenate([pair[place].reshape(-1) for pair in filled]) for place in (0, 1))
        return Residues(value, exponent, known, through, special)

    def unary(self, name: str, x: Residues) -> Residues:
        result = self._function(name, x)
        if x.special is None:
            return result
        # Of what is not finite only these images are finite or of a known sign.
        image = {"exp": np.exp, "exp2": np.exp2, "neg": np.negative, "abs": np.abs, "tanh": np.tanh}.get(name, nowhere)
        images = np.where(x.finite, 0.0, image(x.special))
        whole = np.where(np.isfinite(images), images, 0).astype(np.int64).astype(object)
        value = np.where(x.finite, result.value, whole)
        known = None if result.known is None else result.known & x.finite
        return replace(result, value=value, known=known, special=np.where(np.isfinite(images), 0.0, images))

    def _function(self, name: str, x: Residues) -> Residues:
        match name:
            case "neg":
                return self.binary("sub", self._constant(0, x), x)
            case "exp":
                return self._exp(x)
            case "expm1":
                return self.binary("sub", self._exp(x), self._constant(1, x))
            case "exp2":
                logarithm = self._hashed("log", self._constant(2, x))
                return self._exp(self.binary("mul", x, logarithm))
            case "logistic":
                one = self._constant(1, x)
                return self.binary("div", one, self.binary("add", one, self._exp(self.unary("neg", x))))
            case "sinh" | "cosh" | "tanh":
                up, down = self._exp(x), self._exp(self.unary("neg", x))
                odd, even = self.binary("sub", up, down), self.binary("add", up, down)
                if name == "tanh":
                    return self.binary("div", odd, even)
                return self.binary("div", odd if name == "sinh" else even, self._constant(2, x))
            case "log1p":
                return self._hashed("log", self.binary("add", x, self._constant(1, x)))
            case "rsqrt":
                return self.binary("div", self._constant(1, x), self._hashed("sqrt", x))
            case "sign":
                return self.binary("div", self._even("abs", x), x)
            case "abs" | "cos":
                return self._even(name, x)
            case "erf" | "sin" | "tan" | "asin" | "atan" | "asinh" | "atanh" | "cbrt":
                # An odd function is an even one times the argument; at zero both sides vanish.
                return self.binary("mul", self._even(name, x), x)
            case "erfc":
                return self.binary("sub", self._constant(1, x), self.unary("erf", x))
            case "log" | "sqrt" | "acos" | "acosh" | "lgamma" | "digamma" | "floor":
                return self._hashed(name, x)
            case "ceil":
                return self.unary("neg", self._hashed("floor", self.unary("neg", x)))
        raise UnsupportedPrimitive(name, self.name)

    def binary(self, name: str, x: Residues, y: Residues) -> Residues:
        match name:
            case "add":
                return self._each(x, y, np.add, lambda a, b, modulus: (a + b) % modulus)
            case "sub":
                return self._each(x, y, np.subtract, lambda a, b, modulus: (a - b) % modulus)
            case "mul":
                return self._each(x, y, nowhere, lambda a, b, modulus: a * b % modulus)
            case "div":
                return self._each(x, y, nowhere, lambda a, b, modulus: a * self._inverses(b, modulus) % modulus)
            case "max" | "min":
                return self._larger(x, y, 1 if name == "max" else -1)
            case "pow" | "atan2":
                return self._hashed(name, x, y)
        raise UnsupportedPrimitive(name, self.name)

    def power(self, x: Residues, exponent: int) -> Residues:
        def raised(part: np.ndarray, modulus: int) -> np.ndarray:
            base = self._inverses(part, modulus) if exponent < 0 else part
            return objects([pow(entry, abs(exponent), modulus) for entry in base.reshape(-1)], part.shape)

        special = None if x.special is None else nowhere(x.special)
        if x.exponent is None or x.known is None or self.order is None:
            return replace(x, value=raised(x.value, self.prime), special=special)
        exponents = raised(np.where(x.known, x.exponent, 1), self.order)
        return replace(x, value=raised(x.value, self.prime), exponent=exponents, special=special)

    def compare(self, name: str, x: Residues, y: Residues) -> np.ndarray:
        one, other = np.broadcast_arrays(infinities(x), infinities(y))
        same = np.full(one.shape, x is y)
        answers = np.asarray(RELATIONS[name](one, other))
        decided = same | (one != other) | (np.isinf(one) & np.isinf(other))
        if PARTIAL & (x.through | y.through):
            decided = decided & (answers == (name == "ne"))  # what a NaN would answer as well
        if not np.all(decided & ~np.isnan(one) & ~np.isnan(other)):
            raise UndecidedComparison(name)
        return answers

    def is_finite(self, x: Residues) -> np.ndarray:
        # A NaN stands for what is not known, an infinity for itself.
        if np.isnan(infinities(x)).any() or (PARTIAL & x.through and x.finite.any()):
            raise UndecidedComparison("is_finite")
        return x.finite

    def sum(self, x: Residues) -> Residues:
        value = array(np.asarray(np.add.reduce(x.value, axis=-1, initial=0), dtype=object) % self.prime)
        special = None if x.special is None else np.asarray(x.special.sum(axis=-1))
        if x.exponent is None or x.known is None or self.order is None:
            return Residues(value, None, None, x.through, special)
        exponent = array(np.asarray(np.add.reduce(x.exponent, axis=-1, initial=0), dtype=object) % self.order)
        return Residues(value, exponent, np.asarray(x.known.all(axis=-1)), x.through, special)

    def dot(self, x: Residues, y: Residues) -> Residues:
        if not (x.finite.all() and y.finite.all()):
            raise UnsupportedPrimitive("dot_general", self.name, "an infinity or a NaN has no residue")
        value, through = product(x.value, y.value, self.prime), x.through | y.through
        if x.exponent is None or y.exponent is None or self.order is None:
            return Residues(value, None, None, through)
        assert x.known is not None and y.known is not None
        known = np.asarray(x.known.all(axis=2))[:, :, None] & np.asarray(y.known.all(axis=1))[:, None, :]
        return Residues(value, product(x.exponent, y.exponent, self.order), known, through)

    def determinant(self, x: Residues) -> Residues:
        if not x.finite.all():
            raise UnsupportedPrimitive("det", self.name, "an infinity or a NaN has no residue")

        def determinants(part: np.ndarray, modulus: int) -> np.ndarray:
            return objects([int(matrix_of(part[place], modulus).det()) for place in places], part.shape[:-2])

        places = list(np.ndindex(x.value.shape[:-2]))
        value = determinants(x.value, self.prime)
        if x.exponent is None or x.known is None or self.order is None:
            return Residues(value, None, None, x.through)
        exponent = determinants(np.where(x.known, x.exponent, 1), self.order)
        return Residues(value, exponent, np.asarray(x.known.all(axis=(-2, -1))), x.through)

    def solved(self, a: Residues, b: Residues) -> Residues:
        if not (a.finite.all() and b.finite.all()):
            raise UnsupportedPrimitive("linear_solve", self.name, "an infinity or a NaN has no residue")

        def solutions(left: np.ndarray, right: np.ndarray, modulus: int) -> np.ndarray:
            try:
                found = matrix_of(left, modulus).solve(matrix_of(right, modulus))
                return objects([int(entry) for entry in found.entries()], right.shape)
            except ZeroDivisionError:
                raise ZeroDivisor(modulus) from None

        value, through = solutions(a.value, b.value, self.prime), a.through | b.through
        if a.exponent is None or b.exponent is None or self.order is None:
            return Residues(value, None, None, through)
        assert a.known is not None and b.known is not None
        if not a.known.all():
            return Residues(value, np.zeros(value.shape, dtype=object), np.zeros(value.shape, bool), through)
        exponent = solutions(a.exponent, np.where(b.known, b.exponent, 1), self.order)
        known = np.broadcast_to(b.known.all(axis=0), value.shape)
        return Residues(value, exponent, known, through)

    def _larger(self, x: Residues, y: Residues, sign: int) -> Residues:
        """The larger of two numbers, or the smaller if the sign is minus one."""
        total, apart = self.binary("add", x, y), self.unary("abs", self.binary("sub", x, y))
        chosen = self.binary("add" if sign == 1 else "sub", total, apart)
        chosen = self.binary("div", chosen, self._constant(2, chosen))
        if x.special is None and y.special is None:
            return chosen
        one, other = np.broadcast_arrays(infinities(x), infinities(y))
        bottom = -sign * np.inf
        places = np.arange(one.size).reshape(one.shape)
        left = self.take(x, np.broadcast_to(np.arange(x.value.size).reshape(x.value.shape), one.shape))
        right = self.take(y, np.broadcast_to(np.arange(y.value.size).reshape(y.value.shape), one.shape))
        pool = self.join([left, right, chosen])
        picked = np.where(one == bottom, places + one.size, np.where(other == bottom, places, places + 2 * one.size))
        return self.take(pool, picked)

    def _each(
        self,
        x: Residues,
        y: Residues,
        beyond: Callable[[np.ndarray, np.ndarray], np.ndarray],
        operation: Callable[[Any, Any, int], Any],
    ) -> Residues:
        """The operation entry by entry in both moduli, and ``beyond`` on what is not finite."""
        special = None
        if x.special is not None or y.special is not None:
            special = np.asarray(beyond(infinities(x), infinities(y)))
            y = replace(y, value=np.where(y.finite, y.value, 1))
        value = array(operation(x.value, y.value, self.prime))
        through = x.through | y.through
        if x.exponent is None or y.exponent is None or self.order is None:
            return Residues(value, None, None, through, special)
        assert x.known is not None and y.known is not None
        # Where a residue is not known a one stands in for it: it divides, and its result is marked unknown.
        left, right = np.where(x.known, x.exponent, 1), np.where(y.known & y.finite, y.exponent, 1)
        known = np.broadcast_to(x.known & y.known, value.shape)
        return Residues(value, array(operation(left, right, self.order)), known, through, special)

    def _inverse(self, number: int, modulus: int) -> int:
        try:
            return pow(number, -1, modulus)
        except ValueError:
            raise ZeroDivisor(modulus) from None

    def _inverses(self, numbers: np.ndarray, modulus: int) -> np.ndarray:
        known = cache(lambda number: self._inverse(number, modulus))
        return objects([known(number) for number in np.asarray(numbers).reshape(-1)], np.shape(numbers))

    def _constant(self, number: int, like: Residues) -> Residues:
        shape = like.value.shape
        known = None if like.exponent is None else np.ones(shape, bool)
        exponent = None if like.exponent is None else np.full(shape, number, dtype=object)
        return Residues(np.full(shape, number, dtype=object), exponent, known)

    def _filled(self, x: Residues) -> tuple[np.ndarray, np.ndarray]:
        if x.exponent is None or x.known is None:
            return np.zeros(x.value.shape, dtype=object), np.zeros(x.value.shape, bool)
        return x.exponent, x.known

    @property
    def _generator(self) -> int:
        assert self.order is not None
        cofactor = (self.prime - 1) // self.order
        return next(power for base in range(2, 99) if (power := pow(base, cofactor, self.prime)) != 1)

    def _exp(self, x: Residues) -> Residues:
        r"""Powers of the generator; where the exponent has no residue, a hash with $e^{-x} = 1/e^x$."""
        through = x.through | {"exp"}
        exponent, known = self._filled(x)
        generator = self._generator if known.any() else 1
        powers = []
        for place, number in enumerate(x.value.reshape(-1)):
            if known.reshape(-1)[place]:
                powers.append(pow(generator, exponent.reshape(-1)[place], self.prime))
                continue
            smaller = min(number, self.prime - number)
            through |= {"exp of no rational number"}
            hashed = 1 if number == 0 else self._digest("exp", self.prime, smaller) or 1
            powers.append(hashed if number == smaller else self._inverse(hashed, self.prime))
        return Residues(objects(powers, x.value.shape), None, None, through)

    def _even(self, name: str, x: Residues) -> Residues:
        smaller = array(np.minimum(x.value, self.prime - x.value))
        hashed = self._hashed(name, replace(x, value=smaller))
        if name != "abs":
            return hashed
        nothing = np.asarray(np.equal(x.value, 0), dtype=bool)
        if not nothing.any():
            return hashed
        value = np.where(nothing, 0, hashed.value)
        exponent = None if hashed.exponent is None else np.where(nothing, 0, hashed.exponent)
        return replace(hashed, value=value, exponent=exponent)

    def _hashed(self, name: str, *arguments: Residues) -> Residues:
        """One uninterpreted function: equal residues modulo the prime have equal images, nothing else is known."""
        values = np.broadcast_arrays(*(argument.value for argument in arguments))
        shape, entries = values[0].shape, list(zip(*(value.reshape(-1) for value in values), strict=True))
        through = frozenset({name}).union(*(argument.through for argument in arguments))
        special = None
        if any(argument.special is not None for argument in arguments):
            special = np.zeros(shape) + sum(nowhere(infinities(argument)) for argument in arguments)
        value = objects([self._digest(name, self.prime, *entry) for entry in entries], shape)
        if self.order is None:
            return Residues(value, None, None, through, special)
        exponent = objects([self._digest(name + " exponent", self.order, *entry) for entry in entries], shape)
        return Residues(value, exponent, np.ones(shape, bool), through, special)

    def _digest(self, name: str, modulus: int, *numbers: int) -> int:
        text = f"{self.seed} {name} {' '.join(map(str, numbers))}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big") % modulus
