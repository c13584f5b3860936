"""A mail filter that explains its verdicts, learns, unlearns exactly and can be evaluated before use."""
