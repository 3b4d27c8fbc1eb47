"""Every word of the glossary has a short text with an example, and every report's word is there."""

import re
import subprocess
import sys

import pytest

from theorax.decide.status import Reason, Status
from theorax.text.glossary import GLOSSARY

WANTED = [
    "margin",
    "corrections",
    "breakdown",
    "headroom",
    "robust",
    "fragile",
    "risk",
    "adjusted",
    "control",
    "mutant",
    "power",
    "attempt",
    "kept",
    "sweep",
    "case",
    "subject",
    "scope",
    "reading",
    "baseline",
    "dependency",
    "root",
    "padding",
    "noise",
    "assumed",
    "blind to",
    "seen",
    "ours",
    "range",
    "class",
    "numeric_floor",
    "together",
    "searched",
    "witness",
    "by convention",
    "open step",
    "decides",
]


def test_all_words_of_a_report_are_there():
    assert set(WANTED) <= set(GLOSSARY)


@pytest.mark.parametrize("word", GLOSSARY)
def test_an_entry_is_short_and_has_an_example(word):
    text = GLOSSARY[word]
    assert len(text.split()) <= 60
    assert "Example: " in text or word == "scope"
    for sentence in re.split(r"(?<=[.;:]) ", text):
        assert len(sentence.split()) <= 25, sentence


def test_explaining_a_word_loads_neither_jax_nor_sympy():
    names = [
        *GLOSSARY,
        *(status.value for status in Status),
        *(reason.value for reason in Reason),
        "Margin",
        "absolute-margin",
    ]
    program = f"""
import sys
from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
for name in {names!r}:
    assert exit_code_of(Workspace(arguments=("explain", name))) == 0, name
assert not {{"jax", "sympy", "equinox"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "margin: The smallest error" in done.stdout
