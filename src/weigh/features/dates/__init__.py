"""Dates: their parsing, their kind and the columns of their parts."""
