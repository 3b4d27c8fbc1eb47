"""One theorem, from its file to its outcome: plan, draws, decisions, sensitivity, proof."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from sympy import Expr, Integer, Rational, sympify

from theorax.decide.designs import ASSURED, FEWEST_SIZES, LIKELY
from theorax.decide.inequalities import InequalityPlan
from theorax.decide.plans import SweepPlan
from theorax.decide.spending import level_of
from theorax.decide.status import Levels, Status
from theorax.decide.wide_margins import says_nothing
from theorax.errors import DesignError, NothingSelected, TooFewSizes
from theorax.language import Claim, Theorem
from theorax.language.experiments import FEWEST_DRAWS, MOST_DRAWS
from theorax.language.notation import displayed
from theorax.numerics import platform
from theorax.theorems.catalogue import Catalogue, Facts
from theorax.verifiers import claim_verdicts, proof_check
from theorax.verifiers.attacks import tested_hypotheses
from theorax.verifiers.attempts import AttemptLog, AttemptNumbers, ClaimVersion
from theorax.verifiers.cases import user_models
from theorax.verifiers.cases.crew import Crew, DrawnPortion, Portion
from theorax.verifiers.cases.draws import Draws, Table, whole_line
from theorax.verifiers.cases.measure import structures
from theorax.verifiers.cases.sweep_lines import (
    BOX,
    SweepLine,
    control_lines,
    evidence_lines,
    refuse_unknown,
    sweep_lines,
)
from theorax.verifiers.claim_check import ClaimCheck
from theorax.verifiers.claim_versions import claim_version, said_fields
from theorax.verifiers.kinds import JUDGES, CellCase
from theorax.verifiers.loading import load
from theorax.verifiers.outcome import (
    Checked,
    NotAsked,
    TheoremOutcome,
    Work,
    overall,
)
from theorax.verifiers.phases import phase
from theorax.verifiers.planned_checks import Pilot, PilotCase, PlannedCheck, TheoremPlan
from theorax.verifiers.planned_claim import PlannedClaim, looks_of
from theorax.verifiers.program_digests import program_digest
from theorax.verifiers.settings import Settings

DRAW = "theorax.verifiers.theorem_check:draw"
PILOT = 16  # draws at each size
PILOT_SLACK = Rational(5, 4)  # a standard deviation of 16 draws errs by 18 %


def observe_theorem(
    theorem_id: str, settings: Settings, log: AttemptLog, kept: bytes | None = None, value: Theorem | None = None
) -> Checked:
    """Check one theorem, and hand back what it was decided from.

    ``kept``, the observations of an earlier check, stand in for draws: the decision is then made again from them.
    ``value``: a theorem without a file.

    **Raises:** UsageError where settings and theorem do not fit; StatementError, DesignError and ObservationError where
    the theorem's file is at fault.
    """
    started, cpu = time.perf_counter(), time.process_time()
    catalogue = _catalogue(settings)
    facts = catalogue.facts(theorem_id) if value is None else Facts(theorem_id, "", Path(), "")
    with phase("reading"):
        theorem, table = _prepare(theorem_id, settings, catalogue, value)
    # Another process reads the theorem from its file; a value has none.
    # One process keeps an accelerator busy, and several would share its memory.
    is_shared = settings.jobs > 1 and value is None and settings.device == "cpu"
    reading = time.process_time() - cpu
    own = replace(settings, jobs=1)
    crew = Crew(settings.jobs - 1, DRAW, theorem_id, own, reading=reading) if is_shared else None
    draws = Draws(theorem_id, theorem, table, settings, kept, crew)
    with phase("proving"):
        proofs = proof_check.check_proofs(theorem)
    planned_claims = _attempted(theorem_id, theorem, table, settings, log)
    not_asked = _not_asked(theorem_id, planned_claims.values(), settings)
    for one in not_asked:
        del planned_claims[one.claim]
    try:
        wanted = _wanted(theorem, table, planned_claims.values())
        draws.expect(wanted, _programs(theorem, table, wanted))
        check = ClaimCheck(theorem_id, theorem, table, draws, proofs, settings)
        claims, fired, mutants = check.all_of(planned_claims)
    except DesignError:  # refused: nothing was decided
        raise
    except Exception:  # data may have been seen: the attempts are spent
        _finished(log, planned_claims, dict.fromkeys(planned_claims, Status.ERROR))
        raise
    finally:
        if crew is not None:
            crew.close()
    _finished(log, planned_claims, {claim.id: claim.status for claim in claims})
    status, reason = overall(claims)
    outcome = TheoremOutcome(
        id=theorem_id,
        title=facts.title,
        statement=facts.statement,
        idea=facts.idea,
        paper=facts.paper,
        source=catalogue.citation(facts.paper),
        place=theorem.place,
        label=theorem.label,
        status=status,
        reason=reason,
        blocked_by=(),
        uses=theorem.uses,
        letters=claim_verdicts.letters_of_claims(theorem),
        hypotheses=tuple(tested_hypotheses.hypothesis_outcome(part, theorem, draws) for part in theorem.hypotheses),
        claims=tuple(claims),
        controls=tuple(fired),
        mutants=tuple(mutants),
        proof=proofs.steps,
        issues=theorem.issues,
        not_asked=not_asked,
        replay=settings.replay((theorem_id,)),
        work=Work(
            seconds=time.perf_counter() - started,
            draws=draws.count,
            programs=sum(sampler.meter.programs for sampler in draws.samplers),
            compile_seconds=sum(sampler.meter.compile_cpu_seconds for sampler in draws.samplers),
            cpu_seconds=time.process_time() - cpu + draws.cpu_seconds,
            vectorised=draws.vectorised,
        ),
        model=settings.model,
    )
    return Checked(outcome, draws.packed())


def draw(portion: Portion, theorem_id: str, settings: Settings) -> DrawnPortion:
    """Draw a portion of a line for a check in another process; the theorem is loaded for the first of them."""
    return _draws_of(theorem_id, settings).alone(portion)


@lru_cache(maxsize=1)
def _draws_of(theorem_id: str, settings: Settings) -> Draws:
    return Draws(theorem_id, *_prepare(theorem_id, settings, _catalogue(settings)), settings)


def _finished(log: AttemptLog, planned_claims: Mapping[str, PlannedClaim], statuses: Mapping[str, Status]) -> None:
    """Log what came of the attempts that were begun."""
    log.finish(
        {planned.version: statuses[name] for name, planned in planned_claims.items() if planned.entry is not None}
    )


def plan_theorem(theorem_id: str, settings: Settings, log: AttemptNumbers) -> TheoremPlan:
    """Plan of a check: its measurements and the power of its designs, without any draw."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings))
    return _planned_checks(theorem_id, theorem, table, settings, log)


