"""From texts to probabilities: what silently goes wrong in such tools, and must not here."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from inference import batching, labels, outputs
from inference.checkpoints import Source, load_classifier
from inference.cli import group
from inference.items import read_items
from inference.machine import exact_arithmetic
from inference.predict import dropout_on, predict
from inference.predicting import prepared
from saturation.errors import DataError, UsageError
from saturation.tables import io
from saturation.tables.door import read_panel
from tests.inference import tiny

NLI = tiny.NLI


def run(*words):
    return CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)


def predicted(tables, model, out, *more):
    run("predict", "--model", model, "--items", tables / "items.parquet", "--votes", tables / "votes.parquet",
        "--out", out, "--quiet", *more)  # fmt: skip
    return io.read_frame(out)


def by_hand(folder, pairs):
    """One item at a time, no padding, straight from the library: probabilities in the head's order."""
    import torch
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = [model(**tokenizer(a, b, return_tensors="pt", truncation=True)).logits[0] for a, b in pairs]
    return torch.stack(logits).double().softmax(-1).numpy()


@pytest.fixture
def items(tables):
    return read_items(tables / "items.parquet")


def test_a_table_holds_what_the_model_says(tables, bert, tmp_path):
    frame, meta = predicted(tables, bert, tmp_path / "p.parquet")
    expected = by_hand(bert, tiny.texts(60))
    order = {item: i for i, item in enumerate(frame["item_id"])}
    found = frame.select([f"p_{label}" for label in NLI]).to_numpy()[[order[f"q{i:02d}"] for i in range(60)]]
    assert np.abs(found - expected).max() < 1e-6
    assert meta.labels == NLI
    model = meta.provenance["model"]
    assert model["architecture"] == "BertForSequenceClassification"
    assert model["dtype"] == "float32"
    assert len(model["weights_sha256"]) == len(model["tokenizer_sha256"]) == 64
    assert {"torch", "transformers", "numpy"} <= set(meta.provenance["libraries"])
    assert read_panel(tables / "votes.parquet", tmp_path / "p.parquet").votes.labels == NLI


# 1, 2: columns by name
def test_outputs_are_matched_by_name(tables, bert, tmp_path):
    import torch

    other = load_classifier(Source(str(bert)))
    names = ("CONTRADICTION", "ENTAILMENT", "Neutral")
    order = [2, 0, 1]  # new output k is the old output order[k]
    with torch.no_grad():
        for tensor in (other.model.classifier.weight, other.model.classifier.bias):
            tensor.copy_(tensor[order].clone())
    other.model.config.id2label = dict(enumerate(names))
    other.model.config.label2id = {name: i for i, name in enumerate(names)}
    other.model.save_pretrained(tmp_path / "other")
    other.tokenizer.save_pretrained(tmp_path / "other")
    first, _ = predicted(tables, bert, tmp_path / "a.parquet")
    second, _ = predicted(tables, tmp_path / "other", tmp_path / "b.parquet")
    columns = [f"{kind}_{label}" for kind in "pz" for label in NLI]
    assert np.array_equal(first.select(columns).to_numpy(), second.select(columns).to_numpy())


