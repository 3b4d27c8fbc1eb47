"""The least value of |x - b|^2 / 2 + 1 is one; other points are called optimal by bounds that nobody has shown to be any."""

import jax
import jax.numpy as jnp
from sympy import Rational, symbols

from theorax.language import Absolute, Cited, Experiment, Measured, Optimum, Size, Step, Subject, Theorem, lemma

n = Size("n", "how many unknowns")
above = Measured("above", "value at b + 1")
below = Measured("below", "the same value, less a little")
again = Measured("again", "the value computed once more, less a little")
jitted = Measured("jitted", "the value handed through a compiled function, less a little")
typed = Measured("typed", "5/2, the value at b + 1, typed as a bound")
half = Measured("half", "half of the slack that is left, called a lower bound")
room = Measured("room", "what the constraints leave")


def build(key, n):
    return jax.random.normal(key, (n,))


def observe(b):
    x = b + 1
    value = jnp.sum((x - b) ** 2) / 2 + 1
    return dict(
        above=value,
        below=value - 1e-9,
        again=jnp.sum((b + 1 - b) ** 2) / 2 + 1 - 1e-9,
        jitted=jax.jit(lambda v: v - 1e-6)(jax.lax.stop_gradient(value)),
        typed=jnp.asarray(2.4999),
        half=2.5 - 1e-5 * jnp.mean(b**2),
        room=jnp.sum(b**2),
    )


@lemma
def cited():
    """Every b."""
    yield Cited("weak duality", "a book")


@lemma
def elsewhere():
    """Every a."""
    a, b = symbols("a b", real=True)
    yield Step("a square", (a + b) ** 2, a**2 + 2 * a * b + b**2)
    yield Cited("the rest", "a book")


def optimum(value=above, **parts):
    return Optimum(value, feasible=room >= 0, margin=Absolute(1, 1000, "it would matter"), **parts)


theorem = Theorem(
    place="nowhere",
    label="derived",
    claims=dict(
        measured=optimum(bound=below),
        stated=optimum(bound=above - Rational(1, 10**6)),
        repeated=optimum(bound=again),
        jitted=optimum(bound=jitted),
        scaled=optimum(2 * above, bound=2 * below),
        by_a_cited_lemma=optimum(bound=below, bound_by="cited"),
        by_half_a_lemma=optimum(bound=jitted, bound_by="elsewhere"),
        typed=optimum(bound=typed),
        believed=optimum(bound=half),
    ),
    proofs=(cited, elsewhere),
    experiments=dict(
        programs=Experiment(
            observe,
            (above, below, again, jitted, typed, half, room),
            {n: (3,)},
            subjects={"normal": Subject(build)},
            draws=4,
        )
    ),
)
