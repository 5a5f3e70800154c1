"""Threads for what would keep the event loop from others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gramian.serve._limits import Limits, Turns

T = TypeVar("T")


class Workers:
    """One thread that reads large bodies, and two that compute; so many jobs may wait.

    Reading holds the interpreter and takes memory, so that a second thread would gain nothing.
    """

    def __init__(self, limits: Limits) -> None:
        self._readers = ThreadPoolExecutor(1, "gramian-read")
        self._computers = ThreadPoolExecutor(2, "gramian-compute")
        self._turns = Turns(limits.costly, "costly answers")

    async def read(self, function: Callable[[], T]) -> T:
        """The result of a function that reads a body."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, function)

    async def compute(self, function: Callable[[], T]) -> T:
        """The result of a function that takes long; a 503 if too many wait already."""
        self._turns.take()
        job = asyncio.get_running_loop().run_in_executor(self._computers, function)
        job.add_done_callback(lambda _: self._turns.give_back())
        return await job

    def close(self) -> None:
        """Give up the jobs that wait, and end when the running ones do."""
        for threads in (self._readers, self._computers):
            threads.shutdown(wait=False, cancel_futures=True)