def test_placeholder_names_are_refused_until_they_are_named(tables, tmp_path):
    model = tiny.classifier(tmp_path / "m", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(UsageError, match=r"says nothing about their meaning.*--label-map LABEL_0"):
        predicted(tables, model, tmp_path / "p.parquet")
    named = "LABEL_0=neutral,LABEL_1=entailment,LABEL_2=contradiction"
    frame, _ = predicted(tables, model, tmp_path / "p.parquet", "--label-map", named)
    expected = by_hand(model, tiny.texts(60))
    assert np.abs(frame.sort("item_id")["p_neutral"].to_numpy() - expected[:, 0]).max() < 1e-6


def test_other_labels_are_refused():
    with pytest.raises(UsageError, match="not the same set"):
        labels.match({0: "yes", 1: "no"}, NLI)
    with pytest.raises(UsageError, match="--label-map names maybe"):
        labels.match({0: "yes", 1: "no"}, ("yes", "no"), {"maybe": "yes"})
    assert labels.match({0: "No", 1: " YES "}, ("yes", "no")).tolist() == [1, 0]


def test_the_better_order_is_the_best_of_all():
    from itertools import permutations

    rng = np.random.default_rng(3)
    truth = rng.dirichlet([0.5] * 4, size=300)
    counts = np.stack([rng.multinomial(10, row) for row in truth])
    shown = truth[:, [2, 0, 3, 1]] * 0.9 + 0.025
    found = labels.better_order(shown, counts)
    scores = {order: (counts * np.log(shown[:, list(order)])).sum() for order in permutations(range(4))}
    assert found.order == max(scores, key=scores.get) == (1, 3, 0, 2)
    assert labels.better_order(truth * 0.9 + 0.025, counts) is None
    uninformative = rng.dirichlet([5.0] * 4, size=300)
    assert labels.better_order(uninformative, counts) is None, "noise is no reason to warn"


def test_swapped_names_are_warned_of(tables, tmp_path, capsys):
    """A model that knows the votes, but calls entailment contradiction."""
    frame = pl.read_parquet(tables / "votes.parquet")
    counts = frame.select([f"n_{label}" for label in NLI]).to_numpy()
    from inference.predicting import _warn_of_order

    probs = (counts[:, [2, 1, 0]] + 0.5) / (counts.sum(1, keepdims=True) + 1.5)
    said = []
    from saturation.tables.door import read_votes

    human = read_votes(tables / "votes.parquet")
    _warn_of_order(probs, NLI, human.item_ids, human, said.append)
    assert len(said) == 1
    assert "entailment <- contradiction" in said[0]


# 3, 4: logits and probabilities, both, in one order
def test_probabilities_are_the_softmax_of_the_logits_in_double(tables, bert, tmp_path):
    frame, _ = predicted(tables, bert, tmp_path / "p.parquet")
    logits = frame.select([f"z_{label}" for label in NLI]).to_numpy().astype(np.float64)
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    assert frame["p_neutral"].dtype == pl.Float64
    assert np.array_equal(
        shifted / shifted.sum(1, keepdims=True), frame.select([f"p_{label}" for label in NLI]).to_numpy()
    )


# 5: truncation
def test_truncation_is_counted_per_item(tables, bert, tmp_path, capsys):
    frame, meta = predicted(tables, bert, tmp_path / "p.parquet", "--max-length", "12")
    expected = [len(a.split()) + len(b.split()) + 3 for a, b in tiny.texts(60)]
    frame = frame.sort("item_id")
    assert frame["n_tokens"].to_list() == expected
    assert frame["truncated"].cast(int).to_list() == [int(n > 12) for n in expected]
    assert meta.provenance["settings"]["truncated"] == sum(n > 12 for n in expected)
    with pytest.raises(UsageError, match=r"items \(.*\) have more than 12 tokens, the longest is 'q"):
        predicted(tables, bert, tmp_path / "q.parquet", "--max-length", "12", "--on-truncate", "error")
    kept, _ = predicted(tables, bert, tmp_path / "q.parquet", "--max-length", "12", "--on-truncate", "drop")
    assert len(kept) == sum(n <= 12 for n in expected)


def test_the_longer_text_of_a_pair_is_cut_first(bert):
    checkpoint = load_classifier(Source(str(bert)))
    long, short = " ".join(["dog"] * 30), "cat runs"
    encoded = batching.encode(checkpoint.tokenizer, ["q"], [(long, short)], 12)
    assert encoded.lengths.tolist() == [12]
    assert encoded.inputs[0]["input_ids"][-4:] == checkpoint.tokenizer("", short)["input_ids"][-4:]


# 6: padding token
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_decoder_without_padding_token_gets_the_end_of_text(kind, items, tmp_path):
    checkpoint = load_classifier(Source(str(tiny.classifier(tmp_path / kind, kind))))
    assert (
        checkpoint.model.config.pad_token_id == checkpoint.tokenizer.pad_token_id == checkpoint.tokenizer.eos_token_id
    )
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    found = predict(checkpoint, encoded)
    assert found.padding_difference < 1e-5
    expected = np.log(by_hand(tmp_path / kind, items.texts))
    assert np.abs(np.log(outputs.softmax(found.values)) - expected).max() < 1e-5


def test_padding_that_is_read_as_text_stops(bert, items, monkeypatch):
    checkpoint = load_classifier(Source(str(bert)))
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    real = batching.pad

    def without_mask(tokenizer, inputs):
        batch = real(tokenizer, inputs)
        batch["attention_mask"][:] = 1
        return batch

    monkeypatch.setattr("inference.predict.pad", without_mask)
    with pytest.raises(UsageError, match="padding changes the model's logits"):
        predict(checkpoint, encoded)


# 7: batches do not matter
@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_batch_size_and_item_order_move_probabilities_by_less_than_1e_5(kind, items, tmp_path):
    checkpoint = load_classifier(Source(str(tiny.classifier(tmp_path / kind, kind))))
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    checkpoint.model.train()  # dropout left on would show
    base = outputs.softmax(predict(checkpoint, encoded, token_budget=16).values)
    assert np.abs(base - base.mean(0)).max() > 0.01, "the model must tell items apart for this to mean anything"
    for budget in (64, 4096):
        assert np.abs(outputs.softmax(predict(checkpoint, encoded, token_budget=budget).values) - base).max() < 1e-5
    turned = np.arange(len(items.ids))[::-1]
    again = outputs.softmax(predict(checkpoint, encoded.take(turned)).values)[turned]
    assert np.abs(again - base).max() < 1e-5


def test_batches_hold_every_item_once_and_stay_within_the_budget():
    lengths = np.random.default_rng(0).integers(3, 90, size=500)
    batches = batching.by_length(lengths, 256)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert all(len(batch) == 1 or lengths[batch].max() * len(batch) <= 256 for batch in batches)
    padded = sum(lengths[batch].max() * len(batch) for batch in batches)
    assert padded / lengths.sum() < 1.1


# 8: precision
def test_a_checkpoint_saved_in_half_precision_runs_in_float32(tables, bert, tmp_path):
    import torch
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(bert, dtype=torch.bfloat16)
    model.save_pretrained(tmp_path / "half")
    tiny.tokenizer().save_pretrained(tmp_path / "half")
    checkpoint = load_classifier(Source(str(tmp_path / "half")))
    assert checkpoint.about["dtype"] == "float32"
    assert {weight.dtype for weight in checkpoint.model.parameters()} == {torch.float32}


def test_logits_that_are_not_finite_stop_with_the_item(bert, items):
    import torch

    checkpoint = load_classifier(Source(str(bert)))
    word = checkpoint.tokenizer.convert_tokens_to_ids("young")
    with torch.no_grad():
        checkpoint.model.bert.embeddings.word_embeddings.weight[word] = float("nan")
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    with_word = [item for item, text in zip(items.ids, items.texts, strict=True) if "young" in " ".join(text).split()]
    with pytest.raises(DataError, match="not finite") as caught:
        predict(checkpoint, encoded, check_padding=False)
    assert [problem.item for problem in caught.value.problems] == with_word


# 9: no fp16
def test_half_precision_is_not_offered(tables, bert, tmp_path):
    with pytest.raises(Exception, match="fp16"):
        predicted(tables, bert, tmp_path / "p.parquet", "--precision", "fp16")
    with pytest.raises(UsageError, match="choose float32, tf32, bf16"), exact_arithmetic("fp16", "cpu"):
        pass


# 12: memory
def test_memory_that_does_not_suffice_halves_the_batches_and_loses_nothing(bert, items):
    import torch

    checkpoint = load_classifier(Source(str(bert)))
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    expected = predict(checkpoint, encoded).values
    forward, sizes, said = checkpoint.model.forward, [], []

    def small(**batch):
        sizes.append(batch["input_ids"].numel())
        if sizes[-1] > 80:
            raise torch.OutOfMemoryError("no memory")
        return forward(**batch)

    checkpoint.model.forward = small
    found = predict(checkpoint, encoded, check_padding=False, say=said.append, token_budget=1024).values
    assert np.abs(found - expected).max() < 1e-5
    assert len(said) == 1
    assert max(sizes) > 384
    checkpoint.model.forward = lambda **batch: (_ for _ in ()).throw(torch.OutOfMemoryError("no memory"))
    with pytest.raises(torch.OutOfMemoryError):
        predict(checkpoint, encoded, check_padding=False)


# 21: members
def test_dropout_members_differ_and_only_dropout_layers_are_on(tables, bert, tmp_path, items):
    frame, _ = predicted(tables, bert, tmp_path / "p.parquet", "--dropout-samples", "3")
    assert frame["member"].unique().sort().to_list() == ["0", "1", "2"]
    spread = frame.group_by("item_id").agg(pl.col("p_neutral").std())["p_neutral"]
    assert spread.min() > 0
    panel = read_panel(tables / "votes.parquet", tmp_path / "p.parquet")
    mean = frame.group_by("item_id").agg(pl.col("p_neutral").mean()).sort("item_id")["p_neutral"].to_numpy()
    assert np.abs(panel.probs[0][0, 0, :, 1] - mean).max() < 1e-12
    model = load_classifier(Source(str(bert))).model
    with dropout_on(model) as count:
        on = {type(layer).__name__ for layer in model.modules() if layer.training}
    assert on == {"Dropout"}
    assert count > 0
    assert not any(layer.training for layer in model.modules())


def test_a_pair_whose_second_text_is_not_marked_is_refused(tmp_path, items):
    folder = tiny.classifier(tmp_path / "m")
    tiny.tokenizer("unmarked").save_pretrained(folder)
    checkpoint = load_classifier(Source(str(folder)))
    with pytest.raises(UsageError, match="does not mark them"):
        prepared(checkpoint, items, None, "warn", lambda text: None)


def test_empty_texts_are_all_named():
    frame = pl.DataFrame({"item_id": ["a", "b", "c"], "text": ["x", "", None]})
    with pytest.raises(DataError) as caught:
        read_items(frame)
    assert [problem.item for problem in caught.value.problems] == ["b", "c"]
    with pytest.raises(UsageError, match="--text"):
        read_items(pl.DataFrame({"item_id": ["a"], "body": ["x"]}))


def test_a_folder_without_safetensors_or_a_missing_one_is_refused(tmp_path, bert):
    import torch

    with pytest.raises(UsageError, match="there is no folder"):
        Source.parse("./nowhere")
    folder = tmp_path / "pickled"
    checkpoint = load_classifier(Source(str(bert)))
    checkpoint.model.config.save_pretrained(folder)
    checkpoint.tokenizer.save_pretrained(folder)
    torch.save(checkpoint.model.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="cannot load the model"):
        load_classifier(Source(str(folder)))


def test_the_summary_is_json_when_asked(tables, bert, tmp_path):
    result = run("predict", "--model", bert, "--items", tables / "items.parquet", "--labels", ",".join(NLI),
                 "--out", tmp_path / "p.csv", "--format", "json", "--quiet")  # fmt: skip
    said = json.loads(result.stdout)
    assert said["items"] == said["rows"] == 60
    assert said["truncated"] == 0


def test_check_shows_where_predictions_come_from(tables, bert, tmp_path):
    from saturation.cli import group as toolkit

    predicted(tables, bert, tmp_path / "p.parquet")
    said = CliRunner().invoke(toolkit, ["check", str(tmp_path / "p.parquet")], standalone_mode=False).stdout
    assert "architecture=BertForSequenceClassification" in said
    assert "dtype=float32" in said
    assert "torch=" in said
    assert "inference predict" in said
