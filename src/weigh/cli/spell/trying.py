"""What the commands that try learners are given: text to learn from, and other text to judge by."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import click

from weigh.cli.options import check_picture, draw, echo, named, plot_option
from weigh.cli.spell.opened import (
    COMPARED,
    LEARNERS,
    encoding_option,
    learners,
    sets_option,
    tell_skipped,
    window_option,
)


@dataclass(frozen=True)
class Trying:
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

    def tell(self, trial: Callable[..., Any], **settings: Any) -> None:
        """Hold a trial, print what was found, and draw it if that was asked for."""
        check_picture(self.plot)
        from weigh.apps.spelling import learners as known
        from weigh.apps.spelling.confusion import ConfusionSets
        from weigh.apps.spelling.documents import documents
        from weigh.cli.spell.watched import watching

        sets = ConfusionSets.given(self.sets)
        read = functools.partial(documents, encoding=self.encoding, skipped=self.skipped)
        with watching() as watch:
            found = trial(
                watch.passing(read(self.corpus)),
                watch.passing(read(self.held)) if self.held else None,
                sets,
                self.learners or known.LEARNERS,
                window=self.window,
                progress=watch.steps,
                **settings,
            )
        echo(found, self.as_json)
        draw(found.plot, self.plot, self.as_json)
        tell_skipped(self.skipped)


def trying(sets: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
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
            callback=_named,
            help="Text to judge by; repeat it for more. [default: the last sixth of the texts]",
        ),
        sets_option(sets),
        click.option(
            "--learner",
            "learners",
            type=learners(LEARNERS + COMPARED),
            multiple=True,
            metavar="NAME",
            help="Repeat it for several; see below. [default: all]",
        ),
        window_option,
        encoding_option,
        plot_option,
    ]
    return functools.partial(_gathering, options)


def _gathering(options: Sequence[Callable[..., Any]], command: Callable[..., None]) -> Callable[..., None]:
    shared = [each.name for each in fields(Trying) if each.init]

    @functools.wraps(command)
    def gathered(**values: Any) -> None:
        command(Trying(**{name: values.pop(name) for name in shared}), **values)

    for option in reversed(options):
        gathered = option(gathered)
    return gathered


def _named(ctx: click.Context, option: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        named(ctx, option, path)
    return paths
