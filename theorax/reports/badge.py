"""A badge: how many theorems hold, as the endpoint of shields.io wants it."""

from __future__ import annotations

import json

from theorax.decide.status import Status
from theorax.reports.document import Document
from theorax.text.signs import verdict_word

ALARMING = (Status.REFUTED, Status.ERROR)


def text(document: Document) -> str:
    """The badge as JSON: what holds of what was asked for, and the worst of the rest in a word."""
    hold, asked = document.hold, document.asked
    worst = document.worst_first[0].status if document.theorems else None
    alone = worst is Status.REFUTED and all(part.alone for part in document.theorems if part.status is worst)
    message, colour = f"{hold} of {asked} hold", "brightgreen"
    if not asked:
        message, colour = "nothing checked", "lightgrey"
    elif worst is None or (worst.holds and hold < asked):
        message, colour = f"{message}, interrupted", "lightgrey"
    elif not worst.holds:
        message = f"{message}, {document.summary.statuses[worst]} {verdict_word(worst, alone=alone).lower()}"
        colour = "red" if worst in ALARMING and not alone else "yellow"
    badge = {
        "schemaVersion": 1,
        "label": "theorems",
        "message": message,
        "color": colour,
        "isError": worst in ALARMING and not alone,
    }
    return json.dumps(badge, indent=2) + "\n"
