"""Which slot may attend which. A slot is a place in the batch or the cache; position ids play no part here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Self, final

import torch
from jaxtyping import Bool, Int, Int64, Shaped
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError
from gnomon.positions import real_tokens


@final
@dataclass(frozen=True, eq=False)
class AttentionMask:
    """What is known of a run of slots: which hold real tokens, and to which document each belongs.

    `real` is True for a token and False for padding; None says that all are real.
    `documents` holds one id for each slot; tokens of different ids do not see each other. None says one document.
    """

    real: Bool[Tensor, "B S"] | None = None
    documents: Int[Tensor, "B S"] | None = None

    @classmethod
    def of(cls, attention_mask: Tensor | None = None, documents: Tensor | None = None) -> Self:
        """Read an attention mask as tokenizers write it: (B, S), 1 for a token and 0 for padding.

        >>> AttentionMask.of(torch.tensor([[0, 1, 1]])).real
        tensor([[False,  True,  True]])
        """
        if documents is not None and (documents.is_floating_point() or documents.dtype == torch.bool):
            raise GnomonError(f"Document ids must be integers, got {documents.dtype}; pass one id for each token.")
        documents = None if documents is None else documents.to(torch.int64)
        return cls(None if attention_mask is None else real_tokens(attention_mask), documents)

    @property
    def is_open(self) -> bool:
        """True when nothing is hidden: no padding, one document."""
        return self.real is None and self.documents is None

    def check(self, batch: int, length: int) -> None:
        """Raise ShapeError unless the mask describes exactly (batch, length) slots."""
        for name, given in (("marks of real tokens", self.real), ("document ids", self.documents)):
            if given is not None and tuple(given.shape) != (batch, length):
                raise ShapeError(
                    f"The {name} have shape {tuple(given.shape)}, the tokens of this call (batch, length) = "
                    f"{(batch, length)}; describe the tokens passed, the cache remembers earlier ones."
                )

    def then(self, later: "AttentionMask", *, lengths: tuple[int, int]) -> "AttentionMask":
        """The mask of these slots followed by the later ones; `lengths` counts both."""
        if (self.documents is None) != (later.documents is None):
            raise GnomonError(
                "Document ids were given for some of the cached tokens only; pass `documents` in every call or in none."
            )
        real = _joined(self.real, later.real, lengths)
        return AttentionMask(real, _joined(self.documents, later.documents, lengths))

    def each(self, change: Callable[[Shaped[Tensor, "B S"]], Shaped[Tensor, "B N"]]) -> "AttentionMask":
        """The mask with `change` made to each part that it has."""
        return AttentionMask(*(None if part is None else change(part) for part in (self.real, self.documents)))

    def rows(self, index: Int[Tensor, " N"]) -> "AttentionMask":
        """The mask of the chosen batch rows, in that order."""
        return self.each(lambda part: part[index])

    def slots(self, start: int, end: int) -> "AttentionMask":
        """The mask of the slots start .. end - 1."""
        return self.each(lambda part: part[:, start:end])


def _joined(first: Tensor | None, second: Tensor | None, lengths: tuple[int, int]) -> Tensor | None:
    """Concatenate along the slots; a missing part is all real."""
    known = first if first is not None else second
    if known is None:
        return None
    rows = known.shape[0]
    parts = [
        known.new_ones(rows, length) if part is None else part
        for part, length in zip((first, second), lengths, strict=True)
    ]
    return torch.cat(parts, dim=1)


@final
@dataclass(frozen=True)
class Sight:
    """How far a slot sees, whatever stands there. `causal`: not past itself.

    `window` None: as far as there are slots. Under a causal mask a window of w is the slot itself and the w - 1 before
    it (Mistral, Gemma); without one it is all slots up to w / 2 away on either side (Longformer, ModernBERT).
    """

    causal: bool
    window: int | None = None

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1:
            raise GnomonError(f"An attention window holds at least 1 slot, got {self.window}; None is no window.")

    @property
    def reach(self) -> tuple[int | None, int | None]:
        """The least and the greatest key slot - query slot that is seen; None: as far as there are slots.

        >>> Sight(causal=True, window=3).reach, Sight(causal=False, window=3).reach, Sight(causal=True).reach
        ((-2, 0), (-1, 1), (None, 0))
        """
        if self.window is None:
            return None, 0 if self.causal else None
        return (1 - self.window, 0) if self.causal else (-(self.window // 2), self.window // 2)

    def conditions(self, query_slot: Int[Tensor, "Q 1"], key_slot: Int[Tensor, " K"]) -> Iterator[Bool[Tensor, "Q K"]]:
        """What must all hold for a query slot to see a key slot."""
        if self.causal and query_slot.shape[0] > 1:
            yield key_slot <= query_slot
        if self.window is not None and self.causal:
            yield key_slot > query_slot - self.window
        elif self.window is not None:
            yield (key_slot - query_slot).abs() <= self.window // 2


def allowed(
    queries: AttentionMask,
    keys: AttentionMask,
    *,
    lengths: tuple[int, int],
    sight: Sight,
    device: torch.device,
    first: int | None = None,
    slots: Int64[Tensor, " Q"] | None = None,
) -> Bool[Tensor, "#B 1 Q K"] | None:
    """True where a query slot may attend a key slot; None when all may.

    `lengths` is (Q, K). The queries stand in the slots first .. first + Q - 1 of the K slots, and are the last Q unless
    `first` is given, or in `slots`, where they do not follow one another (a single one is taken to see all K slots).
    Every slot may attend itself, padding too: no row of the softmax is empty, and nobody sees padding but itself.

    >>> mask = AttentionMask.of(torch.tensor([[0, 1, 1]]))
    >>> allowed(mask, mask, lengths=(3, 3), sight=Sight(causal=True), device=torch.device("cpu"))[0, 0].int()
    tensor([[1, 0, 0],
            [0, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    Q, K = lengths
    start = K - Q if first is None else first
    query_slot = (torch.arange(start, start + Q, device=device) if slots is None else slots)[:, None]
    key_slot = torch.arange(K, device=device)

    def conditions() -> Iterator[Tensor]:
        yield from (condition[None, None] for condition in sight.conditions(query_slot, key_slot))
        if keys.real is not None:
            yield keys.real[:, None, None, :]
        if queries.documents is not None and keys.documents is not None:
            yield queries.documents[:, None, :, None] == keys.documents[:, None, None, :]

    found = list(conditions())
    if not found:
        return None
    return reduce(torch.logical_and, found) | (key_slot == query_slot)
