"""Options and arguments shared by the commands of `weigh spell`."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import (
    Command,
    check_path_not_empty,
    check_plot_path,
    plot_option,
    print_result,
    save_plot,
)
from weigh.cli.output.text import show_note

if TYPE_CHECKING:
    from weigh.apps.spelling.speller import Speller

DEFAULT_FILE_HELP = "$WEIGH_SPELLER, else ~/.local/share/weigh/speller.weigh"
SPELLER_LEARNERS_HELP = """
    logistic      online logistic regression
    naive-bayes   multinomial: counts of each feature with each word
    bernoulli     naive Bayes in which absent features count, too
    perceptron    averaged over five passes
"""
OTHER_LEARNERS_HELP = """
    voted         a perceptron whose hypotheses vote
    memory        counts by the words before and after, else by one of them
"""


model_option = click.option(
    "-m",
    "--model",
    metavar="FILE",
    callback=check_path_not_empty,
    help=f"The speller. [default: {DEFAULT_FILE_HELP}]",
)
encoding_option = click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the text.")
window_option = click.option(
    "--window", type=click.IntRange(1, 100), default=6, show_default=True, help="Context words on each side."
)
exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=lambda ctx, option, patterns: _check_patterns(patterns),
    help="Skip files and folders with this name, such as node_modules or 'CHANGELOG*'; repeatable.",
)


class FiniteFloatRange(click.FloatRange):
    """A finite number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert and validate a value."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


def learner_choice(help_text: str) -> click.Choice[str]:
    """Return a choice of the learners in a help section."""
    return click.Choice([line.split()[0] for line in help_text.splitlines() if line.strip()])


def sets_option(default: str) -> Callable[[Command], Command]:
    """Return the option --sets."""
    return click.option(
        "--sets",
        default=default,
        show_default=True,
        metavar="NAME|FILE",
        help="Confusion sets; see weigh spell sets.",
    )


def default_speller_file() -> str:
    """Return the path of the user's default speller."""
    from weigh.apps.user_files import user_data_path

    return user_data_path("WEIGH_SPELLER", "speller.weigh")


def load_speller(path: str | None) -> Speller:
    """Load a speller, by default the user's; if there is none, say how to train one."""
    from weigh.apps.spelling.speller import Speller
    from weigh.errors import FileError

    file = path or default_speller_file()
    if not os.path.exists(file):
        output = "" if path is None else f" -o {path}"
        raise FileError(
            f"{file}: no such speller. Train one on your own text with weigh spell learn FOLDER{output}, or "
            "name "
            "another with -m FILE or $WEIGH_SPELLER."
        )
    return Speller.load(file)


def _check_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    from weigh.apps.spelling.documents import ExcludePatterns
    from weigh.errors import ParameterError

    try:
        ExcludePatterns(patterns)
    except ParameterError:
        raise click.BadParameter("a pattern is a name, such as venv, or the end of a path.") from None
    return patterns


def print_skipped_note(skipped: Sequence[str]) -> None:
    """Print the number of skipped files and the first few reasons."""
    if skipped:
        from weigh.apps.spelling.documents import skipped_summary

        show_note(skipped_summary(skipped))


@dataclass(frozen=True)
class ComparisonArguments:
    """The arguments of `compare` and `curve`; the fields are the names of click parameters."""

    corpus: tuple[str, ...]
    test_paths: tuple[str, ...]
    sets: str
    learners: tuple[str, ...]
    window: int
    encoding: str
    plot: str | None
    as_json: bool
    skipped: list[str] = field(default_factory=list, init=False)

    def run(self, evaluate: Callable[..., Any], **settings: Any) -> None:
        """Run an evaluation, print its result, and save the plot if requested."""
        check_plot_path(self.plot)
        from weigh.apps.spelling.confusion_sets import ConfusionSets
        from weigh.apps.spelling.documents import read_documents
        from weigh.apps.spelling.learners import LEARNERS
        from weigh.cli.commands.spell.progress import show_progress

        sets = ConfusionSets.parse(self.sets)
        read = functools.partial(read_documents, encoding=self.encoding, skipped=self.skipped)
        with show_progress() as meter:
            result = evaluate(
                meter.track_documents(read(self.corpus)),
                meter.track_documents(read(self.test_paths)) if self.test_paths else None,
                sets,
                self.learners or LEARNERS,
                window=self.window,
                progress=meter.report_steps,
                **settings,
            )
        print_result(result, self.as_json)
        save_plot(result.plot, self.plot, self.as_json)
        print_skipped_note(self.skipped)


def comparison_options(sets: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of `ComparisonArguments` and passes them as one argument.

    `sets` is the default list of confusion sets.
    """
    options = [
        click.argument("corpus", nargs=-1, required=True, metavar="CORPUS..."),
        click.option(
            "--on",
            "test_paths",
            multiple=True,
            metavar="PATH",
            callback=_check_paths_not_empty,
            help="Text to test on; repeatable. [default: the last sixth of the texts]",
        ),
        sets_option(sets),
        click.option(
            "--learner",
            "learners",
            type=learner_choice(SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP),
            multiple=True,
            metavar="NAME",
            help="See below; repeatable. [default: all]",
        ),
        window_option,
        encoding_option,
        plot_option,
    ]
    return functools.partial(_bundle_arguments, options)


def _bundle_arguments(
    options: Sequence[Callable[..., Any]], command: Callable[..., None]
) -> Callable[..., None]:
    names = [field.name for field in fields(ComparisonArguments) if field.init]

    @functools.wraps(command)
    def bundled(**values: Any) -> None:
        command(ComparisonArguments(**{name: values.pop(name) for name in names}), **values)

    for option in reversed(options):
        bundled = option(bundled)
    return bundled


def _check_paths_not_empty(
    ctx: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    for path in paths:
        check_path_not_empty(ctx, option, path)
    return paths
