"""Everything behind one page: the labels alone, and with predictions the models trained on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from saturation.analyses.heldout.divisions import divided_by_pools
from saturation.results import Note, ReportResult, Result
from saturation.streams import seed_of
from saturation.studies import contrasts
from saturation.studies.answers import LABEL_NOISE, how_many
from saturation.studies.phrases import distinct
from saturation.studies.pilots import pilot_jobs
from saturation.studies.plans import plan_job
from saturation.studies.worth import worth_jobs
from saturation.typing import Reference, TieRule

if TYPE_CHECKING:
    import numpy as np

    from saturation.tables.panel import Panel, Votes

Job: TypeAlias = Callable[[], Result[Any]]
"""An analysis with its data and options, not yet run."""


def make_report(
    votes: Votes,
    panel: Panel | None = None,
    *,
    metrics: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    reference: Reference = "disjoint",
    alpha: float | str | None = None,
    baselines: Sequence[str] | None = None,
    ceiling: str | None = None,
    q: Sequence[float] = (0.90, 0.95),
    margin: float | None = None,
    design: str | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    ragged: str = "common",
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    costs: Mapping[str, float] | None = None,
    threads: int | None = None,
) -> ReportResult:
    """How many annotators per item, from votes alone or from models trained on N of them.

    Parameters
    ----------
    votes
        The human side: all items with votes.
    panel
        Votes and predictions aligned; None: the answer is about label noise only, and says so.
    metrics
        Catalogue names; default kl, jsd, tvd, brier, entropy_correlation, accuracy, dist_ece.
    budgets, reference, alpha
        Of the label-side curve.
    baselines, ceiling, margin, design, floor
        Of the model curves.
    q, level, n_resamples, rng, ragged, ties, bins, threads
        Of both.
    costs
        ``cost_per_vote``, ``cost_per_item`` and ``total``: adds a section ``plan``, what to buy for an evaluation.

    Returns
    -------
    ReportResult
        Sections ``label_curve`` and ``ceiling``; from few votes alone ``pilot``, the curves of a law fitted to them;
        with a panel ``curve``, ``evaluate``, ``murphy``, ``equivalents``, where there are soft labels and a baseline
        ``compare``, and where votes have pools ``heldout``. One answer a metric and curve.

    Raises
    ------
    UsageError
        For options that an analysis refuses.

    Examples
    --------
    >>> import numpy as np, saturation as sat
    >>> counts = np.random.default_rng(0).multinomial(20, [0.6, 0.3, 0.1], size=50)
    >>> votes = sat.votes_from_counts(counts, labels=("a", "b", "c"))
    >>> report = sat.report(votes, metrics=("brier",), n_resamples=50)
    >>> list(report.sections), [answer.metric for answer in report.answers]
    (['ceiling', 'label_curve'], ['brier'])
    """
    jobs = report_jobs(
        votes, panel, metrics=metrics, budgets=budgets, reference=reference, alpha=alpha, baselines=baselines,
        ceiling=ceiling, q=q, margin=margin, design=design, level=level, n_resamples=n_resamples, rng=rng,
        ragged=ragged, ties=ties, floor=floor, bins=bins, threads=threads,
    )  # fmt: skip
    if costs is not None:
        jobs["plan"] = plan_job(votes, panel, costs, level=level, seed=seed_of(rng))
    return gather({name: job() for name, job in jobs.items()}, votes, panel)


def report_jobs(
    votes: Votes,
    panel: Panel | None,
    *,
    metrics: Sequence[str] | None,
    budgets: Sequence[int] | None,
    reference: Reference,
    alpha: float | str | None,
    baselines: Sequence[str] | None,
    ceiling: str | None,
    q: Sequence[float],
    margin: float | None,
    design: str | None,
    level: float,
    n_resamples: int,
    rng: int | np.random.Generator,
    ragged: str,
    ties: TieRule,
    floor: float,
    bins: int,
    threads: int | None,
) -> dict[str, Job]:
    """The analyses of a report by the name of their section, in its order, each ready to run on its own."""
    from saturation.metrics.catalogue import DEFAULT_METRICS

    names = tuple(DEFAULT_METRICS if metrics is None else metrics)
    common: dict[str, Any] = {
        "metrics": names, "level": level, "n_resamples": n_resamples, "rng": seed_of(rng), "ties": ties, "bins": bins,
        "threads": threads,
    }  # fmt: skip
    both: dict[str, Any] = {"q": tuple(q), "ragged": ragged}
    jobs: dict[str, Job] = {}
    if panel is not None:
        model = {"baselines": baselines, "ceiling": ceiling, "margin": margin, "design": design}
        jobs |= _model_jobs(panel, common | {"floor": floor}, both | model)
    of_labels = common | both | {"budgets": budgets, "reference": reference, "alpha": alpha}
    of_people = common if panel is None else common | {"floor": floor}
    if panel is not None and divided_by_pools(panel):
        jobs["heldout"] = lambda: _held_out_section(panel, common | {"floor": floor})
    jobs |= worth_jobs(votes, panel, of_people, own_metrics=names == DEFAULT_METRICS)
    jobs |= {"label_curve": lambda: _label_section(votes, of_labels)}
    return jobs if panel is not None else jobs | pilot_jobs(votes, of_labels)


def gather(sections: Mapping[str, Result[Any]], votes: Votes, panel: Panel | None = None) -> ReportResult:
    """Finished sections as one result, with the answers in words."""
    notes = [note for result in sections.values() for note in result.notes]
    if panel is None:
        notes.insert(0, Note("label_noise_only", f"only votes were given. {LABEL_NOISE}"))
    source = votes if panel is None else panel
    return ReportResult(
        sections=dict(sections),
        settings=merged_settings({name: result.settings for name, result in sections.items()}),
        data=source.summary,
        inputs=distinct([*votes.inputs, *(() if panel is None else panel.inputs)]),
        notes=distinct(notes),
        answers=tuple(found.answer for found in how_many(sections)),
        findings=contrasts.find(sections),
    )


def merged_settings(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Options that all sections agree on once, the others under the name of their section.

    Examples
    --------
    >>> merged_settings({"curve": {"seed": 0, "design": "crossed"}, "label_curve": {"seed": 0, "reference": "all"}})
    {'seed': 0, 'curve': {'design': 'crossed'}, 'label_curve': {'reference': 'all'}}
    """
    first = next(iter(settings.values()), {})
    agreed = {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in settings.values())
    }
    own = {name: {k: v for k, v in one.items() if k not in agreed} for name, one in settings.items()}
    return agreed | {name: one for name, one in own.items() if one}


