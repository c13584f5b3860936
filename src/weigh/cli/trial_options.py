"""Options of the commands that fit learners repeatedly: learners, settings, loss, seed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import (
    check_output_is_not_input,
    check_plot_path,
    data_argument,
    drop_missing_labels_option,
    open_source,
    plot_option,
    print_result,
    save_plot,
)
from weigh.cli.target import prepare_target

if TYPE_CHECKING:
    from weigh.trials.rows import LabelledRows

LEARNERS_HELP = """
    naive-bayes, joint, threshold
    logistic, perceptron   with standardised numbers:
                           weigh fit --learner logistic --set scale=unit
    tree, neighbours       from scikit-learn
    linear                 for numeric labels
"""

level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals and decisions.",
)


@dataclass(frozen=True)
class TrialOptions:
    """The options that all trial commands share, and what they do with them."""

    data: tuple[str, ...]
    label: str | None
    learners: tuple[str, ...]
    settings: tuple[str, ...]
    kinds: tuple[str, ...]
    missing: tuple[str, ...]
    loss: str | None
    seed: int
    jobs: int
    plot: str | None
    as_json: bool
    written: dict[str, Any]

    def load_inputs(self, default_learners: Sequence[str]) -> tuple[dict[str, Any], Any, Any]:
        """Return learners, rows and labels, after checking that the picture can be written."""
        check_plot_path(self.plot)
        check_output_is_not_input(self.plot, *self.data)
        names = self.learners or default_learners
        rows, kinds = self._read_rows(names)
        return (
            self._make_learners(names, kinds, rows.labels.tolist()),
            rows.data,
            rows.labels,
        )

    def _read_rows(self, learners: Sequence[str]) -> tuple[LabelledRows, tuple[str, ...]]:
        """Return the rows of the files in memory with their labels, and the kinds of the features."""
        from weigh import errors
        from weigh.trials.rows import LabelledRows

        source = open_source(self.data, self.label, self.missing, **self.written)
        if source.label is None:
            raise click.UsageError(
                "Name the column to predict with --label. "
                f"The columns are {errors.quote_names(source.names)}."
            )
        source, kinds = prepare_target(source, self.kinds, learners)
        return LabelledRows.of(source), kinds

    def _make_learners(
        self, names: Sequence[str], kinds: Sequence[str], labels: Sequence[Any]
    ) -> dict[str, Any]:
        """Return learners by name; settings apply to a single learner, kinds to all."""
        from weigh.cli.settings import read_kinds
        from weigh.trials.learners import learners_by_name, set_column_kinds

        learners = learners_by_name(list(names), "--learner")
        if self.settings:
            if len(names) != 1:
                raise click.UsageError("--set is for a single --learner.")
            learners[names[0]].set_params(**_read_learner_settings(names[0], self.settings, labels))
        if kinds:
            for learner in learners.values():
                set_column_kinds(learner, read_kinds(kinds))
        return learners

    def run(
        self,
        trial: Callable[..., Any],
        default_learners: Sequence[str],
        what: str | None = None,
        **parameters: Any,
    ) -> Any:
        """Run a trial and return its result; print it, and draw the picture `what` if --plot was given."""
        from weigh.cli.output.progress import show_job_progress

        inputs = self.load_inputs(default_learners)
        common = {"loss": self.loss, "seed": self.seed, "n_jobs": self.jobs}
        with show_job_progress() as progress:
            result = trial(*inputs, progress=progress, **common, **parameters)
        print_result(result, self.as_json)
        save_plot(lambda: result.plot() if what is None else result.plot(what), self.plot, self.as_json)
        return result


def add_trial_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of trial commands and pass them to the command as one `TrialOptions`, `given`.

    Remaining options, which are not parameters of the command, describe the format of the files.
    """
    options = [
        data_argument,
        click.option("--label", metavar="COLUMN", help="The column to predict; some formats imply it."),
        click.option("--learner", "learners", multiple=True, metavar="NAME", help="One or more; see below."),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="As in weigh fit; for one learner.",
        ),
        click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="The kind of a column."),
        click.option(
            "--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'."
        ),
        click.option("--loss", metavar="LOSS", help="The loss to measure; see below."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."),
        click.option("--jobs", type=int, default=-1, metavar="N", help="Parallel fits. [default: all cores]"),
        plot_option,
        drop_missing_labels_option,
    ]
    shared = [field.name for field in fields(TrialOptions) if field.name != "written"]
    specific = [name for name in inspect.signature(command).parameters if name != "given"]

    @functools.wraps(command)
    def with_options(**values: Any) -> None:
        common, parameters = ({name: values.pop(name) for name in names} for names in (shared, specific))
        command(TrialOptions(**common, written=values), **parameters)

    for option in reversed(options):
        with_options = option(with_options)
    return with_options


def _read_learner_settings(learner: str, settings: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    from weigh.cli.settings import match_classes, read_settings
    from weigh.parameters.learners import LEARNERS

    if learner not in LEARNERS:
        raise click.UsageError(f"--set: {learner} has no settings on the command line; use it from Python.")
    return match_classes(read_settings(settings, learner), labels)
