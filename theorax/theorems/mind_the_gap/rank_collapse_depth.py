"""Rank collapse in depth: what stands beside the common token after l layers, and how fast it dies at fixed T.

**Theorem.** Let A_1, A_2, ... be random Markov matrices of iid positive weights with a fixed law, a
finite fourth moment and coefficient of variation sigma_A. At fixed l and as T -> oo,
s_1(A_l ... A_1) -> 1 in the mean. If the A_l are independent, then also (sqrt(T)/sigma_A)^l
s_2(A_l ... A_1) -> sqrt((l + 1)^(l + 1)/l^l). Let the weights be Gamma(alpha), the A_l independent,
A_perp = A - J, and lambda_T = lim (1/L) ln |(A_L)_perp ... (A_1)_perp x| as L -> oo, where the
entries of x are not all equal. Then T (lambda_T - (ln(2 v) + digamma((T - 1)/2))/2) -> 0 as
T -> oo, with v = 1/(T (alpha T + 1)).

**Idea.** In units (sigma_A^2/T)^l the squared singular values of products of the A_perp tend to the
Fuss-Catalan law of right edge (l + 1)^(l + 1)/l^l. A Dirichlet row has covariance v (I - J). Were
it Gaussian, |A_perp x|^2 would be v |x|^2 times chi^2_(T-1), and
E ln chi^2_k = ln 2 + digamma(k/2). The kurtosis of the rows shifts lambda_T by O(1/T^2).
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, Integer, Integral, Rational, Subs, Symbol, digamma, exp, gamma, log, oo, sqrt

from theorax.language import *
from theorax.numerics import distributions
from theorax.numerics.ensembles import markov
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._free import edge_condition, inverse_of_edge, z
from theorax.theorems.mind_the_gap._lanczos import leading_singular_triplets
from theorax.theorems.mind_the_gap._markov import LOGNORMAL, UNIFORM, T, cv, d, l, sigma_A
from theorax.theorems.mind_the_gap._models import network

alpha = Parameter("alpha", "shape of the Gamma weights: rows are Dirichlet(alpha, ..., alpha)", positive=True)
seen = numbers(
    top="largest singular value of A_l ... A_1", second="second singular value of A_l ... A_1", over=(l,), positive=True
)
exponent = Measured("exponent", "(1/L) ln |A_L_perp ... A_1_perp x| after many layers L")

H = hypotheses(
    markov="attention matrices are random Markov matrices of iid weights",
    independent="attention matrices of different layers are independent",
    fixed_law=setting.FIXED_LAW,
    dirichlet="the weights have the law Gamma(alpha): rows are Dirichlet(alpha, ..., alpha)",
)
edge = Limit(
    seen.second * (sqrt(T) / sigma_A) ** l, sqrt((l + 1) ** (l + 1) / l**l), as_=T,
    under=(H.markov, H.independent, H.fixed_law), spread=Rational(27, 20) / T ** Rational(2, 3),
    approach=setting.at_an_edge(0.45, seen=0.15),
    margin=Relative(1, 8, "one layer more or less changes the edge by a quarter at least"),
    wrong={"the edge 2 of one layer, to the power l": 2**l},
)
outlier = Limit(
    # A product maps ones to ones, so s_1 is one at least, and at most the product of the factors' s_1.
    seen.top, Integer(1), as_=T, under=(H.markov, H.fixed_law),
    spread=1 / (12 * T),  # draws scatter 0.011/T to 0.087/T on other seeds
    approach=Corrections(size=0.1, slowest=1, rest=0, reference=64, reason="s_1 - 1 is sigma_A^2/(2T) at l = 1"),
    margin=Relative(1, 20, "popular tokens, whose columns differ by a factor 3, have s_1 = 1.12"),
)

v = 1 / (T * (alpha * T + 1))  # s_T/(T (T - 1)) with s_T = E ||A_perp||_F^2 = (T - 1)/(alpha T + 1)
predicted = (log(2 * v) + digamma((T - 1) / 2)) / 2
weight = alpha * T  # of a row of Gamma weights, in mean


def kurtosis(fourths):
    """The kurtosis of a row along a centred unit vector with this sum of fourth powers."""
    return (3 + 6 * fourths / alpha) * weight * (weight + 1) / ((weight + 2) * (weight + 3))


kappa = kurtosis(3 * (T - 1) / (T * (T + 1))) - 3  # the excess along a direction spread evenly, 6/(alpha T) as T grows


def beside(exponent_of_theory):
    """T times the distance from it, the shift by the kurtosis, which tends to zero, taken out."""
    return T * (exponent - exponent_of_theory) + kappa / 4


decay = Limit(
    beside(predicted), Integer(0), as_=T, under=(H.dirichlet, H.independent), spread=sqrt(T) / 40,
    approach=Corrections(
        size=0.1, slowest=1, rest=0, reference=8,
        reason="beside the shift by the kurtosis at most 0.02 at T = 8, for alpha from 1/2 to 3 on other seeds",
    ),
    margin=Absolute(
        1, 8, "T for T - 1 and the logarithm for digamma move it by 1/2 each. 1/(alpha T^2) for v moves it by 1/(2 alpha), "
        "more than twice this margin below alpha = 2.",
    ),
    wrong={
        "T degrees for T - 1": dict(of=beside((log(2 * v) + digamma(T / 2)) / 2)),
        "the logarithm of the mean": dict(of=beside(log(v * (T - 1)) / 2)),
        "1/(alpha T^2) for v": dict(of=beside((log(2 / (alpha * T**2)) + digamma((T - 1) / 2)) / 2)),
        "alpha forgotten": dict(of=beside((log(2 / T**2) + digamma((T - 1) / 2)) / 2)),
        "ln(sigma_A/sqrt(T)) alone": dict(of=beside(-log(alpha * T) / 2)),
    },
)


WARM_UP, LAYERS = 64, 2048


def deep(key, T, alpha, zero_or_one, alike):
    """The exponent along one path of layers, the vector normalised after each of them.

    ``zero_or_one`` weights that are one with probability alpha/(1 + alpha), of the same sigma_A^2 = 1/alpha; ``alike`` layers
    in turn share one matrix. The first layers, in which the vector forgets where it started, are left out.
    """
    laws = (
        lambda key, u: distributions.Dirichlet(alpha).sample(key, u.shape),
        # Gamma(1), Gamma(1/2) and the weights of zero and one, from a uniform variable each: several times as fast.
        lambda key, u: -jnp.log1p(-u),
        lambda key, u: jax.lax.erf_inv(u) ** 2,
        lambda key, u: (u < alpha / (1 + alpha)).astype(u.dtype),
    )
    place = jnp.where(zero_or_one, 3, jnp.where(alpha == 1, 1, jnp.where(alpha == 0.5, 2, 0)))
    size = jnp.asarray(T.value, jnp.zeros(()).dtype)

    def layer(x, index):
        own = named(key, "attention", index // alike)
        Z = jax.lax.switch(place, laws, own, jax.random.uniform(own, (T.padded, T.padded)))
        A = markov(jax.lax.optimization_barrier(Z), T)
        # A_perp x = A (x - mean of x), of which the next layer sees the centred part alone.
        x = jnp.where(T.mask, x - x.sum() / size, 0)
        y = A @ (x / jnp.linalg.norm(x))
        return y, jnp.log(jnp.linalg.norm(jnp.where(T.mask, y - y.sum() / size, 0)))

    start = jnp.where(T.mask, jax.random.normal(named(key, "start"), (T.padded,)), 0)
    steps = jax.lax.scan(layer, start, jnp.arange(WARM_UP + LAYERS))[1]
    return steps[WARM_UP:].mean()


def observe(net, T):
    def spectrum(tokens):
        leading = leading_singular_triplets(tokens, k=2)
        return leading.values, leading.residuals

    values, errors = jax.lax.map(spectrum, net.tokens)
    return dict(
        top=values[:, 0], second=values[:, 1], top_error=errors[:, 0], second_error=errors[:, 1],
        cv=setting.observed_coefficient_of_variation(net.attention, T),
    )


@derives(edge)
def fuss_catalan():
    """Generic l, for free factors."""
    yield Cited(
        "S-transforms of free factors multiply; assumed: the factors become free, and no singular value stays outside the "
        "limit's support",
        "Voiculescu 1987",
    )
    S = (1 + z) ** -l
    yield Step("the place of the edge is a critical point of 1/chi", edge_condition(S).subs(z, 1 / l), Integer(0))
    yield Step("the edge, of singular values", sqrt(inverse_of_edge(S).subs(z, 1 / l)), edge.to)


@lemma("exponent")
def gaussian_exponent():
    """Every T and alpha, exact covariance of the rows; the chi-square is a Gaussian approximation."""
    y, x, S = (Symbol(name, positive=True) for name in "yxS")
    k, s = Symbol("k", positive=True), Symbol("s", positive=True)
    yield Step("1/S^2 as an integral", Integral(y * exp(-y * S), (y, 0, oo)), S**-2)
    yield Step("1/S^4 as an integral", Integral(y**3 * exp(-y * S), (y, 0, oo)) / 6, S**-4)
    # e^(-y Z) divides a Gamma weight by x = 1 + y and costs x^(-alpha): E (Z.u)^2 e^(-y S) = alpha x^(-alpha T - 2) for a
    # centred unit vector u, and alpha x^(-alpha T - 4) (3 alpha + 6 sum u_j^4) is that of the fourth power.
    second = alpha * Integral((x - 1) * x ** (-alpha * T - 2), (x, 1, oo))
    yield Step("the variance v of a row along u", second, v)
    fourths = Symbol("u_4", positive=True)  # the sum of u_j^4
    fourth = alpha * (3 * alpha + 6 * fourths) * Integral((x - 1) ** 3 * x ** (-alpha * T - 4), (x, 1, oo)) / 6
    yield Step("its kurtosis", fourth / v**2, kurtosis(fourths))
    # The sum of T squares varies by kappa/T more, relatively: half its logarithm loses kappa/(4 T).
    yield Step("the shift dies: T kappa, T large", sympy.Limit(T * kappa, T, oo), 6 / alpha)
    mellin = 2**s * gamma(k / 2 + s) / gamma(k / 2)  # E (chi^2_k)^s
    yield Step("E ln chi^2_k, the slope at s = 0", Subs(Derivative(mellin, s), s, 0), log(2) + digamma(k / 2))
    yield Step("the exponent", (log(v) + log(2) + digamma((T - 1) / 2)) / 2, sympy.expand_func(predicted))


path = Subject(deep, zero_or_one=0, alike=1)
theorem = Theorem(
    place="rank collapse in depth (reconstructed in spirit); constants derived here",
    label="reconstructed",
    uses=("common_token_identity", "markov_bulk_quarter_circular", "leading_singular_values"),
    hypotheses=H,
    claims=dict(edge=edge, outlier=outlier, decay=decay),
    proofs=(fuss_catalan, gaussian_exponent),
    experiments=dict(
        widths=Experiment(
            observe, (seen, cv), {T: Efforts((64, 128, 256), (64, 120, 512), (64, 128, 254, 512, 1024))}, derived={d: T},
            along={l: (1, 2, 3, 4)}, draws=Efforts(54, 54, 256), span=4, padded=True,
            subjects={
                "exponential": network(gaussian_values=0),
                "uniform": network(UNIFORM, gaussian_values=0),
                "zero-mean attention": network(gaussian_values=0, centred=1).breaking(H.markov, fails=outlier),
                "popular tokens": network(gaussian_values=0, popular=0.9)(knows={}).breaking(H.markov, fails=(edge, outlier)),
                # No sigma_A is known to it: the one observed takes its place, and what fails is the shape.
                "sharp softmax": network(LOGNORMAL, gaussian_values=0, sharp=1)(knows={}).breaking(
                    H.fixed_law, fails=(edge, outlier),
                ),
            },
        ),
        depths=Experiment(
            lambda x: dict(exponent=x), exponent, {T: Efforts((8, 15, 32), (8, 15, 32), (8, 15, 32, 64))},
            at=({alpha: Integer(1)}, {alpha: Rational(1, 2)}), draws=Efforts(32, 40, 256), padded=True,
            subjects={
                "Gamma weights": path,
                "zero or one, of the same sigma_A": path(zero_or_one=1).breaking(H.dirichlet, fails=decay),
                "one matrix for sixteen layers": path(alike=16).breaking(H.independent, fails=decay),
            },
        ),
    ),
    issues=(
        "The limits T -> infinity and l -> infinity do not commute: edge speaks of fixed l, decay of products over "
        "thousands of layers at fixed T.",
        "The exponent is a Gaussian approximation and claimed as T grows; at the smallest T it is not exact.",
        "One matrix used in all layers has the same edge as independent ones: the edge cannot see independence.",
    ),
)
