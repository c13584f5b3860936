"""Models checked against rows by code of its own."""
