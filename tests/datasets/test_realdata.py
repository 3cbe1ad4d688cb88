"""Real sets: each converts, ``check`` accepts the tables, and every count is that of the raw file read anew here."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

from saturation import evaluate
from saturation.datasets import convert
from saturation.tables.checking import check_files
from saturation.tables.door import read_panel, read_votes

pytestmark = pytest.mark.realdata


def converted(tmp_path, format, source):
    convert(format, source, tmp_path / "out")
    check_files(sorted((tmp_path / "out").glob("*.parquet")), None)
    return tmp_path / "out"


def single_votes(out):
    frame = pl.read_parquet(out / "votes.parquet")
    return Counter(frame.select("item_id", "annotator_id", "label").iter_rows())


@pytest.mark.parametrize(("name", "items"), [("snli", 1514), ("mnli_m", 1599), ("alphanli", 1532)])
def test_chaosnli(tmp_path, shared_data, name, items):
    path = shared_data / f"chaosnli/data/chaosNLI_v1.0/chaosNLI_{name}.jsonl"
    out = converted(tmp_path, "chaosnli", path)
    votes = pl.read_parquet(out / "vote_counts.parquet")
    assert votes.height == items
    full = {"e": "entailment", "n": "neutral", "c": "contradiction", "1": "1", "2": "2"}
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    expected = {row["uid"]: {full[k]: v for k, v in row["label_counter"].items()} for row in raw}
    for row in votes.iter_rows(named=True):
        own = {name.removeprefix("n_"): count for name, count in row.items() if name != "item_id" and count}
        assert own == expected[row["item_id"]]
    majority = dict(pl.read_parquet(out / "items.parquet").select("item_id", "majority_label").iter_rows())
    assert majority == {row["uid"]: full[str(row["majority_label"])] for row in raw}


def test_baan_predictions_meet_chaosnli(tmp_path, shared_data, reference):
    """In the right order the models agree with most majorities; with two columns swapped they do not."""
    votes = tmp_path / "votes"
    convert("chaosnli", shared_data / "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl", votes)
    out = converted(tmp_path, "baan-predictions", shared_data / "chaosnli/data/predictions")
    frame = pl.read_parquet(out / "predictions.parquet")
    raw = {}
    for path in sorted((shared_data / "chaosnli/data/predictions").iterdir()):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            raw[row["uid"], int(path.stem[-1])] = row
    assert frame.height == len(raw) == 29526
    for row in frame.sample(500, seed=1).iter_rows(named=True):
        e, c, n = raw[row["item_id"], row["seed"]]["probs"]
        assert [row["p_entailment"], row["p_neutral"], row["p_contradiction"]] == pytest.approx([e, n, c], abs=1e-6)
        e, c, n = raw[row["item_id"], row["seed"]]["logits"]
        assert [row["z_entailment"], row["z_neutral"], row["z_contradiction"]] == [e, n, c]
    panel = read_panel(votes / "vote_counts.parquet", out / "predictions.parquet")
    assert len(panel.votes.item_ids) == 1514
    agree = panel.probs[0][0].argmax(axis=-1) == panel.votes.counts.argmax(axis=-1)
    assert agree.mean() > 0.7
    expected = reference["metrics"]["snli/roberta-base/seed0"]["kl_human_model_nats"]
    rows = evaluate(panel, metrics=["kl"], by="cell", n_resamples=20).rows
    assert next(row for row in rows if row.seed == 0).unc.estimate == pytest.approx(expected, abs=1e-12)


def test_cifar10h(tmp_path, shared_data):
    path = shared_data / "cifar10h/data/cifar10h-counts.npy"
    out = converted(tmp_path, "cifar10h", path)
    votes = read_votes(out / "vote_counts.parquet")
    raw = np.load(path)
    assert " ".join(votes.labels) == "airplane automobile bird cat deer dog frog horse ship truck"
    assert np.array_equal(votes.counts, raw[[int(item) for item in votes.item_ids]])


def test_dices(tmp_path, shared_data):
    path = shared_data / "dices/data/dices/dices_990.json"
    out = converted(tmp_path, "dices", path)
    found = {row[0]: row[1:] for row in pl.read_parquet(out / "vote_counts.parquet").iter_rows()}
    for instance in json.loads(path.read_text())["instances"]:
        scores = instance["annotations"]["safety"]["individual_human_scores"]
        assert found[str(instance["id"])] == tuple(scores.count(label) for label in ("Yes", "No", "Unsure"))
    assert sum(map(sum, found.values())) == 48995 + 19357 + 3751


def test_lewidi(tmp_path, shared_data):
    folder = shared_data / "lewidi2023/HS-Brexit_dataset"
    out = converted(tmp_path, "lewidi", folder)
    expected = Counter()
    for part in ("train", "dev", "test"):
        for key, entry in json.loads((folder / f"HS-Brexit_{part}.json").read_text()).items():
            pairs = zip(entry["annotators"].split(","), entry["annotations"].split(","), strict=True)
            expected.update((f"{part}:{key}", name, label) for name, label in pairs)
    assert single_votes(out) == expected
    assert sum(expected.values()) == 6720
    parts = pl.read_parquet(out / "splits.parquet").group_by("part").len()
    assert dict(parts.iter_rows()) == {"train": 784, "dev": 168, "test": 168}


@pytest.mark.parametrize("name", ["cifar10H/answers_valid.json", "labelme/answers.json", "music/answers.json"])
def test_peerannot(tmp_path, shared_data, name):
    path = shared_data / "peerannot/datasets" / name
    out = converted(tmp_path, "peerannot", path)
    raw = json.loads(path.read_text())
    assert single_votes(out) == Counter(
        (item, worker, str(label)) for item, answers in raw.items() for worker, label in answers.items()
    )


def test_cubam(tmp_path, shared_data):
    path = shared_data / "cubam/demo/ducks/labels.txt"
    out = converted(tmp_path, "cubam", path)
    assert single_votes(out) == Counter(tuple(line.split()) for line in path.read_text().splitlines()[1:])
