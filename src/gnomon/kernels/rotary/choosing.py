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

#: From the first to the last choice, with the time for q and k of 32 heads, 2048 tokens and width 128 (one thread of an
#: x86 server, float32, into given memory) over that of `copy_`. A path that cannot serve a request stands aside.
ORDER: Final = (
    "triton",  # tensors on a GPU, where plain torch starts eight kernels
    "native",  # 1.25 (0.7 in place; bfloat16 1.2, 0.8 in place), and 5 microseconds for one token
    "complex",  # interleaved float32 without the compiled part: 1.4 (0.9 in place)
    "addcmul",  # halves without it: 3, as it writes its result three times; half precision twice as fast as eager
    "eager",  # everything else: 20, as it makes several tensors of that size
)

#: In a traced graph. The compiler fuses the formula with the lookup of its rows and with what stands around it: as fast
#: as the operator "traceable" in float32, twice as fast for one token, and every format that graphs are exported to can
#: hold it. Forced, the operator is 1.5 times as fast for interleaved pairs in half precision.
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


def _forced_in_graph() -> str | None:
    """`ROTATION.forced` when the graph is traced: the compiler cannot read context variables."""
    name = ROTATION.forced
    if name not in (None, "eager", "traceable"):
        raise GnomonError(f"The forced path {name!r} of the rotation cannot serve this call, because it is traced.")
    return name


# What torch.compiler.assume_constant_result does, which would import the whole compiler now: a second of every start.
_forced_in_graph._dynamo_marked_constant = True  # type: ignore[attr-defined]
