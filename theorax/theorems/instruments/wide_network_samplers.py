"""Pre-activations sampled without weights have the law of a real network's, over units, inputs and layers.

**Theorem.** Let h^1 = W^1 x + b^1, h^(l+1) = W^(l+1) phi(h^l) + b^(l+1) at two fixed inputs, with n
units a layer, normal b^l of variance 1/10, and phi = ReLU or tanh. W^1 is Gaussian; the other W^l,
independent with entries of variance 9/(5 n), are Gaussian, Haar, of rank n/2, two permuted Gaussian
blocks, randomised Hadamard (n a power of two), or Gaussian with rows of two scales or correlated
rows. The sampler draws each layer from its law given the layer before. Then, for every such n and
l = 2, 3, network and sampler have the same means of: the log of |h^l(x)|^2 over its mean given
h^(l-1); n sum_i h_i^4/(sum_i h_i^2)^2; the cosine of h^l(x) and h^l(x'); its square; and
log(|h^1|^2/n) log(|h^l|^2/n).

**Idea.** Given the activations F = R' Q, with orthonormal rows Q, a layer sees its weights only
through Q W'. For Gaussian W these are normals, for Haar W a Haar frame, for W = C P of rank r a
Bartlett factor times a Haar frame. Permuted blocks give each unit the R of its block.
"""

from functools import partial

import jax
import jax.numpy as jnp
from sympy import Integral, Rational, Symbol, exp, gamma, oo, solve, symbols

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._wide_networks import deep_network, place, pre_activations

n = Size("n", "width")
l = Index("l", "layer")


seen = numbers(
    gain="log of the mean of h_i(x)^2 over its mean given the layer before, network at layer l",
    sampled_gain="log of the mean of h_i(x)^2 over its mean given the layer before, sampler at layer l",
    shape="mean of h_i(x)^4 over the square of the mean of h_i(x)^2, network at layer l",
    sampled_shape="mean of h_i(x)^4 over the square of the mean of h_i(x)^2, sampler at layer l",
    angle="cosine between h(x) and h(x'), network at layer l",
    sampled_angle="cosine between h(x) and h(x'), sampler at layer l",
    square="square of the cosine between h(x) and h(x'), network at layer l",
    sampled_square="square of the cosine between h(x) and h(x'), sampler at layer l",
    chain="log of the mean of h_i(x)^2 in the first layer times that in layer l, network at layer l",
    sampled_chain="log of the mean of h_i(x)^2 in the first layer times that in layer l, sampler at layer l",
    over=(l,),
)

H = hypotheses(
    law="the sampler is that of the network's law",
    frame="all inputs are sampled with one frame",
    chain="every layer is sampled given the one before it",
)


gains = Expectation(
    seen.gain - seen.sampled_gain, 0, under=H.law, spread=Rational(6, 5),
    margin=Absolute(
        1, 12, "a chi of n degrees of freedom makes it digamma(n/2) - log(n/2), -0.13 at n = 8, where Haar weights have 0"
    ),
)
shapes = Expectation(
    seen.shape - seen.sampled_shape, 0, under=H.law, spread=Rational(3, 2),
    margin=Absolute(1, 8, "isotropic units have 3 n/(n + 2) = 2.4 at n = 8, units of two blocks a fifth more"),
)
angles = Expectation(
    seen.angle - seen.sampled_angle, 0, under=(H.law, H.frame), spread=Rational(3, 5),
    margin=Absolute(1, 20, "inputs sampled apart have a mean of zero where it is one half and more"),
)
squares = Expectation(
    seen.square - seen.sampled_square, 0, under=(H.law, H.frame), spread=Rational(1, 2),
    margin=Absolute(1, 20, "without the Bartlett factor of rank two it is less by a share of (1 - cos^2)/2"),
)
chains = Expectation(
    seen.chain - seen.sampled_chain, 0, under=(H.law, H.chain), spread=Rational(3, 2),
    margin=Absolute(
        1, 8, "drawn apart, layers lose the covariance of log |h|^2 and log |phi(h)|^2, about 2/n = 1/4 for ReLU"
    ),
)

DEPTH = literal(3)
WEIGHT_VARIANCE, BIAS_VARIANCE = 1.8, 0.1  # ReLU keeps a variance of one
RELU, TANH = range(2)


def both(key, n, law, share, taken, taken_share, activation, inputs_apart, layers_apart):
    """A network, and the sampler of the law that is ``taken`` for the network's; one or two parts of it drawn apart."""

    def phi(h):
        return jnp.where(activation == TANH, jnp.tanh(h), jax.nn.relu(h))

    def with_means(h):  # of the squares of the layer after, given this one
        squares = jnp.where(n.mask, phi(h[:, 0]), 0) ** 2
        return h, WEIGHT_VARIANCE * squares.sum(-1) / n.value + BIAS_VARIANCE

    x = jnp.asarray([[1.0, 0.5, -0.3, 0.8, -1.6], [0.2, 1.2, 0.9, 0.4, -1.3]])
    network = partial(deep_network, activation=phi, weight_variance=WEIGHT_VARIANCE, bias_variance=BIAS_VARIANCE)
    sampler = partial(pre_activations, activation=phi, weight_variance=WEIGHT_VARIANCE, bias_variance=BIAS_VARIANCE)
    keys = jnp.stack([named(key, name) for name in ("one", "other")])

    def drawn(place):  # one loop, so that the sampler is compiled once; the second draw is for what is drawn apart
        key, used = place
        empty = jnp.zeros((DEPTH.padded, len(x), n.padded), x.dtype)
        return jax.lax.cond(used, lambda: sampler(key, x, n, DEPTH, taken, taken_share), lambda: empty)

    one, other = jax.lax.map(drawn, (keys, jnp.asarray([True, False]) | ((inputs_apart | layers_apart) > 0)))
    weighted = network(named(key, "network"), x.shape[1], n, DEPTH, law, share)
    number, input_ = jnp.arange(DEPTH.padded)[:, None, None], jnp.arange(len(x))[:, None]
    swapped = (inputs_apart & (input_ > 0)) | (layers_apart & (number > 0))
    return with_means(jax.vmap(weighted, out_axes=1)(x)), with_means(jnp.where(swapped, other, one))


