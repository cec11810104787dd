"""Results and certificates drawn, tabulated, saved; several runs compared."""

import json

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.patches import Circle

from radcluster import (
    InfeasibleError,
    InputError,
    Instance,
    RadiusKMeans,
    Result,
    compare,
    min_clusters,
    min_radius,
    solve,
)
from radcluster.datasets import two_moons
from radcluster.progress import Progress
from radcluster.proof.certificates import KINDS, certificate_of
from radcluster.views import follow

matplotlib.use("Agg")
POINTS, _ = two_moons()
SQUARE = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [9.0, 9.0]]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def result():
    return solve(Instance(POINTS, 16, 0.189))


def drawn_lines(ax):
    return [line.get_xydata() for line in ax.lines]


def test_summary_adds_up(result):
    table = result.summary()
    assert sum(table.column("size")) == 100
    assert sum(table.column("cost")) == pytest.approx(result.objective)
    assert max(table.column("diameter")) == pytest.approx(2 * result.max_radius)
    for row in table:
        assert result.labels[row["medoid"]] == row["cluster"]


def test_summary_from_distances_and_weights():
    weights = np.array([1.0, 2.0, 1.0, 1.0, 3.0])
    by_points = Instance(SQUARE, 2, 1.0, sample_weight=weights)
    by_distances = Instance.from_distances(by_points.sq_distances, 2, 1.0, sample_weight=weights)
    first, second = solve(by_points).summary(), solve(by_distances).summary()
    assert sum(first.column("weight")) == weights.sum()
    assert np.allclose(first.column("cost"), second.column("cost"))


def test_frame(result):
    names = [f"stop {i}" for i in range(100)]
    frame = result.to_frame(index=names)
    assert list(frame.columns) == ["x0", "x1", "label", "distance_to_center"]
    assert frame.index.tolist() == names
    assert (frame["distance_to_center"] ** 2).sum() == pytest.approx(result.objective)


def test_plot_shows_partition_and_gap(result):
    figure = result.plot().figure
    assert len(figure.axes) == 2 and len(figure.axes[0].patches) > 10
    ax = plt.figure().gca()
    assert result.plot(ax) is ax


@pytest.mark.parametrize("dimension", [1, 3])
def test_plot_in_other_dimensions(dimension):
    points = np.random.default_rng(5).normal(size=(20, dimension))
    assert solve(Instance(points, 3)).plot() is not None
    distances = Instance(points, 3).sq_distances
    assert solve(Instance.from_distances(distances, 3)).plot() is not None


def test_without_partition_or_certificate_nothing_is_drawn():
    with pytest.raises(InputError, match="proves nothing"):
        Result("time_limit", 2, 1.0, "exact", instance=Instance(SQUARE, 2)).plot()
    with pytest.raises(InputError, match="instance"):
        Result("time_limit", 2, 1.0, "exact").plot()


def test_a_clique_is_drawn_as_discs_that_do_not_overlap():
    refused = solve(Instance(POINTS, 15, 0.189))
    ax = refused.plot()
    discs = [p for p in ax.patches if isinstance(p, Circle) and p.get_linewidth() == 0]
    centers = np.array([disc.center for disc in discs])
    assert len(discs) == 16 and {disc.radius for disc in discs} == {0.189}
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)[np.triu_indices(16, 1)]
    assert gaps.min() > 2 * 0.189
    # Every number written on a line is the length of that line.
    for text in ax.texts:
        if "." in text.get_text():
            lengths = [np.linalg.norm(np.subtract(*ends)) for ends in drawn_lines(ax)]
            assert np.isclose(lengths, float(text.get_text()), rtol=1e-3).any()


