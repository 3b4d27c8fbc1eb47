"""The depth limit of causal kernel descent is Kaczmarz's algorithm, at every position of the context.

K_L u = L x_+ reads kappa u_t = sum_(s<t) k(x_t, x_s) (x_(s+1) - u_s). If u_s = W_s phi(x_s) up to t - 1, the bracket is
Kaczmarz's residual at s, and the sum is kappa W_t phi(x_t): so u_t = W_t phi(x_t), whatever the kernel and the targets.
Kaczmarz divides by k(x_s, x_s) of the token that is stored, the descent by k(x_t, x_t) of the one that asks: the sphere
makes them one number.
"""

import jax.numpy as jnp
from sympy import Rational, Symbol

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _sequences as sequences
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import circle_spectrum, fixed_point, kaczmarz
from theorax.theorems.causal_kernel_descent._tokens import SPHERE, T, d

sides = arrays(
    u="the depth limit: K_L u = L x_+, by substitution",
    guess="Kaczmarz's predictions W_t phi(x_t), W_t stored as a matrix",
    weighted="K_L r, r the residual of the depth limit",
    ahead="kappa times the next tokens",
)
seen = numbers(
    gap="the largest difference of a coordinate of the depth limit and of Kaczmarz's prediction",
    peek="the same with Kaczmarz's prediction made after its target was seen",
)

rounding = "the account of the rounding stays below it; with lengths 5 % off per step the difference is of order one"
H = hypotheses(sphere=SPHERE)
equal = Identity(sides.guess, sides.u, margin=Relative(1, 10**6, rounding))
residual = Identity(sides.weighted, -sides.ahead, margin=Relative(1, 10**6, rounding))
# ||K_L^-1|| <= 2/kappa, as the symmetric part of K_L is (K + kappa I)/2: substitution is off by 2 T gamma_T ||u|| at most,
# and ||u|| <= ||x_+|| + ||r|| <= 3 sqrt(T). Projections do not let Kaczmarz's errors grow: they are far smaller.
bound = 6 * T ** Rational(5, 2) * Rational(1, 2**53)
early = {"predictions made after the target was seen": dict(of=seen.peek)}
long = Inequality(seen.gap, at_most=bound, on="long", wrong=early)
circle = Inequality(seen.gap, at_most=bound, on="circle", wrong=early)


def polynomial(X, weights):
    """Features of a kernel c_0^2 + c_1^2 <x, y> + c_2^2 <x, y>^2."""
    squares = (X[:, :, None] * X[:, None, :]).reshape(X.shape[0], -1)
    parts = (jnp.ones((X.shape[0], 1)), X, squares)
    return jnp.concatenate([c * part for c, part in zip(weights, parts, strict=True)], axis=1)


def both(features, targets):
    """The two programs on the same features and targets."""
    K = features @ features.T
    u, (guess, _) = fixed_point(K, targets), kaczmarz(features, targets)
    return dict(u=u, guess=guess, weighted=jnp.tril(K) @ (u - targets), ahead=K[0, 0] * targets)


def sequence(key, d, scale, constant, linear, quadratic):
    return sequences.orbits(key, d, scale, 0), (constant, linear, quadratic)


def compare(model, T):
    tokens, weights = model
    X = tokens.tokens(T.padded + 1)
    return both(polynomial(X[:-1], weights), X[1:])


HARMONICS = 24  # exp(cos a) = sum_n I_n(1) e^(ina), and I_25(1) = 2e-33


def apart(K, features, targets, T):
    """The largest differences of the two programs, and of predictions made after the target was seen."""
    guess, (limit, W) = fixed_point(K, targets), kaczmarz(features, targets)
    after = jnp.concatenate([jnp.einsum("tdm,tm->td", W[1:], features[:-1]), targets[-1:]])
    gap, peek = (jnp.where(T.mask[:, None], jnp.abs(guess - other), 0).max() for other in (limit, after))
    return dict(gap=gap, peek=peek)


def linear(model, T):
    X = model.tokens(T.padded + 1)
    return apart(model.gram(X[:-1]), X[:-1], X[1:], T)


def fourier(model, T):
    """The exponential kernel on the circle has explicit features, its Fourier series."""
    X = model.tokens(T.padded + 1)
    z, n = X[:-1, :1] + 1j * X[:-1, 1:2], jnp.arange(HARMONICS + 1)
    waves = jnp.sqrt(circle_spectrum(HARMONICS)) * z**n
    return apart(model.gram(X[:-1]), jnp.concatenate([waves.real, waves.imag], axis=1), X[1:], T)


@settles(equal, residual)
def three_kernels(claim):
    """Every kernel at three tokens, and kernels of rank two at four tokens; any targets."""
    c, p, q, r = (Symbol(name, positive=True) for name in "cpqr")
    w = 1 + q**2 + r**2
    circle = [[c, 0], *([c * (1 - a**2) / (1 + a**2), 2 * c * a / (1 + a**2)] for a in (p, q, r))]
    sphere = [[c, 0, 0], [*circle[1], 0], [c * (w - 2) / w, 2 * c * q / w, 2 * c * r / w]]
    for features in (sphere, circle):
        phi, targets = setting.array(features), setting.generic("x", len(features), 1)
        yield Instance(claim, f"{len(features)} tokens", both, phi, targets)


kernels = Subject(sequence, scale=1.0, constant=0.0, linear=1.0, quadratic=0.0)
quadratic = kernels(constant=1.0, quadratic=1.0)
long_orbits = Subject(sequences.orbits, scale=1.0, exponential=setting.LINEAR)
on_the_circle = long_orbits(exponential=setting.EXPONENTIAL)
theorem = Theorem(
    place="the link to Kaczmarz's algorithm (abstract); reconstructed",
    label="reconstructed",
    hypotheses=H,
    claims=dict(equal=equal, residual=residual, long=long, circle=circle),
    proofs=(three_kernels,),
    experiments=dict(
        short=Experiment(
            compare, sides, {T: Efforts((4, 12), (4, 12), (4, 12, 24))}, at=({d: 2}, {d: 3}), draws=Efforts(2, 3, 8),
            padded=True, subjects={
                "linear": kernels,
                "quadratic": quadratic,
                "linear, each token 5 % longer": kernels(scale=1.05).breaking(H.sphere, fails=(equal, residual)),
                "quadratic, each token 5 % shorter": quadratic(scale=0.95).breaking(H.sphere, fails=(equal, residual)),
            },
        ),
        long=Experiment(linear, seen, {T: 400}, at={d: 8}, draws=440, padded=True, subjects={
            "linear": long_orbits,
            "linear, each token 1 % longer": long_orbits(scale=1.01).breaking(H.sphere, fails=long),
        }),
        circle=Experiment(fourier, seen, {T: 400}, at={d: 2}, draws=440, padded=True, subjects={
            "exponential": on_the_circle,
            "exponential, each token 0.1 % longer": on_the_circle(scale=1.001).breaking(H.sphere, fails=circle),
        }),
    ),
    issues=(
        "Long contexts are compared in floating point within a bound derived for substitution; the account of a single "
        "run would grow exponentially with T.",
    ),
)  # fmt: skip
