"""The kernel of a ReLU layer is the arc-cosine kernel of order one.

**Theorem.** Let phi be ReLU, and let (u, v) be centred and jointly Gaussian with variances k11, k22
and correlation c, |c| < 1. Then E phi(u) phi(v) = sqrt(k11 k22) f(c), f(c) = (sqrt(1 - c^2) + c (pi
- arccos c))/(2 pi), and E phi'(u) phi'(v) = (pi - arccos c)/(2 pi). In a Gaussian layer of any
width n the means of both products over the units have these expectations.

**Idea.** By homogeneity only the angle matters. f'(c) = E 1[u > 0] 1[v > 0] is the probability of a
quadrant, (pi - arccos c)/(2 pi), and f(-1) = 0, because u and v = -u are never positive together.
Integrate from c = -1. In particular f(0) = 1/(2 pi) and f(1) = 1/2.
"""

from sympy import Derivative, Integer, Integral, Rational, Subs, Symbol, acos, pi, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _kernels as kernels
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import c, k11, k22, kernel, slopes

f = (sqrt(1 - c**2) + c * (pi - acos(c))) / (2 * pi)
quadrant = (pi - acos(c)) / (2 * pi)
H = hypotheses(relu="phi is the ReLU", gaussian="pre-activations are jointly Gaussian")
arc_cosine = Expectation(
    kernel, sqrt(k11 * k22) * f, spread=4 / sqrt(n),
    margin=Relative(1, 20, "the angle in the place of its complement moves it by a third and more"),
    wrong={
        "arccos c for pi - arccos c": sqrt(k11 * k22) * (sqrt(1 - c**2) + c * acos(c)) / (2 * pi),
        "the kernel at half the angle": sqrt(k11 * k22) * f.subs(c, sqrt((1 + c) / 2)),
    },
)
derivative = Expectation(
    slopes, quadrant, spread=3 / sqrt(n),
    margin=Relative(1, 20, "the other quadrants have an angle that differs by a third and more"),
    wrong={"arccos c for pi - arccos c": acos(c) / (2 * pi)},
)


@derives(arc_cosine)
def from_the_quadrant():
    """Every angle: the derivative, and the value at c = -1, where both are never positive."""
    x = Symbol("x", real=True)
    yield Cited("two standard normals of correlation c are both positive with this probability", "Sheppard 1899")
    yield Step("the derivative of f", Derivative(f, c), quadrant)
    yield Step("opposite inputs", Subs(f, c, -1), Integer(0))
    yield Step("orthogonal inputs: the square of E phi", Subs(f, c, 0), 1 / (2 * pi))
    yield Step("one input twice: E phi^2", Subs(f, c, 1), Rational(1, 2))
    primitive = Integral((pi - acos(x)) / (2 * pi), (x, -1, c))
    yield Step("and f is its integral; ReLU is homogeneous", sqrt(k11 * k22) * primitive, arc_cosine.equals)


theorem = Theorem(
    place="Cho and Saul 2009; the kernel of this paper's ReLU layers",
    label="derived",
    uses=("price_identity",),
    hypotheses=H,
    claims=dict(arc_cosine=arc_cosine, derivative=derivative),
    proofs=(from_the_quadrant,),
    experiments=dict(
        layers=kernels.experiment(
            {
                "ReLU": kernels.subject(kernels.RELU),
                "tanh": kernels.subject(kernels.TANH).breaking(H.relu, fails=(arc_cosine, derivative)),
                "ReLU, weights of signs": kernels.subject(kernels.RELU, signs=1).breaking(
                    H.gaussian, fails=(arc_cosine, derivative)
                ),
            }
        )
    ),
)
