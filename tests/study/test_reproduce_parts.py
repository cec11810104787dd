"""What the experiments stand on: resumable runs, and exact k-means on the line."""

import itertools

import numpy as np
import pytest

from radcluster import InputError, Instance, datasets, metrics
from radcluster.api import solve
from radcluster.study import records
from radcluster.study.experiments.line import optimal_on_line

TASKS = [{"name": name, "seed": seed} for name in ("a", "b") for seed in range(3)]


class Counted:
    """A task function that remembers its calls, and fails on demand."""

    def __init__(self, fail_at=None):
        self.calls = []
        self.fail_at = fail_at

    def __call__(self, name, seed):
        if len(self.calls) == self.fail_at:
            raise RuntimeError("stopped")
        self.calls.append((name, seed))
        return {"value": seed / 3, "note": None if seed else "first"}


def test_rows_are_written_as_they_come_and_a_stopped_run_resumes(tmp_path):
    path = tmp_path / "run.csv"
    with pytest.raises(RuntimeError, match="stopped"):
        records.run(path, TASKS, Counted(fail_at=4))
    assert len(records.read(path)) == 4
    rest = Counted()
    rows = records.run(path, TASKS, rest)
    assert rest.calls == [("b", 1), ("b", 2)]
    assert rows == records.run(tmp_path / "whole.csv", TASKS, Counted())
    assert path.read_text() == (tmp_path / "whole.csv").read_text()
    again = Counted()
    assert records.run(path, TASKS, again) == rows
    assert again.calls == []


def test_a_line_cut_off_by_a_kill_is_computed_again(tmp_path):
    path = tmp_path / "run.csv"
    rows = records.run(path, TASKS, Counted())
    whole = path.read_text()
    path.write_text(whole[:-5])
    again = Counted()
    assert records.run(path, TASKS, again) == rows
    assert again.calls == [("b", 2)]
    assert path.read_text() == whole


def test_more_tasks_extend_a_file_and_fewer_leave_it(tmp_path):
    path = tmp_path / "run.csv"
    records.run(path, TASKS[:2], Counted())
    rows = records.run(path, TASKS, Counted())
    text = path.read_text()
    assert records.run(path, TASKS[:1], Counted()) == rows[:1]
    assert path.read_text() == text


def test_numbers_survive_the_file_exactly(tmp_path):
    rows = records.run(tmp_path / "run.csv", TASKS, Counted())
    assert records.read(tmp_path / "run.csv") == rows
    assert rows[1] == {"name": "a", "seed": 1, "value": 1 / 3, "note": None}


def test_another_experiments_file_is_refused(tmp_path):
    path = tmp_path / "run.csv"
    records.run(path, TASKS, Counted())
    with pytest.raises(InputError, match="other results"):
        records.run(path, [{"radius": 1.0}], Counted())


def test_two_processes_give_the_same_file(tmp_path):
    one = records.run(tmp_path / "one.csv", TASKS, dict)
    two = records.run(tmp_path / "two.csv", TASKS, dict, n_jobs=2)
    assert one == two
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


def _best_by_enumeration(x, n_clusters, radius, max_size):
    best = np.inf
    for labels in itertools.product(range(n_clusters), repeat=len(x)):
        labels = np.array(labels)
        sizes = np.bincount(labels, minlength=n_clusters)
        if sizes.min() == 0 or sizes.max() > max_size:
            continue
        if metrics.partition_radii(x[:, None], labels).max() <= radius:
            best = min(best, metrics.wcss(x[:, None], labels))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "limits", [(np.inf, 9), (0.24, 9), (0.2, 9), (np.inf, 4)], ids=["plain", "r", "tight", "cap"]
)
def test_the_line_is_solved_exactly(seed, limits):
    radius, cap = limits
    x = np.random.default_rng(seed).random(7)
    best = _best_by_enumeration(x, 3, radius, cap)
    if np.isinf(best):
        with pytest.raises(InputError, match="do not suffice"):
            optimal_on_line(x, 3, radius, cap)
        return
    labels = optimal_on_line(x, 3, radius, cap)
    assert metrics.wcss(x[:, None], labels) == pytest.approx(best)
    assert np.bincount(labels).max() <= cap
    assert metrics.partition_radii(x[:, None], labels).max() <= radius


@pytest.mark.parametrize("seed", range(2))
def test_the_line_agrees_with_solve(seed):
    points, _ = datasets.three_uniforms(seed, (16, 8, 8))
    result = solve(Instance(points, 3, radius=1.0), time_limit=60)
    ours = metrics.wcss(points, optimal_on_line(points, 3, radius=1.0))
    assert result.status == "optimal"
    assert ours == pytest.approx(result.objective, rel=1e-6)