def _model_jobs(panel: Panel, common: Mapping[str, Any], curve: Mapping[str, Any]) -> dict[str, Job]:
    from saturation.analyses.curve.saturation import saturation_curve
    from saturation.analyses.evaluate import evaluate
    from saturation.analyses.murphy.decomposition import murphy
    from saturation.studies.baseline_contests import contests, soft_against_baselines

    design = curve["design"]
    fitted = _fits(panel) if curve["ragged"] == "common" else {}
    own = {name: value for name, value in common.items() if name not in ("metrics", "floor")}
    jobs: dict[str, Job] = {
        "curve": lambda: saturation_curve(panel, **common, **curve, **fitted),
        "evaluate": lambda: evaluate(panel, **common, design=design),
        "murphy": lambda: murphy(panel, outcome="soft", design=design, **own),
    }
    pairs = contests(panel.conditions)
    return jobs | ({"compare": lambda: soft_against_baselines(panel, pairs, **common)} if pairs else {})


def _fits(panel: Panel) -> dict[str, Any]:
    """Both forms, and enough predictions to draw them, where a curve has the budgets for it."""
    from saturation.analyses.curve.curves import curves_of
    from saturation.analyses.curve.fit_rows import spaced
    from saturation.analyses.curve.fits import FEWEST_POINTS
    from saturation.analyses.curve.forms import FORMS

    long = [curve.budgets for curve in curves_of(panel.conditions) if len(curve.budgets) >= FEWEST_POINTS]
    return {"fits": tuple(FORMS), "predict": spaced([b for one in long for b in one if b is not None])} if long else {}


def _held_out_section(panel: Panel, common: Mapping[str, Any]) -> Result[Any]:
    from saturation.analyses.heldout.heldout import heldout

    return heldout(panel, **{name: value for name, value in common.items() if name not in ("n_resamples", "threads")})


def _label_section(votes: Votes, options: Mapping[str, Any]) -> Result[Any]:
    from saturation.analyses.labels.label_curve import label_curve

    return label_curve(votes, **options)
