"""The work of a study: parts made one by one, each whole or not at all; workers share a folder and never a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference import outputs, provenance
from inference.checkpoints import Source, load_classifier
from inference.finetune import FrozenEncoder, Maker, WholeModel, train
from inference.items import read_items
from inference.learners import cached_features, encoder_features
from inference.machine import device_name, device_of
from inference.material import Material, material, random_splits, read_splits, with_soft_votes
from inference.progress import Progress
from inference.runs import Run, key
from inference.study_file import Model, Study
from saturation import files
from saturation.errors import UsageError
from saturation.tables import io
from saturation.tables.door import read_votes
from saturation.tables.soft_votes import read_soft_votes

if TYPE_CHECKING:
    import polars as pl

Say = Callable[[str], None]
PREDICTIONS = "predictions.parquet"
HELD_OUT = "votes.parquet"


@dataclass(frozen=True, slots=True)
class Shard:
    """Every ``of``-th run, beginning with ``index`` (from 0).

    Examples
    --------
    >>> list(Shard(1, 3).take(range(7)))
    [1, 4]
    """

    index: int = 0
    of: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.of:
            raise UsageError(f"shard {self.index}/{self.of}: the first number is from 0 to below the second")

    def take(self, runs: Sequence[Any]) -> Sequence[Any]:
        """Its share."""
        return runs[self.index :: self.of]


class Workshop:
    """A study with its data and models at hand, and the folder that its parts go to.

    Parameters
    ----------
    study
        As read.
    out
        The folder; made when the first part is written.
    device
        For whole models and features.
    trust_remote_code, quiet
        As in ``load_classifier``; whether progress is shown.
    """

    def __init__(
        self, study: Study, out: Path, *, device: str = "auto", trust_remote_code: bool = False, quiet: bool = True
    ) -> None:
        self.study = study
        self.out = out
        self.device = device
        self.trust_remote_code = trust_remote_code
        self.quiet = quiet
        self._makers: dict[str, Maker] = {}
        self._about: dict[str, dict[str, Any]] = {}

    @cached_property
    def material(self) -> Material:
        """Items, votes and splits, joined."""
        data = self.study.data
        joined = material(
            read_items(data.items, data.text), read_votes(data.votes), None, heldout=data.heldout,
            seed=self.study.subsample_seed,
        )  # fmt: skip
        if data.soft is not None:
            joined = with_soft_votes(joined, read_soft_votes(data.soft))
        if data.splits is None:
            splits = random_splits(len(joined.items.ids), data.split_names, dev=data.dev, test=data.test)
        else:
            splits = read_splits(data.splits, joined.items.ids, data.split_names or None)
        return replace(joined, splits=splits)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs of the study, in the order in which they are done."""
        data = replace(self.study.data, split_names=tuple(self.material.splits))
        return replace(self.study, data=data).runs(len(self.material.labels))

    @cached_property
    def keys(self) -> dict[Run, str]:
        """Each run's part, by everything that determines it."""
        digests = {split: self.material.digest(split) for split in self.material.splits}
        models = {model.name: model for model in self.study.models}
        shared = {
            "recipes": [asdict(one) for one in self.study.recipes],
            "ties": self.study.ties,
            "device": device_of(self.device).type,
        }
        return {
            run: key(run, data=digests[run.split], model=self.about(models[run.model]), **shared) for run in self.runs
        }

    def part(self, run: Run) -> Path:
        """Where a run's predictions are."""
        return self.out / "parts" / f"{self.keys[run]}.parquet"

    def about(self, model: Model) -> dict[str, Any]:
        """What identifies a model, with how it is trained."""
        if model.name not in self._about:
            loaded = load_classifier(
                Source.parse(model.source), device="cpu", labels=None if model.saved_head else self.material.labels,
                init_seed=0, trust_remote_code=self.trust_remote_code,
            )  # fmt: skip
            own = {"mode": model.mode, "saved_head": model.saved_head, "label_map": dict(model.label_map)}
            self._about[model.name] = {**loaded.about, **own}
        return self._about[model.name]

    def maker(self, model: Model) -> Maker:
        """What builds the learners of a model; made once."""
        if model.name not in self._makers:
            self._makers[model.name] = self._frozen(model) if model.mode == "frozen" else self._whole(model)
        return self._makers[model.name]

    def _whole(self, model: Model) -> Maker:
        return WholeModel(
            Source.parse(model.source), self.material, self.study.recipe, device=self.device,
            saved_head=model.saved_head, label_map=model.label_map, trust_remote_code=self.trust_remote_code,
        )  # fmt: skip

    def _frozen(self, model: Model) -> Maker:
        items = self.material.items
        told = json.dumps([self.about(model), items.ids, items.texts, self.study.recipe.max_length], sort_keys=True)
        name = key(Run(model.name, "", 0, "features"), told=told)

        def make() -> Any:
            loaded = load_classifier(
                Source.parse(model.source), device=self.device, labels=self.material.labels, init_seed=0,
                trust_remote_code=self.trust_remote_code,
            )  # fmt: skip
            return encoder_features(loaded, items, self.study.recipe.max_length, quiet=self.quiet)

        folder = files.make_folder(self.out / "features")
        with files.claimed(folder / f"{name}.lock", wait=True):
            return FrozenEncoder(cached_features(folder / f"{name}.npy", make))


