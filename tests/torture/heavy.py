"""Requests that cost more than they weigh: the event loop stays free, and memory small.

The service runs in a process of its own, on a real socket. A task of its event loop wakes up every
10 ms and notes how much processor time the process has used since: what blocks the loop, or holds
the interpreter beside it, shows there, and other processes that are busy do not.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tests.torture.common import Clock
from tests.torture.requests import LENGTH, STRANGE

DELAY, MEMORY = 0.25, 2**30
"""Seconds that the loop may be held up, and bytes that the process may take."""


# -- the service, in a process of its own -------------------------------------------------------


def serve(folder):
    """Serve two models until the input ends, then print what was measured."""
    from gramian import KernelDiscriminant, LagrangianSVC, TableModel
    from gramian.serve import Limits, create_app
    from gramian.serve._connections import limited_server
    from gramian.store import Store

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 8)), np.arange(300) % 3
    X[:, 0] += y
    table = {"name": [f"p{i}" for i in range(300)], "weight": X[:, 0].tolist()}
    table |= {"sound": [("meow", "woof", "moo")[k] for k in y], "kind": y.astype(str).tolist()}
    estimator = KernelDiscriminant(gamma=0.5, ridge=0.1)
    models = {
        "plain": KernelDiscriminant(gamma=0.1, ridge=0.1).fit(X, y),
        "slow": LagrangianSVC(gamma=0.1, C=10.0).fit(X[:150], y[:150]),
        "table": TableModel(estimator, target="kind", id_column="name").fit(table),
    }
    stores = {name: Store.create(Path(folder) / name, model) for name, model in models.items()}
    server = limited_server(create_app(stores), Limits(), port=0, log_level="error")
    print(json.dumps(asyncio.run(_watched(server))), flush=True)


async def _watched(server):
    """Run a server, and measure how long its loop is held up."""
    loop, worst = asyncio.get_running_loop(), 0.0
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    ended = loop.run_in_executor(None, sys.stdin.read)
    while not ended.done():
        used = time.process_time()
        await asyncio.sleep(0.01)
        worst = max(worst, time.process_time() - used)
    server.should_exit = True
    await serving
    return {"delay": worst, "memory": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


# -- what is sent -------------------------------------------------------------------------------


KINDS = range(9)


def body(rng, kinds=KINDS):
    """Model, route, bytes and headers of a request that is large for what it says."""
    kind, size = kinds[int(rng.integers(len(kinds)))], int(10 ** rng.uniform(3, 5.8))
    strange = STRANGE[int(rng.integers(len(STRANGE)))]
    if kind == 0:  # texts behind the JSON
        data = b"\0\0\0\0" * size
        tensor = {"name": "sound", "shape": [size], "datatype": "BYTES"}
        head = json.dumps(
            {"inputs": [{**tensor, "parameters": {"binary_data_size": len(data)}}]}
        ).encode()
        return "table", "infer", head + data, {LENGTH: str(len(head))}
    if kind == 1:
        made = {"records": [{f"c{i}": 1} for i in range(size)]}
    elif kind == 2:
        made = {
            "records": [{"weight": 1.0, "sound": "x" * int(rng.integers(1, 3000))}] * (size // 99)
        }
    elif kind == 3:
        made = {"inputs": [_numbers(rng, size // 8, 8)], "parameters": {"probabilities": True}}
    elif kind == 4:
        made = {"inputs": [_numbers(rng, min(size // 8, 2000), 8)], "parameters": {"sets": True}}
    elif kind == 5:
        return "plain", "infer", b"[" * size + b"]" * size, {}
    elif kind == 6:
        made = {"ids": [strange] * size}
        return "plain", "forget", json.dumps(made).encode(), {}
    elif kind == 7:
        made = {
            "inputs": [{"name": "X", "shape": [2, 8], "datatype": "FP64", "data": [strange] * size}]
        }
    else:
        made = {"inputs": [_numbers(rng, size // 8, 8)], "targets": [strange] * (size // 8)}
        return "plain", "learn", json.dumps(made).encode(), {}
    model = ("plain", "slow", "table")[int(rng.integers(3))]
    return model, "infer", json.dumps(made).encode(), {}


def _numbers(rng, rows, columns):
    data = np.round(rng.standard_normal(rows * columns), 3).tolist()
    return {"name": "X", "shape": [rows, columns], "datatype": "FP64", "data": data}


def main(seed, seconds=None, n=None, *, kinds=KINDS, report=None):
    """Number of requests and failures."""
    rng, clock, seen, failures = np.random.default_rng(seed), Clock(seconds, n), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "tests.torture.heavy", folder]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(words, text=True, **pipes) as service:
            port = int(service.stdout.readline())
            while clock.goes_on():
                model, route, content, headers = body(rng, kinds)
                status = _send(port, f"/v2/models/{model}/{route}", content, headers)
                seen[status] += 1
                if status in (0, 500):
                    failures.append(f"{status}: {model} {route} {content[:80]!r}, {len(content)}")
            measured, _ = service.communicate()
    found = json.loads(measured)
    if found["delay"] > DELAY or found["memory"] > MEMORY:
        failures.append(f"the loop was held up for {found['delay']:.2f} s, {found['memory']} bytes")
    if report is not None:
        counts = ", ".join(f"{v:,} × {k}" for k, v in sorted(seen.items()))
        held = f"{1e3 * found['delay']:.0f} ms of processor time, {found['memory'] / 2**20:.0f} MiB"
        report["heavy"] = f"{counts}; at most {held}"
    return sum(seen.values()), failures


def _send(port, path, content, headers):
    """The status; 0 if the service gives none."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60.0)
    try:
        link.request("POST", path, content, {"Content-Type": "application/json", **headers})
        return link.getresponse().status
    except (ConnectionResetError, BrokenPipeError):  # refused by its length, before it was read
        return 413
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        link.close()


if __name__ == "__main__":
    serve(sys.argv[1])
