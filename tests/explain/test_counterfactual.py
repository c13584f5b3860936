"""Flips: the set is the smallest by trying all sets, and the changed row really gets the other verdict."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.datasets import load_iris

import weigh
from tests.laws.tables import KINDS, LABEL, MODERATE, Row, a_row, law, some_rows, table
from weigh import errors
from weigh.explain import minimal_removal
from weigh.explain.additive_row import AdditiveRow
from weigh.explain.value_changes import possible_range

pytestmark = pytest.mark.filterwarnings("ignore")
few = settings(law, max_examples=15)
MOST = 9
WORDY = ("body", "title", "tags")
COLUMNS = dict.fromkeys(KINDS, "skip")
MIXED = COLUMNS | {name: KINDS[name] for name in ("colour", "known", "links", "size", "body")}
FLAGS = COLUMNS | {"known": "flag", "urgent": "flag", "title": weigh.Text(counts=False), "grade": "category"}
ROW = a_row(MODERATE, ("ham",))


def features(row: Row, columns: dict[str, Any]) -> list[tuple[str, str | None]]:
    """What can be removed from a row: a column's value, or a word of a text."""
    result: list[tuple[str, str | None]] = []
    for name, kind in columns.items():
        if kind == "skip" or row[name] is None:
            continue
        words = row[name].split() if isinstance(row[name], str) else row[name]
        result += [(name, word) for word in dict.fromkeys(words)] if name in WORDY else [(name, None)]
    return result


def without(row: Row, gone: tuple[tuple[str, str | None], ...]) -> Row:
    """The row with values missing and words taken out."""
    row = dict(row)
    for name, word in gone:
        if word is None:
            row[name] = None
        elif isinstance(row[name], str):
            row[name] = " ".join(each for each in row[name].split() if each != word)
        else:
            row[name] = [each for each in row[name] if each != word]
    return row


def tried(model: Any, row: Row, columns: dict[str, Any]) -> list[tuple[int, Any]]:
    """How many features each set has, and the verdict without them; None where no class is possible."""
    units = features(row, columns)
    sets = [gone for k in range(len(units) + 1) for gone in itertools.combinations(units, k)]
    chunk = next(model.chunks(table([without(row, gone) for gone in sets])))
    scores = model.score_rows(model.encode(chunk))
    verdicts = [
        None if np.isneginf(each).all() else model.classes[at]
        for each, at in zip(scores, model.best(scores).tolist(), strict=True)
    ]
    return [(len(gone), verdict) for gone, verdict in zip(sets, verdicts, strict=True)]


def check(model: Any, row: Row, columns: dict[str, Any]) -> None:
    units = features(row, columns)
    assume(0 < len(units) <= MOST)
    every = tried(model, row, columns)
    verdict = every[0][1]
    assume(verdict is not None)
    best = min((k for k, said in every if said not in (verdict, None)), default=None)
    result = weigh.flip(model, table([row]))
    assert result.verdict == verdict
    assert (len(result.removed) if result.flips else None) == best
    for goal in model.classes:
        if goal != verdict:
            best = min((k for k, said in every if said == goal), default=None)
            result = weigh.flip(model, table([row]), to=goal)
            assert (len(result.removed) if result.flips else None) == best
            assert result.becomes == (goal if result.flips else None)
            assert result.is_smallest


@pytest.mark.parametrize("prior", [1.0, None])
@few
@given(some_rows(2, 8, MODERATE), ROW)
def test_no_smaller_set_flips_naive_bayes_of_mixed_columns(
    prior: float | None, rows: list[Row], row: Row
) -> None:
    model = weigh.NaiveBayes(columns=MIXED, prior=prior).fit(table(rows), LABEL).model_
    check(model, row, MIXED)


@pytest.mark.parametrize("prior", [1.0, None])
@few
@given(some_rows(2, 8, MODERATE), ROW)
def test_no_smaller_set_flips_naive_bayes_of_flags(prior: float | None, rows: list[Row], row: Row) -> None:
    model = weigh.NaiveBayes(columns=FLAGS, prior=prior).fit(table(rows), LABEL).model_
    check(model, row, FLAGS)


