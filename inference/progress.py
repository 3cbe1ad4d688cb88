"""Progress over tokens on stderr: a bar on a terminal, a line each half minute elsewhere, nothing when asked."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

SECONDS_BETWEEN_LINES = 30.0


class Progress:
    """How far along the work is.

    Parameters
    ----------
    what
        A word or two.
    total
        All tokens (or whatever is counted).
    quiet
        Say nothing.
    """

    def __init__(self, what: str, total: int, *, quiet: bool = False) -> None:
        self.what = what
        self.total = max(int(total), 1)
        self.done = 0
        self.quiet = quiet
        self._bar: Any = None
        self._task: Any = None
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self.what, total=self.total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: int) -> None:
        """Count ``amount`` more as done."""
        self.done += int(amount)
        if self._bar is not None:
            self._bar.advance(self._task, int(amount))
        elif not self.quiet and time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            sys.stderr.write(f"{self.what}: {100 * self.done / self.total:.0f}%\n")
            sys.stderr.flush()
