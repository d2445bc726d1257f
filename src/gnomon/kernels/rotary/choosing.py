"""Which way a rotation goes: the first in the table that can, or the one that is forced."""

from typing import Final

import torch

from gnomon.errors import GnomonError
from gnomon.kernels.paths import Choice
from gnomon.kernels.rotary.addcmul import Addcmul
from gnomon.kernels.rotary.compiled import Compiled
from gnomon.kernels.rotary.complex_product import ComplexProduct
from gnomon.kernels.rotary.eager import Eager
from gnomon.kernels.rotary.on_gpu import OnGPU
from gnomon.kernels.rotary.path import Path, Request
from gnomon.kernels.rotary.traceable import Traceable

#: Every way by name.
PATHS: Final[dict[str, Path]] = {
    path.name: path for path in (Eager(), Addcmul(), ComplexProduct(), Compiled(), Traceable(), OnGPU())
}

#: Forces a way, in this thread or task.
ROTATION: Final = Choice("rotation", ("eager", "addcmul", "complex", "native", "traceable", "triton"))

#: From the first to the last choice.
ORDER: Final = ("triton", "native", "complex", "addcmul", "eager")

IN_GRAPHS: Final = "eager"


def chosen(request: Request) -> Path:
    """The forced way if there is one, else `by_table`. Raises GnomonError where the forced one cannot serve."""
    name = _forced_in_graph() or IN_GRAPHS if torch.compiler.is_compiling() else ROTATION.forced
    if name is None:
        return by_table(request)
    reason = PATHS[name].refusal(request)
    return PATHS[name] if reason is None else unable(name, reason, request)


def by_table(request: Request) -> Path:
    """The first way of the table that can serve the request; the last one can serve all."""
    return next(PATHS[name] for name in ORDER if PATHS[name].refusal(request) is None)


def unable(name: str, reason: str, request: Request) -> Path:
    """What happens when the forced way cannot serve: an error that says why."""
    raise GnomonError(f"The forced path {name!r} of the rotation cannot serve this call, because {reason}.")


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _forced_in_graph() -> str | None:
    """`ROTATION.forced` when the graph is traced: the compiler cannot read context variables."""
    name = ROTATION.forced
    if name not in (None, "eager", "traceable"):
        raise GnomonError(f"The forced path {name!r} of the rotation cannot serve this call, because it is traced.")
    return name
