"""`weigh mail serve`: a filter that stays, so that no message waits for a program to start."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.mail.store_options import open_store, store_option
from weigh.cli.options import json_option, parse_address

if TYPE_CHECKING:
    from weigh.apps.mail.serving.server import ServerAddresses

SECTIONS = {
    "Examples": """
        weigh mail serve
        weigh mail serve --smtp 127.0.0.1:10025 --next 127.0.0.1:10026
    """,
    "The socket": """
        is serve.sock in the store's folder, for its owner alone. weigh mail filter
        finds it there by itself. Other programs write
            FILTER 1234          and the 1,234 bytes of a message, or
            FILTER -             and a message, and hang up
        and read 'OK 1300' and the message with its verdict, or 'NO 35' and why not.
        JUDGE, EXPLAIN, LEARN SPAM, LEARN HAM and UNLEARN work alike.
    """,
    "--smtp, for Postfix and other mail systems": """
        takes mail, writes the verdict into it and passes it on to --next. A message
        is accepted when the next host has accepted it; until then it stays where it
        came from. Needs aiosmtpd: pip install '.[mail]' in the folder of weigh.
    """,
    "The end": """
        SIGTERM and Ctrl-C let it finish what it has begun.
    """,
}


@click.command(
    cls=CommandWithExamples, sections=SECTIONS, short_help="Filter mail without starting each time."
)
@store_option
@click.option("--socket", "path", metavar="PATH", help="Where to listen. [default: serve.sock in the store]")
@click.option("--smtp", metavar="HOST:PORT", help="Take mail by SMTP here; needs --next.")
@click.option("--next", "next_host", metavar="HOST:PORT", help="Pass mail taken by SMTP on to this host.")
@click.option("-v", "--verbose", is_flag=True, help="A line on standard error for each message.")
@json_option
def command(
    store: str | None,
    path: str | None,
    smtp: str | None,
    next_host: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Answer on a local socket, and filter mail by SMTP, until told to stop.

    What other programs learn meanwhile is heeded. With --verbose a line for each message tells when, how
    long, and the verdict; never who wrote to whom, nor a word of it.
    """
    if (smtp is None) != (next_host is None):
        raise click.UsageError("--smtp and --next go together: where mail comes in, and where it goes.")
    import asyncio

    from weigh.apps.mail.serving.client import default_socket
    from weigh.apps.mail.serving.server import SmtpRoute, serve
    from weigh.apps.mail.serving.service import FilterService

    route = None
    if smtp is not None and next_host is not None:
        route = SmtpRoute(parse_address(smtp, "--smtp"), parse_address(next_host, "--next"))

    def ready(places: ServerAddresses) -> None:
        click.echo(json.dumps(places.to_dict(), ensure_ascii=False) if as_json else str(places))

    mail = open_store(store)
    service = FilterService(mail, (lambda line: click.echo(line, err=True)) if verbose else None)
    asyncio.run(serve(service, path or default_socket(mail.folder), route, ready))
