"""Model files with consistent digests and inconsistent contents, as an attacker would write them.

`take_apart` decodes the bytes of a model file, `mutate` changes one or two things in the description or the
arrays, and `reseal` writes the file again with correct digests. A changed file must be refused, or give a
model that works: `use_model` calls everything that a model offers and checks its probabilities.
"""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import weigh
from tests.golden.write import CHECKED, NOTE, PLACE, PLAY, SKY, TABLE, WARM, WINDY, models
from weigh.errors import WeighError
from weigh.model.file import store, tensors

GOLDEN = Path(__file__).parent / "golden" / "0.1.0"
Meta = dict[str, Any]
Arrays = dict[str, Any]
ROWS: list[dict[str, Any]] = [
    {"sky": "sun", "warm": 24.0, "damp": 70, "windy": True, "note": "a fine dry day"},
    {"sky": "snow", "warm": 2.0, "damp": 99, "windy": False, "note": "snow and strong wind"},
    {"sky": "rain", "warm": None, "damp": 80, "windy": None, "note": ""},
]
COUNTS = [[3, 0, 1], [0, 2, 0], [1, 1, 4], [0, 5, 1]]


def take_apart(content: bytes) -> tuple[Meta, Arrays]:
    """Return the description and writable copies of the arrays of a model file."""
    raw = np.frombuffer(content, np.uint8)
    header = tensors.parse_header("", raw)
    arrays = tensors.parse_arrays("", raw, header, check=False)
    meta = tensors.from_canonical_json(header.metadata["content"])
    return meta, {name: array.copy() for name, array in arrays.items()}


def reseal(meta: Meta, arrays: Arrays) -> bytes:
    """Return the bytes of a model file with correct digests."""
    return store.to_bytes(meta, arrays)


