"""What a run leaves behind: the truth, and one file a setting, written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from saturation.files import make_folder, write_text
from tests.statistical.settings import Setting, grid
from tests.statistical.tally import Tally, merge
from tests.statistical.truth import Truth

BLOCK = 20
"""Replications that are computed and stored together."""
Tallies = dict[str, Tally]


class Store:
    """The folder of a run.

    Parameters
    ----------
    folder
        Made if it is not there; a folder of an earlier run with the same seed is continued.
    seed
        Of the replications; a folder made with another one is refused.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        make_folder(folder)

    def done(self, setting: Setting) -> set[int]:
        """Blocks that are stored."""
        return {int(block) for block in self._read(setting)["blocks"]}

    def add(self, setting: Setting, block: int, tallies: Tallies, seconds: float) -> None:
        """Store one block."""
        held = self._read(setting)
        held["blocks"][str(block)] = {
            "seconds": seconds,
            "tallies": {name: one.to_dict() for name, one in tallies.items()},
        }
        write_text(self._path(setting), json.dumps(held))

    def results(self) -> dict[Setting, Tallies]:
        """Sums over all blocks, in order of the blocks, of every setting that has one."""
        return {setting: merged for setting in grid() if (merged := self._merged(setting))}

    def seconds(self) -> float:
        """Time spent on all blocks, by all processes together."""
        held = [self._read(setting)["blocks"].values() for setting in grid()]
        return float(sum(block["seconds"] for blocks in held for block in blocks))

    def truth(self, name: str) -> dict[str, Truth] | None:
        """A stored truth."""
        path = self.folder / f"truth-{name}.json"
        if not path.exists():
            return None
        return {key: Truth(**one) for key, one in json.loads(path.read_text()).items()}

    def add_truth(self, name: str, found: dict[str, Truth]) -> None:
        """Store a truth."""
        write_text(self.folder / f"truth-{name}.json", json.dumps({key: asdict(one) for key, one in found.items()}))

    def _merged(self, setting: Setting) -> Tallies:
        blocks = self._read(setting)["blocks"]
        parts = [blocks[key]["tallies"] for key in sorted(blocks, key=int)]
        names = dict.fromkeys(name for part in parts for name in part)
        return {name: merge(Tally(**part[name]) for part in parts if name in part) for name in names}

    def _path(self, setting: Setting) -> Path:
        return self.folder / f"{setting.name}.json"

    def _read(self, setting: Setting) -> dict:
        path = self._path(setting)
        if not path.exists():
            return {"seed": self.seed, "blocks": {}}
        held = json.loads(path.read_text())
        if held["seed"] != self.seed:
            raise SystemExit(f"{path} was made with seed {held['seed']}, not {self.seed}: choose another --out")
        return held
