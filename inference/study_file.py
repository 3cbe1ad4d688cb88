"""A study as a TOML file: data, models, conditions and recipe, with every entry checked."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from inference.recipe import Recipe, recipe_of
from inference.runs import METHODS, Run
from saturation.errors import UsageError
from saturation.targets import SMOOTHING_STRENGTHS
from saturation.typing import TieRule

DRAWS = ("per_seed", "shared")
_GRID = (*METHODS, "temperature", "seeds", "draws", "ties")


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Where the data lie, relative to the study file.

    Attributes
    ----------
    votes, items
        Our tables.
    splits
        A splits table; None: random splits.
    soft
        A table of soft votes, for the method ``elicited``.
    text
        Text columns; None: the usual ones.
    split_names
        Which splits.
    dev, test
        Shares of random splits.
    heldout
        Votes of every item that training never sees.
    """

    votes: Path
    items: Path
    splits: Path | None
    soft: Path | None
    text: tuple[str, ...] | None
    split_names: tuple[str, ...]
    dev: float
    test: float
    heldout: int


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a study: ``frozen`` (a head over features) or ``whole`` (fine-tuned)."""

    name: str
    source: str
    mode: str
    saved_head: bool
    label_map: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Study:
    """A whole study as read; ``tune`` are lists of values for entries of the recipe, chosen by each run for itself."""

    data: DataFiles
    models: tuple[Model, ...]
    conditions: tuple[Mapping[str, Any], ...]
    temperature: bool
    seeds: tuple[int, ...]
    draws: str
    ties: TieRule
    recipe: Recipe
    tune: Mapping[str, Sequence[Any]]
    subsample_seed: int

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """Every combination of the values to tune, put into the recipe; the recipe alone where there are none."""
        values = [[(name, one) for one in choices] for name, choices in self.tune.items()]
        return tuple(recipe_of({**asdict(self.recipe), **dict(chosen)}) for chosen in product(*values))

    def runs(self, n_labels: int) -> tuple[Run, ...]:
        """All runs: complete blocks of conditions, one model, split and seed after the other.

        So an interrupted study is still paired: what is finished is finished for every condition.
        """
        runs = (
            self._run(model, split, seed, condition, n_labels)
            for split in self.data.split_names
            for seed in self.seeds
            for model in self.models
            for condition in self.conditions
        )
        return tuple(dict.fromkeys(runs))  # the base rate has no seed

    def _run(self, model: Model, split: str, seed: int, condition: Mapping[str, Any], n_labels: int) -> Run:
        values = dict(condition)
        if values.get("alpha") == "1/K":
            values["alpha"] = 1 / n_labels
        draw = None
        if values.get("budget") is not None:
            draw = self.subsample_seed + (seed if self.draws == "per_seed" else 0)
        seeded = self.seeds[0] if values["method"] == "base_rate" else seed
        hard = values["method"] == "hard" and self.temperature
        return Run(model.name, split, seeded, draw=draw, with_temperature=hard, **values)


def read_study(path: Path) -> Study:
    """Read and check a study file; all that is wrong with it is said at once.

    Raises
    ------
    UsageError
        For unknown or missing entries and values that cannot be.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}") from error
    problems: list[str] = []
    _unknown(content, ("data", "models", "grid", "recipe", "tune", "subsample_seed"), "", problems)
    data, models, grid = (content.get(name) for name in ("data", "models", "grid"))
    if not isinstance(data, dict) or not isinstance(models, list) or not isinstance(grid, dict):
        problems.append("[data], at least one [[models]] and [grid] are needed")
        _stop(path, problems)
    made = Study(
        data=_data(data, Path(path).parent, problems),
        models=tuple(_model(one, Path(path).parent, problems) for one in models),
        conditions=_conditions(grid, problems),
        temperature="temperature" in grid,
        seeds=tuple(grid.get("seeds", (0,))),
        draws=_choice(grid, "draws", DRAWS, problems),
        ties=cast(TieRule, _choice(grid, "ties", ("share", "first", "last", "random"), problems)),
        recipe=recipe_of(content.get("recipe", {})),
        tune=dict(content.get("tune", {})),
        subsample_seed=int(content.get("subsample_seed", 0)),
    )
    _check(made, problems)
    if any(not isinstance(choices, list) or not choices for choices in made.tune.values()):
        problems.append("tune: give a list of values to each entry")
    else:
        _ = made.recipes  # refuses unknown entries and values that cannot be
    _stop(path, problems)
    return made


def _data(given: Mapping[str, Any], folder: Path, problems: list[str]) -> DataFiles:
    _unknown(
        given, ("votes", "items", "splits", "soft", "text", "split_names", "dev", "test", "heldout"), "data.", problems
    )
    problems += [f"data.{name} is missing" for name in ("votes", "items") if name not in given]
    names = given.get("split_names", () if "splits" in given else ("42",))
    return DataFiles(
        votes=folder / str(given.get("votes", "")),
        items=folder / str(given.get("items", "")),
        splits=folder / given["splits"] if "splits" in given else None,
        soft=folder / given["soft"] if "soft" in given else None,
        text=tuple(given["text"]) if "text" in given else None,
        split_names=tuple(map(str, names)),
        dev=float(given.get("dev", 0.1)),
        test=float(given.get("test", 0.2)),
        heldout=int(given.get("heldout", 0)),
    )


