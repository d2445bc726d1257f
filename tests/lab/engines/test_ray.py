"""Ray, on a cluster of one core that the test starts: the same numbers, whatever happens to its workers."""

import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines.ray import Ray
from gnomon.lab.worker import RESUMED
from gnomon.report.lab.results import Result
from gnomon.report.lab.study import Failure
from tests.helpers.lab_runs import LONG, Told, killed_at_first_checkpoint, same_as_undisturbed, store_in, tiny

BAD = tiny("nosuch")
SHORT = tiny("rotary", 1)
KILLED = tiny("rotary", 2, **LONG)


def ray_worker() -> int:
    """The process that does a run now: Ray names it after the function."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_text().startswith("ray::remote"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    [worker] = found
    return worker


@dataclass(frozen=True)
class Done:
    results: list[Result]
    failures: list[Failure]
    told: Told
    killed: list[int]
    variables: dict[str, str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The runs of test_local.py."""
    store, told, before = store_in(tmp_path_factory.mktemp("store")), Told(), dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gnomon.lab.engines.ray.usable_cores", lambda: 1)
        with killed_at_first_checkpoint(store, KILLED, ray_worker) as killed:
            results, failures = Ray(workers=1).perform([BAD, SHORT, KILLED], store, told)
    changed = {name: value for name, value in os.environ.items() if before.get(name) != value}
    return Done(results, failures, told, killed, changed)


def test_results_are_those_of_this_process_bit_for_bit(done: Done) -> None:
    [short, _] = done.results
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


def test_what_ended_is_told(done: Done) -> None:
    assert [standing.finished for standing in done.told.standings] == [1, 2, 3]


def test_nothing_is_left_behind(done: Done) -> None:
    import ray

    assert not ray.is_initialized()
    assert not [name for name in done.variables if name.startswith("RAY_USAGE")]


def test_an_address_that_does_not_answer_is_refused_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(
        GnomonError, match=rf"^Nothing answers at 127\.0\.0\.1:{port}: .*; start the cluster, or give its"
    ):
        Ray(address=f"127.0.0.1:{port}")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("address", ["", "host", "host:", "host:port", "ray://host"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(GnomonError, match=r"^The address of a Ray cluster is HOST:PORT or auto, got"):
        Ray(address=address)


def test_no_cluster_to_be_found_is_said(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"^There is no Ray cluster at 'auto'"):
        Ray(address="auto").perform([SHORT], store_in(tmp_path))


def test_workers_are_for_this_machine() -> None:
    with pytest.raises(GnomonError, match="as many runs at once as it has cores"):
        Ray(workers=2, address="auto")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(GnomonError, match=r"pip install 'gnomon\[lab\]'"):
        Ray()
