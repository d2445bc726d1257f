"""What biases on the logits share, and the forms in which fast attention takes them.

FlexAttention (He et al. 2024, arXiv:2412.05496; `torch.nn.attention.flex_attention`) calls a function on each logit
instead of reading a tensor of (B, H, Q, K) numbers: `ScoreBias.score_mod` makes that function.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Float32, Int, Int64
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, require_positions
from gnomon.errors import GnomonError
from gnomon.kernels.places import absent, require_on_grid

#: (score, batch, head, query slot, key slot) -> score
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


class ScoreBias(PositionEncoding):
    """A bias on the logits and nothing else: dense for any positions, or number by number inside FlexAttention."""

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1:
            raise GnomonError(f"{type(self).__name__} needs at least 1 head, got num_heads={num_heads}.")
        self.num_heads = num_heads

    @abstractmethod
    def bias(
        self, query_positions: Int[Tensor, "#B Q *axes"], key_positions: Int[Tensor, "#B K *axes"]
    ) -> Float32[Tensor, "#B H Q K"]: ...

    def score_mod(
        self, query_positions: Int[Tensor, "#B Q *axes"], key_positions: Int[Tensor, "#B K *axes"]
    ) -> ScoreMod:
        """The bias for FlexAttention: `flex_attention(q, k, v, score_mod=encoding.score_mod(positions, positions))`.

        Slot i of the queries stands at query_positions[:, i], so decoding behind a cache, rows with their own offsets,
        packed documents and padding need nothing more; who may attend whom is for a `mask_mod` to say. The function
        holds the parameters as they are now, with their graph: make a new one after each training step. It holds all
        Q x K numbers unless a subclass has a smaller form.

        Under torch.compile on CPU, torch 2.13 runs it in one kernel for inference; gradients of learned biases come
        with backend="aot_eager", and q, k and v may not want any there. A warning of its compiler about the .grad of a
        tensor that is no leaf means nothing here.
        """
        bias = self.bias(query_positions, key_positions)

        def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            return score + bias[batch if len(bias) > 1 else 0, head, query, key]

        return add


class DistanceBias(ScoreBias):
    """A bias that depends on key position - query position alone. Its score_mod holds a number for each distance."""

    relative: bool = True

    @abstractmethod
    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        """What each head adds at `relative` = key position - query position, of any shape."""

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        require_positions(query_positions)
        require_positions(key_positions)
        return self.by_distance(key_positions[:, None, :] - query_positions[:, :, None]).transpose(0, 1)

    def score_mod(self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]) -> ScoreMod:
        """As for `ScoreBias.score_mod`; holds H numbers for each distance from the least to the largest.

        That is at most 2 L - 1 distances for positions 0 .. L - 1. Positions so far apart that Q x K numbers are fewer
        get those. Reads the positions once, which waits for their device.
        """
        require_positions(query_positions)
        require_positions(key_positions)
        first = int((key_positions.amin(-1) - query_positions.amax(-1)).min())
        last = int((key_positions.amax(-1) - query_positions.amin(-1)).max())
        rows = max(len(query_positions), len(key_positions))
        if last - first >= rows * query_positions.shape[1] * key_positions.shape[1]:
            return super().score_mod(query_positions, key_positions)
        numbers = self.by_distance(torch.arange(first, last + 1, device=key_positions.device))
        return picked(numbers, query_positions, key_positions - first, lambda query, key: key - query)


class WindowedBias(ScoreBias):
    """A number for each head and each offset between two places of a window of (height, width), or more axes.

    Positions have the coordinate -1 on all axes where a token has no place (a class token). The score_mod holds the
    table of offsets.
    """

    relative: bool = True

    def __init__(self, num_heads: int, window: Sequence[int]) -> None:
        super().__init__(num_heads)
        if len(window) < 2 or min(window) < 1:
            raise GnomonError(
                f"A window is (height, width), or more axes, of at least 1 each, got {tuple(window)}; a sequence of "
                f"one axis takes T5Bias."
            )
        self.grid: tuple[int, ...] = tuple(window)
        self.axes: int = len(self.grid)
        #: how many offsets there are in the window: (2 height - 1)(2 width - 1)
        self.offsets: int = math.prod(2 * extent - 1 for extent in self.grid)

    @abstractmethod
    def table(self) -> Float32[Tensor, "H columns"]:
        """What each head adds: at each offset query - key, the first axis slowest, from the most negative up; then for
        a query without a place and a key with one, the other way round, and for two without a place.
        """

    def bias(
        self, query_positions: Int[Tensor, "#B Q axes"], key_positions: Int[Tensor, "#B K axes"]
    ) -> Float32[Tensor, "#B H Q K"]:
        queries, keys = self._places(query_positions), self._places(key_positions)
        return self.table()[:, self._column(queries[:, :, None], keys[:, None, :])].transpose(0, 1)

    def score_mod(self, query_positions: Int[Tensor, "#B Q axes"], key_positions: Int[Tensor, "#B K axes"]) -> ScoreMod:
        return picked(self.table(), self._places(query_positions), self._places(key_positions), self._column)

    def _places(self, positions: Int[Tensor, "#B S axes"]) -> Int64[Tensor, "#B S"]:
        """One number for each place, such that differences tell all offsets apart; -1 for no place."""
        require_positions(positions, axes=self.axes)
        require_on_grid(positions, self.grid, name="window")
        place = torch.zeros_like(positions[..., 0])
        for axis, extent in enumerate(self.grid):
            place = place * (2 * extent - 1) + positions[..., axis]
        return place.masked_fill(absent(positions)[..., 0], -1)

    def _column(self, query: Int64[Tensor, "*#S"], key: Int64[Tensor, "*#S"]) -> Int64[Tensor, "*S"]:
        """The column of the table for two places."""
        within = query - key + self.offsets // 2
        without = torch.where(key < 0, self.offsets + 2, self.offsets)
        return torch.where(query < 0, without, torch.where(key < 0, self.offsets + 1, within))


def picked(
    numbers: Float32[Tensor, "H N"],
    queries: Int64[Tensor, "#B Q"],
    keys: Int64[Tensor, "#B K"],
    column: Callable[[Tensor, Tensor], Tensor],
) -> ScoreMod:
    """A score_mod that adds numbers[head, column(queries[batch, query], keys[batch, key])]."""

    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score + numbers[head, column(entry(queries, batch, query), entry(keys, batch, key))]

    return add


def entry(values: Tensor, batch: Tensor, slot: Tensor) -> Tensor:
    """values[batch, slot], where one row serves the whole batch."""
    return values[batch if len(values) > 1 else 0, slot]


def per_head(values: Float[Tensor, " H"], like: Tensor) -> Float[Tensor, "H *ones"]:
    """(H,) -> (H, 1, ..., 1), to go with the dimensions of `like`."""
    return values.reshape(-1, *(1 for _ in like.shape))