def work(shop: Workshop, shard: Shard = Shard(), *, say: Say = lambda text: None, quiet: bool = True) -> int:
    """Do the runs of a shard that nobody has done; returns how many this worker did.

    A run that another worker is at is passed over; at the end those are looked at once more, and done here if that
    worker has died.
    """
    files.make_folder(shop.out / "parts")
    files.make_folder(shop.out / "locks")
    mine = shard.take(shop.runs)
    models = {model.name: model for model in shop.study.models}
    done = 0
    with Progress("training", len(mine), quiet=quiet) as progress:
        for wait in (False, True):
            for run in mine:
                with files.claimed(shop.out / "locks" / shop.keys[run], wait=wait) as claimed:
                    if not claimed or shop.part(run).is_file():
                        continue
                    _do(shop, run, models[run.model], say)
                done += 1
                progress.advance(1)
    return done


def _do(shop: Workshop, run: Run, model: Model, say: Say) -> None:
    try:
        made = train(
            run, shop.material, shop.maker(model), shop.study.recipe, candidates=shop.study.recipes,
            ties=shop.study.ties, say=say,
        )  # fmt: skip
    except UsageError as error:
        raise UsageError(f"{run}: {error.message}") from error
    story = provenance.of_run(
        "study", (), shop.about(model), run=asdict(run), key=shop.keys[run], record=dict(made.record),
        recipe=asdict(shop.study.recipe), device=device_name(device_of(shop.device)),
    )  # fmt: skip
    outputs.write(shop.part(run), list(made.rows), shop.material.labels, story)


def merge(shop: Workshop) -> Path:
    """All parts as one predictions table, after proving that every expected row is there exactly once.

    Raises
    ------
    UsageError
        When runs are missing, or a part does not hold what it must; the message lists them.
    """
    import polars as pl

    missing = [run for run in shop.runs if not shop.part(run).is_file()]
    if missing:
        shown = "".join(f"\n- {run}" for run in missing[:10])
        raise UsageError(f"{len(missing)} of {len(shop.runs)} runs are missing; run again:{shown}")
    frames, problems, temperatures = [], [], {}
    for run in shop.runs:
        frame, meta = io.read_frame(shop.part(run))
        problems += _wrong_rows(shop, run, frame)
        frames.append(frame)
        if run.with_temperature and meta is not None:
            temperatures[str(run)] = meta.provenance["settings"]["record"]["temperature"]
    if problems:
        raise UsageError("parts do not hold what they must; delete them and run again:\n" + "\n".join(problems[:20]))
    first = shop.study.models[0]
    about = [shop.about(model) for model in shop.study.models]
    story = provenance.of_run(
        "study", (), shop.about(first) if len(about) == 1 else {"models": about}, recipe=asdict(shop.study.recipe),
        runs=len(shop.runs), seeds=list(shop.study.seeds), draws=shop.study.draws, ties=shop.study.ties,
        subsample_seed=shop.study.subsample_seed, heldout=shop.study.data.heldout,
        temperatures=temperatures,
    )  # fmt: skip
    columns = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    whole = pl.concat(frames, how="diagonal").select(columns)
    if shop.material.held_out is not None:
        _write_pools(shop)
    return outputs.write(shop.out / PREDICTIONS, [whole], shop.material.labels, story)


def _wrong_rows(shop: Workshop, run: Run, frame: pl.DataFrame) -> list[str]:
    """What is missing from a part, or double, or does not belong."""
    parts = shop.material.splits[run.split]
    expected = {(shop.material.items.ids[row], part) for part in ("dev", "test") for row in getattr(parts, part)}
    conditions = [run.method, *(["temperature"] if run.with_temperature else [])]
    wrong = []
    for method in conditions:
        own = frame.filter(frame["method"] == method)
        found = list(zip(own["item_id"].to_list(), own["part"].to_list(), strict=True))
        if len(found) != len(set(found)) or set(found) != expected:
            lost, more = len(expected - set(found)), len(found) - len(set(found) & expected)
            wrong.append(f"- {run} ({method}): {lost} rows missing, {more} too many ({shop.part(run).name})")
    if set(frame["method"]) != set(conditions):
        wrong.append(f"- {run}: holds {', '.join(sorted(set(frame['method'])))} ({shop.part(run).name})")
    return wrong


def _write_pools(shop: Workshop) -> None:
    """The votes with the pool of each: what training saw, and what it did not."""
    import numpy as np
    import polars as pl

    made = shop.material
    held = made.held_out
    assert held is not None
    frames = []
    for pool, counts in (("train", made.counts), ("heldout", held)):
        item, label = np.nonzero(counts)
        times = counts[item, label]
        frames.append(
            pl.DataFrame(
                {
                    "item_id": [made.items.ids[i] for i in np.repeat(item, times)],
                    "label": [made.labels[k] for k in np.repeat(label, times)],
                    "pool": [pool] * int(times.sum()),
                }
            )
        )
    io.write_table(shop.out / HELD_OUT, pl.concat(frames), table="votes", labels=made.labels)


def status(shop: Workshop) -> dict[str, int]:
    """How many runs are done, being done and to do."""
    done = sum(shop.part(run).is_file() for run in shop.runs)
    busy = sum(not shop.part(run).is_file() and _is_busy(shop.out / "locks" / shop.keys[run]) for run in shop.runs)
    return {"runs": len(shop.runs), "done": done, "being_done": busy, "to_do": len(shop.runs) - done - busy}


def _is_busy(path: Path) -> bool:
    if not path.exists():
        return False
    with files.claimed(path, wait=False) as free:
        return not free
