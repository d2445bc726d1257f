"""Runs that take a second, a store for them, and someone who remembers what was said of them."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from gnomon.lab.engines import Standing
from gnomon.lab.experiments import Context
from gnomon.lab.machine import versions
from gnomon.lab.store import Store, shown_as
from gnomon.lab.worker import perform
from gnomon.report.lab.results import Result, Run


def tiny(variant: str = "rotary", seed: int = 0, *, steps: int = 5, save_every: int = 1000, **training: Any) -> Run:
    """Copying up to three symbols with a model of 16 numbers a token."""
    options = {
        "task": {"task": "copy"},
        "lengths": [2, 3],
        "measures": [{"measure": "training_loss"}, {"measure": "exact_match", "lengths": [3], "rows": 20}],
        "model": {"dim": 16, "num_layers": 1, "num_heads": 2, "encoding": {"encoding": variant}},
        "training": {"steps": steps, "batch_size": 4, "save_every": save_every, **training},
    }
    return Run("train", "copy", variant, seed, options)


def store_in(folder: Path) -> Store:
    return Store(folder, {**versions(), "device": "cpu"})


class Told:
    """Remembers; and may do something when it is told of a step."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.standings: list[Standing] = []

    def note(self, words: str) -> None:
        self.notes.append(words)

    def show(self, standing: Standing) -> None:
        self.standings.append(standing)


def children(pid: int) -> list[int]:
    """The processes that this one started and that are alive."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in path.read_text().split()]
    return found


@contextmanager
def killed_at_first_checkpoint(store: Store, run: Run, worker: Callable[[], int]) -> Iterator[list[int]]:
    """Kill -9 the process that `worker` finds, as soon as the run has a checkpoint; yield what was killed."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not list(store.work(run).glob("checkpoint.pt")):
            if over.wait(0.002):
                return
        killed.append(worker())
        os.kill(killed[0], signal.SIGKILL)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        over.set()
        watcher.join()


LONG = {"steps": 150, "save_every": 15}  #: options of a run that is long enough to be killed in the middle


@cache
def undisturbed(variant: str, seed: int, threads: int, **options: int) -> Result:
    """What this process computes for a tiny run, from the start to the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        run = tiny(variant, seed, **options)
        return shown_as(perform(run, Context(seed)), run)
    finally:
        torch.set_num_threads(before)


def same_as_undisturbed(result: Result, **options: int) -> bool:
    """Bit for bit."""
    threads = int(result.environment["threads"])
    return result.measured == undisturbed(result.run.variant, result.run.seed, threads, **options).measured
