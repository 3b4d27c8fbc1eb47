"""With tied weights softmax attention is no gradient flow of the Euclidean metric, and yet it lowers an energy.

**Theorem.** Let A be symmetric, W_V = -A, K0_ij = exp(x_i^T A x_j), Z_i = sum_j K0_ij, E = (1/2)
sum_ij K0_ij, and let F_i = sum_j (K0_ij/Z_i) W_V x_j be the softmax field. Let g_i be the gradient
of E in x_i, H its Hessian and J the Jacobian of F. Then Z_i F_i = -g_i, so dE/dt = -sum_i
|g_i|^2/Z_i along F. The block (i, j) of J - J^T is (1/Z_j - 1/Z_i) H_ij + g_i (d_j Z_i)^T/Z_i^2 -
(d_i Z_j) g_j^T/Z_j^2. It need not vanish: for A = 1 and the tokens (x, y) = (1, 1/2), (1, 0) and
(2, 1) on the line, |dF_1/dy - dF_2/dx| >= 1/3. In these three pairs Z_1 and Z_2 differ.

**Idea.** F is a gradient in the metric that weighs x_i by Z_i, not in the Euclidean metric, where J
would be symmetric. Differentiate F_i = -g_i/Z_i. At (1, 0) the curl is
(e^2 + 2 e - 1)/(2 (e + 1)^2). At opposite tokens (1, -1) Z_1 = Z_2, and the curl is zero. It is
small for nearly equal tokens.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Abs, Derivative, E, Rational, Subs, exp, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named
from theorax.theorems.sinkformers import _sinkhorn as setting
from theorax.theorems.sinkformers._sinkhorn import SinkhornLayer, d, n, normalised, softmax

x = Parameter("x", "first of two tokens on the line")
y = Parameter("y", "second of two tokens on the line")
seen = arrays(
    field="Z_i sum_j K_ij W_V x_j",
    slope="gradient of E, by automatic differentiation",
    change="dE/dt along the field, by automatic differentiation",
    paid="sum_i |g_i|^2/Z_i",
    unweighted="sum_i |g_i|^2",
    asymmetry="J - J^T, J the Jacobian of the field by automatic differentiation",
    expanded="the sum of the three terms with H, g and the slopes of Z",
    first="(1/Z_j - 1/Z_i) H_ij, the first of these terms",
)
pair = arrays(curl="dF_1/dy - dF_2/dx of two tokens on the line, A = 1")

H = hypotheses(
    softmax="the weights of each query are divided by their sum",
    symmetric="A is symmetric",
    values="W_V = -A",
    unequal="the sums Z_i of the tokens differ",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; each wrong term is a hundredth and more")
tied = (H.softmax, H.symmetric, H.values)
weighted = Identity(seen.field, -seen.slope, under=tied, margin=exact, wrong={"twice the energy": -2 * seen.slope})
lowers = Identity(
    seen.change, -seen.paid, under=tied, margin=exact,
    wrong={"in the Euclidean metric": -seen.unweighted, "it does not lower E": seen.paid},
)
jacobian = Identity(
    seen.asymmetry, seen.expanded, under=tied, margin=exact,
    wrong={"symmetric": dict(left=0 * seen.asymmetry), "the first term alone": seen.first},
)
rotates = Inequality(
    Abs(pair.curl), at_least=Rational(1, 3), under=(H.softmax, H.unequal), trivial=0 * pair.curl,
)
SOFTMAX, PLAIN, SINKHORN = range(3)


class TiedLayer(eqx.Module):
    """A layer, its tokens, and how its weights are normalised."""

    layer: SinkhornLayer
    X: Entries[Any, "n d"]
    kind: Scalar

    def field(self, X):
        K_0 = jnp.exp(self.layer.scores(X))
        K = softmax(K_0) + (self.kind == PLAIN) * (K_0 - softmax(K_0))
        return self.layer.drift(X, K)


def energy(layer, X):
    return jnp.exp(layer.scores(X)).sum() / 2


def drawn(key, n, d, kind, skew, untied):
    A = setting.form(key, d, skew, 2.0)
    W_V = -A + untied * jax.random.normal(named(key, "values"), (d, d))
    return TiedLayer(SinkhornLayer(A, jnp.eye(d), W_V), setting.tokens(key, n, d), kind)


def observe(model):
    X, layer, (n, d) = model.X, model.layer, model.X.shape
    sums = lambda X: jnp.exp(layer.scores(X)).sum(1)
    F, J, Z = model.field(X), jax.jacfwd(model.field)(X), sums(X)
    value = lambda X: energy(layer, X)
    g, hessian, slopes = jax.grad(value)(X), jax.jacfwd(jax.grad(value))(X), jax.jacfwd(sums)(X)
    rows = g[:, :, None, None] * slopes[:, None] / (Z**2)[:, None, None, None]
    first = (1 / Z[None, None, :, None] - 1 / Z[:, None, None, None]) * hessian
    flat = lambda T: T.reshape(n * d, n * d)
    return dict(
        field=F * Z[:, None],
        slope=g,
        change=(g * F).sum(),
        paid=((g**2).sum(1) / Z).sum(),
        unweighted=(g**2).sum(),
        asymmetry=flat(J) - flat(J).T,
        expanded=flat(first) + flat(rows) - flat(rows).T,
        first=flat(first),
    )


def on_the_line(key, x, y, kind, opposite):
    """Two tokens, or the second one opposite to the first."""
    one = jnp.ones((1, 1))
    second = y + opposite * (-x - y)
    return TiedLayer(SinkhornLayer(one, one, -one), jnp.stack([x, second])[:, None] * one, kind)


def turning(model):
    def field(X):
        K_0 = jnp.exp(model.layer.scores(X))
        limit = model.layer.drift(X, normalised(K_0))
        return jnp.where(model.kind == SINKHORN, limit, model.field(X))

    J = jax.jacfwd(field)(model.X)
    return dict(curl=(J[0, 0, 1] - J[1, 0, 0]).reshape(1))


@settles(weighted, lowers, jacobian)
def any_tokens(claim):
    """Two tokens in the plane and every symmetric A = -W_V, in coordinates along its eigenvectors."""
    A, one = np.diag(generic_entries("a", 2)), np.diag(np.array([1, 1], dtype=object))
    model = TiedLayer(SinkhornLayer(A, one, -A), generic_entries("x", 2, 2), SOFTMAX)
    yield Instance(claim, "two tokens", observe, model)


@lemma
def curls():
    """Two tokens on the line, A = 1: the curl at exact points."""
    s, t = symbols("s t", real=True)
    field = lambda s, t: -(exp(s * s) * s + exp(s * t) * t) / (exp(s * s) + exp(s * t))
    curl = Derivative(field(s, t), t) - Derivative(field(t, s), s)
    closed = (E**2 + 2 * E - 1) / (2 * (E + 1) ** 2)
    yield Step("at 1 and 0, above 2/5 in size", Subs(curl, (s, t), (1, 0)), closed)
    yield Step("at 1 and -1 the sums agree, and nothing is left", Subs(curl, (s, t), (1, -1)), 0)


whole = Subject(drawn, kind=SOFTMAX, skew=0.0, untied=0.0)
line = Subject(on_the_line, kind=SOFTMAX, opposite=0.0)
theorem = Theorem(
    place="softmax attention is no Wasserstein gradient flow; the Jacobian and the weighted metric: derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(weighted=weighted, lowers=lowers, jacobian=jacobian, rotates=rotates),
    proofs=(any_tokens, curls),
    experiments=dict(
        layers=Experiment(observe, seen, {n: (3, 5)}, at={d: 2}, draws=setting.DRAWS, subjects={
            "tied weights": whole,
            "without normalisation": whole(kind=PLAIN).breaking(H.softmax, fails=(weighted, lowers, jacobian)),
            "A with a skew part": whole(skew=1.0).breaking(H.symmetric, fails=(weighted, lowers, jacobian)),
            "other values": whole(untied=1.0).breaking(H.values, fails=(weighted, lowers, jacobian)),
        }),
        pairs=Experiment(turning, pair, {n: 2}, draws=1, seeds="none", subjects={
            "softmax": line,
            "no normalisation, two tokens": line(kind=PLAIN).breaking(H.softmax, fails=rotates),
            "Sinkhorn, two tokens": line(kind=SINKHORN).breaking(H.softmax, fails=rotates),
            "opposite tokens": line(opposite=1.0).breaking(H.unequal, fails=rotates),
        }, at=({x: 1, y: Rational(1, 2)}, {x: 1, y: 0}, {x: 2, y: 1})),
    ),
    issues=(
        "An energy that falls along the flow does not make it a gradient flow; the test is of the Jacobian.",
        "Being a gradient depends on the metric: weighed by Z_i, softmax attention is one.",
    ),
)
