"""Encodings whose numbers by distance are not those of their bias, in one way each."""

import torch
from torch import Tensor

from tests.helpers.mutated_encodings import Wrapped


class DistancesMirrored(Wrapped):
    """Reads query position - key position for key position - query position."""

    def by_distance(self, relative: Tensor) -> Tensor | None:
        return self.inner.by_distance(-relative)


class DistancesOffByOne(Wrapped):
    def by_distance(self, relative: Tensor) -> Tensor | None:
        return self.inner.by_distance(relative - 1)


class DistancesInBfloat16(Wrapped):
    def by_distance(self, relative: Tensor) -> Tensor | None:
        return self.inner.by_distance(relative.to(torch.bfloat16).to(torch.int64))


class HeadsOfDistancesLast(Wrapped):
    def by_distance(self, relative: Tensor) -> Tensor | None:
        numbers = self.inner.by_distance(relative)
        return None if numbers is None else numbers.movedim(0, -1)
