"""Trials of spellers: learners side by side, accuracy over the size of the text, errors put in and found."""
