"""Encodings that are wrong about the heads of a tensor-parallel rank, in one way each."""

from torch import nn

from gnomon.encodings import PositionEncoding
from tests.helpers.mutated_encodings import Wrapped


class FormulaOfThePart(Wrapped):
    """The classic fault: a rank counts its own heads, and gets the slopes of a smaller model."""

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        super().for_heads(first, count)  # refuses heads that are not there
        fewer = {**self.inner.options, "num_heads": count}
        return self.around(type(self.inner)(**fewer))


class FirstHeadsForAll(Wrapped):
    """Every rank takes the first heads."""

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        super().for_heads(first, count)
        return super().for_heads(0, count)


class WholeOnEachRank(Wrapped):
    """No part at all, though heads have numbers of their own."""

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        return self


class FrozenParts(Wrapped):
    def for_heads(self, first: int, count: int) -> PositionEncoding:
        return super().for_heads(first, count).requires_grad_(False)


class PartsShareMemory(Wrapped):
    """A part reads what all heads share out of the whole, and trains it there."""

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        part = super().for_heads(first, count)
        part.get_submodule("inner").register_parameter("c", nn.Parameter(self.inner.get_parameter("c").data))
        return part


class AnyHeads(Wrapped):
    """Takes what heads there are instead of refusing."""

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        heads = self.inner.options["num_heads"]
        first = min(max(first, 0), heads - 1)
        return super().for_heads(first, max(1, min(count, heads - first)))
