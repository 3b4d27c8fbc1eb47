"""Cases of the engine's own: which values it chooses, at which levels it decides, and what a reader is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Integer, Rational, S

from theorax.decide.phrases import seen_text
from theorax.decide.verdict import OwnCase, OwnOutcome, Seen, SeenLetter
from theorax.errors import StatementError
from theorax.language import Absolute, Expectation, Experiment, Measured, Parameter, Size, Subject, Theorem, hypotheses
from theorax.verifiers.cases.own_cases import Place, choices, is_admissible, lines_of
from theorax.verifiers.cases.sweep_lines import cells, sweep_lines
from theorax.verifiers.own_evidence import other_dependences
from theorax.verifiers.settings import Settings

n, d = Size("n", "size"), Size("d", "width")
g = Parameter("g", "ratio", positive=True)
k = Parameter("k", "copies", integer=True, positive=True)
x = Measured("x", "a number")


def theorem(at, sweep=(8, 16), where=S.true, derived=None, **letters):
    claim = Expectation(x, letters.get("value", g), margin=Absolute(1, 10, "a tenth"), where=where)
    part = Experiment(
        lambda value: dict(x=value),
        x,
        {n: sweep},
        at=at,
        derived=derived or {},
        subjects={"one": Subject(lambda key, n: n)},
    )
    return Theorem(hypotheses=hypotheses(), claims=dict(mean=claim), experiments=dict(e=part))


def chosen(whole, place, letter=g):
    claim = whole.claims["mean"]
    lines = sweep_lines("e", whole.experiments["e"], Settings(effort="quick"))
    return [
        (choice, [line for _, line in zip(range(5), lines_of(claim, choice, lines[0], 16), strict=False)])
        for choice in choices(whole, claim, lines)
        if choice.letter == letter and choice.place is place
    ]


def test_one_value_has_one_on_each_side_within_a_factor_of_two():
    found = chosen(theorem({g: Rational(1, 2)}), Place.NEAR)
    sides = [{line.case[g] > Rational(1, 2) for line in lines} for _, lines in found]
    assert sides == [{True}, {False}]
    assert all(Rational(1, 4) < line.case[g] < 1 for _, lines in found for line in lines)


def test_several_values_have_one_inside_and_one_outside_and_none_is_special():
    whole = theorem(({g: Integer(1)}, {g: Integer(3)}))
    ((_, inside),) = chosen(whole, Place.INSIDE)
    ((_, outside),) = chosen(whole, Place.OUTSIDE)
    assert all(1 < line.case[g] < 3 for line in inside)
    assert all(not 1 <= line.case[g] <= 3 and line.case[g] > 0 for line in outside)
    assert all(line.case[g].q > 2 for line in (*inside, *outside))


def test_derived_sizes_are_whole_and_integer_letters_take_integers():
    ((_, above), (_, below)) = chosen(theorem({g: Rational(1, 2)}, derived={d: n / g}), Place.NEAR)
    assert all((Integer(size) / line.case[g]).is_Integer for line in (*above, *below) for size in line.sizes)
    found = chosen(theorem({k: 2}, value=k), Place.NEAR, k)
    assert {line.case[k] for _, lines in found for line in lines} == {Integer(1), Integer(3), Integer(4)}


def test_sizes_lie_between_and_at_most_twice_the_largest():
    whole = theorem({g: 1})
    ((_, between),) = chosen(whole, Place.INSIDE, n)
    ((_, beyond),) = chosen(whole, Place.OUTSIDE, n)
    assert all(8 < line.sizes[0] < 16 for line in between)
    assert all(24 <= line.sizes[0] <= 32 for line in beyond)


def test_the_order_is_that_of_a_digest_of_the_statement():
    one, same = (chosen(theorem({g: Rational(1, 2)}), Place.NEAR)[0][0].candidates for _ in range(2))
    other = chosen(theorem({g: Rational(1, 2)}, value=2 * g), Place.NEAR)[0][0].candidates
    assert one == same
    assert set(one) == set(other)
    assert one != other


def test_a_condition_restricts_values_and_sizes():
    whole = theorem({g: Rational(1, 2)}, where=(g < Rational(7, 10)) & (n <= 16))
    ((above, *_),) = [lines for _, lines in chosen(whole, Place.NEAR)][:1]
    assert above.case[g] < Rational(7, 10)
    assert [lines for _, lines in chosen(whole, Place.OUTSIDE, n)] == [[]]
    claim = whole.claims["mean"]
    (line,) = sweep_lines(
        "e", theorem({g: Rational(1, 2)}, sweep=(8, 16, 64)).experiments["e"], Settings(effort="quick")
    )
    assert [cell.line.sizes for cell in cells(claim, line)] == [(8, 16)]
    assert not is_admissible(claim, line)


def test_a_closed_letter_is_left_as_it_is():
    shut = Parameter("g", "ratio", positive=True, closed="the data have one ratio")
    assert shut != g
    assert not chosen(theorem({shut: Rational(1, 2)}, value=shut), Place.NEAR, shut)
    with pytest.raises(StatementError, match="closed"):
        Parameter("g", "ratio", closed="  ")


def test_other_dependences_agree_where_the_author_drew():
    (constant,) = other_dependences(1 + 3 * g, g, [Rational(1, 2)])
    assert constant == Rational(5, 2)
    line, *others = other_dependences(1 + g**2, g, [Integer(1), Integer(2)])
    assert line == 3 * g - 1
    assert all(other.subs(g, 2).equals(5) for other in others)
    assert line not in list(other_dependences(3 * g - 1, g, [Integer(1), Integer(2)]))


def test_what_was_seen_is_told_on_a_line():
    letters = (SeenLetter("n", ("4", "16"), ("9",)), SeenLetter("k", ("2",), fixed="two heads are trained"))
    own = OwnCase("n", ("40",), OwnOutcome.DROPPED, "ValueError: too large")
    told = seen_text(Seen(letters, ("Gaussian",), (own,)))
    assert told == (
        "n = 4, 16; 9 (ours); k = 2 (fixed: two heads are trained); drawn: Gaussian; "
        "n = 40 (ours): the program does not run there: ValueError: too large"
    )
    assert "left to a higher effort: n = 40" in seen_text(Seen(letters, (), (replace(own, outcome=OwnOutcome.WAITS),)))
