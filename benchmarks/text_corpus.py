"""A seeded corpus of any size, for the benchmarks of text.

Half a million made-up words follow Zipf's law; every class likes or dislikes each word beyond the
hundred most frequent ones, which all classes share. Documents have log-normal lengths of about
1 kB, capitals, punctuation, and some words with accents or in Cyrillic. The same documents are
written as CSV (`label,text`) and, for programs that split at blanks and nothing else, as their own
lines of ready-made words: lower-cased and without punctuation, so that what `CountVectorizer`
would find is there for everybody.

How much classes differ (`LIKING`) was set so that naive Bayes is right about three times in four.
Words are drawn independently given the class, which is what naive Bayes assumes: accuracy here shows
that a fit worked and what hashing costs, not which learner is better on real texts.

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
N_SHARED_WORDS = 100  # the most frequent words, which tell nothing
CLASS_PREFERENCE_SD = 0.39  # standard deviation of a class's log preference for a word
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
ACCENTED = "éèàöüäñøçåíó"
CYRILLIC = "оеаинтсрвлкмдпуяыбзч"
FOREIGN_SHARE = 0.04  # share of words with an accent or in Cyrillic
CHUNK = 4_096  # documents drawn at a time
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
    """Classes, raw texts and the same texts as ready-made words; the texts as Arrow arrays."""

    classes: Codes
    raw: Any
    words: Any

    @property
    def size(self) -> int:
        """Bytes of the raw texts."""
        import pyarrow.compute as pc

        return int(pc.sum(pc.binary_length(self.raw)).as_py())

    def truncate(self, size: int) -> Documents:
        """Return the first documents whose raw texts fill `size` bytes, the last one included."""
        import pyarrow.compute as pc

        filled = np.cumsum(pc.binary_length(self.raw).to_numpy())
        number = int(np.searchsorted(filled, size)) + 1
        return Documents(self.classes[:number], self.raw[:number], self.words[:number])


class TextDistribution:
    """Words and their probabilities in every class, drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._rng = np.random.default_rng([seed, 0])
        self.names = _make_words(self._rng)
        base = -np.log(np.arange(1, WORDS + 1) + 1.5)
        liking = CLASS_PREFERENCE_SD * self._rng.standard_normal((CLASSES, WORDS))
        liking[:, :N_SHARED_WORDS] = 0.0
        self._cumulative = np.cumsum(np.exp(base + liking), axis=1)
        self._class_shares = self._rng.dirichlet(np.full(CLASSES, 1_000.0))

    @cached_property
    def word_forms(self) -> Any:
        """Every word with every mark; the marks of a word stand `WORDS` apart."""
        import pyarrow as pa

        forms = [np.strings.capitalize(self.names) if k == 1 else self.names for k in range(len(MARKS))]
        ends = [mark.removeprefix("{}") for mark in MARKS]
        return pa.concat_arrays(
            [pa.array(np.strings.add(form, end)) for form, end in zip(forms, ends, strict=True)]
        )

    def draw_documents(self, number: int, part: int, chunk: int) -> Documents:
        """Draw documents; the same part and chunk give the same ones."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rng = np.random.default_rng([self.seed, 1, part, chunk])
        # sorted, so that the words of a class are drawn in one call; shuffled at the end
        classes = np.sort(rng.choice(CLASSES, size=number, p=self._class_shares))
        lengths = np.maximum(rng.lognormal(np.log(MEDIAN_WORDS), SPREAD, number).astype(np.int64), 3)
        codes = self._draw_words(rng, classes, lengths)
        marks = rng.choice(len(MARKS), size=len(codes), p=MARK_SHARES)
        offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
        order = rng.permutation(number)

        def joined(strings: Any) -> Any:
            lists = pa.ListArray.from_arrays(offsets, strings)
            return pc.binary_join(lists, " ").take(pa.array(order))

        raw = joined(self.word_forms.take(pa.array(codes + WORDS * marks)))
        words = joined(self.word_forms.take(pa.array(codes)))
        return Documents(classes[order], raw, words)

    def _draw_words(self, rng: np.random.Generator, classes: Codes, lengths: Codes) -> Codes:
        drawn = []
        for k in np.unique(classes):
            row = self._cumulative[k]
            u = rng.random(int(lengths[classes == k].sum())) * row[-1]
            drawn.append(np.minimum(np.searchsorted(row, u, side="right"), WORDS - 1))
        return np.concatenate(drawn)


def _make_words(rng: np.random.Generator) -> npt.NDArray[np.str_]:
    """Return distinct words, longer ones among the rare; widths by code points, vectorised."""
    spare = WORDS + WORDS // 5
    rank = np.arange(spare)
    lengths = np.clip(rng.poisson(0.6 + 0.36 * np.log1p(rank)) + 2, 2, 14)
    usual, accents, foreign = (np.array([ord(c) for c in s]) for s in (LETTERS, ACCENTED, CYRILLIC))
    frequencies = 1.0 / (np.arange(len(usual)) + 4.0)
    letters = usual[rng.choice(len(usual), size=(spare, 14), p=frequencies / frequencies.sum())]
    chance = rng.random(spare)
    chance[:N_SHARED_WORDS] = 1.0
    accented, cyrillic = chance < FOREIGN_SHARE / 2, (chance >= FOREIGN_SHARE / 2) & (chance < FOREIGN_SHARE)
    letters[accented, 1] = rng.choice(accents, size=int(accented.sum()))
    letters[cyrillic] = rng.choice(foreign, size=(int(cyrillic.sum()), 14))
    letters[np.arange(14) >= lengths[:, None]] = 0
    names = np.ascontiguousarray(letters.astype(np.uint32)).view("U14").ravel()
    first = np.sort(np.unique(names, return_index=True)[1])[:WORDS]
    if len(first) < WORDS:
        raise SystemExit(f"Only {len(first)} distinct words of {WORDS} were drawn; draw more spare ones.")
    return names[first]


def draw_chunks(law: TextDistribution, megabytes: int, part: int = 0) -> Iterator[Documents]:
    """Draw documents until their raw texts fill so many megabytes."""
    left, chunk = megabytes * 1_000_000, 0
    while left > 0:
        documents = law.draw_documents(CHUNK, part, chunk).truncate(left)
        left -= documents.size
        chunk += 1
        yield documents


def draw_held_out(law: TextDistribution) -> Documents:
    """Return new documents of the same law."""
    return law.draw_documents(N_HELD_OUT, 1, 0)


@dataclass(frozen=True)
class CorpusFiles:
    """The files of one set of documents."""

    csv: Path
    vw: Path
    fasttext: Path

    @classmethod
    def in_folder(cls, folder: Path, name: str) -> CorpusFiles:
        """Return the paths of a set."""
        return cls(folder / f"{name}.csv", folder / f"{name}.vw", folder / f"{name}.ft")

    def missing(self, formats: Sequence[str]) -> dict[str, Path]:
        """Return the paths, by format, where nothing is yet."""
        paths = {name: Path(getattr(self, name)) for name in formats}
        return {name: path for name, path in paths.items() if not path.exists()}


def write_corpus(paths: Mapping[str, Path], sets: Iterator[Documents]) -> None:
    """Write documents in the given formats, chunk by chunk; a file takes its name when complete."""
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
    """Return the columns, pasted row by row, as one buffer: what a string array holds anyway."""
    import pyarrow.compute as pc

    pasted = pc.binary_join_element_wise(*columns, "")
    _, offsets, characters = pasted.buffers()
    return memoryview(characters)[: np.frombuffer(offsets, np.int32)[len(pasted)]]


def ensure_corpus(
    folder: Path, megabytes: int, formats: Sequence[str] = FORMATS
) -> tuple[CorpusFiles, CorpusFiles]:
    """Return the files of training and held-out documents, written unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (
        CorpusFiles.in_folder(folder, f"train-{megabytes}"),
        CorpusFiles.in_folder(folder, "held-out"),
    )
    if train.missing(formats) or test.missing(formats):
        law = TextDistribution()
        if absent := train.missing(formats):
            write_corpus(absent, draw_chunks(law, megabytes))
        if absent := test.missing(formats):
            write_corpus(absent, iter([draw_held_out(law)]))
    return train, test


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_corpus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=int, default=300, help="megabytes of raw text")
    given = parser.parse_args()
    start = time.perf_counter()
    train, _ = ensure_corpus(given.folder, given.size)
    seconds = time.perf_counter() - start
    print(f"{train.csv}: {train.csv.stat().st_size / 1e6:.0f} MB after {seconds:.1f} s")


if __name__ == "__main__":
    main()
