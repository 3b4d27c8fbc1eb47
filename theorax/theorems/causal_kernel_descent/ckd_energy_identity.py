"""Every squared error of causal kernel descent is paid for by the norm of f: their sum is at most kappa |f|^2.

**Theorem.** Let the features phi of the kernel k have |phi(x_t)|^2 = kappa, and let
x_(t+1) = f(x_t) with f = W* phi and |f| = |W*| finite. Let W_t be Kaczmarz's matrices from W_1 = 0,
and r_t the residuals of causal kernel descent in the limit of depth. Then
|W_t - W*|^2 - |W_(t+1) - W*|^2 = |r_t|^2/kappa, and total = sum_(t<=T) |r_t|^2 <= kappa |f|^2 for
every T. For k(x, y) = e^<x,y> on the circle, f(z) = e^(ib) z^m and uniform x_1 (and random b if
m = 1), total -> e/I_m(1) as T -> oo (measured at m = 1, 2). For k(x, y) = e^(-|x-y|^2/(2 w^2)) on a
line and f = h k(., y), total -> h^2 (measured at w = 1/5, y = 1/2, h = 49/50).

**Idea.** Kaczmarz's step multiplies W_t - W* by a projection, which takes |r_t|^2/kappa off its
square. The sum tends to kappa |f|^2 if W_t tends to W* on the span of the tokens; this is measured,
not derived. As e^(cos a) = sum_n I_n(1) e^(ina), the map z -> e^(ib) z^m has squared norm 1/I_m(1),
whatever b. As a homogeneous polynomial on the whole plane it costs 2^m m!.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import E, Integral, Rational, Subs, Symbol, besseli, cos, factorial, pi, sin, symbols, transpose

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import kaczmarz, residuals
from theorax.theorems.causal_kernel_descent._tokens import SPHERE, T, d

energy = Parameter("energy", "kappa |f|^2, f the map of least norm through the sequence", positive=True)
m = Parameter("m", "degree of the map z -> e^(ib) z^m of the circle", integer=True, positive=True)
height = Parameter("height", "h, where f is h times the kernel at one point", positive=True)
seen = arrays(
    before="|W_t - W*|^2",
    after="|W_(t+1) - W*|^2",
    paid="|r_t|^2/kappa, r_t the residual of the depth limit",
)
total = Measured("total", "sum of |r_t|^2 over the context", positive=True)

H = hypotheses(
    sphere=SPHERE,
    space="f is in the space of the kernel: f = W* phi with finite |W*|",
    circle="f is z -> e^(ib) z^m on the circle",
    point="tokens lie on the circle, and f is h times the kernel at one point of it",
)
step = Identity(
    seen.before - seen.after, seen.paid, under=(H.sphere, H.space),
    margin=Relative(
        1, 10**6, "the account of the rounding stays below it; features of other lengths move it by a tenth",
    ),
)
value = Limit(
    total, E / besseli(m, 1), as_=T, under=(H.space, H.circle), spread=Rational(1, 400),
    approach=setting.summable(0.01, "what remains to be learnt; at most 0.004 of the sum at T = 128 on other seeds"),
    margin=Relative(
        1, 100, "as a homogeneous polynomial the map costs an eighth more at degree one, a twelfth at degree two",
    ),
    wrong={
        "the norm as a homogeneous polynomial, 2 e for a rotation": E * 2**m * factorial(m),
        "e/I_0(1) for a rotation, the coefficient before": E / besseli(m - 1, 1),
        "|f|^2 without kappa": 1 / besseli(m, 1),
        "kappa squared": E**2 / besseli(m, 1),
        "a sum that grows with the context": dict(of=total / T),
    },
)
one_point = Limit(
    total, height**2, as_=T, under=H.point, spread=Rational(1, 200),
    approach=setting.summable(0.02, "what remains to be learnt; at most 0.006 of the sum at T = 128 on other seeds"),
    margin=Relative(1, 100, "the height forgotten, or not squared, is 4 % and 2 % away"),
    wrong={"the height forgotten": 1, "not squared": height, "a sum that grows": dict(of=total / T)},
)
bounded = Inequality(total, at_most=energy, under=(H.sphere, H.space), wrong={"the bound 2/3 as large": 2 * energy / 3})


def paths(features, W_star, noise):
    """Kaczmarz's energies beside the residuals of causal kernel descent."""
    targets = features @ W_star.T + noise
    K = features @ features.T
    _, W = kaczmarz(features, targets)
    left = ((W - W_star) ** 2).sum((1, 2))
    r = residuals(K, targets)
    return dict(before=left[:-1], after=left[1:], paid=(r**2).sum(1)[:-1] / K[0, 0])


