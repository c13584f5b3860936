"""Regressions on the command line: what fit, predict, explain, evaluate and verify print and refuse."""

from __future__ import annotations

import json

import pytest

import weigh
from weigh.cli.settings import read_kinds, read_settings
from weigh.priors import Laplace, Normal, Penalty

FLATS = """size,rooms,district,rent
70.5,3.0,north,810
82.0,3.0,south,1062
55.5,2.0,north,660
120.0,5.0,south,1471
95.0,4.0,north,1081
60.0,2.0,south,788
103.5,4.0,south,1325
77.0,3.0,north,906
48.0,1.0,north,549
88.0,4.0,south,1070
"""
RIDGE = """Trained on 10 rows of flats.csv to predict rent.

column    kind      found
size      value
rooms     value
district  category  1 feature

feature          weight  std. error       p  95% from       to
bias            −32.915      17.393   0.058   −67.005   1.1757
size             13.502     0.61386  < .001    12.299   14.705
rooms           −38.269      11.108  < .001    −60.04  −16.498
district=south   88.564      7.4032  < .001    74.054   103.07

prior                      Normal(50)
penalty                    l1 = 0, l2 = 0.04
noise, standard deviation  10 (as given)
R²                         0.995838
equivalent                 scikit-learn's Ridge(alpha=0.04)

Optimal: the objective, 1737.7789, is the minimum, to rounding (normal equations
by Cholesky, 1 iteration).

The model is in m.weigh.
"""


@pytest.fixture
def flats(run, tmp_path):
    (tmp_path / "flats.csv").write_text(FLATS)
    return run


def fit(flats, label, learner, *settings, to="m.weigh"):
    given = [part for text in settings for part in ("--set", text)]
    return flats("fit", "flats.csv", "--label", label, "--learner", learner, *given, "-o", to)


def test_fit_prints_weights_noise_and_certificate(flats):
    result = fit(flats, "rent", "linear", "prior=50", "noise=normal:10", "scale=none")
    assert (result.exit_code, result.output) == (0, RIDGE)


def test_fit_says_that_numbers_were_standardised_and_what_the_prior_is_elsewhere(flats):
    output = fit(flats, "rent", "linear", "prior=50", "noise=normal:10").output
    assert output[output.index("prior ") : output.index("\n\nOptimal")] == (
        "prior                      Normal(50)\n"
        "numbers                    standardised during learning; weights in the original\n"
        "                           units\n"
        "penalty                    l1 = 0, l2 = 0.04 per standard deviation\n"
        "noise, standard deviation  10 (as given)\n"
        "R²                         0.995542\n"
        "equivalent                 StandardScaler of the numbers, then scikit-learn's\n"
        "                           Ridge(alpha=0.04)"
    )
    perceptron = fit(flats, "district", "perceptron").output
    assert "Numbers were standardised during learning." in perceptron


@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
def test_the_model_file_is_the_one_that_python_makes(flats, tmp_path):
    for label, learner, made in (
        ("rent", "linear", weigh.LinearRegression(prior=weigh.Normal(3), scale="unit")),
        ("district", "logistic", weigh.LogisticRegression(prior=weigh.Penalty(l2=2))),
    ):
        settings = ["prior=normal:3", "scale=unit"] if learner == "linear" else ["prior=penalty:l2=2"]
        assert fit(flats, label, learner, *settings).exit_code == 0
        model = made.fit(weigh.open(tmp_path / "flats.csv", label=label)).model_
        assert (tmp_path / "m.weigh").read_bytes() == model.to_bytes()


def test_online_learning_is_a_method_of_logistic(flats, tmp_path):
    settings = ("method=online", "prior=2", "rate=0.01", "max_iter=3", "random_state=1")
    result = fit(flats, "district", "logistic", *settings)
    made = weigh.LogisticRegression(2, "online", rate=0.01, max_iter=3, random_state=1)
    model = made.fit(weigh.open(tmp_path / "flats.csv", label="district")).model_
    assert (tmp_path / "m.weigh").read_bytes() == model.to_bytes()
    assert "Optimal" not in result.output


