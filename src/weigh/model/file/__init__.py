"""Model files: the array format, reading and writing, and building a model from a file."""
