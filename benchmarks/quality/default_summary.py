"""Statistics and tables of the rows `defaults`.

A difference is the loss of a default minus that of its rival: positive where the default is worse. Its
interval on one table is that of the corrected resampled t-test (Nadeau and Bengio 2003, Machine Learning 52):
training parts of different splits overlap, so the variance of the mean over J splits is that of the
differences times 1/J + n_test/n_train. The interval of the mean over tables is by bootstrap of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.results import format_markdown_table

Record = dict[str, Any]  # of one table, as in the JSON file
Losses = Mapping[str, Sequence[float]]
NamedLosses = tuple[str, Sequence[float]]
Rival = Callable[[Record, str], NamedLosses | None]

ERRORS, LOG_LOSS, SQUARED_ERRORS = "error rate", "log loss", "squared error ÷ variance"
ORACLE, CHOSEN = "best manual setting (oracle)", "manual setting chosen on the training part"
TEST_SHARE = 1 / 4  # test rows ÷ training rows of five folds
N_CALIBRATION_BINS = 10
N_BOOTSTRAP = 2_000
MAX_TABLES_LISTED = 25
TEMPERATURES = np.geomspace(0.05, 50.0, 200)


@dataclass(frozen=True)
class Difference:
    """Mean difference on one table, and half the width of its 95 % interval."""

    table: str
    mean: float
    margin: float
    rival: str = ""

    @property
    def is_worse(self) -> bool:
        return self.mean > self.margin and self.mean > 1e-12

    @property
    def is_better(self) -> bool:
        return self.mean < -self.margin and self.mean < -1e-12


def compare_splits(table: str, losses: Sequence[float], rival: Sequence[float], name: str = "") -> Difference:
    """Return the difference of two contenders on the same splits."""
    from scipy.stats import t

    difference = np.subtract(losses, rival)
    n = len(difference)
    variance = difference.var(ddof=1) * (1 / n + TEST_SHARE)
    return Difference(table, float(difference.mean()), float(t.ppf(0.975, n - 1) * np.sqrt(variance)), name)


def expected_calibration_error(P: npt.NDArray[np.float64], codes: npt.NDArray[np.int64]) -> float:
    """Return the mean gap between confidence and accuracy in bins of equally many predictions."""
    confidence, hits = P.max(axis=1), P.argmax(axis=1) == codes
    order = np.argsort(confidence, kind="stable")
    bins = np.array_split(order, N_CALIBRATION_BINS)
    gaps = [len(b) * abs(float(confidence[b].mean() - hits[b].mean())) for b in bins if len(b)]
    return sum(gaps) / len(codes)


def fit_temperature(P: npt.NDArray[np.float64], codes: npt.NDArray[np.int64]) -> float:
    """Return the temperature with the least log loss; above 1 the predictions are overconfident."""
    logits = np.log(np.maximum(P, 1e-300))

    def log_loss(temperature: float) -> float:
        scores = logits / temperature
        return float(np.mean(np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(codes)), codes]))

    return float(min(TEMPERATURES, key=log_loss))


def format_report(records: Sequence[Record]) -> str:
    """Return the summary, the ranks and the list of tables on which a default loses."""
    rows, lists = [], []
    for default, loss, rival, differences in find_differences(records):
        rows.append([default, loss, rival, *summarise(differences, loss)])
        worse = sorted((d for d in differences if d.is_worse), key=lambda d: -d.mean)
        if worse:
            lists.append(f"- {default}, {loss}, worse than {rival}: {_list_tables(worse, loss)}.")
    head = ["default", "loss", "rival", "tables", "mean (95 %)", "median", "worst", "worse", "better"]
    parts = [
        format_markdown_table(head, rows),
        "Loss of the default minus that of its rival, error rates in points. `worse` and `better` count the "
        "tables beyond the 95 % interval of the corrected resampled t-test.",
        format_ranks(records),
        "Tables on which a default is worse beyond the interval, with the mean difference:",
        "\n".join(lists) or "None.",
    ]
    failures = [f"{r['table']}: {name}: {text}" for r in records for name, text in r["failures"].items()]
    if failures:
        parts.append("Failed: " + "; ".join(failures[:MAX_TABLES_LISTED]) + ".")
    return "\n\n".join(parts)


def find_differences(records: Sequence[Record]) -> Iterator[tuple[str, str, str, list[Difference]]]:
    """Yield default, loss, rival and the differences by table."""
    contenders = {name: fields for record in records for name, fields in record["contenders"].items()}
    for default, fields in contenders.items():
        if fields["role"] != "default":
            continue
        learner = fields["learner"]
        peers = [n for n, c in contenders.items() if c["role"] == "peer" and c["learner"] == learner]
        rivals: dict[str, Rival] = {
            ORACLE: partial(_best_setting, learner),
            CHOSEN: partial(_chosen_setting, learner),
            **{peer: partial(_find_losses, peer) for peer in peers},
        }
        for loss in fields["losses"]:
            for rival, find in rivals.items():
                differences = [
                    compare_splits(record["table"], ours[1], theirs[1], theirs[0])
                    for record in records
                    if (ours := _find_losses(default, record, loss)) and (theirs := find(record, loss))
                ]
                if differences:
                    yield default, loss, rival, differences


def _find_losses(name: str, record: Record, loss: str) -> NamedLosses | None:
    losses = record["contenders"].get(name, {}).get("losses", {}).get(loss)
    return (name, losses) if losses else None


def _best_setting(learner: str, record: Record, loss: str) -> NamedLosses | None:
    settings = [
        (name, fields["losses"][loss])
        for name, fields in record["contenders"].items()
        if fields["role"] == "setting" and fields["learner"] == learner
    ]
    return min(settings, key=lambda setting: float(np.mean(setting[1])), default=None)


def _chosen_setting(learner: str, record: Record, loss: str) -> NamedLosses | None:
    chosen = record["chosen"].get(learner, {}).get(loss)
    if not chosen:
        return None
    return max(set(chosen["names"]), key=chosen["names"].count), chosen["losses"]


def summarise(differences: Sequence[Difference], loss: str) -> list[str]:
    """Return number of tables, mean with interval, median, worst, and how many are worse and better."""
    means = np.array([d.mean for d in differences])
    rng = np.random.default_rng(0)
    resampled = means[rng.integers(len(means), size=(N_BOOTSTRAP, len(means)))].mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    worst = max(differences, key=lambda d: d.mean)
    mean = f"{_format(float(means.mean()), loss)} ({_format(low, loss)} to {_format(high, loss)})"
    worst_text = f"{_format(worst.mean, loss)} ({worst.table})"
    counts = [sum(d.is_worse for d in differences), sum(d.is_better for d in differences)]
    return [str(len(means)), mean, _format(float(np.median(means)), loss), worst_text, *map(str, counts)]


def _format(value: float, loss: str) -> str:
    return f"{100 * value:+.2f}" if loss == ERRORS else f"{value:+.4f}"


def _list_tables(differences: Sequence[Difference], loss: str) -> str:
    texts = [
        f"{d.table} ({_format(d.mean, loss)}{'; ' + d.rival.split(': ')[1] if ': ' in d.rival else ''})"
        for d in differences[:MAX_TABLES_LISTED]
    ]
    more = len(differences) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def format_ranks(records: Sequence[Record]) -> str:
    """Return mean losses, mean ranks, calibration and times of the defaults and the peers."""
    contenders = {
        name: fields
        for record in records
        for name, fields in record["contenders"].items()
        if fields["role"] != "setting"
    }
    losses = list(dict.fromkeys(loss for fields in contenders.values() for loss in fields["losses"]))
    cells: dict[str, list[str]] = {name: [] for name in contenders}
    for loss in losses:
        ranks = _rank(
            records, [name for name, fields in contenders.items() if loss in fields["losses"]], loss
        )
        for name, cell in cells.items():
            cell += ranks.get(name, ["", "", ""])
    for name, cell in cells.items():
        cell += _describe_calibration([r["contenders"][name] for r in records if name in r["contenders"]])
    head = ["", *(f"{text} {loss}" for loss in losses for text in ("mean", "median", "mean rank by"))]
    rows = [[name, *cell] for name, cell in cells.items()]
    return format_markdown_table([*head, "calibration error", "median temperature", "ms per split"], rows)


def _rank(records: Sequence[Record], names: Sequence[str], loss: str) -> dict[str, list[str]]:
    """Return mean and median loss and the mean rank, over the tables on which nobody failed."""
    from scipy.stats import rankdata

    means = [
        [np.mean(record["contenders"][name]["losses"][loss]) for name in names]
        for record in records
        if all(name in record["contenders"] for name in names)
    ]
    if not means:
        return {}
    ranks = rankdata(np.round(means, 12), axis=1).mean(axis=0)
    columns = zip(np.mean(means, axis=0), np.median(means, axis=0), ranks, strict=True)
    return {
        name: [f"{mean:.4f}", f"{median:.4f}", f"{rank:.2f}"]
        for name, (mean, median, rank) in zip(names, columns, strict=True)
    }


def _describe_calibration(results: Sequence[Record]) -> list[str]:
    seconds = f"{1000 * np.mean([result['seconds'] for result in results]):.1f}"
    calibrated = [result for result in results if "temperature" in result]
    if not calibrated:
        return ["", "", seconds]
    error = np.mean([result["calibration error"] for result in calibrated])
    return [f"{error:.4f}", f"{np.median([result['temperature'] for result in calibrated]):.2f}", seconds]


def format_comparison(before: Sequence[Record], after: Sequence[Record]) -> str:
    """Return how the defaults of two runs differ on the tables that both have, with the same rows."""
    earlier = {record["table"]: record for record in before}
    later = [
        record
        for record in after
        if record["table"] in earlier
        and all(record[size] == earlier[record["table"]][size] for size in ("rows", "columns"))
    ]
    defaults = {
        name: list(fields["losses"])
        for record in later
        for name, fields in record["contenders"].items()
        if fields["role"] == "default"
    }
    rows, lists = [], []
    for name, losses in defaults.items():
        for loss in losses:
            differences = [
                compare_splits(record["table"], new[1], old[1])
                for record in later
                if (new := _find_losses(name, record, loss))
                and (old := _find_losses(name, earlier[record["table"]], loss))
            ]
            if differences:
                rows.append([name, loss, *summarise(differences, loss)])
                lists += _list_changes(f"{name}, {loss}", differences, loss)
    head = ["default", "loss", "tables", "after − before (95 %)", "median", "worst", "worse", "better"]
    return f"{format_markdown_table(head, rows)}\n\n" + "\n".join(lists)


def _list_changes(title: str, differences: Sequence[Difference], loss: str) -> list[str]:
    worse = sorted((d for d in differences if d.is_worse), key=lambda d: -d.mean)
    better = sorted((d for d in differences if d.is_better), key=lambda d: d.mean)
    return [
        f"- {title}, {word} than before: {_list_tables(chosen, loss)}."
        for word, chosen in (("worse", worse), ("better", better))
        if chosen
    ]
