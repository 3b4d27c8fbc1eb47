r"""Comparison of two reports of one check, number by number: equal bits, equal within the float account, or different.

Nothing statistical is asked here: a replay draws the same numbers. Two sums of the same m draws, added in any order,
differ by at most $2\gamma_m \overline{|x|}$, $\gamma_m = (m+2)u/(1-(m+2)u)$, $u = 2^{-53}$, and $\overline{|x|}$ is at
most $\sqrt{\bar x^2 + (m-1) s^2}$ with s the standard error: that is the account of a mean of draws. Where nothing is
random, it is what the two intervals declare beyond their bias. No account is declared of how other versions, or another
machine, round within a draw: what lies beyond is called different, and the versions that differ are named.

================================================  =========================
two results of a theorem                          are
================================================  =========================
all words, forms and numbers are equal            bit-identical
words and forms equal, measured numbers within    equal within the account
anything else                                     different
================================================  =========================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from theorax.decide.status import Status
from theorax.reports.baselines import manifest_of
from theorax.reports.document import Date, Document, TheoremReport
from theorax.runs.manifests import manifest_differences
from theorax.text.codec import Count, json_values

Part = Mapping[str, Any]  # of a report, as JSON values: what is compared is every number that it holds

REPLAY_VERSION: Literal[1] = 1
IDENTICAL: Literal["bit-identical"] = "bit-identical"
WITHIN: Literal["equal within the account"] = "equal within the account"
DIFFERENT: Literal["different"] = "different"
GONE: Literal["not replayed"] = "not replayed"
_ROUNDOFF = 2.0**-53
# What a run as a whole, or its cost, puts into a theorem's part; and words that only tell numbers.
_BESIDE = frozenset(
    {
        "adjusted_refute", "adjusted_support", "over_run", "seconds", "work", "kept", "kept_from", "log", "replay", "reads",
        "digest", "file", "root", "line", "reason", "sentence", "detail", "blocked_by", "title", "source", "place", "latex",
        "letters", "issues", "works", "unseen", "ledger", "because", "scope",
    }
)  # fmt: skip
_DERIVED = frozenset(
    {
        "p_refute", "p_support", "breakdown", "tightness", "subject", "at", "worst", "kill_probability",
        "estimate", "standard_error", "interval",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Deviation:
    """One place in which a replay differs from its report."""

    claim: str
    case: str
    what: str
    then: Any
    now: Any
    apart: float | None
    account: float | None
    errors: float | None  # how many standard errors it is apart
    rank: float

    @property
    def within(self) -> bool:
        """True if the float account explains the difference."""
        return self.apart is not None and self.account is not None and self.apart <= self.account


@dataclass(frozen=True)
class ReplayedTheorem:
    """Replay of one theorem; ``inputs``: the changes of the inputs that determine its result."""

    id: str
    result: Literal["bit-identical", "equal within the account", "different", "not replayed"]
    why: str = ""
    numbers: Count = 0
    inputs: tuple[str, ...] = ()
    differences: tuple[Deviation, ...] = ()


@dataclass(frozen=True)
class Replay:
    """Replay of a report: its equal results and its different ones."""

    replay_version: Literal[1]
    created: Date
    replayed: Date
    theorems: tuple[ReplayedTheorem, ...]
    exit_code: Literal[0, 1, 4, 5]


def held_against(then: Document, now: Document) -> Replay:
    """Every theorem of the first report against the second."""
    theorems = tuple(_theorem(part, now.by_id.get(part.id), then, now) for part in then.theorems)
    return Replay(REPLAY_VERSION, then.created, now.created, theorems, _exit_code(theorems))


def _exit_code(theorems: Sequence[ReplayedTheorem]) -> Literal[0, 1, 4, 5]:
    results = {part.result for part in theorems}
    if DIFFERENT in results:
        return 1
    if GONE in results:
        return 4
    return 0 if results else 5


def _theorem(old: TheoremReport, new: TheoremReport | None, then: Document, now: Document) -> ReplayedTheorem:
    if new is None:
        return ReplayedTheorem(old.id, GONE, "there is no theorem of this name any more")
    if old.status is Status.BLOCKED:
        return ReplayedTheorem(old.id, IDENTICAL, "it was not checked: what it rests on did not hold")
    before = json_values(old)
    apart = sorted(_apart(before, json_values(new)), key=lambda row: -row.rank)
    result: Literal["bit-identical", "equal within the account", "different"] = IDENTICAL
    if apart:
        result = WITHIN if all(row.within for row in apart) else DIFFERENT
    return ReplayedTheorem(
        old.id,
        result,
        numbers=sum(1 for _ in _leaves(before)),
        inputs=tuple(
            map(str, manifest_differences(manifest_of(old, then.sources, then), manifest_of(new, now.sources, now)))
        ),
        differences=tuple(apart),
    )


def _leaves(part: Part) -> Iterator[float]:
    """Every number of a theorem's part."""
    for name, value in part.items():
        if name not in _BESIDE:
            yield from _numbers(value)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        yield from _leaves(value)
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


def _apart(old: Part, new: Part) -> Iterator[Deviation]:
    """Differences: words and forms first, then numbers with their account."""
    claims = {claim["id"]: claim for claim in new["claims"]}
    for claim in old["claims"]:
        if claim["id"] not in claims:
            yield _row(claim["id"], "", "claim", "stated", "gone")
        else:
            yield from _claims(claim, claims[claim["id"]])
    for id in claims.keys() - {claim["id"] for claim in old["claims"]}:
        yield _row(id, "", "claim", "not stated", "stated")
    for kind, name in (("controls", "subject"), ("mutants", "name"), ("proof", "reason")):
        yield from _rows(kind, name, old[kind], new[kind])
    if old["status"] != new["status"]:
        yield _row("", "", "status", old["status"], new["status"])


