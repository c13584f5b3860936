"""`--spam PATH... --ham PATH...`: mail of both kinds, as commands are given it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.commands import CommandWithExamples

if TYPE_CHECKING:
    from weigh.source.mail import RawMessage

Command = TypeVar("Command", bound=Callable[..., Any])

SPAM, HAM = LABELS = ("spam", "ham")
STANDARD_INPUT = "-"
_LABEL_OPTIONS = [f"--{side}" for side in LABELS]


class SpamHamCommand(CommandWithExamples):
    """A command whose --spam and --ham take all paths that follow them, or standard input if none does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give every path an option of its own."""
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, list(_expand_paths(args)))
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"{rest[0]!r} is mail of which kind? Put --spam or --ham before it.", ctx)
        return rest


def _expand_paths(args: list[str]) -> Iterator[str]:
    """The arguments with every path that follows --spam or --ham as `--spam=PATH`; after -- all are paths."""
    side, paths, is_verbatim = "", 0, False
    for arg in args:
        if side and arg == "--" and not is_verbatim:
            is_verbatim = True
        elif side and (is_verbatim or not arg.startswith("-") or arg == STANDARD_INPUT):
            yield f"{side}={arg}"
            paths += 1
        else:
            yield from _default_to_stdin(side, paths)
            side, paths = (arg, 0) if arg in _LABEL_OPTIONS else ("", 0)
            yield from () if side else (arg,)
    yield from _default_to_stdin(side, paths)


def _default_to_stdin(side: str, paths: int) -> Iterator[str]:
    if side and not paths:
        yield f"{side}={STANDARD_INPUT}"


def spam_ham_options(command: Command) -> Command:
    """Add --spam and --ham."""
    for name, other in ((HAM, "wanted mail"), (SPAM, "spam")):
        command = click.option(
            f"--{name}",
            multiple=True,
            metavar="PATH...",
            help=f"Where {other} is; without a path, standard input.",
        )(command)
    return command


def check_spam_ham(spam: tuple[str, ...], ham: tuple[str, ...], both: bool = False) -> None:
    """Refuse mail of no kind, or of one kind where it takes two, and standard input that is both."""
    if not (spam and ham if both else spam or ham):
        raise click.UsageError(f"Say where mail is: --spam PATH... {'and' if both else 'or'} --ham PATH...")
    if [*spam, *ham].count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input can be given once only.")


def mail_reader(paths: Sequence[str]) -> Callable[[], Iterator[RawMessage]]:
    """A way to read all messages that paths lead to, as often as one likes, standard input too."""
    from weigh.source.mail import messages
    from weigh.source.paths import resolve_paths

    files = resolve_paths(paths)
    # Refuses what cannot be read at once, and not in the middle of the work.
    messages(files)
    return lambda: messages(files)


def nonempty_mail_reader(paths: Sequence[str]) -> Callable[[], Iterator[RawMessage]]:
    """The same, where there must be mail."""
    found = mail_reader(paths)
    if next(found(), None) is None:
        from weigh.errors import DataError

        named = ("standard input" if path == STANDARD_INPUT else path for path in paths)
        raise DataError(f"There is no mail in {', '.join(named)}.")
    return found
