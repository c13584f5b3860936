"""Learning without scikit-learn: tasks that any engine can run."""

from weigh.learn.bayes import BayesTask
from weigh.learn.dependence import Dependence, dependent_columns
from weigh.learn.task import Task

__all__ = ["BayesTask", "Dependence", "Task", "dependent_columns"]
