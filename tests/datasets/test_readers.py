"""Each format on small made-up files: every count arrives, and every fault is named by file and row or key."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from saturation.datasets import FORMATS, convert
from saturation.errors import DataError, SaturationError, UsageError


def write(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def lines(path: Path, rows) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def table(out: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(out / f"{name}.parquet")


def counts_by_hand(frame: pl.DataFrame) -> dict:
    found: dict = {}
    for row in frame.iter_rows(named=True):
        key = (row["item_id"], row["label"])
        found[key] = found.get(key, 0) + 1
    return found


# --- chaosnli ---------------------------------------------------------------------------------------------------------

SNLI = {
    "uid": "4#r1n",
    "label_counter": {"n": 70, "e": 30},
    "majority_label": "n",
    "label_dist": [0.3, 0.7, 0.0],
    "label_count": [30, 70, 0],
    "entropy": 0.88,
    "example": {"uid": "4#r1n", "premise": "A dog.", "hypothesis": "An animal.", "source": "snli_agree_3"},
    "old_label": "e",
    "old_labels": ["neutral", ""],
}
ALPHA = {
    "uid": "x-1",
    "label_counter": {"2": 9, "1": 91},
    "majority_label": 1,
    "label_count": [91, 9],
    "example": {"obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d", "source": "abdnli_dev"},
    "old_label": 1,
}


def test_chaosnli(tmp_path):
    other = SNLI | {"uid": "5", "label_counter": {"c": 100}, "label_count": [0, 0, 100], "majority_label": "c"}
    convert("chaosnli", lines(tmp_path / "s.jsonl", [SNLI, other]), tmp_path / "out")
    votes, items = table(tmp_path / "out", "vote_counts"), table(tmp_path / "out", "items")
    assert votes.columns == ["item_id", "n_entailment", "n_neutral", "n_contradiction"]
    assert votes.rows() == [("4#r1n", 30, 70, 0), ("5", 0, 0, 100)]
    assert items["majority_label"].to_list() == ["neutral", "contradiction"]
    assert items["old_label"].to_list() == ["entailment", "entailment"]
    assert items["source"].to_list() == ["snli_agree_3"] * 2
    assert items["premise"][0] == "A dog."
    assert "obs1" not in items.columns


def test_chaosnli_of_alphanli(tmp_path):
    convert("chaosnli", lines(tmp_path / "a.jsonl", [ALPHA]), tmp_path / "out")
    assert table(tmp_path / "out", "vote_counts").rows(named=True) == [{"item_id": "x-1", "n_1": 91, "n_2": 9}]
    assert table(tmp_path / "out", "items")["majority_label"].to_list() == ["1"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([SNLI, ALPHA], ["row 2", "x-1", "convert the sets apart"]),
        ([SNLI, SNLI], ["row 2", "4#r1n", "twice"]),
        ([SNLI | {"label_count": [70, 30, 0]}], ["row 1", "label_counter says"]),
        ([SNLI | {"label_counter": {"n": 70, "x": 30}}], ["'x'"]),
        ([SNLI | {"label_count": [30, 70, -1]}], ["whole numbers"]),
        ([SNLI | {"label_count": [100]}], ["1 entries"]),
        ([SNLI | {"label_count": [True, 70, 0]}], ["whole numbers"]),
        ([SNLI | {"majority_label": "q"}], ["majority_label is 'q'"]),
        ([{k: v for k, v in SNLI.items() if k != "uid"}], ["'uid' is missing"]),
        (["no object"], ["not one JSON object"]),
        ([], ["no rows"]),
    ],
)
def test_chaosnli_faults(tmp_path, rows, words):
    with pytest.raises(DataError) as error:
        convert("chaosnli", lines(tmp_path / "bad.jsonl", rows), tmp_path / "out")
    assert all(word in str(error.value) for word in ["bad.jsonl", *words])
    assert not (tmp_path / "out").exists()


# --- predictions ------------------------------------------------------------------------------------------------------


def baan_row(uid, logits, pred=None):
    e = [math.exp(z) for z in logits]
    probs = [x / sum(e) for x in e]
    pred = int(np.argmax(probs)) if pred is None else pred
    return {"index": 0, "true": 0, "pred": pred, "conf": max(probs), "logits": logits, "probs": probs, "uid": uid}


def test_baan_predictions_come_in_our_label_order(tmp_path):
    path = lines(tmp_path / "SNLI_dev_roberta-base_2.json", [baan_row("u1", [2.0, -1.0, 0.5])])
    convert("baan-predictions", path, tmp_path / "out")
    row = table(tmp_path / "out", "predictions").row(0, named=True)
    # the file's columns are entailment, contradiction, neutral
    assert (row["z_entailment"], row["z_neutral"], row["z_contradiction"]) == (2.0, 0.5, -1.0)
    assert row["p_entailment"] == pytest.approx(math.exp(2) / (math.exp(2) + math.exp(-1) + math.exp(0.5)))
    assert row["p_neutral"] > row["p_contradiction"]
    assert (row["model"], row["seed"], row["split"]) == ("roberta-base", 2, "all")
    assert "part" not in row


def test_baan_probabilities_keep_64_bits_where_the_file_has_32(tmp_path):
    stored = baan_row("u1", [2.0, -1.0, 0.5])
    stored["probs"] = [float(np.float32(p)) for p in stored["probs"]]
    convert("baan-predictions", lines(tmp_path / "SNLI_dev_m_0.json", [stored]), tmp_path / "out")
    row = table(tmp_path / "out", "predictions").row(0, named=True)
    exact = math.exp(2) / (math.exp(2) + math.exp(-1) + math.exp(0.5))
    assert row["p_entailment"] == pytest.approx(exact, abs=1e-15) != stored["probs"][0]


def test_baan_parts_of_one_seed_join_and_repeats_are_refused(tmp_path):
    dev = lines(tmp_path / "SNLI_dev_bert-base_0.json", [baan_row("u1", [2.0, 0.0, 0.0])])
    test = lines(tmp_path / "SNLI_test_bert-base_0.json", [baan_row("u2", [2.0, 0.0, 0.0])])
    convert("baan-predictions", [dev, test], tmp_path / "out")
    assert table(tmp_path / "out", "predictions")["item_id"].to_list() == ["u1", "u2"]
    again = lines(tmp_path / "b" / "SNLI_test_bert-base_0.json", [baan_row("u1", [2.0, 0.0, 0.0])])
    with pytest.raises(DataError, match="predicts this uid already"):
        convert("baan-predictions", [dev, again], tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "row", "word"),
    [
        ("roberta.json", baan_row("u", [1.0, 0.0, 0.0]), "file name"),
        ("SNLI_dev_m_0.json", baan_row("u", [1.0, 0.0, 0.0], pred=2), "pred is 2"),
        ("SNLI_dev_m_0.json", baan_row("u", [1.0, 0.0, 0.0]) | {"logits": [0.0, 1.0, 0.0]}, "softmax"),
        ("SNLI_dev_m_0.json", baan_row("u", [1.0, 0.0, 0.0]) | {"probs": [0.5, 0.5]}, "3 finite numbers"),
    ],
)
def test_baan_faults(tmp_path, name, row, word):
    with pytest.raises(DataError, match=word):
        convert("baan-predictions", lines(tmp_path / name, [row]), tmp_path / "out")


def test_nie_released_layout(tmp_path):
    content = {
        "bert-base": {"u1": {"uid": "u1", "logits": [-2.0, 4.0, -2.5], "predicted_label": "neutral"}},
        "xlnet": {"u1": {"uid": "u1", "logits": [3.0, 1.0, -2.5], "predicted_label": "entailment"}},
    }
    convert("nie-predictions", write(tmp_path / "p.json", content), tmp_path / "out")
    frame = table(tmp_path / "out", "predictions")
    assert frame["model"].to_list() == ["bert-base", "xlnet"]
    total = math.exp(-2) + math.exp(4) + math.exp(-2.5)
    assert frame["p_neutral"][0] == pytest.approx(math.exp(4) / total)
    assert frame["p_contradiction"][0] == pytest.approx(math.exp(-2.5) / total)
    assert frame["z_entailment"].to_list() == [-2.0, 3.0]


def test_nie_sample_layout_with_and_without_model_and_near_ties(tmp_path):
    entries = {
        "u1": {"uid": "u1", "predicted_probabilities": [0.2, 0.7, 0.1], "predicted_label": "neutral"},
        "u2": {"uid": "u2", "predicted_probabilities": [0.4, 0.4000000000000001, 0.2], "predicted_label": "entailment"},
    }
    for name, content in (("with.json", {"mine": entries}), ("without.json", entries)):
        convert("nie-predictions", write(tmp_path / name, content), tmp_path / f"out-{name}")
    assert table(tmp_path / "out-with.json", "predictions")["model"].to_list() == ["mine", "mine"]
    without = table(tmp_path / "out-without.json", "predictions")
    assert without["model"].to_list() == ["without", "without"]
    assert without["p_neutral"].to_list() == pytest.approx([0.7, 0.4])


def test_nie_abduction(tmp_path):
    content = {"m": {"u": {"uid": "u", "logits": [-20.0, 22.0], "predicted_label": 2}}}
    convert("nie-predictions", write(tmp_path / "p.json", content), tmp_path / "out")
    assert table(tmp_path / "out", "predictions")["p_2"][0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"uid": "u", "logits": [1.0, 0.0, 0.0], "predicted_label": "neutral"}, "columns in order"),
        ({"uid": "u", "predicted_probabilities": [0.5, 0.2, 0.2], "predicted_label": "entailment"}, "sum to 1"),
        ({"uid": "v", "logits": [1.0, 0.0, 0.0], "predicted_label": "entailment"}, "uid is 'v'"),
        ({"uid": "u", "logits": [1.0, 0.0, 0.0], "predicted_label": "e"}, "predicted_label is 'e'"),
        ({"uid": "u", "logits": [1.0], "predicted_label": "1"}, "1 entries"),
    ],
)
def test_nie_faults(tmp_path, entry, word):
    with pytest.raises(DataError, match=word) as error:
        convert("nie-predictions", write(tmp_path / "p.json", {"m": {"u": entry}}), tmp_path / "out")
    assert "item 'u'" in str(error.value)


# --- cifar10h ---------------------------------------------------------------------------------------------------------


def test_cifar10h(tmp_path):
    counts = np.arange(20).reshape(2, 10)
    np.save(tmp_path / "c.npy", counts)
    convert("cifar10h", tmp_path / "c.npy", tmp_path / "out")
    frame = table(tmp_path / "out", "vote_counts")
    assert frame["item_id"].to_list() == ["0", "1"]
    assert frame["n_airplane"].to_list() == [0, 10]
    assert frame["n_cat"].to_list() == [3, 13]
    assert frame["n_truck"].to_list() == [9, 19]


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.full((3, 10), 0.1), "not whole numbers"),
        (np.ones((3, 9), dtype=int), "shape"),
        (np.zeros((3, 10), dtype=int), "row 1"),
        (np.array([[1] * 10, [-1] + [1] * 9]), "row 2"),
    ],
)
def test_cifar10h_faults(tmp_path, array, word):
    np.save(tmp_path / "c.npy", array)
    with pytest.raises(DataError, match=word):
        convert("cifar10h", tmp_path / "c.npy", tmp_path / "out")


def test_arrays_of_objects_and_cut_files_are_refused(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "c.npy", np.ones((5, 10), dtype=int))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "c.npy").read_bytes()[:-8])
    (tmp_path / "text.npy").write_text("no array")
    for name in ("o.npy", "cut.npy", "text.npy"):
        with pytest.raises(DataError, match="C01"):
            convert("cifar10h", tmp_path / name, tmp_path / "out")


# --- dices ------------------------------------------------------------------------------------------------------------

HEADER = "id,rater_id,rater_gender,item_id,context,response,degree_of_harm,Q_overall\n"


def test_dices_csv(tmp_path):
    rows = '1,7,Man,193,"LAMDA: hi,\nUSER: ""x""",no,Benign,Yes\n2,8,Woman,193,"LAMDA: hi,\nUSER: ""x""",no,Benign,No\n'
    convert("dices", write(tmp_path / "d.csv", HEADER + rows), tmp_path / "out")
    votes, items = table(tmp_path / "out", "votes"), table(tmp_path / "out", "items")
    assert votes.rows() == [("193", "7", "Yes"), ("193", "8", "No")]
    assert items.rows(named=True) == [
        {"item_id": "193", "degree_of_harm": "Benign", "context": 'LAMDA: hi,\nUSER: "x"', "response": "no"}
    ]
    assert "unsafe" in json.loads((tmp_path / "out" / "convert.json").read_text())["notes"][0]
    assert (
        pl.read_parquet_metadata(tmp_path / "out" / "votes.parquet")["saturation"].find('["Yes", "No", "Unsure"]') > 0
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "1,7,Man,193,a,b,Benign,Maybe\n", ["row 1", "Maybe"]),
        (HEADER + "1,7,Man,193,a,b,Benign,Yes\n2,7,Man,193,a,b,Benign,No\n", ["row 2", "already"]),
        (HEADER + "1,7,Man,193,a,b,Benign,Yes\n2,8,Man,193,a,c,Benign,No\n", ["row 2", "differs"]),
        (HEADER + "1,7,Man,193,a,b\n", ["row 1", "6 cells"]),
        (HEADER + "1,,Man,193,a,b,Benign,Yes\n", ["row 1", "empty"]),
        ("a,b\n1,2\n", ["rater_id"]),
        (HEADER, ["no rows"]),
    ],
)
def test_dices_csv_faults(tmp_path, text, words):
    with pytest.raises(DataError) as error:
        convert("dices", write(tmp_path / "d.csv", text), tmp_path / "out")
    assert all(word in str(error.value) for word in words)


