"""Singular values interlace when the outlier is subtracted, and the first of a row-stochastic matrix is at least one.

**Theorem.** Let A be a T x T matrix, J = 1 1^T/T, A_perp = A - J, and order singular values
s_1 >= s_2 >= ... Then s_(i+1)(A) <= s_i(A_perp) for every i. If the rows of A sum to one, then also
s_i(A_perp) <= s_i(A) for every i, and s_1(A) >= 1.

**Idea.** J has rank one, which gives the first inequality by Weyl, whatever the row sums. With rows
of sum one A A^T = u u^T + A_perp A_perp^T, u = (1, ..., 1)/sqrt(T) (outlier_identity): a positive
term is added, so no eigenvalue falls. And A u = u has length one, hence s_1(A) >= 1.
"""

import jax.numpy as jnp
from sympy import Matrix, Rational, Symbol, eye, ones

from theorax.language import *
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.extents import literal
from theorax.theorems.mind_the_gap._attention import mean_token_removed
from theorax.theorems.mind_the_gap._literal_networks import Weighted, drawn_weights, generic
from theorax.theorems.mind_the_gap._markov import T
from theorax.theorems.mind_the_gap._spectra import singular_values

seen = numbers(
    above="the largest of s_i(A_perp) - s_i(A)", below="the largest of s_(i+1)(A) - s_i(A_perp)", top="s_1(A)"
)

H = hypotheses(stochastic="the rows of every attention matrix sum to one")
slack = Absolute(1, 10**9, "the rounding of a decomposition in float64 is far below it")
not_above = Inequality(seen.above, at_most=0, margin=slack)
not_below = Inequality(seen.below, at_most=0, under=(), margin=slack)
at_least_one = Inequality(seen.top, at_least=1, margin=slack, wrong={"s_1 is at least 1 + 2/T": 1 + 2 / T})


def spectra(attention, T):
    """Positions of the spectra of A and A_perp against each other."""
    A = attention(None, T)
    s, s_perp = singular_values(A), singular_values(mean_token_removed(A, T))
    return dict(above=jnp.max(s_perp - s), below=jnp.max(s[1:] - s_perp[:-1]), top=s[0])


@derives(not_above)
def interlacing():
    """T = 2, 3, 4; that a positive rank-one term moves no eigenvalue past the next is cited."""
    x = Symbol("x", real=True)
    for order in (2, 3, 4):
        singular = (ones(order) / order - x * eye(order)).det()
        yield Solved("A A^T - A_perp A_perp^T = J, of eigenvalues zero and one", singular, x, [not_above.at_most, 1])
    yield Cited("so no eigenvalue of A_perp A_perp^T lies above that of A A^T of the same index", "Weyl 1912")


@derives(at_least_one)
def rows_of_sum_one():
    """T = 2, 3, 4, generic weights over their row sums; that the norm of a matrix bounds its gain on a vector is cited."""
    for order in (2, 3, 4):
        weights = Weighted(generic("w", order, order))
        A = evaluate(lambda attention, order=order: attention(None, literal(order)), (weights,), Symbolic())
        image = Matrix(A) * ones(order, 1) / order ** Rational(1, 2)
        gain = (image.T * image)[0]
        yield Step("the squared norm of A u, u the unit vector of equal entries", gain, at_least_one.at_least)
    yield Cited("s_1 is the largest |A x|/|x|", "Golub and Van Loan 2013, section 2.3")


matrix = Subject(drawn_weights, log_normal=0, empty=0.0, columns=0)
theorem = Theorem(
    place="the algebra behind the fix; elementary, derived here",
    label="reconstructed",
    uses=("outlier_identity",),
    hypotheses=H,
    claims=dict(not_above=not_above, not_below=not_below, at_least_one=at_least_one),
    proofs=(interlacing, rows_of_sum_one),
    experiments=dict(
        spectra=Experiment(
            spectra, seen, {T: Efforts((8, 32), (8, 32, 128), (8, 32, 128, 512))}, draws=Efforts(250, 250, 400),
            padded=True,
            subjects={
                "exponential": matrix,
                "log-normal": matrix(log_normal=1),
                "softmax off by one": matrix(empty=1.0).breaking(H.stochastic, fails=at_least_one),
                "most weight on an empty token": matrix(empty=1e3).breaking(H.stochastic, fails=not_above),
            },
        ),
    ),
    issues=("Interlacing says nothing of how far the first singular value lies above the second.",),
)
