"""A letter whose value a subject fixes takes no other one in a check; its error names the subject and its value."""

import pytest

from theorax.errors import UsageError
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.cases.sweep_lines import refuse_unknown
from theorax.verifiers.loading import load
from theorax.verifiers.settings import Settings


def test_a_letter_of_a_subject_is_no_parameter():
    theorem = load("rank_collapse_width", Catalogue.of(()))
    with pytest.raises(UsageError) as told:
        refuse_unknown(theorem, Settings(at=(("sigma_A", "2"),)))
    assert str(told.value) == (
        "sigma_A belongs to the subject (exponential: 1, uniform: sqrt(3)/3, identity values: 1; 5 more). "
        "`verify evaluate` takes any value."
    )
