"""Where the real data lies, and what happens to tests that cannot run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser):
    parser.addoption("--fail-on-skip", action="store_true", help="fail when any test skipped (continuous integration)")


def pytest_collection_modifyitems(items):
    if (SHARED / "data").is_dir():
        return
    skip = pytest.mark.skip(reason="the real annotation sets (../shared/data) are not beside this checkout")
    for item in items:
        if "realdata" in item.keywords:
            item.add_marker(skip)


def pytest_sessionfinish(session, exitstatus):
    skipped = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", [])
    if session.config.getoption("--fail-on-skip") and skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return SHARED / "data"


@pytest.fixture(scope="session")
def reference() -> dict:
    """Values computed by independent slow code on the real data."""
    return json.loads((SHARED / "reference" / "values.json").read_text())
