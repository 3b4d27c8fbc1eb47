"""A report document from a file: whole, of the present version, each field of its type and in accord with the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorax.errors import UsageError
from theorax.reports.agreement import held_together
from theorax.reports.document import SCHEMA_VERSION, Document
from theorax.reports.json import checked, json_in

EARLIEST_VERSION = 7
"""The earliest version of a report that is read; examples and the results of the release are of this version."""


def read(path: Path) -> Document:
    """The report in this file.

    **Raises:** UsageError if there is none, it is cut off, of a version that is not read, or not what the schema describes; the
    message names the offending field.
    """
    found = json_in(path, "report", "Write one with `verify all --output json=report.json`.", "report.json")
    return current(found, str(path))


def read_whole(path: Path) -> Document:
    """The report of a whole run in this file.

    **Raises:** UsageError as :func:`read` does, and for a shard, whose words are not those of its run.
    """
    found = read(path)
    if found.shard is not None:
        raise UsageError(
            f"`{path}` is shard {found.shard.number} of {found.shard.of} of a run. Its words are those of each theorem "
            "alone. Join the shards first: `verify merge FILE... --output json=report.json`."
        )
    return found


def current(found: Mapping[str, Any], name: str = "the document") -> Document:
    """The document in these JSON values.

    **Raises:** UsageError as :func:`read` does.
    """
    version = found.get("schema_version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise UsageError(
            f"`{name}` is no report of theorax: it has no whole number at `.schema_version`. "
            "Give a file written by `--output json=FILE`."
        )
    if EARLIEST_VERSION <= version < SCHEMA_VERSION:  # the fields that are new since have a value that says so
        from theorax.reports.earlier_reports import brought_up  # which imports SciPy

        found = brought_up(Document, found, SCHEMA_VERSION)
    elif version != SCHEMA_VERSION:
        raise UsageError(
            f"`{name}` is a report of version {version}; this theorax reads versions {EARLIEST_VERSION} "
            f"to {SCHEMA_VERSION}. " + ("Update theorax." if version > SCHEMA_VERSION else "Run `verify` again.")
        )
    told = f"{name} is not what the schema of version {version} describes"
    return checked(
        Document, found, told, "It was edited or cut; run `verify` again, or give another file.", held_together
    )