@pytest.mark.parametrize("learner", [weigh.Perceptron, weigh.LogisticRegression])
@few
@given(some_rows(3, 8, MODERATE), ROW)
def test_no_smaller_set_flips_learners_of_weights(learner: Any, rows: list[Row], row: Row) -> None:
    assume(len({each[LABEL] for each in rows}) > 1)
    model = learner(columns=MIXED).fit(table(rows), LABEL).model_
    check(model, row, MIXED)


LEVELS: dict[str, list[Any]] = {
    "colour": ["red", "blue", "green", "", "grün", 7, 7.5, True],
    "grade": [1, 2, 3],
    "known": [0, 1],
}
SINGLE = COLUMNS | {name: KINDS[name] for name in ("colour", "grade", "known", "size", "age", "height")}


@pytest.mark.parametrize("prior", [1.0, None])
@few
@given(some_rows(2, 8, MODERATE), ROW)
def test_single_changes_are_those_that_flip_when_all_are_tried(
    prior: float | None, rows: list[Row], row: Row
) -> None:
    model = weigh.NaiveBayes(columns=SINGLE, prior=prior).fit(table(rows), LABEL).model_
    scores = model.score_rows(model.encode(next(model.chunks(table([row])))))
    assume(not np.isneginf(scores).all())
    verdict = model.classes[model.best(scores)[0]]
    result = weigh.flip(model, table([row]), changes=True).changes
    for name, values in LEVELS.items():
        known = model.levels.get(name, values)
        if row[name] is None or not known:
            continue
        tried = [row | {name: value} for value in known]
        scores = model.score_rows(model.encode(next(model.chunks(table(tried)))))
        said = [
            (str(value), model.classes[best])
            for value, best, each in zip(known, model.best(scores).tolist(), scores, strict=True)
            if not np.isneginf(each).all() and model.classes[best] != verdict
        ]
        assert [(each.to, each.becomes) for each in result if each.feature == name] == [
            pair for pair in said if pair[0] != str(row[name] if name != "known" else int(row[name]))
        ]
    for each in result:
        # Farther off the model's own rule of ties moves a threshold, a little.
        if each.threshold is not None and abs(each.threshold) < 1e5:
            assert_threshold(model, row, each, verdict)


def assert_threshold(model: Any, row: Row, change: Any, verdict: Any) -> None:
    """Short of the threshold the verdict stays everywhere, and just past it it is another."""
    way = change.threshold - row[change.feature]
    steps = [*np.linspace(0.0, 1 - 1e-6, 50).tolist(), 1 + 1e-6]
    tried = table([row | {change.feature: row[change.feature] + way * step} for step in steps])
    scores = model.score_chunk(next(model.chunks(tried)))
    *before, after = [model.classes[best] for best in model.best(scores).tolist()]
    assert before == [verdict] * 50
    assert after == change.becomes


def test_a_threshold_of_a_plane_is_where_it_crosses_zero() -> None:
    model = (
        weigh.LogisticRegression().fit([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 1.0]], [0, 0, 1, 1]).model_
    )
    w, b = model.coef, float(model.intercept)
    assert thresholds(model, [[1.5, 1.0]]) == pytest.approx(
        {"x0 below": -(b + w[1]) / w[0], "x1 above": -(b + 1.5 * w[0]) / w[1]}
    )
    # On the other side of the training range, x1 does not flip it.
    assert not 1 <= -(b + 3 * w[0]) / w[1] <= 3
    assert thresholds(model, [[3.0, 1.0]]) == pytest.approx({"x0 below": -(b + w[1]) / w[0]})


def thresholds(model: Any, row: Any) -> dict[str, float]:
    changes = weigh.flip(model, row, changes=True).changes
    return {f"{each.feature} {each.to.split()[0]}": each.threshold for each in changes}


