"""What a start costs: `import saturation` and `--help` load nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import saturation
from saturation.cli import HELP

HEAVY = ["torch", "transformers", "scipy.stats", "matplotlib", "pandas", "numba", "polars", "pyarrow", "statsmodels"]


def loaded(code, *names):
    """Which of the names are in sys.modules of a fresh interpreter that ran the code."""
    probe = f"{code}\nimport sys\nprint([name for name in {list(names)!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_import_is_light():
    assert loaded("import saturation", *HEAVY, "numpy", "scipy", "click", "rich") == "[]"


@pytest.mark.parametrize("name", ["UsageError", "DataError", "Problem", "SaturationError", "__version__"])
def test_small_names_stay_light(name):
    assert loaded(f"import saturation; saturation.{name}", *HEAVY, "numpy") == "[]"


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["--version"], ["evaluate", "--help"], ["nonsense"], [], ["evaluate"]], ids=" ".join
)
def test_help_and_usage_errors_import_no_numpy(words):
    code = (
        "import sys\n"
        "from saturation.cli import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "except SystemExit as end:\n"
        "    assert end.code in (0, 2), end.code\n"
    )
    assert loaded(code, *HEAVY, "numpy", "rich") == "[]"


@pytest.mark.parametrize("command", HELP)
def test_help_of_a_command_is_light_and_has_an_example(command):
    code = (
        "from saturation.cli import main\n"
        "try:\n"
        f"    main([{command!r}, '--help'])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0, end.code\n"
    )
    assert loaded(code, *HEAVY, "numpy", "rich") == "[]"
    done = subprocess.run(
        [sys.executable, "-m", "saturation", command, "--help"], capture_output=True, text=True, check=True
    )
    assert f"saturation {command}" in done.stdout.split("Example:")[1]


@pytest.mark.parametrize("module", ["saturation", "saturation.cli", "inference.cli"])
def test_doors_do_not_import_the_other_side(module):
    other = ["torch", "transformers", *(["inference"] if module.startswith("saturation") else ["saturation.tables"])]
    assert loaded(f"import {module}", *other) == "[]"


def test_names_are_listed_once_and_where_they_live():
    assert set(saturation.__all__) == {*saturation._HOME, *saturation._MODULES, "__version__"}
    assert sorted(saturation.__all__) == saturation.__all__ == dir(saturation)


@pytest.mark.parametrize("name", saturation.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(saturation, name) is not None


def test_every_public_name_is_said_in_the_docstring():
    assert [name for name in saturation.__all__ if f"``{name}``" not in saturation.__doc__] == []


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'saturate'"):
        saturation.saturate  # noqa: B018


@pytest.mark.parametrize("first", ["saturation.report", "saturation.report.output", "saturation.studies.report"])
def test_the_room_called_report_can_be_called_in_any_order(first):
    probe = f"import saturation, importlib; importlib.import_module({first!r}); assert callable(saturation.report)"
    assert loaded(probe, "torch") == "[]"
