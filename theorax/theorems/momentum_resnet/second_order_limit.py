"""With momentum 1 - 1/(N eps) a network follows a second-order equation up to O(1/N); at fixed momentum, a first-order one.

**Theorem.** Let v_(n+1) = g v_n + (1-g) f(x_n)/N, x_(n+1) = x_n + v_(n+1), v_0 = 0, n < N, and eps
x'' + x' = f(x), x(0) = x_0, x'(0) = 0. If g = 1 - 1/(N eps) and f(x) = tanh(W x) with Gaussian W
and x_0 in dimension four, max_n |x_n - x(n/N)| is of exact order 1/N as N -> oo. For one neuron,
f(x) = theta x, x_0 = 1, let a = 1/(2 eps), w^2 = theta/eps + a^2, Phi = e^(-a) sinh(w)/w and Psi =
e^(-a) (cosh(w) + a sinh(w)/w). If g = 1 - 1/(N eps), then N (x_N - Psi) -> -(1/2) dPsi/deps + theta
Phi/(2 eps). If 0 < g < 1 does not depend on N, then N (x_N - e^theta) -> -e^theta (theta^2/2 + g
(theta^2 + theta)/(1 - g)).

**Idea.** The update is the equation with differences in place of derivatives; the error is O(1/N)
if f and f' are Lipschitz. To the next order its mass is eps - 1/(2N). The network is at rest half a
layer before the input, which gives the equation the velocity x''(0)/(2N). At fixed g the mass 1/(N
(1 - g)) vanishes.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, Rational, Subs, Symbol, exp, log

from theorax.language import *
from theorax.numerics import flows
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet import _solution_operator as solution
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, g
from theorax.theorems.momentum_resnet._solution_operator import eps, from_push, from_rest, theta

seen = numbers(missed="the largest distance of x_n from x(n/N), n = 1, ..., N", positive=True)
scalar = numbers(
    second="N (x_N - Psi(theta)), one neuron with the residual function theta x, from one at rest",
    first="N (x_N - e^theta), the same",
)

H = hypotheses(
    scaled="residuals are f/N, and the momentum is 1 - 1/(N eps)",
    rest="the velocity at time zero is zero",
    smooth=Hypothesis(
        "f is Lipschitz, with a Lipschitz derivative",
        unbroken="it is what gives the equation its one solution; a jump of f that is crossed once costs O(1/N) too",
    ),
    fixed="residuals are f/N, and the momentum g does not depend on N",
)
expansion = Corrections(
    size=Rational(1, 20), slowest=1, fastest=4, rest=0, reference=32,
    reason="the logarithm of an expansion in 1/N; at most 0.011 at N = 32 in any of 80 draws on other seeds",
)
limit = Rate(
    seen.missed, 1 / N, as_=N, under=(H.scaled, H.rest, H.smooth), spread=Rational(1, 2), approach=expansion,
    margin=Absolute(1, 4, "schemes of order two and noise of order one half are 1 and 1/2 away"),
    wrong={"second order": N**-2, "order one half": N ** Rational(-1, 2)},
)
MASS = -Derivative(from_rest(), eps).doit() / 2
START = theta / (2 * eps) * from_push()
FIXED = -exp(theta) * (theta**2 / 2 + g / (1 - g) * (theta**2 + theta))
near = Expansion(
    powers=(1,), rest=Rational(1, 10), order=2, reference=64,
    reason="N steps expand in 1/N; the second order is at most 0.03 of the constant at N = 64",
)
constant = Limit(
    scalar.second, MASS + START, as_=N, under=(H.scaled, H.rest), approach=near,
    margin=Relative(1, 20, "each of the two parts is a fifth of the whole or more"),
    wrong={
        "the mass alone": MASS, "the velocity alone": START, "a mass eps + 1/(2N)": START - MASS,
        "a whole layer for half a layer": MASS + 2 * START,
    },
)
first_order = Limit(
    scalar.first, FIXED, as_=N, under=(H.fixed, H.rest), approach=near,
    margin=Relative(1, 20, "each part is a fifth of the whole or more"),
    wrong={
        "of a residual network": -exp(theta) * theta**2 / 2,
        "without the velocity that is missing at first": -exp(theta) * (theta**2 / 2 + g / (1 - g) * theta**2),
    },
)


class Started(eqx.Module):
    """Weights that all layers share, an input and a velocity; the mass, or a momentum that is positive if it is fixed."""

    weights: jax.Array
    x: jax.Array
    push: Scalar
    eps: Scalar
    fixed: Scalar

    def network(self, function, N):
        g = jnp.where(self.fixed > 0, self.fixed, solution.momentum_at(self.eps, N))
        return MomentumNetwork(function, self.weights[None], g, 1 / N.value)

    def start(self, N):
        return self.x, self.push * self.x / N.value


def drawn(key, epsilon, push, fixed):
    weights = jax.random.normal(named(key, "weights"), (4, 4))
    return Started(weights, jax.random.normal(named(key, "x"), (4,)), push, epsilon, fixed)


def neuron(key, theta, epsilon, push, fixed):
    return Started(jnp.full((1, 1), 1.0) * theta, jnp.ones(1), push, epsilon, fixed)


def at_momentum(key, theta, g, push, growing):
    """``growing``: the momentum follows the depth, at mass one, in the place of g."""
    return neuron(key, theta, 1.0, push, jnp.where(growing > 0, 0.0, g))


def along(model, N):
    net = model.network(momentum.tanh_layer, N)
    nodes = momentum.states(net, model.start(N), N)[0]

    def field(n, s, state):
        x, v = state
        return jnp.stack([v, (momentum.tanh_layer(model.weights, x) - v) / model.eps])

    reference, error = flows.flow(field, jnp.stack([model.x, 0 * model.x]), N, method=flows.CHEAP)
    return dict(missed=flows.apart(nodes, reference[:, 0]), missed_error=error)


def end(model, N):
    net = model.network(solution.linear_layer, N)
    return momentum.through(net, model.start(N), N)[0][0]


def to_second_order(model, N):
    return dict(second=N.value * (end(model, N) - solution.operator(model.weights, model.eps)[0, 0]))


def to_first_order(model, N):
    return dict(first=N.value * (end(model, N) - jnp.exp(model.weights[0, 0])))


@derives(constant)
def next_order():
    """A solution of the network that is smooth in n h; h = 1/N, any f of one neuron, which is seen as f(t) along it."""
    h, t = Symbol("h", positive=True), Symbol("t")
    x = [Symbol(f"x_{order}") for order in range(4)]
    path = x[0] + x[1] * t + x[2] * t**2 / 2 + x[3] * t**3 / 6
    steps = path.subs(t, h) - 2 * path.subs(t, 0) + path.subs(t, -h)
    defect = (steps * eps / h**2 + (path.subs(t, 0) - path.subs(t, -h)) / h).expand()
    yield Step("the equation to order h: mass eps - h/2", Subs(Derivative(defect, h), h, 0), -x[2] / 2)
    # v_0 = 0 says x(-h) = x(0): the velocity is x''(0) h/2, with eps x''(0) = theta x(0) at rest.
    yield Solved("velocity at the start, to order h", x[1] * h - x[2] * h**2 / 2, x[1], x[2] * h / 2)
    moved = from_rest(eps=eps - h / 2) + h / 2 * theta / eps * from_push()
    yield Step("order h of the solution at time one", Subs(Derivative(moved, h), h, 0), constant.to)


@derives(first_order)
def slow_root():
    """One neuron, f = theta x: the roots z of the recursion, g times 1/z the other one, and their weights from rest."""
    h, c = Symbol("h", positive=True), Symbol("c")
    z = 1 + theta * h + c * h**2
    recursion = (z**2 - (1 + g + (1 - g) * theta * h) * z + g).expand()
    yield Solved("z to the second order", recursion.coeff(h, 2), c, [-g * theta**2 / (1 - g)])
    z = z.subs(c, -g * theta**2 / (1 - g))
    weight = z * (z - g) / (z**2 - g)  # A, of z in 1 = A + B = A/z + B/(g/z)
    logarithm = log(weight) + log(z) / h
    yield Step("its power N = 1/h", sympy.Limit(log(z) / h, h, 0, "+"), theta)
    slope = sympy.Limit((logarithm - theta) / h, h, 0, "+")
    yield Step("order h of the logarithm of x_N, in units of e^theta", exp(theta) * slope, first_order.to)


tanh = Subject(drawn, push=0.0, fixed=0.0)
one = Subject(neuron, push=0.0, fixed=0.0)
single = Subject(at_momentum, push=0.0, growing=0.0)
masses = (Rational(1, 2), 2)
theorem = Theorem(
    place="the limit of small steps: a second-order equation; reconstructed, its constant derived here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(limit=limit, constant=constant, first_order=first_order),
    proofs=(next_order, slow_root),
    experiments=dict(
        networks=Experiment(
            along, seen, {N: Efforts((32, 64, 128), (32, 64, 128, 256), (32, 64, 128, 256, 512))},
            at=tuple({eps: mass} for mass in masses), draws=Efforts(80, 80, 300), span=16, seeds="paired", padded=True,
            subjects={
                "tanh": tanh,
                "momentum 0.9 at every depth": tanh(fixed=0.9).breaking(H.scaled, fails=limit),
                "with a velocity": tanh(push=1.0).breaking(H.rest, fails=limit),
            },
        ),
        neurons=Experiment(
            to_second_order, scalar.second, {N: Efforts((64, 256, 1024), (64, 256, 1024), (64, 256, 1024, 4096))},
            at=tuple({eps: mass, theta: slope} for mass in masses for slope in (-6, 1)), draws=1, seeds="none", span=64,
            padded=True, subjects={
                "linear": one,
                "momentum 0.9 at every depth": one(fixed=0.9).breaking(H.scaled, fails=constant),
                "with a velocity": one(push=1.0).breaking(H.rest, fails=constant),
            },
        ),
        fixed_momentum=Experiment(
            to_first_order, scalar.first, {N: Efforts((64, 256, 1024), (64, 256, 1024), (64, 256, 1024, 4096))},
            at=tuple({g: value, theta: slope} for value in (Rational(1, 2), Rational(3, 4)) for slope in (-2, 1)),
            draws=1, seeds="none", span=64, padded=True, subjects={
                "linear": single,
                "momentum of mass one": single(growing=1.0).breaking(H.fixed, fails=first_order),
                "with a velocity": single(push=1.0).breaking(H.rest, fails=first_order),
            },
        ),
    ),
    issues=(
        "The mass is 1/(N (1 - g)) on the unit interval of depth; on steps of length one it is 1/(1 - g).",
        "The constants are at time one. The largest error along the way is larger where the solution oscillates.",
    ),
)
