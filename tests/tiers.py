"""Which tests a run makes: all that are quick, and of every slow kind the same few each time; ``--whole`` makes all.

A test is slow if it takes over two seconds on two quiet cores. Slow tests are listed here by kind, one row for what they
hold, with the few of the kind that every run makes. ``--part COMMIT`` adds the tenth of the rest that the digest of a
commit chooses, so that a commit is tested in the same way wherever and whenever it is. A test that is named on the
command line, as in ``pytest tests/faults/test_faults.py::test_a_short_pass_breaks_no_promise``, is run.

``tests/README.md`` shows the table to people, and a law holds the two together.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

PARTS = 10
BUDGET = 2.0
"""Seconds that a test may take, in every run, outside the table."""


@dataclass(frozen=True)
class Kind:
    """Slow tests that hold one thing, and those of them that every run makes.

    ``tests`` are functions with all of their parameters, ``folder/test_file.py::test_function``, or some of these,
    ``folder/test_file.py::test_function[parameter]``; a star stands for anything. ``always`` are parameters, or
    ``test_function``, or ``test_function[parameter]``.
    """

    holds: str
    tests: tuple[str, ...]
    always: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.always or not self.tests:
            raise ValueError(f"A slow kind has tests, and some that every run makes: {self.holds}.")

    def has(self, name: str) -> bool:
        """True if the test of this name, as `name_of` gives it, is of this kind."""
        return any(_matches(test, name if "[" in test else name.partition("[")[0]) for test in self.tests)

    def always_runs(self, name: str) -> bool:
        """True if every run makes this test of the kind."""
        function, _, parameter = name.partition("[")
        last = function.rpartition("::")[2]
        wanted = (last, parameter.removesuffix("]"), f"{last}[{parameter}")
        return any(_matches(pattern, text) for pattern in self.always for text in wanted)


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


def name_of(nodeid: str) -> str:
    """The name of a test below the folder of the tests, wherever pytest was started."""
    return re.sub(r"^(.*/)?tests/", "", nodeid)


def part_of(text: str) -> int:
    """The part that a commit chooses, or that a test belongs to, whatever other tests there are."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % PARTS


def kind_of(name: str) -> Kind | None:
    """The slow kind that this test is of."""
    return next((kind for kind in KINDS if kind.has(name)), None)


def lost(names: Iterable[str]) -> list[str]:
    """What the table names and these tests are not, though they are of the same file."""
    names = list(names)
    files = {name.partition("::")[0] for name in names}
    found: list[str] = []
    for kind in KINDS:
        here = [test for test in kind.tests if test.partition("::")[0] in files]
        members = [name for name in names if kind.has(name)]
        found += [test for test in here if not any(replace(kind, tests=(test,)).has(name) for name in members)]
        if here == list(kind.tests):
            found += [
                text for text in kind.always if not any(replace(kind, always=(text,)).always_runs(m) for m in members)
            ]
    return found


def chosen(part: str | None) -> Callable[[str], bool]:
    """Whether a run makes the test of a name: without a part the default, with a commit also the part that it chooses."""

    def runs(name: str) -> bool:
        kind = kind_of(name)
        return kind is None or kind.always_runs(name) or (bool(part) and part_of(name) == part_of(str(part)))

    return runs


def table(kinds: Iterable[Kind]) -> str:
    """The kinds as a table of Markdown."""
    lines = ["| what is held | where | in every run |", "|---|---|---|"]
    for kind in kinds:
        where, always = ("<br>".join(f"`{text}`" for text in texts) for texts in (kind.tests, kind.always))
        lines.append(f"| {kind.holds} | {where} | {always} |")
    return "\n".join(lines) + "\n"


