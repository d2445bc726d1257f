"""Claim 40: positions in data-parallel processes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, told
from gnomon.lab.claims.meeting import PROCESSES
from gnomon.lab.experiments.context import Context

PATIENCE = 120.0  #: seconds


@claim(40, "5.4")
@final
class RanksAgree(Measured):
    """Two processes under DistributedDataParallel: a plain tensor that is computed, a buffer that starts unequal."""

    seeded = False
    statement = "Data-parallel processes disagree unless the position table is an nn.Parameter."
    truth = (
        "No: buffers are broadcast from the first process too, and a table that is computed the same way is the same. "
        "A plain tensor only stays behind when the model moves to another device."
    )
    gnomon = "derived from options in every process; `PE604`, `PE610`, `PE602`"

    def measure(self, context: Context) -> dict[str, float]:
        try:
            return self._met()
        except GnomonError:  # on a busy machine connections are lost now and then
            return self._met()

    def _met(self) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            started = [self._start(rank, Path(folder)) for rank in range(PROCESSES)]
            try:
                said = [process.communicate(timeout=PATIENCE) for process in started]
            finally:
                for process in started:
                    process.kill()
        if any(process.returncode for process in started):
            last = [line for _, complaints in said for line in complaints.splitlines() if line][-1:]
            raise GnomonError(f"Two processes could not be joined on this machine: {' '.join(last)}")
        numbers: dict[str, float] = json.loads(said[0][0])
        return numbers

    def judge(self, numbers: Numbers) -> Said:
        plain, before = numbers["computed tensor"].high, numbers["buffer before"].low
        after = numbers["buffer after"].high
        seen = (
            f"In two processes a computed table that is a plain tensor differs by {plain:g}; a buffer that started "
            f"{told(numbers['buffer before'])} apart is {after:g} apart once the model is wrapped."
        )
        return Said("fails" if not plain and before and not after else "holds", seen)

    @staticmethod
    def _start(rank: int, folder: Path) -> "subprocess.Popen[str]":
        words = [sys.executable, "-P", "-m", "gnomon.lab.claims.meeting", str(rank), str(folder / "meeting")]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(words, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
