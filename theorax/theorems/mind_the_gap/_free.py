"""Free probability on paper: moments and right edge of a law on the positive half line from its S-transform.

With psi(w) = m_1 w + m_2 w^2 + ... the moment series and chi its inverse, S(z) = (1 + z) chi(z)/z; S multiplies under
free products. The Marchenko-Pastur law of ratio c and mean one, the law of G G^T/n for an m x n Gaussian G, c = m/n,
has S = 1/(1 + c z).
"""

from __future__ import annotations

from sympy import Derivative, Expr, Poly, Subs, Symbol, diff, expand_log, factorial, log, numer, powsimp, together

z = Symbol("z", positive=True)


def free_moment(S: Expr, order: int) -> Expr:
    """The moment m_n as a derivative at zero, not computed: Lagrange inversion of chi, m_n = [z^(n-1)] ((1 + z)/S)^n/n."""
    power = ((1 + z) / S) ** order
    return Subs(Derivative(power, (z, order - 1)) if order > 1 else power, z, 0) / factorial(order)


def inverse_of_edge(S: Expr) -> Expr:
    """1/chi(z) as a function of z: the point x = 1/w at which psi(w) = z; the right edge is its least value."""
    return powsimp((1 + z) / (z * S))


def edge_condition(S: Expr) -> Expr:
    """The polynomial in z whose positive root is the critical point of 1/chi, hence the place of the right edge."""
    return numer(together(diff(expand_log(log(inverse_of_edge(S))), z)))


def least_stationary(inverse: Expr, g: Symbol) -> Expr:
    """The least stationary point g > 0 of a rational function, as a number: of 1/g + R(g) the place of the right edge.

    Where the free cumulants are not negative this function is convex between zero and the first pole of R, and grows
    without bound towards either.
    """
    places = Poly(numer(together(diff(inverse, g))), g).nroots(n=20, maxsteps=200)
    return min(place for place in places if place.is_real and place > 0)
