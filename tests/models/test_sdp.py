"""The relaxed SDP in its three forms: pinned values, symmetry, reductions, cuts, Step 1."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pytest
from cases import MOONS_OPTIMA, brute_force, moons

from radcluster import Instance
from radcluster.conic.backends import solve_program
from radcluster.conic.bounds import program_bound, proves_infeasible
from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.program import ConicSolution
from radcluster.conic.schur import schur_blocks
from radcluster.errors import InputError, SolverFailure
from radcluster.graph.conflicts import AdmissiblePairs, ConflictGraph, analyse
from radcluster.models.parts.cuts import KINDS, separate
from radcluster.models.sdp import build
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations
from radcluster.relaxation.sdp import InfeasibleRelaxation, solve_sdp
from radcluster.solvers import registry

POINTS = np.random.default_rng(4).normal(size=(10, 2))
SMALL = Instance(POINTS, 3, 1.1)
SIZES = (4, 3, 3)

#: Options of build() and the value of what they build on SMALL, whose optimum is 4.990115.
PINNED = {
    "perspective": ({}, 4.923838),
    "perspective, anchored": ({"labelling": analyse(SMALL).labelling}, 4.990115),
    "peng_wei": ({"form": "peng_wei"}, 4.923838),
    "peng_wei, anchored": ({"form": "peng_wei", "labelling": analyse(SMALL).labelling}, 4.990115),
    "paper": ({"form": "paper", "cardinalities": SIZES}, 1.211544),
    "paper, lower": ({"form": "paper", "rlt": "lower", "cardinalities": SIZES}, 5.385839),
    "paper, all": ({"form": "paper", "rlt": "all", "cardinalities": SIZES}, 5.390496),
    "paper, n = N/K": ({"form": "paper", "rlt": "lower"}, 5.450864),
}


def value(model, solver="clarabel", tolerance=1e-7) -> float:
    program = compile_model(model)
    solution = solve_program(program, solver, tolerance=tolerance)
    assert solution.status in ("optimal", "almost"), solution.message
    program.load(solution.x)
    return program.objective(solution.x)


@pytest.mark.parametrize("name", PINNED)
@pytest.mark.parametrize(
    "solver", [info.name for info in registry.usable("SDP") if info.name != "cyipopt"]
)
def test_pinned_values(name, solver):
    options, expected = PINNED[name]
    program = compile_model(build(SMALL, **options))
    solution = solve_program(program, solver, tolerance=1e-7)
    assert solution.status == "optimal"
    assert program.objective(solution.x) == pytest.approx(expected, rel=2e-5)
    assert program_bound(program, solution.z) <= expected * (1 + 1e-6)


@pytest.mark.parametrize(("radius", "one_pass"), [(0.189, 1.29519), (0.18, 1.30315)])
def test_moons_perspective(radius, one_pass):
    """Anchors that strike out their conflicts once give the one value, propagation more."""
    instance = moons(16, radius)
    graph = ConflictGraph(instance)
    anchors = sorted(nx.max_weight_clique(graph.graph, None)[0])
    allowed = np.array([~graph.matrix[a] for a in anchors]).T
    for k, a in enumerate(anchors):
        allowed[a] = np.arange(16) == k
    assert value(build(instance, AdmissiblePairs(allowed))) == pytest.approx(one_pass, abs=1e-4)
    memberships = solve_sdp(instance, analyse(instance).labelling)
    assert memberships.report.objective == pytest.approx(
        {0.189: 1.295553, 0.18: 1.326427}[radius], abs=2e-6
    )
    assert one_pass < memberships.lower_bound < MOONS_OPTIMA[16, radius]
    np.testing.assert_allclose(memberships.scores.sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize(("radius", "expected"), [(0.189, 1.1394), (np.inf, 1.0127)])
def test_moons_peng_wei(radius, expected):
    memberships = solve_sdp(moons(16, radius), form="peng_wei")
    assert memberships.report.solver == "scs"
    assert memberships.report.objective == pytest.approx(expected, abs=1e-4)
    assert expected - 5e-4 < memberships.lower_bound <= expected + 1e-4


def test_the_paper_form_has_the_size_of_the_paper():
    m = build(moons(4), form="paper", rlt="lower")
    program = compile_model(m)
    assert len(program.columns) == 4 * (100 * 101 // 2 + 100)
    assert sum(not isinstance(source, int) for source, _ in program.rows) == (
        4 * (100 + 1 + 2 * 4950) + 100
    )


def test_without_anchors_the_paper_form_says_nothing():
    m = build(SMALL, form="paper", rlt="lower")
    value(m)
    k = SMALL.n_clusters
    np.testing.assert_allclose([b.value for b in m.b.values()], (2 - k) / k, atol=1e-5)


def test_the_value_of_the_paper_form_at_full_size():
    """A safe bound from below and a point of the whole program, 16 blocks of order 101, from above.

    A solver's word will not do: the value is what is left of 5153, to which tolerances relate, and
    SCS at 1e-5 says anything from 0.98 to 1.08.
    """
    one_block = build(moons(), form="paper", rlt="lower", reduce=True)
    program = compile_model(one_block)
    solution = solve_program(program, "scs", tolerance=1e-8)
    assert 1.0132 < program_bound(program, solution.z) < 1.0137

    program.load(solution.x)
    b = (2 - 16) / 16
    lifted = one_block.M[0].matrix()[:100, :100]
    np.fill_diagonal(lifted, 1.0)
    # A point inside the cone and all rows takes the rest of the solver's inaccuracy away.
    inside = np.full((100, 100), b * b)
    np.fill_diagonal(inside, 1.0)
    lifted = (1 - 1e-4) * lifted + 1e-4 * inside
    assert np.linalg.eigvalsh(lifted - b * b)[0] > 0.0
    whole = build(moons(), form="paper", rlt="lower")
    assert sorted(block.order for block in schur_blocks(whole)) == [101] * 16
    for var in whole.b.values():
        var.set_value(b)
    for k in whole.CLUSTERS:
        for (i, j), var in whole.M[k].X.items():
            var.set_value(lifted[i, j])
    assert all(row.slack() >= -1e-12 for row in whole.component_data_objects(pyo.Constraint))
    assert pyo.value(whole.within_cluster_scatter) < 1.022


@pytest.mark.parametrize(
    "options",
    [
        {"form": "paper"},
        {"form": "paper", "rlt": "all", "card_rows": True},
        {"form": "paper", "rlt": "lower", "cardinalities": SIZES},
        {"form": "perspective"},
    ],
)
def test_reduction_keeps_the_value(options):
    full, reduced = build(SMALL, **options), build(SMALL, **options, reduce=True)
    assert len(reduced.CLUSTERS) == (2 if "cardinalities" in options else 1)
    assert value(reduced) == pytest.approx(value(full), rel=1e-5)


def test_reduction_of_clusters_beyond_the_clique():
    instance = Instance(POINTS, 5, 1.1)
    labelling = analyse(instance).labelling
    full, reduced = build(instance, labelling), build(instance, labelling, reduce=True)
    assert len(reduced.CLUSTERS) == len(labelling.anchors) + 1 < 5
    assert value(reduced) == pytest.approx(value(full), rel=1e-6)


def test_label_symmetry():
    swapped = AdmissiblePairs(analyse(SMALL).labelling.allowed[:, [2, 0, 1]])
    assert value(build(SMALL, swapped)) == pytest.approx(
        PINNED["perspective, anchored"][1], rel=1e-6
    )


@pytest.mark.parametrize("anchored", [False, True])
def test_the_border_is_redundant(anchored):
    labelling = analyse(SMALL).labelling if anchored else None
    bordered = build(SMALL, labelling, border=True)
    assert value(bordered, "scs") == pytest.approx(value(build(SMALL, labelling)), rel=1e-6)


def test_radii_per_cluster():
    instance = SMALL.replace(radius=(1.3, 1.1, 0.4))
    optimum = brute_force(instance)
    equal = value(build(SMALL.replace(radius=1.3)))
    for form in ("perspective", "peng_wei"):
        assert equal - 1e-5 <= value(build(instance, form=form)) <= optimum + 1e-5
    assert value(build(instance)) > equal + 0.01
    paper = build(instance, form="paper", rlt="lower", cardinalities=(4, 4, 2), reduce=True)
    assert len(paper.CLUSTERS) == 3


@pytest.mark.parametrize("form", ["perspective", "peng_wei", "paper"])
def test_must_links_merge_points(form):
    """The same value as of the points one by one, tied together by equations."""
    colours = ConflictGraph(SMALL).colouring()
    i, j, h = np.flatnonzero(colours == np.bincount(colours).argmax())[:3].tolist()
    pairs = [(i, j), (j, h)]
    options = {"rlt": "lower"} if form == "paper" else {}
    merged = build(SMALL.replace(must_link=pairs), form=form, **options)
    tied = build(SMALL, form=form, **options)
    tied.equal = pyo.ConstraintList()
    for block in schur_blocks(tied):
        for i, j in pairs:
            for h in (*block.labels, *([None] if block.bordered else [])):
                left, right = block.entry(i, h), block.entry(j, h)
                if left is not right and {type(left), type(right)} != {float}:
                    tied.equal.add(left == right)
    assert len(merged.component("one_cluster") or merged.row_sum) == 8
    assert value(merged) == pytest.approx(value(tied, "scs"), rel=1e-5)


@pytest.mark.parametrize("form", ["perspective", "peng_wei", "paper"])
def test_an_instance_of_distances_gives_the_same_model(form):
    by_distances = Instance.from_distances(SMALL.sq_distances, 3, 1.1)
    ours, theirs = (compile_model(build(i, form=form)) for i in (SMALL, by_distances))
    np.testing.assert_array_equal(ours.c, theirs.c)
    np.testing.assert_array_equal(ours.A.toarray(), theirs.A.toarray())


def test_cannot_links_enter_every_form():
    apart = SMALL.replace(radius=np.inf, cannot_link=[(0, 1), (2, 3)])
    together = SMALL.replace(radius=np.inf)
    for options in ({}, {"form": "peng_wei"}, {"form": "paper", "rlt": "lower"}):
        assert value(build(apart, **options)) > value(build(together, **options)) + 1e-3


@pytest.mark.parametrize("form", ["perspective", "peng_wei"])
def test_cuts_tighten_and_stay_valid(form):
    instance = Instance(np.random.default_rng(1).normal(size=(9, 2)), 3, 1.2)
    m = build(instance, form=form)
    values = [value(m)]
    while separate(m, tolerance=1e-3) and len(values) < 6:
        values.append(value(m))
    assert len(values) > 1
    assert values[-1] > values[0] + 1e-3
    assert values[-1] <= brute_force(instance) + 1e-4


def test_every_cut_holds_for_a_partition():
    m = build(SMALL, form="peng_wei")
    value(m)
    assert separate(m, tolerance=-1.0, limit=10**6) > 100
    labels = ConflictGraph(SMALL).colouring()
    sizes = np.bincount(labels)
    for (i, j), z in m.Z.X.items():
        z.set_value(1.0 / sizes[labels[i]] if labels[i] == labels[j] else 0.0)
    assert all(cut.uslack() >= -1e-12 for cut in m.cuts.values())


def test_step1_with_cuts_reports_a_better_bound():
    instance = Instance(np.random.default_rng(1).normal(size=(9, 2)), 3, 1.2)
    plain = solve_sdp(instance, form="peng_wei")
    cut = solve_sdp(instance, form="peng_wei", cuts=KINDS)
    assert plain.lower_bound < cut.lower_bound <= brute_force(instance)
    assert cut.report.n_constraints > plain.report.n_constraints


@pytest.mark.parametrize(("form", "solver"), [("perspective", "clarabel"), ("peng_wei", "scs")])
@pytest.mark.parametrize("radius", [0.189, 0.18])
def test_cuts_close_the_gap_on_the_moons(form, solver, radius):
    instance = moons(16, radius)
    memberships = solve_sdp(
        instance, analyse(instance).labelling, form=form, solver=solver, cuts=KINDS
    )
    optimum = MOONS_OPTIMA[16, radius]
    assert optimum * (1 - 1e-5) < memberships.lower_bound <= optimum


@pytest.mark.parametrize("form", ["perspective", "peng_wei", "paper"])
def test_step1_scores(form):
    labelling = analyse(SMALL).labelling
    options = {"cardinalities": np.bincount(_optimal_labels())} if form == "paper" else {}
    memberships = solve_sdp(SMALL, labelling, form=form, rounds=0, **options)
    assert memberships.scores.shape == (10, 3)
    for k, anchor in enumerate(labelling.anchors):
        assert memberships.scores[anchor].argmax() == k
    assert memberships.report.step == "step1" and memberships.report.model == f"sdp:{form}"
    if form == "paper":
        assert memberships.lower_bound == 0.0 and "cardinalities" in memberships.report.note
    else:
        # The relaxation is tight on this instance, so its memberships are the partition.
        np.testing.assert_array_equal(memberships.scores.argmax(axis=1), _optimal_labels())


def _optimal_labels():
    """Cluster k holds the k-th anchor; found by enumerating the 12 admissible pairs."""
    allowed = analyse(SMALL).labelling.allowed
    choices = [np.flatnonzero(row) for row in allowed]
    return min(np.stack(np.meshgrid(*choices), -1).reshape(-1, 10), key=_cost)


def _cost(labels):
    return np.inf if violations(SMALL, labels) else objective_of(SMALL, labels)


def test_scores_tell_interchangeable_clusters_apart():
    points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    instance = Instance(points, 3)
    memberships = solve_sdp(instance, analyse(instance).labelling)
    np.testing.assert_array_equal(memberships.scores.argmax(axis=1), [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_the_anchored_paper_form_is_infeasible_on_the_moons(solver):
    instance = moons()
    labelling = analyse(instance).labelling
    program = compile_model(build(instance, labelling, form="paper"))
    solution = solve_program(program, solver)
    assert solution.status == "infeasible"
    assert proves_infeasible(program, solution.z)
    with pytest.raises(InfeasibleRelaxation, match="cardinalities"):
        solve_sdp(instance, labelling, form="paper", solver=solver)


def test_an_infeasible_instance_is_certified():
    points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    instance = Instance(points, 2, 0.6)
    memberships = solve_sdp(instance)
    assert memberships.certificate == {
        "kind": "search",
        "model": "sdp:perspective",
        "solver": "clarabel",
    }


def test_a_claim_without_a_proof_is_a_failure(monkeypatch):
    claim = ConicSolution("infeasible", None, None, "infeasible")
    monkeypatch.setattr("radcluster.relaxation.sdp.solve_program", lambda *args: claim)
    with pytest.raises(SolverFailure, match="gives no proof"):
        solve_sdp(SMALL)


def test_a_round_of_cuts_that_fails_keeps_the_rounds_before(monkeypatch):
    instance = Instance(np.random.default_rng(1).normal(size=(9, 2)), 3, 1.2)
    plain = solve_sdp(instance, form="peng_wei")
    calls = []

    def fails_later(program, *args):
        calls.append(program)
        if len(calls) > 1:
            return ConicSolution("error", None, None, "NumericalError")
        return solve_program(program, *args)

    monkeypatch.setattr("radcluster.relaxation.sdp.solve_program", fails_later)
    kept = solve_sdp(instance, form="peng_wei", cuts=KINDS)
    assert len(calls) == 2
    assert kept.lower_bound == pytest.approx(plain.lower_bound)
    assert "NumericalError" in kept.report.note
    np.testing.assert_allclose(kept.scores, plain.scores)


def test_a_proof_of_infeasibility_is_one_whatever_the_solver_calls_it(monkeypatch):
    instance = Instance(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 2, 0.6)

    def evasive(*args):
        return dataclasses.replace(solve_program(*args), status="error")

    monkeypatch.setattr("radcluster.relaxation.sdp.solve_program", evasive)
    assert solve_sdp(instance).certificate["kind"] == "search"


@pytest.mark.parametrize("anchored", [True, False])
def test_radius_zero_in_the_paper_form(anchored):
    instance = Instance([[0.0], [0.0], [1.0], [1.0], [2.0]], 3, 0.0)
    labelling = analyse(instance).labelling if anchored else None
    model = build(instance, labelling, form="paper", cardinalities=(2, 2, 1))
    assert np.isfinite(compile_model(model).b).all()


def test_a_failed_solve_is_a_failure(monkeypatch):
    failed = ConicSolution("error", None, None, "NumericalError")
    monkeypatch.setattr("radcluster.relaxation.sdp.solve_program", lambda *args: failed)
    with pytest.raises(SolverFailure, match="NumericalError"):
        solve_sdp(SMALL)


@pytest.mark.parametrize(
    "options",
    [
        {"form": "papre"},
        {"rlt": "lower"},
        {"form": "paper", "rlt": "some"},
        {"form": "paper", "cardinalities": (1, 2, 3)},
        {"form": "paper", "cardinalities": (np.nan, 5, 5)},
        {"form": "paper", "cardinalities": "abc"},
        {"form": "peng_wei", "card_rows": True},
        {"form": "paper", "border": True},
        {"labelling": AdmissiblePairs(np.zeros((10, 3), dtype=bool))},
        {"labelling": AdmissiblePairs(np.eye(3, dtype=bool)[np.zeros(10, dtype=int)])},
    ],
)
def test_options_that_do_not_fit_are_refused(options):
    with pytest.raises(InputError):
        build(SMALL, **options)


def test_cuts_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="cuts are for"):
        solve_sdp(SMALL, form="paper", cuts=("pair",))
    with pytest.raises(InputError, match="quadrangle"):
        solve_sdp(SMALL, cuts=("quadrangle",))
    with pytest.raises(InputError, match="cannot solve sdp:perspective"):
        solve_sdp(SMALL, solver="highs")


def test_the_paper_form_bounds_its_own_cardinalities_only():
    """The default n = N/K = 10/3 gives a value above the optimum over all cardinalities."""
    program = compile_model(build(SMALL, form="paper", rlt="lower"))
    bound = program_bound(program, solve_program(program, "clarabel").z)
    assert bound > brute_force(SMALL)
