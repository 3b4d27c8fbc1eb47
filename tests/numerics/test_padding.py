"""Sizes share compiled programs within a span."""

from theorax.verifiers.cases.measure import padded_sizes


def test_sizes_share_a_program_up_to_twice_the_size():
    assert padded_sizes((4, 8, 16, 24)) == {24: 24, 16: 24, 8: 8, 4: 8}


def test_a_wider_span_shares_more():
    assert padded_sizes((4, 8, 16, 24), span=8) == dict.fromkeys((4, 8, 16, 24), 24)
    assert padded_sizes((1, 8, 64), span=8) == {64: 64, 8: 64, 1: 1}