def _wanted(theorem: Theorem, table: Table, claims: Iterable[PlannedClaim]) -> list[SweepLine]:
    """The lines that a check of these claims draws, each once, with the draws of the first look at it."""
    found: dict[int, SweepLine] = {}
    for planned in claims:
        if planned.cases and not planned.refusal:
            lines = [case.cell.line for case in planned.cases if case.cell.line is not BOX]
            for line in (*lines, *control_lines(theorem, planned.name, table)):
                whole = whole_line(table, line)
                first = planned.first_look(whole.draws)
                before = found.get(id(whole))
                found[id(whole)] = whole.with_draws(max(first, before.draws if before is not None else 0))
    return list(found.values())


def _programs(theorem: Theorem, table: Table, drawn: Iterable[SweepLine], *, padded: bool = False) -> int:
    """Number of programs compiled to draw these lines, as the experiments are or with all of them ``padded``."""
    found: set[Hashable] = set()
    for line in drawn:
        experiment = theorem.experiments[line.experiment]
        experiment = replace(experiment, padded=True) if padded else experiment
        found |= {(experiment.platform, name) for name in structures(experiment, line, table[line.experiment])}
    return len(found)


def pilot_theorem(theorem_id: str, settings: Settings, log: AttemptNumbers) -> Pilot:
    """Noise of a few draws at every size, from a stream of seeds that no decision uses, and the plan with that noise."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings))
    cases, spreads = _noise_of_pilot(theorem_id, theorem, table, settings)
    if not spreads:
        return Pilot(PILOT, cases, {}, TheoremPlan(()))
    claims = {name: replace(claim, spread=spreads.get(name, claim.spread)) for name, claim in theorem.claims.items()}
    wanted_plan = _planned_checks(theorem_id, replace(theorem, claims=claims), table, settings, log)
    return Pilot(PILOT, cases, {name: str(spread) for name, spread in spreads.items()}, wanted_plan)


def _noise_of_pilot(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, only: Container[str] | None = None
) -> tuple[tuple[PilotCase, ...], dict[str, Expr]]:
    """The noise that a few draws show in every case of the claims, and the spread of each claim that covers it."""
    few = {name: tuple(replace(line, draws=PILOT) for line in lines) for name, lines in table.items()}
    draws = Draws(f"pilot of {theorem_id}", theorem, few, settings)
    cases, spreads = [], {}
    # The spread is that of a draw as it comes, whatever variates take from it.
    as_drawn = replace(theorem, claims={name: claim.as_drawn for name, claim in theorem.claims.items()})
    for name, claim in as_drawn.claims.items():
        if only is not None and name not in only:
            continue
        shares = []
        for case in _plan(theorem_id, as_drawn, name, table, settings, 1).cases:
            line = replace(case.cell.line, draws=PILOT)
            if not case.noise or claim.noise_is_known:
                continue
            seen, planned = JUDGES[type(claim)].scatter(claim, case, draws.on(line))
            if seen:
                cases.append(PilotCase(name, line.name, case.cell.label, line.sizes, planned, seen))
                shares += [found / assumed for found, assumed in zip(seen, planned, strict=True) if assumed]
        if shares and max(shares) > 0:
            stated = sympify(claim.spread)
            more = PILOT_SLACK * max(shares)
            wanted = _rounded_up(more * stated) if stated.is_number else _rounded_up(more) * stated
            spreads[name] = wanted
    return tuple(cases), spreads


def _with_default_designs(theorem_id: str, theorem: Theorem, table: Table, settings: Settings) -> tuple[Theorem, Table]:
    """The theorem with draws where its author states none: as many as decide its claims, by the noise of a pilot.

    Noise is taken from the pilot for claims that state no spread. A proof names the claim that it closes, so a theorem
    with proofs keeps its claims as they are.
    """
    unstated = {name for name, part in theorem.experiments.items() if part.draws is None and part.seeds != "none"}
    if not unstated:
        return theorem, table
    open_ = {
        name
        for name, claim in theorem.claims.items()
        if claim.observed
        and claim.spread == Claim.spread
        and not claim.noise_is_known
        and not theorem.proofs
        and theorem.experiment_of(claim) in unstated
    }
    spreads = _noise_of_pilot(theorem_id, theorem, table, settings, open_)[1] if open_ else {}
    claims = {name: replace(claim, spread=spreads.get(name, claim.spread)) for name, claim in theorem.claims.items()}
    theorem = replace(theorem, claims=claims)
    wanted = dict.fromkeys(unstated, FEWEST_DRAWS)
    for name, claim in claims.items():
        place = theorem.experiment_of(claim)
        if place in unstated:
            cases = _plan(theorem_id, theorem, name, table, settings, 1).cases
            wanted[place] = max([wanted[place], *(_draws_needed(case, len(cases)) for case in cases)])
    experiments = {
        name: replace(part, draws=wanted[name]) if name in unstated else part
        for name, part in theorem.experiments.items()
    }
    return replace(theorem, experiments=experiments), {
        name: sweep_lines(name, part, settings) for name, part in experiments.items()
    }


def _draws_needed(case: CellCase, cases: int) -> int:
    """Draws at each size that decide a case of so many, no more than may be taken unasked."""
    plan = case.plan
    if not (plan.estimates and plan.random):
        return 0
    power = ASSURED ** (1 / cases)
    better = plan.cheapest(power, doublings=0) if isinstance(plan, SweepPlan) else plan.cheapest(power)
    if better is None:
        return MOST_DRAWS
    drawn = vars(better)["draws"]
    most = max(drawn) if isinstance(drawn, tuple) else int(drawn)
    sizes = len(case.cell.line.sizes) if isinstance(plan, InequalityPlan) else 1  # its draws are those of all sizes
    return min(MOST_DRAWS, -(-most // sizes))


def _rounded_up(value: Expr | float) -> Expr:
    """A number rounded up to two digits, exactly."""
    places = 1 - math.floor(math.log10(float(value)))
    return Rational(math.ceil(float(value) * 10.0**places), 1) / Integer(10) ** places


def _planned_checks(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, log: AttemptNumbers
) -> TheoremPlan:
    found = []
    claims = _planned_next(theorem_id, theorem, table, settings, log)
    for planned in claims:
        vacuous = " ".join(part.sentence for part in says_nothing(case.no_meaning for case in planned.cases))
        if (excluded := _excluded(planned, settings)) is not None:
            found.append(
                _without_a_case(theorem_id, planned, f"Not asked: needs {excluded.needs}; here {excluded.here}.")
            )
        if planned.asked:
            found.append(replace(_without_a_case(theorem_id, planned, planned.shortage), runs=False))
        of_claim = (
            (planned.power(), planned.worst_power) if any(case.plan.estimates for case in planned.cases) else None
        )
        last = planned.stages[-1].cases
        for case, note, share, seen in zip(planned.cases, planned.notes, planned.expected_shares, last, strict=True):
            line = case.cell.line
            found.append(
                PlannedCheck(
                    theorem=theorem_id,
                    claim=planned.name,
                    words=planned.claim.words,
                    subject=line.name,
                    at=case.cell.label,
                    line=line.place,
                    sizes=tuple(map(float, line.sizes)),
                    draws=(line.draws,) * len(line.sizes),
                    expected_draws=tuple(round(share * line.draws) for _ in line.sizes),
                    margin=case.margin,
                    bias=case.bias,
                    half_width=case.half_width,
                    noticeable=case.noticeable,
                    attempt=planned.attempt,
                    level=planned.levels.support,
                    power=seen.plan.power() if case.plan.estimates else None,
                    worst_power=seen.plan.worst_power if case.plan.estimates else None,
                    of_claim=of_claim,
                    decides=not (vacuous or (note and not case.runs_if_weak)),
                    note=note or vacuous,
                    runs=not planned.refusal,
                    decides_by_draws=not (note and case.runs_if_weak),
                    noise=case.noise,
                    spread=planned.claim.spread_text,
                    is_noise_stated=planned.claim.spread != Claim.spread,
                    gain=case.plan.planned_gain,
                )
            )
    drawn = _wanted(theorem, table, claims)
    programs, if_padded = (_programs(theorem, table, drawn, padded=padded) for padded in (False, True))
    return TheoremPlan(tuple(found), programs, if_padded)


def _without_a_case(theorem_id: str, planned: PlannedClaim, note: str) -> PlannedCheck:
    """The row of a claim of which no case is left."""
    return PlannedCheck(
        theorem=theorem_id,
        claim=planned.name,
        words=planned.claim.words,
        subject="no case",
        at={},
        line=None,
        sizes=(),
        draws=(),
        expected_draws=(),
        margin=None,
        bias=None,
        half_width=None,
        noticeable=None,
        attempt=planned.attempt,
        level=planned.levels.support,
        power=None,
        worst_power=None,
        of_claim=None,
        decides=False,
        note=note,
    )


def versions(theorem_id: str, settings: Settings, value: Theorem | None = None) -> dict[str, ClaimVersion]:
    """Under which version the attempts at each claim that a check would try are counted."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings), value)
    planned = [_plan(theorem_id, theorem, name, table, settings, 1) for name in theorem.claims]
    return {part.name: version for part, version in _with_programs(theorem, planned, settings) if part.is_tried}


