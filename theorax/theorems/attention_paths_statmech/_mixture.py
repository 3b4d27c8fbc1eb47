"""Regression with a network that is linear in its embedding, and joint draws of its order parameter and outputs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths, drawn_deep, mixed_kernel


class PathRegression(eqx.Module):
    """A network, inputs and labels; the prior variance of V_0 and that of the noise, over their values in the formula."""

    network: DeepPaths
    inputs: Float[Array, "rows features tokens"]
    labels: Float[Array, " P"]
    scales: Float[Array, " 2"]


def posed(depth):
    """Widths N, N + 1, ..., two heads in each layer, two features, three tokens; the last input is the next one."""

    def build(key, N, P, hidden, relu_share, prior, noise):
        network = drawn_deep(key, tuple(N + layer for layer in range(depth + 1)), 2, 2, hidden, relu_share)
        inputs = jax.random.normal(named(key, "inputs"), (P + 1, 2, 3))
        return PathRegression(
            network,
            inputs,
            jax.random.normal(named(key, "labels"), (P,)),
            jnp.stack([1.0 * jnp.asarray(prior), 1.0 * jnp.asarray(noise)]),
        )

    return build


def jacobian(network, inputs):
    """Slopes of the outputs in the entries of V_0, inputs x entries."""
    slopes = jax.jacrev(lambda V_0: jax.vmap(eqx.tree_at(lambda net: net.embedding, network, V_0))(inputs))
    return slopes(network.embedding).reshape(len(inputs), -1)


def grams(network, inputs):
    """The Gram matrix of the Jacobian beside K(U), and the Jacobian."""
    J, U = jacobian(network, inputs), network.order_parameter()
    attended = jax.vmap(network.attended, out_axes=1)(inputs)
    kernel, alone = (mixed_kernel(weights, attended) for weights in (U, U * jnp.eye(len(U))))
    return dict(gram=J @ J.T, kernel=kernel, alone=alone, jacobian=J)


def regressed(J, K, y, T, prior=1.0, noise=1.0):
    """Least squares on the Jacobian J beside regression with the kernel K; their last row is the next input's."""
    P, tau, train, ahead = len(y), noise * T, J[:-1], J[-1]
    curvature = jnp.eye(J.shape[1]) / prior + train.T @ train / tau
    ridge = jnp.linalg.solve(curvature, train.T @ y / tau)
    S, k = K[:-1, :-1] + T * jnp.eye(P), K[-1, :-1]
    return dict(
        ridge_mean=ahead @ ridge, mean=k @ jnp.linalg.solve(S, y),
        ridge_variance=ahead @ jnp.linalg.solve(curvature, ahead), variance=K[-1, -1] - k @ jnp.linalg.solve(S, k),
        least=((y - train @ ridge) ** 2).sum() / tau + (ridge**2).sum() / prior, energy=y @ jnp.linalg.solve(S, y),
        volume=tau**P * prior ** J.shape[1] * jnp.linalg.det(curvature), determinant=jnp.linalg.det(S),
    )


def observe(model, T):
    """Rows x rows: the Gram matrix and the kernels; numbers: both regressions at the last input."""
    found = grams(model.network, model.inputs)
    J = found.pop("jacobian")
    return found | regressed(J, found["kernel"], model.labels, T, *model.scales)


class JointDraw(eqx.Module):
    """The order parameter, attended inputs, labels and the next output."""

    U: Float[Array, "m m"]
    attended: Float[Array, "m rows features"]
    outputs: Float[Array, " rows"]


def wishart(key, scale, degrees):
    """Bartlett's factor: a lower triangle of normal numbers, roots of chi-squares on its diagonal; over its degrees."""
    size = len(scale)
    diagonal = jnp.sqrt(jax.random.chisquare(named(key, "diagonal"), degrees - jnp.arange(size)))
    below = jnp.tril(jax.random.normal(named(key, "below"), (size, size)), -1)
    root = jnp.linalg.cholesky(scale) @ (below + jnp.diag(diagonal))
    return root @ root.T / degrees


def drawn_jointly(depth, mixture=False):
    """Networks at random inputs, or (``mixture``) the order parameter from its own law and outputs given it."""

    def build(key, N, P, T, hidden, relu_share, deviation, start, noise):
        network = drawn_deep(key, (N,) * (depth + 1), 2, 3, hidden, relu_share, deviation)
        network = eqx.tree_at(lambda net: net.embedding, network, jnp.sqrt(start) * network.embedding)
        inputs = jax.random.normal(named(key, "inputs"), (P + 1, 3, 3))
        attended = jax.vmap(network.attended, out_axes=1)(inputs)
        disturbed = jnp.append(jnp.sqrt(noise * T) * jax.random.normal(named(key, "noise"), (P,)), 0)
        if not mixture:
            return JointDraw(network.order_parameter(), attended, jax.vmap(network)(inputs) + disturbed)
        U = jax.random.chisquare(named(key, "u_a"), float(N))[None, None] / N
        for layer in range(depth):
            U = wishart(named(key, "Wishart", layer), jnp.kron(jnp.eye(2), U), N)
        root = jnp.linalg.cholesky(mixed_kernel(U, attended))
        return JointDraw(U, attended, root @ jax.random.normal(named(key, "outputs"), (P + 1,)) + disturbed)

    return build


def observe_jointly(model, T, P):
    """Numbers: moments of U (paths x paths), and of the P labels and the next output, whitened."""
    U, size = model.U, len(model.U)
    S = mixed_kernel(U, model.attended) + T * jnp.diag(jnp.append(jnp.ones(P), 0))
    v = jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(S), model.outputs, lower=True)
    # The head of the first layer is the leading digit of a path, that of the last layer its last.
    pairs = lambda flipped: (jnp.diagonal(U[:, np.arange(size) ^ flipped]) ** 2).mean()
    return dict(
        order=jnp.diagonal(U).mean(), squares=pairs(0), first_pairs=pairs(size // 2), last_pairs=pairs(1),
        both_pairs=pairs(size - 1), bounded=U[0, 0] / (1 + U[0, 0]), square=(v**2).sum(), next=v[-1],
    )
