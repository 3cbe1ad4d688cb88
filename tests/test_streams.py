"""Random words: the published mixer, and NumPy equal to the pure-Python mirror."""

from __future__ import annotations

import numpy as np
import pytest

from saturation import streams
from saturation.streams import Purpose, mix64, uniforms, word, words


def test_the_mixer_is_splitmix64():
    """First three outputs of the splitmix64 generator started at 0 (Vigna's C code): state k * GOLDEN, mixed."""
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [mix64(k * streams.GOLDEN) for k in (1, 2, 3)] == expected


@pytest.mark.parametrize("seed", [0, 7, 2**63 + 5])
@pytest.mark.parametrize("purpose", [Purpose.ITEMS, Purpose.MAX_T])
def test_numpy_words_equal_the_mirror(seed, purpose):
    grid = words(seed, purpose, np.array([0, 1, 2**40])[:, None], np.array([0, 5, 2**33]))
    assert grid.tolist() == [[word(seed, purpose, s, c) for c in (0, 5, 2**33)] for s in (0, 1, 2**40)]


def test_purposes_are_distinct_numbers_and_streams():
    assert len({int(p) for p in Purpose}) == len(Purpose)
    assert len({word(0, p, 0, 0) for p in Purpose}) == len(Purpose)


def test_uniforms_are_open_and_uniform():
    """100,000 draws in 20 bins: chi-square with 19 df exceeds 43.8 once in a thousand seeds."""
    u = uniforms(3, Purpose.ITEMS, np.arange(100)[:, None], np.arange(1000)).ravel()
    assert u.min() > 0
    assert u.max() < 1
    observed = np.bincount((u * 20).astype(int), minlength=20)
    assert ((observed - 5000) ** 2 / 5000).sum() < 43.8


@pytest.mark.parametrize(("first", "second"), [((0, 0), (0, 1)), ((0, 1), (1, 0))])
def test_streams_and_counters_are_uncorrelated(first, second):
    """sd of r is 1/sqrt(50,000) = .0045; five of them."""
    counters = np.arange(50_000)
    a, b = (uniforms(11, Purpose.ITEMS, np.full(50_000, s), counters + c) for s, c in (first, second))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.0225


def test_seed_of_takes_a_seed_or_a_generator():
    assert streams.seed_of(5) == 5
    generator = np.random.default_rng(1)
    drawn = streams.seed_of(generator)
    assert drawn == streams.seed_of(np.random.default_rng(1))
    assert drawn != streams.seed_of(generator)
    assert 0 <= drawn < 2**63


@pytest.mark.parametrize("bad", [-1, 1.5, "a", None, True])
def test_seed_of_refuses_what_is_no_seed(bad):
    from saturation.errors import UsageError

    with pytest.raises(UsageError, match="seed"):
        streams.seed_of(bad)