class Samples(eqx.Module):
    """Features of one length, and the map that makes the targets from them."""

    raw: jax.Array
    W: jax.Array
    noise: jax.Array
    uneven: jax.Array


def samples(key, T, d, noise, uneven):
    shapes = dict(features=(T.padded, d.padded), map=(2, d.padded), noise=(T.padded, 2))
    raw, W, extra = (jax.random.normal(named(key, name), shape) for name, shape in shapes.items())
    return Samples(raw, W, noise * extra, uneven)


def steps_of(model, T):
    lengths = jnp.sqrt((model.raw**2).sum(1, keepdims=True))
    features = model.raw / lengths * (1 + model.uneven * jnp.arange(T.padded)[:, None])
    return paths(features, model.W, model.noise)


ROTATION, POWER, JUMP, INDEPENDENT, BUMP, UNEVEN = range(6)
DIGITS = 60
WIDTH, HEIGHT = 0.2, 0.98


def circle(key, T, kind, degree):
    """Angles of the tokens on the circle; for the bump, points of the line; uneven: every second token twice as long."""
    length = T.padded + 1
    u = jax.random.uniform(named(key, "start"), (2,))
    # A power in floating point would lose digits at every step: they are drawn, and each token reads sixty of them.
    digits = jnp.floor(degree * jax.random.uniform(named(key, "digits"), (length + DIGITS,)))
    power = u[1] + sum(digits[j : j + length] * jnp.float_power(degree, -(j + 1)) for j in range(DIGITS))
    run = lambda f, x: jax.lax.scan(lambda x, _: (f(x), x), x, None, length=length)[1]
    turns = jax.lax.select_n(
        kind,
        u[0] + (0.1 + 0.1 * u[1]) * jnp.arange(length),
        power,
        run(lambda a: 1.5 * a % 1, u[0]),
        jax.random.uniform(named(key, "independent"), (length,)),
        run(lambda x: HEIGHT * jnp.exp(-((x - 0.5) ** 2) / (2 * WIDTH**2)), u[0]),
        u[0] + (0.1 + 0.1 * u[1]) * jnp.arange(length),
    )
    wave = jnp.stack([jnp.cos(2 * jnp.pi * turns), jnp.sin(2 * jnp.pi * turns)], axis=1)
    wave = wave * jnp.where((kind == UNEVEN) & (jnp.arange(length) % 2 == 1), 2, 1)[:, None]
    return jnp.where(kind == BUMP, jnp.stack([turns, 0 * turns], axis=1), wave), kind


def sums(model, T):
    X, kind = model
    S = X[:-1] @ X[:-1].T
    distances = jnp.diagonal(S)[:, None] + jnp.diagonal(S)[None, :] - 2 * S
    K = jnp.where(kind == BUMP, jnp.exp(-distances / (2 * WIDTH**2)), jnp.exp(S))
    r = residuals(K, X[1:])
    return dict(total=jnp.where(T.mask[:, None], r**2, 0).sum())


@settles(step)
def generic_features():
    """Any features of one length in the plane, any map; two steps."""
    c, p, q = symbols("c p q", positive=True)
    points = [[c, 0], *([c * (1 - a**2) / (1 + a**2), 2 * c * a / (1 + a**2)] for a in (p, q))]
    yield Instance(step, "two steps", paths, setting.array(points), setting.generic("W", 1, 2), 0.0)


@lemma
def every_map():
    """Every dimension of the features and of the tokens, every map; |phi|^2 = kappa."""
    W, star, phi = generic_matrices("W W_star phi")
    kappa = Symbol("kappa", positive=True)
    r = W * phi - star * phi
    after, length = W - r * transpose(phi) / kappa - star, ((transpose(phi) * phi, kappa),)
    yield MatrixStep("Kaczmarz's step", after, (W - star) * (1 - phi * transpose(phi) / kappa))
    before = W - star
    paid = before * transpose(before) - after * transpose(after)
    yield MatrixStep("what it takes off, whose trace is |r|^2/kappa", paid, r * transpose(r) / kappa, length)


