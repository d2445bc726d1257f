"""The whole command, in processes of its own: killed in the middle and given again, and started by torchrun."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gnomon.lab.worker import RESUMED
from gnomon.report.lab.results import Result
from tests.helpers.lab_runs import LONG, children, same_as_undisturbed, store_in, tiny, undisturbed

ROOT = Path(__file__).parents[2]
TINY = ("-m", "tests.helpers.lab_suite", "lab", "tiny")


def command(folder: Path, *words: str) -> dict[str, Any]:
    """What starts `gnomon lab tiny` in a process, in a folder, with one core and one thread."""
    return {
        "args": [sys.executable, *words, "-o", str(folder)],
        "cwd": ROOT,
        "env": {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "preexec_fn": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    }


def results(folder: Path) -> list[Result]:
    return [Result.from_dict(told) for told in json.loads((folder / "study.json").read_text())["results"]]


def until_gone(pid: int) -> bool:
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            return True
        time.sleep(0.1)
    return False


def test_a_command_that_was_killed_goes_on_from_the_checkpoint_to_the_same_numbers(tmp_path: Path) -> None:
    checkpoint = store_in(tmp_path).work(tiny("rotary", **LONG)) / "checkpoint.pt"
    first = subprocess.Popen(**command(tmp_path, *TINY, "--seeds", "1"))
    while not checkpoint.exists():
        assert first.poll() is None
        time.sleep(0.005)
    [worker] = children(first.pid)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert until_gone(worker)
    assert checkpoint.exists()
    assert not (tmp_path / "study.json").exists()

    second = subprocess.run(**command(tmp_path, *TINY, "--seeds", "1"), check=False)
    assert second.returncode == 0, second.stderr
    [result] = results(tmp_path)
    assert result.notes == (RESUMED,)
    assert same_as_undisturbed(result, **LONG)
    assert not (tmp_path / "work").exists()


def test_torchrun_does_each_run_with_all_processes_and_one_of_them_reports(tmp_path: Path) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    ended = subprocess.run(**command(tmp_path, *torchrun, *TINY, "--quick", "--seeds", "1"), check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("gnomon lab tiny (quick)") == 1
    assert ended.stderr.count("gnomon: wrote report.html") == 1
    rotary, alibi = results(tmp_path)
    assert rotary.environment["processes"] == alibi.environment["processes"] == "2"
    expected = undisturbed("rotary", 0, 1).measured["rotary"]["training_loss"].value()
    assert rotary.measured["rotary"]["training_loss"].value() == pytest.approx(expected, rel=1e-5)