def test_thresholds_beyond_three_standard_deviations_of_every_class_are_omitted() -> None:
    # Both columns share their spreads: the border is a line, and x0 alone has to go far to cross it.
    rows = [[1.0, 0.0], [2.0, 0.1], [3.0, 0.2], [2.0, 5.0], [3.0, 5.1], [4.0, 5.2]]
    kinds = dict.fromkeys(["x0", "x1"], weigh.Number(spread="shared"))
    model = weigh.NaiveBayes(columns=kinds).fit(rows, ["a"] * 3 + ["b"] * 3).model_
    assert 5.25 < 3.0 + 3 * np.sqrt(2 / 3) < 5.5
    assert thresholds(model, [[2.0, 2.5945]]) == pytest.approx({"x0 above": 5.25, "x1 above": 2.601})
    assert thresholds(model, [[2.0, 2.594]]) == pytest.approx({"x1 above": 2.601})


def test_an_implausible_number_may_return_to_the_plausible_range() -> None:
    sizes = {"x": [1.0, 2.0, 3.0, 8.0, 9.0, 10.0], "y": ["a"] * 3 + ["b"] * 3}
    model = weigh.NaiveBayes().fit(sizes, "y").model_
    assert thresholds(model, {"x": 1e6}) == pytest.approx({"x below": 5.5})


def test_the_lead_includes_the_absence_of_words() -> None:
    table = {"t": ["aa bb", "bb cc", "cc dd aa", "dd"], "y": ["s", "s", "h", "h"]}
    model = weigh.NaiveBayes(columns={"t": weigh.Text(counts=False)}).fit(table, "y").model_
    row = [{"t": "aa bb"}]
    scores = dict(zip(model.classes, model.scores(row)[0].tolist(), strict=True))
    assert weigh.flip(model, row).lead == pytest.approx(scores["s"] - scores["h"], rel=1e-9)


def test_removed_and_remaining_features_sum_to_the_lead() -> None:
    iris = load_iris()
    model = weigh.NaiveBayes().fit(iris.data, iris.target_names[iris.target]).model_
    for row in iris.data[::10]:
        result = weigh.flip(model, [row.tolist()])
        if not result.flips:
            continue
        encoded = model.encode(next(model.chunks([row.tolist()])))
        evidence = next(model.explain_rows(encoded, model.score_rows(encoded)))
        lead = sum(each.nats for each in evidence.rows_between(result.verdict, result.becomes))
        assert result.lead == pytest.approx(lead, rel=1e-9)
        changed = [
            np.nan if f"x{at}" in {r.feature for r in result.removed} else x for at, x in enumerate(row)
        ]
        assert model.predict([changed]).tolist() == [result.becomes]
        assert model.predict_proba([changed]).max() == pytest.approx(result.afterwards)
        assert sum(each.nats for each in result.left) < 1e-9


def test_a_word_is_removed_with_all_its_occurrences() -> None:
    texts = {"text": ["free free money", "lunch noon", "free win"], "label": ["spam", "ham", "spam"]}
    model = weigh.NaiveBayes(columns={"text": "text"}, class_prior="uniform").fit(texts, "label").model_
    result = weigh.flip(model, {"text": "free free free lunch"})
    assert [row.title for row in result.removed] == ["text: free × 3"]
    assert result.becomes == "ham"


def test_an_impossible_flip_is_reported() -> None:
    model = (
        weigh.NaiveBayes(columns="category").fit([["a"], ["a"], ["a"], ["b"]], ["x", "x", "x", "y"]).model_
    )
    result = weigh.flip(model, [["a"]])
    assert not result.flips
    assert result.removed == ()
    assert str(result).splitlines() == [
        "x (probability 87.80 %). No removal of features makes it anything else.",
        "",
        "1 single other value flips it:",
        "  x0 = a  → b  y",
    ]


def test_a_tie_is_decided_by_the_models_rule() -> None:
    model = weigh.NaiveBayes(columns="category").fit([["a"], ["b"]], ["x", "y"]).model_
    assert not weigh.flip(model, [["a"]]).flips  # without the value both are alike, and the first wins
    assert weigh.flip(model, [["b"]]).becomes == "x"


