"""Which slot may attend which. A slot is a place in the batch or the cache; position ids play no part here."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Self, final

import torch
from jaxtyping import Bool, Int
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
        for name, given in (("mask of real tokens", self.real), ("document ids", self.documents)):
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

    def rows(self, index: Int[Tensor, " N"]) -> "AttentionMask":
        """The mask of the chosen batch rows, in that order."""
        return AttentionMask(*(None if part is None else part[index] for part in (self.real, self.documents)))


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


def allowed(
    queries: AttentionMask, keys: AttentionMask, *, lengths: tuple[int, int], causal: bool, device: torch.device
) -> Bool[Tensor, "#B 1 Q K"] | None:
    """True where a query slot may attend a key slot; None when all may.

    `lengths` is (Q, K): the queries are the last Q of the K slots, so query i stands in slot K - Q + i. Every slot may
    attend itself, padding too: no row of the softmax is empty, and nobody sees padding but itself.

    >>> mask = AttentionMask.of(torch.tensor([[0, 1, 1]]))
    >>> allowed(mask, mask, lengths=(3, 3), causal=True, device=torch.device("cpu"))[0, 0].int()
    tensor([[1, 0, 0],
            [0, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    Q, K = lengths
    query_slot = torch.arange(K - Q, K, device=device)[:, None]
    key_slot = torch.arange(K, device=device)

    def conditions() -> Iterator[Tensor]:
        if causal and Q > 1:
            yield (key_slot <= query_slot)[None, None]
        if keys.real is not None:
            yield keys.real[:, None, None, :]
        if queries.documents is not None and keys.documents is not None:
            yield queries.documents[:, None, :, None] == keys.documents[:, None, None, :]

    found = list(conditions())
    if not found:
        return None
    return reduce(torch.logical_and, found) | (key_slot == query_slot)
