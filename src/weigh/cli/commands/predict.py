"""`weigh predict`: stream predictions for the rows of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import (
    check_output_is_not_input,
    class_by_name,
    data_argument,
    data_file_options,
    json_option,
    model_argument,
    open_source_for_model,
    predictive_option,
    raw_option,
)
from weigh.cli.output.text import print_text

if TYPE_CHECKING:
    from weigh.source.base import Source

SECTIONS = {
    "Examples": """
        weigh predict income.weigh new.csv
        weigh predict income.weigh new.csv --keep id -o predictions.xlsx
        weigh predict income.weigh 'new-*.csv' --keep all -o predictions.parquet
        weigh predict stars.weigh reviews.csv --top 3 --reasons 2
        weigh predict income.weigh new.csv --proba -o predictions.csv
        weigh predict spam.weigh mails.csv --unsure 0.1          # 'unsure' below 90 %
        weigh predict spam.weigh mails.csv --cost ham:spam=20    # lost ham costs 20
        weigh predict spam.weigh mails.csv --unsure 0.1 --predictive   # from few rows
        weigh predict income.weigh new.csv --check               # flag unfamiliar rows
        weigh predict price.weigh homes.csv --std                # with std. deviation
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_argument
@data_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Output file: .csv, .tsv, .jsonl (also .gz), .parquet or .xlsx. [default: standard output]",
)
@click.option("--rows", is_flag=True, help="Also write the number of every row; the first is 0.")
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Copy a column of the input, with the row number; 'all' copies all. Repeatable.",
)
@click.option("--proba", is_flag=True, help="Also write the probability of every class.")
@click.option("--top", type=click.IntRange(1), metavar="K", help="Also write the K most probable classes.")
@click.option(
    "--reasons", type=click.IntRange(1), metavar="N", help="Also write the N strongest reasons of every row."
)
@click.option("--unsure", type=click.FloatRange(0), metavar="COST", help="Cost of the answer 'unsure'.")
@click.option(
    "--cost", "costs", multiple=True, metavar="TRUE:SAID=COST", help="Cost of an error; others cost 1."
)
@predictive_option
@click.option("--check", is_flag=True, help="Also flag rows unlike the training rows.")
@click.option("--std", is_flag=True, help="Regression: also write the predictive standard deviation.")
@raw_option
@data_file_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    output: str | None,
    rows: bool,
    keep: tuple[str, ...],
    raw: bool,
    as_json: bool,
    proba: bool,
    top: int | None,
    reasons: int | None,
    unsure: float | None,
    costs: tuple[str, ...],
    predictive: bool,
    check: bool,
    std: bool,
    **written: Any,
) -> None:
    """Write a prediction and its probability for every row of one or more files.

    A perceptron has no probabilities and writes the lead over the next class instead. A linear regression
    writes the predicted number, with --std also its standard deviation.

    With --predictive, all probabilities, verdicts and reasons of naive Bayes and joint Bayes have the
    parameters integrated out instead of estimated, so that few training rows give less certain ones.

    The rows need the columns of the training data; others are ignored. Every row gets one line, in the order
    of the rows. With --rows or --keep, a line begins with the row's number, and with several files also with
    the name of its file. With --json every row is one line of JSON.

    In CSV, control characters in names become escapes, and names that a spreadsheet would run as formulas,
    such as =1+1, get a single quote in front. --raw writes all names unchanged, except that control
    characters never reach a terminal. Excel sheets hold names as strings, which are never run.
    """
    from weigh.cli.output.tables import table_format
    from weigh.model.base import Model
    from weigh.model.file.loading import load

    check_output_is_not_input(output, model, *data)
    format = table_format(output, as_json)
    loaded = load(model)
    predictor: Any
    if isinstance(loaded, Model):
        from weigh.cli.prediction.classes import ClassPredictor

        _refuse_std(std)
        table = dict(_parse_cost(text, loaded.classes) for text in costs)
        if predictive:
            loaded = loaded.predictive()
        predictor = ClassPredictor.build(loaded, proba, top, reasons, table, unsure, check)
    else:
        from weigh.cli.prediction.regression import RegressionPredictor

        used = {
            "--proba": proba,
            "--top": top,
            "--unsure": unsure is not None,
            "--cost": costs,
            "--predictive": predictive,
        }
        unsupported = [name for name in used if used[name]]
        predictor = RegressionPredictor.build(loaded, std, reasons, check, unsupported)
    sources = [(path, _open_source(loaded, path, written)) for path in _list_files(data)]
    write_predictions(predictor, sources, output, format, keep, raw, rows)
    if predictor.note:
        print_text(predictor.note, err=True)


