"""Published formats of annotation data and predictions, converted into our tables."""

from saturation.datasets.convert import convert
from saturation.datasets.formats import FORMATS

__all__ = ["FORMATS", "convert"]
