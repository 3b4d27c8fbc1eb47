"""Shards of a run and their merge: the report of one machine's run, word by word."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from benchmarks.report_differences import differences
from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.runs.expected_seconds import shipped_seconds
from theorax.runs.known_files import FILE
from theorax.runs.shards import split_into_shards
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

TIMES = frozenset({"seconds", "cpu_seconds", "compile_seconds", "compile_share", "created"})
JOBS = frozenset({"jobs"})  # of all machines together
FILES = {
    "refuted": fakes.stated(),
    "next": fakes.stated(("refuted",)),
    "last": fakes.stated(("next",)),
    "open": fakes.stated(("gap",)),
    "broken": "theorem = (",
    "round": fakes.stated(("about",)),
    "about": fakes.stated(("round",)),
}
CHEAP = ("sparse_attention_shared_values", "relu_arc_cosine_kernel", "price_identity")


def read(name: str) -> dict:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def put(report: dict, name: str) -> None:
    Path(name).write_text(json.dumps(report), encoding="utf-8")


@pytest.fixture(scope="module")
def known(tmp_path_factory) -> Path:
    """What the package's files say, read once for all states of these tests."""
    folder = tmp_path_factory.mktemp("known")
    sources = Sources().beside(str(folder))
    for name in ("gap", CHEAP[0], CHEAP[1], CHEAP[2]):
        path = Catalogue().path(name) if name in CHEAP else fakes.library(folder / "papers") / "spectra" / "gap.py"
        sources.manifest(path, Settings())
    sources.known.save()
    return folder / FILE


