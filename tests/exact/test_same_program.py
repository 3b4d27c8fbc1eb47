"""One program against itself, however it is wrapped, is seen; two programs that algebra makes equal stay two."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Integer, Product, Rational, Sum, Symbol, binomial

from theorax import exact
from theorax.exact.same_program import Forms, ProgramForm, forms_of, same_program
from theorax.language import Measured
from theorax.numerics.arithmetics.letter_expressions import in_domain


def norm(x):
    return jnp.sqrt(jnp.sum(jnp.tanh(x) ** 2))


def looped(x):
    return jax.lax.scan(lambda total, entry: (total + jnp.tanh(entry), None), 0.0, x)[0]


def branched(x):
    return jax.lax.cond(x.sum() > 0, jnp.tanh, lambda y: y, x)


def custom(x):
    rule = jax.custom_jvp(norm)
    rule.defjvp(lambda primals, tangents: (norm(*primals), 2.0 * tangents[0].sum()))
    return rule(x)


def with_vjp(x):
    rule = jax.custom_vjp(norm)
    rule.defvjp(lambda x: (norm(x), x), lambda x, cotangent: (7 * cotangent * x,))
    return rule(x)


class Module(eqx.Module):
    scale: jax.Array

    def __call__(self, x):
        return self.scale * norm(x)


WRAPPED = {
    "itself": (norm, norm),
    "jit": (norm, jax.jit(norm)),
    "jit of jit": (norm, jax.jit(jax.jit(norm))),
    "remat": (norm, jax.checkpoint(norm)),
    "a custom derivative": (norm, custom),
    "a custom transpose": (norm, with_vjp),
    "stop_gradient": (norm, lambda x: jax.lax.stop_gradient(norm(jax.lax.stop_gradient(x)))),
    "a copy": (norm, lambda x: jnp.array(norm(x.copy()), copy=True)),
    "a barrier": (norm, lambda x: jax.lax.optimization_barrier(norm(x))),
    "a cast to its own type": (norm, lambda x: norm(x.astype(x.dtype))),
    "a shape of its own": (norm, lambda x: norm(x.reshape(x.shape))),
    "dead code": (norm, lambda x: (jnp.exp(x).sum(), norm(x))[1]),
    "written twice": (norm, lambda x: jnp.sqrt(jnp.sum(jnp.tanh(x) ** 2))),
    "computed twice": (lambda x: 2 * norm(x) + norm(x), lambda x: (lambda y: 2 * y + y)(norm(x))),
    "a filtered jit": (norm, eqx.filter_jit(norm)),
    "inside a loop": (looped, jax.jit(lambda x: looped(jax.lax.stop_gradient(x)))),
    "inside a branch": (branched, jax.checkpoint(branched)),
    "a pytree": (lambda x: (norm(x), x), lambda x: (jax.jit(norm)(x), x)),
    "zero by its form": (lambda x: 0 * jnp.tanh(x), lambda x: jnp.tanh(x) @ jnp.zeros((3, 3))),
    "zero by its form, twice": (lambda x: jnp.sin(0 * x).sum(), lambda x: jnp.zeros(3) @ jnp.exp(x)),
}
DIFFERENT = {
    "plus zero": (norm, lambda x: norm(x) + 0),
    "times one": (norm, lambda x: 1 * norm(x)),
    "order of a sum": (lambda x: norm(x) + x[0], lambda x: x[0] + norm(x)),
    "reversed": (norm, lambda x: norm(x[::-1])),
    "twice transposed": (lambda x: jnp.outer(x, x), lambda x: jnp.outer(x, x).T),
    "a double negation": (norm, lambda x: jnp.negative(jnp.negative(norm(x)))),
    "another body of a loop": (looped, lambda x: jax.lax.scan(lambda t, e: (jnp.tanh(e) + t, None), 0.0, x)[0]),
    "a constant": (lambda x: norm(x) * (1 + 2**-52), norm),
    "one output of two": (lambda x: (norm(x), x), lambda x: (norm(x), x + 0)),
    "a narrowing cast": (lambda x: x.astype(jnp.float32), lambda x: x),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_program_against_itself_is_vacuous_however_it_is_wrapped(name: str, rng) -> None:
    left, right = WRAPPED[name]
    verdict = exact.identity(left, right, at=rng.normal(size=3))
    assert verdict.status == "VACUOUS"
    assert "zero by their form" in verdict.sentence if "zero" in name else "one and the same" in verdict.sentence


@pytest.mark.parametrize("name", DIFFERENT)
def test_there_is_no_algebra_in_it(name: str, rng) -> None:
    left, right = DIFFERENT[name]
    assert exact.identity(left, right, at=rng.normal(size=3)).status != "VACUOUS"


def test_the_leaves_of_a_module_are_inputs(rng) -> None:
    module, x = Module(jnp.asarray(2.0)), rng.normal(size=3)
    verdict = exact.identity(lambda m, x: m(x), lambda m, x: jax.jit(lambda: m.scale * norm(x))(), at=(module, x))
    assert verdict.status == "VACUOUS"
    other = exact.identity(lambda m, x: m(x), lambda m, x: norm(x) * m.scale, at=(module, x))
    assert other.status == "SUPPORTED"


def on_host(function):
    return lambda x: jax.pure_callback(function, jax.ShapeDtypeStruct((3,), np.float64), x)


def scaled(factor):
    return lambda x: factor * x


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (np.sin, np.sin, True),
        (np.sin, np.cos, False),
        (lambda x: x, lambda x: 2 * x, False),
        (scaled(FACTOR := np.float64(3.0)), scaled(FACTOR), True),
        (scaled(np.float64(3.0)), scaled(np.float64(4.0)), False),
    ],
)
def test_functions_called_on_the_host_are_told_apart_by_what_they_are(left, right, same) -> None:
    both = forms_of(lambda x: (on_host(left)(x), on_host(right)(x)), (np.ones(3),))
    assert same_program(both[:1], both[1:]) is same


one, two = Measured("one", "a letter", array=True), Measured("two", "another", array=True)
FORMS = forms_of(
    lambda x: dict(one=norm(x), two=jax.jit(norm)(x), float_third=norm(x) * (1 / 3)),
    (np.ones(3),),
)


def put(expression) -> ProgramForm:
    """The expression with the letters put into it."""
    return in_domain(expression, Forms(), lambda node: FORMS[node.name] if node in (one, two) else None)


def test_letters_are_put_into_the_sides_before_they_are_compared() -> None:
    assert same_program([put(3 * one**2 + 1)], [put(3 * two**2 + 1)])
    assert not same_program([put(3 * one**2 + 1)], [put(3 * two**2 + 2)])
    assert not same_program([put(one)], [put(2 * two - Rational(1, 7) * one)])


def test_a_sum_of_numbers_is_written_out() -> None:
    i = Symbol("i", integer=True)
    assert same_program([put(Sum(binomial(6, i), (i, 0, 2)))], [put(Integer(22))])
    assert same_program([put(Product(i, (i, 1, 3)))], [put(Integer(6))])


def test_an_exact_third_is_no_float() -> None:
    assert put(one / 3).digest != FORMS["float_third"].digest
    assert not put(one).zero
