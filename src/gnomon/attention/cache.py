"""The keys and values of earlier slots, with all that later steps must know of them.

Keys are stored rotated, so each is rotated once; those of an encoding that is `length_dependent` are stored unrotated,
because a longer sequence turns all of them anew. Positions, padding and document ids are stored beside them: with left
padding or packed rows the slot number says nothing about either.

Appending concatenates. That copies what is stored, which costs no more than the attention that then reads all of it,
and leaves earlier results untouched, so gradients may flow through a cache.
"""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.attention.masks import AttentionMask
from gnomon.attention.slots import owned
from gnomon.errors import GnomonError, ShapeError


@final
@dataclass(frozen=True, eq=False)
class KeyValues:
    """K slots of one layer: keys, values, the positions of the keys (with their coordinates, if many), their mask."""

    keys: Float[Tensor, "B G K D"]  #: G key heads
    values: Float[Tensor, "B G K D"]
    positions: Int[Tensor, "B K *axes"]
    mask: AttentionMask

    @property
    def length(self) -> int:
        return self.keys.shape[2]

    def then(self, later: "KeyValues") -> "KeyValues":
        """These slots followed by the later ones."""
        old, new = (tuple(part.keys.shape[i] for i in (0, 1, 3)) for part in (self, later))
        if old != new:
            raise ShapeError(
                f"The cache holds (batch, key heads, head_dim) = {old}, the new keys are {new}; "
                f"use one cache for each layer and each batch, or call reset()."
            )
        if self.keys.dtype != later.keys.dtype:
            raise GnomonError(
                f"The cache holds {self.keys.dtype} keys, the new ones are {later.keys.dtype}; call reset()."
            )
        return KeyValues(
            torch.cat((self.keys, later.keys), dim=2),
            torch.cat((self.values, later.values), dim=2),
            torch.cat((self.positions, later.positions), dim=1),
            self.mask.then(later.mask, lengths=(self.length, later.length)),
        )

    def owned(self) -> "KeyValues":
        """The same, with copies of what callers gave: they may count their positions up in place."""
        return KeyValues(self.keys, self.values, owned(self.positions), self.mask.each(owned))

    def first(self, count: int) -> "KeyValues":
        """The first `count` slots, as views."""
        keys, values = self.keys[:, :, :count], self.values[:, :, :count]
        return KeyValues(keys, values, self.positions[:, :count], self.mask.slots(0, count))

    def rows(self, index: Int[Tensor, " N"]) -> "KeyValues":
        """The chosen batch rows, in that order; a row may be chosen twice or left out."""
        return KeyValues(self.keys[index], self.values[index], self.positions[index], self.mask.rows(index))


@final
class LayerCache:
    """What one attention layer has seen so far.

    >>> cache = LayerCache()
    >>> cache.length
    0
    """

    def __init__(self) -> None:
        self.stored: KeyValues | None = None

    @property
    def length(self) -> int:
        """How many slots are stored, padding included."""
        return 0 if self.stored is None else self.stored.length

    def append(self, new: KeyValues) -> KeyValues:
        """Store the new slots behind the old ones and return all of them."""
        self.stored = new.owned() if self.stored is None else self.stored.then(new)
        return self.stored

    def reset(self) -> None:
        self.stored = None

    def reorder(self, rows: Int[Tensor, " N"]) -> None:
        """Keep these batch rows in this order: beam search moves, copies and drops rows."""
        if self.stored is not None:
            self.stored = self.stored.rows(rows)


@final
class Cache:
    """One LayerCache for each layer of a model.

    >>> cache = Cache(num_layers=2)
    >>> len(cache.layers), cache.length
    (2, 0)
    """

    def __init__(self, num_layers: int) -> None:
        if num_layers < 1:
            raise GnomonError(f"A cache needs at least one layer, got num_layers={num_layers}.")
        self.layers = tuple(LayerCache() for _ in range(num_layers))

    @property
    def length(self) -> int:
        """How many slots are stored, padding included; the same in every layer."""
        return self.layers[0].length

    @property
    def stored(self) -> KeyValues | None:
        """What the first layer holds; positions and mask are the same in every layer."""
        return self.layers[0].stored

    def reset(self) -> None:
        """Forget everything."""
        for layer in self.layers:
            layer.reset()

    def reorder(self, rows: Int[Tensor, " N"]) -> None:
        """Keep these batch rows in this order, in every layer."""
        for layer in self.layers:
            layer.reorder(rows)
