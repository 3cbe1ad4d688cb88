"""A small study that runs offline on a laptop: made-up sentences, votes with a known law, and a tiny untrained model.

Each sentence is a handful of words, and each word pulls its readers towards one answer; a few words divide them. So
the distribution of votes follows from the text, and a model that learns the words can learn it - from few votes badly,
from many better. The model is a BERT of two layers with random weights: it shows the way of a study, nothing more.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from saturation import files
from saturation.streams import Purpose, uniforms
from saturation.tables import io
from saturation.targets import draw_votes
from saturation.typing import Floats, Ints

LABELS = ("no", "maybe", "yes")
WORDS = (
    "never", "rarely", "hardly", "perhaps", "possibly", "sometimes", "often", "surely", "always", "rain", "sun", "wind",
    "snow", "today", "tomorrow", "here", "there", "cold", "warm", "soon",
)  # fmt: skip
_PULL = {
    "never": (3, 0, -2), "rarely": (2, 0.5, -1), "hardly": (1.5, 1, -1), "perhaps": (0, 2, 0),
    "possibly": (0, 1.5, 0.5), "sometimes": (0.7, 0.7, 0.7), "often": (-1, 0.5, 2), "surely": (-2, 0, 2.5),
    "always": (-2, 0, 3),
}  # fmt: skip
"""What a word adds to the log odds of each answer; the others say nothing."""
N_ITEMS = 600
N_VOTES = 30
STUDY = """# A small study: how many votes an item does this learner need?
subsample_seed = 0

[data]
votes = "votes.parquet"
items = "items.parquet"
split_names = [1, 2]
dev = 0.15
test = 0.25

[[models]]
name = "tiny"
source = "model"
mode = "whole"

[grid]
seeds = [0, 1, 2]
hard = {}
temperature = {}
smoothing = { strengths = [0.2] }
soft = { budgets = [1, 3, 10, 30] }

[recipe]
epochs = 12
batch_size = 32
learning_rate = 0.003
patience = 3
"""


def write_example(folder: Path) -> list[Path]:
    """Write items, votes, a model and a study file; returns what was written.

    Parameters
    ----------
    folder
        New or empty.
    """
    files.make_folder(folder)
    sentences = _sentences()
    counts = _votes(np.array([_law(sentence) for sentence in sentences]))
    ids = [f"s{i:03d}" for i in range(N_ITEMS)]
    import polars as pl

    items = pl.DataFrame({"item_id": ids, "text": [" ".join(words) for words in sentences]})
    votes = pl.DataFrame({"item_id": ids, **{f"n_{label}": counts[:, k] for k, label in enumerate(LABELS)}})
    io.write_table(folder / "items.parquet", items, table="items")
    io.write_table(folder / "votes.parquet", votes, table="vote_counts", labels=LABELS)
    _write_model(folder / "model")
    files.write_text(folder / "study.toml", STUDY)
    return [folder / name for name in ("items.parquet", "votes.parquet", "model", "study.toml")]


def _sentences() -> list[list[str]]:
    """Three to eight words each, the same every time."""
    drawn = uniforms(0, Purpose.SIMULATE, np.arange(N_ITEMS)[:, None], np.arange(9))
    sizes = 3 + (drawn[:, 0] * 6).astype(int)
    return [[WORDS[int(one * len(WORDS))] for one in row[1 : 1 + size]] for row, size in zip(drawn, sizes, strict=True)]


def _law(sentence: list[str]) -> Floats:
    """The distribution of votes on a sentence."""
    grown = np.exp(np.sum([_PULL.get(word, (0, 0, 0)) for word in sentence], axis=0) / 1.5)
    return np.asarray(grown / grown.sum())


def _votes(laws: Floats) -> Ints:
    """(items, labels) votes: drawn from a large crowd that answers exactly by the law."""
    crowd = np.floor(laws * 9_000).astype(np.int64)
    return draw_votes(crowd, (N_VOTES,), seed=0)[N_VOTES]


def _write_model(folder: Path) -> None:
    import torch
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    from inference.checkpoints import quiet

    quiet()
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    made = Tokenizer(WordLevel({word: i for i, word in enumerate((*special, *WORDS))}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=32,
    )  # fmt: skip
    config = transformers.BertConfig(
        vocab_size=len(special) + len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(LABELS), id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)}, pad_token_id=0, type_vocab_size=1,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