_CLI = "cli/test_documentation.py::"
_MUTANTS = "power/test_engine_mutants.py::"
KINDS = (
    Kind(
        "A theorem about stored runs is drawn again when their files change.",
        ("cli/test_kept_runs.py::test_other_numbers_are_drawn_again",),
        ("test_other_numbers_are_drawn_again",),
    ),
    Kind(
        "Every theorem of the library, at quick effort: its words, controls, mutants and numbers are those that are kept.",
        ("power/test_every_theorem.py::test_the_words_of_its_claims_its_controls_mutants_and_numbers",),
        ("linear_attention_free_support_vectors", "relu_arc_cosine_kernel", "scaled_attention_reparametrisation"),
    ),
    Kind(
        "A draw of every theorem is a function of its names.",
        ("laws/test_theorems.py::test_a_draw_is_a_function_of_its_names",),
        ("distance_bound_tight", "noncollapse_general_sequence", "outlier_interlacing"),
    ),
    Kind(
        "Planted falsehoods that are theorem files: none is greener than its word.",
        (
            "power/test_planted_falsehoods.py::test_no_falsehood_is_greener_than_its_word[*.py]",
            "power/test_planted_falsehoods.py::test_no_falsehood_is_greener_than_its_word[*.py.*]",
        ),
        (
            "s02_few_instances/half_left_open.py.clipped",
            "s06_randomness/one_key_for_two.py",
            "s07_rounding/dropped_entries.py.halved",
            "s12_assumptions/root_of_a_square.py.below",
            "s15_believed_bounds/bounds_made_of_values.py.typed",
            "s19_zero_test/poles_of_binomials.py.halves",
            "q05_search/lipschitz_wrong_large.py.bound",
        ),
    ),
    Kind(
        "True statements that are theorem files and hard to decide keep their words.",
        ("honesty/test_hard_truths.py::test_a_true_statement_keeps_its_word[*.py.*]",),
        ("bounds/gap_beside_the_value.py.*", "s11_stand_ins/second_moments.py.*", "q05_search/half_is_right.py.*"),
    ),
    Kind(
        "A search refutes false bounds by a witness, and no true one.",
        (
            "verifiers/test_witnesses.py::test_a_false_bound_is_refuted_by_a_witness",
            "verifiers/test_witnesses.py::test_a_true_bound_is_never_refuted",
        ),
        ("softmax is Lipschitz with 1/4", "a matrix has full rank", "a half-normal number is not negative"),
    ),
    Kind(
        "Ordinary true statements get their words.",
        ("honesty/test_ordinary_truths.py::test_an_ordinary_statement_gets_its_word",),
        ("coin", "fourth_moment", "means_of_two", "sigmoid_slope", "gaussian_within_two"),
    ),
    Kind(
        "The engine's own cases refute what is true of skewed draws no more often than their level says.",
        ("honesty/test_own_case_rates.py::test_two_tests_in_a_row_keep_the_level_that_thirty_draws_do_not",),
        ("test_two_tests_in_a_row_keep_the_level_that_thirty_draws_do_not",),
    ),
    Kind(
        "Without its guard a falsehood is greener: every guard of the engine is needed.",
        ("power/test_engine_mutants.py::test_without_its_guard_a_falsehood_is_greener",),
        ("one program on both sides", "constant rows", "skewed means", "casts that narrow"),
    ),
    Kind(
        "Faults in the engine that only many replicates show break the gate of the calibration.",
        (
            *(
                f"{_MUTANTS}test_the_gate_fails[{name}]"
                for name in (
                    "normal for Student's t in p-values",
                    "paired draws taken as independent",
                    "undeclared seeds taken as independent",
                    "one degree of freedom too many at each size",
                    "Welch dropped: degrees of freedom added up",
                    "variance over m in place of m - 1",
                    "one-sided level for a two-sided claim",
                    "level of a case not shared",
                    "quantile of the noise of a law at the wrong level",
                    "covariance of one draw of a law for that of the mean, squared",
                    "the whole level at every look",
                )
            ),
            *(
                f"{_MUTANTS}test_the_same_gate_passes_without_the_fault[{name}]"
                for name in (
                    "normal for Student's t in p-values",
                    "level of a case not shared",
                    "quantile of the noise of a law at the wrong level",
                    "covariance of one draw of a law for that of the mean, squared",
                )
            ),
        ),
        ("test_the_gate_fails[normal for Student's t in p-values]",),
    ),
    Kind(
        "Defects planted in a copy of the package turn exactly the claims red that they falsify.",
        ("power/test_planted_defects.py::*",),
        ("test_the_hook_stops_an_off_by_one",),
    ),
    Kind(
        "Every design of the library can decide.",
        ("power/test_one_run.py::*",),
        ("quick",),
    ),
    Kind(
        "Solvers with a planted fault lose their claims.",
        ("power/test_wrong_solvers.py::test_the_limit_of_a_hard_tube",),
        ("early",),
    ),
    Kind(
        "All looks together keep their levels, and greedy looks do not.",
        (
            "decide/test_looks.py::test_errors_of_all_looks_together_stay_below_the_level",
            "decide/test_looks.py::test_the_whole_level_at_every_look_is_too_much",
            "decide/test_looks.py::test_easy_claims_cost_less_and_hard_ones_little_more",
        ),
        ("bounded by nothing but chance",),
    ),
    Kind(
        "What README, tutorials and CONTRIBUTING show is what their commands print; by default their commands are read "
        "and the pages' own transcripts are taken for the outputs.",
        (
            *(f"{_CLI}test_commands[{page}]" for page in ("README", "tutorial_*")),
            "cli/test_contributing.py::test_the_page_shows_what_happens",
        ),
        ("tutorial_rate",),
    ),
    Kind(
        "A layer of a user's is judged through the command, at the theorem's own sizes.",
        (
            "cli/test_models.py::test_the_gap_of_an_attention_layer_closes_with_its_outlier",
            "cli/test_models.py::test_one_layer_collapses_unless_its_outlier_is_removed",
            "cli/test_models.py::test_a_constant_is_not_asked_of_a_layer_whose_law_nobody_knows",
        ),
        ("test_a_constant_is_not_asked_of_a_layer_whose_law_nobody_knows",),
    ),
    Kind(
        "What `verify new` and `verify init` write holds, and their workflows pass, in an empty folder.",
        (
            "cli/test_scaffold.py::test_every_template_holds_in_an_empty_folder",
            "cli/test_scaffold.py::test_the_commands_of_the_workflow_work_in_a_repository_made_by_init",
        ),
        ("gitlab",),
    ),
    Kind(
        "Processes that are killed, bits that flip and inputs that are wrong break no promise.",
        ("faults/test_faults.py::test_a_short_pass_breaks_no_promise",),
        ("few",),
    ),
    Kind(
        "The benchmark for accelerators runs whole, but for the device.",
        ("numerics/test_accelerator_benchmark.py::test_*",),
        ("test_without_an_accelerator_it_refuses",),
    ),
    Kind(
        "Fast samplers have the law of the literal network.",
        ("theorems/test_attention.py::test_fast_sampler_has_the_law_of_the_literal_network",),
        ("0.0-gaussian",),
    ),
)
