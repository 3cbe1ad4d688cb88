"""Soft votes from responses: by hand, against a slow twin, and as their authors published them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saturation.datasets.conversion import CIFAR_LABELS
from saturation.datasets.elicited import _of_image, _responses
from saturation.elicitation import (
    CONTRADICTIONS,
    SPREADS,
    VARIETIES,
    Responses,
    aggregate,
    choose_gamma,
    contradictions,
    repaired,
    soft_labels,
)
from saturation.errors import UsageError
from saturation.metrics import distance, divergence
from tests import naive

NAN = float("nan")


def one(top, p1, second=-1, p2=NAN, ticked=(), n_labels=4):
    impossible = np.zeros((1, n_labels), dtype=bool)
    impossible[0, list(ticked)] = True
    return Responses(np.array([top]), np.array([p1]), np.array([second]), np.array([p2]), impossible)


@pytest.mark.parametrize(
    ("said", "options", "expected"),
    [
        (one(0, 70, 1, 20, [3]), {}, [0.7, 0.2, 0.1, 0.0]),
        (one(0, 70, 1, 20, [3]), {"spread": "uniform"}, [0.7, 0.2, 0.05, 0.05]),
        (one(0, 70, 1, 20, [3]), {"spread": "none"}, [7 / 9, 2 / 9, 0, 0]),
        (one(0, 70, 1, 20, [3]), {"variety": "T1"}, [0.7, 0.15, 0.15, 0]),
        (one(0, 80, 1, 40, [3]), {}, [0.6, 0.3, 0.1, 0]),  # 2 : 1, less the tenth that is kept for label 2
        (one(0, 80, 1, 40, [2, 3]), {}, [2 / 3, 1 / 3, 0, 0]),  # nobody to keep it for
        (one(0, 100, ticked=[1, 2, 3]), {}, [1, 0, 0, 0]),
        (one(0, 100), {"gamma": 0.3}, [0.7, 0.1, 0.1, 0.1]),
        (one(0, 70, 1, 20), {"variety": "fifty_fifty"}, [0.5, 0.5, 0, 0]),
        (one(0, 70), {"variety": "fifty_fifty"}, [1, 0, 0, 0]),
        (one(0, 70, 1, 20), {"variety": "hard_top"}, [1, 0, 0, 0]),
        (one(0, 60, 1), {}, [0.6, 0.4 / 3, 0.4 / 3, 0.4 / 3]),  # a second label without a percent is like any other
    ],
)
def test_by_hand(said, options, expected):
    assert np.allclose(soft_labels(said, **options), [expected], atol=1e-15)


@pytest.mark.parametrize(
    ("said", "kind", "expected"),
    [
        (one(0, 60, 0, 30), "same_label_twice", [0.6, 0.4 / 3, 0.4 / 3, 0.4 / 3]),
        (one(0, 60, 1, 30, [0, 2]), "top_impossible", [0.6, 0.3, 0, 0.1]),
        (one(0, 60, 1, 30, [1, 2]), "second_impossible", [0.6, 0.3, 0, 0.1]),
        (one(0, 60, 1, 30, [0, 1, 2, 3]), "all_impossible", [0.6, 0.3, 0.05, 0.05]),
        (one(0, 250, ticked=[1, 2]), "percent_above_100", [0.9, 0, 0, 0.1]),
        (one(0, 0, ticked=[1, 2]), "top_percent_zero", [0.9, 0, 0, 0.1]),
        (one(0, NAN, ticked=[1, 2]), "top_percent_missing", [0.9, 0, 0, 0.1]),
        (one(0, 30, 1, 50, [2]), "second_above_first", [0.3, 0.5, 0, 0.2]),
    ],
)
def test_contradictions_are_counted_and_mended(said, kind, expected):
    assert contradictions(said)[kind].tolist() == [True]
    assert np.allclose(soft_labels(said), [expected])
    left = {name for name, rows in contradictions(repaired(said)).items() if rows.any()}
    assert left <= {"second_above_first"}


@st.composite
def responses(draw):
    n_labels = draw(st.integers(2, 6))
    label = st.integers(0, n_labels - 1)
    percent = st.integers(0, 100)
    return (
        draw(label), draw(st.integers(1, 100)), draw(st.none() | label), draw(st.none() | percent),
        draw(st.sets(label)), n_labels,
    )  # fmt: skip


@given(responses(), st.sampled_from(VARIETIES[:2]), st.sampled_from(SPREADS), st.sampled_from((0.0, 0.1, 0.5)))
def test_the_published_rule_is_its_slow_twin(said, variety, spread, gamma):
    top, p1, second, p2, ticked, n_labels = said
    made = one(top, p1, -1 if second is None else second, NAN if p2 is None else p2, ticked, n_labels)
    try:
        expected = naive.soft_label(*said, variety, spread, gamma)
    except ZeroDivisionError:
        with pytest.raises(UsageError, match="no label a probability"):
            soft_labels(made, variety=variety, spread=spread, gamma=gamma, rule="published")
        return
    found = soft_labels(made, variety=variety, spread=spread, gamma=gamma, rule="published")
    assert np.allclose(found, [expected], atol=1e-12)


@given(st.lists(responses(), min_size=1, max_size=5), st.sampled_from(VARIETIES), st.sampled_from(SPREADS))
def test_repaired_responses_always_give_a_distribution(said, variety, spread):
    for top, p1, second, p2, ticked, n_labels in said:
        made = one(top, p1, -1 if second is None else second, NAN if p2 is None else p2, ticked, n_labels)
        found = soft_labels(made, variety=variety, spread=spread)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1, abs=1e-12)
        if spread != "uniform":
            mended = repaired(made).impossible[0]
            assert (found[0, mended] == 0).all(), "what is impossible has no probability"


def test_unknown_options_and_impossible_percents_are_refused():
    said = one(0, 70)
    for wrong in ({"variety": "T3"}, {"spread": "even"}, {"rule": "mine"}, {"gamma": 1.0}):
        with pytest.raises(UsageError):
            soft_labels(said, **wrong)
    with pytest.raises(UsageError, match="none of the 4"):
        one(4, 70)
    with pytest.raises(UsageError, match="negative or infinite"):
        one(0, -1.0)


def test_gamma_is_the_one_that_predicts_votes_best():
    """All say label 0 for certain, and a fifth of the votes go evenly to the two others: gamma .2 by arithmetic."""
    n = 50
    said = Responses(
        np.zeros(n, dtype=int), np.full(n, 100.0), np.full(n, -1), np.full(n, NAN), np.zeros((n, 3), dtype=bool)
    )
    counts = np.tile([8, 1, 1], (n, 1))
    chosen = choose_gamma(said, np.arange(n), counts, gammas=(0.0, 0.1, 0.2, 0.3))
    assert chosen.gamma == 0.2
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.1))
    assert dict(chosen.losses)[0.2] == pytest.approx(entropy, abs=1e-12)


@pytest.fixture(scope="module")
def cifar():
    from tests.conftest import SHARED

    folder = SHARED / "data/cifar10s/cifar10s_data"
    if not folder.is_dir():
        pytest.skip("the real annotation sets (../shared/data) are not beside this checkout")
    content = json.loads((folder / "human_soft_labels_data.json").read_text())
    published = json.loads((folder / "cifar10s_t2clamp_redist10.json").read_text())
    answers = [one for item, said in content.items() for one in _of_image(item, said, folder)]
    item = np.repeat(np.arange(len(content)), [len(said) for said in content.values()])
    counts = np.load(next((SHARED / "data/cifar10h").rglob("*counts*.npy")))[[int(key) for key in content]]
    return _responses(answers, CIFAR_LABELS), item, list(published.values()), counts


@pytest.mark.realdata
def test_the_published_file_is_rebuilt_on_every_image(cifar):
    said, item, published, _ = cifar
    made = soft_labels(said, rule="published")
    same = 0
    for image, rows in enumerate(published):
        ours, theirs = (np.array(sorted(map(tuple, one))) for one in (made[item == image], rows))
        same += ours.shape == theirs.shape and np.abs(ours - theirs).max() < 1e-12
    assert same == 1000


@pytest.mark.realdata
def test_contradictions_of_the_published_responses(cifar):
    said = cifar[0]
    found = {name: int(rows.sum()) for name, rows in contradictions(said).items()}
    assert found == dict.fromkeys(CONTRADICTIONS, 0) | {
        "same_label_twice": 153, "top_impossible": 26, "second_impossible": 19, "all_impossible": 5,
        "second_above_first": 36,
    }  # fmt: skip
    assert int((said.impossible.sum(1) == 0).sum()) == 136
    total = said.top_percent + np.nan_to_num(np.where(said.second >= 0, said.second_percent, 0))
    assert round(float((total > 100).mean()), 3) == 0.100
    assert round(float((total < 100).mean()), 3) == 0.266


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.1597, 0.0560, 0.0481, 0.6243)),
        ({"spread": "uniform"}, (0.1607, 0.0544, 0.0505, 0.6253)),
        ({"variety": "T1"}, (0.1561, 0.0550, 0.0479, 0.6250)),
        ({"variety": "hard_top"}, (0.1495, 0.0599, 0.0517, 0.5927)),
    ],
)
def test_mean_soft_labels_against_plain_votes(cifar, options, expected):
    from scipy.stats import entropy

    said, item, _, counts = cifar
    mean = aggregate(soft_labels(said, rule="published", **options), item, 1000)
    shares = counts / counts.sum(1, keepdims=True)
    r = np.corrcoef(entropy(mean, axis=1), entropy(shares, axis=1))[0, 1]
    found = (
        distance.tvd(mean, counts).mean(),
        distance.brier(mean, counts).mean(),
        divergence.jsd(mean, counts).mean(),
        r,
    )
    assert np.allclose(found, expected, atol=5.1e-5)
    if not options:
        assert (mean.argmax(1) == shares.argmax(1)).mean() == 0.941


@pytest.mark.realdata
@pytest.mark.parametrize("first", [1, 3])
def test_cross_entropy_of_the_first_annotators_at_every_floor(cifar, first, reference):
    _, _, published, counts = cifar
    mean = np.array([np.mean(rows[:first], axis=0) for rows in published])
    shares = counts / counts.sum(1, keepdims=True)
    stored = reference["cifar"][f"ce_first_{first}_annotators"]
    for floor in ("1e-12", "1e-06", "0.001", "0.01"):
        raised = np.maximum(mean, float(floor))
        raised /= raised.sum(1, keepdims=True)
        found = -(shares * np.log(raised)).sum(1).mean()
        assert found == pytest.approx(stored[f"ce_h_s_clip{floor}"], abs=1e-9)
