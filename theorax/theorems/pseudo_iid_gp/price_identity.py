"""Price's identity: the covariance of two activations changes with that of their arguments as the slopes' product.

**Theorem.** Let (u, v) be centred and jointly Gaussian with variances one and covariance k12, |k12|
< 1, and let p be their density. Let phi be the integral of its derivative phi', with growth that
permits integration by parts, such as ReLU, erf or tanh. Then E phi(u) phi(v) (d log p/d k12) = E
phi'(u) phi'(v), that is d E phi(u) phi(v)/d k12 = E phi'(u) phi'(v). The same holds in mean over
the n units of a Gaussian layer.

**Idea.** The density obeys the heat equation d p/d k12 = d^2 p/du dv. Two integrations by parts
move the derivatives to phi; they need a phi without jumps, and the identity fails for the sign
function. The proof is the same for every positive definite covariance. At unit variances and
correlation c, d log p/d k12 = (u v (1 + c^2) - c (u^2 + v^2))/(1 - c^2)^2 + c/(1 - c^2).
"""

from sympy import Derivative, Integer, Integral, Symbol, diff, erf, exp, oo, pi, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _kernels as kernels
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import c, k11, k22, score, slopes

H = hypotheses(no_jumps="phi is the integral of its derivative", gaussian="pre-activations are jointly Gaussian")
identity = Expectation(
    score - slopes, Integer(0), spread=1 / sqrt(n) * 3,
    margin=Absolute(
        1, 20, "both sides are of order one half; half an arc-cosine in the place of its complement is a sixth off",
    ),
    wrong={
        "the slopes once too many": dict(of=score - 2 * slopes),
        "the slopes forgotten": dict(of=score),
    },
)


@lemma
def heat_equation():
    """Every positive definite K."""
    u, v = Symbol("u", real=True), Symbol("v", real=True)
    a, b, k = (Symbol(name, positive=True) for name in ("k_11", "k_22", "k_12"))
    rest = a * b - k**2
    density = exp(-(b * u**2 - 2 * k * u * v + a * v**2) / (2 * rest)) / (2 * pi * sqrt(rest))
    yield Step("over the density", Derivative(density, k) / density, Derivative(density, u, v) / density)
    correlated = c * sqrt(k11 * k22)
    gradient = (diff(density, k) / density).subs({k: correlated, a: k11, b: k22, u: sqrt(k11) * u, v: sqrt(k22) * v})
    measured = ((u * v * (1 + c**2) - c * (u**2 + v**2)) / (1 - c**2) ** 2 + c / (1 - c**2)) / sqrt(k11 * k22)
    yield Step("the score that is measured", gradient, measured)


@lemma
def one_example():
    """phi = erf, at c = 0: the derivative of the kernel at independence is the square of E phi'."""
    z = Symbol("z", real=True)
    normal = exp(-(z**2) / 2) / sqrt(2 * pi)
    mean = Integral(diff(erf(z), z) * normal, (z, -oo, oo))
    yield Step("E phi'", mean, 2 / sqrt(3 * pi))


theorem = Theorem(
    place="Price 1958; used for the kernels of this paper",
    label="derived",
    hypotheses=H,
    claims=dict(identity=identity),
    proofs=(heat_equation, one_example),
    experiments=dict(
        layers=Experiment(
            kernels.observe, (kernels.kernel, slopes, score), {n: 256},
            at=tuple({**angle, k11: Integer(1), k22: Integer(1)} for angle in kernels.ANGLES[:2]),
            draws=Efforts(2000, 4000, 20000), padded=True,
            subjects={
                "ReLU": kernels.subject(kernels.RELU),
                "erf": kernels.subject(kernels.ERF),
                "tanh": kernels.subject(kernels.TANH),
                "sign": kernels.subject(kernels.SIGN).breaking(H.no_jumps, fails=identity),
                "tanh, weights of signs": kernels.subject(kernels.TANH, signs=1).breaking(H.gaussian, fails=identity),
            },
        )
    ),
    issues=(
        "Integration by parts is not repeated here: it needs growth conditions that every activation in use meets.",
    ),
)
