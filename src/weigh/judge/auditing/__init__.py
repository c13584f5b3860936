"""Labels checked against a model that never saw their rows."""
