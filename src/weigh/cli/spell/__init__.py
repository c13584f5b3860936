"""`weigh spell`: words that are mixed up, found by a speller that has read your own text."""

from __future__ import annotations

import click

from weigh.cli.commands import LazyGroup

# In the order in which one meets them.
COMMANDS = ("learn", "check", "evaluate", "compare", "curve", "sets", "lsp")
OTHERS = {
    "train": "learn",
    "fit": "learn",
    "fix": "check",
    "lint": "check",
    "test": "evaluate",
    "list": "sets",
    "serve": "lsp",
}
SECTIONS = {
    "Learn it, use it, try it": """
        weigh spell learn ~/Documents
        weigh spell check thesis.tex README.md
        weigh spell check --fix docs/
        weigh spell evaluate another-text.txt
    """,
    "Text is": """
        plain text, Markdown, LaTeX, reStructuredText or HTML, of which code and
        commands are left alone; a file, a folder, a pattern; packed (.gz, .bz2, .xz,
        .zst, .lz4) or not; '-' is standard input
    """,
    "What is learned": """
        is a file of a few megabytes at most: -o FILE and -m FILE, else
        $WEIGH_SPELLER, else ~/.local/share/weigh/speller.weigh. It holds weights of
        words and of pairs of words, and never leaves this machine.
    """,
}


@click.command(
    cls=LazyGroup,
    home="weigh.cli.spell",
    names=COMMANDS,
    others=OTHERS,
    sections=SECTIONS,
    short_help="Find words that were mixed up: weather, whether.",
)
def command() -> None:
    """Find words that are spelled well and mean another: 'I don't know weather to laugh'.

    Learns from any text, without labels, which word of a set such as {weather, whether} stands where, and
    suggests another only where it keeps its promise: so many false alarms in 10,000 words, and no more.
    """
