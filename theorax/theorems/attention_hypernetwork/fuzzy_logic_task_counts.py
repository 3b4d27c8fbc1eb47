"""Fuzzy-logic tasks: what they compute on zeros and ones, and how many are held out.

**Theorem.** Let OR be the maximum, AND the minimum and NOT x = 1 - x. A conjunction contains each
of L variables, plain or negated, and a task is the OR of K different conjunctions: max_i min_j
l_ij, where l_ij is x_j or 1 - x_j. Then, at an input of zeros and ones, a task is 1 if the input
satisfies one of its conjunctions and 0 otherwise, also if AND is the product. At inputs between 0
and 1, 1 - max_i min_j l_ij = min_i max_j (1 - l_ij). If L >= 2 and a quarter of the 2^L
conjunctions is held out, then C(3 2^L/4, K) tasks contain no conjunction that is held out, and
C(2^L/4, K) tasks consist of such conjunctions alone.

**Idea.** On zeros and ones each conjunction is satisfied by exactly one input, so a task is a
disjunctive normal form. De Morgan's rule holds since x -> 1 - x reverses the order. A task is a set
of K conjunctions, so binomial coefficients count the tasks: 66 and 6 for L = 4 and K = 2.
"""

from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Abs, Integer, Rational, Subs, binomial, symbols

from theorax.language import *
from theorax.numerics.keys import named

L = Size("L", "number of variables")
K = Parameter("K", "number of conjunctions of a task", integer=True, positive=True)
seen = arrays(
    value="the task at every input of zeros and ones",
    normal="1 where the input is one of its conjunctions, 0 elsewhere",
    conjunction="1 where the input is the first of its conjunctions",
    negation="1 less the task, at inputs between 0 and 1",
    dual="min_i max_j (1 - l_ij), at these inputs",
    undone="max_i min_j (1 - l_ij), at these inputs",
)
lists = arrays(
    inside="number of the tasks of conjunctions that are not held out, listed",
    outside="number of the tasks of held-out conjunctions alone, listed",
)

H = hypotheses(
    zadeh="AND is min and OR is max",
    quarter="a quarter of the conjunctions is held out",
)
exact = Absolute(
    1, 10**9, "the sides are the same operations up to the rounding of 1 - (1 - x); others differ by a hundredth"
)
counted = Absolute(1, 4, "numbers of tasks are whole")
normal_form = Identity(
    seen.value, seen.normal, under=(), margin=exact, wrong={"one conjunction alone": seen.conjunction},
)
de_morgan = Identity(
    seen.negation, seen.dual, under=H.zadeh, margin=exact, wrong={"operations not exchanged": seen.undone},
)
kept, left = Rational(3, 4) * 2**L, Rational(1, 4) * 2**L
inside = Identity(
    lists.inside, binomial(kept, K), under=H.quarter, margin=counted,
    wrong={"all conjunctions": binomial(Integer(2) ** L, K), "ordered conjunctions": kept**K},
)
outside = Identity(
    lists.outside, binomial(left, K), under=H.quarter, margin=counted,
    wrong={"one held-out conjunction is enough": binomial(Integer(2) ** L, K) - binomial(kept, K)},
)


class FuzzyTask(eqx.Module):
    """Conjunctions by the signs of their literals, and AND: the minimum, or the product."""

    signs: jax.Array
    product: jax.Array

    def literals(self, x):
        """l_ij for inputs with coordinates in the last place."""
        return jnp.where(self.signs, x[..., None, :], 1 - x[..., None, :])

    def __call__(self, x):
        literals = self.literals(x)
        return jnp.where(self.product, literals.prod(-1), literals.min(-1)).max(-1)


class TaskAtInputs(eqx.Module):
    """A task, and inputs between 0 and 1."""

    task: FuzzyTask
    inputs: jax.Array


class ListedTasks(eqx.Module):
    """Numbers of the tasks that were listed."""

    inside: jax.Array
    outside: jax.Array


def conjunctions(count):
    """All sign patterns of so many variables, one in each row."""
    return np.array(list(np.ndindex(*(2,) * count)), dtype=bool)


def listed(patterns, K):
    """Number of the sets of ``K`` patterns, one by one."""
    return jnp.asarray(float(sum(1 for _ in combinations(patterns, K))))


def build(key, L, three, product):
    """Tasks of two conjunctions, or of ``three``."""
    patterns = jnp.asarray(conjunctions(L))
    chosen = jax.random.choice(named(key, "task"), len(patterns), (3 if three else 2,), replace=False)
    return TaskAtInputs(FuzzyTask(patterns[chosen], product), jax.random.uniform(named(key, "inputs"), (8, L)))


def observe(model):
    task, binary = model.task, conjunctions(model.inputs.shape[1])
    same = (binary[:, None, :] == task.signs).all(-1)
    literals = task.literals(model.inputs)
    return dict(
        value=task(jnp.asarray(binary, float)), normal=1.0 * same.any(-1), conjunction=1.0 * same[:, 0],
        negation=1 - task(model.inputs), dual=(1 - literals).max(-1).min(-1), undone=(1 - literals).min(-1).max(-1),
    )


def split(key, L, three, half):
    """A quarter, or a ``half``, of the conjunctions is held out."""
    del key
    patterns, K = conjunctions(L), 3 if three else 2
    first = len(patterns) // 2 if half else 3 * len(patterns) // 4
    return ListedTasks(listed(range(first), K), listed(range(first, len(patterns)), K))


def count(model):
    return dict(inside=model.inside, outside=model.outside)


@lemma
def four_variables():
    """L = 4, K = 2, as released: conjunctions, tasks inside, and tasks of held-out conjunctions."""
    for reason, claim, count in (("inside", inside, 66), ("held out", outside, 6)):
        yield Step(reason, Subs(claim.right, (L, K), (4, 2)), count)


@lemma
def negated():
    """Two literals: De Morgan's rule by max(x, y) = (x + y + |x - y|)/2 and min(x, y) = (x + y - |x - y|)/2."""
    x, y = symbols("x y", real=True)
    top, bottom = (x + y + Abs(x - y)) / 2, (x + y - Abs(x - y)) / 2
    yield Step("1 less the minimum", 1 - bottom, Subs(top, (x, y), (1 - x, 1 - y)))


pairs, sets = Subject(build, three=False, product=0), Subject(split, three=False, half=False, knows={K: 2})
theorem = Theorem(
    place="the fuzzy-logic tasks of the released code",
    label="read",
    hypotheses=H,
    claims=dict(normal_form=normal_form, de_morgan=de_morgan, inside=inside, outside=outside),
    proofs=(four_variables, negated),
    experiments=dict(
        tasks=Experiment(
            observe, seen, {L: (4,)}, draws=Efforts(500, 500, 600),
            subjects={
                "two conjunctions": pairs,
                "three conjunctions": pairs(three=True),
                "AND is the product": pairs(product=1).breaking(H.zadeh, fails=de_morgan),
            },
        ),
        lists=Experiment(
            count, lists, {L: Efforts((4,), (3, 4), (3, 4))}, draws=Efforts(1, 1, 1),
            subjects={
                "two conjunctions": sets,
                "three conjunctions": sets(three=True, knows={K: 3}),
                "half the conjunctions held out": sets(half=True).breaking(H.quarter, fails=(inside, outside)),
            },
        ),
    ),
    issues=("Nothing is trained on these tasks here; the paper's comparison of networks is not checked.",),
)
