"""How commands write text, tables, files, summaries and progress."""
