"""Proofs: every step computed, re-checked and decided, and for each claim whether its proof settles it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from sympy import Basic, Integer, Symbol, simplify
from sympy.core.function import AppliedUndef

from theorax.decide.findings import Finding, Found
from theorax.errors import StatementError
from theorax.exact.zero import is_zero
from theorax.language import Cited, Claim, Index, Instance, MatrixStep, Solved, Step, Theorem
from theorax.language.letters import same_assumptions
from theorax.language.proofs import AnyStep, Proof
from theorax.verifiers.breakable_shapes import unbreakable_hypothesis
from theorax.verifiers.outcome import StepOutcome, StepStatus
from theorax.verifiers.proof_instances import Scope, entries_of, equality_at
from theorax.verifiers.proof_programs import callable_name, hands_on
from theorax.verifiers.proof_steps import DecidedStep, Pair, decide_matrix_step, decide_solved, decide_step

LONGEST_SIDE = 80  # characters of a side that an error shows


@dataclass(frozen=True)
class CheckedProofs:
    """The proofs of a theorem after their check.

    ``settled`` says for each claim with a proof of its own whether that settles it; ``scopes`` for what the instances
    speak that it is settled by; ``sides`` holds the two sides of every equality of each step, in the order of steps, and
    ``no_second_route`` why a result of it has no second route. ``underived``: claims with a proof that reaches a side of
    theirs and derives nothing of them, and why.
    """

    steps: tuple[StepOutcome, ...]
    settled: Mapping[str, bool]
    scopes: Mapping[str, str]
    sides: tuple[tuple[Pair, ...], ...]
    no_second_route: tuple[str, ...]
    underived: Mapping[str, str] = field(default_factory=dict)

    def settles(self, claim: str) -> bool:
        """Does the claim's own proof settle it?"""
        return self.settled.get(claim, False)

    def closed(self, theorem: Theorem) -> frozenset[str]:
        """The names of the lemmas whose every step is proved."""
        open_ = {step.proof for step in self.steps if step.status is not StepStatus.PROVED}
        return frozenset({step.proof for step in self.steps} - open_ - set(theorem.claims))


def check_proofs(theorem: Theorem) -> CheckedProofs:
    """Check every step of every proof.

    A proof that settles a claim consists of proved steps alone, instances of the claim among them: a cited theorem in it
    leaves the claim to the measurement, as does a single step that stays undecided.

    **Raises:** StatementError if a proof speaks of something else than its claim: a derivation that never computes a
    side of it, an instance of another program; or if both sides of a step are one and the same on arrival.
    """
    outcomes: list[StepOutcome] = []
    sides: list[tuple[Pair, ...]] = []
    no_second_route: list[str] = []
    settled: dict[str, bool] = {}
    scopes: dict[str, str] = {}
    underived: dict[str, str] = {}
    letters = frozenset().union(*(claim.letters for claim in theorem.claims.values()))
    for proof in theorem.proofs:
        name, steps = proof.name, _steps(proof)
        claim = theorem.claims.get(name)
        found, seen = [], []
        for step in steps:
            decided, scope = _decided(step, theorem)
            written = [side for pair in decided.pairs for side in pair] + list(_ends(step))
            same_assumptions(letters, {symbol for side in written for symbol in _symbols(side)})
            found.append(_outcome(name, proof.scope, step, decided))
            sides.append(decided.pairs)
            no_second_route.append(decided.no_second_route)
            if isinstance(step, Instance) and step.claim is claim:
                seen.append(scope)
        if claim is not None and not proof.settles and not _reaches(steps, claim):
            end = claim.prediction if claim.prediction is not None else "a moment of the law"
            raise StatementError(
                f"The proof of {name} never reaches a side of the claim. A derivation that ends elsewhere derives "
                f"something else. Let one step end in {end}."
            )
        if claim is not None and not proof.settles and (why := _beside_the_claim(name, steps, claim)):
            underived[name] = why
        if claim is not None and proof.settles:
            _refuse_beside_the_point(name, steps, claim)
            _refuse_unused_results(name, steps, claim, theorem)
        if empty := [step for step in steps if isinstance(step, Step | MatrixStep) and step.empty]:
            raise StatementError(_nothing_to_see(name, empty[0]))
        outcomes += found
        if claim is not None:
            settled[name] = proof.settles and bool(found) and all(step.status is StepStatus.PROVED for step in found)
            if settled[name] and (why := unbreakable_hypothesis(name, steps, theorem)):
                settled[name], underived[name] = False, why
            if settled[name] and seen:
                scopes[name] = str(reduce(Scope.joined, seen))
    return CheckedProofs(tuple(outcomes), settled, scopes, tuple(sides), tuple(no_second_route), underived)


