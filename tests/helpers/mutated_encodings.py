"""Encodings that are wrong in one way each, as small changes to a right one that is passed as its JSON."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gnomon.encodings import PositionEncoding, Sinusoidal, from_json
from gnomon.encodings.frequencies import build_frequencies

SINUSOID_OF_ANOTHER_BASE = Sinusoidal(24, base=500.0).to_json()


PROMISES = (
    *("relative", "learned", "norm_preserving", "uses_position", "causal_only", "max_length"),
    *("length_dependent", "axes", "grid", "needs_visible"),
)


class Wrapped(PositionEncoding):
    """A right encoding, built from its JSON and passed on hook by hook; a mutation overrides one thing."""

    def __init__(self, inner: str) -> None:
        super().__init__()
        self.inner = from_json(inner)

    def __getattribute__(self, name: str) -> Any:  # promises are class attributes, and these are those of the inner one
        if name in PROMISES:
            return getattr(self.inner, name)
        return super().__getattribute__(name)

    def ids(self, positions: Tensor) -> Tensor:
        return positions

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, self.ids(positions))

    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        return self.turn(q, positions)

    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        if type(self).turn is not Wrapped.turn:
            return self.turn(k, positions)
        return self.inner.rotate_key(k, self.ids(positions))

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x, self.ids(positions))

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return self.inner.bias(self.ids(query_positions), self.ids(key_positions))

    def content_bias(
        self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor, *visible: Tensor | None
    ) -> Tensor | None:
        return self.inner.content_bias(q, k, self.ids(query_positions), self.ids(key_positions), *visible)

    def regimes(self, lengths: Tensor) -> Tensor:
        return self.inner.regimes(lengths)

    def at_length(self, lengths: int | Tensor) -> PositionEncoding:
        return self.inner.at_length(lengths) if self.inner.length_dependent else self

    def for_heads(self, first: int, count: int) -> PositionEncoding:
        part = self.inner.for_heads(first, count)
        return self if part is self.inner else self.around(part)

    def around(self, part: PositionEncoding) -> PositionEncoding:
        other = type(self)(part.to_json())
        other.inner.load_state_dict(part.state_dict())
        for name, parameter in other.inner.named_parameters():
            parameter.requires_grad_(part.get_parameter(name).requires_grad)
        return other

    @property
    def options(self) -> dict[str, Any]:
        return {"inner": self.inner.to_json()}


class ForgetsTheLength(Wrapped):
    """Claims to depend on the length, and turns everything as at length 1."""

    def at_length(self, lengths: int | Tensor) -> PositionEncoding:
        return self.inner.at_length(1)


class SignFlipped(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return 2 * x - self.inner.embed(x, positions)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x, -positions)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else -bias


class OffByOne(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions + 1


class QueryOffByOne(Wrapped):
    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        return self.turn(q, positions + 1)


class SwappedAxes(Wrapped):
    """Tables and logits with rows and columns exchanged; heads take the place of tokens."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        turned = torch.zeros(1, x.shape[-1], x.shape[-1])
        return x + self.inner.embed(turned, torch.arange(x.shape[-1])[None])[:, :, : x.shape[1]].mT.to(x.dtype)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        heads = torch.arange(x.shape[1]).expand(x.shape[0], -1)
        return self.inner.rotate_query(x.transpose(1, 2), heads).transpose(1, 2)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(key_positions, query_positions)
        return None if bias is None else bias.mT


class AllZero(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else torch.zeros_like(bias)


class BatchAxis(Wrapped):
    """The row of the batch takes the place of the token."""

    def ids(self, positions: Tensor) -> Tensor:
        return torch.arange(positions.shape[0])[:, None].expand_as(positions)


class Twice(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(self.inner.embed(x, positions), positions)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(self.inner.rotate_query(x, positions), positions)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else bias + bias


class MaskedOut(Wrapped):
    """The position part is multiplied by a mask that lets only the first three positions through."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions * (positions < 3)


class IgnoresIds(Wrapped):
    """Counts along the axis, whatever the caller passes."""

    def ids(self, positions: Tensor) -> Tensor:
        return torch.arange(positions.shape[1]).expand_as(positions)


class FirstRowForAll(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions[:1].expand_as(positions)


class AnyDtype(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.to(torch.int64)


class ClampedAtTheEnd(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.clamp(0, (self.max_length or 1 << 40) - 1)


class InPlace(Wrapped):
    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return x.copy_(super().turn(x, positions)) if not x.requires_grad else super().turn(x, positions)


class Detached(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x.detach(), positions) + 0 * x


class CopiesShareTheTable(Wrapped):
    def __deepcopy__(self, memo: dict[int, Any]) -> Wrapped:
        return self


class FrozenTable(Wrapped):
    def __init__(self, inner: str) -> None:
        super().__init__(inner)
        self.inner.requires_grad_(False)


class ForgetsAnOption(Wrapped):
    @property
    def options(self) -> dict[str, Any]:
        return {"inner": SINUSOID_OF_ANOTHER_BASE}


class Stored(Wrapped):
    """A table computed once and kept as a buffer."""

    persistent: ClassVar[bool] = False

    def __init__(self, inner: str) -> None:
        super().__init__(inner)
        table = self.inner.embed(torch.zeros(1, 2048, 24), torch.arange(2048)[None])[0]
        self.register_buffer("table", table, persistent=self.persistent)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        self.inner.embed(x, positions)
        rows = nn.functional.embedding(positions.clamp_max(2047), self.get_buffer("table"))
        return (x + rows).to(x.dtype)


class StoredInStateDict(Stored):
    persistent: ClassVar[bool] = True


class SharedCache(PositionEncoding):
    """A table kept for all instances under a key that forgets the base."""

    tables: ClassVar[dict[int, Sinusoidal]] = {}

    def __init__(self, dim: int, base: float = 10000.0) -> None:
        super().__init__()
        self.dim, self.base = dim, base

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.tables.setdefault(self.dim, Sinusoidal(self.dim, base=self.base)).embed(x, positions)

    @property
    def options(self) -> dict[str, Any]:
        return {"dim": self.dim, "base": self.base}


class LastCache(SharedCache):
    """A table for all instances that the newest instance overwrites."""

    tables: ClassVar[dict[int, Sinusoidal]] = {}

    def __init__(self, dim: int, base: float = 10000.0) -> None:
        super().__init__(dim, base)
        self.tables[dim] = Sinusoidal(dim, base=base)


class FalselyRelative(Wrapped):
    def __getattribute__(self, name: str) -> Any:
        return not self.inner.relative if name == "relative" else super().__getattribute__(name)


class WrongAboutNorms(Wrapped):
    def __getattribute__(self, name: str) -> Any:
        return not self.inner.norm_preserving if name == "norm_preserving" else super().__getattribute__(name)


class Stretched(Wrapped):
    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return 1.01 * super().turn(x, positions)


class ForgetsTheFactor(Wrapped):
    """A rotation by the angles alone, of frequencies that have an attention factor."""

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        turned, width = super().turn(x, positions), self.inner.options["rotary_dim"]
        factor = build_frequencies(self.inner.options["frequencies"]).attention_factor
        return torch.cat((turned[..., :width] / factor, turned[..., width:]), dim=-1)
