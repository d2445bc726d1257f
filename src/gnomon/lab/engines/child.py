"""The process that a local engine starts: it does the runs that it reads, one line each, until there is nobody to read.

It is started by its module's name, with the number of its threads and its device. What it prints goes to stderr.
"""

import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, TextIO, final


@final
class Answers:
    """Writes lines of JSON to whoever started this process."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, **fields: Any) -> None:
        """One line."""
        self._stream.write(json.dumps(fields) + "\n")
        self._stream.flush()

    def step(self, done: int, steps: int) -> None:
        """How far the run is."""
        self.write(done=done, steps=steps)


def answer(fields: dict[str, Any], answers: Answers, device: str | None) -> None:
    """Do one run and write its result, or what went wrong."""
    from gnomon.lab.engines.sweep import Seldom
    from gnomon.lab.experiments import Context
    from gnomon.lab.worker import perform, sentence
    from gnomon.report.lab.results import Run

    run = Run.from_dict(fields["run"])
    try:
        context = Context(run.seed, folder=Path(fields["folder"]), device=device, progress=Seldom(answers.step))
        answers.write(result=perform(run, context).to_dict())
    except Exception as error:  # noqa: BLE001  an error of any kind is that of one run, and the next is done
        answers.write(failed=sentence(error))


def serve(threads: int, device: str | None) -> None:
    """Do runs as long as they come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    answers = Answers(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    import torch

    torch.set_num_threads(threads)
    while True:
        answer(json.loads(lines.get()), answers, device)


def _listen(lines: "queue.SimpleQueue[str]") -> None:
    """Take lines as they come; when there are no more, nobody waits for what is computed, and the process ends."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]), None if sys.argv[2] == "auto" else sys.argv[2])
