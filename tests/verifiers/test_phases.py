"""Phases of a check while it is under way."""

from __future__ import annotations

from theorax.runs import checking
from theorax.verifiers.phases import told_to
from theorax.verifiers.settings import Settings


def test_a_check_tells_its_phases_and_counts_what_its_plan_counts(tmp_path):
    told = []
    settings = Settings(effort="quick", state=str(tmp_path))
    with told_to(told.append):
        work = checking.check("haar_frames", settings).work
    assert told[0] == "importing"
    assert {name.partition(" ")[0] for name in told} == {
        "importing", "reading", "proving", "compiling", "drawing", "attacking", "deciding"
    }  # fmt: skip
    assert [name for name in told if name.startswith("compiling")] == [f"compiling 1/{work.programs}"]
    lines = sorted({name for name in told if name.startswith("drawing ")})
    # Haar rows and the row of each control, twice where there are two cases.
    assert lines == [f"drawing {number}/{len(lines)}" for number in range(1, len(lines) + 1)]
