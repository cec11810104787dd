"""Eq. 8-11 and its linearisation: same optimum, pinned bounds, whichever solver."""

import numpy as np
import pyomo.environ as pyo
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance

from radcluster import InputError, Instance, solve
from radcluster.graph.conflicts import analyse
from radcluster.models import milp
from radcluster.solvers.mip import solve_model

CHUNK = 25
N_RANDOM = 200


def assert_optimal(instance, optimum, result):
    if optimum == np.inf:
        assert result.status == "infeasible"
        assert result.certificate is not None
        assert result.labels is None
    else:
        assert result.status == "optimal"
        assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-12)
        assert result.lower_bound <= optimum * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("chunk", range(0, N_RANDOM, CHUNK))
def test_linear_form_finds_the_enumerated_optimum(chunk):
    for seed in range(chunk, chunk + CHUNK):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        assert_optimal(instance, optimum, solve(instance, "milp"))
        loose = solve(instance, "milp", anchored=False, constraints="conflict")
        assert_optimal(instance, optimum, loose)


@pytest.mark.parametrize("chunk", range(0, N_RANDOM, CHUNK))
def test_scip_finds_the_enumerated_optimum(chunk):
    for seed in range(chunk, chunk + CHUNK):
        instance = random_instance(seed)
        assert_optimal(instance, brute_force(instance), solve(instance, "milp", "scip"))


@pytest.mark.parametrize("chunk", range(0, N_RANDOM, CHUNK))
def test_verbatim_form_finds_the_enumerated_optimum(chunk):
    for seed in range(chunk, chunk + CHUNK):
        instance = random_instance(seed, max_points=6)
        assert_optimal(instance, brute_force(instance), solve(instance, "minlp"))


@pytest.mark.parametrize("constraints", ["quadratic", "conflict", "clique"])
@pytest.mark.parametrize("anchored", [True, False])
def test_verbatim_form_in_all_its_statements(constraints, anchored):
    for seed in range(300, 308):
        instance = random_instance(seed, max_points=6)
        result = solve(instance, "minlp", constraints=constraints, anchored=anchored)
        assert_optimal(instance, brute_force(instance), result)


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("radius", [0.189, 0.18])
def test_moons(solver, radius):
    result = solve(moons(16, radius), "milp", solver)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(MOONS_OPTIMA[16, radius], abs=1e-9)
    assert result.solver == solver


def test_small_moons_with_and_without_anchors():
    """Every eighth point: small enough for the paper's label symmetry to be bearable."""
    points = moons().points[::8]
    instance = Instance(points, 6, 0.5)
    optimum = brute_force_free(instance)
    assert solve(instance, "milp").objective == pytest.approx(optimum)
    assert solve(instance, "milp", anchored=False).objective == pytest.approx(optimum)


def brute_force_free(instance):
    """An optimum from another formulation on another solver."""
    return solve(instance, "milp", "scip", constraints="conflict").objective


def test_faulty_presolve_rule_stays_off():
    """HiGHS calls 3.434 the optimum of this model when it may merge parallel columns."""
    instance = random_instance(78)
    labelling = analyse(instance).labelling
    outcome = solve_model(milp.build(instance, labelling), "highs")
    assert outcome.objective == pytest.approx(brute_force(instance))


def lp_bound(instance, labelling=None, **kwargs):
    model = milp.build(instance, labelling, **kwargs)
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    outcome = solve_model(model, "highs", problem_class="LP")
    assert outcome.status == "optimal"
    return outcome.objective


@pytest.mark.parametrize(
    ("row_sums", "constraints", "bound"),
    [(True, "clique", 1.317614), (True, "conflict", 1.317614), (False, "clique", 0.609150)],
)
def test_pinned_relaxation_of_the_moons(row_sums, constraints, bound):
    instance = moons(16, 0.189)
    labelling = analyse(instance).labelling
    value = lp_bound(instance, labelling, row_sums=row_sums, constraints=constraints)
    assert value == pytest.approx(bound, abs=1e-5)


@pytest.mark.parametrize(
    ("anchored", "row_sums", "bound"),
    [(True, True, 0.726655), (True, False, 0.055311), (False, True, 0.544528), (False, False, 0.0)],
)
def test_pinned_relaxation_of_every_fourth_moon_point(anchored, row_sums, bound):
    instance = Instance(moons().points[::4], 8, 0.35)
    labelling = analyse(instance, anchored=anchored).labelling
    assert lp_bound(instance, labelling, row_sums=row_sums) == pytest.approx(bound, abs=1e-5)


def test_only_admissible_pairs_get_variables():
    instance = moons()
    labelling = analyse(instance).labelling
    model = milp.build(instance, labelling)
    assert len(model.pi) == labelling.n_pairs
    assert len(milp.build(instance).pi) == 1600


def test_verbatim_components_carry_the_papers_names():
    model = milp.build(Instance([[0.0], [1.0], [5.0]], 2, 0.5), form="verbatim")
    assert {"pi", "n", "partition", "cardinality", "radius"} <= set(model.component_map())


def test_unknown_forms_are_refused():
    instance = moons()
    with pytest.raises(InputError, match="form"):
        milp.build(instance, form="lineal")
    with pytest.raises(InputError, match="constraints"):
        milp.build(instance, constraints="cliques")
    with pytest.raises(InputError, match="linear form"):
        milp.build(instance, constraints="quadratic")


def test_units_do_not_matter():
    """Absolute solver tolerances would decide the answer at these scales if units were kept."""
    for seed in range(400, 405):
        instance = random_instance(seed, per_cluster_radii=False)
        optimum = brute_force(instance)
        for unit in (1e-7, 1e6):
            result = solve(instance.scaled(unit), "milp")
            if optimum == np.inf:
                assert result.status == "infeasible"
            else:
                assert result.objective == pytest.approx(optimum * unit**2, rel=1e-6)


def test_editing_a_formulation():
    """A minimum cluster size of three, by a builder of one's own."""

    def at_least_three(instance, labelling):
        model = milp.build(instance, labelling)
        model.at_least_three = pyo.Constraint(
            model.CLUSTERS,
            rule=lambda m, k: sum(m.pi[i, k] for i in m.members[k]) >= 3,
        )
        return model

    points = np.array([[0.0], [0.1], [1.0], [1.1], [1.2], [1.3]])
    free = solve(Instance(points, 2, 1.0), "milp")
    held = solve(Instance(points, 2, 1.0), "milp", formulation=at_least_three)
    assert sorted(np.bincount(free.labels)) == [2, 4]
    assert sorted(np.bincount(held.labels)) == [3, 3]


def test_time_limit_is_honoured():
    result = solve(moons(17, 0.18), "milp", time_limit=0.3)
    assert result.status == "time_limit"
    assert 0 <= result.lower_bound <= MOONS_OPTIMA[17, 0.18] * (1 + 1e-9)
