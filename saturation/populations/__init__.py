"""Laws of item distributions, fitted to a few votes an item: what a pilot says about items in general."""

from saturation.populations.choice import Candidate
from saturation.populations.population import KINDS, Population, fit_alternatives, fit_population, refit, unfit

__all__ = ["KINDS", "Candidate", "Population", "fit_alternatives", "fit_population", "refit", "unfit"]
