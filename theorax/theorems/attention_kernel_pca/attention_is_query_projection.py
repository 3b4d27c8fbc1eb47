"""The projection of a query on the principal axes of the keys is a softmax attention layer with certain values.

**Theorem.** Let k(x, y) = exp(x.y/sqrt(D)), g(x) = sum_j k(x, k_j) over the N keys of the layer and
phi(x).phi(y) = k(x, y)/(g(x) g(y)). For any coefficients a_dj let m = mean_l phi(k_l), u_d = sum_j
a_dj (phi(k_j) - m) and v_j(d) = (a_dj - mean_l a_dl)/g(k_j). Then softmax attention with the values
v_j(d) has the output phi(q).u_d at every query q. The same is true of attention with the weights
k(q, k_j)/g(q) for k(x, y) = psi(x).psi(y), with any features psi for which g does not vanish at q
and the keys. The output of softmax attention minus m.u_d is (phi(q) - m).u_d, the coordinate in a
library's kernel PCA, which centres the query too.

**Idea.** u_d = sum_j (a_dj - mean_l a_dl) phi(k_j), and phi(q).phi(k_j) is the weight
k(q, k_j)/g(q) over g(k_j). The proof uses no property of a_d: any values are coordinates of phi(q)
along some vectors. These are the principal axes only if the a_d are eigenvectors of the centred
Gram matrix.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import FEATURES, KernelAttention, Softmax, feature_rows
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import LINEAR, PLAIN, SOFTMAX, TAYLOR, AttentionKernel, D

COUNT = 3
seen = arrays(
    layer="softmax attention, by JAX, with the values (a_j - mean a)/g_j",
    projection="phi(q) . u_d by products of features, which the kernel gives",
    library="phi(q) . u_d less mean_l phi(k_l) . u_d",
    offset="mean_l phi(k_l) . u_d",
    raw="the layer with the values a_j - mean a",
    squared="the layer with the values (a_j - mean a)/g_j^2",
    multiplied="the layer with the values (a_j - mean a) g_j",
    uncentred="the layer with the values of eigenvectors of the Gram matrix that is not centred",
)
featured = arrays(
    attended="the layer with the kernel of some features, values (a_j - mean a)/g_j",
    projected="phi(q) . u_d with these features, divided by g(q)",
    plain="the layer with the values a_j - mean a",
)

H = hypotheses(
    same_keys="g is summed over the keys of the layer, at the keys and at the query",
    values="v_j(d) = (a_dj - mean_l a_dl)/g_j",
    uncentred="the feature of the query is phi(q), not centred",
)
exact = Relative(1, 10**7, "the account of the rounding stays below it; the nearest wrong layer is a tenth off")
projection = Identity(
    seen.layer, seen.projection, margin=exact,
    wrong={
        "values without 1/g": seen.raw,
        "values with 1/g^2": seen.squared,
        "values times g": seen.multiplied,
        "eigenvectors of the uncentred Gram matrix": seen.uncentred,
        "the coordinates of a library, which centres the query": seen.library,
    },
)
by_features = Identity(
    featured.attended, featured.projected, under=(H.same_keys, H.values, H.uncentred), margin=exact,
    wrong={"values without 1/g": featured.plain},
)
library = Identity(
    seen.layer - seen.offset, seen.library, under=(H.same_keys, H.values), margin=exact,
    wrong={"the query centred by the layer": dict(left=seen.layer)},
)


class ProjectedQueries(eqx.Module):
    """Keys, queries and coefficients of axes, by the Gram matrix of the keys, centred and not.

    ``more``: keys that the normaliser of a query counts in addition; ``scaled``: the values have the factor 1/g;
    ``shift``: the query is centred.
    """

    kernel: AttentionKernel
    keys: Entries[Any, "N D"]
    queries: Entries[Any, "n D"]
    more: Entries[Any, "m D"]
    A: Entries[Any, "N d"]
    whole: Entries[Any, "N d"]
    scaled: Any
    shift: Any


def build(key, N, D, kind, scaled, shift, more):
    found = setting.build_axes(key, N, D, kind, 1.0, 0.0, 0, more)
    K, _ = setting.normalised_gram(found.kernel, found.keys)
    A, whole = (setting.eigenpairs(X, setting.first_basis(X), COUNT).A for X in (setting.centred(K), K))
    given = found.kernel, found.keys, found.queries, found.more
    return ProjectedQueries(*given, A, whole, scaled, shift)


def values_of(A, weight, scaled=1):
    """diag(weight) (I - 11^T/N) A, without the weight where ``scaled`` is zero."""
    return (A - A.sum(0) / len(A)) * jnp.where(jnp.asarray(scaled) == 1, weight, jnp.ones_like(weight))[:, None]


def observe(model):
    kernel, keys, q, A = model.kernel, model.keys, model.queries, model.A
    K, g = setting.normalised_gram(kernel, keys)
    at = kernel.kernel(q, keys)
    beyond = at.sum(1, keepdims=True) + kernel.kernel(q, model.more).sum(1, keepdims=True)
    rows, mean = at / (beyond * g), K.sum(0) / len(keys)  # phi(q) . phi(k_j), and its mean over keys as queries
    offset = (mean - mean.sum() / len(keys)) @ A + jnp.zeros((len(q), 1))
    coordinates = (rows - rows.sum(1, keepdims=True) / len(keys)) @ A
    weights = jax.nn.softmax(q @ keys.T / jnp.sqrt(jnp.asarray(float(keys.shape[1]))))
    return dict(
        layer=weights @ values_of(A, 1 / g, model.scaled), projection=coordinates - model.shift * offset,
        library=(rows - rows.sum(1, keepdims=True) / len(keys) - mean + mean.sum() / len(keys)) @ A, offset=offset,
        raw=weights @ values_of(A, jnp.ones_like(g)), squared=weights @ values_of(A, 1 / g**2),
        multiplied=weights @ values_of(A, g), uncentred=weights @ values_of(model.whole, 1 / g),
    )


def compare(features, keys, more, queries, A, scaled, shift):
    """The layer beside the projection on u = sum_j a_j (phi(k_j) - mean_l phi(k_l)), by features."""
    g = features.kernel(keys, keys).sum(1)
    summed = jnp.concatenate([keys, more])
    phi, at = features(keys) / g[:, None], feature_rows(features, summed, queries)
    U = (phi - phi.sum(0) / len(keys)).T @ A
    layer = lambda values: KernelAttention(features, keys, values, jnp.zeros(A.shape[1]))(queries)
    mean = jnp.where(jnp.asarray(shift) == 1, phi.sum(0) / len(keys), 0)
    return dict(
        attended=layer(values_of(A, 1 / g, scaled)), projected=(at - mean) @ U, plain=layer(values_of(A, jnp.ones_like(g))),
    )


def with_features(model):
    return compare(model.kernel, model.keys, model.more, model.queries, model.A, model.scaled, model.shift)


@settles(by_features)
def generic_features():
    """Three keys and a query, two features of any values, any coefficients of one axis."""
    g = generic_entries
    given = g("phi", 3, 2), np.empty((0, 2), dtype=object), g("q", 1, 2), g("a", 3, 1)
    yield Instance(by_features, "three keys", compare, FEATURES[PLAIN], *given, 1, 0)


@settles(projection, library)
def three_keys(claim):
    """Three keys and a query in the plane, softmax attention, any coefficients of one axis."""
    g = generic_entries
    given = g("k", 3, 2), g("q", 1, 2), np.empty((0, 2), dtype=object), g("a", 3, 1), g("w", 3, 1)
    yield Instance(claim, "three keys", observe, ProjectedQueries(Softmax(), *given, 1, 0))


softmax = Subject(build, kind=SOFTMAX, scaled=1, shift=0.0, more=0)
monomial = softmax(kind=TAYLOR)
theorem = Theorem(
    place="self-attention as projection of queries on principal axes of the keys: the main result",
    label="reconstructed",
    uses=("kpca_axes_and_covariance",),
    hypotheses=H,
    claims=dict(projection=projection, by_features=by_features, library=library),
    proofs=(generic_features, three_keys),
    experiments=dict(
        softmax=Experiment(observe, seen, setting.SIZES, at={D: 4}, draws=setting.DRAWS, subjects={
            "softmax attention": softmax,
            "g of the query over four keys more": softmax(more=4).breaking(H.same_keys, fails=projection),
            "values without 1/g": softmax(scaled=0).breaking(H.values, fails=(projection, library)),
            "a query that is centred": softmax(shift=1.0).breaking(H.uncentred, fails=projection),
        }),
        features=Experiment(with_features, featured, setting.SIZES, at={D: 4}, draws=setting.DRAWS, subjects={
            "monomials up to degree four": monomial,
            "linear attention": monomial(kind=LINEAR),
            "g of the query over four keys more": monomial(more=4).breaking(H.same_keys, fails=by_features),
            "values without 1/g": monomial(scaled=0).breaking(H.values, fails=by_features),
            "a query that is centred": monomial(shift=1.0).breaking(H.uncentred, fails=by_features),
        }),
    ),
    issues=(
        "Trained values near to these are a claim of the paper, which a reproduction (arXiv 2505.07908) did not find.",
        "Any values give coordinates phi(q) . u with u = sum_j v_j g_j phi(k_j): axes that are neither orthonormal nor "
        "principal.",
    ),
)
