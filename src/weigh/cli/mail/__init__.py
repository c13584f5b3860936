"""`weigh mail`: a filter that says why, learns and unlearns, and can be tried before it is trusted."""

from __future__ import annotations

import click

from weigh.cli.commands import LazyGroup

# In the order in which one meets them.
COMMANDS = (
    "evaluate",
    "learn",
    "unlearn",
    "filter",
    "explain",
    "audit",
    "status",
    "words",
    "serve",
)
COMMAND_SYNONYMS = {
    "train": "learn",
    "forget": "unlearn",
    "judge": "filter",
    "classify": "filter",
    "why": "explain",
    "test": "evaluate",
}
SECTIONS = {
    "Try it, teach it, use it": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail learn --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail filter < message > filtered
        weigh mail explain message
    """,
    "Mail is": """
        an mbox, a Maildir, a folder of MH, a file with one message, or a folder
        of such files; packed (.gz, .bz2, .xz) or not; '-' is standard input
    """,
    "What is learned": """
        lies in --store DIR, else in $WEIGH_MAIL, else in ~/.local/share/weigh/mail.
        It holds keyed hashes and counts, not mail, and never leaves this machine.
    """,
}


@click.command(
    cls=LazyGroup,
    home="weigh.cli.mail",
    names=COMMANDS,
    others=COMMAND_SYNONYMS,
    sections=SECTIONS,
    short_help="Filter mail: learn, judge, say why.",
)
def command() -> None:
    """Filter mail: learn what is spam, judge messages and say why, unlearn, and try it all before."""
