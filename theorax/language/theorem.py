"""A theorem: a frozen value that ties statement, experiment and proof together and checks that they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

from sympy import Symbol
from sympy.core.relational import Relational

from theorax.errors import StatementError
from theorax.language.claims import Claim
from theorax.language.experiments import Experiment, Subject
from theorax.language.letters import Index, Letter, Measured, Parameter
from theorax.language.proofs import Cited, Proof, Step

NOTHING: Mapping[str, Any] = MappingProxyType({})
Label = Literal["read", "reconstructed", "derived"]


@final
@dataclass(frozen=True)
class Hypothesis:
    """A sentence that a claim needs.

    ``holds``: a relation of measured letters, tested in every draw. ``unbroken``: the reason why no subject of this
    theorem breaks it.
    """

    sentence: str
    holds: Relational | None = None
    unbroken: str | None = None


@final
@dataclass(frozen=True, kw_only=True)
class Theorem:
    """What is claimed, under which hypotheses, how it is measured and how far it is proved.

    ``place`` and ``label`` say where the statement comes from: *read* in the source, *reconstructed* from what could
    be read of it, or *derived* here. ``uses``: the theorems and instruments it rests on, by id. ``proof``: for claims,
    by their names, and for lemmas; a bare generator is a derivation. ``issues``: what the check cannot see.

    **Raises:** StatementError, naming the part, if the parts do not fit.
    """

    place: str
    label: Label
    claims: Mapping[str, Claim]
    hypotheses: Mapping[str, Hypothesis] = field(default_factory=lambda: NOTHING)
    experiments: Mapping[str, Experiment] = field(default_factory=lambda: NOTHING)
    proof: Mapping[str, Proof | Callable[[], Iterator[Step | Cited]]] = field(default_factory=lambda: NOTHING)
    uses: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.label not in ("read", "reconstructed", "derived"):
            raise StatementError(
                f"label={self.label!r} is no honesty label. A reader must know where the statement comes from. "
                "Write read, reconstructed or derived."
            )
        if not self.claims:
            raise StatementError("A theorem without claims says nothing. Put one into claims=dict(...).")
        object.__setattr__(self, "proof", MappingProxyType(dict(self.proofs)))
        for name, claim in self.claims.items():
            self._check_claim(name, claim)
        for name, experiment in self.experiments.items():
            for label, subject in experiment.subjects.items():
                self._check_subject(f"{name}/{label}", subject)
        self._check_hypotheses()

    @property
    def proofs(self) -> Mapping[str, Proof]:
        """The proofs, a bare generator being a derivation."""
        return {name: part if isinstance(part, Proof) else Proof(part) for name, part in self.proof.items()}

    def needed(self, claim: Claim) -> tuple[str, ...]:
        """The names of the hypotheses that the claim needs."""
        return tuple(self.hypotheses) if claim.under is None else claim.under

    def experiment_of(self, claim: Claim) -> str | None:
        """The name of the experiment that measures the claim's letters; None if nothing is measured."""
        if claim.on is not None:
            return claim.on
        wanted = {letter.name for letter in claim.observed}
        fitting = [
            name
            for name, experiment in self.experiments.items()
            if wanted and wanted <= {letter.name for letter in experiment.measures}
        ]
        return fitting[0] if len(fitting) == 1 else None

    def evidence(self, claim: Claim) -> dict[str, Subject]:
        """The subjects that satisfy every hypothesis of the claim."""
        needed = set(self.needed(claim))
        return {name: subject for name, subject in self._subjects(claim).items() if not needed & set(subject.breaks)}

    def controls(self, name: str) -> dict[str, Subject]:
        """The subjects on which the claim of this name must fail."""
        return {label: s for label, s in self._subjects(self.claims[name]).items() if name in s.fails}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows what is stated, with its letters and hypotheses."""
        from theorax.language.notebook import shown

        return shown(self)

    def _subjects(self, claim: Claim) -> Mapping[str, Subject]:
        experiment = self.experiment_of(claim)
        return self.experiments[experiment].subjects if experiment is not None else {}

    def _check_claim(self, name: str, claim: Claim) -> None:
        for hypothesis in claim.under or ():
            if hypothesis not in self.hypotheses:
                raise StatementError(
                    f"The claim {name} needs the hypothesis {hypothesis!r}, which the theorem does not have. "
                    f"Its hypotheses are {', '.join(self.hypotheses) or 'none'}. Correct under=(...)."
                )
        if claim.corrected is not None and claim.corrected not in self.claims:
            raise StatementError(
                f"The claim {name} is corrected by {claim.corrected!r}, which the theorem does not have. "
                "A printed statement that fails is shown beside what holds. Add that claim."
            )
        if stray := [s for s in claim.letters if not isinstance(s, Letter)]:
            raise StatementError(
                f"The claim {name} holds the symbol {stray[0]}, which is no letter of the theorem. A reader cannot "
                "know what it means and a draw cannot set it. Declare it as Size, Parameter, Index or Measured."
            )
        if not claim.observed:
            return
        chosen = self.experiment_of(claim)
        if chosen is None or chosen not in self.experiments:
            raise StatementError(
                f"The claim {name} speaks of {', '.join(sorted(map(str, claim.observed)))}; it is not clear which "
                f"experiment measures that. Experiments: {', '.join(self.experiments) or 'none'}. "
                'Name it with on="..." and list the letters in its measures.'
            )
        experiment = self.experiments[chosen]
        measured = set(experiment.measures)
        if missing := [letter for letter in claim.observed if letter not in measured]:
            raise StatementError(
                f"The claim {name} speaks of {missing[0]}, which the experiment {chosen} does not measure. "
                f"Add it to measures=(...) and return it from observe."
            )
        set_here: set[Symbol] = {experiment.swept, *experiment.derived, *experiment.along, *measured}
        for label, subject in self.evidence(claim).items():
            for case in experiment.at:
                known = set_here | set(case) | set(subject.knows)
                unknown = [
                    letter
                    for letter in claim.letters
                    if letter not in known and not (isinstance(letter, Parameter) and letter.measured in measured)
                ]
                if unknown:
                    raise StatementError(
                        f"The claim {name} holds {unknown[0]}, which has no value for the subject {label!r} at "
                        f"{dict(case)}. Set it in at=(...), in the subject's knows={{...}}, or measure it."
                    )
        if not self.evidence(claim):
            raise StatementError(
                f"The claim {name} has no evidence: every subject breaks one of its hypotheses "
                f"{', '.join(self.needed(claim))}. Add a subject that satisfies them, or correct under=(...)."
            )

    def _check_subject(self, place: str, subject: Subject) -> None:
        for hypothesis in subject.breaks:
            if hypothesis not in self.hypotheses:
                raise StatementError(
                    f"The subject {place} breaks {hypothesis!r}, which is no hypothesis of the theorem. "
                    f"Its hypotheses are {', '.join(self.hypotheses) or 'none'}. Correct breaks=(...)."
                )
        for claim in subject.fails:
            if claim not in self.claims:
                raise StatementError(
                    f"The subject {place} fails {claim!r}, which is no claim of the theorem. "
                    f"Its claims are {', '.join(self.claims)}. Correct fails=(...)."
                )
            if not set(self.needed(self.claims[claim])) & set(subject.breaks):
                raise StatementError(
                    f"The subject {place} fails {claim!r} but breaks none of its hypotheses "
                    f"({', '.join(self.needed(self.claims[claim]))}). Name the broken one in breaks=(...)."
                )

    def _check_hypotheses(self) -> None:
        broken = {
            hypothesis
            for experiment in self.experiments.values()
            for subject in experiment.subjects.values()
            for hypothesis in subject.breaks
            if subject.fails
        }
        for name, hypothesis in self.hypotheses.items():
            if name not in broken and not hypothesis.unbroken:
                raise StatementError(
                    f"The hypothesis {name} is broken by no control. A hypothesis that nothing breaks may not be "
                    'needed. Add a subject with breaks=("' + name + '",) and fails=(...), or say unbroken="why not".'
                )
            if hypothesis.holds is not None and not any(isinstance(s, Measured) for s in hypothesis.holds.free_symbols):
                raise StatementError(
                    f"The hypothesis {name} tests {hypothesis.holds}, which holds no measured letter. "
                    "A relation tested in every draw speaks of what the draw returned. Add a measured letter."
                )


__all__ = ["Hypothesis", "Index", "Label", "Theorem"]
