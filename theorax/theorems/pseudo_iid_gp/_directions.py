"""Eighth moments of rows of signs in one direction a: balanced signs or random signs.

The third condition of pseudo-iid weights asks that n^4 E (W a)_i^8/|a|^8 is bounded uniformly in the direction.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from sympy import Expr, Integer, expand, factorial, prod, sqrt, symbols, sympify

from theorax.language import Measured, Parameter, Subject
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices
from theorax.theorems.pseudo_iid_gp._ensembles import LinearLayer, n, width

LAWS = ("signs", "fixed sum")
DIRECTIONS = ("balanced signs", "random signs")

eighth = Measured("eighth", "n^4 (W a)_i^8/|a|^8, mean over rows and n directions of one kind", positive=True)
moment = Parameter(
    "moment", "n^4 E (W a)_i^8/|a|^8, fixed by the law of W and the kind of the direction a", positive=True
)
SIGNS = 105 - 420 / n + 588 / n**2 - 272 / n**3  # E (X_1 + ... + X_n)^8/n^4 for independent signs
# For balanced signs a, and signs X of the sum sqrt n.
BALANCED = (105 * n**5 - 1995 * n**4 + 13083 * n**3 - 33977 * n**2 + 29952 * n - 10240) / (
    n**2 * (n - 3) * (n - 5) * (n - 7)
)


class Directed(eqx.Module):
    """A layer and n directions, one a column, all entries of modulus one."""

    layer: LinearLayer
    directions: Float[Array, "N N"]


def directed(key: Array, n: Extent, law: Int[Array, ""], kind: Int[Array, ""]) -> Directed:
    """Weights of the law at this place of `LAWS`, and directions of a kind of `DIRECTIONS`."""
    own, root = named(key, "weights"), jnp.sqrt(1 / width(n))
    shape = (n.padded, n.padded)
    makers = (
        lambda: jnp.where(block(n, n), jax.random.rademacher(own, shape) * root, 0),
        lambda: weight_matrices.conditioned_rademacher(own, n),
    )
    # Balanced: half of the signs of a column are plus, as the ranks of uniform numbers say.
    places = jnp.where(n.mask[:, None], jax.random.uniform(named(key, "places"), shape), 2.0)
    ranks = jnp.argsort(jnp.argsort(places, axis=0), axis=0)
    signs = jax.random.rademacher(named(key, "signs"), shape, dtype=root.dtype)
    a = jnp.where(kind == DIRECTIONS.index("balanced signs"), 1.0 - 2 * (ranks % 2), signs)
    return Directed(LinearLayer(jax.lax.switch(law, makers)), jnp.where(block(n, n), a, 0))


def observe(model: Directed, n: Extent) -> dict[str, Float[Array, ""]]:
    """Mean over the rows and the directions."""
    lengths = jnp.where(n.mask, (model.directions**2).sum(0), 1)
    along = (model.layer.weight @ model.directions) / jnp.sqrt(lengths)
    return dict(eighth=width(n) ** 2 * (along**8).sum())  # n^4 over n^2 products


def subject(law: str, kind: str, known: Expr | int) -> Subject:
    """Rows of this law in directions of this kind, whose eighth moment is said to be ``known``."""
    return Subject(directed, law=LAWS.index(law), kind=DIRECTIONS.index(kind), knows={moment: sympify(known)})


def falling(start: Expr, count: int) -> Expr:
    """start (start - 1) ... of so many factors."""
    return Integer(1) * prod(start - i for i in range(count))


def eighth_moments_by_direction() -> tuple[Expr, Expr]:
    """n^4 E (W a)_i^8/|a|^8 of rows with the sum sqrt n: for balanced signs a, and the mean over random signs a.

    It is 8! times the coefficient of t^8 in E exp(t <a, X>)/n^4. As exp(t X) = cosh t (1 + X tanh t) for a sign X, this
    needs the elementary symmetric polynomials of a, and the means of products of different X_i, which are those of a
    sign vector of this sum.
    """
    t, s = symbols("t s", real=True)
    elementary = [Integer(1)]  # of a sign vector of sum s, by Newton's identities: its power sums are s and n in turn
    for k in range(1, 9):
        powers = [(-1) ** (i - 1) * elementary[k - i] * (s if i % 2 else n) for i in range(1, k + 1)]
        elementary.append(expand(sum(powers) / k))
    products = [elementary[2 * j].subs(s, sqrt(n)) * factorial(2 * j) / falling(n, 2 * j) for j in range(5)]
    # One half of the signs of a is plus: pairs (1 + x)(1 - x) make e_2j(a), with the sign (-1)^j.
    chosen = [(-1) ** j * falling(n / 2, j) / factorial(j) for j in range(5)]
    x = t**2
    log_cosh, tanh_squared = n * (x / 2 - x**2 / 12 + x**3 / 45 - 17 * x**4 / 2520), x - 2 * x**2 / 3 + 17 * x**3 / 45
    powered = expand(sum(log_cosh**k / factorial(k) for k in range(5)))
    terms = [expand(powered * tanh_squared**j).coeff(t, 8) if j < 4 else Integer(1) for j in range(5)]
    balanced = sum(chosen[j] * products[j] * terms[j] for j in range(5))
    return factorial(8) * balanced / n**4, factorial(8) * terms[0] / n**4
