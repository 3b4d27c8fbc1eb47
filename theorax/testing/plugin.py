"""The plug-in of pytest: its options, the fixture `claim`, and the session's account of everything that was claimed.

It imports nothing of the package until a claim is made or `--verify` is given.

=====================  =======================================  ============================
a claim                as a test                                with `--verify-strict`
=====================  =======================================  ============================
holds                  passes                                   passes
is refuted, an error   fails                                    fails
is undecided           is skipped, with its reason              fails
=====================  =======================================  ============================

The session's summary says what the claims say together; that changes no test. Where the variable CI is set, as every
service of continuous integration does, strict is the default. `--verify-lenient` and `verify_strict` in the configuration
of pytest say otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from theorax.testing.declared_options import DELETED, PROPERTY, SETTINGS, declare, strict

if TYPE_CHECKING:
    from theorax.testing.claim_fixture import Claims
    from theorax.testing.family import Family


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plug-in."""
    declare(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Collect theorems if asked to."""
    config.addinivalue_line("markers", "verify: a claim of a theorem, collected by --verify")
    if getattr(config, "workerinput", None) is None:  # a worker's reports are heard where all of them come together
        config.pluginmanager.register(Account(config), "theorax-account")
    if any(getattr(config.option, f"verify_{name}") is not None for name in DELETED):
        from theorax.testing import pytest_options

        pytest_options.refuse_deleted(config)
    if config.option.verify:
        from theorax.testing.collecting import Theorems

        config.pluginmanager.register(Theorems.of(config), "theorax-theorems")
    elif config.option.verify_only:
        raise pytest.UsageError('`--verify-only` needs `--verify`. Write --verify "paper:NAME" too.')
    elif any(getattr(config.option, f"verify_{name}") not in (None, False) for name in (*SETTINGS, "root")):
        from theorax.testing import pytest_options

        pytest_options.alone(config)
        pytest_options.session_settings(config)


@pytest.fixture
def claim(request: pytest.FixtureRequest) -> Claims:
    """States claims on a test's own numbers: `claim.rate(plan, values)` and the other procedures of `theorax.decide`."""
    from theorax.testing.claim_fixture import Claims

    config = request.config
    return Claims(request.node, strict=strict(config)[0], offset=config.option.verify_seed or 0)


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

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the account of the claims, if any were made."""
        if self._family is None:
            return
        write = terminalreporter.write_line
        terminalreporter.section("claims")
        for line in self._family.told():
            write(line)
        severe, why = strict(self._config)
        if number := self._family.undecided():
            from theorax.names import many

            told = f"fails here ({why})" if severe else "passes here, fails in CI (try --verify-strict)"
            write(f"{many(number, 'claim')} undecided: {told}.")
