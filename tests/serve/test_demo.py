"""The demonstration of the service, as ``make serve-demo`` runs it."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette")

DEMO = Path(__file__).parents[2] / "examples" / "serve_demo.py"


@pytest.mark.slow
def test_its_bodies_are_answered_and_an_interrupt_ends_it():
    words = [sys.executable, str(DEMO), "--port", "0"]
    demo = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        lines = []
        while not lines or "running on" not in lines[-1]:
            lines.append(demo.stderr.readline())
            assert lines[-1], "".join(lines)
        url = lines[-1].split(" on ")[1].split()[0]
        body = Path(re.search(r"@(\S+infer\.json)", "".join(lines))[1]).read_bytes()
        asked = urllib.request.Request(f"{url}/v2/models/digits/infer", body)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["outputs"][0]["data"] == [8]
        demo.send_signal(signal.SIGINT)
        _, rest = demo.communicate(timeout=30)
    finally:
        demo.kill()
    assert demo.returncode == 0
    assert "Traceback" not in "".join(lines) + rest
