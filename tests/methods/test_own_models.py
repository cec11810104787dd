"""Builders of the user's own: their units, their objectives, and whose fault infeasibility is."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from cases import MOONS_OPTIMA, moons, random_instance

from radcluster import InputError, Instance, Result, SolverFailure, solve
from radcluster.conic.schur import SchurBlock
from radcluster.feasibility.recheck import check
from radcluster.graph.conflicts import analyse
from radcluster.methods.step import (
    solve_step,
)
from radcluster.models import milp, rounding, sdp
from radcluster.problem.partition import objective_of
from radcluster.proof.certificates import explain
from radcluster.proof.verify import violations
from radcluster.relaxation.admits import admits
from radcluster.solvers import registry


def largest_cluster(instance, labelling):
    """Minimise the largest number of points in a cluster."""
    m = milp.build(instance, labelling)
    m.within_cluster_scatter.deactivate()
    m.t = pyo.Var(bounds=(0, 100))
    m.below = pyo.Constraint(
        m.CLUSTERS, rule=lambda m, k: pyo.quicksum(m.pi[i, k] for i in m.members[k]) <= m.t
    )
    m.size = pyo.Objective(expr=m.t)
    return m


def cubes(instance, labelling):
    m = milp.build(instance, labelling)
    m.within_cluster_scatter.deactivate()
    d = instance.sq_distances
    m.cubed = pyo.Objective(expr=pyo.quicksum(d[i, j] ** 1.5 * z for (i, j, _), z in m.z.items()))
    return m


def worst(instance, labelling):
    m = milp.build(instance, labelling)
    m.within_cluster_scatter.sense = pyo.maximize
    return m


def penalised(instance, labelling):
    """A soft constraint: its penalty is 0 at the solution, and yet bounds something else."""
    m = milp.build(instance, labelling)
    m.short = pyo.Var(m.CLUSTERS, bounds=(0, None))
    m.soft = pyo.Constraint(
        m.CLUSTERS,
        rule=lambda m, k: pyo.quicksum(m.pi[i, k] for i in m.members[k]) + m.short[k] >= 2,
    )
    squares = m.within_cluster_scatter
    squares.set_value(squares.expr + 100 * pyo.quicksum(m.short.values()))
    return m


def unlimited(instance, labelling):
    m = milp.build(instance, labelling)
    m.t = pyo.Var()
    m.within_cluster_scatter.set_value(m.within_cluster_scatter.expr - m.t)
    return m


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_an_unbounded_model_is_not_infeasible(solver):
    try:
        result = solve(moons(), "milp", solver, formulation=unlimited)
    except SolverFailure as failure:
        assert "infeasible or unbounded" in str(failure)
    else:  # SCIP also hands over a point on its way to infinity
        assert (result.status, result.lower_bound) == ("feasible", -np.inf)


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e4])
@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_own_models_in_any_unit(solver, scale):
    """Solvers' tolerances are absolute: coefficients of 1e-12 would be as good as none."""
    for seed in range(4):
        instance = Instance(np.random.default_rng(seed).normal(size=(12, 2)), 4, 1.5)
        small = instance.scaled(scale)
        expected = solve(instance, "milp").objective * scale**2
        own = solve(small, "milp", solver, formulation=milp.build)
        assert (own.status, own.objective) == ("optimal", pytest.approx(expected))
        rounded = solve(instance, "pipeline", step2=rounding.build_step2)
        tiny = solve(small, "pipeline", step2=rounding.build_step2)
        assert tiny.objective == pytest.approx(rounded.objective * scale**2)


