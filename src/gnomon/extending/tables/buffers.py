"""Tensors of old checkpoints that grow with a table: lists of positions, of types, triangular masks, window indices."""

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import GnomonError
from gnomon.extending.tables.grids import Size
from gnomon.extending.tables.resized import Resized
from gnomon.extending.tables.windows import offsets

COUNTED = ("position_ids", "token_type_ids")
MASKS = ("attn.bias", "attention.bias")


def grown(source: TensorSource, old: int, new: int) -> dict[str, Resized]:
    """Buffers with a number for each of `old` rows or positions; raises GnomonError for one with other numbers in it.

    `position_ids` count on, `token_type_ids` stay zeros, and a mask goes on with what it has for the furthest key.
    """
    found = {}
    for info in source.infos():
        name = info.name.rpartition(".")[2]
        if name in COUNTED and info.shape and info.shape[-1] == old:
            _require(info, source, torch.arange(old) * (name == "position_ids"))
            found[info.name] = _counting((*info.shape[:-1], new), counts=name == "position_ids")
        elif info.name.endswith(MASKS) and len(info.shape) == 4 and info.shape[-2:] == (old, old):
            found[info.name] = _mask(info, source, new)
    return found


def window_indices(source: TensorSource, old: Size, new: Size, *, prefix: bool) -> dict[str, Resized]:
    """The rows of a window's table for every two places, where a checkpoint stores them (transformers 4, timm)."""
    found = {}
    for info in source.infos():
        if info.name.endswith("relative_position_index"):
            _require(info, source, window_index(old, prefix=prefix))
            found[info.name] = _constant(window_index(new, prefix=prefix))
    return found


def window_index(size: Size, *, prefix: bool) -> Int64[Tensor, "places places"]:
    """The row of the bias table for each query and key; with `prefix` a class token comes first (BEiT).

    >>> window_index((1, 2), prefix=False)
    tensor([[1, 0],
            [2, 1]])
    """
    places = torch.cartesian_prod(torch.arange(size[0]), torch.arange(size[1])).reshape(-1, 2)
    apart = places[:, None] - places[None, :]
    index = (apart[..., 0] + size[0] - 1) * (2 * size[1] - 1) + apart[..., 1] + size[1] - 1
    if not prefix:
        return index
    first = offsets(size)[0] * offsets(size)[1]
    whole = torch.empty(len(places) + 1, len(places) + 1, dtype=torch.int64)
    whole[1:, 1:], whole[0], whole[1:, 0] = index, first, first + 1
    whole[0, 0] = first + 2
    return whole


def _require(info: TensorInfo, source: TensorSource, expected: Tensor) -> None:
    held = source.load(info.name)
    if held.numel() % expected.numel() or not bool((held.reshape(-1, *expected.shape) == expected.to(held)).all()):
        raise GnomonError(
            f"The tensor {info.name!r} grows with the table, but its numbers are not the usual ones; take it out of "
            "the checkpoint when the model makes it itself, or extend the model by hand."
        )


def _constant(made: Tensor) -> Resized:
    return Resized(tuple(made.shape), lambda held: made.to(held.dtype))


def _counting(shape: tuple[int, ...], *, counts: bool) -> Resized:
    def make(held: Tensor) -> Tensor:
        numbers = torch.arange(shape[-1]) * counts
        return numbers.to(held.dtype).expand(shape)

    return Resized(shape, make)


def _mask(info: TensorInfo, source: TensorSource, new: int) -> Resized:
    """A mask that depends on query - key alone, as those of GPT-2 and GPT-Neo (whose local layers see a band) do."""
    held = source.load(info.name)[0, 0]
    old = len(held)
    by_distance = torch.cat((held[0].flip(0), held[1:, 0]))  # query - key from 1 - old to old - 1
    _require(info, source, by_distance[_distances(old) + old - 1])

    def make(table: Tensor) -> Tensor:
        row, column = table[0, 0, 0].flip(0), table[0, 0, 1:, 0]
        apart = _distances(new).clamp(1 - old, old - 1)
        mask: Tensor = torch.cat((row, column))[apart + old - 1][None, None]
        return mask

    return Resized((1, 1, new, new), make)


def _distances(count: int) -> Int64[Tensor, "count count"]:
    return torch.arange(count)[:, None] - torch.arange(count)[None, :]
