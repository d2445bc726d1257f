"""Who sees whom in XLNet's two streams, and where the queries of each stand: Yang et al. 2019, arXiv:1906.08237."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from gnomon.attention.masks import Sight
from gnomon.errors import GnomonError, ShapeError
from gnomon.positions import real_tokens

EVERYWHERE = Sight(causal=False)


@final
@dataclass(frozen=True, eq=False)
class StreamView:
    """The queries of one stream: where they stand, which keys they see, and the segment each belongs to."""

    positions: Int[Tensor, "#B N *axes"]
    visible: Bool[Tensor, "#B 1 N K"]
    segments: Int[Tensor, "B N"] | None = None


@final
@dataclass(frozen=True, eq=False)
class TwoStreamViews:
    """What all layers of a model share: the view of each stream, and what the K = M + S keys are, memory first."""

    content: StreamView
    query: StreamView
    key_positions: Int[Tensor, "#B K *axes"]
    key_segments: Int[Tensor, "B K"] | None = None
    causal: bool = False


@final
@dataclass(frozen=True, eq=False)
class TwoStreamMasks:
    """What is said of the S tokens of a segment, B batch, M memory slots, P predictions, as transformers says it.

    `perm_mask` (B, S, S): 1 or True where token i must not see token j (`permutation_mask`).
    `target_mapping` (B, P, S): row p has its one 1 at the token that prediction p is for; a row of zeros is padding.
    `attention_mask` (B, S): 1 for a token and 0 for padding; with M more columns in front it speaks of the memory too,
    all of which is seen otherwise.
    `segments` (B, S): ids, of which it matters only whether two are equal; with M more columns in front the memory has
    its own, and 0 otherwise.
    """

    perm_mask: Shaped[Tensor, "B S S"] | None = None
    target_mapping: Shaped[Tensor, "B P S"] | None = None
    attention_mask: Shaped[Tensor, "B S_or_K"] | None = None
    segments: Int[Tensor, "B S_or_K"] | None = None

    def views(
        self, batch: int, positions: Int[Tensor, "#B K *axes"], *, memory_length: int = 0, sight: Sight = EVERYWHERE
    ) -> TwoStreamViews:
        """The view of each stream. `positions` are those of the M = memory_length slots and then of the S tokens.

        The query stream sees what `perm_mask`, padding and `sight` leave; the content stream sees that and itself.
        Without a `target_mapping` there is a query for each token. Memory is hidden by padding and `sight` alone.

        >>> masks = TwoStreamMasks(perm_mask=torch.tensor([[[1, 1], [0, 1]]]))
        >>> views = masks.views(1, torch.arange(3)[None], memory_length=1)
        >>> views.content.visible[0, 0].int()
        tensor([[1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)
        >>> views.query.visible[0, 0].int()
        tensor([[1, 0, 0],
                [1, 1, 0]], dtype=torch.int32)
        """
        K = positions.shape[1]
        M, S = memory_length, K - memory_length
        if S < 1 or positions.shape[0] not in (1, batch):
            raise ShapeError(
                f"Positions have shape {tuple(positions.shape)}, for {batch} rows of {M} slots of memory and then the "
                f"tokens; pass one id for each slot and each token, as (batch, slots) or (1, slots)."
            )
        visible = self._visible(batch, M, S, sight, positions.device)
        itself = torch.ones(S, K, dtype=torch.bool, device=positions.device).tril(M).triu(M)
        segments = self._with_memory(self.segments, batch, M, S, "segments", fill=0)
        own = None if segments is None else segments[:, M:]
        content = StreamView(positions[:, M:], (visible | itself)[:, None], own)
        query = StreamView(positions[:, M:], visible[:, None], own)
        if self.target_mapping is not None:
            query = _at_targets(query, _checked(self.target_mapping, (batch, None, S), "target_mapping"))
        return TwoStreamViews(content, query, positions, segments, causal=sight.causal)

    def _visible(self, batch: int, M: int, S: int, sight: Sight, device: torch.device) -> Bool[Tensor, "B S K"]:
        slots = torch.arange(M + S, device=device)
        visible = torch.ones(batch, S, M + S, dtype=torch.bool, device=device)
        for condition in sight.conditions(slots[M:, None], slots):
            visible = visible & condition
        if self.attention_mask is not None:
            real = self._with_memory(real_tokens(self.attention_mask), batch, M, S, "attention_mask", fill=1)
            visible = visible if real is None else visible & real[:, None, :]
        if self.perm_mask is not None:
            hidden = _checked(self.perm_mask, (batch, S, S), "perm_mask")
            visible = visible & ~torch.nn.functional.pad(hidden, (M, 0))
        return visible

    def _with_memory(
        self, given: Tensor | None, batch: int, M: int, S: int, name: str, *, fill: int
    ) -> Shaped[Tensor, "B K"] | None:
        if given is None:
            return None
        if tuple(given.shape) not in ((batch, S), (batch, M + S)):
            raise ShapeError(
                f"The {name} have shape {tuple(given.shape)}, the tokens {(batch, S)} after {M} slots of memory; pass "
                f"one value for each token, or one for each slot of memory and then each token."
            )
        return torch.nn.functional.pad(given, (M + S - given.shape[1], 0), value=fill)


def _at_targets(view: StreamView, mapping: Bool[Tensor, "B P S"]) -> StreamView:
    """The view of P queries, each at its target: padding among the predictions sees nothing."""
    batch = len(mapping)
    rows, target = torch.arange(batch, device=mapping.device)[:, None], mapping.int().argmax(-1)
    if not (torch.compiler.is_compiling() or mapping.is_meta) and bool((mapping.sum(-1) > 1).any()):
        raise GnomonError("A row of target_mapping has more than one 1; a prediction is for one token.")
    positions = view.positions.expand(batch, *view.positions.shape[1:])[rows, target]
    visible = view.visible[:, 0].expand(batch, -1, -1)[rows, target] & mapping.any(-1, keepdim=True)
    return StreamView(positions, visible[:, None], None if view.segments is None else view.segments[rows, target])


def _checked(mask: Tensor, shape: tuple[int | None, ...], name: str) -> Tensor:
    """A mask of zeros and ones as booleans; raises unless it has the shape (None: any size) and no other values."""
    if mask.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, mask.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ShapeError(f"The {name} has shape {tuple(mask.shape)}, these tokens need ({wanted}).")
    if mask.dtype == torch.bool:
        return mask
    if not (torch.compiler.is_compiling() or mask.is_meta) and bool(((mask != 0) & (mask != 1)).any()):
        raise GnomonError(f"The {name} holds other values than 0 and 1; give 0 and 1, or booleans.")
    return mask == 1
