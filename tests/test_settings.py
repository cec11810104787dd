"""The same keys in Python and TOML; a misspelt one is refused with the nearest valid one."""

import numpy as np
import pytest
from cases import moons

from radcluster import InputError, Instance, solve
from radcluster.methods import register
from radcluster.settings import ROUNDING, Settings, read_toml


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"metod": "milp"}, "unknown setting 'metod'. Did you mean 'method'"),
        ({"method": "pipelin"}, "Did you mean 'pipeline'"),
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": "soon"}, "time_limit"),
        ({"rel_gap": float("nan")}, "rel_gap"),
        ({"threads": 1.5}, "threads"),
        ({"seed": -1}, "seed"),
        ({"repeat": "yes"}, "repeat"),
        ({"solver": {"stepp1": "scs"}}, "Did you mean 'step1'"),
        ({"solver": {"step1": "scs"}}, "for method 'pipeline'"),
        ({"solver": 3}, "solver must be a name"),
        ({"solver": "highz"}, "Did you mean highs"),
        ({"method": "milp", "solver": ["scip", "highs"]}, "takes one solver"),
        ({"cuts": "pair"}, "cuts must be a list"),
        ({"cuts": 3}, "cuts must be a list"),
        ({"native": "x"}, "native must hold a table"),
        ({"native": {"scip": 3}}, r"native\.scip must be a table"),
        ({"native": {"nosuch": {}}}, "unknown solver 'nosuch'"),
        ({"constraints": "cliques"}, "Did you mean 'clique'"),
        ({"threads": True}, "threads"),
        ({"seed": 10**14}, "seed"),
        ({"rel_gap": float("inf")}, "rel_gap"),
        ({"time_limit": float("inf")}, "time_limit"),
        ({"sdp": "lower"}, "sdp must be a table"),
        ({"sdp": {"tolerence": 1e-6}}, "Did you mean 'tolerance'"),
        ({"sdp": {"tolerance": 0.0}}, r"sdp\.tolerance must be"),
        ({"sdp": {"rounds": 0.5}}, r"sdp\.rounds must be"),
        ({"sdp": {"rank": 0}}, r"sdp\.rank must be"),
        ({"sdp": {"reduce": "no"}}, r"sdp\.reduce must be true or false"),
        ({"n_clusters": 2}, "belongs to the instance"),
    ],
)
def test_bad_settings(values, message):
    with pytest.raises(InputError, match=message):
        register.check(Settings.from_mapping(values))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("exact", {"step1": "sdp:paper"}),
        ("exact", {"cuts": ["pair"]}),
        ("milp", {"sdp": {"rlt": "lower"}}),
        ("colgen", {"constraints": "quadratic"}),
        ("heuristic", {"step2": len}),
        ("pipeline", {"formulation": "mine:build"}),
        ("heuristic", {"native": {"highs": {}, "scip": {}}}),
        ("milp", {"repeat": False}),
    ],
)
def test_settings_that_the_method_does_not_read_are_refused(method, settings):
    (key,) = settings
    with pytest.raises(InputError, match=f"{key} is for method"):
        register.check(Settings(method=method, **settings))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("milp", {"solver": "highs"}),
        ("pipeline", {"solver": ["clarabel", "highs"]}),
        ("pipeline", {"step1": "kcenter"}),
    ],
)
def test_options_for_a_solver_that_is_not_called_are_refused(method, settings):
    with pytest.raises(InputError, match=r"native options for scip, but the solvers are: .*highs"):
        solve(moons(), method, native={"scip": {"limits/nodes": 1}}, **settings)


def test_exact_with_options_for_a_solver_asks_that_solver():
    # So many points and pairs that it would be column generation, compiled or not.
    many = Instance(np.random.default_rng(0).uniform(size=(201, 1)), 60, 0.02)
    for asked in ({"native": {"highs": {"mip_heuristic_effort": 0.1}}}, {"constraints": "clique"}):
        result = solve(many, time_limit=5, **asked)
        assert {step.model for step in result.steps} <= {"milp:linear"}
        assert result.steps or result.status == "infeasible"
    with pytest.raises(InputError, match="native is for method"):
        solve(moons(), "colgen", native={"highs": {"mip_heuristic_effort": 0.1}})


def test_numbers_of_numpy_are_numbers():
    settings = Settings(time_limit=np.float32(3), seed=np.int64(3))
    assert (settings.time_limit, settings.seed) == (3.0, 3)


@pytest.mark.parametrize("formulation", ["os:getcwd", lambda instance, labelling: None])
def test_a_formulation_that_is_none(formulation):
    with pytest.raises(InputError, match="formulation"):
        solve(moons(), "milp", formulation=formulation)


def test_points_in_the_place_of_an_instance():
    with pytest.raises(InputError, match="solve needs an Instance"):
        solve([[0.0], [1.0]])


def test_misspelt_keyword_of_solve():
    with pytest.raises(InputError, match="Did you mean 'time_limit'"):
        solve(moons(), time_limt=3)


def test_toml(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(
        'method = "pipeline"\nstep1 = "kcenter"\ntime_limit = 60\n'
        '[solver]\nstep2 = "scip"\n[native.scip]\n"limits/nodes" = 1000\n'
    )
    settings = Settings.from_mapping(read_toml(path))
    assert settings.solver == {"step2": "scip"}
    assert settings.options("scip", 5.0).native == {"limits/nodes": 1000}
    assert settings.options("highs", 5.0).native == {}


@pytest.mark.parametrize("content", [b"method = ", b"\xff\xfe"])
def test_broken_toml(tmp_path, content):
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not valid TOML"):
        read_toml(path)


def test_missing_toml(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_toml(tmp_path / "none.toml")


def test_built_in_names_in_any_case():
    settings = Settings.from_mapping(
        {
            "method": "Pipeline",
            "step1": "SDP:Paper",
            "step2": "Rounding",
            "constraints": "Clique",
            "cuts": ["Pair"],
            "solver": {"Step1": "SCS", "step4": "HiGHS"},
            "native": {"SCS": {"max_iters": 5}},
        }
    )
    register.check(settings)
    assert (settings.method, settings.step1, settings.step2) == ("pipeline", "sdp:paper", ROUNDING)
    assert (settings.constraints, settings.cuts) == ("clique", ["pair"])
    assert settings.solver == {"step1": "scs", "step4": "highs"}
    assert settings.native == {"scs": {"max_iters": 5}}
    assert Settings(solver=["SCS", "Scip"]).solver == ["scs", "scip"]


def test_a_step_that_is_nearly_built_in():
    with pytest.raises(InputError, match="Did you mean 'sdp:paper'"):
        Settings(method="pipeline", step1="sdp:papr")


@pytest.mark.parametrize("stated", [{"repeat": True}, {"anchored": True}, {"method": "milp"}])
def test_what_contradicts_as_printed_is_refused(stated):
    with pytest.raises(InputError, match="as_printed means"):
        Settings.from_mapping({"as_printed": True} | stated)