def test_a_clique_in_space_is_a_matrix_of_distances():
    cube = [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    ax = solve(Instance(cube, 7, 0.4)).plot()
    written = [float(text.get_text()) for text in ax.texts]
    assert len(written) == 56 and min(written) > 0.8


EXAMPLES = {
    "clique": ({"points": [0, 3, 4]}, {}),
    "group_clique": ({"groups": [[0, 1], [4]]}, {"must_link": [(0, 1)]}),
    "must_link": ({"pair": [0, 4], "path": [0, 1, 4]}, {"must_link": [(0, 1), (1, 4)]}),
    "must_link_groups": ({"n_groups": 1}, {}),
    "propagation": ({"anchors": [0, 4], "forced": [[1, 0]], "point": 3}, {}),
    "empty_cluster": ({"cluster": 0}, {}),
    "weights": ({"points": [0, 1, 4], "weights": [1, 1, 1], "capacity": 2}, {}),
    "search": ({"model": "milp", "solver": "highs"}, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_and_shown(kind):
    data, links = EXAMPLES[kind]
    instance = Instance(SQUARE, 2, 0.5, **links)
    certificate = certificate_of({"kind": kind} | data)
    with pytest.raises(InputError, match="does not know its instance"):
        certificate.plot()
    assert certificate.plot(instance).get_title()
    assert kind in certificate.about(instance)._repr_html_()


def test_fewest_and_smallest_draw_their_proofs():
    found = min_clusters(SQUARE, 0.5)
    assert found.certificate.check() and found.certificate.plot() is not None
    found = min_radius(SQUARE, 2)
    assert found.certificate.check() and found.certificate.plot() is not None


def test_the_estimator_draws_itself_and_its_refusals():
    model = RadiusKMeans(radius=0.189).fit(POINTS)
    assert model.result_.plot() is not None
    assert sum(model.result_.summary().column("size")) == 100
    assert model.certificate_.check() and model.certificate_.plot() is not None
    with pytest.raises(InfeasibleError) as refusal:
        RadiusKMeans(15, radius=0.189).fit(POINTS)
    assert refusal.value.certificate.plot() is not None


def test_saved_and_loaded(result, tmp_path):
    path = tmp_path / "result.json"
    result.save(path)
    loaded = Result.load(path)
    assert loaded == result and np.array_equal(loaded.instance.points, POINTS)
    assert loaded.history == result.history and np.allclose(loaded.centers, result.centers)
    refused = solve(Instance(POINTS, 15, 0.189))
    refused.save(path)
    assert Result.load(path).certificate.check()
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_a_damaged_file_is_refused(result, tmp_path):
    path = tmp_path / "result.json"
    result.save(path)
    content = json.loads(path.read_text())
    content["result"]["labels"][0] = int(result.labels[0] == 0)
    damaged = [json.dumps(content), json.dumps(content | {"instance": {}}), "{", "[]", '{"a": 1}']
    for words in damaged:
        path.write_text(words)
        with pytest.raises(InputError, match=r"damaged|not a file"):
            Result.load(path)


def test_nothing_half_written_is_left(result, tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):
        result.save(path)
    assert list(tmp_path.iterdir()) == [path]


def test_compare(result):
    instance = Instance(SQUARE, 2, 1.0)
    found = compare(instance, ["milp", "heuristic", "minlp"], ["highs", "scip"], time_limit=30)
    rows = [(row["method"], row["status"]) for row in found.table]
    assert rows == [
        ("milp", "optimal"),
        ("milp", "optimal"),
        ("heuristic", "feasible"),
        ("minlp", "refused"),
        ("minlp", "optimal"),
    ]
    assert "needs MINLP" in found.table.column("note")[3]
    assert len(found.plot().get_yticklabels()) == 4 and len(found.to_frame()) == 5
    assert "milp" in repr(found) and "<table" in found._repr_html_()


def test_progress_in_a_pipe_is_silent(capsys):
    assert solve(Instance(SQUARE, 2, 1.0), progress=True).status == "optimal"
    assert capsys.readouterr().err == ""


def test_progress_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html.data)

    monkeypatch.setattr(follow, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda html, display_id: Handle())
    with follow.following("exact") as report:
        report(Progress(3, 40, 2.5, 2.0, 1.25, 1))
    assert "width:80%" in shown[0] and "gap 20.00%" in shown[0] and shown[-1] == ""
