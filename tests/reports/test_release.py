"""The results that a release ships: found by the text that was checked, shown by the list, replayed by the command."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import fakes
import pytest
from test_document import report

from benchmarks.release_stamps import program
from theorax import __version__
from theorax.errors import UsageError
from theorax.reports import release
from theorax.reports.document import ShardReport
from theorax.theorems.catalogue import Catalogue
from theorax.theorems.roots import LIBRARY

# Theorems whose files changed since the results that are shipped; the next release empties this.
CHANGED = (
    "activation_matrix_smin",
    "cauchy_breakdown",
    "cs_recovery_main",
    "erf_arcsine_kernel",
    "exchangeable_clt",
    "finite_width_distance_rate",
    "finite_width_kurtosis_recursion",
    "first_layer_gaussianity",
    "fixed_rank_law",
    "gnn_recovery",
    "gradient_norm_exact",
    "infinite_time_limit",
    "kernel_combination_improves_generalisation",
    "keyquery_gap_and_bulk",
    "limit_training_dynamics",
    "linear_envelope",
    "markov_bulk_quarter_circular",
    "path_kernel_action",
    "principal_component_pursuit_recovery",
    "pseudo_iid_finite_exchangeability_gap",
    "pseudo_iid_gp_conv",
    "pseudo_iid_gp_fc",
    "pseudo_iid_sign_symmetric_clt",
    "rank_collapse_depth",
    "relu_depth_kurtosis",
    "subgaussian_near_isometry_on_sets",
    "vit_gd_learns_patch_association",
    "vit_transfer_sample_efficiency",
)


@pytest.fixture
def root(tmp_path):
    return fakes.library(tmp_path / "papers")


@pytest.fixture
def shipped(root, tmp_path, monkeypatch):
    """A release of a small library, in the place of the installed one."""
    folder = tmp_path / "shipped"
    release.write_release(report(*map(fakes.outcome, ("gap", "edge"))), Catalogue.of([root]).path, folder)
    monkeypatch.setattr(release, "heads", partial(release.heads, folder))
    monkeypatch.setattr(release, "release_report", partial(release.release_report, folder))
    return folder


def test_a_release_speaks_of_the_text_that_it_checked_and_of_no_other(shipped, root):
    path = Catalogue.of([root]).path
    assert release.heads().line("gap", path("gap")) == f"SUPPORTED at release {__version__}, 3 200 draws"
    assert release.heads().line("bulk", path("bulk")) == ""
    path("gap").write_text(path("gap").read_text() + "\n")
    assert release.heads().line("gap", path("gap")) == ""
    assert release.heads().line("edge", path("edge")) != ""


def test_the_report_of_a_release_is_the_one_that_was_written_without_its_typed_command(shipped):
    found, written = release.release_report(), report(*map(fakes.outcome, ("gap", "edge")))
    assert replace(found, command=written.command) == written
    assert found.command == f"verify all --effort {written.settings.effort} --fresh"


def test_a_part_of_a_run_is_no_release(root, tmp_path):
    part = replace(
        report(fakes.outcome("gap")), shard=ShardReport(number=1, of=2, selected=("gap",), named=("gap",), attempt=0)
    )
    with pytest.raises(UsageError, match="whole run"):
        release.write_release(part, Catalogue.of([root]).path, tmp_path / "shipped")


def test_without_results_nothing_is_shown_and_a_replay_says_what_to_name_instead(tmp_path):
    assert release.heads(tmp_path).line("gap", tmp_path / "gap.py") == ""
    with pytest.raises(UsageError, match=r"verify replay report\.json"):
        release.release_report(tmp_path)


def test_what_this_tree_ships_agrees_with_itself_and_with_the_library():
    if not release.FOLDER.is_dir():
        pytest.fail("theorax/reports/shipped is missing: python benchmarks/library.py --effort standard --keep")
    heads, document = release.heads(), release.release_report()
    assert (release.FOLDER / release.REPORT).stat().st_size <= release.LARGEST
    assert {id: (head.status, head.draws) for id, head in heads.theorems.items()} == {
        part.id: (str(part.status), part.work.draws) for part in document.theorems
    }
    assert heads.effort == document.settings.effort == "standard"
    assert set(heads.theorems) <= set(Catalogue.of([LIBRARY]).ids)
    # Of every theorem that is still what was checked, the list shows the release's word.
    catalogue = Catalogue.of([LIBRARY])
    assert tuple(sorted(id for id in heads.theorems if not heads.line(id, catalogue.path(id)))) == CHANGED


MOVED = {"pack.numerics.lanczos": "pack.papers.one._lanczos"}
BEFORE = '"""Old words."""\nfrom pack.keys import *\nfrom pack.numerics import keys, lanczos\nsaid = "pack.numerics.lanczos"\n'


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        (
            "from pack.keys import *\nfrom pack.numerics import keys\nfrom pack.papers.one import _lanczos as lanczos\n",
            True,
        ),
        ("from pack.keys import *\nimport pack.papers.one._lanczos as lanczos\nfrom pack.numerics import keys\n", True),
        (
            "from pack.numerics import keys\nfrom pack.keys import *\nfrom pack.papers.one import _lanczos as lanczos\n",
            False,
        ),
        (
            "from pack.keys import *\nfrom pack.numerics import keys\nfrom pack.papers.two import _lanczos as lanczos\n",
            False,
        ),
        ("from pack.keys import *\nfrom pack.numerics import keys\nfrom pack.papers.one import _lanczos\n", False),
    ],
    ids=["moved", "another order", "before a star", "another module", "another name"],
)
def test_a_stamp_follows_a_module_that_moved_and_no_other_change(now, is_same):
    now += 'said = "pack.papers.one._lanczos"\n'
    assert (program(BEFORE, MOVED) == program(now, {})) is is_same
    assert program(BEFORE, {}) != program(now, {})