def _row(
    claim: str, case: str, what: str, then: Any, now: Any, account: float | None = None, error: float = 0.0
) -> Deviation:
    both = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (then, now))
    apart = abs(now - then) if both else None
    # A word outranks a design, a design outranks a number; numbers by how many standard errors they are apart.
    rank = 3.0 if what == "status" else 2.0 if apart is None else min(1.0, apart / error) if error > 0 else 1.0
    errors = apart / error if apart is not None and error > 0 else None
    return Deviation(claim, case, what, then, now, apart, account, errors, rank)


def _claims(old: Part, new: Part) -> Iterator[Deviation]:
    id = old["id"]
    if old["status"] != new["status"]:
        yield _row(id, "", "status", old["status"], new["status"])
    for name in old:
        if name not in _BESIDE | _DERIVED | {"cases", "status", "id"} and old[name] != new[name]:
            yield _row(id, "", name.replace("_", " "), old[name], new[name])
    if len(old["cases"]) != len(new["cases"]):
        yield _row(id, "", "number of cases", len(old["cases"]), len(new["cases"]))
        return
    measured = False
    for case, again in zip(old["cases"], new["cases"], strict=True):
        for row in _cases(id, case, again):
            measured = True
            yield row
    if not measured:  # then what follows from the numbers follows again, bit by bit
        for name in sorted(_DERIVED & set(old)):
            if old[name] != new[name]:
                yield _row(id, "", name.replace("_", " "), old[name], new[name])


def _cases(id: str, old: Part, new: Part) -> Iterator[Deviation]:
    place = replayed_case_name(old)
    if (old["subject"], old["at"]) != (new["subject"], new["at"]):
        yield _row(id, place, "case", place, replayed_case_name(new))
        return
    error, account = old["standard_error"] or 0.0, _account(old, new)
    for name in ("predicted", "bias", "margin", "noticeable", "status"):
        if old[name] != new[name]:
            yield _row(id, place, name, old[name], new[name], error=error)
    if old["estimate"] != new["estimate"]:
        yield _row(id, place, "estimate", old["estimate"], new["estimate"], account, error)
    if old["standard_error"] != new["standard_error"]:
        yield _row(id, place, "standard error", old["standard_error"], new["standard_error"], account, error)
    for end, then, now in zip(
        ("lower", "upper"), old["interval"] or (None, None), new["interval"] or (None, None), strict=True
    ):
        if then != now:
            yield _row(id, place, f"{end} end", then, now, account, error)
    if [point["size"] for point in old["points"]] != [point["size"] for point in new["points"]]:
        yield _row(id, place, "sizes", len(old["points"]), len(new["points"]))
        return
    for point, again in zip(old["points"], new["points"], strict=True):
        own = point["standard_error"] or 0.0
        bound = 2 * _of_mean(point["draws"], point["estimate"], own)
        for name in ("draws", "estimate", "standard_error"):
            if point[name] != again[name]:
                what = f"{name.replace('_', ' ')} at size {point['size']:g}"
                yield _row(id, place, what, point[name], again[name], None if name == "draws" else bound, own)


def replayed_case_name(case: Part) -> str:
    """A case as a reader would say it."""
    at = ", ".join(f"{letter} = {value}" for letter, value in case["at"].items())
    return f"{case['subject']}{' at ' if at else ''}{at}"


def _account(old: Part, new: Part) -> float | None:
    """By how much the estimates of one case may differ from the order of summation, or from declared rounding."""
    if old["estimate"] is None or new["estimate"] is None:
        return None
    if not old["standard_error"] and not new["standard_error"]:
        found = [_declared(case) for case in (old, new)]
        return sum(part for part in found if part is not None) if None not in found else None
    draws = sum(point["draws"] for point in old["points"])
    return 2 * _of_mean(draws, old["estimate"], old["standard_error"] or 0.0)


def _declared(case: Part) -> float | None:
    if case["interval"] is None or None in case["interval"]:
        return None
    low, high = case["interval"]
    return max(0.0, max(case["estimate"] - low, high - case["estimate"]) - (case["bias"] or 0.0))


def _of_mean(draws: int, estimate: float | None, error: float) -> float:
    terms = (draws + 2) * _ROUNDOFF
    return terms / (1 - terms) * math.sqrt((estimate or 0.0) ** 2 + max(0, draws - 1) * error**2)


def _rows(kind: str, name: str, old: list[Part], new: list[Part]) -> Iterator[Deviation]:
    if len(old) != len(new):
        yield _row("", "", f"number of {kind}", len(old), len(new))
        return
    for then, now in zip(old, new, strict=True):
        # How a source is written is no result, as in a theorem's source and place.
        beside = {"method"} if then.get("status") == now.get("status") == "CITED" else set[str]()
        for field in then:
            if field not in {"detail", "latex", "kill_probability"} | beside and then[field] != now[field]:
                place = then.get("claim") or then.get("proof") or ""
                yield _row(
                    place, str(then[name]), f"{field.replace('_', ' ')} of {_ONE[kind]}", then[field], now[field]
                )


_ONE = {"controls": "a control", "mutants": "a wrong variant", "proof": "a step of the proof"}