@pytest.mark.parametrize("builder", [largest_cluster, cubes, penalised])
def test_a_custom_objective_is_the_results_objective(builder):
    result = solve(moons(), "milp", formulation=builder)
    assert violations(moons(), result.labels) == []
    assert result.status == "optimal" and result.gap <= 1e-6
    assert result.sum_of_squares == pytest.approx(objective_of(moons(), result.labels))
    assert result.to_dict()["sum_of_squares"] == result.sum_of_squares
    sizes = np.bincount(result.labels)
    cubed = sum(
        (np.sqrt(d) ** 3).sum() / (2 * len(d))
        for d in (moons().sq_distances[np.ix_(*2 * (result.labels == k,))] for k in range(16))
    )
    expected = {
        largest_cluster: sizes.max(),
        cubes: cubed,
        penalised: result.sum_of_squares + 100 * np.maximum(0, 2 - sizes).sum(),
    }
    assert result.objective == pytest.approx(expected[builder], rel=1e-6)
    assert Result.from_json(result.to_json()) == result


def city_block(instance, labelling):
    """L1 distances in the place of squared ones."""
    m = milp.build(instance, labelling)
    m.within_cluster_scatter.deactivate()
    apart = np.abs(instance.points[:, None] - instance.points).sum(axis=2)
    m.l1 = pyo.Objective(expr=pyo.quicksum(float(apart[i, j]) * z for (i, j, _), z in m.z.items()))
    return m


def _city_block_cost(instance, labels):
    apart = np.abs(instance.points[:, None] - instance.points).sum(axis=2)
    parts = [labels == k for k in range(instance.n_clusters)]
    return sum(apart[np.ix_(part, part)].sum() / (2 * part.sum()) for part in parts)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("solver", [info.name for info in registry.usable("MILP")])
def test_a_proven_objective_of_ones_own_is_optimal_in_any_unit(solver, unit):
    """Tolerances are absolute, and a program prints few digits of its bound."""
    points = np.random.default_rng(5).normal(size=(8, 2)) * unit
    instance = Instance(points, 3, 1.2 * unit)
    partitions = (np.array([0, *rest]) for rest in itertools.product(range(3), repeat=7))
    valid = [labels for labels in partitions if not violations(instance, labels)]
    best = min(_city_block_cost(instance, labels) for labels in valid)
    result = solve(instance, "milp", solver, formulation=city_block)
    assert (result.status, result.objective) == ("optimal", pytest.approx(best, rel=1e-6))
    assert result.lower_bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["scip", "gurobi", "cbc"])
def test_a_start_that_leaves_variables_of_ones_own_open(solver):
    if not registry.get(solver).installed:
        pytest.skip(f"{solver} is not installed")

    def with_choice(instance, labelling):
        m = milp.build(instance, labelling)
        m.choice = pyo.Var(domain=pyo.Binary)
        m.chosen = pyo.Constraint(expr=m.choice >= m.pi[0, 0])
        return m

    line = Instance([[0.0], [1.0], [5.0], [6.0]], 2, 1.0)
    initial = [1, 1, 0, 0]
    result = solve(line, "milp", solver, formulation=with_choice, initial=initial)
    assert (result.status, result.objective) == ("optimal", pytest.approx(1.0))


def test_eq8_as_printed_starts_from_a_partition():
    line = Instance([[0.0], [1.0], [5.0], [6.0]], 2, 1.0)
    result = solve(line, "minlp", "scip", initial=[1, 1, 0, 0])
    assert (result.status, result.objective) == ("optimal", pytest.approx(1.0))


def test_a_solver_without_a_start_says_so():
    line = Instance([[0.0], [1.0], [5.0], [6.0]], 2, 1.0)
    result = solve(line, "milp", "highs", initial=[1, 1, 0, 0])
    assert result.steps[0].note == "highs has no option for a start"


def test_the_plain_result_has_no_second_objective():
    result = solve(moons(), "milp", formulation=milp.build)
    assert result.objective == pytest.approx(MOONS_OPTIMA[16, 0.189])
    assert result.sum_of_squares is None and "sum_of_squares" not in result.to_dict()


def test_what_maximises_is_refused():
    with pytest.raises(InputError, match="minimise the negative"):
        solve(moons(), "milp", formulation=worst)


