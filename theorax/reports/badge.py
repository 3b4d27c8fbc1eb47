"""A badge: how many theorems hold, as the endpoint of shields.io wants it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from theorax.reports.summary import GREEN, ORDER

COLOURS = {"REFUTED": "red", "ERROR": "red", "INCONCLUSIVE": "yellow", "BLOCKED": "yellow", "VACUOUS": "yellow"}


def text(document: Mapping[str, Any]) -> str:
    """The badge as JSON: what holds of what was asked for, and the worst of the rest in a word."""
    counts, unfinished = document["summary"]["statuses"], len(document["summary"]["unfinished"])
    asked = sum(counts.values()) + unfinished
    hold = sum(counts.get(status, 0) for status in GREEN)
    worst = next((status for status in reversed(ORDER) if counts.get(status)), None)
    if not asked:
        message, colour = "nothing checked", "lightgrey"
    elif hold == asked:
        message, colour = f"{hold} of {asked} hold", "brightgreen"
    elif worst is None or worst in GREEN:
        message, colour = f"{hold} of {asked} hold, interrupted", "lightgrey"
    else:
        message, colour = f"{hold} of {asked} hold, {counts[worst]} {worst.lower()}", COLOURS[worst]
    badge = {
        "schemaVersion": 1,
        "label": "theorems",
        "message": message,
        "color": colour,
        "isError": worst in ("REFUTED", "ERROR"),
    }
    return json.dumps(badge, indent=2) + "\n"
