"""What can be trained: a whole classifier, or a small head over features computed once."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from inference.batching import TOKEN_BUDGET, Encoded, by_length, encode, pad
from inference.checkpoints import Checkpoint
from inference.items import Items
from inference.progress import Progress
from inference.recipe import Recipe
from inference.training import Learner
from saturation import files
from saturation.typing import Floats, Ints


def whole_model(checkpoint: Checkpoint, encoded: Encoded, recipe: Recipe) -> Learner:
    """The classifier with all its weights (less the embedding table where the recipe freezes it)."""
    if recipe.freeze == "embeddings":
        for weight in checkpoint.model.base_model.get_input_embeddings().parameters():
            weight.requires_grad = False

    def forward(rows: Ints) -> Any:
        batch = pad(checkpoint.tokenizer, [encoded.inputs[row] for row in rows]).to(checkpoint.device)
        return checkpoint.model(**batch).logits

    return Learner(checkpoint.model, forward, encoded.lengths)


def head(features: Floats, train: Ints, n_labels: int, recipe: Recipe, *, init_seed: int) -> Learner:
    """A perceptron with one hidden layer over frozen features, scaled by the training items' mean and spread.

    Parameters
    ----------
    features
        (items, features) float32.
    train
        Rows of the training items; the only ones that scaling looks at.
    n_labels
        Outputs.
    recipe
        ``hidden`` and ``dropout``.
    init_seed
        Set before the head is built.
    """
    import torch

    mean, spread = features[train].mean(axis=0), features[train].std(axis=0)
    scaled = torch.as_tensor((features - mean) / np.where(spread > 0, spread, 1.0), dtype=torch.float32)
    torch.manual_seed(init_seed)
    module = torch.nn.Sequential(
        torch.nn.Linear(features.shape[1], recipe.hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(recipe.dropout),
        torch.nn.Linear(recipe.hidden, n_labels),
    )
    return Learner(module, lambda rows: module(scaled[torch.as_tensor(rows)]), np.ones(len(features), dtype=np.int64))


def encoder_features(checkpoint: Checkpoint, items: Items, max_length: int | None, *, quiet: bool = True) -> Floats:
    """Features of items from a frozen encoder: of a text its mean token vector, of a pair [u, v, abs(u - v), u v].

    Returns
    -------
    (items, features) float32.
    """
    limit = min(max_length or checkpoint.max_length, checkpoint.max_length)
    columns = [[(text[place],) for text in items.texts] for place in range(len(items.columns))]
    vectors = [_means(checkpoint, encode(checkpoint.tokenizer, items.ids, one, limit), quiet=quiet) for one in columns]
    if len(vectors) == 1:
        return vectors[0]
    u, v = vectors
    return np.concatenate([u, v, np.abs(u - v), u * v], axis=1)


def cached_features(path: Path, make: Any) -> Floats:
    """Features from a file, made and written first where it is not there."""
    if not path.is_file():
        files.make_folder(path.parent)
        content = BytesIO()
        np.save(content, make(), allow_pickle=False)
        files.write_bytes(path, content.getvalue())
    return np.asarray(np.load(path, allow_pickle=False))


def _means(checkpoint: Checkpoint, encoded: Encoded, *, quiet: bool) -> Floats:
    """(items, width) mean of the last layer over the tokens of an item."""
    import torch

    encoder = checkpoint.model.base_model.eval()
    lengths = encoded.lengths
    out: Any = None
    with Progress("encoding", int(lengths.sum()), quiet=quiet) as progress, torch.inference_mode():
        for rows in by_length(lengths, TOKEN_BUDGET.get(checkpoint.device.type, TOKEN_BUDGET["cpu"])):
            batch = pad(checkpoint.tokenizer, [encoded.inputs[row] for row in rows]).to(checkpoint.device)
            hidden = encoder(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
            found = ((hidden * mask).sum(1) / mask.sum(1)).float().cpu().numpy()
            out = np.zeros((len(lengths), found.shape[1]), dtype=np.float32) if out is None else out
            out[rows] = found
            progress.advance(int(lengths[rows].sum()))
    return np.asarray(out)
