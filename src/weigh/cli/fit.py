"""`weigh fit`: train a model from files."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.notation import to_command_line
from weigh.cli.options import check_output_is_not_input, data_file_options, json_option, open_source

if TYPE_CHECKING:
    from weigh.source.base import Source

MANY_CLASSES = 20  # numeric labels are suspicious above this, and above one in so many rows
LEARNER_NAMES = ("naive-bayes", "joint", "perceptron", "threshold", "logistic", "linear")

SECTIONS = {
    "Examples": """
        weigh fit mails.csv --label spam
        weigh fit adult.csv --label income --missing '?' -o income.weigh
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
        weigh fit homes.csv --label price --learner linear
        weigh fit homes.csv --label price --learner linear --set prior=laplace:cv
        weigh fit homes.csv --label price --learner linear --set noise=laplace
    """,
    "--set, for naive-bayes (joint has the first two, threshold none)": """
        prior=2              pseudo-count of every value; default 1 (Laplace smoothing)
        prior=none           maximum likelihood
        prior=dirichlet:2    maximum a posteriori; beta:2,2 for flags
        prior.COLUMN=2       for one column, the others keep 1
        class_prior=uniform  or a number, or JSON {"class": probability, ...}
        complement=true      weights from all other classes; counts and text only
        calibration=temperature   calibrate on leave-one-out scores; or platt,
                             isotonic (not for joint)
    """,
    "--set, for perceptron": """
        keep=averaged        or last, voted, lazy: which hypothesis predicts
        margin=1             also update on rows with a smaller margin;
                             relative=true: in lengths of the weight vector
        max_iter=20          maximum number of passes; rate=1, shuffle=true,
                             random_state=0
        multiclass=joint     or one-vs-rest
        scale=unit           standardise numbers; bias=true
        class_weight=balanced  or JSON {"class": weight, ...}
        record=true          keep the misclassified rows, for all four hypotheses
    """,
    "--set, for logistic and linear (minimises loss + l1 Σ|w| + ½ l2 Σw²)": """
        prior=2              Normal(2), weights within about 2 of zero; default 1
                             for logistic, none for linear
        prior=none           no penalty
        prior=normal:2       ridge; normal:cv selects by cross-validation, for
                             linear also normal:evidence (marginal likelihood)
        prior=laplace:0.5    lasso, with many zero weights; laplace:cv
        prior=penalty:l1=1,l2=2   elastic net, penalties as stated
        prior.COLUMN=none    for one column; or JSON {"column": prior, ...}
        scale=unit           standardise numbers for the prior
        offset=COLUMN        added to the score with weight one
        bias=false, folds=5, tol=1e-8, max_iter=1000
        noise=laplace        linear: least absolute deviations; normal:1.5 and
                             laplace:2 state the scale of the noise
        class_weight=balanced  logistic: or JSON {"class": weight, ...}
        method=online        logistic: row by row, for files of any size, without a
                             certificate; rate=safe or 0.1, shuffle=true,
                             random_state=0
    """,
    "--kind, with the settings of each kind after a colon": """
        category   levels=a|b|c, against=a (reference level, without a weight)
        number     bins=16 or bins=0|10|20, spread=own, shared or a number, floor=0.01,
                   scale=unit
        products   degree=2, powers=false: columns and their products (not for
                   naive-bayes)
        text       ngrams=1-2, chars=true or words, counts=false, min_length=2,
                   min_count=1, max_words=10000, stop_words=english or a|b|c,
                   lowercase=false, strip_accents=true,
                   buckets=2^20 (hashed: constant memory)
        tokens     counts=false, min_count=1, max_words=10000, buckets=2^20
        flag, count, skip
        A kind without a column, such as --kind count, applies to all columns.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it.")
@click.option("-o", "--output", metavar="MODEL", help="The model file. [default: name of DATA with .weigh]")
@click.option(
    "--learner",
    type=click.Choice(LEARNER_NAMES),
    default="naive-bayes",
    show_default=True,
    help="Learning method.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="Kind of a column; see below.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--threads", type=click.IntRange(1), help="Number of threads. [default: all cores]")
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
    threads: int | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Train a model from files.

    DATA is CSV, TSV, Parquet or JSON lines, fastText, Vowpal Wabbit or LIBSVM lines, a folder with a
    folder per class, a pattern such as 'mails-*.csv', or - for standard input; .gz, .bz2, .xz, .zst
    and .lz4 are decompressed. Several files with the same columns are one table. Kinds of columns (category,
    flag, number, text) are inferred from the first rows; --kind overrides them.
    """
    from weigh import errors
    from weigh.cli.fit_summary import format_fit_summary, summarise_fit

    if output == "-":
        raise click.UsageError("A model is written to a file; give its name with -o.")
    target = output or _default_name(data[0])
    check_output_is_not_input(target, *data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = open_source(data, label, missing, **written)
        if source.label is None:
            raise click.UsageError(
                "Name the column to predict with --label. "
                f"The columns are {errors.quote_names(source.names)}."
            )
        if learner != "linear":
            _warn_if_numeric_labels(source)
        model = _fit_model(learner, source, settings, kinds, missing, threads)
    replaced = os.path.exists(target)
    model.save(target)
    notes = list(dict.fromkeys(to_command_line(each.message) for each in caught))
    facts = summarise_fit(model, learner, data) | {"notes": notes, "model": target}
    click.echo(
        json.dumps(facts, ensure_ascii=False, indent=2) if as_json else format_fit_summary(facts, replaced)
    )


def _default_name(data: str) -> str:
    """Return the default name of the model file."""
    stem = os.path.basename(os.path.normpath(data)).split(".")[0]
    return f"{stem if re.fullmatch(r'[^*?]*[^*?-][^*?]*', stem) else 'model'}.weigh"


def _warn_if_numeric_labels(source: Source) -> None:
    """Warn if the labels look like measurements: fractions, or very many integers."""
    from weigh import errors
    from weigh.source.chunk import to_pylist

    labels = to_pylist(source.prefix().labels)
    numbers = {label for label in labels if isinstance(label, int | float) and label == label}
    fractions = any(number != round(number) for number in numbers if math.isfinite(number))
    if len(numbers) > max(MANY_CLASSES, len(labels) / MANY_CLASSES) or fractions:
        errors.warn(
            errors.OddClasses(
                f"{source.label!r} has {len(numbers):,} distinct numbers in the first {len(labels):,} rows, "
                "and each is a separate class.",
                hint="If they are measurements, use --learner linear.",
            )
        )


def _fit_model(
    learner: str,
    source: Source,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    threads: int | None,
) -> Any:
    from weigh.cli.progress import RowProgress
    from weigh.cli.settings import make_task, read_settings
    from weigh.engines import run

    calibrate = _calibrator(read_settings(settings, learner).get("calibration"))
    bar = RowProgress(source)
    try:
        task = make_task(learner, source, settings, kinds, missing)
        return calibrate(run(task, source, threads=threads, progress=bar), source)
    finally:
        bar.close()


def _calibrator(method: str | None) -> Callable[[Any, Source], Any]:
    """Return the function that calibrates a trained model; reject an unknown method at once."""
    if method is None:
        return lambda model, source: model
    from weigh.estimators.calibration import calibrate_leave_one_out, check_calibration_method

    check_calibration_method(method, "NaiveBayes", "calibration")
    return lambda model, source: calibrate_leave_one_out(model, source, method)