def test_an_aborted_search_reports_that_a_smaller_set_may_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = (rng.random((60, 12)) < 0.5).astype(float)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    model = weigh.NaiveBayes(columns="flag").fit(X, y).model_
    sizes = []
    for row in X[:20]:
        goal = next(label for label in "abc" if label != model.predict([row])[0])
        exact = weigh.flip(model, [row], to=goal)
        monkeypatch.setattr(minimal_removal, "MAX_SEARCH_STEPS", 2)
        greedy = weigh.flip(model, [row], to=goal)
        monkeypatch.undo()
        if greedy.flips and not greedy.is_smallest:
            assert "A smaller set may do it too." in " ".join(str(greedy).split())
            sizes.append(len(greedy.removed) - len(exact.removed))
    assert sizes
    assert min(sizes) >= 0


def test_the_sums_of_a_row_are_its_scores() -> None:
    iris = load_iris()
    model = weigh.NaiveBayes().fit(iris.data, iris.target).model_
    removals = AdditiveRow.from_chunk(model, next(model.chunks(iris.data[:1])))
    np.testing.assert_array_equal(removals.scores(), model.scores(iris.data[:1]))
    np.testing.assert_allclose(
        removals.base_scores + removals.present_scores.sum(axis=0), removals.scores()[0], rtol=1e-12
    )


def test_a_calibrated_model_that_keeps_its_verdicts_flips_like_the_model_inside() -> None:
    iris = load_iris()
    inner = weigh.NaiveBayes().fit(iris.data, iris.target).model_
    calibrated = weigh.calibrate(inner, iris.data, iris.target, method="temperature")
    row = iris.data[60:61]
    result, plain = weigh.flip(calibrated, row), weigh.flip(inner, row)
    slope = calibrated.calibration.slope
    for ours, theirs in ((result.removed, plain.removed), (result.left, plain.left)):
        assert [each.feature for each in ours] == [each.feature for each in theirs]
        assert [each.nats for each in ours] == pytest.approx([each.nats * slope for each in theirs])
    moved = weigh.calibrate(inner, iris.data, iris.target, method="platt")
    with pytest.raises(errors.Unsupported, match=r"model\.uncalibrated"):
        weigh.flip(moved, row)


@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.Perceptron()])
def test_the_probabilities_of_a_flip_are_those_of_the_calibrated_model(learner: Any) -> None:
    X, y = load_iris(return_X_y=True)
    calibrated = weigh.calibrate(learner.fit(X[::2], y[::2]), X[1::2], y[1::2])
    for row in X[50:150:10]:
        result = weigh.flip(calibrated, row[None])
        shares = calibrated.predict_proba(row[None])[0]
        assert result.unit == "nats"
        assert result.probability == pytest.approx(shares[result.verdict], rel=1e-12)
        assert result.lead == pytest.approx(np.log(shares[result.verdict] / shares[result.against]), rel=1e-6)
        if result.flips:
            rest = [
                np.nan if f"x{j}" in {each.feature for each in result.removed} else v
                for j, v in enumerate(row)
            ]
            after = calibrated.predict_proba(np.array([rest]))[0]
            assert result.afterwards == pytest.approx(after[result.becomes], rel=1e-9)


