r"""The declared class of finite-size corrections: how far a finite size may still be from its limit.

No finite amount of data identifies a limit or an exponent. What decides one is data *and* a declared class: with $y(n)$
the mean (or the log of the mean) measured at size $n$, $n_0$ the smallest size, and $x = n/n_0$,

$$y(n) = \text{claimed form} + \int x^{-w}\,d\mu(w) + r(n) + P \log x + P' \log\log n
         + \sum_{w \in \text{free}} \beta_w x^{-w},$$

where $|\mu|([w_\text{lo}, w_\text{hi}]) \le B$ and $|r(n)| \le R\,x^{-w_2}$. Signed mixtures are included, so any
number of correction terms of total size $B$ is in the class. $B$ and $R$ are in units of $y$, at the smallest size.
A sequence with a growing term has no limit: in a limit $P$ and $P'$ bound terms $c/\log n$ and $c \log\log n/\log n$,
in units of $y$, at the smallest size as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import SupportsFloat, cast

from theorax.decide.slow_terms import SlowTerm
from theorax.errors import StatementError, problem
from theorax.text.numbers import as_typed, number

__all__ = ["Corrections", "Expansion"]

# The class that needs no reason of its own: half of y at the smallest size, decaying at least like a square root.
_SIZE, _SLOWEST, _FASTEST = 0.5, 0.5, 2.0


@dataclass(frozen=True)
class Corrections:
    r"""Corrections of total size $B$ (``size``) with powers between $w_\text{lo}$ and $w_\text{hi}$, and a faster rest.

    ``rest`` ($R$) is $B^2/2$ unless given, the second-order term of a logarithm; ``order`` ($w_2$) is $2 w_\text{lo}$.
    ``free`` powers are *known* and may have any coefficient: the weights annihilate them. ``log`` bounds the power $P$
    of an unknown factor $n^P$ beside an exponential, ``loglog`` that of $(\log n)^{P'}$; ``math.inf`` leaves it free.
    In a limit ``log`` bounds a correction $c/\log n$ and ``loglog`` one of $c \log\log n/\log n$, at the smallest size:
    the largest of n normal numbers over $\sqrt{2 \log n}$ has both.
    In a limit ``log`` bounds a correction $c/\log n$ and ``loglog`` one of $c \log\log n/\log n$, at the smallest size:
    the largest of $n$ independent normal numbers over $\sqrt{2 \log n}$ has both.
    With ``size=0, rest=0`` there is no correction beside that factor.
    ``reference``: the size at which B and R are stated, where that is not the smallest size measured (see `anchored`).

    **Raises:** `StatementError` for a class that does not vanish as the size grows, or that is sharper than the default
    and gives no ``reason``.
    """

    size: float = _SIZE
    slowest: float = _SLOWEST
    fastest: float = _FASTEST
    rest: float | None = None
    order: float | None = None
    free: tuple[float, ...] = ()
    log: float = 0.0
    loglog: float = 0.0
    reason: str = ""
    reference: float | None = None

    def __post_init__(self) -> None:
        if self.reference is not None:
            object.__setattr__(self, "reference", _number("reference", self.reference))
        for name in ("size", "slowest", "fastest", "log", "loglog"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        for name in ("rest", "order"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _number(name, getattr(self, name)))
        object.__setattr__(self, "free", _powers(self.free))
        for sentence in self._problems():
            problem("corrections", sentence)

    def _problems(self) -> Iterator[str]:
        for name in ("size", "rest", "log", "loglog"):
            value = getattr(self, name)
            if value is not None and value < 0:
                yield (
                    f"Corrections({name}={value:g}) is negative. {name} bounds an absolute value. "
                    f"Write {name}={-value:g}, both signs are in the class."
                )
        if math.isinf(self.size) or math.isinf(self.remainder):
            yield (
                "Corrections of unbounded size leave every limit possible. No data decide under such a class. "
                "Write a finite size and rest, or name the powers whose coefficients are unbounded: free=(1,)."
            )
        if not 0 < self.slowest <= self.fastest < math.inf:
            yield (
                f"Corrections(slowest={self.slowest:g}, fastest={self.fastest:g}) is no range of decaying powers. "
                "A correction n**-w vanishes only for w > 0. Write 0 < slowest <= fastest, both finite."
            )
        if any(not 0 < power < math.inf for power in self.free):
            yield (
                f"Corrections(free={self.free}) holds a power that does not decay. The term n**-w with w <= 0 is "
                "part of "
                "the limit. Write positive powers: free=(1,) stands for an unbounded multiple of 1/n."
            )
        if len(set(self.free)) < len(self.free):
            yield (
                f"Corrections(free={self.free}) names a power twice. One coefficient per power is unbounded already. "
                "Write each power once."
            )
        if self.remainder > 0 and not 0 < self.remainder_order < math.inf:
            yield (
                f"Corrections(order={self.remainder_order:g}) is a rest that does not decay. "
                "It would be part of the limit. Write a positive finite order, or rest=0."
            )
        if self.remainder > 0 and self.free and self.remainder_order <= max(self.free):
            yield (
                f"Corrections(free={self.free}, order={self.remainder_order:g}) has a rest no smaller than its last "
                f"known term. The rest of an expansion decays faster than the terms written out. "
                f"Write an order above {max(self.free):g}."
            )
        if self.is_sharper and not self.reason.strip():
            yield (
                f"Corrections(size={self.size:g}, slowest={self.slowest:g}, fastest={self.fastest:g}, "
                f"rest={self.remainder:g}, order={self.remainder_order:g}, free={self.free}) promises more than the "
                "default class and gives no reason. A class that is too sharp refutes what is true, and the data "
                "cannot "
                'show it. Write reason="..." saying why the corrections are that small, or Corrections().'
            )

    @property
    def remainder(self) -> float:
        """The bound R of the rest at the smallest size."""
        return self.size**2 / 2 if self.rest is None else self.rest

    @property
    def remainder_order(self) -> float:
        """The power by which the rest decays."""
        return 2 * self.slowest if self.order is None else self.order

    @property
    def is_sharper(self) -> bool:
        """True if some member of the default class is missing, so that a reason is owed."""
        return (
            self.size < _SIZE
            or self.slowest > _SLOWEST
            or self.fastest < _FASTEST
            or self.remainder < _SIZE**2 / 2
            or self.remainder_order > 2 * _SLOWEST
        )

    @property
    def is_reasoned(self) -> bool:
        """True if the author gave a reason for the class: it is then the author's, otherwise a default."""
        return bool(self.reason.strip())

    def anchored(self, smallest: float, *, in_limit: bool = False) -> Corrections:
        """The same class with B and R stated at ``smallest``; ``in_limit``: the logarithms are those of a limit.

        A term of size B at the reference is B (smallest/reference)^-w at the smallest size; over the powers of the
        class the largest of these bounds them all, so the anchored class contains the declared one.
        """
        if self.reference is None or self.reference == smallest:
            return replace(self, reference=None)
        ratio = smallest / self.reference
        power = self.fastest if ratio < 1 else self.slowest
        at = (smallest, self.reference)

        def slow(term: SlowTerm, bound: float) -> float:
            if not (in_limit and bound and term.is_defined(at)):
                return bound
            here, there = term.at(at)
            return bound * abs(here / there)

        return replace(
            self,
            log=slow(SlowTerm.LOG, self.log),
            loglog=slow(SlowTerm.LOGLOG, self.loglog),
            size=self.size * ratio**-power,
            rest=self.remainder * ratio**-self.remainder_order,
            order=self.remainder_order,
            reference=None,
            reason=self.reason or "the default class, restated at the smallest size",
        )

    def enlarged(self, factor: float, slower: float = 1.0) -> Corrections:
        """The class with ``factor`` times the size, powers from ``slower`` times the slowest on; the rest is kept.

        Where the size is zero the rest and the logarithmic terms are enlarged instead.
        """
        kept = replace(self, rest=self.remainder, order=self.remainder_order)
        if self.size > 0:
            return replace(kept, size=factor * self.size, slowest=slower * self.slowest)
        return replace(kept, rest=factor * self.remainder, log=factor * self.log, loglog=factor * self.loglog)

    def redesigns(self, refuted: bool) -> tuple[Corrections, ...]:
        """The larger classes under which a status must stand to be called robust; none where nothing can be enlarged.

        | status | size B > 0 | B = 0 |
        |---|---|---|
        | supported | 2 B | 2 R, 2 P |
        | refuted | 2 B; 1.5 B from 0.8 w_lo on | 2 R, 2 P |
        """
        if self.size > 0:
            slower = (self.enlarged(1.5, slower=0.8),) if refuted else ()
            return (self.enlarged(2.0), *slower)
        bounded = [term for term in (self.remainder, self.log, self.loglog) if 0 < term < math.inf]
        return (self.enlarged(2.0),) if bounded else ()

    def __str__(self) -> str:
        terms: list[str] = []
        if self.size:
            terms.append(f"{as_typed(self.size)} in powers {as_typed(self.slowest)} to {as_typed(self.fastest)}")
        if self.free:
            terms.append("any multiple of powers " + ", ".join(map(as_typed, self.free)))
        if self.remainder:
            terms.append(f"rest {number(self.remainder, 6)} of order {as_typed(self.remainder_order)}")
        for name, bound in (("log n", self.log), ("log log n", self.loglog)):
            if bound:
                terms.append(f"any multiple of {name}" if math.isinf(bound) else f"{bound:g} {name}")
        return "; ".join(terms) or "no corrections"


def Expansion(
    powers: Iterable[SupportsFloat] = (1,),
    *,
    rest: SupportsFloat,
    order: SupportsFloat,
    reason: str,
    reference: SupportsFloat | None = None,
) -> Corrections:
    """An expansion in known powers of 1/n with unknown coefficients, and a rest of known order and size.

    ``rest`` has no default: half the square of a size that is zero would promise an exact polynomial.
    """
    return Corrections(
        size=0.0,
        rest=float(rest),
        order=float(order),
        free=tuple(map(float, powers)),
        reason=reason,
        reference=None if reference is None else float(reference),
    )


def _powers(given: object) -> tuple[float, ...]:
    """Powers in increasing order; a single number is one power."""
    powers = cast("Iterable[object]", given) if isinstance(given, tuple | list) else (given,)
    return tuple(sorted(_number("free", power) for power in powers))


def _number(name: str, value: object) -> float:
    if not isinstance(value, SupportsFloat) or math.isnan(number := float(value)):
        raise StatementError.of(
            "corrections",
            f"Corrections({name}={value!r}) is not a number. The class is fixed before any data are seen. "
            f"Write a number for {name}.",
        )
    return number
