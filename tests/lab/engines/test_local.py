"""Processes on this machine: the same numbers as in this process, whatever happens to them on the way."""

import os
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines.local import Local
from gnomon.lab.worker import RESUMED
from tests.helpers.lab_runs import LONG, Told, children, killed_at_first_checkpoint, same_as_undisturbed, store_in, tiny

BAD = tiny("nosuch")
SHORT = tiny("rotary", 1)
KILLED = tiny("rotary", 2, **LONG)


def test_a_worker_gives_the_numbers_of_this_process_whatever_happens_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker does a run that is refused, a short one, and one in which it is killed."""
    monkeypatch.setattr("gnomon.lab.engines.local.usable_cores", lambda: 1)  # one thread
    store, told = store_in(tmp_path), Told()
    with killed_at_first_checkpoint(store, KILLED, lambda: children(os.getpid())[0]) as killed:
        [short, resumed], [failure] = Local(1).perform([BAD, SHORT, KILLED], store, told)
    assert short.run == SHORT
    assert same_as_undisturbed(short)

    assert len(killed) == 1
    assert resumed.notes == (RESUMED,)
    assert same_as_undisturbed(resumed, **LONG)

    assert failure.run == BAD
    assert failure.message.startswith("No encoding is called 'nosuch'.")

    steps = [standing.done for standing in told.standings if standing.run == KILLED]
    assert len(set(steps)) > 1
    assert steps[-1] == LONG["steps"]


def test_an_engine_has_a_worker() -> None:
    with pytest.raises(GnomonError, match="at least 1 worker, got 0"):
        Local(0)
