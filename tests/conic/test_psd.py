"""What a user may type for a matrix inequality, and what is said of what cannot be one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest

from radcluster.conic import PSD, Affine, PSDVar, SymmetricVar, affine, compile_model
from radcluster.errors import InputError

A = np.array([[-1.0, 2.0], [0.0, -3.0]])


def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=1.0)
    m.square = pyo.Var(range(2), range(2))
    m.p = pyo.Param(initialize=2.0, mutable=True)
    return m


def forms(m):
    """One matrix, [[x0 + 1, x0 + 2 x1], [x0 + 2 x1, 3]], in every form."""
    a, b = m.x[0] + 1, m.x[0] + 2 * m.x[1]
    x = affine(m.x)
    constant = np.array([[1.0, 0.0], [0.0, 3.0]])
    return {
        "nested list": [[a, b], [b, 3]],
        "nested tuple": ((a, b), (b, 3.0)),
        "object array": np.array([[a, b], [b, 3]], dtype=object),
        "both triangles apart": [[a, m.x[0] + 2 * m.x[1]], [2 * m.x[1] + m.x[0], 3]],
        "mapping of one triangle": {(0, 0): a, (0, 1): b, (1, 1): 3},
        "mapping of both": {(0, 0): a, (1, 0): b, (0, 1): b, (1, 1): 3},
        "affine": constant
        + x[0] * np.ones((2, 2))
        - x[0] * np.diag([0.0, 1.0])
        + x[1] * np.array([[0.0, 2.0], [2.0, 0.0]]),
        "affine, stacked": constant
        + x @ np.array([[[1.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [2.0, 0.0]]]),
    }


@pytest.mark.parametrize("form", forms(model()))
def test_forms_of_one_matrix(form):
    m = model()
    m.lmi = PSD(forms(m)[form])
    np.testing.assert_allclose(m.lmi.matrix(), [[2.0, 3.0], [3.0, 3.0]])
    assert pyo.value(m.lmi.cone.body) == pytest.approx(np.linalg.eigvalsh(m.lmi.matrix())[0])
    assert pyo.value(m.lmi.entry(1, 0)) == 3.0
    m.goal = pyo.Objective(expr=m.x[1], sense=pyo.maximize)
    m.fix = pyo.Constraint(expr=m.x[0] == 2)
    pyo.SolverFactory("clarabel").solve(m)
    # (2 + 2 x1)^2 <= 9
    assert pyo.value(m.x[1]) == pytest.approx(0.5, abs=1e-6)


def test_a_data_frame_is_a_matrix():
    m = model()
    m.lmi = PSD(pd.DataFrame([[m.x[0], 1], [1, 2]], index=["a", "b"], columns=["a", "b"]))
    np.testing.assert_allclose(m.lmi.matrix(), [[1, 1], [1, 2]])


def test_order_1_as_numpy_and_pyomo_make_it():
    """Pyomo turns a variable times a 1 x 1 array into a vector."""
    m = model()
    one = np.array([[2.0]])
    matrices = [m.x[0] * one, one * m.x[0] + one, m.x[0] + 1, [[m.x[0] - 4]], affine(m.x)[0]]
    m.lmi = PSD(range(5), rule=lambda m, k: matrices[k])
    m.low = PSD(m.x[0] * one, sense="<=", rhs=10 * one)
    m.goal = pyo.Objective(expr=m.x[0])
    assert [float(m.lmi[k].matrix()[0, 0]) for k in range(5)] == [2.0, 4.0, 2.0, -3.0, 1.0]
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.x[0]) == pytest.approx(4.0, abs=1e-6)
    m.goal.sense = pyo.maximize
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.x[0]) == pytest.approx(10.0, abs=1e-6)


def test_arguments_by_name():
    m = model()
    m.lmi = PSD(matrix=[[m.x[0], 1], [1, 2]], rhs=np.eye(2))
    np.testing.assert_allclose(m.lmi.matrix(), [[0, 1], [1, 1]])


def test_a_cone_whose_statement_failed_is_not_left_out():
    m = model()
    with pytest.raises(InputError, match=r"fixed before the cone is stated"):
        m.lmi = PSD([[m.x[0] * m.x[1], 1], [1, 1]])
    m.goal = pyo.Objective(expr=m.x[0])
    with pytest.raises(InputError, match="the cone lmi was not stated: delete it or state it anew"):
        pyo.SolverFactory("clarabel").solve(m)
    m.del_component("lmi")
    m.x[1].fix(2.0)
    m.lmi = PSD([[m.x[0] * m.x[1], 1], [1, 1]])
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.x[0]) == pytest.approx(0.5, abs=1e-6)


def test_callables_need_their_order():
    m = model()
    m.lmi = PSD(lambda i, j: m.x[i] if i == j else 1, order=2)
    np.testing.assert_allclose(m.lmi.matrix(), np.ones((2, 2)))
    with pytest.raises(InputError, match=r"needs its order: PSD\(f, order=n\)"):
        m.bad = PSD(lambda i, j: 1)


def test_sense_and_right_hand_side():
    m = pyo.ConcreteModel()
    m.P = PSDVar(2)
    P = m.P.matrix_expression()
    m.lyapunov = PSD(A.T @ P + P @ A, sense="<=", rhs=-np.eye(2))
    m.upper = PSD(m.P, "<=", 5 * np.eye(2))
    m.trace = pyo.Objective(expr=P.trace())
    pyo.SolverFactory("clarabel").solve(m)
    residual = A.T @ m.P.matrix() + m.P.matrix() @ A + np.eye(2)
    assert np.linalg.eigvalsh(residual)[-1] < 1e-6
    np.testing.assert_allclose(m.lyapunov.matrix(), -residual, atol=1e-9)


def test_indexed_with_a_rule():
    m = model()
    m.K = pyo.Set(initialize=["a", "b"])
    size = {"a": 1.0, "b": 4.0}
    m.lmi = PSD(m.K, rule=lambda m, k: [[size[k], m.x[0]], [m.x[0], 1]])
    m.goal = pyo.Objective(expr=m.x[0], sense=pyo.maximize)
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.x[0]) == pytest.approx(1.0, abs=1e-6)
    m.lmi["a"].deactivate()
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.x[0]) == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("inline", [False, True])
def test_own_columns_change_nothing_but_the_arrays(inline):
    m = model()
    matrix = [[m.x[0] + m.x[1], 1], [1, m.x[0] - m.x[1] + 2]]
    m.lmi = PSD(matrix, inline=inline)
    m.goal = pyo.Objective(expr=m.x[0])
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.SolverFactory("clarabel").solve(m)
    assert len(compile_model(m).c) == (2 if inline else 4)
    assert len(compile_model(m, inline=True).c) == 2
    assert pyo.value(m.x[0]) == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(m.dual[m.lmi], [[0.5, -0.5], [-0.5, 0.5]], atol=1e-5)


def test_numbers_that_are_nearly_symmetric_are_averaged_with_a_warning():
    m = model()
    with pytest.warns(UserWarning, match="symmetric up to 1.0e-09 only"):
        m.lmi = PSD([[m.x[0], 1.0], [1.0 + 1e-9, m.x[1]]])
    assert m.lmi.matrix()[0, 1] == 1.0 + 0.5e-9


def test_a_symmetric_variable_has_no_cone():
    m = pyo.ConcreteModel()
    m.S = SymmetricVar(2)
    m.goal = pyo.Objective(expr=m.S.X[0, 0])
    m.low = pyo.Constraint(expr=m.S.X[0, 0] >= -7)
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.S.X[0, 0]) == pytest.approx(-7, abs=1e-6)


@pytest.mark.parametrize(
    ("matrix", "keywords", "message"),
    [
        (lambda m: [[m.x[0], 1], [2, m.x[1]]], {}, r"not symmetric: entries \(0, 1\) and \(1, 0\)"),
        (lambda m: [[m.x[0], m.x[0]], [m.x[1], 1]], {}, r"State \(A \+ A.T\) / 2"),
        (lambda m: [[m.x[0], m.x[1] ** 2], [m.x[1] ** 2, 1]], {}, r"entry \(0, 1\) of .* affine"),
        (lambda m: [[m.x[0], True], [True, 1]], {}, r"entry \(0, 1\) of .* it is True"),
        (lambda m: [[m.x[0], None], [None, 1]], {}, "it is None"),
        (lambda m: [[m.x[0], "a"], ["a", 1]], {}, "it is 'a'"),
        (lambda m: [[m.x[0], 1, 2], [1, 1, 2]], {}, r"square matrix, not shape \(2, 3\)"),
        (lambda m: [m.x[0], m.x[1]], {}, r"square matrix, not shape \(2,\)"),
        (lambda m: [[m.x[0], 1], [1]], {}, "same length"),
        (lambda m: {(0, 0): 1, 1: 2}, {}, r"pairs \(i, j\) as its keys"),
        (lambda m: {(0, 5): 1}, {"order": 2}, r"no entry \(0, 5\)"),
        (lambda m: np.zeros((0, 0)), {}, "has no rows"),
        (lambda m: np.eye(3), {"order": 2}, "the matrix has 3 rows, not 2"),
        (lambda m: m.square, {}, "if SymmetricVar or PSDVar made it"),
        (lambda m: np.eye(2), {"sense": "<"}, 'sense must be ">=" or "<="'),
        (lambda m: np.eye(2), {"rhs": 3}, "rhs must be 0 or a matrix"),
        (lambda m: np.eye(2), {"rhs": np.eye(3)}, r"shapes \(2, 2\) and \(3, 3\)"),
    ],
)
def test_refusals_of_matrices(matrix, keywords, message):
    m = model()
    with pytest.raises(InputError, match=message):
        m.lmi = PSD(matrix(m), **keywords)


def test_affine_arrays_refuse_what_they_cannot_hold():
    m = model()
    x = affine(m.x)
    with pytest.raises(InputError, match="by numbers"):
        x * x
    with pytest.raises(InputError, match="by numbers"):
        x * m.p
    with pytest.raises(InputError, match="cannot multiply shapes"):
        np.eye(3) @ x
    m.odd = pyo.Var(["a", "b"])
    with pytest.raises(InputError, match="not indexed by whole numbers"):
        affine(m.odd)
    m.gap = pyo.Var([0, 2])
    with pytest.raises(InputError, match="has no variable"):
        affine(m.gap)
    with pytest.raises(InputError, match="only a scalar"):
        _ = x.expr


def test_affine_arrays_are_arrays_of_expressions():
    m = model()
    x = affine(m.x)
    whole = np.asarray(A @ x + 1.0)
    assert [pyo.value(entry) for entry in whole] == [2.0, -2.0]
    assert pyo.value((2 - x / 2).sum().expr) == 3.0
    assert str(x[1].expr) == "x[1]"
    # With parameters and expressions it becomes an array of expressions.
    mixed = (m.p * np.eye(2) + x[0] * np.eye(2)) - np.ones((2, 2)) * (m.x[1] ** 2)
    assert [pyo.value(entry) for entry in mixed.ravel()] == [2.0, -1.0, -1.0, 2.0]
    assert isinstance(x - m.x[1], Affine)
    m.P = PSDVar(2)
    m.P.X.set_values({(0, 0): 1.0, (0, 1): 2.0, (1, 1): 5.0})
    P = affine(m.P)
    assert pyo.value(P.trace().expr) == 6.0
    assert pyo.value(P.inner(np.ones((2, 2))).expr) == 10.0
    np.testing.assert_allclose(
        np.vectorize(pyo.value)(np.asarray(A @ P @ A.T)), A @ m.P.matrix() @ A.T
    )
