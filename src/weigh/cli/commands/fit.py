"""`weigh fit`: train a model from files."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.learner_choice import AUTO, choose_learner, write_options
from weigh.cli.notation import to_command_line, write_option
from weigh.cli.options import (
    check_output_is_not_input,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    open_source,
)
from weigh.cli.output.text import print_json, print_text
from weigh.cli.parameter_help import kind_rows, setting_rows
from weigh.cli.target import REGRESSION, explain_numbers, predicts_numbers, prepare_target
from weigh.parameters.learners import LEARNERS

if TYPE_CHECKING:
    from weigh.estimators.leave_one_out_calibration import LeaveOneOutCalibration
    from weigh.source.base import Source

SECTIONS = {
    "Examples": """
        weigh fit mails.csv --label spam                         # choose the learner
        weigh fit mails.csv --label spam --learner naive-bayes
        weigh fit adult.csv --label income --missing '?' -o income.weigh
        weigh fit adult.csv --label income --hold-out 0.2        # evaluate on a fifth
        weigh fit adult.csv --label income --kind fnlwgt=skip --kind age=number:bins=16
        weigh fit sms.tsv --names label,text --no-quotes --label label
        weigh fit sms.csv --label label --kind text=text:ngrams=1-2,min_count=2
        weigh fit 'reviews-*.csv.gz' --label stars --kind body=text:buckets=2^20
        weigh fit mails/ -o mails.weigh
        zcat log.csv.gz | weigh fit - --format csv --label level
        weigh fit mails.csv --label spam --set prior=dirichlet:2
        weigh fit mails.csv --label spam --set class_prior='{"spam": 0.9, "ham": 0.1}'
        weigh fit mails.csv --label spam --learner perceptron --set margin=1
        weigh fit adult.csv --label income --learner logistic --set scale=unit
        weigh fit reviews.csv --label product --kind product=category
        weigh fit adult.csv --label income --learner logistic --set curves=auto
        weigh fit homes.csv --label price --learner linear
        weigh fit homes.csv --label price --learner linear --set prior=laplace:cv
        weigh fit homes.csv --label price --learner linear --set noise=laplace
        weigh fit 'data/*.parquet' --label y --engine dask
    """,
    "--learner auto": """
        compares on held-out rows of a sample, and trains the best on all rows:
          classes   naive-bayes, logistic, logistic with curves, and with pairs
          numbers   linear, linear with curves, and with pairs
        Of learners whose loss exceeds the smallest by at most one standard error,
        and also by at most 5 %, the simplest is chosen. Curves also pool rare
        categories.
        Text, fewer than 20 rows and a single class go to naive-bayes without a
        comparison. --set limits it to the learners that have the parameter.
    """,
    **{
        f"--set, for {table.name} (with defaults)": setting_rows(table)
        for table in LEARNERS.values()
        if table.settings
    },
    "--kind, for columns (with settings and their defaults)": kind_rows(),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@data_argument
@click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it.")
@click.option("-o", "--output", metavar="MODEL", help="The model file. [default: name of DATA with .weigh]")
@click.option(
    "--learner",
    type=click.Choice([AUTO, *LEARNERS]),
    default=AUTO,
    show_default=True,
    help="Learning method; auto chooses one, see below.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="Kind of a column; see below.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Train without this share of the rows, and evaluate on them.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of --hold-out."
)
@click.option(
    "--engine",
    metavar="ENGINE",
    help="Count partitions of Parquet files: dask, spark, dask=ADDRESS of a scheduler, or spark=MASTER.",
)
@click.option("--threads", type=click.IntRange(1), help="Number of threads. [default: all cores]")
@drop_missing_labels_option
@data_file_options
@json_option
def command(
    data: tuple[str, ...],
    label: str | None,
    output: str | None,
    learner: str,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    hold_out: float | None,
    seed: int,
    threads: int | None,
    engine: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Train a model from files.

    DATA is CSV, TSV, a spreadsheet, Parquet or JSON lines, fastText, Vowpal Wabbit or LIBSVM lines, a folder
    with a folder per class, a pattern such as 'mails-*.csv', or - for standard input; .gz, .bz2, .xz, .zst
    and .lz4 are decompressed. Several files with the same columns are one table. Kinds of columns (category,
    flag, number, date, text) are inferred from the first rows; --kind overrides them. A kind without a
    column, such as --kind count, applies to all columns.
    """
    from weigh import errors
    from weigh.cli.output.fit_summary import format_fit_summary, summarise_fit
    from weigh.learn.leaking_columns import warn_of_leaking_columns
    from weigh.learn.single_row_classes import warn_of_single_row_classes

    if output == "-":
        raise click.UsageError("A model is written to a file; give its name with -o.")
    target = output or _default_name(data[0])
    check_output_is_not_input(target, *data)
    if engine is not None:
        _check_engine_options(written, hold_out=hold_out, threads=threads)
    with _collect_warnings() as caught, ExitStack() as stack:
        if engine is None:
            source = open_source(data, label, missing, **written)
        else:
            source = stack.enter_context(_open_partitions(data, engine, label, missing))
        if source.label is None:
            raise click.UsageError(
                "Name the column to predict with --label. "
                f"The columns are {errors.quote_names(source.names)}."
            )
        is_automatic = learner == AUTO
        why_numbers = None
        if is_automatic:
            learner = REGRESSION if predicts_numbers(source, kinds) else "naive-bayes"
            why_numbers = explain_numbers(source, kinds)
        source, kinds = prepare_target(source, kinds, [learner])
        test_rows = choice = None
        if hold_out is not None:
            source, test_rows = _hold_out(source, hold_out, seed, learner == REGRESSION)
        if is_automatic and engine is None:
            choice = choose_learner(source, settings, kinds, missing, is_regression=learner == REGRESSION)
            learner = choice.learner
            settings += tuple(f"{name}={value}" for name, value in choice.parameters.items())
        model, calibration = _fit_model(learner, source, settings, kinds, missing, threads)
        if hasattr(model, "classes"):
            warn_of_single_row_classes(source, model.classes)
            warn_of_leaking_columns(source, model.schema)
    replaced = os.path.exists(target)
    model.save(target)
    notes = list(dict.fromkeys(to_command_line(each.message) for each in caught))
    notes += [why_numbers] if why_numbers else []
    facts = summarise_fit(model, learner, data, calibration) | {"notes": notes, "model": target}
    if choice is not None:
        facts["choice"] = {**choice.to_dict(), "options": write_options(choice)}
    evaluation = ""
    if test_rows is not None:
        found = _evaluate(model, test_rows)
        evaluation = str(found)
        facts["held_out"] = {
            "share": hold_out,
            "seed": seed,
            "rows": test_rows.n_rows,
            "evaluation": found.to_dict(),
        }
    if as_json:
        print_json(facts)
        return
    if choice is not None:
        again = f"\n\nThe same without a comparison: {write_options(choice)}" if choice.candidates else ""
        print_text(f"{choice}{again}\n")
    print_text(format_fit_summary(facts, replaced, evaluation))


