"""`weigh mail serve`: filter mail on a local socket and over SMTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.cli.commands.mail.store_options import open_store, store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, parse_address
from weigh.cli.output.text import print_json, print_text

if TYPE_CHECKING:
    from weigh.apps.mail.serving.server import ServerAddresses

SECTIONS = {
    "Examples": """
        weigh mail serve
        weigh mail serve --smtp 127.0.0.1:10025 --next 127.0.0.1:10026
    """,
    "The socket": """
        is serve.sock in the store's folder, accessible only to its owner. weigh mail
        filter finds it there. Other programs write
            FILTER 1234          and the 1,234 bytes of a message, or
            FILTER -             and a message, and close their side
        and read 'OK 1300' and the message with its verdict, or 'NO 35' and the reason.
        JUDGE, EXPLAIN, LEARN SPAM, LEARN HAM and UNLEARN work the same way.
    """,
    "--smtp, for Postfix and other mail systems": """
        receives mail, adds the verdict and forwards it to --next. A message is
        accepted only once the next host has accepted it; until then it stays with its
        sender. Needs aiosmtpd: pip install '.[mail]' in the folder of weigh.
    """,
    "Shutdown": """
        On SIGTERM and Ctrl-C the server finishes pending requests.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@store_option
@click.option(
    "--socket", "path", metavar="PATH", help="Socket to listen on. [default: serve.sock in the store]"
)
@click.option("--smtp", metavar="HOST:PORT", help="Receive mail over SMTP here; needs --next.")
@click.option(
    "--next", "next_host", metavar="HOST:PORT", help="Forward mail received over SMTP to this host."
)
@click.option("-v", "--verbose", is_flag=True, help="Log a line per message on standard error.")
@json_option
def command(
    store: str | None,
    path: str | None,
    smtp: str | None,
    next_host: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Answer requests on a local socket, and filter mail over SMTP, until stopped.

    What other programs learn in the meantime takes effect immediately. The lines of --verbose give the time,
    the size and the verdict of each message, never its sender, its recipients or its content.
    """
    if (smtp is None) != (next_host is None):
        raise click.UsageError(
            "--smtp and --next go together: where mail arrives, and where it is forwarded to."
        )
    import asyncio

    from weigh.apps.mail.serving.client import default_socket
    from weigh.apps.mail.serving.server import SmtpRoute, serve
    from weigh.apps.mail.serving.service import FilterService

    route = None
    if smtp is not None and next_host is not None:
        route = SmtpRoute(parse_address(smtp, "--smtp"), parse_address(next_host, "--next"))

    def print_addresses(addresses: ServerAddresses) -> None:
        if as_json:
            print_json(addresses.to_dict(), indent=None)
        else:
            print_text(addresses)

    mail_store = open_store(store)
    service = FilterService(mail_store, (lambda line: print_text(line, err=True)) if verbose else None)
    asyncio.run(serve(service, path or default_socket(mail_store.folder), route, print_addresses))
