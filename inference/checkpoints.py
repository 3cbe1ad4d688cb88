"""A model and its tokenizer from a folder or a hub: loaded the same way every time, and checked before use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.machine import device_of
from saturation import files
from saturation.errors import UsageError

if TYPE_CHECKING:
    import torch

_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "longformer", "mpnet")
"""Models whose first two positions are taken, so that they read two tokens less than they have positions."""
_UNLIMITED = 1_000_000
_HELP_TOKENIZER = (
    "DeBERTa and other sentencepiece tokenizers need the packages sentencepiece and protobuf "
    "(pip install 'annotation-saturation[inference]')"
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model comes from: a folder, or a name on a hub with the revision.

    Examples
    --------
    >>> Source.parse("roberta-large-mnli@2a8f12d")
    Source(name='roberta-large-mnli', revision='2a8f12d')
    """

    name: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> Source:
        """``folder``, ``name`` or ``name@revision``."""
        if Path(text).is_dir():
            return cls(text)
        name, _, revision = text.partition("@")
        if text.startswith((".", "/", "~")) or not name:
            raise UsageError(f"there is no folder {text} to load a model from")
        return cls(name, revision or None)

    @property
    def folder(self) -> Path | None:
        """The folder, None for a name on a hub."""
        return Path(self.name) if Path(self.name).is_dir() else None


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model ready to run.

    Attributes
    ----------
    model, tokenizer
        On ``device``, float32, in evaluation mode.
    max_length
        Tokens that the model can read.
    head
        Output index -> name of the label, as the model says it.
    about
        What provenance says: name, revision, hashes, architecture.
    """

    model: Any
    tokenizer: Any
    device: torch.device
    max_length: int
    head: Mapping[int, str]
    about: Mapping[str, Any]


def load_classifier(
    source: Source,
    *,
    device: str = "auto",
    labels: Sequence[str] | None = None,
    init_seed: int | None = None,
    trust_remote_code: bool = False,
) -> Checkpoint:
    """A sequence classifier, in float32 whatever the checkpoint was saved in.

    Parameters
    ----------
    source
        Folder or hub name; a folder is never looked up on a network.
    device
        ``auto``, ``cpu``, ``cuda``, ``cuda:1``.
    labels
        Start a new head for these labels; None: the head that was saved.
    init_seed
        Seed of the new head, set before it is built.
    trust_remote_code
        Whether code that comes with the model may run.

    Raises
    ------
    UsageError
        When model or tokenizer cannot be loaded: no such name, no network, no safetensors, a missing package.
    """
    import torch
    import transformers

    quiet()
    place = device_of(device)
    shared: dict[str, Any] = {"revision": source.revision, "trust_remote_code": trust_remote_code}
    if source.folder is not None:
        shared["local_files_only"] = True
    new_head: dict[str, Any] = {}
    if labels is not None:
        names = dict(enumerate(labels))
        new_head = {
            "num_labels": len(names), "id2label": names, "label2id": {name: i for i, name in names.items()},
            "ignore_mismatched_sizes": True,
        }  # fmt: skip
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.name, **shared)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            source.name, dtype=torch.float32, use_safetensors=True, **shared, **new_head
        )
    except (OSError, ImportError, ValueError) as error:  # everything that transformers says about a bad source
        raise UsageError(
            f"cannot load the model {source.name}: {_first_line(error)}. {_advice(error, source)}"
        ) from error
    if labels is not None:
        _renew_head(model, init_seed or 0)
    settle_padding(model, tokenizer)
    return Checkpoint(
        model=model.to(place).eval(),
        tokenizer=tokenizer,
        device=place,
        max_length=longest(model.config, tokenizer),
        head={int(index): str(name) for index, name in model.config.id2label.items()},
        about=describe(source, model, tokenizer),
    )


def _renew_head(model: Any, seed: int) -> None:
    """Put freshly drawn weights wherever the model is more than its encoder.

    The library draws new weights only where shapes differ, so a head saved for as many labels would stay; and it draws
    them from whatever state the random numbers are in.
    """
    import torch

    torch.manual_seed(seed)
    fresh = type(model)(model.config)
    for name, child in model.named_children():
        if name != model.base_model_prefix:
            child.load_state_dict(getattr(fresh, name).state_dict())


def settle_padding(model: Any, tokenizer: Any) -> None:
    """Give model and tokenizer the same padding token, the end of the text where there is none.

    Raises
    ------
    UsageError
        When there is neither.
    """
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            raise UsageError("the tokenizer has neither a padding token nor an end of text to pad with")
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id


def longest(config: Any, tokenizer: Any) -> int:
    """How many tokens a model can read: the smaller of what it and its tokenizer say."""
    positions = getattr(config, "max_position_embeddings", None) or _UNLIMITED
    if config.model_type in _OFFSET_POSITIONS:
        positions -= 2
    said = tokenizer.model_max_length if tokenizer.model_max_length < _UNLIMITED else _UNLIMITED
    found = min(int(positions), int(said))
    if found >= _UNLIMITED:
        raise UsageError("neither the model nor its tokenizer says how many tokens it can read: give --max-length")
    return found


def describe(source: Source, model: Any, tokenizer: Any) -> dict[str, Any]:
    """What identifies a model: hashes of a folder's weights and configuration, or the commit on a hub."""
    about: dict[str, Any] = {
        "name": source.name if source.folder is None else source.folder.resolve().name,
        "architecture": type(model).__name__,
        "dtype": str(model.dtype).removeprefix("torch."),
        "attention": getattr(model.config, "_attn_implementation", None),
        "tokenizer": type(tokenizer).__name__,
        "tokenizer_sha256": tokenizer_hash(tokenizer),
    }
    if source.folder is not None:
        return about | {"weights_sha256": weights_hash(source.folder)}
    return about | {"revision": getattr(model.config, "_commit_hash", None) or source.revision}


def weights_hash(folder: Path) -> str:
    """One hash of all safetensors files of a folder, by name and content, and of the configuration."""
    parts = sorted([*folder.glob("*.safetensors"), *folder.glob("config.json")])
    listed = [[part.name, files.sha256(part)] for part in parts]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def tokenizer_hash(tokenizer: Any) -> str:
    """A hash of what a tokenizer does: its whole vocabulary and pipeline, or its vocabulary where it shows no more."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else json.dumps(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(text.encode()).hexdigest()


def quiet() -> None:
    """No progress bars and advice from the library: what matters is checked and said here."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _advice(error: BaseException, source: Source) -> str:
    text = str(error).casefold()
    if "sentencepiece" in text or "tiktoken" in text or "protobuf" in text:
        return _HELP_TOKENIZER
    if "safetensors" in text and source.folder is not None:
        return "only safetensors are read: save the model again with save_pretrained"
    if "trust_remote_code" in text:
        return "it comes with code of its own: read it, and pass --trust-remote-code if you trust it"
    return (
        "give a folder with config.json, tokenizer.json and *.safetensors, or NAME@REVISION where a hub can be reached"
    )
