"""Attacks with hostile input: every case is refused with an error of ours or gives a correct answer."""
