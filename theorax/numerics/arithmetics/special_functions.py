"""Special functions in complex balls: every one by Arb, with the part of the plane on which it is not analytic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import sympy
from flint import acb, arb

__all__ = ["NOWHERE", "Applied", "Cut", "applied", "real_part"]

NOWHERE = acb("nan")

Value: TypeAlias = Callable[..., acb]
"""From balls of all arguments, in SymPy's order, to a ball of the value."""


class Cut(Enum):
    """Points at which a function of its main argument is not analytic."""

    NONE = "none, or poles alone, at which the ball is not finite"
    NEGATIVE = "the negative real axis with zero"
    ABOVE_ONE = "the real axis from one on"
    OUTSIDE = "the real axis up to minus one, and from one on"
    IMAGINARY = "the imaginary axis from i on, and from -i on"
    LAMBERT = "the real axis up to -1/e, and zero for the other branches"
    EVERYWHERE = "the whole plane: it is no analytic function"

    def touches(self, z: acb) -> bool:
        """May the ball hold a point of the cut?"""
        if self is Cut.NONE:
            return False
        if self is Cut.EVERYWHERE:
            return True
        if self is Cut.IMAGINARY:
            return bool(z.real.contains(0) and not abs(z.imag) < 1)
        if not z.imag.contains(0):
            return False
        x = z.real
        match self:
            case Cut.NEGATIVE:
                return not x > 0
            case Cut.ABOVE_ONE:
                return not x < 1
            case Cut.OUTSIDE:
                return not abs(x) < 1
            case _:
                return not x > -(arb(-1).exp())


@dataclass(frozen=True)
class Applied:
    """A node of an expression as a function of balls: its operands, its value, and where that is not analytic.

    ``main``: the operand in which it is analytic off the cut; the others have to be numbers where analyticity counts.
    """

    operands: tuple[sympy.Expr, ...]
    value: Value
    cut: Cut = Cut.NONE
    main: int = -1

    @property
    def jointly(self) -> bool:
        """Is it analytic in all of its operands together, wherever it is finite?"""
        return self.cut is Cut.NONE and self.value in _JOINTLY

    def at(self, operands: list[acb], analytic: bool) -> acb:
        """The value at these balls; not finite where it must be analytic and may not be."""
        if analytic and self.cut.touches(operands[self.main]):
            return NOWHERE
        return self.value(*operands)


def applied(node: sympy.Expr) -> Applied | None:
    """The node as a special function of its operands; None where none is known.

    **Errors:** those of Arb, inside the ball. Outside of the domain of a function its ball is not finite.
    """
    name = type(node).__name__
    if isinstance(node, sympy.hyper):
        return _hypergeometric(node)
    found = _TABLE.get((name, len(node.args)), _TABLE.get((name, None)))
    return None if found is None else Applied(node.args, *found)


def real_part(value: acb) -> arb:
    """The real number in the ball; not finite where the value is not real."""
    return value.real if value.imag.is_zero() else arb("nan")


def _hypergeometric(node: Any) -> Applied:
    above, below = len(node.ap), len(node.bq)

    def value(*operands: acb) -> acb:
        a: list[Any] = list(operands[:above])
        b: list[Any] = list(operands[above : above + below])
        z = operands[-1]
        if above > below + 1:  # a divergent series
            return NOWHERE
        if above == below + 1 and Cut.ABOVE_ONE.touches(z) and not (z - 1).is_zero():
            return NOWHERE  # SymPy does not say from which side the cut is reached
        if above == 2 and below == 1:
            return z.hypgeom_2f1(a[0], a[1], b[0])
        return z.hypgeom(a, b)

    cut = Cut.ABOVE_ONE if above == below + 1 else Cut.NONE
    return Applied((*node.ap, *node.bq, node.argument), value, cut)


def _airy(place: int) -> Value:
    return lambda z: z.airy()[place]


def _spherical(value: Callable[[acb, acb], acb]) -> Value:
    return lambda n, z: (acb.pi() / (2 * z)).sqrt() * value(z, n + acb(1) / 2)


def _incomplete_beta(regularized: bool) -> Value:
    """Over [x1, x2]; from one on a cut begins, on which no side is chosen."""

    def value(a: acb, b: acb, low: acb, high: acb) -> acb:
        if any(Cut.ABOVE_ONE.touches(end) and not (end - 1).is_zero() for end in (low, high)):
            return NOWHERE
        lower, upper = (end.beta_lower(a, b, regularized=int(regularized)) for end in (low, high))
        return upper if low.is_zero() else upper - lower

    return value


