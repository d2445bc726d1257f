"""Losses of the tokens of a text, in nats, one row at a time."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.errors import GnomonError
from gnomon.extending.checking.logits import CELLS, pieces
from gnomon.extending.checking.opened import Opened

HIDDEN = 0.15  #: share of the tokens that are hidden from a masked model: Devlin et al. 2019, arXiv:1810.04805


@final
@dataclass(frozen=True)
class Text:
    """A text as ids. `hidden` are the tokens that a masked model has to guess: the same ones in every row they are in.

    >>> Text.of(list(range(100)), seed=0).hidden.sum() == 15
    np.True_
    """

    ids: Int64[np.ndarray, " N"]
    hidden: Bool[np.ndarray, " N"]

    @classmethod
    def of(cls, ids: list[int], seed: int) -> "Text":
        """Hides a share of the tokens that the seed draws."""
        hidden = np.zeros(len(ids), dtype=bool)
        drawn = np.random.default_rng(seed).permutation(len(ids))
        hidden[drawn[: max(1, round(HIDDEN * len(ids)))]] = True
        return cls(np.asarray(ids, dtype=np.int64), hidden)

    def rows(self, length: int, count: int) -> list[slice]:
        """`count` slices of `length` tokens without overlap, the last one at the end of the text, in order."""
        end = len(self.ids)
        return [slice(end - (n + 1) * length, end - n * length) for n in reversed(range(count))]


def losses(opened: Opened, text: Text, row: slice, *, last: int | None = None) -> Float64[np.ndarray, " places"]:
    """The loss of each token of a row, float64; NaN where none is scored, infinite where the model gives no number.

    A causal model scores each token by those before it in the row, and the first one only where a special token stands
    before it. A masked model scores the hidden ones, given all others. With `last`, only so many at the end.
    """
    if opened.kind == "encoder":
        raise GnomonError(f"{opened.name} gives vectors and no words: it has no loss to measure.")
    ids = text.ids[row]
    found = np.full(len(ids), np.nan)
    if opened.kind == "causal":
        prefix = opened.tokens.prefix
        whole = torch.tensor([*prefix, *ids.tolist()], device=opened.device)
        scored = next_losses(opened, whole, max(len(prefix) - 1, 0) if last is None else len(whole) - 1 - last)
        found[len(found) - len(scored) :] = scored
        return found
    hidden = text.hidden[row].copy()
    if last is not None:
        hidden[: len(ids) - last] = False
    found[hidden] = _of_hidden(opened, ids, text.hidden[row], hidden)
    return found


def next_losses(opened: Opened, whole: Tensor, start: int) -> Float64[np.ndarray, " places"]:
    """(S,) ids, all of which are read -> the losses of ids start + 1 to S - 1."""
    found = []
    for first, logits in pieces(opened.module, whole, start, cells=CELLS):
        targets = whole[first + 1 : first + 1 + len(logits)]
        found.append(cross_entropy(logits[: len(targets)].double(), targets, reduction="none"))
    return _numbers(found)


def _of_hidden(
    opened: Opened, ids: Int64[np.ndarray, " N"], hidden: Bool[np.ndarray, " N"], scored: Bool[np.ndarray, " N"]
) -> Float64[np.ndarray, " places"]:
    mask = opened.tokens.mask
    if mask is None:
        raise GnomonError(f"The tokenizer of {opened.name} has no mask token, so no token can be hidden and guessed.")
    row = opened.row(np.where(hidden, mask, ids).tolist())
    places = torch.from_numpy(np.flatnonzero(scored)) + len(opened.tokens.prefix)
    targets = torch.from_numpy(ids[scored]).to(row.device)
    found = []
    for first, logits in pieces(opened.module, row, 0, cells=CELLS):
        inside = (places >= first) & (places < first + len(logits))
        found.append(cross_entropy(logits[places[inside] - first].double(), targets[inside], reduction="none"))
    return _numbers(found)


def _numbers(found: list[Tensor]) -> Float64[np.ndarray, " places"]:
    """Infinite where the model gives no number: NaN stands for a token that is not scored."""
    losses: Float64[np.ndarray, " places"] = torch.cat(found).cpu().numpy()
    losses[np.isnan(losses)] = np.inf
    return losses
