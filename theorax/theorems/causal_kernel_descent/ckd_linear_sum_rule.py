"""The squared errors of linear attention on an orthogonal map add up to the number of dimensions that the tokens span.

**Theorem.** Let x_(t+1) = Omega x_t with Omega orthogonal on R^d, |x_1| = 1 and P = I - x_1 x_1^T.
Let r_t be the residuals of causal kernel descent with the linear kernel in the limit of depth. Then
sum_(t<=T) |r_t|^2 = d - |(P Omega)^T|_F^2 for every T, where (P Omega)^T is the T-th power. As
T -> oo the sum tends to span, the dimension of the span of x_1, Omega x_1, Omega^2 x_1, ....

**Idea.** |W_t - Omega|_F^2 falls by |r_t|^2 a step, from |Omega|_F^2 = d to |(P Omega)^T|_F^2 after
T tokens. On the span of x_1, Omega x_1, ... the powers of P Omega tend to zero; on its complement
they stay orthogonal. The sum over all t is therefore an integer, whatever the angles and the parts
of x_1.
"""

import jax.numpy as jnp
from sympy import transpose

from theorax.language import *
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import kernel, orbit, residuals
from theorax.theorems.causal_kernel_descent._sequences import ORBIT, PLANES
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR, T, d

span = Parameter("span", "dimension of the span of x_1, Omega x_1, ...", positive=True)
seen = arrays(spent="sum of |r_t|^2 over T tokens", left="|(P Omega)^T|^2")
CUT = 5  # By partial the sum is at most four in four dimensions: only controls reach this.
total = Measured("total", f"sum of |r_t|^2 over T tokens of a long context, cut off at {CUT}", positive=True)

H = hypotheses(linear="the kernel is linear", orthogonal=setting.TURNED, unit="|x_1| = 1")
partial = Identity(
    seen.spent, d - seen.left, under=(H.linear, H.orthogonal, H.unit),
    margin=Relative(1, 10**6, "the account of the rounding stays below it; the sum moves by one with each dimension"),
)
integer = Limit(
    total, span, as_=T, under=(H.linear, H.orthogonal), moments=Bounded(0, CUT),
    approach=setting.geometric(0.05, 64, "geometric; at most 0.001 at T = 64 on other seeds"),
    margin=Relative(1, 10, "integers up to four are a quarter apart"),
    wrong={"all dimensions of the tokens": 4},
)


def powers(Omega, start, exponential, T):
    """The sum of squared errors over T tokens, and the square of what is left of the map."""
    X = orbit(Omega, start, T + 1)
    K = kernel(X[:-1] @ X[:-1].T, exponential)
    one = jnp.eye(Omega.shape[0])
    M = (one - start[:, None] * start[None, :]) @ Omega
    rest = one
    for _ in range(T):
        rest = rest @ M
    return dict(spent=(residuals(K, X[1:]) ** 2).sum(), left=(rest**2).sum())


def observe(model, T):
    tokens, length = model
    return powers(tokens.scale * tokens.matrix, length * tokens.tokens(1)[0], tokens.exponential, T.padded)


def long(model, T):
    X = model.tokens(T.padded + 1)
    squares = (residuals(model.gram(X[:-1]), X[1:]) ** 2).sum(1)
    return dict(total=jnp.minimum(jnp.where(T.mask, squares, 0).sum(), CUT))


@settles(partial)
def every_rotation(claim):
    """Every rotation of the plane over three tokens, rotations of space about the axes of a plane over two; |x_1| = 1."""
    for (Omega, start), length in zip(setting.rotations(), (3, 2), strict=True):
        what, letters = f"d = {start.size}, T = {length}", {d: start.size}
        yield Instance(claim, what, powers, Omega, start, LINEAR, length, letters=letters)


@lemma
def every_context():
    """Every T and d: what one token takes off |S|^2, S = (P Omega)^(t-1), from |I|^2 = d on; summed over the context."""
    Omega, x, S = generic_matrices("Omega x S")
    given = ((Omega * transpose(Omega), 1), (transpose(Omega) * Omega, 1), (transpose(x) * x, 1))
    later = S * (1 - x * transpose(x)) * Omega
    taken = S * x * transpose(x) * transpose(S)
    yield MatrixStep("one factor more", S * transpose(S) - later * transpose(later), taken, given)
    # The trace of this is |S x|^2; the residual is -Omega S x by ckd_linear_closed_form_rate.
    r = -Omega * S * x
    yield MatrixStep("the square of the residual is its trace", transpose(r) * r, transpose(S * x) * (S * x), given)


one_plane, two_planes = PLANES(part=1.0, knows={span: 2}), PLANES(knows={span: 4})
theorem = Theorem(
    place="linear attention and linear f (derived here)",
    label="derived",
    uses=("ckd_linear_closed_form_rate", "ckd_energy_identity"),
    hypotheses=H,
    claims=dict(partial=partial, integer=integer),
    proofs=(every_rotation, every_context),
    experiments=dict(
        short=Experiment(observe, seen, {T: (4, 10)}, at=({d: 2}, {d: 3}, {d: 5}), draws=setting.FEW, padded=True, subjects={
            "orthogonal": ORBIT,
            "5 % longer a step": ORBIT(scale=1.05).breaking(H.orthogonal, fails=partial),
            "exponential kernel": ORBIT(exponential=EXPONENTIAL).breaking(H.linear, fails=partial),
            "a first token of length 1.2": ORBIT(number=1.2).breaking(H.unit, fails=partial),
        }),
        long=Experiment(long, total, {T: (64, 128, 256)}, draws=Efforts(320, 320, 512), padded=True, subjects={
            "one of two planes": one_plane,
            "two planes": two_planes,
            "one angle in both planes": PLANES(repeated=1, knows={span: 2}),
            "exponential kernel": one_plane(exponential=EXPONENTIAL).breaking(H.linear, fails=integer),
            "tokens that do not follow": two_planes(scrambled=1).breaking(H.orthogonal, fails=integer),
        }),
    ),
    issues=(
        "Angles are drawn away from each other: nearly equal ones need contexts of the order of one over their gap.",
    ),
)
