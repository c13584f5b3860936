"""`weigh serve`: predictions, explanations and feedback over HTTP, and a page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option
from weigh.cli.output.text import print_json, print_text

if TYPE_CHECKING:
    from weigh.serve.http.limits import Limits

SECTIONS = {
    "Examples": """
        weigh serve spam.weigh                       # http://127.0.0.1:8000, for you alone
        weigh serve spam.weigh --feedback feedback   # learns from corrections
        weigh serve models/ --workers 2              # all models of a folder
        weigh serve mail=spam-3.weigh                # under another name
        weigh serve spam.weigh --host 0.0.0.0 --token-file tokens
    """,
    "Ask it": """
        curl http://127.0.0.1:8000/v1/models/spam/predict \\
             --json '{"rows": [{"text": "cheap pills"}]}'
        explain, learn and forget work the same way; /openapi.json describes all.
        A browser shows a page with a form, the verdict and its reasons.
    """,
    "Tokens": """
        A line of the file is NAME SCOPES TOKEN; scopes are read, learn or read,learn:
            echo "alice read,learn $(openssl rand -hex 24)" >> tokens; chmod 600 tokens
        Clients send the header Authorization: Bearer TOKEN. A changed file is read
        again within a second. Beyond this machine, a file of tokens is required.
    """,
    "Replacing a model": """
        Write the new file over the old one, as weigh fit -o does: it is loaded within
        a second, or at once on SIGHUP, and no request is lost. A damaged file leaves
        the old model in use. Feedback belongs to the file that it began with: until
        the server is started with --rebase, a replaced model predicts with the new
        file, and refuses to learn.
    """,
    "Shutdown": """
        On SIGTERM and Ctrl-C the server finishes requests and writes their feedback.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--feedback",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder for what is learned.",
)
@click.option("--rebase", is_flag=True, help="Carry feedback over to model files that were replaced.")
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Address to listen on."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--token-file", type=click.Path(dir_okay=False), metavar="FILE", help="Tokens of the clients.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which clients call it. Repeatable.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes.")
@click.option(
    "--max-body",
    type=click.FloatRange(0, min_open=True),
    metavar="MB",
    help="Size of a request. [default: 16]",
)
@click.option("--max-rows", type=click.IntRange(1), metavar="N", help="Rows of a request. [default: 100000]")
@click.option(
    "--max-requests", type=click.IntRange(1), metavar="N", help="Answered at a time. [default: 256]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="For a request to arrive. [default: 20]",
)
@click.option(
    "--log",
    "log_format",
    type=click.Choice(["text", "json", "none"]),
    default="text",
    show_default=True,
    help="Log of requests on standard error, without their content.",
)
@json_option
def command(
    models: tuple[str, ...],
    feedback: str | None,
    rebase: bool,
    host: str,
    port: int,
    token_file: str | None,
    hosts: tuple[str, ...],
    workers: int,
    max_body: float | None,
    max_rows: int | None,
    max_requests: int | None,
    timeout: float | None,
    log_format: str,
    as_json: bool,
) -> None:
    """Answer predictions, explanations and feedback over HTTP, with a web page, until stopped.

    A model is served under the name of its file, or as NAME=FILE; of a folder, all files that end in .weigh.
    Answers equal those of the library. By default only programs on this machine reach the server.

    Needs uvicorn and Starlette: pip install 'weigh[serve]'.
    """
    _check_installed()
    if rebase and feedback is None:
        raise click.UsageError("--rebase carries feedback over; give its folder with --feedback DIR.")
    from weigh.serve.server import ServerSettings, StartFacts, serve

    def show(facts: StartFacts) -> None:
        if as_json:
            print_json(facts.to_dict(), indent=None)
        else:
            print_text(facts)

    limits = _make_limits(max_body, max_rows, max_requests, timeout)
    named = _name_models(models)
    serve(
        ServerSettings(named, feedback, rebase, host, port, workers, token_file, hosts, limits, log_format),
        show,
    )


def _make_limits(
    max_body: float | None, max_rows: int | None, max_requests: int | None, timeout: float | None
) -> Limits:
    from weigh.serve.http.limits import Limits

    given = {
        "body_bytes": None if max_body is None else max(1, int(max_body * 2**20)),
        "rows": max_rows,
        "requests": max_requests,
        "requests_per_client": max_requests,
        "body_seconds": timeout,
    }
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return Limits(**changed)


def _check_installed() -> None:
    from weigh import errors

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise errors.Unsupported(
            "weigh serve needs uvicorn and Starlette, which are not installed. Run "
            "pip install 'weigh[serve]'."
        ) from None


def _name_models(models: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the models with the names that NAME=FILE gives them; other names are empty."""
    pairs = []
    for model in models:
        name, equals, path = model.partition("=")
        has_name = bool(equals and name and path) and not os.path.exists(model)
        pairs.append((name, path) if has_name else ("", model))
    return pairs
