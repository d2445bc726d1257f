"""Runs on a Ray cluster: one that is there, by its address, or one of this machine's cores alone."""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from gnomon.errors import GnomonError
from gnomon.lab.engines.base import TRIES, Engine, Tell
from gnomon.lab.machine import usable_cores
from gnomon.lab.store import Store
from gnomon.report.lab.results import Result, Run
from gnomon.report.lab.study import Failure

PATIENCE = 5.0  #: seconds for an address to answer
SMALLEST_STORE = 80 * 1024**2  #: bytes for objects: runs and results are small
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@final
class Ray(Engine):
    """`address`: HOST:PORT of a cluster, or "auto" for the one that this machine belongs to; None starts one here.

    Runs go out and results come back by value, so the machines need gnomon and no shared disk; with one, a run whose
    worker is lost goes on from its checkpoint. A cluster that was there is left as it was.
    """

    def __init__(self, workers: int | None = None, device: str | None = "cpu", address: str | None = None) -> None:
        if workers is not None and address is not None:
            raise GnomonError("A cluster does as many runs at once as it has cores; workers are for this machine.")
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise GnomonError("This engine is Ray; install it with `pip install 'gnomon[lab]'`.") from error
        if address is not None:
            _require_answer(address)
        self.at_once = workers or usable_cores()
        self.device, self.address = device, address

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        with self._cluster():
            import ray

            under_way = self._submit(runs, store)
            while under_way:
                [ready, *_], _ = ray.wait(list(under_way), num_returns=1)
                tell(_end(under_way.pop(ready), ready))

    @contextmanager
    def _cluster(self) -> Iterator[None]:
        """Join or start a cluster, unless the program has done so; leave what was joined, end what was started."""
        import ray

        if ray.is_initialized():
            yield
            return
        started = {} if self.address else {"num_cpus": self.at_once, "object_store_memory": SMALLEST_STORE}
        with _set(QUIET):
            try:
                ray.init(
                    address=self.address or "local",
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    **started,
                )
            except (ConnectionError, SystemExit) as error:  # it exits after minutes, when something else answers
                raise GnomonError(f"There is no Ray cluster at {self.address!r}; give its HOST:PORT.") from error
        try:
            yield
        finally:
            ray.shutdown()

    def _submit(self, runs: Sequence[Run], store: Store) -> dict[Any, Run]:
        """Tasks by their reference."""
        import ray

        resources = ray.cluster_resources()
        cores, gpus = resources.get("CPU", 1.0), resources.get("GPU", 0.0)
        threads = 1 if self.address else max(1, usable_cores() // self.at_once)
        share = min(1.0, gpus / cores) if self.device is None else 0.0
        self.at_once = int(cores)
        task = ray.remote(num_cpus=1, num_gpus=share, max_retries=TRIES - 1, retry_exceptions=False)(remote)
        return {task.remote(run.to_dict(), str(store.work(run).absolute()), threads, self.device): run for run in runs}


def remote(run: Mapping[str, Any], folder: str, threads: int, device: str | None) -> dict[str, Any]:
    """What a task does: {"result": ...} or {"failed": why}."""
    import torch

    from gnomon.lab.experiments import Context
    from gnomon.lab.worker import perform, sentence

    torch.set_num_threads(threads)
    given = Run.from_dict(run)
    try:
        return {"result": perform(given, Context(given.seed, folder=Path(folder), device=device)).to_dict()}
    except Exception as error:  # noqa: BLE001  an error of any kind is that of one run, and the others go on
        return {"failed": sentence(error)}


def _end(run: Run, reference: Any) -> Result | Failure:
    import ray

    try:
        fields = ray.get(reference)
    except ray.exceptions.RayError as error:
        words = str(error).strip().splitlines()
        return Failure(run, f"The run was not finished: {type(error).__name__}: {words[0] if words else ''}")
    return Result.from_dict(fields["result"]) if "result" in fields else Failure(run, fields["failed"])


def _require_answer(address: str) -> None:
    """Raise unless something listens there; "auto" is found by Ray itself."""
    if address == "auto":
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        raise GnomonError(f"The address of a Ray cluster is HOST:PORT or auto, got {address!r}.")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise GnomonError(f"Nothing answers at {address}: {error}; start the cluster, or give its address.") from error


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for a while; those that the user has set stay as they are."""
    ours = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]
