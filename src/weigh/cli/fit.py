"""`weigh fit`: learn a model from files."""

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
from weigh.cli.options import check_output_is_not_input, data_file_options, json_option, open_source
from weigh.cli.terminology import to_command_line_terms

if TYPE_CHECKING:
    from weigh.source import Source

MANY_CLASSES = 20  # different numbers that are classes: so many are no surprise, nor one for so many rows
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
        prior=2              pseudo-count of every value; 1 (Laplace's) if left out
        prior=none           maximum likelihood
        prior=dirichlet:2    maximum a posteriori; beta:2,2 for flags
        prior.COLUMN=2       for one column, the others keep 1
        class_prior=uniform  or a number, or JSON {"class": probability, ...}
        complement=true      weights from all other classes; counts and text only
        calibration=temperature   correct how sure it is, by each row forgotten;
                             or platt, isotonic (not for joint)
    """,
    "--set, for perceptron": """
        keep=averaged        or last, voted, lazy: which hypothesis predicts
        margin=1             rows that are right by less are learned too;
                             relative=true in lengths of the weight vector
        max_iter=20          passes at most; rate=1, shuffle=true, random_state=0
        multiclass=joint     or one-vs-rest
        scale=unit           numbers in standard deviations; bias=true
        class_weight=balanced  or JSON {"class": weight, ...}
        record=true          keep the mistaken rows, so that all four can be had
    """,
    "--set, for logistic and linear (what is minimised: loss + l1 Σ|w| + ½ l2 Σw²)": """
        prior=2              weights within about 2 of zero, Normal(2); if left out
                             1 for logistic, none for linear
        prior=none           no penalty at all
        prior=normal:2       ridge; normal:cv chooses by cross-validation, for
                             linear also normal:evidence
        prior=laplace:0.5    lasso, with many weights of zero; laplace:cv
        prior=penalty:l1=1,l2=2   the penalties themselves, an elastic net
        prior.COLUMN=none    for one column; or JSON {"column": prior, ...}
        scale=unit           the prior sees numbers in standard deviations
        offset=COLUMN        is added as it is, with the weight one
        bias=false, folds=5, tol=1e-8, max_iter=1000
        noise=laplace        linear: least absolute deviations; normal:1.5 and
                             laplace:2 state how large the noise is
        class_weight=balanced  logistic: or JSON {"class": weight, ...}
        method=online        logistic: row by row, for files of any size, without a
                             proof; rate=safe or 0.1, shuffle=true, random_state=0
    """,
    "--kind, with the settings of each kind after a colon": """
        category   levels=a|b|c, against=a (a level without a weight of its own)
        number     bins=16 or bins=0|10|20, spread=own, shared or a number, floor=0.01,
                   scale=unit
        products   degree=2, powers=false: columns and their products (not for
                   naive-bayes)
        text       ngrams=1-2, chars=true or words, counts=false, min_length=2,
                   min_count=1, max_words=10000, stop_words=english or a|b|c,
                   lowercase=false, strip_accents=true,
                   buckets=2^20 (hashed: memory stays the same)
        tokens     counts=false, min_count=1, max_words=10000, buckets=2^20
        flag, count, skip
        A kind without a column, such as --kind count, is for all columns.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Learn a model from files.")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("--label", metavar="COLUMN", help="The column to predict; not needed where the format tells.")
@click.option("-o", "--output", metavar="MODEL", help="The model file. [default: DATA's name with .weigh]")
@click.option(
    "--learner",
    type=click.Choice(LEARNER_NAMES),
    default="naive-bayes",
    show_default=True,
    help="How to learn.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column means; see below.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--threads", type=click.IntRange(1), help="How many threads count. [default: all cores]")
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
    """Learn a model from files.

    DATA is CSV, TSV, Parquet or JSON lines, fastText, Vowpal Wabbit or LIBSVM lines, a folder with a
    folder per class, a pattern such as 'mails-*.csv', or - for standard input; .gz, .bz2, .xz, .zst
    and .lz4 are unpacked. Several files of the same columns are one table. Columns are categories,
    flags, numbers or text, as found in the first rows; --kind overrules what was found.
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
                f"Say which column to predict, with --label. The columns are {errors.quote_names(source.names)}."
            )
        if learner != "linear":
            _warn_if_numeric_labels(source)
        model = _fit_model(learner, source, settings, kinds, missing, threads)
    replaced = os.path.exists(target)
    model.save(target)
    notes = list(dict.fromkeys(to_command_line_terms(str(each.message)) for each in caught))
    facts = summarise_fit(model, learner, data) | {"notes": notes, "model": target}
    click.echo(
        json.dumps(facts, ensure_ascii=False, indent=2) if as_json else format_fit_summary(facts, replaced)
    )


def _default_name(data: str) -> str:
    """The name of a model file for what it was learned from."""
    stem = os.path.basename(os.path.normpath(data)).split(".")[0]
    return f"{stem if re.fullmatch(r'[^*?]*[^*?-][^*?]*', stem) else 'model'}.weigh"


def _warn_if_numeric_labels(source: Source) -> None:
    """Warn of labels that look like something measured: fractions, or very many whole numbers."""
    from weigh import errors
    from weigh.source.chunk import to_pylist

    labels = to_pylist(source.prefix().labels)
    numbers = {label for label in labels if isinstance(label, int | float) and label == label}
    fractions = any(number != round(number) for number in numbers if math.isfinite(number))
    if len(numbers) > max(MANY_CLASSES, len(labels) / MANY_CLASSES) or fractions:
        warnings.warn(
            f"{source.label!r} has {len(numbers):,} different numbers in the first {len(labels):,} rows, and "
            f"each is taken for a class of its own. If they measure something, give --learner linear.",
            errors.OddClasses,
            stacklevel=2,
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

    calibrated = _calibrator(read_settings(settings, learner).get("calibration"))
    bar = RowProgress(source)
    try:
        task = make_task(learner, source, settings, kinds, missing)
        return calibrated(run(task, source, threads=threads, progress=bar), source)
    finally:
        bar.close()


def _calibrator(method: str | None) -> Callable[[Any, Source], Any]:
    """What becomes of a model that was learned from a source; a method that is none is refused at once."""
    if method is None:
        return lambda model, source: model
    from weigh.estimators.calibration import calibrate_leave_one_out, check_calibration_method

    check_calibration_method(method, "NaiveBayes", "calibration")
    return lambda model, source: calibrate_leave_one_out(model, source, method)