@derives(value)
def circle_maps():
    """Rotations and power maps of the circle, every degree m."""
    a = Symbol("a", real=True)
    yield Cited("e^(cos a) = sum_n I_n(1) e^(ina)", "Abramowitz and Stegun 1964, 9.6.34")
    # f is two real coordinates, cos and sin of ma up to a shift; e^(+-ima) has squared norm 1/I_m(1) in its space.
    cosine, sine = (Integral(wave(m * a) ** 2, (a, 0, 2 * pi)) / (2 * pi) for wave in (cos, sin))
    yield Step("both coordinates, by Parseval, times kappa = e", E * (cosine + sine) / besseli(m, 1), value.to)


@derives(one_point)
def gram_norm():
    """Combinations of features of any points; the Gaussian bump of the width of its kernel."""
    a, y = symbols("a y", real=True)
    F, G, alpha, f = generic_matrices("F G alpha f")  # features of any points, as the rows of F
    combined = ((f, transpose(F) * alpha), (G, F * transpose(F)))
    norm = transpose(alpha) * G * alpha
    yield MatrixStep("a combination of features has the norm of its Gram matrix", transpose(f) * f, norm, combined)
    at_points = E ** (-((a - y) ** 2) / 2)
    yield Step("f = h k(., y), one point: h^2 k(y, y)", height * Subs(at_points, a, y) * height, one_point.to)


features = Subject(samples, noise=0.0, uneven=0.0)


def power(degree, **changes):
    known = {m: degree, energy: E / besseli(degree, 1), height: 1}
    return Subject(circle, kind=POWER, degree=float(degree), knows=known)(**changes).breaking(H.point)


bump = Subject(circle, kind=BUMP, degree=1.0, knows={m: 1, energy: Rational(49, 50) ** 2, height: Rational(49, 50)})
# z -> e^(ib) g(|z|) z/|z| on two circles, g(1) = 2 and g(2) = 1: a norm on two radii with the kernel I_1(|z| |z'|). It is
# the sum of |r_t|^2/kappa_t, with kappa_t = e^4 on the large circle: times e alone it is a fifth too small.
one_one, one_two, two_two = (besseli(1, length) for length in (1, 2, 4))
uneven = E * (4 * two_two - 4 * one_two + one_one) / (one_one * two_two - one_two**2)
theorem = Theorem(
    place="convergence of the error as the context grows; the identity in this form derived here",
    label="derived",
    uses=("ckd_fixed_point_is_kaczmarz",),
    hypotheses=H,
    claims=dict(step=step, value=value, one_point=one_point, bounded=bounded),
    proofs=(generic_features, every_map, circle_maps, gram_norm),
    experiments=dict(
        steps=Experiment(steps_of, seen, {T: (4, 8)}, at=({d: 3}, {d: 6}), draws=setting.FEW, padded=True, subjects={
            "features of one length": features,
            "targets with noise": features(noise=0.3).breaking(H.space, fails=step),
            "features of growing length": features(uneven=0.1).breaking(H.sphere, fails=step),
        }),
        orbits=Experiment(sums, total, {T: setting.LONG}, draws=Efforts(200, 240, 400), padded=True, subjects={
            "rotation": power(1, kind=ROTATION).breaking(fails=one_point),
            "doubling of angles": power(2),
            "Gaussian bump and kernel": bump.breaking(H.circle, fails=value),
            "a jump": power(2, kind=JUMP).breaking(H.space, fails=value),
            "every second token twice as long": power(2, kind=UNEVEN, knows={energy: uneven}).breaking(
                H.sphere, H.circle, fails=bounded,
            ),
            "independent tokens": power(2, kind=INDEPENDENT).breaking(H.space, fails=(value, bounded)),
        }),
    ),
    issues=(
        "The tripling of angles is not asked: at T = 128, 256 and 512 its sum is short of e/I_3(1) by 13, 2 and 0.1 %.",
        "The convergence of W_t to W* on the span of the features is measured on these sequences, not derived.",
        "Nothing is claimed of maps outside the space of the kernel, such as a logistic map under a Gaussian kernel. They "
        "may be predicted better and better while the sum diverges.",
    ),
)
