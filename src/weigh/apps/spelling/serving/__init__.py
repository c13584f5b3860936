"""The speller in editors: a language server."""

from weigh.apps.spelling.serving.running import serve

__all__ = ["serve"]
