"""The shortest way to the compiled kernel, for plain tensors that nobody differentiates: decoding is all calls."""

from typing import Final

from torch import Tensor, empty_like, get_num_threads, is_grad_enabled, is_inference_mode_enabled
from torch.autograd.graph import increment_version

from gnomon.errors import GnomonError, PositionError
from gnomon.kernels import native
from gnomon.kernels.readable import readable
from gnomon.kernels.rotary.turn import outside_table
from gnomon.kernels.rotation import Layout

_INTERLEAVED: Final = {"half": False, "interleaved": True}


def at_once(
    xs: tuple[Tensor, ...],
    into: tuple[Tensor, ...] | None,
    angles: tuple[Tensor, Tensor, Tensor | None],
    layout: Layout,
    sequence_dim: int,
) -> tuple[Tensor, ...] | None:
    """q, or q and k, turned by `gnomon.kernels.native`; None where the whole way has to be gone, to serve or to refuse.

    `into` is what to write into, which may be `xs` itself. The kernel holds shapes, dtypes, devices and positions
    against each other itself, before it writes.
    """
    cos, sin, positions = angles
    known = (*xs, cos, sin) if positions is None else (*xs, cos, sin, positions)
    if into is not None and into is not xs:
        known = (*into, *known)
    interleaved = _INTERLEAVED.get(layout)
    if interleaved is None or sequence_dim not in (-2, 1) or not readable(*known) or _recorded(known):
        return None
    if into is not None and not _separate(into, known):
        return None
    results = into or ((empty_like(xs[0]),) if len(xs) == 1 else (empty_like(xs[0]), empty_like(xs[1])))
    try:
        wrong = native.rotate(
            _pairs(xs, results, sequence_dim), cos, sin, positions, interleaved, 1.0, get_num_threads()
        )
    except PositionError:
        raise
    except (GnomonError, IndexError):
        return None  # what does not fit is said on the whole way
    if wrong != -1:
        raise outside_table(wrong, cos.shape[0])
    if into is not None and not is_inference_mode_enabled():
        increment_version(results)
    return results


def _recorded(known: tuple[Tensor, ...]) -> bool:
    if is_grad_enabled():
        for x in known:
            if x.requires_grad:
                return True
    return False


def _pairs(xs: tuple[Tensor, ...], results: tuple[Tensor, ...], sequence_dim: int) -> tuple[tuple[Tensor, Tensor], ...]:
    if sequence_dim == 1:
        turned = tuple([x.transpose(1, 2) for x in xs])
        xs, results = turned, turned if results is xs else tuple([y.transpose(1, 2) for y in results])
    return ((xs[0], results[0]),) if len(xs) == 1 else ((xs[0], results[0]), (xs[1], results[1]))


def _separate(written: tuple[Tensor, ...], known: tuple[Tensor, ...]) -> bool:
    """Whether all are whole, those that are written may be, and no two of the known ones share memory."""
    for x in written:
        if x.is_inference() != is_inference_mode_enabled():
            return False
    for x in known:
        if not x.is_contiguous():  # its bytes are not all between its first and its last
            return False
    spans = [(x.data_ptr(), x.nbytes) for x in known]
    spans.sort()
    free = 0
    for start, size in spans:
        if start < free:
            return False
        free = start + size
    return True