def test_json_has_weights_fit_and_certificate(flats):
    facts = json.loads(flats("fit", "flats.csv", "--label", "rent", "--learner", "linear", "--json").output)
    model = weigh.load("flats.weigh")
    assert (facts["rows"], facts["learner"], facts["label"]) == (10, "linear", "rent")
    assert [each["feature"] for each in facts["weights"]] == ["bias", *model.features]
    assert [each["weight"] for each in facts["weights"]] == [model.intercept, *model.coef.tolist()]
    assert facts["fit"] == model.fit.to_dict()
    assert facts["certificate"] == model.certificate.to_dict()
    assert "classes" not in facts


def test_only_the_largest_of_many_weights_are_printed(flats, tmp_path):
    names = [f"c{j}" for j in range(30)]
    rows = [",".join(str(float((i * (j + 3)) % 7)) for j in range(30)) + f",{i % 5}.5" for i in range(40)]
    (tmp_path / "wide.csv").write_text(",".join([*names, "y"]) + "\n" + "\n".join(rows) + "\n")
    printed = flats("fit", "wide.csv", "--label", "y", "--learner", "linear", "--set", "prior=1").output
    assert "… and 16 smaller ones" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_logistic_prints_classes_with_their_shares(flats):
    printed = fit(flats, "district", "logistic", "scale=unit").output
    assert printed.startswith(
        "Trained on 10 rows of flats.csv to predict district.\n\n"
        "class    share\nnorth  50.00 %\nsouth  50.00 %\n\n"
    )
    assert "is above its minimum by at most" in printed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2", 2.0),
        ("1/2", 0.5),
        ("none", None),
        ("normal:2", Normal(2)),
        ("laplace:0.5", Laplace(0.5)),
        ("normal:cv", Normal("cv")),
        ("normal:evidence", Normal("evidence")),
        ("Laplace:CV", Laplace("cv")),
        ("penalty:l1=1,l2=2", Penalty(l1=1, l2=2)),
        ("penalty:l2=1/4", Penalty(l2=0.25)),
        ("penalty:l1=1,l2=3,scale=cv", Penalty(l1=1, l2=3, scale="cv")),
        ('{"size": 2, "rooms": "none"}', {"size": 2.0, "rooms": None}),
    ],
)
def test_priors_of_weights_are_read(text, expected):
    assert read_settings([f"prior={text}"], "linear") == {"prior": expected}
    assert read_settings([f"prior.size={text}"], "logistic") == {"prior": {"size": expected}}


def test_other_learners_keep_their_own_priors():
    assert read_settings(["prior=dirichlet:2"], "naive-bayes") == {"prior": weigh.Dirichlet(2)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("noise=normal", "normal"),
        ("noise=Laplace", "laplace"),
        ("noise=normal:1.5", Normal(1.5)),
        ("noise=laplace:2", Laplace(2)),
        ("folds=loo", "loo"),
        ("folds=4", 4),
        ("tol=1e-3", 0.001),
        ("offset=size", "size"),
        ("bias=no", False),
    ],
)
def test_settings_of_linear_are_read(text, expected):
    assert read_settings([text], "linear") == {text.partition("=")[0]: expected}


PRIORS = (
    "A prior of weights is a number, none, normal:S, laplace:T (S, T may be cv) or "
    "penalty:l1=A,l2=B[,scale=cv]."
)


@pytest.mark.parametrize(
    ("learner", "text", "said"),
    [
        ("linear", "prior=lasso:3", f"'lasso:3' is not understood. {PRIORS}"),
        ("linear", "prior=normal:wide", f"'normal:wide' is not understood. {PRIORS}"),
        ("linear", "prior=penalty:l3=2", f"'penalty:l3=2' is not understood. {PRIORS}"),
        ("linear", "prior=dirichlet:2", f"'dirichlet:2' is not understood. {PRIORS}"),
        ("linear", "prior={2", "'{2' is not JSON (Expecting property name enclosed in double quotes: "),
        (
            "linear",
            "noise=poisson",
            "'poisson' is not a noise distribution. Noise is normal, laplace, normal:SIGMA or laplace:B.",
        ),
        (
            "linear",
            "class_weight=balanced",
            "'class_weight=balanced' is not NAME=VALUE with a parameter of linear: prior, noise, bias, "
            "scale, offset, curves, pairs, folds, tol, max_iter.",
        ),
        (
            "logistic",
            "rate=1",
            "rate, shuffle and random_state need method=online; add that, or leave them out.",
        ),
    ],
)
def test_wrong_settings_are_wrong_usage(flats, learner, text, said):
    result = fit(flats, "district" if learner == "logistic" else "rent", learner, text)
    assert result.exit_code == 2
    assert f"Invalid value for '--set': {said}" in result.output


