"""On rotations of space, which do not commute, the best gradient step is known too, and more than a third of the loss remains.

**Theorem.** Let W be Haar on O(3), |s_1| = 1, s_(t+1) = W s_t and s_0 = 0. Let linear attention on
(0, s_t, s_(t-1)) predict s_(T+1) by eta sum_(t<=T) s_t <s_(t-1), s_T>. Write a = N(7N+3)/30 and
b = a + (3/35) N(N^2-1) - (2/21) N(N-1) + (4/105) N - (2/105) (1 - (-1)^N). Then, as m -> oo, the
eta that is best on m independent contexts for the N lengths T = 2, ..., N+1 together tends to a/b,
and its loss over N tends to 1 - a^2/(N b) (measured at N = 4 and 9). For large N these are about
49/(18N) and 1 - 343/540 = 0.365.

**Idea.** All that is needed is c_k = <s_1, W^k s_1> = +-(u^2 + (1 - u^2) cos(k theta)), with u
uniform on [0, 1] and theta of density (1 - cos theta)/(2 pi). At length n = T - 1 the prediction
meets the target in sum_k E c_k^2 = (7n - 2)/15, and its square is sum_(k,l) E c_k c_l c_(k-l).
Commuting matrices have the step 9/(2N+7) and the limit 1/4 instead.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import I, Integral, Rational, Subs, Sum, Symbol, cos, exp, oo, pi, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.in_context_autoregression._augmented_attention import gradient_step_attention, predictions
from theorax.theorems.in_context_autoregression._complex_arrays import ComplexArray

m = Size("m", "number of contexts that the layer is trained on")
N = Parameter("N", "number of context lengths, T_max - 1", integer=True, positive=True)
found = numbers(step="the step that is best on these contexts", least="loss of that step over N", positive=True)

H = hypotheses(
    haar="the matrices are independent and Haar on O(3), first tokens have length one",
    augmented="the keys are the tokens before, s_(t-1)",
)
n = Symbol("n", integer=True, positive=True)
meets = (7 * n - 2) / Rational(15)
square = meets + Rational(9, 35) * n * (n - 1) - Rational(4, 21) * (n - 1) + Rational(4, 105) * (1 + (-1) ** n)
total_meets = N * (7 * N + 3) / 30
total_square = (
    total_meets + Rational(3, 35) * N * (N**2 - 1) - Rational(2, 21) * N * (N - 1)
    + Rational(4, 105) * N - Rational(2, 105) * (1 - (-1) ** N)
)
best, remaining = total_meets / total_square, 1 - total_meets**2 / (N * total_square)
commuting = 9 / (2 * N + 7)
in_contexts = Expansion(
    powers=(1,), rest=Rational(1, 20), order=2, reference=256, reason="a ratio of two means of m independent contexts",
)
step = Limit(
    found.step, best, as_=m, spread=1 / sympy.sqrt(m), approach=in_contexts,
    margin=Relative(1, 20, "the commuting step is a third larger, 49/(18N) a seventh"),
    wrong={"of commuting matrices": commuting, "49/(18N)": Rational(49, 18) / N},
)
least = Limit(
    found.least, remaining, as_=m, spread=1 / sympy.sqrt(m), approach=in_contexts,
    margin=Relative(1, 20, "1/4 and the limit 0.365 are a tenth away or more"),
    wrong={"1/4": Rational(1, 4), "the limit of many lengths": 1 - Rational(343, 540)},
)

LENGTHS = 9


class Rotations(eqx.Module):
    """Tokens of some contexts, and how the layer departs from the theorem's."""

    tokens: jax.Array
    augmented: jax.Array


def contexts(key, m, N, uniform, size, augmented):
    """Rotations by Rodrigues' formula about uniform axes; ``uniform``: one has uniform angles, a control."""
    q = jax.random.normal(named(key, "quaternions"), (m, 4))
    q = q / jnp.linalg.norm(q, axis=1, keepdims=True)
    haar = 2 * jnp.arctan2(jnp.linalg.norm(q[:, 1:], axis=1), q[:, 0])
    angles = jnp.where(uniform == 1, 2 * jnp.pi * jax.random.uniform(named(key, "angles"), (m,)), haar)
    axes = q[:, 1:] / jnp.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    signs = jnp.where(jax.random.bernoulli(named(key, "signs"), 0.5, (m,)), 1.0, -1.0)
    first = jnp.ones(3) / jnp.sqrt(3)

    def orbit(axis, angle, sign):
        along = axis * (axis @ first)
        places = jnp.arange(LENGTHS + 2)[:, None]
        turned = along + jnp.cos(places * angle) * (first - along) + jnp.sin(places * angle) * jnp.cross(axis, first)
        return (sign * size) ** places * turned

    return Rotations(jax.vmap(orbit)(axes, angles, signs), augmented), N