def small_models() -> dict[str, bytes]:
    """Return the bytes of small models of every type and kind of column, by name."""
    contents = {name: model.to_bytes() for name, model in models().items()}
    contents["speller"] = reseal(*take_apart((GOLDEN / "speller.weigh").read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return contents | {name: model.to_bytes() for name, model in _further_models()}


def _further_models() -> Iterator[tuple[str, Any]]:
    """Yield models with what the golden files lack: bins, counts, weights, products, maps, stated numbers."""
    table = {**TABLE, "play": PLAY}
    bins = weigh.NaiveBayes(columns={"warm": weigh.Number(bins=(15.0, 25.0)), "damp": "number"})
    yield "bins", bins.fit(table, "play", sample_weight=np.linspace(0.1, 2.0, 12)).model_
    yield "matrix", weigh.NaiveBayes(columns="count").fit(COUNTS, [0, 1, 0, 2]).model_
    flags = weigh.NaiveBayes(columns={"note": weigh.Text(counts=False, buckets=16)})
    hashed = flags.fit({"note": NOTE, "place": PLACE}, "place").model_
    yield "hashed_flags", hashed
    chances = {"Horse": (11.5, 1.0), "Dog": (5, 1.0)}
    fur = {"Horse": {"red": 0.5, "grey": 0.5}, "Dog": {"red": 0.1, "grey": 0.9}}
    yield (
        "stated",
        weigh.BayesModel.from_parameters(
            class_prior={"Horse": 0.05, "Dog": 0.95}, columns={"speed": chances, "fur": fur}
        ),
    )
    priors = {"sky": weigh.Dirichlet(2.0), "windy": weigh.Beta(2.0, 3.0)}
    yield (
        "priors",
        weigh.NaiveBayes(prior=priors, class_prior="uniform", columns={"windy": "flag"})
        .fit({"sky": SKY, "windy": WINDY, "play": PLAY}, "play")
        .model_,
    )
    lag = {"before": weigh.Lag("warm", 2), "hot": weigh.Derived(lambda rows: rows["warm"] > 20, "flag")}
    yield "made", weigh.NaiveBayes(columns=lag).fit({"warm": WARM, "play": PLAY}, "play").model_
    naive_bayes = weigh.NaiveBayes(columns={"windy": "flag", "note": "text"}).fit(table, "play").model_
    shared = {
        "warm": weigh.Number(spread="shared"),
        "sky": "category",
        "windy": "flag",
        "note": "text",
        "damp": "category",
    }
    yield "product_form", weigh.NaiveBayes(columns=shared).fit(table, "play").model_.linear()
    yield "platt", weigh.calibrate(naive_bayes, table, "play", method="platt")
    places = weigh.Perceptron(record=True).fit({"note": NOTE, "place": PLACE}, "place").model_
    yield "isotonic", weigh.calibrate(places, {"note": NOTE, "place": PLACE}, "place", method="isotonic")
    text = {"note": weigh.Text(buckets=32), "sky": weigh.Category(against="sun"), "warm": "number"}
    rows = {"note": NOTE, "sky": SKY, "warm": WARM, "play": PLAY}
    yield "words", weigh.LogisticRegression(columns=text).fit(rows, "play").model_
    weighted = weigh.NaiveBayes(columns=weigh.Text(weighting="log-tfidf", norm="l2"))
    yield "weighted_words", weighted.fit(NOTE, PLACE).model_
    yield "weighted_product_form", weighted.fit(NOTE, PLACE).model_.linear()
    shares = weigh.NaiveBayes(columns=weigh.Text(weighting="tfidf", norm="l1", buckets=16))
    yield "weighted_buckets", shares.fit(NOTE, PLAY, sample_weight=np.linspace(0.1, 2.0, 12)).model_
    tfidf = weigh.LogisticRegression(columns=weigh.Text(weighting="tfidf", norm="l2", buckets=32))
    yield "tfidf", tfidf.fit(NOTE, PLAY).model_
    products = weigh.LinearRegression(columns=weigh.Products(2), prior=weigh.Normal(1.0))
    yield "products", products.fit({"warm": WARM, "damp": TABLE["damp"], "hours": WARM}, "hours").model_


# ---------------------------------------------------------------------------------------------- mutations

VALUES: list[Callable[[Any], Any]] = [
    *(partial(lambda new, old: copy.deepcopy(new), new) for new in (
        None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e308, -1e308, 5e-324, 10**18, -(10**18), 2**70, "", "x",
        "sun", "1/3", "1e999", [], {}, [0], [[]], {"x": 1}, ["a", "a"], {"int": "zz"}, {"float": "nan"},
        {"float": "inf"}, {"int": "0x1"}, {"text": "61"},
    )),
    lambda old: [old], lambda old: {"kind": old}, lambda old: str(old),
    lambda old: -old if isinstance(old, int | float) else old,
    lambda old: old * 2 if isinstance(old, int | float | str | list) else old,
    lambda old: old + 1 if isinstance(old, int | float) else old,
    lambda old: not old,
    lambda old: float(old) if isinstance(old, int) and abs(old) < 2**60 else old,
    lambda old: old[::-1] if isinstance(old, str | list) else old,
]  # fmt: skip
NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1, 2, 3, 1e308, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63), 0.5, 255]
DTYPES = ["?", "i1", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def mutate(meta: Meta, arrays: Arrays, rng: random.Random) -> str:
    """Change one or two things in place; return what was done."""
    done = [_mutate_array(arrays, rng) if rng.random() < 0.5 else _mutate_meta(meta, rng)]
    if rng.random() < 0.2:
        done.append(_mutate_meta(meta, rng) if rng.random() < 0.5 else _mutate_array(arrays, rng))
    return "; ".join(done)


def _mutate_meta(meta: Meta, rng: random.Random) -> str:
    """Change, remove, add, duplicate or swap an entry at any depth of the description."""
    places = list(_entries(meta, "meta"))
    owner, key, where = rng.choice(places)
    action = rng.choice(["set", "set", "set", "set", "remove", "add", "swap", "copy"])
    if action == "set":
        owner[key] = rng.choice(VALUES)(owner[key])
    elif action == "remove":
        del owner[key]
    elif action == "add":
        if isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[key]))
        else:
            owner[rng.choice(["x", "kind", "columns", "unicode", "of", "shares", f"{key}x"])] = owner[key]
    else:
        other, other_key, elsewhere = rng.choice(places)
        first, second = copy.deepcopy(owner[key]), copy.deepcopy(other[other_key])
        owner[key] = second
        if action == "swap":
            with suppress(LookupError):  # the first place may have been inside the second
                other[other_key] = first
        where += f" and {elsewhere}"
    return f"{action} {where}"


