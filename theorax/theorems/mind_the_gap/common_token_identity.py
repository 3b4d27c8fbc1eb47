"""Naive and fixed networks differ by one common token: X_L = 1 v^T + Y_L.

**Theorem.** Let A_1, ..., A_L be T x T matrices whose rows sum to one, J = 1 1^T/T and
A_perp = A - J. Then A_L ... A_1 = J A_(L-1) ... A_1 + (A_L)_perp ... (A_1)_perp. Let no A_l depend
on the tokens, X_l = A_l X_(l-1) W_l, Y_l = (A_l)_perp Y_(l-1) W_l and Y_0 = X_0, and let v be the
mean token of A_(L-1) ... A_1 X_0 W_1 ... W_L. Then X_L = 1 v^T + Y_L and (I - J) X_L = (I - J) Y_L,
for every T, d, L, all values W_l and every input X_0.

**Idea.** Since A J = J and A_perp 1 = 0 (outlier_identity), A P = J P + A_perp Q whenever
P = J R + Q with a product Q of matrices A_perp. This is an induction over the layers. If A depends
on the tokens, the two networks differ in their A from the second layer on, and the identity fails.
"""

from dataclasses import replace
from functools import partial

import jax.numpy as jnp
from sympy import Rational

from theorax.language import *
from theorax.numerics.extents import block, literal
from theorax.theorems.mind_the_gap import _literal_networks as networks
from theorax.theorems.mind_the_gap._markov import T, d, gamma

L = Index("L", "depth")
seen = arrays(
    product="A_L ... A_1",
    carried="J A_(L-1) ... A_1",
    product_perp="the product of the L matrices A_perp",
    X="tokens of the naive network after L layers",
    Y="tokens of the fixed network after L layers",
    common="1 v^T, v the mean token of A_(L-1) ... A_1 X_0 W_1 ... W_L",
    X_centred="(I - J) X_L",
    Y_centred="(I - J) Y_L",
    over=(L,),
)

H = hypotheses(
    stochastic="the rows of every attention matrix sum to one",
    independent="no attention matrix depends on the tokens",
)
exactly = Relative(1, 10**6, "the account of the rounding of these products stays below it, a wrong term is far above")
products = Identity(
    seen.product, seen.carried + seen.product_perp, margin=exactly, under=H.stochastic,
    wrong={"the outlier forgotten": seen.product_perp},
)
tokens = Identity(seen.X, seen.common + seen.Y, margin=exactly, wrong={"the common token forgotten": seen.Y})
centred = Identity(seen.X_centred, seen.Y_centred, margin=exactly)


def drawn_network(key, T, d, L, log_normal, empty, columns, dependent):
    independent = partial(networks.drawn_weights, T=T, log_normal=log_normal, empty=empty, columns=columns)
    return networks.literal_network(key, T, d, L, independent, dependent, sigma="1/sqrt(d)")


def compare(network, T):
    """The naive and the fixed network on the same tokens, and the products of the matrices of the naive one."""
    X_0, net = network
    X, Y = net(X_0), replace(net, removed=1.0)(X_0)
    size = jnp.asarray(T.value, X_0.dtype)
    J, I = block(T, T) / size, jnp.eye(T.padded)
    P, P_perp, V, layers = I, I, X_0, []
    for attention, W, x in zip(net.attentions, net.values, [X_0, *X[:-1]], strict=True):
        A, V = attention(x, T), V @ W
        layers.append((A @ P, J @ P, (A - J) @ P_perp, jnp.ones((T.padded, 1)) * (P @ V).sum(0) / size))
        P, _, P_perp, _ = layers[-1]
    product, carried, product_perp, common = map(jnp.stack, zip(*layers, strict=True))
    return dict(
        product=product, carried=carried, product_perp=product_perp, X=X, Y=Y, common=common,
        X_centred=(I - J) @ X, Y_centred=(I - J) @ Y,
    )


@settles(products, tokens, centred)
def any_network(claim):
    """Generic rows of sum one, tokens and values; T = 2, 3, 4, two dimensions, depths 1, 2 and 3."""
    for order in (2, 3, 4):
        yield Instance(claim, f"T = {order}", compare, networks.symbolic(order, 2, "abc", "pqr"), literal(order))


@lemma
def every_depth():
    """Every T, dimension and depth, by induction: from L - 1 layers to L."""
    A, J, P, Q, R, X, Y, V, W = generic_matrices("A J P Q R X Y V W")
    rows = ((A * J, J), (J * J, J))
    before = (*rows, (J * R, P - Q))  # P = A_(L-1) ... A_1, R = A_(L-2) ... A_1, Q the product of L - 1 matrices A_perp
    yield MatrixStep("the product of two is the start", A * (J + (R - J)), J * R + (A - J) * (R - J), rows)
    yield MatrixStep("one factor more", A * P, J * P + (A - J) * Q, before)
    tokens = (*rows, (J * V, X - Y))  # X = 1 v^T + Y after L - 1 layers
    yield MatrixStep("one layer more", A * X * W, J * X * W + (A - J) * Y * W, tokens)
    yield MatrixStep("centred", (1 - J) * A * X * W, (1 - J) * (A - J) * Y * W, tokens)


network = Subject(drawn_network, log_normal=0, empty=0.0, columns=0, dependent=0)
theorem = Theorem(
    place="the algebra behind the fix; elementary, proved here",
    label="reconstructed",
    uses=("outlier_identity",),
    hypotheses=H,
    claims=dict(products=products, tokens=tokens, centred=centred),
    proofs=(any_network, every_depth),
    experiments=dict(
        networks=Experiment(
            compare, seen, {T: Efforts((4, 16), (4, 16), (4, 16, 64))}, derived={d: T / gamma},
            at=({gamma: 1}, {gamma: Rational(1, 2)}), along={L: (1, 2, 3)}, draws=Efforts(2, 3, 8), padded=True,
            subjects={
                "exponential": network,
                "log-normal": network(log_normal=1),
                "softmax off by one": network(empty=1.0).breaking(H.stochastic, fails=(products, tokens, centred)),
                "columns normalised": network(columns=1).breaking(H.stochastic, fails=(products, tokens, centred)),
                "key-query": network(dependent=1).breaking(H.independent, fails=(tokens, centred)),
            },
        ),
    ),
    issues=(
        "If attention does not depend on the tokens, the centred part is the same with and without the fix. The fix "
        "removes only the common token that this part is compared with.",
        "With key-query attention the networks part from the second layer on; nothing is claimed about them here.",
    ),
)
