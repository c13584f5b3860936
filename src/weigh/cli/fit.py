"""`weigh fit`: learn a model from files."""

from __future__ import annotations

import json
import os
import re
import warnings
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import as_json, keep_apart, open_as, reading
from weigh.cli.taught import Taught
from weigh.cli.wording import spoken

if TYPE_CHECKING:
    from weigh.source import Source

TASKS = {
    "naive-bayes": "BayesTask",
    "joint": "JointTask",
    "perceptron": "PerceptronTask",
    "threshold": "ThresholdTask",
}


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
    """,
    "--set, for naive-bayes (joint has the first two, threshold none)": """
        prior=2              pseudo-count of every value; 1 (Laplace's) if left out
        prior=none           maximum likelihood
        prior=dirichlet:2    maximum a posteriori; beta:2,2 for flags
        prior.COLUMN=2       for one column, the others keep 1
        class_prior=uniform  or a number, or JSON {"class": probability, ...}
        complement=true      weights from all other classes; counts and text only
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
    "--kind, with the settings of each kind after a colon": """
        category   levels=a|b|c, against=a (a level without a weight of its own)
        number     bins=16 or bins=0|10|20, spread=own, shared or a number, floor=0.01,
                   scale=unit
        products   degree=2, powers=false: columns and their products (perceptron)
        text       ngrams=1-2, chars=true or words, counts=false, min_length=2,
                   min_count=1, max_words=10000, stop_words=english or a|b|c,
                   lowercase=false, strip_accents=true,
                   buckets=2^20 (hashed: memory stays the same)
        tokens     counts=false, min_count=1, max_words=10000, buckets=2^20
        flag, count, skip
        A kind without a column, such as --kind count, is for all columns.
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Learn a model from files.")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("--label", metavar="COLUMN", help="The column to predict; not needed where the format tells.")
@click.option("-o", "--output", metavar="MODEL", help="The model file. [default: DATA's name with .weigh]")
@click.option(
    "--learner",
    type=click.Choice(list(TASKS)),
    default="naive-bayes",
    show_default=True,
    help="How to learn.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; see below.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column means; see below.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--threads", type=click.IntRange(1), help="How many threads count. [default: all cores]")
@reading
@as_json
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
    from weigh.cli.learned import learned, told

    if output == "-":
        raise click.UsageError("A model is written to a file; give its name with -o.")
    target = output or _default_name(data[0])
    keep_apart(target, *data)
    source = open_as(data, label, missing, **written)
    if source.label is None:
        raise click.UsageError(
            f"Say which column to predict, with --label. The columns are {errors.listing(source.names)}."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _learned(learner, source, settings, kinds, missing, threads)
    replaced = os.path.exists(target)
    model.save(target)
    notes = list(dict.fromkeys(spoken(str(each.message)) for each in caught))
    facts = learned(model, learner, data) | {"notes": notes, "model": target}
    click.echo(json.dumps(facts, ensure_ascii=False, indent=2) if as_json else told(facts, replaced))


def _default_name(data: str) -> str:
    """The name of a model file for what it was learned from."""
    stem = os.path.basename(os.path.normpath(data)).split(".")[0]
    return f"{stem if re.fullmatch(r'[^*?]*[^*?-][^*?]*', stem) else 'model'}.weigh"


def _learned(
    learner: str,
    source: Source,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    threads: int | None,
) -> Any:
    from weigh import learn
    from weigh.cli.progress import Bar
    from weigh.cli.settings import match_classes, read_kinds, read_settings
    from weigh.engines import run
    from weigh.source.chunk import to_pylist

    parameters = read_settings(settings, learner)
    for name in ("class_prior", "class_weight"):
        if isinstance(parameters.get(name), dict):
            labels = list(dict.fromkeys(to_pylist(source.prefix().labels)))
            parameters[name] = match_classes(parameters[name], labels)
    columns: Any = read_kinds(kinds) or "auto"
    bar = Bar(source)
    try:
        task: Any = getattr(learn, TASKS[learner]).over(source, columns, missing=missing, **parameters)
        return run(task, source, threads=threads, progress=bar)
    finally:
        bar.close()
