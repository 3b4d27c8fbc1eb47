"""Over the keys, taken as queries, attention outputs of kernel PCA have the covariance diag(lambda), around a mean that stays.

**Theorem.** Let k(x, y) = exp(x.y/sqrt(D)), g(x) = sum_j k(x, k_j) over N keys, phi(x).phi(y) =
k(x, y)/(g(x) g(y)), m = mean_l phi(k_l), Kt the Gram matrix of phi(k_j) - m, and u_d = sum_j a_dj
(phi(k_j) - m). Let the queries of softmax attention be the keys, and its values
(a_dj - mean_l a_dl)/g(k_j). Then the mean of output d over the keys is m.u_d, for any a_d. If Kt
a_d = N lambda_d a_d, lambda_d > 0, |a_d|^2 = 1/(N lambda_d), and the a_d are orthogonal, as for
different lambda_d, then the covariance of outputs d and e over the keys, with weights 1/N, is
lambda_d delta_de.

**Idea.** Output d at key j is phi(k_j).u_d = (phi(k_j) - m).u_d + m.u_d. The first term has mean
zero over the keys and the covariance u_d^T C u_e = lambda_d delta_de, where C is the covariance of
the features. The second term is the same at every key. It need not vanish, as the query is not
centred.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational, Symbol, symbols

from theorax.language import *
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import SOFTMAX, D, N

COUNT = 3
seen = arrays(
    covariance="mean over the keys of products of deviations of the outputs",
    eigenvalues="lambda_d on the diagonal, 0 elsewhere",
    mean="mean over the keys of the d-th output",
    centre="mean_l phi(k_l) . u_d, by the kernel",
    second="mean over the keys of products of the outputs, not of deviations",
)

H = hypotheses(
    eigenvector="Kt a_d = N lambda_d a_d with lambda_d > 0",
    length="|a_d|^2 = 1/(N lambda_d)",
    centred="Kt is the centred Gram matrix",
    keys="the queries are the keys",
)
exact = Relative(1, 10**7, "the account of the rounding, by the quotients of eigenvalues, stays below it")
variance = Identity(
    seen.covariance, seen.eigenvalues, margin=exact,
    wrong={
        "the eigenvalue of the Gram matrix": N * seen.eigenvalues,
        "the estimate with N - 1": seen.eigenvalues * N / (N - 1),
        "outputs of mean zero": dict(left=seen.second),
    },
)
mean = Identity(
    seen.mean, seen.centre, under=H.keys, margin=exact, wrong={"outputs of mean zero": 0, "the sum": N * seen.centre},
)


def moments(outputs, Kp, eigenvalues, A):
    """Moments of the outputs at all keys."""
    n = len(outputs)
    middle = outputs.sum(0) / n
    off = outputs - middle
    return dict(
        covariance=off.T @ off / n, eigenvalues=jnp.eye(A.shape[1], dtype=off.dtype) * eigenvalues, mean=middle,
        centre=(Kp.sum(0) / n) @ (A - A.sum(0) / n), second=outputs.T @ outputs / n,
    )


def observe(model):
    keys = model.keys
    K, g = setting.normalised_gram(model.kernel, keys)
    eigenvalues, A = setting.axes_of(model, COUNT)
    queries = keys + model.more
    weights = jax.nn.softmax(queries @ keys.T / jnp.sqrt(jnp.asarray(float(keys.shape[1]))))
    return moments(weights @ ((A - A.sum(0) / len(A)) / g[:, None]), K, eigenvalues, A)


def build(key, N, D, kind, longer, turned, plain, apart):
    """``apart``: by how much the queries differ from the keys."""
    model = setting.build_axes(key, N, D, kind, longer, turned, plain, N)
    return eqx.tree_at(lambda m: m.more, model, apart * model.more)


@settles(variance, mean)
def four_keys(claim):
    """Four keys, two features of any mean, any variances, axes at one angle: outputs are products with phi(k_j)."""
    turned = setting.generic_axes(plane=True)
    at = np.vectorize(lambda entry: entry.subs(Symbol("p", real=True), Rational(1, 3)), otypes=[object])
    Phi, A, eigenvalues = map(at, turned)
    rows = Phi + np.array(symbols("c_1:3", real=True), dtype=object)
    Kp = rows @ rows.T
    yield Instance(claim, "four keys", moments, Kp @ A, Kp, eigenvalues, A, letters={N: 4})


softmax = Subject(build, kind=SOFTMAX, longer=1.0, turned=0.0, plain=0, apart=0.0)
theorem = Theorem(
    place="attention outputs over the keys (derived here)",
    label="derived",
    uses=("attention_is_query_projection", "kpca_axes_and_covariance"),
    hypotheses=H,
    claims=dict(variance=variance, mean=mean),
    proofs=(four_keys,),
    experiments=dict(
        outputs=Experiment(observe, seen, setting.SIZES, at={D: 3}, draws=setting.DRAWS, subjects={
            "softmax attention": softmax,
            "coefficients a tenth off": softmax(turned=0.1).breaking(H.eigenvector, fails=variance),
            "coefficients three times as long": softmax(longer=3.0).breaking(H.length, fails=variance),
            "the Gram matrix that is not centred": softmax(plain=1).breaking(H.centred, fails=variance),
            "queries beside the keys": softmax(apart=0.5).breaking(H.keys, fails=(variance, mean)),
        }),
    ),
    issues=("Queries of a trained layer are not its keys: their variance along an axis has no eigenvalue to equal.",),
)
