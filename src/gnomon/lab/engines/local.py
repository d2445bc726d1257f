"""Runs on the cores of this machine: processes that stay alive over many runs, since importing torch takes seconds."""

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.engines.base import TRIES, Engine, Event, Step, Tell
from gnomon.lab.engines.process import LostWorkerError, WorkerProcess
from gnomon.lab.machine import usable_cores
from gnomon.lab.store import Store
from gnomon.report.lab.results import Result, Run
from gnomon.report.lab.study import Failure


@final
class Local(Engine):
    """`workers` processes (None: one for each core), which share the cores evenly, and the GPUs where there are some.

    `device` is "cpu", or None for what there is. A run whose process is killed, as when memory runs out, is begun
    anew in another process, from its last checkpoint; one that ends in an error is not.
    """

    def __init__(self, workers: int | None = None, device: str | None = "cpu") -> None:
        if workers is not None and workers < 1:
            raise GnomonError(f"Runs need at least 1 worker, got {workers}.")
        self.at_once = workers or usable_cores()
        self.device = device

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        count = min(self.at_once, len(runs))
        waiting: queue.SimpleQueue[Run | None] = queue.SimpleQueue()
        for run in (*runs, *[None] * count):
            waiting.put(run)
        happened: queue.SimpleQueue[Event | BaseException] = queue.SimpleQueue()
        workers = self._workers(count)
        threads = [
            threading.Thread(target=_work, args=(worker, waiting, happened, store), daemon=True) for worker in workers
        ]
        try:
            for thread in threads:
                thread.start()
            _tell(happened, len(runs), tell)
        finally:
            for worker in workers:
                worker.stop()
            for thread in threads:
                thread.join()

    def _workers(self, count: int) -> list[WorkerProcess]:
        threads = max(1, usable_cores() // self.at_once)  # the same however few runs are left: it changes rounding
        gpus = _gpus() if self.device is None else []
        return [
            WorkerProcess(threads, self.device, gpus[index % len(gpus)] if gpus else None) for index in range(count)
        ]


def _tell(happened: "queue.SimpleQueue[Event | BaseException]", runs: int, tell: Tell) -> None:
    while runs:
        event = happened.get()
        if isinstance(event, BaseException):
            raise event
        runs -= not isinstance(event, Step)
        tell(event)


def _work(
    worker: WorkerProcess,
    waiting: "queue.SimpleQueue[Run | None]",
    happened: "queue.SimpleQueue[Event | BaseException]",
    store: Store,
) -> None:
    """What a thread does: runs in one process until there are none, or until the process is stopped."""
    try:
        while (run := waiting.get()) is not None and not worker.stopped:
            for event in _tried(worker, run, store):
                happened.put(event)
    except BaseException as error:  # noqa: BLE001  raised again by whoever reads the events
        happened.put(error)
    finally:
        worker.close()


def _tried(worker: WorkerProcess, run: Run, store: Store) -> Iterator[Event]:
    lost = "it was not begun"
    for _ in range(TRIES):
        try:
            yield from _once(worker, run, store)
            return
        except LostWorkerError as error:
            lost = str(error)
            if not error.killed:
                break
    else:
        lost += f", {TRIES} times in all; a run that needs more memory than there is ends so"
    yield Failure(run, f"The run was not finished: {lost}.")


def _once(worker: WorkerProcess, run: Run, store: Store) -> Iterator[Event]:
    for fields in worker.ask(run, store.work(run)):
        if "result" in fields:
            yield Result.from_dict(fields["result"])
        elif "failed" in fields:
            yield Failure(run, fields["failed"])
        else:
            yield Step(run, fields["done"], fields["steps"])


def _gpus() -> list[str]:
    """The names by which CUDA lets a process see one GPU each."""
    import torch

    listed = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return listed or [str(index) for index in range(torch.cuda.device_count())]
