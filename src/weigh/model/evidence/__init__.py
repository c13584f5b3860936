"""Evidence: why a row got its verdict."""
