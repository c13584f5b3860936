"""Reports on models: facts are collected first, then rendered as one self-contained HTML page."""