def _with_programs(
    theorem: Theorem, claims: Iterable[PlannedClaim], settings: Settings
) -> Iterator[tuple[PlannedClaim, ClaimVersion]]:
    """Claims and their versions with the digests of their programs, which counting alone needs.

    Claims of one theorem that say the same in one form are told apart by their order: they are not a search.
    """
    met: Counter[str] = Counter()
    for planned in claims:
        said = said_fields(planned.claim)
        digest = program_digest(theorem, planned.claim, said, planned.cases, settings.at)
        met[digest] += bool(digest)
        program = f"{digest} {met[digest]}" if met[digest] > 1 else digest
        yield planned, replace(planned.version, program=program)


def _catalogue(settings: Settings) -> Catalogue:
    return Catalogue.of(settings.roots)


def _prepare(
    theorem_id: str, settings: Settings, catalogue: Catalogue, value: Theorem | None = None
) -> tuple[Theorem, Table]:
    platform.enable(device=settings.device, cache_dir=f"{settings.state}/compiled")
    platform.forget_programs()
    theorem = load(theorem_id, catalogue) if value is None else value
    refuse_unknown(theorem, settings)
    if settings.model is not None:
        theorem = user_models.adopt(theorem_id, theorem, settings.model)
    table = {name: sweep_lines(name, part, settings) for name, part in theorem.experiments.items()}
    return _with_default_designs(theorem_id, theorem, table, settings)


