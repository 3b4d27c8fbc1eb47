"""``verify explain``: what a theorem states, assumes and measures, without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from theorax.cli.listing import existing_id
from theorax.cli.options import complete
from theorax.cli.printing import print_blocks
from theorax.cli.workspace import workspace_of

if TYPE_CHECKING:
    from theorax.language import Theorem
    from theorax.text.blocks import Block
    from theorax.theorems.catalogue import Catalogue


@click.command("explain")
@click.argument("id", metavar="ID", shell_complete=complete)
@click.pass_context
def explain(context: click.Context, id: str) -> int:
    """Show what a theorem states, assumes, measures and proves; nothing is run."""
    catalogue = workspace_of(context).catalogue
    existing_id(context, id)
    from theorax.verifiers.loading import load

    print_blocks(list(_description(id, load(id, catalogue), catalogue)))
    return 0


def _description(id: str, theorem: Theorem, catalogue: Catalogue) -> Iterator[Block]:
    from theorax.reports import theorem_text
    from theorax.text.blocks import Heading, Lines, Paragraph
    from theorax.verifiers.claim_verdicts import letters
    from theorax.verifiers.outcome import HypothesisOutcome

    facts = catalogue.facts(id)
    source = catalogue.citation(facts.paper)
    yield from theorem_text.head(theorem_text.TheoremHead(id, facts.title, theorem.place, source, theorem.label))
    yield from theorem_text.letters(letters(theorem))
    subjects = [
        (label, subject)
        for experiment in theorem.experiments.values()
        for label, subject in experiment.subjects.items()
    ]
    yield from theorem_text.hypotheses(
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


def _claims(theorem: Theorem) -> Iterator[Block]:
    from theorax.text.blocks import Heading, Lines, Paragraph

    for name, claim in theorem.claims.items():
        yield Heading(f"Claim {name} ({claim.kind})")
        yield Lines(tuple(claim.typeset.split("\n")))
        if claim.corrected is not None:
            yield Paragraph(f"This is what the source prints; what holds is the claim {claim.corrected}.")
        if claim.margin is not None:
            yield Paragraph(f"Margin {claim.margin}, because {claim.margin.reason}.", quiet=True)
        if claim.under is not None:
            yield Paragraph(f"Needs: {', '.join(theorem.needed(claim)) or 'no hypothesis'}.", quiet=True)


def _evidence(theorem: Theorem) -> Iterator[Block]:
    """Measurements and proofs of a theorem, and the limits of its check."""
    from theorax.text.blocks import Heading, Paragraph

    if theorem.experiments:
        yield Heading("Measured")
    for name, experiment in theorem.experiments.items():
        sweep = "; ".join(f"{letter} = {_sizes(sizes)}" for letter, sizes in experiment.sweep.items())
        told = f"{name}: {', '.join(experiment.subjects)}" + (f"; along {sweep}" if sweep else "")
        yield Paragraph(told, hang=2)
    if theorem.proofs:
        yield Heading("Proved")
        for proof in theorem.proofs:
            yield Paragraph(proof.name, hang=2)
    if theorem.issues:
        yield Heading("What the check cannot see")
        for sentence in theorem.issues:
            yield Paragraph(sentence, hang=2)


def _sizes(given: object) -> str:
    from theorax.language.experiments import Efforts

    if isinstance(given, Efforts):
        return f"{_sizes(given.standard)} at standard effort"
    return ", ".join(map(str, given)) if isinstance(given, tuple) else str(given)
