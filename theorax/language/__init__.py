"""The language of theorems: letters, laws, claims, subjects, experiments, proofs, and the theorem that holds them."""

from typing import TYPE_CHECKING, Any

from theorax.decide.corrections import Corrections, Expansion
from theorax.decide.moments import Bounded, BoundedVariance, TwoValues
from theorax.decide.status import Reading
from theorax.deleted import refuse_name
from theorax.language.algebraic_laws import AlgebraicLaw
from theorax.language.claims import (
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
from theorax.language.experiments import Efforts, Experiment, Subject
from theorax.language.hypothesis import Hypotheses, Hypothesis, hypotheses
from theorax.language.known_means import KnownMean
from theorax.language.letters import Index, Letter, Letters, Measured, Parameter, Size, arrays, numbers
from theorax.language.limit_laws import (
    Characteristic,
    Image,
    LawOfNumbers,
    gaussian,
    quarter_circle,
    radius_of_disk,
)
from theorax.language.margins import Absolute, Margin, Relative
from theorax.language.matrix_steps import MatrixStep, generic_matrices
from theorax.language.proofs import (
    Cited,
    Instance,
    Proof,
    Solved,
    Step,
    derives,
    generic_entries,
    lemma,
    settles,
)
from theorax.language.theorem import Theorem
from theorax.language.vectors import GaussianVector

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
    "Hypotheses",
    "Hypothesis",
    "Identity",
    "Image",
    "Impossibility",
    "Index",
    "Inequality",
    "Instance",
    "KnownMean",
    "Law",
    "LawOfNumbers",
    "Letter",
    "Letters",
    "Limit",
    "Margin",
    "MatrixStep",
    "Measured",
    "Optimum",
    "Parameter",
    "Probability",
    "Proof",
    "Rate",
    "Reading",
    "Relative",
    "Size",
    "Solved",
    "Step",
    "Subject",
    "Theorem",
    "TwoValues",
    "arrays",
    "derives",
    "gaussian",
    "generic_entries",
    "generic_matrices",
    "hypotheses",
    "lemma",
    "numbers",
    "quarter_circle",
    "radius_of_disk",
    "settles",
]

# A kind of claim in a file of its own stands beside the others without being listed: type checkers see those named above.
_MORE = {kind.__name__: kind for kind in KINDS if kind.__name__ not in __all__}
globals().update(_MORE)
__all__ += list(_MORE)

if not TYPE_CHECKING:  # a type checker would take any name for one of the language

    def __getattr__(name: str) -> Any:
        refuse_name(__name__, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
