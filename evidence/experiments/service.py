"""The service over HTTP: one row against an endpoint that does nothing, and a mixed load."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import numpy as np

from evidence._experiment import Parameters, Part, Record, Table, Text, UnavailableError, benchmark
from gramian import LeastSquaresSVC

D = 20
NOTHING = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def nothing(request):
    return JSONResponse({})

app = Starlette(routes=[Route("/nothing", nothing, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error")
"""


def cases(quick: bool) -> list[Parameters]:
    n, seconds = (200, 1) if quick else (4_000, 60)
    rounds = [1, 1] if quick else [5, 3]
    return [
        {"task": "rate", "n": n, "rounds": rounds[0], "seconds": rounds[1]},
        {"task": "load", "n": n, "rounds": 1, "seconds": seconds},
    ]


def run(task: str, n: int, rounds: int, seconds: int) -> dict[str, Any]:
    """Rates of both endpoints in turn, or latencies of a load."""
    if find_spec("starlette") is None:
        raise UnavailableError('the service is not installed: pip install "gramian[serve]"')
    if task == "rate" and shutil.which("wrk") is None:
        raise UnavailableError("wrk is not installed")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        busy, port = stack.enter_context(served(folder, n))
        if task == "load":
            return {"found": load(port, seconds)}
        other = free_port()
        idle = stack.enter_context(process([sys.executable, "-c", NOTHING, str(other)], other))
        script = folder / "infer.lua"
        script.write_text(f"wrk.method='POST'\nwrk.body='{json.dumps(infer(np.zeros((1, D))))}'\n")
        rates = []
        for _ in range(rounds):
            nothing = wrk(script, f"http://127.0.0.1:{other}/nothing", seconds, idle)
            ours = wrk(script, f"http://127.0.0.1:{port}{MODEL}/infer", seconds, busy)
            rates.append([*nothing, *ours])
    return {"found": rates}


MODEL = "/v2/models/m"


def infer(X: Any) -> dict[str, Any]:
    """The body of a request."""
    shape = list(X.shape)
    return {"inputs": [{"name": "X", "shape": shape, "datatype": "FP64", "data": X[0].tolist()}]}


@contextmanager
def served(folder: Path, n: int) -> Iterator[tuple[int, int]]:
    """The process and the port of a service with n samples held."""
    from gramian.store import Store

    X = np.random.default_rng(0).standard_normal((n, D))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    path, port = folder / "m.store", free_port()
    Store.create(path, LeastSquaresSVC(gamma=0.05, C=10.0).fit(X, y)).close()
    words = [sys.executable, "-m", "gramian.cli", "serve", str(path), "--port", str(port)]
    with process(words, port) as number:
        yield number, port


@contextmanager
def process(words: list[str], port: int) -> Iterator[int]:
    """The number of the process of a server, from when it listens."""
    it = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while it.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield it.pid
    finally:
        it.terminate()
        it.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wrk(script: Path, url: str, seconds: int, server: int) -> tuple[float, float]:
    """Requests per second on four connections, and the server's processor time for each in µs."""
    words = ["wrk", "-t1", "-c4", f"-d{seconds}s", "-s", str(script), url]
    before = processor_time(server)
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise RuntimeError(f"refused requests: {said}")
    rate, count = re.findall(r"Requests/sec:\s*([\d.]+)", said), re.findall(r"(\d+) requests", said)
    return float(rate[0]), 1e6 * (processor_time(server) - before) / int(count[0])


def processor_time(number: int) -> float:
    """Seconds that a process has computed."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError as error:
        raise UnavailableError(
            "this system does not report the processor time of other processes"
        ) from error
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(port: int, seconds: float, readers: int = 4, writers: int = 2) -> list[list[Any]]:
    """Latencies of readers, and of writers that learn a row and forget it again."""
    seen: dict[str, list[float]] = {"infer": [], "learn": [], "forget": []}
    errors = dict.fromkeys(seen, 0)
    end = time.monotonic() + seconds

    def client(number: int, writes: bool) -> None:
        rng, line, turn = np.random.default_rng(number), HTTPConnection("127.0.0.1", port), 0

        def ask(route: str, body: dict[str, Any]) -> None:
            start = time.perf_counter()
            line.request("POST", f"{MODEL}/{route}", json.dumps(body))
            with line.getresponse() as answer:
                answer.read()
                errors[route] += answer.status != 200
            seen[route].append(time.perf_counter() - start)

        while time.monotonic() < end:
            body = infer(rng.standard_normal((1, D)))
            if writes:
                turn += 1
                name = 10**6 * (number + 1) + turn
                ask("learn", {**body, "targets": [turn % 2], "ids": [name]})
                ask("forget", {"ids": [name]})
            else:
                ask("infer", body)

    threads = [Thread(target=client, args=(k, k < writers)) for k in range(readers + writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [
        [route, len(took), errors[route], *(1e3 * np.percentile(took, [50, 99])).tolist()]
        for route, took in seen.items()
    ]


def report(records: list[Record]) -> list[Part]:
    parts: list[Part] = []
    for record in records:
        n = record["n"]
        if record["task"] == "rate":
            rows = [
                [rate, ours, ours / rate, took, mine, took / mine]
                for rate, took, ours, mine in record["found"]
            ]
            middle = median(row[2] for row in rows), median(row[5] for row in rows)
            parts += [
                Text(
                    f"`infer` of one row of {D} numbers, {n:,} samples in the model, and of a "
                    "FastAPI endpoint that does nothing, alternately; wrk with four "
                    f"connections. The median of the ratios is {middle[0]:.2f}; by the "
                    "processor time of the server, which depends less on other processes, "
                    f"{middle[1]:.2f}."
                ),
                Table(
                    [
                        "nothing (requests/s)",
                        "infer (requests/s)",
                        "ratio",
                        "nothing (µs of processor)",
                        "infer (µs of processor)",
                        "ratio of processor",
                    ],
                    rows,
                ),
            ]
        else:
            rows = [
                [route, count, count / record["seconds"], p50, p99, errors]
                for route, count, errors, p50, p99 in record["found"]
            ]
            parts += [
                Text(
                    f"{record['seconds']} s of four clients that predict and two that learn a "
                    f"row and forget it again, durably; {n:,} samples in the model. The "
                    "clients run in Python on the same two cores."
                ),
                Table(
                    ["request", "answered", "per second", "p50 (ms)", "p99 (ms)", "errors"], rows
                ),
            ]
    return parts


EXPERIMENTS = (benchmark("service", "The service over HTTP", cases, run, report),)
