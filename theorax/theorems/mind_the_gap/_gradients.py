"""Programs and letters of gradient_norm_exact: Jacobians of the network itself, and the norms that they are products of."""

import jax
import jax.numpy as jnp

from theorax.language import Index, Measured, arrays, numbers
from theorax.numerics import distributions
from theorax.numerics.ensembles import gaussian, markov
from theorax.numerics.extents import block
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._attention import mean_token_removed
from theorax.theorems.mind_the_gap._literal_networks import Weighted, literal_network, symbolic

L = Index("L", "depth")
l = Index("l", "layer whose values are varied")
seen = arrays(
    jacobian="||dX_L/dW_l||_F^2, by automatic differentiation",
    before="||A_L ... A_1 X_0 W_1 ... W_(l-1)||_F^2",
    after="||W_(l+1) ... W_L||_F^2",
    over=(l,),
)
norms = numbers(
    naive="||dX_L/dW_l||_F^2 of the naive network", fixed="||dX_L/dW_l||_F^2 of the fixed network", over=(L, l)
)
powers = numbers(
    bracket="1 + q + ... + q^(L-1) + T q^L, ||A_perp||_F^2/T of a layer for each factor q",
    power="T q^L, ||A_perp||_F^2/T of a layer for each factor q",
    over=(L,),
)
common = Measured(
    "common",
    "|u W_1 ... W_(l-1)|^2 ||W_(l+1) ... W_L||_F^2 over its mean, u along the mean token of A_L ... A_1 X_0",
    over=(L, l),
    positive=True,
)

EXPONENTIAL, SQUARES, UNIFORM = range(3)  # places in the menu of weights; squares of Gaussians are Gamma(1/2)


def square(M):
    return jnp.sum(M**2)


def literal_net(key, T, d, L, removed, dependent):
    def exponential(key):
        return Weighted(distributions.UnitExponential().sample(key, (T.padded, T.padded)))

    return literal_network(key, T, d, L, exponential, dependent, removed=removed)


def differentiate(network, T, d):
    """The squared norm of every Jacobian, and the norms of what stands before and after the values."""
    X_0, net = network
    layers = range(len(net.values))

    def slope(layer):
        return jax.jacobian(lambda W: net.with_values(layer + 1, W)(X_0)[-1])(net.values[layer])

    P = jnp.eye(T.padded)
    for attention, x in zip(net.attentions, [X_0, *net(X_0)[:-1]], strict=True):
        P = mean_token_removed(attention(x, T), T, net.removed) @ P
    front, back = [P @ X_0], [jnp.eye(d.padded)]
    for layer in layers[:-1]:
        front.append(front[-1] @ net.values[layer])
        back.insert(0, net.values[len(layers) - 1 - layer] @ back[0])
    return dict(
        jacobian=jnp.stack([square(slope(layer)) for layer in layers]),
        before=jnp.stack([square(M) for M in front]),
        after=jnp.stack([square(M) for M in back]),
    )


def naive_of_symbols(T, d, L):
    """A naive network of symbols."""
    return symbolic(T, d, *([f"{name}{layer}" for layer in range(L)] for name in "aw"))


def drawn_layers(key, T, d, L, law, sigma_V, constant, favoured, aligned, shared):
    """Tokens and the weights of every layer.

    ``constant`` every A is J; ``favoured`` weights of the first token larger by this many times nine; ``aligned`` the
    squared weight of a direction that all tokens share; ``shared`` a random factor common to all values, of this strength.
    """
    shape, J = (L, T.padded, T.padded), block(T, T) / jnp.asarray(T.value, jnp.zeros(()).dtype)
    menu = distributions.Choice(
        law, (distributions.UnitExponential(), distributions.Dirichlet(0.5), distributions.UnitUniform())
    )
    Z = menu.sample(named(key, "attention"), shape)
    Z = Z.at[:, :, 0].multiply(1 + 9 * favoured)
    A = jnp.where(constant, J, jax.vmap(lambda weights: markov(weights, T))(Z))
    common = jnp.sqrt(1 + shared * jnp.where(jax.random.bernoulli(named(key, "factor")), 0.5, -0.5))
    W = jnp.stack([gaussian(named(key, "values", layer), d, d, sigma_V * common) for layer in range(L)])
    X_0 = jnp.where(block(T, d), jnp.eye(T.padded, d.padded), 0)  # isometric; the Gaussian values turn it anyhow
    # Their mean has the length T^(-1/2): scaled to one it is the shared direction.
    direction = jnp.sqrt(jnp.asarray(T.value, X_0.dtype)) * (J @ X_0)
    return A, W, jnp.sqrt(1 - aligned) * X_0 + jnp.sqrt(aligned) * direction


def squared_norms(model, T, d, L, sigma_V):
    """Products of norms, by the identity of the Jacobian, for every depth and layer; zero where l > L."""
    A, W, X_0 = model
    A_perp, size = jax.vmap(lambda A: mean_token_removed(A, T))(A), jnp.asarray(T.value, A.dtype)
    q = jnp.sum(A_perp**2, axis=(1, 2)) / size
    gain = jnp.asarray(d.value, A.dtype) * sigma_V**2  # of a squared length by a layer of values, in the mean
    after = {(depth, depth): jnp.eye(d.padded) * d.mask for depth in range(1, L + 1)}
    for depth in range(1, L + 1):
        for layer in range(depth - 1, 0, -1):
            after[depth, layer] = W[layer] @ after[depth, layer + 1]

    def rows(A):
        P, table = X_0, []
        for depth in range(1, L + 1):
            P, row = A[depth - 1] @ P, []
            front = P
            for layer in range(1, depth + 1):
                row.append(square(front) * square(after[depth, layer]))
                front = front @ W[layer - 1]
            table.append(jnp.stack(row + [jnp.zeros(())] * (L - depth)))
        return jnp.stack(table)

    def growth():
        """The growth of the mean token's direction by the values before a layer, times that of those after it."""
        P, table = X_0, []
        for depth in range(1, L + 1):
            P = A[depth - 1] @ P
            u, row = P.sum(0) / jnp.linalg.norm(P.sum(0)), []
            for layer in range(1, depth + 1):
                row.append(square(u) * square(after[depth, layer]) / (d.value * gain ** (depth - 1)))
                u = u @ W[layer - 1]
            table.append(jnp.stack(row + [jnp.ones(())] * (L - depth)))
        return jnp.stack(table)

    powers = jnp.cumprod(q)
    geometric = jnp.cumsum(jnp.concatenate([jnp.ones(1), powers[:-1]]))
    return dict(
        naive=rows(A), fixed=rows(A_perp), bracket=geometric + size * powers, power=size * powers, common=growth()
    )
