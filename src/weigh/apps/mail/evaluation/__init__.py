"""Online evaluation of mail filters, as in the TREC spam track.

Import names from their modules: `mail_stream`, which defines a filter under test, is cheap to import.
"""
