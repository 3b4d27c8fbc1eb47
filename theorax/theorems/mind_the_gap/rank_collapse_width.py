"""One attention layer is enough: as the context grows, the Gram matrix of the tokens tends to rank one.

**Theorem.** Let X_0 have T orthonormal rows in dimension d = T/gamma, and X_l = A_l X_(l-1) W_l
with iid Markov matrices A_l of iid positive weights, of a fixed law with a finite fourth moment and
coefficient of variation sigma_A, independent of the W_l. Let the W_l be iid Gaussian of variance
1/d or identities. Then, as T -> oo at fixed l and gamma, T^(l-1) (sr(X_l) - 1)/sigma_A^(2l) -> 1 in
the mean, and (sr(X_l X_l^T) - 1)/sigma_A^(4l) has the exact order T^(1-2l). Its mean times T^(2l-1)
tends to 1 + l + l gamma for Gaussian values, and to 1 + l for identities. For Gaussian values
T^(2l-1) sum_(i >= 2) s_i(X_l)^4/sigma_A^(4l) also tends to 1 + l + l gamma in the mean.

**Idea.** X_l = 1 v^T + Y_l (common_token_identity). The common token carries s_1, near one, and the
bulk of Y_l is of order T^(-l/2). So the excess is tr (Y_l Y_l^T)^2 to leading order, with the
second moment of the free product of l Marchenko-Pastur laws of ratio one (the A_perp) and l of
ratio gamma (the values). And s_1^2 is nearly a product of l variables chi^2_d/d.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational, digamma, log, sqrt

from theorax.language import *
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._free import free_moment, z
from theorax.theorems.mind_the_gap._markov import LOGNORMAL, UNIFORM, T, cv, d, gamma, l, sigma_A
from theorax.theorems.mind_the_gap._models import network, user_network
from theorax.theorems.mind_the_gap._spectra import top_and_tail

seen = numbers(
    tail="sum of the fourth powers of the singular values of X_l without the largest",
    gram_excess="sr(X_l X_l^T) - 1, that sum over the fourth power of the largest",
    excess="sr(X_l) - 1, the sum of the squares of the other singular values over that of the largest",
    growth="product over the layers up to l of |c A M R|^2 / |c A M|^2, c a row of ones: each chi^2_d / d",
    over=(l,), positive=True,
)
H = hypotheses(
    isometric=setting.ISOMETRIC,
    markov=setting.MARKOV,
    fixed_law=setting.FIXED_LAW,
    gaussian_values="values are iid Gaussian with d sigma_V^2 = 1",
    identity_values="values are the identity",
    not_removed="nothing is subtracted from the attention matrices",
)
everywhere = (H.isometric, H.markov, H.fixed_law, H.not_removed)
# T^(2l-1) (sr - 1) is of order one and so is T^(2l-1) tail: of the Gram matrix, whose stable rank is sum s_i^4/s_1^4.
scale = T ** (2 * l - 1) / sigma_A ** (4 * l)
# Means of tr (Y Y^T)^2 are moments of Gaussian and normalised iid matrices and expand in 1/T, beside it at most 0.07 at T = 32
# on other seeds. At d = 2T that of s_1^(-4) has 28l + 18l(l-1) over d^2, 0.02, and the product of the two first orders 0.06.
in_powers = setting.in_powers(0.2, 32, "moments of random matrices, and of s_1^(-4) = O(1 + 6 l/d), expand in 1/T")


# s_1^2 follows the growth: given A M it is chi^2_d / d for any row c, since R R^T is a Wishart matrix of d degrees of freedom,
# and independent from layer to layer. The gains are those of 200 to 800 draws on other seeds; they grow like T.
def known(of, mean, because):
    return KnownMean(of, mean, gain=T / (4 + 4 * l), under=H.gaussian_values, because=because)


fourth = known(
    seen.growth**-2, ((1 - 2 / d) * (1 - 4 / d)) ** -l, "E (chi^2_d)^-2 = 1 / ((d - 2) (d - 4)), a product of l of them"
)
second = known(1 / seen.growth, (1 - 2 / d) ** -l, "E 1/chi^2_d = 1 / (d - 2), a product of l of them")
logarithm = known(
    log(seen.growth), l * (digamma(d / 2) - log(d / 2)), "E log chi^2_d = digamma(d/2) + log 2, a sum of l"
)
# At gamma = 1/2 both wrong constants, 1 + l and 1 + 2l, are equally far away.
near = Relative(
    2, 21, "1 + l, no values, and 1 + 2l, their ratio forgotten, are off by a fifth and more, a layer by a third"
)
forgotten = {
    "the values forgotten": 1 + l,
    "the ratio of the values forgotten": 1 + 2 * l,
    "a layer forgotten": l + (l - 1) * gamma,
}
stable_rank = Limit(
    scale * seen.gram_excess, 1 + l + l * gamma, as_=T, on="widths", approach=in_powers, spread=3 * sqrt(l * gamma / T),
    under=(*everywhere, H.gaussian_values), margin=near, variates=(fourth,),
    wrong={
        **forgotten,
        "sigma_A^(2l) instead of sigma_A^(4l)": dict(of=scale * seen.gram_excess * sigma_A ** (2 * l)),
        "the stable rank of X_l": dict(of=scale * seen.excess),
    },
)
bulk = Limit(
    scale * seen.tail, 1 + l + l * gamma, as_=T, on="widths", approach=in_powers, spread=6 * l / T,
    # Without its outlier X_l has another slowest correction, the square of its edge over T, which this class does not hold.
    under=(*everywhere, H.gaussian_values), margin=near,
    wrong={**forgotten, "sigma_A^(2l) instead of sigma_A^(4l)": dict(of=scale * seen.tail * sigma_A ** (2 * l))},
)
collapse = Rate(
    seen.gram_excess / sigma_A ** (4 * l), T ** (1 - 2 * l), as_=T, on="widths", spread=3 * sqrt(l * gamma / T),
    approach=Corrections(
        size=0.4, slowest=1, rest=0, reference=32,
        reason="the logarithm of such an expansion; at most 0.34 at T = 32 on other seeds",
    ),
    under=everywhere, variates=(logarithm,),
    margin=Absolute(1, 4, "the exponent of X_l itself, 1 - l, is at least one away"),
    wrong={"the exponent of X_l used for its Gram matrix": T ** (1 - l)},
)
tokens = Limit(
    T ** (l - 1) * seen.excess / sigma_A ** (2 * l), Integer(1), as_=T, on="widths", spread=2 * sqrt(l * gamma / T),
    approach=setting.in_powers(0.2, 32, "moments of random matrices, and of 1/s_1^2 = O(1 + 2 l/d), expand in 1/T"),
    under=everywhere, variates=(second,),
    margin=Relative(1, 6, "another power of sigma_A moves it by a factor sqrt(3) for uniform weights, one of T by T"),
    wrong={
        "sigma_A^l instead of sigma_A^(2l)": dict(of=T ** (l - 1) * seen.excess / sigma_A**l),
        "the exponent of the Gram matrix": dict(of=T ** (2 * l - 1) * seen.excess / sigma_A ** (2 * l)),
    },
)
without_values = Limit(
    scale * seen.gram_excess, 1 + l, as_=T, on="attention_alone", approach=in_powers, spread=4 * l / T,
    under=(*everywhere, H.identity_values),
    margin=Relative(2, 21, "a layer forgotten is off by a third and more, Gaussian values by a fifth and more"),
    wrong={
        "a layer forgotten": l,
        "that of Gaussian values": bulk.to,
        "sigma_A^(2l) instead of sigma_A^(4l)": dict(of=scale * seen.gram_excess * sigma_A ** (2 * l)),
    },
)


def observe(net, T):
    """The excess of both stable ranks and the tail, each with a bound of its error."""
    tops, residuals, tails, errors = jax.lax.map(top_and_tail, net.tokens)
    ratios, relative = (net.tokens**2).sum((1, 2)) / tops**2, residuals / tops
    gram = tails / tops**4
    return dict(
        tail=tails, tail_error=errors, excess=ratios - 1, excess_error=2 * ratios * relative / (1 - relative) ** 3,
        growth=jnp.cumprod(net.growths),
        gram_excess=gram, gram_excess_error=(errors / tops**4 + 4 * gram * relative) / (1 - relative) ** 5,
        cv=setting.observed_coefficient_of_variation(net.attention, T),
    )


@derives(tokens)
def first_moment():
    """Generic l and gamma, for free factors as in the second moment: each has mean one."""
    S = ((1 + z) * (1 + gamma * z)) ** -l
    yield Step("the squares of all singular values of Y_l, in units of T (sigma_A^2/T)^l", free_moment(S, 1), tokens.to)


@derives(stable_rank, bulk)
def second_moment():
    """Generic l and gamma, for free factors; that independent factors become free is assumed."""
    yield Cited(
        "S-transforms of free factors multiply; assumed: the A_perp become free of each other and of the values",
        "Voiculescu 1987",
    )
    S = ((1 + z) * (1 + gamma * z)) ** -l  # 1/(1 + z) for each A_perp, 1/(1 + gamma z) for each layer of values
    yield Step("the first moment, from the inverse of the moment series", free_moment(S, 1), Integer(1))
    yield Step("the second moment", free_moment(S, 2), bulk.to)


@derives(without_values)
def second_moment_of_attention():
    """Generic l, for free A_perp, each with the S-transform 1/(1 + z) as in the second moment."""
    yield Step("the second moment", free_moment((1 + z) ** -l, 2), without_values.to)


# 128 would be padded to 256: 64 and 120 share a small program.
sizes = Efforts((64, 120, 256), (64, 120, 256), (64, 128, 256, 512, 1024))
# Its sigma_A grows with T: the one observed in the same draw takes its place, so that no scale fails.
sharp = network(LOGNORMAL, sharp=2)(knows={})
alone = network(gaussian_values=0)
theorem = Theorem(
    place="main theorem on rank collapse in width; constants derived here",
    label="reconstructed",
    uses=("common_token_identity", "markov_top_and_second_singular", "attention_products", "leading_singular_values"),
    hypotheses=H,
    claims=dict(stable_rank=stable_rank, bulk=bulk, collapse=collapse, tokens=tokens, without_values=without_values),
    proofs=(second_moment, first_moment, second_moment_of_attention),
    experiments=dict(
        widths=Experiment(
            observe, (seen, cv), {T: sizes},
            derived={d: T / gamma}, at={gamma: Rational(1, 2)}, along={l: (1, 2)},
            draws=Efforts(64, 64, 256), padded=True,
            # The constant knows the law of the attention matrix and of the values; any layer collapses at this rate.
            adopt=user_network, asked=(collapse,),
            subjects={
                "exponential": network(),
                "uniform": network(UNIFORM),
                "identity values": alone.breaking(H.gaussian_values, fails=(stable_rank, bulk)),
                "outlier removed": network(removed=1.0).breaking(H.not_removed, fails=(stable_rank, collapse, tokens)),
                "zero-mean attention": network(centred=1).breaking(H.markov, fails=(stable_rank, bulk, collapse, tokens)),
                "sharp softmax": sharp.breaking(H.fixed_law, fails=(stable_rank, bulk, tokens)),
                # Over the sigma_A observed it falls nearly as claimed; an exponent knows no scale, and sr - 1 itself grows.
                "sharp softmax, sr - 1 itself": network(LOGNORMAL, sharp=2).breaking(H.fixed_law, fails=collapse),
                # Squares of the norms are 0 and 2: one more in the second moment, nothing in an exponent or the first.
                "half of the tokens zero": network(zeros=0.5).breaking(H.isometric, fails=(stable_rank, bulk)),
                "two tokens, the others zero": network(zeros=1.0).breaking(H.isometric, fails=(collapse, tokens)),
            },
        ),
        # Identities keep the tokens' rows orthonormal at any d >= T, d = T or 2T alike: these programs are shared.
        attention_alone=Experiment(
            observe, (seen, cv), {T: sizes}, derived={d: T / gamma}, at={gamma: Rational(1, 2)}, along={l: (1, 2)},
            draws=Efforts(64, 64, 256), padded=True, subjects={
                "exponential": alone,
                "uniform": network(UNIFORM, gaussian_values=0),
                "Gaussian values": network().breaking(H.identity_values, fails=without_values),
                "outlier removed": alone(removed=1.0).breaking(H.not_removed, fails=without_values),
                "zero-mean attention": alone(centred=1).breaking(H.markov, fails=without_values),
                "sharp softmax": sharp(gaussian_values=0).breaking(H.fixed_law, fails=without_values),
                "half of the tokens zero": alone(zeros=0.5).breaking(H.isometric, fails=without_values),
            },
        ),
    ),
    issues=(
        "The collapse is of the Gram matrix: at l = 1 the stable rank of X_1 itself tends to 1 + sigma_A^2, not to 1.",
        "l is fixed as T grows; nothing is said about depth and width growing together.",
        "No control shows that bulk needs the outlier: without it the limit is the same, and its corrections are slower.",
        "Measured at l = 1 and 2: sr - 1 fluctuates by sqrt(8l/d), and its corrections grow with l as well.",
    ),
)