def test_a_users_objective_is_never_changed():
    """Neither by a solve that ends, nor by a refusal in the middle of it."""
    kept = []

    def remembered(instance, labelling):
        m = milp.build(instance.replace(), labelling)
        kept.append((m, m.within_cluster_scatter.expr))
        return m

    def not_for_highs(instance, labelling):
        m = remembered(instance, labelling)
        m.nonlinear = pyo.Constraint(expr=m.pi[m.PAIRS.first()] ** 3 <= 1)
        return m

    small = Instance(np.random.default_rng(0).normal(size=(12, 2)) * 1e-4, 4, 1.5e-4)
    solve(small, "milp", formulation=remembered)
    with pytest.raises(InputError, match="cannot take"):
        solve(small, "milp", "highs", formulation=not_for_highs)
    for model, stated in kept:
        (objective,) = model.component_data_objects(pyo.Objective, active=True)
        assert objective.expr is stated and objective is model.within_cluster_scatter


def test_a_soft_radius_through_solve():
    """Too few clusters for the radius: no hard partition exists, a soft one does."""

    def soft(instance, labelling):
        return milp.build(instance, labelling, radius="soft", penalty=10.0)

    instance = Instance([[0.0], [1.0], [1.9], [2.8]], 2, 0.3)
    assert solve(instance, "milp").status == "infeasible"
    result = solve(instance, "milp", formulation=soft)
    assert result.status == "optimal"
    assert result.max_radius > 0.3 and result.objective > result.sum_of_squares
    kept = Instance(instance.points, 2, 0.3, cannot_link=[(1, 2)])
    apart = solve(kept, "milp", formulation=soft).labels
    assert apart[1] != apart[2]


def test_a_constraint_keeps_the_bound_and_sees_the_users_units():
    seen = []

    def dearest(instance, labelling):
        """No cluster costs more than 0.2, in the units of the data."""
        seen.append(instance)
        m = milp.build(instance, labelling)
        d = instance.sq_distances
        cost = {k: [] for k in m.CLUSTERS}
        for (i, j, k), z in m.z.items():
            cost[k].append(d[i, j] * z)
        m.cap = pyo.Constraint(
            [k for k in cost if cost[k]], rule=lambda m, k: pyo.quicksum(cost[k]) <= 0.2
        )
        return m

    result = solve(moons(), "milp", formulation=dearest)
    np.testing.assert_array_equal(seen[0].points, moons().points)
    assert result.status == "optimal"
    assert result.objective > MOONS_OPTIMA[16, 0.189]
    costs = [_cost(result.labels == k) for k in range(16)]
    assert max(costs) <= 0.2 + 1e-9


def _cost(members):
    d = moons().sq_distances[np.ix_(members, members)]
    return d.sum() / (2 * members.sum())


def at_least_seven(instance, labelling):
    m = milp.build(instance, labelling)
    m.at_least_seven = pyo.Constraint(
        m.CLUSTERS, rule=lambda m, k: pyo.quicksum(m.pi[i, k] for i in m.members[k]) >= 7
    )
    return m


def step2_without_points(instance, scores, labelling):
    m = rounding.build_step2(instance, scores, labelling)
    m.never = pyo.Constraint(expr=pyo.quicksum(m.pi.values()) <= 1)
    return m


@pytest.mark.parametrize(
    ("method", "settings", "name"),
    [
        ("milp", {"formulation": at_least_seven}, "at_least_seven"),
        ("pipeline", {"step2": step2_without_points}, "step2_without_points"),
    ],
)
def test_infeasibility_of_ones_own_making_is_not_the_instances(method, settings, name):
    result = solve(moons(), method, **settings)
    assert (result.status, result.certificate["own"]) == ("infeasible", name)
    assert "fewest_clusters" not in result.certificate
    assert f"highs proved that {name} has no solution" in explain(result.certificate, moons())
    assert not check(result.certificate, moons())


