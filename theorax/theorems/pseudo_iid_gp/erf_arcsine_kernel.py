"""The kernel of a layer of error functions is an arcsine.

**Theorem.** Let phi = erf, and let (u, v) be centred and jointly Gaussian with variances k11, k22
and covariance k12 = c sqrt(k11 k22), |c| < 1. Then E phi(u) phi(v) = (2/pi) asin(2 k12/sqrt((1 + 2
k11)(1 + 2 k22))) and E phi'(u) phi'(v) = (4/pi)/sqrt((1 + 2 k11)(1 + 2 k22) - 4 k12^2). In a
Gaussian layer of any width n the means of both products over the units have these expectations.

**Idea.** phi' is a Gaussian function, so E phi'(u) phi'(v) is a Gaussian integral, (4/pi) det(I +
2K)^(-1/2). By Price's identity it is the derivative of the kernel in k12. The kernel vanishes at
k12 = 0 because erf is odd; integrate from there.
"""

from sympy import Derivative, Integral, Matrix, Rational, Subs, Symbol, asin, eye, pi, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _kernels as kernels
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import c, k11, k22, kernel, slopes

k12 = Symbol("k12", real=True)
scale = sqrt((1 + 2 * k11) * (1 + 2 * k22))
F = 2 / pi * asin(2 * k12 / scale)
determinant = (1 + 2 * k11) * (1 + 2 * k22) - 4 * k12**2
correlated = c * sqrt(k11 * k22)

H = hypotheses(erf="phi is the error function", gaussian="pre-activations are jointly Gaussian")
arcsine = Expectation(
    kernel, F.subs(k12, correlated), spread=Rational(31, 10) / sqrt(n),
    margin=Absolute(1, 50, "k12 in the place of 2 k12 moves it by a twentieth at c = 1/2"),
    wrong={
        "k12 for 2 k12": 2 / pi * asin(correlated / scale),
        "1 + k for 1 + 2 k": 2 / pi * asin(2 * correlated / (sqrt((1 + k11) * (1 + k22)) * 2)),
        "arcsin without 2/pi": asin(2 * correlated / scale),
    },
)
derivative = Expectation(
    slopes, 4 / pi / sqrt(determinant.subs(k12, correlated)), spread=3 / sqrt(n),
    margin=Relative(1, 20, "without the correlation it is 7 % smaller at c = 1/2"),
    wrong={"without the correlation": 4 / pi / scale},
)


@derives(arcsine)
def gaussian_integral():
    """Every positive definite K: a Gaussian integral over two variables is a determinant."""
    K = Matrix([[k11, k12], [k12, k22]])
    # E exp(-u^2 - v^2) = det(I + 2K)^(-1/2)
    yield Step("the determinant of I + 2K", (eye(2) + 2 * K).det(), determinant)
    yield Step("Price's identity: the slopes", Derivative(F, k12) ** 2 * determinant, (4 / pi) ** 2)
    t, root = Symbol("t", real=True), Symbol("root", positive=True)
    from_independence = Integral(4 / pi / sqrt(root**2 - 4 * t**2), (t, 0, k12))  # an odd activation: F = 0 there
    here = Subs(from_independence, (root, k12), (scale, correlated))
    yield Step("integrated from independence on", here, arcsine.equals)


theorem = Theorem(
    place="Williams 1997; the kernel of this paper's erf layers",
    label="derived",
    uses=("price_identity",),
    hypotheses=H,
    claims=dict(arcsine=arcsine, derivative=derivative),
    proofs=(gaussian_integral,),
    experiments=dict(
        layers=kernels.experiment(
            {
                "erf": kernels.subject(kernels.ERF),
                "ReLU": kernels.subject(kernels.RELU).breaking(H.erf, fails=(arcsine, derivative)),
                "erf, weights of signs": kernels.subject(kernels.ERF, signs=1).breaking(
                    H.gaussian, fails=(arcsine, derivative)
                ),
            }
        )
    ),
)
