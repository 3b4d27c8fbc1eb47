"""Symbolic Raven tasks: how many there are, how long their sequences are, and how often two rules agree.

**Theorem.** Let a task be a multiset of M of eight rules. Then there are C(M + 7, M) tasks. If a
quarter of them, rounded down, is held out, these are floor(C(M + 7, M)/4) tasks. A grid of nine
panels with M features each, the last panel included, has 9 M features. If each of its three columns
has its own order of the features, there are (M!)^3 ways to order them. Of the rows of three
different values from 0, ..., F - 1, (F - 1)(F - 2) have a last value that is the sum of the others
modulo F.

**Idea.** Multisets are counted by a binomial coefficient. At M = 4 there are 330 tasks, 82 of them
held out, 36 features and 13824 orders. For different a and b, the sum a + b modulo F differs from
both exactly if neither is zero. So the share 1/F of the rows that obey "distribute three" obeys
"addition" too, and such a row does not determine its rule.
"""

from itertools import combinations, combinations_with_replacement, permutations, product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int
from sympy import Subs, Sum, Symbol, binomial, factorial, floor

from theorax.language import *

M = Size("M", "number of features of a panel, and of rules of a task")
F = Size("F", "number of values of a feature")
RULES = 8  # constant, progressions by 1, 2, -1 and -2, addition, subtraction, distribute three
COLUMNS = 3
seen = arrays(
    tasks="number of tasks, listed",
    held="number of tasks held out of training",
    length="number of features in the grid of a task, the last panel's too",
    orders="number of ways to order the features in the columns, listed",
    both="number of rows of three different values of which the last is the sum of the others modulo F",
)

H = hypotheses(
    multiset="a task is a multiset of rules",
    columns="every column has an order of its own",
    modulo="features are added modulo F",
)
counted = Absolute(1, 4, "the sides are whole numbers")
every = binomial(RULES + M - 1, M)
tasks = Identity(
    seen.tasks, every, under=H.multiset, margin=counted,
    wrong={"sets of rules": binomial(RULES, M), "sequences of rules": RULES**M},
)
held = Identity(
    seen.held, floor(every / 4), under=H.multiset, margin=counted,
    wrong={"a quarter of the sets": floor(binomial(RULES, M) / 4)},
)
length = Identity(
    seen.length, COLUMNS**2 * M, under=(), margin=counted, wrong={"the given panels alone": (COLUMNS**2 - 1) * M},
)
orders = Identity(
    seen.orders, factorial(M) ** COLUMNS, under=H.columns, margin=counted,
    wrong={"one order for all columns": factorial(M), "permutations of all": factorial(COLUMNS * M)},
)
both = Identity(
    seen.both, (F - 1) * (F - 2), under=H.modulo, margin=counted,
    wrong={"no row obeys both": 0, "every pair of values": F * (F - 1)},
)


class Counted(eqx.Module):
    """Numbers of what was listed, and the grid of one task."""

    tasks: jax.Array
    held: jax.Array
    orders: jax.Array
    rows: Int[Array, "rows 3"]
    grid: jax.Array
    modulo: jax.Array


def build(key, M, F, sets, one_order, plain):
    """Listed one by one; ``sets``, ``one_order`` and ``plain`` addition are what the source does not do."""
    del key
    choose, columns = (combinations if sets else combinations_with_replacement), 1 if one_order else COLUMNS
    count = sum(1 for _ in choose(range(RULES), M))
    ways = sum(1 for _ in product(list(permutations(range(M))), repeat=columns))
    rows = np.array(list(permutations(range(F), COLUMNS)))
    modulus = 2 * F if plain else F
    grid, number = jnp.zeros((COLUMNS, COLUMNS, M)), lambda x: jnp.asarray(float(x))
    return Counted(number(count), number(count // 4), number(ways), jnp.asarray(rows), grid, jnp.asarray(modulus))


def observe(model):
    first, second, last = model.rows.T
    agree = (first + second) % model.modulo == last
    return dict(
        tasks=model.tasks, held=model.held, length=jnp.asarray(float(model.grid.size)), orders=model.orders,
        both=1.0 * agree.sum(),
    )


@lemma
def four_rules():
    """M = 4, as released."""
    yield Step("tasks", Subs(tasks.right, M, 4), 330)
    yield Step("held out", Subs(held.right, M, 4), 82)
    yield Step("orders", Subs(orders.right, M, 4), 13824)
    yield Step("length", Subs(length.right, M, 4), 36)


@derives(both)
def nonzero_summands():
    """Every F: the last value a + b differs from a and from b where neither is zero; a is not b."""
    a = Symbol("a", integer=True)
    pairs = Sum(F - 2, (a, 1, F - 1))
    yield Step("pairs of different summands that are not zero", pairs, both.right)
    yield Step("their share of the rows", pairs / (F * (F - 1) * (F - 2)), 1 / F)


whole = Subject(build, sets=False, one_order=False, plain=False)
theorem = Theorem(
    place="the symbolic Raven tasks of the released code (the share of rows that obey two rules: derived here)",
    label="read",
    hypotheses=H,
    claims=dict(tasks=tasks, held=held, length=length, orders=orders, both=both),
    proofs=(four_rules, nonzero_summands),
    experiments=dict(
        lists=Experiment(
            observe, seen, {M: Efforts((4,), (3, 4), (2, 3, 4))}, at=({F: 8}, {F: 5}), draws=Efforts(1, 1, 1),
            subjects={
                "as released": whole,
                "sets of rules": whole(sets=True).breaking(H.multiset, fails=(tasks, held)),
                "one order for all columns": whole(one_order=True).breaking(H.columns, fails=orders),
                "addition without a modulus": whole(plain=True).breaking(H.modulo, fails=both),
            },
        ),
    ),
    issues=(
        "The released checker scans all orders of the features; how often it finds a second answer is not looked at.",
    ),
)
