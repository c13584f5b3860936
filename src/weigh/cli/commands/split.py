"""`weigh split`: divide the rows of files into training and test rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_output_path,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    open_source,
)
from weigh.cli.output.text import print_json, print_text, show_note

if TYPE_CHECKING:
    from weigh.source.base import Source

SECTIONS = {
    "Examples": """
        weigh split adult.csv --label income --train train.csv --test test.csv
        weigh split adult.csv --share 0.3 --seed 7 --train train.csv --test test.csv
        weigh split sales.csv --time date --train past.csv --test recent.csv
        weigh split visits.csv --group patient --train train.csv --test test.csv
        weigh split 'logs-*.jsonl' --label level --train train.jsonl --test test.jsonl
    """,
}

share_type = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@data_argument
@click.option("--train", required=True, metavar="FILE", help="The file for the training rows.")
@click.option("--test", required=True, metavar="FILE", help="The file for the test rows.")
@click.option(
    "--share",
    type=share_type,
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Share of the test rows.",
)
@click.option("--label", metavar="COLUMN", help="Give every class the same share of test rows.")
@click.option("--time", metavar="COLUMN", help="The latest rows by this column are the test rows.")
@click.option("--group", metavar="COLUMN", help="Keep the rows of a group, such as a person, together.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of the draw."
)
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    data: tuple[str, ...],
    train: str,
    test: str,
    share: float,
    label: str | None,
    time: str | None,
    group: str | None,
    seed: int,
    drop_missing_labels: bool,
    as_json: bool,
    **written: Any,
) -> None:
    """Divide the rows of files into training and test rows, at random or by time or group.

    Rows are copied as they are written, in their order, with the header in both files. CSV, TSV, JSON lines,
    fastText, Vowpal Wabbit, LIBSVM and Parquet files can be divided. The same seed gives the same rows.
    """
    from weigh.cli.output.progress import show_job_progress, show_row_progress
    from weigh.cli.splitting.row_copies import RowCopier

    if sum(option is not None for option in (label, time, group)) > 1:
        raise click.UsageError(
            "Give one of --label, --time and --group: each decides alone which rows are for the test. "
            "--label takes the same share of every class, --time the latest rows, --group whole groups."
        )
    if drop_missing_labels and label is None:
        raise click.UsageError("--drop-missing-labels needs --label COLUMN.")
    for path, option in ((train, "--train"), (test, "--test")):
        check_output_is_not_input(path, *data)
        check_output_path(path, option)
    if os.path.realpath(train) == os.path.realpath(test):
        raise click.UsageError("--train and --test name the same file.")
    column = label or time or group
    # Markers are values here: the rows are only copied.
    source = open_source(data, None, (), **written)
    copier = RowCopier.for_source(source, train, test)
    if column is not None:
        source = source.with_label(column)
    with show_row_progress(source) as shown:
        values = read_labels(shown)
    is_known = _find_labels(values, data, drop_missing_labels)
    values = list(compress(values, is_known))
    is_test = _split_rows(values, column, share, seed, time is not None, group is not None)
    with show_job_progress("rows") as progress:
        copier.copy(is_test, is_known, progress)
    facts = _summarise_split(is_test, values if label is not None else [], train, test)
    if as_json:
        print_json(facts)
    else:
        print_text(_format_split(facts, column, time, group))


def read_labels(source: Source) -> list[Any]:
    """Return the label of every row of a source, None without a label column."""
    from weigh.source.chunk import to_pylist

    # One column must stay: formats count their rows by one.
    skipped = dict.fromkeys(source.names if source.label is not None else source.names[1:], "skip")
    labels: list[Any] = []
    for chunk in source.chunks(skipped):
        found = [] if chunk.labels is None else to_pylist(chunk.labels, source.label or "")
        # A number that is missing is NaN, which equals no other.
        labels += [None if label != label else label for label in found] or [None] * chunk.n_rows
    return labels


def _find_labels(values: list[Any], data: Sequence[str], drop_missing_labels: bool) -> Any:
    """Return the mask of the rows to copy: all, or those with a label."""
    import numpy as np

    if not drop_missing_labels:
        return np.ones(len(values), dtype=np.bool_)
    is_known = np.array([value is not None and value == value for value in values], dtype=np.bool_)
    if n_dropped := len(values) - int(is_known.sum()):
        rows = "row has" if n_dropped == 1 else "rows have"
        left = "was" if n_dropped == 1 else "were"
        first = int(is_known.argmin())
        show_note(
            f"{', '.join(data)}: {n_dropped:,} {rows} no label and {left} left out, of {len(values):,} "
            f"(first: row {first:,})."
        )
    return is_known


def _split_rows(
    values: list[Any], column: str | None, share: float, seed: int, by_time: bool, by_group: bool
) -> Any:
    """Return the mask of the test rows, given the class, time or group of every row."""
    from weigh.learn.train_test_split import encode_values, grouped_split, latest_split, stratified_split

    if by_time:
        from weigh.cli.splitting.row_times import read_times

        return latest_split(read_times(values, str(column)), share)
    return (grouped_split if by_group else stratified_split)(encode_values(values), share, seed)


def _summarise_split(is_test: Any, classes: list[Any], train: str, test: str) -> dict[str, Any]:
    """Return the number of rows of each file, and of each class if there are classes."""
    n_test = int(is_test.sum())
    facts: dict[str, Any] = {
        "train": {"file": train, "rows": len(is_test) - n_test},
        "test": {"file": test, "rows": n_test},
    }
    if not classes:
        return facts
    counts: dict[Any, list[int]] = {}
    for value, flag in zip(classes, is_test.tolist(), strict=True):
        counts.setdefault(None if value != value else value, [0, 0])[flag] += 1
    order = sorted(counts, key=lambda value: (value is None, str(value)))
    return facts | {
        "classes": [{"class": value, "train": counts[value][0], "test": counts[value][1]} for value in order]
    }


MAX_LISTED_CLASSES = 25


def _format_split(facts: dict[str, Any], column: str | None, time: str | None, group: str | None) -> str:
    """Return the split as text."""
    from weigh.text import escape_control_characters, format_quantity, text_table, truncate

    how = "at random"
    if column is not None:
        rule = "the latest by" if time else "whole groups of" if group else "the same share of every"
        how = f"{rule} {escape_control_characters(column)}"
    lines = [
        f"{format_quantity(facts[part]['rows'], 'row')} -> {escape_control_characters(facts[part]['file'])}"
        for part in ("train", "test")
    ]
    text = f"{lines[0]}\n{lines[1]} ({how})"
    classes = facts.get("classes", [])
    if not 0 < len(classes) <= MAX_LISTED_CLASSES:
        return text
    rows = [[truncate(each["class"], 40), f"{each['train']:,}", f"{each['test']:,}"] for each in classes]
    return f"{text}\n\n{text_table([['class', 'train', 'test'], *rows])}"
