"""The command line: one command per file, each of which parses and hands on."""
