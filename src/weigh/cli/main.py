"""`weigh`: the entry point, and the only place that ends the program."""

from __future__ import annotations

import contextlib
import errno
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from weigh import __version__, errors
from weigh.cli.commands import Commands
from weigh.cli.told import Told, escape, hush, note, occupy, tell, unwritten

# In the order in which one meets them.
COMMANDS = (
    "demo",
    "fit",
    "predict",
    "evaluate",
    "calibrate",
    "audit",
    "explain",
    "compare",
    "bias-variance",
    "report",
    "path",
    "curve",
    "trace",
    "verify",
    "diff",
    "mail",
    "spell",
)
INTERRUPTED = 130
BROKEN_PIPE = 141
UNFORESEEN = 3
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_LESS = (
    " Text takes less with buckets (--kind COLUMN=text:buckets=2^18) or fewer n-grams, and fewer classes "
    "take less."
)


class Program(Commands):
    """All commands, and what becomes of refusals."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what the library refuses becomes a line on standard error."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", errors.WeighWarning)
                warnings.showwarning = _note
                return super().invoke(ctx)
        except errors.WeighError as refusal:
            raise Told(str(refusal)) from refusal
        except MemoryError as cause:
            advice = "" if ctx.invoked_subcommand in ("mail", "spell") else _LESS
            raise Told(f"There is not enough memory.{advice}") from cause
        except BrokenPipeError:
            hush()
            raise click.exceptions.Exit(BROKEN_PIPE) from None


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))


SECTIONS = {
    "A tour in a minute": "weigh demo",
    "Your own table": """
        weigh fit train.csv --label income -o income.weigh
        weigh evaluate income.weigh test.csv
        weigh predict income.weigh new.csv
        weigh explain income.weigh new.csv --row 0
    """,
    "Your mail": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail learn --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail filter < message
    """,
    "Words that you mix up": """
        weigh spell learn ~/Documents
        weigh spell check thesis.tex
    """,
}


@click.command(
    cls=Program,
    home="weigh.cli",
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
    """Run the program and end it: 0 fine, 1 refused, 2 wrong usage, 3 a fault of its own, 130 interrupted."""
    occupy()
    escape()
    try:
        code = code_of(arguments)
    except Exception:
        # Python's own code for this would mean something else: ham, where a mail filter is asked.
        code = UNFORESEEN
        with contextlib.suppress(Exception):
            import traceback

            traceback.print_exc()
    sys.exit(code)


def code_of(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    try:
        code = app.main(arguments, prog_name="weigh", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        hush()
        return BROKEN_PIPE
    except click.ClickException as refusal:
        tell(refusal)
        return refusal.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except OSError as cause:
        if cause.errno not in _UNWRITABLE:
            raise
        tell(unwritten(cause))
        return 1
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    run()
