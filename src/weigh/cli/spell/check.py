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

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import check_path_not_empty, json_option
from weigh.cli.output import CliError, show_error
from weigh.cli.spell.options import (
    FiniteFloatRange,
    encoding_option,
    exclude_option,
    load_speller,
    model_option,
    print_skipped_note,
)
from weigh.text import format_count, format_quantity

if TYPE_CHECKING:
    from weigh.apps.spelling.documents import Document
    from weigh.apps.spelling.speller import Speller
    from weigh.apps.spelling.suggestions import Suggestion

EXIT_ERROR, EXIT_SUGGESTIONS = 1, 3
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


class CheckCommand(CommandWithExamples):
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
            raise click.exceptions.Exit(EXIT_ERROR) from None


@dataclass(frozen=True)
class DocumentChecker:
    """How texts are checked: each one is told as soon as it is."""

    speller: Speller
    encoding: str
    fix: bool
    threshold: float | None
    report: Callable[[Suggestion], None]
    failures: list[str] = field(default_factory=list, init=False)

    def check_all(self, texts: Iterator[Document], name: str | None) -> Iterator[list[Suggestion]]:
        """What is suggested for each text; one that cannot be read or written is told, and stops no other."""
        from weigh.errors import SourceError

        while True:
            try:
                document = next(texts, None)
                if document is None:
                    return
                found = self.check(document, name)
            except SourceError as error:
                self.report_failure(str(error))
            else:
                yield found

    def report_failure(self, sentence: str) -> None:
        """Tell of a text that cannot be read or written."""
        refusal = CliError(sentence)
        show_error(refusal)
        self.failures.append(refusal.message)

    def check(self, document: Document, name: str | None) -> list[Suggestion]:
        """What is suggested for a text, which is written into its file if that was asked for."""
        from weigh.source.paths import SpooledStdin

        if isinstance(document.path, SpooledStdin):
            found = self._check_standard_input(document.path, name or document.name)
        elif self.fix:
            found = self.speller.fix_file(document.path, encoding=self.encoding, threshold=self.threshold)
        else:
            found = self.speller.check_file(document.path, encoding=self.encoding, threshold=self.threshold)
        for each in found:
            self.report(each)
        return found

    def _check_standard_input(self, path: Path, name: str) -> list[Suggestion]:
        from weigh.apps.spelling.corrections import read_decoded_file

        text = read_decoded_file(path, self.encoding)
        found = self.speller.check(text.text, name=name, threshold=self.threshold)
        if self.fix:
            sys.stdout.buffer.write(text.to_corrected_bytes(found))
            sys.stdout.buffer.flush()
        return found


@click.command(cls=CheckCommand, sections=SECTIONS, short_help="Find mixed-up words, or put them right.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@model_option
@click.option("--fix", is_flag=True, help="Write what is suggested into the files.")
@click.option(
    "--name",
    metavar="NAME",
    callback=check_path_not_empty,
    help="Of standard input: its ending tells what is code in it. [default: plain text]",
)
@click.option(
    "--threshold",
    type=FiniteFloatRange(0.5, 1),
    metavar="P",
    help="Suggest above this probability, instead of the promise's.",
)
@exclude_option
@encoding_option
@json_option
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
    from weigh.apps.spelling.documents import read_documents

    if name is not None and "-" not in files:
        raise click.UsageError("--name is that of standard input: give '-', too. Files have their own names.")
    is_piped = fix and "-" in files
    if is_piped and as_json:
        raise click.UsageError("--fix writes standard input to standard output, where JSON has no place.")
    say = _report_nothing if as_json else partial(click.echo, err=is_piped)
    checker = DocumentChecker(load_speller(model), encoding, fix, threshold, say)
    skipped: list[str] = []
    unread: list[str] = []
    texts = read_documents(files, encoding=encoding, exclude=exclude, skipped=skipped, unread=unread)
    found = list(checker.check_all(texts, name))
    for each in unread:
        checker.report_failure(each)
    all_found = [each for one in found for each in one]
    if as_json:
        facts = {"texts": len(found), "fixed": fix, "suggestions": [each.to_dict() for each in all_found]}
        facts |= {"skipped": skipped, "failed": checker.failures}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        if found or not checker.failures:
            click.echo(_format_summary(found, fix), err=True)
        print_skipped_note(skipped)
    ctx.exit(EXIT_ERROR if checker.failures else EXIT_SUGGESTIONS if all_found and not fix else 0)


def _report_nothing(suggestion: object) -> None:
    """Wait for all of them."""


def _format_summary(found: list[list[Suggestion]], fix: bool) -> str:
    number, some = sum(map(len, found)), sum(map(bool, found))
    texts = format_quantity(len(found), "text")
    if not number:
        return f"Nothing to suggest in {texts}."
    what = f"{format_quantity(number, 'word')} put right" if fix else format_quantity(number, "suggestion")
    return f"{what} in {f'{format_count(some)} of ' if len(found) > 1 else ''}{texts}."
