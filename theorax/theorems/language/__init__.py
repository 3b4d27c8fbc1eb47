"""The language of theorems: letters, laws, claims, subjects, experiments, proofs, and the theorem that holds them."""

from theorax.corrections import Corrections, Expansion, Prefactor
from theorax.theorems.language.algebraic import AlgebraicLaw
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
