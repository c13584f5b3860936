"""The speller in editors: a language server."""

from weigh.apps.spelling.language_server.transport import serve

__all__ = ["serve"]
