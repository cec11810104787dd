"""Objects show themselves in a line and in HTML that shows what is in them, and no more."""

import pickle
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest

from radcluster import Instance, RadiusKMeans, min_clusters, min_radius, show, solve
from radcluster.conic import PSD, SchurBlock
from radcluster.models import milp, sdp
from radcluster.progress import History, Progress

LINE = Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1)


def test_result_in_a_line():
    shown = repr(solve(LINE))
    assert shown.startswith("Result(optimal: points 4, clusters 2, objective 1,")
    assert "\n" not in shown and "array" not in shown


def test_a_long_result_has_a_short_repr():
    points = np.random.default_rng(0).normal(size=(500, 2))
    assert len(repr(solve(Instance(points, 8), "heuristic"))) < 250


def test_how_wide_clusters_may_be():
    assert "widest cluster 1 of 2," in repr(solve(LINE))
    assert "widest cluster 1 (no limit)," in repr(solve(LINE.replace(radius=np.inf)))
    assert "widest cluster 1 (limits 1 to 4)," in repr(solve(LINE.replace(radius=(0.5, 2))))


def test_fewest_clusters_and_smallest_radius_show_themselves():
    fewest, smallest = min_clusters(LINE.points, 1), min_radius(LINE.points, 2)
    assert repr(fewest).startswith("MinClusters(optimal: clusters 2, no fewer than 2, radius 1,")
    assert repr(smallest).startswith("MinRadius(optimal: radius 0.5, no smaller than 0.5,")
    for outcome in (fewest, smallest, min_radius(LINE.points, 4)):
        assert "array" not in repr(outcome) and "\n" not in repr(outcome)
        assert "optimal" in outcome._repr_html_() and "clusters" in outcome._repr_html_()
    impossible = min_clusters(LINE.replace(must_link=[(0, 3)]), 1)
    assert repr(impossible).startswith("MinClusters(infeasible: clusters none, no fewer than -,")


def test_result_as_a_card():
    html = solve(LINE)._repr_html_()
    assert "radcluster result: optimal" in html and "<details>" in html
    refused = solve(LINE.replace(n_clusters=1))._repr_html_()
    assert "pairwise more than 2 apart" in refused


def test_a_bound_that_is_not_known_is_not_shown_as_a_number():
    guessed = solve(LINE, "heuristic")
    assert guessed.lower_bound == 0
    assert "lower bound none known" in repr(guessed) and "gap" not in repr(guessed)
    assert "none known" in guessed._repr_html_()


def test_instance_as_a_card():
    html = LINE.replace(must_link=[(0, 1)])._repr_html_()
    assert "must_link" in html and "cannot_link" not in html


def test_an_instance_is_copied_without_its_distances():
    assert LINE.sq_distances is not None
    copy = pickle.loads(pickle.dumps(LINE))
    assert "sq_distances" not in copy.__dict__
    assert np.array_equal(copy.sq_distances, LINE.sq_distances)
    known = Instance.from_distances(LINE.sq_distances, 2, 1)
    assert np.array_equal(pickle.loads(pickle.dumps(known)).sq_distances, LINE.sq_distances)


def test_what_users_type_is_escaped():
    table = show.Table(("name",), (("<script>",),))
    assert "<script>" not in table._repr_html_()
    assert "<b>x" not in show.card("<b>x", [("<i>", "<u>")])


def test_long_tables_are_shortened():
    table = show.Table(("n",), tuple((i,) for i in range(1000)))
    assert len(repr(table).splitlines()) == show.PRINTED_ROWS + 2
    assert len(table.to_frame()) == len(table) == 1000


def test_estimator_shows_itself():
    model = RadiusKMeans(radius=1)
    assert repr(model) == "RadiusKMeans(radius=1)" and "RadiusKMeans" in model._repr_html_()


@pytest.mark.parametrize("form", ["linear", "verbatim"])
def test_models_show_their_parts_and_their_mathematics(form):
    model = milp.build(LINE, form=form)
    assert repr(model).startswith(f"<Formulation milp:{form}: ")
    assert isinstance(model, pyo.ConcreteModel)
    html = model._repr_html_()
    assert "Eq. 8" in html and "<td" in html and "pi" in model.contents().column("name")
    assert repr(model.clone()) == repr(model)


def test_each_sdp_shows_its_own_mathematics():
    assert "Eq. 14" in sdp.build(LINE, form="paper")._repr_html_()
    assert "Eq. 14" not in sdp.build(LINE, form="peng_wei").about


def test_cones_show_their_matrix():
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.psd = PSD([[1, m.x], [m.x, 1]])
    m.big = SchurBlock(order=40)
    assert "order 2" in repr(m.psd) and "x" in m.psd._repr_html_()
    assert "no values yet" in m.psd._repr_html_() and "nan" not in m.psd._repr_html_()
    m.x.set_value(0.5)
    assert "0.5" in m.psd._repr_html_()  # the margin 1 - .5, and the entry
    assert m.big._repr_html_().count("<td") < 10


def test_history_keeps_an_even_choice_and_the_last():
    seen = []
    history = History(seen.append)
    for i in range(5000):
        history(Progress(i, 0, 2.0, 1.0, float(i), 1))
    kept = [report.iteration for report in history.reports]
    assert len(seen) == 5000 and len(kept) <= History.MOST
    assert kept[0] == 0 and kept[-1] == 4999
    assert len({b - a for a, b in pairwise(kept[:-1])}) == 1
