"""The Schur block as a Pyomo component."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from known_sdps import smallest_eigenvalue, theta_of_5_cycle

from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.schur import SchurBlock, dual_matrices, schur_blocks
from radcluster.conic.triangle import unpack
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model


def test_one_triangle_of_variables():
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=3)
    assert len(m.psd.X) == 6
    assert m.psd.entry(0, 2) is m.psd.entry(2, 0) is m.psd.X[0, 2]
    assert m.psd.order == 3 and not m.psd.bordered


def test_border():
    m = pyo.ConcreteModel()
    m.s = pyo.Var()
    m.psd = SchurBlock(order=["a", "b"], s=m.s)
    assert m.psd.order == 3
    assert m.psd.entry("b", None) is m.psd.entry(None, "b") is m.psd.y["b"]
    assert m.psd.entry(None) is m.s


def test_constants_and_outside_variables_create_nothing():
    m = pyo.ConcreteModel()
    m.z = pyo.Var()
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.psd = SchurBlock(order=2, X={(0, 1): 0, (1, 1): m.z}, y={0: m.p}, s=1)
    assert list(m.psd.X) == [(0, 0)] and list(m.psd.y) == [1]
    m.psd.X[0, 0] = 3.0
    m.z = 4.0
    m.psd.y[1] = 0.5
    np.testing.assert_array_equal(m.psd.matrix(), [[3, 0, 2], [0, 4, 0.5], [2, 0.5, 1]])


def test_indexed_by_keywords_or_by_a_rule():
    m = pyo.ConcreteModel()
    m.n = pyo.Var([2, 3])
    m.same = SchurBlock([0, 1], order=2, s=1)
    m.each = SchurBlock([2, 3], rule=lambda block, k: block.build(order=k, s=m.n[k]))
    assert [block.order for block in m.each.values()] == [3, 4]
    assert [block.name for block in schur_blocks(m)] == ["same[0]", "same[1]", "each[2]", "each[3]"]
    m.same[1].deactivate()
    assert len(schur_blocks(m)) == 3


@pytest.mark.parametrize("copy", [lambda m: m.clone(), lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_refer_to_their_own_variables(copy):
    m = pyo.ConcreteModel()
    m.n = pyo.Var()
    m.psd = SchurBlock(order=2, s=m.n)
    other = copy(m)
    assert other.psd.entry(None) is other.n
    assert other.psd.entry(0, 1) is other.psd.X[0, 1]
    assert other.psd.entry(0, 1) is not m.psd.X[0, 1]


def test_printing_states_the_matrix():
    m = pyo.ConcreteModel()
    m.n = pyo.Var()
    m.psd = SchurBlock([7], order=2, X={(0, 1): 0}, s=m.n)
    m.plain = SchurBlock(order=50)
    text = io.StringIO()
    m.pprint(ostream=text)
    assert "[[X, y], [y', s]] >= 0, order 3" in text.getvalue()
    assert "psd[7].X[0,0]  0  psd[7].y[0]" in text.getvalue()
    assert "X >= 0, order 50" in text.getvalue()
    assert "plain.X[0,0]  plain.X[0,1]" not in text.getvalue()


def test_dual_matrices_complement_the_solution():
    m = smallest_eigenvalue()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.SolverFactory("clarabel").solve(m)
    s = dual_matrices(m)[m.psd]
    assert np.linalg.eigvalsh(s)[0] > -1e-7
    assert abs((s * m.psd.matrix()).sum()) < 1e-7


def test_the_dual_matrix_of_a_maximisation_is_negative():
    m = theta_of_5_cycle()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.SolverFactory("clarabel").solve(m)
    assert np.linalg.eigvalsh(dual_matrices(m)[m.psd])[-1] < 1e-7


def test_the_cone_is_a_constraint_that_can_be_evaluated_and_dropped():
    m = smallest_eigenvalue()
    for (i, j), var in m.psd.X.items():
        var.set_value(float(i == j) - 0.75)
    # The identity less 0.75 in every entry.
    assert pyo.value(m.psd.cone.body) == pytest.approx(1 - 3 * 0.75)
    assert m.psd.cone.lslack() < 0
    assert str(m.psd.cone.expr) == "0  <=  smallest_eigenvalue(3 x 3)"
    m.psd.cone.deactivate()
    assert schur_blocks(m) == []
    assert compile_model(m).orders == []


@pytest.mark.parametrize("solver", [info.name for info in registry.usable("MILP")])
def test_solvers_without_cones_refuse_the_block(solver):
    """They would drop it otherwise, and call the optimum of what is left the optimum."""
    m = smallest_eigenvalue()
    for var in m.psd.X.values():
        var.setlb(-1.0)
        var.setub(1.0)
    with pytest.raises(InputError, match=r"has a positive semidefinite block.*use clarabel, scs"):
        solve_model(m, solver)
    assert all(var.value is None for var in m.psd.X.values())


def test_entries_are_found_whichever_way_round_they_are_given():
    m = pyo.ConcreteModel()
    m.v = pyo.Var([0, 1, 2])
    m.p = SchurBlock(order=2, X={(0, 0): 1, (1, 1): 1, (1, 0): 0.9})
    m.q = SchurBlock(order=2, y=m.v, s=1)
    m.both = SchurBlock(order=2, X={(0, 1): 0.5, (1, 0): 0.5})
    m.tuples = SchurBlock(order=[("a", 1), ("a", 2)], s=1)
    assert m.p.entry(0, 1) == 0.9 and len(m.p.X) == 0
    assert m.q.entry(1, None) is m.v[1]
    assert m.both.entry(0, 1) == 0.5
    assert m.tuples.entry(("a", 2), ("a", 1)) is m.tuples.X["a", 1, "a", 2]
    assert m.tuples.entry(("a", 2), None) is m.tuples.y["a", 2]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"order": 2, "y": {0: 1.0}}, "no corner s"),
        ({"order": ["a", "a"]}, "must differ"),
        ({"order": 0}, "no rows"),
        ({"order": -3}, "no rows"),
        ({"order": 2, "X": {(0, 7): 1.0}}, r"no entry \(0, 7\)"),
        ({"order": 2, "y": {5: 1.0}, "s": 1}, "no entry 5"),
        ({"order": 2, "X": {(0, 1): 0.1, (1, 0): 0.2}}, "differ"),
        ({"order": 2, "X": np.eye(3)}, "do not fit 2 rows"),
        ({"order": 2, "X": 7}, "callable, mapping or array"),
    ],
)
def test_blocks_that_say_something_else_are_refused(keywords, message):
    m = pyo.ConcreteModel()
    with pytest.raises(InputError, match=message):
        m.block = SchurBlock(**keywords)


def test_unpack():
    np.testing.assert_array_equal(unpack([1, 2, 3]), [[1, 2], [2, 3]])