def judge_bench(scores, majority="Yes"):
    rated = {"safety": {"majority_human": majority, "individual_human_scores": scores}}
    return {"instances": [{"id": 859, "instance": {"user_prompt": "A", "response": "B"}, "annotations": rated}]}


def test_dices_json(tmp_path):
    convert("dices", write(tmp_path / "d.json", judge_bench(["No", "Yes", "Unsure", "Yes"])), tmp_path / "out")
    assert table(tmp_path / "out", "vote_counts").rows() == [("859", 2, 1, 1)]  # Yes, No, Unsure
    assert table(tmp_path / "out", "items").row(0, named=True)["majority_label"] == "Yes"


@pytest.mark.parametrize("content", [judge_bench([]), judge_bench(["yes"]), judge_bench(["Yes"], "Safe"), {"a": 1}])
def test_dices_json_faults(tmp_path, content):
    with pytest.raises(DataError):
        convert("dices", write(tmp_path / "d.json", content), tmp_path / "out")


# --- lewidi -----------------------------------------------------------------------------------------------------------


def entry_2023(annotations, annotators, split, **more):
    return {
        "text": "a text", "annotations": annotations, "annotators": annotators, "lang": "en", "hard_label": "1",
        "soft_label": {"0": 0.5, "1": 0.5}, "split": split, **more,
    }  # fmt: skip


