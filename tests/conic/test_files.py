"""Round trips through SDPA's sparse format and CBF, files of others, and what cannot be written."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from known_cones import KNOWN_CONES, geometric, quadratic
from known_sdps import KNOWN

from radcluster.conic import ExponentialCone, read, write
from radcluster.errors import InputError

PROBLEMS = [(case.name, case.build, case.value) for case in (*KNOWN, *KNOWN_CONES)]
SDPA_KINDS = {"semidefinite", "second-order"}
IN_SDPA = [c.name for c in KNOWN] + [c.name for c in KNOWN_CONES if c.kinds <= SDPA_KINDS]


def value_of(model) -> float:
    return float(pyo.SolverFactory("clarabel").solve(model).solver.primal_objective)


@pytest.mark.parametrize("ending", [".dat-s", ".cbf"])
@pytest.mark.parametrize(("name", "build", "value"), PROBLEMS, ids=lambda part: str(part)[:20])
def test_round_trips(tmp_path, ending, name, build, value):
    if ending == ".dat-s" and name not in IN_SDPA:
        with pytest.raises(InputError, match=r"has no (exponential|power) cone; write a .cbf"):
            write(build(), tmp_path / f"x{ending}")
        assert list(tmp_path.iterdir()) == []
        return
    first, second = tmp_path / f"x{ending}", tmp_path / f"y{ending}"
    write(build(), first)
    model = read(first)
    close = pytest.approx(value, rel=3e-4, abs=1e-4)
    assert value_of(model) == close
    # The solution of the file read is that of the model written, to the solver's accuracy.
    assert value_of(model) == pytest.approx(value_of(build()), rel=1e-6, abs=1e-6)
    write(model, second)
    assert value_of(read(second)) == close
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_a_file_of_sdpas_manual(tmp_path):
    """Its first example, punctuation, remarks and all: the optimum is -41.9."""
    text = """"Example 1: mDim = 3, nBLOCK = 1, {2}"
   3  =  mDIM
   1  =  nBLOCK
   2  = bLOCKsTRUCT
{48, -8, 20}
0 1 1 1 -11
0 1 2 2 23
1 1 1 1 10
1 1 1 2 4
2 1 2 2 -8
3 1 1 2 -8
3 1 2 2 -2
"""
    text = text.replace("   2  = bLOCKsTRUCT", "   (2)")
    path = tmp_path / "example1.dat-s"
    path.write_text(text)
    assert value_of(read(path)) == pytest.approx(-41.9, abs=1e-5)


def test_a_cbf_file_with_cones_on_variables(tmp_path):
    """Semidefinite variables, bounds on variables, a rotated cone, comments."""
    text = """# min <I, X> + x0 + x1 with X_01 = 1, 2 x0 x1 >= x2^2, x2 = 2
VER
2

OBJSENSE
MIN

PSDVAR
1
2

VAR
3 1
QR 3

CON
2 1
L= 2

OBJFCOORD
2
0 0 0 1.0
0 1 1 1.0

OBJACOORD
2
0 1.0
1 1.0

FCOORD
1
0 0 1 0 0.5

ACOORD
1
1 2 1.0

BCOORD
2
0 -1.0
1 -2.0
"""
    path = tmp_path / "small.cbf"
    path.write_text(text)
    model = read(path)
    # <F, X> counts the entry on both sides: 0.5 (X_01 + X_10) = 1.
    assert value_of(model) == pytest.approx(2.0 + 2.0 * 2**0.5, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.dat-s", "1\n", "no file in SDPA"),
        ("x.dat-s", "1\n1\n2\n1.0\n0 1 1 9 1.0\n", "index 9 is out of range"),
        ("x.dat-s", "1\n1\n2\n1.0\n0 1 1\n", "ends too early"),
        ("x.dat-s", "1\n1\n-2\n1.0\n1 1 1 2 1.0\n", "off its diagonal"),
        ("x.dat-s", "1\n1\n2\nabc\n", "'abc' is not a number"),
        ("x.cbf", "VER\n9\n", "version"),
        ("x.cbf", "VER\n2\nOBJSENSE\nUP\n", "MIN or MAX"),
        ("x.cbf", "VER\n2\nNONSENSE\n", "section 'NONSENSE' is not understood"),
        ("x.cbf", "VER\n2\nVAR\n3 1\nF 2\n", "do not add up to 3"),
        ("x.cbf", "VER\n2\nVAR\n1 1\nF 1\nOBJACOORD\n1\n7 1.0\n", "out of range"),
        ("x.cbf", "VER\n2\nVAR\n2 1\nEXP* 2\n", "cone EXP. of size 2 is not understood"),
        ("x.mps", "", "must end in .dat-s"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"must end in .dat-s"):
        write(quadratic(), tmp_path / "x.lp")
    m = geometric()
    m.u.fix(0.0)
    m.v.fix(0.0)
    m.t.fix(1.0)
    with pytest.raises(InputError, match="no free variables"):
        write(m, tmp_path / "x.cbf")
    m.never = pyo.Constraint(expr=m.u >= 5)
    with pytest.raises(InputError, match="never has no free variable and does not hold"):
        write(m, tmp_path / "x.cbf")


def test_an_existing_file_is_replaced_at_once_or_not_at_all(tmp_path):
    path = tmp_path / "x.dat-s"
    path.write_text("precious")
    m = quadratic()
    m.e = ExponentialCone(m.x, 1, m.y)
    with pytest.raises(InputError):
        write(m, path)
    assert path.read_text() == "precious"
