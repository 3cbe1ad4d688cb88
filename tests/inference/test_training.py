"""Training: the loss, the targets, the seeds, memory, and when it stops."""

from __future__ import annotations

import numpy as np
import pytest

from inference.batching import shuffled
from inference.checkpoints import Source, load_classifier
from inference.items import read_items
from inference.learners import head, whole_model
from inference.lessons import lessons, votes_of
from inference.losses import soft_cross_entropy
from inference.machine import exact_arithmetic
from inference.material import Parts, material, random_splits
from inference.predicting import prepared
from inference.recipe import Recipe, recipe_of
from inference.runs import Run
from inference.training import Learner, Lessons, dev_loss, fit, logits_of
from saturation.errors import DataError, UsageError
from saturation.tables.door import read_votes
from saturation.targets import draw_votes
from tests.inference import tiny

FAST = Recipe(epochs=3, batch_size=8, learning_rate=1e-2, patience=None, hidden=8)


@pytest.fixture
def made(tables):
    return material(read_items(tables / "items.parquet"), read_votes(tables / "votes.parquet"), None)


@pytest.fixture
def problem():
    """Features that tell the distributions of 80 items apart."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(80, 6)).astype(np.float32)
    weights = rng.normal(size=(6, 3))
    targets = np.exp(features @ weights)
    return features, targets / targets.sum(1, keepdims=True)


def trained(problem, recipe=FAST, seed=0, n_train=60):
    features, targets = problem
    rows = np.arange(n_train)
    learner = head(features, rows, 3, recipe, init_seed=seed)
    taught = Lessons(rows, targets[:n_train])
    dev = Lessons(np.arange(n_train, 80), targets[n_train:])
    history = fit(learner, lambda epoch: taught, dev, recipe, seed=seed)
    return learner, history, dev


# 11: the loss is ours
def test_the_gradient_is_softmax_less_target():
    import torch

    logits = torch.tensor([[0.3, -1.2, 2.0], [1.0, 0.0, 0.5]], dtype=torch.float32, requires_grad=True)
    targets = torch.tensor([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    soft_cross_entropy(logits, targets).backward()
    expected = (logits.detach().softmax(-1) - targets) / 2
    assert torch.allclose(logits.grad, expected, atol=1e-7)


def test_the_models_own_loss_would_be_another_one(bert):
    """Distributions given as labels become a multi-label loss: why the model's own loss is never used."""
    import torch

    checkpoint = load_classifier(Source(str(bert)))
    batch = checkpoint.tokenizer("dog runs", "cat sits", return_tensors="pt")
    targets = torch.tensor([[0.2, 0.5, 0.3]])
    out = checkpoint.model(**batch, labels=targets)
    binary = torch.nn.functional.binary_cross_entropy_with_logits(out.logits, targets)
    assert torch.allclose(out.loss, binary)
    assert abs(float(out.loss.detach()) - float(soft_cross_entropy(out.logits.detach(), targets))) > 0.01


# targets
def test_all_votes_are_the_full_distribution_and_budgets_are_nested(made):
    counts = made.counts
    assert (counts.sum(1) == 20).all()
    rows = np.arange(len(counts))
    full = lessons(Run("m", "s", 0, "soft", 20, draw=5), rows, counts)(0).targets
    assert np.array_equal(full, counts / 20)
    small = votes_of(Run("m", "s", 0, "soft", 3, draw=5), counts)
    large = votes_of(Run("m", "s", 0, "dirichlet", 10, alpha=1 / 3, draw=5), counts)
    assert (small <= large).all()
    assert (large <= counts).all()
    assert small.sum(1).tolist() == [3] * 60
    assert np.array_equal(small, draw_votes(counts, (1, 3, 10), seed=5)[3]), "the other budgets do not matter"
    assert not np.array_equal(small, votes_of(Run("m", "s", 0, "soft", 3, draw=6), counts))


def test_targets_by_hand():
    counts = np.array([[2, 2, 0], [0, 1, 3]])
    rows = np.array([4, 7])

    def of(method, **more):
        return lessons(Run("m", "s", 0, method, **more), rows, counts)(0)

    assert of("hard").targets.tolist() == [[0.5, 0.5, 0], [0, 0, 1]]
    assert np.allclose(of("smoothing", strength=0.3).targets, [[0.45, 0.45, 0.1], [0.1, 0.1, 0.8]])
    assert np.allclose(of("dirichlet", alpha=1.0).targets, [[3 / 7, 3 / 7, 1 / 7], [1 / 7, 2 / 7, 4 / 7]])
    assert np.allclose(of("base_rate").targets, [[0.25, 0.375, 0.375]] * 2)
    single = of("multipass")
    assert single.rows.tolist() == [4] * 4 + [7] * 4
    assert single.targets.sum(0).tolist() == counts.sum(0).tolist()


