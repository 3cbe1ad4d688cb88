"""Synthetic studies with a planted truth.

A study of 600 items, three labels and 100 votes an item by 150 people, and a learner trained on different targets:
what every metric, fraction and N* would be in an infinitely large study is known, so intervals can be tested.
"""

from saturation.simulate.coverage import planted_coverage
from saturation.simulate.demo import demo_files
from saturation.simulate.study import Study, study, write_study
from saturation.simulate.truth import truth_table

__all__ = ["Study", "demo_files", "planted_coverage", "study", "truth_table", "write_study"]
