"""A simulated study as our tables: votes, items, splits and predictions of every condition, seed and split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from saturation.conditions import Condition
from saturation.files import make_folder
from saturation.simulate import learner
from saturation.simulate.draws import Kind, order
from saturation.simulate.population import LABELS, SOURCES, Items, SingleVotes, cast_votes, draw_items
from saturation.typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.panel import Panel

N_ITEMS = 600
N_VOTES = 100
N_ANNOTATORS = 150
SPLITS = (42, 43, 44)
PARTS = (("train", 300), ("dev", 100), ("test", 200))
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """One simulated study, as frames in our table formats.

    Attributes
    ----------
    votes
        item_id, annotator_id, label: 600 items x 100 votes by 150 people.
    items
        item_id, source.
    splits
        item_id, split, part: three random partitions of the same items into 300 train, 100 dev and 200 test.
    predictions
        Development and test rows of every condition, seed and split; probabilities in float32.
    """

    votes: pl.DataFrame
    items: pl.DataFrame
    splits: pl.DataFrame
    predictions: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """The frames by table name."""
        return {"votes": self.votes, "items": self.items, "splits": self.splits, "predictions": self.predictions}

    def panel(self) -> Panel:
        """Votes and test-set predictions, aligned: what the analyses take."""
        from saturation.tables.door import read_panel

        return read_panel(self.votes, self.predictions, items=self.items, labels=LABELS)


def study(seed: int = 0) -> Study:
    """Simulate one study from the population whose truth :func:`saturation.simulate.truth_table` gives.

    Parameters
    ----------
    seed
        Which study; the same seed gives the same tables on every machine and with any number of threads.

    Returns
    -------
    Study
        Four polars frames.

    Examples
    --------
    >>> one = study(seed=0)
    >>> one.votes.height, one.items.height, one.predictions.height
    (60000, 600, 43200)
    """
    ranks = np.arange(N_ITEMS)
    items = draw_items(seed, ranks)
    votes = cast_votes(seed, items, N_VOTES, N_ANNOTATORS)
    parts = {split: _partition(seed, split) for split in SPLITS}
    return Study(_votes_frame(votes), _items_frame(items), _splits_frame(parts), _predictions_frame(seed, items, parts))


def write_study(one: Study, folder: Path) -> list[Path]:
    """Write the four tables of a study as parquet files into a folder; returns their paths."""
    from saturation.tables.io import write_table

    make_folder(folder)
    provenance = {"made_by": "saturation.simulate.study"}
    return [
        write_table(
            folder / f"{name}.parquet",
            frame,
            table=name,
            labels=LABELS if name in ("votes", "predictions") else None,
            provenance=provenance,
        )
        for name, frame in one.tables().items()
    ]


def _partition(seed: int, split: int) -> Ints:
    """(items,) index into ``PARTS``: each partition is drawn anew, so test sets of two splits share items."""
    part = np.empty(N_ITEMS, dtype=np.int64)
    sizes = [size for _, size in PARTS]
    part[order(seed, Kind.PARTITION, np.array([split]), N_ITEMS)[0]] = np.repeat(np.arange(len(PARTS)), sizes)
    return part


def _item_ids(ranks: Ints) -> list[str]:
    return [f"i{rank:03d}" for rank in ranks]


def _votes_frame(votes: SingleVotes) -> pl.DataFrame:
    import polars as pl

    item = np.repeat(np.arange(N_ITEMS), N_VOTES)
    return pl.DataFrame(
        {
            "item_id": _item_ids(item),
            "annotator_id": [f"a{person:03d}" for person in votes.annotator.ravel()],
            "label": [LABELS[label] for label in votes.label.ravel()],
        }
    )


def _items_frame(items: Items) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        {"item_id": _item_ids(np.arange(N_ITEMS)), "source": [SOURCES[source] for source in items.source]}
    )


def _splits_frame(parts: dict[int, Ints]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        {
            "item_id": _item_ids(np.arange(N_ITEMS)) * len(parts),
            "split": [str(split) for split in parts for _ in range(N_ITEMS)],
            "part": [PARTS[code][0] for part in parts.values() for code in part],
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """One training run: its number in the learner's sequence, its split and seed, and the items that it predicts."""

    number: int
    split: int
    seed: int
    ranks: Ints
    parts: list[str]


def _predictions_frame(seed: int, items: Items, parts: dict[int, Ints]) -> pl.DataFrame:
    """Rows sorted by condition, split, seed and item; every seed trains on its own draw of votes."""
    import polars as pl

    cells: list[_Cell] = []
    for split, part in parts.items():
        ranks = np.flatnonzero(part > 0)
        names = [PARTS[code][0] for code in part[ranks]]
        cells += [_Cell(len(cells) + training_seed, split, training_seed, ranks, names) for training_seed in SEEDS]
    probs = [learner.predict(seed, cell.number, items.take(cell.ranks), cell.ranks) for cell in cells]
    return pl.concat(
        [
            _condition_frame(condition, cell, own[rank])
            for rank, condition in enumerate(learner.conditions())
            for cell, own in zip(cells, probs, strict=True)
        ]
    )


def _condition_frame(condition: Condition, cell: _Cell, probs: Floats) -> pl.DataFrame:
    import polars as pl

    types = {"model": pl.String, "method": pl.String, "budget": pl.Int64, "strength": pl.Float64, "alpha": pl.Float64}
    constants = [pl.lit(condition.get(name), dtype=kind).alias(name) for name, kind in types.items()]
    constants += [
        pl.lit(cell.seed, dtype=pl.Int64).alias("seed"),
        pl.lit(str(cell.split)).alias("split"),
        pl.lit(cell.seed, dtype=pl.Int64).alias("draw"),
    ]
    shares = {f"p_{label}": probs[:, k].astype(np.float32) for k, label in enumerate(LABELS)}
    frame = pl.DataFrame({"item_id": _item_ids(cell.ranks), "part": cell.parts} | shares)
    return frame.with_columns(constants).select("item_id", *types, "seed", "split", "draw", "part", *shares)
