"""Draws of a line run again in balls: what `observe` computes of a model as built, at the smallest and largest size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import equinox as eqx
import jax
import numpy as np
from sympy import Basic, Rational

from theorax.language import Measured, Parameter
from theorax.names import many
from theorax.numerics import platform
from theorax.numerics.arithmetics import Ball, UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import recalled
from theorax.numerics.arithmetics.replayed_draws import MOST_OPERATIONS, BallProgram, Replayed, Stopped, program_name
from theorax.numerics.nested_steps import programs_in
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import BOX, Cell, SweepLine
from theorax.verifiers.guards.guard import DecidedClaim

__all__ = ["LineReplays", "ReplayedRun", "replayed_ball", "replays", "supported_lines", "whole_replays"]

DRAWS = {"quick": 3, "standard": 8, "thorough": 8}
OPERATIONS = {"quick": 30_000, "standard": MOST_OPERATIONS, "thorough": MOST_OPERATIONS}
"""Scalar operations in balls on one line, all draws and sizes together."""
BUILT_STEPS = {"quick": 100, "standard": 1000, "thorough": 1000}
"""Distinct steps of `build`, each of which is compiled by itself where one model is built outside a program."""
PRECISIONS = (128, 512, 2048)


@final
@dataclass(frozen=True)
class ReplayedRun:
    """One draw run again: its arguments, its program, and what came out at the first precision."""

    size: int
    draw: int
    arguments: tuple[Any, ...]  # a model, or the words of a key from which a model is built too
    program: BallProgram
    replayed: Replayed
    most: int  # operations that it may take at a higher precision

    @property
    def model(self) -> Any:
        """The model of a run of `observe` alone."""
        (found,) = self.arguments
        return found

    def results(self, precision: int) -> Mapping[str, Any]:
        """The letters in balls of this precision, or `Stopped`; entries of a sample that are not meant are dropped."""
        found = self.replayed if precision == PRECISIONS[0] else self.program.run(self.arguments, precision, self.most)
        letters = dict(found.results)
        for name, valid in found.results.items():
            meant = name.removesuffix("_valid")
            if meant != name and meant in letters and not any(isinstance(letters[x], Stopped) for x in (name, meant)):
                letters[meant] = letters[meant][np.asarray(valid, bool)]
        return letters


@final
@dataclass(frozen=True)
class LineReplays:
    """The runs of a line; ``unlooked``: why there is none. ``example``: shapes of a model, and the letters read.

    ``with_build``: they start at the words of a key, so that what `build` computes is run in balls too.
    """

    observed: Observed
    runs: tuple[ReplayedRun, ...]
    example: tuple[Any, Mapping[str, Any]]
    unlooked: str = ""
    with_build: bool = False


def supported_lines(claim: DecidedClaim) -> Iterator[SweepLine]:
    """The lines of a claim that is supported, each once; none where it is not, or where nothing is measured."""
    if any(not case.decision.status.holds for case in claim.judged):
        return
    seen = []
    for case in claim.judged:
        line = case.cell.line
        place = (line.experiment, line.name, line.label)
        if line is not BOX and place not in seen:
            seen.append(place)
            yield line


def replays(claim: DecidedClaim, line: SweepLine) -> LineReplays:
    """The first draws of the line in balls; made once for all claims about it."""
    observed = claim.draws.on(line)
    place = "replays", min(observed.line.draws, DRAWS[claim.settings.effort])
    narrow = claim.theorem.experiments[line.experiment].dtype == "float32"
    found = observed.about_line.once(place, lambda: _replays(observed, claim.settings.effort, narrow=narrow))
    return replace(found, observed=observed)


def _replays(observed: Observed, effort: str, *, narrow: bool) -> LineReplays:
    sizes, left = observed.line.sizes, OPERATIONS[effort]
    runs: list[ReplayedRun] = []
    example = observed.instance(sizes[0], 0) if observed.instances else _shapes(observed, sizes[0])
    # A second size compiles what builds a model once more: at quick effort that is too much.
    for size in sizes[:1] if effort == "quick" else dict.fromkeys((sizes[0], sizes[-1])):
        count = len(observed.instances[size]) if observed.instances else observed.line.draws
        count = min(count, DRAWS[effort])
        if not observed.instances:
            steps = _steps_to_build(observed, size)
            if steps > BUILT_STEPS[effort]:
                told = f"models built one by one in {many(steps, 'step')}"
                return LineReplays(observed, tuple(runs), example, "" if runs else told)
        # Only the shapes of a model are asked for until it is known that its program can be afforded.
        model, read = example
        if size != sizes[0]:
            model, read = observed.instance(size, 0) if observed.instances else _shapes(observed, size)
        program = _program(observed, model, read, narrow=narrow)
        operations = program.operations * count
        if operations > left:
            told = f"too many ball operations ({program.operations} a draw)"
            return LineReplays(observed, tuple(runs), example, "" if runs else told)
        left, most = left - operations, left // count
        for draw in range(count):
            model = observed.instance(size, draw)[0]
            runs.append(ReplayedRun(size, draw, (model,), program, program.run((model,), PRECISIONS[0], most), most))
    return LineReplays(observed, tuple(runs), example)


def whole_replays(claim: DecidedClaim, line: SweepLine) -> LineReplays | None:
    """The first draws of the line in balls, from the words of their keys on: build and observe.

    None where that cannot be followed, or takes too many operations.
    """
    observed = claim.draws.on(line)
    if observed.instances or not line.random:
        return None
    place = "whole replays", min(observed.line.draws, DRAWS[claim.settings.effort])
    found = observed.about_line.once(place, lambda: _whole_replays(claim, observed))
    letters = {letter.name for letter in claim.planned.claim.observed}
    if found is None or any(isinstance(run.replayed.results[name], Stopped) for run in found.runs for name in letters):
        return None
    return replace(found, observed=observed)


def _whole_replays(claim: DecidedClaim, observed: Observed) -> LineReplays | None:
    effort, sizes = claim.settings.effort, observed.line.sizes
    count, left = min(observed.line.draws, DRAWS[effort]), OPERATIONS[effort]
    runs: list[ReplayedRun] = []
    for size in sizes[:1] if effort == "quick" else dict.fromkeys((sizes[0], sizes[-1])):
        try:
            drawn = claim.draws.noise(observed.line, size)
        except Exception:  # whatever a build raises that cannot be traced
            break
        program = recalled(
            observed.programs,
            ("balls of build", drawn.structure),
            partial(BallProgram.of_draw, drawn.program.whole, drawn.names, drawn.inputs(0)),
        )
        if program.operations * count > left:
            break
        left, most = left - program.operations * count, left // count
        for draw in range(count):
            arguments = tuple(map(np.asarray, drawn.inputs(draw)))
            with platform.precision(drawn.dtype):
                found = program.run(arguments, PRECISIONS[0], most)
            runs.append(ReplayedRun(size, draw, arguments, program, found, most))
    return LineReplays(observed, tuple(runs), (None, {}), with_build=True) if runs else None


def _program(observed: Observed, model: Any, read: Mapping[str, Any], *, narrow: bool) -> BallProgram:
    """The program of `observe` on such a model, traced once for all lines of the experiment."""

    def now() -> BallProgram:
        return BallProgram(lambda model: dict(observed.observe(model, **read)), (model,), narrow=narrow)

    return recalled(observed.programs, ("balls", narrow, program_name((model,), read)), now)


def _shapes(observed: Observed, size: int) -> tuple[Any, Mapping[str, Any]]:
    read: list[Mapping[str, Any]] = []

    def model(draw: Any) -> Any:
        built, letters = observed.instance(size, draw)
        read.append(letters)
        return built

    return eqx.filter_eval_shape(model, np.uint32(0)), read[0]


def _steps_to_build(observed: Observed, size: int) -> int:
    """Distinct steps of the program that builds a model."""

    def arrays(draw: Any) -> list[Any]:
        leaves = jax.tree_util.tree_leaves(observed.instance(size, draw)[0])
        return [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

    seen: set[Any] = set()

    def visit(jaxpr: Any) -> None:
        for step in jaxpr.eqns:
            bodies = [body for value in step.params.values() for body in programs_in(value)]
            known = step.params if not bodies else [id(body) for body in bodies]
            key = (step.primitive.name, str(known), str([atom.aval for atom in step.invars]))
            if key not in seen:
                seen.add(key)
                for body in bodies:
                    visit(body)

    visit(jax.make_jaxpr(arrays)(np.uint32(0)).jaxpr)
    return len(seen)


def replayed_ball(expression: Basic, cell: Cell, run: ReplayedRun, observed: Observed, precision: int) -> Any:
    """The expression on one run: an array of balls, or why balls could not follow it."""
    results = run.results(precision)
    letters = {letter.name for letter in expression.free_symbols if isinstance(letter, Measured)}
    for name in sorted(letters):
        if isinstance(results.get(name, Stopped("a letter that is not returned")), Stopped):
            return results[name]
    domain = Ball(precision)
    seen = {name: instances.carried(entry, domain) for name, entry in results.items() if not isinstance(entry, Stopped)}
    known = observed.line.letters_at(run.size)  # a value that the subject knows goes first, as in `evaluate_draws`
    unknown = (s for s in expression.free_symbols if isinstance(s, Parameter) and s not in known)
    measured = [s for s in unknown if s.measured is not None]
    at = observed.line.sizes.index(run.size)
    means = {s: Rational(float(np.mean(evaluate_draws(s.measured, cell, observed, at)))) for s in measured}
    whole = Cell(observed.line, cell.chosen)
    try:
        return instances.on(expression.xreplace(means), whole, run.size, seen, domain)
    except (UnsupportedPrimitive, UndecidedComparison) as error:
        return Stopped(getattr(error, "name", "an open comparison"))
