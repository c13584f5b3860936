"""Masking of everything but prose in plain text, Markdown, LaTeX, HTML and reStructuredText."""
