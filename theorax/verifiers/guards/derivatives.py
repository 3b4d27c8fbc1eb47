"""Derivatives: those that JAX makes of declared rules, held against those of the numbers that are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import jax
import numpy as np

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked, all_looked
from theorax.decide.verdict import Assumption, Standing
from theorax.exact.same_program import forms_of
from theorax.names import many
from theorax.numerics.arithmetics.flat_program import recalled
from theorax.numerics.arithmetics.replayed_draws import BallProgram, Stopped, program_name
from theorax.numerics.arithmetics.true_derivatives import RULES_MET, derivatives_met, without_rules
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import SweepLine
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.replays import PRECISIONS, LineReplays, replays, supported_lines

__all__ = ["derivatives", "differentiates"]

_KIND = "derivative"


def derivatives(claim: DecidedClaim) -> Looked:
    """Compare, in balls, the letters as they are measured with those measured without custom rules.

    A letter that is another number without them holds a derivative that is not that of the program.
    """
    parts = []
    for line in supported_lines(claim):
        found = replays(claim, line)
        observed = found.observed
        compared = observed.about_line.once(("without rules", len(found.runs)), partial(_compared, found))
        because = claim.theorem.experiments[line.experiment].surrogate_because
        letters = {letter.name for letter in claim.planned.claim.observed}
        own = {name: told for name, told in compared.items() if name in letters}
        parts.append(_told(own, because, observed, len(found.runs)))
    found_together = all_looked(parts) if parts else NOTHING_LOOKED_AT
    return Looked(found_together.findings[:1], tuple(dict.fromkeys(found_together.ledger)))


def _told(letters: Mapping[str, tuple[str, str]], because: str, observed: Observed, draws: int) -> Looked:
    findings, ledger = [], []
    for name, (told, rules) in letters.items():
        listed = f"{name} holds derivatives under custom rules{rules}"
        if told == _SAME:
            same = f"{listed}; tested on {many(draws, 'draw')} against the derivatives of what is computed"
            ledger.append(Assumption(_KIND, same, Standing.TESTED))
        elif told != _OTHER:
            ledger.append(Assumption(_KIND, f"{listed}; not looked at: {told}", Standing.NOT_LOOKED_AT))
        elif because:
            surrogate = f"{listed}, which are surrogates and not derivatives of what is computed: {because}"
            ledger.append(Assumption(_KIND, surrogate, Standing.DECLARED))
        else:
            findings.append(
                Found(
                    Finding.NOT_CHECKED,
                    f"{name} of {observed.line.name} holds a derivative that is not the derivative of the numbers "
                    f"computed{rules}: without the custom rules it is another number. Correct the rule, or write "
                    "surrogate_because=... in the experiment.",
                )
            )
    return Looked(tuple(findings), tuple(ledger))


_SAME, _OTHER = "the same", "another"


@final
@dataclass(frozen=True)
class _Ruled:
    """The letters whose program is another one without custom rules, that program, and the names of the rules."""

    differing: tuple[str, ...] = ()
    plain: BallProgram | None = None
    rules: str = ""
    differentiates: bool = False  # a derivative is taken in it


def _compared(found: LineReplays) -> dict[str, tuple[str, str]]:
    """For every letter whose program is another one without custom rules: the same numbers, others, or why not known.

    Beside it the names of the rules.
    """
    observed, (shapes, read) = found.observed, found.example
    model = found.runs[0].model if found.runs else jax.tree_util.tree_map(_zeros, shapes)
    # What `read` holds is part of the program: lines that differ in it do not share it.
    place = ("without rules", program_name((model,), read))
    ruled = recalled(observed.programs, place, lambda: _ruled(observed, model, read))
    if ruled.plain is None:
        return {}
    return {name: (_number(found, ruled.plain, name), ruled.rules) for name in ruled.differing}


def _ruled(observed: Observed, model: Any, read: Mapping[str, Any]) -> _Ruled:
    def observe(model: Any) -> dict[str, Any]:
        return dict(observed.observe(model, **read))

    with without_rules() as met:
        with derivatives_met() as taken:
            bodies = forms_of(observe, (model,))
        if not RULES_MET and not met:  # no rule but those of JAX was met by any program of this process
            return _Ruled(differentiates=bool(taken))
        rules = ", ".join(met)
    declared = forms_of(observe, (model,))
    differing = tuple(name for name in declared if declared[name].digest != bodies[name].digest)
    if not differing:
        return _Ruled(differentiates=bool(taken))
    with without_rules():
        plain = BallProgram(observe, (model,))
    return _Ruled(differing, plain, f" ({rules})" if rules else "", bool(taken))


def differentiates(claim: DecidedClaim, line: SweepLine) -> bool:
    """True if the program of `observe` takes a derivative."""
    observed = claim.draws.on(line)
    model, read = observed.instance(line.sizes[0], 0)
    place = ("without rules", program_name((model,), read))
    return recalled(observed.programs, place, lambda: _ruled(observed, model, read)).differentiates


def _zeros(leaf: Any) -> Any:
    return np.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf


def _number(found: LineReplays, plain: BallProgram, name: str) -> str:
    if not found.runs:
        return found.unlooked or "no draw was run again"
    answers = set()
    for run in found.runs:
        if run.size != found.runs[0].size:
            continue
        for precision in PRECISIONS:
            one = run.results(precision)[name]
            other = plain.run((run.model,), precision, run.most).results[name]
            stopped = next((part for part in (one, other) if isinstance(part, Stopped)), None)
            if stopped:
                return stopped.why
            answers.add(_answer(one, other))
            if None not in answers:
                break
            answers.discard(None)
        else:
            return "balls too wide"
    return _OTHER if _OTHER in answers else _SAME


def _answer(one: np.ndarray, other: np.ndarray) -> str | None:
    """True if the entries agree; None where balls are too wide to say."""
    if one.dtype != object or other.dtype != object:
        return _SAME if np.array_equal(one, other) else _OTHER
    pairs = list(zip(one.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True))
    if any(x.is_finite() and y.is_finite() and not x.overlaps(y) for x, y in pairs):
        return _OTHER
    return _SAME if all(_narrow(x) and _narrow(y) for x, y in pairs) else None


def _narrow(x: Any) -> bool:
    """True for a ball that is known to half the digits of a float64."""
    return bool(x.is_finite()) and bool(x.rad() <= 2.0**-26 * max(1.0, float(abs(x).upper())))
