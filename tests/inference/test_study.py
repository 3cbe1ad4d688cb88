"""A study: every run once, whatever happens to the workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from inference import study as studies
from inference.cli import group
from inference.estimate import estimate
from inference.material import random_splits
from inference.study import Shard, Workshop, merge, status, work
from inference.study_file import read_study
from inference.workers import places, shard_of
from saturation.errors import UsageError
from saturation.tables import io
from saturation.tables.door import read_panel
from tests.inference import tiny

TEXT = """
subsample_seed = 7
[data]
votes = "votes.parquet"
items = "items.parquet"
split_names = [42, 43]
[[models]]
name = "tiny"
source = "{source}"
mode = "{mode}"
[grid]
seeds = [0, 1]
base_rate = {{}}
hard = {{}}
temperature = {{}}
smoothing = {{ strengths = [0.1, 0.3] }}
soft = {{ budgets = [2, 20] }}
dirichlet = {{ budgets = [2], priors = ["base_rate"] }}
[recipe]
epochs = 2
batch_size = 16
learning_rate = 0.01
hidden = 8
"""
RUNS = 2 * (1 + 2 * 6)  # a base rate a split; hard, 2 smoothing, 2 soft, dirichlet for each seed


def study_file(tables, bert, mode="frozen"):
    path = tables / f"{mode}.toml"
    path.write_text(TEXT.format(source=bert, mode=mode))
    return path


@pytest.fixture(scope="module")
def file(tables, bert):
    return study_file(tables, bert)


@pytest.fixture(scope="module")
def finished(file, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "out"
    shop = Workshop(read_study(file), out)
    assert work(shop) == RUNS
    merge(shop)
    return out


def run(*words):
    return CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)


def test_the_table_is_a_panel(finished, tables):
    panel = read_panel(tables / "votes.parquet", finished / "predictions.parquet", items=tables / "items.parquet")
    assert len(panel.conditions) == 8
    assert panel.splits == ("42", "43")
    assert [len(items) for items in panel.items_of_split] == [12, 12]
    frame, meta = io.read_frame(finished / "predictions.parquet")
    assert len(frame) == (RUNS + 4) * (6 + 12)  # and a temperature beside each of four hard runs
    assert meta.provenance["model"]["mode"] == "frozen"
    assert set(frame["part"]) == {"dev", "test"}


def test_temperature_divides_the_logits_of_the_hard_model(finished):
    frame, _ = io.read_frame(finished / "predictions.parquet")
    cell = (pl.col("split") == "42") & (pl.col("seed") == 1)
    hard, cooled = (frame.filter(cell & (pl.col("method") == method)) for method in ("hard", "temperature"))
    names = [f"z_{label}" for label in tiny.NLI]
    _, meta = io.read_frame(finished / "predictions.parquet")
    told = meta.provenance["settings"]["temperatures"]["model=tiny,split=42,seed=1,method=hard"]
    assert np.allclose(hard.select(names).to_numpy() / told["value"], cooled.select(names).to_numpy(), rtol=1e-6)
    assert told["dev_loss"][1] <= told["dev_loss"][0]
    assert cooled["fitted_temperature"].unique().to_list() == [told["value"]]


def test_base_rate_is_the_mean_of_the_training_items(finished, file):
    shop = Workshop(read_study(file), finished)
    frame, _ = io.read_frame(finished / "predictions.parquet")
    own = frame.filter((pl.col("method") == "base_rate") & (pl.col("split") == "43"))
    counts = shop.material.counts[shop.material.splits["43"].train]
    expected = (counts / counts.sum(1, keepdims=True)).mean(0)
    assert np.allclose(own.select([f"p_{label}" for label in tiny.NLI]).to_numpy(), expected, atol=1e-12)


def test_blocks_are_complete_before_the_next_begins(file):
    runs = Workshop(read_study(file), file.parent).runs
    cells = list(dict.fromkeys((run.split, run.seed) for run in runs))
    assert [(run.split, run.seed) for run in runs] == sorted(
        [(run.split, run.seed) for run in runs], key=cells.index
    ), "all conditions of a cell stand together"


def test_draws_are_shared_by_conditions_and_not_by_seeds(file):
    study = read_study(file)
    own = {(run.seed, run.draw) for run in study.runs(3) if run.budget is not None}
    assert own == {(0, 7), (1, 8)}
    together = replace(study, draws="shared")
    assert {run.draw for run in together.runs(3) if run.budget is not None} == {7}


# 14: resume
def test_a_second_worker_finds_nothing_to_do(finished, file):
    assert work(Workshop(read_study(file), finished)) == 0
    assert status(Workshop(read_study(file), finished)) == {"runs": RUNS, "done": RUNS, "being_done": 0, "to_do": 0}


def test_another_recipe_or_other_votes_are_other_runs(file, tables, tmp_path):
    study = read_study(file)
    shop = Workshop(study, tmp_path)
    other = Workshop(replace(study, recipe=replace(study.recipe, epochs=3)), tmp_path)
    assert not set(shop.keys.values()) & set(other.keys.values())
    changed = Workshop(study, tmp_path)
    counts = changed.material.counts.copy()
    counts[0] = counts[0][::-1]
    changed.__dict__["material"] = replace(changed.material, counts=counts)
    assert not set(shop.keys.values()) & set(changed.keys.values())
    fewer = Workshop(replace(study, data=replace(study.data, split_names=("43",))), tmp_path)
    assert set(fewer.keys.values()) < set(shop.keys.values()), "a split more makes no run stale"


# 13: nothing lost, nothing double
def test_shards_make_the_same_table(file, finished, tmp_path):
    shops = [Workshop(read_study(file), tmp_path) for _ in range(3)]
    assert sum(work(shop, Shard(index, 3)) for index, shop in enumerate(shops)) == RUNS
    merge(shops[0])
    assert (tmp_path / "predictions.parquet").read_bytes() == (finished / "predictions.parquet").read_bytes()


def test_missing_and_wrong_parts_are_named(file, finished, tmp_path):
    import shutil

    shutil.copytree(finished, tmp_path / "copy")
    shop = Workshop(read_study(file), tmp_path / "copy")
    first, second = shop.runs[3], shop.runs[5]
    shop.part(first).unlink()
    with pytest.raises(UsageError, match=rf"1 of {RUNS} runs are missing; run again:\n- {first}"):
        merge(shop)
    assert work(shop) == 1
    frame, meta = io.read_frame(shop.part(second))
    io.write_table(shop.part(second), frame.head(10), table="predictions", labels=meta.labels)
    with pytest.raises(UsageError, match=rf"{second} .*8 rows missing, 0 too many"):
        merge(shop)
    io.write_table(shop.part(second), io.read_frame(shop.part(first))[0], table="predictions", labels=meta.labels)
    with pytest.raises(UsageError, match="do not hold what they must"):
        merge(shop)


def _worker(path, out):
    import torch

    torch.set_num_threads(1)
    work(Workshop(read_study(path), out))


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["inference.study", "tests.inference.test_study", "torch", "transformers"])
    return context


def test_twenty_kills_lose_nothing(file, tmp_path, finished, processes):
    """SIGKILL at random moments; then the work goes on and ends in the same bits (one thread, as in ``finished``)."""
    rng = random.Random(5)
    kills = 0
    while kills < 20:
        worker = processes.Process(target=_worker, args=(file, tmp_path))
        worker.start()
        time.sleep(rng.uniform(0.05, 0.6))
        if worker.is_alive():
            os.kill(worker.pid, signal.SIGKILL)
            kills += 1
        else:  # it was done before the blow fell: take something away again
            for part in sorted((tmp_path / "parts").glob("*.parquet"))[::3]:
                part.unlink()
        worker.join()
    shop = Workshop(read_study(file), tmp_path)
    work(shop)
    merge(shop)
    assert (tmp_path / "predictions.parquet").read_bytes() == (finished / "predictions.parquet").read_bytes()


def _command(path, out):
    from inference.cli import main

    main(["study", "run", str(path), "--out", str(out), "--threads", "1", "--quiet"])


def test_a_stop_is_not_a_failure(file, tmp_path, finished, processes):
    """SIGTERM: exit code 75, nothing half written; the same command goes on."""
    worker = processes.Process(target=_command, args=(file, tmp_path))
    worker.start()
    while worker.is_alive() and len(list((tmp_path / "parts").glob("*.parquet"))) < 3:
        time.sleep(0.02)
    os.kill(worker.pid, signal.SIGTERM)
    worker.join()
    assert worker.exitcode == 75
    assert not list((tmp_path / "parts").glob(".*"))
    again = processes.Process(target=_command, args=(file, tmp_path))
    again.start()
    again.join()
    shop = Workshop(read_study(file), tmp_path)
    merge(shop)
    assert (tmp_path / "predictions.parquet").read_bytes() == (finished / "predictions.parquet").read_bytes()


def test_two_workers_share_a_folder(file, tmp_path, finished, processes, monkeypatch):
    workers = [processes.Process(target=_worker, args=(file, tmp_path)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    monkeypatch.setattr(studies, "_do", lambda *args: pytest.fail("a run was left over"))
    shop = Workshop(read_study(file), tmp_path)
    assert work(shop) == 0
    merge(shop)
    assert (tmp_path / "predictions.parquet").read_bytes() == (finished / "predictions.parquet").read_bytes()
    assert len(list((tmp_path / "parts").iterdir())) == RUNS, "no half-written file is left"


def test_a_run_that_somebody_is_at_is_not_done_twice(file, tmp_path, monkeypatch):
    from saturation import files

    shop = Workshop(read_study(file), tmp_path)
    done = []
    monkeypatch.setattr(studies, "_do", lambda shop, run, model, say: done.append(run))
    files.make_folder(tmp_path / "locks")
    with files.claimed(tmp_path / "locks" / shop.keys[shop.runs[0]], wait=False) as held:
        assert held
        with files.claimed(tmp_path / "locks" / shop.keys[shop.runs[0]], wait=False) as again:
            assert not again
    work(shop, Shard(0, RUNS))
    assert done[0] == shop.runs[0]


# fine-tuning as a whole, through the command line
def test_whole_models_through_the_command_line(tables, bert, tmp_path):
    file = study_file(tables, bert, "whole").read_text()
    short = tables / "short.toml"
    short.write_text(
        file.replace("seeds = [0, 1]", "seeds = [3]")
        .replace("[42, 43]", "[42]")
        .replace("smoothing", "sampled")
        .replace("strengths = [0.1, 0.3]", "budgets = [2]")
    )
    said = json.loads(run("study", "plan", short, "--rate", "10", "--workers", "2", "--format", "json").stdout)
    assert said["runs"] == 6
    assert said["items_trained"] == 5 * 42 * 2
    assert run("study", "run", short, "--out", tmp_path, "--threads", "1", "--quiet").exit_code == 0
    said = json.loads(run("study", "merge", short, "--out", tmp_path, "--format", "json").stdout)
    frame, _ = io.read_frame(said["wrote"])
    assert set(frame["method"]) == {"base_rate", "hard", "temperature", "sampled", "soft", "dirichlet"}
    assert {"n_tokens", "truncated"} <= set(frame.columns)
    panel = read_panel(tables / "votes.parquet", said["wrote"])
    assert panel.seeds == ((3,),)


def test_held_out_votes_go_with_the_table(tables, bert, tmp_path):
    path = tables / "heldout.toml"
    path.write_text(
        TEXT.format(source=bert, mode="frozen").replace("[data]", "[data]\nheldout = 5").replace("[2, 20]", "[2, 15]")
    )
    shop = Workshop(read_study(path), tmp_path)
    work(shop)
    merge(shop)
    from saturation.tables.door import read_votes

    votes = read_votes(tmp_path / "votes.parquet")
    whole = read_votes(tables / "votes.parquet")
    assert np.array_equal(votes.counts, whole.counts)
    assert np.array_equal(votes.pools["train"], shop.material.counts)


def test_soft_votes_are_one_more_method(tables, bert, tmp_path):
    """Three soft votes an item: training on the mean of all of them, and of two, drawn alike for every epoch."""
    rng = np.random.default_rng(2)
    said = rng.dirichlet([1.0, 1.0, 1.0], size=180)
    frame = {"item_id": np.repeat([f"q{i:02d}" for i in range(60)], 3), "annotator_id": ["a", "b", "c"] * 60}
    frame |= {f"p_{label}": said[:, k] for k, label in enumerate(tiny.NLI)}
    io.write_table(tables / "soft.parquet", pl.DataFrame(frame), table="soft_votes", labels=tiny.NLI)
    text = TEXT.format(source=bert, mode="frozen").replace("[data]", '[data]\nsoft = "soft.parquet"')
    (tables / "soft.toml").write_text(
        text.replace("smoothing = { strengths = [0.1, 0.3] }", "elicited = { budgets = [2, 3] }")
    )
    shop = Workshop(read_study(tables / "soft.toml"), tmp_path)
    from inference.lessons import lessons

    rows = shop.material.splits["42"].train
    two, three = (run for run in shop.runs if run.method == "elicited" and run.split == "42" and run.seed == 0)
    own = said.reshape(60, 3, 3)[rows]
    assert np.allclose(
        lessons(three, rows, shop.material.counts[rows], "share", shop.material.soft)(0).targets, own.mean(1)
    )
    drawn = lessons(two, rows, shop.material.counts[rows], "share", shop.material.soft)(0).targets
    pairs = np.stack([(own[:, 0] + own[:, 1]) / 2, (own[:, 0] + own[:, 2]) / 2, (own[:, 1] + own[:, 2]) / 2])
    assert (np.abs(pairs - drawn).sum(2).min(0) < 1e-12).all()
    work(shop)
    assert "elicited" in set(io.read_frame(merge(shop))[0]["method"])
    (tables / "soft.toml").write_text(
        text.replace('soft = "soft.parquet"', "").replace("hard = {}", "hard = {}\nelicited = {}")
    )
    with pytest.raises(UsageError, match=r"needs data\.soft"):
        read_study(tables / "soft.toml")


def test_finetune_alone_is_a_run_of_the_study(tables, bert, tmp_path):
    (tmp_path / "recipe.toml").write_text("epochs = 2\nbatch_size = 16\nlearning_rate = 0.01\n")
    words = ["finetune", "--model", bert, "--items", tables / "items.parquet", "--votes", tables / "votes.parquet",
             "--recipe", tmp_path / "recipe.toml", "--quiet", "--threads", "1"]  # fmt: skip
    run(*words, "--budget", "2", "--seed", "1", "--out", tmp_path / "a.parquet", "--save", tmp_path / "kept")
    run(*words, "--budget", "2", "--seed", "1", "--out", tmp_path / "b.parquet")
    first, second = (io.read_frame(tmp_path / name)[0] for name in ("a.parquet", "b.parquet"))
    assert first.equals(second)
    run("predict", "--model", tmp_path / "kept", "--items", tables / "items.parquet", "--votes",
        tables / "votes.parquet", "--out", tmp_path / "again.parquet", "--quiet")  # fmt: skip
    again = io.read_frame(tmp_path / "again.parquet")[0].select("item_id", "p_neutral")
    both = first.join(again, on="item_id", suffix="_again")
    assert (both["p_neutral"] - both["p_neutral_again"]).abs().max() < 1e-6
    with pytest.raises(UsageError, match="--strength does nothing for --method soft"):
        run(*words, "--strength", "0.1", "--out", tmp_path / "c.parquet")


def test_tuning_takes_the_recipe_with_the_smallest_development_loss(tables, bert, tmp_path):
    text = TEXT.format(source=bert, mode="frozen") + "[tune]\nlearning_rate = [1e-6, 0.01]\nepochs = [1, 2]\n"
    text = text.replace("seeds = [0, 1]", "seeds = [0]").replace("[42, 43]", "[42]")
    (tables / "tune.toml").write_text(text)
    shop = Workshop(read_study(tables / "tune.toml"), tmp_path)
    assert len(shop.study.recipes) == 4
    work(shop)
    _, meta = io.read_frame(shop.part(shop.runs[1]))
    record = meta.provenance["settings"]["record"]
    losses = record["tuned"]["dev_losses"]
    assert len(losses) == 4
    assert record["dev_losses"][record["best_epoch"]] == min(losses)
    chosen = [(1e-6, 1), (1e-6, 2), (0.01, 1), (0.01, 2)][losses.index(min(losses))]
    assert (record["tuned"]["recipe"]["learning_rate"], record["tuned"]["recipe"]["epochs"]) == chosen
    assert len(record["dev_losses"]) == chosen[1]
    assert max(losses) > min(losses)
    plain = Workshop(replace(shop.study, tune={}), tmp_path)
    assert not set(plain.keys.values()) & set(shop.keys.values())
    (tables / "tune.toml").write_text(text.replace("learning_rate = [1e-6", "speed = [1e-6"))
    with pytest.raises(UsageError, match="unknown entries speed"):
        read_study(tables / "tune.toml")


# the study file
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("learning_rate", "learning_rte", "unknown entries learning_rte"),
        ('mode = "frozen"', 'mode = "warm"', "models.mode is 'warm'"),
        ("seeds = [0, 1]", "seeds = [0, 0]", "different whole numbers"),
        ("budgets = [2, 20]", "budgets = [0]", "budgets are whole numbers from 1"),
        ("budgets = [2, 20]", "budget = [2]", "grid.soft.budget is unknown; known: budgets"),
        ("hard = {}", "", "grid.temperature needs grid.hard"),
        ('priors = ["base_rate"]', 'priors = ["jeffreys"]', "'jeffreys' is unknown"),
        ('votes = "votes.parquet"', "", "data.votes is missing"),
    ],
)
def test_what_is_wrong_with_a_study_file_is_said(tables, bert, old, new, message):
    path = tables / "wrong.toml"
    path.write_text(TEXT.format(source=bert, mode="frozen").replace(old, new))
    with pytest.raises(UsageError, match=message):
        read_study(path)


def test_estimates_by_hand(file):
    shop = Workshop(read_study(file), file.parent)
    found = estimate(shop.runs, shop.material, shop.study.recipes, rate=10.0, workers=4)
    # 24 training runs of 42 items and 2 epochs; all 26 predict 6 + 12, and training looks at 6 twice
    assert (found.runs, found.trained, found.predicted) == (26, 24 * 84, 26 * 18 + 24 * 12)
    assert found.hours == pytest.approx((2016 + 756 / 3) / 10 / 3600)
    assert found.wall_hours == pytest.approx(found.hours / 4)


# 13, 18: accelerators, through the environment of the workers
def test_workers_have_an_accelerator_each():
    made = places(None, 1, {"CUDA_VISIBLE_DEVICES": "0,3,5"})
    assert [one["CUDA_VISIBLE_DEVICES"] for one in made] == ["0", "3", "5"]
    assert len(places(None, 3, {"CUDA_VISIBLE_DEVICES": "1"})) == 3
    assert "CUDA_VISIBLE_DEVICES" not in places(4, 1, {"CUDA_VISIBLE_DEVICES": ""})[0]


def test_shards_from_the_environment():
    assert shard_of("2/5", {"RANK": "1", "WORLD_SIZE": "2"}) == Shard(2, 5)
    assert shard_of(None, {}) == Shard(0, 1)
    with pytest.raises(UsageError, match="write 0/8"):
        shard_of("2", {})
    with pytest.raises(UsageError, match="from 0 to below"):
        shard_of("5/5", {})


def test_random_splits_do_not_depend_on_how_many_there_are():
    assert np.array_equal(
        random_splits(50, ["42"], dev=0.1, test=0.2)["42"].test,
        random_splits(50, ["7", "42"], dev=0.1, test=0.2)["42"].test,
    )
