"""A replay against its report: identical, within the account of rounding, or different and where."""

from __future__ import annotations

import math

import fakes
import pytest
from test_document import edited, report

from theorax.reports.replaying import DIFFERENT, GONE, IDENTICAL, WITHIN, held_against
from theorax.reports.replaying_text import replay_as_plain_text


@pytest.fixture
def then():
    return report(fakes.outcome("gap"))


def case(found):
    return found["theorems"][0]["claims"][0]["cases"][0]


def replayed(then, now):
    (found,) = held_against(then, now).theorems
    return found


def test_the_same_is_bit_identical_whatever_it_cost(then):
    def change(found):
        found["theorems"][0]["work"]["seconds"] = 99.0
        found["theorems"][0]["kept_from"] = "2026-01-01T00:00:00Z"

    now = edited(then, change)
    found = replayed(then, now)
    assert found.result == IDENTICAL and found.numbers > 100
    assert held_against(then, now).exit_code == 0


def test_how_a_source_is_written_is_no_result_but_how_a_step_closed_is(then):
    def step(**told):
        return edited(then, lambda found: found["theorems"][0]["proof"][0].update(told))

    before, now = step(status="CITED", method="Weyl 1912"), step(status="CITED", method="Weyl 1912, theorem 1")
    assert replayed(before, now).result == IDENTICAL
    now = step(status="PROVED", method="the normal form")
    assert {row.what for row in replayed(before, now).differences} == {
        "status of a step of the proof", "method of a step of the proof",
    }  # fmt: skip


def test_another_order_of_summation_is_within_the_account(then):
    estimate = then.theorems[0].claims[0].cases[0].estimate
    now = edited(then, lambda found: case(found).update(estimate=math.nextafter(estimate, 3)))
    found = replayed(then, now)
    (row,) = found.differences
    assert found.result == WITHIN and row.apart == 2.0**-52 and row.account < 1e-10
    assert "within the account" in replay_as_plain_text(held_against(then, now))


def test_a_difference_beyond_it_is_told_with_its_place(then):
    def change(found):
        case(found)["estimate"] += 0.01
        case(found)["points"][2]["estimate"] += 1e-6
        found["environment"]["versions"]["jax"] = "99.0"

    now = edited(then, change)
    found = replayed(then, now)
    assert found.result == DIFFERENT and held_against(then, now).exit_code == 1
    first = found.differences[0]
    assert (first.claim, first.case, first.what) == ("gap", "exponential weights at gamma = 1/4", "estimate")
    assert first.errors == pytest.approx(0.01 / 0.0023)
    assert {row.what for row in found.differences} == {"estimate", "estimate at size 256"}
    told = " ".join(replay_as_plain_text(held_against(then, now)).split())
    assert "apart by 0.01 or 4.3 standard errors" in told and "-> 99.0" in told


def test_a_word_outranks_every_number(then):
    def change(found):
        case(found)["estimate"] += 1
        decay = found["theorems"][0]["claims"][1]
        told = [{"finding": "the data exclude the claim", "sentence": "It is not.", "reason": None, "within": ""}]
        decay.update(findings=told, status="REFUTED", sentence="It is not.", p_refute=0.0, adjusted_refute=0.0)
        found["theorems"][0]["status"] = "REFUTED"
        found["theorems"][0]["mutants"][0]["killed"] = False

    first, second, third, *_ = replayed(then, edited(then, change)).differences
    assert {(row.claim, row.what) for row in (first, second)} == {("decay", "status"), ("", "status")}
    assert third.rank < second.rank


@pytest.mark.parametrize("change", ["design_hash", "statement", "margin_given", "attempt", "p_refute"])
def test_what_is_no_measured_number_must_be_equal(change, then):
    another = {"p_refute": 0.5, "attempt": 7}.get(change, "another")
    now = edited(then, lambda found: found["theorems"][0]["claims"][0].update({change: another}))
    assert replayed(then, now).result == DIFFERENT


def test_without_randomness_the_declared_rounding_is_the_account(then):
    def at(value):
        ends = [value - 0.1 - 1e-9, value + 0.1 + 1e-9]
        told = {"standard_error": 0.0, "estimate": value, "interval": ends, "bias": 0.1}
        return edited(then, lambda found: case(found).update(told))

    assert replayed(at(2.0), at(2.0 + 1e-9)).result == WITHIN
    assert replayed(at(2.0), at(2.0 + 1e-8)).result == DIFFERENT


def test_what_is_gone_is_not_replayed(then):
    found = held_against(then, report(fakes.outcome("edge")))
    assert found.theorems[0].result == GONE and found.exit_code == 4
    then = edited(then, lambda found: found["theorems"][0]["claims"].pop())
    assert replayed(then, report(fakes.outcome("gap"))).differences[0].now == "stated"
