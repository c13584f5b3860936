"""Command groups that import a command only when it runs, for a fast start."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click


class CommandWithExamples(click.Command):
    """A command whose help ends with sections: preformatted, such as examples, or rows of terms and texts."""

    def __init__(
        self, *args: Any, sections: Mapping[str, str | Sequence[tuple[str, str]]], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.sections = sections

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections below the options."""
        for title, text in self.sections.items():
            with formatter.section(title):
                if isinstance(text, str):
                    formatter.write(textwrap.indent(textwrap.dedent(text).strip("\n"), "  ") + "\n")
                else:
                    formatter.write_dl(text)


class LazyGroup(CommandWithExamples, click.Group):
    """Commands by name; the module of each has its name, with _ for -, in the package `home`.

    `names` maps them to their short help, so that the list of commands imports none of them. `others` maps
    names that people try to the commands that they mean.
    """

    def __init__(
        self,
        *args: Any,
        home: str,
        names: Mapping[str, str],
        others: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.package, self.names, self.synonyms = home, names, others or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in help order."""
        return list(self.names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command."""
        if name not in self.names:
            return None
        command: click.Command = importlib.import_module(f"{self.package}.{name.replace('-', '_')}").command
        command.short_help = self.names[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their short help."""
        with formatter.section("Commands"):
            formatter.write_dl([*self.names.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; suggest the nearest one if there is none."""
        if args and not args[0].startswith("-") and args[0] not in self.names:
            from weigh import errors

            meant = self.synonyms.get(args[0], args[0])
            raise click.UsageError(
                f"No such command {args[0]!r}.{errors.did_you_mean(meant, self.names)}", ctx
            )
        return super().resolve_command(ctx, args)
