"""Shapes of proof instances at which a hypothesis of the claim cannot fail: a proof there says nothing of it.

Every matrix with one entry is symmetric. A proof at that shape that "A is symmetric" implies the claim holds of claims that
need no symmetry. So the engine builds the subjects that break a hypothesis at the shapes of the instances: where the claim
holds on them all the same, the instance gives no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import numpy as np
from sympy import Integer

from theorax.language import Experiment, Instance, Size, Theorem
from theorax.language.proofs import sides_of
from theorax.numerics import platform
from theorax.verifiers.cases.measure import instance as built
from theorax.verifiers.cases.sweep_lines import SweepLine, control_lines, evidence_lines, sweep_lines
from theorax.verifiers.settings import Settings

__all__ = ["unbreakable_hypothesis"]

_MOST_SHAPES = 64
_DRAWS = 3
_FAR = 1000.0  # times the difference on a subject that satisfies all hypotheses, which is rounding
_ROUNDING = 2.0**-40  # of the larger side, where that difference happens to be zero


def unbreakable_hypothesis(name: str, steps: Sequence[Any], theorem: Theorem) -> str:
    """A sentence that no instance has a shape at which some hypothesis of the claim can fail; empty where all can.

    What cannot be built, or is no model of the experiment, is not looked at.
    """
    claim = theorem.claims[name]
    experiment = theorem.experiment_of(claim)
    instances = [step for step in steps if isinstance(step, Instance) and step.claim is claim]
    if experiment is None or not instances:
        return ""
    table = {experiment: sweep_lines(experiment, theorem.experiments[experiment], Settings(effort="quick"))}
    for hypothesis in theorem.needed(claim):
        # A subject that breaks another hypothesis too may fail the claim by that one.
        lines = [
            line
            for line in control_lines(theorem, name, table)
            if {part.name for part in line.subject.breaks} == {hypothesis}
        ]
        seen = [found for step in instances for line in lines if (found := _looked(step, line, theorem)) is not None]
        if seen and not any(seen):
            sentence = theorem.hypotheses[hypothesis].sentence
            return (
                f"No instance in the proof of {name} has a shape at which a hypothesis can fail ({hypothesis}: {sentence}). "
                "The proof says nothing of it there. Give an instance of a larger shape."
            )
    return ""


def _looked(step: Instance, line: SweepLine, theorem: Theorem) -> bool | None:
    """As ``_breaks``; None too where the program stops, which its measurement reports."""
    try:
        with platform.precision(theorem.experiments[line.experiment].dtype):
            return _breaks(step, line, theorem)
    except Exception:
        return None


def _breaks(step: Instance, line: SweepLine, theorem: Theorem) -> bool | None:
    """Does the claim fail on this subject at the shape of the instance? None where that cannot be built."""
    experiment = theorem.experiments[line.experiment]
    for sized, size in _of_shape(step, line, theorem):
        own = next(
            (
                found
                for honest in evidence_lines(theorem, step.claim, _whole(line, theorem))
                for found in _of_shape(step, honest, theorem)
            ),
            None,
        )
        if own is None:
            return None
        noise = max(_off(step, *own, experiment, draw)[0] for draw in range(_DRAWS))
        for draw in range(_DRAWS):
            off, scale = _off(step, sized, size, experiment, draw)
            if off > _FAR * noise + _ROUNDING * scale:
                return True
        return False
    return None


def _whole(line: SweepLine, theorem: Theorem) -> dict[str, tuple[SweepLine, ...]]:
    experiment = theorem.experiments[line.experiment]
    return {line.experiment: sweep_lines(line.experiment, experiment, Settings(effort="quick"))}


def _off(step: Instance, line: SweepLine, size: int, experiment: Experiment, draw: int) -> tuple[float, float]:
    """The largest difference of the two sides on one model, and the larger side."""
    model, read = built(experiment, line.experiment, line, size, 0, draw)
    values = {letter: np.asarray(value) for letter, value in experiment.observe(model, **read).items()}
    letters = {key: value for key, value in line.letters_at(size).items() if key in step.claim.letters}
    left, right = (_floats(side) for side in sides_of(step.claim, values, letters))
    return float(np.max(np.abs(left - right))), max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))


def _floats(side: np.ndarray) -> np.ndarray:
    return np.array([float(entry) for entry in side.ravel()])


def _of_shape(step: Instance, line: SweepLine, theorem: Theorem) -> Iterator[tuple[SweepLine, int]]:
    """The line with sizes at which its model has the shape of the instance; the first of them."""
    wanted, experiment = _shapes(step.given), theorem.experiments[line.experiment]
    sizes = [letter for letter in line.case if isinstance(letter, Size)]
    # A size is mostly the length of some axis.
    lengths = sorted({length for shape in wanted for length in shape})
    for size, *others in list(product(lengths, repeat=1 + len(sizes)))[:_MOST_SHAPES]:
        case: Mapping[Any, Any] = {**line.case, **dict(zip(sizes, map(Integer, others), strict=True))}
        sized = replace(line, case=case, sizes=(size,))
        try:
            found = jax.eval_shape(
                lambda sized=sized, size=size: built(experiment, line.experiment, sized, size, 0, 0)[0]
            )
        except Exception:  # a size that the model does not have
            continue
        if _shapes((found,)) == wanted:
            yield sized, size
            return


def _shapes(given: Any) -> list[tuple[int, ...]]:
    """The shapes of the arrays, in order; numbers and options aside."""
    leaves = jax.tree_util.tree_leaves(given)
    return [tuple(leaf.shape) for leaf in leaves if hasattr(leaf, "shape") and len(leaf.shape)]
