"""Coefficients of the centred Gram matrix of the keys give orthonormal eigenvectors of the covariance of their features.

**Theorem.** Let phit(k_j) be features of N keys minus their mean over the keys, Kt their Gram
matrix, C = (1/N) sum_j phit(k_j) phit(k_j)^T, Kt a_d = N lambda_d a_d with lambda_d > 0, and u_d =
sum_j a_dj phit(k_j). Then C u_d = lambda_d u_d. If the a_d are orthogonal, as for different
lambda_d, and |a_d|^2 = 1/(N lambda_d), then u_d.u_e = a_d^T Kt a_e = delta_de. Moreover Kt 1 = 0.
If the kernel is strictly positive definite and no key occurs twice, Kt has N - 1 positive
eigenvalues. For exp(x.y/sqrt(3))/(g(x) g(y)), g(x) = sum_j exp(x.k_j/sqrt(3)), and five to nine
standard normal keys in R^3, the least is at least 10^(-9) times the largest (measured).

**Idea.** With the rows phit(k_j) in Phit, Kt = Phit Phit^T and u = Phit^T a, so C u = Phit^T
(Kt a)/N and u_d.u_e = N lambda_e a_d.a_e. As Kt 1 = 0, there are at most N - 1 axes. For a positive
definite Gram matrix Kp before centring, x^T Kt x = (J x)^T Kp (J x) > 0 with J = I - 11^T/N, unless
x is constant.
"""

import jax.numpy as jnp
from sympy import Matrix, Symbol, eye, ones, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import feature_rows
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import SOFTMAX, TAYLOR, D, N

COUNT = 3
seen = arrays(
    moved="C u_d, for the first three axes",
    kept="lambda_d u_d",
    products="u_d . u_e",
    identity="1 if d = e, 0 otherwise",
)
gram = arrays(
    by_gram="a_d^T Kt a_e, without features",
    unit="1 if d = e, 0 otherwise",
    shifted="Kt 1 + 1",
    uncentred="Kp 1 + 1",
    one="the vector 1",
    least="lambda_(N-1)",
    largest="lambda_1",
)

H = hypotheses(
    positive=Hypothesis("lambda_d > 0", unbroken="no a_d has the length 1/sqrt(N lambda_d) otherwise"),
    eigenvector="Kt a_d = N lambda_d a_d",
    length="|a_d|^2 = 1/(N lambda_d)",
    centred="Kt is the Gram matrix of features that are centred over the keys",
    distinct="the kernel is strictly positive definite and no key occurs twice",
)
exact = Relative(
    1, 10**7,
    "the account of the rounding, by the quotients of eigenvalues, stays below it; wrong factors are N",
)
covariance = Identity(
    seen.moved, seen.kept, under=(H.positive, H.eigenvector, H.centred), margin=exact,
    wrong={"the eigenvalue of the Gram matrix": N * seen.kept},
)
orthonormal = Identity(
    seen.products, seen.identity, under=(H.positive, H.eigenvector, H.length, H.centred), margin=exact,
    wrong={"|a_d|^2 = 1/lambda_d": N * seen.identity},
)
without_features = Identity(
    gram.by_gram, gram.unit, under=(H.positive, H.eigenvector, H.length, H.centred), margin=exact,
    wrong={"|a_d|^2 = 1/lambda_d": N * gram.unit},
)
null = Identity(
    gram.shifted,
    gram.one,
    under=H.centred,
    margin=exact,
    wrong={"of the Gram matrix itself": dict(left=gram.uncentred)},
)
# The draws keep 10^-4 or more; balls know zero to 10^-70.
rank = Inequality(
    gram.least, at_least=gram.largest / 10**9, under=H.distinct, wrong={"N - 2 axes at most": dict(at_least=None, at_most=0)},
)


def products(Kt, A):
    return dict(by_gram=A.T @ Kt @ A, unit=jnp.eye(A.shape[1], dtype=A.dtype))


