"""Processes on this machine: the same numbers as in this process, whatever happens to them on the way."""

import os
from dataclasses import dataclass

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines.local import Local
from gnomon.lab.worker import RESUMED
from gnomon.report.lab.results import Result
from gnomon.report.lab.study import Failure
from tests.helpers.lab_runs import LONG, Told, children, killed_at_first_checkpoint, same_as_undisturbed, store_in, tiny

BAD = tiny("nosuch")
SHORT = tiny("rotary", 1)
KILLED = tiny("rotary", 2, **LONG)


@dataclass(frozen=True)
class Done:
    """What one worker with one thread did: a run that is refused, a short one, and one in which it was killed."""

    results: list[Result]
    failures: list[Failure]
    told: Told
    killed: list[int]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    store, told = store_in(tmp_path_factory.mktemp("store")), Told()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gnomon.lab.engines.local.usable_cores", lambda: 1)
        with killed_at_first_checkpoint(store, KILLED, lambda: children(os.getpid())[0]) as killed:
            results, failures = Local(1).perform([BAD, SHORT, KILLED], store, told)
    return Done(results, failures, told, killed)


def test_results_are_those_of_this_process_bit_for_bit(done: Done) -> None:
    short = done.results[0]
    assert short.run == SHORT
    assert same_as_undisturbed(short)


def test_a_run_whose_worker_was_killed_goes_on_to_the_same_result(done: Done) -> None:
    assert len(done.killed) == 1
    assert done.results[1].notes == (RESUMED,)
    assert same_as_undisturbed(done.results[1], **LONG)


def test_a_run_that_is_refused_is_told_by_its_sentence(done: Done) -> None:
    [failure] = done.failures
    assert failure.run == BAD
    assert failure.message.startswith("No encoding is called 'nosuch'.")


def test_steps_are_told_on_the_way(done: Done) -> None:
    steps = [standing.done for standing in done.told.standings if standing.run == KILLED]
    assert len(set(steps)) > 1
    assert steps[-1] == LONG["steps"]


def test_an_engine_has_a_worker() -> None:
    with pytest.raises(GnomonError, match="at least 1 worker, got 0"):
        Local(0)
