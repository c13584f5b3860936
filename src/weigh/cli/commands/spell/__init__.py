"""`weigh spell`: find confused words with a speller trained on your own text."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import LazyGroup

# In the order of a typical workflow.
COMMANDS = {
    "learn": "Learn from any text, without labels.",
    "check": "Find confused words, or correct them.",
    "evaluate": "Inject errors into text, and count what is found.",
    "compare": "Compare learners, set by set.",
    "curve": "Accuracy over the amount of text.",
    "sets": "Show lists of confusion sets.",
    "lsp": "Show suggestions in your editor as you type.",
}
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
    "Learn, check, evaluate": """
        weigh spell learn ~/Documents
        weigh spell check thesis.tex README.md
        weigh spell check --fix docs/
        weigh spell evaluate another-text.txt
    """,
    "Text is": """
        plain text, Markdown, LaTeX, reStructuredText or HTML, whose code and commands
        are ignored; a file, a folder or a glob pattern; compressed (.gz, .bz2, .xz,
        .zst, .lz4) or not; '-' is standard input
    """,
    "The speller": """
        is a file of at most a few megabytes: -o FILE and -m FILE, else
        $WEIGH_SPELLER, else ~/.local/share/weigh/speller.weigh. It contains weights
        of words and pairs of words, and never leaves this machine.
    """,
}


@click.command(
    cls=LazyGroup,
    home="weigh.cli.commands.spell",
    names=COMMANDS,
    others=OTHERS,
    sections=SECTIONS,
)
def command() -> None:
    """Find correctly spelled words that are wrong in their context: 'I don't know weather to laugh'.

    Learns from any text, without labels, where each word of a set such as {weather, whether} belongs, and
    suggests another word only if it keeps a promise: at most so many false alarms per 10,000 words.
    """
