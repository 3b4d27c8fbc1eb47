"""The baseline file: what runs found, kept in the user's repository to hold later runs against.

It is taken from a report and obeys ``schema/baseline-v1.json``. Of every claim it keeps the word, the symbolic form and
the numbers of every case; of every theorem the digests of all files that determined it. Theorems saved at different
times stand in one file: each names the run that it is from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from theorax import __version__
from theorax.errors import UsageError
from theorax.reports.document import Document
from theorax.reports.schemas import fault
from theorax.runs.sources import Manifest, differences
from theorax.verifiers.settings import Settings

FILE = "theorax-baseline.json"
VERSION = 1
SCHEMA = f"baseline-v{VERSION}"
DETERMINING = ("effort", "seed", "device", "level", "at", "sizes", "model", "nightly")
AGAIN = "Write it anew with `verify baseline save`."

_CLAIM = (
    "id", "kind", "status", "status_unadjusted", "statement", "prediction", "corrected", "margin_given", "level",
    "attempt", "nights", "draws", "design_hash",
)  # fmt: skip
_CASE = ("subject", "at", "predicted", "estimate", "standard_error", "interval", "bias", "margin")
_RUN = ("effort", "seed", "device", "level", "at", "sizes", "model", "nightly", "adjust")


def taken(document: Mapping[str, Any], onto: Mapping[str, Any] | None = None) -> Document:
    """The baseline of a report; ``onto`` an older one, whose other theorems stay.

    **Raises:** UsageError if the report holds no theorem, or was made with other settings than ``onto``.
    """
    if not document["theorems"]:
        raise UsageError(
            "The report holds no theorem. A baseline of nothing would let everything pass. Run `verify all` first."
        )
    if document["summary"]["interrupted"]:
        raise UsageError(
            "The report is of a run that was interrupted. What it did not reach would go unwatched. Run `verify` again."
        )
    run = {
        "created": document["created"],
        "generator": document["generator"],
        "environment": document["environment"],
        "settings": {name: document["settings"][name] for name in _RUN},
        "members": document["suite"]["refutations"],
    }
    runs: list[Document] = [run]
    kept: list[Mapping[str, Any]] = []
    if onto is not None:
        _same_settings(onto["runs"][-1]["settings"], run["settings"])
        new = {part["id"] for part in document["theorems"]}
        kept = [part for part in onto["theorems"] if part["id"] not in new]
        used = sorted({part["run"] for part in kept})
        runs = [*(onto["runs"][at] for at in used), run]
        kept = [
            {**part, "run": used.index(part["run"]), "reads": [onto["sources"][at] for at in part["reads"]]}
            for part in kept
        ]
    theorems = [*kept, *(_theorem(part, document["sources"], len(runs) - 1) for part in document["theorems"])]
    sources = sorted(
        {(source["name"], source["digest"]) for part in theorems for source in part["reads"]},
    )
    places = {source: at for at, source in enumerate(sources)}
    return {
        "baseline_version": VERSION,
        "generator": f"theorax {__version__}",
        "runs": runs,
        "sources": [{"name": name, "digest": digest} for name, digest in sources],
        "theorems": [
            {**part, "reads": sorted(places[source["name"], source["digest"]] for source in part["reads"])}
            for part in sorted(theorems, key=lambda part: part["id"])
        ],
    }


def _theorem(part: Mapping[str, Any], sources: list[Mapping[str, Any]], run: int) -> Document:
    return {
        "id": part["id"],
        "status": part["status"],
        "status_unadjusted": part["status_unadjusted"],
        "run": run,
        "digest": part["digest"],
        "reads": [sources[at] for at in part["reads"]],
        "claims": [claim_of(claim) for claim in part["claims"]],
    }


def claim_of(claim: Mapping[str, Any]) -> Document:
    """What is kept of one claim of a report."""
    return {
        **{name: claim[name] for name in _CLAIM},
        "cases": [
            {
                **{name: case[name] for name in _CASE},
                "sizes": [point["size"] for point in case["points"]],
                "draws": [point["draws"] for point in case["points"]],
                "numbers": numbers(case),
            }
            for case in claim["cases"]
        ],
    }


def numbers(case: Mapping[str, Any]) -> str:
    """A digest of every number that was measured in a case, to the last bit."""
    measured = [case["estimate"], case["standard_error"], case["interval"], case["points"]]
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:16]


def _same_settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    other = [name for name in DETERMINING if old[name] != new[name]]
    if other:
        told = ", ".join(f"{name} {old[name]} and {new[name]}" for name in other)
        raise UsageError(
            f"The baseline and this run have different settings ({told}). One file speaks of one way of running. "
            "Give the baseline's settings, or save all theorems anew, without `--only`."
        )


def text(baseline: Mapping[str, Any]) -> str:
    """The baseline as the text of its file; a claim takes few lines, so that a reviewer can read what changed."""
    return json.dumps(baseline, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read(path: Path) -> Document:
    """The baseline in this file.

    **Raises:** UsageError if there is none, it is cut off, of another version, or does not obey its schema.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"There is no baseline `{path}`. Write one with `verify baseline save`.") from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder. Name the baseline in it, such as `{path / FILE}`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The baseline `{path}` cannot be read: {error}. {AGAIN}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`{path}` is no whole baseline: {error}. It was cut off or edited. {AGAIN}") from None
    version = found.get("baseline_version") if isinstance(found, dict) else None
    if isinstance(found, dict) and "schema_version" in found:
        raise UsageError(
            f"`{path}` is a report, not a baseline. A baseline keeps less and names its runs. "
            f"Write `verify baseline save --report {path}`."
        )
    if version != VERSION or isinstance(version, bool):
        raise UsageError(
            f"`{path}` is no baseline of version {VERSION}: its `.baseline_version` is {version!r}. {AGAIN}"
        )
    _validate(found, path)
    return dict(found)