def test_own_steps_see_the_users_units():
    def near_anchors(instance, labelling):
        np.testing.assert_array_equal(instance.points, moons().points)
        return -instance.sq_distances[:, list(labelling.anchors)]

    result = solve(moons(), "pipeline", step1=near_anchors)
    assert result.steps[0].model == "near_anchors"
    assert result.objective == pytest.approx(objective_of(moons(), result.labels))


def two_objectives(instance, labelling):
    m = milp.build(instance, labelling)
    m.another = pyo.Objective(expr=0)
    return m


def products(instance, labelling):
    m = milp.build(instance, labelling)
    m.curved = pyo.Constraint(expr=m.pi[0, 0] * m.pi[1, 0] * m.pi[2, 0] <= 1)
    return m


@pytest.mark.parametrize(
    ("formulation", "message"),
    [
        (two_objectives, "two_objectives has 2 active objectives"),
        (products, "highs cannot take milp:linear as it was built.*scip"),
        ("./mine.py:build", "not a path: mine:"),
    ],
)
def test_builders_that_cannot_be_used(formulation, message):
    with pytest.raises(InputError, match=message):
        solve(moons(), "milp", formulation=formulation)


def two_at_least(instance, labelling):
    """The SDP of Step 1 with two points or more in every cluster that can hold them."""
    return _with_pairs(sdp.build(instance, labelling))


def _with_pairs(m):
    full = [k for k in m.CLUSTERS if len(m.members[k]) >= 2]
    m.two = pyo.Constraint(
        full, rule=lambda m, k: pyo.quicksum(m.pi[i, k] for i in m.members[k]) >= 2
    )
    return m


@pytest.mark.parametrize("solver", [None, "scs"])
def test_an_edited_sdp_drops_in_and_keeps_its_safe_bound(solver):
    plain = solve(moons(), "pipeline")
    edited = solve(moons(), "pipeline", solver, step1=two_at_least)
    assert edited.steps[0].solver == (solver or "clarabel")
    assert edited.steps[0].n_constraints > plain.steps[0].n_constraints
    assert edited.lower_bound > plain.lower_bound + 1e-3
    assert edited.lower_bound == pytest.approx(edited.steps[0].bound)
    # The bound is one on the partitions that the edit admits.
    optimum = solve(moons(), "milp", formulation=_two_at_least_milp)
    assert optimum.status == "optimal"
    assert edited.lower_bound <= optimum.objective


def _two_at_least_milp(instance, labelling):
    return _with_pairs(milp.build(instance, labelling))


def test_a_bound_is_dropped_when_the_partition_is_none_of_those_it_is_about():
    """One point is forced into its far cluster, which Steps 2 and 4 know nothing of."""
    forced = []

    def far(instance, labelling):
        m = sdp.build(instance, labelling)
        point = [i for i, clusters in m.clusters_of.items() if len(clusters) > 1][1]
        away = instance.sq_distances[point, list(labelling.anchors)]
        k = max(m.clusters_of[point], key=lambda k: away[k])
        m.far = pyo.Constraint(expr=m.pi[point, k] >= 1)
        forced.append((point, k))
        return m

    result = solve(moons(), "pipeline", step1=far)
    ((point, k),) = forced
    assert result.labels[point] != k
    assert result.steps[0].bound > 1.33
    assert (result.status, result.lower_bound) == ("feasible", 0.0)
    assert "bound not used" in result.steps[0].note


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("form", ["perspective", "peng_wei"])
def test_models_as_built_admit_every_partition(form, reduce, border):
    checked = 0
    for seed in range(30):
        instance = random_instance(seed)
        labelling = analyse(instance).labelling
        if labelling is None:
            continue
        options = {"border": border} if form == "perspective" else {}
        model = sdp.build(instance, labelling, form=form, reduce=reduce, **options)
        outcome = solve(instance, "milp")
        if not outcome.solved:
            continue
        assert admits(model, outcome.labels)
        assert pyo.value(model.within_cluster_scatter) == pytest.approx(outcome.objective)
        other = model.clone()
        other.t = pyo.Var()
        other.open = pyo.Constraint(expr=other.t >= 0)
        assert not admits(other, outcome.labels)
        checked += 1
    assert checked > 10