def test_lewidi_2023_keys_that_collide_get_their_split(tmp_path):
    train = write(tmp_path / "t_train.json", {"1": entry_2023("0,1", "Ann1,Ann2", "train")})
    dev = write(tmp_path / "t_dev.json", {"1": entry_2023("1,1", "Ann1,Ann2", "dev")})
    convert("lewidi", [train, dev], tmp_path / "out")
    assert counts_by_hand(table(tmp_path / "out", "votes")) == {
        ("train:1", "0"): 1, ("train:1", "1"): 1, ("dev:1", "1"): 2,
    }  # fmt: skip
    assert table(tmp_path / "out", "splits").rows() == [
        ("train:1", "published", "train"),
        ("dev:1", "published", "dev"),
    ]
    assert table(tmp_path / "out", "items")["majority_label"].to_list() == ["1", "1"]
    convert("lewidi", train, tmp_path / "alone")
    assert table(tmp_path / "alone", "votes")["item_id"].to_list() == ["1", "1"]


def entry_2025(annotations, soft, split="train", text=None):
    return {
        "annotation task": "x", "text": text or {"context": "c", "response": "r"},
        "annotators": ",".join(annotations), "annotations": annotations, "soft_label": soft, "split": split,
        "lang": "en",
    }  # fmt: skip