def _validate(found: Mapping[str, Any], path: Path) -> None:
    wrong = fault(found, SCHEMA)
    if wrong is not None:
        raise UsageError(f"`{path}` is no baseline, at `{wrong[0]}`: {wrong[1]}. {AGAIN}")
    for name, of in (("run", "runs"), ("reads", "sources")):
        for at, part in enumerate(found["theorems"]):
            places = part[name] if isinstance(part[name], list) else [part[name]]
            if any(place >= len(found[of]) for place in places):
                raise UsageError(
                    f"`{path}` is no baseline, at `.theorems[{at}].{name}`: it points beyond `.{of}`. {AGAIN}"
                )


def theorems(baseline: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The theorems of a baseline by their ids."""
    return {part["id"]: part for part in baseline["theorems"]}


def settings_of(found: Mapping[str, Any], **others: Any) -> Settings:
    """The settings that a report or a run of a baseline was made with; ``others`` are those that decide nothing."""
    return Settings(
        effort=found["effort"],
        seed=found["seed"],
        device=found["device"],
        level=found["level"],
        at=tuple(found["at"].items()),
        sizes=tuple((letter, tuple(sizes)) for letter, sizes in found["sizes"].items()),
        model=found["model"],
        nightly=found["nightly"],
        **{"adjust": found["adjust"], **others},
    )


def manifest_of(part: Mapping[str, Any], sources: Iterable[Mapping[str, Any]], run: Mapping[str, Any]) -> Manifest:
    """What determined a theorem's result, as :mod:`theorax.runs.sources` names it, from a baseline or a report.

    ``run`` holds the environment and the settings.
    """
    known = list(sources)
    found = {
        "id": part["id"],
        "theorem": part["digest"],
        **{known[at]["name"]: known[at]["digest"] for at in part["reads"]},
    }
    values = settings_of(run["settings"]).key
    found |= {f"setting {name}": repr(value) for name, value in zip(DETERMINING, values, strict=True)}
    environment = run["environment"]
    found |= {f"version of {name}": version for name, version in environment["versions"].items()}
    found["version of python"] = environment["python"]
    found["machine"] = f"{environment['system']} {environment['machine']}"
    return found


def since(baseline: Mapping[str, Any], id: str, manifest: Manifest) -> tuple[str, ...] | None:
    """What differs between now and the run that a theorem's baseline is from; None if it is in no baseline."""
    part = theorems(baseline).get(id)
    if part is None:
        return None
    return differences(manifest_of(part, baseline["sources"], baseline["runs"][part["run"]]), manifest)


def affecting(changes: Iterable[str]) -> tuple[str, ...]:
    """Those of the differences that are of sources and of the libraries that compute, not of how a run was asked for."""
    return tuple(change for change in changes if not change.startswith(("setting ", "machine")))
