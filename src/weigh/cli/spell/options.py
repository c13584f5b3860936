"""Options that the commands of `weigh spell` share, and the speller that they open."""

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
from weigh.cli.output import show_note

if TYPE_CHECKING:
    from weigh.apps.spelling.speller import Speller

DEFAULT_FILE_HELP = "$WEIGH_SPELLER, else ~/.local/share/weigh/speller.weigh"
SPELLER_LEARNERS_HELP = """
    logistic      online logistic regression
    naive-bayes   multinomial: how often each feature was seen with each word
    bernoulli     naive Bayes that heeds what is absent, too
    perceptron    averaged over five passes
"""
OTHER_LEARNERS_HELP = """
    voted         a perceptron whose every mistake votes
    memory        the words before and after as they were seen, else one of them
"""


model_option = click.option(
    "-m",
    "--model",
    metavar="FILE",
    callback=check_path_not_empty,
    help=f"What was learned. [default: {DEFAULT_FILE_HELP}]",
)
encoding_option = click.option("--encoding", default="utf-8", show_default=True, help="Of the text.")
window_option = click.option(
    "--window", type=click.IntRange(1, 100), default=6, show_default=True, help="How many words to each side."
)
exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=lambda ctx, option, patterns: _check_patterns(patterns),
    help="Leave out files and folders so named, such as node_modules or 'CHANGELOG*'; repeat it for more.",
)


class FiniteFloatRange(click.FloatRange):
    """A number within bounds, as nan never is and no end is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, and refuse what is no number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def learner_choice(text: str) -> click.Choice[str]:
    """The learners of a section of help."""
    return click.Choice([line.split()[0] for line in text.splitlines() if line.strip()])


def sets_option(default: str) -> Callable[[Command], Command]:
    """The option that names confusion sets."""
    return click.option(
        "--sets",
        default=default,
        show_default=True,
        metavar="NAME|FILE",
        help="Words that are mixed up; see weigh spell sets.",
    )


def default_speller_file() -> str:
    """Where a person's speller is, if nothing else is said."""
    from weigh.apps.user_files import user_data_path

    return user_data_path("WEIGH_SPELLER", "speller.weigh")


def load_speller(path: str | None) -> Speller:
    """The speller that was asked for; without one, word how to begin."""
    from weigh.apps.spelling.speller import Speller
    from weigh.errors import FileError

    place = path or default_speller_file()
    if not os.path.exists(place):
        output = "" if path is None else f" -o {path}"
        raise FileError(
            f"{place}: there is no speller yet. Make one by learning from text of your own: "
            f"weigh spell learn FOLDER{output}. Or name another: -m FILE, or $WEIGH_SPELLER."
        )
    return Speller.load(place)


def _check_patterns(given: tuple[str, ...]) -> tuple[str, ...]:
    from weigh.apps.spelling.documents import ExcludePatterns
    from weigh.errors import ParameterError

    try:
        ExcludePatterns(given)
    except ParameterError:
        raise click.BadParameter("a pattern is a name, such as venv, or the end of a path.") from None
    return given


def print_skipped_note(skipped: Sequence[str]) -> None:
    """Tell how much was left out of folders, and of what kind the first few are."""
    if skipped:
        from weigh.apps.spelling.documents import skipped_summary

        show_note(skipped_summary(skipped))


@dataclass(frozen=True)
class ComparisonArguments:
    """What a command was given, and what both do with it."""

    corpus: tuple[str, ...]
    held: tuple[str, ...]
    sets: str
    learners: tuple[str, ...]
    window: int
    encoding: str
    plot: str | None
    as_json: bool
    skipped: list[str] = field(default_factory=list, init=False)

    def run(self, trial: Callable[..., Any], **settings: Any) -> None:
        """Hold a trial, print what was found, and draw it if that was asked for."""
        check_plot_path(self.plot)
        from weigh.apps.spelling import learners as known
        from weigh.apps.spelling.confusion_sets import ConfusionSets
        from weigh.apps.spelling.documents import read_documents
        from weigh.cli.spell.progress import show_progress

        sets = ConfusionSets.parse(self.sets)
        read = functools.partial(read_documents, encoding=self.encoding, skipped=self.skipped)
        with show_progress() as watch:
            found = trial(
                watch.track_documents(read(self.corpus)),
                watch.track_documents(read(self.held)) if self.held else None,
                sets,
                self.learners or known.LEARNERS,
                window=self.window,
                progress=watch.report_steps,
                **settings,
            )
        print_result(found, self.as_json)
        save_plot(found.plot, self.plot, self.as_json)
        print_skipped_note(self.skipped)


def comparison_options(sets: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of commands that try learners, and hand them over as one `Trying`, `given`.

    `sets` is the list that is tried if none is named.
    """
    options = [
        click.argument("corpus", nargs=-1, required=True, metavar="CORPUS..."),
        click.option(
            "--on",
            "held",
            multiple=True,
            metavar="PATH",
            callback=_check_names,
            help="Text to judge by; repeat it for more. [default: the last sixth of the texts]",
        ),
        sets_option(sets),
        click.option(
            "--learner",
            "learners",
            type=learner_choice(SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP),
            multiple=True,
            metavar="NAME",
            help="Repeat it for several; see below. [default: all]",
        ),
        window_option,
        encoding_option,
        plot_option,
    ]
    return functools.partial(_bundle_arguments, options)


def _bundle_arguments(
    options: Sequence[Callable[..., Any]], command: Callable[..., None]
) -> Callable[..., None]:
    shared = [each.name for each in fields(ComparisonArguments) if each.init]

    @functools.wraps(command)
    def gathered(**values: Any) -> None:
        command(ComparisonArguments(**{name: values.pop(name) for name in shared}), **values)

    for option in reversed(options):
        gathered = option(gathered)
    return gathered


def _check_names(ctx: click.Context, option: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        check_path_not_empty(ctx, option, path)
    return paths
