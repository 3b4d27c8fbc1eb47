"""The outlier of a row-stochastic matrix is exactly rank one, and subtracting the uniform matrix removes it exactly.

**Theorem.** Let A be a T x T matrix whose rows sum to one, J = 1 1^T/T and A_perp = A - J.
Then A J = J, A (I - J) = A_perp, A_perp 1 = 0, A A^T = J + A_perp A_perp^T and
||A||_F^2 = 1 + ||A_perp||_F^2, for every T and whatever the column sums.

**Idea.** A J = J because A 1 = 1. Hence A_perp = A (I - J): subtracting J from A is the same as
subtracting the mean token before tokens are mixed. The two parts J = u u^T,
u = (1, ..., 1)/sqrt(T), and A_perp satisfy A_perp J = 0, so their Gram matrices add up. Singular
values follow in outlier_interlacing, products and networks in common_token_identity.
"""

import jax.numpy as jnp
from sympy import transpose

from theorax.language import *
from theorax.numerics.extents import block, literal
from theorax.theorems.mind_the_gap._literal_networks import Weighted, drawn_weights, rows_summing_to_one
from theorax.theorems.mind_the_gap._markov import T

seen = arrays(
    A="a row-stochastic matrix",
    J="the uniform matrix 1 1^T/T",
    AJ="A J",
    centred_first="A (I - J), the mean token subtracted before mixing",
    row_sums="A_perp 1",
    column_sums="1^T A_perp",
    gram="A A^T",
    gram_perp="A_perp A_perp^T",
    square="||A||_F^2",
    square_perp="||A_perp||_F^2",
)
A, J = seen.A, seen.J

H = hypotheses(stochastic="the rows of every attention matrix sum to one")
rounding = "the account of the rounding of these products stays below it, a wrong term is far above"
exactly = Relative(1, 10**6, rounding)
kept = Identity(seen.AJ, J, margin=exactly, wrong={"no 1/T": T * J})
fix = Identity(seen.centred_first, A - J, margin=exactly, wrong={"no 1/T": A - T * J})
silent = Identity(
    seen.row_sums, 0, margin=Absolute(1, 10**6, rounding),
    wrong={"1^T A_perp = 0, as for doubly stochastic matrices": dict(left=seen.column_sums)},
)
grams = Identity(seen.gram, J + seen.gram_perp, margin=exactly)
squares = Identity(seen.square, 1 + seen.square_perp, margin=exactly)


def compare(attention, T):
    """The matrix, what it does to the uniform one, and the same of A_perp."""
    A = attention(None, T)
    J, I = block(T, T) / jnp.asarray(T.value, A.dtype), jnp.eye(T.padded)
    A_perp = A - J
    return dict(
        A=A, J=J, AJ=A @ J, centred_first=A @ (I - J), row_sums=A_perp.sum(1), column_sums=A_perp.sum(0),
        gram=A @ A.T, gram_perp=A_perp @ A_perp.T, square=(A**2).sum(), square_perp=(A_perp**2).sum(),
    )


@settles(kept, fix, silent, grams, squares)
def any_rows(claim):
    """Generic rows of sum one; T = 2, 3, 4."""
    for order in (2, 3, 4):
        matrix = Weighted(rows_summing_to_one("a", order))
        yield Instance(claim, f"T = {order}", compare, matrix, literal(order))


@lemma
def every_order():
    """Every T, of A 1 = 1 and J = 1 1^T/T alone."""
    A, J = generic_matrices("A J")
    A_perp, rows = A - J, ((A * J, J), (J * J, J), (transpose(J), J))
    yield MatrixStep("subtracted before the tokens are mixed", A * (1 - J), A_perp, rows)
    yield MatrixStep("what the uniform matrix gives is removed", A_perp * J, 0, rows)
    yield MatrixStep(
        "Gram matrices, and with them singular values", A * transpose(A), J + A_perp * transpose(A_perp), rows
    )


matrix = Subject(drawn_weights, log_normal=0, empty=0.0, columns=0)
theorem = Theorem(
    place="the algebra behind the fix; elementary, proved here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(kept=kept, fix=fix, silent=silent, grams=grams, squares=squares),
    proofs=(any_rows, every_order),
    experiments=dict(
        matrices=Experiment(
            compare, seen, {T: Efforts((4, 16), (4, 16), (4, 16, 64))}, draws=Efforts(2, 3, 8), padded=True,
            subjects={
                "exponential": matrix,
                "log-normal": matrix(log_normal=1),
                "softmax off by one": matrix(empty=1.0).breaking(
                    H.stochastic, fails=(kept, fix, silent, grams, squares),
                ),
                "columns normalised": matrix(columns=1).breaking(H.stochastic, fails=(kept, fix, silent, grams)),
            },
        ),
    ),
    issues=(
        "Weights that sum to one are what the squared norms need in total alone: columns that sum to one satisfy "
        "||A||_F^2 = 1 + ||A_perp||_F^2 too.",
    ),
)
