"""``radcluster reproduce all --seeds 5`` at reduced size, and what its rows must say.

The reduced parts are the expensive ones: bounds swept, imbalances, Step 1 by exact k-center, and
the sizes of the real data. RADCLUSTER_FULL=1 runs everything at full size.
"""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from radcluster import datasets
from radcluster.cli.reproduce import EXPERIMENTS, command
from radcluster.study import records
from radcluster.study.experiments import (
    feasibility,
    fig3,
    real,
    report,
    robustness,
    step1,
    sweep,
    table1,
)

# One worker runs them all: they share the results of one long run.
pytestmark = pytest.mark.xdist_group("reproduce")

SEEDS = 5
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder that ``reproduce all`` wrote, and what it printed."""
    out = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("RADCLUSTER_FULL"):
            _reduce(patch)
        outcome = CliRunner().invoke(
            command, ["all", "--seeds", str(SEEDS), "--out", str(out)], catch_exceptions=False
        )
    assert outcome.exit_code == 0
    return out, outcome.output


def _reduce(patch):
    patch.setattr(sweep, "LOWER", (1, 4))
    patch.setattr(sweep, "UPPER", (100, 8))
    patch.setattr(robustness, "MINORITY", (15,))
    patch.setattr(step1, "STEPS", ("kcenter", "sdp:perspective"))
    few_digits = partial(datasets.digits_imbalanced, n_common=30, n_rare=3)
    few_airports = partial(datasets.airports, n=120)
    small = {"digits": (few_digits, 8, (0, 4)), "airports": (few_airports, 12, ())}
    patch.setattr(real, "DATA", small)
    patch.setattr(real, "RADIUS_SECONDS", 1.0)


def _stored(name):
    """The full run that stands in the repository."""
    return records.read(ROOT / "notebooks" / "results" / f"{name}.csv")


def _rows(results, name):
    return records.read(results[0] / f"{name}.csv")


def test_every_experiment_writes_rows_prints_a_table_and_draws(results):
    out, printed = results
    for name in EXPERIMENTS:
        assert (out / f"{name}.csv").exists()
        assert f"{name}.csv" in printed
    assert "Table 1" in printed
    for name in set(EXPERIMENTS) - {"table1"}:
        assert (out / f"{name}.png").stat().st_size > 5000


def test_baselines_land_near_the_paper(results):
    """Five seeds: within two of the paper's standard deviations (100 seeds: within one)."""
    rows = _rows(results, "table1")
    for method, printed in table1.paper().items():
        for column, text in printed.items():
            if method == "ours":
                continue
            mean, std = (float(part) for part in text.split(" ± "))
            measured = report.values(rows, column, method=method)
            assert len(measured) == SEEDS
            assert abs(measured.mean() - mean) <= 2 * std, (method, column)


def test_the_stored_full_run_is_within_one_standard_deviation_of_the_paper():
    rows = _stored("table1")
    for method, printed in table1.paper().items():
        for column, text in printed.items():
            if method == "ours":
                continue
            mean, std = (float(part) for part in text.split(" ± "))
            measured = report.values(rows, column, method=method)
            assert len(measured) == 100
            assert abs(measured.mean() - mean) <= std, (method, column)


def test_the_optimum_is_certified_at_both_radii(results):
    rows = [row for row in _rows(results, "table1") if row["method"] == "optimum"]
    best = {row["radius"]: row for row in rows}
    assert best[0.189]["wcss"] == pytest.approx(1.336692738, abs=1e-8)
    assert best[0.18]["wcss"] == pytest.approx(1.344179274, abs=1e-8)
    for row in rows:
        assert row["status"] == "optimal"
        assert row["gap"] <= 1e-6
        assert row["k_in_class"] == 8
        assert row["keeps_radius"] == 1


def test_nothing_that_keeps_the_radius_beats_the_optimum(results):
    rows = _rows(results, "table1")
    optimum = {row["radius"]: row["wcss"] for row in rows if row["method"] == "optimum"}
    kept = [row for row in rows if row["keeps_radius"]]
    assert len(kept) >= 6
    for row in kept:
        assert row["wcss"] >= optimum[row["radius"]] - 1e-9


def test_sixteen_clusters_are_needed_and_the_clique_shows_it(results):
    rows = {
        row["radius"]: row for row in feasibility.on_authors_draw(_rows(results, "feasibility"))
    }
    row = rows[0.189]
    assert (row["n_clusters"], row["lower_bound"], row["certificate"]) == (16, 16, "clique")
    points, _ = datasets.two_moons()
    witnesses = points[[int(i) for i in row["points"].split()]]
    distances = np.linalg.norm(witnesses[:, None] - witnesses[None], axis=2)
    assert len(witnesses) == 16
    assert distances[np.triu_indices(16, 1)].min() > 2 * 0.189
    curve = [rows[radius]["n_clusters"] for radius in sorted(rows)]
    assert curve == sorted(curve, reverse=True)


