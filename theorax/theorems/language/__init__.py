"""The language of theorems: letters, laws, claims, subjects, experiments, proofs, and the theorem that holds them.

Names are imported on first use: the class of corrections is one of them, and decisions on own numbers need that one
without SymPy, which all others need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theorax.theorems.language.algebraic import AlgebraicLaw
    from theorax.theorems.language.approach import Corrections, Expansion, Prefactor
    from theorax.theorems.language.claims import (
        KINDS,
        Claim,
        Expectation,
        Identity,
        Impossibility,
        Inequality,
        Law,
        Limit,
        Optimum,
        Probability,
        Rate,
    )
    from theorax.theorems.language.experiments import Efforts, Experiment, Subject
    from theorax.theorems.language.laws import (
        Characteristic,
        Image,
        LawOfNumbers,
        gaussian,
        quarter_circle,
        radius_of_disk,
    )
    from theorax.theorems.language.letters import Index, Letter, Measured, Parameter, Size
    from theorax.theorems.language.margins import Absolute, Margin, Relative
    from theorax.theorems.language.moments import Bounded, BoundedVariance, TwoValues
    from theorax.theorems.language.proofs import Cited, Proof, Step, instance
    from theorax.theorems.language.theorem import Hypothesis, Theorem
    from theorax.theorems.language.vectors import GaussianVector

_HOMES = {
    name: home
    for home, names in {
        "algebraic": ("AlgebraicLaw",),
        "approach": ("Corrections", "Expansion", "Prefactor"),
        "claims": (
            "KINDS",
            "Claim",
            "Expectation",
            "Identity",
            "Impossibility",
            "Inequality",
            "Law",
            "Limit",
            "Optimum",
            "Probability",
            "Rate",
        ),
        "experiments": ("Efforts", "Experiment", "Subject"),
        "laws": ("Characteristic", "Image", "LawOfNumbers", "gaussian", "quarter_circle", "radius_of_disk"),
        "letters": ("Index", "Letter", "Measured", "Parameter", "Size"),
        "margins": ("Absolute", "Margin", "Relative"),
        "moments": ("Bounded", "BoundedVariance", "TwoValues"),
        "proofs": ("Cited", "Proof", "Step", "instance"),
        "theorem": ("Hypothesis", "Theorem"),
        "vectors": ("GaussianVector",),
    }.items()
    for name in names
}

__all__ = [
    "KINDS",
    "Absolute",
    "AlgebraicLaw",
    "Bounded",
    "BoundedVariance",
    "Characteristic",
    "Cited",
    "Claim",
    "Corrections",
    "Efforts",
    "Expansion",
    "Expectation",
    "Experiment",
    "GaussianVector",
    "Hypothesis",
    "Identity",
    "Image",
    "Impossibility",
    "Index",
    "Inequality",
    "Law",
    "LawOfNumbers",
    "Letter",
    "Limit",
    "Margin",
    "Measured",
    "Optimum",
    "Parameter",
    "Prefactor",
    "Probability",
    "Proof",
    "Rate",
    "Relative",
    "Size",
    "Step",
    "Subject",
    "Theorem",
    "TwoValues",
    "gaussian",
    "instance",
    "quarter_circle",
    "radius_of_disk",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
