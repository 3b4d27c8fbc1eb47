"""One attention layer is enough: as the context grows, the Gram matrix of the tokens tends to rank one.

X_l = 1 v^T + Y_l, one common token and the network without its outlier (common_token_identity). The common token carries the
largest singular value, near one; the bulk of Y_l is of order T^(-l/2), so the excess sr(X_l X_l^T) - 1 is, to leading
order, the sum of fourth powers tr (Y_l Y_l^T)^2 = T^(1-2l) sigma_A^(4l) m_2, with m_2 the second moment of the free
product of l Marchenko-Pastur laws of ratio one (the A_perp) and l of ratio gamma (the values).
"""

import jax
from sympy import Integer, Rational, sqrt

from theorax.language import *
from theorax.numerics.spectra import top_and_tail
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._free import free_moment, z
from theorax.theorems.mind_the_gap._markov import LOGNORMAL, UNIFORM, T, cv, d, gamma, l, sigma_A
from theorax.theorems.mind_the_gap._models import network, user_network

seen = numbers(
    top="largest singular value of X_l", tail="sum of the fourth powers of the other singular values of X_l",
    excess="sr(X_l) - 1, the sum of the squares of the other singular values over that of the largest",
    over=(l,), positive=True,
)  # fmt: skip
H = hypotheses(
    isometric=setting.ISOMETRIC,
    markov=setting.MARKOV,
    fixed_law=setting.FIXED_LAW,
    gaussian_values="values are iid Gaussian with d sigma_V^2 = 1",
    not_removed="nothing is subtracted from the attention matrices",
)
# Means of tr (Y Y^T)^2 are moments of Gaussian and normalised iid matrices and expand in 1/T; the second-order term
# that other seeds show at T = 32 is at most 0.1, the class allows three times that.
in_powers = setting.in_powers(0.3, 32, "moments of random matrices expand in 1/T")
bulk = Limit(
    T ** (2 * l - 1) * seen.tail / sigma_A ** (4 * l), 1 + l + l * gamma, as_=T, approach=in_powers, spread=6 * l / T,
    # Without its outlier X_l has another slowest correction, the square of its edge over T, which this class does not hold.
    under=(H.isometric, H.markov, H.fixed_law, H.gaussian_values, H.not_removed),
    margin=Relative(
        1, 8, "forgetting the values moves it by l gamma, forgetting a layer by 1 + gamma: at least a fifth either way"
    ),
    wrong={
        "the values forgotten": 1 + l,
        "sigma_A^(2l) instead of sigma_A^(4l)": dict(of=T ** (2 * l - 1) * seen.tail / sigma_A ** (2 * l)),
    },
)  # fmt: skip
collapse = Rate(
    seen.tail / seen.top**4 / sigma_A ** (4 * l), T ** (1 - 2 * l), as_=T, spread=(2 + l) / sqrt(T),
    approach=Corrections(
        size=1.0, slowest=1, rest=0, reference=32,
        reason="the logarithm of such an expansion; at most 0.5 at T = 32 on other seeds",
    ),
    under=(H.isometric, H.markov, H.fixed_law, H.not_removed),
    margin=Absolute(3, 4, "the exponent of X_l itself, 1 - l, is at least one away"),
    wrong={"the exponent of X_l used for its Gram matrix": T ** (1 - l)},
)  # fmt: skip
tokens = Limit(
    T ** (l - 1) * seen.excess / sigma_A ** (2 * l), Integer(1), as_=T, spread=2 * sqrt(l / T),
    approach=setting.in_powers(0.2, 32, "moments of random matrices, and of 1/s_1^2 = O(1 + 2 l/d), expand in 1/T"),
    under=(H.isometric, H.markov, H.fixed_law, H.not_removed),
    margin=Relative(1, 6, "another power of sigma_A moves it by a factor sqrt(3) for uniform weights, one of T by T"),
    wrong={
        "sigma_A^l instead of sigma_A^(2l)": dict(of=T ** (l - 1) * seen.excess / sigma_A**l),
        "the exponent of the Gram matrix": dict(of=T ** (2 * l - 1) * seen.excess / sigma_A ** (2 * l)),
    },
)  # fmt: skip


def observe(net, T):
    tops, residuals, tails, errors = jax.lax.map(top_and_tail, net.tokens)
    ratios = (net.tokens**2).sum((1, 2)) / tops**2
    return dict(
        top=tops, tail=tails, tail_error=errors, excess=ratios - 1, excess_error=2 * ratios * residuals / tops,
        cv=setting.observed_coefficient_of_variation(net.attention, T),
    )  # fmt: skip


@derives(tokens)
def first_moment():
    """Generic l and gamma, for free factors as in the second moment: each has mean one."""
    S = ((1 + z) * (1 + gamma * z)) ** -l
    yield Step("the squares of all singular values of Y_l, in units of T (sigma_A^2/T)^l", free_moment(S, 1), tokens.to)


@derives(bulk)
def second_moment():
    """Generic l and gamma, for free factors; that independent factors become free is assumed."""
    yield Cited(
        "S-transforms of free factors multiply; assumed: the A_perp become free of each other and of the values",
        "Voiculescu 1987",
    )
    S = ((1 + z) * (1 + gamma * z)) ** -l  # 1/(1 + z) for each A_perp, 1/(1 + gamma z) for each layer of values
    yield Step("the first moment, from the inverse of the moment series", free_moment(S, 1), Integer(1))
    yield Step("the second moment", free_moment(S, 2), bulk.to)


theorem = Theorem(
    place="main theorem on rank collapse in width; constants derived here",
    label="reconstructed",
    uses=("common_token_identity", "markov_top_and_second_singular", "attention_products", "leading_singular_values"),
    hypotheses=H,
    claims=dict(bulk=bulk, collapse=collapse, tokens=tokens),
    proofs=(second_moment, first_moment),
    experiments=dict(
        widths=Experiment(
            observe, (seen, cv), {T: Efforts((32, 64, 128, 256), (64, 128, 512), (64, 128, 256, 512, 1024))},
            derived={d: T / gamma}, at=({gamma: 1}, {gamma: Rational(1, 2)}), along={l: (1, 2, 3)},
            draws=Efforts(32, 32, 256), padded=True,
            # The constant knows the law of the attention matrix and of the values; any layer collapses at this rate.
            adopt=user_network, asked=(collapse,),
            subjects={
                "exponential": network(),
                "uniform": network(UNIFORM),
                "identity values": network(gaussian_values=0).breaking(H.gaussian_values, fails=bulk),
                "outlier removed": network(removed=1.0).breaking(H.not_removed, fails=(collapse, tokens)),
                "zero-mean attention": network(centred=1).breaking(H.markov, fails=(bulk, collapse, tokens)),
                "sharp softmax": network(LOGNORMAL, sharp=1).breaking(H.fixed_law, fails=(bulk, collapse, tokens)),
                # Squares of the norms are 0 and 2: one more in the second moment, nothing in an exponent or the first.
                "half of the tokens zero": network(zeros=0.5).breaking(H.isometric, fails=bulk),
                "two tokens, the others zero": network(zeros=1.0).breaking(H.isometric, fails=(collapse, tokens)),
            },
        )
    ),
    issues=(
        "The collapse is of the Gram matrix: at l = 1 the stable rank of X_1 itself tends to 1 + sigma_A^2, not to 1.",
        "l is fixed as T grows; nothing is said about depth and width growing together.",
    ),
)  # fmt: skip