@pytest.mark.parametrize(
    ("learner", "settings", "said"),
    [
        (
            "logistic",
            ["method=newton"],
            "LogisticRegression: method must be 'exact' or 'online', got 'newton'.",
        ),
        (
            "logistic",
            ["method=onlin"],
            "LogisticRegression: method must be 'exact' or 'online', got 'onlin'. Did you mean 'online'?",
        ),
        ("linear", ["tol=2"], "LinearRegression: tol must be a number between 0 and 1, got 2."),
        (
            "linear",
            ["prior=-1"],
            "LinearRegression: prior must be a number above zero, None, normal:s, laplace:t or "
            "penalty:l1=a,l2=b, got -1.0.",
        ),
        (
            "linear",
            ["prior=1e999999999"],
            "LinearRegression: prior must be a number above zero, None, normal:s, laplace:t or "
            "penalty:l1=a,l2=b, got inf.",
        ),
        (
            "linear",
            ["noise=laplace", "prior=normal:cv"],
            "LinearRegression: the scale of a prior can be chosen for squared loss only. Give a number, "
            "or --set noise=normal.",
        ),
        (
            "logistic",
            ["method=online", "prior=laplace:1"],
            "LogisticRegression: --set method=online supports one Normal prior with mean zero for all "
            "columns, or None, got --set prior=laplace:1. Give a number, or --set method=exact.",
        ),
        (
            "logistic",
            ["prior=normal:evidence"],
            "LogisticRegression: --set prior=normal:evidence is available for linear regression only. Give "
            "--set prior=normal:cv, or a number.",
        ),
    ],
)
def test_library_errors_are_worded_in_command_line_terms(flats, learner, settings, said):
    result = fit(flats, "district" if learner == "logistic" else "rent", learner, *settings)
    assert (result.exit_code, result.output) == (1, f"weigh: {said}\n")


def test_predict_writes_numbers_and_how_sure_they_are(flats):
    fit(flats, "rent", "linear", "prior=50", "noise=normal:10")
    model = weigh.load("m.weigh")
    means, deviations = model.predict(weigh.open("flats.csv", label="rent"), return_std=True)
    plain = flats("predict", "m.weigh", "flats.csv").output
    assert plain == "prediction\n" + "".join(f"{mean:.10g}\n" for mean in means)
    pairs = list(zip(means.tolist(), deviations.tolist(), strict=True))
    both = flats("predict", "m.weigh", "flats.csv", "--std").output
    assert both == "prediction,std\n" + "".join(f"{mean:.10g},{sd:.10g}\n" for mean, sd in pairs)
    lines = flats("predict", "m.weigh", "flats.csv", "--std", "--json").output.splitlines()
    assert [json.loads(line) for line in lines] == [{"prediction": mean, "std": sd} for mean, sd in pairs]


CLASSES = (
    "A regression predicts numbers, not classes, so {} cannot be used. "
    "--std writes the standard deviation of its predictions."
)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--proba"], CLASSES.format("--proba")),
        (["--unsure", "0.1", "--cost", "a:b=2"], CLASSES.format("--unsure and --cost")),
        (
            ["--std"],
            "This regression has no posterior: only squared loss with a Normal prior, or with none and "
            "more rows than weights, has one in closed form, and it is kept for up to 5,000 features (saved "
            "for up to 1,000).",
        ),
    ],
)
def test_predict_rejects_options_that_a_regression_does_not_support(flats, tmp_path, options, said):
    fit(flats, "rent", "linear", "noise=laplace")
    result = flats("predict", "m.weigh", "flats.csv", "-o", "out.csv", *options)
    assert (result.exit_code, result.output) == (1, f"weigh: {said}\n")
    assert not (tmp_path / "out.csv").exists()


def test_std_is_rejected_for_classifiers(flats):
    fit(flats, "district", "logistic")
    assert flats("predict", "m.weigh", "flats.csv", "--std").output == (
        "weigh: --std is for regressions, and this model predicts classes. --proba writes the probability "
        "of each class.\n"
    )


