"""Measure the false alarms and the detections of `unfamiliar`.

False alarms are flagged rows of a held-out part of the same set. Detections are flagged rows of the same part
after a change: numbers moved by three standard deviations, categories replaced by unseen ones in one column,
or all columns permuted independently; for texts, the texts of the other sets. The constants were chosen on
the tuning half.

`python -m benchmarks.quality.unfamiliar_rows` prints the tables.
"""

from __future__ import annotations

import re
import tarfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.job import DATA
from benchmarks.quality.public_tables import Half, Table, read_tables
from benchmarks.results import format_markdown_table

HALVES: tuple[Half, Half] = ("tuning", "held-out")
N_TABLES = 60
N_TEXTS, N_TEST_TEXTS = 1_500, 300
TUNING_TEXTS = ("SMS", "news: talk", "news: comp", "mail: ham", "novels: paragraphs")
SIZES = (200, 1_000)  # rows of the synthetic tables; half of them are held out
KINDS = ("normal", "log-normal", "Cauchy", "zero-inflated", "rare levels", "few rows, many columns")


def synthetic_table(kind: str, n: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return a table with a known distribution, and labels that depend on the first column."""
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    shape = (n, 40 if kind == "few rows, many columns" else 6)
    z = rng.normal(size=shape)
    makers: dict[str, Callable[[], Any]] = {
        "normal": lambda: z,
        "log-normal": lambda: np.exp(2 * z),
        "Cauchy": lambda: rng.standard_cauchy(shape),
        "zero-inflated": lambda: np.where(rng.random(shape) < 0.7, 0.0, np.exp(z)),
        "rare levels": lambda: np.char.add("v", rng.zipf(1.6, shape).clip(max=10_000).astype(str)),
        "few rows, many columns": lambda: np.exp(z),
    }
    frame = pd.DataFrame(makers[kind](), columns=[f"x{j}" for j in range(shape[1])])
    return frame, np.where(z[:, 0] + rng.normal(size=n) > 0, "a", "b")


def find_shares(X: pd.DataFrame, y: Any, seed: int = 0) -> tuple[int, dict[str, float]]:
    """Return the number of training rows, and the flagged shares of held-out rows and of changed ones."""
    import weigh

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train, test = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
    model = weigh.NaiveBayes().fit(X.iloc[train], np.asarray(y)[train])
    rows = {"same": X.iloc[test], **_changes(X.iloc[train], X.iloc[test], rng)}
    found = {name: weigh.unfamiliar(model, frame) for name, frame in rows.items()}
    shares = {name: len(each.rows) / each.n_rows for name, each in found.items()}
    return len(train), shares | {"stated": found["same"].false_alarm_rate}


def _changes(train: pd.DataFrame, test: pd.DataFrame, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Return changed rows: all numbers moved, one category unseen, columns permuted."""
    changes = {"permuted": test.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])}
    numbers = test.select_dtypes("number").columns
    if len(numbers):
        moved = {name: test[name].astype(float) + 3 * train[name].astype(float).std() for name in numbers}
        changes["moved"] = test.assign(**moved)
    strings = test.select_dtypes(exclude="number").columns
    if len(strings):
        changes["unseen"] = test.assign(**{strings[0]: "a value that is not in the table"})
    return changes


