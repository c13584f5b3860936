"""Formulae of the calibration maps; verdicts, evidence and files of calibrated models."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.model import CalibratedModel, Isotonic, Platt, Temperature
from weigh.model.calibration import IsotonicCurve, log_odds
from weigh.model.file import store

TABLE = {
    "CS373": [0, 0, 0, 0, 1],
    "investment": [1, 0, 1, 1, 0],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
MAIL = {"CS373": 1, "investment": 1, "familiarity": "high"}
CURVE = IsotonicCurve((-2.0, 0.0, 3.0), (0.1, 0.4, 0.9))
HALF = np.array([0.5, 0.5])
DECREASING = np.array([1.0, 0.1, 1.0])
MAPS = [Temperature(2.5), Platt(0.4, (0.0, 0.3)), Isotonic((CURVE,))]


def three_classes():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    return rng.normal(size=(300, 4)) + y[:, None], np.array(["a", "b", "c"])[y]


def three_class_maps():
    return [
        Temperature(0.3),
        Platt(0.6, (0.0, 1.5, -0.7)),
        Isotonic((CURVE, IsotonicCurve((-1.0, 1.0), (0.2, 0.3)), IsotonicCurve((0.0,), (0.5,)))),
    ]


@pytest.fixture(scope="module")
def bayes():
    return weigh.NaiveBayes().fit(TABLE, "spam").model_


def softmax(z):
    return np.exp(z) / np.exp(z).sum()


def test_each_map_follows_its_formula():
    s = np.array([0.7, -1.2, 2.0])
    shift = np.array([0.0, 1.5, -0.7])
    curves = three_class_maps()[2].curves
    odds = [s[c] - math.log(sum(math.exp(s[k]) for k in range(3) if k != c)) for c in range(3)]
    unnormalised = np.array([np.interp(odds[c], curves[c].x, curves[c].y) for c in range(3)])
    expected = [softmax(s / 0.3), softmax(0.6 * s + shift), unnormalised / unnormalised.sum()]
    for calibration, q in zip(three_class_maps(), expected, strict=True):
        np.testing.assert_allclose(np.exp(calibration.apply(s[None]))[0], q, rtol=1e-14)


def test_isotonic_for_two_classes_has_one_curve():
    q = np.exp(Isotonic((CURVE,)).apply(np.array([[1.0, 2.5], [0.0, -9.0]])))
    np.testing.assert_allclose(q[:, 1], [0.4 + 0.5 * 0.5, 0.1], rtol=1e-15)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-15)


@given(
    st.lists(st.lists(st.floats(-2000, 2000), min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(-1e5, 1e5),
)
def test_only_differences_of_scores_matter_and_rows_sum_to_one(rows, shift):
    scores = np.array(rows)
    for calibration in three_class_maps():
        log_q = calibration.apply(scores)
        np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(calibration.apply(scores + shift), log_q, rtol=1e-7, atol=1e-7)


def test_log_odds_are_accurate_when_probabilities_round_to_one():
    scores = np.array([[0.0, -50.0, -60.0], [0.0, -2000.0, -3000.0]])
    others = -50.0 + math.log1p(math.exp(-10.0))
    np.testing.assert_allclose(log_odds(scores)[:, 0], [-others, 2000.0], rtol=1e-15)
    np.testing.assert_allclose(log_odds(scores)[:, 1], [-50.0, -2000.0], rtol=1e-15)


@pytest.mark.parametrize("calibration", MAPS, ids=lambda calibration: calibration.method)
def test_contributions_sum_to_the_calibrated_log_odds(bayes, calibration):
    model = CalibratedModel(bayes, calibration, HALF)
    evidence = model.explain(MAIL)[0]
    log_q = dict(zip(model.classes, model.log_proba(MAIL)[0], strict=True))
    assert evidence.total == pytest.approx(log_q[evidence.verdict] - log_q[evidence.runner_up], abs=1e-14)
    assert evidence.verdict == model.predict(MAIL)[0]
    assert evidence.probability == pytest.approx(math.exp(log_q[evidence.verdict]), rel=1e-14)
    names = [row.feature for row in evidence.table]
    assert names == ["class prior", *TABLE][:-1] + ["calibration"] * (calibration.method != "temperature")


def test_a_temperature_divides_every_contribution(bayes):
    before = bayes.explain(MAIL)[0].table
    after = CalibratedModel(bayes, Temperature(2.5), HALF).explain(MAIL)[0].table
    assert [row.nats * 2.5 for row in after] == pytest.approx([row.nats for row in before], rel=1e-14)


@pytest.mark.parametrize("calibration", three_class_maps(), ids=lambda calibration: calibration.method)
@pytest.mark.parametrize(
    "learner",
    [
        weigh.NaiveBayes(),
        weigh.LogisticRegression(),
        weigh.Perceptron(rate=0.5),
        weigh.Perceptron("voted"),
        weigh.Threshold(),
        weigh.JointBayes(columns=weigh.Number(bins=3)),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
def test_evidence_of_every_learner_sums_to_the_calibrated_log_odds(learner, calibration):
    X, y = three_classes()
    model = CalibratedModel(learner.fit(X, y).model_, calibration, np.full(3, 1 / 3))
    X = X[::6]
    verdicts = model.predict(X)
    for evidence, row, verdict in zip(model.explain(X), model.log_proba(X), verdicts, strict=True):
        log_q = dict(zip(model.classes, row, strict=True))
        assert evidence.verdict == verdict
        assert evidence.unit == "nats"
        assert log_q[evidence.runner_up] == max(value for label, value in log_q.items() if label != verdict)
        assert evidence.total == pytest.approx(log_q[verdict] - log_q[evidence.runner_up], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.Perceptron(rate=0.5)], ids=str)
def test_the_contribution_of_platt_calibration_is_its_shift(learner):
    X, y = three_classes()
    inner = learner.fit(X, y).model_
    X, shift = X[::6], dict(zip("abc", (0.0, 1.5, -0.7), strict=True))
    model = CalibratedModel(inner, Platt(0.6, tuple(shift.values())), np.full(3, 1 / 3))
    has_same_pair = set()
    for before, after in zip(inner.explain(X), model.explain(X), strict=True):
        has_same_pair.add((before.verdict, before.runner_up) == (after.verdict, after.runner_up))
        assert after.table[-1].nats == pytest.approx(shift[after.verdict] - shift[after.runner_up], abs=1e-9)
    assert has_same_pair == {True, False}


def test_detached_evidence_only_compares_verdict_and_runner_up(bayes):
    evidence = bayes.explain(MAIL)[0]
    assert evidence.rows_between("not-spam", "spam") is evidence.table
    with pytest.raises(errors.Unsupported, match="only compares 'not-spam' with 'spam'"):
        evidence.rows_between("spam", "not-spam")


def test_a_temperature_preserves_verdicts_and_ties():
    X, y = three_classes()
    for learner in (weigh.NaiveBayes(), weigh.Perceptron(), weigh.Perceptron("voted")):
        model = learner.fit(X, y).model_
        for T in (1e-3, 0.5, 7.0, 1e4):
            assert (CalibratedModel(model, Temperature(T), HALF).predict(X) == model.predict(X)).all()


def test_scores_that_tie_within_rounding_tie_after_any_temperature():
    # Both classes have the same factors in different orders, so the scores differ by rounding only.
    words = [f"w{i}" for i in range(10)]
    a, b = (dict(zip(words, order, strict=True)) for order in (range(10, 0, -1), range(1, 11)))
    model = weigh.BayesModel.from_counts(
        columns={"text": {"a": a, "b": b}}, kinds={"text": "text"}, class_counts={"a": 1, "b": 1}
    )
    text = {"text": [" ".join(words * 1001)]}
    first, second = model.scores(text)[0]
    assert 0 < second - first < 1e-12 * abs(first)
    assert model.predict(text)[0] == "a"
    for T in (0.01, 1.0, 40.0):
        assert CalibratedModel(model, Temperature(T), HALF).predict(text)[0] == "a"


def test_platt_and_isotonic_move_the_boundary_and_may_change_a_verdict(bayes):
    assert bayes.predict(MAIL)[0] == "not-spam"
    assert CalibratedModel(bayes, Platt(0.4, (0.0, 0.3)), HALF).predict(MAIL)[0] == "spam"
    curve = IsotonicCurve((-1.0, 0.0), (0.2, 0.9))
    assert CalibratedModel(bayes, Isotonic((curve,)), HALF).predict(MAIL)[0] == "spam"


def test_a_calibrated_perceptron_has_probabilities_and_accepts_decisions():
    X, y = three_classes()
    inner = weigh.Perceptron().fit(X, y).model_
    model = CalibratedModel(inner, Platt(0.1, (0.0, 0.0, 0.0)), np.full(3, 1 / 3))
    assert not inner.has_probabilities
    assert model.has_probabilities
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert set(model.predict(X, weigh.Decision(unsure=0.4))) == {"a", "b", "c", "unsure"}
    assert math.isfinite(weigh.evaluate(model, X, y).measure("log_loss").value)


def test_another_class_prior_replaces_the_shares_of_the_calibration_rows(bayes):
    model = CalibratedModel(bayes, Temperature(2.0), np.array([0.8, 0.2]))
    q = model.predict_proba(MAIL)[0] / np.array([0.8, 0.2]) * 0.5
    verdict = model.predict(MAIL, weigh.Decision(class_prior="uniform"))[0]
    assert verdict == model.classes[int(q.argmax())] == "spam"


def test_a_calibrated_model_has_the_attributes_of_the_inner_model(bayes):
    model = CalibratedModel(bayes, Temperature(2.0), HALF)
    for name in ("classes", "label", "schema", "levels", "storage", "tie", "label_levels"):
        assert getattr(model, name) == getattr(bayes, name)
    assert model.uncalibrated is bayes
    assert bayes.uncalibrated is bayes
    assert not model.is_generative
    assert repr(model) == (
        "<CalibratedModel by temperature 2 of a BayesModel: 3 columns, classes of 'spam' 'not-spam', 'spam'>"
    )
    assert str(weigh.strongest(model)) == str(weigh.strongest(bayes))
    assert str(weigh.unfamiliar(model, TABLE)) == str(weigh.unfamiliar(bayes, TABLE))


def test_merging_learning_and_forgetting_are_rejected_with_advice(bayes):
    model = CalibratedModel(bayes, Temperature(2.0), HALF)
    for update in (lambda: model.merge(model), lambda: model.learn(TABLE), lambda: model.forget(TABLE)):
        with pytest.raises(errors.Unsupported, match="then calibrate again: weigh"):
            update()


def test_the_linear_form_makes_the_same_decisions_or_is_rejected(bayes):
    linear = CalibratedModel(bayes, Temperature(2.0), HALF).linear()
    assert (linear.predict(TABLE) == bayes.predict(TABLE)).all()
    with pytest.raises(errors.Unsupported, match="platt moves the decision boundaries"):
        CalibratedModel(bayes, MAPS[1], HALF).linear()


def test_only_the_inner_model_has_exact_fractions(bayes):
    model = CalibratedModel(bayes, Temperature(2.0), HALF)
    with pytest.raises(errors.Unsupported, match=r"model\.uncalibrated\.explain\(rows\)\[0\]\.worked\(\)"):
        model.explain(MAIL)[0].worked()
    assert "16/31" in model.uncalibrated.explain(MAIL)[0].worked()


def test_an_impossible_class_stays_impossible():
    model = weigh.NaiveBayes(prior=None).fit(TABLE, "spam").model_
    row = {"CS373": 1, "investment": 0, "familiarity": "low"}
    for calibration in MAPS:
        calibrated = CalibratedModel(model, calibration, HALF)
        evidence = calibrated.explain(row)[0]
        log_q = calibrated.log_proba(row)[0]
        assert not np.isnan(log_q).any()
        assert evidence.total == log_q[0] - log_q[1]
    disjoint = {"one": ["a", "b"], "two": ["a", "b"], "kind": ["x", "y"]}
    model = weigh.NaiveBayes(prior=None).fit(disjoint, "kind").model_
    with pytest.raises(errors.ImpossibleEvidence, match="'x' by 'two=b'; 'y' by 'one=a'"):
        CalibratedModel(model, MAPS[0], HALF).predict({"one": "a", "two": "b"})


def test_verify_checks_the_inner_model_and_notes_it(bayes, tmp_path):
    model = CalibratedModel(bayes, Temperature(2.0), HALF)
    model.save(tmp_path / "m.weigh")
    verification = weigh.verify(tmp_path / "m.weigh", TABLE)
    assert verification.ok
    assert verification.checks[0].name == "the file's digest"
    assert "The model was checked without its calibration" in verification.notes[-1]
    other = {**TABLE, "investment": [1, 1, 1, 1, 0]}
    assert not weigh.verify(model, other).ok


def test_diff_reports_a_change_of_calibration(bayes):
    first, second = (CalibratedModel(bayes, Temperature(T), HALF) for T in (1.0, 2.0))
    assert weigh.diff(first, first).same
    changes = [str(setting) for setting in weigh.diff(first, second).settings]
    assert changes == ["calibration: temperature 1 → temperature 2"]
    changes = [str(setting) for setting in weigh.diff(bayes, second).settings]
    assert changes == ["calibration: new, temperature 2"]


@pytest.mark.parametrize("calibration", three_class_maps(), ids=lambda calibration: calibration.method)
def test_model_and_calibration_are_saved_and_loaded(calibration, tmp_path):
    X, y = three_classes()
    for learner in (weigh.NaiveBayes(), weigh.Perceptron("voted"), weigh.LogisticRegression()):
        model = CalibratedModel(learner.fit(X, y).model_, calibration, np.array([0.2, 0.3, 0.5]))
        model.save(tmp_path / "m.weigh")
        loaded = weigh.load(tmp_path / "m.weigh")
        assert loaded.calibration == calibration
        assert loaded.to_bytes() == model.to_bytes()
        assert (loaded.log_proba(X) == model.log_proba(X)).all()
        assert loaded.uncalibrated.to_bytes() == model.uncalibrated.to_bytes()


def test_a_derived_column_gets_its_function_when_loaded(tmp_path):
    hot = weigh.Derived(lambda rows: rows["warm"] > 20, "flag")
    rows = {"warm": [1.0, 30.0, 25.0, 3.0], "play": ["no", "yes", "yes", "no"]}
    model = weigh.NaiveBayes(columns={"hot": hot}).fit(rows, "play").model_
    CalibratedModel(model, Temperature(2.0), HALF).save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh", derived={"hot": lambda rows: rows["warm"] > 20})
    assert loaded.predict({"warm": 40.0})[0] == "yes"


def tampered_bytes(model, damage):
    meta, arrays = model.to_store()
    meta = json.loads(json.dumps({"model": "calibrated", **meta}))
    damage(meta, arrays)
    return store.to_bytes(meta, arrays)


DAMAGES = {
    "a T of zero": (0, lambda meta, arrays: meta["calibration"].update(T=0)),
    "a negative T": (0, lambda meta, arrays: meta["calibration"].update(T=-2.0)),
    "a T that is text": (0, lambda meta, arrays: meta["calibration"].update(T="2")),
    "a T that is a bool": (0, lambda meta, arrays: meta["calibration"].update(T=True)),
    "a T whose inverse is infinite": (0, lambda meta, arrays: meta["calibration"].update(T=5e-324)),
    "no T": (0, lambda meta, arrays: meta["calibration"].pop("T")),
    "no method": (0, lambda meta, arrays: meta["calibration"].pop("method")),
    "unknown method": (0, lambda meta, arrays: meta["calibration"].update(method="magic")),
    "no calibration": (0, lambda meta, arrays: meta.pop("calibration")),
    "no inner model": (0, lambda meta, arrays: meta.pop("uncalibrated")),
    "a calibrated inner model": (0, lambda meta, arrays: meta["uncalibrated"].update(model="calibrated")),
    "a regression as inner model": (0, lambda meta, arrays: meta["uncalibrated"].update(model="regression")),
    "shares of zero": (0, lambda meta, arrays: arrays.update(shares=np.array([1.0, 0.0]))),
    "shares of NaN": (0, lambda meta, arrays: arrays.update(shares=np.array([np.nan, 0.5]))),
    "no shares": (0, lambda meta, arrays: arrays.pop("shares")),
    "too many shares": (0, lambda meta, arrays: arrays.update(shares=np.full(3, 0.3))),
    "a negative slope": (1, lambda meta, arrays: meta["calibration"].update(slope=-0.1)),
    "too few shifts": (1, lambda meta, arrays: meta["calibration"].update(shift=[0.0])),
    "shifts that are text": (1, lambda meta, arrays: meta["calibration"].update(shift=["0", "1"])),
    "no shifts": (1, lambda meta, arrays: meta["calibration"].update(shift=None)),
    "a decreasing curve": (2, lambda meta, arrays: arrays["calibration.0"][1].__imul__(DECREASING)),
    "repeated knots": (2, lambda meta, arrays: arrays["calibration.0"][0].fill(1.0)),
    "probabilities of one": (2, lambda meta, arrays: arrays["calibration.0"][1].fill(1.0)),
    "knots of NaN": (2, lambda meta, arrays: arrays["calibration.0"].fill(np.nan)),
    "a flat array": (2, lambda meta, arrays: arrays.update({"calibration.0": np.ones(3)})),
    "no knots": (2, lambda meta, arrays: arrays.update({"calibration.0": np.ones((2, 0))})),
    "no curve": (2, lambda meta, arrays: arrays.pop("calibration.0")),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_tampered_files_are_rejected(bayes, tmp_path, name):
    which, damage = DAMAGES[name]
    path = tmp_path / "m.weigh"
    path.write_bytes(tampered_bytes(CalibratedModel(bayes, MAPS[which], HALF), damage))
    with pytest.raises(errors.ModelFileError):
        weigh.load(path)


@pytest.mark.parametrize("calibration", MAPS, ids=lambda calibration: calibration.method)
def test_every_changed_byte_of_the_header_is_rejected(bayes, tmp_path, calibration):
    content = CalibratedModel(bayes, calibration, HALF).to_bytes()
    start, path = content.index(b"calibration"), tmp_path / "m.weigh"
    for i in range(start, start + 120):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(errors.ModelFileError):
            weigh.load(path)


def test_a_map_for_another_number_of_classes_is_rejected(bayes):
    with pytest.raises(errors.ParameterError, match="a calibration map for the model's 2 classes"):
        CalibratedModel(bayes, Platt(1.0, (0.0, 1.0, 2.0)), HALF)


@pytest.mark.parametrize("calibration", [*MAPS, Platt(1.0, (0.0, 0.0))], ids=str)
def test_the_plot_shows_probabilities_before_and_after(bayes, calibration):
    pytest.importorskip("altair")
    chart = CalibratedModel(bayes, calibration, HALF).plot().to_dict()
    assert f"Calibration by {calibration}" in json.dumps(chart)


def test_the_plot_of_a_perceptron_shows_probabilities_over_scores():
    pytest.importorskip("altair")
    X, y = three_classes()
    inner = weigh.Perceptron().fit(X, y).model_
    for calibration in three_class_maps():
        chart = CalibratedModel(inner, calibration, np.full(3, 1 / 3)).plot().to_dict()
        assert "lead of the class's score" in json.dumps(chart)


def test_only_linear_models_have_a_linear_form() -> None:
    rows = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "a", "a", "b", "b", "b"]}
    with pytest.raises(errors.Unsupported, match=r"^A ThresholdModel is not a linear function of its"):
        weigh.Threshold().fit(rows, "y").model_.linear()
    linear = weigh.NaiveBayes().fit({"c": ["p", "q"] * 3, "y": rows["y"]}, "y").model_.linear()
    assert linear.linear() is linear
