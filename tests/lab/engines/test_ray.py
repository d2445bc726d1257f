"""Ray, on a cluster of one core that the test starts: the same numbers, whatever happens to its workers."""

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines.ray import Ray
from gnomon.lab.worker import RESUMED
from tests.helpers.lab_runs import LONG, Told, children, killed_at_first_checkpoint, same_as_undisturbed, store_in, tiny

BAD = tiny("nosuch")
SHORT = tiny("rotary", 1)
KILLED = tiny("rotary", 2, **LONG)


def ray_worker() -> int:
    """The process that does a run now, below this one: Ray names it after the function."""
    waiting, found = [os.getpid()], []
    while waiting:
        pid = waiting.pop()
        with suppress(OSError):
            waiting += children(pid)
            found += [pid] if Path(f"/proc/{pid}/cmdline").read_text().startswith("ray::remote") else []
    [worker] = found
    return worker


def test_a_cluster_gives_the_numbers_of_this_process_whatever_happens_to_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs of test_local.py, so that both engines give the same."""
    import ray

    monkeypatch.setattr("gnomon.lab.engines.ray.usable_cores", lambda: 1)  # one thread
    store, told = store_in(tmp_path), Told()
    with killed_at_first_checkpoint(store, KILLED, ray_worker) as killed:
        [short, resumed], [failure] = Ray(workers=1).perform([BAD, SHORT, KILLED], store, told)
    assert short.run == SHORT
    assert same_as_undisturbed(short)

    assert len(killed) == 1
    assert resumed.notes == (RESUMED,)
    assert same_as_undisturbed(resumed, **LONG)

    assert failure.run == BAD
    assert failure.message.startswith("No encoding is called 'nosuch'.")

    assert [standing.finished for standing in told.standings] == [1, 2, 3]
    assert not ray.is_initialized()
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ


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
