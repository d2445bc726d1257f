"""Inputs with and without padding, for the checks that compare the two."""

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model

LENGTH, PADS = 9, 4


def pad_token(subject: Subject) -> int | None:
    """The padding id that the config states; some models (RoBERTa) find padding by it and not by the mask."""
    token = (attempt(lambda s: s.config, subject) or {}).get("pad_token_id")
    return token if isinstance(token, int) and token >= 0 else None


def padded_on_the_left(probe: Model, pad: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Two rows (2, LENGTH), the same behind PADS places of padding, and the mask of those."""
    whole, mask = _whole(probe)
    mask[:, :PADS] = 0
    return whole[:, PADS:].contiguous(), _filled(probe, whole, mask, pad), mask


def padded_unequally(probe: Model, pad: int | None = None) -> tuple[Tensor, Tensor]:
    """Two rows (2, PADS + LENGTH) of which only the first starts with padding, and their mask."""
    whole, mask = _whole(probe)
    mask[0, :PADS] = 0
    return _filled(probe, whole, mask, pad), mask


def padded_between(probe: Model, pad: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Two rows without padding, the same with PADS places of padding after the first two, and the mask of those.

    So it is where a learned prompt stands before rows that were padded on the left.
    """
    whole, mask = _whole(probe)
    mask[:, 2 : 2 + PADS] = 0
    alone = torch.cat((whole[:, :2], whole[:, 2 + PADS :]), dim=1)
    return alone, _filled(probe, whole, mask, pad), mask


def padded_on_the_right(probe: Model, pad: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Two rows (2, LENGTH), the same before PADS places of padding, and the mask of those."""
    whole, mask = _whole(probe)
    mask[:, -PADS:] = 0
    return whole[:, :-PADS].contiguous(), _filled(probe, whole, mask, pad), mask


def _whole(probe: Model) -> tuple[Tensor, Tensor]:
    if probe.signature.mask is None:
        raise MissingEvidence("the forward takes no attention mask (batch, sequence)")
    length = probe.length(PADS + LENGTH)
    if length < PADS + 2:
        raise MissingEvidence(f"the model takes {length} positions, too few to pad")
    whole = probe.draw(2, length, seed=61)
    return whole, torch.ones(whole.shape[:2], dtype=torch.int64, device=whole.device)


def _filled(probe: Model, whole: Tensor, mask: Tensor, pad: int | None) -> Tensor:
    """The padding id in the places of padding; random content there when no id is known, or vectors are taken."""
    if not probe.takes_ids or pad is None or pad >= probe.vocabulary:
        return whole
    return whole.masked_fill(mask == 0, pad)
