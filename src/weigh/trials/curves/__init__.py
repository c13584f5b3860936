"""Learning curves: losses against rows, their law, what they tell."""