def test_lewidi_2025_scales_keep_labels_that_nobody_chose(tmp_path):
    soft = {str(k): 0.0 for k in range(-5, 6)}
    content = {"7": entry_2025({"Ann1": "-3", "Ann2": "0", "Ann3": 4}, soft)}
    convert("lewidi", write(tmp_path / "Par_train.json", content), tmp_path / "out")
    account = json.loads((tmp_path / "out" / "convert.json").read_text())
    assert account["labels"] == [str(k) for k in range(-5, 6)]
    assert table(tmp_path / "out", "votes").rows() == [("7", "Ann1", "-3"), ("7", "Ann2", "0"), ("7", "Ann3", "4")]
    assert table(tmp_path / "out", "items").row(0, named=True)["text_response"] == "r"


def test_lewidi_2025_writes_zero_in_two_ways(tmp_path):
    content = {"7": entry_2025({"Ann1": "0", "Ann2": "1"}, {"0.0": 0.5, "1.0": 0.5})}
    convert("lewidi", write(tmp_path / "MP_train.json", content), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "convert.json").read_text())["labels"] == ["0", "1"]


def test_lewidi_2025_several_labels_of_one_person_become_soft(tmp_path):
    soft = {name: {"0": 0.5, "1": 0.5} for name in ("contradiction", "entailment", "neutral")}
    content = {
        "a": entry_2025({"Ann1": "entailment,neutral", "Ann2": "contradiction"}, soft),
        "b": entry_2025({}, soft),
    }
    convert("lewidi", write(tmp_path / "VariErrNLI_train.json", content), tmp_path / "out")
    assert table(tmp_path / "out", "votes").rows() == [("a", "Ann2", "contradiction")]
    assert table(tmp_path / "out", "soft_votes").rows() == [("a", "Ann1", 0.5, 0.5, 0.0), ("a", "Ann2", 0.0, 0.0, 1.0)]
    account = json.loads((tmp_path / "out" / "convert.json").read_text())
    assert account["labels"] == ["entailment", "neutral", "contradiction"]
    assert [(entry["what"], entry["number"]) for entry in account["dropped"]] == [("items", 1), ("annotations", 1)]
    assert table(tmp_path / "out", "items").height == 2


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        (entry_2023("0,1", "Ann1", "train"), "2 annotations by 1"),
        (entry_2023("0,1", "Ann1,Ann1", "train"), "twice"),
        (entry_2023("0,", "Ann1,Ann2", "train"), "empty"),
        (entry_2023("0,1", "Ann1,Ann2", "practice"), "split is 'practice'"),
        (entry_2025({"Ann1": 0.5}, {}), "neither a text nor"),
        (entry_2025({"Ann1": "a,a"}, {}), "same label twice"),
    ],
)
def test_lewidi_faults(tmp_path, entry, word):
    with pytest.raises(DataError, match=word) as error:
        convert("lewidi", write(tmp_path / "x_train.json", {"k9": entry}), tmp_path / "out")
    assert "item 'k9'" in str(error.value)


