"""Errors beside one's own numbers that make rows keep a bound which they violate."""

import numpy as np

from theorax import decide

ROWS = 400


def negative(seed):
    """Half of the rows violate the bound by up to one; an error of minus one lets them keep it."""
    left = np.random.default_rng(seed).uniform(-1, 1, ROWS)
    return decide.inequality(decide.plan_inequality(draws=ROWS), left, np.zeros(ROWS), -np.ones(ROWS))


def undefined(seed):
    left = np.random.default_rng(seed).uniform(-1, 1, ROWS)
    return decide.inequality(decide.plan_inequality(draws=ROWS), left, np.zeros(ROWS), np.full(ROWS, np.nan))


def of_a_sequence(seed):
    return decide.plan_sequence([8, 16, 32, 64], exponent=-2, margin=0.3, errors=-0.5)
