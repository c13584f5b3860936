"""`weigh spell check`: find confused words, and correct them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.commands.spell.options import (
    FiniteFloatRange,
    encoding_option,
    exclude_option,
    load_speller,
    model_option,
    print_skipped_note,
)
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.notation import to_command_line
from weigh.cli.options import check_path_not_empty, json_option
from weigh.cli.output.text import CliError, print_json, print_text, show_error
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
        is at line 3, column 15, in the format of compilers and grep. Only suggestions
        above the speller's threshold are shown: see weigh spell learn --alarms.
    """,
    "--fix": """
        applies the suggestions to the files; all other bytes stay unchanged.
        Standard input is written to standard output, corrected.
    """,
    "Exit codes": """
        0   no suggestions, or all of them were applied
        1   a text could not be read or written; all others were checked
        2   wrong usage
        3   there are suggestions
    """,
}


class CheckCommand(CommandWithExamples):
    """A command that exits with 1 on an internal error, because 3, the usual code, means suggestions."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from weigh.errors import WeighError

        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, WeighError, MemoryError, OSError):
            raise
        except Exception:
            import traceback

            print_text(traceback.format_exc().rstrip(), err=True)
            raise click.exceptions.Exit(EXIT_ERROR) from None


@dataclass(frozen=True)
class DocumentChecker:
    """Checks documents, and reports their suggestions as soon as each is checked."""

    speller: Speller
    encoding: str
    fix: bool
    threshold: float | None
    report: Callable[[Suggestion], None]
    failures: list[str] = field(default_factory=list, init=False)

    def check_all(self, texts: Iterator[Document], name: str | None) -> Iterator[list[Suggestion]]:
        """Yield the suggestions for each text; texts that cannot be read or written are reported."""
        from weigh.errors import SourceError

        while True:
            try:
                document = next(texts, None)
                if document is None:
                    return
                suggestions = self.check(document, name)
            except SourceError as error:
                self.report_failure(to_command_line(error))
            else:
                yield suggestions

    def report_failure(self, message: str) -> None:
        """Report a text that cannot be read or written."""
        error = CliError(message)
        show_error(error)
        self.failures.append(error.message)

    def check(self, document: Document, name: str | None) -> list[Suggestion]:
        """Return the suggestions for a text, and apply them to its file with `fix`."""
        from weigh.source.paths import SpooledStdin

        if isinstance(document.path, SpooledStdin):
            suggestions = self._check_standard_input(document.path, name or document.name)
        else:
            check = self.speller.fix_file if self.fix else self.speller.check_file
            suggestions = check(document.path, encoding=self.encoding, threshold=self.threshold)
        for suggestion in suggestions:
            self.report(suggestion)
        return suggestions

    def _check_standard_input(self, path: Path, name: str) -> list[Suggestion]:
        from weigh.apps.spelling.corrections import read_decoded_file

        file = read_decoded_file(path, self.encoding)
        suggestions = self.speller.check(file.text, name=name, threshold=self.threshold)
        if self.fix:
            sys.stdout.buffer.write(file.to_corrected_bytes(suggestions))
            sys.stdout.buffer.flush()
        return suggestions


@click.command(cls=CheckCommand, sections=SECTIONS)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@model_option
@click.option("--fix", is_flag=True, help="Apply the suggestions to the files.")
@click.option(
    "--name",
    metavar="NAME",
    callback=check_path_not_empty,
    help="Name of standard input; its suffix determines the markup. [default: plain text]",
)
@click.option(
    "--threshold",
    type=FiniteFloatRange(0.5, 1),
    metavar="P",
    help="Suggest above this probability instead of the speller's threshold.",
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
    """Suggest corrections of confused words, with reasons.

    FILES are text files, folders and glob patterns, or - for standard input. Only the prose of Markdown,
    LaTeX, HTML and reStructuredText is checked. Hidden files, source code and data in folders are skipped.
    """
    from weigh.apps.spelling.documents import read_documents

    if name is not None and "-" not in files:
        raise click.UsageError("--name applies to standard input only; give '-', too.")
    is_piped = fix and "-" in files
    if is_piped and as_json:
        raise click.UsageError(
            "--fix writes the corrected standard input to standard output, so --json cannot be used."
        )
    report = _report_nothing if as_json else partial(print_text, err=is_piped)
    checker = DocumentChecker(load_speller(model), encoding, fix, threshold, report)
    skipped: list[str] = []
    unread: list[str] = []
    texts = read_documents(files, encoding=encoding, exclude=exclude, skipped=skipped, unread=unread)
    by_text = list(checker.check_all(texts, name))
    for message in unread:
        checker.report_failure(message)
    suggestions = [suggestion for of_text in by_text for suggestion in of_text]
    if as_json:
        result = {"texts": len(by_text), "fixed": fix, "suggestions": [one.to_dict() for one in suggestions]}
        result |= {"skipped": skipped, "failed": checker.failures}
        print_json(result)
    else:
        if by_text or not checker.failures:
            print_text(_format_summary(by_text, fix), err=True)
        print_skipped_note(skipped)
    ctx.exit(EXIT_ERROR if checker.failures else EXIT_SUGGESTIONS if suggestions and not fix else 0)


def _report_nothing(suggestion: object) -> None:
    """Ignore a suggestion; JSON is printed at the end."""


def _format_summary(by_text: list[list[Suggestion]], fix: bool) -> str:
    n_suggestions, n_affected = sum(map(len, by_text)), sum(map(bool, by_text))
    texts = format_quantity(len(by_text), "text")
    if not n_suggestions:
        return f"No suggestions in {texts}."
    unit = "word" if fix else "suggestion"
    what = format_quantity(n_suggestions, unit) + (" corrected" if fix else "")
    return f"{what} in {f'{format_count(n_affected)} of ' if len(by_text) > 1 else ''}{texts}."
