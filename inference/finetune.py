"""Train one run and predict its development and test items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from inference import outputs
from inference.batching import Encoded, encode
from inference.checkpoints import Checkpoint, Source, load_classifier
from inference.labels import match
from inference.learners import head, whole_model
from inference.lessons import fixed_targets, lessons, votes_of
from inference.machine import exact_arithmetic
from inference.material import Material, Parts
from inference.recipe import Recipe
from inference.runs import Run
from inference.training import History, Learner, Lessons, device_of, fit, logits_of
from saturation import calibration, targets
from saturation.typing import Floats, Ints, TieRule

if TYPE_CHECKING:
    import polars as pl

Say = Callable[[str], None]


class Maker(Protocol):
    """Builds the learner of a run; what it is built from is read once."""

    def learner(self, run: Run, parts: Parts, labels: tuple[str, ...], recipe: Recipe) -> Learner:
        """A fresh learner: its seed is set before it is built."""

    @property
    def encoded(self) -> Encoded | None:
        """Where numbers of tokens come from."""


@dataclass(frozen=True, slots=True, eq=False)
class FrozenEncoder:
    """A head over features of all items of the material, (items, features)."""

    features: Floats
    encoded: Encoded | None = None

    def learner(self, run: Run, parts: Parts, labels: tuple[str, ...], recipe: Recipe) -> Learner:
        """A new head with the run's seed."""
        return head(self.features, parts.train, len(labels), recipe, init_seed=run.seed)


class WholeModel:
    """A classifier that is trained as a whole.

    Parameters
    ----------
    source, device, trust_remote_code
        As in ``load_classifier``.
    saved_head
        Keep the head that the model came with (matched to the labels by name) instead of a new one.
    label_map
        Names that differ.
    """

    def __init__(
        self,
        source: Source,
        material: Material,
        recipe: Recipe,
        *,
        device: str = "auto",
        saved_head: bool = False,
        label_map: Mapping[str, str] | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        self.source = source
        self.device = device
        self.saved_head = saved_head
        self.label_map = label_map
        self.trust_remote_code = trust_remote_code
        self.about: Mapping[str, Any] = {}
        first = self.checkpoint(material.labels, 0)
        self.about = first.about
        limit = min(recipe.max_length or first.max_length, first.max_length)
        self._encoded = encode(first.tokenizer, material.items.ids, material.items.texts, limit)
        self.last: Checkpoint | None = None

    @property
    def encoded(self) -> Encoded:
        """All items of the material as tokens."""
        return self._encoded

    def checkpoint(self, labels: tuple[str, ...], seed: int) -> Checkpoint:
        """The model as it is before training."""
        return load_classifier(
            self.source,
            device=self.device,
            labels=None if self.saved_head else labels,
            init_seed=seed,
            trust_remote_code=self.trust_remote_code,
        )

    def learner(self, run: Run, parts: Parts, labels: tuple[str, ...], recipe: Recipe) -> Learner:
        """The model with the run's head."""
        self.last = self.checkpoint(labels, run.seed)
        made = whole_model(self.last, self._encoded, recipe)
        if not self.saved_head:
            return made
        order = match(self.last.head, labels, self.label_map)
        return Learner(made.module, lambda rows: made.forward(rows)[:, order], made.lengths)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a run gives.

    Attributes
    ----------
    rows
        Predictions of development and test items: one frame a condition.
    record
        What happened, for provenance: losses, best epoch, temperature.
    """

    rows: tuple[pl.DataFrame, ...]
    record: Mapping[str, Any]


def train(
    run: Run,
    material: Material,
    maker: Maker,
    recipe: Recipe,
    *,
    candidates: Sequence[Recipe] = (),
    ties: TieRule = "share",
    say: Say = lambda text: None,
    step_done: Callable[[int], None] = lambda tokens: None,
) -> Trained:
    """Train a run and predict the items that it was not trained on.

    Parameters
    ----------
    run, material, maker, recipe
        What is trained, on what, how.
    candidates
        Recipes to choose from by the development loss, for every run anew; none: ``recipe``.
    ties
        Of hard labels.
    say, step_done
        As in ``training.fit``.

    Raises
    ------
    UsageError
        When training fails (see ``training.fit``), or targets cannot be built.
    """
    parts = material.splits[run.split]
    counts = material.counts[parts.train]
    told = np.concatenate([parts.dev, parts.test])
    where = ["dev"] * len(parts.dev) + ["test"] * len(parts.test)
    if run.method == "base_rate":
        rate = fixed_targets(run, votes_of(run, counts), ties)[0]
        probs = np.tile(rate, (len(told), 1))
        return Trained((_rows(run.columns, material, maker, told, where, probs, None),), {"base_rate": rate.tolist()})
    dev = Lessons(parts.dev, targets.soft(material.counts[parts.dev]))
    taught = lessons(run, parts.train, counts, ties, material.soft)
    tried: list[tuple[Recipe, History, Floats]] = []
    for candidate in candidates or (recipe,):
        learner = maker.learner(run, parts, material.labels, candidate)
        with exact_arithmetic(candidate.precision, device_of(learner).type):
            history = fit(learner, taught, dev, candidate, seed=run.seed, say=say, step_done=step_done)
            tried.append((candidate, history, logits_of(learner, told)))
    used, history, logits = min(tried, key=lambda one: one[1].loss)  # the first of those that tie
    record: dict[str, Any] = {
        "dev_losses": history.dev_losses, "best_epoch": history.best_epoch, "steps": history.steps,
        "micro_batch": history.micro_batch,
    }  # fmt: skip
    if len(tried) > 1:
        record["tuned"] = {"recipe": asdict(used), "dev_losses": [one.loss for _, one, _ in tried]}
    frames = [_rows(run.columns, material, maker, told, where, outputs.softmax(logits), logits)]
    if run.with_temperature:
        cooled, fitted = _temperature(logits, dev.targets, len(parts.dev))
        record["temperature"] = fitted
        columns = {**run.columns, "method": "temperature", "fitted_temperature": fitted["value"]}
        frames.append(_rows(columns, material, maker, told, where, outputs.softmax(cooled), cooled))
    return Trained(tuple(frames), record)


def _temperature(logits: Floats, dev_targets: Floats, n_dev: int) -> tuple[Floats, dict[str, Any]]:
    """Logits divided by the temperature that fits the development items' votes best."""
    fitted = calibration.fit_temperature(logits[:n_dev].astype(np.float64), dev_targets)
    value = 1.0 if fitted.value is None else fitted.value
    told = {"value": value, "reason": fitted.reason, "dev_loss": [fitted.loss_before, fitted.loss_after]}
    return logits / np.float32(value), told


def _rows(  # noqa: PLR0917
    columns: Mapping[str, Any],
    material: Material,
    maker: Maker,
    told: Ints,
    where: list[str],
    probs: Floats,
    logits: Floats | None,
) -> pl.DataFrame:
    ids = [material.items.ids[row] for row in told]
    encoded = None if maker.encoded is None else maker.encoded.take(told)
    return outputs.rows(encoded, ids, material.labels, probs, logits, columns={**columns, "part": where})
