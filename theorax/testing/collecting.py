"""The claims of theorems as items of a test session: one per claim, in the order in which theorems rest on each other."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from theorax.cli.workspace import Workspace
from theorax.errors import StatementError, TheoraxError, UsageError
from theorax.reports.build_findings import BuildFinding, BuildOutcome, of_theorem, worst_first
from theorax.runs.dependencies import Graph
from theorax.runs.selectors import Selection, select
from theorax.testing import pytest_options
from theorax.testing.checks import Checks
from theorax.testing.declared_options import strict
from theorax.testing.family import Stated
from theorax.text.safe import one_line, visible
from theorax.theorems.catalogue import Catalogue, claim_ids

WHOLE = "theorem"  # the item of a theorem whose claims cannot be read


class Theorems:
    """Adds the claims of the selected theorems to the tests of a session."""

    def __init__(self, config: pytest.Config, ids: tuple[str, ...], checks: Checks, *, only: bool, owner: bool) -> None:
        self.config = config
        self.ids = ids
        self.checks = checks
        self._only = only
        self._owner = owner  # of the session's folder

    @classmethod
    def of(cls, config: pytest.Config) -> Theorems:
        """Read the options.

        **Raises:** pytest.UsageError for a selector or a setting that cannot be meant.
        """
        chosen = pytest_options.session_settings(config)
        try:
            words = (*config.option.verify, *pytest_options.excluded(config))
            workspace = Workspace(added=tuple(config.option.verify_root or ()), words=words)
            selection = _selected(
                config.option.verify, pytest_options.excluded(config), workspace.catalogue, chosen.state
            )
        except TheoraxError as error:
            raise pytest.UsageError(pytest_options.refusal(error)) from None
        handed = getattr(config, "workerinput", {}).get("theorax")
        folder = Path(handed if handed else tempfile.mkdtemp(prefix="theorax-session-"))
        checks = Checks(folder, workspace, chosen, frozenset(selection.named))
        return cls(config, selection.ids, checks, only=config.option.verify_only, owner=handed is None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist where the session's checks lie."""
        node.workerinput["theorax"] = str(self.checks.folder)

    def pytest_ignore_collect(self) -> bool | None:
        """No other tests, where that was asked for."""
        return True if self._only else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add one item per claim, so that `-k`, `-m` and `--deselect` choose among them as among others."""
        if self._only:
            items.clear()
        grouped = self.config.pluginmanager.hasplugin("xdist")
        for number, id in enumerate(self.ids):
            node = TheoremNode.from_parent(session, name=_name(id), nodeid=f"verify::{_name(id)}")
            own: list[pytest.Item | pytest.Collector] = []
            for name in _claims(id, self.checks.workspace.catalogue):
                item = ClaimItem.from_parent(
                    node, name=_name(name), theorem=id, claim=name, number=number, checks=self.checks
                )
                item.add_marker("verify")
                if grouped:
                    # With --dist loadgroup one worker makes a theorem's check and has all its claims.
                    item.add_marker(pytest.mark.xdist_group(_name(id)))
                items.append(item)
                own.append(item)
            # So that they are counted among those collected.
            report = pytest.CollectReport(node.nodeid, "passed", None, own)
            self.config.hook.pytest_collectreport(report=report)

    def pytest_unconfigure(self) -> None:
        """Leave no folder behind."""
        if self._owner:
            shutil.rmtree(self.checks.folder, ignore_errors=True)


def _selected(words: list[str], exclude: tuple[str, ...], catalogue: Catalogue, state: str) -> Selection:
    from theorax.runs.store import statuses, within_margin

    found = select(words, catalogue, lambda: statuses(Path(state)), exclude, lambda: within_margin(Path(state)))
    try:
        return Selection(Graph.of(catalogue, found.ids).order(found.ids), found.named)
    except StatementError:  # a circle, which is told where one of its theorems is checked
        return found


def _claims(id: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The claims of a theorem: from the text of its file, or where that does not write them out, from the theorem."""
    if catalogue.problem(id) is not None:
        return (WHOLE,)
    written = claim_ids(catalogue.path(id))
    if written is not None:
        return written or (WHOLE,)
    from theorax.runs.worker_process import CallsApart

    try:
        with CallsApart(catalogue.elsewhere) as calls:
            given = id, catalogue.elsewhere
            names = calls.call("theorax.verifiers.loading:claim_names", *given, apart=catalogue.is_a_user_s(id))
        return names or (WHOLE,)
    except Exception:  # the check says what is wrong with the file
        return (WHOLE,)


