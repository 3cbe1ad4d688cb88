"""Prompts for language models: a template with label words, and the order in which options are listed."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from inference.items import Items
from saturation.errors import UsageError
from saturation.streams import Purpose, words

OPTIONS = "options"
_ALL_ORDERS_UP_TO = 4


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt and the words of the labels.

    Attributes
    ----------
    text
        With ``{column}`` for texts of the items, and ``{options}`` where the labels are listed.
    label_words
        (labels,) what stands for each label, in the order of the tables.
    """

    text: str
    label_words: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A hash of all that the prompt consists of."""
        return hashlib.sha256("\0".join((self.text, *self.label_words)).encode()).hexdigest()

    @property
    def lists_options(self) -> bool:
        """Whether the labels are listed in the prompt, so that their order can matter."""
        return OPTIONS in _fields(self.text)

    def prompt(self, columns: Mapping[str, str], order: Sequence[int]) -> str:
        """The prompt of one item; the blanks at its end belong to the label."""
        listed = ", ".join(self.label_words[k] for k in order)
        return self.text.format(**columns, **({OPTIONS: listed} if self.lists_options else {}))

    def with_label(self, prompt: str, label: int) -> tuple[str, str]:
        """(prompt, continuation): blanks at the end of the prompt go to the label, as its tokens have them.

        Examples
        --------
        >>> Template("{text} Answer: ", ("yes", "no")).with_label("Rain? Answer: ", 1)
        ('Rain? Answer:', ' no')
        """
        bare = prompt.rstrip(" ")
        return bare, prompt[len(bare) :] + self.label_words[label]


def template(text: str, labels: Sequence[str], label_words: Mapping[str, str] | None, items: Items) -> Template:
    """Check a template against the labels and the items.

    Raises
    ------
    UsageError
        When it names a column that the items do not have, uses none of them, or two labels share their words.
    """
    unknown = sorted(set(label_words or {}) - set(labels))
    if unknown:
        raise UsageError(f"--label-words names {', '.join(unknown)}; the labels are {', '.join(labels)}")
    spoken = tuple((label_words or {}).get(label, label) for label in labels)
    if len(set(spoken)) < len(spoken) or not all(word.strip() for word in spoken):
        raise UsageError(f"every label needs words of its own, not {', '.join(map(repr, spoken))}")
    try:
        fields = _fields(text)
    except ValueError as error:
        raise UsageError(f"the template cannot be read: {error}; write {{{{ and }}}} for braces") from error
    wrong = sorted(fields - {*items.columns, OPTIONS})
    if wrong or not fields & set(items.columns):
        raise UsageError(
            f"the template uses {', '.join(wrong) or 'no text'}; it can use "
            f"{', '.join(f'{{{name}}}' for name in (*items.columns, OPTIONS))}"
        )
    return Template(text, spoken)


def orders(n_labels: int, count: int | None, seed: int) -> tuple[tuple[int, ...], ...]:
    """Orders in which labels are listed: every label as often in every place as can be.

    Parameters
    ----------
    n_labels
        How many labels.
    count
        How many orders; None: all of them for up to four labels, else one a label (the rotations of a random order).
    seed
        Of that random order; orders beyond the rotations are those of further random orders.

    Examples
    --------
    >>> len(orders(3, None, 0)), orders(3, 1, 0)
    (6, ((0, 1, 2),))
    """
    if count == 1:
        return (tuple(range(n_labels)),)
    if count is None and n_labels <= _ALL_ORDERS_UP_TO:
        return tuple(permutations(range(n_labels)))
    wanted = n_labels if count is None else count
    made: dict[tuple[int, ...], None] = {}
    stream = 0
    while len(made) < wanted and stream < 100 * wanted:
        noise = words(seed, Purpose.TRAINING_ORDER, np.array([stream]), np.arange(n_labels))
        first = noise.argsort(kind="stable").tolist()
        made |= dict.fromkeys(tuple(first[shift:] + first[:shift]) for shift in range(n_labels))
        stream += 1
    if len(made) < wanted:
        raise UsageError(f"there are fewer than {wanted} orders of {n_labels} labels")
    return tuple(made)[:wanted]


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
