"""The planted study and its saturation curve, which several files look at from several sides."""

import pytest

from saturation.analyses.curve.saturation import saturation_curve
from tests.analyses.planted import study


@pytest.fixture(scope="package")
def panel():
    """Eight conditions, two splits of three seeds, 60 items with 40 votes each."""
    return study()


@pytest.fixture(scope="package")
def result(panel):
    """Its saturation curve with every default."""
    return saturation_curve(panel)
