"""The engine that a user asks for."""

from typing import Literal, get_args

from gnomon.errors import GnomonError
from gnomon.lab.engines.base import Engine
from gnomon.lab.engines.launched import processes
from gnomon.lab.engines.local import Local

Name = Literal["local", "ray"]


def choose(
    name: Name = "local", *, device: str | None = "cpu", workers: int | None = None, address: str | None = None
) -> Engine:
    """An engine by name; under `torchrun` or `accelerate launch`, the one that uses all their processes.

    `device` is "cpu", or None for what there is; `workers`: how many runs at once on this machine; `address`: of a Ray
    cluster. Raises GnomonError for what does not fit together.

    >>> choose("local", workers=2).at_once
    2
    """
    if name not in get_args(Name):
        raise GnomonError(f"The engines are {' and '.join(get_args(Name))}, got {name!r}.")
    if workers is not None and workers < 1:
        raise GnomonError(f"Runs need at least 1 worker, got {workers}.")
    if address is not None and name != "ray":
        raise GnomonError("An address is that of a Ray cluster; choose the engine ray.")
    if processes() > 1:
        return _together(name, device, workers)
    if name == "local":
        return Local(workers, device)
    from gnomon.lab.engines.ray import Ray

    return Ray(workers, device, address)


def _together(name: str, device: str | None, workers: int | None) -> Engine:
    if name != "local" or workers is not None:
        raise GnomonError("Processes that are launched together do each run together: leave out engine and workers.")
    from gnomon.lab.engines.together import Together

    return Together(device)