def test_sampled_labels_have_the_soft_target_as_their_mean():
    counts = np.array([[6, 3, 1], [0, 0, 5]])
    taught = lessons(Run("m", "s", 3, "sampled"), np.arange(2), counts)
    drawn = np.stack([taught(epoch).targets for epoch in range(4000)])
    assert (drawn.sum(2) == 1).all()
    # sd of a share of 4,000 is at most .008; 5 sd
    assert np.abs(drawn.mean(0) - counts / counts.sum(1, keepdims=True)).max() < 0.04
    assert np.array_equal(taught(7).targets, taught(7).targets)


# held-out votes
def test_held_out_votes_never_reach_training(tables):
    votes = read_votes(tables / "votes.parquet")
    kept = material(read_items(tables / "items.parquet"), votes, None, heldout=5, seed=2)
    assert np.array_equal(kept.counts + kept.held_out, votes.counts)
    assert kept.held_out.sum(1).tolist() == [5] * 60
    for budget in (1, 7, 15):
        assert (votes_of(Run("m", "s", 0, "soft", budget, draw=0), kept.counts) <= kept.counts).all()
    with pytest.raises(UsageError, match="fewer than 16 votes"):
        votes_of(Run("m", "s", 0, "soft", 16, draw=0), kept.counts)
    with pytest.raises(DataError, match="held out"):
        material(read_items(tables / "items.parquet"), votes, None, heldout=20)


def test_splits_partition_the_items_and_follow_their_name():
    made = random_splits(100, ["42", "43", "dev-set"], dev=0.1, test=0.2)
    for parts in made.values():
        everything = np.concatenate([parts.train, parts.dev, parts.test])
        assert sorted(everything.tolist()) == list(range(100))
        assert (len(parts.dev), len(parts.test)) == (10, 20)
    assert not np.array_equal(made["42"].test, made["43"].test)
    again = random_splits(100, ["43"], dev=0.1, test=0.2)["43"]
    assert np.array_equal(again.test, made["43"].test)
    with pytest.raises(UsageError, match="two parts"):
        Parts(np.array([0, 1]), np.array([1]), np.array([2]))


# 15: seeds
def test_the_head_is_seeded_before_it_is_built(bert):
    import torch

    first = load_classifier(Source(str(bert)), labels=tiny.NLI, init_seed=3).model.classifier.weight.detach().clone()
    torch.rand(1000)
    again = load_classifier(Source(str(bert)), labels=tiny.NLI, init_seed=3).model.classifier.weight
    other = load_classifier(Source(str(bert)), labels=tiny.NLI, init_seed=4).model.classifier.weight
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    saved = load_classifier(Source(str(bert))).model
    assert not torch.equal(first, saved.classifier.weight), "a saved head of the same size is no new head"
    encoder = load_classifier(Source(str(bert)), labels=tiny.NLI, init_seed=3).model.bert.state_dict()
    assert all(torch.equal(weight, encoder[name]) for name, weight in saved.bert.state_dict().items())


def test_the_same_seed_trains_the_same_model(problem):
    import torch

    first = logits_of(trained(problem)[0], np.arange(80))
    torch.rand(17)
    assert np.array_equal(first, logits_of(trained(problem)[0], np.arange(80)))
    assert not np.array_equal(first, logits_of(trained(problem, seed=1)[0], np.arange(80)))


