"""The errors of library functions on this platform: measured against balls, and what the error domain allows for."""

import numpy as np
import pytest

from theorax.numerics.arithmetics import probe
from theorax.numerics.arithmetics.running_error import library_ulps, probed


def test_every_function_is_measured_and_allowed_for_twice():
    measured = probed()
    assert set(measured) == set(probe.FUNCTIONS)
    for name, errors in measured.items():
        for dtype, error in zip(("float32", "float64"), errors, strict=True):
            # A function that is right to the last bit still errs by half a unit, if the points are not special.
            assert 0.4 < error <= library_ulps(name, dtype)


@pytest.mark.parametrize("planted", [3.0, 50.0])
def test_a_planted_error_is_measured(planted):
    def wrong(x):
        return np.exp(x) + planted * np.spacing(np.exp(x))

    assert probe.ulps("exp", "float64", wrong) == pytest.approx(planted, abs=1.5)  # the exponential's own error


def test_a_worse_platform_widens_the_bound(monkeypatch):
    from theorax.numerics.arithmetics import RunningError, running_error

    x = running_error.Running(np.array([0.7]), np.zeros(1))
    before = RunningError().unary("tanh", x).error[0]
    monkeypatch.setattr(running_error, "ulps", lambda name, dtype, function: 42.0)
    assert RunningError().unary("tanh", x).error[0] == pytest.approx(before * 10, rel=1e-6)  # 42 for the recorded 4.2


def test_the_doctor_prints_what_was_measured(tmp_path):
    from click.testing import CliRunner

    from theorax.cli.doctor import doctor

    printed = CliRunner().invoke(doctor, ["--state", str(tmp_path)]).output.splitlines()
    for name in probe.FUNCTIONS:
        (line,) = (row for row in printed if row.startswith(f"error of {name} "))
        assert "ulp measured in float32 / float64" in line