def _refuse_std(std: bool) -> None:
    from weigh import errors

    if std:
        raise errors.Unsupported(
            "--std is for regressions, and this model predicts classes. --proba writes the probability of "
            "each class."
        )


def _list_files(data: Sequence[str]) -> list[str]:
    """Return the files that the arguments name; patterns stand for several."""
    from weigh.source.paths import STDIN_PATH, resolve_paths

    return [
        file
        for path in data
        for file in ([path] if path == STDIN_PATH else [str(found) for found in resolve_paths(path)])
    ]


def _open_source(model: Any, path: str, written: dict[str, Any]) -> Source:
    """Open a file, and raise an error before anything is written if the model cannot read its columns."""
    aligned: Source = model.schema.align_source(open_source_for_model(model, path, **written))
    return aligned


def write_predictions(
    predictor: Any,
    sources: Sequence[tuple[str, Source]],
    output: str | None,
    format: str,
    keep: Sequence[str],
    raw: bool,
    has_rows: bool,
) -> None:
    """Write the predictions for all rows of all files, and say how many there are if they are in a file."""
    import sys

    from weigh.cli.output.progress import show_row_progress
    from weigh.cli.output.tables import OutputColumn, open_table

    has_files = len(sources) > 1
    identity = ["file"] * has_files + ["row"] * (has_rows or has_files or bool(keep))
    own_names = [*identity, *(column.name for column in predictor.columns)]
    names = _select_columns(keep, sources, own_names) if keep else []
    columns = [*map(OutputColumn, [*identity, *names]), *predictor.columns]
    is_file = output is not None and output != "-"
    is_terminal = not is_file and sys.stdout.isatty()
    row = 0
    with open_table(output, format, columns, raw) as writer:
        for path, opened in sources:
            kept = _read_columns(opened, names, format) if names else None
            with show_row_progress(opened, not is_terminal) as source:
                for values in predictor.predict(source):
                    n = len(values[0])
                    known = {"file": [path] * n, "row": range(row, row + n)}
                    writer.write(
                        [*(known[name] for name in identity), *(kept.take(n) if kept else []), *values]
                    )
                    row += n
    if is_file:
        from weigh.text import escape_control_characters, format_quantity

        counted = f"{format_quantity(row, 'row')} -> {escape_control_characters(str(output))}"
        print_text(f"{counted}: {predictor.summary()}", err=True)


def _select_columns(
    keep: Sequence[str], sources: Sequence[tuple[str, Source]], own_names: Sequence[str]
) -> Sequence[str]:
    """Return the columns to keep, which all files must have."""
    from weigh.cli.prediction.kept_columns import select_columns

    names = keep
    for _, source in sources:
        names = select_columns(names, source, own_names)
    return names


def _read_columns(source: Source, names: Sequence[str], format: str) -> Any:
    from weigh.cli.prediction.kept_columns import KeptColumns

    return KeptColumns(source, names, is_typed=format not in ("csv", "tsv"))


def _parse_cost(text: str, classes: list[Any]) -> tuple[tuple[Any, Any], float]:
    pair, _, cost = text.rpartition("=")
    names = [str(label) for label in classes]
    # A class may be called "a:b", so every colon is tried.
    for at in (k for k, mark in enumerate(pair) if mark == ":"):
        if pair[:at] in names and pair[at + 1 :] in names:
            try:
                return (classes[names.index(pair[:at])], classes[names.index(pair[at + 1 :])]), float(cost)
            except ValueError:
                break
    if ":" in pair:
        for name in pair.split(":", 1):
            class_by_name(name, classes, "--cost")
    raise click.BadParameter(f"{text!r} is not TRUE:SAID=COST.", param_hint="'--cost'")
