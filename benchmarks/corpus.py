"""A synthetic corpus of any size, reproducible from a seed, for the text benchmarks.

Made-up words follow Zipf's law. Each class has its own preference for every word except the
hundred most frequent ones, which all classes share. Documents have log-normal lengths of about 1 kB,
capitals, punctuation, and some words with accents or in Cyrillic. The same documents are written as CSV
(`label,text`) and, for programs that only split at blanks, as lines of preprocessed words: lower-cased and
without punctuation, as `CountVectorizer` would tokenise them.

`CLASS_PREFERENCE_SD` was set so that naive Bayes is right about three times in four. Words are drawn
independently given the class, as naive Bayes assumes: accuracy here shows that a fit worked and what hashing
costs, not which learner is better on real texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.job import WORK

N_SHARED_WORDS = 100  # the most frequent words, equally likely in all classes
CLASS_PREFERENCE_SD = 0.39  # standard deviation of a class's log preference for a word
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
ACCENTED = "éèàöüäñøçåíó"
CYRILLIC = "оеаинтсрвлкмдпуяыбзч"
FOREIGN_SHARE = 0.04  # share of words with an accent or in Cyrillic
CHUNK = 4_096  # documents per chunk
MEDIAN_WORDS, SPREAD = 130, 0.65
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

    def __init__(self, classes: int, words: int) -> None:
        self.n_classes, self.n_words = classes, words
        rng = np.random.default_rng([0, 0])
        self.names = _make_words(rng, words)
        base = -np.log(np.arange(1, words + 1) + 1.5)
        log_preference = CLASS_PREFERENCE_SD * rng.standard_normal((classes, words))
        log_preference[:, :N_SHARED_WORDS] = 0.0
        self._cumulative = np.cumsum(np.exp(base + log_preference), axis=1)
        self._class_shares = rng.dirichlet(np.full(classes, 1_000.0))

    @cached_property
    def word_forms(self) -> Any:
        """Every word with every punctuation mark; index = word + words · mark."""
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

        rng = np.random.default_rng([0, 1, part, chunk])
        # Sorted classes allow drawing the words of a class in one call; the documents are shuffled below.
        classes = np.sort(rng.choice(self.n_classes, size=number, p=self._class_shares))
        lengths = np.maximum(rng.lognormal(np.log(MEDIAN_WORDS), SPREAD, number).astype(np.int64), 3)
        codes = self._draw_words(rng, classes, lengths)
        marks = rng.choice(len(MARKS), size=len(codes), p=MARK_SHARES)
        offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
        order = rng.permutation(number)

        def join(strings: Any) -> Any:
            lists = pa.ListArray.from_arrays(offsets, strings)
            return pc.binary_join(lists, " ").take(pa.array(order))

        raw = join(self.word_forms.take(pa.array(codes + self.n_words * marks)))
        words = join(self.word_forms.take(pa.array(codes)))
        return Documents(classes[order], raw, words)

    def _draw_words(self, rng: np.random.Generator, classes: Codes, lengths: Codes) -> Codes:
        drawn = []
        for k in np.unique(classes):
            row = self._cumulative[k]
            u = rng.random(int(lengths[classes == k].sum())) * row[-1]
            drawn.append(np.minimum(np.searchsorted(row, u, side="right"), self.n_words - 1))
        return np.concatenate(drawn)


def _make_words(rng: np.random.Generator, number: int) -> npt.NDArray[np.str_]:
    """Return distinct random words; rarer words tend to be longer."""
    n_drawn = number + number // 5
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
    first = np.sort(np.unique(names, return_index=True)[1])[:number]
    if len(first) < number:
        raise RuntimeError(f"Only {len(first)} of {number} distinct words were drawn; increase n_drawn.")
    return names[first]


def draw_chunks(distribution: TextDistribution, megabytes: int) -> Iterator[Documents]:
    """Draw documents in chunks until their raw texts fill `megabytes`."""
    remaining, chunk = megabytes * 1_000_000, 0
    while remaining > 0:
        documents = distribution.draw_documents(CHUNK, 0, chunk).truncate(remaining)
        remaining -= documents.size
        chunk += 1
        yield documents


@dataclass(frozen=True)
class CorpusFiles:
    """The files of one set of documents, one per format."""

    csv: Path
    vw: Path
    fasttext: Path

    def read(self) -> tuple[list[str], list[str]]:
        """Return the raw texts and the labels."""
        import pyarrow.csv as pc

        table = pc.read_csv(self.csv)
        return table["text"].to_pylist(), table["label"].to_pylist()

    def write(self, sets: Iterator[Documents]) -> None:
        """Write documents in every format, chunk by chunk; files are renamed when complete."""
        paths = {"csv": self.csv, "vw": self.vw, "fasttext": self.fasttext}
        drafts = {name: path.with_suffix(path.suffix + ".part") for name, path in paths.items()}
        with ExitStack() as stack:
            files = {name: stack.enter_context(draft.open("wb")) for name, draft in drafts.items()}
            files["csv"].write(b"label,text\n")
            for documents in sets:
                for name, lines in _format_lines(documents).items():
                    files[name].write(lines)
        for name, draft in drafts.items():
            draft.rename(paths[name])


def _format_lines(documents: Documents) -> Mapping[str, Any]:
    import pyarrow as pa

    codes = [int(k) + 1 for k in documents.classes]
    named, number = pa.array([f"class-{k:02d}" for k in codes]), pa.array([str(k) for k in codes])
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


@dataclass(frozen=True)
class Corpus:
    """Training and held-out documents."""

    folder: Path
    megabytes: int
    classes: int
    train: CorpusFiles
    held_out: CorpusFiles


def read_corpus(megabytes: int, classes: int, words: int) -> Corpus:
    """Return the files of a corpus, written on first use; there are 100 held-out documents per megabyte."""
    folder = WORK / f"corpus-{classes}-{words}"
    folder.mkdir(parents=True, exist_ok=True)
    n_held_out = min(max(100 * megabytes, 2_000), 30_000)
    names = f"train-{megabytes}", f"held-out-{n_held_out}"
    train, held_out = (
        CorpusFiles(*(folder / f"{name}.{suffix}" for suffix in ("csv", "vw", "ft"))) for name in names
    )
    if not train.fasttext.exists() or not held_out.fasttext.exists():
        distribution = TextDistribution(classes, words)
        train.write(draw_chunks(distribution, megabytes))
        held_out.write(iter([distribution.draw_documents(n_held_out, 1, 0)]))
    return Corpus(folder, megabytes, classes, train, held_out)
