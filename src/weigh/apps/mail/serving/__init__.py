"""The long-running mail filter: a local socket, and a content filter that speaks SMTP."""
