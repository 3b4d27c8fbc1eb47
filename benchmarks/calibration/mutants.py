"""Faults planted in the engine: under each of them a case of the calibration must break its promise.

A mutant rewrites a line of the engine's own source, wherever the engine holds the function. Its case is chosen so that
the gate fails by more than five standard deviations of chance; ``why`` says by how much. The text that is replaced must
be there: a mutant whose line has changed is an error, not a survivor.
"""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.calibration import find
from benchmarks.calibration.cases import failures, tally

__all__ = ["MUTANTS", "Fault", "Mutant", "gate"]


@dataclass(frozen=True)
class Fault:
    """One fault of the engine: a function of it, rewritten."""

    name: str
    where: str  # module:function or module:Class.method
    changes: tuple[tuple[str, str], ...]  # lines of its source, and what stands there instead

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The engine with this fault."""
        module_name, _, path = self.where.partition(":")
        module = import_module(module_name)
        owner_name, _, attribute = path.rpartition(".")
        owner: Any = getattr(module, owner_name) if owner_name else module
        original = inspect.getattr_static(owner, attribute)
        changed = _rewritten(original, module, attribute, self)
        places = [(owner, attribute)] if owner_name else _holders(original)
        try:
            for holder, name in places:
                setattr(holder, name, changed)
            _forget()
            yield
        finally:
            # A module that was first imported under the fault took the changed function: it is put right too.
            for holder, name in places if owner_name else _holders(changed):
                setattr(holder, name, original)
            _forget()


@dataclass(frozen=True)
class Mutant(Fault):
    """One fault, and the case whose gate it breaks."""

    family: str
    case: str  # the key of the case
    replicates: int
    why: str
    procedure: str = ""  # of the case; all promised ones if empty


def _rewritten(original: Any, module: Any, name: str, mutant: Fault) -> Any:
    function = original.fget if isinstance(original, property) else inspect.unwrap(original)
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in mutant.changes:
        if old not in source:
            raise LookupError(
                f"The mutant `{mutant.name}` replaces a text that {mutant.where} no longer holds: {old!r}. "
                "It would change nothing and count as caught. Write the present text."
            )
        source = source.replace(old, new)
    namespace: dict[str, Any] = {}
    code = compile(source, f"<{mutant.name}>", "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    exec(code, vars(module), namespace)
    return namespace[name]


def _modules() -> list[Any]:
    return [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in ("theorax", "benchmarks") and m]


def _holders(original: Any) -> list[tuple[Any, str]]:
    return [(module, name) for module in _modules() for name, value in list(vars(module).items()) if value is original]


def _forget() -> None:
    """Nothing made by the other engine may be used again."""
    for module in _modules():
        for value in list(vars(module).values()):
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def gate(mutant: Mutant) -> list[str]:
    """Broken promises of the engine as it is now on the mutant's case; empty where every promise holds."""
    case = find(mutant.family, mutant.case)
    chosen = [p for p in case.procedures if p.promised and (not mutant.procedure or p.name == mutant.procedure)]
    counted = tally(case, range(mutant.replicates), [procedure.name for procedure in chosen])
    return [text for procedure in chosen for text in failures(case, procedure, counted[procedure.name])]


_SLOW = "powered (32 to 8192, 64 draws), + 0.6 (n/n0)^-1/2, the claim holds, n^-1"
_OFF = "powered (32 to 8192, 64 draws), + 0.6 (n/n0)^-1/2, off by the margin, n^-0.9"
_TWO = "three sizes, 2 draws, the claim holds, n^-1"
_THREE = "three sizes, 3 draws, the claim holds, n^-1"
_WELCH = "three sizes, 3 independent draws each, one noisy, the claim holds, n^-1"
_FOUR = "four cases, exact means of 20 draws, the claim holds, all true"
_FOUR_OFF = "four cases, exact means of 20 draws, off by the margin, one off by the margin"
_GAUSSIAN = "Gaussian at one size, 400 draws, the claim holds, N(0, 1)"
_CONTROL = "expectation, normal, 400 draws, killed less surely than 0.8"
_TRUE = "20 claims, all true, the claim holds"
_DEFAULT = "bias-aware, default class"

