"""Baselines made from tables: fitted on development items alone, applied to test items alone."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import saturation as sat
from saturation.calibration import AT_COLDEST, FLAT, fit_temperature
from saturation.cli import group
from saturation.errors import DataError, UsageError
from saturation.results import BaselineRow, BaselinesResult

LABELS = ("no", "yes")
IDS = tuple(f"i{place:02d}" for place in range(40))
RNG = np.random.default_rng(3)
COUNTS = RNG.multinomial(8, [0.4, 0.6], size=40)
VOTES = sat.votes_from_counts(COUNTS, labels=LABELS, item_ids=IDS)
PARTS = ["train"] * 10 + ["dev"] * 15 + ["test"] * 15
STRENGTHS = (0.1, 0.3)


def _table(splits: tuple[str, ...] = ("s",), seeds: tuple[int, ...] = (0, 1), logits: bool = True) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for place, split in enumerate(splits):
        parts = PARTS[place:] + PARTS[:place]  # another partition a split
        for seed in seeds:
            z = np.round(rng.normal(size=40) * 3 + 2 * (COUNTS[:, 1] - 4), 3)
            for item, part, own in zip(IDS, parts, z, strict=True):
                if part != "train":
                    rows.append(_row(item, split, seed, part, "hard", None, own))
                    rows += [_row(item, split, seed, part, "smoothing", e, own * (1 - 2 * e)) for e in STRENGTHS]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame if logits else frame.drop("z_no", "z_yes")


def _row(*key: Any) -> dict[str, Any]:
    item, split, seed, part, method, strength, z = key
    p = 1 / (1 + math.exp(-z))
    return {
        "item_id": item, "split": split, "seed": seed, "part": part, "method": method, "strength": strength,
        "p_no": 1 - p, "p_yes": p, "z_no": 0.0, "z_yes": float(z),
    }  # fmt: skip


def _splits(names: tuple[str, ...] = ("s",)) -> pl.DataFrame:
    whole = [
        (item, name, part)
        for k, name in enumerate(names)
        for item, part in zip(IDS, PARTS[k:] + PARTS[:k], strict=True)
    ]
    return pl.DataFrame(whole, schema=["item_id", "split", "part"], orient="row")


def _made(table: pl.DataFrame, **options: Any) -> BaselinesResult:
    return sat.baselines(VOTES, table, **{"n_resamples": 60, "rng": 1} | options)


def _rows(result: BaselinesResult, quantity: str) -> list[BaselineRow]:
    return [row for row in result.rows if row.quantity == quantity]


def _own(table: pl.DataFrame, part: str, **where: Any) -> pl.DataFrame:
    return table.filter(pl.col("part") == part, *(pl.col(k) == v for k, v in where.items())).sort("item_id")


def test_every_hard_model_is_scaled_by_its_own_temperature() -> None:
    table = _table()
    result = _made(table)
    for row in _rows(result, "temperature"):
        dev = _own(table, "dev", method="hard", seed=row.seed)
        test = _own(table, "test", method="hard", seed=row.seed)
        counts = COUNTS[[IDS.index(item) for item in dev["item_id"]]]
        t = fit_temperature(dev.select("z_no", "z_yes").to_numpy(), counts).value
        assert row.unc.estimate == t
        assert row.unc.low < t < row.unc.high
        assert row.loss_after < row.loss_before
        new = _own(result.predictions, "test", method="temperature", seed=row.seed)
        assert new["fitted_temperature"].unique().to_list() == [t]
        expected = 1 / (1 + np.exp(-test["z_yes"].to_numpy() / t))
        np.testing.assert_allclose(new["p_yes"].to_numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(new["z_yes"].to_numpy(), test["z_yes"].to_numpy() / t, rtol=1e-12)
    assert {row.seed for row in _rows(result, "temperature")} == {0, 1}


def test_without_logits_the_same_but_for_rounding_and_it_is_said() -> None:
    one, other = _made(_table()), _made(_table(logits=False))
    for a, b in zip(_rows(one, "temperature"), _rows(other, "temperature"), strict=True):
        assert a.unc.estimate == pytest.approx(b.unc.estimate, rel=1e-9)
    assert "no_logits" in {note.code for note in other.notes}
    assert "no_logits" not in {note.code for note in one.notes}


def test_test_votes_change_nothing() -> None:
    """What is fitted must not see them."""
    changed = COUNTS.copy()
    changed[25:] = changed[25:, ::-1]
    other = sat.votes_from_counts(changed, labels=LABELS, item_ids=IDS)
    one = _made(_table())
    two = sat.baselines(other, _table(), n_resamples=60, rng=1)
    assert one.predictions.equals(two.predictions)
    assert one.rows == two.rows


def test_the_strength_is_the_one_with_the_least_loss_over_all_seeds() -> None:
    table = _table()
    result = _made(table)
    losses = {}
    for e in STRENGTHS:
        total = []
        for seed in (0, 1):
            dev = _own(table, "dev", method="smoothing", seed=seed, strength=e)
            for item, no, yes in dev.select("item_id", "p_no", "p_yes").rows():
                c = COUNTS[IDS.index(item)]
                total.append(-(c[0] * math.log(no) + c[1] * math.log(yes)) / 8)
        losses[e] = sum(total) / len(total)
    for row in _rows(result, "dev_loss"):
        assert row.unc.estimate == pytest.approx(losses[row.condition.strength], rel=1e-12)
    (chosen,) = _rows(result, "strength")
    assert chosen.unc.estimate == min(losses, key=losses.__getitem__)
    assert sum(row.share for row in _rows(result, "dev_loss")) == pytest.approx(1)
    new = _own(result.predictions, "test", method="smoothing_tuned")
    old = _own(table, "test", method="smoothing", strength=chosen.unc.estimate)
    assert new.sort("seed", "item_id")["p_yes"].to_list() == old.sort("seed", "item_id")["p_yes"].to_list()
    assert new["strength"].null_count() == len(new)
    assert set(new["fitted_strength"]) == {chosen.unc.estimate}


def test_splits_choose_on_their_own() -> None:
    result = _made(_table(("s", "t")))
    assert [row.split for row in _rows(result, "strength")] == ["s", "t"]
    alone = _made(_table(("s", "t")).filter(split="t"))
    assert _rows(alone, "strength")[0].unc.estimate == _rows(result, "strength")[1].unc.estimate


@pytest.mark.parametrize(("splits", "part"), [(None, slice(10, 25)), (_splits(), slice(0, 10))])
def test_the_base_rate_is_of_training_items_where_they_are_known(splits: pl.DataFrame | None, part: slice) -> None:
    result = _made(_table(), splits=splits)
    pi = COUNTS[part].mean(axis=0) / 8  # every item has 8 votes
    assert [row.unc.estimate for row in _rows(result, "base_rate")] == pytest.approx(list(pi))
    assert [row.label for row in _rows(result, "base_rate")] == list(LABELS)
    sd = (COUNTS[part] / 8).std(axis=0, ddof=1)[0] / math.sqrt(part.stop - part.start)
    assert _rows(result, "base_rate")[0].unc.se == pytest.approx(sd)
    new = result.predictions.filter(method="base_rate")
    assert new["item_id"].to_list() == list(IDS[25:])  # once an item
    assert new["seed"].null_count() == len(new)


def test_the_curve_takes_them_as_baselines() -> None:
    table = _table()
    soft = pl.concat(
        table.filter(method="smoothing", strength=0.1).with_columns(
            method=pl.lit("soft"), budget=pl.lit(n), strength=pl.lit(None, pl.Float64)
        )
        for n in (1, 8)
    )
    whole = pl.concat([table.with_columns(budget=pl.lit(None, pl.Int32)), soft], how="vertical_relaxed")
    result = _made(whole)
    panel = sat.read_panel(VOTES, result.predictions)
    wanted = ("smoothing_tuned", "temperature", "base_rate")
    curve = sat.saturation_curve(panel, metrics=["kl"], baselines=wanted, n_resamples=20)
    assert {row.baseline for row in curve.rows} >= set(wanted)


def test_row_order_changes_no_bit() -> None:
    table = _table(("s", "t"))
    one, other = _made(table), _made(table.sample(fraction=1.0, shuffle=True, seed=1))
    assert one.rows == other.rows
    key = ["method", "strength", "split", "seed", "part", "item_id"]
    assert one.predictions.sort(key).equals(other.predictions.sort(key))


def test_a_table_that_is_made_passes_its_own_checks(tmp_path: Any) -> None:
    result = _made(_table(), best_on_test=True)
    path = sat.write_table(tmp_path / "p.csv", result.predictions, table="predictions", labels=LABELS)
    panel = sat.read_panel(VOTES, path)
    assert [str(c) for c in panel.conditions if "method=temp" in str(c)] == ["model=model,method=temperature"]
    with pytest.raises(UsageError, match="method=temperature already"):
        sat.baselines(VOTES, path)


def test_best_on_test_is_a_bound_and_says_so() -> None:
    result = _made(_table(), best_on_test=True)
    (bound,), (own,) = _rows(result, "best_on_test"), _rows(result, "test_loss")
    assert bound.unc.estimate <= own.unc.estimate
    assert "not a result" in bound.unc.reason
    assert not _rows(_made(_table()), "best_on_test")


# --- refusals and degenerate tables -----------------------------------------------------------------------------------


def test_items_in_both_parts_are_named() -> None:
    table = _table().with_columns(
        part=pl.when((pl.col("item_id") == "i30") & (pl.col("seed") == 1)).then(pl.lit("dev")).otherwise("part")
    )
    with pytest.raises(DataError, match="in dev and in test") as caught:
        _made(table)
    assert [problem.item for problem in caught.value.problems] == ["i30"]


@pytest.mark.parametrize(
    ("method", "match"),
    [("hard", "no development rows with votes in split s, seed 0"), ("smoothing", "no development rows with votes in")],
)
def test_missing_development_rows_are_refused(method: str, match: str) -> None:
    table = _table().filter(~((pl.col("method") == method) & (pl.col("part") == "dev")))
    with pytest.raises(UsageError, match=match):
        _made(table)


def test_a_base_rate_never_comes_from_test_items() -> None:
    table = _table().filter(part="test")
    with pytest.raises(UsageError, match="only come from the test items"):
        _made(table, methods=["base_rate"])


def test_what_is_not_there_is_a_note_unless_asked_for() -> None:
    table = _table().filter(method="hard")
    assert any(note.code == "not_made" and "smoothing_tuned" in note.message for note in _made(table).notes)
    with pytest.raises(UsageError, match="smoothing_tuned cannot be made: no test row"):
        _made(table, methods=["smoothing_tuned"])


@pytest.mark.parametrize(
    "options",
    [
        {"methods": ["isotonic"]}, {"methods": []}, {"level": 1.0}, {"n_resamples": 1}, {"weights": "people"},
        {"methods": ["temperature"], "best_on_test": True},
    ],
)  # fmt: skip
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        _made(_table(), **options)


def test_a_model_without_opinions_has_no_temperature() -> None:
    table = _table().with_columns(p_no=pl.lit(0.5), p_yes=pl.lit(0.5), z_no=pl.lit(1.0), z_yes=pl.lit(1.0))
    result = _made(table, methods=["temperature"])
    assert all(row.unc.estimate is None and row.unc.reason == FLAT for row in result.rows)
    assert set(result.predictions.filter(method="temperature")["p_no"]) == {0.5}


def test_unanimous_items_push_the_temperature_to_its_bound() -> None:
    agreed = sat.votes_from_counts([[8, 0], [0, 8]] * 20, labels=LABELS, item_ids=IDS)
    right = dict(zip(IDS, [-3.0, 3.0] * 20, strict=True))
    table = _table().with_columns(z_yes=pl.col("item_id").replace_strict(right))
    result = sat.baselines(agreed, table, methods=["temperature"], n_resamples=20)
    assert all(AT_COLDEST in row.unc.reason for row in result.rows)


def test_one_item_and_one_strength_say_what_is_missing() -> None:
    table = _table(seeds=(0,)).filter(pl.col("item_id").is_in(["i10", "i30"]), pl.col("strength").fill_null(0.1) == 0.1)
    result = _made(table)
    assert "nothing is chosen" in _rows(result, "strength")[0].unc.reason
    assert "one item only" in _rows(result, "base_rate")[0].unc.reason


def test_rows_have_all_their_keys() -> None:
    record = _made(_table()).records()[0]
    fields = [f.name for f in dataclasses.fields(BaselineRow)]
    assert fields == ["quantity", "condition", "split", "seed", "label", "unc", "loss_before", "loss_after", "share"]
    assert list(record) == [
        "quantity", "condition", "model", "method", "budget", "strength", "alpha", "split", "seed", "label",
        "estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items",
        "n_cells", "reason", "loss_before", "loss_after", "share",
    ]  # fmt: skip


@pytest.mark.realdata
def test_temperatures_of_published_logits(shared_data: Any, tmp_path: Any) -> None:
    """RoBERTa on SNLI, fitted on the development half of ChaosNLI-SNLI: the minimum that scipy finds."""
    source = shared_data / "chaosnli" / "data"
    runs = {part: sorted((source / "predictions").glob(f"SNLI_{part}_*.json")) for part in ("dev", "test")}
    tables = []
    for part, files in runs.items():
        ran = CliRunner().invoke(
            group, ["convert", "baan-predictions", *map(str, files), "--out", str(tmp_path / part)]
        )
        assert ran.exit_code == 0, ran.output
        tables.append(pl.read_parquet(tmp_path / part / "predictions.parquet").with_columns(part=pl.lit(part)))
    votes = source / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl"
    assert CliRunner().invoke(group, ["convert", "chaosnli", str(votes), "--out", str(tmp_path / "v")]).exit_code == 0
    people = sat.read_votes(tmp_path / "v" / "vote_counts.parquet")
    result = sat.baselines(people, pl.concat(tables), methods=["temperature"], n_resamples=50)
    assert [row.seed for row in result.rows] == [0, 1, 2]
    shares = dict(zip(people.item_ids, people.counts / people.totals[:, None], strict=True))
    for row in result.rows:
        dev = tables[0].filter(pl.col("seed") == row.seed, pl.col("item_id").is_in(list(shares)))
        h = np.stack([shares[item] for item in dev["item_id"]])
        z = dev.select(f"z_{label}" for label in people.labels).to_numpy().astype(np.float64)

        def loss(t: float, z: np.ndarray = z, h: np.ndarray = h) -> float:
            return float(np.mean(logsumexp(z / t, axis=1) - (h * z / t).sum(axis=1)))

        found = minimize_scalar(loss, bounds=(0.5, 20), method="bounded", options={"xatol": 1e-8})
        assert row.unc.estimate == pytest.approx(found.x, rel=1e-5)
        assert row.unc.n_items == len(dev)
        assert row.loss_after == pytest.approx(found.fun, rel=1e-9)
