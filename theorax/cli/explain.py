"""``verify explain``: what a theorem states, assumes and measures, without running it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theorax.cli.listing import existing_id
from theorax.cli.options import timeout_option
from theorax.cli.printing import print_blocks
from theorax.cli.selecting import complete, root_option
from theorax.cli.workspace import workspace_of
from theorax.decide.findings import Finding
from theorax.errors import UsageError
from theorax.names import did_you_mean, many
from theorax.runs.selectors import is_path
from theorax.text.blocks import Paragraph

if TYPE_CHECKING:
    from theorax.language import Theorem
    from theorax.text.blocks import Block
    from theorax.theorems.catalogue import Catalogue


@click.command("explain")
@click.argument("id", metavar="ID|ID.CLAIM|paper:PAPER|WORD|RULE", shell_complete=complete)
@root_option
@timeout_option
@click.pass_context
def explain(context: click.Context, id: str, timeout: float | None) -> int:
    """Show what a theorem states, assumes, measures and proves; nothing is run.

    ID.CLAIM shows one claim, paper:PAPER the theorems of a paper. A word of a report, a status, the code of a reason or
    the name of a rule of `verify lint` is explained.
    """
    catalogue = workspace_of(context, (id,)).catalogue
    theorem, dot, claim = id.partition(".")
    if id.startswith("paper:"):
        print_blocks(_paper(id, catalogue))
    elif id in catalogue.files or is_path(id) or any(sign in id for sign in ":*?[") or Path(id).is_dir():
        found = existing_id(catalogue, id)
        print_blocks([*_text(found, catalogue, timeout), *_released(found, catalogue)])
    elif dot and theorem in catalogue.files:
        print_blocks(_described(catalogue, timeout, theorem, claim))
    elif (told := word_explained(id)) is not None:
        print_blocks([Paragraph(told)])
    else:
        raise UsageError(
            f"`{id}` is no theorem, no paper and no word of a report{did_you_mean(id, [*catalogue.ids, *words()])} "
            "Write an id, ID.claim, paper:NAME, or a word such as `margin`."
        )
    return 0


def words() -> dict[str, str]:
    """Every word that is explained, with its text: of reports, statuses, codes of reasons, rules."""
    from theorax.decide.status import Status
    from theorax.decide.wording import REMEDIES
    from theorax.text.glossary import GLOSSARY
    from theorax.text.rules import RULES

    return {
        **RULES,
        **{reason.value: f"Nothing was decided: {text}." for reason, text in REMEDIES.items()},
        **{status.value: f"{status.meaning[0].upper()}{status.meaning[1:]}." for status in Status},
        **GLOSSARY,
    }


def word_explained(word: str) -> str | None:
    """The word with its text, in whatever case it is typed; None for one that is not explained."""
    known = {name.casefold(): (name, text) for name, text in words().items()}
    found = known.get(word.casefold())
    return None if found is None else f"{found[0]}: {found[1]}"


def _paper(word: str, catalogue: Catalogue) -> list[Block]:
    """A paper with the titles of its theorems."""
    from theorax.runs.selectors import select
    from theorax.text.blocks import Heading, Lines

    ids = select((word,), catalogue).ids
    blocks: list[Block] = []
    for paper in dict.fromkeys(catalogue.paper(id) for id in ids):
        of_paper = [id for id in ids if catalogue.paper(id) == paper]
        blocks += [Heading(f"{paper} ({many(len(of_paper), 'theorem')})"), Paragraph(catalogue.citation(paper))]
        for id in of_paper:
            blocks += [Lines((id,), indent=2), Paragraph(catalogue.facts(id).title, indent=4)]
    return blocks


def _described(catalogue: Catalogue, timeout: float | None, id: str, claim: str = "") -> list[Block]:
    """The text about a theorem or a claim, made now; a user's code never runs in the process that reports."""
    from theorax.cli.options import settings
    from theorax.runs.worker_process import CallsApart

    with CallsApart(catalogue.elsewhere, settings({"timeout": timeout}).timeout) as calls:
        given = id, claim, catalogue.elsewhere
        text: list[Block] = calls.call("theorax.cli.explain:explained", *given, apart=catalogue.is_a_user_s(id))
    return text


def explained(id: str, name: str, roots: tuple[str, ...]) -> list[Block]:
    """A theorem; or one claim of it, with its statement, margin and hypotheses.

    **Raises:** UsageError with the nearest names if the theorem has no such claim; StatementError as `load`.
    """
    from theorax.theorems.catalogue import Catalogue
    from theorax.verifiers.loading import load

    catalogue = Catalogue.of(roots)
    theorem = load(id, catalogue)
    if not name:
        return list(_description(id, theorem, catalogue))
    if name not in theorem.claims:
        raise UsageError(
            f"`{id}` has no claim `{name}`{did_you_mean(name, theorem.claims)} Its claims: {', '.join(theorem.claims)}."
        )
    return list(_claims(theorem, name))


def _text(id: str, catalogue: Catalogue, timeout: float | None) -> list[Block]:
    """The text about a theorem: as it is kept, where its sources are the same, or made now and kept."""
    from theorax.cli.options import settings
    from theorax.runs.kept_texts import keep_text, kept_text
    from theorax.runs.manifests import key
    from theorax.runs.sources import Sources
    from theorax.verifiers.settings import Settings

    chosen, facts = settings({}), catalogue.facts(id)
    sources = Sources(deciding=("cli/explain.py",)).beside(chosen.state)
    said = {
        "title": facts.title,
        "statement": facts.statement,
        "idea": facts.idea,
        "citation": catalogue.citation(facts.paper),
    }
    made_of = key({**sources.manifest(facts.path, Settings()), **said})
    text = kept_text(Path(chosen.state), id, made_of)
    if text is None:
        text = _described(catalogue, timeout, id)
        keep_text(Path(chosen.state), id, made_of, text)
    sources.known.save()
    return text


