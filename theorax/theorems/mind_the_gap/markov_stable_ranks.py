"""The stable rank of a random Markov matrix tends to 1 + sigma_A^2, and to a quarter of T without the outlier.

**Theorem.** Let A be a T x T random Markov matrix: iid positive weights over their row sums, with a
fixed law, a finite fourth moment and coefficient of variation sigma_A. Let A_perp = A - J. Then, in
the mean as T -> oo, sr(A) -> 1 + sigma_A^2, T (sr(A A^T) - 1)/sigma_A^4 -> 2, sr(A_perp)/T -> 1/4
and sr(A_perp A_perp^T)/T -> 1/8. The same limits hold if all rows are divided by the mean row sum
instead.

**Idea.** The first singular value tends to one (markov_top_and_second_singular), and the others
fill a quarter circle of radius 2 sigma_A/sqrt(T). So the sums of the second and fourth powers of
the others are sigma_A^2 and 2 sigma_A^4/T: two moments of the Marchenko-Pastur law. Without the
outlier the edge 2 sigma_A/sqrt(T) takes the role of the first value.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import *
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._attention import mean_token_removed
from theorax.theorems.mind_the_gap._free import free_moment, z
from theorax.theorems.mind_the_gap._lanczos import leading_singular_triplets
from theorax.theorems.mind_the_gap._markov import EXPONENTIAL, UNIFORM, T, cv, sigma_A
from theorax.theorems.mind_the_gap._models import matrix
from theorax.theorems.mind_the_gap._spectra import tail_power

seen = numbers(
    top="s_1(A)",
    squares="sum of s_i(A)^2, i >= 2",
    fourths="sum of s_i(A)^4, i >= 2",
    edge="s_1(A_perp)",
    squares_perp="sum of s_i(A_perp)^2",
    fourths_perp="sum of s_i(A_perp)^4",
    positive=True,
)
by_moments = setting.in_powers(0.06, 32, setting.IID_MOMENTS)

H = hypotheses(
    identical="the weights are independent and have one law",
    finite_variance="the weights have a finite variance",
    fixed_law="their law does not change with T",
    fourth_moment="the weights have a finite fourth moment",
)
stable_rank = Limit(
    1 + seen.squares / seen.top**2, 1 + sigma_A**2, as_=T, approach=by_moments, spread=2 / T,
    margin=Relative(1, 8, "sr(A) -> 1, which holds for A A^T, is a quarter off even for uniform weights"),
    wrong={"sr(A) -> 1": Integer(1)},
)
gram = Limit(
    T * seen.fourths / seen.top**4 / sigma_A**4, Integer(2), as_=T, approach=by_moments, spread=5 / T,
    margin=Relative(1, 8, "the square of the second moment, sigma_A^4, is half of the fourth"),
    wrong={"the fourth moment taken for the square of the second": Integer(1)},
)
without = Limit(
    seen.squares_perp / seen.edge**2 / T, Rational(1, 4), as_=T, spread=1 / T ** Rational(2, 3),
    approach=setting.with_known_edge(0.2, setting.TRACY_WIDOM),
    margin=Relative(1, 6, "all values alike would give one, a semicircle's edge in place of its square's a half"),
)
gram_without = Limit(
    seen.fourths_perp / seen.edge**4 / T, Rational(1, 8), as_=T, spread=2 / T ** Rational(2, 3),
    approach=setting.with_known_edge(0.3, setting.TRACY_WIDOM),
    margin=Relative(1, 6, "the square of the second moment in place of the fourth would give half of it"),
    wrong={"the fourth moment taken for the square of the second": Rational(1, 16)},
)


def spectrum(A, T):
    def outer(M):
        first = leading_singular_triplets(M, k=1, tolerance=1e-16)
        two, four = tail_power(M, first, 2), tail_power(M, first, 4)
        return first, jnp.stack([two.value, four.value]), jnp.stack([two.error, four.error])

    first, tails, errors = jax.lax.map(outer, jnp.stack([A, mean_token_removed(A, T)]))
    (top, edge), (top_error, edge_error) = first.values[:, 0], first.residuals[:, 0]
    powers = edge ** jnp.array([2, 4])
    return dict(
        top=top, top_error=top_error, edge=edge, edge_error=edge_error,
        squares=tails[0, 0], squares_error=errors[0, 0], fourths=tails[0, 1], fourths_error=errors[0, 1],
        squares_perp=powers[0] + tails[1, 0], squares_perp_error=(edge + edge_error) ** 2 - powers[0] + errors[1, 0],
        fourths_perp=powers[1] + tails[1, 1], fourths_perp_error=(edge + edge_error) ** 4 - powers[1] + errors[1, 1],
        cv=setting.observed_coefficient_of_variation(A, T),
    )


@lemma
def moments():
    """Every sigma_A, for the limit law."""
    law = quarter_circle(2 * sigma_A)
    two, four = setting.moment(law, 2), setting.moment(law, 4)
    yield Step("one and the sum of squares of the bulk", 1 + two, stable_rank.to)
    yield Step("T times the sum of its fourth powers", four / sigma_A**4, gram.to)
    yield Step("and from the S-transform of the squares", free_moment(1 / (1 + z), 2), gram.to)
    yield Step("sum of squares over T edge^2", two / (2 * sigma_A) ** 2, without.to)
    yield Step("sum of fourth powers over T edge^4", four / (2 * sigma_A) ** 4, gram_without.to)


every = (stable_rank, gram, without, gram_without)
theorem = Theorem(
    place="moments of the bulk of Bordenave et al. 2012, reconstructed; constants derived here",
    label="reconstructed",
    uses=("markov_top_and_second_singular", "markov_bulk_quarter_circular", "leading_singular_values"),
    hypotheses=H,
    claims=dict(stable_rank=stable_rank, gram=gram, without=without, gram_without=gram_without),
    proofs=(moments,),
    experiments=dict(
        spectra=Experiment(
            spectrum, (seen, cv), {T: Efforts((32, 64, 192), (32, 64, 128, 256), (64, 128, 256, 512, 1024))},
            draws=Efforts(64, 96, 400), padded=True,
            subjects={
                "exponential": matrix(EXPONENTIAL),
                "uniform": matrix(UNIFORM),
                "zero or one": matrix(setting.BERNOULLI),
                # Sums of rows differ by T^(-1/2), which no rank sees in the limit.
                "rows not normalised": matrix(EXPONENTIAL, loose=1),
                "popular tokens": matrix(setting.POPULAR, popular=0.5).breaking(H.identical, fails=every),
                # sigma_A grows with T in these two: they are held against one.
                "infinite variance": matrix(setting.PARETO, {sigma_A: 1}, tail=1.5).breaking(
                    H.finite_variance, fails=every,
                ),
                "infinite fourth moment": matrix(setting.PARETO, tail=2.2).breaking(
                    H.fourth_moment, fails=(gram, without, gram_without),
                ),
                "sharp softmax": matrix(setting.LOGNORMAL, {sigma_A: 1}, sharp=1).breaking(H.fixed_law, fails=every),
            },
        )
    ),
    issues=(
        "All ranks but that of A need four moments as a hypothesis. The rank of A needs them only for the declared class, "
        "corrections of order 1/T.",
    ),
)
