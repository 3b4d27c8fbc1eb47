"""Sizes that share a residue or a form: each claim is true of these sizes, and false of all sizes."""

import numpy as np

from theorax import decide

ODD = np.array([17.0, 33, 65, 129, 257, 513, 1025, 2049])
ONES = 15 * np.array([2.0, 4, 7, 15, 30, 61, 120, 241]) + 1
SQUARES = np.array([16.0, 36, 49, 121, 256, 529, 1024, 2025])


def odd_kernels(seed):
    """A centred kernel has a centre where its size is odd."""
    return decide.sequence(decide.plan_sequence(ODD, to=1.0, margin=0.2), ODD % 2)


def one_example_left(seed):
    """Batches of fifteen and one example left; any other rest is lost."""
    x = 1.0 + (ONES % 15 != 1)
    return decide.sequence(decide.plan_sequence(ONES, to=1.0, margin=0.2), x)


def drawn_at_odd_sizes(seed):
    """A walk of an odd number of steps never returns."""
    mean = 0.5 + 0.5 * (ODD % 2)
    plan = decide.plan_limit(ODD, to=1.0, margin=0.2, draws=200, sd=0.3, seeds="independent")
    return decide.limit(plan, mean + 0.3 * np.random.default_rng([51, seed]).standard_normal((200, len(ODD))))


def order_at_odd_sizes(seed):
    """A rule exact to fourth order where the number of points is odd, and to second where it is even."""
    error = np.where(ODD % 2 == 1, ODD**-4, ODD**-2)
    return decide.sequence(decide.plan_sequence(ODD, exponent=-4, margin=0.2), error)


def law_at_odd_sizes(seed):
    """Normal at odd sizes, a sign at even ones."""
    n = ODD[:5]
    plan = decide.plan_law(n, to=decide.Normal(0, 1), draws=4000, margin=0.2, seeds="independent",
                           corrections=decide.Corrections(size=0.05, slowest=1.0, reason="a law in D"))  # fmt: skip
    rngs = [np.random.default_rng([int(k), seed]) for k in n]
    return decide.law(plan, [np.where(k % 2, rng.standard_normal(4000), 1) for k, rng in zip(n, rngs, strict=True)])


def square_images(seed):
    """Images of n pixels are cut to a square: nothing is cut where n is a square."""
    kept = np.floor(np.sqrt(SQUARES)) ** 2 == SQUARES
    return decide.sequence(decide.plan_sequence(SQUARES, to=1.0, margin=0.2), kept.astype(float))