def table_records() -> Iterator[tuple[Half, str, int, dict[str, float]]]:
    """Yield half, name, training rows and shares of synthetic and public tables."""
    for kind in KINDS:
        for n in SIZES:
            frame, y = synthetic_table(kind, n)
            half = HALVES[KINDS.index(kind) % 2]
            yield half, f"synthetic/{kind}", *find_shares(frame, y)
    left = dict.fromkeys(HALVES, N_TABLES // 2)
    for table in read_tables("classification"):
        if left[table.half]:
            left[table.half] -= 1
            yield table.half, table.name, *_quiet_shares(table)
        if not any(left.values()):
            return


def _quiet_shares(table: Table) -> tuple[int, dict[str, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return find_shares(table.X, table.y)


def read_texts() -> dict[str, list[str]]:
    """Return sets of texts in a random order: messages, posts, mails, novels."""
    sms = (DATA / "sms_spam.tsv").read_text(encoding="utf-8").splitlines()
    sets: dict[str, list[str]] = {"SMS": [line.split("\t", 1)[1] for line in sms]}
    for name, text in _archive("20news_bydate.tar.xz"):
        topic = name.split("/")[1].split(".")[0]
        if topic in ("comp", "rec", "sci", "talk"):
            sets.setdefault(f"news: {topic}", []).append(text.split("\n\n", 1)[-1])
    for name, text in _archive("spamassassin.tar.xz"):
        label = "ham" if "ham" in name else "spam"
        sets.setdefault(f"mail: {label}", []).append(text.split("\n\n", 1)[-1][:20_000])
    for at, (_, text) in enumerate(sorted(_archive("novels60.tar.xz"))):
        name, end = ("sentences", r"(?<=[.!?])\s+") if at % 2 else ("paragraphs", r"\n\s*\n")
        parts = [part for part in re.split(end, text.replace("\r", "")) if len(part) > 20]
        sets.setdefault(f"novels: {name}", []).extend(parts[:: max(1, len(parts) // 150)])
    rng = np.random.default_rng(0)
    return {
        name: [texts[k] for k in rng.permutation(len(texts))[: N_TEXTS + N_TEST_TEXTS]]
        for name, texts in sets.items()
    }


def _archive(name: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(DATA / name) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read().decode("latin-1")


def text_records(
    sizes: Sequence[int] = (300, N_TEXTS),
) -> Iterator[tuple[Half, str, int, float, float, float]]:
    """Yield half, name, training texts, false alarms, detections and the largest share of detections."""
    import weigh

    sets = read_texts()
    for name, texts in sets.items():
        half: Half = "tuning" if name in TUNING_TEXTS else "held-out"
        for size in sizes:
            labels = ["a", "b"] * (size // 2)
            model = weigh.NaiveBayes(columns={"text": "text"}).fit({"text": texts[:size], "y": labels}, "y")

            def share(rows: list[str], model: Any = model) -> float:
                return len(weigh.unfamiliar(model, {"text": rows}).rows) / len(rows)

            others = [share(rows[:N_TEST_TEXTS]) for other, rows in sets.items() if other != name]
            own = share(texts[-N_TEST_TEXTS:])
            yield half, name, size, own, float(np.mean(others)), max(others)


def report(quick: bool = False) -> str:
    """Return both tables in Markdown; a quick one has fewer sizes of the sets of texts."""
    texts = text_records((300,) if quick else (300, N_TEXTS))
    return f"{_format_tables(list(table_records()))}\n\n{_format_texts(list(texts))}"


def _is_more(n_flagged: int, n_rows: int, rate: float) -> bool:
    """Whether so many false alarms have a probability below 1 %; the rate varies with the training rows."""
    from scipy.stats import betabinom

    allowed = round(rate * (2 * n_rows + 1))
    return bool(betabinom.sf(n_flagged - 1, n_rows, allowed, 2 * n_rows + 1 - allowed) < 0.01)


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f} %"


def _format_tables(records: list[Any]) -> str:
    titles = {
        "same": "false alarms",
        "moved": "numbers + 3 sd",
        "unseen": "unseen level",
        "permuted": "permuted",
    }
    rows = [
        ["half", "tables", "stated", *titles.values(), "most false alarms", "significantly more than stated"]
    ]
    for half in HALVES:
        chosen = [(name, n, shares) for each, name, n, shares in records if each == half]
        means = [float(np.nanmean([s.get(key, np.nan) for _, _, s in chosen])) for key in ("stated", *titles)]
        worst = max(chosen, key=lambda each: each[2]["same"] - each[2]["stated"])
        above = sum(_is_more(round(s["same"] * n / 2), n // 2, s["stated"]) for _, n, s in chosen)
        most = f"{worst[0]}: {_percent(worst[2]['same'])} (stated {_percent(worst[2]['stated'])})"
        rows.append([half, str(len(chosen)), *map(_percent, means), most, str(above)])
    return format_markdown_table(rows[0], rows[1:])


def _format_texts(records: list[Any]) -> str:
    rows = [["half", "texts", "training texts", "false alarms", "detections, mean", "detections, largest"]]
    rows += [[half, name, f"{n:,}", *map(_percent, shares)] for half, name, n, *shares in records]
    return format_markdown_table(rows[0], rows[1:])


if __name__ == "__main__":
    print(report())
