"""The routes as an OpenAPI document, and as a page that loads nothing from elsewhere.

FastAPI would not make this shorter: its page loads scripts from another site, and our routes read
their bodies themselves (limits first, bytes behind the JSON), so that it would not see the schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from gramian import __version__

_REF = "#/components/schemas/{model}"
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
    },
}
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.9em}td,th{text-align:left;padding:.3rem .8rem .3rem 0;vertical-align:top}"
    "table{border-collapse:collapse}tr{border-bottom:1px solid #8884}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8bf}}"
)


def openapi(routes: Sequence[Any], models: Sequence[str]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    schema_of_names = {"type": "string", "enum": [*models]}
    named = {"name": "model", "in": "path", "required": True, "schema": schema_of_names}
    bodies: list[tuple[Any, Literal["validation"]]] = [
        (route.body, "validation") for route in routes if route.body is not None
    ]
    _, schema = models_json_schema(bodies, ref_template=_REF)
    paths: dict[str, Any] = {}
    for route in routes:
        operation = _operation(route)
        if "{model}" in route.path:
            operation["parameters"] = [named, *operation.get("parameters", ())]
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gramian",
            "version": __version__,
            "description": "A model that learns and forgets single rows exactly.",
        },
        "paths": paths,
        "components": {
            "schemas": {**schema["$defs"], "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Any) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": {"$ref": _REF.format(model="Problem")}}}
    kind = "object" if route.media == "application/json" else "string"
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.path.strip("/").replace("/", "_").replace("{model}", "model"),
        "responses": {
            "200": {"description": "Done.", "content": {route.media: {"schema": {"type": kind}}}},
            "default": {"description": "Refused.", "content": problem},
        },
    }
    if route.scope is not None:
        operation["description"] = f"Scope: {route.scope}."
        operation["security"] = [{"token": []}]
    if route.query is not None:
        fields = route.query.model_json_schema()["properties"].items()
        operation["parameters"] = [
            {
                "name": name,
                "in": "query",
                "description": schema.pop("description"),
                "schema": schema,
            }
            for name, schema in fields
        ]
    if route.body is not None:
        schema = {"$ref": _REF.format(model=route.body.__name__)}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return operation


def page(routes: Sequence[Any]) -> str:
    """HTML."""
    rows = "".join(
        f"<tr><td><code>{route.method}</code></td><td><code>{escape(route.path)}</code></td>"
        f"<td>{escape(route.summary)}{_takes(route)}</td><td>{route.scope or 'none'}</td></tr>"
        for route in routes
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Gramian</title>"
        f"<style>{_STYLE}</style><h1>Gramian {escape(__version__)}</h1>"
        f"<p>The schema of all bodies is in <a href=/openapi.json>openapi.json</a>.</p>"
        f"<table><tr><th><th>path<th>what<th>scope</tr>{rows}</table></html>"
    )


def _takes(route: Any) -> str:
    """The fields of the body, and the parameters."""
    fields = list(route.body.model_fields) if route.body is not None else []
    if route.query is not None:
        fields += [f"?{name}={field.default}" for name, field in route.query.model_fields.items()]
    return "<br>" + " ".join(f"<code>{escape(field)}</code>" for field in fields) if fields else ""
