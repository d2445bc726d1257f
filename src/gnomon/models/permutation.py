"""Batches for permutation language modeling: Yang et al. 2019, arXiv:1906.08237, sections 2.2 and 2.3.

Spans are chosen as by `DataCollatorForPermutationLanguageModeling` of transformers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import torch
from jaxtyping import Bool, Int64
from torch import Tensor
from torch.nn.functional import one_hot
from torch.nn.utils.rnn import pad_sequence

from gnomon.attention import TwoStreamMasks, factorization_order, permutation_mask
from gnomon.errors import GnomonError

IGNORED: Final = -100  #: the label of padding among the predictions: what cross_entropy leaves out


@final
@dataclass(frozen=True, eq=False)
class PermutationBatch:
    """Ids of the words themselves (B, S), what each stream may see, and the words to predict (B, P)."""

    ids: Int64[Tensor, "B S"]
    masks: TwoStreamMasks
    labels: Int64[Tensor, "B P"]


@final
@dataclass(frozen=True, eq=False)
class PermutationCollator:
    """Chooses the tokens to predict and an order for each example; the same `generator` seed gives the same batches.

    Spans of 1 to `max_span_length` tokens are predicted, each somewhere in a stretch of span / `probability` tokens, so
    that about that share of all tokens is; at least one token of each example. `special_ids` ([CLS], [SEP]) are never
    predicted, and are read in the order of the targets. Examples may have any lengths; they are padded on the right.
    `block`: see `factorization_order`.

    The ids stay as they are: what is hidden, and from whom, is for the masks to say. (The collator of transformers puts
    a mask token in place of each target, so that later targets do not see earlier ones, and takes even lengths alone.)

    >>> collate = PermutationCollator(generator=torch.Generator().manual_seed(0), special_ids=(1,))
    >>> batch = collate([[5, 6, 7, 8, 9, 1], [6, 7, 1]])
    >>> batch.ids.shape, batch.masks.perm_mask.shape, batch.masks.target_mapping.shape[0]
    (torch.Size([2, 6]), torch.Size([2, 6, 6]), 2)
    """

    generator: torch.Generator
    special_ids: Collection[int] = ()
    padding_id: int = 0
    probability: float = 1 / 6
    max_span_length: int = 5
    block: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise GnomonError(f"The share of tokens to predict is above 0 and at most 1, got {self.probability}.")
        if self.max_span_length < 1:
            raise GnomonError(f"A span has at least 1 token, got max_span_length={self.max_span_length}.")

    def __call__(self, examples: Sequence[Sequence[int] | Tensor | Mapping[str, Any]]) -> PermutationBatch:
        """Each example is its ids, or has them as "input_ids", without padding."""
        rows = [_ids(example) for example in examples]
        if not rows:
            raise GnomonError("A batch needs at least one example.")
        ids = pad_sequence(rows, batch_first=True, padding_value=self.padding_id)
        real = torch.arange(ids.shape[1]) < torch.tensor([[len(row)] for row in rows])
        functional = torch.isin(ids, torch.tensor(list(self.special_ids), dtype=torch.int64)) & real
        targets = torch.stack([self._targets(row) for row in real & ~functional])
        order = factorization_order(*ids.shape, generator=self.generator, block=self.block)
        mapping, labels = _predictions(ids, targets)
        hidden = permutation_mask(targets, order=order, functional=functional)
        return PermutationBatch(ids, TwoStreamMasks(hidden, mapping, attention_mask=real), labels)

    def _targets(self, ordinary: Bool[Tensor, " S"]) -> Bool[Tensor, " S"]:
        """The tokens to predict in one example; only `ordinary` ones can be."""
        if not bool(ordinary.any()):
            raise GnomonError("An example has no token to predict: it is empty, or all of its ids are special.")
        chosen = torch.zeros_like(ordinary)
        for start, length in self._spans(int(ordinary.nonzero().max()) + 1):
            chosen[start : start + length] = True
        chosen &= ordinary
        if not bool(chosen.any()):
            places = ordinary.nonzero().flatten()
            chosen[places[self._draw(len(places))]] = True
        return chosen

    def _spans(self, length: int) -> Iterator[tuple[int, int]]:
        """Where each span starts, and its length; the last ones may lie past the end."""
        done = 0
        while done < length:
            span = 1 + self._draw(self.max_span_length)
            stretch = int(span / self.probability)
            yield done + self._draw(stretch - span + 1), span
            done += stretch

    def _draw(self, end: int) -> int:
        """One of 0 .. end - 1."""
        return int(torch.randint(end, (), generator=self.generator))


def _ids(example: Sequence[int] | Tensor | Mapping[str, Any]) -> Int64[Tensor, " S"]:
    ids = torch.as_tensor(example["input_ids"] if isinstance(example, Mapping) else example)
    if ids.ndim != 1 or ids.is_floating_point():
        raise GnomonError(f"An example is a list of integer ids, got shape {tuple(ids.shape)} of {ids.dtype}.")
    return ids.to(torch.int64)


def _predictions(
    ids: Int64[Tensor, "B S"], targets: Bool[Tensor, "B S"]
) -> tuple[Bool[Tensor, "B P S"], Int64[Tensor, "B P"]]:
    """The target_mapping and labels, from left to right; rows with fewer targets than the most end in padding."""
    most = int(targets.sum(-1).max())
    place = (~targets).int().argsort(dim=-1, stable=True)[:, :most]
    real = targets.gather(1, place)
    mapping = one_hot(place, ids.shape[1]).bool() & real[..., None]
    return mapping, ids.gather(1, place).masked_fill(~real, IGNORED)