def observe(model):
    given, lengths = model
    layer = gradient_step_attention(3, 1.0, given.augmented)

    def of(S):
        own = predictions(layer, ComplexArray(S[:-1], jnp.zeros_like(S[:-1]))).real[1:]
        asked = jnp.arange(1, LENGTHS + 1) <= lengths
        return jnp.stack([jnp.where(asked, (own * other).sum(1), 0).sum() for other in (S[2:], own)])

    aligned, squares = jax.vmap(of)(given.tokens).mean(0)
    return dict(step=aligned / squares, least=1 - aligned**2 / squares / lengths)


@lemma
def moments():
    """Pairs of powers k > l: all are as (6, 2), but l = 1, k - l = 1, k = 2l, k = 2l + 1 and k = 2l - 1."""
    u, angle = symbols("u theta", positive=True)
    wave = lambda k: (exp(I * k * angle) + exp(-I * k * angle)) / 2
    c = lambda k: u**2 + (1 - u**2) * wave(k)
    # Sums of waves are even: their cosines are left.
    even = lambda f: f.expand().replace(exp, lambda power: cos(power / I))
    mean = lambda f: Integral(even(f * (1 - wave(1))), (angle, 0, 2 * pi), (u, 0, 1)) / (2 * pi)
    for k, value in ((1, Rational(1, 3)), (2, Rational(7, 15)), (3, Rational(7, 15))):
        yield Step(f"E c_{k}^2", mean(c(k) ** 2), value)
    generic, near, half, beside = Rational(9, 35), Rational(1, 21), Rational(4, 105), Rational(2, 105)
    pairs = {
        (2, 1): generic - 2 * near + half, (3, 1): generic - near - beside, (3, 2): generic - near - beside,
        (4, 2): generic + half, (5, 2): generic - beside, (5, 1): generic - near, (5, 3): generic - beside, (6, 2): generic,
    }
    for (k, l), value in pairs.items():
        yield Step(f"E c_{k} c_{l} c_{k - l}", mean(c(k) * c(l) * c(k - l)), value)


@lemma
def sums():
    """Every N; the lengths added."""
    yield Step("the target", Sum(meets, (n, 1, N)), total_meets)
    yield Step("the square", Sum(square, (n, 1, N)), total_square)


@derives(step)
def best_step():
    """Every N; the step of all lengths together."""
    x = Symbol("x", positive=True)
    yield Solved("one step for all lengths", total_meets - x * total_square, x, [best])
    leading = sympy.Limit(total_meets / N**2, N, oo) / sympy.Limit(3 * (N**2 - 1) / (35 * N**2), N, oo)
    yield Step("about 49/(18N)", leading, Rational(49, 18))


@derives(least)
def what_remains():
    """Every N; the loss of the best step."""
    x = Symbol("x", positive=True)
    yield Step("what remains", Subs(1 - 2 * x * total_meets / N + x**2 * total_square / N, x, best), remaining)


whole = Subject(contexts, uniform=0, size=1.0, augmented=1.0)
theorem = Theorem(
    place="matrices that do not commute, an experiment of the paper; the closed form derived here",
    label="derived",
    uses=("ical_gd_identity",),
    hypotheses=H,
    claims=dict(step=step, least=least),
    proofs=(moments, sums, best_step, what_remains),
    experiments=dict(
        trained=Experiment(
            observe, found, {m: Efforts((256, 512, 1024), (256, 512, 1024), (256, 1024, 4096))},
            at=({N: 4}, {N: 9}), draws=Efforts(100, 200, 800), subjects={
                "Haar": whole,
                "uniform angles": whole(uniform=1).breaking(H.haar, fails=(step, least)),
                "|W| = 0.9": whole(size=0.9).breaking(H.haar, fails=step),
                "keys s_t": whole(augmented=0.0).breaking(H.augmented, fails=(step, least)),
            },
        ),
    ),
    issues=(
        "Not measured here: whether training brings a Transformer of several layers with dense weights close to this step.",
        "Only d = 3: at d = 5 simulation gives the step 0.346 and the loss 0.527 for N = 9.",
        "With a commuting family the same step is 9/(2N + 7) and 1/4 of the loss remains in the limit.",
    ),
)
