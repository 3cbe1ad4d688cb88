"""A simulated study as our tables: votes, items, splits and predictions of every condition, seed and split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from saturation.files import make_folder
from saturation.simulate import learner
from saturation.simulate.draws import Kind, order
from saturation.simulate.population import LABELS, SOURCES, Items, SingleVotes, cast_votes, draw_items
from saturation.typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

N_ITEMS = 600
N_VOTES = 100
N_ANNOTATORS = 150
SPLITS = (42, 43, 44)
PARTS = (("train", 300), ("dev", 100), ("test", 200))
SEEDS = (0, 1, 2)
CONDITION_COLUMNS = ("model", "method", "budget", "strength", "alpha")


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
    make_folder(folder)
    paths = []
    for name, frame in one.tables().items():
        paths.append(folder / f"{name}.parquet")
        frame.write_parquet(paths[-1], compression="zstd", compression_level=19)
    return paths


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


def _predictions_frame(seed: int, items: Items, parts: dict[int, Ints]) -> pl.DataFrame:
    """Rows sorted by condition, split, seed and item; every seed trains on its own draw of votes."""
    import polars as pl

    cells = [(split, training_seed) for split in parts for training_seed in SEEDS]
    frames = [
        _cell_frames(seed, number, items, parts[split], split, training_seed)
        for number, (split, training_seed) in enumerate(cells)
    ]
    n_conditions = len(learner.conditions())
    return pl.concat([cell[condition] for condition in range(n_conditions) for cell in frames])


def _cell_frames(
    seed: int, number: int, items: Items, part: Ints, split: int, training_seed: int
) -> list[pl.DataFrame]:
    """One frame a condition: the development and test rows of one training run."""
    ranks = np.flatnonzero(part > 0)
    some = Items(items.source[ranks], items.careful[ranks], items.probs[ranks])
    probs = learner.predict(seed, number, some, ranks)
    names = [PARTS[code][0] for code in part[ranks]]
    return [
        _condition_frame(condition.values, probs[rank], ranks, names, split, training_seed)
        for rank, condition in enumerate(learner.conditions())
    ]


def _condition_frame(
    values: tuple[tuple[str, object], ...], probs: Floats, ranks: Ints, parts: list[str], split: int, seed: int
) -> pl.DataFrame:
    import polars as pl

    own = dict(values)
    types = {"model": pl.String, "method": pl.String, "budget": pl.Int64, "strength": pl.Float64, "alpha": pl.Float64}
    constants = [pl.lit(own.get(name), dtype=kind).alias(name) for name, kind in types.items()]
    frame = pl.DataFrame(
        {"item_id": _item_ids(ranks), "part": parts}
        | {f"p_{label}": probs[:, k].astype(np.float32) for k, label in enumerate(LABELS)}
    )
    keys = [pl.lit(seed).cast(pl.Int64).alias("seed"), pl.lit(str(split)).alias("split"), pl.lit(seed).cast(pl.Int64).alias("draw")]
    order_of_columns = ["item_id", *types, "seed", "split", "draw", "part", *(f"p_{label}" for label in LABELS)]
    return frame.with_columns(*constants, *keys).select(order_of_columns)
