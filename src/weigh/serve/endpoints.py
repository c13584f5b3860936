"""The handlers of the API."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from weigh.advice import Advised
from weigh.deduplicated_warnings import collect_warnings
from weigh.model.decision import UNSURE
from weigh.serve.answers import Predictions, Predictor, count_answers
from weigh.serve.catalog import ServedModel
from weigh.serve.descriptions import count_rows
from weigh.serve.http.access import SCOPES
from weigh.serve.http.limits import read_body
from weigh.serve.http.media_types import ARROW, CSV, JSON, JSON_LINES, accepted_type, content_type
from weigh.serve.http.problems import Problem, format_message
from weigh.serve.http.reply import Receive, Reply, Scope, encode_json
from weigh.serve.metrics import MEDIA_TYPE as METRICS_TYPE
from weigh.serve.metrics import Metrics
from weigh.serve.options import (
    CHANGE_OPTIONS,
    EXPLAIN_OPTIONS,
    PREDICT_OPTIONS,
    Option,
    explain_options,
    predict_options,
    read_options,
)
from weigh.serve.rows import Batch, read_batch, read_labelled_rows
from weigh.serve.service import Service
from weigh.serve.tables import format_csv

# Smaller bodies are answered in less time than it takes to pass them to a thread and back.
MAX_BYTES_IN_LOOP = 8_192
MAX_EXPLAINED_BYTES_IN_LOOP = 1_024

BODY_TYPES = (JSON, JSON_LINES, CSV, ARROW)
PREDICTION_TYPES = (JSON, JSON_LINES, CSV, ARROW)
EXPLANATION_TYPES = (JSON, JSON_LINES)

MAX_NOTES = 20

# Reports have inline scripts; in a sandbox they reach neither this server nor others.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-ancestors 'self'"
)

Result = TypeVar("Result")
Operation: TypeAlias = Literal["learn", "forget"]


class Call(NamedTuple):
    """A request to the API: the service, the name of the model in its address, and how its body is read."""

    service: Service
    model: str
    scope: Scope
    receive: Receive

    @property
    def served(self) -> ServedModel:
        """The model that the address names."""
        served = self.service.catalog.get(self.model)
        self.scope["weigh.model"] = served.name
        return served

    @property
    def scopes(self) -> list[str]:
        """What the client may do."""
        return sorted(self.scope.get("weigh.scopes", SCOPES))

    async def read_body(self) -> bytes:
        """Return the body."""
        return await read_body(self.scope, self.receive, self.service.limits)

    def read_options(self, batch: Batch, known: Mapping[str, Option]) -> dict[str, Any]:
        """Return the options of the body and of the address."""
        return read_options(batch.options, self.scope["query_string"], known)


class Counted(NamedTuple):
    """What metrics say of predictions: rows, verdicts, and why the first row is unlike the training rows.

    `reasons` is None if the row was not examined.
    """

    n_rows: int
    verdicts: dict[str, int]
    reasons: list[dict[str, Any]] | None

    def add_to(self, metrics: Metrics, model: str, predictor: Predictor) -> None:
        """Add the counts; only the event loop does, so that none is lost."""
        for verdict, number in self.verdicts.items():
            if verdict == UNSURE and UNSURE not in predictor.class_names:
                metrics.add("weigh_unsure_total", number, model=model)
            else:
                metrics.add("weigh_predictions_total", number, model=model, verdict=verdict)
        if self.reasons is not None:
            metrics.add("weigh_examined_rows_total", 1, model=model)
            metrics.add("weigh_unfamiliar_rows_total", int(bool(self.reasons)), model=model)


Handler: TypeAlias = Callable[[Call], Awaitable[Reply]]


async def list_models(call: Call) -> Reply:
    """Answer with the descriptions of all models."""
    catalog, scopes = call.service.catalog, call.scopes
    return await asyncio.to_thread(
        lambda: Reply.of_json({"models": [{**served.describe(), "scopes": scopes} for served in catalog]})
    )


async def get_model(call: Call) -> Reply:
    """Answer with the description of a model."""
    served, scopes = call.served, call.scopes
    return await asyncio.to_thread(lambda: Reply.of_json({**served.describe(), "scopes": scopes}))


async def get_report(call: Call) -> Reply:
    """Answer with the report that was written beside the model."""
    path = call.served.report_path
    if path is None:
        raise Problem(404, "There is no report beside this model; weigh report writes one.")
    body = await asyncio.to_thread(path.read_bytes)
    headers = ((b"content-security-policy", REPORT_POLICY.encode()), (b"x-frame-options", b"SAMEORIGIN"))
    return Reply(body, 200, "text/html; charset=utf-8", headers)


async def predict(call: Call) -> Reply:
    """Answer with the predictions for rows."""
    served, metrics = call.served, call.service.metrics
    predictor = served.predictor
    media_type = content_type(call.scope, BODY_TYPES)
    answer_type = accepted_type(call.scope, PREDICTION_TYPES)
    body = await call.read_body()

    def answer() -> tuple[Reply, Counted]:
        with (
            collect_warnings() as warnings,
            read_batch(body, media_type, predictor.model, call.service.limits) as batch,
        ):
            options = call.read_options(batch, PREDICT_OPTIONS)
            predictions = predictor.predict(batch.rows, predict_options(options, predictor))
            may_examine = isinstance(batch.rows, list) and metrics.may_examine()
            reasons = served.base_predictor.examine(batch.rows[:1]) if may_examine else None
        counted = Counted(batch.n_rows, count_answers(predictions, predictor), reasons)
        fields = _common_fields(batch, options, warnings)
        return _format_predictions(predictions, answer_type, fields), counted

    reply, counted = await _run(answer, is_short=len(body) <= MAX_BYTES_IN_LOOP and media_type == JSON)
    call.scope["weigh.rows"] = counted.n_rows
    counted.add_to(metrics, call.model, predictor)
    return reply


async def explain(call: Call) -> Reply:
    """Answer with the evidence for rows."""
    predictor = call.served.predictor
    media_type = content_type(call.scope, BODY_TYPES)
    answer_type = accepted_type(call.scope, EXPLANATION_TYPES)
    body = await call.read_body()
    limits = call.service.limits

    def answer() -> Reply:
        with (
            collect_warnings() as warnings,
            read_batch(body, media_type, predictor.model, limits) as batch,
        ):
            if batch.n_rows > limits.explained_rows:
                most = limits.explained_rows
                raise Problem(413, f"There are {batch.n_rows:,} rows; a request explains {most:,} at most.")
            call.scope["weigh.rows"] = batch.n_rows
            options = call.read_options(batch, EXPLAIN_OPTIONS)
            answers = predictor.explain(batch.rows, explain_options(options))
        if answer_type == JSON_LINES:
            return Reply(_join_lines(map(encode_json, answers)), 200, JSON_LINES)
        return Reply.of_json({"explanations": answers, **_common_fields(batch, options, warnings)})

    # Flips of a model with many features take long, whatever the length of the row.
    may_flip = b"flip" in body or b"flip" in call.scope["query_string"]
    is_short = len(body) <= MAX_EXPLAINED_BYTES_IN_LOOP and media_type == JSON and not may_flip
    return await _run(answer, is_short=is_short)


async def learn(call: Call) -> Reply:
    """Add labelled rows to the model."""
    return await _change(call, "learn")


async def forget(call: Call) -> Reply:
    """Remove labelled rows from the model."""
    return await _change(call, "forget")


async def _change(call: Call, operation: Operation) -> Reply:
    # Imported here because predictions need no journal.
    from weigh.serve.feedback.change import Change

    served = call.served
    feedback = served.require_feedback()
    media_type = content_type(call.scope, BODY_TYPES)
    accepted_type(call.scope, (JSON,))
    body = await call.read_body()
    limits = call.service.limits

    def read() -> tuple[list[Any], dict[str, Any]]:
        rows, fields = read_labelled_rows(body, media_type, served.model, limits)
        return rows, read_options(fields, call.scope["query_string"], CHANGE_OPTIONS)

    rows, options = await _run(read, is_short=len(body) <= MAX_BYTES_IN_LOOP and media_type == JSON)
    call.scope["weigh.rows"] = len(rows)
    change_id = options.get("id") or uuid.uuid4().hex
    outcome = await feedback.submit(Change(change_id, operation, rows, call.scope.get("weigh.token")))
    if outcome.error is not None:
        raise outcome.error
    call.service.metrics.add(
        "weigh_feedback_rows_total", outcome.rows, model=served.name, operation=operation
    )
    model = {"rows": count_rows(feedback.model())}
    return Reply.of_json(
        {"rows": outcome.rows, "repeated": outcome.repeated, "id": change_id, "model": model}
    )


async def report_live(call: Call) -> Reply:
    """Answer that the process is alive."""
    del call
    return Reply.of_json({"status": "alive"})


async def report_ready(call: Call) -> Reply:
    """Answer whether requests are accepted."""
    if not call.service.is_ready:
        raise Problem(503, "The server is starting or stopping.")
    return Reply.of_json({"status": "ready"})


async def get_metrics(call: Call) -> Reply:
    """Answer with the counts of all processes of the server."""
    text = await asyncio.to_thread(call.service.metrics.format)
    return Reply(text.encode(), 200, METRICS_TYPE)


async def get_openapi(call: Call) -> Reply:
    """Answer with the OpenAPI document."""
    # Imported here because few clients ask for it.
    from weigh.serve.openapi import openapi_reply

    return openapi_reply(call.service.limits)


async def _run(work: Callable[[], Result], *, is_short: bool) -> Result:
    """Do work in the event loop if it is short, otherwise in a thread."""
    return work() if is_short else await asyncio.to_thread(work)


def _common_fields(batch: Batch, options: Mapping[str, Any], warnings: Iterable[Warning]) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": options["id"]} if "id" in options else {}
    if batch.ignored_columns:
        fields["ignored_columns"] = list(batch.ignored_columns)
    notes = [format_message(each) for each in warnings if isinstance(each, Advised)]
    if notes:
        fields["notes"] = list(dict.fromkeys(notes))[:MAX_NOTES]
    return fields


def _format_predictions(predictions: Predictions, media_type: str, fields: Mapping[str, Any]) -> Reply:
    if media_type == JSON:
        # A comma and the further fields take the place of the brace before them.
        more = encode_json(fields).replace("{", ",", 1) if fields else "}"
        return Reply(f'{{"predictions":[{",".join(predictions.to_json())}]{more}'.encode())
    if media_type == JSON_LINES:
        return Reply(_join_lines(predictions.to_json()), 200, JSON_LINES)
    if media_type == CSV:
        return Reply(format_csv(predictions.columns()), 200, f"{CSV}; charset=utf-8")
    from weigh.serve.arrow import write_table

    return Reply(write_table(predictions.columns()), 200, ARROW)


def _join_lines(answers: Iterable[str]) -> bytes:
    return "".join(f"{answer}\n" for answer in answers).encode()
