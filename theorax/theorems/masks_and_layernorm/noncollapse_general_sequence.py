"""With LayerNorm and fixed values that are not orthogonal, sequences of any length and dimension need not collapse.

**Theorem.** Let tokens have uniform causal attention, LayerNorm, and values [[1, w], [0, 1]] on the
first two coordinates and s I on the others, w > 1, 0 < s < 1. Let x_1 = (0, 1, 0, ...), and let x_2
be near a unit vector (u, v, 0, ...) with u < 0 and v < 0, with small further coordinates that are
not all zero; the other tokens are arbitrary. Then, as t -> oo, |det(x_1, x_2)| in the first two
coordinates tends to 1/w, and the largest further coordinate of x_1 and x_2 falls like s^t.

**Idea.** Under the causal mask the first two tokens do not see the others, so the pair of
layernorm_counterexample_2d embeds. In the plane x_2 tends to the lower equilibrium
(-1/w, -sqrt(1 - 1/w^2)), where the sum before LayerNorm has the length of one token, so a further
coordinate gains the factor s per layer. The sequence keeps at least rank two.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Rational, Subs, exp, log, sqrt, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import CAUSAL, COMPLETE, MaskedLayer, masks_of, unit_rows

t = Size("t", "number of layers")
w = Parameter("w", "entry of the values beside the diagonal, above one", positive=True)
s = Parameter("s", "what the values make of further coordinates, below one", positive=True)
seen = numbers(
    plane="|det(x_1, x_2)| in the first two coordinates, after t layers",
    beyond="the largest of the further coordinates of the first two tokens, in size", positive=True,
)
H = hypotheses(
    causal="token i attends to tokens 1, ..., i",
    uniform="scores do not depend on the tokens: W_Q = 0",
    normal="tokens have unit length, by LayerNorm in every layer",
    contracting="the values are [[1, w], [0, 1]] beside s I with |s| < 1",
    arc="the second token starts in the arc of the lower equilibrium, but for small further coordinates",
)
fast = Corrections(
    size=Rational(1, 20), slowest=4, fastest=16, rest=0, reference=8,
    reason="terms (1 - sqrt(1 - 1/w^2))^t and s^(2 t), which fall faster than t^(-8) from t = 8 on",
)
apart = Limit(
    seen.plane, 1 / w, as_=t, spread=((1 - sqrt(1 - 1 / w**2)) ** t + s ** (2 * t)) / 5, approach=fast,
    margin=Relative(1, 10, "the other coordinate of the equilibrium is 15 % away or more"),
    wrong={"collapse": Rational(1, 1000), "the second coordinate": sqrt(1 - 1 / w**2), "1/w^2": w**-2},
)
flat = Rate(
    seen.beyond, exp(log(s) * t), as_=t, under=(H.causal, H.uniform, H.normal, H.contracting, H.arc), spread=1,
    approach=Corrections(
        size=Rational(1, 20), slowest=4, fastest=16, rest=0, reference=8, reason="the same terms, in the logarithm"
    ),
    margin=Absolute(1, 4, "s/2, as at (0, 1), moves it by 0.69"),
    wrong={"(s/2)^t": exp(log(s / 2) * t), "s^(2 t)": s ** (2 * t)},
)
TOKENS, D = 6, 5


class Sequence(eqx.Module):
    """A layer that all depths share, and the tokens."""

    layer: MaskedLayer
    X: jax.Array


def sequence(key, w, s, mask, scores, layernorm, stretch, other):
    """``other`` = 1 starts the second token in the complementary arc; ``stretch`` multiplies s."""
    masks = masks_of((CAUSAL, COMPLETE), TOKENS)
    W = jnp.diag(jnp.stack([jnp.ones(()), jnp.ones(()), *[jnp.asarray(s * stretch)] * 3])).at[0, 1].set(w)
    angle = jnp.pi + jax.random.uniform(named(key, "angle"), minval=0.1, maxval=1.2) - jnp.pi * other
    extra = 0.1 * jax.random.normal(named(key, "extra"), (D - 2,))
    second = jnp.concatenate([jnp.stack([jnp.cos(angle), jnp.sin(angle)]), extra])
    rest = jax.random.normal(named(key, "tokens"), (TOKENS - 2, D))
    X = unit_rows(jnp.concatenate([jnp.eye(D)[1:2], second[None], rest]))
    return Sequence(MaskedLayer(3 * scores * jnp.eye(D), jnp.eye(D), W, masks[mask], layernorm), X)


def observe(model, t):
    X = jax.lax.fori_loop(0, t.value, lambda _, X: model.layer(X), model.X)
    return dict(plane=jnp.abs(X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0]), beyond=jnp.abs(X[:2, 2:]).max())


@derives(apart)
def embedded():
    """Every w and s: at (0, 1, 0) and the lower equilibrium the determinant is 1/w, and a further coordinate gains s."""
    x, y, z = symbols("x y z", real=True)
    moved = (x, w * x + 1 + y, s * z)  # ((0, 1, 0) + (x, y, z)) times the values
    at = {x: -1 / w, y: -sqrt(1 - 1 / w**2)}
    yield Solved("a unit vector that stands still", [moved[1] - y, x**2 + y**2 - 1], (x, y), at)
    size = sqrt(moved[0] ** 2 + moved[1] ** 2 + moved[2] ** 2)
    slope = Subs(Subs(Derivative(moved[2] / size, z), z, 0), (x, y), (-1 / w, -sqrt(1 - 1 / w**2)))
    yield Step("what a further coordinate gains, at z = 0", slope, s)
    yield Step("the determinant", Subs(0 * y - x, x, -1 / w), apart.to)


own = Subject(sequence, mask=0, scores=0.0, layernorm=1, stretch=1.0, other=0)
theorem = Theorem(
    place="theorem on LayerNorm with other values, sequences of any length (reconstructed)",
    label="reconstructed",
    uses=("layernorm_counterexample_2d",),
    hypotheses=H,
    claims=dict(apart=apart, flat=flat),
    proofs=(embedded,),
    experiments=dict(
        sequences=Experiment(
            observe, seen, {t: (8, 10, 12)}, at=({w: 2, s: Rational(1, 2)}, {w: Rational(3, 2), s: Rational(1, 4)}),
            draws=Efforts(200, 300, 1000), padded=True, span=16, subjects={
                "causal": own,
                "complete mask": own(mask=1).breaking(H.causal, fails=apart),
                "scores of the cosines": own(scores=1.0).breaking(H.uniform, fails=apart),
                "no LayerNorm": own(layernorm=0).breaking(H.normal, fails=(apart, flat)),
                "further coordinates stretched": own(stretch=6.0).breaking(H.contracting, fails=(apart, flat)),
                "the complementary arc": own(other=1).breaking(H.arc, fails=(apart, flat)),
            },
        ),
    ),
    issues=(
        "Six tokens in five dimensions; the first two do not see the others, whatever their number.",
        "The first token starts at its limit; a drawn one tends there like 1/t and drags the second one.",
    ),
)
