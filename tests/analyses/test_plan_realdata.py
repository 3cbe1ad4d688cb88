"""Plans from real pilots: thinned ChaosNLI against all of it, real evaluations drawn from it, and real crowds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import saturation as sat
from saturation.datasets import convert
from saturation.targets import draw_votes

pytestmark = pytest.mark.realdata
PRICES = {"cost_per_vote": 0.05, "cost_per_item": 0.2, "total": 500.0}
LINEAR = ("cross_entropy", "brier_vote")


@pytest.fixture(scope="module")
def panel(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    convert("chaosnli", shared_data / "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl", folder / "votes")
    convert("baan-predictions", shared_data / "chaosnli/data/predictions", folder / "predictions")
    return sat.read_panel(folder / "votes/vote_counts.parquet", folder / "predictions/predictions.parquet")


def thinned(panel, n_votes, seed):
    counts = draw_votes(panel.votes.counts, (n_votes,), seed)[n_votes]
    return replace(panel, votes=replace(panel.votes, counts=counts))


def components(result, name):
    return {r.component: r.unc for r in result.rows if (r.quantity, r.metric) == ("component", name)}


def tables(panel):
    """(items, labels) scores against each vote, mean over the training runs, written anew."""
    m = panel.probs[0][0]
    return {
        "cross_entropy": -np.log(m).mean(axis=0),
        "brier_vote": ((m**2).sum(axis=-1, keepdims=True) - 2 * m + 1).mean(axis=0),
    }


def test_components_of_all_votes(panel):
    result = sat.plan(panel, **PRICES, metrics=LINEAR)
    h = panel.votes.counts / 100
    for name, g in tables(panel).items():
        mean = (h * g).sum(axis=1)
        s2 = ((h * g**2).sum(axis=1) - mean**2) * 100 / 99
        own = components(result, name)
        assert own["votes"].estimate == pytest.approx(s2.mean(), rel=1e-9)
        assert own["items"].estimate == pytest.approx(mean.var(ddof=1) - s2.mean() / 100, rel=1e-9)


def test_thinned_pilots_find_the_components_of_all_votes(panel):
    whole = sat.plan(panel, **PRICES, metrics=LINEAR)
    held = []
    for seed in range(10):
        few = sat.plan(thinned(panel, 3 + seed % 3, seed), **PRICES, metrics=LINEAR, max_votes=100)
        for name in LINEAR:
            truth, own = components(whole, name), components(few, name)
            held += [own[c].low <= truth[c].estimate <= own[c].high for c in ("items", "votes")]
    # the same items on both sides: intervals for other items hold more often than their level says
    assert sum(held) >= 37


def test_evaluations_scatter_as_planned(panel):
    """300 items with replacement, 5 of the 100 votes each: the votes' part without replacement is 95/99 as large."""
    result = sat.plan(panel, **PRICES, metrics=LINEAR)
    draw = np.random.default_rng(0)
    g, counts = tables(panel), panel.votes.counts
    means = {name: [] for name in LINEAR}
    for _ in range(600):
        chosen = draw.integers(0, len(counts), 300)
        drawn = draw.multivariate_hypergeometric
        votes = np.stack([drawn(row, 5) for row in counts[chosen]])
        for name in LINEAR:
            means[name].append((votes * g[name][chosen]).sum() / votes.sum())
    for name in LINEAR:
        own = components(result, name)
        se = ((own["items"].estimate + own["votes"].estimate / 5) / 300) ** 0.5
        assert np.std(means[name]) == pytest.approx(se, rel=0.09)  # 3 Monte Carlo standard errors


def test_simulated_widths_of_a_thinned_pilot_are_those_of_all_votes(panel):
    few = sat.plan(thinned(panel, 5, 1), **PRICES, metrics=["tvd", "entropy_correlation"], max_votes=10)
    draw = np.random.default_rng(1)
    for name in ("tvd", "entropy_correlation"):
        values = []
        for _ in range(250):
            chosen = draw.integers(0, len(panel.votes.counts), 300)
            votes = np.stack([draw.multivariate_hypergeometric(row, 10) for row in panel.votes.counts[chosen]])
            one = sat.panel_from_arrays(panel.probs[0][:, :1, chosen], votes)
            values.append(sat.evaluate(one, metrics=[name], n_resamples=2).rows[0].unc.estimate)
        row = next(r for r in few.rows if (r.quantity, r.metric, r.budget) == ("width", name, 10))
        assert row.unc.se * (row.items / 300) ** 0.5 == pytest.approx(np.std(values), rel=0.2)


@pytest.mark.parametrize(("format", "source"), [("lewidi", "lewidi2023/HS-Brexit_dataset"), ("peerannot", "cifar10H")])
def test_real_crowds(tmp_path, shared_data, format, source):
    path = shared_data / (source if format == "lewidi" else f"peerannot/datasets/{source}")
    convert(format, path, tmp_path / "out")
    votes = sat.read_votes(tmp_path / "out/votes.parquet")
    if len(votes.item_ids) > 2000:
        votes = votes.take(np.arange(2000))
    result = sat.plan(votes, **PRICES, metrics=LINEAR)
    assert {r.quantity for r in result.rows} >= {"optimum", "component", "width", "floor"}
    for record in result.records():
        assert record["estimate"] is not None or record["reason"]
        assert record["low"] is not None or record["reason"], record
    assert all(components(result, name)["annotators"].estimate >= 0 for name in LINEAR)
