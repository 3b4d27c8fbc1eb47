"""With Xavier weights and unit tokens scores vanish as the width grows: the second singular value of A is T^(-3/2).

**Theorem.** Let X_0 have T orthonormal rows in dimension d = T/gamma, W_Q and W_K be d x d with iid
Gaussian entries of variance 1/d, and A = softmax(X_0 W_Q W_K^T X_0^T/sqrt(d)) along rows. Let W_Q
and W_K be independent. Then, in the mean as T -> oo at fixed gamma,
T^(3/2) s_2(A) -> gamma sqrt(x_+), with x_+ = (1 + z)^2 (1 + gamma z)/z and
z = (sqrt(1 + 8 gamma) - 1)/(4 gamma), and d^2 ||A - J||_F^2 -> 1. The order T^(-3/2) of s_2(A) is
exact; it also holds if W_Q = W_K, or for one of four heads, where scores of width d/4 are divided
by sqrt(d/4). The limit of d^2 ||A - J||_F^2 holds for one of four heads too.

**Idea.** Scores are (1/d) q_i.k_j/sqrt(d) with standard Gaussian q and k, so
A = J + Q K^T/(T d sqrt(d)) + smaller terms, up to row means. The squared singular values of
Q K^T/sqrt(T d) tend to the free product of Marchenko-Pastur laws of ratios one and gamma, with
right edge x_+; at gamma = 1 it is 27/4.
"""

import jax.numpy as jnp
from sympy import Derivative, Integer, Rational, Subs, log, sqrt

from theorax.language import *
from theorax.numerics.ensembles import gaussian as gaussian_matrix
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._attention import softmax_rows
from theorax.theorems.mind_the_gap._free import inverse_of_edge, z
from theorax.theorems.mind_the_gap._lanczos import leading_singular_triplets
from theorax.theorems.mind_the_gap._markov import T, cv, d, gamma

second = Measured("second", "second singular value of A", positive=True)

root = (sqrt(1 + 8 * gamma) - 1) / (4 * gamma)
edge = (1 + root) ** 2 * (1 + gamma * root) / root
at_an_edge = setting.at_an_edge(0.25, seen=0.08)
H = hypotheses(
    isometric="the input tokens are orthonormal, X_0 X_0^T = I: unit norm, whatever the width",
    xavier="W_Q and W_K have iid Gaussian entries of variance 1/d",
    independent="W_Q and W_K are independent",
    one_head="queries and keys are as wide as the tokens, d_qk = d",
)
constant = Limit(
    second * T ** Rational(3, 2), gamma * sqrt(edge), as_=T, spread=1 / T ** Rational(2, 3), approach=at_an_edge,
    margin=Relative(1, 10, "the quarter circle's edge 2 in the place of sqrt(27/4) is 23 percent less"),
    wrong={"the edge of the quarter circle": 2 * gamma},
)
rate = Rate(
    second, T ** Rational(-3, 2), as_=T, under=(H.isometric, H.xavier), spread=1 / T ** Rational(2, 3), approach=at_an_edge,
    margin=Absolute(1, 4, "tokens of norm sqrt(d) have T^(-1/2), one power away"),
    wrong={"the rate of tokens of norm sqrt(d)": 1 / sqrt(T)},
)
spread = Limit(
    cv**2 * d**2, Integer(1), as_=T, under=(H.isometric, H.xavier, H.independent), spread=4 / T,
    approach=Corrections(
        size=0.15, slowest=1, rest=0, reference=64, reason="a moment of a Gaussian product; at most 0.05 at T = 64",
    ),
    margin=Relative(1, 10, "weights of variance 2/d change it by four"),
)


def attention(key, T, d, norm, gain, wider, heads, tied):
    """Key-query attention with weights of variance ``gain`` d^(wider - 1); X_0 W_Q has iid rows whatever the isometric X_0.

    ``norm`` the power of d in the squared norm of a token, ``heads`` the number of heads of width d/heads, of which one
    is looked at, ``tied`` W_Q = W_K.
    """
    width = jnp.asarray(d.value, jnp.zeros(()).dtype)
    d_qk = Extent(d.value // heads, d.padded)
    scale = jnp.sqrt(gain * width ** (norm + wider) / width)
    queries = gaussian_matrix(named(key, "queries"), T, d_qk, scale)
    keys = jnp.where(tied, queries, gaussian_matrix(named(key, "keys"), T, d_qk, scale))
    return softmax_rows(queries @ keys.T / jnp.sqrt(width / heads), T)


def observe(A, T):
    leading = leading_singular_triplets(A, k=2)
    return dict(
        second=leading.values[1],
        second_error=leading.residuals[1],
        cv=setting.observed_coefficient_of_variation(A, T),
    )


@derives(constant)
def edge_of_product():
    """Generic gamma; that the remainder of the softmax is negligible is power counting."""
    yield Cited(
        "independent Gaussian factors are asymptotically free, so their S-transforms multiply",
        "Voiculescu 1991; Voiculescu 1987",
    )
    S = 1 / ((1 + z) * (1 + gamma * z))
    inverse = inverse_of_edge(S)
    yield Step(
        "the place of the edge is a critical point of 1/chi", Subs(Derivative(log(inverse), z), z, root), Integer(0)
    )
    yield Step("s_2 in units of T^(-3/2)", gamma * sqrt(Subs(inverse, z, root)), constant.to)
    yield Step("at gamma = 1", Subs(constant.to, gamma, 1), sqrt(Rational(27, 4)))


xavier = Subject(attention, norm=0.0, gain=1.0, wider=0.0, heads=1, tied=0)
theorem = Theorem(
    place="derived here; the abstract says that the experiments motivate revising the default scaling",
    label="derived",
    uses=("keyquery_gap_and_bulk", "leading_singular_values"),
    hypotheses=H,
    claims=dict(constant=constant, rate=rate, spread=spread),
    proofs=(edge_of_product,),
    experiments=dict(
        layer=Experiment(
            observe, (second, cv), {T: setting.WIDTHS}, derived={d: T / gamma},
            at=({gamma: Integer(1)}, {gamma: Rational(1, 2)}), draws=Efforts(48, 64, 256), padded=True,
            subjects={
                "Xavier": xavier,
                "tokens of norm sqrt(d)": xavier(norm=1.0).breaking(H.isometric, fails=(constant, rate, spread)),
                "weights of variance 2/d": xavier(gain=2.0).breaking(H.xavier, fails=(constant, spread)),
                "weights of variance d^(-1/2)": xavier(wider=0.5).breaking(H.xavier, fails=rate),
                "tied queries and keys": xavier(tied=1).breaking(H.independent, fails=(constant, spread)),
                "four heads": xavier(heads=4).breaking(H.one_head, fails=constant),
            },
        )
    ),
    issues=(
        "Practice normalises tokens to norm sqrt(d) before attention; there beta = 1 and the rate is T^(-1/2) again.",
        "spread speaks of one head: with d_qk < d it stays, and only the edge moves.",
    ),
)