# --- peerannot and cubam ----------------------------------------------------------------------------------------------


def test_peerannot(tmp_path):
    write(tmp_path / "t" / "answers.json", {"5": {"w1": 0, "w2": 3}, "6": {"w1": 3}, "7": {}})
    write(tmp_path / "t" / "metadata.json", {"name": "t", "n_classes": 5})
    convert("peerannot", tmp_path / "t", tmp_path / "out")
    assert table(tmp_path / "out", "votes").rows() == [("5", "w1", "0"), ("5", "w2", "3"), ("6", "w1", "3")]
    account = json.loads((tmp_path / "out" / "convert.json").read_text())
    assert account["labels"] == ["0", "1", "2", "3", "4"]
    assert account["dropped"] == [{"what": "items", "number": 1, "why": "no one answered them"}]
    convert("peerannot", tmp_path / "t", tmp_path / "named", labels=["a", "b", "c", "d", "e"])
    assert table(tmp_path / "named", "votes")["label"].to_list() == ["a", "d", "d"]
    with pytest.raises(UsageError, match="5 labels"):
        convert("peerannot", tmp_path / "t", tmp_path / "named", labels=["a", "b"])


@pytest.mark.parametrize(
    ("answers", "classes", "word"),
    [
        ({"5": {"w1": 5}}, 5, "promises 5"),
        ({"5": {"w1": -1}}, 5, "index from 0"),
        ({"5": {"w1": "0"}}, 5, "index from 0"),
        ({"5": {"w1": True}}, 5, "index from 0"),
        ({"5": [1]}, 5, "not a JSON object"),
        ({}, 5, "no answers"),
        ({"5": {"w1": 0}}, 1, "n_classes"),
    ],
)
def test_peerannot_faults(tmp_path, answers, classes, word):
    write(tmp_path / "t" / "answers.json", answers)
    write(tmp_path / "t" / "metadata.json", {"n_classes": classes})
    with pytest.raises(DataError, match=word):
        convert("peerannot", tmp_path / "t", tmp_path / "out")


