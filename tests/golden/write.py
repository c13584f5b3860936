"""Write the golden files: models, a mail store per learner and a speller, with their predictions.

Run once per file format, with the release whose files must stay readable, into an empty folder:

    python -m tests.golden.write FOLDER

`--messy` writes only models of a messy table: they have what files of version 2 added. `--weighted` writes
only models of weighted texts, which version 2 added too.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import weigh
from weigh.apps.mail.store import MailStore

SKY = ["sun", "sun", "cloud", "rain", "rain", "rain", "cloud", "sun", "sun", "rain", "sun", "cloud"]
WARM = [29.5, 27.0, 28.25, 21.0, 14.5, 13.0, 12.75, 22.0, 15.5, 20.0, 19.25, 23.5]
DAMP = [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90]
WINDY = [False, True, False, False, False, True, True, False, False, False, True, True]
NOTE = [
    "hot and dry all day",
    "hot with strong wind",
    "warm and cloudy, a fine day",
    "rain in the morning, mild",
    "cool rain, a fine evening",
    "cold rain and strong wind",
    "cool and cloudy with wind",
    "mild but very damp",
    "cool, dry, a fine day",
    "mild rain, a fine evening",
    "mild and dry with wind",
    "warm and cloudy with wind",
]
PLAY = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes"]
PLACE = ["park", "home", "hall", "park", "hall", "home", "park", "home", "park", "hall", "park", "hall"]
HOURS = [1.5, 0.25, 3.0, 2.5, 3.5, 0.5, 2.75, 0.75, 4.0, 3.25, 2.0, 3.75]
TABLE = {"sky": SKY, "warm": WARM, "damp": DAMP, "windy": WINDY, "note": NOTE}
NUMBERS = {"warm": WARM, "damp": [float(value) for value in DAMP]}
ROWS: list[dict[str, Any]] = [
    {"sky": "sun", "warm": 24.0, "damp": 70, "windy": True, "note": "a fine dry day"},
    {"sky": "snow", "warm": 2.0, "damp": 99, "windy": False, "note": "snow and strong wind"},
    {"sky": "rain", "warm": None, "damp": 80, "windy": None, "note": ""},
]
MAILS = {
    "ham": [f"Subject: lunch {n}\n\nSee you at noon, bring the {n} papers".encode() for n in range(12)],
    "spam": [f"Subject: offer {n}\n\nCheap pills number {n}, buy today".encode() for n in range(12)],
}
LETTERS = [
    b"Subject: lunch again\n\nSee you there with the papers",
    b"Subject: news\n\nCheap pills for all, buy",
    b"Subject: nothing in common\n\nxyzzy",
]
PROSE = (
    "I do not know whether it will rain. The weather is fine today. Nobody knew whether to stay. "
    "They asked whether he had come. The weather was cold and wet. We talked about the weather again. "
    "Their house is there. There is a dog in their garden. There was no time, and their train was late. "
)
CHECKED = "I do not know weather to stay. There house is cold, and the whether is fine."


def learners() -> dict[str, Any]:
    """Return the fitted estimators by the name of their file."""
    kinds = {"sky": "category", "warm": "number", "damp": "number", "windy": "flag", "note": "text"}
    table = {**TABLE, "play": PLAY}
    codes = {"sky": SKY, "windy": WINDY, "play": PLAY}
    hashed = {"note": weigh.Text(ngrams=(1, 2), buckets=64)}
    fitted = {
        "naive_bayes": weigh.NaiveBayes(columns=kinds).fit(table, "play"),
        "naive_bayes_hashed": weigh.NaiveBayes(columns=hashed).fit({"note": NOTE, "play": PLAY}, "play"),
        "naive_bayes_flags": weigh.NaiveBayes(columns=weigh.Text(counts=False)).fit(NOTE, PLACE),
        "naive_bayes_complement": weigh.NaiveBayes(complement=True).fit(NOTE, PLACE),
        "naive_bayes_classes": weigh.NaiveBayes(columns=kinds).fit({**TABLE, "place": PLACE}, "place"),
        "joint": weigh.JointBayes().fit(codes, "play"),
        "threshold": weigh.Threshold().fit({**NUMBERS, "play": PLAY}, "play"),
        "logistic": weigh.LogisticRegression(columns=kinds).fit(table, "play"),
        "logistic_classes": weigh.LogisticRegression().fit({**NUMBERS, "place": PLACE}, "place"),
        "logistic_online": weigh.LogisticRegression(method="online").fit(NOTE, PLAY),
        "linear": weigh.LinearRegression().fit({**NUMBERS, "hours": HOURS}, "hours"),
        "lasso": weigh.LinearRegression(prior=weigh.Penalty(l1=1.0)).fit(
            {**NUMBERS, "hours": HOURS}, "hours"
        ),
        "ridge": weigh.LinearRegression(prior=weigh.Penalty(l2=1.0)).fit(
            {**NUMBERS, "hours": HOURS}, "hours"
        ),
        "least_absolute": weigh.LinearRegression(noise="laplace").fit({**NUMBERS, "hours": HOURS}, "hours"),
    }
    for keep in ("averaged", "last", "voted", "lazy"):
        fitted[f"perceptron_{keep}"] = weigh.Perceptron(keep=keep).fit({**NUMBERS, "play": PLAY}, "play")
    return fitted


def models() -> dict[str, Any]:
    """Return the models by the name of their file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = {name: learner.model_ for name, learner in learners().items()}
        table = {**TABLE, "play": PLAY}
        fitted["calibrated"] = weigh.calibrate(fitted["naive_bayes"], table, "play", method="temperature")
    return fitted


