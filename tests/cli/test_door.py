"""The door, fuzzed: a right answer or one line and the right exit code, never a traceback."""

from __future__ import annotations

import io
import json
import os
import random
import struct
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from radcluster import Result
from radcluster.cli import main

#: Fuzzed inputs of each kind; 5,000 in all.
COUNTS = {"csv": 1200, "npy": 800, "toml": 800, "links": 500, "arguments": 700, "json": 1000}
if os.environ.get("RADCLUSTER_FULL") == "1":
    COUNTS = {kind: 10 * count for kind, count in COUNTS.items()}
EXIT_CODES = {0, 1, 2, 3, 4, 5}
PER_TEST = 100
BATCHES = [(kind, first) for kind, count in COUNTS.items() for first in range(0, count, PER_TEST)]

PIECES = [
    b"0", b"1", b"-1", b"2.5", b"1e300", b"1e-320", b"nan", b"inf", b"-inf", b"x", b"y", b"id",
    b",", b";", b"\t", b" ", b"\n", b"\r\n", b'"', b"'", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"#",
    b"[", b"]", b"=", b"NA", b"", b"1_000", b"0x10", b"9" * 400, b"a" * 140_000, b"1,2\n3,4\n",
]  # fmt: skip


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; anything but SystemExit is a failure."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        main(arguments)
    return int(end.value.code or 0), out.getvalue(), err.getvalue()


def check(arguments: list[str], seed: str) -> int:
    code, _, err = run(arguments)
    assert code in EXIT_CODES, (seed, arguments, code)
    assert "Traceback" not in err, (seed, arguments, err)
    errors = [line for line in err.splitlines() if line.startswith("radcluster: error:")]
    # With check, 1 says that a certificate does not hold.
    said = code in ((2, 5) if arguments[0] == "check" else (1, 2, 5))
    assert said == (len(errors) == 1), (seed, arguments, code, err)
    return code


def mangled(rng: random.Random, good: bytes) -> bytes:
    """A good file with bytes taken out, put in, repeated or cut off."""
    data = bytearray(good)
    for _ in range(rng.randint(0, 4)):
        at = rng.randint(0, len(data))
        action = rng.randrange(4)
        if action == 0:
            data[at:at] = rng.choice(PIECES)
        elif action == 1:
            del data[at : at + rng.randint(1, 8)]
        elif action == 2 and data:
            data[min(at, len(data) - 1)] = rng.randrange(256)
        else:
            del data[at:]
    return bytes(data)


def csv_case(rng, folder):
    rows = rng.randint(0, 5)
    text = "x,y\n" * rng.randint(0, 1)
    text += "".join(f"{rng.uniform(-2, 2):.3f},{rng.choice([0, 1, 5])}\n" for _ in range(rows))
    path = folder / "points.csv"
    path.write_bytes(mangled(rng, text.encode()))
    return ["solve", str(path), "-k", "2", "--method", "heuristic", "--time-limit", "1"]


def npy_case(rng, folder):
    stream = io.BytesIO()
    np.save(stream, np.round(np.random.default_rng(rng.randrange(99)).normal(size=(4, 2)), 2))
    good = stream.getvalue()
    if rng.random() < 0.5:
        shape = rng.choice(["(10000000000, 2)", "(-1, 2)", "(4,)", "()", "(2, 2, 2)", "'a'"])
        kind = rng.choice(["<f8", "|O", "<U9", "<c16", "<i4", "<M8[D]"])
        text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        text = text.ljust(117) + "\n"
        good = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"\0" * 64
    path = folder / "points.npy"
    path.write_bytes(mangled(rng, good))
    return ["solve", str(path), "-k", "1", "--method", "heuristic", "--time-limit", "1"]


VALUES = [
    "1", "-1", "0", "2.5", "1e300", "nan", "inf", '"x"', '"numpy:empty"', '"os:system"', "true",
    "[]", "[1]", "[[0, 1]]", "[[0, 9]]", "{a = 1}", '["scs"]', '"highs"', "2020-01-01",
    "[[[[[]]]]]", '"sdp:paper"', '"/dev/zero"', '"\\u0000"',
]  # fmt: skip


