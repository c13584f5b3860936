"""`weigh split`: divide the rows of files into training and test rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    check_output_path,
    data_file_options,
    json_option,
    open_source,
)
from weigh.cli.output import print_json, print_text

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
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
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
    as_json: bool,
    **written: Any,
) -> None:
    """Divide the rows of files into training and test rows, at random or by time or group.

    Rows are copied as they are written, in their order, with the header in both files. CSV, TSV, JSON lines,
    fastText, Vowpal Wabbit, LIBSVM and Parquet files can be divided. The same seed gives the same rows.
    """
    from weigh.cli.row_copies import RowCopier

    if sum(option is not None for option in (label, time, group)) > 1:
        raise click.UsageError("Give one of --label, --time and --group.")
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
    values = read_labels(source)
    is_test = _split_rows(values, column, share, seed, time is not None, group is not None)
    copier.copy(is_test)
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
        labels += (
            [None] * chunk.n_rows if chunk.labels is None else to_pylist(chunk.labels, source.label or "")
        )
    return labels


def _split_rows(
    values: list[Any], column: str | None, share: float, seed: int, by_time: bool, by_group: bool
) -> Any:
    """Return the mask of the test rows, given the class, time or group of every row."""
    from weigh.learn.train_test_split import encode_values, grouped_split, latest_split, stratified_split

    if by_time:
        return latest_split(_read_times(values, str(column)), share)
    return (grouped_split if by_group else stratified_split)(encode_values(values), share, seed)


def _read_times(values: list[Any], column: str) -> list[Any]:
    """Return times that can be compared: numbers, or dates in ISO 8601."""
    import datetime

    from weigh import errors

    times: list[Any] = []
    for row, value in enumerate(values):
        try:
            times.append(datetime.datetime.fromisoformat(value) if isinstance(value, str) else value + 0)
        except (TypeError, ValueError):
            times.append(value if isinstance(value, datetime.date) else None)
        if times[-1] is None or times[-1] != times[-1]:
            raise errors.DataError(
                f"Row {row:,} (the first is 0) has {value!r} in column {column!r}, which is no number and no "
                f"date such as 2024-05-31."
            )
    try:
        max(times)
    except TypeError:
        raise errors.DataError(
            f"Column {column!r} has times that cannot be compared: some have a time zone, or are numbers, "
            f"and others are not."
        ) from None
    return times


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
        counts.setdefault(value, [0, 0])[flag] += 1
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
