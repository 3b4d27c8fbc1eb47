"""A theorem file refers by object: to letters, hypotheses and claims; what is not there fails where it is written."""

# ruff: noqa: F403, F405  (the language is imported whole, as in a theorem file)
from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from enum import Enum, IntEnum

import jax
import pytest
from sympy import Integer, Rational

from theorax import language
from theorax.errors import StatementError
from theorax.language import *
from theorax.numerics.extents import Extent
from theorax.numerics.sampler import Sampler
from theorax.verifiers.attacks.mutants import variants
from theorax.verifiers.cases.measure import instance as built
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.settings import Settings

n = Size("n", "how many")
a = Parameter("a", "a number", positive=True)
seen = numbers(x="a measured number", y="another", positive=True)
sides = arrays(left="one side", right="the other")
H = hypotheses(keys="keys are centred", floor=Hypothesis("e0 = 0", unbroken="a test"))
CLASS = Expansion(powers=(1,), rest=0.1, order=2, reason="a test")


class Kind(IntEnum):
    OWN = 0
    BATCH = 1


class Word(Enum):
    OWN = "own"


def limit(of=seen.x, under=H.keys, **changed):
    return Limit(of, a, as_=n, approach=CLASS, margin=Relative(1, 10, "a test"), under=under, **changed)


def build(key, n, kind, shift):
    return jax.random.normal(key, (n,)).sum() / n + shift + 10 * kind


def observe(model, n):
    return dict(x=model, y=model * n)


mean, other = limit(), limit(seen.y, under=(H.keys, H.floor))
one = Subject(build, kind=Kind.OWN, shift=0.0)


def theorem(claims=None, proofs=(), **subjects):
    drawn = Experiment(
        observe,
        seen,
        {n: (2, 4)},
        at={a: Integer(1)},
        draws=2,
        subjects={"one": one, "control": one(kind=Kind.BATCH).breaking(H.keys, fails=mean), **subjects},
    )
    return Theorem(
        place="a test",
        label="derived",
        hypotheses=H,
        claims=claims or dict(mean=mean, other=other),
        experiments=dict(numbers=drawn),
        proofs=proofs,
    )


@derives(mean, other)
def both(claim):
    """Any size."""
    yield Step("a side", claim.to * 2, 2 * a)


@lemma
def aside():
    """One example."""
    yield Step("two", Integer(1) + 1, 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: sides.rihgt, "did you mean `right`"),
        (arrays, "needs a name"),
        (lambda: numbers(x=" "), "has no meaning"),
        (lambda: H.key, "did you mean `keys`"),
        (lambda: hypotheses(keys=" "), "is empty"),
        (
            lambda: theorem(claims=dict(mean=mean, third=limit(under=hypotheses(tube="eps > 0").tube))),
            "needs the hypothesis 'tube'",
        ),
        (lambda: theorem(claims=dict(mean=mean, third=limit(under=hypotheses(keys="others").keys))), "'keys' (others)"),
        (lambda: theorem(claims=dict(mean=mean, third=limit(under=Hypothesis("nameless")))), "'' (nameless)"),
        (lambda: theorem(two=one.breaking(hypotheses(tube="eps > 0").tube)), "two breaks the hypothesis 'tube'"),
        (lambda: theorem(two=one.breaking(H.keys, fails=limit())), "two fails Limit of its own, which is no claim"),
        (lambda: theorem(two=one.breaking(H.keys, fails=(mean, "mena"))), "two fails 'mena', which is no claim"),
        (lambda: theorem(two=one.breaking(H.floor, fails=mean)), "breaks none of its hypotheses (keys)"),
        (lambda: theorem(proofs=(derives(limit())(both.steps),)), "A proof speaks of Limit of its own"),
        (lambda: theorem(proofs=(both, derives(mean)(both.steps))), "two proofs of mean"),
        (lambda: one.breaking(fails=mean), "breaks no hypothesis"),
        (lambda: one(kindd=Kind.OWN), "did you mean `kind`"),
        (lambda: one(kind=Word.OWN), "Make Word an IntEnum"),
        (settles, "names no claim"),
        (lambda: derives("mean"), "names no claim"),
        (lambda: derives(mean)(lambda: iter(())), "has no docstring"),
        (lambda: lemma(both.steps), "takes 1 parameter"),
        (lambda: Experiment(observe, seen, {n: 2}, at={a: 0.5}, subjects={"one": one}), "Write Rational(1, 2)"),
    ],
)
def test_what_is_not_there_fails_where_it_is_written(wrong, said):
    with pytest.raises(StatementError) as refused:
        wrong()
    assert said in str(refused.value)
    assert str(refused.value).rstrip().endswith(".")


def test_letters_of_a_namespace_are_those_declared_one_by_one():
    assert seen.x == Measured("x", "a measured number", positive=True)
    assert list(sides) == [Measured("left", "one side", array=True), Measured("right", "the other", array=True)]
    assert {"left", "right"} <= set(dir(sides))
    for namespace in (copy.deepcopy(sides), pickle.loads(pickle.dumps(sides))):
        assert list(namespace) == list(sides)


