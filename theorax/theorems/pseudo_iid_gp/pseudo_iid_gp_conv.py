"""Deep convolutional networks with pseudo-iid filters tend to a Gaussian process over inputs and pixels.

h_(i,mu) = b_i + sum_(j,beta) U_(i,j,beta) phi(h_(j,mu+beta)): one filter for all pixels, entries of variance
sigma_w^2/C for C channels. Two pixels see the same taps, each from its own place, so K'_(mu,mu') = sigma_b^2 +
sigma_w^2 sum_beta F(K)_(mu+beta,mu'+beta). Channels take the place of units, taps that of nothing: they only add up.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sympy import Integer, Matrix, Rational, eye, symbols
from sympy.physics.quantum import TensorProduct

from theorax.numerics.convolutional import convolution
from theorax.numerics.jaxprs import Symbolic, evaluate
from theorax.theorems.language import (
    Absolute,
    Cited,
    Corrections,
    Efforts,
    Expansion,
    Expectation,
    Experiment,
    GaussianVector,
    Hypothesis,
    Index,
    Law,
    Limit,
    Measured,
    Relative,
    Size,
    Step,
    Subject,
    Theorem,
)
from theorax.theorems.pseudo_iid_gp import _setting as setting
from theorax.theorems.pseudo_iid_gp._limit import PHI, RELU, phi, sb2, sw2
from theorax.theorems.pseudo_iid_gp._pixels import (
    BOTH,
    FIRST,
    HIDDEN,
    IMAGES,
    OUTPUT,
    PAIRS,
    PIXELS,
    SECOND,
    TAPS,
    PixelKernel,
    network,
)

C = Size("C", "number of channels")
pair = Index("pair", "pair of places: an image and a pixel, twice")
product = Measured(
    "product", "h_(i,mu)(x) h_(i,mu')(x'), mean over the channels of the last hidden layer", over=(pair,)
)
apart = Measured("apart", "h_(i,mu)(x) h_(k,mu')(x'), mean over pairs of channels", over=(pair,))
hidden: Any = tuple(
    Measured(f"h{at}", f"channel {at[0]} of the last hidden layer, at place {at[1]}", sample=True)
    for at in ("ix", "iy", "kx", "ky")
)
outputs: Any = tuple(Measured(f"f{at}", f"output channel {at[0]} at place {at[1]}") for at in ("ix", "iy", "kx", "ky"))
Sxx, Sxy, Syy = (
    Measured(f"S{at}", f"covariance of an output at places {at[0]} and {at[1]} given the hidden layers")
    for at in ("xx", "xy", "yy")
)


def K(layer, number, weight=sw2, bias: Any = sb2, shift=1):
    """The kernel at a pair of places."""
    return PixelKernel(layer, number, phi, weight, bias, shift)


def small(size, of):
    """Corrections of this size at sixteen channels; moments of a layer are rational in C."""
    reason = f"{of} expand in 1/C; at C = 16 they lie nearer than this to their limits, on other seeds"
    return Corrections(size=size, slowest=1, rest=Rational(1, 50), order=2, reference=16, reason=reason)


covariance = Limit(
    of=product,
    to=K(HIDDEN, pair),
    as_=C,
    approach=small(Rational(1, 12), "kernels"),
    margin=Relative(1, 8),
    because="a sum over shared pixels, a further 1/p, or no biases move it by a quarter and more at some pair",
    spread=Rational(3, 10),
    mutants={
        "shared pixels in the place of shared taps": dict(to=K(HIDDEN, pair, shift=0)),
        "a further 1/p": dict(to=K(HIDDEN, pair, weight=sw2 / TAPS)),
        "no biases": dict(to=K(HIDDEN, pair, bias=0)),
    },
)
own_channels = Expectation(
    of=apart / K(HIDDEN, FIRST),
    equals=0,
    margin=Absolute(1, 12),
    because="columns of correlation 1/4 leave a fifth",
    spread=Rational(1, 2),
)


def process(layer, between=0, scale=1):
    """Two channels at two places, ``between`` the correlation of the channels."""
    at_places = Matrix([[K(layer, FIRST), K(layer, BOTH)], [K(layer, BOTH), K(layer, SECOND)]])
    return GaussianVector(scale * TensorProduct(Matrix([[1, between], [between, 1]]), at_places))


def law(of, layer, approach, **more):
    """The joint law of two channels at a pixel of one image and another pixel of the other."""
    return Law(
        of=of,
        to=process(layer),
        as_=C,
        approach=approach,
        excludes=(process(layer, Rational(1, 4)), process(layer, scale=Rational(5, 4))),
        mutants={"channels of correlation 1/2": dict(to=process(layer, Rational(1, 2)))},
        **more,
    )


EDGEWORTH = Expansion(
    (1,), rest=Rational(1, 50), order=2, reference=16, reason="an Edgeworth expansion at fixed frequencies"
)
output_law = law(
    outputs, OUTPUT, EDGEWORTH, given=TensorProduct(eye(2), Matrix([[Sxx, Sxy], [Sxy, Syy]])), spread=Rational(1, 5)
)
hidden_law = law(hidden, HIDDEN, small(Rational(1, 20), "characteristic functions"), spread=Rational(1, 5))


def observe(net, C, sw2, sb2):
    h, f, out = (
        jnp.moveaxis(part, 0, 1).reshape(part.shape[1], -1) for part in jax.vmap(net)(jnp.asarray(IMAGES, float))
    )
    size, (first, second) = setting.width(C), jnp.array(PAIRS).T
    a, b = h[:, first], h[:, second]
    gram = (f.T @ f / size).reshape(2, PIXELS, 2, PIXELS)
    shifted = jnp.stack([jnp.roll(gram, (-beta, -beta), (1, 3)) for beta in range(TAPS)])
    gram = sb2 + sw2 * shifted.sum(0).reshape(2 * PIXELS, -1)
    x, y = PAIRS[BOTH - 1]
    found = dict(
        product=(a * b).sum(0) / size,
        apart=(a.sum(0) * b.sum(0) - (a * b).sum(0)) / (size * (size - 1)),
        Sxx=gram[x, x],
        Sxy=gram[x, y],
        Syy=gram[y, y],
    )
    samples = dict(hix=h[::2, x], hiy=h[::2, y], hkx=h[1::2, x], hky=h[1::2, y])
    samples |= {f"{name}_valid": C.mask[::2] for name in samples}
    return found | samples | dict(fix=out[0, x], fiy=out[0, y], fkx=out[1, x], fky=out[1, y])


def one_layer():
    """The measured convolution on symbols, five pixels, two channels, three taps; entries uncorrelated, of variance s^2."""
    s, one, five = symbols("s", positive=True), Integer(1), 5
    f, g = (np.array([symbols(f"{name}_{j}_:{five}") for j in range(2)], dtype=object) for name in ("f", "g"))
    U = np.array(symbols("U_:3_:2_:2"), dtype=object).reshape(TAPS, 2, 2)
    h, other = (evaluate(convolution, (U, part), Symbolic()) for part in (f, g))

    def mean(left, right):  # means of products of two different entries vanish
        return sum((left.diff(u) * right.diff(u) * s**2 for u in U.ravel()), 0 * one)

    for mu, nu in ((0, 0), (0, 2), (1, 4)):
        shifted = [f[j, (mu + beta) % five] * g[j, (nu + beta) % five] for j in range(2) for beta in range(TAPS)]
        yield Step(
            f"one channel at pixels {mu} and {nu}: the sum over taps", mean(h[0, mu], other[0, nu]), s**2 * sum(shifted)
        )
        yield Step("two channels", mean(h[0, mu], other[1, nu]), own_channels.equals)


def limits_of_layers():
    """Every depth: layer after layer."""
    yield Cited(
        "one layer has the Gaussian limit, its columns being channels and taps", "pseudo_iid_sign_symmetric_clt"
    )
    yield Cited(
        "features of Gaussian channels satisfy what one layer asks", "Garriga-Alonso et al. 2019; Novak et al. 2019"
    )


CASES: dict[int, Any] = {
    RELU: {sw2: Rational(1, 2), sb2: Rational(1, 10)},
    PHI: {sw2: Integer(5), sb2: Rational(1, 10)},
}
ELSEWHERE = "pseudo_iid_gp_fc breaks it; nothing in it is special to pixels"


def subject(law, activation, unfolded=0, tied=0, **roles):
    options = dict(law=law.place, share=float(law.share), activation=activation, unfolded=unfolded, tied=tied)
    return Subject(network, options=options, knows={phi: activation, **CASES[activation]}, **roles)


LAWS = ("output_law", "hidden_law")
theorem = Theorem(
    place="theorem 2, convolutional networks (reconstructed), with the symmetry of signs added",
    label="reconstructed",
    uses=("pseudo_iid_gp_fc", "pseudo_iid_sign_symmetric_clt", "relu_arc_cosine_kernel", "erf_arcsine_kernel"),
    hypotheses=dict(
        first=Hypothesis("the first layer is iid Gaussian", unbroken=ELSEWHERE),
        pseudo_iid=Hypothesis("later filters are pseudo-iid over pairs of channel and tap"),
        taps=Hypothesis("entries of two taps are uncorrelated"),
        biases=Hypothesis("layers and biases are independent, biases iid Gaussian", unbroken=ELSEWHERE),
        widths=Hypothesis("all numbers of channels grow together, at a fixed depth", unbroken=ELSEWHERE),
        signs=Hypothesis(
            "U D has the law of U for every diagonal matrix D of signs of the channels that it reads",
            unbroken="pseudo_iid_gp_fc breaks it; fixed sums in three independent taps lie within the margin here",
        ),
    ),
    claims=dict(covariance=covariance, own_channels=own_channels, output_law=output_law, hidden_law=hidden_law),
    experiments=dict(
        networks=Experiment(
            subjects={
                "Gaussian, ReLU": subject(setting.GAUSSIAN, RELU),
                "Haar, tap by tap, Phi": subject(setting.HAAR, PHI),
                "orthonormal rows over all taps, ReLU": subject(setting.GAUSSIAN, RELU, unfolded=1),
                "rank C/2, Phi": subject(setting.low_rank(Rational(1, 2)), PHI),
                "two blocks, ReLU": subject(setting.blocks(2), RELU),
                "Hadamard, Phi": subject(setting.HADAMARD, PHI),
                "rank two, ReLU": subject(setting.fixed_rank(2), RELU, breaks=("pseudo_iid",), fails=("hidden_law",)),
                "random scale, ReLU": subject(setting.SCALED, RELU, breaks=("pseudo_iid",), fails=("hidden_law",)),
                "correlated rows, ReLU": subject(
                    setting.CORRELATED, RELU, breaks=("pseudo_iid", "signs"), fails=("covariance", *LAWS)
                ),
                "correlated columns, Phi": subject(
                    setting.CORRELATED_COLUMNS, PHI, breaks=("pseudo_iid",), fails=("own_channels",)
                ),
                "one filter for all taps, Phi": subject(
                    setting.HAAR, PHI, tied=1, breaks=("taps",), fails=("covariance", *LAWS)
                ),
            },
            observe=observe,
            measures=(product, apart, Sxx, Sxy, Syy, *hidden, *outputs),
            sweep={C: (16, 32, 64)},
            span=4,
            along={pair: tuple(range(1, len(PAIRS) + 1))},
            draws=Efforts(quick=600, standard=600, thorough=10000),
            dtype="float32",
        )
    ),
    proof=dict(own_channels=one_layer, limits=limits_of_layers),
    issues=(
        "The statement is reconstructed, the body of the paper was not read: the sum over shared pixels in a variant is "
        "a wrong formula for shared filters, right where weights belong to the pixels that they read; nothing is said of "
        "what the paper prints.",
        "Without the symmetry of signs the reconstructed statement fails: pseudo_iid_finite_exchangeability_gap.",
        "Circular images of eight pixels, three taps; borders are not looked at.",
    ),
)
