"""Workers that are lost, refused or stopped, with a process of the test's own that needs no torch."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.lab.engines import Standing, process
from gnomon.lab.engines.local import Local
from gnomon.lab.machine import usable_cores
from gnomon.report.lab.results import Result, Run
from gnomon.report.lab.study import Failure
from tests.helpers.lab_runs import Told, children, store_in


@pytest.fixture(autouse=True)
def light_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(process, "CHILD", "tests.helpers.lab_child")
    before = children(os.getpid())
    yield
    assert children(os.getpid()) == before  # no process is left, whatever happened


def run(variant: str, seed: int = 0) -> Run:
    return Run("train", "copy", variant, seed, {"variant": variant})


def perform(folder: Path, *runs: Run, workers: int = 1) -> tuple[list[Result], list[Failure]]:
    return Local(workers).perform(runs, store_in(folder))


def tries(result: Result) -> float | None:
    return result.measured[result.run.variant]["tries"].value()


def test_a_run_whose_worker_is_killed_is_begun_anew(tmp_path: Path) -> None:
    [result], failures = perform(tmp_path, run("killed once"))
    assert failures == []
    assert tries(result) == 2


def test_a_run_whose_worker_is_killed_three_times_is_a_failure_and_the_rest_goes_on(tmp_path: Path) -> None:
    results, [failure] = perform(tmp_path, run("killed"), run("well"))
    assert [result.run.variant for result in results] == ["well"]
    assert failure.run == run("killed")
    assert failure.message == (
        "The run was not finished: its process was ended by SIGKILL, 3 times in all; "
        "a run that needs more memory than there is ends so."
    )
    assert len(list(store_in(tmp_path).work(run("killed")).iterdir())) == 3


def test_a_line_that_is_cut_off_is_no_result(tmp_path: Path) -> None:
    _, [failure] = perform(tmp_path, run("cut"))
    assert "SIGKILL, 3 times" in failure.message


def test_a_worker_that_ends_by_itself_is_not_tried_again_and_its_last_words_are_told(tmp_path: Path) -> None:
    _, [failure] = perform(tmp_path, run("exits"))
    assert failure.message == "The run was not finished: its process ended with 3: words."
    assert len(list(store_in(tmp_path).work(run("exits")).iterdir())) == 1


def test_a_run_that_is_refused_is_not_tried_again(tmp_path: Path) -> None:
    _, [failure] = perform(tmp_path, run("refused"))
    assert failure.message == "It is refused."
    assert len(list(store_in(tmp_path).work(run("refused")).iterdir())) == 1


def test_one_process_does_many_runs(tmp_path: Path) -> None:
    results, _ = perform(tmp_path, *(run("well", seed) for seed in range(5)))
    assert len({result.environment["pid"] for result in results}) == 1


@pytest.mark.parametrize(("workers", "runs", "threads"), [(1, 3, "5"), (2, 3, "2"), (2, 1, "2"), (3, 2, "1")])
def test_processes_are_no_more_than_workers_and_share_the_cores_however_few_runs_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, runs: int, threads: str
) -> None:
    monkeypatch.setattr("gnomon.lab.engines.local.usable_cores", lambda: 5)
    results, _ = perform(tmp_path, *(run("well", seed) for seed in range(runs)), workers=workers)
    assert len({result.environment["pid"] for result in results}) <= min(workers, runs)
    assert {result.environment["threads"] for result in results} == {threads}
    assert {result.environment["words"] for result in results} == {str([threads, "cpu"])}


def test_by_default_every_usable_core_has_a_worker() -> None:
    assert Local().at_once == usable_cores() == len(os.sched_getaffinity(0))


class Interrupting(Told):
    def show(self, standing: Standing) -> None:
        raise KeyboardInterrupt


def test_an_interruption_stops_workers_in_the_middle_of_their_runs(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Local(2).perform([run("sleeps"), run("sleeps", 1)], store_in(tmp_path), Interrupting())
    assert time.monotonic() - started < 10


def test_the_real_worker_ends_when_nobody_is_left_to_read_from() -> None:
    command = [sys.executable, "-m", "gnomon.lab.engines.child", "1", "cpu"]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    worker.communicate(timeout=30)
    assert worker.returncode == 0


def test_signals_without_a_name_have_a_number() -> None:
    assert process._signal_name(signal.SIGSEGV) == "SIGSEGV"
    assert process._signal_name(63) == "signal 63"
