"""Joint Bayes as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from weigh.estimators.incremental import Incremental
from weigh.learn import JointTask
from weigh.source import Source


class JointBayes(Incremental):
    """Bayes without the naive assumption: one table of all columns together, per class.

    The score of a class is log P(class) + log P(all values together | class). Nothing is taken as
    independent, so that any dependence can be learned; but every combination of values is a
    parameter of its own and needs rows of its own. A warning says when there are too few.

    With M = Π K_j cells (K_j levels in column j), a row's cell has the probability
    (n_cell + a) / (n_class + a M). Missing values are summed over, and a level never seen counts as
    one more level of its column. Rows that lacked values in training count wherever the columns
    asked for were known. Models merge and forget exactly.

    Parameters
    ----------
    prior : number, None or Dirichlet(b)
        The pseudo-count a of every cell (1 is Laplace's); None is maximum likelihood, Dirichlet(b)
        maximum a posteriori: b − 1 per cell.
    class_prior : None, number, Dirichlet, mapping or "uniform"
        None takes the frequencies; a number or Dirichlet smooths them; a mapping states them.
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
        Categories, flags and numbers in bins can be tabulated. Columns that are found to be numbers
        are cut into 10 bins of about equally many of the first 10,000 rows;
        ``{"age": weigh.Number(bins=(18, 65))}`` gives the cuts. Text and counts are refused.
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do.
    threads : how many threads count; None means all cores. Any number gives the same model.

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0, 0, 1, 1] * 2, "y": [0, 1, 0, 1] * 2, "differ": ["no", "yes", "yes", "no"] * 2}
    >>> joint = weigh.JointBayes().fit(table, "differ")
    >>> joint.predict({"x": [0, 1], "y": [1, 1]})
    array(['yes', 'no'], dtype='<U3')
    >>> joint.n_parameters_, joint.n_parameters_naive_
    (7, 5)
    """

    def __init__(
        self,
        prior: Any = 1.0,
        class_prior: Any = None,
        columns: Any = "auto",
        missing: Any = (),
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.class_prior = class_prior
        self.columns = columns
        self.missing = missing
        self.threads = threads

    def _task(self, source: Source) -> JointTask:
        return JointTask.over(
            source,
            self.columns,
            prior=self.prior,
            class_prior=self.class_prior,
            missing=self._markers(),
        )

    def _next_task(self) -> JointTask:
        model = self.model_
        return JointTask(model.schema, model.prior, model.class_prior, warns=False)

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the table and the class prior."""
        check_is_fitted(self)
        return int(self.model_.n_parameters)

    @property
    def n_parameters_naive_(self) -> int:
        """Free parameters that naive Bayes would have for the same columns."""
        check_is_fitted(self)
        return int(self.model_.n_parameters_naive)
