"""`weigh spell check`: words that were mixed up, and what they should be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.options import as_json, named
from weigh.cli.spell.opened import Finite, encoding_option, exclude_option, model_option, opened, tell_skipped
from weigh.cli.taught import Taught
from weigh.cli.told import Told, tell
from weigh.text import amount, counted

if TYPE_CHECKING:
    from weigh.apps.spelling.documents import Document
    from weigh.apps.spelling.speller import Speller
    from weigh.apps.spelling.suggestion import Suggestion

FAULT, SUGGESTIONS = 1, 3
SECTIONS = {
    "Examples": """
        weigh spell check thesis.tex
        weigh spell check README.md docs/ -m project.weigh --exclude 'CHANGELOG*'
        weigh spell check --fix notes.txt
        weigh spell check --json - < letter.txt
    """,
    "A suggestion": """
        me.txt:3:15: weather → whether (p=0.98; because: 'know' before, 'to' after)
        is for line 3, column 15. The line is alike for editors and for grep. Only
        what the speller is sure of is told: see weigh spell learn --alarms.
    """,
    "--fix": """
        writes the suggestions into the files, and leaves every other byte as it is.
        Standard input goes to standard output, fixed.
    """,
    "Exit codes": """
        0   nothing to suggest, or all of it was fixed
        1   a text could not be read or written; all others were
        2   wrong usage
        3   there are suggestions
    """,
}


class Checking(Taught):
    """A command whose own faults are no suggestions, as the program's usual exit code for them would say."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from weigh.errors import WeighError

        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, WeighError, MemoryError, OSError):
            raise
        except Exception:
            import traceback

            traceback.print_exc()
            raise click.exceptions.Exit(FAULT) from None


@dataclass(frozen=True)
class Checker:
    """How texts are checked: each one is told as soon as it is."""

    speller: Speller
    encoding: str
    fix: bool
    threshold: float | None
    say: Callable[[Suggestion], None]
    failed: list[str] = field(default_factory=list, init=False)

    def all(self, texts: Iterator[Document], name: str | None) -> Iterator[list[Suggestion]]:
        """What is suggested for each text; one that cannot be read or written is told, and stops no other."""
        from weigh.errors import SourceError

        while True:
            try:
                document = next(texts, None)
                if document is None:
                    return
                found = self.check(document, name)
            except SourceError as error:
                self.refuse(str(error))
            else:
                yield found

    def refuse(self, sentence: str) -> None:
        """Tell of a text that cannot be read or written."""
        refusal = Told(sentence)
        tell(refusal)
        self.failed.append(refusal.message)

    def check(self, document: Document, name: str | None) -> list[Suggestion]:
        """What is suggested for a text, which is written into its file if that was asked for."""
        from weigh.source.standard_input import Spooled

        if isinstance(document.path, Spooled):
            found = self._piped(document.path, name or document.name)
        elif self.fix:
            found = self.speller.fix_file(document.path, encoding=self.encoding, threshold=self.threshold)
        else:
            found = self.speller.check_file(document.path, encoding=self.encoding, threshold=self.threshold)
        for each in found:
            self.say(each)
        return found

    def _piped(self, path: Path, name: str) -> list[Suggestion]:
        from weigh.apps.spelling.fixing import read_text

        text = read_text(path, self.encoding)
        found = self.speller.check(text.text, name=name, threshold=self.threshold)
        if self.fix:
            sys.stdout.buffer.write(text.with_changes(found))
            sys.stdout.buffer.flush()
        return found


@click.command(cls=Checking, sections=SECTIONS, short_help="Find mixed-up words, or put them right.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@model_option
@click.option("--fix", is_flag=True, help="Write what is suggested into the files.")
@click.option(
    "--name",
    metavar="NAME",
    callback=named,
    help="Of standard input: its ending tells what is code in it. [default: plain text]",
)
@click.option(
    "--threshold",
    type=Finite(0.5, 1),
    metavar="P",
    help="Suggest above this probability, instead of the promise's.",
)
@exclude_option
@encoding_option
@as_json
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    model: str | None,
    fix: bool,
    name: str | None,
    threshold: float | None,
    exclude: tuple[str, ...],
    encoding: str,
    as_json: bool,
) -> None:
    """Suggest another word where one was mixed up, and say why.

    FILES are files, folders and patterns of text, or - for standard input. Of Markdown, LaTeX, HTML and
    reStructuredText only the prose is read; of a folder what is hidden, source code and data are left out.
    """
    from weigh.apps.spelling.documents import documents

    if name is not None and "-" not in files:
        raise click.UsageError("--name is that of standard input: give '-', too. Files have their own names.")
    is_piped = fix and "-" in files
    if is_piped and as_json:
        raise click.UsageError("--fix writes standard input to standard output, where JSON has no place.")
    say = _silent if as_json else partial(click.echo, err=is_piped)
    checker = Checker(opened(model), encoding, fix, threshold, say)
    skipped: list[str] = []
    unread: list[str] = []
    texts = documents(files, encoding=encoding, exclude=exclude, skipped=skipped, unread=unread)
    found = list(checker.all(texts, name))
    for each in unread:
        checker.refuse(each)
    all_found = [each for one in found for each in one]
    if as_json:
        facts = {"texts": len(found), "fixed": fix, "suggestions": [each.to_dict() for each in all_found]}
        facts |= {"skipped": skipped, "failed": checker.failed}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        if found or not checker.failed:
            click.echo(_summary(found, fix), err=True)
        tell_skipped(skipped)
    ctx.exit(FAULT if checker.failed else SUGGESTIONS if all_found and not fix else 0)


def _silent(suggestion: object) -> None:
    """Wait for all of them."""


def _summary(found: list[list[Suggestion]], fix: bool) -> str:
    number, some = sum(map(len, found)), sum(map(bool, found))
    texts = counted(len(found), "text")
    if not number:
        return f"Nothing to suggest in {texts}."
    what = f"{counted(number, 'word')} put right" if fix else counted(number, "suggestion")
    return f"{what} in {f'{amount(some)} of ' if len(found) > 1 else ''}{texts}."
