"""Results in; text, tables, figures and pages out. Computes nothing.

The room can be called: ``saturation.report(votes, panel)`` is ``saturation.studies.report.make_report``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Report(ModuleType):
    """A module that is also the function of the same name, so that no import order can hide one behind the other."""

    def __call__(self, *data: Any, **options: Any) -> Any:
        from saturation.studies.report import make_report

        return make_report(*data, **options)


sys.modules[__name__].__class__ = _Report