def test_a_worker_who_is_there_twice_is_noticed(tmp_path):
    text = '{"5": {"w1": 0, "w1": 1}}'
    with pytest.raises(DataError, match="'w1' is there twice"):
        convert("peerannot", write(tmp_path / "answers.json", text), tmp_path / "out")


def test_cubam(tmp_path):
    convert("cubam", write(tmp_path / "labels.txt", "2 3 4\n0 0 1\n0 2 0\n1 0 1\n1 1 1\n"), tmp_path / "out")
    votes = table(tmp_path / "out", "votes")
    assert votes.rows() == [("0", "0", "1"), ("0", "2", "0"), ("1", "0", "1"), ("1", "1", "1")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2 3 2\n0 0 1\n", ["promises 2"]),
        ("2 3 1\n2 0 1\n", ["row 2", "item 2"]),
        ("2 3 2\n0 0 1\n0 0 0\n", ["row 3", "already"]),
        ("2 3 1\n0 0 -1\n", ["row 2", "three whole numbers"]),
        ("2 3\n", ["row 1"]),
        ("", ["empty"]),
    ],
)
def test_cubam_faults(tmp_path, text, words):
    with pytest.raises(DataError) as error:
        convert("cubam", write(tmp_path / "labels.txt", text), tmp_path / "out")
    assert all(word in str(error.value) for word in words)


# --- long and wide ----------------------------------------------------------------------------------------------------


def test_long(tmp_path):
    path = write(tmp_path / "m.csv", "text,who,answer,seconds\n0012,a,2,1.5\n0012,b,10,2\n13,a,2,3\n")
    convert("long", path, tmp_path / "out", item_column="text", annotator_column="who", label_column="answer")
    votes = table(tmp_path / "out", "votes")
    assert votes.select("item_id", "annotator_id", "label").rows() == [
        ("0012", "a", "2"), ("0012", "b", "10"), ("13", "a", "2"),
    ]  # fmt: skip
    assert votes["seconds"].to_list() == [1.5, 2.0, 3.0]
    assert json.loads((tmp_path / "out" / "convert.json").read_text())["labels"] == ["2", "10"]