def test_a_radius_helps_on_the_line_and_the_cap_does_not(results):
    rows = _rows(results, "fig3")
    wrong = {
        variant: report.values(rows, "misassigned", sizes="51/26/25", variant=variant).mean()
        for variant in fig3.VARIANTS
    }
    assert wrong["r = 1"] < wrong["r = 1.1"] <= wrong["k-means"]
    assert wrong["cap 55"] > wrong["r = 1"]
    assert report.values(rows, "largest_radius", variant="r = 1").max() <= 1 + 1e-9


def test_the_optimum_resists_imbalance_better_than_k_means(results):
    rows = _rows(results, "robustness")
    ours = report.values(rows, "k_in_class", method="optimum", minority=15)
    plain = report.values(rows, "k_in_class", method="K-means", minority=15)
    assert ours.mean() > plain.mean()
    mine = [row for row in rows if row["method"] == "optimum"]
    assert all(row["assigned_partition_radius"] <= row["radius"] * (1 + 1e-9) for row in mine)
    assert {row["status"] for row in mine} == {"optimal"}


def test_algorithm_1_never_beats_the_optimum_and_its_bound_holds(results):
    rows = _rows(results, "step1")
    assert {row["optimum_status"] for row in rows} == {"optimal"}
    for row in rows:
        assert row["excess"] >= -1e-6
        assert row["lower_bound"] <= row["optimum"] * (1 + 1e-6)


def test_the_radius_is_kept_on_real_data(results):
    rows = [row for row in _rows(results, "real") if row["method"] in real.SLACK]
    assert len(rows) == 2 * SEEDS * len(real.SLACK)
    for row in rows:
        assert row["partition_radius"] <= row["radius"] * (1 + 1e-9)


def test_the_same_command_again_computes_nothing(results, monkeypatch):
    out, _ = results
    before = (out / "fig3.csv").read_text()
    monkeypatch.setattr(fig3, "measure", None)
    outcome = CliRunner().invoke(command, ["fig3", "--seeds", str(SEEDS), "--out", str(out)])
    assert outcome.exit_code == 0
    assert (out / "fig3.csv").read_text() == before


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = CliRunner().invoke(command, ["fig1", "--out", str(tmp_path / "file" / "x")])
    assert "cannot write to the folder" in str(outcome.exception)


def _mean(name, column, **wanted):
    return report.values(_stored(name), column, **wanted).mean()


def test_the_page_of_claims_says_what_the_stored_runs_say():
    page = " ".join((ROOT / "docs" / "claims.md").read_text().split())
    line = {"sizes": "51/26/25"}
    ours = {"method": next(iter(real.SLACK))}
    counts = feasibility.over_draws(_stored("feasibility"))
    better, equal, worse = fig3.against_k_means(_stored("fig3"), line["sizes"], "r = 1")
    for sentence in (
        f"the optimum costs {_mean('table1', 'wcss', method='optimum', radius=0.189):.6f}",
        f"the fewest are {', '.join(map(str, counts))} on {', '.join(map(str, counts.values()))}",
        f"{_mean('fig3', 'misassigned', variant='k-means', **line):.1f} of 102 points misassigned",
        f"{_mean('fig3', 'misassigned', variant='r = 1', **line):.1f} misassigned; better than "
        f"k-means on {better} draws, equal on {equal}, worse on {worse}",
        f"at 85/15: optimum {_mean('robustness', 'k_in_class', method='optimum', minority=15):.1f}",
        f"k-means {_mean('robustness', 'k_in_class', method='K-means', minority=15):.1f},",
        f"{100 * _mean('step1', 'excess', step1='kcenter', repeat=1):.1f} % (k-center) against "
        f"{100 * _mean('step1', 'excess', step1='sdp:perspective', repeat=1):.1f} % (SDP)",
        f"{_mean('real', 'max_distance', data='airports', **ours):.0f} km away, by k-means "
        f"{_mean('real', 'max_distance', data='airports', method='K-means'):.0f} km",
        f"{_mean('real', 'covered', data='digits', **ours):.2f} get a cluster, by k-means "
        f"{_mean('real', 'covered', data='digits', method='K-means'):.2f}",
    ):
        assert sentence in page
