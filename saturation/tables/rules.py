"""Every rule that a table can break: a code for programs, a slug for file names, a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One validation rule; ``saturation check --rules`` prints them."""

    code: str
    slug: str
    sentence: str


RULES = (
    # files
    Rule("F01", "suffix-disagrees", "The content of a file agrees with its suffix."),
    Rule("F02", "no-rows", "A table has at least one row."),
    Rule("F03", "not-utf8", "Text files are UTF-8."),
    Rule("F04", "broken-row", "CSV rows are as long as the header; JSONL has one object a line; no file is cut off."),
    Rule("F05", "repeated-column", "Column names differ."),
    Rule("F06", "columns-differ", "Files of one table have the same columns, column types and metadata."),
    Rule("F07", "bad-metadata", "Metadata (in parquet, or the file <file>.meta.json) is complete and fits the table."),
    # any table
    Rule("T01", "missing-column", "The columns that a table needs are there."),
    Rule("T02", "unclear-table", "It is clear which table a file is; `--as` says it where it is not."),
    Rule("T03", "empty-id", "Ids and other key columns are never empty."),
    Rule("T04", "long-id", "Ids are at most 1,000 characters long."),
    Rule("T05", "unprintable-id", "Ids contain printable characters only, without line breaks."),
    Rule("T06", "number-as-id", "Ids and labels are text or whole numbers, not decimal numbers, lists or objects."),
    Rule("T07", "repeated-item", "An item has one row in a table of items or counts."),
    # labels
    Rule("L01", "no-labels", "A table has at least two labels; a wide one has a column for each."),
    Rule("L02", "not-a-label", "Every `n_` or `p_` column is a label: rename others or pass --labels."),
    Rule("L03", "label-without-column", "Every declared label has its column."),
    Rule("L04", "bad-label-name", "Label names differ, are printable and have 1 to 1,000 characters."),
    Rule("L05", "too-many-labels", "There are at most 1,000 labels."),
    # votes and counts
    Rule("V01", "empty-label", "A vote has a label; `--missing-labels drop` leaves out those without."),
    Rule("V02", "undeclared-label", "A vote's label is one of the declared labels."),
    Rule("V03", "repeated-vote", "An annotator labels an item once; `--duplicates first` or `last` chooses otherwise."),
    Rule("V04", "bad-pool", "`pool` is train or heldout."),
    Rule("V05", "bad-seconds", "`seconds` is a number of at least 0."),
    Rule("V06", "bad-count", "Vote counts are whole numbers of at least 0; an item has at most 10,000 votes."),
    Rule("V07", "no-votes", "An item has at least one vote; `--missing-labels drop` leaves out those without."),
    # distributions
    Rule("P01", "not-a-probability", "Probabilities are numbers between 0 and 1."),
    Rule("P02", "sum-not-one", "The probabilities of a row sum to 1 (within 1e-6)."),
    Rule("P03", "other-scale", "`p_` columns hold probabilities, not logits, log-probabilities or percentages."),
    Rule("P04", "repeated-prediction", "A condition, seed and split predicts an item once."),
    Rule("P05", "unknown-column", "Further columns are declared (--condition-columns) or left out (--ignore-columns)."),
    Rule("P06", "reserved-column", "Condition columns do not take the name of a column with a fixed meaning."),
    Rule("P07", "method-needed", "`method` is there when an item has more than one row."),
    Rule("P08", "bad-budget", "`budget` is a whole number of at least 1, or empty (all votes)."),
    Rule("P09", "bad-condition-value", "strength is in [0, 1], alpha at least 0 and temperature above 0."),
    Rule("P10", "bad-seed", "`seed` (and `draw`) is a whole number; only base_rate rows may go without a seed."),
    Rule("P11", "bad-part", "`part` is train, dev or test."),
    Rule("P12", "repeated-soft-vote", "An annotator gives one distribution for an item."),
    # one table against another
    Rule("A01", "label-not-predicted", "Every label of the votes has a `p_` column in the predictions."),
    Rule("A02", "label-not-voted", "Every `p_` column is a label of the votes, where those are declared."),
    Rule("A03", "item-not-everywhere", "All conditions and seeds of a split predict the same items (--missing)."),
    Rule("A04", "no-common-cell", "At least one split and seed is there under every condition."),
    Rule("A05", "nothing-in-part", "The part that is asked for has predictions."),
    Rule("A06", "no-common-item", "At least one predicted item has votes."),
    Rule("A07", "bad-majority", "A published majority label is one of the labels."),
    Rule("A08", "items-disagree", "An attribute found in two tables has the same value in both."),
    Rule("A09", "repeated-split-item", "An item is in a split once."),
    Rule("A10", "parts-disagree", "The splits table has every predicted item and agrees with `part`."),
)  # fmt: skip
"""All rules, in the order in which they are printed."""

BY_CODE = {rule.code: rule for rule in RULES}