@pytest.mark.parametrize("keep", ["last", "averaged"])
def test_a_perceptrons_points_are_those_of_its_scores(keep: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = weigh.Perceptron(keep=keep).fit(X, y).model_
    for row in X[40:140:20]:
        result, scores = weigh.flip(model, row[None]), model.scores(row[None])[0]
        assert result.unit == "points"
        assert result.lead == pytest.approx(scores[result.verdict] - scores[result.against], rel=1e-9)


def test_an_aborted_search_is_not_reported_as_impossible() -> None:
    X, y = load_iris(return_X_y=True)
    model = weigh.NaiveBayes().fit(X, y)
    none = replace(weigh.flip(model, X[:1]), becomes=None, removed=(), wanted=2)
    assert "No removal of features makes it 2." in str(none)
    told = str(replace(none, is_smallest=False)).replace("\n", " ")
    assert "No removal of features was found that makes it 2; there may be one." in told
    assert "No removal of features makes it" not in told


def test_other_models_are_refused_with_a_reason() -> None:
    iris = load_iris()
    X, y = iris.data, iris.target
    with pytest.raises(errors.Unsupported, match="A regression has no verdict"):
        weigh.flip(weigh.LinearRegression().fit(X[:, :3], X[:, 3]), X[:1, :3])
    with pytest.raises(errors.Unsupported, match="This model is not additive"):
        weigh.flip(weigh.Threshold().fit(X, y), X[:1])
    with pytest.raises(errors.Unsupported, match=r"keep\('averaged'\)"):
        weigh.flip(weigh.Perceptron(keep="voted").fit(X, y), X[:1])
    with pytest.raises(errors.Unsupported, match="multiplied"):
        weigh.flip(weigh.Perceptron(columns=weigh.Products(2)).fit(X, y), X[:1])
    with pytest.raises(errors.Unsupported, match="got str"):
        weigh.flip("model", X[:1])


def test_invalid_arguments_are_rejected() -> None:
    iris = load_iris()
    model = weigh.NaiveBayes().fit(iris.data, iris.target).model_
    with pytest.raises(errors.DataError, match="one row, got 2"):
        weigh.flip(model, iris.data[:2])
    with pytest.raises(errors.LabelError, match="no class 7"):
        weigh.flip(model, iris.data[:1], to=7)
    with pytest.raises(errors.ParameterError, match="another class than the verdict"):
        weigh.flip(model, iris.data[:1], to=0)


def test_a_flip_prints_within_eighty_columns_and_as_json_html_and_a_picture() -> None:
    texts = {"text": ["<script>alert(1)</script> " + "w" * 99, "lunch noon"], "label": ["a" * 90, "b"]}
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(texts, "label").model_
    result = weigh.flip(model, {"text": texts["text"][1]})
    assert result.flips
    assert max(map(len, str(result).splitlines())) <= 80
    assert json.loads(json.dumps(result.to_dict()))["becomes"] == result.becomes
    assert "<script>" not in weigh.flip(model, {"text": texts["text"][0]})._repr_html_()
    for heading in ("feature", "value", "nats"):
        assert f">{heading}</th>" in result._repr_html_()
    drawn = json.dumps(result.plot().to_dict())
    assert all(f'"group": "{group}"' in drawn for group in ("removed", "left"))


@pytest.mark.parametrize("to", [np.array(["b"]), np.array(["a", "b"]), ["b"]])
def test_the_target_class_must_be_a_scalar(to: Any) -> None:
    learner = weigh.NaiveBayes().fit({"x": ["u", "v"], "y": ["a", "b"]}, "y")
    with pytest.raises(errors.LabelError, match="The model has no class"):
        weigh.flip(learner, {"x": ["u"]}, to=to)


def test_lone_surrogates_are_escaped_in_html() -> None:
    name = "a\ud800b"
    learner = weigh.NaiveBayes().fit({name: ["u", "v", "v"], "y": ["a", name, name]}, "y")
    flip, evidence = weigh.flip(learner, {name: ["u"]}), learner.explain({name: ["u"]})[0]
    for shown in (flip, evidence, weigh.strongest(learner)):
        assert r"a\ud800b" in shown._repr_html_().encode("utf-8").decode("utf-8")


GAINS = {
    "gain": [0.0, 0.0, 0.0, 0.0, 0.0, 3000.0, 5000.0, 9000.0],
    "rich": ["no"] * 5 + ["yes"] * 3,
}


def test_numbers_beyond_the_training_range_are_not_proposed() -> None:
    rng = np.random.default_rng(0)
    size = np.abs(np.concatenate([rng.normal(1.5, 0.9, 300), rng.normal(4, 3, 300)]))
    table = {"size": size, "y": ["small"] * 300 + ["any"] * 300}
    model = weigh.NaiveBayes().fit(table, "y").model_
    assert possible_range(model, 0, "size") == pytest.approx((size.min(), size.max()), rel=0.01)
    assert list(thresholds(model, {"size": 1.5})) == ["size above"]
    # The sums of a stated shape do not tell the range, only what is plausible.
    stated = weigh.NaiveBayes(number=weigh.Number(shape="normal")).fit(table, "y").model_
    assert thresholds(stated, {"size": 1.5})["size below"] < 0


def test_counts_are_never_proposed_below_zero() -> None:
    for learner in (weigh.LogisticRegression, weigh.Perceptron):
        model = learner(columns={"gain": "count"}).fit(GAINS, "rich").model_
        assert possible_range(model, 0, "gain") == pytest.approx((0.0, 9000.0), rel=1e-3)
        assert possible_range(replace(model, training_rows=None), 0, "gain") == (0.0, np.inf)
        for gain in (0.0, 1000.0, 9000.0):
            changes = weigh.flip(model, {"gain": gain}).changes
            assert all(change.threshold >= 0 for change in changes)


def test_standardised_numbers_stay_within_three_deviations() -> None:
    rng = np.random.default_rng(0)
    age, gain = rng.normal(40, 10, size=200), rng.normal(size=200)
    table = {"age": age, "gain": gain, "y": gain + 0.001 * age > 0}
    model = weigh.Perceptron().fit(table, "y").model_
    for row in ({"age": 40.0, "gain": 1.0}, {"age": 40.0, "gain": -1.0}):
        assert {change.feature for change in weigh.flip(model, row).changes} == {"gain"}
    # A value that is itself implausible may return.
    border = weigh.flip(model, {"age": 40.0, "gain": 100.0}).changes
    assert [change.to.split()[0] for change in border] == ["below"]


BUYERS = {
    "age": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0],
    "warmth": [-6.0, -3.0, 3.0, -4.0, 4.0, 6.0],
    "buys": ["no"] * 3 + ["yes"] * 3,
}


