"""JUnit XML: one suite per theorem, one case per claim, every number in the text.

=============  ==================================================
a claim        is a case that
=============  ==================================================
held           passed
failed         has a failure
is undecided   was skipped, with its reason: it is no success
broken         has an error
=============  ==================================================

A theorem's claims are decided from the same draws: the time of its whole check stands at its first case. Each case says
in which file and on which line its claim is stated, counted from one as an editor counts.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Sequence

from theorax.reports.build_findings import BuildFinding, BuildOutcome, findings_of_build
from theorax.reports.command_answers import Answer, BuildCase
from theorax.reports.document import Document
from theorax.text.safe import shortened

ELEMENTS = {BuildOutcome.FAILED: "failure", BuildOutcome.UNDECIDED: "skipped", BuildOutcome.BROKEN: "error"}
COUNTED = {BuildOutcome.FAILED: "failures", BuildOutcome.BROKEN: "errors", BuildOutcome.UNDECIDED: "skipped"}
MESSAGE = 1000  # characters of an attribute; the text has the rest


def text(document: Document) -> str:
    """The report as JUnit XML."""
    return _render([_case(finding, document) for finding in findings_of_build(document)], document.created)


def answer_text(answer: Answer) -> str:
    """The answer of another command as JUnit XML."""
    return _render(answer.cases, answer.created)


def _case(finding: BuildFinding, document: Document) -> BuildCase:
    theorem, settings = finding.theorem, document.settings
    return BuildCase(
        suite=f"{theorem.paper}.{theorem.id}" if theorem is not None and theorem.paper else finding.id,
        name=finding.name,
        outcome=finding.outcome,
        status=finding.status,
        title=finding.title,
        sentence=finding.sentence,
        text=finding.text,
        file=finding.file,
        line=finding.claim.line if finding.claim is not None else None,
        seconds=finding.seconds,
        properties={
            "title": theorem.title if theorem is not None else "",
            "status": theorem.status if theorem is not None else finding.status,
            "effort": settings.effort,
            "seed": str(settings.seed),
            "generator": document.generator,
            "run": document.together.sentence,
            "replay": finding.replay,
        },
    )


def _render(cases: Sequence[BuildCase], created: str) -> str:
    suites: dict[str, list[BuildCase]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    seconds = sum(own[0].seconds for own in suites.values())
    root = xml.Element("testsuites", {"name": "theorax", **_counts(cases), "time": _time(seconds)})
    for name, own in suites.items():
        root.append(_of(name, own, created))
    xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, encoding="unicode")}\n'


def _of(name: str, own: Sequence[BuildCase], created: str) -> xml.Element:
    stamp = created.removesuffix("Z")
    file = {"file": own[0].file} if own[0].file else {}
    suite = {"name": name, **_counts(own), "time": _time(own[0].seconds), "timestamp": stamp, **file}
    found = xml.Element("testsuite", suite)
    properties = xml.SubElement(found, "properties")
    for key, value in own[0].properties.items():
        if value:
            xml.SubElement(properties, "property", {"name": key, "value": value})
    for place, case in enumerate(own):
        seconds = case.seconds if place == 0 else 0.0
        told = {"classname": name, "name": case.name, "time": _time(seconds), **file}
        if file and case.line is not None:
            told["line"] = str(case.line)
        made = xml.SubElement(found, "testcase", told)
        element = ELEMENTS.get(case.outcome)
        if element is None:
            xml.SubElement(made, "system-out").text = f"{case.sentence}\n\n{case.text}"
            continue
        attributes = {"message": shortened(f"{case.title}: {case.sentence}", MESSAGE)}
        if element != "skipped":
            attributes["type"] = case.status
        xml.SubElement(made, element, attributes).text = case.text
    return found


def _counts(found: Sequence[BuildCase]) -> dict[str, str]:
    counts = Counter(case.outcome for case in found)
    return {"tests": str(len(found)), **{name: str(counts[outcome]) for outcome, name in COUNTED.items()}}


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
