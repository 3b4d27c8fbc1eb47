"""A reversible network has no attracting fixed point: its layers preserve volume, momentum networks shrink it.

**Theorem.** Let a layer be x' = x + phi(y), y' = y + psi(x'), with a fixed point (x*, y*), d x d
matrices A = phi'(y*), B = psi'(x*), and Jacobian J there. Then det J = 1,
det(J - z I) = det((z-1)^2 I - z AB) at z = 3/2, det(J - I) = (-1)^d det A det B, and the spectral
radius of J is at least one. Let phi(y) = S (y - y*), psi(x) = -S (x - x*), with S symmetric and its
eigenvalues in (0, 2). Then |x - x*|^2 + |y - y*|^2 + <x - x*, S (y - y*)> is the same after any
number of layers. If moreover x - x* = y - y* at the start, the distance from the fixed point in the
first 32 layers is at least that at the start.

**Idea.** J = [[I, A], [B, I + BA]] has eigenvalues in pairs z, 1/z with z + 1/z = 2 + mu, mu an
eigenvalue of AB; one of each pair has a modulus of at least one. For mu in [-4, 0] both have the
modulus one. In a mode of S with eigenvalue s the invariant form is at most 1 + s/2 times the
squared distance, with equality where x - x* = y - y*. A momentum layer has the determinant g^d < 1.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Rational, Symbol

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.momentum_resnet._momentum import N
from theorax.theorems.momentum_resnet._reversible import ReversibleLayer

seen = arrays(
    determinant="det J, J the Jacobian of a layer at its fixed point",
    one="the number one",
    characteristic="det(J - z I) at z = 3/2",
    paired="det((z-1)^2 I - z AB)",
    halved="det((z-1)^2 I - AB)",
    at_one="det(J - I)",
    invertible="(-1)^d det A det B",
)
moduli = numbers(
    radius="largest modulus of an eigenvalue of J",
    nearest="least distance from the fixed point in the first layers over that at the start",
    positive=True,
)
kept = arrays(
    before="|x|^2 + |y|^2 + <x, S y>, measured from the fixed point, at the start",
    after="the same after all layers",
    crossed="|x|^2 + |y|^2 - <x, S y> after all layers",
)

H = hypotheses(
    additive="each half is added to: x' = x + phi(y), y' = y + psi(x')",
    opposite="phi(y) = S (y - y*), psi(x) = -S (x - x*), with S symmetric, its eigenvalues between 0 and 2",
)
exact = Relative(1, 10**8, "rounding stays below it, a wrong determinant is of order one away")
volume = Identity(seen.determinant, seen.one, under=H.additive, margin=exact)
pairs = Identity(
    seen.characteristic, seen.paired, under=H.additive, margin=exact, wrong={"z AB without z": seen.halved},
)
never_one = Identity(seen.at_one, seen.invertible, under=H.additive, margin=exact)
repels = Inequality(
    moduli.radius, at_least=1, under=H.additive,
    margin=Absolute(1, 10**5, "where two eigenvalues meet, rounding moves them by its square root"),
    wrong={"above one": Rational(101, 100)},
)
conserved = Identity(
    kept.after, kept.before, under=(H.additive, H.opposite), margin=exact, wrong={"the other sign": kept.crossed},
)
no_nearer = Inequality(
    moduli.nearest, at_least=1, under=(H.additive, H.opposite),
    margin=Absolute(1, 10**9, "rounding stays below it"),
    wrong={"twice as far at least": 2},
)
DIMENSION = 3
GENERIC, NEUTRAL = range(2)


def drawn(key, kind, bent, kept):
    """Gaussian A and B, or A = I and B from -9/2 to -1/2: down to -4 all eigenvalues are one in modulus."""
    A, B = (jax.random.normal(named(key, name), (DIMENSION, DIMENSION)) for name in ("A", "B"))
    shares = jax.random.uniform(named(key, "shares"), (DIMENSION,), minval=0.125, maxval=1.125)
    A = jax.lax.select_n(kind, A, jnp.eye(DIMENSION))
    B = jax.lax.select_n(kind, B, jnp.diag(-4 * shares))
    return ReversibleLayer(A, B, jax.random.normal(named(key, "point"), (2, DIMENSION)), bent, kept)


def jacobian(layer):
    J = jax.jacfwd(lambda flat: layer(flat.reshape(2, -1)).ravel())(layer.point.ravel())
    return J, jnp.eye(len(J)), jnp.eye(len(J) // 2)


def determinants(layer):
    (J, I, half), det, z = jacobian(layer), jnp.linalg.det, 1.5
    AB = layer.A @ layer.B
    return dict(
        determinant=det(J), one=jnp.ones(()), characteristic=det(J - z * I), paired=det((z - 1) ** 2 * half - z * AB),
        halved=det((z - 1) ** 2 * half - AB), at_one=det(J - I), invertible=(-1) ** len(half) * det(layer.A) * det(layer.B),
    )


def spectrum(layer):
    return dict(radius=jnp.abs(jnp.linalg.eigvals(jacobian(layer)[0])).max())


def optimiser(key, sign, kept):
    """S with eigenvalues between 1/8 and 7/4; both halves start from zero, the fixed points are equal."""
    axis = jax.random.normal(named(key, "axis"), (DIMENSION, 1))
    frame = jnp.eye(DIMENSION) - 2 * axis @ axis.T / jnp.sum(axis**2)
    s = jax.random.uniform(named(key, "s"), (DIMENSION,), minval=0.125, maxval=1.75)
    S = frame @ jnp.diag(s) @ frame.T
    S, point = (S + S.T) / 2, jax.random.normal(named(key, "point"), (DIMENSION,))
    return ReversibleLayer(sign * S, -S, jnp.stack([point, point]), 0, kept)


def run(layer, N):
    def form(state, sign):
        (x, y), S = state - layer.point, -layer.B
        return jnp.sum(x**2) + jnp.sum(y**2) + sign * x @ (S @ y)

    start = end = jnp.zeros_like(layer.point)
    for _ in range(N.padded):
        end = layer(end)
    return dict(before=form(start, 1), after=form(end, 1), crossed=form(end, -1))


def approach(layer, N):
    def step(carry, _):
        state = layer(carry)
        return state, jnp.sum((state - layer.point) ** 2)

    squares = jax.lax.scan(step, jnp.zeros_like(layer.point), length=N.padded)[1]
    return dict(nearest=jnp.sqrt(jnp.min(squares) / jnp.sum(layer.point**2)))


def of_symbols(linear):
    A, B = generic_entries("a", 2, 2), generic_entries("b", 2, 2)
    return ReversibleLayer(A, B, generic_entries("p", 2, 2), 0 if linear else 1, 1.0)


@settles(volume, pairs, never_one)
def two_by_two(claim):
    """Generic A and B of order two, any fixed point; linear phi and psi, which have these Jacobians there."""
    yield Instance(claim, "d = 2", determinants, of_symbols(linear=True))


@settles(conserved)
def two_layers():
    """One mode: any eigenvalue of S and any fixed point; one and two layers from zero."""
    s = generic_entries("s", 1, 1)
    for depth in (1, 2):
        layer = ReversibleLayer(s, -s, generic_entries("p", 2, 1), 0, 1.0)
        yield Instance(conserved, f"N = {depth}", run, layer, literal(depth))


@lemma
def every_pair():
    """Every mu and s; the modes of S do not mix."""
    z, mu, s, c = Symbol("z"), Symbol("mu"), Symbol("s", positive=True), Symbol("c", real=True)
    root = (2 + mu + sympy.sqrt(mu * (mu + 4))) / 2
    yield Solved("the eigenvalues of a pair, whose product is one", (z - 1) ** 2 - mu * z, z, [root, 1 / root])
    cos, sin = sympy.cos(c), sympy.sin(c)  # z = cos c + i sin c, in real and imaginary part
    for part, value in (("real", (cos - 1) ** 2 - sin**2 - mu * cos), ("imaginary", 2 * (cos - 1) * sin - mu * sin)):
        yield Step(f"mu = 2 cos c - 2, in [-4, 0]: {part} part", sympy.Subs(value, mu, 2 * cos - 2), 0)
    x, y, p, q = sympy.symbols("x y p q")
    form = x**2 + y**2 + s * x * y
    after = sympy.Subs(p**2 + q**2 + s * p * q, (p, q), (x + s * y, y - s * (x + s * y)))
    yield Step("a layer keeps the form of a mode", after, form)
    spread = 1 + s / 2
    yield Step("the form lies below 1 + s/2 times the square", spread * (x**2 + y**2) - s * (x - y) ** 2 / 2, form)
    yield Step("and is so at a start with x = y", sympy.Subs(form, y, x), sympy.Subs(spread * (x**2 + y**2), y, x))


whole = Subject(drawn, kind=GENERIC, bent=0, kept=1.0)
optimising = Subject(optimiser, sign=1.0, kept=1.0)
theorem = Theorem(
    place="reversible networks in learning to optimise; reconstructed, the determinants derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(
        volume=volume, pairs=pairs, never_one=never_one, repels=repels, conserved=conserved, no_nearer=no_nearer,
    ),
    proofs=(two_by_two, two_layers, every_pair),
    experiments=dict(
        layers=Experiment(
            determinants, seen, {N: 1}, draws=Efforts(2, 3, 8), padded=True, subjects={
                "linear": whole, "tanh": whole(bent=1),
                "halves kept by 1/2": whole(kept=0.5).breaking(H.additive, fails=(volume, pairs, never_one)),
            },
        ),
        spectra=Experiment(
            spectrum, moduli.radius, {N: 1}, draws=Efforts(500, 500, 2000), platform="cpu", padded=True, subjects={
                "linear": whole, "neutral down to -4": whole(kind=NEUTRAL),
                "halves kept by 1/2": whole(kind=NEUTRAL, kept=0.5).breaking(H.additive, fails=repels),
            },
        ),
        invariants=Experiment(
            run, kept, {N: Efforts((2, 8), (2, 8), (2, 8, 16))}, draws=Efforts(2, 3, 8), padded=True, subjects={
                "opposite": optimising,
                "equal signs": optimising(sign=-1.0).breaking(H.opposite, fails=conserved),
                "halves kept by 1/2": optimising(kept=0.5).breaking(H.additive, fails=conserved),
            },
        ),
        runs=Experiment(
            approach, moduli.nearest, {N: 32}, draws=Efforts(500, 500, 2000), padded=True, subjects={
                "opposite": optimising,
                "equal signs": optimising(sign=-1.0).breaking(H.opposite, fails=no_nearer),
                "halves kept by 1/2": optimising(kept=0.5).breaking(H.additive, fails=no_nearer),
            },
        ),
    ),
    issues=(
        "Where A or B is singular, one is an eigenvalue: det(J - I) = 0.",
        "With equal signs the distance may fall in the first layers; then it grows without bound.",
        "A momentum network has the determinant g^d and may converge.",
    ),
)
