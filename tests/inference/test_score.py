"""A language model's distribution over labels: boundaries, lengths, orders, and engines of the same protocol."""

from __future__ import annotations

import json
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from inference.backends import TransformersBackend, VllmBackend, tokens_of
from inference.checkpoints import Source
from inference.cli import group
from inference.items import read_items
from inference.prompts import Template, orders, template
from inference.scoring import label_distribution
from saturation.errors import UsageError
from saturation.tables import io
from saturation.tables.door import read_panel
from tests.inference import tiny

LABELS = ("red", "blue", "not old")
PROMPT = "{premise} is {options} the "


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, tmp_path_factory):
    return tiny.language_model(tmp_path_factory.mktemp("lm") / request.param, request.param)


@pytest.fixture
def backend(folder):
    return TransformersBackend(Source(str(folder)))


def by_hand(folder, prompt, rest):
    """Sum of log probabilities, one text, no padding."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(prompt + rest)["input_ids"]
    begin = len(tokenizer(prompt)["input_ids"])
    with torch.no_grad():
        logs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return sum(float(logs[place - 1, ids[place]]) for place in range(begin, len(ids))), len(ids) - begin


def score(backend, pairs):
    return backend.score(pairs, say=lambda text: None, quiet=True)


def test_log_probabilities_by_hand(backend, folder):
    pairs = [(f"{a} is the", f" {label}") for a, _ in tiny.texts(8) for label in LABELS]
    found = score(backend, pairs)
    expected = [by_hand(folder, *pair) for pair in pairs]
    assert np.abs(found.logprob - [value for value, _ in expected]).max() < 1e-4
    assert found.n_tokens.tolist() == [n for _, n in expected] == [1, 1, 2] * 8
    assert found.n_bytes.tolist() == [len(label) + 1 for label in LABELS] * 8


class Merging:
    """A tokenizer of single characters that merges ``b`` and ``c`` into one token, as BPE does across a boundary."""

    eos_token_id = None

    def __call__(self, texts, **_):
        found = [[ord(c) for c in text.replace("bc", "\x01")] for text in texts]
        return {"input_ids": found}


# 16: the boundary
def test_a_merge_across_the_boundary_belongs_to_the_label():
    found = tokens_of(Merging(), [("ab", "cd"), ("ab", "d")], 10)
    assert found.ids == ([ord("a"), 1, ord("d")], [ord("a"), ord("b"), ord("d")])
    assert found.begins.tolist() == [1, 2]


def test_trailing_blanks_go_to_the_label():
    made = Template("{text} Answer: ", ("yes", "no"))
    prompt, rest = made.with_label(made.prompt({"text": "Rain?"}, (0, 1)), 0)
    assert (prompt, rest) == ("Rain? Answer:", " yes")


def test_long_prompts_lose_their_beginning_and_never_the_label():
    found = tokens_of(Merging(), [("x" * 20 + "ab", "de")], 6)
    assert bytes(found.ids[0]).decode() == "xxabde"
    assert found.begins.tolist() == [4]
    assert found.truncated.tolist() == [True]
    with pytest.raises(UsageError, match="more tokens than the model can read"):
        tokens_of(Merging(), [("a", "d" * 9)], 6)


def test_normalisations_by_hand():
    scores = SimpleNamespace(
        logprob=np.log([0.2, 0.1, 0.05]), n_tokens=np.array([1, 1, 2]), n_bytes=np.array([4, 5, 8])
    )
    assert np.allclose(label_distribution(scores, 3, "none"), [[0.2 / 0.35, 0.1 / 0.35, 0.05 / 0.35]])
    roots = np.array([0.2, 0.1, 0.05**0.5])
    assert np.allclose(label_distribution(scores, 3, "token"), [roots / roots.sum()])
    roots = np.array([0.2 ** (1 / 4), 0.1 ** (1 / 5), 0.05 ** (1 / 8)])
    assert np.allclose(label_distribution(scores, 3, "byte"), [roots / roots.sum()])
    with pytest.raises(UsageError, match="choose one of none, token, byte"):
        label_distribution(scores, 3, "length")


def test_every_label_stands_in_every_place_equally_often():
    assert set(orders(3, None, 0)) == set(permutations(range(3)))
    for found in (orders(6, None, 1), orders(6, 12, 1)):
        for place in range(6):
            assert sorted(order[place] for order in found) == sorted(list(range(6)) * (len(found) // 6))
    assert len(set(orders(6, 12, 1))) == 12
    assert orders(6, 12, 1)[:6] == orders(6, 6, 1)
    with pytest.raises(UsageError, match="fewer than 3 orders of 2"):
        orders(2, 3, 0)


def run(tables, folder, out, *more):
    words = ["score", "--model", folder, "--items", tables / "items.parquet", "--labels", ",".join(LABELS), "--prompt",
             PROMPT, "--out", out, "--format", "json", "--quiet", *more]  # fmt: skip
    found = CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)
    return json.loads(found.stdout)


def test_a_table_with_everything_that_normalising_again_needs(tables, folder, tmp_path):
    said = run(tables, folder, tmp_path / "p.parquet")
    frame, meta = io.read_frame(tmp_path / "p.parquet")
    assert said["orders"] == 6
    assert len(frame) == 6 * 60
    logs = frame.select([f"logprob_{label}" for label in LABELS]).to_numpy()
    assert np.allclose(frame["label_mass"], np.exp(logs).sum(1))
    probs = frame.select([f"p_{label}" for label in LABELS]).to_numpy()
    assert np.allclose(probs, np.exp(logs) / np.exp(logs).sum(1, keepdims=True))
    assert frame["logprob_tokens_not old"].unique().to_list() == [2]
    assert frame["logprob_bytes_not old"].unique().to_list() == [8]  # with its blank
    assert len(meta.provenance["settings"]["template_sha256"]) == 64
    one = frame.filter((pl.col("item_id") == "q00") & (pl.col("member") == "0"))
    prompt = f"{tiny.texts(1)[0][0]} is red, blue, not old the"
    assert one["logprob_red"][0] == pytest.approx(by_hand(folder, prompt, " red")[0], abs=1e-4)


def test_orders_are_members_and_averaged_by_the_reader(tables, folder, tmp_path):
    run(tables, folder, tmp_path / "p.parquet")
    counts = pl.read_parquet(tables / "votes.parquet").rename(
        {f"n_{old}": f"n_{new}" for old, new in zip(tiny.NLI, LABELS, strict=True)}
    )
    counts.write_parquet(tmp_path / "votes.parquet")
    panel = read_panel(tmp_path / "votes.parquet", tmp_path / "p.parquet")
    frame, _ = io.read_frame(tmp_path / "p.parquet")
    mean = frame.group_by("item_id").agg(pl.col("p_blue").mean()).sort("item_id")["p_blue"].to_numpy()
    place = panel.votes.labels.index("blue")
    assert np.allclose(panel.probs[0][0, 0, :, place], mean, atol=1e-12)
    spread = frame.group_by("item_id").agg(pl.col("p_blue").std())["p_blue"]
    assert spread.min() > 0, "the order of the options must reach the model"


# 17: another engine of the same protocol
class FakeEngine:
    """What a vLLM engine returns with prompt_logprobs=0, computed with transformers: the prompt's own tokens only."""

    def __init__(self, folder, lose=None):
        import transformers

        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.lose = lose
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=64))

    def get_tokenizer(self):
        return self.tokenizer

    def generate(self, prompts, parameters, use_tqdm):
        import torch

        assert parameters == {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0}
        made = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"]
            with torch.no_grad():
                logs = self.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
            told = [{ids[i]: SimpleNamespace(logprob=float(logs[i - 1, ids[i]]))} for i in range(1, len(ids))]
            if self.lose is not None:
                told[-1].pop(self.lose, None)
            made.append(SimpleNamespace(prompt_logprobs=[None, *told]))
        return made


