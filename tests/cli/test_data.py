"""``verify data``: what it shows and returns, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import time

import numpy as np
import polars
import pytest

from theorax import decide

SIZES = 2 ** np.arange(5, 14)
RATE = ("--rate", "error ~ N**-1", "--margin", "0.1")
DEPTHS = "n,error\n" + "".join(f"{n},{(1 + 2 / n) / n**2!r}\n" for n in (8, 16, 32, 64, 128, 256))


def draws(rng, exponent=-1.0, count=64, sizes=SIZES):
    return sizes**exponent * (1 + 0.4 * (sizes / sizes[0]) ** -0.5) * rng.lognormal(0, 0.2, (count, len(sizes)))


def long(values, sizes=SIZES, head="N,seed,error", order=None):
    rows = [f"{n},{s},{float(values[s, i])!r}" for s in range(len(values)) for i, n in enumerate(sizes)]
    return "\n".join([head, *(rows if order is None else [rows[i] for i in order])]) + "\n"


@pytest.fixture
def data(verify, tmp_path):
    """Write a text, or bytes, or arrays, and decide a claim about it."""

    def call(content, *options, name="table.csv"):
        file = tmp_path / name
        if isinstance(content, dict):
            np.savez(file, **content)
        elif isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content, encoding="utf-8")
        return verify("data", str(file), *options)

    return call


class TestVerdicts:
    def test_a_rate(self, data, rng):
        said = data(long(draws(rng)), *RATE)
        assert said.code == 0 and said.err == ""
        for part in (
            "error = Θ(N^-1)  as N → ∞",
            "✓ SUPPORTED",
            "The data exclude an exponent that is 0.1 or more away from -1.",
            "Breakdown factor: holds until corrections are",
            "a plateau of up to",
            "SUPPORTED by a test at level 0.025",
            "Assumed:",
            "How it was planned, from sizes, counts and options, never from values:",
            "N = 32 to 8192 (9 sizes), 64 draws at each",
        ):
            assert part in said.out
        assert max(map(len, said.out.splitlines())) <= 80

    def test_a_wrong_rate(self, data, rng):
        said = data(long(draws(rng)), "--rate", "error ~ N**-2", "--margin", "0.1")
        assert said.code == 1 and "✗ REFUTED" in said.out

    def test_what_would_decide_it(self, data, rng):
        said = data(long(draws(rng, count=5)[:, :5], SIZES[:5]), *RATE)
        assert said.code == 4 and "? INCONCLUSIVE" in said.out
        assert "To decide: N = 32 to" in said.out

    def test_the_command_says_what_the_library_says(self, data, rng):
        values = draws(rng)
        said = data(long(values), *RATE)
        plan = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, of="error", letter="N", name="error")
        assert said.out.startswith(str(decide.rate(plan, values)))

    def test_one_value_per_size_is_a_sequence(self, data):
        said = data(DEPTHS, "--rate", "error ~ n**-2", "--margin", "0.2", "--seeds", "none")
        assert said.code == 0
        assert "Each size (n) occurs once" in said.out and "Risk" not in said.out
        assert data(DEPTHS, "--rate", "error ~ n**-1", "--margin", "0.2", "--seeds", "none").code == 1

    def test_errors_of_single_values(self, data):
        text = "n,error,e\n" + "".join(f"{n},{1 / n!r},{0.2 / n!r}\n" for n in (8, 16, 32, 64, 128, 256))
        options = ("--rate", "error ~ n**-1", "--margin", "0.2")
        assert data(text, *options, "--seeds", "none").code == 0
        assert data(text, *options, "--error", "e").code == 4

    def test_a_wide_archive(self, data, rng):
        assert data({"N": SIZES, "error": draws(rng)}, *RATE, name="wide.npz").code == 0

    def test_columns_in_an_archive(self, data, rng):
        values = draws(rng)
        found = data({"N": np.tile(SIZES, 64), "error": values.ravel()}, *RATE, name="long.npz")
        assert found.code == 0

    def test_pairs_by_a_column_need_no_order(self, data, rng):
        values = draws(rng) * np.exp(2 * rng.standard_normal((64, 1)))
        shuffled = long(values, order=rng.permutation(values.size))
        assert data(shuffled, *RATE, "--paired", "seed").code == 0
        assert data(shuffled, *RATE, "--seeds", "independent").code == 4

    def test_step_sizes(self, data):
        steps = "h,error\n" + "".join(f"{1 / n!r},{(1 + 2 / n) / n**2!r}\n" for n in (8, 16, 32, 64, 128, 256))
        found = data(steps, "--rate", "error ~ h**2 as h -> 0", "--margin", "0.2", "--seeds", "none")
        assert found.code == 0 and "error = Θ((1/h)^-2)  as (1/h) → ∞" in found.out
        assert data(steps, "--rate", "error ~ h as h -> 0", "--margin", "0.2", "--seeds", "none").code == 1
        assert "Write `as h -> 0`" in data(steps, "--rate", "error ~ h**2", "--margin", "0.2").err
        large = steps.replace("h,", "step,").replace("0.125,", "2,")
        assert "Row 3: step" in data(large, "--rate", "error ~ step**2", "--margin", "0.2").err
        assert "`as step -> 0`" in data(large, "--rate", "error ~ step**2", "--margin", "0.2").err
        limit = data(
            steps,
            "--limit",
            "error -> 0 as h -> 0",
            "--margin",
            "0.05",
            "--class",
            "0.5 h^-1..-2",
            "--because",
            "?",
            "--seeds",
            "none",
        )
        assert limit.code == 0

    def test_a_limit(self, data, rng):
        values = 1 / 3 + 0.1 * (SIZES / 32) ** -0.5 + 0.1 * rng.standard_normal((100, 9))
        options = ("--margin", "0.05", "--sd", "0.1")
        reason = ("--because", "fluctuations of order N^-1/2")
        assert data(long(values), "--limit", "error -> 1/3 as N", *options, *reason).code == 0
        assert data(long(values), "--limit", "error -> 1/2 as N", *options, *reason).code == 1
        # Without a reason for the class another limit, reached slowly, explains the drift as well.
        assert data(long(values), "--limit", "error -> 1/3 as N", *options).code == 4

    def test_means_probabilities_and_bounds(self, data, rng):
        rows = "\n".join(f"{x!r},{bool(x < 0.999)!s}" for x in map(float, rng.random(2000)))
        text = f"x,ok\n{rows}\n"
        alone = ("--ignore", "ok")
        assert data(text, "--mean", "x = 1/2", "--margin", "0.05", "--range", "0,1", *alone).code == 0
        assert data(text, "--mean", "x <= 0.4", "--margin", "0.05", "--sd", "0.3", *alone).code == 1
        assert data(text, "--probability", "ok >= 0.99", "--margin", "0.01").code == 0
        assert data(text, "--probability", "ok >= 0.9999", "--margin", "0.01").code in (0, 1)
        assert data(text, "--at-most", "x <= 1").code == 0
        violated = data(text, "--at-most", "x <= 0.9")
        assert violated.code == 1 and "most in row" in violated.out

    def test_text_files_of_other_kinds(self, data):
        options = ("--rate", "error ~ n**-2", "--margin", "0.2")
        wanted = data(DEPTHS, *options).out
        for content in (
            "\ufeff" + DEPTHS,
            DEPTHS.replace("\n", "\r\n").encode(),
            DEPTHS.replace(",", ";"),
            DEPTHS.replace(",", "\t"),
            DEPTHS.replace(",", "   "),
            "# " + DEPTHS,
            DEPTHS + "\n\n",
            DEPTHS.replace("\n8,", '\n"8",'),
        ):
            assert data(content, *options).out == wanted

    def test_json_and_files(self, data, rng, tmp_path):
        text = long(draws(rng))
        found = json.loads(data(text, *RATE, "--output", "json").out)
        assert (found["exit_code"], found["verdict"]["status"]) == (0, "SUPPORTED")
        assert found["plan"]["hash"] == found["verdict"]["design_hash"]
        path = tmp_path / "report.json"
        assert data(text, *RATE, "-o", f"json={path}").out == ""
        assert json.loads(path.read_text()) == found
        both = data(text, *RATE, "--output", "terminal", "--output", f"json={path}")
        assert "SUPPORTED" in both.out and json.loads(path.read_text()) == found
        assert "there is no format `badge`" in data(text, *RATE, "-o", "badge").err


GOOD = "N,error\n8,0.1\n16,0.05\n32,0.025\n"
CLAIM = ("--rate", "error ~ N**-1", "--margin", "0.1")
REFUSED = {
    "empty": ("", CLAIM, "is empty"),
    "names alone": ("N,error\n", CLAIM, "has names but no rows"),
    "no names": ("8,0.1\n16,0.2\n", CLAIM, "Row 1 of"),
    "a name missing": ("N,\n8,1\n", CLAIM, "Column 2 of"),
    "a name twice": ("N,N\n8,1\n", CLAIM, "Two columns"),
    "text": (GOOD + "64,abc\n", CLAIM, "Row 5, column `error` of"),
    "nothing": (GOOD + "64,\n", CLAIM, "is empty. A missing value"),
    "nan": (GOOD + "64,nan\n", CLAIM, "Row 5, column `error`"),
    "infinite": (GOOD + "64,-inf\n", CLAIM, "is -inf"),
    "digits of another script": (GOOD + "64,\u0661\n", CLAIM, "which is no number"),
    "zero": (GOOD + "64,0\n", CLAIM, "is 0. A rate is read off logarithms"),
    "negative": (GOOD + "64,-1\n", CLAIM, "Row 5, column `error`"),
    "size zero": (GOOD.replace("8,", "0,"), CLAIM, "Row 2, column `N`"),
    "ragged": (GOOD + "64\n", CLAIM, "Row 5 of"),
    "longer": (GOOD + "64,1,2\n", CLAIM, "has 3 fields, row 1 names 2"),
    "decimal commas": ("N;error\n8;0,1\n", CLAIM, "a decimal comma. Write `0.1`"),
    "decimal and field commas": ("N,error\n8,0,1\n", CLAIM, "decimals are written with a comma"),
    "another delimiter below": ("N,error\n8;0.1\n", CLAIM, "separated by semicolons, row 1 by commas"),
    "one name": ("table\n8,0.1\n", CLAIM, "names one column"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", CLAIM, "is no text"),
    "latin": ("N,größe\n8,1\n".encode("latin-1"), CLAIM, "is no text"),
    "utf-16": (GOOD.encode("utf-16"), CLAIM, "UTF-16"),
    "two sizes": ("N,error\n8,0.1\n16,0.05\n", CLAIM, "The sweep has 2 sizes"),
    "out of order": (GOOD + "16.5,0.01\n", CLAIM, "Row 5: N = 16.5 comes after N = 32"),
    "repeated": (GOOD + "32,0.02\n", CLAIM, "N = 32 occurs 2 times (rows 4, 5)"),
    "unequal": (GOOD * 1 + "8,0.1\n16,0.1\n32,0.1\n32,0.1\n", CLAIM, "Unequal numbers of draws"),
    "unknown column": (GOOD, ("--rate", "eror ~ N**-1", "--margin", "1"), "did you mean `error`"),
    "unknown size": (GOOD, ("--rate", "error ~ M**-1", "--margin", "1"), "no column `M`"),
    "itself": (GOOD, ("--rate", "N ~ N**-1", "--margin", "1"), "depend on itself"),
    "no margin": (GOOD, CLAIM[:2], "One thing is missing: --margin."),
    "no claim": (GOOD, (), "No claim"),
    "two claims": (GOOD, (*CLAIM, "--mean", "N = 1"), "Several claims"),
    "negative margin": (GOOD, (*CLAIM[:3], "-1"), "`--margin -1`"),
    "level": (GOOD, (*CLAIM, "--level", "0.7"), "no error rates"),
    "class": (GOOD, (*CLAIM, "--class", "small"), "no class of corrections"),
    "a large class": (GOOD, (*CLAIM, "--class", "1e308 n^-1/2..-2"), "`1e308` is so large"),
    "sharp class": (GOOD, (*CLAIM, "--class", "none"), "reason"),
    "no number": (GOOD, ("--limit", "error -> x as N", "--margin", "1"), "`x` is not a finite number"),
    "no sd": (GOOD + GOOD[8:], ("--limit", "error -> 0 as N", "--margin", "1"), "One thing is missing: --sd."),
    "range": (GOOD, ("--mean", "error = 0", "--margin", "1", "--range", "1"), "no range"),
    "outside": (GOOD, ("--mean", "error = 0", "--margin", "1", "--range", "0,0.05"), "outside the declared range"),
    "no event": (GOOD, ("--probability", "error >= 0.5"), "One thing is missing: --margin."),
    "no outcome": (GOOD, ("--probability", "error >= 0.5", "--margin", "0.1"), "An event happens or not"),
    "a function of the whole table": (
        GOOD,
        ("--mean", "sum(error) = 1", "--margin", "1"),
        "`sum(error)` cannot be computed",
    ),
    "no logarithm": (GOOD + "64,-1\n", ("--at-most", "max(log(error), 0) <= 1"), "Row 5 of"),
    "a division by zero": (GOOD + "64,0\n", ("--at-most", "min(1/error, 3) <= 3"), "`1 / error` has no finite value"),
    "an endless power": (GOOD, ("--mean", "error = 9**9**9**9", "--margin", "1"), "is not a finite number"),
    "an endless power of a column": (GOOD, ("--at-most", "error*9**9**9 <= 1"), "has no finite value"),
    "a long formula": (GOOD, ("--mean", "+".join(["error"] * 5000) + " = 1", "--margin", "1"), ""),
    "two arguments": (GOOD, ("--mean", "log(error, 2) = 1", "--margin", "1"), "`log(error, 2)` cannot be computed"),
    "no column in a formula": (GOOD, ("--mean", "eror/2 = 1", "--margin", "1"), "did you mean `error`"),
    "a class that grows": (GOOD, (*CLAIM, "--class", "0.5 n^2"), "a correction fades, so its powers are negative"),
    "two readings": (GOOD, ("--rate", "error ~ N^-2/3", "--margin", "1"), "Write `N**(-2/3)`"),
    "an overflowing fraction": (GOOD, ("--mean", "error = 1", "--margin", "1e400"), "`--margin 1e400` is not valid"),
    "a large margin": (GOOD, ("--mean", "error = 1", "--margin", "1e51"), "`1e51` is so large that powers of it"),
    "a small variance": (
        GOOD,
        ("--mean", "error = 1", "--margin", "1", "--variance", "1e-320"),
        "`1e-320` is so small that powers of it",
    ),
    "a large range": (GOOD, ("--mean", "error = 1", "--margin", "1", "--range", "0,1e308"), "no range"),
    "a large value": (
        GOOD + "64,1e308\n",
        ("--mean", "error = 1", "--margin", "1", "--sd", "1"),
        "Row 5, column `error`",
    ),
    "a large value of a law": (GOOD + "64,1e308\n", ("--law", "error ~ normal(0, 1)"), "Row 5, column `error`"),
    "a large size": (GOOD + "1e308,1\n", CLAIM, "Row 5, column `N`"),
    "a small size": (GOOD + "1e-308,1\n", CLAIM, "Row 5, column `N`"),
    "a fraction of zero": (GOOD, ("--mean", "error = 1", "--margin", "1/0"), "`--margin 1/0` is not valid"),
    "a short row": ("N,error,note\n8,1,a\n16,1\n32,1,\n", CLAIM, "Row 3 of"),
    "an open quote": ('N,error\n8,"0.1\n16,0.05\n', CLAIM, "cannot be read as a table"),
    "damaged gzip": (b"\x1f\x8b\x08\x00junk", CLAIM, "damaged gzip"),
    "damaged Parquet": (b"PAR1junk", CLAIM, "damaged Parquet"),
    "two numbers": (GOOD, ("--at-most", "1 <= 2"), "compares two numbers"),
    "negative error": ("N,error,e\n8,1,-1\n", (*CLAIM, "--error", "e"), "column `e`"),
    "large error": ("N,error,e\n8,1,1\n16,1,0\n32,1,0\n", (*CLAIM, "--error", "e"), "as large as the value"),
    "errors of draws": (
        "N,error,e\n" + "8,1,0\n16,1,0\n32,1,0\n" * 2,
        (*CLAIM, "--error", "e"),
        "their spread is their error",
    ),
    "pair twice": ("N,s,error\n8,1,1\n8,1,1\n", (*CLAIM, "--paired", "s"), "Row 3 of"),
    "pair incomplete": ("N,s,error\n8,1,1\n8,2,1\n16,1,1\n", (*CLAIM, "--paired", "s"), "no row with s = 2 at N = 16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_a_sentence(name, data, tmp_path):
    content, options, said = REFUSED[name]
    output = tmp_path / "report.txt"
    found = data(content, *options, "-o", f"terminal={output}")
    assert found.code == 2 and found.out == "" and said in found.err
    assert "Traceback" not in found.err and not output.exists()


def test_the_suggested_command_decides(data, verify, rng):
    """Every missing option is named at once, and the example, typed as it stands, is accepted."""
    values = 1 / 3 + 0.1 * (SIZES / 32) ** -0.5 + 0.05 * rng.standard_normal((100, 9))
    sums = long(values)
    for options, told in (
        (("--limit", "error*2 -> 2/3 as N"), "Two things are missing: --margin, --sd."),
        (
            ("--limit", "error -> 1/3 as N", "--class", "0.1 n^-2/3"),
            "Three things are missing: --margin, --sd, --because.",
        ),
        (("--law", "error ~ normal(0, 1) as N"), "Two things are missing: --class, --because."),
        (("--rate", "error ~ N**(-1/2)"), "One thing is missing: --margin."),
        ((), "No claim was made."),
    ):
        said = data(sums, *options)
        assert said.code == 2 and told in said.err
        command = re.search(r"verify data .*", said.err)
        assert command is not None
        assert verify(*shlex.split(command[0])[1:]).code in (0, 1, 4)
    alone = data(DEPTHS, "--limit", "error -> 0 as n")
    assert "One thing is missing: --margin." in alone.err  # one row per size: nothing is random


def test_fractions(data):
    steps = "n,error\n" + "".join(f"{n},{n ** (-2 / 3)!r}\n" for n in (8, 16, 32, 64, 128, 256))
    options = ("--margin", "1/5", "--class", "0.1 n^-2/3", "--because", "the next order is known")
    said = data(steps, "--rate", "error ~ n**(-2/3)", *options)
    assert said.code == 0
    for part in ("error = Θ(n^(-2/3))", "exponent -2/3\n", "± 0.2\n", "(8/n)^(2/3)"):
        assert part in said.out
    assert "error → 1/3" in data(steps, "--limit", "error -> 1/3 as n", "--margin", "1/20", "--seeds", "none").out


def test_arithmetic_of_columns(data, rng):
    sizes = np.array([64, 128, 256, 512, 1024, 2048])
    scale = np.sqrt(2 * np.log(sizes))
    found = scale * (1 + 0.2 * sizes[0] / sizes) + 0.1 * rng.standard_normal((400, 6))
    rows = "".join(f"{n},{float(x)!r}\n" for row in found for n, x in zip(sizes, row, strict=True))
    options = ("--margin", "1/10", "--sd", "0.05")
    for claim in ("maximum/sqrt(2*log(n)) -> 1 as n", '"maximum" / (2*log(n))^(1/2) -> 1 as n'):
        assert data("n,maximum\n" + rows, "--limit", claim, *options).code == 0
    assert data("n,maximum\n" + rows, "--limit", "maximum/sqrt(log(n)) -> 1 as n", *options).code == 1
    pairs = "left side,e,1/x\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rng.random((500, 3)))
    assert data(pairs, "--at-most", "left side <= 1").code == 0  # a whole side that names a column is that column
    assert data(pairs, "--at-most", "1/x <= 1").code == 0
    assert data(pairs, "--at-most", "abs('left side' - e) <= max(e, 'left side', 0)").code == 0
    assert data(pairs, "--at-most", "e <= 1/2").code == 1  # the column, not the constant
    assert data(pairs, "--at-most", "e + 1 <= exp(e)").code == 0
    assert data(pairs, "--law", "2*e - 1 ~ uniform(-1, 1)", "--margin", "0.2").code == 0


def test_other_files(data, tmp_path):
    options = ("--rate", "error ~ n**-2", "--margin", "0.2")
    wanted = data(DEPTHS, *options).out
    assert data(gzip.compress(DEPTHS.encode()), *options, name="table.csv.gz").out == wanted
    assert data(DEPTHS.replace("\n", "\r").encode(), *options).out == wanted
    table = polars.read_csv(DEPTHS.encode())
    table.write_parquet(tmp_path / "table.parquet")
    assert data((tmp_path / "table.parquet").read_bytes(), *options, name="table.parquet").out == wanted
    table.with_columns(error=polars.lit("a")).write_parquet(tmp_path / "table.parquet")
    said = data((tmp_path / "table.parquet").read_bytes(), *options, name="table.parquet")
    assert said.code == 2 and "is of String, not of real numbers" in said.err
    table.with_columns(error=polars.lit(None)).write_parquet(tmp_path / "table.parquet")
    assert "Row 1, column `error`" in data((tmp_path / "table.parquet").read_bytes(), *options, name="t.parquet").err


def test_a_pipe_is_no_file(verify, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in verify("data", str(tmp_path / "pipe"), *CLAIM).err


def test_many_columns_are_read_in_time_linear_in_them(data):
    names = [f"c{at}" for at in range(100_000)]
    began = time.perf_counter()
    said = data(",".join([*names, names[-1]]) + "\n" + ",".join(["1"] * 100_001) + "\n", "--mean", "c1 = 1")
    # Comparing every name with those before it takes 40 s, looking it up half a second.
    assert "(100000 and 100001). Rename one." in said.err and time.perf_counter() - began < 10


SPIKE = np.zeros((64, 9))
SPIKE[3, 2] = 1


def test_archives_that_cannot_be_read(data, rng):
    assert "no NPZ archive" in data(b"PK\x03\x04junk", *RATE, name="a.npz").err
    ragged = {"N": SIZES, "error": np.ones(4)}
    assert "differ in length" in data(ragged, *RATE, name="b.npz").err
    assert "shape (9, 64)" in data({"N": SIZES, "error": draws(rng).T}, *RATE, name="c.npz").err
    assert "not of real numbers" in data({"N": np.array(["a"]), "error": np.ones(1)}, *RATE, name="d.npz").err
    nothing = {"N": np.zeros(0), "error": np.zeros(0)}
    for number, claim in enumerate(
        (RATE, ("--mean", "error = 1", "--margin", "1", "--sd", "1"), ("--law", "error ~ N"))
    ):
        assert "has names but no rows" in data(nothing, *claim, "--sd", "1", name=f"nothing{number}.npz").err
    assert "holds no draw" in data({"N": SIZES, "error": np.zeros((0, 9))}, *RATE, name="no_draws.npz").err
    assert "Row 4, column 3" in data({"N": SIZES, "error": draws(rng) + 1e60 * SPIKE}, *RATE, name="large.npz").err
    bad = draws(rng)
    bad[3, 2] = np.nan
    assert "Draw 4 at N = 128 (size 3) is nan" in data({"N": SIZES, "error": bad}, *RATE, name="e.npz").err


def test_a_file_that_is_not_there(verify, tmp_path):
    (tmp_path / "runs.csv").write_text(GOOD)
    assert "did you mean `runs.csv`" in verify("data", str(tmp_path / "run.csv"), *CLAIM).err
    assert "is a folder" in verify("data", str(tmp_path), *CLAIM).err


def test_nothing_is_executed(data):
    said = data(GOOD, "--rate", "error ~ __import__('os').getcwd()", "--margin", "1")
    assert said.code == 2


class TestLongTables:
    @pytest.mark.parametrize("seeds", ["independent", "undeclared"])
    def test_every_value_is_used(self, data, rng, seeds):
        values = draws(rng, count=3000)
        plan = decide.plan_rate(
            SIZES, exponent=-1, margin=0.1, draws=3000, seeds=seeds, of="error", letter="N", name="error"
        )
        found = data(long(values), *RATE, "--seeds", seeds)
        assert found.code == 0 and found.out.startswith(str(decide.rate(plan, values)))
        assert "batches" not in found.out

    def test_rows_are_counted_to_the_end(self, data, rng):
        text = long(draws(rng, count=3000))
        assert "Row 27002, column `error`" in data(text + "32,0,nan\n", *RATE).err
        assert "Row 27002 of" in data(text + "32,0\n", *RATE).err

    def test_more_sizes_than_a_sweep_has(self, data):
        text = "N,error\n" + "".join(f"{n},1\n" for n in range(1, 10_002))
        assert "More than 10000 different sizes" in data(text, *RATE).err


def test_empty_lines_are_skipped_and_counted(data):
    options = ("--rate", "error ~ n**-2", "--margin", "0.2")
    wanted = data(DEPTHS, *options).out
    for content in (DEPTHS.replace("\n", "\n\n"), DEPTHS.replace(",", "  ").replace("\n", "\n\n"), DEPTHS + "\n\n"):
        assert data(content, *options).out == wanted
    assert "Row 4, column `error`" in data("n,error\n\n8,1\n16,a\n", *options).err


def test_pairs_in_an_archive(data, rng):
    table = {"N": np.tile(SIZES, 64), "error": draws(rng).ravel(), "seed": np.repeat(np.arange(64), 9)}
    assert data(table, *RATE, "--paired", "seed", name="pairs.npz").code == 0
    short = data(table | {"seed": np.arange(64)}, *RATE, "--paired", "seed", name="short.npz")
    assert short.code == 2 and "differ in length: N has 576, error has 576, seed has 64" in short.err
    assert "no column ``" in data(table, *RATE, "--paired", "", name="unnamed.npz").err


def test_pairs_of_step_sizes(data):
    rows = [f"{h},{h},{seed}\n" for h in (0.5, 0.25, 0.125) for seed in (1, 2)]
    text = "h,error,seed\n" + "".join(rows[:-1])
    found = data(text, "--rate", "error ~ h as h -> 0", "--margin", "0.1", "--paired", "seed")
    assert found.code == 2 and "no row with seed = 2 at (1/h) = 8" in found.err


def test_laws(data, rng):
    rows = "\n".join(f"{x!r},{y!r}" for x, y in rng.standard_normal((20_000, 2)).tolist())
    text = f"x,y\n{rows}\n"
    assert data(text, "--law", "x ~ normal(0, 1)").code == 0
    assert data(text, "--law", "x ~ normal(0.2, 1)").code == 1
    assert data(text, "--law", "x ~ y", "--sd", "1", "--margin", "0.05").code == 0
    for claim, said in (
        ("x ~ normall(0, 1)", "did you mean `normal`"),
        ("x ~ exponential(1, 2)", "has 1 parameter"),
        ("x ~ y", "One thing is missing: --sd."),
        ("x ~ z", "no column `z`"),
        ("x ~ y as n", "not with a column"),
    ):
        found = data(text, "--law", claim)
        assert found.code == 2 and said in found.err


def test_the_limit_of_laws(data, rng):
    sizes = np.array([16, 32, 64, 128, 256])
    sums = np.stack([(rng.exponential(1, (4000, n)).sum(axis=1) - n) / np.sqrt(n) for n in sizes], axis=1)
    options = ("--class", "expansion(0.5; rest=0.02, order=1)", "--because", "an Edgeworth expansion")
    text = long(sums, sizes)
    assert data(text, "--law", "error ~ normal(0, 1) as N", *options, "--margin", "0.1").code == 0
    assert data(text, "--law", "error ~ normal(0, 1.5) as N", *options, "--margin", "0.1").code == 1
    assert "Two things are missing: --class, --because." in data(text, "--law", "error ~ normal(0, 1) as N").err


class TestReadings:
    SIGNS = np.random.default_rng(0).permutation([1, -1] * 200).tolist()  # in no order, as draws are
    NEAR = "\n".join(["x", *map(repr, (1.95 + 0.1 * np.array(SIGNS)).tolist())]) + "\n"
    FAR = "\n".join(["x", *map(repr, (1.7 + 0.1 * np.array(SIGNS)).tolist())]) + "\n"
    MEAN = ("--mean", "x = 2", "--margin", "0.1", "--sd", "0.1")

    def test_a_value_inside_the_margin(self, data):
        said = data(self.NEAR, *self.MEAN)
        assert said.code == 0
        for part in (
            "✓ SUPPORTED  within 0.1 of 2; not exactly 2\n",
            "Within 0.1 of 2; not exactly 2 (found 1.9500(50)).",
            "read with its margin",
        ):
            assert part in said.out
        exactly = data(self.NEAR, *self.MEAN, "--reading", "exact")
        assert exactly.code == 1
        for part in ("✗ REFUTED (within margin)", "Not exactly 2 (found 1.9500(50)), but within your margin of 0.1."):
            assert part in exactly.out

    def test_a_value_beyond_the_margin(self, data):
        for reading in ("exact", "margin"):
            said = data(self.FAR, *self.MEAN, "--reading", reading)
            assert said.code == 1 and "✗ REFUTED\n" in said.out

    def test_the_document_says_how_it_was_read(self, data):
        for reading, status in (("exact", "REFUTED"), ("margin", "SUPPORTED")):
            verdict = json.loads(data(self.NEAR, *self.MEAN, "--reading", reading, "--output", "json").out)["verdict"]
            assert (verdict["reading"], verdict["status"], verdict["within_margin"]) == (reading, status, True)

    def test_a_bound_without_a_share_is_read_exactly(self, data):
        rows = "x\n" + "0.5\n" * 2 + "".join(f"{0.1 + 1e-4 * i}\n" for i in np.random.default_rng(0).permutation(998))
        bound = ("--at-most", "x <= 0.4")
        assert data(rows, *bound).code == 1
        assert data(rows, *bound, "--margin", "0.02").code == 0
        assert data(rows, *bound, "--margin", "0.02", "--reading", "exact").code == 1

    def test_an_unknown_reading(self, data):
        said = data(self.NEAR, *self.MEAN, "--reading", "exat")
        assert said.code == 2 and "did you mean `exact`?" in said.err


def test_a_power_beyond_the_range_of_doubles_is_refuted_and_its_slope_left_out(data):
    table = "N,error\n" + "".join(f"{n},1\n{n},1.1\n" for n in (1, 2, 4, 8))
    found = data(table, "--rate", "error ~ N**(1e18)", "--margin", "1")
    assert found.code == 1 and "REFUTED" in found.out and "inf" not in found.out and "nan" not in found.out


class TestDependentRows:
    """Rows that are not independent draws, and columns over which they are pooled."""

    MEAN = ("--mean", "x = 1", "--margin", "0.2", "--sd", "0.3")

    @staticmethod
    def four_trainings(rng, named=True, shuffled=False):
        """Four trainings, each evaluated a hundred times."""
        runs, noise = np.array([0.55, 1.06, 1.05, 1.28]), 1e-3 * rng.normal(size=400)
        rows = [(at % 4 if named else at, float(runs[at % 4] + noise[at])) for at in range(400)]
        if shuffled:
            rows = [rows[at] for at in rng.permutation(400)]
        return "run,x\n" + "".join(f"{run},{x!r}\n" for run, x in rows)

    def test_a_hundred_evaluations_of_four_trainings_are_not_four_hundred_draws(self, data, rng):
        found = data(self.four_trainings(rng, named=False), *self.MEAN)
        assert found.code == 4
        said = " ".join(found.out.split())
        assert "depend on each other" in said and "a draw resembles the one" in said

    @pytest.mark.parametrize("shuffled", [False, True])
    def test_a_column_that_groups_rows_is_named(self, data, rng, shuffled):
        text = self.four_trainings(rng, shuffled=shuffled)
        refused = data(text, *self.MEAN)
        assert refused.code == 2
        assert '--where "run = ' in refused.err and "`--ignore run`" in refused.err
        assert data(text, *self.MEAN, "--ignore", "run").code == (0 if shuffled else 4)

    def test_where_keeps_rows(self, data, rng):
        rows = [
            (w, o, x)
            for w in (32, 64, 128)
            for o in ("adam", "sgd")
            for x in rng.normal(1 if w > 32 else 5, 0.3, 50).tolist()
        ]
        text = "width,optimizer,x\n" + "".join(
            f"{w},{o},{x!r}\n" for w, o, x in (rows[at] for at in rng.permutation(300))
        )
        wide = data(text, *self.MEAN, "--where", "width >= 64", "--ignore", "optimizer")
        assert wide.code == 0
        assert "Only rows with width >= 64 were read." in wide.out and "200 draws" in wide.out
        one = data(text, *self.MEAN, "--where", "width != 32", "--where", "optimizer = sgd")
        assert one.code == 0 and "100 draws" in one.out
        assert "which no option names" in data(text, *self.MEAN, "--where", "width >= 64").err
        for test, said in (
            ("width >= 1000", "No row"),
            ("breadth >= 64", "no column `breadth`"),
            ("width ~ 64", "compares no column with a value"),
            ("optimizer > adam", "texts have no order"),
            ("optimizer > 3", "which is no number"),
            ("__import__('os') = 1", "no column"),
        ):
            found = data(text, *self.MEAN, "--where", test)
            assert found.code == 2 and said in found.err, (test, found.err)

    def test_the_line_of_a_refused_row_is_that_of_the_file(self, data):
        text = "width,x\n" + "32,1\n" * 3 + "64,2\n64,nan\n"
        assert "Row 6, column `x`" in data(text, *self.MEAN, "--where", "width = 64").err

    def test_seeds_that_come_once_at_every_size_are_no_groups(self, data, rng):
        text = "N,error,seed,machine\n" + "".join(
            f"{n},{float(x)!r},{seed},m\n"
            for seed, row in enumerate(draws(rng))
            for n, x in zip(SIZES, row, strict=True)
        )
        assert data(text, *RATE).code == 0
        grouped = text.replace(",m\n", ",m\n", 1).replace(",m\n", ",q\n", 200)
        found = data(grouped, *RATE)
        assert found.code == 2 and "differ within one N in the column `machine`" in found.err

    COMMA = "numPts\tl1\n20\t2,43E-02\n40\t5,03E-03\n60\t1,98E-03\n80\t1,01E-03\n"

    def test_a_decimal_comma_is_refused_with_the_fix_and_a_point_is_decided(self, data):
        claim = ("--rate", "l1 ~ numPts**-3", "--margin", "0.1")
        refused = data(self.COMMA, *claim)
        assert refused.code == 2 and "a decimal comma. Write `2.43E-02`" in refused.err
        found = data(self.COMMA.replace(",", "."), *claim)
        assert found.code == 1 and "REFUTED" in found.out
