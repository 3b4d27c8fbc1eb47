r"""Laws given by an algebraic equation of their Stieltjes transform $g(x) = E\,1/(x - X)$."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from sympy import Expr, Poly, Rational, Symbol, solve, symbols, sympify

from theorax.errors import StatementError, problem
from theorax.language.limit_laws import LawOfNumbers

_MOST_NODES = 2**15
# Laws are compared at 1e-4; the quadrature is carried on until it is out of sight of that.
_AGREEMENT = 2.0**-36


@final
@dataclass(frozen=True)
class AlgebraicLaw(LawOfNumbers):
    r"""The law of compact support whose $g$ is the root of ``equation`` = 0 with $g(x) \sim 1/x$ at infinity.

    ``equation`` is a polynomial in ``x`` and ``g`` whose coefficients hold the letters. Off the real line $g$ is
    analytic, so every end of the support is a branch point of the equation (a zero of its discriminant in g) and
    every atom a zero of its leading coefficient: the support lies in $[-r, r]$, r the largest modulus of such a point.
    With $z(w) = \tfrac r2 (w + 1/w)$, which maps $|w| > 1$ to the outside of $[-r, r]$, Cauchy's formula gives

    $$E\,e^{itX} = \frac1{2\pi i} \oint_{|w| = \rho} e^{itz} g(z)\, z'(w)\, dw.$$

    **Errors:** the integrand is analytic on $|w| > 1$, so the trapezoid rule with N nodes converges like $\rho^{-N}$;
    nodes are doubled until two results agree to $2^{-36}$, and $\rho - 1$ is at most one over the largest $|t| r$: that
    bounds the growth of $e^{itz}$ by $e$. The root is followed along the contour from the real axis, where it is
    continued from infinity; a lost branch would not integrate to mass one, which is checked to the same accuracy.

    **Raises:** StatementError if the equation has no root like 1/x, or the quadrature does not converge.
    """

    equation: Expr
    x: Symbol
    g: Symbol

    def __post_init__(self) -> None:
        object.__setattr__(self, "equation", sympify(self.equation))
        if not self.equation.is_polynomial(self.x, self.g):
            problem(
                "law-equation",
                f"AlgebraicLaw({self.equation}) is no polynomial in {self.x} and {self.g}. Only an algebraic equation "
                "can be followed from infinity. Multiply it by its denominators.",
            )
        _moments(self, 1)

    def __str__(self) -> str:
        return f"the law whose Stieltjes transform g ~ 1/{self.x} solves {self.equation} = 0"

    @property
    def letters(self) -> frozenset[Symbol]:
        return frozenset(self.equation.free_symbols) - {self.x, self.g}

    def scaled(self, factor: Expr) -> AlgebraicLaw:
        """The transform of cX is g(x/c)/c."""
        factor = sympify(factor)
        changed = self.equation.subs({self.x: self.x / factor, self.g: factor * self.g}, simultaneous=True)
        return AlgebraicLaw(changed.together().as_numer_denom()[0], self.x, self.g)

    def moment(self, power: int) -> Expr:
        """From the expansion g(x) = sum of m_k/x^(k+1) at infinity, order by order."""
        return _moments(self, power)[power]

    def characteristic(self, frequencies: np.ndarray, values: Mapping[Symbol, float]) -> np.ndarray:
        times = np.asarray(frequencies, float)
        coefficients = _in_numbers(self, values)
        radius = _branch_radius(self, values)
        rho = 1 + 1 / max(4.0, float(np.max(np.abs(times), initial=0.0)) * radius)
        # Mass one is asked for beside the frequencies.
        asked = np.concatenate([[0.0], times])
        nodes, coarse = 256, _integral(coefficients, radius, rho, 128, asked)
        while nodes <= _MOST_NODES:
            fine = _integral(coefficients, radius, rho, nodes, asked)
            if np.max(np.abs(fine - coarse)) < _AGREEMENT and abs(fine[0] - 1) < _AGREEMENT:
                return fine[1:]
            nodes, coarse = 2 * nodes, fine
        raise StatementError.of(
            "law-converges",
            f"The characteristic function of AlgebraicLaw({self.equation}) does not converge with {_MOST_NODES} nodes. "
            "Its root was lost between infinity and the support. See whether the equation holds a law at these values.",
        )


def _moments(law: AlgebraicLaw, count: int) -> list[Expr]:
    """m_0 = 1 to m_count: with u = 1/x, g = u (1 + m_1 u + ...) makes every coefficient of the equation vanish."""
    u = Symbol("u")
    unknown = symbols(f"m_1:{count + 1}") if count else ()
    g = u * (1 + sum((m * u ** (k + 1) for k, m in enumerate(unknown)), sympify(0)))
    degree = Poly(law.equation, law.x).degree()
    expanded = Poly((law.equation.subs(law.g, g).subs(law.x, 1 / u) * u**degree).expand(), u)
    ascending = list(reversed(expanded.all_coeffs()))
    found: dict[Symbol, Expr] = {}
    left = list(unknown)
    for number, coefficient in enumerate(ascending):
        rest = sympify(coefficient).subs(found).expand()
        if not left:
            break
        if rest != 0 and left[0] in rest.free_symbols:
            found[left[0]] = solve(rest, left[0])[0].factor()
            left = left[1:]
        elif rest != 0:
            raise StatementError.of(
                "law-equation",
                f"AlgebraicLaw({law.equation}) has no root like 1/{law.x} at infinity: order {number} of its expansion "
                "does not vanish. The transform of a probability law has one. Correct the equation or its normalisation.",
            )
    return [sympify(1), *(found[m] for m in unknown)]


def _in_numbers(law: AlgebraicLaw, values: Mapping[Symbol, float]) -> list[np.ndarray]:
    """The coefficients in g, highest power first, each a polynomial in x, highest power first."""
    polynomial = Poly(law.equation.subs(values), law.g)
    return [np.array([complex(c) for c in Poly(c, law.x).all_coeffs()]) for c in polynomial.all_coeffs()]


def _branch_radius(law: AlgebraicLaw, values: Mapping[Symbol, float]) -> float:
    """The largest modulus of a branch point or pole; coefficients in 30 digits, for discriminants cancel."""
    polynomial = Poly(law.equation.subs(values), law.x, law.g)
    equation = Poly({powers: Rational(c.evalf(30)) for powers, c in polynomial.terms()}, law.x, law.g)
    in_g = Poly(equation.as_expr(), law.g)
    found = [0.0]
    for special in (in_g.discriminant(), in_g.LC()):
        if special.has(law.x):
            found += [abs(complex(root)) for root in Poly(special, law.x).nroots(n=20, maxsteps=500)]
    # The roots are found to far more digits than are added.
    return max(found) * (1 + 2.0**-20)


def _integral(coefficients: list[np.ndarray], radius: float, rho: float, nodes: int, times: np.ndarray) -> np.ndarray:
    """The trapezoid rule on the circle |w| = rho, for a law on the real line: one half of it and its mirror image."""
    angles = (np.arange(nodes) + 0.5) * np.pi / nodes
    w = rho * np.exp(1j * angles)
    z = radius / 2 * (w + 1 / w)
    g = _followed(coefficients, np.concatenate([[radius / 2 * (rho + 1 / rho)], z]))[1:]
    weight = g * radius / 2 * (w - 1 / w) / nodes  # g z'(w) w / N
    upper = np.exp(1j * np.outer(times, z)) @ weight
    # At the mirrored point all but e^(itz) is conjugated, and e^(itz) becomes the conjugate of e^(-itz).
    lower = np.conj(np.exp(-1j * np.outer(times, z)) @ weight)
    return (upper + lower) / 2


def _followed(coefficients: list[np.ndarray], path: np.ndarray) -> np.ndarray:
    """The root g ~ 1/z continued from infinity to the first point of the path, and along it."""
    # From far out, where 1/z is the root but for a relative (r/z)^2, in steps of a sixteenth.
    start = path[0].real
    approach = start * np.geomspace(2.0**20, 1.0, 16 * 20)
    points = np.concatenate([approach, path])
    table = [np.polyval(c, points) for c in coefficients]
    found, previous = np.empty(len(points), complex), 1 / points[0]
    for i in range(len(points)):
        roots = np.roots([column[i] for column in table])
        # Extrapolated linearly: near a branch point the root itself moves fast.
        guess = 2 * previous - found[i - 2] if i > len(approach) + 1 else previous
        found[i] = previous = roots[np.argmin(np.abs(roots - guess))]
    return found[len(approach) :]
