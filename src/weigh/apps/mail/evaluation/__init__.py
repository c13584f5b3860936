"""Trials of mail filters before they are trusted, as in the spam track of TREC.

Names are imported from their files: what a filter on trial needs of `contestant` costs nothing to import.
"""
