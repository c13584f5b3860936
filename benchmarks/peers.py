"""scikit-learn's naive Bayes on a mixed table, written as well as one can.

CategoricalNB learns the strings, GaussianNB the numbers; the sum of both joint log-probabilities
minus one log prior is the naive Bayes score of the whole row. Two ways of coding the strings:
scikit-learn's own OrdinalEncoder, and pandas' hash tables, which are faster. Labels are
coded first, since both classifiers take many times longer on string labels.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

Encoder = Literal["ordinal", "pandas"]
Codes = npt.NDArray[np.int64]


class OrdinalCodes:
    """Codes by scikit-learn; 0 is kept for levels that were not seen."""

    def fit_transform(self, frame: Any) -> Codes:
        # as Python strings: the encoder takes 1.3 times longer on Arrow-backed ones
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, dtype=np.int64)
        return np.asarray(self.encoder.fit_transform(frame.astype(object)) + 1)

    def transform(self, frame: Any) -> Codes:
        return np.asarray(self.encoder.transform(frame.astype(object)) + 1)


class PandasCodes:
    """Codes by pandas; 0 is kept for levels that were not seen."""

    def fit_transform(self, frame: Any) -> Codes:
        pairs = [pd.factorize(frame[name]) for name in frame.columns]
        self.levels = [pd.Index(levels) for _, levels in pairs]
        return np.column_stack([codes for codes, _ in pairs]) + 1

    def transform(self, frame: Any) -> Codes:
        columns = zip(frame.columns, self.levels, strict=True)
        return np.column_stack([self._look_up(frame[name], known) for name, known in columns]) + 1

    def _look_up(self, values: Any, known: Any) -> Codes:
        # only the distinct values are looked up: an index look-up of every row is slower
        codes, levels = pd.factorize(values)
        return np.asarray(np.append(known.get_indexer(levels), -1)[codes])


class MixedNaiveBayes:
    """CategoricalNB + GaussianNB on one frame."""

    def __init__(self, categories: list[str], numbers: list[str], encoder: Encoder) -> None:
        self.categories, self.numbers = categories, numbers
        self.codes = PandasCodes() if encoder == "pandas" else OrdinalCodes()
        self.imputer = SimpleImputer()
        self.categorical_model, self.gaussian_model = CategoricalNB(), GaussianNB()

    def fit(self, frame: Any, label: str) -> MixedNaiveBayes:
        y, self.labels = pd.factorize(frame[label])
        self.categorical_model.fit(self.codes.fit_transform(frame[self.categories]), y)
        self.gaussian_model.fit(self.imputer.fit_transform(self._values(frame)), y)
        return self

    def predict(self, frame: Any) -> Any:
        codes = self.codes.transform(frame[self.categories])
        values = self.imputer.transform(self._values(frame))
        scores = self.categorical_model.predict_joint_log_proba(codes)
        scores += self.gaussian_model.predict_joint_log_proba(values)
        scores -= self.categorical_model.class_log_prior_
        return self.labels[scores.argmax(axis=1)]

    def _values(self, frame: Any) -> npt.NDArray[np.float64]:
        # as one float array: Arrow-backed numbers cost the imputer five times more
        return np.asarray(frame[self.numbers].to_numpy(dtype=float, na_value=np.nan))