def test_logistic_predicts_like_any_probable_classifier(flats):
    fit(flats, "district", "logistic", "scale=unit")
    printed = flats("predict", "m.weigh", "flats.csv", "--proba", "--unsure", "0.3").output
    assert printed.splitlines()[0] == "prediction,probability,P(north),P(south)"
    assert "unsure," in printed


def test_explain_prints_contributions_that_sum_to_the_prediction(flats):
    fit(flats, "rent", "linear", "prior=50", "noise=normal:10", "scale=none")
    assert flats("explain", "m.weigh", "flats.csv", "--row", "1").output == (
        "predicted: 1047.99\n\n"
        "  bias                −32.9149\n"
        "  size = 82         +1107.1461  ++++++++++++\n"
        "  rooms = 3          −114.8076  −\n"
        "  district = south    +88.5639  +\n"
        "  total             +1047.9875  predicted\n"
    )
    printed = json.loads(flats("explain", "m.weigh", "flats.csv", "--row", "1", "--json").output)
    assert printed["verdict"] == printed["total"] == pytest.approx(1047.9875095588332, rel=1e-12)
    assert flats("explain", "m.weigh").output == (
        "What raises rent:\n                   weight\n  district=south  +88.564\n"
        "  size            +13.502\n\nWhat lowers rent:\n          weight\n  rooms  −38.269\n"
    )
    assert flats("explain", "m.weigh", "--class", "north").output == (
        "weigh: A regression predicts numbers and has no class 'north'. Leave the class out.\n"
    )


def test_evaluate_measures_errors(flats):
    fit(flats, "rent", "linear", "prior=50", "noise=normal:10")
    printed = flats("evaluate", "m.weigh", "flats.csv").output
    assert printed.startswith("Evaluation on 10 rows\n\nmeasure")
    found = weigh.evaluate(weigh.load("m.weigh"), weigh.open("flats.csv", label="rent"))
    assert printed == f"{found}\n"
    assert json.loads(flats("evaluate", "m.weigh", "flats.csv", "--json").output) == found.to_dict()


def test_verify_finds_the_minimum_again_and_a_changed_row(flats, tmp_path):
    fit(flats, "rent", "linear", "prior=50", "noise=normal:10")
    assert flats("verify", "m.weigh", "flats.csv").output == (
        "Went through 10 rows again: everything agrees.\n\n"
        "  checked                   numbers  result\n"
        "  the file's digest               1   agree\n"
        "  rows                            1   agree\n"
        "  features                        3   agree\n"
        "  total weight of the rows        1   agree\n"
        "  loss of all rows                1   agree\n"
        "  objective                       1   agree\n"
        "  gap to the minimum              1   agree\n"
    )
    (tmp_path / "flats.csv").write_text(FLATS.replace("810", "811"))
    result = flats("verify", "m.weigh", "flats.csv")
    assert result.exit_code == 1
    assert "failed" in result.output


def test_fit_lists_the_cells_of_curves_and_pairs_and_their_effects(flats):
    said = fit(flats, "rent", "linear", "curves=auto", "pairs=size*district").output
    assert (
        "column           kind      found\n"
        "size             curve     10 cells\n"
        "rooms            curve     5 cells\n"
        "district         category  2 features\n"
        "size × district  pair      "
    ) in said
    assert "\neffect " in said
    assert "\nfeature " not in said
    assert "size ≤" not in said


def test_diff_compares_regressions(flats):
    fit(flats, "rent", "linear")
    assert flats("diff", "m.weigh", "m.weigh").output == "The models are the same, byte for byte.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("auto", "auto"), ("none", None), ("3", 3), ("size*rooms|rooms*rent", "size*rooms|rooms*rent")],
)
def test_pairs_are_read_from_text(text, expected):
    assert read_settings([f"pairs={text}"], "linear") == {"pairs": expected}


@pytest.mark.parametrize(("text", "bins"), [("auto", "auto"), ("8", 8), ("1|2|3", (1, 2, 3))])
def test_the_bins_of_curves_are_read_from_text(text, bins):
    assert read_kinds([f"size=curve:bins={text}"]) == {"size": weigh.Curve(bins=bins)}
