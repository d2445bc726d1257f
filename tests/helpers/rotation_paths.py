"""One path of the rotation wherever it can serve, for tests that are about something else than its refusals."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch

from gnomon.kernels.rotary import PATHS, ROTATION, apply, choosing
from gnomon.kernels.rotary.path import Path, Request
from gnomon.kernels.rotary.turn import Turn
from gnomon.kernels.rotation import Layout


def runnable() -> list[str]:
    """The paths that serve some plain request on this machine."""
    x, rows = torch.ones(1, 1, 2, 4), torch.ones(1, 2, 2)
    layouts: tuple[Layout, ...] = ("half", "interleaved")
    requests = [Request((x,), None, Turn(rows, rows, None, layout)) for layout in layouts]
    return [name for name, path in PATHS.items() if any(path.refusal(request) is None for request in requests)]


@contextmanager
def preferring(name: str | None) -> Iterator[Counter[str]]:
    """Force a path where it can serve, and choose as usual where it cannot. Counts what served; None forces nothing.

    Outside of tests a forced path that cannot serve is an error.
    """
    served: Counter[str] = Counter()

    def counted(request: Request) -> Path:
        path = choosing.chosen(request)
        served[path.name] += 1
        return path

    def otherwise(name: str, reason: str, request: Request) -> Path:
        return choosing.by_table(request)

    if name is None:
        yield served
        return
    with ROTATION.using(name), patch.object(choosing, "unable", otherwise), patch.object(apply, "chosen", counted):
        yield served