def _released(id: str, catalogue: Catalogue) -> Iterator[Block]:
    """The release's word for the theorem, where the release checked this text."""
    from theorax.reports import release
    from theorax.text.blocks import Lines

    shipped = release.heads()
    if found := shipped.line(id, catalogue.path(id)):
        yield Lines((f"{found}, {shipped.effort} effort", f"Compare it here: verify replay --release {id}"), indent=2)


def _description(id: str, theorem: Theorem, catalogue: Catalogue) -> Iterator[Block]:
    from theorax.reports import theorem_text
    from theorax.text.blocks import Heading, Lines
    from theorax.verifiers.claim_verdicts import letters_of_claims
    from theorax.verifiers.outcome import HypothesisOutcome

    facts = catalogue.facts(id)
    source = catalogue.citation(facts.paper)
    yield from theorem_text.theorem_heading(
        theorem_text.TheoremHead(id, facts.title, theorem.place, source, theorem.label)
    )
    yield from theorem_text.in_words(facts.statement, facts.idea)
    yield from theorem_text.letter_blocks(letters_of_claims(theorem))
    subjects = [
        (label, subject)
        for experiment in theorem.experiments.values()
        for label, subject in experiment.subjects.items()
    ]
    yield from theorem_text.hypothesis_blocks(
        [
            HypothesisOutcome(
                name=part.name,
                sentence=part.sentence,
                broken_by=tuple(label for label, subject in subjects if part.name in subject.broken),
                unbroken=part.unbroken,
                tested=str(part.holds) if part.holds is not None else None,
            )
            for part in theorem.hypotheses
        ]
    )
    yield from _claims(theorem)
    yield from _evidence(theorem)
    yield Heading("Rests on")
    yield Paragraph(", ".join(theorem.uses) or "nothing else here")
    yield Lines(("", f"Check it: verify theorem {id}"), indent=2)


def _claims(theorem: Theorem, only: str = "") -> Iterator[Block]:
    from theorax.decide.facts import FactKey
    from theorax.decide.phrases import margin_text
    from theorax.reports.claim_facts import printed
    from theorax.text.blocks import Heading, Lines

    for name, claim in theorem.claims.items():
        if only not in ("", name):
            continue
        yield Heading(f"Claim {name} ({claim.kind})")
        yield Lines(tuple(claim.typeset.split("\n")))
        if claim.corrected is not None:
            yield Paragraph(printed(theorem.label, claim.corrected))
        if claim.margin is not None:
            yield Paragraph(f"{FactKey.MARGIN}: {margin_text(str(claim.margin), claim.margin.reason)}.", quiet=True)
        if claim.under is not None:
            yield Paragraph(f"Needs: {', '.join(theorem.needed(claim)) or 'no hypothesis'}.", quiet=True)


def _evidence(theorem: Theorem) -> Iterator[Block]:
    """Measurements and proofs of a theorem, and the limits of its check."""
    from theorax.text.blocks import Heading

    if theorem.experiments:
        yield Heading("Measured")
    for name, experiment in theorem.experiments.items():
        sweep = "; ".join(f"{letter} = {_sizes(sizes)}" for letter, sizes in experiment.sweep.items())
        told = f"{name}: {', '.join(experiment.subjects)}" + (f"; along {sweep}" if sweep else "")
        yield Paragraph(told, hang=2)
    yield from _proofs(theorem)
    if theorem.issues:
        yield Heading("Blind to")
        for sentence in theorem.issues:
            yield Paragraph(sentence, hang=2)


def _proofs(theorem: Theorem) -> Iterator[Block]:
    """Proofs as the check finds them: settled claims, derivations with what they are given, cited works."""
    from theorax.text.blocks import Heading
    from theorax.verifiers import proof_check
    from theorax.verifiers.outcome import StepStatus

    checked = proof_check.check_proofs(theorem)
    proved = {
        name: checked.scopes.get(name, "")
        for name in theorem.claims
        if checked.settles(name) and proof_check.false_step(checked.steps, name, theorem) is None
    } | {
        name: "all values that the declarations of its letters admit"
        for name, claim in theorem.claims.items()
        if (found := proof_check.as_it_stands(claim)) is not None and found.finding is Finding.PROOF
    }
    if proved:
        yield Heading("Proved here")
        for name, scope in proved.items():
            yield Paragraph(f"{name}: for {scope}" if scope else name, hang=2)
        yield Paragraph("A measurement that contradicts a proof makes its claim an ERROR.", quiet=True)
    derived = {proof.name: proof.scope for proof in theorem.proofs if proof.name not in proved}
    for name, scope in derived.items():
        own = [step for step in checked.steps if step.proof == name]
        cited = list(dict.fromkeys(step.method for step in own if step.status is StepStatus.CITED))
        left = [step.reason for step in own if step.status in (StepStatus.UNDECIDED, StepStatus.REFUTED)]
        yield Heading(f"Derived, given {'; '.join(cited) if cited else 'what its scope says'}")
        yield Paragraph(f"{name}: {scope}", hang=2)
        for reason in left:
            yield Paragraph(f"? not closed: {reason}", hang=2)
    cited = list(
        dict.fromkeys(f"{step.method}: {step.reason}" for step in checked.steps if step.status is StepStatus.CITED)
    )
    if cited:
        yield Heading("Cited")
        for line in cited:
            yield Paragraph(line, hang=2)


def _sizes(given: object) -> str:
    from theorax.language.experiments import Efforts

    if isinstance(given, Efforts):
        return f"{_sizes(given.standard)} at standard effort"
    return ", ".join(map(str, given)) if isinstance(given, tuple) else str(given)