_D = "theorax.decide."

MUTANTS = (
    Mutant("no bias term", _D + "bias_aware:Bias.total",
           (("return self.corrections + self.rest + self.log + self.loglog + self.given", "return 0.0"),),
           "rates", _SLOW, 400, "the correction moves the estimate by two standard errors: refuted in half of the runs"),
    Mutant("normal for Student's t", _D + "interval:Student._half", (("self.df, 1 - level", "1e9, 1 - level"),),
           "rates", _THREE, 400, "P(|t_2| > 2.24) = 0.15 against 0.025"),
    Mutant("normal for Student's t in p-values", _D + "interval:Student.p_above",
           (("stdtr(self.df,", "stdtr(1e9,"),), "rates", _TWO, 1000, "p below 0.02 is four times too frequent at 1 df"),
    Mutant("paired draws taken as independent", _D + "estimators:paired",
           (("return _student(scores(table, weights), bias, _rounding(table, weights))",
             "return independent(list(table.T), weights, bias)"),),
           "rates", "correlated sweep, 32 draws, the claim holds, n^-1", 1500, "0.09 against 0.025"),
    Mutant("undeclared seeds taken as independent", _D + "plans:Seeds.policy",
           (("known.get(self, Policy.PAIRED)", "Policy.INDEPENDENT"),),
           "rates", "correlated sweep, 32 draws, the claim holds, n^-1", 1500, "0.09 against 0.025"),
    Mutant("bias lost between estimate and decision", _D + "sweep_decisions:decide_sweep",
           (("decide(means.interval(weights),", "decide(replace(means.interval(weights), bias=0.0),"),),
           "rates", _SLOW, 400, "the correction moves the estimate by two standard errors", _DEFAULT),
    Mutant("margin chosen after the data", _D + "equivalence:decide",
           (("side = Side(side)\n", "side = Side(side)\n    margin = max(margin, 2 * abs(interval.estimate - claimed))\n"),),
           "rates", _OFF, 100, "every deviation is inside a margin of twice its size"),
    Mutant("weights chosen after the data", _D + "sweep_decisions:decide_sweep",
           (("    plan = weights.plan\n",
             "    logs = np.log(np.stack(means.columns, axis=1))\n"
             "    weights = solve_weights(replace(weights.plan, sd=tuple(logs.std(axis=0, ddof=1))))\n"
             "    plan = weights.plan\n"),),
           "rates", "seven sizes, 3 draws, the claim holds, n^-1", 400,
           "of seven sizes with 3 draws those look best whose spread is small by chance"),
    Mutant("class chosen after the data", _D + "sweep_decisions:decide_sweep",
           (("    decision = replace(decision, robust=",
             "    if decision.reason is not None:\n"
             "        sharp = replace(plan.corrections, size=0, free=(1,), rest=0.125, order=2, reason='it decides')\n"
             "        other = solve_weights(replace(plan, corrections=sharp))\n"
             "        decision = decide(means.interval(other), claimed, margin, side, plan.levels)\n"
             "    decision = replace(decision, robust="),),
           "rates", "+ 0.6 (n/n0)^-1/2, the claim holds, n^-1", 300, "0.23 against 0.025", _DEFAULT),
    Mutant("floor ignored", _D + "rate_estimators:MeansOfLogs.of",
           (("kept = _clear_of(floor, columns, average, _least(plan))", "kept, floor = len(columns), 0.0"),),
           "rates", "n^-3 above a floor of 1e-9, the claim holds, n^-3", 50, "refuted always"),
    Mutant("one degree of freedom too many", _D + "estimators:_moments",
           (("float(len(values) - 1)", "float(len(values))"),),
           "rates", _TWO, 800, "P(|t_1| > 6.2) = 0.10 against 0.025"),
    Mutant("one degree of freedom too many at each size", _D + "estimators:_welch",
           (("(parts / total) ** 2 / (counts - 1)", "(parts / total) ** 2 / counts"),),
           "rates", _WELCH, 6000, "P(|t_2| > 4.18) = 0.053 against 0.025"),
    Mutant("Welch dropped: degrees of freedom added up", _D + "estimators:_welch",
           (("1 / float(np.sum((parts / total) ** 2 / (counts - 1)))", "float(counts.sum() - len(counts))"),),
           "rates", _WELCH, 2500, "P(|t_2| > 3.50) = 0.073 against 0.025"),
    Mutant("variance over m in place of m - 1", _D + "estimators:_moments", (("ddof=1", "ddof=0"),),
           "rates", _THREE, 20_000, "P(|t_2| > 6.21 sqrt(2/3)) = 0.037 against 0.025"),
    Mutant("error of one draw over m in place of its root", _D + "estimators:_moments",
           (("/ math.sqrt(len(values))", "/ len(values)"),),
           "rates", _THREE, 400, "P(|t_2| > 6.21/sqrt(3)) = 0.07 against 0.025 at 3 draws"),
    Mutant("one-sided level for a two-sided claim", _D + "equivalence:decide",
           (("levels.refute / 2 if side is Side.EQUAL else levels.refute", "levels.refute"),),
           "rates", _THREE, 5000, "0.05 against 0.025"),
    Mutant("two-sided p not doubled", _D + "equivalence:decide", (("2 * min(p_over, p_under)", "min(p_over, p_under)"),),
           "rates", _THREE, 200, "p uniform on (0, 0.5)"),
    Mutant("bias narrows the null of p", _D + "equivalence:decide",
           (("firm.p_above(claimed + forgiven + slack), firm.p_below(claimed - forgiven - slack)",
             "firm.p_above(claimed + forgiven - slack), firm.p_below(claimed - forgiven + slack)"),),
           "rates", _SLOW, 300, "p near zero nearly always", _DEFAULT),
    Mutant("sides of a one-sided claim swapped", _D + "equivalence:decide",
           (("(under, p_under) if side is Side.AT_LEAST", "(under, p_under) if side is Side.AT_MOST"),),
           "rates", "O(n^-1), n q(n) rising to its limit, the claim holds, n^-1.25", 50, "refuted always"),
    Mutant("margin ignored", _D + "equivalence:_inside",
           (("low - (claimed - margin), (claimed + margin) - high",
             "low - (claimed - 10 * margin), (claimed + 10 * margin) - high"),),
           "rates", _OFF, 50, "nothing within ten margins is excluded"),
    Mutant("at least for more than", _D + "equivalence:outcome",
           (("supporting > bias, refuting > bias, beyond > bias", "supporting >= bias, refuting >= bias, beyond >= bias"),),
           "deterministic", "values on the boundary, no bias and no noise, the claim holds, zero, claimed zero", 2,
           "an exact value without noise lies on the boundary: refuted always"),
    Mutant("level of a case not shared", _D + "status:Levels.shared", (("self.refute / max(1, cases)", "self.refute"),),
           "limits", _FOUR, 1000, "1 - 0.975^4 = 0.096 against 0.025"),
    Mutant("smallest p of four not multiplied", _D + "equivalence:combine",
           (("number * min(d.p_refute for d in decisions)", "min(d.p_refute for d in decisions)"),),
           "limits", _FOUR, 200, "the smallest of four p-values lies below its median 0.16 in half of the runs"),
    Mutant("smallest p of support for the largest", _D + "equivalence:combine",
           (("p_support=max(", "p_support=min("),),
           "limits", _FOUR_OFF, 200, "the cases that hold have p near zero"),
    Mutant("all cases must be refuted", _D + "equivalence:combine", (("    if refuted:\n", "    if len(refuted) > 1:\n"),),
           "limits", _FOUR_OFF, 50, "one false case is not refuted any more"),
    Mutant("mean of logs for the log of a mean", _D + "estimators:pseudo_logs",
           (("return count * math.log(column.mean()) - (count - 1) * np.log(without)", "return np.log(column)"),),
           "rates", "log of a mean, noise growing from 0.05 to 0.3, 160 draws, the claim holds, n^-1", 400,
           "E log q lies half a variance below log E q, more so at large sizes", "jackknife, paired"),
    Mutant("standard error of the mean for that of its logarithm", _D + "estimators:pseudo_logs",
           (("return count * math.log(column.mean()) - (count - 1) * np.log(without)",
             "return math.log(column.mean()) + column - column.mean()"),),
           "rates", "log of a mean, noise of sd 0.2, 40 draws, the claim holds, n^-1", 200,
           "the error is divided by the mean's scale", "jackknife, paired"),
    Mutant("quantile of the noise of a law at the wrong level", _D + "gaussian_norm:_Crossing.is_above",
           (("> self._level", "> 20 * self._level"),), "laws", _GAUSSIAN, 60, "the median: 0.5 against 0.025"),
    Mutant("covariance of one draw of a law for that of the mean, squared", _D + "law_distance:_covariance_of_mean",
           (("/ len(table)", "/ len(table) ** 2"),), "laws", _GAUSSIAN, 50, "refuted always"),
    Mutant("the whole level at every look", _D + "stopping:Look.of",
           (("levels.part(self.share)", "levels"),),
           "looks", "three sizes, no corrections, the claim holds, n^-1", 2000, "three looks at 0.025: 0.05 together",
           "after 1/4, 1/2 and all draws"),
    Mutant("Holm without its factors", _D + "error_budget:holm", (("(len(p_values) - rank) * p", "p"),),
           "suites", _TRUE, 200, "1 - 0.95^20 = 0.64 against 0.05", "Holm"),
    Mutant("slopes fitted on the draws that they are applied to", _D + "control_variates:cross_fitted",
           (("_slopes(values[fitted], centred[fitted])", "_slopes(values[applied], centred[applied])"),),
           "variates", "sixteen curved variates, 544 draws, the claim holds, at least", 400,
           "the mean moves by 2 sqrt(p/m) = 0.49 standard errors: p below 0.3 in 0.49 of the runs"),
    Mutant("known means not tested", _D + "control_variates:found_wrong", (("if test.p <= test.level", "if False"),),
           "variates", "a wrong known mean, 128 draws, the claim holds", 50,
           "the mean moves by 35 of its own standard errors: refuted always"),
    Mutant("another mean taken away than the one tested", _D + "control_variates:Variates.averaged",
           (("self.means(at)\n", "self.means(at) + 0.1\n"),),
           "variates", "a linear variate, 128 draws, the claim holds", 50,
           "the mean moves by 5.7 of its own standard errors: refuted always"),
    Mutant("the error of the one run that noticed a control forgotten", _D + "kill_bounds:Standardised.bound",
           (("u = float(ndtri(1 - level))", "u = 0.0"),), "controls", _CONTROL, 100,
           "the statistic lies above its median in half of the runs"),
    Mutant("a share of violations for its lower limit", _D + "kill_bounds:RefutingCount.bound",
           (("_least(self.count, self.draws, level)", "self.count / self.draws"),), "controls",
           "bound in every draw, 400 draws, killed less surely than 0.8", 100,
           "two violations where 1.6 are expected: in half of the runs"),
    Mutant("one repetition for all", _D + "kill_bounds:_on_portions",
           (("if all(", "if any("),), "controls",
           "any kind, portions refute as often, 400 draws, killed less surely than 0.8", 100, "0.79 against 0.05"),
)  # fmt: skip
