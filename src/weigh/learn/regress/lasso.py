from typing import Any

gram_path: Any = None
largest_l1: Any = None
lasso_path: Any = None
suits_gram: Any = None
solve_lasso: Any = None
solve_sparse_logistic: Any = None
largest_l1_logistic: Any = None
sparse_logistic_path: Any = None