def _steps(proof: Proof) -> list[AnyStep]:
    """The steps of a proof.

    **Raises:** StatementError for a generator that yields none.
    """
    given = proof.steps()
    steps = list(given) if isinstance(given, Iterable) else []
    if not steps:
        raise StatementError(
            f"The proof of {proof.name} yields no step, so it shows nothing. Write yield Step(reason, left, right) in it, "
            "or leave it out."
        )
    return steps


def _nothing_to_see(name: str, step: Step | MatrixStep) -> str:
    side = str(step.left if isinstance(step, MatrixStep) else step.entries[0][0])
    return (
        f"{type(step).__name__}({step.reason!r}) of the proof {name} has two identical sides, "
        f"{side if len(side) <= LONGEST_SIDE else side[:LONGEST_SIDE] + '...'}, and leaves nothing to compute: what the "
        "file computed, the check has not seen. Write Integral, Sum, Product, sympy.Limit, Derivative or Subs, which the "
        "check computes, or Solved for a root; or leave the step out."
    )


def _refuse_beside_the_point(name: str, steps: Sequence[AnyStep], claim: Claim) -> None:
    """A proof that settles a claim runs the measured program, and its other steps speak of the claim's letters."""
    instances = [step for step in steps if isinstance(step, Instance) and step.claim is claim]
    if not instances:
        raise StatementError(
            f"The proof of {name} settles it without an instance of it. A hand-typed quantity may be another one. "
            "Yield Instance(claim, reason, observe, ...), and the check runs what is measured; or write @derives."
        )
    known = claim.letters.union(*(part.free_symbols for step in instances for part in entries_of(step.given)))
    for step in steps:
        strange = sorted(_free(step) - known, key=str)
        if strange:
            raise StatementError(
                f"The proof of {name} settles it by a step that holds {strange[0]}, which is neither a letter of the "
                "claim nor of its instances. Put that step into a lemma."
            )


def _refuse_unused_results(name: str, steps: Sequence[AnyStep], claim: Claim, theorem: Theorem) -> None:
    """Results of a function that is proved are those of the measured program: it may be called for nothing."""
    experiment = theorem.experiment_of(claim)
    programs = [step.program for step in steps if isinstance(step, Instance) and step.claim is claim]
    programs = list({id(program): program for program in programs}.values())
    if experiment is not None and not hands_on(programs, claim, theorem, str(experiment)):
        raise StatementError(
            f"The proof of {name} runs {' and '.join(map(callable_name, programs))}, whose results are not what is "
            "measured. The measured program calls it and returns something else, or does not come to it, on some line of the "
            "evidence. A proof about another program settles nothing. Hand it observe of the experiment, or the function whose "
            "results observe returns."
        )


def as_it_stands(claim: Claim) -> Found | None:
    """Finding of computer algebra about an identity between symbols, where nothing is measured."""
    if claim.vanishing is None or claim.observed:
        return None
    found = is_zero(claim.vanishing)
    if found.refuted:
        at = ", ".join(f"{letter} = {number}" for letter, number in found.point.items())
        return Found(Finding.COUNTEREXAMPLE, f"The two sides differ at {at or 'the numbers stated'}: {found.reason}.")
    if found.proved:
        return Found(Finding.PROOF, f"Computer algebra closed the identity as it stands: {found.reason}.")
    return None


def _decided(step: AnyStep, theorem: Theorem) -> tuple[DecidedStep, Scope]:
    if isinstance(step, Cited):
        return DecidedStep(StepStatus.CITED, step.source, "", ""), Scope()
    if isinstance(step, Solved):
        return decide_solved(step), Scope()
    if isinstance(step, MatrixStep):
        return decide_matrix_step(step), Scope()
    if isinstance(step, Instance):
        found = equality_at(step, theorem)
        decided = decide_step(
            found.step, "the measured program, run on symbols", found.re_checked_by, found.no_second_route
        )
        if found.disagreement:
            decided = replace(decided, status=StepStatus.REFUTED, method=found.disagreement)
        return decided, found.scope
    return decide_step(step), Scope()


