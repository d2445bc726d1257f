"""ALiBi on a grid: the image encoder of data2vec 2.0, Baevski et al. 2022, arXiv:2212.07525, and its code in fairseq.

The slopes are those of Press et al. 2022, arXiv:2108.12409.
"""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Literal, final, get_args

import torch
from jaxtyping import Bool, Float32, Int
from torch import Tensor

from gnomon.encodings.alibi import linear_slopes, reference_slope
from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.heads import checked_part, part_options, require_heads_within
from gnomon.encodings.score_bias import ScoreBias, ScoreMod, entry
from gnomon.errors import GnomonError

Metric = Literal["euclidean", "manhattan"]


@registry.register("alibi_grid")
@final
class ALiBiGrid(ScoreBias):
    """A penalty that grows linearly with the distance of two places on a grid, with another slope for each head.

    Head h adds -slope[h] * distance, with the slopes of `ALiBi`. `metric`: "euclidean" is the root of the sum of
    squares of the differences along the axes, "manhattan" the sum of their sizes. Any height and width, and more than
    two `axes` for video: positions are (B, S, axes). Coordinates of -1 on all axes mean no place (a class token):
    such a token gets 0, as a key and as a query. `part_of` is that of `ALiBi`.

    `score_mod` holds the slopes and the positions, and works the distance out.

    >>> places = torch.tensor([[[-1, -1], [0, 0], [3, 4]]])
    >>> ALiBiGrid(num_heads=1).bias(places[:, 1:2], places)
    tensor([[[[-0.0000, -0.0000, -0.0195]]]])
    """

    relative: bool = True

    def __init__(
        self, num_heads: int, *, axes: int = 2, metric: Metric = "euclidean", part_of: Sequence[int] | None = None
    ) -> None:
        super().__init__(num_heads)
        if axes < 2:
            raise GnomonError(f"A grid has at least 2 axes, got axes={axes}; one axis takes ALiBi.")
        if metric not in get_args(Metric):
            raise GnomonError(f"The metric of ALiBiGrid is one of {', '.join(get_args(Metric))}, got {metric!r}.")
        self.axes: int = axes
        self.metric: Metric = metric
        self.first_head, self.total_heads = checked_part(part_of, num_heads)

    def bias(
        self, query_positions: Int[Tensor, "#B Q axes"], key_positions: Int[Tensor, "#B K axes"]
    ) -> Float32[Tensor, "#B H Q K"]:
        require_positions(query_positions, axes=self.axes)
        require_positions(key_positions, axes=self.axes)
        queries, keys = query_positions[:, None, :, None], key_positions[:, None, None, :]
        return -self._slopes(keys.device)[:, None, None] * self._apart(queries.unbind(-1), keys.unbind(-1))

    def score_mod(self, query_positions: Int[Tensor, "#B Q axes"], key_positions: Int[Tensor, "#B K axes"]) -> ScoreMod:
        require_positions(query_positions, axes=self.axes)
        require_positions(key_positions, axes=self.axes)
        # Copies: on CPU the compiler of torch 2.13 fails on a score_mod that reads several views of one tensor.
        queries, keys = ([axis.clone() for axis in at.unbind(-1)] for at in (query_positions, key_positions))
        slopes = self._slopes(key_positions.device)

        def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            ends = [entry(axis, batch, query) for axis in queries], [entry(axis, batch, key) for axis in keys]
            return score - slopes[head] * self._apart(*ends)

        return add

    def for_heads(self, first: int, count: int) -> "ALiBiGrid":
        require_heads_within(first, count, self.num_heads)
        part_of = (self.first_head + first, self.total_heads)
        return ALiBiGrid(**{**self.options, "num_heads": count, "part_of": part_of})

    def _slopes(self, device: torch.device) -> Float32[Tensor, " H"]:
        own = linear_slopes(self.total_heads)[self.first_head : self.first_head + self.num_heads]
        return torch.tensor(own, dtype=torch.float32, device=device)

    def _apart(self, queries: Sequence[Tensor], keys: Sequence[Tensor]) -> Float32[Tensor, "*S"]:
        """The distance from coordinates, one tensor for each axis; 0 where one has no place."""
        steps = [query - key for query, key in zip(queries, keys, strict=True)]
        far = _sum(step.abs() for step in steps).float()
        if self.metric == "euclidean":
            far = _sum(step * step for step in steps).float().sqrt()
        return far * (_placed(queries) & _placed(keys))

    @property
    def options(self) -> dict[str, Any]:
        part = part_options(self.first_head, self.num_heads, self.total_heads)
        return {"num_heads": self.num_heads, "axes": self.axes, "metric": self.metric, **part}


def _sum(parts: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, parts)


def _placed(coordinates: Sequence[Tensor]) -> Bool[Tensor, "*S"]:
    return reduce(torch.logical_or, [axis != -1 for axis in coordinates])


def reference(head: int, query: Sequence[int], key: Sequence[int], *, num_heads: int, metric: str) -> float:
    """fairseq's examples/data2vec, get_alibi with dims=2: minus the slope times the distance of two patches."""
    if all(place == -1 for place in query) or all(place == -1 for place in key):
        return 0.0
    steps = [abs(i - j) for i, j in zip(query, key, strict=True)]
    distance = sum(steps) if metric == "manhattan" else math.sqrt(sum(step**2 for step in steps))
    return -reference_slope(head, num_heads) * distance
