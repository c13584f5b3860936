"""`weigh mail`: a mail filter that explains its verdicts, learns, unlearns and can be evaluated first."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import LazyGroup

# In the order in which users need them.
COMMANDS = {
    "evaluate": "Evaluate filters on your own mail.",
    "learn": "Learn spam and ham.",
    "unlearn": "Undo the learning of mail.",
    "filter": "Add the verdict to a message.",
    "explain": "Explain the verdict on a message.",
    "audit": "Find mail in the wrong folder.",
    "status": "Show what has been learned.",
    "check": "Look for damage in the store.",
    "rebuild": "Replace a damaged store.",
    "words": "List the strongest words, if the store keeps them.",
    "serve": "Filter mail in a long-running server.",
}
COMMAND_SYNONYMS = {
    "train": "learn",
    "forget": "unlearn",
    "judge": "filter",
    "classify": "filter",
    "why": "explain",
    "test": "evaluate",
    "verify": "check",
    "repair": "rebuild",
}
SECTIONS = {
    "Evaluate, learn, filter": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail learn --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail filter < message > filtered
        weigh mail explain message
    """,
    "Mail sources": """
        An mbox, a Maildir, an MH folder, a file with one message, or a folder of such
        files, compressed (.gz, .bz2, .xz) or not; '-' is standard input.
    """,
    "The store": """
        is the folder --store DIR, else $WEIGH_MAIL, else ~/.local/share/weigh/mail.
        It contains keyed hashes and counts, not mail, and never leaves this machine.
    """,
}


@click.command(
    cls=LazyGroup,
    home="weigh.cli.commands.mail",
    names=COMMANDS,
    others=COMMAND_SYNONYMS,
    sections=SECTIONS,
)
def command() -> None:
    """Filter mail: learn spam and ham, judge messages, explain verdicts, unlearn, and evaluate filters."""
