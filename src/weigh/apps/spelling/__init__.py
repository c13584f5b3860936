"""A speller for words that are mixed up: it learns from any text, and says why it would write another."""
