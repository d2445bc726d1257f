"""What runs in the fresh process of a measurement: `python -m gnomon.bench.child`, a task on stdin, JSON on stdout."""

import ctypes
import gc
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, TypeVar

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  #: sets the highest resident size back to the present one, see proc(5)
BETWEEN_SAMPLES = 0.0005  #: seconds

T = TypeVar("T")


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """Peak growth in bytes and seconds of the code's `run`; see `gnomon.bench.memory.peak_growth`.

    Code that defines `tell(thing, result)` adds what that returns.
    """
    names: dict[str, Any] = {"__name__": "measured"}
    exec(compile(task["code"], "<measured>", "exec"), names)
    thing = names["setup"](**task["values"])
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(task["threads"])
    if "warm_up" in names:
        names["warm_up"](thing)
    started = time.perf_counter()
    result, growth = peak_while(lambda: names["run"](thing))
    seconds = time.perf_counter() - started
    more = names["tell"](thing, result) if "tell" in names else {}
    return {"growth": growth, "seconds": seconds, **more}


def peak_while(work: Callable[[], T]) -> tuple[T, int]:
    """What `work` returns, and how far above the level before it resident memory went, in bytes.

    The system's own mark of the highest level is used where it may be reset, else a thread that looks often.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    if reset_peak():
        result = work()
        return result, max(0, resident("VmHWM") - before)
    sampler = _Sampler()
    with sampler:
        result = work()
    return result, max(0, sampler.highest - before)


def reset_peak() -> bool:
    """Set the mark of the highest resident size back; False where this is not allowed or has no effect."""
    try:
        CLEAR.write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return resident("VmHWM") - resident("VmRSS") < 1 << 20


def resident(field: str) -> int:
    """A size of this process from /proc/self/status, such as VmRSS, in bytes."""
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


class _Sampler:
    """A thread that notes the highest resident size while it is open; code that keeps Python's lock hides from it."""

    def __init__(self) -> None:
        self.highest = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.highest = max(self.highest, resident("VmRSS"))
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(BETWEEN_SAMPLES):
            self.highest = max(self.highest, resident("VmRSS"))


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # what the measured code prints is no part of the answer
        answer = measured(json.load(sys.stdin))
    json.dump(answer, sys.stdout)