def test_the_vllm_backend_agrees_with_transformers(backend, folder):
    pairs = [(f"{a} is the", f" {label}") for a, _ in tiny.texts(5) for label in LABELS]
    other = VllmBackend(Source(str(folder)), engine=FakeEngine(folder), parameters=dict)
    expected, found = score(backend, pairs), score(other, pairs)
    assert np.abs(expected.logprob - found.logprob).max() < 1e-4
    assert found.n_tokens.tolist() == expected.n_tokens.tolist()


def test_a_token_that_the_engine_left_out_is_an_error_and_not_a_small_number(folder):
    engine = FakeEngine(folder)
    engine.lose = engine.tokenizer("red")["input_ids"][-1]
    other = VllmBackend(Source(str(folder)), engine=engine, parameters=dict)
    with pytest.raises(UsageError, match="did not return the log probability"):
        score(other, [("the dog is the", " red")])


def test_templates_are_checked(tables):
    items = read_items(tables / "items.parquet")
    with pytest.raises(UsageError, match=r"uses claim; it can use {premise}, {hypothesis}, {options}"):
        template("{claim}?", LABELS, None, items)
    with pytest.raises(UsageError, match="uses no text"):
        template("{options}?", LABELS, None, items)
    with pytest.raises(UsageError, match="words of its own"):
        template("{premise}", LABELS, {"red": "blue"}, items)
    with pytest.raises(UsageError, match="cannot be read"):
        template("{premise", LABELS, None, items)


def test_memory_that_does_not_suffice_loses_nothing(backend):
    import torch

    pairs = [(f"{a} is the", f" {label}") for a, _ in tiny.texts(8) for label in LABELS]
    expected = score(backend, pairs).logprob
    forward = backend.model.forward

    def small(**batch):
        if batch["input_ids"].numel() > 60:
            raise torch.OutOfMemoryError("no memory")
        return forward(**batch)

    backend.model.forward = small
    assert np.abs(score(backend, pairs).logprob - expected).max() < 1e-4


# answers drawn instead of probabilities read
def test_answers_have_the_probabilities_that_scoring_reads(backend):
    from inference.sampling import sample_counts

    prompts = ["the dog is the", "two cat runs is the"]
    n = 4000
    counts = sample_counts(backend, prompts, ("red", "blue"), n_samples=n, seed=3)
    # an answer begins with a label when its first token is that word: every token here is a word of its own
    expected = np.exp(score(backend, [(p, f" {w}") for p in prompts for w in ("red", "blue")]).logprob).reshape(2, 2)
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(counts / n - expected) < 4.5 * error).all()
    alone = sample_counts(backend, prompts[:1], ("red", "blue"), n_samples=n, seed=3)
    assert np.array_equal(alone[0], counts[0]), "other prompts do not matter"


def test_a_table_of_answers(tables, folder, tmp_path):
    run(tables, folder, tmp_path / "p.parquet", "--samples", "300", "--orders", "1")
    frame, _ = io.read_frame(tmp_path / "p.parquet")
    assert frame["method"].unique().to_list() == ["sampled_answers"]
    probs = frame.select([f"p_{label}" for label in LABELS]).to_numpy()
    assert np.allclose(probs.sum(1), 1)
    told = np.round(frame["label_mass"].to_numpy() * 300)
    assert np.allclose(probs * told[:, None], np.round(probs * told[:, None]), atol=1e-6)
