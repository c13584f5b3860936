"""The OpenAPI 3.1 document of the API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from weigh import __version__
from weigh.serve.http.limits import Limits
from weigh.serve.http.media_types import ARROW, CSV, JSON, JSON_LINES
from weigh.serve.http.problems import MEDIA_TYPE as PROBLEM_TYPE
from weigh.serve.http.reply import Reply
from weigh.serve.metrics import MEDIA_TYPE as METRICS_TYPE

Schema = dict[str, Any]

_CELL: Schema = {
    "description": "null is a missing value; a list holds tokens; fields of an object are columns 'a.b'.",
    "type": ["string", "number", "boolean", "null", "array", "object"],
}
_NUMBER: Schema = {
    "description": "A number; infinities are 'inf' and '-inf', and NaN is null.",
    "anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}],
}
_LABEL: Schema = {"description": "A class, as in training.", "type": ["string", "number", "boolean"]}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
_PROBABILITIES: Schema = {"type": "object", "additionalProperties": _NUMBER}
_COST: Schema = {"type": "number", "minimum": 0}
_FLAG: Schema = {"type": "boolean", "default": False}
_COUNT: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}

_PROBLEMS = {
    400: "The body cannot be read.",
    401: "A token is missing or unknown.",
    403: "The token lacks a scope, or the request comes from a page of another server or under another name.",
    404: "There is no such model.",
    406: "No offered media type is accepted.",
    408: "The body did not arrive in time.",
    409: "The model cannot do this.",
    413: "The body has too many bytes, rows or characters.",
    415: "The media type of the body is not one of those below.",
    422: "The rows or the options do not fit the model.",
    429: "The client has too many unanswered requests.",
    431: "The header fields are too large.",
    503: "The server is busy, starting or stopping.",
}
_GET_PROBLEMS = (401, 403, 429, 431, 503)


@lru_cache(maxsize=4)
def openapi_reply(limits: Limits) -> Reply:
    """Return the answer with the document."""
    return Reply.of_json(openapi_document(limits))


def openapi_document(limits: Limits) -> dict[str, Any]:
    """Return the document, with the limits of this server."""
    name = {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "The name of the model.",
        "schema": {"type": "string", "minLength": 1, "pattern": "^[^/]+$"},
    }
    model_paths = {
        "": {"get": _get("describe a model", {"$ref": "#/components/schemas/Model"}, (404,))},
        "/report": {"get": _text("the report that lies beside the model", "text/html", (404,))},
        "/predict": {"post": _predict(limits)},
        "/explain": {"post": _explain(limits)},
        "/learn": {"post": _change("learn", limits)},
        "/forget": {"post": _change("forget", limits)},
    }
    listed = {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "weigh serve",
            "version": __version__,
            "description": "Predictions, explanations and feedback, equal to those of the Python library.",
        },
        "paths": {
            "/v1/models": {"get": _get("list the models", _object({"models": listed}, ["models"]))},
            **{
                f"/v1/models/{{name}}{path}": {"parameters": [name], **item}
                for path, item in model_paths.items()
            },
            "/health/live": {"get": _get("whether the process is alive", _status("alive"))},
            "/health/ready": {"get": _get("whether requests are accepted", _status("ready"))},
            "/metrics": {"get": _text("counts for Prometheus", METRICS_TYPE.partition(";")[0])},
        },
        "components": {
            "schemas": {"Problem": _PROBLEM, "Model": _MODEL, "Evidence": _EVIDENCE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _object(properties: Mapping[str, Any], required: list[str] | None = None, **more: Any) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": required or [], **more}


def _status(word: str) -> Schema:
    return _object({"status": {"const": word}}, ["status"])


def _responses(content: Mapping[str, Any], problems: tuple[int, ...]) -> dict[str, Any]:
    refusal = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "200": {"description": "The answer.", "content": dict(content)},
        **{
            str(status): {"description": _PROBLEMS[status], "content": refusal} for status in sorted(problems)
        },
    }


def _get(summary: str, schema: Schema, problems: tuple[int, ...] = ()) -> dict[str, Any]:
    responses = _responses({JSON: {"schema": schema}}, (*_GET_PROBLEMS, *problems))
    return {"summary": summary, "responses": responses}


def _text(summary: str, media_type: str, problems: tuple[int, ...] = ()) -> dict[str, Any]:
    content = {media_type: {"schema": {"type": "string"}}}
    return {"summary": summary, "responses": _responses(content, (*_GET_PROBLEMS, *problems))}


def _rows(limits: Limits, most: int, is_labelled: bool) -> Schema:
    row = {"type": "object", "additionalProperties": _CELL, "minProperties": 1}
    unnamed: Schema = {"type": "array", "items": _CELL}
    text: Schema = {"type": "string", "maxLength": limits.text_length}
    kinds = [row] if is_labelled else [row, unnamed, text]
    batches = [{"type": "array", "items": kind, "minItems": 1, "maxItems": most} for kind in kinds]
    labelled = "Each has the label under the name of its column." if is_labelled else ""
    return {
        "description": f"Rows by column; lists for models of unnamed columns, or texts. {labelled}".strip(),
        "anyOf": [*batches, row],
    }


def _post(
    summary: str, limits: Limits, options: Mapping[str, Any], rows: Schema, content: Mapping[str, Any]
) -> dict[str, Any]:
    body = _object({"rows": rows, **options}, ["rows"], additionalProperties=False)
    in_query = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in options.items()
        if schema.get("type") not in ("array", "object") and "oneOf" not in schema
    ]
    megabytes = limits.body_bytes / 2**20
    return {
        "summary": summary,
        "parameters": in_query,
        "requestBody": {
            "required": True,
            "description": f"At most {megabytes:g} MB. Options of other media types are in the query.",
            "content": {
                JSON: {"schema": body},
                JSON_LINES: {"schema": {"type": "string", "description": "One row per line."}},
                CSV: {"schema": {"type": "string", "description": "With a header."}},
                ARROW: {"schema": {"type": "string", "contentEncoding": "binary"}},
            },
        },
        "responses": _responses(content, tuple(_PROBLEMS)),
    }


def _predict(limits: Limits) -> dict[str, Any]:
    costs = _object({"true": _LABEL, "verdict": _LABEL, "cost": _COST}, ["true", "verdict", "cost"])
    options = {
        "id": {**_ID, "description": "Returned with the answer."},
        "unsure": {**_COST, "description": "Cost of the verdict 'unsure'."},
        "costs": {"type": "array", "items": {**costs, "additionalProperties": False}},
        "class_prior": {
            "oneOf": [{"const": "uniform"}, {"type": "object", "additionalProperties": _COST}],
            "description": "Probabilities of the classes instead of those of the training rows.",
        },
        "predictive": {**_FLAG, "description": "Integrate parameters out (naive Bayes, joint Bayes)."},
        "check": {**_FLAG, "description": "Say why rows are unlike the training rows."},
        "std": {**_FLAG, "description": "Standard deviations of a regression."},
    }
    answer = _object(
        {
            "label": _LABEL,
            "probabilities": _PROBABILITIES,
            "scores": _PROBABILITIES,
            "prediction": _NUMBER,
            "std": _NUMBER,
            "unfamiliar": {"type": "array", "items": {"type": "object"}},
        }
    )
    content = {
        JSON: {"schema": _answers("predictions", answer)},
        JSON_LINES: {"schema": {"type": "string"}},
        CSV: {"schema": {"type": "string"}},
        ARROW: {"schema": {"type": "string", "contentEncoding": "binary"}},
    }
    return _post("predict rows", limits, options, _rows(limits, limits.rows, False), content)


def _explain(limits: Limits) -> dict[str, Any]:
    options = {
        "id": {**_ID, "description": "Returned with the answer."},
        "worked": {
            "oneOf": [{"type": "boolean"}, {"enum": ["text", "latex"]}],
            "description": "The calculation in fractions (naive Bayes, joint Bayes).",
        },
        "flip": {**_FLAG, "description": "The smallest removal, and single changes, that flip the verdict."},
        "to": {**_LABEL, "description": "The class that 'flip' looks for."},
        "most": {**_COUNT, "description": "Keep the strongest contributions and sum the others."},
        "spans": {**_FLAG, "default": True, "description": "Mark the words of texts."},
    }
    content = {
        JSON: {"schema": _answers("explanations", {"$ref": "#/components/schemas/Evidence"})},
        JSON_LINES: {"schema": {"type": "string"}},
    }
    return _post("explain rows", limits, options, _rows(limits, limits.explained_rows, False), content)


def _change(verb: str, limits: Limits) -> dict[str, Any]:
    options = {"id": {**_ID, "description": "A call with the same id and rows is applied once."}}
    answer = _object(
        {
            "rows": {"type": "integer", "minimum": 0},
            "repeated": {"type": "boolean", "description": "The id was applied before."},
            "id": _ID,
            "model": _object({"rows": {"type": "object", "additionalProperties": {"type": "number"}}}),
        },
        ["rows", "repeated", "id", "model"],
    )
    content = {JSON: {"schema": answer}}
    return _post(f"{verb} labelled rows", limits, options, _rows(limits, limits.rows, True), content)


def _answers(key: str, answer: Schema) -> Schema:
    properties = {
        key: {"type": "array", "items": answer},
        "id": _ID,
        "ignored_columns": {"type": "array", "items": {"type": "string"}},
        "notes": {"type": "array", "items": {"type": "string"}},
    }
    return _object(properties, [key])


_PROBLEM = _object(
    {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence or two: what is wrong, and what to do."},
        "error": {"type": "string", "description": "The class of the library's error."},
        "suggestion": {"type": "string", "description": "A name that may have been meant."},
    },
    ["type", "title", "status", "detail"],
)
_MODEL = _object(
    {
        "name": {"type": "string"},
        "type": {"type": "string"},
        "label": {"type": ["string", "null"]},
        "classes": {"type": "array", "items": _LABEL},
        "columns": {
            "type": "array",
            "items": _object({"name": {"type": "string"}, "kind": {"type": "string"}}, ["name", "kind"]),
        },
        "rows": {"type": "object", "additionalProperties": {"type": "number"}},
        "digest": {"type": "string"},
        "certificate": {"type": ["object", "null"]},
        "calibration": {"type": ["string", "null"]},
        "can_learn": {"type": "boolean"},
        "feedback": {"enum": ["current", "stale", None]},
        "report": {"type": ["string", "null"]},
    },
    ["name", "type", "columns", "digest", "can_learn"],
)
_SPAN = _object(
    {
        "column": {"type": "string"},
        "start": {"type": "integer", "description": "In UTF-16 code units, as JavaScript counts."},
        "end": {"type": "integer"},
        "feature": {"type": "string"},
        "nats": _NUMBER,
    },
    ["column", "start", "end", "feature", "nats"],
)
_EVIDENCE = _object(
    {
        "verdict": {"type": ["string", "number", "boolean"]},
        "runner_up": {"type": ["string", "number", "boolean", "null"]},
        "probabilities": _PROBABILITIES,
        "evidence": {"type": "array", "items": {"type": "object"}},
        "total": _NUMBER,
        "unit": {"enum": ["nats", "points", "votes", "predicted"]},
        "unknown_words": {"type": "array", "items": {"type": "string"}},
        "n_unknown": {"type": "integer"},
        "spans": {"type": "array", "items": _SPAN},
        "worked": {"type": "string"},
        "flip": {"type": "object"},
    },
    ["verdict", "evidence", "total", "unit"],
)