def test_an_epoch_shows_every_item_once_in_another_order():
    lengths = np.random.default_rng(0).integers(5, 40, 300)
    first, second = (list(shuffled(lengths, 16, seed=1, epoch=epoch)) for epoch in (0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(300))
    assert not np.array_equal(np.concatenate(first), np.concatenate(second))
    padded = sum(lengths[b].max() * len(b) for b in first) / lengths.sum()
    random = sum(lengths[b].max() * len(b) for b in np.array_split(np.arange(300), 19)) / lengths.sum()
    assert padded < 1.15 < random


# early stopping
def test_the_best_epoch_is_kept(problem):
    recipe = Recipe(epochs=30, batch_size=8, learning_rate=0.05, patience=2, hidden=64, dropout=0.0)
    learner, history, dev = trained(problem, recipe, n_train=20)
    losses = history.dev_losses
    assert len(losses) < 30, "a large head on few items over-fits, so training must stop early"
    assert history.best_epoch == int(np.argmin(losses)) == len(losses) - 3
    assert dev_loss(learner, dev) == pytest.approx(min(losses), abs=1e-9)


def test_without_patience_the_last_epoch_is_taken(problem):
    learner, history, dev = trained(problem)
    assert history.best_epoch == 2
    assert dev_loss(learner, dev) == pytest.approx(history.dev_losses[-1], abs=1e-9)
    assert history.steps == 3 * 8  # 60 items in batches of 8


def test_the_development_loss_by_hand(problem):
    learner, _, dev = trained(problem)
    logits = logits_of(learner, dev.rows).astype(float)
    probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert dev_loss(learner, dev) == pytest.approx(-(dev.targets * np.log(probs)).sum(1).mean(), abs=1e-12)


# 12: memory
def test_too_little_memory_changes_the_micro_batch_and_not_the_training(problem):
    import torch

    recipe = Recipe(epochs=2, batch_size=16, learning_rate=1e-2, patience=None, hidden=8, dropout=0.0)
    expected = logits_of(trained(problem, recipe)[0], np.arange(80))
    features, targets = problem
    rows = np.arange(60)
    learner = head(features, rows, 3, recipe, init_seed=0)
    said = []

    def small(part):
        if learner.module.training and len(part) > 5:
            raise torch.OutOfMemoryError("no memory")
        return learner.forward(part)

    taught = Lessons(rows, targets[:60])
    history = fit(
        Learner(learner.module, small, learner.lengths), lambda epoch: taught,
        Lessons(np.arange(60, 80), targets[60:]), recipe, seed=0, say=said.append,
    )  # fmt: skip
    assert np.abs(logits_of(learner, np.arange(80)) - expected).max() < 1e-5
    assert history.micro_batch == 4
    assert history.steps == 8
    assert said == [f"not enough memory: {n} items at once from here on, the batch stays the same" for n in (8, 4)]


# 9: what half precision does must be noticed
def test_a_loss_that_is_not_finite_stops(problem):
    features, targets = problem
    learner = head(features, np.arange(60), 3, FAST, init_seed=0)
    broken = Learner(learner.module, lambda rows: learner.forward(rows) * float("nan"), learner.lengths)
    with pytest.raises(UsageError, match="not finite after epoch 1"):
        fit(
            broken,
            lambda e: Lessons(np.arange(60), targets[:60]),
            Lessons(np.arange(60, 80), targets[60:]),
            FAST,
            seed=0,
        )


def test_a_model_that_says_the_same_about_every_item_stops(problem):
    features, targets = problem
    learner = head(features * 0, np.arange(60), 3, FAST, init_seed=0)
    with pytest.raises(UsageError, match="the same about every development item"):
        fit(
            learner,
            lambda e: Lessons(np.arange(60), targets[:60]),
            Lessons(np.arange(60, 80), targets[60:]),
            FAST,
            seed=0,
        )


def test_bf16_is_autocast_over_float32_weights(problem):
    import torch

    learner, _, _ = trained(problem, Recipe(epochs=1, batch_size=8, precision="bf16", patience=None, hidden=8))
    assert {weight.dtype for weight in learner.module.parameters()} == {torch.float32}


def test_frozen_embeddings_stay(bert, tables):
    import torch

    items = read_items(tables / "items.parquet")
    checkpoint = load_classifier(Source(str(bert)), labels=tiny.NLI, init_seed=0)
    encoded = prepared(checkpoint, items, None, "warn", lambda text: None)
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=1e-2, patience=None, freeze="embeddings")
    table = checkpoint.model.bert.embeddings.word_embeddings.weight
    before, layer = table.detach().clone(), checkpoint.model.classifier.weight.detach().clone()
    rows = np.arange(40)
    with exact_arithmetic("float32", "cpu"):
        fit(whole_model(checkpoint, encoded, recipe), lambda e: Lessons(rows, np.full((40, 3), 1 / 3)),
            Lessons(np.arange(40, 60), np.full((20, 3), 1 / 3)), recipe, seed=0)  # fmt: skip
    assert torch.equal(table, before)
    assert not torch.equal(checkpoint.model.classifier.weight, layer)


def test_unknown_entries_of_a_recipe_are_refused():
    with pytest.raises(UsageError, match=r"unknown entries learning_rat; it knows .*learning_rate"):
        recipe_of({"learning_rat": 1})
    with pytest.raises(UsageError, match=r"epochs is 0.*warmup is 1"):
        recipe_of({"epochs": 0, "warmup": 1})
