"""Engines: where a task is folded over chunks."""

from weigh.engines.local import run

__all__ = ["run"]
