"""The mail filter as a server: on a local socket, and as an SMTP content filter."""
