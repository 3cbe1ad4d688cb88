"""What is said while work goes on, and when a tokenizer cannot be loaded."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from inference import progress as module
from inference.checkpoints import Source, _advice
from inference.progress import Progress
from inference.workers import run_all
from saturation.errors import UsageError


# 19: progress
def test_lines_where_there_is_no_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with Progress("predicting", 200) as bar:
        for _ in range(8):
            now[0] += 10
            bar.advance(25)
    assert capsys.readouterr().err == "predicting: 38%\npredicting: 75%\n"


def test_quiet_says_nothing(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with Progress("predicting", 10, quiet=True) as bar:
        now[0] = 100
        bar.advance(5)
    assert capsys.readouterr().err == ""


def test_progress_counts_tokens_and_not_batches(bert, tables, monkeypatch):
    """A bar over batches sorted by length would run fast first and then stand still."""
    from inference.checkpoints import load_classifier
    from inference.items import read_items
    from inference.predict import predict
    from inference.predicting import prepared

    counted = []
    monkeypatch.setattr(Progress, "advance", lambda self, amount: counted.append((self.total, amount)))
    checkpoint = load_classifier(Source(str(bert)))
    encoded = prepared(checkpoint, read_items(tables / "items.parquet"), None, "warn", lambda text: None)
    predict(checkpoint, encoded, token_budget=64)
    assert {total for total, _ in counted} == {int(encoded.lengths.sum())}
    assert sum(amount for _, amount in counted) == encoded.lengths.sum()
    assert np.ptp([amount for _, amount in counted]) < 64


# 10: tokenizers that need further packages
@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("You need to have sentencepiece installed", r"sentencepiece and protobuf \(pip install"),
        ("Converting from Tiktoken failed", "sentencepiece and protobuf"),
        ("does not appear to have a file named model.safetensors", "safetensors"),
        ("contains custom code ... trust_remote_code=True", "--trust-remote-code"),
        ("We couldn't connect to the hub", "NAME@REVISION"),
    ],
)
def test_what_to_do_is_said(message, advice, tmp_path):
    import re

    assert re.search(advice, _advice(OSError(message), Source(str(tmp_path))))


def test_a_hub_that_cannot_be_reached_is_said():
    from inference.checkpoints import load_classifier

    with pytest.raises((UsageError, AssertionError)):
        load_classifier(Source("nobody/nothing-of-the-kind", "main"))


def test_help_and_usage_load_no_torch():
    code = (
        "import sys\nfrom inference.cli import main\n"
        "try:\n    main({words!r})\nexcept SystemExit as end:\n    print('code', end.code)\n"
        "print([name for name in ('torch', 'transformers', 'polars', 'numba') if name in sys.modules])"
    )
    for words, expected in ((["--help"], 0), (["nonsense"], 2), (["--version"], 0)):
        done = subprocess.run(
            [sys.executable, "-c", code.format(words=words)], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-2:] == [f"code {expected}", "[]"], done.stderr


def test_the_worst_exit_code_of_several_workers_counts(monkeypatch):
    monkeypatch.setattr("inference.workers.subprocess.Popen", Ended)
    assert run_all(["study"], [{"CODE": "0"}, {"CODE": "75"}, {"CODE": "0"}]) == 75


class Ended:
    """A process that ends at once with the code that its environment says."""

    def __init__(self, command, env):
        self.code = int(env["CODE"])

    def wait(self):
        return self.code