def toml_case(rng, folder):
    keys = [
        "points", "columns", "n_clusters", "radius", "cannot_link", "must_link", "sample_weight",
        "initial", "method", "solver", "time_limit", "rel_gap", "threads", "seed", "verbose",
        "native", "anchored", "constraints", "formulation", "cuts", "sdp", "step1", "step2",
        "step4", "repeat", "n_jobs", "metod", "as_printed",
    ]  # fmt: skip
    lines = ["points = [[0.0, 1.0], [1.0, 1.0], [5.0, 0.0]]", "n_clusters = 2", "time_limit = 1.0"]
    lines += ['method = "heuristic"']
    for key in rng.sample(keys, rng.randint(0, 2)):
        lines = [line for line in lines if not line.startswith(key)]
        lines.append(f"{key} = {rng.choice(VALUES)}")
    if rng.random() < 0.02:
        lines.append("deep = " + "[" * 20_000)
    path = folder / "experiment.toml"
    text = "\n".join(lines).encode()
    path.write_bytes(mangled(rng, text) if rng.random() < 0.4 else text)
    return ["run", str(path)]


def links_case(rng, folder):
    (folder / "points.csv").write_text("0,0\n1,0\n5,5\n6,5\n")
    rows = [f"{rng.randint(-1, 5)},{rng.randint(0, 4)}" for _ in range(rng.randint(0, 3))]
    path = folder / "pairs.csv"
    path.write_bytes(mangled(rng, "\n".join(rows).encode()))
    option = rng.choice(["--cannot-link", "--must-link", "--initial"])
    rest = ["-k", "2", "--method", "heuristic", "--time-limit", "1"]
    return ["solve", str(folder / "points.csv"), option, str(path), *rest]


def arguments_case(rng, folder):
    points = folder / "points.csv"
    points.write_text("0,0\n1,0\n5,5\n")
    words = ["0", "1", "2", "-1", "nan", "inf", "1e300", "x", "", "a=b", "scs", "highs", "a,b"]
    words += ["sdp:paper", "numpy:empty", "no.such:thing", "a\0b", "\udcff", "9" * 30]
    options = [
        "-k", "-r", "--method", "--solver", "--config", "--rel-gap", "--threads", "--seed",
        "--constraints", "--formulation", "--cuts", "--sdp", "--step1", "--step2", "--native",
        "--initial", "--columns", "--time-limit", "--cannot-link", "--certificate",
    ]  # fmt: skip
    command = rng.choice(
        ["solve"] * 6 + ["min-clusters", "min-radius", "check", "solvers", "sovle"]
    )
    given = {"-k": "2", "--time-limit": "1", "--method": rng.choice(["heuristic"] * 4 + ["milp"])}
    for option in rng.sample(options, rng.randint(0, 2)):
        given[option] = rng.choice(words)
    if command in ("min-clusters", "check"):
        given.pop("--method", None)
    if rng.random() < 0.3:
        given["--out"] = rng.choice([str(folder), str(folder / "no" / "file"), "a\0b"])
    if given.get("--certificate") and "/" not in given["--certificate"]:
        given["--certificate"] = str(folder / given["--certificate"][:9])
    return [command, str(points), *(word for pair in given.items() for word in pair)]


GOOD = json.dumps(
    {
        "status": "optimal", "objective": 0.5, "lower_bound": 0.5, "gap": 0.0, "n_clusters": 2,
        "radius": None, "max_radius": 0.5, "labels": [0, 0, 1], "method": "exact", "solver": None,
        "seconds": 0.1, "certificate": None, "steps": [],
    }
)  # fmt: skip


def json_case(rng, folder):
    (folder / "points.csv").write_text("0,0\n1,0\n5,5\n")
    data = json.loads(GOOD)
    if rng.random() < 0.5:
        odd = [None, -1, 1e999, "x", [], {}, [[]], [0, 0, 9], [0.5], True, {"kind": "clique"}]
        data[rng.choice([*data, "kind", "points", "more"])] = rng.choice(odd)
    if rng.random() < 0.3:
        data["certificate"] = {
            "kind": rng.choice(["clique", "weights", "search", "propagation", "must_link", "x", 3]),
            "points": rng.choice([[0, 1, 2], [0, 0], "ab", None, [9], [[0]]]),
        }
    text = mangled(rng, json.dumps(data).encode())
    path = folder / "result.json"
    path.write_bytes(text)
    try:
        Result.from_json(text.decode("utf-8", "replace"))
    except ValueError:
        pass
    return ["check", str(folder / "points.csv"), str(path)]


CASES = {
    "csv": csv_case, "npy": npy_case, "toml": toml_case, "links": links_case,
    "arguments": arguments_case, "json": json_case,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "first"), BATCHES)
def test_fuzzed(kind, first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(first, first + PER_TEST):
        seed = f"{kind}:{number}"
        check(CASES[kind](random.Random(seed), tmp_path), seed)