def _name(text: str) -> str:
    """A name of a node; pytest reads brackets as parameters and colons as steps to a child."""
    return one_line(text).replace("[", "(").replace("]", ")").replace("::", ":")


class TheoremNode(pytest.Collector):
    """A theorem, whose claims are its items."""

    def collect(self) -> list[pytest.Item]:
        """The items are made with it."""
        return []


class ClaimFailed(Exception):
    """Failure of a claim that does not hold, with its finding."""

    def __init__(self, found: BuildFinding) -> None:
        super().__init__(f"{found.title}: {found.sentence}")
        self.found = found


class ClaimItem(pytest.Item):
    """One claim; running it makes its theorem's check unless that was made."""

    def __init__(self, *, theorem: str, claim: str, number: int, checks: Checks, **others: Any) -> None:
        super().__init__(**others)
        self.theorem = theorem
        self.claim = claim
        self.number = number
        self.checks = checks

    def runtest(self) -> None:
        """Check the theorem and take this claim's verdict."""
        found = self._found(of_theorem(self.checks.part(self.theorem, self.number)))
        if found.claim is not None:
            self.user_properties.append(Stated.of_claim(self.theorem, found.claim).property)
        if found.outcome is BuildOutcome.UNDECIDED and not strict(self.config)[0]:
            told = visible(f"{found.title}: {found.sentence}")
            raise pytest.skip.Exception(told, _use_item_location=True)
        if found.outcome is not BuildOutcome.HELD:
            raise ClaimFailed(found)
        self.add_report_section("call", "claim", found.text)

    def _found(self, own: list[BuildFinding]) -> BuildFinding:
        """Finding of the check on this claim.

        =======================================================  ==============================================
        the check                                                is to this claim
        =======================================================  ==============================================
        has a verdict on it                                      that verdict
        has none, and the theorem has one of its own             the theorem's: the check did not come so far
        has none, for another model was put in and fits others   skipped: nothing was asked
        has none of the claims by name, for none could be read   the worst that was found
        =======================================================  ==============================================

        **Raises:** StatementError where there is none although one was asked for.
        """
        for finding in own:
            if finding.name == self.claim:
                return finding
        if own[-1].claim is None:
            return own[-1]
        if self.claim == WHOLE:
            return (*worst_first(own), own[-1])[0]
        if self.checks.settings.model is None:
            raise StatementError(
                f"The check of {self.theorem} ended without a verdict on the claim {self.claim}, which its "
                "file states. The file and the checked theorem differ. `verify theorem ID` shows that."
            )
        left_out = "Nothing was asked: this claim is not about a layer that --verify-model can replace."
        raise pytest.skip.Exception(left_out, _use_item_location=True)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Message of the failure, with its numbers and the command that repeats it."""
        if isinstance(excinfo.value, ClaimFailed):
            found = excinfo.value.found
            return visible(f"{found.title}: {found.sentence}\n\n{found.text}".rstrip())
        if isinstance(excinfo.value, (UsageError, StatementError)):
            return pytest_options.pytest_sentence(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The theorem's file, the first line, and whose claim it is."""
        return self.checks.workspace.catalogue.path(self.theorem), 0, f"{visible(self.theorem)}: {self.name}"
