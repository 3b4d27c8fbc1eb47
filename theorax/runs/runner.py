"""From selected theorems to a run: order, what is kept, what is blocked, who checks, what is reported whatever happens.

Checked are the selected theorems and no others. An ancestor that is not selected is not checked; its kept result, where
there is one for the present sources and settings, blocks what rests on it if it failed, and where there is none the run
says so. ``+id`` selects the ancestors too. Other parameters, sizes and models (``--at``, ``--sizes``, ``--model``) are
meant for the theorems that were named, not for those that came with a ``+``.

===============================================  ===========================================================
a theorem                                        becomes
===============================================  ===========================================================
whose file is wrong or whose ``uses`` circles    ERROR with the sentence; the others still run
that rests on a failed one                       BLOCKED, not checked
with a result kept under the same key            that result, shown as kept (``fresh`` checks again)
of which another machine shared this attempt     that result, as kept
refused by its design                            INCONCLUSIVE with the sentence
whose check raises                               ERROR; the traceback is in ``<state>/log/<id>.txt``
whose worker dies                                ERROR, after a second try alone
that takes longer than ``timeout`` allows        INCONCLUSIVE; ERROR if its file is still being imported
whose sources change while it is checked         ERROR, and nothing is kept
===============================================  ===========================================================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from theorax.decide.findings import Finding, Found, settle
from theorax.decide.status import Status
from theorax.errors import NothingSelected, UsageError, option
from theorax.runs.attempt_log import AttemptFile
from theorax.runs.counting import AttemptCounter
from theorax.runs.dependencies import Graph
from theorax.runs.expected_seconds import shipped_seconds
from theorax.runs.listening import Listener, Record, Silent
from theorax.runs.manifests import EntrySort, Manifest, manifest_differences, parted
from theorax.runs.selectors import Selection, Shard
from theorax.runs.sources import Sources, drawn_from
from theorax.runs.store import DamagedResult, KeptResult, Store, StoreError, now
from theorax.runs.workers import Check, FinishedCheck, Workers, perform_check, workers_for
from theorax.theorems.bibliography import Bibliography
from theorax.theorems.catalogue import Catalogue, Facts
from theorax.verifiers.outcome import TheoremOutcome, Work
from theorax.verifiers.phases import told_to
from theorax.verifiers.settings import Settings

CHECK = "theorax.runs.checking:stage"


@dataclass(frozen=True)
class Value:
    """A theorem without a file: the function that checks it in this process, and the call that does so again."""

    check: Check
    again: str


@dataclass(frozen=True)
class Run:
    """Results of a run."""

    selected: tuple[str, ...]
    records: tuple[Record, ...]
    seconds: float
    interrupted: bool = False
    files: Mapping[str, Path] = field(default_factory=dict)  # of the theorems
    manifests: Mapping[str, Manifest] = field(default_factory=dict)  # everything that determines each result
    bibliography: Bibliography = field(default_factory=Bibliography)  # what the theorems can cite
    troubles: tuple[str, ...] = ()  # sentences about the store
    unchecked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by id: dependencies that nobody checked
    shard: Shard | None = None  # of a larger run, of which these are the theorems
    jobs: int = 0  # processes at a time on a cluster; 0 where it ran here


def run(
    selection: Selection,
    settings: Settings,
    catalogue: Catalogue | None = None,
    check: str = CHECK,
    listener: Listener | None = None,
    sources: Sources | None = None,
    values: Mapping[str, Value] | None = None,
    found: Mapping[str, Record] | None = None,
    meanwhile: Callable[[Run], None] | None = None,
) -> Run:
    """Check the selected theorems, or show their kept results. ``values`` are theorems without a file, by their ids.

    Of a shard nothing is blocked. ``found``: what the shards of this run found, of every selected theorem;
    nothing is checked or kept, and the rest is done as if it had been checked here. ``meanwhile`` is given the run so far,
    as an interrupted one, whenever a theorem has its outcome and others have not.

    Ctrl-C ends the run early; what had finished is kept and is in the returned value, whose ``interrupted`` is true.

    **Raises:** UsageError if a check finds that the user asked for what cannot be done, or a bibliography is no BibTeX.
    """
    began = time.perf_counter()
    if settings.scheduler and settings.model is not None:
        raise UsageError(
            f"`{option('model')} {settings.model}` names a file of this machine, and `{option('scheduler')}` checks on others. "
            "Check your model here."
        )
    catalogue = catalogue or Catalogue()
    _ = catalogue.bibliography  # what is wrong with it is said before anything runs
    settings = replace(settings, roots=catalogue.elsewhere)
    under_way = _RunUnderWay(
        selection,
        settings,
        catalogue,
        check,
        listener or Silent(),
        (sources or Sources()).beside(settings.state),
        values or {},
        found,
    )
    if meanwhile is not None:
        under_way.meanwhile = lambda: meanwhile(_found(under_way, began, interrupted=True))
    under_way.work()
    under_way.sources.known.save()  # now the folder of results is there
    return _found(under_way, began, interrupted=under_way.interrupted)


def _found(under_way: _RunUnderWay, began: float, *, interrupted: bool) -> Run:
    """Results so far."""
    catalogue = under_way.catalogue
    outcomes = {id: under_way.records[id].outcome for id in under_way.order if id in under_way.records}
    shard = under_way.selection.shard
    return Run(
        selected=under_way.order,
        records=tuple(under_way.records[id] for id in outcomes),
        seconds=time.perf_counter() - began,
        interrupted=interrupted,
        files={id: catalogue.path(id) for id in outcomes if id in catalogue.files},
        manifests=under_way.manifests,
        bibliography=catalogue.bibliography,
        troubles=tuple(dict.fromkeys(under_way.troubles)),
        unchecked=under_way.unchecked(),
        shard=shard,
        jobs=under_way.jobs if under_way.settings.scheduler else 0,
    )


def unfinished(
    facts: Facts, citation: str, found: Found, settings: Settings, blocked_by: Iterable[str] = ()
) -> TheoremOutcome:
    """The outcome of a theorem that was not checked to the end."""
    return TheoremOutcome(
        id=facts.id,
        title=facts.title,
        statement=facts.statement,
        idea=facts.idea,
        paper=facts.paper,
        source=citation,
        place=facts.place,
        label=facts.label,
        status=settle([found.finding]),
        reason=found.sentence,
        blocked_by=tuple(blocked_by),
        uses=facts.uses,
        letters=(),
        hypotheses=(),
        claims=(),
        controls=(),
        mutants=(),
        proof=(),
        issues=(),
        replay=settings.replay((facts.id,)),
        work=Work(seconds=0.0),
        model=settings.model,
    )


@dataclass
class _RunUnderWay:
    """One run while it is under way."""

    selection: Selection
    settings: Settings
    catalogue: Catalogue
    check: str
    listener: Listener
    sources: Sources
    values: Mapping[str, Value]
    found: Mapping[str, Record] | None = None
    records: dict[str, Record] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    counters: dict[str, AttemptCounter] = field(default_factory=dict)
    interrupted: bool = False
    meanwhile: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.jobs = self.settings.jobs
        self.store = Store(Path(self.settings.state))
        self.graph = Graph.of(self.catalogue, self.selection.ids)
        self.circles = self.graph.cycles()
        straight = [id for id in self.selection.ids if id not in self.circles]
        acyclic = Graph({id: () if id in self.circles else names for id, names in self.graph.uses.items()})
        self.order = tuple(id for id in self.selection.ids if id in self.circles) + acyclic.order(straight)
        self.manifests = {
            id: self.sources.manifest(self.catalogue.path(id), self.own(id))
            for id in self.order
            if id not in self.values
        }
        self.elsewhere, self.unknown = self._kept_ancestors() if self.selection.shard is None else ({}, frozenset())

    def own(self, id: str, cores: int = 1) -> Settings:
        """The settings for one theorem on so many cores: other parameters are meant for those that were named."""
        found = replace(self.settings, jobs=cores)
        return found if id in self.selection.named else replace(found, at=(), sizes=(), model=None)

    def work(self) -> None:
        """Give every selected theorem its outcome, or stop at Ctrl-C."""
        is_fresh = self.settings.fresh or self.found is not None
        kept = {} if is_fresh else {id: found for id in self.order if (found := self._kept(id)) is not None}
        waiting = list(self.order)
        # A guess: what is blocked is known only on the way.
        pending = [id for id in waiting if id not in {**kept, **(self.found or {})} and self._problem(id) is None]
        workers: Workers | None = None
        if self.settings.scheduler and set(pending) - set(self.values):
            from theorax.runs.cluster import ClusterWorkers

            workers = ClusterWorkers(self.settings.scheduler, self.check, self.manifests)
            self.jobs = workers.capacity
        jobs = max(1, min(self.jobs, len(pending)))
        self.listener.planned(pending, expected := self._expected(), jobs)
        # One of which nothing is known may be the longest.
        longest = max(expected.values(), default=0.0)
        paths = self.graph.critical_paths(self.order, {id: expected.get(id, longest) for id in self.order})
        if pending:
            self._prepare()
        try:
            busy: set[str] = set()
            while waiting or busy:
                ready = self._ready(waiting, busy)
                for id in sorted(ready, key=lambda id: -paths[id]) if jobs > 1 else ready:
                    if (record := self._without_check(id, kept)) is not None:
                        waiting.remove(id)
                        self._settle(record, None)
                    elif id in self.values:
                        waiting.remove(id)
                        self.listener.started(id)
                        with told_to(partial(self.listener.reached, id)):
                            done = perform_check(self.values[id].check, id, self.own(id))
                            if done.uncounted is not None:
                                done = perform_check(self.values[id].check, id, self._counted(done, self.own(id)))
                        self._settle(self._record(done), done)
                    elif len(busy) < jobs:
                        workers = workers or workers_for(self.check, jobs, apart=self._is_apart(pending))
                        waiting.remove(id)
                        busy.add(id)
                        self.listener.started(id)
                        workers.submit(id, self._among(id, busy, waiting, kept))
                if workers is not None and (busy or not waiting):
                    for done in workers.finished(self.listener.reached):
                        if done.uncounted is None:
                            busy.discard(done.id)
                            self._settle(self._record(done), done)
                            continue
                        own = self._counted(done, self._among(done.id, busy, waiting, kept))
                        workers.submit(done.id, own)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if workers is not None:
                workers.close()

    def _is_apart(self, pending: Iterable[str]) -> bool:
        """True if these checks run a user's code, or have a time limit: none may end or hold this process."""
        limited = self.settings.model is not None or self.settings.timeout is not None
        return limited or any(map(self.catalogue.is_a_user_s, pending))

    def _among(self, id: str, busy: set[str], waiting: Sequence[str], kept: Mapping[str, KeptResult]) -> Settings:
        """The settings for a theorem among others: cores that no other uses, or soon will, are its own and draw for it."""
        beside = len(busy) + sum(other not in kept for other in waiting)
        return self.own(id, cores=max(1, self.settings.jobs // beside))

    def _ready(self, waiting: Sequence[str], busy: set[str]) -> list[str]:
        """The theorems all of whose selected ancestors have an outcome."""
        open_ = {*waiting, *busy}
        return [id for id in waiting if id in self.circles or not open_ & (self.graph.ancestors([id]) - {id})]

    def _without_check(self, id: str, kept: Mapping[str, KeptResult]) -> Record | None:
        """The outcome of a theorem that need not or cannot be checked."""
        problem = self._problem(id)
        if problem is not None:
            return Record(self._unfinished(id, Found(Finding.NOT_CHECKED, problem)))
        statuses = self.elsewhere | {name: record.outcome.status for name, record in self.records.items()}
        blockers = self.graph.blockers(id, statuses) if self.selection.shard is None else ()
        if blockers:
            listed = ", ".join(f"{name} ({statuses[name]})" for name in blockers)
            found = Found(Finding.ANCESTOR_FAILED, f"It rests on {listed}; not checked.")
            return Record(self._unfinished(id, found, blockers))
        if self.found is not None:
            return self.found[id]
        if id in kept:
            return Record(kept[id].outcome, kept_from=kept[id].date)
        return None

    def _counted(self, done: FinishedCheck, own: Settings) -> Settings:
        """The settings for the second stage of a check, with its attempts as they were counted now.

        **Raises:** StoreError if a given number of the attempt cannot be logged.
        """
        source = ""
        if done.id not in self.values:
            # Of a file that is gone meanwhile nobody can say what is drawn; the check then finds that it changed.
            with suppress(OSError):
                source = drawn_from(self.catalogue.path(done.id), own.model)
        self.counters[done.id] = AttemptCounter(AttemptFile(Path(own.state), source), own)
        return self.counters[done.id].counted(done.uncounted.versions if done.uncounted is not None else ())

    def _record(self, done: FinishedCheck) -> Record:
        if done.spent is not None:
            done = replace(done, outcome=self.counters[done.id].closed(done.spent, done.outcome))
        if done.usage:
            raise (NothingSelected if done.nothing else UsageError)(done.sentence)
        if done.outcome is not None and not (changed := self._changed(done)):
            return Record(done.outcome)
        if done.outcome is not None:
            told = f"Its sources changed while it was checked ({changed}). Nothing is kept. Check it again."
            return Record(self._unfinished(done.id, Found(Finding.NOT_CHECKED, told)), is_lasting=False)
        found = Found(Finding.UNDECIDED if done.undecided else Finding.NOT_CHECKED, done.sentence)
        log = self._log(done) if done.trace is not None else None
        return Record(self._unfinished(done.id, found), log=log)

    def _changed(self, done: FinishedCheck) -> str:
        """One of the sources that are not those that the run began with, or none: draws of both may stand in one result.

        What the check was seen to read joins its manifest.
        """
        id = done.id
        if id in self.values:
            return ""
        path, own, afresh = self.catalogue.path(id), self.own(id), self.sources.afresh
        try:
            read = afresh.observed(path, own, done.reads)
            self.manifests[id] = {**self.manifests[id], **read}
            now = afresh.manifest(path, own) | afresh.present(path, own.state, read)
            now |= {name: value for name, value in read.items() if parted(name)[0] is EntrySort.PROGRAM}
        except (OSError, UsageError):
            return "a file is gone"
        return next(map(str, manifest_differences(self.manifests[id], now)), "")

    def _settle(self, record: Record, done: FinishedCheck | None) -> None:
        """Keep an outcome and tell it; a store that fails is told once and stops nothing."""
        self._keep(record, done)
        if len(self.records) < len(self.order):
            self.meanwhile()

    def _keep(self, record: Record, done: FinishedCheck | None) -> None:
        record = replace(record, outcome=self._placed(record.outcome))
        id = record.outcome.id
        self.records[id] = record
        # Of a value the text is not known, so nobody could say when it changed; a merge checks nothing.
        if id in self.values or not record.is_lasting or self.found is not None:
            self.listener.finished(record)
            return
        checked = done is not None and (done.outcome is not None or not done.undecided)
        if checked or (record.outcome.status is Status.ERROR and record.kept_from is None):
            observations = done.observations if done is not None else None
            try:
                self.store.put(self.manifests[id], record.outcome, now(), observations)
            except StoreError as error:
                self.troubles.append(f"Not kept: {error}")
        self.listener.finished(record)

    def _placed(self, outcome: TheoremOutcome) -> TheoremOutcome:
        """An outcome with where its file lies now, which determines no result: a kept one may be from elsewhere."""
        facts = self.catalogue.facts(outcome.id)
        return replace(
            outcome,
            title=facts.title,
            statement=facts.statement,
            idea=facts.idea,
            paper=facts.paper,
            source=self.catalogue.citation(facts.paper),
            replay=self._again(outcome.id),
            root=self.catalogue.origin(outcome.id),
            selector=() if outcome.id in self.values else self.catalogue.selector(outcome.id),
        )

    def _again(self, id: str) -> str:
        if id in self.values:
            return self.values[id].again
        return self.own(id).replay(self.catalogue.selector(id))

    def _problem(self, id: str) -> str | None:
        return self.catalogue.problem(id) or self.circles.get(id)

    def _unfinished(self, id: str, found: Found, blocked_by: Iterable[str] = ()) -> TheoremOutcome:
        facts = self.catalogue.facts(id)
        return unfinished(facts, self.catalogue.citation(facts.paper), found, self.own(id), blocked_by)

    def _kept(self, id: str) -> KeptResult | None:
        if id in self.values:
            return None
        present = partial(self.sources.present, self.catalogue.path(id), self.settings.state)
        try:
            kept = self.store.get(self.manifests[id], present)
        except DamagedResult as error:
            self.troubles.append(f"{error} The theorem is checked again.")
            return None
        except StoreError as error:
            self.troubles.append(f"Nothing is kept: {error}")
            return None
        if kept is not None and not self._is_of_file(id, kept.outcome):
            self.troubles.append(
                f"The result kept in {self.store.path} under the sources of {id} states something else than its file. "
                "It is not used. The theorem is checked again."
            )
            return None
        least = self.settings.attempt
        if kept is not None and any(claim.log and claim.attempt < least for claim in kept.outcome.claims):
            return None  # a later attempt has smaller levels
        if kept is not None:
            self.manifests[id] = dict(kept.manifest)
        return kept

    def _is_of_file(self, id: str, outcome: TheoremOutcome) -> bool:
        """True if an outcome is of the claims that the text of the theorem's file writes out."""
        stated, own = self.catalogue.facts(id).claims, self.own(id)
        if outcome.id != id:
            return False
        found = {claim.id for claim in outcome.claims} | {one.claim for one in outcome.not_asked}
        # A check may add claims to those of its file; of a model, and of values that were typed, only some may speak.
        is_whole = not (own.at or own.sizes or own.model)
        return stated is None or (found >= set(stated) if is_whole else not found or not found.isdisjoint(stated))

    def _kept_ancestors(self) -> tuple[dict[str, Status], frozenset[str]]:
        """The kept statuses of the ancestors that are not selected, and those of them that have none."""
        plain = replace(self.settings, at=(), sizes=(), model=None)
        found: dict[str, Status] = {}
        unknown: list[str] = []
        for id in sorted(self.graph.ancestors(self.order) - set(self.order)):
            if self._problem(id) is not None:
                found[id] = Status.ERROR
                continue
            path = self.catalogue.path(id)
            try:
                present = partial(self.sources.present, path, self.settings.state)
                kept = self.store.get(self.sources.manifest(path, plain), present)
            except DamagedResult as error:
                self.troubles.append(str(error))
                kept = None
            except StoreError:
                kept = None
            if kept is None:
                unknown.append(id)
            else:
                found[id] = kept.outcome.status
        return found, frozenset(unknown)

    def unchecked(self) -> dict[str, tuple[str, ...]]:
        """The dependencies of every theorem that were neither checked in this run nor kept."""
        return {id: tuple(sorted(self.unknown & self.graph.ancestors([id]))) for id in self.order}

    def _expected(self) -> Mapping[str, float]:
        try:
            kept = self.store.seconds()
        except StoreError:
            kept = {}
        return {**shipped_seconds(self.settings.effort), **kept}

    def _prepare(self) -> None:
        try:
            self.store.prepare()
        except StoreError as error:
            self.troubles.append(f"Nothing is kept: {error}")

    def _log(self, done: FinishedCheck) -> str | None:
        path = Path(self.settings.state) / "log" / f"{done.id}.txt"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{self._again(done.id)}\n\n{done.trace}", encoding="utf-8")
        except OSError:
            return None
        return str(path)