def test_logistic_regression_proposes_no_number_outside_the_training_range() -> None:
    model = weigh.LogisticRegression().fit(BUYERS, "buys").model_
    (age, warmth), b = model.coef, float(model.intercept)
    row = {"age": 42.0, "warmth": -1.0}
    border = {"age above": -(b - warmth) / age, "warmth above": -(b + 42 * age) / warmth}
    assert border == pytest.approx({"age above": 45.3203, "warmth above": 8.8512}, abs=1e-4)
    assert thresholds(model, row) == pytest.approx({"age above": border["age above"]})
    # A model of an earlier release does not know the range.
    assert thresholds(replace(model, training_rows=None), row) == pytest.approx(border)


def test_a_perceptron_proposes_no_number_outside_the_training_range() -> None:
    model = weigh.Perceptron().fit(BUYERS, "buys").model_
    row = {"age": 42.0, "warmth": -1.0}
    assert thresholds(replace(model, training_rows=None), row) == pytest.approx({"age below": 5.409868421})
    result = weigh.flip(model, row)
    assert result.changes == ()
    assert str(result).endswith("\nNo single other value flips it.")
    # The smallest age of training is 20.
    assert thresholds(model, row | {"warmth": -5.0}) == pytest.approx({"age below": 23.894078947})


@pytest.mark.parametrize("number", [{"spread": "shared"}, {"spread": 200.0}, {"shape": "normal"}])
def test_normal_distributions_stay_within_three_deviations_of_the_training_numbers(
    number: dict[str, Any],
) -> None:
    model = weigh.NaiveBayes(number=weigh.Number(**number)).fit(BUYERS, "buys").model_
    reach = 3 * np.sqrt(200 / 3)
    assert possible_range(model, 0, "age") == pytest.approx((30 - reach, 60 + reach))
    assert possible_range(model, 1, "warmth") == pytest.approx(
        (-2 - 3 * np.sqrt(14), 2 + 3 * np.sqrt(56 / 3))
    )


def test_a_large_stated_spread_proposes_no_impossible_number() -> None:
    model = weigh.NaiveBayes(number=weigh.Number(spread=200.0)).fit(BUYERS, "buys").model_
    # On the border 30 (age − 45) + 4 warmth is 0, so that no warmth below 22.5 flips it.
    found = thresholds(model, {"age": 42.0, "warmth": -1.0})
    assert found == pytest.approx({"age above": 45 + 2 / 15}, abs=1e-5)


