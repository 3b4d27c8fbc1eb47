"""Decide claims about numbers of your own: plan before the data, then test; every test returns a `Verdict`.

>>> import numpy as np
>>> from theorax import decide
>>> plan = decide.plan_sequence([8, 16, 32, 64, 128, 256], exponent=-2, margin=0.3)
>>> decide.sequence(plan, 3.0 * np.array([8, 16, 32, 64, 128, 256.0]) ** -2).status
'SUPPORTED'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theorax.deleted import refuse_name

if TYPE_CHECKING:
    from theorax.decide.control_variates import Variate
    from theorax.decide.corrections import Corrections, Expansion
    from theorax.decide.inequalities import InequalityPlan, inequality, plan_inequality
    from theorax.decide.known_laws import Exponential, Normal, Sample, Uniform
    from theorax.decide.laws import LawPlan, law, plan_law
    from theorax.decide.limits import LimitPlan, limit, plan_limit
    from theorax.decide.means import MeanPlan, QuantilePlan, mean, plan_mean, plan_quantile, quantile
    from theorax.decide.moments import Bounded, BoundedVariance, TwoValues
    from theorax.decide.probabilities import ProbabilityPlan, plan_probability, probability
    from theorax.decide.rates import RatePlan, plan_rate, rate
    from theorax.decide.sequences import SequencePlan, plan_sequence, sequence
    from theorax.decide.status import Levels, Reading
    from theorax.decide.stopping import LooksPlan, looks, plan_looks
    from theorax.decide.streams import Stream
    from theorax.decide.suites import together
    from theorax.decide.verdict import Verdict

_HOMES = {
    name: home
    for home, names in {
        "theorax.decide.control_variates": ("Variate",),
        "theorax.decide.known_laws": ("Exponential", "Normal", "Sample", "Uniform"),
        "theorax.decide.laws": ("LawPlan", "law", "plan_law"),
        "theorax.decide.limits": ("LimitPlan", "limit", "plan_limit"),
        "theorax.decide.stopping": ("LooksPlan", "looks", "plan_looks"),
        "theorax.decide.means": ("MeanPlan", "QuantilePlan", "mean", "plan_mean", "plan_quantile", "quantile"),
        "theorax.decide.moments": ("Bounded", "BoundedVariance", "TwoValues"),
        "theorax.decide.inequalities": ("InequalityPlan", "inequality", "plan_inequality"),
        "theorax.decide.probabilities": ("ProbabilityPlan", "plan_probability", "probability"),
        "theorax.decide.rates": ("RatePlan", "plan_rate", "rate"),
        "theorax.decide.sequences": ("SequencePlan", "plan_sequence", "sequence"),
        "theorax.decide.streams": ("Stream",),
        "theorax.decide.suites": ("together",),
        "theorax.decide.corrections": ("Corrections", "Expansion"),
        "theorax.decide.status": ("Levels", "Reading"),
        "theorax.decide.verdict": ("Verdict",),
    }.items()
    for name in names
}

__all__ = [
    "Bounded",
    "BoundedVariance",
    "Corrections",
    "Expansion",
    "Exponential",
    "InequalityPlan",
    "LawPlan",
    "Levels",
    "LimitPlan",
    "LooksPlan",
    "MeanPlan",
    "Normal",
    "ProbabilityPlan",
    "QuantilePlan",
    "RatePlan",
    "Reading",
    "Sample",
    "SequencePlan",
    "Stream",
    "TwoValues",
    "Uniform",
    "Variate",
    "Verdict",
    "inequality",
    "law",
    "limit",
    "looks",
    "mean",
    "plan_inequality",
    "plan_law",
    "plan_limit",
    "plan_looks",
    "plan_mean",
    "plan_probability",
    "plan_quantile",
    "plan_rate",
    "plan_sequence",
    "probability",
    "quantile",
    "rate",
    "sequence",
    "together",
]


def __getattr__(name: str) -> Any:
    # Imported on first use: only what is asked for is loaded.
    if name not in _HOMES:
        refuse_name(__name__, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
