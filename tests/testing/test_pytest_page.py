"""The example of ``docs/pytest.md`` is a file of tests that pass."""

from __future__ import annotations

import re
from pathlib import Path

import fakes

pytest_plugins = ["pytester"]

PAGE = Path(fakes.__file__).parents[1] / "docs" / "pytest.md"


def test_the_example_passes_and_is_accounted_for(session, pytester):
    (text,) = re.findall(
        r"^```python\n(# test_convergence\.py\n.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    pytester.makepyfile(test_convergence=text)
    # In a process of its own: JAX, which the example imports, is imported once in a process.
    found = pytester.runpytest_subprocess("-p", "theorax.testing.plugin", "--verify-strict")
    found.assert_outcomes(passed=3)
    assert found.ret == 0
    assert "3 claims: 1 CERTIFIED, 2 SUPPORTED." in found.stdout.str()


def test_every_option_of_the_page_exists(session):
    known = session("--help").stdout.str()
    for option in set(re.findall(r"--verify[a-z-]*", PAGE.read_text(encoding="utf-8"))):
        assert re.search(rf"{option}\b", known), option
