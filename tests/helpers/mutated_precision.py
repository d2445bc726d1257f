"""Encodings that are wrong in the dtype that something is computed in or cast to; see mutated_encodings.py."""

import torch
from torch import Tensor

from tests.helpers.mutated_encodings import Wrapped


class RoundedToFloat32(Wrapped):
    """What a table kept in float32 does to a model in float64."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + (self.inner.embed(x, positions) - x).float().to(x.dtype)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x, positions).float().to(x.dtype)


class Bfloat16Ids(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.to(torch.bfloat16).to(torch.int64)


class LowPrecision(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.inner.embed(torch.zeros_like(x), positions).to(torch.bfloat16).to(x.dtype)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x.to(torch.bfloat16), positions).to(x.dtype)


class PartsInBfloat16(Wrapped):
    """Right in float32; in bfloat16 the position is rounded on its own before the sum."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.inner.embed(torch.zeros_like(x), positions)


class FollowsAutocast(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        right = self.inner.embed(x, positions)
        return right.to(torch.get_autocast_dtype("cpu")).to(x.dtype) if torch.is_autocast_enabled("cpu") else right


class BiasFollowsAutocast(Wrapped):
    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        right = self.inner.bias(query_positions, key_positions)
        if right is None or not torch.is_autocast_enabled("cpu"):
            return right
        return right.to(torch.get_autocast_dtype("cpu")).float()


class DistancesInModuleDtype(Wrapped):
    """Right in float32; in a bfloat16 module the ids take the dtype of the parameters on their way."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions if positions.dtype != torch.int64 else positions.to(next(self.parameters()).dtype).long()


class WrongResultDtype(Wrapped):
    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().turn(x, positions).float()


class OverflowsFarOut(Wrapped):
    """Adds nothing but the overflow of a position in float16."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, positions) + 0 * positions.half()[..., None].to(x.dtype)
