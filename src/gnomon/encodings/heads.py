"""The part of an encoding that belongs to some of a model's heads: what a rank of tensor parallelism holds.

Where attention is cut by heads: Shoeybi et al. 2019, arXiv:1909.08053, section 3.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.given import is_whole

if TYPE_CHECKING:
    from gnomon.encodings.base import PositionEncoding


class UncutError(GnomonError):
    """An encoding has numbers for each head, and does not say which of them belong to some of the heads."""


def require_heads_within(first: int, count: int, num_heads: int | None) -> None:
    """Raise ShapeError unless first .. first + count - 1 are heads of `num_heads`; None: nobody knows how many."""
    if not (is_whole(first) and is_whole(count)):
        raise ShapeError(f"Heads are counted by integers, got first={first!r} and count={count!r}.")
    if first < 0 or count < 1 or (num_heads is not None and first + count > num_heads):
        end = "" if num_heads is None else f" to {num_heads - 1}"
        raise ShapeError(f"Heads are counted from 0{end}; got {count} from head {first} on; take 1 or more of these.")


def checked_part(part_of: Sequence[int] | None, num_heads: int) -> tuple[int, int]:
    """(first, total) of heads that are `num_heads` of `total`, from head `first` on; None is all of them.

    >>> checked_part(None, 4), checked_part([6, 12], 4)
    ((0, 4), (6, 12))
    """
    if part_of is None:
        return 0, num_heads
    if len(part_of) != 2:
        raise GnomonError(f"part_of is (first head, heads of the whole model), got {tuple(part_of)}.")
    first, total = part_of
    require_heads_within(first, num_heads, total)
    return first, total


def part_options(first: int, num_heads: int, total: int) -> dict[str, list[int]]:
    """The option `part_of` of an encoding that has not all heads; nothing for one that has.

    >>> part_options(6, 4, 12), part_options(0, 4, 4)
    ({'part_of': [6, 12]}, {})
    """
    return {} if num_heads == total else {"part_of": [first, total]}


def sliced(encoding: "PositionEncoding", first: int, count: int) -> "PositionEncoding":
    """`encoding` built for `count` heads, with copies of the numbers of the heads from `first` on.

    Follows `encoding.heads_along`; what is not named there belongs to all heads and is copied whole. An encoding
    without `heads_along` has nothing to cut and is returned itself; one that counts heads raises UncutError. dtype,
    device, what is trained and the mode stay as they are. Raises ShapeError for heads that are not there, GnomonError
    for parameters that the rebuilt encoding does not have.
    """
    along = encoding.heads_along
    if along is None:
        if "num_heads" in encoding.options:
            name = type(encoding).__name__
            raise UncutError(f"{name} does not say how its heads are cut; give it heads_along, or override for_heads.")
        require_heads_within(first, count, None)
        return encoding
    heads: int = encoding.options["num_heads"]
    require_heads_within(first, count, heads)
    parts = {
        name: _of_heads(tensor, first, count, heads, along.get(name)) for name, tensor in encoding.state_dict().items()
    }
    with torch.device("meta"):
        part = type(encoding)(**{**encoding.options, "num_heads": count})
    if part.state_dict().keys() != parts.keys():
        raise GnomonError(
            f"{type(encoding).__name__} holds {', '.join(sorted(parts))} instead of its own parameters; undo what "
            f"wraps them before it is cut by heads."
        )
    part.load_state_dict(parts, assign=True)
    trained = {name: parameter.requires_grad for name, parameter in encoding.named_parameters()}
    for name, parameter in part.named_parameters():
        parameter.requires_grad_(trained[name])
    return part.train(encoding.training)


def _of_heads(tensor: Tensor, first: int, count: int, heads: int, dim: int | None) -> Tensor:
    """A copy of the tensor, or of the part that its heads first .. first + count - 1 have along `dim`."""
    if dim is not None:
        width = tensor.shape[dim] // heads
        tensor = tensor.narrow(dim, first * width, count * width)
    return tensor.detach().clone(memory_format=torch.contiguous_format)
