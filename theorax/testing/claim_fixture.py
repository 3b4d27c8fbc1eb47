"""The fixture `claim`: a test states claims on its own numbers, and each is decided as a theorem's claim is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from theorax import decide, exact
from theorax.decide.plans import Planned
from theorax.decide.status import Status
from theorax.names import did_you_mean
from theorax.testing.family import Stated
from theorax.text.safe import visible

if TYPE_CHECKING:
    import numpy as np

    from theorax.decide.verdict import Verdict

PROCEDURES = (
    "arrays",
    "certify",
    "duality",
    "identity",
    "inequality",
    "law",
    "limit",
    "looks",
    "mean",
    "minimum",
    "probability",
    "quantile",
    "rate",
    "search",
    "sequence",
)
"""The procedures of `theorax.decide` that end in a verdict."""


class Claims:
    """States the claims of one test; a claim that is refuted fails it, one that is undecided skips it or fails it too."""

    def __init__(self, node: pytest.Item, *, strict: bool, offset: int = 0) -> None:
        self._node = node
        self._strict = strict
        self._offset = offset
        self._stated: list[str] = []

    @cached_property
    def seed(self) -> int:
        """A seed that belongs to this test: a function of its name and of `--verify-seed`."""
        name = f"{self._node.nodeid}\n{self._offset}"
        return int.from_bytes(hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()[:4], "big")

    @cached_property
    def rng(self) -> np.random.Generator:
        """A generator of this test's own, so that its draws are the same in every session."""
        import numpy as np

        return np.random.default_rng(self.seed)

    def __call__(self, verdict: Verdict, *, plan: object = None) -> Verdict:
        """State a verdict, however it was reached; it is returned if it holds.

        **Raises:** the failure of a test where it does not.
        """
        self._node.user_properties.append(Stated.of_verdict(self._name(verdict), verdict).property)
        if verdict.status.holds:
            return verdict
        text = visible(f"{verdict.status}: {verdict.sentence}\n\n{verdict}\n\nReplay: {self._again()}")
        undecided = verdict.status not in (Status.REFUTED, Status.ERROR)
        if undecided and (better := _cheapest(plan)):
            text = f"{text}\nTo decide: {better}"
        if undecided and not self._strict:
            pytest.skip(visible(f"undecided: {verdict.sentence}"))
        pytest.fail(text, pytrace=False)

    def __getattr__(self, name: str) -> Callable[..., Verdict]:
        if name not in PROCEDURES:
            raise AttributeError(
                f"`claim.{name}` states nothing{did_you_mean(name, PROCEDURES)} "
                f"A claim is stated by one of {', '.join(PROCEDURES)}, or by claim(verdict)."
            )
        procedure = getattr(exact if name in exact.__all__ else decide, name)

        def state(*values: Any, **named: Any) -> Verdict:
            return self(procedure(*values, **named), plan=named.get("plan", values[0] if values else None))

        return state

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *PROCEDURES})

    def _name(self, verdict: Verdict) -> str:
        """The test's name and that of the claim, numbered where the test states several of one name."""
        own = f"{self._node.nodeid}: {verdict.id}"
        self._stated.append(own)
        number = self._stated.count(own)
        return f"{own} ({number})" if number > 1 else own

    def _again(self) -> str:
        import os
        import shlex

        config = self._node.config
        file, colons, rest = str(self._node.nodeid).partition("::")
        words = ["pytest", f"{os.path.relpath(config.rootpath / file, config.invocation_params.dir)}{colons}{rest}"]
        return shlex.join([*words, "--verify-seed", str(self._offset)] if self._offset else words)


def _cheapest(plan: object) -> str:
    """The cheapest design that would decide, where the plan can tell."""
    better = plan.cheapest() if isinstance(plan, Planned) else None
    return better.design if better is not None else ""