@pytest.fixture(autouse=True)
def _known(known, tmp_path):
    for folder in ("project/.theorax", "project/s1", "project/s2", "s", "s1", "s2"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(known, tmp_path / folder)


@pytest.fixture
def sharded(verify):
    """Two shards of a command, each with a state of its own, and the answers."""

    def call(*words: str, check: str = "fakes:check"):
        return [
            verify(*words, "-j", "1", "--shard", f"{n}/2", "--state", f"s{n}", "-o", "terminal", "-o", f"json={n}.json",
                   check=check)
            for n in (1, 2)
        ]  # fmt: skip

    return call


def test_the_split_is_even_whole_and_one_for_all_machines():
    costs = shipped_seconds("standard")
    parts = split_into_shards(tuple(costs), 4, "standard")
    assert sorted(id for part in parts for id in part) == sorted(costs)
    assert parts == split_into_shards(tuple(reversed(costs)), 4, "standard")
    spent = [sum(costs[id] for id in part) for part in parts]
    # The longest first: no shard is behind another by more than one theorem, its own smallest.
    for part, seconds in zip(parts, spent, strict=True):
        assert seconds - min(spent) <= min(costs[id] for id in part)


def test_more_shards_than_theorems_leave_some_empty(verify):
    assert split_into_shards(("a", "b"), 3, "quick") == (("a",), ("b",), ())
    answer = verify("theorem", "gap", "--shard", "2/2", "-o", "json=2.json")
    assert (answer.code, answer.err) == (0, "Shard 2 of 2 has no theorem of this run.\n")
    assert verify("theorem", "gap", "-j", "1", "--shard", "1/2", "-o", "json=1.json").code == 0
    assert verify("merge", "1.json", "2.json", "-o", "json=all.json").code == 0
    assert read("all.json")["summary"]["statuses"] == {"SUPPORTED": 1}


@pytest.mark.parametrize("words", [("all",), ("theorem", "next", "gap", "edge"), ("theorem", "+last", "-x", "next")])
def test_merged_shards_are_the_run_of_one_machine(verify, root, sharded, words):
    fakes.library(root, **FILES)
    one = verify(*words, "-j", "1", "-o", "terminal", "-o", "json=one.json")
    sharded(*words)
    merged = verify("merge", "2.json", "1.json", "-o", "terminal", "-o", "json=all.json")
    assert (merged.code, merged.err) == (one.code, one.err)
    before, after = read("one.json"), read("all.json")
    assert list(differences(before, after, skipped=TIMES | JOBS | {"command"})) == []
    assert after["settings"]["jobs"] == 2
    assert verify("report", "render", "all.json").out == merged.out
    # The lines of progress are those of checks, and a merge makes none.
    screen = one.out[one.out.index(f"verify {words[0]}  standard") :]
    assert _timeless(merged.out.replace("2 cores", "1 core")) == _timeless(screen)


def _timeless(screen: str) -> list[str]:
    first, *lines = screen.splitlines()
    return [first.rpartition("  ")[0].rstrip(), *lines]


def test_a_shard_says_what_it_is_and_blocks_nothing(verify, root, sharded):
    fakes.library(root, **FILES)
    answers = sharded("all")
    shards = [read("1.json"), read("2.json")]
    for n, (answer, shard) in enumerate(zip(answers, shards, strict=True), start=1):
        assert f"shard {n}/2 of verify all  standard" in answer.out
        assert f"This is shard {n} of 2." in " ".join(answer.out.split())
        assert "hold jointly" not in answer.out and "said after the merge" in " ".join(answer.out.split())
        assert (shard["shard"]["number"], shard["shard"]["of"]) == (n, 2)
        assert len(shard["shard"]["selected"]) == 11
        assert (shard["together"]["tested"], shard["together"]["green_alone"]) == (0, [])
        found = {part["id"]: part["status"] for part in shard["theorems"]}
        assert "BLOCKED" not in found.values()
        assert answer.code == 3  # whether a refutation holds over the run is not known yet
    merged = verify("merge", "1.json", "2.json", "-o", "json")
    statuses = {part["id"]: part["status"] for part in json.loads(merged.out)["theorems"]}
    assert (statuses["next"], statuses["last"]) == ("BLOCKED", "BLOCKED")
    assert merged.code == 1


def test_a_merge_says_what_holds_over_the_whole_run(verify, root, sharded, monkeypatch):
    """Words stay; each claim would hold jointly in a run of its own, and does not among all."""
    weak = fakes.settled(fakes.CLAIM, fakes.FOUND[fakes.Status.SUPPORTED], p_support=0.024)
    whole = fakes.outcome
    monkeypatch.setattr(fakes, "outcome", lambda id, *_: replace(whole(id), claims=(weak,)))
    one = verify("all", "-j", "1", "-o", "json=one.json")
    sharded("all")
    assert {part["status"] for n in (1, 2) for part in read(f"{n}.json")["theorems"]} == {"SUPPORTED"}
    assert verify("merge", "1.json", "2.json", "-o", "json=all.json").code == one.code == 0
    assert list(differences(read("one.json"), read("all.json"), skipped=TIMES | JOBS | {"command"})) == []
    assert len(read("all.json")["together"]["green_alone"]) == 4


REFUSED = [
    (lambda shard: shard.update(generator="theorax 0.0.9"), "Use one version"),
    (lambda shard: shard["environment"]["versions"].update(jax="0.1"), "other versions (version of jax"),
    (lambda shard: shard["environment"].update(machine="abacus"), "another kind of machine"),
    (lambda shard: shard["settings"].update(seed=1), "other settings (seed: 0 and 1)"),
    (lambda shard: shard["shard"].update(of=3), "of different runs: 2 and 3 shards"),
    (lambda shard: shard["shard"].update(attempt=2), "another number of the attempt"),
    (lambda shard: shard["shard"].update(number=1), "are both shard 1"),
    (lambda shard: shard["theorems"][0].update(digest="0"), "checked from other sources than those here"),
]


@pytest.mark.parametrize(("edit", "told"), REFUSED)
def test_a_merge_refuses_what_is_not_one_run(verify, sharded, edit, told):
    sharded("all")
    report = read("2.json")
    edit(report)
    put(report, "2.json")
    answer = verify("merge", "1.json", "2.json")
    assert answer.code == 2
    assert told in " ".join(answer.err.split())


def test_a_merge_refuses_the_report_of_a_whole_run(verify, sharded):
    sharded("all")
    verify("all", "-j", "1", "-o", "json=2.json")
    answer = verify("merge", "1.json", "2.json")
    assert (answer.code, "no shard" in answer.err) == (2, True)


def test_a_merge_refuses_holes_overlaps_and_changed_files(verify, root, sharded):
    sharded("all")
    assert "shards, 2 is missing" in verify("merge", "1.json").err
    shutil.copy("1.json", "again.json")
    assert "are both shard 1" in verify("merge", "1.json", "again.json", "2.json").err
    answer = verify("baseline", "save", "--report", "1.json")
    assert (answer.code, "Join the shards first" in answer.err) == (2, True)
    assert "Join the shards first" in verify("replay", "1.json").err
    fakes.library(root, gap=fakes.stated(("lanczos",)))
    assert "`gap` in" in verify("merge", "1.json", "2.json").err


def test_an_interrupted_shard_is_a_hole(verify, root, sharded):
    fakes.library(root, interrupts=fakes.stated())
    assert 130 in [answer.code for answer in sharded("all")]
    answer = verify("merge", "1.json", "2.json")
    assert (answer.code, "one was interrupted" in answer.err) == (2, True)


@pytest.mark.parametrize("typed", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_refused(verify, typed):
    answer = verify("all", "--shard", typed)
    assert (answer.code, "names no shard" in answer.err) == (2, True)


@pytest.mark.parametrize("words", [("--seed", "1"), ("--level", "0.01"), ("--sizes", "T=16,32")])
def test_a_fresh_attempt_in_shards_must_say_its_number(verify, words):
    """Logs of two machines would both call it the first, and the error budget would be spent twice."""
    answer = verify("all", "--shard", "1/2", *words)
    assert (answer.code, "Write which attempt it is" in answer.err) == (2, True)


def test_shards_make_the_attempt_that_they_are_told(verify, sharded):
    sharded("all", check="fakes:counted")
    assert _attempts() == {1}
    sharded("all", "--seed", "1", "--attempt", "4", check="fakes:counted")
    assert _attempts() == {4}
    assert verify("merge", "1.json", "2.json", "-o", "json=all.json").code == 0
    # The log of this machine knows it from now on; the seed that it knew keeps its number.
    for state, shard in (("s1", "1.json"), ("s2", "2.json")):
        id = read(shard)["theorems"][0]["id"]
        for seed, number in (("9", 5), ("0", 1)):
            words = ("theorem", id, "-j", "1", "--seed", seed, "--state", state, "--fresh", "-o", "json=later.json")
            assert verify(*words, check="fakes:counted").code == 0
            assert read("later.json")["theorems"][0]["claims"][0]["attempt"] == number


def _attempts() -> set[int]:
    return {part["claims"][0]["attempt"] for n in (1, 2) for part in read(f"{n}.json")["theorems"]}


def test_real_theorems_in_shards_are_those_of_one_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir(exist_ok=True)

    def verify(*words: str) -> int:
        code = exit_code_of(Workspace(arguments=words))
        capsys.readouterr()
        return code

    common = ("theorem", *CHEAP, "--effort", "quick", "-j", "1")
    one = verify(*common, "--state", "s", "-o", "json=one.json")
    for n in (1, 2):
        verify(*common, "--state", f"s{n}", "--shard", f"{n}/2", "-o", f"json={n}.json")
        assert 0 < len(read(f"{n}.json")["theorems"]) < len(CHEAP)
    assert verify("merge", "1.json", "2.json", "-o", "json=all.json") == one == 0
    dates = frozenset({"begun"})  # of three logs
    assert list(differences(read("one.json"), read("all.json"), skipped=TIMES | JOBS | dates | {"command"})) == []
    assert set(CHEAP) <= set(Catalogue().ids)