@pytest.mark.parametrize(
    "learner", [weigh.LogisticRegression(), weigh.LogisticRegression(method="online"), weigh.Perceptron()]
)
@pytest.mark.parametrize("named", [True, False])
def test_proposed_numbers_lie_in_the_training_range(learner: Any, named: bool) -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(40, 10, 400), rng.exponential(900, 400), rng.normal(0, 5, 400)])
    y = X @ [0.1, 0.001, 0.1] + rng.normal(size=400) > 5
    columns = {f"x{j}": X[:, j] for j in range(3)}
    model = (learner.fit(columns, y) if named else learner.fit(X, y)).model_
    n_changes = 0
    for row in X[:40]:
        one = {f"x{j}": [row[j]] for j in range(3)} if named else [row]
        for change in weigh.flip(model, one).changes:
            numbers = columns[change.feature]
            # A cell of the summary is at most a 32nd wide here.
            margin = 1 / 32 * np.abs(numbers).max()
            assert numbers.min() - margin <= change.threshold <= numbers.max() + margin
            n_changes += 1
    assert n_changes > 40


def test_negative_numbers_are_printed_with_minus_signs_and_codes_with_hyphens() -> None:
    table = {
        "warmth": [-6.0, -5.0, -4.0, -3.0, -2.0, 1e-5],
        "code": ["A-7", "B-2", "A-7", "B-2", "B-2", "A-7"],
        "buys": ["no"] * 3 + ["yes"] * 3,
    }
    model = weigh.LogisticRegression().fit(table, "buys").model_
    result = weigh.flip(model, {"warmth": -3.2, "code": "A-7"})
    assert str(result).splitlines() == [
        "no (probability 52.56 %). Without this one of its 2 features it would be yes",
        "(probability 84.73 %).",
        "",
        "  warmth = −3.2  +1.8163",
        "",
        "It speaks for no against yes by +1.8163 nats, of a lead of +0.1027. No smaller",
        "set does it.",
        "",
        "2 single other values flip it:",
        "  warmth = −3.2  → above −3.01911  yes",
        "  code = A-7     → B-2             yes",
    ]
    assert "−3.2" in result._repr_html_()
    # Programs can read the numbers of the facts.
    assert [(row.value, row.nats) for row in result.removed] == [("-3.2", pytest.approx(1.8163, abs=1e-4))]
    assert "warmth = −1e−05" in str(weigh.flip(model, {"warmth": -1e-5, "code": "A-7"}))


def test_zeros_and_absent_flags_may_change_but_not_missing_ones() -> None:
    table = {
        "gain": [0.0, 3000.0, 0.0, 3000.0, 5000.0, 9000.0],
        "member": [0, 1, 0, 1, 0, 1],
        "staff": [0, 0, 0, 1, 1, 1],
        "rich": ["no"] * 3 + ["yes"] * 3,
    }
    flags = {"member": "flag", "staff": "flag"}
    model = weigh.LogisticRegression(columns=flags).fit(table, "rich").model_
    row: Row = {"gain": 0.0, "member": 0, "staff": 0}
    (change,) = weigh.flip(model, row).changes
    assert (change.feature, change.now, change.to) == ("gain", "0", "above 4948.18")
    assert change.threshold == pytest.approx(-float(model.intercept) / model.coef[0])
    gains = [row | {"gain": change.threshold * factor} for factor in (1 - 1e-6, 1 + 1e-6)]
    assert model.predict(gains).tolist() == ["no", "yes"]
    assert weigh.flip(model, row | {"gain": None}).changes == ()

    row["gain"] = 2500.0
    changes = weigh.flip(model, row).changes
    assert [(each.feature, each.to) for each in changes] == [("gain", "above 4948.18"), ("staff", "1")]
    assert model.predict([row | {"staff": 1}, row | {"member": 1}]).tolist() == ["yes", "no"]
    assert [each.feature for each in weigh.flip(model, row | {"staff": None}).changes] == ["gain"]
