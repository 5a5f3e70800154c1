"""A service on a real socket, in a thread."""

import time
from contextlib import contextmanager
from threading import Thread

import uvicorn

from gramian.serve import create_app
from gramian.store import Store


@contextmanager
def served(folder, model, **options):
    """The port on which the model is served as ``m``."""
    app = create_app({"m": Store.create(folder / "served.store", model)}, **options)
    server = uvicorn.Server(uvicorn.Config(app, port=0, access_log=False, log_level="error"))
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
