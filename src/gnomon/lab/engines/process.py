"""One worker process, as whoever started it sees it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, final

from gnomon.report.lab.results import Run

CHILD = "gnomon.lab.engines.child"
WAIT = 5.0  #: seconds for a process to end by itself


@final
class LostWorkerError(Exception):
    """The process ended in the middle of a run. `killed`: by a signal, as when memory runs out."""

    def __init__(self, message: str, *, killed: bool) -> None:
        super().__init__(message)
        self.killed = killed


@final
class WorkerProcess:
    """Starts its process when it is first asked for something, and again after one was lost."""

    def __init__(self, threads: int, device: str | None, gpu: str | None = None) -> None:
        self._words = (str(threads), device or "auto")
        self._variables = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        if gpu is not None:
            self._variables["CUDA_VISIBLE_DEVICES"] = gpu
        self._process: subprocess.Popen[str] | None = None
        self._lock, self._stopped = threading.Lock(), False
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115

    def ask(self, run: Run, folder: Path) -> Iterator[Mapping[str, Any]]:
        """Lines about a run; the last has "result" or "failed". Raises LostWorkerError."""
        process = self._started()
        with suppress(OSError):  # it has gone, which the end of its lines tells
            _stream(process.stdin).write(json.dumps({"run": run.to_dict(), "folder": str(folder)}) + "\n")
            _stream(process.stdin).flush()
        for line in _stream(process.stdout):
            if not line.endswith("\n"):
                break
            fields = json.loads(line)
            yield fields
            if "steps" not in fields:
                return
        raise self._lost(process)

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """End the process at once, from any thread; none is started after that."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process and free what it held; for the thread that asks."""
        self.stop()
        if self._process is not None:
            _end(self._process)
        self._complaints.close()

    def _started(self) -> "subprocess.Popen[str]":
        with self._lock:
            if self._stopped:
                raise LostWorkerError("it was stopped", killed=False)
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", CHILD, *self._words],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._complaints,
                    text=True,
                    encoding="utf-8",
                    env={**os.environ, **self._variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )
            return self._process

    def _lost(self, process: "subprocess.Popen[str]") -> LostWorkerError:
        with self._lock:
            self._process = None
        code = _end(process)
        if code < 0:
            return LostWorkerError(f"its process was ended by {_signal_name(-code)}", killed=True)
        return LostWorkerError(f"its process ended with {code}{self._last_words()}", killed=False)

    def _last_words(self) -> str:
        """The last line of what it wrote to stderr."""
        self._complaints.seek(0)
        words = [line.strip() for line in self._complaints if line.strip()]
        return f": {words[-1]}" if words else ""


def _end(process: "subprocess.Popen[str]") -> int:
    """Wait for a process that is ending; one that does not is killed."""
    with suppress(OSError):
        _stream(process.stdin).close()
    try:
        code = process.wait(WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    _stream(process.stdout).close()
    return code


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None  # it was asked for
    return stream


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
