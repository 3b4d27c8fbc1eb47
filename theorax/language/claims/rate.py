"""Rates: orders of growth and decay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, final

from sympy import Basic, Expr, Rational, Symbol, diff, exp, latex, log, simplify, sympify

from theorax.decide.corrections import Corrections
from theorax.decide.rates import WORDS
from theorax.decide.status import Side
from theorax.decide.verdict import Assumption, Standing
from theorax.language.claims.asymptotic import AsymptoticClaim
from theorax.language.claims.claim import needs_margin, needs_measured
from theorax.language.margins import Absolute
from theorax.language.notation import beside, inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Rate(AsymptoticClaim):
    """``of`` grows or decays like a constant times ``like`` as ``as_`` tends to infinity.

    ``like`` is a power ``n**a`` or an exponential ``exp(c*n)``, the exponent free of ``n``; what is decided is the
    exponent ``a`` or ``c``, in absolute units. ``side``: "exact" (both ways), "at most" (an upper bound on the order)
    or "at least". Factors of log n are allowed for by ``approach=Corrections(loglog=...)``: a soft order.
    ``average``: "mean of log" where the theorem is almost sure or in probability, "log of mean" where it is about
    expectations. ``floor``: values are exact up to this absolute error; sizes that come near it are left out.
    ``rules_out``: the exponents, from the first to the second, of the other form (a power beside an exponential, an
    exponential beside a power) that support must exclude, under the class ``rival``.
    """

    of: Expr
    like: Expr
    _: KW_ONLY
    side: Literal["exact", "at most", "at least"] = "exact"
    average: Literal["mean of log", "log of mean"] = "mean of log"
    floor: Expr | float = 0
    rules_out: tuple[Expr, Expr] | None = None
    rival: Corrections = field(default_factory=Corrections)
    words = WORDS
    measured_fields = ("of",)
    stated_fields = ("like", "floor")
    has_margin_reading = True
    predicted_fields = ("like",)
    predicts_an_exponent = True
    takes_variates = True

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_measured(self, "of")
        needs_margin(self)
        if self.margin is not None and not isinstance(self.margin, Absolute):
            self._refuse(
                "absolute-margin",
                f"margin={self.margin} is relative",
                "The claim decides an exponent, and an exponent may be zero.",
                "Write Absolute(1, 10) for a tenth.",
            )
        if self.as_ in self.exponent.free_symbols:
            self._refuse(
                "power-or-exponential",
                f"like={self.like} is neither a power of {self.as_} nor an exponential in it",
                "Its exponent would depend on the size.",
                f"Write {self.as_}**a or exp(c*{self.as_}); move further factors to the other side.",
            )
        if self.average not in ("mean of log", "log of mean"):
            self._refuse(
                "average",
                f"average={self.average!r} is none that a rate is read from",
                "The logarithm of a mean and the mean of a logarithm differ where the draws spread.",
                'Write "mean of log" or "log of mean".',
            )
        if sympify(self.floor).is_number and not sympify(self.floor) >= 0:
            self._refuse(
                "floor",
                f"floor={self.floor} is negative",
                "It bounds an absolute error.",
                "Write a number of at least zero.",
            )
        if self.rules_out is not None:
            if len(self.rules_out) != 2 or not all(sympify(end).is_finite for end in self.rules_out):
                self._refuse(
                    "rival-range",
                    f"rules_out={self.rules_out} is no finite range",
                    "Some member of an unbounded family of forms fits any finite sweep.",
                    "Write the smallest and the largest exponent that must be excluded, such as (-8, 0).",
                )
            object.__setattr__(self, "rules_out", tuple(sorted(map(sympify, self.rules_out))))

    @cached_property
    def is_exponential(self) -> bool:
        """True for exp(c n), False for n^a."""
        return self.as_ not in _slope(self.like, self.as_).free_symbols and self.as_ in self.like.free_symbols

    @cached_property
    def exponent(self) -> Expr:
        """d log like / d log n of a power, d log like / d n of an exponential."""
        return _slope(self.like, self.as_) if self.is_exponential else _order(self.like, self.as_)

    @property
    def averaged_at_a_size(self) -> tuple[Expr, bool] | None:
        return self.of, self.average == "mean of log"

    @property
    def sided(self) -> Side:
        return {"exact": Side.EQUAL, "at most": Side.AT_MOST, "at least": Side.AT_LEAST}[self.side]

    @property
    def proved_sides(self) -> tuple[Basic, ...]:
        return (self.like, self.exponent)

    @property
    def formula(self) -> str:
        of = "".join(part if isinstance(part, str) else inline(part) for part in self._measured)
        return f"{of} = {self._order}({inline(self.like)})"

    @property
    def regime(self) -> str:
        return f"{super().regime}{self._not_like}"

    @property
    def displayed(self) -> str:
        return beside(*self._measured, f" = {self._order}( ", self.like, f" )   {self.regime}")

    @property
    def formula_latex(self) -> str:
        order = {Side.EQUAL: r"\Theta", Side.AT_MOST: "O", Side.AT_LEAST: r"\Omega"}[self.sided]
        order = rf"\tilde{{{order}}}" if self.approach.loglog else order
        of = rf"\mathbb{{E}}\left[{latex(self.of)}\right]" if self.average == "log of mean" else latex(self.of)
        return rf"{of} = {order}\left({latex(self.like)}\right){self.tending_latex}"

    @property
    def _order(self) -> str:
        """Theta, O or Omega; with a tilde where powers of log n are allowed for."""
        order = {Side.EQUAL: "Θ", Side.AT_MOST: "O", Side.AT_LEAST: "Ω"}[self.sided]
        return order + "\u0303" if self.approach.loglog else order

    @property
    def _measured(self) -> tuple[str | Expr, ...]:
        return ("E[", self.of, "]") if self.average == "log of mean" else ("", self.of)

    @property
    def _not_like(self) -> str:
        """The rival form that support excludes, in words."""
        if self.rules_out is None:
            return ""
        low, high = map(inline, self.rules_out)
        form = f"{self.as_}^a, a" if self.is_exponential else f"exp(c {self.as_}), c"
        return f",  not like {form} from {low} to {high}"

    def wrong_variants(self) -> Iterator[Change]:
        """The exponent off by the margin and more, doubled, halved; one way only, if the claim is one-sided."""
        assert self.margin is not None
        step, exponent = self.margin.value, self.exponent
        for change in (sign * size for size in (step, 3 * step / 2, 2 * step, Rational(1, 2)) for sign in (1, -1)):
            if not self._implies(change):
                yield self._moved(change)
        if exponent != 0 and not self._implies(exponent):
            yield "exponent x 2", {"like": self._power(2 * exponent)}
        if exponent != 0 and not self._implies(-exponent):
            yield "exponent / 2", {"like": self._power(exponent / 2)}

    def weaker_variants(self) -> Iterator[Change]:
        """Either side of an exact order; the exponent of a one-sided one, moved the way that follows."""
        if self.sided is Side.EQUAL:
            yield "at most this order", {"side": "at most"}
            yield "at least this order", {"side": "at least"}
        elif self.margin is not None:
            yield self._moved(2 * self.margin.value * (1 if self.sided is Side.AT_MOST else -1))

    def _implies(self, change: Expr) -> bool:
        """True if the order changed by this follows from the claim: a larger upper bound, a smaller lower one."""
        if self.sided is Side.EQUAL:
            return False
        return bool(change > 0 if self.sided is Side.AT_MOST else change < 0)

    def _moved(self, change: Expr) -> Change:
        return f"exponent {'+' if change > 0 else '-'} {abs(change)}", {"like": self._power(self.exponent + change)}

    def _power(self, exponent: Expr) -> Expr:
        return exp(exponent * self.as_) if self.is_exponential else self.as_**exponent

    def assumptions(self) -> tuple[Assumption, ...]:
        """The class of corrections, and the tails of the logarithms."""
        tails = "logarithms of the draws have light tails, so that Student's t holds"
        return (*super().assumptions(), Assumption("moment", tails, Standing.DECLARED))


@lru_cache(maxsize=4096)
def _slope(like: Expr, letter: Symbol) -> Expr:
    """d log like / d letter: a claim and most of its variants have one."""
    return simplify(diff(log(like), letter))


@lru_cache(maxsize=4096)
def _order(like: Expr, letter: Symbol) -> Expr:
    """d log like / d log letter."""
    return simplify(letter * _slope(like, letter))
