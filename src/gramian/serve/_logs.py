"""What the service writes to its log: lines for people or JSON for programs, and no addresses."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

access_log = logging.getLogger("gramian.access")
FIELDS = ("user", "method", "path", "status", "ms")
"""What the access log has of a request: no address, no id, no value."""


class WithoutAddresses(logging.Filter):
    """Drops what the server says of connections, with their addresses; start and end stay."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line."""
        own = "uvicorn" in Path(record.pathname).parts and record.module in ("server", "on")
        return record.name != "uvicorn.error" or record.levelno > logging.INFO or own


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: vars(record)[name] for name in FIELDS if name in vars(record)}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def log_request(user: str | None, method: str, path: str, status: int, seconds: float) -> None:
    """Write a line of the access log."""
    if access_log.isEnabledFor(logging.INFO):
        values = (user or "-", method, path, status, round(1e3 * seconds, 1))
        extra = dict(zip(FIELDS, values, strict=True))
        access_log.info("%s %s %s %d %.1f ms", *values, extra=extra)


def log_config(*, access: bool, as_json: bool) -> dict[str, Any]:
    """The configuration of the log, on standard error."""
    plain = {"format": "%(levelname)s: %(message)s"}
    own = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": JsonLines} if as_json else plain},
        "filters": {"own": {"()": WithoutAddresses}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "lines",
                "filters": ["own"],
                "stream": "ext://sys.stderr",
            }
        },
        "loggers": {
            "uvicorn": own,
            "gramian.serve": own,
            "gramian.access": {**own, "level": "INFO" if access else "WARNING"},
        },
    }
