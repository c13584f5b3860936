"""Every result prints within 80 columns, converts to JSON, escapes its HTML and can be plotted."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import weigh
from tests.apps.mail.evaluation.scripted_filter import Scripted
from tests.contract import spelling_results
from tests.hostile import INJECTED, find_control_characters, find_injected_lines
from weigh._core import MailLedger
from weigh.apps.mail.audit import audit_mails
from weigh.apps.mail.check import FileCheck, StoreCheck
from weigh.apps.mail.evaluation.mail_stream import Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters
from weigh.apps.mail.filter import Filter
from weigh.apps.mail.rebuild import RebuildResult
from weigh.apps.mail.results import LearnResult, StoreStatus, UnlearnResult, strongest_words
from weigh.apps.mail.storage import FeatureName
from weigh.model.base import BaseModel
from weigh.priors.display import PriorDisplay
from weigh.result import Result, to_json
from weigh.source.mail import RawMessage, read

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")

EVIL = "<script>alert(1)</script>\x1b[31m\u202e"
A, B = "<b>a</b>\x9b2J", "a & b, a long name that goes on and on and on, beyond the forty signs of a column"
LABEL, NO, YES = "<i>label</i>\x07", f"<u>no</u>\n{INJECTED}", f"yes & no\r{INJECTED}"


def _table(n: int = 60, shift: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, n))
    labels = np.where(a + b > 0.2, YES, NO)
    words = np.where(a > 0, EVIL, "plain")
    return {A: a + shift, B: b + 0.1 * (labels == YES), EVIL: words, LABEL: labels}


TABLE = _table()
NUMBERS = {name: TABLE[name] for name in (A, B, LABEL)}
APART = {A: [0.0, 1.0, 3.0, 4.0], B: [0.0, 0.5, 2.0, 3.0], LABEL: [NO, NO, YES, YES]}
REGRESSION = {A: TABLE[A], B: TABLE[B], LABEL: TABLE[A] - 2 * TABLE[B] + np.cos(np.arange(60))}


@cache
def bayes() -> Any:
    return weigh.NaiveBayes().fit(TABLE, LABEL)


@cache
def linear() -> Any:
    return weigh.LinearRegression().fit(REGRESSION, LABEL)


@cache
def logistic() -> Any:
    return weigh.LogisticRegression().fit(NUMBERS, LABEL)


@cache
def additive() -> Any:
    return weigh.LogisticRegression(curves="auto").fit(TABLE, LABEL)


@cache
def perceptron() -> Any:
    return weigh.Perceptron(record=True).fit(NUMBERS, LABEL)


@cache
def compared() -> Any:
    return weigh.compare({EVIL: weigh.NaiveBayes()}, TABLE, LABEL, folds=2, repeats=1, n_jobs=1)


def _joint() -> Any:
    return weigh.JointBayes().fit({EVIL: TABLE[EVIL], LABEL: TABLE[LABEL]}, LABEL)


def _message() -> Any:
    raw = f"Subject: {EVIL}\nFrom: {A}\nContent-Type: text/html\n\n<p>{B}</p><a href='http://x.example'>y</a>"
    return read(raw.encode())


def _strongest_words() -> Any:
    words = [FeatureName(7, 1, EVIL), FeatureName(8, 0, B), FeatureName(9, 0, EVIL)]
    ledger = MailLedger("naive-bayes")
    ledger.learn([word.hashed_features for word in words], b"\x01\x00\x01")
    return strongest_words(words, ledger, 3)


def _explanation() -> Any:
    raws = [f"Subject: {name}\n\n{name} {EVIL}".encode() for name in (A, B)]
    mail = Filter()
    mail.learn(raws, ["ham", "spam"])
    return mail.explain(raws[0])


def _mail_audit() -> Any:
    raws = [f"Subject: {name}\n\n{name} {EVIL}".encode() for name in (A, B)]
    looks = {
        label: partial(iter, [RawMessage(raw, EVIL)])
        for label, raw in zip(("spam", "ham"), raws, strict=True)
    }
    return audit_mails(looks)


def _trial() -> Any:
    mails = [Mail(f"{i % 7 - 3} {i}".encode(), f"{EVIL} {i}", ("ham", "spam")[i % 2]) for i in range(20)]
    return evaluate_filters([Scripted(EVIL)], mails, order="given")


def _tuned() -> Any:
    return weigh.tune(weigh.Perceptron(), NUMBERS, LABEL, grid={"max_iter": [1, 5]})


# One example of every result, by the name of its class.
RESULTS: dict[str, Callable[[], Any]] = {
    "Audit": lambda: weigh.audit(bayes(), TABLE, LABEL),
    "BiasVariance": lambda: weigh.bias_variance(weigh.NaiveBayes(), TABLE, LABEL, rounds=4),
    "ClassCurves": lambda: weigh.class_curves(bayes(), TABLE, cells=20),
    "Comparison": compared,
    "Difference": lambda: weigh.diff(bayes(), weigh.NaiveBayes().fit(_table(50, 1.0), LABEL)),
    "Effects": lambda: weigh.effects(additive(), TABLE),
    "Evaluation": lambda: weigh.evaluate(bayes(), TABLE, LABEL),
    "Evidence": lambda: bayes().explain(TABLE)[0],
    "Explanation": _explanation,
    "Flip": lambda: weigh.flip(bayes(), {name: column[:1] for name, column in TABLE.items()}),
    "LargestWeights": lambda: weigh.strongest(logistic()),
    "LearnerChoice": lambda: weigh.choose_learner(TABLE, LABEL),
    "LearningCurve": lambda: weigh.learning_curve(weigh.NaiveBayes(), TABLE, LABEL, repeats=2),
    "MailAudit": _mail_audit,
    "LogisticTrace": lambda: weigh.trace(
        weigh.LogisticRegression(method="online", rate=0.1, max_iter=2),
        APART | {A: [1.0, 2.0, 4.0, 5.0], B: [1.0, 0.5, 2.0, 3.0]},  # zeros are omitted from the vectors
        LABEL,
    ),
    "Margin": lambda: weigh.margin(APART, LABEL),
    "MistakeBound": lambda: weigh.mistake_bound(APART, LABEL),
    "NormalPosterior": lambda: bayes().model_.posterior(A, YES),
    "Path": lambda: weigh.path(weigh.LinearRegression(prior=weigh.Laplace("cv")), REGRESSION, LABEL),
    "Posterior": lambda: linear().posterior_,
    "ProbabilityTable": lambda: _joint().model_.to_table(),
    "Regions": lambda: weigh.regions(bayes(), TABLE, cells=20),
    "RegressionEvaluation": lambda: weigh.evaluate(linear(), REGRESSION, LABEL),
    "LargestRegressionWeights": lambda: weigh.strongest(linear()),
    "Scorecard": lambda: additive().scorecard(),
    "StrongestFeatures": lambda: weigh.strongest(bayes()),
    "StrongestWords": _strongest_words,
    "Summary": lambda: linear().summary(),
    "Surface": lambda: weigh.surface(linear(), REGRESSION, LABEL, cells=20),
    "Trace": lambda: weigh.trace(weigh.Perceptron(max_iter=2), APART, LABEL),
    "MailEvaluation": _trial,
    "TuningResult": _tuned,
    "Unfamiliar": lambda: weigh.unfamiliar(bayes(), _table(40, 9.0)),
    "Verification": lambda: weigh.verify(bayes(), TABLE, LABEL),
    "WeightDifference": lambda: weigh.diff(logistic(), weigh.LogisticRegression().fit(TABLE, LABEL)),
    **spelling_results.RESULTS,
}
# Certificates, equivalents and messages: a plot would show nothing more.
WITHOUT_PICTURE: dict[str, Callable[[], Any]] = {
    "Certificate": lambda: perceptron().certificate_,
    "Equivalents": lambda: weigh.Normal(1).equivalents("linear", n=10),
    "Gradient": lambda: logistic().model_.gradient(NUMBERS, LABEL),
    "LearnResult": lambda: LearnResult(1, 2, 3),
    "Message": _message,
    "Optimality": lambda: linear().certificate_,
    "RebuildResult": lambda: RebuildResult(EVIL, EVIL, 1, 2, 3),
    "StoreCheck": lambda: StoreCheck(EVIL, False, (FileCheck("journal", EVIL, EVIL),)),
    "StoreStatus": lambda: StoreStatus(EVIL, A, A, 4, True, 0, 2, 3, 4, 5),
    "TraitTable": lambda: compared().traits(),
    "UnlearnResult": lambda: UnlearnResult(1, 2, 3),
    "Verdict": lambda: _explanation().verdict,
    **spelling_results.WITHOUT_PICTURE,
}
# Parts of results, which are displayed with them and separately.
PARTS: dict[str, Callable[[], Any]] = {
    "ConfusionMatrix": lambda: example("Evaluation").confusion,
    "Diagnosis": lambda: example("LearningCurve").curves[0].diagnosis,
    "Explained": lambda: bayes().explain(TABLE),
    "Measure": lambda: example("Evaluation").measure("accuracy"),
    "ReliabilityTable": lambda: example("Evaluation").reliability,
}
PRIORS = [
    weigh.Beta(2, 3),
    weigh.Beta(0.5, 0.5),
    weigh.Dirichlet({EVIL: 2, "b": 3}),
    weigh.Normal(2, mean=1),
    weigh.Laplace(0.5),
    weigh.Penalty(l1=1, l2=2),
]
MODELS: dict[str, Callable[[], Any]] = {
    "BayesModel": lambda: bayes().model_,
    "PredictiveBayesModel": lambda: bayes().model_.predictive(),
    "BayesModel without rows": lambda: bayes().model_.forget(TABLE, LABEL),
    "CalibratedModel": lambda: weigh.calibrate(
        bayes(), {name: values[1:] for name, values in TABLE.items()}, LABEL
    ),
    "JointModel": lambda: _joint().model_,
    "LinearModel": lambda: weigh.NaiveBayes(columns={A: "skip", B: "skip"}).fit(TABLE, LABEL).model_.linear(),
    "LogisticModel": lambda: logistic().model_,
    "PerceptronModel": lambda: perceptron().model_,
    "RegressionModel": lambda: linear().model_,
    "ThresholdModel": lambda: weigh.Threshold().fit(NUMBERS, LABEL).model_,
    "VotedModel": lambda: perceptron().model_.keep("voted"),
}


# The columns of the frames of results.
FRAMES: dict[str, dict[str, list[str]]] = {
    "Audit": {
        "rows": ["row", "label", "said", "lead", "probability", "said_probability", "loss", "reasons"],
        "pairs": ["label", "said", "rows", "look_wrong"],
        "measures": ["name", "value", "low", "high"],
    },
    "Difference": {
        "moved": ["name", "label", "old", "new", "nats"],
        "numbers": ["name", "label", "old_mean", "new_mean", "old_spread", "new_spread", "shift"],
        "classes": ["label", "old", "new"],
        "words": [],
        "settings": [],
    },
    "Effects": {
        "effects": ["name", "kind", "importance", "lowest", "highest", "n_cells", "shape"],
        "cells": ["effect", "cell", "start", "stop", "output", "height", "low", "high", "rows"],
    },
    "Evaluation": {
        "measures": ["name", "value", "low", "high"],
        "per_class": [
            "class",
            *(
                f"{name}_{part}"
                for name in ("precision", "recall")
                for part in ("name", "value", "low", "high")
            ),
            *("f1", "f1_low", "f1_high", "support"),
            *(
                f"{name}_{part}"
                for name in ("roc_area", "pr_area")
                for part in ("name", "value", "low", "high")
            ),
        ],
        "confusion": ["true", "predicted", "weight"],
        "reliability": ["series", "predicted", "observed", "low", "high", "rows"],
    },
    "Evidence": {"evidence": ["feature", "value", "nats"]},
    "Flip": {"removed": ["feature", "value", "weight"], "left": ["feature", "value", "weight"]},
    "Regions": {"spots": ["x", "y", "label", "verdict"]},
    "Unfamiliar": {"columns": ["column", "test", "p", "effect", "before", "now", "shifted"]},
    "RegressionEvaluation": {
        "measures": ["name", "value", "low", "high"],
        "largest": ["row", "true", "predicted", "error"],
    },
    "Scorecard": {"table": ["term", "cell", "points"]},
    "TuningResult": {"trials": ["settings_max_iter", "loss", "accuracy"]},
    "Verification": {"checks": ["name", "ok", "compared", "differing"]},
    "Summary": {"weights": ["feature", "weight", "error", "ratio", "tails", "low", "high"]},
    "WeightDifference": {
        "terms": [
            *("term", "change", "where", "label", "largest", "mean", "old_strength", "new_strength"),
        ],
        "biases": ["label", "old", "new"],
        "settings": ["what", "old", "new"],
    },
}


@cache
def example(name: str) -> Any:
    return {**RESULTS, **WITHOUT_PICTURE}[name]()


def is_escaped(markup: str) -> bool:
    return not any(tag in markup for tag in ("<script", "<b>a", "<i>label", "<u>no", "onerror"))


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_each_example_has_the_class_of_its_name(name: str) -> None:
    assert type(example(name)).__name__ == name


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_a_result_prints_within_eighty_columns(name: str) -> None:
    if name == "Equivalents":
        pytest.skip("calls of other packages are printed in full, to be copied")
    assert [line for line in str(example(name)).splitlines() if len(line) > 80] == []
    assert str(example(name)).strip()


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_no_name_in_a_result_controls_the_terminal_or_adds_a_line(name: str) -> None:
    for text in (str(example(name)), repr(example(name))):
        assert not find_control_characters(text), text
        assert not find_injected_lines(text)


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_a_result_converts_to_json(name: str) -> None:
    assert json.loads(json.dumps(example(name).to_dict(), allow_nan=False))


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_the_html_of_a_result_is_escaped(name: str) -> None:
    markup = example(name)._repr_html_()
    assert "<t" in markup or markup.startswith("<div><p>")
    assert is_escaped(markup)
    assert not find_control_characters(markup)


@pytest.mark.parametrize("name", [*RESULTS, *WITHOUT_PICTURE])
def test_the_frames_of_a_result_have_the_records_of_its_json(name: str) -> None:
    result = example(name)
    columns = {table: list(result.to_frame(table).columns) for table in getattr(result, "_frames", ())}
    assert columns == FRAMES.get(name, columns)
    for table in columns:
        records = result.to_frame(table).to_dict("records")
        assert to_json(records) == [_flat(record) for record in result.to_dict()[table]]


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in record.items():
        flat |= _flat(value, f"{prefix}{key}_") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def test_explanations_become_one_frame_with_the_verdict_of_each_row() -> None:
    found = bayes().explain(TABLE)
    frame = found.to_frame()
    assert list(frame.columns) == ["row", "verdict", "runner_up", "feature", "value", "nats"]
    assert frame.groupby("row")["nats"].sum().tolist() == pytest.approx([each.total for each in found])
    assert frame.groupby("row")["verdict"].first().tolist() == [each.verdict for each in found]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("LargestRegressionWeights", ["direction", "feature", "weight"]),
        ("LargestWeights", ["class", "feature", "weight"]),
        ("StrongestFeatures", ["class", "feature", "value", "kind", "nats", "own", "rest"]),
    ],
)
def test_strong_features_become_one_frame(name: str, columns: list[str]) -> None:
    group, *others = columns
    frame = example(name).to_frame()
    assert list(frame.columns) == columns
    for label, features in example(name).to_dict().items():
        assert frame[frame[group] == label][others].to_dict("records") == features


def test_a_path_becomes_a_frame_of_its_fits() -> None:
    path = weigh.path(weigh.LinearRegression(prior=weigh.Laplace("cv")), REGRESSION, LABEL, n=5, folds=2)
    frame = path.to_frame()
    assert list(frame.columns) == ["l1", "l2", "features", "gap", "error", "uncertainty"]
    assert frame["l1"].tolist() == path.to_dict()["l1"]
    assert frame["error"].tolist() == path.to_dict()["errors"]
    assert list(example("Path").to_frame().columns) == ["l1", "l2", "features", "gap"]


@pytest.mark.parametrize("name", PARTS)
def test_the_html_of_a_part_of_a_result_is_escaped(name: str) -> None:
    part = PARTS[name]()
    assert type(part).__name__ == name
    assert is_escaped(part._repr_html_())
    assert repr(part) == str(part)


@pytest.mark.parametrize(
    "name", ["Evidence", "LargestWeights", "StrongestFeatures", "Unfamiliar", "Verification"]
)
def test_the_repr_of_a_result_is_its_text(name: str) -> None:
    assert repr(example(name)) == str(example(name))


def test_an_explanation_is_a_list_that_displays_its_first_ten_rows() -> None:
    found = bayes().explain(TABLE)
    assert found == list(found)
    assert isinstance(found, list)
    markup = found._repr_html_()
    assert markup.count("<table") == 10
    assert markup.endswith("<p>… and 50 more</p></div>")
    assert str(found) == "\n\n".join([*map(str, found[:10]), "… and 50 more"])
    assert found[:1]._repr_html_() == f"<div>{found[0]._repr_html_()}</div>"
    assert repr(found[:0]) == "[]"


def test_html_output_has_the_same_content_as_text() -> None:
    evaluation, curve = example("Evaluation")._repr_html_(), example("LearningCurve")
    assert ">Confusion matrix</caption>" in evaluation
    shown, (only,) = curve._repr_html_(), curve.curves
    for line in [str(only.law or only.no_law), *only.diagnosis.advice, only.diagnosis.says]:
        assert html.escape(line) in shown
    assert "What kind of learners" not in compared()._repr_html_()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_can_be_plotted(name: str) -> None:
    spec = example(name).plot().to_dict()
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    json.dumps(spec, allow_nan=False)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_a_prior_has_escaped_html_and_a_plot(prior: Any) -> None:
    assert is_escaped(prior._repr_html_())
    json.dumps(prior.plot().to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MODELS)
def test_the_html_of_a_model_is_escaped(name: str) -> None:
    model = MODELS[name]()
    assert type(model).__name__ == name.split()[0]
    markup = model._repr_html_()
    assert is_escaped(markup)
    assert not find_control_characters(markup + repr(model))
    assert "&lt;" in markup
    assert ">Columns</caption>" in markup


def test_a_calibrated_model_shows_its_calibration_table() -> None:
    markup = MODELS["CalibratedModel"]()._repr_html_()
    assert ">Calibration: P(yes &amp; no INJECTED)</caption>" in markup
    assert ">before</th>" in markup


def shown_classes() -> list[str]:
    """Return the names of all classes with HTML output or plots, except learners."""
    found: list[str] = []
    for module in pkgutil.walk_packages(weigh.__path__, "weigh."):
        if module.name.startswith(("weigh._core", "weigh.result")) or ".estimators" in module.name:
            continue
        for name, kind in vars(importlib.import_module(module.name)).items():
            own = inspect.isclass(kind) and kind.__module__ == module.name
            if own and (hasattr(kind, "plot") or hasattr(kind, "_repr_html_")):
                found += [] if inspect.isabstract(kind) or hasattr(kind, "fit") else [name]
    return found


def test_every_class_with_html_or_plot_has_an_example_here() -> None:
    bases = {"PriorDisplay", "LocationScalePrior", "ProportionalDirichlet"}
    priors = {type(each).__name__ for each in PRIORS} | bases
    models = {name.split()[0] for name in MODELS}
    pages = {"Report"}  # tested separately in a browser
    shown = shown_classes()
    assert set(shown) - pages - {*RESULTS, *WITHOUT_PICTURE, *PARTS} - priors - models == set()
    # Two classes with the same name would hide each other here and confuse users.
    assert len(shown) == len(set(shown))


def test_every_class_with_html_output_is_a_result() -> None:
    # Models, learners and priors are not results; explanations and reliability tables are sequences.
    others = (BaseModel, PriorDisplay, list, tuple)
    found = [
        kind.__name__
        for name in ("explain", "judge", "learn", "model", "priors", "source", "trials")
        for module in pkgutil.walk_packages([f"{weigh.__path__[0]}/{name}"], f"weigh.{name}.")
        for kind in vars(importlib.import_module(module.name)).values()
        if inspect.isclass(kind)
        and kind.__module__ == module.name
        and hasattr(kind, "_repr_html_")
        and not issubclass(kind, (Result, *others))
        and not hasattr(kind, "fit")
    ]
    assert found == []


def test_all_models_have_html_output() -> None:
    def below(kind: type) -> set[type]:
        return {kind, *(each for child in kind.__subclasses__() for each in below(child))}

    concrete = {kind.__name__ for kind in below(BaseModel) if not inspect.isabstract(kind)}
    assert {name for name in concrete if not name.startswith("_")} <= {name.split()[0] for name in MODELS}
