"""Learners that are tried on a file: by their names, and with their settings."""

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
    open_source,
    plot_option,
    print_result,
    save_plot,
)

if TYPE_CHECKING:
    from weigh.trials.rows import LabelledRows

LEARNERS_HELP = """
    naive-bayes, joint, threshold
    logistic, perceptron   of numbers in standard deviations:
                           weigh fit --learner logistic --set scale=unit
    tree, neighbours       of scikit-learn
    linear                 of numbers
"""

level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of intervals, and of being sure.",
)


@dataclass(frozen=True)
class TrialOptions:
    """What commands that try learners were given, and what they all do with it."""

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

    @property
    def common_parameters(self) -> dict[str, Any]:
        """The parameters that all trials have."""
        return {"loss": self.loss, "seed": self.seed, "n_jobs": self.jobs}

    def load_inputs(self, usual: Sequence[str]) -> tuple[dict[str, Any], Any, Any]:
        """Return learners, rows and labels, after a look at what would only fail at the end."""
        check_plot_path(self.plot)
        check_output_is_not_input(self.plot, *self.data)
        rows = self._read_rows()
        return self._make_learners(self.learners or usual, rows.labels.tolist()), rows.data, rows.labels

    def _read_rows(self) -> LabelledRows:
        """Read files into memory, with the labels of their rows."""
        from weigh import errors
        from weigh.trials.rows import LabelledRows

        source = open_source(self.data, self.label, self.missing, **self.written)
        if source.label is None:
            raise click.UsageError(
                f"Say which column to predict, with --label. The columns are {errors.quote_names(source.names)}."
            )
        return LabelledRows.of(source)

    def _make_learners(self, names: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        """Return learners by name; settings are of a single one, kinds of all."""
        from weigh.cli.settings import read_kinds
        from weigh.trials.learners import learners_by_name, set_column_kinds

        found = learners_by_name(list(names), "--learner")
        if self.settings:
            if len(names) != 1:
                raise click.UsageError("--set is for a single --learner.")
            found[names[0]].set_params(**_read_learner_settings(names[0], self.settings, labels))
        if self.kinds:
            for learner in found.values():
                set_column_kinds(learner, read_kinds(self.kinds))
        return found

    def show_result(self, found: Any, what: str | None = None) -> None:
        """Print a result, and draw it, or what of it, if that was asked for."""
        print_result(found, self.as_json)
        save_plot(lambda: found.plot() if what is None else found.plot(what), self.plot, self.as_json)


def add_trial_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that try several learners, and hand them over as one `Trying`, `given`.

    What is none of them, nor a parameter of the command's own, says how the files are written.
    """
    options = [
        click.argument("data", nargs=-1, required=True, metavar="DATA..."),
        click.option(
            "--label", metavar="COLUMN", help="The column to predict; not needed where the format tells."
        ),
        click.option("--learner", "learners", multiple=True, metavar="NAME", help="One or more; see below."),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="As for weigh fit; one learner."
        ),
        click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column means."),
        click.option(
            "--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'."
        ),
        click.option("--loss", metavar="LOSS", help="What is measured; see below."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the rows."),
        click.option(
            "--jobs", type=int, default=-1, metavar="N", help="Trials at a time. [default: all cores]"
        ),
        plot_option,
    ]
    shared = [each.name for each in fields(TrialOptions) if each.name != "written"]
    own = [name for name in inspect.signature(command).parameters if name != "given"]

    @functools.wraps(command)
    def gathered(**values: Any) -> None:
        given, mine = ({name: values.pop(name) for name in names} for names in (shared, own))
        command(TrialOptions(**given, written=values), **mine)

    for option in reversed(options):
        gathered = option(gathered)
    return gathered


def _read_learner_settings(learner: str, settings: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    from weigh.cli.settings import SETTINGS_BY_LEARNER, match_classes, read_settings

    if learner not in SETTINGS_BY_LEARNER:
        raise click.UsageError(f"--set: {learner} has no settings here; use it from Python.")
    found = read_settings(settings, learner)
    return {
        name: match_classes(value, labels) if name.startswith("class_") else value
        for name, value in found.items()
    }
