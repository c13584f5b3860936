"""A synthetic corpus of any size, reproducible from a seed, for the text benchmarks.

Half a million made-up words follow Zipf's law. Each class has its own preference for every word except the
hundred most frequent ones, which all classes share. Documents have log-normal lengths of about 1 kB,
capitals, punctuation, and some words with accents or in Cyrillic. The same documents are written as CSV
(`label,text`) and, for programs that only split at blanks, as lines of preprocessed words: lower-cased and
without punctuation, as `CountVectorizer` would tokenise them.

`CLASS_PREFERENCE_SD` was set so that naive Bayes is right about three times in four. Words are drawn
independently given the class, as naive Bayes assumes: accuracy here shows that a fit worked and what hashing
costs, not which learner is better on real texts.

    python -m benchmarks.text_corpus FOLDER --size 300
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CLASSES = 20
WORDS = 500_000
N_SHARED_WORDS = 100  # the most frequent words, equally likely in all classes
CLASS_PREFERENCE_SD = 0.39  # standard deviation of a class's log preference for a word
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
ACCENTED = "éèàöüäñøçåíó"
CYRILLIC = "оеаинтсрвлкмдпуяыбзч"
FOREIGN_SHARE = 0.04  # share of words with an accent or in Cyrillic
CHUNK = 4_096  # documents per chunk
N_HELD_OUT = 30_000
MEDIAN_WORDS, SPREAD = 130, 0.65
FORMATS = ("csv", "vw", "fasttext")
LABELS = tuple(f"class-{k:02d}" for k in range(1, CLASSES + 1))
MARKS = ("{}", "{}", "{},", "{}.", "{}!", "{};")  # the second one is capitalised
MARK_SHARES = (0.80, 0.07, 0.06, 0.05, 0.01, 0.01)

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Documents:
    """Class codes, raw texts and the same texts as preprocessed words, both as Arrow arrays."""

    classes: Codes
    raw: Any
    words: Any

    @property
    def size(self) -> int:
        """Size of the raw texts in bytes."""
        import pyarrow.compute as pc

        return int(pc.sum(pc.binary_length(self.raw)).as_py())

    def truncate(self, size: int) -> Documents:
        """Return the fewest first documents whose raw texts fill `size` bytes."""
        import pyarrow.compute as pc

        sizes = np.cumsum(pc.binary_length(self.raw).to_numpy())
        number = int(np.searchsorted(sizes, size)) + 1
        return Documents(self.classes[:number], self.raw[:number], self.words[:number])


class TextDistribution:
    """A vocabulary and its probabilities in every class, drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._rng = np.random.default_rng([seed, 0])
        self.names = _make_words(self._rng)
        base = -np.log(np.arange(1, WORDS + 1) + 1.5)
        log_preference = CLASS_PREFERENCE_SD * self._rng.standard_normal((CLASSES, WORDS))
        log_preference[:, :N_SHARED_WORDS] = 0.0
        self._cumulative = np.cumsum(np.exp(base + log_preference), axis=1)
        self._class_shares = self._rng.dirichlet(np.full(CLASSES, 1_000.0))

    @cached_property
    def word_forms(self) -> Any:
        """Every word with every punctuation mark; index = word + WORDS · mark."""
        import pyarrow as pa

        forms = [np.strings.capitalize(self.names) if k == 1 else self.names for k in range(len(MARKS))]
        ends = [mark.removeprefix("{}") for mark in MARKS]
        return pa.concat_arrays(
            [pa.array(np.strings.add(form, end)) for form, end in zip(forms, ends, strict=True)]
        )

    def draw_documents(self, number: int, part: int, chunk: int) -> Documents:
        """Draw documents; the same part and chunk give the same documents."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rng = np.random.default_rng([self.seed, 1, part, chunk])
        # Sorted classes allow drawing the words of a class in one call; the documents are shuffled below.
        classes = np.sort(rng.choice(CLASSES, size=number, p=self._class_shares))
        lengths = np.maximum(rng.lognormal(np.log(MEDIAN_WORDS), SPREAD, number).astype(np.int64), 3)
        codes = self._draw_words(rng, classes, lengths)
        marks = rng.choice(len(MARKS), size=len(codes), p=MARK_SHARES)
        offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
        order = rng.permutation(number)

        def join(strings: Any) -> Any:
            lists = pa.ListArray.from_arrays(offsets, strings)
            return pc.binary_join(lists, " ").take(pa.array(order))

        raw = join(self.word_forms.take(pa.array(codes + WORDS * marks)))
        words = join(self.word_forms.take(pa.array(codes)))
        return Documents(classes[order], raw, words)

    def _draw_words(self, rng: np.random.Generator, classes: Codes, lengths: Codes) -> Codes:
        drawn = []
        for k in np.unique(classes):
            row = self._cumulative[k]
            u = rng.random(int(lengths[classes == k].sum())) * row[-1]
            drawn.append(np.minimum(np.searchsorted(row, u, side="right"), WORDS - 1))
        return np.concatenate(drawn)


def _make_words(rng: np.random.Generator) -> npt.NDArray[np.str_]:
    """Return distinct random words; rarer words tend to be longer."""
    n_drawn = WORDS + WORDS // 5
    rank = np.arange(n_drawn)
    lengths = np.clip(rng.poisson(0.6 + 0.36 * np.log1p(rank)) + 2, 2, 14)
    latin, accents, cyrillic_letters = (np.array([ord(c) for c in s]) for s in (LETTERS, ACCENTED, CYRILLIC))
    frequencies = 1.0 / (np.arange(len(latin)) + 4.0)
    letters = latin[rng.choice(len(latin), size=(n_drawn, 14), p=frequencies / frequencies.sum())]
    draw = rng.random(n_drawn)
    draw[:N_SHARED_WORDS] = 1.0
    accented, cyrillic = draw < FOREIGN_SHARE / 2, (draw >= FOREIGN_SHARE / 2) & (draw < FOREIGN_SHARE)
    letters[accented, 1] = rng.choice(accents, size=int(accented.sum()))
    letters[cyrillic] = rng.choice(cyrillic_letters, size=(int(cyrillic.sum()), 14))
    letters[np.arange(14) >= lengths[:, None]] = 0
    names = np.ascontiguousarray(letters.astype(np.uint32)).view("U14").ravel()
    first = np.sort(np.unique(names, return_index=True)[1])[:WORDS]
    if len(first) < WORDS:
        raise SystemExit(f"Only {len(first)} of {WORDS} distinct words were drawn; increase n_drawn.")
    return names[first]


def draw_chunks(distribution: TextDistribution, megabytes: int, part: int = 0) -> Iterator[Documents]:
    """Draw documents in chunks until their raw texts fill `megabytes`."""
    remaining, chunk = megabytes * 1_000_000, 0
    while remaining > 0:
        documents = distribution.draw_documents(CHUNK, part, chunk).truncate(remaining)
        remaining -= documents.size
        chunk += 1
        yield documents


def draw_held_out(distribution: TextDistribution) -> Documents:
    """Draw the held-out documents from the same distribution."""
    return distribution.draw_documents(N_HELD_OUT, 1, 0)


@dataclass(frozen=True)
class CorpusFiles:
    """The files of one set of documents, one per format."""

    csv: Path
    vw: Path
    fasttext: Path

    @classmethod
    def in_folder(cls, folder: Path, name: str) -> CorpusFiles:
        """Return the paths of a set."""
        return cls(folder / f"{name}.csv", folder / f"{name}.vw", folder / f"{name}.ft")

    def missing(self, formats: Sequence[str]) -> dict[str, Path]:
        """Return the paths of the formats that have not been written."""
        paths = {name: Path(getattr(self, name)) for name in formats}
        return {name: path for name, path in paths.items() if not path.exists()}


def write_corpus(paths: Mapping[str, Path], sets: Iterator[Documents]) -> None:
    """Write documents in the given formats, chunk by chunk; files are renamed when complete."""
    drafts = {name: path.with_suffix(path.suffix + ".part") for name, path in paths.items()}
    with ExitStack() as stack:
        files = {name: stack.enter_context(draft.open("wb")) for name, draft in drafts.items()}
        if "csv" in files:
            files["csv"].write(b"label,text\n")
        for documents in sets:
            lines = _format_lines(documents)
            for name, file in files.items():
                file.write(lines[name])
    for name, draft in drafts.items():
        draft.rename(paths[name])


def _format_lines(documents: Documents) -> dict[str, Any]:
    import pyarrow as pa

    codes = pa.array(documents.classes)
    named = pa.array(LABELS).take(codes)
    number = pa.array([str(k + 1) for k in range(CLASSES)]).take(codes)
    return {
        "csv": _join_columns(named, ',"', documents.raw, '"\n'),
        "vw": _join_columns(number, " | ", documents.words, "\n"),
        "fasttext": _join_columns("__label__", named, " ", documents.words, "\n"),
    }


def _join_columns(*columns: Any) -> Any:
    """Concatenate the columns row by row; return the character buffer of the result without a copy."""
    import pyarrow.compute as pc

    pasted = pc.binary_join_element_wise(*columns, "")
    _, offsets, characters = pasted.buffers()
    return memoryview(characters)[: np.frombuffer(offsets, np.int32)[len(pasted)]]


def ensure_corpus(
    folder: Path, megabytes: int, formats: Sequence[str] = FORMATS
) -> tuple[CorpusFiles, CorpusFiles]:
    """Return the files of training and held-out documents, writing those that do not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (
        CorpusFiles.in_folder(folder, f"train-{megabytes}"),
        CorpusFiles.in_folder(folder, "held-out"),
    )
    if train.missing(formats) or test.missing(formats):
        distribution = TextDistribution()
        if missing := train.missing(formats):
            write_corpus(missing, draw_chunks(distribution, megabytes))
        if missing := test.missing(formats):
            write_corpus(missing, iter([draw_held_out(distribution)]))
    return train, test


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_corpus", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write to")
    parser.add_argument("--size", type=int, default=300, help="megabytes of raw text")
    args = parser.parse_args()
    start = time.perf_counter()
    train, _ = ensure_corpus(args.folder, args.size)
    seconds = time.perf_counter() - start
    print(f"{train.csv}: {train.csv.stat().st_size / 1e6:.0f} MB after {seconds:.1f} s")


if __name__ == "__main__":
    main()
