"""From a model, items and votes to one run's predictions: the route of ``inference finetune``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from inference import outputs, provenance
from inference.checkpoints import Source, load_classifier
from inference.finetune import FrozenEncoder, Maker, WholeModel, train
from inference.items import read_items
from inference.learners import encoder_features
from inference.machine import device_name, device_of, set_threads
from inference.material import material, random_splits, read_splits, with_soft_votes
from inference.recipe import Recipe, recipe_of
from inference.runs import Run
from saturation import files
from saturation.errors import UsageError
from saturation.tables.door import read_votes
from saturation.tables.soft_votes import read_soft_votes


def finetune_table(
    *,
    items: Sequence[Path],
    text: Sequence[str] | None,
    votes: Sequence[Path],
    soft: Sequence[Path],
    splits: Path | None,
    split: str,
    source: str,
    name: str | None,
    trust_remote_code: bool,
    frozen: bool,
    saved_head: bool,
    label_map: Mapping[str, str] | None,
    recipe: Path | None,
    save: Path | None,
    device: str,
    threads: int | None,
    out: Path,
    quiet: bool,
    say: Callable[[str], None],
    **condition: Any,
) -> dict[str, Any]:
    """Train, predict and write; returns what the summary says.

    Parameters are those of the command, see ``inference finetune --help``.
    """
    if save is not None and (frozen or save.exists()):
        raise UsageError("--save keeps a whole model" if frozen else f"--save {save} exists already: name a new folder")
    set_threads(threads)
    rules = _recipe(recipe)
    read, human = read_items(list(items), text), read_votes(list(votes))
    joined = material(read, human, None)
    ids = joined.items.ids
    made = random_splits(len(ids), [split], dev=0.1, test=0.2) if splits is None else read_splits(splits, ids, [split])
    joined = replace(joined, splits=made)
    if soft:
        joined = with_soft_votes(joined, read_soft_votes(list(soft)))
    origin = Source.parse(source)
    run = _run(origin, name, split, len(joined.labels), condition)
    maker, about = _maker(origin, joined, rules, frozen, saved_head, label_map, device, trust_remote_code, quiet)
    found = train(run, joined, maker, rules, say=say)
    story = provenance.of_run(
        "finetune", (*read.inputs, *human.inputs), {**about, "mode": "frozen" if frozen else "whole"}, run=asdict(run),
        recipe=asdict(rules), record=dict(found.record), device=device_name(device_of(device)),
    )  # fmt: skip
    outputs.write(out, list(found.rows), joined.labels, story)
    if save is not None and isinstance(maker, WholeModel) and maker.last is not None:
        _keep(maker, save)
    return {"wrote": str(out), "run": str(run), "rows": sum(map(len, found.rows)), **_told(found.record)}


def _recipe(path: Path | None) -> Recipe:
    if path is None:
        return Recipe()
    try:
        return recipe_of(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the recipe {path}: {error}") from error


def _run(origin: Source, name: str | None, split: str, n_labels: int, condition: Mapping[str, Any]) -> Run:
    """The run, with options that its method does not take refused."""
    method = condition["method"]
    takes = {"smoothing": ("strength",), "dirichlet": ("alpha", "prior")}.get(method, ())
    idle = [f"--{one}" for one in ("strength", "alpha", "prior") if condition[one] is not None and one not in takes]
    if idle or (method in ("base_rate", "smoothing") and condition["budget"] is not None):
        raise UsageError(f"{', '.join(idle) or '--budget'} does nothing for --method {method}: drop it")
    if method == "smoothing" and condition["strength"] is None:
        raise UsageError("--method smoothing needs --strength")
    values = dict(condition)
    if method == "dirichlet" and values["alpha"] is None and values["prior"] is None:
        values["alpha"] = 1 / n_labels
    if values["budget"] is None:
        values["draw"] = None
    return Run(name or (origin.folder.resolve().name if origin.folder else origin.name), split, **values)


def _maker(  # noqa: PLR0917
    origin: Source,
    joined: Any,
    rules: Recipe,
    frozen: bool,
    saved_head: bool,
    label_map: Mapping[str, str] | None,
    device: str,
    trust_remote_code: bool,
    quiet: bool,
) -> tuple[Maker, Mapping[str, Any]]:
    if not frozen:
        whole = WholeModel(
            origin, joined, rules, device=device, saved_head=saved_head, label_map=label_map,
            trust_remote_code=trust_remote_code,
        )  # fmt: skip
        return whole, whole.about
    loaded = load_classifier(
        origin, device=device, labels=joined.labels, init_seed=0, trust_remote_code=trust_remote_code
    )
    return FrozenEncoder(encoder_features(loaded, joined.items, rules.max_length, quiet=quiet)), loaded.about


def _keep(maker: WholeModel, folder: Path) -> None:
    """Save model and tokenizer in a folder beside the final one, then rename it."""
    assert maker.last is not None
    files.make_folder(folder.parent)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    maker.last.model.save_pretrained(unfinished)
    maker.last.tokenizer.save_pretrained(unfinished)
    unfinished.rename(folder)


def _told(record: Mapping[str, Any]) -> dict[str, Any]:
    if "dev_losses" not in record:
        return {}
    best = record["best_epoch"]
    return {"epochs": len(record["dev_losses"]), "best_epoch": best + 1, "dev_loss": record["dev_losses"][best]}