def observe(both, n):
    width = jnp.asarray(n.value, jnp.zeros(()).dtype)

    def read(part):
        h, means = part
        products = jnp.einsum("liu,lju->lij", h, h) / width
        first, second, cross = products[:, 0, 0], products[:, 1, 1], products[:, 0, 1]
        logs, cosine = jnp.log(first), cross / jnp.sqrt(first * second)
        shape = (h[:, 0] ** 4).sum(-1) / width / first**2
        gain = logs - jnp.log(jnp.roll(means, 1))
        return dict(gain=gain, shape=shape, angle=cosine, square=cosine**2, chain=logs[0] * logs)

    network, sampler = map(read, both)
    return network | {f"sampled_{name}": values for name, values in sampler.items()}


@lemma
def of_one_input():
    """Every width n and rank r: fourth moments of one and of two units, |f| = 1, with real weights and as sampled."""
    n, r, other, inner = symbols("n r other inner", positive=True)
    x = Symbol("x", positive=True)
    yield Cited("a Haar frame stays one under a turn of its space", "Mezzadri 2007")
    yield Cited("G = B Q with B lower triangular and Q a Haar frame independent of it", "Muirhead 1982, theorem 3.2.14")

    def chi(power, degrees):  # E chi^(2 power), chi^2/2 having a gamma law of shape degrees/2
        return 2**power * gamma(degrees / 2 + power) / gamma(degrees / 2)

    yield Step("E |g|^4 of r normals", chi(2, r), r * (r + 2))
    density = x ** (r / 2 - 1) * exp(-x) / gamma(r / 2)
    yield Step("the same from the gamma law", 4 * Integral(x**2 * density, (x, 0, oo)), r * (r + 2))
    sphere, two = 3 / chi(2, n), 1 / chi(2, n)  # E u_1^4 and E u_1^2 u_2^2 on the sphere, u = g/|g|
    yield Step("a unit vector", n * sphere + n * (n - 1) * two, 1)
    # C has orthonormal columns: |C_1|^2 has a beta law, sum_k |C_k|^2 = r and sum_k <C_1, C_k>^2 = |C_1|^2.
    own = r * (r + 2) / (n * (n + 2))
    (apart,) = solve(own + (n - 1) * other - r * r / n, other)
    (cross,) = solve(own + (n - 1) * inner - r / n, inner)
    yield Step("rank r, one unit", 3 * own / r**2, chi(2, r) / r**2 * sphere)
    yield Step("rank r, two units", (apart + 2 * cross) / r**2, chi(2, r) / r**2 * two)


def weights(law, share=1.0):
    """Weights of this law, sampled by the sampler of this law."""
    return Subject(
        both, law=place(law), share=share, taken=place(law), taken_share=share,
        activation=RELU, inputs_apart=0, layers_apart=0,
    )


normal, rank_one, rank_two = weights("gaussian"), weights("fixed rank", 1.0), weights("fixed rank", 2.0)
theorem = Theorem(
    place="the samplers of wide networks",
    label="derived",
    uses=("haar_frames",),
    hypotheses=H,
    claims=dict(gains=gains, shapes=shapes, angles=angles, squares=squares, chains=chains),
    proofs=(of_one_input,),
    experiments=dict(
        networks=Experiment(
            observe, seen, {n: Efforts((8,), (8, 16), (8, 16, 32))},
            along={l: (2, 3)}, draws=Efforts(8000, 8000, 60000), span=1, dtype="float32", padded=True,
            subjects={
                "Gaussian": normal,
                "Haar": weights("haar"),
                "Haar, tanh": weights("haar")(activation=TANH),
                "rank n/2": weights("low rank", 0.5),
                "two blocks": weights("blocks", 2.0),
                "two blocks, tanh": weights("blocks", 2.0)(activation=TANH),
                "Hadamard": weights("hadamard"),
                "rows of two scales": weights("scaled rows"),
                "correlated rows": weights("correlated rows"),
                "Haar taken for Gaussian": normal(taken=place("haar")).breaking(H.law, fails=gains),
                "no Bartlett factor": rank_one(taken=place("haar")).breaking(H.law, fails=(gains, squares, chains)),
                # Units of rank one are alike but for their biases: a cosine near one or minus one.
                "rank one taken for Gaussian": rank_one(taken=place("gaussian")).breaking(H.law, fails=angles),
                "a degree of freedom too many": rank_two(taken_share=3.0).breaking(H.law, fails=gains),
                "blocks taken for Gaussian": weights("blocks", 2.0)(taken=place("gaussian")).breaking(
                    H.law, fails=shapes,
                ),
                "inputs sampled apart": normal(inputs_apart=1).breaking(H.frame, fails=(angles, squares)),
                "layers sampled apart": normal(layers_apart=1).breaking(H.chain, fails=chains),
            },
        )
    ),
    issues=(
        "Equality in law is seen through gains, shapes and angles at small widths. The argument in the docstring carries "
        "it to all widths; theorax.theorems.pseudo_iid_gp._wide_networks gives its steps.",
    ),
)
