"""A context-sensitive speller for confused words, trained on plain text; it explains its suggestions."""
