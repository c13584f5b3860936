"""Entry point of the `weigh` command, and the only place that exits the process."""

from __future__ import annotations

import contextlib
import errno
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from weigh import __version__, errors
from weigh.atomic_files import remove_own_drafts, set_write_context
from weigh.cli.lazy_group import LazyGroup
from weigh.cli.output.text import (
    CliError,
    escape_unencodable_output,
    output_error,
    print_text,
    redirect_to_devnull,
    reopen_closed_standard_streams,
    show_error,
    show_note,
)

# In the order in which the help lists them.
COMMANDS = {
    "demo": "A one-minute tour.",
    "split": "Divide rows into training and test rows.",
    "fit": "Train a model from files.",
    "tune": "Try values of a learner's parameters.",
    "predict": "Write predictions for the rows of files.",
    "evaluate": "Measure a model on labelled rows.",
    "calibrate": "Calibrate a model's probabilities.",
    "audit": "Find labels that are probably wrong.",
    "explain": "Explain a prediction.",
    "effects": "Show what each column adds.",
    "scorecard": "Turn a model into whole points.",
    "compare": "Cross-validate several learners.",
    "bias-variance": "Decompose the loss of learners.",
    "report": "Write an HTML report about a model.",
    "path": "Regularisation path of a regression.",
    "curve": "Learning curves.",
    "trace": "Show every step of a perceptron.",
    "learn": "Add rows to a model, exactly.",
    "forget": "Remove rows from a model, exactly.",
    "merge": "Merge models of different rows.",
    "verify": "Check a model against its training files.",
    "diff": "Show what changed between two models.",
    "serve": "Serve models over HTTP, with a page.",
    "mail": "Filter mail: learn, judge, explain.",
    "spell": "Find confused words: weather, whether.",
}
INTERRUPTED = 130
BROKEN_PIPE = 141
INTERNAL_ERROR = 3
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_MEMORY_ADVICE = (
    " Text needs less with buckets (--kind COLUMN=text:buckets=2^18), fewer n-grams or fewer classes."
)


class WeighCommand(LazyGroup):
    """The top-level group: turns library errors and warnings into messages."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a library error becomes a line on standard error."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", errors.WeighWarning)
                # A function of this run's own, so that warnings of an earlier run do not count as shown.
                warnings.showwarning = lambda message, *_, **__: show_note(message)
                return super().invoke(ctx)
        except errors.WeighError as error:
            raise CliError(error) from error
        except MemoryError as cause:
            advice = "" if ctx.invoked_subcommand in ("mail", "spell") else _MEMORY_ADVICE
            raise CliError(f"There is not enough memory.{advice}") from cause
        except BrokenPipeError:
            redirect_to_devnull()
            raise click.exceptions.Exit(BROKEN_PIPE) from None


SECTIONS = {
    "A tour in a minute": "weigh demo",
    "Your own table": """
        weigh split table.csv --label income --train train.csv --test test.csv
        weigh fit train.csv --label income -o income.weigh
        weigh evaluate income.weigh test.csv
        weigh predict income.weigh new.csv --keep all -o predictions.csv
        weigh explain income.weigh new.csv --row 0
    """,
    "Your mail": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail learn --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail filter < message
    """,
    "Confused words": """
        weigh spell learn ~/Documents
        weigh spell check thesis.tex
    """,
}


@click.command(
    cls=WeighCommand,
    home="weigh.cli.commands",
    names=COMMANDS,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="weigh", message="%(prog)s %(version)s")
def app() -> None:
    """Naive Bayes, perceptrons, logistic and linear regression that train straight from tables and text and
    explain every number.
    """


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0 success, 1 error, 2 wrong usage, 3 internal error, 130 interrupted."""
    reopen_closed_standard_streams()
    escape_unencodable_output()
    set_write_context(_write_context)
    try:
        code = run_for_exit_code(arguments)
    except Exception:
        # Python's exit code 1 would mean "ham" in a mail filter.
        code = INTERNAL_ERROR
        with contextlib.suppress(Exception):
            import traceback

            print_text(traceback.format_exc().rstrip(), err=True)
    finally:
        # A second interrupt may have cut the clean-up after the first one short.
        remove_own_drafts()
    sys.exit(code)


def _write_context(path: str, target: str) -> contextlib.AbstractContextManager[None]:
    # Imported when a file is written: most commands only print.
    from weigh.cli.output.files import write_context

    return write_context(path, target)


def run_for_exit_code(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    try:
        code = app.main(arguments, prog_name="weigh", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        redirect_to_devnull()
        return BROKEN_PIPE
    except click.ClickException as error:
        show_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except OSError as cause:
        if cause.errno not in _WRITE_ERRORS:
            raise
        show_error(output_error(cause))
        return 1
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    run()
