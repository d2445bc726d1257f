"""How much memory a piece of code needs at its peak, measured in a process of its own."""

import json
import os
import subprocess
import sys
from typing import Any

from gnomon.errors import GnomonError

#: glibc then serves larger blocks by mmap and gives them back when they are freed, so what is resident is in use.
MMAP_THRESHOLD = 64 * 1024
LONGEST_SECONDS = 600.0


def peak_growth(code: str, *, threads: int = 1, **values: Any) -> int:
    """Peak resident bytes of a fresh Python process while `run` runs, above the level just before.

    `code` defines `setup(**values)`, whose result `run(thing)` gets, and may define `warm_up(thing)`, which is called
    before the level is taken: for the first call of a library, which loads code. What `run` returns is held, so it
    counts; what `setup` made is there before, so it does not. `values` are JSON values. Where freed memory goes would
    hide or add megabytes: the process gives back what is freed (glibc), and computes with `threads` threads.

    The level is good to about a tenth of a megabyte. Raises GnomonError where the system has no /proc that tells
    resident memory (Linux has), and when the code fails: its traceback is the error's note.

    >>> growth = peak_growth("def setup(size): return size\\ndef run(size): return bytearray(size)", size=30_000_000)
    >>> 29_900_000 < growth < 31_000_000
    True
    """
    if not can_measure():
        raise GnomonError("Peak memory is read from /proc/self/status, which this system lacks; measure on Linux.")
    return int(in_fresh_process({"code": code, "values": values, "threads": threads})["growth"])


def can_measure() -> bool:
    """Whether this system tells the resident memory of a process, as Linux does."""
    return sys.platform == "linux" and os.path.exists("/proc/self/status")


def available() -> int:
    """Bytes of memory that the system says can be had without swapping; none where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return 0


def in_fresh_process(task: dict[str, Any]) -> dict[str, Any]:
    """What `gnomon.bench.child` answers to a task in a Python process of its own; the same threads for all libraries.

    Raises GnomonError when it fails or takes longer than ten minutes.
    """
    own = {
        "OMP_NUM_THREADS": str(task["threads"]),
        "MKL_NUM_THREADS": str(task["threads"]),
        "MALLOC_MMAP_THRESHOLD_": str(MMAP_THRESHOLD),
        "MALLOC_TRIM_THRESHOLD_": str(MMAP_THRESHOLD),
        "MALLOC_ARENA_MAX": "1",
    }
    command = [sys.executable, "-m", "gnomon.bench.child"]
    try:
        ended = subprocess.run(
            command,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            env={**os.environ, **own},
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise GnomonError(f"The measured code took longer than {LONGEST_SECONDS:.0f} s; give it less to do.") from late
    if ended.returncode:
        lines = ended.stderr.strip().splitlines() or ["no word"]
        error = GnomonError(f"The measured code ended with code {ended.returncode}: {lines[-1]}")
        error.add_note(ended.stderr)
        raise error
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer
