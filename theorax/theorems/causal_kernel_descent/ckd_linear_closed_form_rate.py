"""Linear attention learns an orthogonal map in context at a geometric rate that its spectrum and the first token fix.

**Theorem.** Let x_(t+1) = Omega x_t with Omega orthogonal on R^d, |x_1| = 1, P = I - x_1 x_1^T, and
rho the spectral radius of P Omega. Let W_t be Kaczmarz's matrices from W_1 = 0 for the linear
kernel, and r_t = W_t x_t - x_(t+1). Then r_t = -Omega (P Omega)^(t-1) x_1. For d = 2, |r_t|^2 =
sin(theta)^2 cos(theta)^(2t-4) at t >= 2, cos(theta) = <x_1, x_2>. For d >= 2, ln rho >= ln|<x_1,
x_2>|/(d - 1). For random Omega and x_1 (orthogonal or not), ln|(P Omega)^T x_1|/T - ln rho -> 0 as
T -> oo. For Haar Omega it is measured, not derived, that |1 - rho| decays like d^-2 (exponent
within 2/5, d = 4 to 64) and d^2 |1 - rho| has the median 19/20 within 1/10 at d = 4, 8, 16.

**Idea.** Kaczmarz gives W_t - Omega = -Omega (P Omega)^(t-1) Omega^(1-t). With c_i the squared
parts of x_1 along the eigenvectors, det(z - P Omega) = z sum_i c_i prod_(j != i) (z - lambda_j).
Its zeros other than zero are weighted critical points in the hull of the eigenvalues, and the
modulus of their product is |<x_1, x_2>|.
"""

import jax.numpy as jnp
from sympy import Add, Eq, Matrix, Rational, Subs, Symbol, diag, eye, log, ones, prod, symbols, transpose

from theorax.language import *
from theorax.numerics.ensembles import haar
from theorax.theorems.causal_kernel_descent import _tokens as setting
from theorax.theorems.causal_kernel_descent._descent import kernel, log_of_power, orbit, residuals
from theorax.theorems.causal_kernel_descent._sequences import ORBIT
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR, T, d

seen = arrays(
    residual="W_t x_t - x_(t+1), the residual of the depth limit",
    closed="Omega (P Omega)^(t-1) x_1",
    late="Omega (P Omega)^t x_1",
    squares="|r_t|^2 for t >= 2",
    powers="cos(theta)^(2 t - 4), cos(theta) = <x_1, x_2>",
    sine="sin(theta)^2",
)
rates = numbers(
    speed="ln |(P Omega)^T x_1|/T",
    largest="ln rho, rho the largest modulus of the eigenvalues of P Omega",
)
slow = Measured("slow", "|1 - rho| for a Haar orthogonal map and a fixed x_1", positive=True)
first = Measured("first", "|<x_1, x_2>|", positive=True)

exactly = Relative(1, 10**6, "the account of the rounding stays below it, a factor more or less is far above")
H = hypotheses(linear="the kernel is linear", orthogonal="f is an orthogonal linear map", unit="|x_1| = 1")
formula = Identity(seen.residual, -seen.closed, margin=exactly, wrong={"one factor more": -seen.late})
plane = Identity(
    seen.squares, seen.sine * seen.powers, where=Eq(d, 2), margin=exactly,
    wrong={"|cos theta|^4 a step": seen.sine * seen.powers**2, "without the sine": seen.powers},
)
rate = Limit(
    rates.speed - rates.largest, 0, as_=T, under=(), spread=2 / T,  # Gelfand's formula, for every linear map
    approach=setting.power_of_a_matrix(0.1, 64, "T; at most 0.03 at T = 64 on other seeds"),
    margin=Absolute(1, 20, "twice or half the logarithm is a tenth away and more"),
    wrong={
        "|cos theta|^2": dict(of=rates.speed - 2 * rates.largest),
        "|cos(theta/2)|": dict(of=rates.speed - log((1 + first) / 2) / 2),
        "randomised Kaczmarz, 1 - 1/d": dict(of=rates.speed - log(1 - 1 / d)),
    },
)
slowest = Inequality(
    rates.largest, at_least=log(first) / (d - 1), under=(H.orthogonal, H.unit),
    margin=Absolute(1, 10**6, "in the plane both sides are equal, and eigenvalues of float64 matrices are far closer"),
    wrong={"the product itself, not its root": log(first) / d**2},
)
context = Rate(
    slow, 1 / d**2, as_=d, on="dimensions", under=(H.orthogonal, H.unit), spread=Rational(6, 5), approach=Corrections(),
    margin=Absolute(2, 5, "1 - rho of order 1/d, as for Kaczmarz with random rows, is one away"),
    wrong={"as for random rows": 1 / d},
)
typical = Expectation(
    d**2 * slow, Rational(19, 20), quantile=Rational(1, 2), on="medians", under=(H.orthogonal, H.unit), reading=Reading.MARGIN,
    spread=Rational(3, 2),
    margin=Absolute(1, 10, "measured on other seeds, not derived: 0.98, 0.93 and 1.01 at d = 4, 8 and 16"),
    wrong={"1 - rho = 1/d": d, "the mean of an exponential law": Rational(19, 20) / log(2)},
)


