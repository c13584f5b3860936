"""Text hashed into buckets: names of buckets, equality with unhashed text, and unsupported operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.judge.verification.recount import hash_bucket

TEXTS = ["aa bb", "cc"]


def fit_hashed(buckets: int = 16, counts: bool = True) -> weigh.NaiveBayes:
    kind = weigh.Text(buckets=buckets, counts=counts)
    return weigh.NaiveBayes(columns=kind).fit(TEXTS, ["x", "y"])


def test_the_posterior_covers_all_used_buckets() -> None:
    posterior = fit_hashed().model_.posterior("text", "x")
    assert set(posterior.values) == {"aa", "bb", "cc"}


@pytest.mark.parametrize("counts", [True, False])
def test_buckets_without_collisions_predict_like_words(counts: bool) -> None:
    exact = weigh.NaiveBayes(columns=weigh.Text(counts=counts)).fit(TEXTS, ["x", "y"])
    rows = [*TEXTS, "aa aa cc", "never seen", ""]
    np.testing.assert_allclose(
        fit_hashed(2**16, counts).predict_proba(rows), exact.predict_proba(rows), atol=1e-15
    )


@pytest.mark.parametrize("counts", [True, False])
def test_the_linear_form_of_hashed_text_survives_saving(counts: bool, tmp_path: Path) -> None:
    nb = fit_hashed(counts=counts)
    nb.model_.linear().save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.predict(TEXTS).tolist() == nb.predict(TEXTS).tolist() == ["x", "y"]


def test_a_bucket_with_only_long_words_is_named_by_its_number() -> None:
    nb = weigh.NaiveBayes(columns=weigh.Text(buckets=16)).fit(["x" * 64, "aa"], ["x", "y"])
    names = {row.feature for row in weigh.strongest(nb, "x").classes["x"]}
    assert names == {f"text: bucket {hash_bucket('x' * 64, 16)}"}


@pytest.mark.parametrize("counts", [True, False])
def test_sampling_from_hashed_text_is_unsupported(counts: bool) -> None:
    with pytest.raises(errors.Unsupported) as error:
        fit_hashed(counts=counts).model_.sample(3)
    assert str(error.value) == (
        "The words of column 'text' were hashed into buckets, so no texts can be sampled from the model. "
        "Train without buckets."
    )


def test_a_row_of_weight_zero_does_not_name_a_bucket() -> None:
    kind = weigh.Text(buckets=2)
    texts, y = ["alpha beta gamma", "a1 b2 c3", "eta"], [0, 1, 0]
    weighted = weigh.NaiveBayes(columns=kind).fit(texts, y, sample_weight=[1, 0, 1])
    without = weigh.NaiveBayes(columns=kind).fit([texts[0], texts[2]], [0, 0])
    part, other = weighted.model_.counts.parts[0], without.model_.counts.parts[0]
    assert list(part.names) == list(other.names)


def test_the_bucket_names_of_a_vectorizer_are_distinct() -> None:
    names = weigh.TextVectorizer(buckets=16).fit(TEXTS).get_feature_names_out()
    assert len(set(names)) == 16
    assert {"aa", "bb", "cc"} < set(names)


def test_words_of_a_row_that_share_a_bucket_share_a_contribution() -> None:
    evidence = fit_hashed(buckets=2).explain(["aa bb cc"])[0]
    words = {word for row in evidence.table for word in row.feature.removeprefix("text: ").split(" / ")}
    assert words == {"class prior", "aa", "bb", "cc"}
    assert sum(row.nats for row in evidence.table) == pytest.approx(evidence.total, abs=1e-12)
