"""A mail filter that says why, learns and unlearns, and can be tried before it is trusted."""