def _attempted(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, log: AttemptLog
) -> dict[str, PlannedClaim]:
    """Every claim planned at the level of its attempt, all attempts logged before anything is drawn."""
    found = {}
    for name in theorem.claims:
        planned = _plan(theorem_id, theorem, name, table, settings, 1)
        if planned.is_tried:
            version, entry = planned.version, log.begin(planned.version)
            if entry is None:  # the run says that nothing is kept; so does the verdict, of its attempt
                planned = replace(planned, logged=False)
            else:
                if entry.number > 1:
                    planned = _plan(theorem_id, theorem, name, table, settings, entry.number)
                planned = replace(planned, entry=entry, version=version)
        found[name] = planned
    return found


def _planned_next(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, log: AttemptNumbers
) -> list[PlannedClaim]:
    """The claims, each planned at the level that its next attempt will have."""
    found = []
    first = [_plan(theorem_id, theorem, name, table, settings, 1) for name in theorem.claims]
    for planned, version in _with_programs(theorem, first, settings):
        number = log.next_number(version, settings.seed)
        again = _plan(theorem_id, theorem, planned.name, table, settings, number) if number > 1 else planned
        found.append(again)
    return found


def _plan(theorem_id: str, theorem: Theorem, name: str, table: Table, settings: Settings, attempt: int) -> PlannedClaim:
    claim = theorem.claims[name]
    judge = JUDGES[type(claim)]
    found = [cell for line in evidence_lines(theorem, claim, table) for cell in judge.cells(claim, line)]
    levels = Levels.at(level_of(settings.level, attempt))
    shortened = dict(settings.sizes).keys() & {cell.line.swept.name for cell in found}
    asked = claim.tending is not None and bool(shortened)
    few = FEWEST_SIZES if asked and any(len(cell.line.sizes) < FEWEST_SIZES for cell in found) else 0
    try:
        cases = tuple(judge.prepare(claim, cell, levels.shared(len(found)), claim) for cell in found)
    except TooFewSizes as error:
        if not asked:
            raise
        few = max(error.needed, FEWEST_SIZES)
    if few:
        cases = ()
    version = claim_version(theorem_id, name, claim, cases, settings)
    settled = any(proof.settles and proof.name == name for proof in theorem.proofs)
    notes = _notes(cases, settled=settled)
    left = tuple(found) if few else ()
    looks = () if any(notes) or not judge.may_end_early(claim) else looks_of(cases)
    return PlannedClaim(
        name,
        claim,
        cases,
        levels,
        notes,
        version,
        attempt,
        left,
        few,
        is_settled=settled,
        looks=looks,
        runs_anyway=settings.anyway,
    )


