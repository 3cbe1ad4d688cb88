"""What a plan assumes and leaves out, in words."""

from __future__ import annotations

from collections.abc import Sequence

from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.rows import Entry
from saturation.analyses.planning.spreads import Drawn
from saturation.analyses.planning.subjects import Subject
from saturation.analyses.remarks import ANNOTATORS_UNKNOWN
from saturation.conditions import Condition
from saturation.results import Note

EVALUATION = Note(
    "plan_for_evaluation",
    "this plans an evaluation: items and votes to score given models with. How many votes to train on is another "
    "question, which only models trained on several budgets answer (saturation curve)",
)
NO_TRAINING_PLAN = Note(
    "no_training_plan",
    "the predictions hold several training budgets: a plan of items x votes to train on is not supported, since it "
    "needs models trained on several numbers of items as well; saturation curve reads what each budget brought",
)
WRONG_METRIC = Note(
    "wrong_metric",
    "wrong_metric is a metric's expected error at the optimum of the other one (metric_b), relative to that at its "
    "own, for designs of the same cost",
)
SIMULATED = Note(
    "simulated",
    "{}: no means over votes, so their noise was simulated from a law fitted to the pilot: as right as a Dirichlet "
    "law is. Against N votes their value is another than against everybody, by the bias; the optimum has the smallest "
    "sum of its square and the variance",
)
NO_PEOPLE = Note("annotators_not_simulated", "other annotators are in no interval and no width of {}")


def notes_of(subject: Subject, conditions: Sequence[Condition], entries: Sequence[Entry], costs: Costs) -> list[Note]:
    """Every remark that applies, most important first."""
    found = [EVALUATION]
    if len({one.budget for one in conditions if one.budget is not None}) > 1:
        found.append(NO_TRAINING_PLAN)
    found += _forecaster(subject)
    drawn = ", ".join(one.metric.name for one in entries if isinstance(one.spread, Drawn))
    if drawn:
        found.append(Note(SIMULATED.code, SIMULATED.message.format(drawn)))
    if drawn and subject.ballots is not None:
        found.append(Note(NO_PEOPLE.code, NO_PEOPLE.message.format(drawn)))
    if len(entries) > 1:
        found.append(WRONG_METRIC)
    found += _seeds(subject)
    dropped = max((one.components.n_dropped for one in entries if one.components is not None), default=0)
    if dropped or subject.n_left_out:
        found.append(
            Note(
                "single_votes", f"{dropped + subject.n_left_out} items with too few votes say nothing and are left out"
            )
        )
    if subject.ballots is None:
        found.append(ANNOTATORS_UNKNOWN)
    if costs.most_items is None:
        found.append(Note("items_unlimited", "as many items as the money buys are taken to exist (--max-items)"))
    return found


def _forecaster(subject: Subject) -> list[Note]:
    """Whose score it is where there are no predictions."""
    if subject.forecast == "annotator":
        text = (
            "no predictions: the score is that of one other annotator, of every item one vote picked at random and "
            "combined with the base rate, (vote + A pi) / (1 + A); a model's own predictions give a better plan"
        )
    elif subject.forecast == "base_rate":
        text = (
            "no predictions: the score is that of the base rate, which forecasts the same for every item; items differ "
            "less by it than by a model's score, so that it asks for more votes an item"
        )
    else:
        return []
    return [Note("forecaster", text)]


def _seeds(subject: Subject) -> list[Note]:
    if not subject.names or max(probs.shape[1] for probs in subject.probs) == 1:
        return []
    text = "scores are means over training seeds: the noise of another training is in no width"
    return [Note("seeds_averaged", text)]