def by_kernel(model, N):
    K, _ = setting.normalised_gram(model.kernel, model.keys)
    Kt = setting.centred(K)
    every, _ = setting.refined(Kt, model.guess)
    one = jnp.ones(N, dtype=Kt.dtype)
    taken = jnp.where(model.plain == 1, K, Kt)
    rest = dict(
        shifted=taken @ one + one, uncentred=K @ one + one, one=one, least=every[N - 2] / N, largest=every[0] / N
    )
    return products(Kt, setting.axes_of(model, COUNT).A) | rest


def axes(rows, values, A):
    """Axes of these features, centred over the keys."""
    Phi = rows - rows.sum(0) / len(rows)
    U = Phi.T @ A
    moved = Phi.T @ (Phi @ U) / len(rows)
    return dict(moved=moved, kept=values * U, products=U.T @ U, identity=jnp.eye(A.shape[1], dtype=U.dtype))


def by_features(model):
    return axes(feature_rows(model.kernel, model.keys, model.keys), *setting.axes_of(model, COUNT))


@settles(covariance, orthonormal)
def four_features(claim):
    """Four keys, two centred features of any values, up to a rotation."""
    Phi, A, values = setting.generic_axes()
    yield Instance(claim, "four keys", axes, Phi, values, A, letters={N: 4})


@settles(without_features)
def four_keys():
    """Four keys, any centred Gram matrix of rank two."""
    Phi, A, _ = setting.generic_axes()
    yield Instance(without_features, "four keys", products, Phi @ Phi.T, A, letters={N: 4})


@lemma
def covariance_route():
    """Three keys, two features of any values, any coefficients a and b."""
    Phi, a, b = Matrix(3, 2, symbols("phi_1:4_1:3")), Matrix(symbols("a_1:4")), Matrix(symbols("b_1:4"))
    J = eye(3) - ones(3, 3) / 3
    Phit = J * Phi
    Kt, C = J * Phi * Phi.T * J, Phit.T * Phit / 3
    yield Step("the covariance of u is that of Kt a", C * (Phit.T * a), Phit.T * (Kt * a) / 3)
    yield Step("products of axes are those of a with Kt", (Phit.T * a).T * (Phit.T * b), a.T * (Kt * b))
    n, length, value = Symbol("N", positive=True), Symbol("s", positive=True), Symbol("lambda", positive=True)
    yield Solved("the square of the length that makes u a unit vector", n * value * length - 1, length, 1 / (n * value))


exponential = Subject(setting.build_axes, kind=SOFTMAX, longer=1.0, turned=0.0, plain=0, more=0, repeated=0)
taylor = exponential(kind=TAYLOR)
theorem = Theorem(
    place="kernel PCA of the keys (standard, reconstructed)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(
        covariance=covariance, orthonormal=orthonormal, without_features=without_features, null=null, rank=rank,
    ),
    proofs=(four_features, four_keys, covariance_route),
    experiments=dict(
        features=Experiment(by_features, seen, setting.SIZES, at={D: 3}, draws=setting.DRAWS, subjects={
            "monomials up to degree four": taylor,
            "coefficients three times as long": taylor(longer=3.0).breaking(H.length, fails=orthonormal),
            "coefficients a tenth off": taylor(turned=0.1).breaking(H.eigenvector, fails=(covariance, orthonormal)),
            "the Gram matrix that is not centred": taylor(plain=1).breaking(H.centred, fails=(covariance, orthonormal)),
        }),
        kernel=Experiment(by_kernel, gram, setting.SIZES, at={D: 3}, draws=setting.DRAWS, subjects={
            "softmax attention": exponential,
            "coefficients three times as long": exponential(longer=3.0).breaking(H.length, fails=without_features),
            "coefficients a tenth off": exponential(turned=0.1).breaking(H.eigenvector, fails=without_features),
            "the Gram matrix that is not centred": exponential(plain=1).breaking(H.centred, fails=(without_features, null)),
            "a key that occurs twice": exponential(repeated=1).breaking(H.distinct, fails=rank),
        }),
    ),
    issues=("For smooth keys in few dimensions eigenvalues decay faster than exponentially: the last axes are noise then.",),
)
