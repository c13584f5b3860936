"""The options `--spam PATH... --ham PATH...` of commands that take labelled mail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.lazy_group import CommandWithExamples

if TYPE_CHECKING:
    from weigh.source.mail.raw_message import RawMessage

Command = TypeVar("Command", bound=Callable[..., Any])

SPAM, HAM = LABELS = ("spam", "ham")
STANDARD_INPUT = "-"
_LABEL_OPTIONS = [f"--{label}" for label in LABELS]


class SpamHamCommand(CommandWithExamples):
    """A command whose --spam and --ham take all paths that follow, or standard input if there are none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments after giving every path its own option."""
        ctx.allow_extra_args = True
        extra = super().parse_args(ctx, list(_expand_paths(args)))
        if extra and not ctx.resilient_parsing:
            raise click.UsageError(f"Is {extra[0]!r} spam or ham? Put --spam or --ham before it.", ctx)
        return extra


def _expand_paths(args: list[str]) -> Iterator[str]:
    """Rewrite every path that follows --spam or --ham as `--spam=PATH`; after -- everything is a path."""
    option, n_paths, is_verbatim = "", 0, False
    for arg in args:
        if option and arg == "--" and not is_verbatim:
            is_verbatim = True
        elif option and (is_verbatim or not arg.startswith("-") or arg == STANDARD_INPUT):
            yield f"{option}={arg}"
            n_paths += 1
        else:
            yield from _default_to_stdin(option, n_paths)
            option, n_paths = (arg, 0) if arg in _LABEL_OPTIONS else ("", 0)
            yield from () if option else (arg,)
    yield from _default_to_stdin(option, n_paths)


def _default_to_stdin(option: str, n_paths: int) -> Iterator[str]:
    if option and not n_paths:
        yield f"{option}={STANDARD_INPUT}"


def spam_ham_options(command: Command) -> Command:
    """Add --spam and --ham."""
    for label, description in ((HAM, "Wanted mail"), (SPAM, "Spam")):
        command = click.option(
            f"--{label}",
            multiple=True,
            metavar="PATH...",
            help=f"{description}; standard input if no path follows.",
        )(command)
    return command


def check_spam_ham(spam: tuple[str, ...], ham: tuple[str, ...], both: bool = False) -> None:
    """Raise UsageError if a required label is missing or if standard input is given twice."""
    if not (spam and ham if both else spam or ham):
        raise click.UsageError(f"Give mail with --spam PATH... {'and' if both else 'or'} --ham PATH...")
    if [*spam, *ham].count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input can be given only once.")


def mail_reader(paths: Sequence[str]) -> Callable[[], Iterator[RawMessage]]:
    """Return a function that reads all messages of paths, repeatedly and also from standard input."""
    from weigh.source.mail.mailboxes import messages
    from weigh.source.paths import resolve_paths

    files = resolve_paths(paths)
    # Raises errors about unreadable paths now rather than in the middle of the work.
    messages(files)
    return lambda: messages(files)


def nonempty_mail_reader(paths: Sequence[str]) -> Callable[[], Iterator[RawMessage]]:
    """Return a `mail_reader`; raise DataError if there is no mail."""
    reader = mail_reader(paths)
    if next(reader(), None) is None:
        from weigh.errors import DataError

        sources = ("standard input" if path == STANDARD_INPUT else path for path in paths)
        raise DataError(f"There is no mail in {', '.join(sources)}.")
    return reader
