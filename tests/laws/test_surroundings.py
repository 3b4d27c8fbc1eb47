"""Law: a result depends on nothing that its key does not name, so terminal, locale and hash seed change no byte of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A statistical theorem, one with a proof, and one with a bound on a box whose sides are long sums.
THEOREMS = ("price_identity", "relu_arc_cosine_kernel", "edge_of_chaos_points")
SURROUNDINGS = (
    {"COLUMNS": "30", "LINES": "5", "TERM": "dumb", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"COLUMNS": "400", "LINES": "99", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
)
CHECK = """
import hashlib, json, sys
from theorax.numerics.threads import one_thread
one_thread()
from sympy import symbols
from theorax.runs.checking import observe
from theorax.text.codec import json_values
from theorax.verifiers import proof_steps
from theorax.verifiers.settings import Settings

# A line of a proof in the form that depends on the terminal's width: no fraction, and wider than the narrow one.
print(ascii(proof_steps._statement([(sum(symbols("x_1:9")), symbols("y"))])))
for id in sys.argv[2:]:
    checked = observe(id, Settings(effort="quick", state=sys.argv[1]))
    found = json_values(checked.outcome, exact=True)
    del found["work"]  # times
    print(json.dumps({"outcome": found, "observations": hashlib.sha256(checked.observations or b"").hexdigest()}))
"""


def outcomes(state: Path, surroundings: dict[str, str]) -> list[str]:
    """Outcomes in these surroundings, as they would be kept: a line of a proof, then one line for each theorem."""
    told = subprocess.run(
        [sys.executable, "-c", CHECK, str(state), *THEOREMS],
        env={**os.environ, **surroundings}, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    return told.stdout.splitlines()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The lines of both surroundings; one state, so that both are the same attempt."""
    state = tmp_path_factory.mktemp("state")
    return [outcomes(state, {**given, "PYTHONHASHSEED": str(seed)}) for seed, given in enumerate(SURROUNDINGS, 1)]


@pytest.mark.parametrize("at", range(1 + len(THEOREMS)), ids=("line", *THEOREMS))
def test_surroundings_change_no_byte_of_what_is_kept(found, at):
    narrow, wide = (lines[at] for lines in found)
    assert narrow == wide
