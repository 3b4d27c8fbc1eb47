"""Settings of a check from the options of pytest, as the command would make them, in the words of pytest.

An option of the command is here the same option behind ``--verify``: ``--at`` is ``--verify-at``. Values are parsed and
refused by the command's own code; its sentences are handed on with the options spelt as they are typed here.
"""

from __future__ import annotations

import pytest

from theorax.cli import options
from theorax.deleted import OPTIONS
from theorax.errors import TheoraxError
from theorax.testing.declared_options import DELETED, OF_THEOREMS, SETTINGS
from theorax.text.safe import visible
from theorax.verifiers.settings import Settings


def session_settings(config: pytest.Config) -> Settings:
    """The settings that the options of this session make together with the project's defaults.

    **Raises:** pytest.UsageError for a value that cannot be meant.
    """
    given = {name: getattr(config.option, f"verify_{name}") for name in SETTINGS}
    try:
        return options.settings({**given, "jobs": 1})
    except TheoraxError as error:
        raise pytest.UsageError(refusal(error)) from None


def excluded(config: pytest.Config) -> tuple[str, ...]:
    """The selectors of what is left out: as typed, else the project's default."""
    return tuple(options.typed_or_default({"exclude": config.option.verify_exclude}, "exclude"))


def refusal(error: TheoraxError) -> str:
    """Message of a request that cannot be met."""
    return f"--verify: {pytest_sentence(error)}"


def pytest_sentence(error: TheoraxError) -> str:
    """The sentence of an error, harmless wherever it is read, with its options as pytest takes them."""
    return visible(error.told("--verify-"))


def refuse_deleted(config: pytest.Config) -> None:
    """Refuse an option that the plug-in no longer has.

    **Raises:** pytest.UsageError with the sentence that says what to use instead.
    """
    for name in DELETED:
        if getattr(config.option, f"verify_{name}") is not None:
            raise pytest.UsageError(OPTIONS[f"--{name}"].replace("`--", "`--verify-"))


def alone(config: pytest.Config) -> None:
    """Refuse options that apply to named theorems if none are named.

    **Raises:** pytest.UsageError if so.
    """
    for name in OF_THEOREMS:
        if getattr(config.option, f"verify_{name}"):
            raise pytest.UsageError(
                f'`--verify-{name}` applies to theorems, and none are named. Write --verify "ID" too, as in '
                f"`pytest --verify rank_collapse_width --verify-{name} ...`."
            )