@pytest.mark.parametrize("form", ["perspective", "peng_wei"])
def test_an_edited_objective_of_an_sdp_bounds_nothing(form):
    def halved(instance, labelling):
        m = sdp.build(instance, labelling, form=form)
        m.within_cluster_scatter.set_value(m.within_cluster_scatter.expr / 2)
        return m

    def untouched(instance, labelling):
        return sdp.build(instance, labelling, form=form)

    settings = {"step1": untouched, "cuts": ["pair"], "sdp": {"tolerance": 1e-6}}
    assert solve(moons(), "pipeline", **settings).lower_bound > 1.13
    result = solve(moons(), "pipeline", step1=halved)
    assert result.lower_bound == 0.0 and result.steps[0].bound > 0.5


def test_an_interrupt_does_not_pass_by_that_check(monkeypatch):
    calls = []

    def interrupted(*args, **kwds):
        calls.append(args)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return solve_step(*args, **kwds)

    monkeypatch.setattr("radcluster.methods.pipeline.solve_step", interrupted)
    cuts = ["pair", "triangle", "clique"]
    result = solve(moons(), "pipeline", step1=two_at_least, cuts=cuts)
    assert result.status == "interrupted"
    assert np.bincount(result.labels).min() < 2 and result.lower_bound == 0.0


def test_cuts_are_for_the_blocks_of_the_relaxation_only():
    def with_a_block(instance, labelling):
        m = sdp.build(instance, labelling)
        a = labelling.anchors[0]
        # Z_aa n_k >= 1, as in every partition.
        m.n0 = pyo.Var(bounds=(1, 100))
        m.Z[0].X[a, a].setub(1)
        m.count = pyo.Constraint(expr=m.n0 == pyo.quicksum(m.pi[i, 0] for i in m.members[0]))
        entries = {(0, 0): m.Z[0].X[a, a], (0, 1): 1.0, (1, 1): m.n0}
        m.extra = SchurBlock(order=2, X=entries)
        return m

    result = solve(moons(), "pipeline", step1=with_a_block, cuts=["pair"])
    assert result.solved
    assert result.steps[0].bound <= MOONS_OPTIMA[16, 0.189]


def test_a_relaxation_without_its_cone():
    def linear(instance, labelling):
        m = sdp.build(instance, labelling, form="peng_wei")
        m.Z.cone.deactivate()
        return m

    result = solve(moons(), "pipeline", step1=linear)
    assert result.solved and 0.0 <= result.lower_bound <= MOONS_OPTIMA[16, 0.189]


def no_room(instance, labelling):
    m = sdp.build(instance, labelling)
    m.never = pyo.Constraint(expr=m.Z[0].X[labelling.anchors[0], labelling.anchors[0]] >= 2)
    return m


def test_an_edited_sdp_without_a_solution_is_not_the_instances_fault():
    result = solve(moons(), "pipeline", step1=no_room)
    assert (result.status, result.certificate["own"]) == ("infeasible", "no_room")


@pytest.mark.parametrize(
    ("step1", "settings", "message"),
    [
        (lambda instance, labelling: milp.build(instance), {}, "is no model of"),
        (two_at_least, {"sdp": {"rlt": "lower"}}, "builds its model itself: sdp option rlt"),
        (lambda i, labelling: np.zeros((100, 16)), {"solver": "scs"}, "there is no SDP"),
        (lambda i, labelling: np.zeros((100, 16)), {"cuts": ["pair"]}, "there is no SDP"),
        (lambda instance: None, {}, "cannot be called"),
        (lambda i, labelling: np.zeros((3, 16)), {}, r"finite scores of shape \(100, 16\)"),
    ],
)
def test_step1_that_cannot_be_used(step1, settings, message):
    with pytest.raises(InputError, match=message):
        solve(moons(), "pipeline", step1=step1, **settings)