def explained(Omega, start, exponential, T):
    """Residuals of the depth limit, and the closed form."""
    X = orbit(Omega, start, T + 1)
    K = kernel(X[:-1] @ X[:-1].T, exponential)
    P = jnp.eye(Omega.shape[0]) - start[:, None] * start[None, :]
    r, path = residuals(K, X[1:]), orbit(P @ Omega, start, T + 1)
    cosine = X[0] @ X[1]
    powers = jnp.stack([cosine ** (2 * t) for t in range(T - 1)])
    return dict(
        residual=r, closed=path[:-1] @ Omega.T, late=path[1:] @ Omega.T,
        squares=(r[1:] ** 2).sum(1), powers=powers, sine=(1 - cosine**2) * jnp.ones(T - 1),
    )


def observe(model, T):
    tokens, length = model
    start = tokens.tokens(1)[0]
    return explained(tokens.scale * tokens.matrix, length * start, tokens.exponential, T.padded)


def spectra(model, T):
    tokens, length = model
    start, Omega = length * tokens.tokens(1)[0], tokens.scale * tokens.matrix
    inside = jnp.diag((jnp.abs(tokens.vectors).sum(0) > 0).astype(start.dtype))  # eigenvalues of the padding are zero
    M = (inside - start[:, None] * start[None, :]) @ Omega
    return dict(
        speed=log_of_power(M, start, T.value) / T.value, largest=jnp.log(jnp.abs(jnp.linalg.eigvals(M)).max()),
        first=jnp.abs(start @ Omega @ start),
    )


def haar_and_length(key, d, scale, length):
    return scale * haar(key, d), length


def nearest(model, d):
    Omega, length = model
    M = Omega.at[0].multiply(1 - length**2)  # x_1 is e_1 times its length
    return dict(slow=jnp.abs(1 - jnp.abs(jnp.linalg.eigvals(M)).max()))


@settles(formula, plane)
def every_rotation(claim):
    """Every rotation of the plane, rotations of space about the axes of a plane, over three tokens; |x_1| = 1."""
    for Omega, start in list(setting.rotations())[: 1 if claim is plane else 2]:
        yield Instance(claim, f"d = {start.size}, T = 3", explained, Omega, start, LINEAR, 3, letters={d: start.size})


@lemma
def every_context():
    """Every T and d, by induction: from t - 1 steps to t."""
    W, Omega, x, P, R, S = generic_matrices("W Omega x P R S")
    learnt = W + (Omega * x - W * x) * transpose(x)  # Kaczmarz's step at |x| = 1
    yield MatrixStep("one step", learnt - Omega, (W - Omega) * (1 - x * transpose(x)))
    # x_t = R x_1 with R = Omega^(t-1), and W_t - Omega = -Omega S R^T with S = (P Omega)^(t-1).
    turns = tuple((a * b, 1) for M in (Omega, R) for a, b in ((M, transpose(M)), (transpose(M), M)))
    rest = 1 - (R * x) * transpose(R * x)
    yield MatrixStep("the projection at t, turned back", rest, R * (1 - x * transpose(x)) * transpose(R), turns)
    before, after = -Omega * S * transpose(R), -Omega * (S * P * Omega) * transpose(R * Omega)
    yield MatrixStep("one factor more", before * (R * P * transpose(R)), after, turns)
    yield MatrixStep("the residual at t", before * R * x, -Omega * S * x, turns)


def but_one(weights, factors):
    """Products of all factors but one, weighted: sum_i w_i prod_(j != i) f_j."""
    return Add(*(c * prod(factors[:i] + factors[i + 1 :]) for i, c in enumerate(weights)))