def _model(given: Mapping[str, Any], folder: Path, problems: list[str]) -> Model:
    _unknown(given, ("name", "source", "mode", "saved_head", "label_map"), "models.", problems)
    problems += [f"models.{name} is missing" for name in ("name", "source", "mode") if name not in given]
    if given.get("mode", "whole") not in ("frozen", "whole"):
        problems.append(f"models.mode is {given['mode']!r}: frozen or whole")
    source = str(given.get("source", ""))
    inside = folder / source
    return Model(
        name=str(given.get("name", "")),
        source=str(inside) if inside.is_dir() else source,
        mode=str(given.get("mode", "whole")),
        saved_head=bool(given.get("saved_head", False)),
        label_map=dict(given.get("label_map", {})),
    )


def _conditions(grid: Mapping[str, Any], problems: list[str]) -> tuple[Mapping[str, Any], ...]:
    """Every condition of every method, in the order of METHODS."""
    _unknown(grid, _GRID, "grid.", problems)
    made: list[dict[str, Any]] = []
    for method in METHODS:
        if method in grid:
            _unknown(grid[method], _ENTRIES[method], f"grid.{method}.", problems)
            made += [{"method": method, **one} for one in _MAKERS[method](grid[method])]
    if "temperature" in grid and "hard" not in grid:
        problems.append("grid.temperature needs grid.hard, whose logits it divides")
    if not made:
        problems.append(f"grid has no method; give one of {', '.join(METHODS)}")
    return tuple(made)


def _budgets(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"budget": budget} for budget in given.get("budgets", (None,))]


def _hard(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"budget": budget} for budget in (None, *given.get("budgets", ()))]


def _smoothing(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"strength": float(strength)} for strength in given.get("strengths", SMOOTHING_STRENGTHS)]


def _dirichlet(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    priors = [{"alpha": alpha} for alpha in given.get("alphas", () if "priors" in given else ("1/K",))]
    priors += [{"prior": prior} for prior in given.get("priors", ())]
    return [{**budget, **prior} for budget in _budgets(given) for prior in priors]


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], list[dict[str, Any]]]] = {
    "base_rate": lambda given: [{}],
    "hard": _hard,
    "smoothing": _smoothing,
    "soft": _budgets,
    "dirichlet": _dirichlet,
    "multipass": _budgets,
    "sampled": _budgets,
    "elicited": _budgets,
}
_ENTRIES: Mapping[str, Sequence[str]] = {
    "base_rate": (),
    "hard": ("budgets",),
    "smoothing": ("strengths",),
    "soft": ("budgets",),
    "dirichlet": ("budgets", "alphas", "priors"),
    "multipass": ("budgets",),
    "sampled": ("budgets",),
    "elicited": ("budgets",),
}


def _check(study: Study, problems: list[str]) -> None:
    if study.data.soft is None and any(one["method"] == "elicited" for one in study.conditions):
        problems.append("grid.elicited needs data.soft, a table of soft votes")
    names = [model.name for model in study.models]
    if len(set(names)) < len(names):
        problems.append("two models have the same name")
    if not study.seeds or len(set(study.seeds)) < len(study.seeds) or any(seed < 0 for seed in study.seeds):
        problems.append("grid.seeds are different whole numbers from 0")
    budgets = [one["budget"] for one in study.conditions if one.get("budget") is not None]
    if any(not isinstance(one, int) or one < 1 for one in budgets):
        problems.append("budgets are whole numbers from 1")
    wrong = [one["prior"] for one in study.conditions if one.get("prior") not in (None, "base_rate")]
    problems += [f"grid.dirichlet.priors: {one!r} is unknown; there is base_rate" for one in wrong]
    distinct = {tuple(sorted(one.items(), key=str)) for one in study.conditions}
    if len(distinct) < len(study.conditions):
        problems.append("a condition is there twice")


def _choice(given: Mapping[str, Any], name: str, known: Sequence[str], problems: list[str]) -> str:
    value = str(given.get(name, known[0]))
    if value not in known:
        problems.append(f"grid.{name} is {value!r}: {', '.join(known)}")
    return value


def _unknown(given: Any, known: Sequence[str], where: str, problems: list[str]) -> None:
    if not isinstance(given, Mapping):
        problems.append(f"{where.rstrip('.')} is not a table")
        return
    problems += [
        f"{where}{name} is unknown; known: {', '.join(known) or 'nothing'}" for name in given if name not in known
    ]


def _stop(path: Path, problems: Sequence[str]) -> None:
    if problems:
        raise UsageError("\n".join([f"{path} is no study that can be run:", *(f"- {one}" for one in problems)]))
