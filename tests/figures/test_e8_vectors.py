"""E8: documents as vectors, their dot products and projections; E7: rows unlike the training rows."""

from __future__ import annotations

from fractions import Fraction

import pytest

import weigh

COUNTS = {
    "wolf": [12, 8, 0],
    "lion": [16, 10, 2],
    "monkey": [14, 11, 1],
    "broker": [0, 1, 14],
    "analyst": [1, 0, 10],
    "dividend": [1, 1, 12],
}


def test_documents_are_columns_of_a_word_matrix_and_rows_for_learning() -> None:
    texts = [" ".join(f"{word} " * counts[d] for word, counts in COUNTS.items()) for d in range(3)]
    words = weigh.TextVectorizer()
    matrix = words.fit_transform(texts)
    assert dict(zip(words.get_feature_names_out(), matrix.toarray().T.tolist(), strict=True)) == COUNTS
    alike = (matrix @ matrix.T).toarray()
    assert [alike[0, 1], alike[0, 2], alike[1, 2]] == [411, 68, 57]


def test_a_linear_score_is_a_dot_product_and_its_evidence_the_products() -> None:
    line = weigh.LinearRegression(bias=False).fit([[1, 0], [0, 1]], [5, 10])
    evidence = line.explain([[10, 10]])[0]
    assert [row.nats for row in evidence.table[1:]] == pytest.approx([50, 100], abs=1e-12)
    assert evidence.total == pytest.approx(150, abs=1e-12)


@pytest.mark.parametrize(("point", "projection"), [((1.5, 1.0), "1.775"), ((0.0, 0.5), "0.355")])
def test_projections_on_a_direction_of_length_one(point: tuple[float, float], projection: str) -> None:
    along = weigh.LinearRegression(bias=False).fit([[1, 0], [0, 1]], [0.71, 0.71])
    assert along.predict([point])[0] == pytest.approx(float(Fraction(projection)), abs=1e-12)


def test_a_detector_of_baby_giraffes_and_ants_flags_unfamiliar_rows() -> None:
    heights = [1.9, 2.1, 1.8, 2.0, 1.85, 0.003, 0.004, 0.002, 0.005, 0.003]
    detector = weigh.NaiveBayes().fit({"height": heights, "giraffe": [True] * 5 + [False] * 5}, "giraffe")
    found = weigh.unfamiliar(detector, {"height": [5.5, 0.6, 1.95, 0.004]})
    assert [each.row for each in found.rows] == [0, 1]
