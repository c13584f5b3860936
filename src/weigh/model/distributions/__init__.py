"""Class-conditional distributions of columns, and the additive terms of a score."""
