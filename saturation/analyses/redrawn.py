"""What a joint covariance of losses redraws: items, training seeds and annotators, together or some of them kept."""

from __future__ import annotations

from dataclasses import replace

from saturation.analyses.annotator_part import annotators_part, has_annotators
from saturation.analyses.losses import Losses
from saturation.errors import UsageError
from saturation.resampling.designs import DESIGNS, Design
from saturation.resampling.linearized import Covariance, covariance
from saturation.tables.panel import Panel

CHOICES = ("items", "crossed", "annotators", "items x annotators", "crossed with annotators")
"""Designs of a joint covariance; ``crossed`` redraws the annotators too where they are known."""


def asked_design(name: str | None, panel: Panel, default: str) -> Design:
    """The design that is meant by a name.

    Parameters
    ----------
    name
        Of ``CHOICES``; None: the default.
    panel
        With annotator ids or without.
    default
        Where none is asked for.

    Raises
    ------
    UsageError
        For other names, and where annotators are to be redrawn and ids of two people are not known.
    """
    if name is None:
        return DESIGNS[default]
    if name not in CHOICES:
        raise UsageError(f"design is {name!r}; choose one of {', '.join(CHOICES)}, or none")
    people = has_annotators(panel)
    if name == "crossed" and people:
        return DESIGNS["crossed with annotators"]
    if "annotators" in DESIGNS[name].redraws and not people:
        raise UsageError(f"design {name!r} needs the ids of two annotators or more; choose items or crossed")
    return DESIGNS[name]


def linearised(
    design: Design, losses: Losses, panel: Panel, seed: int, threads: int | None
) -> tuple[Covariance, Losses]:
    """The covariance under a design, and the losses with the reasons why some have none.

    Items that a design keeps take nothing away from what the annotators move, noise of single votes included.
    """
    if "annotators" in design.redraws:
        people = annotators_part(panel, losses.metrics, seed, threads)
        spread = people.added_to(losses.influence)
        losses = replace(losses, reasons={**people.reasons, **losses.reasons})
    else:
        spread = covariance(losses.influence)
    return of_design(spread, design), losses


def of_design(spread: Covariance, design: Design) -> Covariance:
    """Without the parts that a design keeps."""
    if "seeds" not in design.redraws:
        spread = replace(spread, seeds=spread.seeds * 0, error=spread.error * 0)
    if "items" not in design.redraws:
        spread = replace(spread, items=spread.items * 0, within=None)
    return spread
