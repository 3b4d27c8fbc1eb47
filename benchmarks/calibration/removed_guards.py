"""Guards taken out of the engine: without each of them a planted falsehood is greener, or is no longer refused.

One guard at a time: where two hold one falsehood, the row is one that the removed guard holds alone, or the other one
is named and taken out ``beside`` it. ``now`` is the word that the row then gets, the same word as before where the guard
only tells what was not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from benchmarks.calibration.mutants import Fault

__all__ = ["REMOVED", "RemovedGuard"]


@dataclass(frozen=True)
class RemovedGuard(Fault):
    """One guard removed, and the row of `tests/power/planted/table.csv` that shows it."""

    row: str  # the file of the row, and its claim after a dot
    now: str  # the word without the guard
    seed: int = 0
    beside: Fault | None = None  # what would hold the row before the guard is asked

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The engine without this guard."""
        with self.beside.planted() if self.beside else nullcontext(), super().planted():
            yield


_D, _X, _V, _L = "theorax.decide.", "theorax.exact.", "theorax.verifiers.", "theorax.language."
_CASTS = "theorax.numerics.arithmetics.casts:narrowed_by"

REMOVED = (
    RemovedGuard("one program on both sides", _X + "same_program:same_program",
                 (("return [form.digest for form in left] == [form.digest for form in right]", "return False"),),
                 "s01_one_program/own_programs.py:differentiated", "SUPPORTED"),
    RemovedGuard("both sides zero by form", _X + "identity_decision:_could_not_fail",
                 (("nothing = nothing and all(form.zero for form in (*left, *right))", "nothing = False"),),
                 "s01_one_program/own_programs.py:against_zero", "SUPPORTED"),
    RemovedGuard("few instances", _V + "guards.exact_instances:_is_weak",
                 (("case.decision.p_support > case.levels.support", "False"),),
                 "s02_few_instances/rare_parts.py.larger_share", "SUPPORTED",
                 beside=Fault("no further instances", _V + "kinds.lowering:instances_plan",
                              (("return plan if plan.decides else plan.cheapest()", "return plan"),))),
    RemovedGuard("a small share left open", _L + "claims.claim:needs_few", (("content <= MOST", "content < 1"),),
                 "s02_few_instances/half_left_open.py.clipped", "SUPPORTED"),
    RemovedGuard("the panel", _X + "identity_decision:decide_identity",
                 (("found = _on_panel(problem, found)", "pass"), (" and _half_narrow(problem, found)", "")),
                 "s03_near_the_data/own_inputs.py:clipped", "SUPPORTED"),
    RemovedGuard("one-sided domains", _X + "identity_decision:decide_identity",
                 (("found.balls.lone or found.panel.lone", "''"),),
                 "s03_near_the_data/own_inputs.py:logarithm_of_a_square", "SUPPORTED"),
    RemovedGuard("constant letters", _V + "guards.spread:_is_constant",
                 (("return all(are_equal", "return False and all(are_equal"),),
                 "s04_tautologies/returned_predictions.py.often", "SUPPORTED"),
    RemovedGuard("constant rows", _D + "inequalities:look_at_rows", (("constant = all(", "constant = False and all("),),
                 "s04_tautologies/own_constants.py:bound", "SUPPORTED"),
    RemovedGuard("narrow spreads", _D + "draw_guards:Spreads.is_narrow", (("max(self.ratios) < NARROW", "False"),),
                 "s04_tautologies/own_constants.py:narrow_mean", "SUPPORTED"),
    RemovedGuard("skewed means", _D + "skewness:skewed_of",
                 (("if not total > 0 or not math.isfinite(total):", "if True:"),),
                 "s05_light_tails/own_numbers.py:pareto", "SUPPORTED"),
    RemovedGuard("skewed limits", _D + "skewness:skewed_of",
                 (("if not total > 0 or not math.isfinite(total):", "if True:"),),
                 "s05_light_tails/own_numbers.py:limit_of_heavy_means", "SUPPORTED"),
    RemovedGuard("keys used twice", _V + "cases.measure:_refuse_keys", (("if use.twice is not None:", "if False:"),),
                 "s06_randomness/one_key_for_two.py", "SUPPORTED"),
    RemovedGuard("keys of their own", _V + "cases.measure:_refuse_keys", (("if use.foreign and", "if False and"),),
                 "s06_randomness/event_of_a_key_of_its_own.py", "SUPPORTED"),
    RemovedGuard("repeated draws of a model", _V + "guards.randomness:_distinct",
                 (("return False if False in found else None", "return None"),),
                 "s06_randomness/three_networks.py.positive", "SUPPORTED"),
    RemovedGuard("repeated numbers", _D + "draw_guards:_half_differ",
                 (("2 * int((~dropped).sum()) >= left", "True"),),
                 "s06_randomness/own_repetitions.py:three_seeds", "SUPPORTED"),
    RemovedGuard("rounding within the margin", _V + "guards.rounding_replayed:_withheld",
                 (("and not claim.judge.stands(stated, case, observed, seen)", "and False"),),
                 "s07_rounding/cancelled_quotients.py.below", "SUPPORTED"),
    RemovedGuard("rounded events", _V + "guards.rounding_replayed:_withheld",
                 (("if seen.changed:", "if False:"), ("and not claim.judge.stands(stated, case, observed, seen)", "and False")),
                 "s07_rounding/vanished_densities.py.swallowed", "SUPPORTED"),
    RemovedGuard("domains of functions", _V + "guards.rounding_replayed:_left", (("if outside:", "if False:"),),
                 "s07_rounding/dropped_entries.py.halved", "SUPPORTED"),
    RemovedGuard("whole numbers that wrap", _V + "guards.rounding_replayed:_left", (("if wrapped:", "if False:"),),
                 "s07_rounding/wrapped_counts.py.counted", "SUPPORTED"),
    RemovedGuard("stopped gradients", _V + "guards.derivatives:_told",
                 (("if told == _SAME:", "if told in (_SAME, _OTHER):"),),
                 "s08_derivatives/stopped_factors.py.one", "SUPPORTED"),
    RemovedGuard("undefined errors", _V + "cases.measure:_bounds", (("if wrong.any():", "if False:"),),
                 "s09_error_columns/nan_errors_of_some.py.apart", "SUPPORTED", seed=1),
    RemovedGuard("draws against the variances given", _V + "guards.laws_given_variances:_p",
                 (("    values = [", "    return 1.0\n    values = ["),),
                 "s10_conditional_variances/given_with_noise.py.law", "SUPPORTED"),
    RemovedGuard("letters against their own averages", _V + "guards.measured_parameters:_survives",
                 (("    observed = claim", "    return False\n    observed = claim"),),
                 "s11_stand_ins/averages_by_themselves.py.quotient", "SUPPORTED"),
    RemovedGuard("values against assumptions", _L + "letters:disobeyed",
                 (("if found is not wanted and", "if False and"),),
                 "s12_assumptions/root_of_a_square.py.below", "CERTIFIED"),
    RemovedGuard("one name, one letter", _L + "letters:same_assumptions",
                 (("if letter is None or", "if True or"),),
                 "s12_assumptions/proof_of_another_symbol.py.under", "CERTIFIED"),
    RemovedGuard("margins of no meaning", _D + "wide_margins:passes_anything",
                 (("claimed != 0 and abs(claimed) < margin", "False"),),
                 "s13_wide_margins/wide_numbers.py:second_moment", "SUPPORTED"),
    RemovedGuard("slack beyond the range", _X + "box_problems:least_at",
                 (("if problem.slack > 0 and", "if False and"),),
                 "s13_wide_margins/wide_numbers.py:least_of_a_wave", "CERTIFIED"),
    RemovedGuard("sizes of one arithmetic", _D + "size_arithmetic:sizes_not_looked_at",
                 (('return "sizes that are no power of two"', 'return ""'),),
                 "s14_shared_sizes/special_sizes.py:powers_of_two", "SUPPORTED"),
    RemovedGuard("forms outside the default class", _D + "rivals:explanation",
                 (("return _explained(claimed, averages, tuple(_menu(claimed)))", "return None"),),
                 "q11_classes/own_classes.py:exponential_of_a_power", "SUPPORTED"),
    RemovedGuard("bounds made of values", _V + "kinds.optimum_lowering:_uses_value",
                 (("return bool(names) and all(", "return False and all("),),
                 "s15_believed_bounds/bounds_made_of_values.py.measured", "SUPPORTED"),
    RemovedGuard("bounds that no lemma proves", _V + "kinds.optimum_lowering:OptimumJudge.resting",
                 (("if claim.bound_by in closed:", "if True:"),),
                 "s15_believed_bounds/bounds_made_of_values.py.typed", "SUPPORTED"),
    RemovedGuard("feasible points", _L + "claims.optimum:Optimum.__post_init__",
                 (("super()", "super(Optimum, self)"), ("if self.bound is not None and (", "if False and (")),
                 "s15_believed_bounds/no_feasible_set.py.least", "SUPPORTED"),
    RemovedGuard("searches that start at what they find", _V + "kinds.impossibility_lowering:_misses",
                 (("evaluate_draws(claim.started, cell, observed, at) > tol",
                   "evaluate_draws(claim.started, cell, observed, at) > -1"),),
                 "s15_believed_bounds/searches_without_a_step.py.still", "SUPPORTED"),
    RemovedGuard("one count of attempts", "theorax.runs.attempt_log:_number", (("return 1 + int(largest)", "return 1"),),
                 "s16_new_designs/tried_again.py:fresh_seeds", "SUPPORTED"),
    RemovedGuard("instances of what is measured", _V + "proof_check:_refuse_beside_the_point",
                 (("if not instances:", "if False:"),),
                 "s17_settling_proofs/typed_where_draws_are_few.py.claim", "PROVED",
                 beside=Fault("results that are handed on", _V + "proof_check:_refuse_unused_results",
                              (("if experiment is not None and not hands_on", "if False and not hands_on"),))),
    RemovedGuard("derivations that arrive", _V + "proof_check:_reaches",
                 (("return any(entry == side for", "return True or any(entry == side for"),),
                 "s18_computed_steps/another_moment.py.claim", "INCONCLUSIVE"),
    RemovedGuard("poles of binomials", _X + "zero:_at_poles",
                 (("if not symbols or not expression.has(*_WITH_POLES):", "if True:"),),
                 "s19_zero_test/poles_of_binomials.py.halves", "CERTIFIED"),
    RemovedGuard("casts that narrow", _CASTS, (("return formats[0] if formats and all(formats) else None", "return None"),),
                 "s20_narrowing_casts/own_casts.py:error_of_a_cast", "CERTIFIED"),
    RemovedGuard("casts in a duality gap", _CASTS,
                 (("return formats[0] if formats and all(formats) else None", "return None"),),
                 "s20_narrowing_casts/own_casts.py:gap", "CERTIFIED"),
    RemovedGuard("the search for a witness", _V + "attacks.witnesses:is_searched",
                 (("return due and bool(claim.observed)", "return False and bool(claim.observed)"),),
                 "q05_search/lipschitz_wrong_large.py.bound", "SUPPORTED"),
)  # fmt: skip
