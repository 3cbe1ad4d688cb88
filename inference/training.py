"""One training run: soft cross-entropy, AdamW, early stopping on the development items' votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from inference.batching import shuffled
from inference.losses import soft_cross_entropy
from inference.outputs import softmax
from inference.recipe import Recipe
from saturation.errors import UsageError
from saturation.typing import Floats, Ints

_CONSTANT = 1e-7
"""Development probabilities that spread less than this over items come from a model that has collapsed."""


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """What is trained: anything that turns rows of items into logits.

    Attributes
    ----------
    module
        Holds the parameters.
    forward
        Rows of items -> (rows, labels) tensor of logits, with gradients.
    lengths
        (items,) how long each item is; items of similar length are trained together.
    """

    module: Any
    forward: Callable[[Ints], Any]
    lengths: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What one epoch teaches: rows of items (repeated where each vote is a lesson) and a distribution each."""

    rows: Ints
    targets: Floats


@dataclass(frozen=True, slots=True)
class History:
    """What happened.

    Attributes
    ----------
    dev_losses
        Soft cross-entropy of the development items after each epoch, nats.
    best_epoch
        The epoch (from 0) whose weights were kept.
    steps
        Optimiser steps.
    micro_batch
        Items that fitted into memory at once at the end.
    """

    dev_losses: tuple[float, ...]
    best_epoch: int
    steps: int
    micro_batch: int

    @property
    def loss(self) -> float:
        """Development loss of the weights that were kept."""
        return self.dev_losses[self.best_epoch]


def fit(
    learner: Learner,
    lessons: Callable[[int], Lessons],
    dev: Lessons,
    recipe: Recipe,
    *,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
    step_done: Callable[[int], None] = lambda tokens: None,
) -> History:
    """Train in place; the module ends in evaluation mode with the weights of the best epoch.

    Parameters
    ----------
    learner
        Built already (after its own seed was set).
    lessons
        Epoch -> what it teaches.
    dev
        Development items and their votes' distributions; their loss decides when to stop, whatever the targets are.
    recipe
        Hyper-parameters.
    seed
        Of the order of items and of dropout.
    say, step_done
        Where remarks go, and what is told how many tokens were done.

    Raises
    ------
    UsageError
        When the loss is not finite, or the trained model says the same about every item.
    """
    import torch

    torch.manual_seed(seed)
    per_epoch = math.ceil(len(lessons(0).rows) / recipe.batch_size)
    optimiser = _optimiser(learner.module, recipe)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, _rate(recipe, per_epoch * recipe.epochs))
    losses: list[float] = []
    best: tuple[int, Any] = (-1, None)
    micro, steps = recipe.batch_size, 0
    for epoch in range(recipe.epochs):
        taught = lessons(epoch)
        learner.module.train()
        for places in shuffled(learner.lengths[taught.rows], recipe.batch_size, seed=seed, epoch=epoch):
            rows = taught.rows[places]
            micro = _backward(learner, rows, taught.targets[places], micro, recipe.precision, say)
            torch.nn.utils.clip_grad_norm_(learner.module.parameters(), recipe.max_grad_norm, error_if_nonfinite=False)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
            steps += 1
            step_done(int(learner.lengths[rows].sum()))
        losses.append(dev_loss(learner, dev, micro))
        if not math.isfinite(losses[-1]):
            raise UsageError(
                f"the development loss is not finite after epoch {epoch + 1}: "
                "lower learning_rate, or use precision float32"
            )
        if recipe.patience is None:
            best = (epoch, None)
        elif losses[-1] < min(losses[:-1], default=math.inf):
            best = (epoch, _copy(learner.module))
        elif epoch - best[0] >= recipe.patience:
            break
    if best[1] is not None:
        learner.module.load_state_dict(best[1])
    learner.module.eval()
    _refuse_constant(learner, dev, micro)
    return History(tuple(losses), best[0], steps, micro)


def logits_of(learner: Learner, rows: Ints, size: int = 256) -> Floats:
    """(rows, labels) float32 logits in evaluation mode, no gradients."""
    import torch

    learner.module.eval()
    order = np.argsort(-learner.lengths[rows], kind="stable")
    out: Any = None
    with torch.inference_mode():
        for start in range(0, len(rows), size):
            places = order[start : start + size]
            found = learner.forward(rows[places]).float().cpu().numpy()
            out = np.zeros((len(rows), found.shape[1]), dtype=np.float32) if out is None else out
            out[places] = found
    return np.asarray(out)


def dev_loss(learner: Learner, dev: Lessons, size: int = 256) -> float:
    """Soft cross-entropy of the development items, mean over items, nats."""
    logits = logits_of(learner, dev.rows, size).astype(np.float64)
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(-(dev.targets * logs).sum(axis=1).mean())


def _backward(  # noqa: PLR0917
    learner: Learner, rows: Ints, targets: Floats, micro: int, precision: str, say: Callable[[str], None]
) -> int:
    """Gradients of one batch, in parts that fit into memory; the batch as a whole stays what it is."""
    import torch

    while True:
        try:
            for part in _parts(len(rows), micro):
                with torch.autocast(device_of(learner).type, dtype=torch.bfloat16, enabled=precision == "bf16"):
                    logits = learner.forward(rows[part])
                wanted = torch.as_tensor(targets[part], dtype=torch.float32, device=logits.device)
                (soft_cross_entropy(logits, wanted, reduction="sum") / len(rows)).backward()
        except torch.OutOfMemoryError:
            if micro == 1:
                raise
            learner.module.zero_grad(set_to_none=True)
            micro = min(micro, len(rows)) // 2 or 1
            say(f"not enough memory: {micro} items at once from here on, the batch stays the same")
        else:
            return micro


def _parts(size: int, micro: int) -> Iterator[slice]:
    return (slice(start, start + micro) for start in range(0, size, micro))


def _optimiser(module: Any, recipe: Recipe) -> Any:
    import torch

    trained = [(name, weight) for name, weight in module.named_parameters() if weight.requires_grad]
    plain = [weight for name, weight in trained if weight.dim() < 2]
    decaying = [weight for name, weight in trained if weight.dim() >= 2]
    groups = [{"params": decaying, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)


def _rate(recipe: Recipe, total: int) -> Callable[[int], float]:
    rising = max(1, round(recipe.warmup * total))

    def factor(step: int) -> float:
        if step < rising and recipe.warmup > 0:
            return (step + 1) / rising
        return max(0.0, (total - step) / max(1, total - (rising if recipe.warmup > 0 else 0)))

    return factor


def device_of(learner: Learner) -> Any:
    """Where its weights are."""
    return next(learner.module.parameters()).device


def _copy(module: Any) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def _refuse_constant(learner: Learner, dev: Lessons, size: int) -> None:
    probs = softmax(logits_of(learner, dev.rows, size))
    if len(probs) > 1 and np.ptp(probs, axis=0).max() < _CONSTANT:
        raise UsageError(
            "the trained model says the same about every development item: training collapsed; "
            "lower learning_rate, raise warmup, or use precision float32"
        )
