"""Models are built here, never fetched: any attempt to reach a network fails."""

from __future__ import annotations

import socket

import numpy as np
import polars as pl
import pytest

from tests.inference import tiny

torch = pytest.importorskip("torch", reason="the model side is not installed (annotation-saturation[inference])")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Nothing here may speak to another machine."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("a test of the model side tried to reach a network")

    connect = socket.socket.connect

    def local(self, address):
        return connect(self, address) if self.family == socket.AF_UNIX else refuse()

    monkeypatch.setattr(socket.socket, "connect", local)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    return tiny.classifier(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Items and votes of 60 pairs, 20 votes each."""
    folder = tmp_path_factory.mktemp("tables")
    pairs = tiny.texts(60)
    ids = [f"q{i:02d}" for i in range(60)]
    frame = {"item_id": ids, "premise": [a for a, _ in pairs], "hypothesis": [b for _, b in pairs]}
    pl.DataFrame(frame).write_parquet(folder / "items.parquet")
    rng = np.random.default_rng(0)
    counts = np.stack([rng.multinomial(20, rng.dirichlet([0.6, 0.5, 0.4])) for _ in ids])
    votes = {"item_id": ids} | {f"n_{label}": counts[:, k] for k, label in enumerate(tiny.NLI)}
    pl.DataFrame(votes).write_parquet(folder / "votes.parquet")
    return folder
