"""The machine that models run on: device, threads, and arithmetic that gives the same bits every time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from saturation.errors import UsageError

if TYPE_CHECKING:
    import torch

PRECISIONS = ("float32", "tf32", "bf16")
"""``bf16`` is autocast; half precision (fp16) is not offered, because several encoders overflow in it."""


def device_of(name: str) -> torch.device:
    """A device by name; ``auto`` is the first accelerator, else the processor."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"there is no device {name!r}: choose auto, cpu, cuda or cuda:1") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: no such accelerator can be used here; choose cpu")
    return device


def set_threads(threads: int | None) -> None:
    """Processor threads for torch."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


@contextmanager
def exact_arithmetic(precision: str, kind: str) -> Iterator[None]:
    """The precision asked for, and algorithms that give the same bits every time."""
    import torch

    if precision not in PRECISIONS:
        raise UsageError(f"precision is {precision!r}; choose {', '.join(PRECISIONS)}")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.get_float32_matmul_precision()
    torch.use_deterministic_algorithms(mode=True)
    torch.set_float32_matmul_precision("highest" if precision == "float32" else "high")
    try:
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=precision == "bf16"):
            yield
    finally:
        torch.use_deterministic_algorithms(mode=False)
        torch.set_float32_matmul_precision(before)


def device_name(device: Any) -> str:
    """The device in words: its kind, and the model of an accelerator."""
    import torch

    if device.type == "cuda":
        return f"{device}: {torch.cuda.get_device_name(device)}"
    return f"{device}: {torch.get_num_threads()} threads"
