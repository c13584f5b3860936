"""Linear and logistic regression: losses, penalties, and solvers that return a certified duality gap."""
