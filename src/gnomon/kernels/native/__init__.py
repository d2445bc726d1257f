"""The compiled rotation: one pass over q and k in C++, for float32, bfloat16 and float16 in CPU memory.

An optional part. It is built when gnomon is installed where a C++ compiler works (wheels have it), and not with
`GNOMON_NATIVE=0` in the environment. Without it `AVAILABLE` is false, `reason` says why, and rotary encodings run in
plain torch. It uses the best instruction set of the machine that it runs on, and OpenMP where the compiler had it.

Source: the rotation of Su et al. 2021, arXiv:2104.09864; tensors are read through DLPack's table of C functions.
"""

import importlib
from types import ModuleType

from jaxtyping import Float, Float32, Int64
from torch import Tensor

from gnomon.errors import GnomonError

#: A tensor to read and one to write, which may be the same.
SourceAndDestination = tuple[Float[Tensor, "B H S D"], Float[Tensor, "B H S D"]]


def _load() -> tuple[ModuleType | None, str]:
    """The compiled module and how it was built, or None and why there is none. torch is imported before: with it
    comes the one OpenMP runtime that both use."""
    try:
        module = importlib.import_module("gnomon.kernels.native._rotary")
    except ModuleNotFoundError:
        return None, "it was not built when gnomon was installed: no C++ compiler worked, or GNOMON_NATIVE was 0"
    except ImportError as error:
        return None, f"it cannot be loaded: {error}"
    return module, f"{module.levels()[0]}, {module.THREADS}"


_module, _reason = _load()

#: Whether the compiled rotation can be used.
AVAILABLE: bool = _module is not None


def reason() -> str:
    """Why the compiled rotation is not available; where it is, how it runs, as in "avx2, OpenMP"."""
    return _reason


def _unavailable(
    tensors: tuple[SourceAndDestination, ...],
    cos: Float32[Tensor, "*B rows pairs"],
    sin: Float32[Tensor, "*B rows pairs"],
    positions: Int64[Tensor, "#B S"] | None,
    interleaved: bool,
    sign: float,
    threads: int,
    /,
) -> int:
    """Turn each source (B, H, S, D) into its destination by the angles, all in one pass; the same memory is in place.

    Sizes and dtypes are shared by all tensors, but for the number of heads; strides are free, but the last is 1. The
    first 2 P columns turn, as in `gnomon.kernels.rotation.rotate`, and to the same bits; the rest is copied. cos and
    sin are contiguous float32: without positions one row for each token, (S, P), (1, S, P) or (B, S, P), else a table
    (T, P) whose row `positions[b, s]` is taken. `sign` -1 turns back. At most `threads` threads, fewer for little work.

    Returns -1 when all is done, else the first position that has no row in the table: then nothing was written.
    Raises PositionError for a negative position, and GnomonError for arguments that do not fit together, for a tensor
    that is not dense in CPU memory, and always where the compiled part is not available.
    """
    raise GnomonError(f"The compiled rotation is not available: {_reason}; use another path.")


rotate = _unavailable if _module is None else _module.rotate
