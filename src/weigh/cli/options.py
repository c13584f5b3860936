"""Options shared by several commands, and the files they open."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar, cast

import click

from weigh.cli.output.text import format_location, print_json, print_text

if TYPE_CHECKING:
    from weigh.source.base import Source

Command = TypeVar("Command", bound=Callable[..., Any])

DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
drop_missing_labels_option = click.option(
    "--drop-missing-labels", is_flag=True, help="Leave out rows without a label."
)
plot_option = click.option("--plot", metavar="FILE", help="Draw a picture, as .svg, .png or .html.")
raw_option = click.option(
    "--raw", is_flag=True, help="CSV: write names unchanged, even if a spreadsheet would run them."
)
predictive_option = click.option(
    "--predictive",
    is_flag=True,
    help="Naive Bayes, joint Bayes: integrate the parameters out instead of estimating them.",
)
data_argument = click.argument("data", nargs=-1, required=True, metavar="DATA...")
model_argument = click.argument("model", type=click.Path(), metavar="MODEL")


def data_file_options(command: Command) -> Command:
    """Add the options that describe the format of a data file."""
    options = [
        click.option(
            "--delimiter",
            metavar="SIGN",
            help="Field separator: ';', 'tab', ... [default: detected]",
        ),
        click.option("--encoding", metavar="NAME", help="Encoding of the text. [default: detected]"),
        click.option("--decimal", metavar="SIGN", help="Decimal sign of CSV files: ',' or '.'. [default: .]"),
        click.option(
            "--thousands",
            metavar="SIGN",
            help="Thousands separator of CSV files: ',', '.', 'space' or \"'\". [default: by column]",
        ),
        click.option("--names", metavar="A,B,...", help="Column names of CSV files without a header."),
        click.option(
            "--quotes/--no-quotes",
            default=None,
            help="Whether '\"' quotes fields of CSV files, or is an ordinary character. [default: quotes]",
        ),
        click.option("--strings", metavar="A,B,...", help="CSV columns to read as text, even if numeric."),
        click.option(
            "--sheet", metavar="NAME", help="Sheet of a spreadsheet, by name or number (the first is 0)."
        ),
        click.option(
            "--format",
            type=click.Choice(
                ["csv", "tsv", "excel", "parquet", "json", "fasttext", "vw", "libsvm", "folder", "mail"]
            ),
            help="File format; required for '-' (standard input). [default: by extension]",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def check_path_not_empty(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Reject an empty path, which an unset shell variable expands to."""
    if path == "":
        raise click.BadParameter("the path is empty.")
    return path


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Parse HOST:PORT, or a port of this machine."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise click.UsageError(f"{option} takes HOST:PORT, such as 127.0.0.1:10025, not {text!r}.")
    return host.strip("[]") or "127.0.0.1", int(port)


def parse_delimiter(delimiter: str | None) -> str | None:
    """Return the character that --delimiter means."""
    character = None if delimiter is None else DELIMITERS.get(delimiter, delimiter)
    if character is not None and len(character) != 1:
        raise click.BadParameter(f"{delimiter!r} is not a single character.", param_hint="'--delimiter'")
    return character


def open_source(
    path: str | Sequence[str],
    label: str | None,
    missing: Sequence[Any],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    names: str | None = None,
    strings: str | None = None,
    quotes: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
    drop_missing_labels: bool = False,
    like: Any = None,
) -> Source:
    """Open a file, several files as one, or standard input, in the format that the options describe."""
    from weigh.source.files.open_files import open as open_file

    return open_file(
        path,
        label,
        delimiter=parse_delimiter(delimiter),
        encoding=encoding,
        format=format,
        missing=("", *missing),
        has_header=None if names is None else False,
        names=None if names is None else [name.strip() for name in names.split(",")],
        strings=strings.split(",") if strings else (),
        quotes=quotes,
        decimal=decimal,
        thousands=None if thousands is None else DELIMITERS.get(thousands, thousands),
        sheet=sheet,
        drop_missing_labels=drop_missing_labels,
        like=like,
    )


def open_source_for_model(
    model: Any, path: str | Sequence[str], label: str | None = None, **written: Any
) -> Source:
    """Open a file, several files as one, or standard input, as the model's training file was read."""
    return open_source(path, label, (), like=model, **written)


