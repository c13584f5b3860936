#!/usr/bin/env bash
# attack: TextVectorizer differs from CountVectorizer for an empty vocabulary, stop words with chars=True and generators
# now: an empty vocabulary is a ValueError, useless stop words cause a warning, and generators are read
# test: tests/estimators/test_text_vectorizer.py::test_texts_that_can_be_read_once_give_the_same_matrix
ulimit -v 4000000
python - <<'PY'
import sys, warnings
import weigh
from sklearn.feature_extraction.text import CountVectorizer
texts = ["the cat sat", "a dog ran", "the dog"]
bad = 0
for vectorizer in (CountVectorizer(), weigh.TextVectorizer()):
    try:
        print(vectorizer.fit_transform(text for text in texts).toarray().tolist())
    except ValueError as error:
        print(error)
        bad = 1
for texts, settings in ((["", ""], {}), (["the and", "of"], {"stop_words": "english"})):
    for vectorizer in (CountVectorizer, weigh.TextVectorizer):
        try:
            vectorizer(**settings).fit(texts)
            print("no error")
            bad = 1
        except ValueError as error:
            print(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    weigh.TextVectorizer(stop_words=["the"], chars=True).fit(["the cat"])
print([str(each.message) for each in caught])
sys.exit(int(bad or not caught))
PY
