"""The digest of the program that a claim measures, so that a copy under other names continues its count of attempts.

The program is ``observe`` after ``build``, traced without compiling at one size that no sweep chooses. Its values are
named by the operations that make them (:mod:`theorax.exact.same_program`), so neither names of theorems, functions and
letters nor the order of independent lines enter. The claim enters as an expression in those values.

**Errors:** a program that draws by other names of arrays, or takes its letters in another order, has another digest: its
copy begins a count of its own. Two claims that differ in which of two parameters stands where may share a count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import jax
from sympy import Basic, Symbol, sympify
from sympy.core.operations import AssocOp, LatticeOp

from theorax.exact.same_program import forms_of
from theorax.language import Claim, Experiment, Letter, Theorem
from theorax.verifiers.cases.measure import traced_arguments
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.kinds.lowering import CellCase

SIZES = (4, 6, 12, 16, 60)
"""Sizes to trace at, the first that works: a sweep that is changed leaves the digest as it is.

None is above the smallest of the sweep: a build may cost what no machine has at sizes that its author did not choose.
"""


def program_digest(
    theorem: Theorem, claim: Claim, said: Sequence[str], cases: Sequence[CellCase], at: Sequence[tuple[str, str]] = ()
) -> str:
    """The digest of the program and of these fields of the claim; empty where no program can be traced.

    ``at``: letters and their values where the command asks for others than the theorem's; the values enter, not the names.
    """
    line = next((case.cell.line for case in cases if case.cell.line is not BOX), None)
    if line is None:
        return ""
    forms = _forms(theorem.experiments[line.experiment], line)
    names = {letter: forms[letter.name] for letter in claim.letters if letter.name in forms}
    if not names:
        return ""
    asked = [f"at={sorted(str(sympify(value, rational=True)) for _, value in at)}"] if at else []
    return _digest(type(claim).__name__, *(f"{part}={_told(getattr(claim, part), names)}" for part in said), *asked)


def _forms(experiment: Experiment, line: SweepLine) -> dict[str, str]:
    smallest = min(line.sizes)
    for size in (*(size for size in SIZES if size < smallest), smallest):
        found = _traced(experiment.observe, line.subject.build, _Ask(experiment, line, size))
        if found:
            return found
    return {}


class _Ask:
    """A line at one size; equal for the same program, so that it is traced once for all claims."""

    def __init__(self, experiment: Experiment, line: SweepLine, size: int) -> None:
        self.experiment, self.line, self.size = experiment, line, size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ask) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    @property
    def _place(self) -> tuple[object, ...]:
        return self.line.place, self.size


@lru_cache(maxsize=256)
def _traced(observe: Any, build: Any, ask: _Ask) -> dict[str, str]:
    """The digest of every measured letter by its name; none where the program cannot be traced at this size."""
    try:
        program, letters = traced_arguments(ask.experiment, ask.line, ask.size)
        words = jax.random.key_data(jax.random.key(0))
        found = forms_of(lambda words, *given: program(jax.random.wrap_key_data(words), *given), (words, *letters))
    except Exception:  # an author's own code, which is traced again and heard where it is drawn
        return {}
    return {name: _digest(*(form.digest for form in jax.tree.leaves(part))) for name, part in found.items()}


def _told(value: Any, names: Mapping[Letter, str]) -> str:
    """A value of a claim's field, letters by their programs or else by their kind."""
    if isinstance(value, Symbol):
        return names.get(value, type(value).__name__) if isinstance(value, Letter) else str(value)
    if isinstance(value, Basic):
        parts = [_told(part, names) for part in value.args]
        is_free = isinstance(value, AssocOp | LatticeOp) and value.is_commutative is not False
        return _digest(type(value).__name__, *(sorted(parts) if is_free else parts)) if parts else repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _digest(type(value).__name__, *(_told(getattr(value, part.name), names) for part in fields(value)))
    if isinstance(value, Mapping):
        return _digest("mapping", *sorted(_told(pair, names) for pair in value.items()))
    if isinstance(value, tuple | list):
        return _digest("sequence", *(_told(part, names) for part in value))
    return repr(value)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