def print_result(result: Any, as_json: bool) -> None:
    """Print a result that knows how to print, or its JSON."""
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(result)


def class_by_name(text: str, classes: list[Any], option: str) -> Any:
    """Return the class with this name."""
    from weigh import errors

    for label in classes:
        if str(label) == text:
            return label
    near = errors.did_you_mean(text, map(str, classes))
    raise click.BadParameter(
        f"the model has no class {text!r}; it has {errors.quote_names(classes)}.{near}",
        param_hint=f"'{option}'",
    )


def check_plot_path(plot: str | None) -> None:
    """Reject a picture file that cannot be written, before any work is done."""
    from weigh.pictures.output import IMAGE_EXTENSIONS

    if plot is None:
        return
    if not plot.lower().endswith(IMAGE_EXTENSIONS):
        raise click.BadParameter(f"{plot!r} does not end in .svg, .png or .html.", param_hint="'--plot'")
    check_output_path(plot, "--plot")
    from weigh.pictures.style import import_altair

    import_altair()


def check_output_path(path: str, option: str) -> None:
    """Reject an output file that cannot be written, before any work is done."""
    if os.path.isdir(path):
        raise click.BadParameter(
            f"{path!r} is a folder. Give the name of a file in it.", param_hint=f"'{option}'"
        )
    from weigh.atomic_files import nearest_folder

    # Folders that do not exist are created.
    folder = nearest_folder(path)
    if not os.access(folder, os.W_OK | os.X_OK):
        why = "is not writable" if os.path.isdir(folder) else "is not a folder"
        raise click.BadParameter(f"{path!r} cannot be written: {folder!r} {why}.", param_hint=f"'{option}'")


def save_plot(picture: Callable[[], Any], plot: str | None, as_json: bool) -> None:
    """Draw a picture if --plot was given, and print its path."""
    if plot is None:
        return
    from weigh.pictures import image

    image(picture(), plot)
    if not as_json:
        print_text(f"\n{format_location('The picture', plot)}")


def check_output_is_not_input(output: str | None, *inputs: str) -> None:
    """Reject an output file with an empty name, a link to nothing, and one that is also an input."""
    from weigh import errors

    if output == "":
        raise errors.FileError("The output file has an empty name. Give a file name.")
    if output and os.path.islink(output) and not os.path.exists(output):
        raise errors.FileError(f"{output} is a link to nothing. Remove it, or write to another file.")
    for path in inputs:
        if output and os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise errors.FileError(f"{output} is also an input of this command. Write to another file.")


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    """Open standard output, or a file that is replaced only when it is complete; .gz is compressed."""
    if path is None or path == "-":
        yield sys.stdout
        return
    with open_binary_output(path) as raw, compress(raw, path) as data:
        file = io.TextIOWrapper(data, encoding="utf-8", errors="backslashreplace", newline="")
        yield file
        # Flush the text, and leave closing to the context manager.
        file.detach()


def compress(raw: BinaryIO, path: str) -> AbstractContextManager[BinaryIO]:
    """Return a file that compresses what is written to it if the path ends in .gz."""
    if not path.lower().endswith(".gz"):
        return nullcontext(raw)
    from gzip import GzipFile

    # Without a name and a time, equal rows give equal bytes.
    return cast(AbstractContextManager[BinaryIO], GzipFile("", "wb", 6, raw, 0))


@contextmanager
def open_binary_output(path: str) -> Iterator[BinaryIO]:
    """Open a file that is replaced only when it is complete."""
    from weigh import errors
    from weigh.atomic_files import error_reason

    try:
        with _open_replacement(path) as raw:
            yield raw
    except BrokenPipeError:
        raise
    except OSError as cause:
        raise errors.FileError(
            f"{path} cannot be written: {error_reason(cause)}. Check its folder."
        ) from cause


@contextmanager
def _open_replacement(path: str) -> Iterator[BinaryIO]:
    from weigh import errors
    from weigh.atomic_files import atomic_write, file_mode

    mode = file_mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise errors.FileError(f"{path} is a folder. Give the name of a file in it.")
    with atomic_write(path, creates_folders=True) as raw:
        yield raw
