"""Positions drawn at random, for any encoding of one axis: Ruoss et al. 2023, arXiv:2305.16843, section 3.2."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import torch
from jaxtyping import Int, Int64
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, build, name_of, registry, require_positions
from gnomon.encodings.inner import AroundInner
from gnomon.errors import GnomonError
from gnomon.kernels.places import require_below
from gnomon.positions import randomized


@registry.register("randomized")
@final
class RandomizedPositions(AroundInner):
    """Position p becomes number p of a random, rising choice of `max_length` ids from 0 .. span - 1.

    A model that trains on short sequences then has seen the ids, and the distances, of long ones. `inner` is the
    encoding that gets those ids, as an object or as its dict form, {"encoding": name, **options}; all hooks and
    promises are its own, but scores are no longer `relative`. The span is the longest length to come, or more.

    `redraw(seed, max_length)` gives another choice: call it before each training step, with the length of the batch,
    so that ids are spread over the whole span. A choice for 512 tokens gives a sequence of 10 the low ids alone.

    The ids follow from the seed and stay until the next `redraw`. Drawing inside a hook would be wrong: queries and
    keys, every layer, the new tokens and those in a cache all have to agree on where a token stands. One module in all
    layers is redrawn once; several take the same seed. Not between a prompt and the tokens decoded after it.

    >>> encoding = RandomizedPositions({"encoding": "rotary", "head_dim": 8}, max_length=4, span=100, seed=1)
    >>> first = encoding.ids
    >>> encoding.redraw(seed=2, max_length=3)
    >>> len(first), len(encoding.ids), encoding.max_length
    (4, 3, 3)
    """

    def __init__(
        self, inner: PositionEncoding | Mapping[str, Any], *, max_length: int, span: int, seed: int = 0
    ) -> None:
        super().__init__()
        self.inner = _built(inner)
        self.span = span
        _require_fitting(self.inner, span)
        self._promise()
        self.redraw(seed, max_length)

    def redraw(self, seed: int, max_length: int | None = None) -> None:
        """Choose other ids, for sequences of up to `max_length` tokens; None keeps the length."""
        length = len(self.ids) if max_length is None else max_length
        #: the id of each position; no buffer, so that neither a cast nor the meta device touches it
        self.ids: Int64[Tensor, " positions"] = randomized(length, self.span, torch.Generator("cpu").manual_seed(seed))[
            0
        ]
        self.seed, self.max_length = seed, length

    def regimes(self, lengths: Int[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        """Those of the inner encoding, at the id of the last position, plus 1."""
        return self.inner.regimes(self._spread(lengths))

    def at_length(self, lengths: int | Int[Tensor, " B"]) -> "RandomizedPositions":
        """The inner encoding fixed at the id of the last position, plus 1; the ids stay."""
        if not self.length_dependent:
            return self
        spread = self._spread(torch.as_tensor(lengths))
        return self._around(self.inner.at_length(int(spread) if isinstance(lengths, int) else spread))

    def mapped(self, positions: Int[Tensor, "*B S"]) -> Int64[Tensor, "*B S"]:
        """The id of each position. Raises PositionError outside 0 .. max_length - 1."""
        require_positions(positions)
        require_below(
            positions,
            len(self.ids),
            owner="this choice of random ids",
            advice="redraw for longer sequences, redraw(seed, max_length)",
        )
        return self.ids.to(positions.device)[positions]

    def _around(self, inner: PositionEncoding) -> "RandomizedPositions":
        """The same ids for another inner encoding."""
        other = copy.copy(self)
        other._modules = {"inner": inner}
        other._promise()
        return other

    def _spread(self, lengths: Int[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        """The id of the last position, plus 1; lengths beyond the last position count as that."""
        return self.ids.to(lengths.device)[lengths.clamp(1, len(self.ids)) - 1] + 1

    def _promise(self) -> None:
        """What the inner encoding promises."""
        self.norm_preserving = self.inner.norm_preserving
        self.causal_only = self.inner.causal_only
        self.length_dependent = self.inner.length_dependent
        # Other classes know these without an instance.
        self.learned = self.inner.learned
        self.needs_visible = self.inner.needs_visible

    @property
    def heads_along(self) -> dict[str, int] | None:
        inner = self.inner.heads_along
        return None if inner is None else {f"inner.{name}": dim for name, dim in inner.items()}

    def for_heads(self, first: int, count: int) -> "RandomizedPositions":
        """The inner encoding of these heads, at the same ids; redraw all parts with one seed."""
        part = self.inner.for_heads(first, count)
        return self if part is self.inner else self._around(part)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "inner": {"encoding": name_of(type(self.inner)), **self.inner.options},
            "max_length": self.max_length,
            "span": self.span,
            "seed": self.seed,
        }

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        return cls({"encoding": "rotary", "head_dim": head_dim}, max_length=512, span=2048)


def _built(inner: PositionEncoding | Mapping[str, Any]) -> PositionEncoding:
    if isinstance(inner, PositionEncoding):
        return inner
    if not isinstance(inner, Mapping) or not isinstance(inner.get("encoding"), str):
        raise GnomonError(f"The inner encoding is an encoding or {{'encoding': name, **options}}, got {inner!r}.")
    return build(inner["encoding"], **{key: value for key, value in inner.items() if key != "encoding"})


def _require_fitting(inner: PositionEncoding, span: int) -> None:
    if inner.axes > 1 or not inner.uses_position:
        raise GnomonError(f"Random ids are for an encoding of one axis that uses positions, got {inner}.")
    if inner.max_length is not None and inner.max_length < span:
        raise GnomonError(
            f"Ids are drawn from 0 to {span - 1} (span={span}), but the inner encoding has max_length="
            f"{inner.max_length}; enlarge it or take a smaller span."
        )


def reference(position: int, ids: Sequence[int]) -> int:
    """Section 3.2: the n drawn indices i_1 < ... < i_n stand for the positions 1 .. n, here counted from 0."""
    return sorted(ids)[position]