def test_an_experiment_measures_a_namespace_a_letter_or_several():
    z = Measured("z", "a third")
    parts = dict(sweep={n: 12}, subjects={"one": one(shift=1.0)}, at=({a: 1}, {a: Rational(1, 2)}))
    for measures, letters in ((z, (z,)), (seen, (seen.x, seen.y)), ((z, seen), (z, seen.x, seen.y))):
        experiment = Experiment(observe, measures, **parts)
        assert experiment.measured == letters
    assert experiment.sizes("quick") == (12,)
    assert [case[a] for case in experiment.cases] == [1, Rational(1, 2)]
    swept = Experiment(observe, seen, {n: Efforts(2, (2, 4), (2, 4, 8))}, subjects=parts["subjects"], at={a: 1})
    assert [swept.sizes(effort) for effort in ("quick", "standard", "thorough")] == [(2,), (2, 4), (2, 4, 8)]


def test_every_name_is_free_for_a_hypothesis():
    parts = hypotheses(keys="one", items="two", get="three", name="four")
    assert [part.name for part in parts] == ["keys", "items", "get", "name"]
    assert (parts.keys.sentence, parts["get"].sentence, "items" in parts) == ("one", "three", True)
    assert list(copy.copy(parts)) == list(pickle.loads(pickle.dumps(parts))) == list(parts)


def test_a_theorem_knows_its_claims_by_object():
    stated = theorem(proofs=(both, aside))
    assert stated.needed(mean) == ("keys",)
    assert stated.needed(other) == ("keys", "floor")
    assert set(stated.evidence(mean)) == {"one"}
    assert set(stated.controls("mean")) == {"control"}
    assert stated.controls("other") == {}
    assert [(proof.name, proof.settles, proof.scope) for proof in stated.proofs] == [
        ("mean", False, "Any size."),
        ("other", False, "Any size."),
        ("aside", False, "One example."),
    ]
    assert [len(list(proof.steps())) for proof in stated.proofs] == [1, 1, 1]


def test_parts_of_a_theorem_can_be_replaced():
    stated = theorem(proofs=(both, aside))
    changed = replace(stated, claims=dict(mean=replace(mean), other=other))
    assert set(changed.controls("mean")) == {"control"}
    assert [proof.name for proof in changed.proofs] == ["mean", "other", "aside"]


def test_a_control_adds_to_what_a_subject_breaks_and_fails():
    twice = one.breaking(H.keys, fails=mean).breaking(H.floor, fails=(other,))
    assert twice.broken == ("keys", "floor")
    assert twice.fails == (mean, other)
    assert (one.broken, one.fails) == ((), ())


def test_a_subject_that_is_called_keeps_its_other_options_and_what_it_knows():
    plain = Subject(build, kind=Kind.OWN, shift=0.5, knows={a: 2})
    assert plain(kind=Kind.BATCH).options == dict(kind=Kind.BATCH, shift=0.5)
    assert plain(kind=Kind.BATCH).knows == {a: 2}
    assert plain(knows={a: 3}).knows == {a: 3}
    assert plain.options == dict(kind=Kind.OWN, shift=0.5)


@pytest.mark.parametrize("padded", [False, True])
def test_sizes_are_whole_numbers_unless_they_are_padded(padded):
    asked = []

    def grow(key, n, kind, shift):
        asked.append(n)
        size = n.padded if padded else n
        return jax.random.normal(key, (size,)).sum() + shift + 10 * kind

    def count(model, n):
        asked.append(n)
        return dict(x=model, y=1.0 * (n.value if padded else n))

    drawn = Experiment(
        count, seen, {n: (2, 4)}, draws=3, padded=padded, subjects={"one": Subject(grow, kind=1, shift=0.0)}
    )
    (line,) = sweep_lines("numbers", drawn, Settings())
    sampler = Sampler()
    found = measure("a_test", drawn, line, [line], 0, sampler)
    assert [table["y"].tolist() for table in found.tables] == [[2.0] * 3, [4.0] * 3]
    assert sampler.meter.programs == (1 if padded else 2)
    _, letters = built(drawn, "a_test", line, 2, 0, 0)
    assert {type(size) for size in (*asked, *letters.values())} == {Extent if padded else int}


def test_a_choice_from_a_menu_reaches_the_program_as_its_number():
    stated = theorem()
    experiment = stated.experiments["numbers"]
    tables = {}
    for line in sweep_lines("numbers", experiment, Settings(effort="standard")):
        tables[line.name] = measure("a_test", experiment, line, [line], 0, Sampler()).tables[0]["x"]
    # Ten standard deviations and more apart: the menu's second entry adds ten to a mean of two normal numbers.
    assert (tables["control"] - 5 > tables["one"]).all()


def test_what_a_theorem_file_imports_is_complete_and_sorted():
    names = list(language.__all__)
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert all(hasattr(language, name) for name in names)


def test_a_margin_carries_its_reason_and_a_wrong_value_replaces_the_predicted_side():
    exact = Relative(1, 10**9, "rounding stays below it")
    claim = Identity(sides.left, sides.right, margin=exact, wrong={"zero": 0, "twice": dict(left=2 * sides.left)})
    named = {part.name: part.claim for part in variants("exact", claim) if part.origin == "file"}
    assert named == {"zero": replace(claim, right=Integer(0)), "twice": replace(claim, left=2 * sides.left)}
    assert exact == Relative(1, 10**9, "for another reason"), "a margin is a distance"
    with pytest.raises(StatementError, match="has no reason"):
        Relative(1, 10**9, " ")
