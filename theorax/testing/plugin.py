"""The plug-in of pytest: its options, the fixture `claim`, and the session's account of everything that was claimed.

It imports nothing of the package until a claim is made or `--verify` is given.

=====================  =======================================  ============================
a claim                as a test                                with `--verify-strict`
=====================  =======================================  ============================
holds                  passes                                   passes
is refuted, an error   fails                                    fails
is undecided           is skipped, with its reason              fails
held alone, but not    passes; the session's summary names it   the session ends with code 1
among all the others
=====================  =======================================  ============================

Undecided is no success: where the variable CI is set, as every service of continuous integration does, strict is the
default. `--verify-lenient` and `verify_strict` in the configuration of pytest say otherwise.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from theorax.testing.claim_fixture import Claims
    from theorax.testing.family import Family

PROPERTY = "theorax"  # under this name a test's report carries its claims
SETTINGS = (
    "effort", "seed", "device", "level", "nightly", "adjust", "at", "sizes", "model", "fresh", "state"
)  # fmt: skip
"""The options of the command that are offered behind `--verify-`."""
ELSEWHERE = ("at", "sizes", "model")  # these ask named theorems something else than what they state


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plug-in."""
    group = parser.getgroup("theorax", "claims of theorems (theorax)")
    add = group.addoption
    add(
        "--verify",
        action="append",
        metavar="SELECTOR",
        help="Collect the claims of these theorems as tests; repeatable.",
    )
    add("--verify-exclude", action="append", metavar="SELECTOR", help="Leave these theorems out.")
    add("--verify-only", action="store_true", help="Collect no other tests.")
    add("--verify-effort", metavar="EFFORT", help="quick, standard or thorough [standard].")
    add("--verify-seed", type=int, metavar="N", help="Another stream of draws, also of the fixture claim [0].")
    add("--verify-device", metavar="DEVICE", help="cpu or gpu [cpu].")
    add("--verify-level", type=float, metavar="P", help="Error rate of a single claim [0.025].")
    add("--verify-nightly", action="store_true", help="Seeds of the date; refuted is what all nights together refute.")
    add("--verify-adjust", metavar="METHOD", help="How error rates are kept over all claims: holm or e-bh [holm].")
    listed = {"action": "append", "metavar": "LETTER=VALUE,..."}
    add("--verify-at", help="Exact parameters, as in gamma=1/4,l=2; repeatable.", **listed)
    listed = {"action": "append", "metavar": "LETTER=SIZES"}
    add("--verify-sizes", help="Sizes, as in T=100..400 or T=64,128; repeatable.", **listed)
    add("--verify-model", metavar="FILE.py:FACTORY", help="Your own Equinox layer instead of the theorem's.")
    add("--verify-fresh", action="store_true", help="Check again what is kept.")
    add("--verify-state", metavar="DIR", help="Folder of kept results [.theorax in the project's root].")
    strict = {"dest": "verify_strict", "default": None}
    add("--verify-strict", action="store_true", help="An undecided claim fails [where CI is set].", **strict)
    add("--verify-lenient", action="store_false", help="An undecided claim is skipped [where CI is not set].", **strict)
    parser.addini("verify_strict", "An undecided claim fails: true or false.", type="bool", default=None)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """The hook of the plug-in."""
    from theorax.testing import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Collect theorems if asked to."""
    config.addinivalue_line("markers", "verify: a claim of a theorem, collected by --verify")
    if getattr(config, "workerinput", None) is None:  # a worker's reports are heard where all of them come together
        config.pluginmanager.register(Account(config), "theorax-account")
    if config.option.verify:
        from theorax.testing.collecting import Theorems

        config.pluginmanager.register(Theorems.of(config), "theorax-theorems")
    elif config.option.verify_only:
        raise pytest.UsageError('`--verify-only` leaves no tests without `--verify`. Write --verify "paper:NAME" too.')
    elif any(getattr(config.option, f"verify_{name}") not in (None, False) for name in SETTINGS):
        from theorax.testing import pytest_options

        pytest_options.alone(config)
        pytest_options.settings(config)


@pytest.fixture
def claim(request: pytest.FixtureRequest) -> Claims:
    """States claims on a test's own numbers: `claim.rate(plan, values)` and the other procedures of `theorax.decide`."""
    from theorax.testing.claim_fixture import Claims

    config = request.config
    return Claims(request.node, strict=strict(config)[0], offset=config.option.verify_seed or 0)


def strict(config: pytest.Config) -> tuple[bool, str]:
    """Whether an undecided claim fails, and who said so."""
    if config.option.verify_strict is not None:
        return config.option.verify_strict, "--verify-strict" if config.option.verify_strict else "--verify-lenient"
    if (said := config.getini("verify_strict")) is not None:
        return bool(said), f"verify_strict = {str(bool(said)).lower()}"
    return bool(os.environ.get("CI")), "CI is set" if os.environ.get("CI") else "CI is not set"


class Account:
    """Hears every report of the session, those of workers too, and closes the account of its claims."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._family: Family | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the claims that a test stated."""
        if any(name == PROPERTY for name, _ in report.user_properties):
            from theorax.testing.family import Family

            self._family = self._family or Family()
            self._family.hear(report.user_properties)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A claim that does not hold among all others is undecided, which is no success where that is strict."""
        fallen = self._family is not None and self._family.fallen(self._method)
        if fallen and session.exitstatus == pytest.ExitCode.OK and strict(self._config)[0]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell what came of the claims; nothing where none were made."""
        if self._family is None:
            return
        write = terminalreporter.write_line
        terminalreporter.section("claims")
        for line in self._family.told(self._method):
            write(line)
        severe, why = strict(self._config)
        if number := self._family.undecided(self._method):
            told = "fails this session" if severe else "fails nothing; with --verify-strict it does"
            write(f"{number} undecided: that is no success, and it {told} ({why}).")

    @property
    def _method(self) -> str:
        from theorax.testing import pytest_options

        return pytest_options.method(self._config)
