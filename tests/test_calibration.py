"""Temperature and smoothing strength on arrays: by hand, against scipy, and where nothing can be fitted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from saturation import calibration
from saturation.errors import UsageError


def _study(n_items: int = 60, n_labels: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_items, n_labels)) * 3
    shares = np.exp(scores / 2.5) / np.exp(scores / 2.5).sum(axis=1, keepdims=True)
    votes = np.stack([rng.multinomial(n, p) for n, p in zip(rng.integers(2, 30, n_items), shares, strict=True)])
    return scores, votes


def _loss(log_t: float, scores: np.ndarray, votes: np.ndarray, weights: np.ndarray) -> float:
    total = 0.0
    for z, c, w in zip(scores, votes, weights, strict=True):
        scaled = z / math.exp(log_t)
        norm = math.log(sum(math.exp(one) for one in scaled))
        total += w * sum(c_k / c.sum() * (norm - z_k) for c_k, z_k in zip(c, scaled, strict=True))
    return total / weights.sum()


def test_the_temperature_by_hand() -> None:
    # one item, two labels: softmax(z/T) = h when (z_1 - z_2)/T = ln(h_1/h_2); z apart 4, h = 3/4: T = 4/ln 3
    fitted = calibration.fit_temperature(np.array([[1.0, -3.0]]), np.array([[3, 1]]))
    assert fitted.value == pytest.approx(4 / math.log(3), rel=1e-12)
    assert fitted.converged
    assert fitted.reason is None
    assert fitted.loss_after == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)), rel=1e-12)
    assert fitted.loss_before == pytest.approx(math.log(1 + math.exp(-4)) + 0.25 * 4, rel=1e-12)


@pytest.mark.parametrize("weights", ["items", "votes"])
def test_the_temperature_is_the_minimum_that_a_general_optimiser_finds(weights: calibration.Weighting) -> None:
    scores, votes = _study()
    counted = votes.sum(axis=1) if weights == "votes" else np.ones(len(votes))
    found = minimize_scalar(
        _loss, args=(scores, votes, counted), bounds=(-4, 4), method="bounded", options={"xatol": 1e-9}
    )
    fitted = calibration.fit_temperature(scores, votes, weights=weights)
    assert fitted.value == pytest.approx(math.exp(found.x), rel=1e-6)
    assert fitted.loss_after == pytest.approx(found.fun, rel=1e-12)
    assert fitted.loss_after < fitted.loss_before


def test_weighting_by_votes_matters_where_totals_differ() -> None:
    scores, votes = _study()
    one, other = (calibration.fit_temperature(scores, votes, weights=w).value for w in ("items", "votes"))
    assert one != pytest.approx(other, rel=1e-3)


def test_log_probabilities_are_logits_but_for_a_number_an_item() -> None:
    scores, votes = _study()
    probs = calibration.apply_temperature(scores, 1.0)
    by_logits = calibration.fit_temperature(scores, votes).value
    by_probs = calibration.fit_temperature(calibration.log_scores(probs), votes).value
    assert by_logits == pytest.approx(by_probs, rel=1e-10)


def test_scaled_logits_scale_the_temperature() -> None:
    scores, votes = _study()
    one, tenfold = (calibration.fit_temperature(s * scores, votes).value for s in (1.0, 10.0))
    assert tenfold == pytest.approx(10 * one, rel=1e-10)


@pytest.mark.parametrize(
    ("scores", "votes", "value", "reason"),
    [
        ([[1.0, 0.0]], [[4, 0]], calibration.COLDEST, calibration.AT_COLDEST),  # unanimous, as the model says
        ([[1.0, 0.0]], [[1, 3]], calibration.HOTTEST, calibration.AT_HOTTEST),  # against the model
        ([[1.0, 0.0]], [[2, 2]], calibration.HOTTEST, calibration.AT_HOTTEST),  # nothing in the votes
        ([[2.0, 2.0]], [[3, 1]], None, calibration.FLAT),
    ],
)
def test_what_cannot_be_fitted_says_so(
    scores: list[list[float]], votes: list[list[int]], value: float | None, reason: str
) -> None:
    fitted = calibration.fit_temperature(np.array(scores), np.array(votes))
    assert fitted.value == value
    assert not fitted.converged
    assert fitted.reason == reason


def test_overconfident_logits_do_not_overflow() -> None:
    fitted = calibration.fit_temperature(np.array([[1e4, -1e4], [-1e4, 1e4]]), np.array([[9, 1], [1, 9]]))
    assert fitted.value == calibration.HOTTEST  # the best is 2e4/ln 9, far beyond the bound
    assert math.isfinite(fitted.loss_before)


def test_resamples_are_fits_of_repeated_items_whatever_else_is_resampled() -> None:
    scores, votes = _study(20)
    weights = np.random.default_rng(1).multinomial(20, np.full(20, 1 / 20), size=30).astype(float)
    together = calibration.resampled_temperatures(scores, votes, weights)
    for drawn, value in zip(weights, together, strict=True):
        rows = np.repeat(np.arange(20), drawn.astype(int))
        assert value == pytest.approx(calibration.fit_temperature(scores[rows], votes[rows]).value, rel=1e-9)
        assert calibration.resampled_temperatures(scores, votes, drawn[None])[0] == value  # the same bits


def test_an_empty_resample_has_no_temperature() -> None:
    scores, votes = _study(5)
    assert np.isnan(calibration.resampled_temperatures(scores, votes, np.zeros((1, 5)))).all()


def test_smoothing_by_hand_and_ties_go_to_the_smallest() -> None:
    # h = (.8, .2): - .8 ln .8 - .2 ln .2 = .500402 is least; (.9, .1): .544806; order of strengths is immaterial
    probs = np.array([[[0.8, 0.2]], [[0.9, 0.1]], [[0.8, 0.2]]])
    tuned = calibration.tune_smoothing([0.4, 0.1, 0.2], probs, np.array([[4, 1]]))
    assert tuned.strength == 0.2
    assert [e for e, _ in tuned.losses] == [0.1, 0.2, 0.4]
    assert [loss for _, loss in tuned.losses] == pytest.approx([0.544806, 0.500402, 0.500402], abs=1e-6)


def test_seeds_are_averaged_and_votes_can_weigh() -> None:
    votes = np.array([[9, 0], [0, 1]])
    sure = np.array([[[0.9, 0.1], [0.9, 0.1]], [[0.9, 0.1], [0.9, 0.1]]])  # two seeds; right on the voted-on item only
    unsure = np.full((2, 2, 2), 0.5)
    stacked = np.stack([sure, unsure])
    # items: (- ln .9 - ln .1)/2 = 1.204 against ln 2 = .693; votes: (9 x .105 + 2.303)/10 = .325
    assert calibration.tune_smoothing([0.1, 0.9], stacked, votes).strength == 0.9
    assert calibration.tune_smoothing([0.1, 0.9], stacked, votes, weights="votes").strength == 0.1


@pytest.mark.parametrize(
    "call",
    [
        lambda: calibration.fit_temperature(np.array([[np.inf, 0.0]]), np.array([[1, 0]])),
        lambda: calibration.fit_temperature(np.zeros((2, 2)), np.array([[1, 0]])),
        lambda: calibration.fit_temperature(np.zeros((1, 2)), np.array([[0, 0]])),
        lambda: calibration.fit_temperature(np.zeros((0, 2)), np.zeros((0, 2))),
        lambda: calibration.fit_temperature(np.zeros((1, 2)), np.array([[1, 0]]), weights="people"),  # type: ignore[arg-type]
        lambda: calibration.apply_temperature(np.zeros((1, 2)), 0.0),
        lambda: calibration.log_scores(np.ones((1, 2)), floor=0.0),
        lambda: calibration.tune_smoothing([], np.zeros((0, 1, 2)), np.array([[1, 0]])),
        lambda: calibration.tune_smoothing([0.1, 0.1], np.full((2, 1, 2), 0.5), np.array([[1, 0]])),
    ],
)
def test_bad_input_is_refused(call: object) -> None:
    with pytest.raises(UsageError):
        call()  # type: ignore[operator]