def _excluded(planned: PlannedClaim, settings: Settings) -> NotAsked | None:
    """The condition by which the values of --at leave no case of this claim; None where they are not the reason."""
    claim = planned.claim
    if planned.cases or planned.asked or planned.is_settled or not (settings.at and claim.observed and claim.condition):
        return None
    held = {letter.name for letter in claim.where.free_symbols}
    chosen = [(letter, value) for letter, value in settings.at if letter in held] or settings.at
    here = ", ".join(f"{displayed(letter)} = {value}" for letter, value in chosen)
    return NotAsked(planned.name, claim.condition, here)


def _not_asked(theorem_id: str, claims: Iterable[PlannedClaim], settings: Settings) -> tuple[NotAsked, ...]:
    """Claims that the values of --at exclude.

    **Raises:** NothingSelected if that are all.
    """
    planned = tuple(claims)
    found = tuple(one for one in (_excluded(part, settings) for part in planned) if one is not None)
    if found and len(found) == len(planned):
        listed = "; ".join(f"{one.claim} needs {one.needs}" for one in found)
        raise NothingSelected(f"No claim of `{theorem_id}` speaks of {found[0].here}: {listed}. Give other values.")
    return found


def _notes(cases: Sequence[CellCase], *, settled: bool) -> tuple[str, ...]:
    """Of every case the sentence why its design does not decide, with the cheapest that does; empty where it decides.

    Support needs every case: a claim whose cases are all decided with probability below one half is not run, and each
    design that is offered leaves the claim a probability of `ASSURED`.
    """
    powers = [case.plan.power() for case in cases]
    drawn = [power for case, power in zip(cases, powers, strict=True) if not case.runs_if_weak]
    weak = math.prod(drawn) < LIKELY
    weakest = min(drawn, default=1.0)
    each = ASSURED ** (1 / max(1, len(drawn)))

    def note(case: CellCase, power: float) -> str:
        where = claim_verdicts.cell_name(case.cell)
        if case.runs_if_weak:
            return "" if settled or power >= LIKELY else f"Draws alone cannot support it for {where}: {case.weakness}."
        if not weak or power > max(LIKELY, weakest):
            return ""
        return f"Not run for {where}: {case.plan.short_of_deciding(each)}."

    return tuple(map(note, cases, powers))
