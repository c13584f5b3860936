"""A FastAPI service around scikit-learn's CountVectorizer and MultinomialNB, trained when it starts.

It reads and writes JSON with orjson, without pydantic models, and predicts on the event loop. With pydantic
models for requests, or for requests and answers, it took more CPU time per request.
"""

import os
from functools import cache
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from benchmarks.load.texts import read_collection


@cache
def fit_pipeline() -> Any:
    """Return the pipeline of the collection that the environment names."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    train, _ = read_collection(os.environ["BENCH_COLLECTION"])
    return make_pipeline(CountVectorizer(), MultinomialNB()).fit(train.texts, train.labels)


def predict(texts: list[str]) -> list[dict[str, Any]]:
    """Return label and probabilities of every text, as our service answers them."""
    pipeline = fit_pipeline()
    classes = pipeline.classes_.tolist()
    probabilities = pipeline.predict_proba(texts)
    return [
        {"label": classes[k], "probabilities": dict(zip(classes, row, strict=True))}
        for k, row in zip(probabilities.argmax(axis=1).tolist(), probabilities.tolist(), strict=True)
    ]


def create_app() -> FastAPI:
    app = FastAPI()
    fit_pipeline()

    @app.post("/predict")  # type: ignore[untyped-decorator]
    async def answer(request: Request) -> Response:
        rows = orjson.loads(await request.body())["rows"]
        predictions = predict([row["text"] for row in rows])
        return Response(orjson.dumps({"predictions": predictions}), media_type="application/json")

    return app
