"""Legend of the graph's marks: groups of samples with their words."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from theorax.decide.status import Status
from theorax.reports.html.box_drawing import sample
from theorax.reports.html.graph_boxes import NUMERIC, PLAIN, SHAPES, SYMBOLIC, GraphBox
from theorax.reports.html.graph_panels import GraphPanels

Samples = list[tuple[Markup, str]]


def legend(drawn: GraphPanels) -> list[tuple[str, Samples]]:
    """The groups of marks that a report's graph may have."""
    around = [
        (_drawn(symbolic=PLAIN, ring=True), "outer ring: everything it rests on holds"),
        (_drawn(symbolic=PLAIN, controls="fired"), "flag: every control was noticed, so the check can fail"),
        (_drawn(symbolic=PLAIN, controls="silent"), "empty flag: a control was not noticed"),
    ]
    if drawn.stubs:
        around.append((_drawn(stub=True), "thin and empty: a theorem of another paper, drawn in full there"))
    if drawn.ghosts:
        around.append((Markup(sample(GraphBox("", None))), "dotted: it was not run, or is not in this report"))
    return [
        (
            "Shape and letter: the verdict",
            [(_drawn(status=status, symbolic=PLAIN), told) for status, told in SHAPES.items()],
        ),
        ("Border: the symbolic side", [(_drawn(symbolic=name), told) for name, told in SYMBOLIC.items()]),
        ("Fill: the numeric side", [(_drawn(symbolic=PLAIN, numeric=name), told) for name, told in NUMERIC.items()]),
        ("Around it", around),
    ]


def _drawn(status: Status | None = None, *, stub: bool = False, **marks: Any) -> Markup:
    box = GraphBox("", status or Status.SUPPORTED, **marks)
    return Markup(sample(box, letter=status is not None, stub=stub))
