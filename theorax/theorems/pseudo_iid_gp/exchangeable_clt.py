"""A central limit theorem for exchangeable arrays, and why their exchangeability must be infinite.

S_n = n^(-1/2) (X_1 + ... + X_n) of centred exchangeable variables of variance one tends to a normal variable where
E X_1 X_2 = 0, E X_1^2 X_2^2 tends to one, and E |X_1|^3 = o(sqrt n). An urn of n signs emptied to the last satisfies all
three and has S_n = +-1: only variables that go on for ever are mixtures of independent ones.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Integer, Integral, Rational, Subs, Symbol, exp, expand, oo, pi, sqrt, symbols

from theorax.language import *
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import n, width

COPIES = 64
sums = Measured("sums", "S_n of 64 independent arrays", sample=True)
power = Measured("power", "S_n^4, mean over 64 independent arrays", positive=True)
MENU = ("signs", "random scale", "common part", "rare and large", "urn emptied", "urn of n^2")

H = hypotheses(
    infinite="the variables of one width are the beginning of an infinite exchangeable sequence",
    uncorrelated="E X_1 X_2 = 0",
    squares="E X_1^2 X_2^2 tends to one",
    third_moment="E |X_1|^3 = o(sqrt n)",
)
kurtosis = Limit(
    power, Integer(3), as_=n, spread=Rational(1, 4),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 4), order=2, reference=25, reason="exact moments are rational in n",
    ),
    margin=Relative(
        1, 10, "a random scale adds a quarter, rare large terms a third, an urn emptied to the last takes two thirds",
    ),
    wrong={"a square of the variance": Integer(1)},
)  # fmt: skip
normal = Law(
    sums, gaussian(), as_=n, spread=Rational(1, 8),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 20), order=2, reference=25, reason="an Edgeworth expansion at fixed frequencies",
    ),
    scale=Integer(1), excludes=(gaussian(Rational(5, 4)),),
)  # fmt: skip


class Arrays(eqx.Module):
    """Independent exchangeable arrays of n variables."""

    variables: Float[Array, "copies N"]

    def __call__(self, n: Extent) -> Float[Array, " copies"]:
        """The sums over sqrt n."""
        return jnp.where(n.mask, self.variables, 0).sum(1) / jnp.sqrt(width(n))


def drawn_arrays(key: Array, n: Extent, law: Array) -> Arrays:
    """Arrays of the law at this place of the menu."""
    shape, one = (COPIES, n.padded), (COPIES, 1)
    signs = jax.random.rademacher(named(key, "signs"), shape).astype(jnp.zeros(()).dtype)
    common, size = jax.random.rademacher(named(key, "common"), one), width(n)

    def urn() -> Array:
        """n signs of which (n + sqrt n)/2 are one, in random order, times a common sign."""
        order = jnp.where(n.mask, jax.random.uniform(named(key, "order"), shape), 2.0)
        plus = jnp.round((size + jnp.sqrt(size)) / 2).astype(jnp.int32)
        return jnp.where(order <= jnp.sort(order, axis=1)[:, plus - 1][:, None], 1.0, -1.0) * common

    def urn_of_squares() -> Array:
        """The first n of n^2 signs with sum n: one after another, each from what is left in the urn."""

        def take(state: Array, place_and_u: tuple[Array, Array]) -> tuple[Array, Array]:
            place, u = place_and_u
            plus = u < state / (size**2 - place)
            return state - plus, jnp.where(plus, 1.0, -1.0)

        u = jax.random.uniform(named(key, "order"), (n.padded, COPIES))
        start = jnp.full((COPIES,), (size**2 + size) / 2)
        drawn = jax.lax.scan(take, start, (jnp.arange(n.padded, dtype=u.dtype), u))[1]
        return drawn.T * common

    makers = (
        lambda: signs,
        lambda: signs * jnp.where(jax.random.bernoulli(named(key, "scale"), 0.5, one), jnp.sqrt(1.5), jnp.sqrt(0.5)),
        lambda: jnp.sqrt(0.9) * signs + jnp.sqrt(0.1) * common,
        lambda: signs * jnp.sqrt(size) * jax.random.bernoulli(named(key, "rare"), 1 / size, shape),
        urn,
        urn_of_squares,
    )
    return Arrays(jax.lax.switch(law, makers))


def observe(net, n):
    S = net(n)
    return dict(sums=S, power=(S**4).mean())


@derives(kurtosis)
def fourth_moment():
    """Exchangeable variables of any law: the patterns of four indices, counted."""
    x = symbols("x_1:5")
    patterns = symbols("E_4 E_22 E_31 E_211 E_1111")
    counted = expand(sum(x) ** 4)
    names = {(4,): 0, (2, 2): 1, (1, 3): 2, (1, 1, 2): 3, (1, 1, 1, 1): 4}
    total = 0
    for term, count in counted.as_coefficients_dict().items():
        powers = tuple(sorted(int(p) for p in term.as_powers_dict().values()))
        total += count * patterns[names[powers]]
    E4, E22, E31, E211, E1111 = patterns
    general = E4 + 3 * (n - 1) * E22 + 4 * (n - 1) * E31 + 6 * (n - 1) * (n - 2) * E211
    general += (n - 1) * (n - 2) * (n - 3) * E1111
    yield Step("n E S^4 at n = 4, from the expanded power", total / 4, Subs(general, n, 4))
    scale = Rational(1, 2) * Rational(1, 4) + Rational(1, 2) * Rational(9, 4)
    mixed = sympy.Limit(general.subs({E4: scale, E22: scale, E31: 0, E211: 0, E1111: 0}) / n, n, oo)
    yield Step("a random scale: three times the mean of its fourth power", mixed, 3 * scale)
    # The urn: E X_1 X_2 X_3 X_4 = -2/((n - 2)(n - 3)), see pseudo_iid_finite_exchangeability_gap.
    signs = general.subs({E4: 1, E22: 1, E31: 0, E211: 0}) / n
    emptied = Subs(signs, E1111, -2 / ((n - 2) * (n - 3)))
    yield Step("the urn emptied: S^4 = 1", emptied, Integer(1))
    independent = sympy.Limit(general.subs({E4: 1, E22: 1, E31: 0, E211: 0, E1111: 0}) / n, n, oo)
    yield Step("independent signs", independent, kurtosis.to)


@derives(normal)
def de_finetti():
    """Infinitely exchangeable arrays."""
    yield Cited(
        "they are mixtures of independent ones, so the third moments give the limit",
        "Blum et al. 1958",
    )
    z = Symbol("z", real=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    yield Step("a normal law of variance one", Integral(z**4 * density, (z, -oo, oo)), normal.to.moment(4))


def subject(name):
    return Subject(drawn_arrays, law=MENU.index(name))


FAILS = (kurtosis, normal)
theorem = Theorem(
    place="Blum et al. 1958 and Matthews et al. 2018, lemma 10, as used for the Gaussian limit (reconstructed)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, normal=normal),
    proofs=(fourth_moment, de_finetti),
    experiments=dict(
        arrays=Experiment(
            observe, (sums, power), {n: (25, 100, 225)}, draws=Efforts(1200, 2400, 6000), padded=True,
            subjects={
                "independent signs": subject("signs"),
                "random scale": subject("random scale").breaking(H.squares, fails=FAILS),
                "common part": subject("common part").breaking(H.uncorrelated, fails=FAILS),
                "rare and large": subject("rare and large").breaking(H.third_moment, fails=FAILS),
                "urn emptied": subject("urn emptied").breaking(H.infinite, fails=FAILS),
                "n out of n^2": subject("urn of n^2"),
            },
        )
    ),
    issues=(
        "The columns of a random matrix of one width are finitely exchangeable only, as the urn is.",
        "Sums of signs live on a lattice: at fixed frequencies that is invisible, in the distribution function it is not.",
    ),
)  # fmt: skip
