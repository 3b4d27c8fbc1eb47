"""Small products have the singular values of the network's tokens, in law and jointly over its layers.

**Theorem.** Let A_1, ..., A_l be independent T x T Markov matrices of iid exponential weights, and
X_0 a frame of T orthonormal rows in dimension d = T/gamma >= T. Let X_l = A_l X_(l-1) W_l, where
the W_l are independent of all else, either iid Gaussian of variance 1/d or identities. For Gaussian
values let M_l = A_l M_(l-1) R_l/sqrt(d), M_0 = I, with independent lower triangular R_l: standard
normals below the diagonal and chi_(d-i) at its entry i = 0, ..., T - 1. For identities let
M_l = A_l M_(l-1). Then, for every T and l, s_1^2 and (s_2^4 + ... + s_T^4)^(1/4) have the same
means for X_l and M_l, and so has the product of log s_1^2 of layer 1 and log s_1^2 of layer l.

**Idea.** Write X_(l-1) = M_(l-1) Q with orthonormal rows Q. Given Q and the A's, Q W_l is Gaussian,
whatever Q is. Its LQ factorisation R_l Q' has a Bartlett factor R_l that is independent of
everything before. So X_l = A_l M_(l-1) R_l Q', up to scale, and X_l has the singular values of M_l.
The equality in law is joint over the layers.
"""

import jax
import jax.numpy as jnp
from sympy import Integer, Rational, sqrt

from theorax.language import *
from theorax.numerics import distributions
from theorax.numerics.ensembles import gaussian as gaussian_matrix
from theorax.numerics.ensembles import haar_rows, random_markov
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._attention import AttentionNet, MarkovAttention, token_products
from theorax.theorems.mind_the_gap._spectra import singular_values

T = Size("T", "context length")
d = Size("d", "width")
l = Index("l", "layer")
gamma = Parameter("gamma", "tokens per dimension, T/d", positive=True)
tokens = numbers(
    top="s_1^2 of the tokens of layer l",
    tail="Schatten 4-norm of the tokens of layer l without their largest singular value",
    joint="log s_1^2 of the tokens of the first layer times that of layer l",
    over=(l,),
)
products = numbers(
    small_top="s_1^2 of the product of layer l",
    small_tail="Schatten 4-norm of the product of layer l without its largest singular value",
    small_joint="log s_1^2 of the product of the first layer times that of layer l",
    over=(l,),
)

H = hypotheses(
    degrees="the i-th diagonal entry of a factor has d - i degrees of freedom, counting from zero",
    chain="the products of all layers are one chain",
    independent=Hypothesis(
        "no attention matrix depends on the tokens", unbroken="where one does, there is no product to be drawn"
    ),
)
heads = Expectation(
    (tokens.top - products.small_top) / l, 0, under=(H.degrees, H.independent), spread=2 / sqrt(d * l),
    margin=Absolute(
        1, 10, "one degree of freedom more in the factors moves s_1^2 by l/d and more, an eighth a layer at T = d = 8",
    ),
)
# The norm, not its fourth power: that one has a kurtosis of some hundreds, and 6000 draws do not tell its mean.
tails = Expectation(
    (T ** (2 * l - 1) / (1 + l + l * gamma)) ** Rational(1, 4) * (tokens.tail - products.small_tail), 0,
    under=(H.degrees, H.independent),
    spread=Rational(2, 3) * sqrt(l / T),
    margin=Absolute(
        1, 48, "the sum of fourth powers moves by a twelfth at most, seven eighths of rank_collapse_width's margin",
    ),
)
chains = Expectation(
    tokens.joint - products.small_joint, 0, spread=2 * l / d,
    margin=Absolute(1, 10, "drawn apart, layers lose the variance that they share, 2/d = 1/4 at d = 8"),
)


def both(key, T, d, l, gaussian_values, degrees, separate):
    """The tokens of a network, layer by layer, and the products that stand for them.

    ``degrees`` of freedom too many in the factors; ``separate`` layers after the first are of another chain.
    """

    def mixing(key):
        return random_markov(key, distributions.UnitExponential(), T)

    width = jnp.asarray(d.value, jnp.zeros(()).dtype)
    sigma, literal = jnp.where(gaussian_values, 1 / jnp.sqrt(width), 1), named(key, "network")
    values = tuple(
        sigma
        * jnp.where(gaussian_values, gaussian_matrix(named(literal, "values", layer), d, d), jnp.diag(1.0 * d.mask))
        for layer in range(1, l + 1)
    )
    attentions = tuple(MarkovAttention(mixing(named(literal, "attention", layer))) for layer in range(1, l + 1))
    tokens = AttentionNet(attentions, values, T, d)(haar_rows(named(literal, "tokens"), T, d))
    wider = Extent(d.value + degrees, d.padded)
    products, others = (
        token_products(named(key, name), mixing, T, wider, l, gaussian_values, sigma).products
        for name in ("products", "others")
    )
    first = jnp.arange(l)[:, None, None] == 0
    return tokens, jnp.where(separate & ~first, others, products)


def observe(both):
    def read(matrices):
        squares = jax.lax.map(singular_values, matrices) ** 2
        leading, logs = squares[:, 0], jnp.log(squares[:, 0])
        return leading, jnp.sum(squares[:, 1:] ** 2, axis=1) ** 0.25, logs[0] * logs

    (top, tail, joint), (small_top, small_tail, small_joint) = map(read, both)
    return dict(top=top, tail=tail, joint=joint, small_top=small_top, small_tail=small_tail, small_joint=small_joint)


gaussian_values = Subject(both, gaussian_values=1, degrees=0, separate=0)
theorem = Theorem(
    place="the sampler of the tokens' singular values",
    label="derived",
    uses=("haar_frames",),
    hypotheses=H,
    claims=dict(heads=heads, tails=tails, chains=chains),
    experiments=dict(
        nets=Experiment(
            observe, (tokens, products), {T: Efforts((8,), (8, 12), (8, 12, 16))},
            derived={d: T / gamma}, at=({gamma: Integer(1)}, {gamma: Rational(1, 2)}), along={l: (1, 2, 3)},
            draws=Efforts(6000, 6000, 40000), padded=True,
            subjects={
                "Gaussian values": gaussian_values,
                "identity values": gaussian_values(gaussian_values=0),
                "a degree of freedom too many": gaussian_values(degrees=1).breaking(H.degrees, fails=(heads, tails)),
                # Logarithms of s_1^2 move by ln 3 a layer at d = 8 and by ln 2 at d = 16 and more, their product by its square.
                "sixteen too many": gaussian_values(degrees=16).breaking(H.degrees, fails=chains),
                "layers drawn apart": gaussian_values(separate=1).breaking(H.chain, fails=chains),
            },
        )
    ),
    issues=(
        "Equality in law is seen through three moments a layer, at small sizes; the induction in the docstring is what "
        "carries it further.",
    ),
)
