"""A theorem: a frozen value that ties statement, experiment and proof together and checks that they fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, final, get_args

from sympy import Symbol

from theorax.errors import problem
from theorax.language.argument_types import refuse_value, takes
from theorax.language.claims import Claim
from theorax.language.experiments import Experiment, Subject
from theorax.language.hypothesis import Hypotheses, Hypothesis, hypotheses
from theorax.language.letters import Letter, Measured, Parameter
from theorax.language.proofs import Proof

NOTHING: Mapping[str, Any] = MappingProxyType({})
Label = Literal["read", "reconstructed", "derived", "own"]


@final
@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A theorem: its claims, its hypotheses, the experiments that measure it, the proofs.

    ``place`` and ``label`` say where the statement comes from: *read* in the source, *reconstructed* from what could
    be read of it, *derived* here, or its author's *own*, stated in this file alone. ``uses``: the theorems and
    instruments it rests on, by id. ``proofs``: generators decorated by ``@settles``, ``@derives`` or ``@lemma``.
    ``issues``: what the check cannot see.

    Claims, subjects and proofs refer to each other by object. The names that the theorem gives them are looked up when
    it is built; from then on ``fails``, ``asked`` and ``proofs`` hold names, so that parts can be replaced.

    **Raises:** StatementError, naming the part, if the parts do not fit.
    """

    claims: Mapping[str, Claim]
    place: str = ""
    label: Label = "own"
    hypotheses: Hypotheses = field(default_factory=hypotheses)
    experiments: Mapping[str, Experiment] = field(default_factory=lambda: NOTHING)
    proofs: tuple[Proof, ...] = ()
    uses: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._take()
        if self.label not in get_args(Label):
            problem(
                "label",
                f"label={self.label!r} is no honesty label. A reader must know where the statement comes from. "
                "Write read, reconstructed or derived; leave it out for a statement of your own.",
            )
        if not self.claims:
            problem("no-claims", "A theorem needs a claim. Put one into claims=dict(...).")
        self._name_parts()
        for name, claim in self.claims.items():
            self._check_claim(name, claim)
        for name, experiment in self.experiments.items():
            for label, subject in experiment.subjects.items():
                self._check_subject(f"{name}/{label}", subject)
        self._check_hypotheses()

    def _take(self) -> None:
        """Check the types of the parts; a claim is typed after the id and a dot, so its name is an identifier.

        **Raises:** StatementError for a value of another type.
        """
        who = "Theorem"
        takes(who, "hypotheses", self.hypotheses, Hypotheses, 'Write hypotheses(name="a sentence").')
        for part, kind in (("claims", Claim), ("experiments", Experiment)):
            named = getattr(self, part)
            takes(who, part, named, Mapping, f"Write {part}=dict(name=...).")
            for name, value in named.items():
                takes(who, part, name, str, f"Write {part}=dict(name=...).")
                takes(who, part, value, kind, f"Write {part}=dict(name={kind.__name__}(...)).")
        for name in self.claims:
            if not name.isidentifier():
                refuse_value(who, "claims", name, "A reader types ID.name. Write a word, claims=dict(bulk=...).")
        takes(who, "place", self.place, str, 'Write place="Theorem 3", or leave it out.')
        for part in ("proofs", "issues"):
            takes(who, part, getattr(self, part), tuple | list, f"Write a tuple, {part}=(one, another).")

    def _name_parts(self) -> None:
        """Put the names that this theorem gives its claims in the place of the claims themselves."""
        named = [part for proof in self.proofs for part in proof.named(self._name_of("A proof", "speaks of"))]
        proofs = [part for part in named if part.name]
        if twice := sorted({one.name for one in proofs if [other.name for other in proofs].count(one.name) > 1}):
            problem(
                "one-proof",
                f"There are two proofs of {twice[0]}. A reader must know which of them counts. "
                "Merge them, or make one a lemma.",
            )
        object.__setattr__(self, "proofs", tuple(proofs))
        object.__setattr__(
            self, "experiments", {name: self._named(name, part) for name, part in self.experiments.items()}
        )

    def _named(self, place: str, experiment: Experiment) -> Experiment:
        """The experiment with names in the place of the claims that its subjects fail and that are asked of a user's."""
        subjects = {
            label: subject.failing(self._name_of(f"The subject {place}/{label}", "fails"))
            for label, subject in experiment.subjects.items()
        }
        asked = tuple(map(self._name_of(f"The experiment {place}", "asks a user's layer for"), experiment.asked))
        return replace(experiment, subjects=subjects, asked=tuple(filter(None, asked)))

    def _name_of(self, who: str, does: str) -> Callable[[Claim | str], str]:
        def name(claim: Claim | str) -> str:
            if isinstance(claim, str) and claim in self.claims:
                return claim
            for known, own in self.claims.items():
                if own is claim:
                    return known
            given = repr(claim) if isinstance(claim, str) else f"{type(claim).__name__} of its own"
            problem(
                "unknown-claim",
                f"{who} {does} {given}, which is no claim of the theorem. "
                f"Its claims are {', '.join(self.claims)}. Add it to claims=dict(...), or correct fails=... or the decorator.",
            )
            return ""  # no claim has this name: what refers to it is left out

        return name

    def needed(self, claim: Claim) -> tuple[str, ...]:
        """The names of the hypotheses that the claim needs."""
        return tuple(part.name for part in self._under(claim))

    def _under(self, claim: Claim) -> tuple[Hypothesis, ...]:
        if claim.under is None:
            return tuple(self.hypotheses)
        return (claim.under,) if isinstance(claim.under, Hypothesis) else claim.under

    def experiment_of(self, claim: Claim) -> str | None:
        """The name of the experiment that measures the claim's letters; None if nothing is measured."""
        if claim.on is not None:
            return claim.on
        wanted = {letter.name for letter in claim.observed}
        fitting = [
            name
            for name, experiment in self.experiments.items()
            if wanted and wanted <= {letter.name for letter in experiment.measured}
        ]
        return fitting[0] if len(fitting) == 1 else None

    def evidence(self, claim: Claim) -> dict[str, Subject]:
        """The subjects that satisfy every hypothesis of the claim."""
        needed = set(self.needed(claim))
        return {name: subject for name, subject in self._subjects(claim).items() if not needed & set(subject.broken)}

    def controls(self, name: str) -> dict[str, Subject]:
        """The subjects on which the claim of this name must fail."""
        return {label: s for label, s in self._subjects(self.claims[name]).items() if name in s.fails}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows what is stated, with its letters and hypotheses."""
        from theorax.language.notebook import theorem_bundle

        return theorem_bundle(f"{self.place} ({self.label})", self.hypotheses, self.claims, self.uses)

    def _subjects(self, claim: Claim) -> Mapping[str, Subject]:
        experiment = self.experiment_of(claim)
        return self.experiments[experiment].subjects if experiment is not None else {}

    def _check_claim(self, name: str, claim: Claim) -> None:
        for hypothesis in self._under(claim):
            self._check_hypothesis(hypothesis, f"The claim {name} needs", "under=...")
        for variate in claim.known_means:
            for hypothesis in variate.hypotheses or ():
                self._check_hypothesis(hypothesis, f"The known mean of {variate.of} in {name} needs", "its under=...")
        if claim.corrected is not None and claim.corrected not in self.claims:
            problem(
                "corrected",
                f"The claim {name} is corrected by {claim.corrected!r}, which the theorem does not have. "
                "A printed statement that fails is shown beside what holds. Add that claim.",
                name,
            )
        elif claim.corrected is not None and self.claims[claim.corrected].corrected is not None:
            problem(
                "corrected",
                f"The claim {name} is corrected by {claim.corrected!r}, which is corrected itself. A printed statement that "
                "fails is shown beside what holds. Name the claim that holds.",
                name,
            )
        proved = [proof.name for proof in self.proofs if proof.name not in self.claims]
        if unknown := [lemma for lemma in claim.lemmas if lemma not in proved]:
            problem(
                "unknown-lemma",
                f"The claim {name} rests on the lemma {unknown[0]!r}, which the theorem does not have. It would be "
                f"assumed. Decorate its steps by @lemma and add it to proofs=(...)"
                + (f", or write one of {', '.join(proved)}." if proved else "."),
                name,
            )
        if stray := [s for s in claim.letters if not isinstance(s, Letter)]:
            problem(
                "stray-symbol",
                f"The claim {name} holds the symbol {stray[0]}, which is no letter of the theorem. A reader cannot "
                "know what it means and a draw cannot set it. Declare it as Size, Parameter, Index or Measured.",
                name,
            )
            return
        if not claim.observed:
            return
        chosen = self.experiment_of(claim)
        if chosen is None or chosen not in self.experiments:
            problem(
                "which-experiment",
                f"The claim {name} speaks of {', '.join(sorted(map(str, claim.observed)))}; it is not clear which "
                f"experiment measures that. Experiments: {', '.join(self.experiments) or 'none'}. "
                'Name it with on="..." and list the letters in its measures.',
                name,
            )
            return
        experiment = self.experiments[chosen]
        measured = set(experiment.measured)
        if missing := [letter for letter in claim.observed if letter not in measured]:
            problem(
                "not-measured",
                f"The claim {name} speaks of {missing[0]}, which the experiment {chosen} does not measure. "
                f"Add it to measures=(...) and return it from observe.",
                name,
            )
            return
        for hypothesis in self._under(claim):
            tested = hypothesis.holds.free_symbols if hypothesis.holds is not None else ()
            if unseen := sorted(s.name for s in tested if isinstance(s, Measured) and s not in measured):
                problem(
                    "hypothesis-drawn",
                    f"The claim {name} needs the hypothesis {hypothesis.name}, which tests {hypothesis.holds}, and the "
                    f"experiment {chosen} does not measure {unseen[0]}. No draw of the claim would be tested. Add "
                    f"{unseen[0]} to measures=(...) and return it from observe, or write under=... without it.",
                    name,
                )
                return
        tending = claim.tending
        # Sizes, weights and exponents are those of the swept letter: another one need not grow, or not as fast.
        if tending not in (None, experiment.swept) and experiment.derived.get(tending) != experiment.swept:
            problem(
                "tends-swept",
                f"The claim {name} says what happens as {tending} → ∞, and the experiment {chosen} sweeps "
                f"{experiment.swept}. Its draws show a course in {experiment.swept} alone. Write as_={experiment.swept}, or "
                f"sweep={{{tending}: (...)}} with {experiment.swept} in derived or at.",
                name,
            )
            return
        set_here: set[Symbol] = {experiment.swept, *experiment.derived, *experiment.along, *measured}
        for label, subject in self.evidence(claim).items():
            for case in experiment.cases:
                known = set_here | set(case) | set(subject.knows)
                unknown = [
                    letter
                    for letter in claim.letters
                    if letter not in known and not (isinstance(letter, Parameter) and letter.measured in measured)
                ]
                if unknown:
                    problem(
                        "letter-unset",
                        f"The claim {name} holds {unknown[0]}, which has no value for the subject {label!r} at "
                        f"{dict(case)}. Set it in at=(...), in the subject's knows={{...}}, or measure it.",
                        name,
                    )
                    return
        if not self.evidence(claim):
            problem(
                "no-evidence",
                f"The claim {name} has no evidence: every subject breaks one of its hypotheses "
                f"{', '.join(self.needed(claim))}. Add a subject that satisfies them, or correct under=(...).",
                name,
            )

    def _check_subject(self, place: str, subject: Subject) -> None:
        for hypothesis in subject.breaks:
            self._check_hypothesis(hypothesis, f"The subject {place} breaks", "breaking(...)")
        for claim in subject.fails:
            needed = self.needed(self.claims[str(claim)])
            if not set(needed) & set(subject.broken):
                problem(
                    "control-breaks",
                    f"The subject {place} fails {claim!r} but breaks none of its hypotheses ({', '.join(needed)}). "
                    "Name the broken one in breaking(...).",
                )

    def _check_hypothesis(self, meant: Hypothesis, who: str, where: str) -> None:
        own = {part.name: part.sentence for part in self.hypotheses}
        # Compared by what it says: a user's layer is checked under hypotheses that say in addition why none is broken.
        if own.get(meant.name) != meant.sentence:
            problem(
                "unknown-hypothesis",
                f"{who} the hypothesis {meant.name!r} ({meant.sentence}), which the theorem does not have. "
                f"Its hypotheses are {', '.join(own) or 'none'}. Correct {where}.",
            )

    def _check_hypotheses(self) -> None:
        broken = {
            hypothesis
            for experiment in self.experiments.values()
            for subject in experiment.subjects.values()
            for hypothesis in subject.broken
            if subject.fails
        }
        for hypothesis in self.hypotheses:
            name = hypothesis.name
            if name not in broken and not hypothesis.unbroken:
                problem(
                    "hypothesis-unbroken",
                    f"The hypothesis {name} is broken by no control. It may be superfluous. "
                    'Add a subject with breaks=("' + name + '",) and fails=(...), or say unbroken="why not".',
                )
            if hypothesis.holds is not None and not any(isinstance(s, Measured) for s in hypothesis.holds.free_symbols):
                problem(
                    "hypothesis-measured",
                    f"The hypothesis {name} tests {hypothesis.holds}, which holds no measured letter. "
                    "A relation tested in every draw speaks of what the draw returned. Add a measured letter.",
                )
