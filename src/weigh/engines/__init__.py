"""Engines run a task over the chunks of a source."""

from weigh.engines.local import run

__all__ = ["run"]
