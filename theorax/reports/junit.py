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

from theorax.reports.build_findings import BuildFinding, BuildOutcome, findings
from theorax.reports.document import Document
from theorax.text.safe import shortened

ELEMENTS = {BuildOutcome.FAILED: "failure", BuildOutcome.UNDECIDED: "skipped", BuildOutcome.BROKEN: "error"}
COUNTED = {BuildOutcome.FAILED: "failures", BuildOutcome.BROKEN: "errors", BuildOutcome.UNDECIDED: "skipped"}
MESSAGE = 1000  # characters of an attribute; the text has the rest


def text(document: Document) -> str:
    """The report as JUnit XML."""
    suites: dict[str, list[BuildFinding]] = {}
    for finding in findings(document):
        suites.setdefault(_suite(finding), []).append(finding)
    cases = [finding for own in suites.values() for finding in own]
    seconds = sum(own[0].seconds for own in suites.values())
    root = xml.Element("testsuites", {"name": "theorax", **_counts(cases), "time": _time(seconds)})
    for name, own in suites.items():
        root.append(_of(name, own, document))
    xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, encoding="unicode")}\n'


def _suite(finding: BuildFinding) -> str:
    part = finding.theorem
    return f"{part.paper}.{part.id}" if part is not None and part.paper else finding.id


def _of(name: str, own: Sequence[BuildFinding], document: Document) -> xml.Element:
    theorem, settings = own[0].theorem, document.settings
    stamp = document.created.removesuffix("Z")
    file = {"file": own[0].file} if own[0].file else {}
    suite = {"name": name, **_counts(own), "time": _time(own[0].seconds), "timestamp": stamp, **file}
    found = xml.Element("testsuite", suite)
    properties = xml.SubElement(found, "properties")
    about = {
        "title": theorem.title if theorem is not None else "",
        "status": theorem.status if theorem is not None else own[0].status,
        "effort": settings.effort,
        "seed": str(settings.seed),
        "generator": document.generator,
        "replay": own[0].replay,
    }
    for key, value in about.items():
        if value:
            xml.SubElement(properties, "property", {"name": key, "value": value})
    for place, finding in enumerate(own):
        seconds = finding.seconds if place == 0 else 0.0
        told = {"classname": name, "name": finding.name, "time": _time(seconds), **file}
        if file and finding.claim is not None and finding.claim.line is not None:
            told["line"] = str(finding.claim.line)
        case = xml.SubElement(found, "testcase", told)
        element = ELEMENTS.get(finding.outcome)
        if element is None:
            xml.SubElement(case, "system-out").text = f"{finding.sentence}\n\n{finding.text}"
            continue
        attributes = {"message": shortened(f"{finding.title}: {finding.sentence}", MESSAGE)}
        if element != "skipped":
            attributes["type"] = finding.status
        xml.SubElement(case, element, attributes).text = finding.text
    return found


def _counts(found: Sequence[BuildFinding]) -> dict[str, str]:
    counts = Counter(finding.outcome for finding in found)
    return {"tests": str(len(found)), **{name: str(counts[outcome]) for outcome, name in COUNTED.items()}}


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
