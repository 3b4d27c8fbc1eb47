"""A fifth of many long tests a day: the hash of a test's name says which fifth, the day (UTC) which one is run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

SHARES = 5

Case = TypeVar("Case")


def share_of(name: str) -> int:
    """The share that a case belongs to, whatever other cases there are."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest(), "big") % SHARES


def of_this_day(cases: Iterable[Case], config: pytest.Config, name: Callable[[Case], str]) -> list[Case]:
    """The cases that this session checks: those of the day's share, or all with ``--whole``."""
    today = int(os.environ["THEORAX_TEST_DAY"]) % SHARES
    return [case for case in cases if config.getoption("whole") or share_of(name(case)) == today]