@contextmanager
def _collect_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings for the summary; if the work fails, show them before the error."""
    from weigh import errors
    from weigh.cli.output.fit_summary import wrap_text

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield caught
        except errors.WeighError:
            for each in caught:
                print_text(wrap_text(f"weigh: note: {to_command_line(each.message)}"), err=True)
            raise


def _check_engine_options(written: Mapping[str, Any], **others: Any) -> None:
    """Reject options that do not apply to the partitions of an engine."""
    for name, value in {**others, **written}.items():
        if value not in (None, False, (), ""):
            raise click.UsageError(f"--{name.replace('_', '-')} does not apply with --engine; leave it out.")


@contextmanager
def _open_partitions(
    data: tuple[str, ...], engine: str, label: str | None, missing: tuple[str, ...]
) -> Iterator[Source]:
    from weigh.source.memory.table import rows
    from weigh.source.partitioned.opening import open_partitions

    with open_partitions(data, engine) as frame:
        yield rows(frame, label, missing=missing)


def _hold_out(source: Source, share: float, seed: int, is_regression: bool) -> tuple[Source, Source]:
    """Return the training rows and the held-out rows; every class has the same share of them."""
    from weigh.cli.commands.split import read_labels
    from weigh.cli.output.progress import show_row_progress
    from weigh.learn.train_test_split import encode_values, stratified_split
    from weigh.source.selected_rows import SelectedRows

    with show_row_progress(source) as shown:
        labels = read_labels(shown)
    is_test = stratified_split(encode_values([None] * len(labels) if is_regression else labels), share, seed)
    return SelectedRows(source, ~is_test), SelectedRows(source, is_test)


def _evaluate(model: Any, test_rows: Source) -> Any:
    from weigh.cli.output.progress import show_row_progress
    from weigh.judge.metrics.evaluation import Evaluation, evaluate

    with show_row_progress(test_rows.with_storage(model.storage)) as source:
        evaluation = evaluate(model, source)
    return evaluation.with_notation(write_option) if isinstance(evaluation, Evaluation) else evaluation


def _default_name(data: str) -> str:
    """Return the default name of the model file."""
    stem = os.path.basename(os.path.normpath(data)).split(".")[0]
    return f"{stem if re.fullmatch(r'[^*?]*[^*?-][^*?]*', stem) else 'model'}.weigh"


def _fit_model(
    learner: str,
    source: Source,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    threads: int | None,
) -> tuple[Any, LeaveOneOutCalibration | None]:
    """Return the model, and what was decided about its calibration if one was asked for."""
    from weigh.cli.output.progress import RowProgress
    from weigh.cli.settings import make_task, read_settings
    from weigh.engines import run

    parameters = read_settings(settings, learner)
    bar = RowProgress(source)
    try:
        task = make_task(learner, source, parameters, kinds, missing)
        model: Any = run(task, source, threads=threads, progress=bar)
        method = parameters.get("calibration")
        if method is None:
            return model, None
        from weigh.estimators.leave_one_out_calibration import calibrate_leave_one_out

        return calibrate_leave_one_out(model, source, method)
    finally:
        bar.close()