def _entries(value: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key, f"{where}[{key!r}]"
        yield from _entries(inner, f"{where}[{key!r}]")


def _mutate_array(arrays: Arrays, rng: random.Random) -> str:
    """Change numbers, type or shape of an array; remove, rename, swap or copy it."""
    if not arrays:
        return "no array"
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    other = rng.choice(sorted(arrays))
    change = rng.choice([*ARRAY_CHANGES, "value", "value", "value"])
    if change == "value":
        number = rng.choice(NUMBERS)
        if array.size:
            with np.errstate(all="ignore"), suppress(OverflowError, ValueError):
                array.reshape(-1)[rng.randrange(array.size)] = number
        return f"{name}: a value {number}"
    ARRAY_CHANGES[change](arrays, name, other, rng)
    return f"{name}: {change} {other}"


def _all_values(arrays: Arrays, name: str, other: str, rng: random.Random) -> None:
    with np.errstate(all="ignore"), suppress(OverflowError, ValueError):
        arrays[name] = np.full_like(arrays[name], rng.choice(NUMBERS))


def _dtype(arrays: Arrays, name: str, other: str, rng: random.Random) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arrays[name] = arrays[name].astype(rng.choice(DTYPES))


def _swap(arrays: Arrays, name: str, other: str, rng: random.Random) -> None:
    arrays[name], arrays[other] = arrays[other], arrays[name]


def _set(change: Callable[[Any], Any]) -> Callable[[Arrays, str, str, random.Random], None]:
    def apply(arrays: Arrays, name: str, other: str, rng: random.Random) -> None:
        arrays[name] = change(arrays[name])

    return apply


ARRAY_CHANGES: dict[str, Callable[[Arrays, str, str, random.Random], Any]] = {
    "all values": _all_values,
    "dtype": _dtype,
    "swap with": _swap,
    "remove": lambda arrays, name, other, rng: arrays.pop(name),
    "rename": lambda arrays, name, other, rng: arrays.update({name + "x": arrays.pop(name)}),
    "copy of": lambda arrays, name, other, rng: arrays.update({name: arrays[other].copy()}),
    "shorter": _set(lambda array: array[:-1] if array.ndim else array),
    "longer": _set(lambda array: np.concatenate([array, array[-1:]]) if array.ndim else array),
    "narrower": _set(lambda array: array[..., :-1] if array.ndim else array),
    "wider": _set(lambda array: np.repeat(array, 2, axis=-1) if array.ndim else array),
    "flat": _set(lambda array: array.reshape(-1)),
    "transposed": _set(lambda array: array.T),
    "nested": _set(lambda array: array[None]),
    "reversed": _set(lambda array: array[::-1] if array.ndim else array),
    "empty": _set(lambda array: array[:0] if array.ndim else array),
    "scalar": _set(lambda array: array.reshape(-1)[:1].reshape(()) if array.size else array),
}


# ------------------------------------------------------------------------------------------- use of a model


def use_file(path: Path) -> str:
    """Load a model file and use the model; return how it ended: "refused", "used" or "used in part".

    Any exception but a `WeighError` propagates, and probabilities that are none raise an AssertionError.
    """
    try:
        model = weigh.load(path)
    except WeighError as error:
        if "contains a speller" in str(error):
            return _use_speller(path)
        return "refused"
    return use_model(model)


def _use_speller(path: Path) -> str:
    try:
        speller = weigh.Speller.load(path)
    except WeighError:
        return "refused"
    return _attempt(
        lambda: [str(each) + str(each.to_dict()) for each in speller.check(CHECKED, threshold=0.5)],
        lambda: (str(speller), repr(speller), speller.to_dict() if hasattr(speller, "to_dict") else None),
        lambda: speller.save(path.with_suffix(".again")),
    )


def use_model(model: Any) -> str:
    """Call everything that a model offers; return "used", or "used in part" if anything was refused."""
    rows = _rows_for(model)
    labelled = _labelled_rows(model, rows)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _attempt(
            lambda: model.predict(rows),
            lambda: _check_probabilities(model.predict_proba(rows)),
            lambda: np.asarray(model.scores(rows)),
            lambda: [_show_evidence(evidence) for evidence in model.explain(rows)],
            lambda: (str(model), repr(model), model._repr_html_()),
            lambda: model.to_bytes(),
            lambda: (model.merge(model).predict(rows), model.merge(model).to_bytes()),
            lambda: (model.learn(*labelled).predict(rows), model.learn(*labelled).to_bytes()),
            lambda: model.learn(*labelled).forget(*labelled).to_bytes(),
            lambda: model.left_out_scores(*labelled),
            lambda: model.sample(5),
            lambda: _check_probabilities(model.predictive_proba(rows)),
            lambda: model.linear().predict(rows),
            lambda: (model.coef, model.intercept, model.features, model.coefficients()),
            lambda: (str(model.summary()), model.summary().to_dict(), model.summary()._repr_html_()),
            lambda: (str(model.certificate), model.certificate.to_dict(), model.certificate._repr_html_()),
            lambda: [str(posterior) for posterior in _posteriors(model)],
            lambda: model.predict(rows, return_std=True),
            lambda: [model.keep(how).predict(rows) for how in ("last", "averaged", "lazy", "voted")],
            lambda: (model.n_parameters, model.levels, model.with_prior(prior=2.0).predict(rows)),
            lambda: str(weigh.diff(model, model)),
            lambda: str(model.to_table()),
            lambda: model.predict(rows, weigh.Decision(class_prior="uniform")),
        )


def _attempt(*actions: Callable[[], object]) -> str:
    """Run all actions; those that a model does not offer are left out."""
    outcome = "used"
    for action in actions:
        try:
            action()
        except WeighError:
            outcome = "used in part"
        except (AttributeError, TypeError) as error:
            if not _is_missing_method(error):
                raise
    return outcome


def _is_missing_method(error: Exception) -> bool:
    """Whether the model has no such method, rather than failing in it."""
    return error.__traceback__ is not None and _last_file(error) == __file__


def _last_file(error: BaseException) -> str:
    traceback = error.__traceback__
    assert traceback is not None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename


def _check_probabilities(p: Any) -> None:
    assert np.isfinite(p).all(), f"probabilities {p}"
    assert ((p >= 0) & (p <= 1)).all(), f"probabilities {p}"
    assert np.allclose(p.sum(axis=1), 1.0, atol=1e-9), f"probabilities {p} sum to {p.sum(axis=1)}"


def _show_evidence(evidence: Any) -> None:
    str(evidence), evidence.to_dict(), evidence._repr_html_()
    with suppress(weigh.errors.Unsupported):
        evidence.worked(), evidence.worked(format="latex")


def _posteriors(model: Any) -> Iterator[Any]:
    if callable(model.posterior):
        for name in model.schema.names:
            with suppress(WeighError):
                yield model.posterior(name, model.classes[0])
    else:
        yield model.posterior


def _rows_for(model: Any) -> Any:
    """Return rows with the columns that the model names, as far as they are known."""
    names = list(model.schema.names[:20])
    if not model.schema.named:
        return [row["note"] for row in ROWS] if len(model.schema.names) == 1 else COUNTS
    if set(names) <= set(TABLE):
        return [{name: row[name] for name in names} for row in ROWS]
    return [{name: {"speed": 9.0, "fur": "red"}.get(name, row.get(name)) for name in names} for row in ROWS]


def _labelled_rows(model: Any, rows: Any) -> tuple[Any, Any]:
    return rows, list(getattr(model, "classes", [0.5]) * len(rows))[: len(rows)]