def test_long_without_annotators_becomes_counts(tmp_path):
    path = write(tmp_path / "m.csv", "item_id,label,mood\nq2,no,x\nq1,yes,x\nq2,yes,x\nq2,no,x\n")
    convert("long", path, tmp_path / "out", labels=["yes", "no", "unsure"])
    frame = table(tmp_path / "out", "vote_counts")
    assert frame.rows(named=True) == [
        {"item_id": "q2", "n_yes": 1, "n_no": 2, "n_unsure": 0},
        {"item_id": "q1", "n_yes": 1, "n_no": 0, "n_unsure": 0},
    ]
    assert not (tmp_path / "out" / "votes.parquet").exists()
    assert json.loads((tmp_path / "out" / "convert.json").read_text())["dropped"][0]["number"] == 1


def test_long_faults_name_file_and_row(tmp_path):
    path = write(tmp_path / "m.csv", "item_id,annotator_id,label\nq1,a,yes\nq1,a,no\nq2,a,\n")
    with pytest.raises(DataError) as error:
        convert("long", path, tmp_path / "out")
    assert "m.csv, row 2" in str(error.value)
    assert "m.csv, row 3" in str(error.value)
    with pytest.raises(UsageError, match="--item-column"):
        convert("long", write(tmp_path / "n.csv", "id,label\n1,a\n"), tmp_path / "out")
    with pytest.raises(UsageError, match="no column 'text'"):
        convert("long", path, tmp_path / "out", item_column="text")


def test_wide(tmp_path):
    path = write(tmp_path / "w.csv", "id,source,yes,no\nq1,news,3,0\nq2,web,1,4\n")
    convert("wide", path, tmp_path / "out", item_column="id", labels=["no", "yes"])
    frame = table(tmp_path / "out", "vote_counts")
    assert frame.select("item_id", "source", "n_no", "n_yes").rows() == [("q1", "news", 0, 3), ("q2", "web", 4, 1)]
    plain = write(tmp_path / "p.csv", "item_id,n_b,n_a\nq1,3,0\n")
    convert("wide", plain, tmp_path / "plain")
    assert json.loads((tmp_path / "plain" / "convert.json").read_text())["labels"] == ["b", "a"]
    with pytest.raises(UsageError, match="--labels"):
        convert("wide", path, tmp_path / "out", item_column="id")
    bad = write(tmp_path / "w2.csv", "item_id,n_a,n_b\nq1,1.5,2\n")
    with pytest.raises(DataError, match=r"w2\.csv, row 1"):
        convert("wide", bad, tmp_path / "out")


# --- any format -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"long", "wide", "cifar10h"}))
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"{", b"[]", b'{"a": NaN}', b"null\n", b"1 2 3", b'{"a": ' + b"[" * 100_000, b'{"a":1,"a":2}'],
)
def test_rubbish_is_an_error_of_the_user(tmp_path, name, content):
    names = {"baan-predictions": "SNLI_dev_m_0.json", "dices": "d.csv"}
    path = tmp_path / names.get(name, "x" + FORMATS[name].suffixes[0])
    path.write_bytes(content)
    with pytest.raises(SaturationError):
        convert(name, path, tmp_path / "out")


@pytest.mark.parametrize("source", ["-", "https://a.b/c.json", "none.json", "x.zip", "x.pkl", "x.doc"])
def test_sources_that_are_not_read(tmp_path, source, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x.zip", "x.pkl", "x.doc"):
        (tmp_path / name).write_text("x")
    with pytest.raises(UsageError):
        convert("peerannot", source, tmp_path / "out")