@lemma
def spectrum():
    """Any dimension by one term; two and three eigenvalues, any parts of x_1, in full; cycles of three."""
    z = Symbol("z")
    # In the eigenbasis P Omega is similar to (I - 1 c^T) D, and z - (I - 1 c^T) D = (z - D) + 1 c^T D.
    yield Cited("det(A + u v^T) = det(A) (1 + v^T A^-1 u)", "Horn and Johnson 2013, 0.8.5")
    value, part = symbols("l c")
    term = part + part * value / (z - value)  # the parts add up to one
    yield Step("det(z - P Omega)/det(z - Omega), a term for each eigenvalue", term, z * part / (z - value))
    for order in (2, 3):
        eigenvalues, parts = (list(symbols(f"{letter}1:{order + 1}")) for letter in "lc")
        parts[-1] = 1 - sum(parts[:-1])
        # In the eigenbasis P is I - v v^*, |v_i|^2 = c_i, similar to I - 1 c^T.
        M = (eye(order) - ones(order, 1) * Matrix([parts])) * diag(*eigenvalues)
        rest, mean = but_one(parts, [z - value for value in eigenvalues]), but_one(parts, eigenvalues)
        yield Step(f"det(z - P Omega), {order} eigenvalues", (z * eye(order) - M).det(), z * rest)
        yield Step("the product of its other zeros, up to sign", Subs(rest, z, 0) * (-1) ** (order - 1), mean)
    hull = "zeros of sum_i c_i/(z - lambda_i) lie in the hull of the lambda_i"
    yield Cited(hull, "Marden 1966, the theorem of Gauss and Lucas")
    # The cube roots of unity sum to zero, and so do their products in pairs: z^3, nothing is left after one turn.
    (a, b, c), equal = eigenvalues, dict.fromkeys(parts[:2], Rational(1, 3))
    alike = z**3 - 2 * (a + b + c) * z**2 / 3 + (a * b + b * c + c * a) * z / 3
    yield Step("three eigenvalues, equal parts", z * rest.subs(equal), alike)


both = (formula, plane)
whole = Subject(haar_and_length, scale=1.0, length=1.0)
haar_maps = {
    "Haar": whole,
    # 1 - rho is a twentieth at least.
    "Haar, 5 % shorter": whole(scale=0.95).breaking(H.orthogonal, fails=(context, typical)),
    # The determinant has the modulus 5/4, so that rho is (5/4)^(1/d) at least.
    "a first token of length 1.5": whole(length=1.5).breaking(H.unit, fails=(context, typical)),
}
dimensions = ({d: 2}, {d: 3}, {d: 5})
theorem = Theorem(
    place="linear attention and linear f in Theorem 1; closed form and rate derived here",
    label="derived",
    uses=("ckd_fixed_point_is_kaczmarz",),
    hypotheses=H,
    claims=dict(formula=formula, plane=plane, rate=rate, slowest=slowest, context=context, typical=typical),
    proofs=(every_rotation, every_context, spectrum),
    experiments=dict(
        formula=Experiment(observe, seen, {T: (4, 10)}, at=dimensions, draws=setting.FEW, padded=True, subjects={
            "orthogonal": ORBIT,
            "5 % longer a step": ORBIT(scale=1.05).breaking(H.orthogonal, fails=both),
            "exponential kernel": ORBIT(exponential=EXPONENTIAL).breaking(H.linear, fails=both),
            "a first token of length 1.2": ORBIT(number=1.2).breaking(H.unit, fails=both),
        }),
        spectra=Experiment(
            spectra, (rates, first), {T: (64, 128, 256)}, at=({d: 3}, {d: 2}, {d: 5}), draws=Efforts(240, 240, 1000), span=4,
            platform="cpu", padded=True, subjects={
                "orthogonal": ORBIT,
                # Two zeros that are conjugate in space have the modulus s |<x_1, Omega x_1>|^(1/2), not s^(1/2) times it.
                "5 % shorter a step": ORBIT(scale=0.95).breaking(H.orthogonal, fails=slowest),
                # In the plane the largest is 1 at a small turn, and |<x_1, Omega x_1>| is 1.44 times its cosine.
                "a first token of length 1.2": ORBIT(number=1.2).breaking(H.unit, fails=slowest),
            },
        ),
        dimensions=Experiment(
            nearest, slow, {d: Efforts((4, 8, 16, 32, 64), (4, 8, 16, 32, 64), (4, 8, 16, 32, 64, 128))},
            draws=Efforts(1200, 1600, 9000), platform="cpu", padded=True, subjects=haar_maps,
        ),
        medians=Experiment(
            nearest, slow, {d: (4, 8, 16)}, draws=Efforts(9000, 12000, 40000), platform="cpu", padded=True,
            subjects=haar_maps,
        ),
    ),
    issues=(
        "The order 1/d^2 of 1 - rho for a random map is measured, not derived: over d = 4 to 64 its exponent is seen as 1.9. "
        "Its median times d^2 leaves [0.85, 1.05] later, on other seeds: it is 1.06(2) at d = 32 and 1.09(3) at d = 64.",
        "Nothing is claimed of the parameters W_t. If x_1 is not cyclic, or Omega has equal eigenvalues, predictions still "
        "converge, but W_t does not tend to Omega.",
        "The rate is read from powers of P Omega, which the closed form ties to the residual. Residuals themselves reach "
        "the rounding of float64 after a few hundred tokens.",
    ),
)
