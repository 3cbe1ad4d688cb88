"""Tiny real models made on the spot: library classes with random weights, and a tokenizer of whole words."""

from __future__ import annotations

from pathlib import Path

NLI = ("entailment", "neutral", "contradiction")
WORDS = (
    "a", "the", "dog", "cat", "man", "woman", "sits", "runs", "on", "in", "park", "house", "red", "blue", "two",
    "three", "is", "not", "old", "young", "near", "far",
)  # fmt: skip


def texts(n: int) -> list[tuple[str, str]]:
    """Pairs of 3 to 20 words, different lengths, the same every time."""
    pick = lambda i, size: " ".join(WORDS[(i * 7 + j * (i % 5 + 1)) % len(WORDS)] for j in range(size))  # noqa: E731
    return [(pick(i, 3 + i % 14), pick(i + 1, 3 + i % 5)) for i in range(n)]


def tokenizer(kind: str = "pair"):
    """A WordLevel tokenizer; ``pair`` marks the second text, ``causal`` has no padding token."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: i for i, word in enumerate([*special, *WORDS])}
    made = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    if kind == "causal":
        return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", eos_token="[SEP]", model_max_length=64)
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = ["input_ids", "token_type_ids", "attention_mask"] if kind == "pair" else ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_input_names=names, model_max_length=64,
    )  # fmt: skip


def _config(kind: str, labels: tuple[str, ...]):
    import transformers as t

    names = dict(enumerate(labels))
    shared = {"vocab_size": len(WORDS) + 4, "num_labels": len(labels), "id2label": names,
              "label2id": {name: i for i, name in names.items()}, "pad_token_id": 0,
              "initializer_range": 0.3}  # fmt: skip
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    if kind == "bert":
        return t.BertConfig(**shared, **small, max_position_embeddings=64)
    if kind == "deberta":
        return t.DebertaV2Config(**shared, **small, max_position_embeddings=64, type_vocab_size=0,
                                 relative_attention=True, pos_att_type=["p2c", "c2p"])  # fmt: skip
    if kind == "gpt2":
        shared["pad_token_id"] = None
        return t.GPT2Config(**shared, n_embd=32, n_layer=2, n_head=2, n_positions=64, eos_token_id=3, bos_token_id=3)
    shared["pad_token_id"] = None
    return t.LlamaConfig(**shared, **small, max_position_embeddings=64, eos_token_id=3, bos_token_id=3)


_CLASSES = {"bert": "Bert", "deberta": "DebertaV2", "gpt2": "GPT2", "llama": "Llama"}


def classifier(folder: Path, kind: str = "bert", labels: tuple[str, ...] = NLI, seed: int = 0):
    """Save a classifier with random weights, large ones, so that its outputs differ between items."""
    import torch
    import transformers

    torch.manual_seed(seed)
    model = getattr(transformers, f"{_CLASSES[kind]}ForSequenceClassification")(_config(kind, labels))
    model.save_pretrained(folder)
    tokenizer("causal" if kind in ("gpt2", "llama") else "pair").save_pretrained(folder)
    return folder


def language_model(folder: Path, kind: str = "gpt2", seed: int = 0):
    """Save a causal language model with random weights."""
    import torch
    import transformers

    torch.manual_seed(seed)
    name = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}[kind]
    getattr(transformers, name)(_config(kind, NLI)).save_pretrained(folder)
    tokenizer("causal").save_pretrained(folder)
    return folder