def _zeta(s: acb, a: acb | None = None) -> acb:
    return s.zeta() if a is None else s.zeta(a)


def _polygamma(order: acb, z: acb) -> acb:
    # Arb's orders are complex and its poles are found; SymPy's are whole numbers from zero on.
    return z.digamma() if order.is_zero() else z.polygamma(order)


def _harmonic(n: acb, order: acb | None = None) -> acb:
    if order is None or order == 1:
        return (n + 1).digamma() + acb(arb.const_euler())
    return order.zeta() - order.zeta(n + 1)


def _lambert(z: acb, branch: acb | None = None) -> acb:
    whole = 0 if branch is None else (branch.real.unique_fmpz() if branch.is_exact() else None)
    return NOWHERE if whole is None else z.lambertw(int(whole))


def _whole_order(value: Callable[..., acb]) -> Value:
    """Orthogonal polynomials have the degree first, and Arb has it last."""
    return lambda n, *others: value(others[-1], n, *others[:-1])


_TABLE: Mapping[tuple[str, int | None], tuple[Value, Cut, int]] = {
    ("exp", 1): (acb.exp, Cut.NONE, -1),
    ("log", 1): (acb.log, Cut.NEGATIVE, -1),
    ("sin", 1): (acb.sin, Cut.NONE, -1),
    ("cos", 1): (acb.cos, Cut.NONE, -1),
    ("tan", 1): (acb.tan, Cut.NONE, -1),
    ("cot", 1): (acb.cot, Cut.NONE, -1),
    ("sec", 1): (acb.sec, Cut.NONE, -1),
    ("csc", 1): (acb.csc, Cut.NONE, -1),
    ("sinc", 1): (acb.sinc, Cut.NONE, -1),
    ("sinh", 1): (acb.sinh, Cut.NONE, -1),
    ("cosh", 1): (acb.cosh, Cut.NONE, -1),
    ("tanh", 1): (acb.tanh, Cut.NONE, -1),
    ("coth", 1): (acb.coth, Cut.NONE, -1),
    ("sech", 1): (acb.sech, Cut.NONE, -1),
    ("csch", 1): (acb.csch, Cut.NONE, -1),
    ("asin", 1): (acb.asin, Cut.OUTSIDE, -1),
    ("acos", 1): (acb.acos, Cut.OUTSIDE, -1),
    ("atanh", 1): (acb.atanh, Cut.OUTSIDE, -1),
    ("acosh", 1): (acb.acosh, Cut.EVERYWHERE, -1),
    ("atan", 1): (acb.atan, Cut.IMAGINARY, -1),
    ("asinh", 1): (acb.asinh, Cut.IMAGINARY, -1),
    ("gamma", 1): (acb.gamma, Cut.NONE, -1),
    ("loggamma", 1): (acb.lgamma, Cut.NEGATIVE, -1),
    ("digamma", 1): (acb.digamma, Cut.NONE, -1),
    ("polygamma", 2): (_polygamma, Cut.NONE, -1),
    ("factorial", 1): (lambda n: (n + 1).gamma(), Cut.NONE, -1),
    ("RisingFactorial", 2): (lambda x, k: (x + k).gamma() * x.rgamma(), Cut.NONE, -1),
    ("FallingFactorial", 2): (lambda x, k: (x + 1).gamma() * (x - k + 1).rgamma(), Cut.NONE, -1),
    ("beta", 2): (lambda a, b: a.gamma() * b.gamma() * (a + b).rgamma(), Cut.NONE, -1),
    ("harmonic", None): (_harmonic, Cut.EVERYWHERE, -1),
    ("zeta", None): (_zeta, Cut.NONE, 0),
    ("dirichlet_eta", 1): (acb.dirichlet_eta, Cut.NONE, -1),
    ("lerchphi", 3): (lambda z, s, a: z.lerch_phi(s, a), Cut.ABOVE_ONE, 0),
    ("polylog", 2): (lambda s, z: z.polylog(s), Cut.ABOVE_ONE, -1),
    ("LambertW", None): (_lambert, Cut.LAMBERT, 0),
    ("erf", 1): (acb.erf, Cut.NONE, -1),
    ("erfc", 1): (acb.erfc, Cut.NONE, -1),
    ("erfi", 1): (acb.erfi, Cut.NONE, -1),
    ("erf2", 2): (lambda low, high: high.erf() - low.erf(), Cut.NONE, -1),
    ("uppergamma", 2): (lambda s, z: z.gamma_upper(s), Cut.NEGATIVE, -1),
    ("lowergamma", 2): (lambda s, z: z.gamma_lower(s), Cut.NEGATIVE, -1),
    ("betainc", 4): (_incomplete_beta(regularized=False), Cut.EVERYWHERE, -1),
    ("betainc_regularized", 4): (_incomplete_beta(regularized=True), Cut.EVERYWHERE, -1),
    ("expint", 2): (lambda s, z: z.expint(s), Cut.NEGATIVE, -1),
    ("Ei", 1): (acb.ei, Cut.NEGATIVE, -1),
    ("li", 1): (acb.li, Cut.EVERYWHERE, -1),
    ("Li", 1): (lambda z: z.li(offset=True), Cut.EVERYWHERE, -1),
    ("Si", 1): (acb.si, Cut.NONE, -1),
    ("Ci", 1): (acb.ci, Cut.NEGATIVE, -1),
    ("Shi", 1): (acb.shi, Cut.NONE, -1),
    ("Chi", 1): (acb.chi, Cut.NEGATIVE, -1),
    ("fresnels", 1): (lambda z: z.fresnel_s(), Cut.NONE, -1),
    ("fresnelc", 1): (lambda z: z.fresnel_c(), Cut.NONE, -1),
    ("besselj", 2): (lambda n, z: z.bessel_j(n), Cut.NEGATIVE, -1),
    ("bessely", 2): (lambda n, z: z.bessel_y(n), Cut.NEGATIVE, -1),
    ("besseli", 2): (lambda n, z: z.bessel_i(n), Cut.NEGATIVE, -1),
    ("besselk", 2): (lambda n, z: z.bessel_k(n), Cut.NEGATIVE, -1),
    ("hankel1", 2): (lambda n, z: z.bessel_j(n) + acb(0, 1) * z.bessel_y(n), Cut.NEGATIVE, -1),
    ("hankel2", 2): (lambda n, z: z.bessel_j(n) - acb(0, 1) * z.bessel_y(n), Cut.NEGATIVE, -1),
    ("jn", 2): (_spherical(acb.bessel_j), Cut.NEGATIVE, -1),
    ("yn", 2): (_spherical(acb.bessel_y), Cut.NEGATIVE, -1),
    ("airyai", 1): (_airy(0), Cut.NONE, -1),
    ("airyaiprime", 1): (_airy(1), Cut.NONE, -1),
    ("airybi", 1): (_airy(2), Cut.NONE, -1),
    ("airybiprime", 1): (_airy(3), Cut.NONE, -1),
    ("elliptic_k", 1): (lambda m: m.elliptic_k(), Cut.ABOVE_ONE, -1),
    ("elliptic_e", 1): (lambda m: m.elliptic_e(), Cut.ABOVE_ONE, -1),
    ("elliptic_e", 2): (acb.elliptic_e_inc, Cut.EVERYWHERE, -1),
    ("elliptic_f", 2): (acb.elliptic_f, Cut.EVERYWHERE, -1),
    ("elliptic_pi", 2): (acb.elliptic_pi, Cut.EVERYWHERE, -1),
    ("elliptic_pi", 3): (acb.elliptic_pi_inc, Cut.EVERYWHERE, -1),
    ("legendre", 2): (_whole_order(acb.legendre_p), Cut.EVERYWHERE, -1),
    ("hermite", 2): (_whole_order(acb.hermite_h), Cut.NONE, -1),
    ("laguerre", 2): (_whole_order(acb.laguerre_l), Cut.NONE, -1),
    ("assoc_laguerre", 3): (_whole_order(acb.laguerre_l), Cut.NONE, -1),
    ("chebyshevt", 2): (_whole_order(acb.chebyshev_t), Cut.EVERYWHERE, -1),
    ("chebyshevu", 2): (_whole_order(acb.chebyshev_u), Cut.EVERYWHERE, -1),
    ("gegenbauer", 3): (_whole_order(acb.gegenbauer_c), Cut.EVERYWHERE, -1),
    ("jacobi", 4): (_whole_order(acb.jacobi_p), Cut.EVERYWHERE, -1),
    ("re", 1): (lambda z: acb(z.real), Cut.EVERYWHERE, -1),
    ("im", 1): (lambda z: acb(z.imag), Cut.EVERYWHERE, -1),
    ("conjugate", 1): (acb.conjugate, Cut.EVERYWHERE, -1),
    ("arg", 1): (lambda z: acb(z.arg()), Cut.EVERYWHERE, -1),
}
"""Functions by SymPy's name and number of arguments (None: any): value, cut, main argument."""

_JOINTLY = frozenset(
    _TABLE[name][0] for name in (("beta", 2), ("RisingFactorial", 2), ("FallingFactorial", 2), ("erf2", 2))
)
