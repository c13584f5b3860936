"""The language server of the speller, for editors."""

from weigh.apps.spelling.language_server.transport import serve

__all__ = ["serve"]