def _outcome(name: str, scope: str, step: AnyStep, decided: DecidedStep) -> StepOutcome:
    missing = decided.no_second_route and f"none: {decided.no_second_route}"
    return StepOutcome(
        proof=name,
        scope=scope,
        reason=step.reason,
        statement=decided.statement,
        status=decided.status,
        method=decided.method,
        latex=decided.latex,
        computed_by=decided.computed_by,
        re_checked_by="; ".join(filter(None, (decided.re_checked_by, missing))),
    )


def _symbols(side: Any) -> frozenset[Symbol]:
    return frozenset(symbol for symbol in getattr(side, "free_symbols", ()) if isinstance(symbol, Symbol))


def false_step(steps: Sequence[StepOutcome], claim: str, theorem: Theorem) -> Found | None:
    """The first false step in the claim's own proof or in a lemma.

    What was derived by a false step was not derived: the claim is in error, whatever its measurement says.
    """
    for step in steps:
        if step.status is StepStatus.REFUTED and (step.proof == claim or step.proof not in theorem.claims):
            told = f"A step of the proof {step.proof} is false ({step.reason}): {step.statement}; {step.method}."
            return Found(Finding.FALSE_STEP, told)
    return None


def _reaches(steps: Sequence[AnyStep], claim: Claim) -> bool:
    ends = [entry for step in steps for entry in _ends(step)]
    # Sides are made one by one: those to be simplified are not, where a step ends in the claim as it stands.
    return any(entry == side for side in _sides(claim) for entry in ends)


def _beside_the_claim(name: str, steps: Sequence[AnyStep], claim: Claim) -> str:
    """A sentence that the steps derive nothing of the claim; empty where they do.

    One step holds a letter of the claim or of a law in it, and steps that share symbols lead from there to the step that
    ends in a side: a number alone comes out of any integral.
    """
    held = [_names(step) for step in steps]
    own = {letter.name for letter in claim.letters | claim.letters_of_laws}
    reached = {place for place, names in enumerate(held) if names & own}
    waiting = list(reached)
    while waiting:
        here = waiting.pop()
        further = {place for place, names in enumerate(held) if names & held[here]} - reached
        reached |= further
        waiting += further
    ends = {
        place for side in _sides(claim) for place, step in enumerate(steps) if any(side == end for end in _ends(step))
    }
    if ends & reached:
        return ""
    letters = ", ".join(sorted(own)) or "none"
    if not any(names & own for names in held):
        why = f"no step of it holds a letter or a law of the claim ({letters})"
    else:
        why = f"no step that holds a letter of the claim ({letters}) leads by shared symbols to the step that ends in its side"
    return f"The proof of {name} is no derivation of it: {why}. The claim rests on its measurement alone."


def _names(step: AnyStep) -> frozenset[str]:
    """Names of the symbols and of the functions without a meaning in a step, bound ones too."""
    if isinstance(step, Step):
        parts = [side for pair in step.entries for side in pair]
    elif isinstance(step, Solved):
        parts = [
            *step.equations,
            *step.unknowns,
            *(part for one in step.solutions for pair in one.items() for part in pair),
        ]
    elif isinstance(step, MatrixStep):
        parts = [step.left, step.right, *(side for pair in step.given for side in pair)]
    elif isinstance(step, Instance):
        parts = [*entries_of(step.given), *step.claim.letters]
    else:
        parts = []
    symbols = {symbol.name for part in parts for symbol in part.atoms(Symbol)}
    return frozenset(symbols | {str(call.func) for part in parts for call in part.atoms(AppliedUndef)})


def _free(step: AnyStep) -> set[Basic]:
    return {symbol for end in _ends(step) for symbol in end.free_symbols}


def _ends(step: AnyStep) -> Iterator[Basic]:
    """The expressions at which a step may end."""
    if isinstance(step, Step):
        yield from (side for pair in step.entries for side in pair)
    if isinstance(step, Solved):
        yield from (value for solution in step.solutions for value in solution.values())


def _sides(claim: Claim) -> Iterator[Basic]:
    """The claim's own predicted side, as it stands and at small values of its index letters."""
    for prediction in claim.proved_sides:
        yield prediction
        yield simplify(prediction)
        for index in (letter for letter in prediction.free_symbols if isinstance(letter, Index)):
            for value in range(1, 6):
                yield prediction.subs(index, Integer(value))
                yield simplify(prediction.subs(index, Integer(value)))
