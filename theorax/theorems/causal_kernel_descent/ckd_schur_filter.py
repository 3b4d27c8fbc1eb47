"""On a stationary sequence the depth limit is one autoregressive filter, whose weights know the context by its kernel.

**Theorem.** Let k(x_t, x_s) = g(t - s), kappa = g(0), h(z) = sum_k g(k) z^k/kappa and
1 - 1/h(z) = sum_j w_j z^j. Let u be the limit in depth of causal kernel descent, K_L u = L x_+.
Then u_t = sum_(1<=j<t) w_j x_(t+1-j) for every t. If the spectral measure of g is singular (it has
no density), then sum_(j<=T) w_j^2 -> 1 as T -> oo.

**Idea.** K_L is a Toeplitz matrix, a polynomial in the shift, so u = (1 - 1/h)(shift) x_+. The w_j
are the Taylor coefficients of z times the Schur function of the spectral measure of g/kappa. The
sum of their squares is the mean square of that function on the circle, which is one if and only if
the measure is singular. For g(k) = 2^(-k) it is 1/4.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, I, Integer, Integral, Rational, Subs, Sum, Symbol, exp, factorial, oo, pi, symbols

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _sequences as sequences
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import fixed_point, kernel
from theorax.theorems.causal_kernel_descent._sequences import PLANES
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR, T

seen = arrays(
    limit="the depth limit of causal kernel descent",
    filtered="sum_j w_j x_(t+1-j), the weights from inverting a power series",
    direct="the same with the weights g(j)/kappa",
)
energy = Measured("energy", "sum of w_j^2, j up to T", positive=True)

H = hypotheses(
    stationary="k(x_t, x_s) depends on t - s alone",
    singular="the spectral measure of the sequence has no density",
)
autoregressive = Identity(
    seen.limit, seen.filtered, under=H.stationary,
    margin=Relative(1, 10**6, "the account of the rounding stays below it, a wrong weight is far above"),
    wrong={"kernel values as weights": seen.direct},
)
inner = Limit(
    energy, 1, as_=T, under=H.singular,  # which only a stationary sequence has
    # A Schur function has at most the mean square one, whatever positive definite g; a millionth more for rounding.
    moments=Bounded(0, Rational(1000001, 1000000)),
    approach=setting.summable(0.05, "the tail of a summable series; at most 0.02 at T = 128 on other seeds"),
    margin=Relative(1, 10, "a measure with a density has less: a quarter for that of g(k) = 2^(-k)"),
)


def weights_of(g):
    """The Taylor coefficients of 1 - 1/h from those of h: h_j = w_j + sum_(i<j) w_i h_(j-i)."""
    h = g / g[0]
    places = jnp.arange(g.shape[0])

    def next_weight(w, j):
        shifted = jnp.where((places > 0) & (places < j), h[jnp.clip(j - places, 0, None)], 0)
        new = h[j] - w @ shifted
        return jnp.where(places == j, new, w), None

    return jax.lax.scan(next_weight, jnp.zeros_like(h), jnp.arange(1, g.shape[0]))[0]


def three(K, X):
    """The depth limit beside both filters; the filter reads the first column of K alone."""
    T, g = K.shape[0], K[:, 0]
    w = weights_of(g)
    lag = jnp.arange(T)[:, None] - jnp.arange(T)[None, :]  # u_t sums w_(t+1-s) x_(s+1) over s < t

    def filter_by(coefficients):
        return jnp.where(lag > 0, coefficients[jnp.clip(lag, 0, None)], 0) @ X[1:]

    return dict(limit=fixed_point(K, X[1:]), filtered=filter_by(w), direct=filter_by(g / g[0]))


def observe(model, T):
    X = model.tokens(T.padded + 1)
    return three(model.gram(X[:-1]), X)


def energies(model, T):
    g = model(T.padded)
    w = weights_of(g)
    return dict(energy=jnp.where(jnp.arange(T.padded) < T.value, w**2, 0).sum())


class Covariance(eqx.Module):
    """g(0), g(1), ...: that of a sequence on a torus, mixed with 2^(-k), whose measure has a density."""

    tokens: sequences.Torus
    smooth: jax.Array

    def __call__(self, length):
        """The first values."""
        lags = jnp.arange(length)
        products = (self.tokens.parts * jnp.cos(lags[:, None] * self.tokens.angles)).sum(1)
        g = kernel(products, self.tokens.exponential)
        return (1 - self.smooth) * g / g[0] + self.smooth * 0.5**lags


def covariance(key, part, exponential, smooth):
    return Covariance(sequences.two_planes(key, part, exponential), smooth)


@settles(autoregressive)
def inversion():
    """Any stationary kernel, five tokens, any targets."""
    g = symbols("g1:5", real=True)
    kappa = Symbol("kappa", positive=True)
    K = setting.array([[kappa if i == j else g[abs(i - j) - 1] for j in range(5)] for i in range(5)])
    yield Instance(autoregressive, "T = 5", three, K, setting.generic("x", 6, 1))


@lemma
def every_context():
    """Every T, any targets: K_L = kappa H with H = h(shift), and G = 1/h(shift), a polynomial too: the shift is nilpotent."""
    K, H, G, x = generic_matrices("K_L H G x_+")
    kappa = Symbol("kappa", positive=True)
    toeplitz = ((K, kappa * H), (H * G, 1), (G * H, 1))
    yield MatrixStep("u = (1 - 1/h) x_+ solves K_L u = L x_+", K * (1 - G) * x, (K - kappa) * x, toeplitz)
    yield MatrixStep("and nothing else does", G * (K - kappa) * x / kappa, (1 - G) * x, toeplitz)


@lemma
def functions():
    """A single point mass, the kernel 2^(-k), and the linear kernel in a plane; mean squares on the circle."""
    z, a, c = Symbol("z"), Symbol("a", real=True), Symbol("c", real=True)
    schur = "1 - 1/h is z times a Schur function, of modulus one where there is no density"
    yield Cited(schur, "Simon 2005, section 1.3")
    h, filtered = symbols("h b")
    one = {h: 1 / (1 - c * z), filtered: c * z}
    yield Solved("one point: h = 1/(1 - c z)", [h * (1 - c * z) - 1, filtered - 1 + 1 / h], [h, filtered], one)
    square = (1 - (1 - exp(I * a) / 2)) * (1 - (1 - exp(-I * a) / 2))
    mean = Integral(square, (a, 0, 2 * pi)) / (2 * pi)
    yield Step("2^(-k): h = 1/(1 - z/2), of mean square 1/4", mean, Rational(1, 4))
    # A plane: h = sum_k cos(ka) z^k = (1 - c z)/(1 - 2 c z + z^2) with c = cos a.
    plane = 1 - (1 - 2 * c * z + z**2) / (1 - c * z)
    weights = [Subs(Derivative(plane, (z, j)), z, 0) / factorial(j) for j in range(1, 8)]
    yield Step("a plane", weights, [c, *((c**2 - 1) * c ** (j - 2) for j in range(2, 8))])
    inside, j, n = 1 / (1 + symbols("s", positive=True)), Symbol("j"), Symbol("n", integer=True, nonnegative=True)
    squares = Sum((1 - inside**2) ** 2 * inside ** (2 * j), (j, 0, n))
    seen = 1 - (1 - inside**2) * inside ** (2 * n + 2)
    yield Step("the first n + 2 squares", inside**2 + squares, seen)
    yield Step("of squared sum one", sympy.Limit(seen, n, oo), Integer(1))


exponential = PLANES(exponential=EXPONENTIAL)
mixture = Subject(covariance, part=1.0, exponential=EXPONENTIAL, smooth=0.0)
theorem = Theorem(
    place="stationary sequences (derived here)",
    label="derived",
    uses=("ckd_fixed_point_is_kaczmarz",),
    hypotheses=H,
    claims=dict(autoregressive=autoregressive, inner=inner),
    proofs=(inversion, every_context, functions),
    experiments=dict(
        few=Experiment(observe, seen, {T: (4, 10)}, draws=setting.FEW, padded=True, subjects={
            "linear": PLANES,
            "exponential": exponential,
            "tokens that do not follow": exponential(scrambled=1).breaking(H.stationary, fails=autoregressive),
        }),
        many=Experiment(energies, energy, {T: (128, 256, 512)}, draws=Efforts(320, 320, 512), padded=True, subjects={
            "exponential, a plane": mixture,
            "linear, two planes": mixture(part=0.6, exponential=LINEAR),
            "a density beside": mixture(smooth=0.5).breaking(H.singular, fails=inner),
            "g(k) = 2^(-k)": mixture(smooth=1.0).breaking(H.singular, fails=inner),
        }),
    ),
    issues=(
        "Weights are those of the sequence's own kernel: the filter is universal for sequences with the same one.",
    ),
)