def answers(model: Any) -> dict[str, Any]:
    """Return a model's predictions on the rows, and its scores if it has classes."""
    names = model.schema.names
    rows: Any = [{name: row[name] for name in names} for row in ROWS] if set(names) <= set(TABLE) else None
    if rows is None:  # fitted on a list of texts
        rows = [row["note"] for row in ROWS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = {"predict": [_plain(value) for value in model.predict(rows)]}
        if hasattr(model, "classes"):
            result["scores"] = [
                [_plain(value) for value in row] for row in model.scores(rows).reshape(len(ROWS), -1)
            ]
    return result


def _plain(value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    return plain.hex() if isinstance(plain, float) else plain


def folded_digest(folder: Path) -> str:
    """Return the digest of a store's ledger after folding the journal into it, in a copy."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(shutil.copytree(folder, Path(temporary) / "store"))
        MailStore.open(copy).fold()
        return hashlib.sha256((copy / "ledger").read_bytes()).hexdigest()


def write(folder: Path) -> None:
    """Write all golden files and `answers.json` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    recorded: dict[str, Any] = {"models": {}, "mail": {}, "ledgers": {}}
    for name, model in models().items():
        model.save(folder / f"{name}.weigh")
        recorded["models"][name] = answers(model)
    for learner in ("naive-bayes", "logistic", "perceptron"):
        store = MailStore.open(folder / f"mail-{learner}", create=True, learner=learner)
        for label, contents in MAILS.items():
            store.learn(contents, label)
        store.unlearn(MAILS["spam"][:2])
        store.fold()
        store.learn(MAILS["spam"][:1], "spam")
        recorded["mail"][learner] = [verdict.to_dict() for verdict in store.judge(LETTERS)]
        recorded["ledgers"][learner] = folded_digest(folder / f"mail-{learner}")
    text = folder / "prose.txt"
    text.write_text(PROSE * 160)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        speller = weigh.Speller.learn([text], sets=[("weather", "whether"), ("their", "there")], alarms=50)
    text.unlink()
    speller.save(folder / "speller.weigh")
    recorded["speller"] = [each.to_dict() for each in speller.check(CHECKED, threshold=0.5)]
    (folder / "answers.json").write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


MESSY_ROWS = [
    {"Tag": "06.01.2024", "Preis": "1.250,50 €", "Größe": "12,5", "Kunde": "ja", "Land": "Italien"},
    {"Tag": "2024-02-05", "Preis": 80, "Größe": None, "Kunde": "nein", "Land": None},
    {"Tag": None, "Preis": "unbekannt", "Größe": "3,25", "Kunde": "ja", "Land": "Österreich"},
]


def messy_table() -> bytes:
    """Return a table with dates, money, decimal commas, flags, identifiers, a constant and an odd cell."""
    lines = ["Tag;Preis;Größe;Kunde;Nr;Land;kauft"]
    for k in range(120):
        day = dt.date(2023, 1, 2) + dt.timedelta(5 * k)
        buys = (day.weekday() >= 5) != (k % 11 == 0)
        amount = f"{1000 * buys + 7 * k:,}".replace(",", ".")
        price = "unbekannt" if k == 60 else f"{amount},50 €"
        lines.append(
            f"{day:%d.%m.%Y};{price};{k % 17 + 10 * buys},{k % 10};{('nein', 'ja')[k % 3 > 0]};"
            f"K-{1000 + k};Österreich;{('nein', 'ja')[buys]}"
        )
    return "\n".join(lines).encode("cp1252")


def write_messy(folder: Path) -> None:
    """Write models of a messy table, and their predictions, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    learners = {
        "naive_bayes": weigh.NaiveBayes(number=weigh.Number(shape="normal")),
        "naive_bayes_shapes": weigh.NaiveBayes(
            columns={"Preis": weigh.Number(shape="log-normal"), "Größe": weigh.Number(shape="histogram")}
        ),
        "logistic": weigh.LogisticRegression(),
        "perceptron": weigh.Perceptron(),
    }
    recorded = {}
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(temporary) / "messy.csv"
        path.write_bytes(messy_table())
        for name, learner in learners.items():
            model = learner.fit(weigh.open(path, "kauft")).model_
            model.save(folder / f"{name}.weigh")
            recorded[name] = messy_answers(model)
    (folder / "answers.json").write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


def messy_answers(model: Any) -> dict[str, Any]:
    """Return a model's predictions and scores on messy rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = model.scores(MESSY_ROWS).reshape(len(MESSY_ROWS), -1)
        return {
            "predict": [_plain(value) for value in model.predict(MESSY_ROWS)],
            "scores": [[_plain(value) for value in row] for row in scores],
        }


def write_weighted(folder: Path) -> None:
    """Write models of weighted texts, and their predictions, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = weigh.Text(weighting="log-tfidf", norm="l2")
    hashed = weigh.Tokens(weighting="tfidf", norm="l1", buckets=64)
    bayes = weigh.NaiveBayes(columns=kind).fit(NOTE, PLACE).model_
    fitted = {
        "naive_bayes": bayes,
        "naive_bayes_linear": bayes.linear(),
        "naive_bayes_hashed": weigh.NaiveBayes(columns=hashed).fit(_tokens(NOTE), PLAY).model_,
        "logistic": weigh.LogisticRegression(columns=kind).fit(NOTE, PLACE).model_,
        "perceptron_hashed": weigh.Perceptron(columns=hashed).fit(_tokens(NOTE), PLAY).model_,
    }
    recorded = {}
    for name, model in fitted.items():
        model.save(folder / f"{name}.weigh")
        recorded[name] = weighted_answers(model)
    (folder / "answers.json").write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


def _tokens(texts: list[str]) -> dict[str, list[list[str]]]:
    return {"note": [text.split() for text in texts]}


def weighted_answers(model: Any) -> dict[str, Any]:
    """Return a model's predictions and scores on texts or lists of tokens."""
    texts = [row["note"] for row in ROWS]
    rows: Any = _tokens(texts) if isinstance(model.schema.kinds[0], weigh.Tokens) else texts
    return {
        "predict": [_plain(value) for value in model.predict(rows)],
        "scores": [[_plain(value) for value in row] for row in model.scores(rows).reshape(len(ROWS), -1)],
    }


if __name__ == "__main__":
    selected = {"--messy": write_messy, "--weighted": write_weighted}
    write_files = next((selected[option] for option in sys.argv if option in selected), write)
    write_files(Path(sys.argv[1]))
