"""The peers' side of the rows, where it takes more than a call."""
