"""A report held against a baseline: what every claim was, what it is now, and what follows from the difference.

Symbolic forms are compared exactly, numbers as :mod:`theorax.decide.comparison` decides. A change is the
first row that applies; the words in the last column add up to the exit code, the first of 1, 4, 0 that occurs:

==================================================================  ===========  ====
a claim                                                             change       exit
==================================================================  ===========  ====
in the baseline, no longer in its theorem, or its theorem is gone   vanished     1
whose statement, prediction, margin or kind is another              restated     4
in no baseline                                                      appeared     0
whose word got worse                                                regressed    1
... from SUPPORTED to INCONCLUSIVE, other seeds, nothing moved      lapsed       4
... only because this run holds more claims at once                 lapsed       4
... only because others fell: alone as before, bit for bit          lapsed       4
... because it rests on nothing worse than a lapse                  lapsed       4
whose word got better                                               improved     0
with the same word, and numbers that cannot be compared             kept         4
with the same word                                                  kept         0
==================================================================  ===========  ====

Worse is further down in PROVED, CERTIFIED, SUPPORTED, INCONCLUSIVE, VACUOUS, BLOCKED, ERROR, REFUTED. Of what the source
prints and another claim corrects, REFUTED is the finding and anything else worse. An estimate that has *moved* under a
word that stands is told and fails only with ``strict``: the claim's margin, not its estimate, is what was promised.
Theorems of the baseline that a report does not speak of are named and decide nothing; where no claim at all is in both,
the exit code is 5. What was left standing, because nothing that determines it changed, is as good as compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from theorax.decide.comparison import SHARE, Decided, Evidence, Outcome, Pair, Reading, decide, pair, together
from theorax.decide.error_budget import REFUTATIONS, SUPPORTS
from theorax.decide.spending import level_of
from theorax.decide.verdict import Interval
from theorax.reports.baselines import affecting, claim_of, manifest_of
from theorax.reports.document import Document
from theorax.runs.sources import differences

Part = Mapping[str, Any]

COMPARISON_VERSION = 1
ORDER = ("PROVED", "CERTIFIED", "SUPPORTED", "INCONCLUSIVE", "VACUOUS", "BLOCKED", "ERROR", "REFUTED")
STATED = {"statement": "statement", "prediction": "prediction", "margin_given": "margin", "kind": "kind",
          "corrected": "correction"}  # fmt: skip
CODES = {"vanished": 1, "regressed": 1, "restated": 4, "lapsed": 4, "kept": 0, "improved": 0, "appeared": 0}


def compared(
    baseline: Part,
    report: Part,
    *,
    share: float = SHARE,
    strict: bool = False,
    known: Iterable[str] | None = None,
    standing: Iterable[str] = (),
) -> Document:
    """The comparison of a report with a baseline, as JSON values.

    ``known``: the ids of all theorems that exist now. ``standing``: those that were not checked because nothing that
    determines them has changed.
    """
    left = set(standing)
    now = {part["id"]: part for part in report["theorems"]}
    exist = None if known is None else set(known)
    claims: list[Document] = []
    untold: list[str] = []
    evidence: dict[str, Evidence] = {}
    inputs: dict[str, list[str]] = {}
    for old in baseline["theorems"]:
        id, run = old["id"], baseline["runs"][old["run"]]
        if id not in now:
            if exist is not None and id not in exist:
                claims += [_vanished(id, claim, f"there is no theorem {id} any more") for claim in old["claims"]]
            elif id not in left:
                untold.append(id)
            continue
        changes = differences(
            manifest_of(old, baseline["sources"], run), manifest_of(now[id], report["sources"], report)
        )
        inputs[id] = list(changes)
        claims += _of_theorem(old, now[id], run, report, changes, share, evidence)
    have = {part["id"] for part in baseline["theorems"]}
    for id, part in now.items():
        if id not in have:
            claims += [_appeared(id, claim) for claim in part["claims"]]
    outcomes = decide(evidence)
    for claim in claims:
        _settle(claim, evidence.get(_name(claim)), outcomes.get(_name(claim)), strict)
    _excuse(claims, now)
    counts = Counter(claim["change"] for claim in claims)
    both = bool(left) or any(claim["change"] != "appeared" for claim in claims)
    codes = {claim["exit"] for claim in claims}
    return {
        "comparison_version": COMPARISON_VERSION,
        "created": report["created"],
        "baseline": [run["created"] for run in baseline["runs"]],
        "share": share,
        "strict": strict,
        "levels": {"moved": REFUTATIONS, "same": SUPPORTS},
        "tested": sum(part.tested for part in evidence.values()),
        "inputs": inputs,
        "not_run": untold,
        "standing": sorted(left),
        "claims": claims,
        "summary": {
            "changes": dict(counts),
            "outcomes": dict(Counter(claim["outcome"] for claim in claims if claim["outcome"])),
            "identical": sum(claim["how"] == "bit for bit" for claim in claims),
            "exit_code": next((code for code in (1, 4) if code in codes), 0) if both else 5,
        },
    }


def _name(claim: Part) -> str:
    return f"{claim['theorem']}.{claim['claim']}"


def _row(theorem: str, claim: str, change: str, before: str | None, now: str | None, why: str) -> Document:
    """A line of the comparison, with what is not known yet left open."""
    return {
        "theorem": theorem, "claim": claim, "change": change, "before": before, "now": now, "why": why,
        "outcome": None, "how": None, "where": None, "old": None, "new": None, "difference": None,
        "standard_error": None, "slack": None, "zone": None, "p_moved": None, "p_same": None, "within": None,
        "same_seeds": None, "notes": [], "exit": CODES[change],
    }  # fmt: skip


def _vanished(theorem: str, claim: Part, why: str) -> Document:
    return _row(theorem, claim["id"], "vanished", claim["status"], None, why)


def _appeared(theorem: str, claim: Part) -> Document:
    return _row(theorem, claim["id"], "appeared", None, claim["status"], "the baseline does not know it")


def _of_theorem(
    old: Part, new: Part, run: Part, report: Part, changes: tuple[str, ...], share: float, evidence: dict[str, Evidence]
) -> list[Document]:
    id, found = old["id"], []
    present = {claim["id"]: claim for claim in new["claims"]}
    for claim in old["claims"]:
        if claim["id"] in present:
            found.append(_of_claim(old, new, claim, present.pop(claim["id"]), run, report, changes, share, evidence))
        elif new["status"] in ("BLOCKED", "ERROR", "INCONCLUSIVE") and not new["claims"]:
            # The check never came to its claims; nobody has taken them out.
            worse = _worse(claim, claim["status"], new["status"])
            row = _row(id, claim["id"], "regressed" if worse else "kept", claim["status"], new["status"], "")
            row["why"] = f"the theorem was not checked: {new['reason'] or new['status']}"
            row["outcome"] = Outcome.INCOMPARABLE
            found.append(row)
        else:
            found.append(_vanished(id, claim, "the theorem no longer states it"))
    return [*found, *(_appeared(id, claim) for claim in present.values())]


def _of_claim(
    theorem: Part, theorem_now: Part, old: Part, full: Part, run: Part, report: Part, changes: tuple[str, ...],
    share: float, evidence: dict[str, Evidence],
) -> Document:  # fmt: skip
    new = claim_of(full)
    row = _row(theorem["id"], old["id"], "kept", old["status"], new["status"], "")
    stated = [word for field, word in STATED.items() if old[field] != new[field]]
    if stated:
        row |= {"change": "restated", "outcome": Outcome.INCOMPARABLE, "how": "form", "exit": CODES["restated"]}
        row["why"] = f"its {' and '.join(stated)} changed"
        if "statement" not in stated:
            row["notes"] = [
                f"{STATED[field]}: {old[field]} -> {new[field]}" for field in STATED if old[field] != new[field]
            ]
        return row
    same_seeds = run["settings"]["seed"] == report["settings"]["seed"]
    same_design = old["design_hash"] == new["design_hash"]
    row["same_seeds"] = same_seeds
    _numbers(row, old, new, run, report, same_design, same_seeds, share, evidence)
    unexpected = same_seeds and same_design and not changes and row["how"] not in ("bit for bit", "form")
    if unexpected:
        row["notes"].append("nothing that determines it differs, so it should have come out bit for bit")
    # A word is adjusted over its run: where the word alone is unchanged, the rest of the run changed it.
    if _worse(old, old["status"], new["status"]):
        alone = not _worse(old, old["status_unadjusted"], new["status_unadjusted"])
        larger = alone and report["suite"]["refutations"] > run["members"]
        # What others do to a claim is no news of it. Its own numbers, of which the baseline keeps no p-value, could have
        # done it too unless they are the very same.
        others = alone and row["how"] == "bit for bit"
        row |= {"change": "lapsed" if larger or others else "regressed"}
        row["why"] = full["sentence"]
        if others and not larger:
            row["why"] = (
                f"alone it is {new['status_unadjusted']} as before, and its numbers are the baseline's bit for bit; other "
                "claims of this run fell, and among what is left to decide its p-value is no longer small enough"
            )
        if larger:
            row["why"] = (
                f"alone it is {new['status_unadjusted']} as before; {report['suite']['refutations']} claims are held at "
                f"once here, {run['members']} were in the baseline"
            )
    elif _worse(old, new["status"], old["status"]):
        row["change"] = "improved"
    return row


def _worse(claim: Part, before: str, now: str) -> bool:
    """Whether the word ``now`` is worse news of this claim than ``before``."""
    if claim["corrected"] is not None:  # what the source prints: that it is refuted is the finding
        return before == "REFUTED" != now
    return ORDER.index(now) > ORDER.index(before)


def _numbers(
    row: Document, old: Part, new: Part, run: Part, report: Part, same_design: bool, same_seeds: bool, share: float,
    evidence: dict[str, Evidence],
) -> None:  # fmt: skip
    before, after = _cases(old), _cases(new)
    mutual = [key for key in before if key in after]
    measured = [key for key in mutual if _is_measured(before[key]) and _is_measured(after[key])]
    if not any(map(_is_measured, (*before.values(), *after.values()))):
        row |= {"outcome": Outcome.SAME, "how": "form", "why": "the same statement; nothing is measured of it"}
        return
    if not measured:
        row |= {"outcome": Outcome.INCOMPARABLE, "exit": 4}
        row["why"] = "no case was measured in both runs" if mutual else "the two runs have no case in common"
        return
    if len(mutual) == len(before) == len(after) and all(
        before[key]["numbers"] == after[key]["numbers"] for key in mutual
    ):
        row |= {"outcome": Outcome.SAME, "how": "bit for bit"}
        return
    missing = len(before) + len(after) - 2 * len(measured)
    if missing:
        row["notes"].append(f"{missing} cases were measured in one of the runs alone")
    if not same_design:
        row["notes"].append("the design is another one, so the biases of both count")
    levels = [
        claim["level"] or level_of(settings["level"], claim["attempt"])
        for claim, settings in ((old, run["settings"]), (new, report["settings"]))
    ]
    pairs: list[Pair] = []
    for key in measured:
        readings = [
            _reading(case, old["kind"], level) for case, level in zip((before[key], after[key]), levels, strict=True)
        ]
        pairs.append(pair(*readings, same_design=same_design, shared_seeds=same_seeds, share=share))
    found = together(pairs)
    case, case_now = before[measured[found.worst]], after[measured[found.worst]]
    row["where"] = {
        "subject": case["subject"],
        "at": case["at"],
        "sizes": case["sizes"] if len(case["sizes"]) == 1 else [],
    }
    row["old"], row["new"] = (
        {name: one[name] for name in ("estimate", "standard_error", "interval")} for one in (case, case_now)
    )
    row["how"] = "statistical" if found.tested else "exact"
    evidence[_name(row)] = found


def _cases(claim: Part) -> dict[tuple[Any, ...], Part]:
    """The cases by what they are of: subject, parameters, the size where a case has one, and their order beyond that."""
    found: dict[tuple[Any, ...], Part] = {}
    for case in claim["cases"]:
        size = case["sizes"][0] if len(case["sizes"]) == 1 else None
        key: tuple[Any, ...] = (case["subject"], tuple(sorted(case["at"].items())), size)
        found[(*key, sum(known[:3] == key for known in found))] = case
    return found


def _is_measured(case: Part) -> bool:
    return case["estimate"] is not None and case["margin"] is not None


def _reading(case: Part, kind: str, level: float) -> Reading:
    ends: Interval | None = tuple(case["interval"]) if case["interval"] else None
    return Reading(
        estimate=case["estimate"],
        standard_error=case["standard_error"] or 0.0,
        interval=ends,
        bias=case["bias"] or 0.0,
        margin=case["margin"],
        draws=min(case["draws"], default=0),
        level=level,
        kind=kind,
        total=sum(case["draws"]),
    )


def _settle(row: Document, evidence: Evidence | None, decided: Decided | None, strict: bool) -> None:
    """The outcome among all claims, and what it means for the word."""
    if evidence is not None and decided is not None:
        part = evidence.pair
        row |= {
            "outcome": decided.outcome,
            "within": decided.within,
            "difference": part.difference,
            "standard_error": part.standard_error,
            "slack": part.slack,
            "zone": part.zone,
            "p_moved": decided.adjusted_moved,
            "p_same": decided.adjusted_same,
        }
    decided_by_test = row["before"] in ("SUPPORTED", "REFUTED")
    chance = decided_by_test and row["now"] == "INCONCLUSIVE" and row["same_seeds"] is False
    if row["change"] == "regressed" and chance and row["outcome"] in (Outcome.SAME, Outcome.CANNOT_TELL):
        row["change"] = "lapsed"
        row["notes"].append(
            "other seeds decide a claim only with the power of its design, and err at its level; it has not moved"
        )
    code = CODES[row["change"]]
    if row["change"] == "kept" and row["outcome"] == Outcome.INCOMPARABLE:
        code = 4
    if strict and row["outcome"] == Outcome.MOVED:
        code = 1
    row["exit"] = code


def _excuse(claims: list[Document], now: Mapping[str, Part]) -> None:
    """What is blocked by nothing but lapses has lapsed with them."""
    changes: dict[str, set[str]] = {}
    for claim in claims:
        changes.setdefault(claim["theorem"], set()).add(claim["change"])
    for claim in claims:
        blockers = now[claim["theorem"]]["blocked_by"] if claim["now"] == "BLOCKED" else ()
        said = [changes.get(name, set()) for name in blockers]
        if claim["change"] == "regressed" and said and all("lapsed" in one and "regressed" not in one for one in said):
            claim |= {"change": "lapsed", "exit": CODES["lapsed"]}


def changed_sources(comparison: Part) -> dict[str, list[str]]:
    """What of the sources and libraries differs, with the theorems that it determined."""
    found: dict[str, list[str]] = {}
    for id, changes in comparison["inputs"].items():
        for change in affecting(changes):
            found.setdefault(
                change if change.startswith("version") else change.replace("theorem:", f"theorem {id}:"), []
            ).append(id)
    return found
